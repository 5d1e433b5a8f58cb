"""Names that are imported when they are first used."""

import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from metricdp.errors import MissingExtraError
from metricdp.lazy import lazily, listing, missing_extra


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package on disk whose names are lazy."""
    home = tmp_path / "lazy_house"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from metricdp.lazy import lazily\n"
        "__version__ = '1'\n"
        "__getattr__, __dir__ = lazily(__name__, {'kettle': 'kitchen', 'cellar': ''}, also=['__version__'])\n"
    )
    (home / "kitchen.py").write_text("kettle = object()\npan = object()\n")
    (home / "cellar.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield "lazy_house"
    for name in [name for name in sys.modules if name.startswith("lazy_house")]:
        del sys.modules[name]


def test_a_name_is_imported_once_and_only_when_asked_for(package):
    house = __import__(package)
    assert "lazy_house.kitchen" not in sys.modules
    assert "kettle" not in vars(house)
    first = house.kettle
    assert "lazy_house.kitchen" in sys.modules
    assert vars(house)["kettle"] is first is house.kettle
    assert isinstance(house.cellar, types.ModuleType)


def test_it_lists_public_names_alone(package):
    house = __import__(package)
    assert dir(house) == ["__version__", "cellar", "kettle"]
    assert house.kettle is not None
    assert dir(house) == ["__version__", "cellar", "kettle"]
    with pytest.raises(AttributeError, match="module 'lazy_house' has no attribute 'pan'"):
        house.pan  # noqa: B018
    assert not hasattr(house, "attic")


def test_a_listing_is_sorted_and_its_own():
    names = listing(["b", "a"])
    names().append("c")
    assert names() == ["a", "b"]
    assert lazily("metricdp", {})[1]() == []


def test_a_name_is_never_hidden_by_the_module_of_its_own_name(package, tmp_path):
    (tmp_path / "lazy_house" / "stove.py").write_text("def stove(): ...\n")
    house = __import__(package)
    house.__getattr__, _ = lazily(package, {"stove": "stove", "kettle": "kitchen"})
    importlib.import_module("lazy_house.stove")
    assert isinstance(house.stove, types.FunctionType)
    assert house.kettle is not None


ASKED = {
    "mdp.tables.sanitize": "tables",
    "mdp.Session": "queries",
    "mdp.queries.ask": "queries",
    "mdp.queries.synthesize": "queries",
    "mdp.estimates.estimate": "queries",
    "mdp.sources.open_table": "tables",
    "mdp.policies.Policy.draft({'a': None})": "tables",
    "mdp.integrations.enable('pandas')": "tables",
    "mdp.integrations.enable('polars')": "polars",
    "mdp.integrations.enable('geopandas')": "geopandas",
    "mdp.integrations.register_duckdb": "tables",
    "mdp.integrations.read_map": "geopandas",
    "mdp.integrations.PrivateTransformer": "sklearn",
    "mdp.plots.simplex(mdp.channels.random_channel('ab', 'xy'))": "plots",
    "mdp.ledger.Ledger('postgresql://host/name')": "postgres",
}
PROGRAM = """
import json, sys
libraries = "pyarrow duckdb pandas polars geopandas h3 sklearn sqlglot matplotlib mpltern sqlalchemy psycopg".split()
sys.modules.update(dict.fromkeys(libraries))  # as if none of them was installed
import metricdp as mdp
said = {}
for asked in json.loads(sys.argv[1]):
    try:
        eval(asked)
    except Exception as error:
        said[asked] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""


def test_python_is_told_what_to_install_too():
    source = str(Path(sys.modules["metricdp"].__file__).parents[1])
    run = [sys.executable, "-c", PROGRAM, json.dumps(list(ASKED))]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": source})
    said = json.loads(done.stdout)
    for asked, extra in ASKED.items():
        assert said.get(asked, "").startswith("MissingExtraError: "), (asked, said.get(asked))
        assert said[asked].endswith(f"is not installed; run: pip install 'metricdp[{extra}]'"), said[asked]


def test_what_is_no_optional_library_stays_what_it_was(package, tmp_path):
    (tmp_path / "lazy_house" / "well.py").write_text("import dry_well\n")
    house = __import__(package)
    house.__getattr__, _ = lazily(package, {"water": "well"})
    with pytest.raises(ModuleNotFoundError, match="No module named 'dry_well'") as caught:
        house.water  # noqa: B018
    assert not isinstance(caught.value, MissingExtraError)
    assert (
        missing_extra(ImportError("cannot import name 'x' from 'pyarrow'", name="pyarrow"), "metricdp.tables") is None
    )
