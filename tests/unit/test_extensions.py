"""The registry of things by their names, and what other packages add to it."""

import sys

import pytest

from metricdp import extensions
from metricdp.errors import ArgumentError
from metricdp.extensions import Extension, Registry


@pytest.fixture(autouse=True)
def fresh():
    extensions._outside.cache_clear()
    yield
    extensions._outside.cache_clear()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package: its files, and the metadata that pip would write."""
    made = []

    def install(name, lines, group="metricdp.metrics", files=None):
        folder = tmp_path / name
        info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")
        for file, text in (files or {}).items():
            (folder / f"{file}.py").write_text(text)
            made.append(file)
        monkeypatch.syspath_prepend(folder)
        extensions._outside.cache_clear()

    yield install
    for file in made:
        sys.modules.pop(file, None)


OWN = {"ours": "metricdp.metrics.vectors:absolute"}


def registry(check=lambda thing: ""):
    return Registry("metrics", "metric", OWN, check)


def test_another_package_adds_a_name(installed):
    installed(
        "acme-metrics", ["theirs = acme_metrics_file:make"], files={"acme_metrics_file": "def make():\n    return 7\n"}
    )
    metrics = registry()
    assert metrics.names == ("ours", "theirs")
    assert list(metrics) == ["ours", "theirs"]
    assert metrics.outside == ("theirs",)
    assert metrics.extension("theirs") == Extension("theirs", "acme_metrics_file:make", "acme-metrics")
    assert "acme_metrics_file" not in sys.modules, "nothing is imported until it is asked for"
    assert metrics["theirs"]() == 7
    assert metrics.find("theirs") is metrics["theirs"]


def test_a_name_that_two_packages_claim_is_refused(installed):
    installed("acme", ["theirs = nowhere:one"])
    installed("zenith", ["theirs = nowhere:two", "ours = nowhere:three"])
    metrics = registry()
    with pytest.raises(ArgumentError, match=r"'theirs' is registered by (acme and zenith|zenith and acme)"):
        metrics["theirs"]
    with pytest.raises(ArgumentError, match="'ours' is registered by metricdp and zenith"):
        metrics.find("ours")


def test_what_cannot_be_loaded_says_whose_it_is(installed):
    installed(
        "acme",
        ["gone = no_such_module:thing", "none = acme_broken:nothing", "bad = acme_broken:number"],
        files={"acme_broken": "number = 7\n"},
    )
    metrics = registry(lambda thing: "" if callable(thing) else "a function is wanted")
    with pytest.raises(ArgumentError, match="'gone' of the package acme cannot be loaded: ModuleNotFoundError"):
        metrics["gone"]
    with pytest.raises(ArgumentError, match="'none' of the package acme cannot be loaded: AttributeError"):
        metrics["none"]
    with pytest.raises(
        ArgumentError, match=r"'bad' of the package acme \(acme_broken:number\) cannot be used: a function"
    ):
        metrics["bad"]
    assert metrics["ours"]() is not None


def test_an_entry_point_of_our_own_that_wants_more_installed_is_no_defect(installed):
    installed("metricdp", ["served = no_such_server:thing"])
    with pytest.raises(ArgumentError, match="'served' of the package metricdp cannot be loaded: ModuleNotFoundError"):
        registry()["served"]


def test_names_that_nobody_has():
    metrics = registry()
    assert metrics.find("absurd") is None
    assert metrics.extension("absurd") is None
    assert "absurd" not in metrics
    with pytest.raises(ArgumentError, match="there is no metric 'absurd'; there are: ours"):
        metrics["absurd"]
    with pytest.raises(ArgumentError, match=r"\\x1b"):
        metrics["\x1b[31m"]


def test_every_own_reference_leads_somewhere():
    from metricdp.adversaries.loss_names import LOSSES
    from metricdp.mechanisms.registry import MECHANISMS
    from metricdp.metrics.registry import METRICS
    from metricdp.plots.registry import PLOTS

    for known in (LOSSES, MECHANISMS, METRICS, PLOTS):
        for name in known:
            assert callable(known[name]), name


def test_every_public_constructor_is_registered():
    import metricdp
    from metricdp.mechanisms.registry import MECHANISMS
    from metricdp.metrics.registry import METRICS

    made = {name for name in metricdp.metrics.__all__ if name.islower()}
    graphs = {"graph", "spanning_tree"}  # which write themselves as graph_of; maximum as a list of its parts
    assert made - set(METRICS) == graphs | {"maximum"}
    assert {name for name in metricdp.mechanisms.__all__ if name.islower()} == set(MECHANISMS)
