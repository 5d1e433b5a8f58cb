"""Metrics on the command line: one reading each, or a clear refusal."""

from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp import metrics
from metricdp.cli.options.metric import read_metric, split_metric
from metricdp.errors import ArgumentError, FileError, LevelError, MetricDPError
from metricdp.exact.level import Level
from metricdp.metrics.registry import NAMED


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("0.5", mdp.exact.Level.of("1/2")),
        ("0.1", mdp.exact.Level.of("1/10")),
        (".25", mdp.exact.Level.of("1/4")),
        ("2", mdp.exact.Level.of(2)),
        ("2/3", mdp.exact.Level.of("2/3")),
        ("1e-3", mdp.exact.Level.of("1/1000")),
        ("ln 2", mdp.ln(2)),
        ("ln2", mdp.ln(2)),
        ("ln(2)", mdp.ln(2)),
        (" ln 1.5 ", mdp.ln("3/2")),
        ("ln 2/200", mdp.ln(2) / 200),
        ("ln(2) / 200", mdp.ln(2) / 200),
        ("ln(5/3)", mdp.ln("5/3")),
        ("ln(5)/3", mdp.ln(5) / 3),
        ("ln 5/3", mdp.ln(5) / 3),  # as it is printed
        ("1/200 ln 2", mdp.ln(2) / 200),
        ("3 ln 2", 3 * mdp.ln(2)),
        ("0.5 ln(3)/2", mdp.ln(3) / 4),
        ("2*ln 2", 2 * mdp.ln(2)),
    ],
)
def test_levels(text, level):
    assert Level.parse(text) == level


@pytest.mark.parametrize("level", [mdp.ln(2), mdp.ln(2) / 200, 3 * mdp.ln(7), mdp.exact.Level.of("0.3")])
def test_levels_as_formulas_print_them(level):
    assert Level.parse(metrics.amounts.formula(level)) == level


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "a level is positive"),
        ("-1", "a level is positive"),
        ("-2 ln 2", "a level is positive"),
        ("ln 1", "factor above 1"),
        ("ln 0.5", "factor above 1"),
        ("ln(1/2)", "factor above 1"),
        ("1/0", "divided by 0"),
        ("ln 2/0", "divided by 0"),
        ("ln(1/0)", "divided by 0"),
        ("1e999", "between 1e-100 and 1e100"),
        ("1e99999999", "is no level"),
        ("ln", "is no level"),
        ("", "is no level"),
        ("inf", "is no level"),
        ("log 2", "is no level"),
        ("1.2.3", "is no level"),
    ],
)
def test_levels_that_are_none(text, words):
    with pytest.raises(LevelError, match=words):
        Level.parse(text)


@pytest.mark.parametrize("name", NAMED)
def test_names(name):
    unit = getattr(metrics, name)()
    assert read_metric(name) == unit
    assert read_metric(f" {name.upper().replace('_', '-')} ") == unit
    assert read_metric(f"0.5 {name}") == unit * "1/2"


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("0.5 euclidean", metrics.euclidean() / 2),
        ("ln 2 absolute", mdp.ln(2) * metrics.absolute()),
        ("ln 2/200 great_circle", metrics.great_circle().within(200)),
        ("1/200 ln 2 great-circle", metrics.great_circle().within(200)),
        ("2*manhattan", 2 * metrics.manhattan()),
        ("2 · manhattan", 2 * metrics.manhattan()),
        ("ln(5/3)  chebyshev", mdp.ln("5/3") * metrics.chebyshev()),
    ],
)
def test_metrics_with_a_level(text, metric):
    assert read_metric(text) == metric


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("euclid", ArgumentError, "'euclid' is no metric: write absolute, euclidean"),
        ("2euclidean", ArgumentError, "no metric"),
        ("", ArgumentError, "no metric"),
        ("0.5", ArgumentError, "level alone.*'0.5 euclidean'"),
        ("ln 2", ArgumentError, "level alone"),
        ("0 absolute", LevelError, "positive"),
        ("nowhere.toml", FileError, "there is no file nowhere.toml"),
        ("0.5 nowhere.csv", FileError, "there is no file nowhere.csv"),
        ("x\0y", ArgumentError, "no metric"),
    ],
)
def test_metrics_that_are_none(text, kind, words):
    with pytest.raises(kind, match=words):
        read_metric(text)


def test_toml_files(here):
    (here / "my metric.toml").write_text(metrics.great_circle().within(200).to_toml())
    assert read_metric("my metric.toml") == metrics.great_circle().within(200)
    assert read_metric("2 my metric.toml") == metrics.great_circle().within(100)


def test_a_file_whose_name_begins_with_a_number(here):
    (here / "2 steps.csv").write_text("0,2\n2,0\n")
    assert split_metric("2 steps.csv") == (None, "2 steps.csv")
    assert read_metric("2 steps.csv")(0, 1) == 2


def test_distances_with_labels_and_without(here):
    (here / "d.csv").write_text(",tea,3,far\ntea,0,1/3,inf\n3,1/3,0,∞\nfar,inf,inf,0\n")
    metric = read_metric("d.csv")
    assert metric.exactly("tea", 3) == Fraction(1, 3)
    assert metric("tea", "far") == float("inf")
    (here / "bare.csv").write_text("0,0.1\n0.1,0\n")
    assert read_metric("ln 2 bare.csv").unit.exactly(0, 1) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("d.csv", b",a,b\na,0,1\nc,1,0\n", "d.csv: the rows and the columns of distances name the same points"),
        ("d.csv", b"0,1\n2,0\n", "d.csv: .*symmetr"),
        ("d.csv", b"0,1,5\n1,0,1\n5,1,0\n", "d.csv: the triangle inequality is broken"),
        ("d.csv", b"0,x\n1,0\n", "d.csv: column '1', row 0: a cell that is no number"),
        ("d.csv", b"0,-1\n-1,0\n", "d.csv: "),
        ("d.csv", b"\xff", "not text in UTF-8"),
        ("d.csv", b"", "d.csv: there is no row"),
        ("m.toml", b"metric = 'teleportation'", "m.toml: a metric is one of"),
        ("m.toml", b"metric = ", "m.toml: this is not TOML"),
        ("m.toml", b"\xff", "not text in UTF-8"),
    ],
)
def test_files_that_are_no_metric(here, name, content, words):
    (here / name).write_bytes(content)
    with pytest.raises(MetricDPError, match=words) as caught:
        read_metric(name)
    assert len(str(caught.value).splitlines()) == 1
