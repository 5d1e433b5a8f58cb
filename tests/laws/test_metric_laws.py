"""Every metric, every law: the axioms, the agreement of its views, and its ways to text and back."""

import datetime
import math
import pickle
from dataclasses import dataclass
from fractions import Fraction

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.errors import NotAMetricError
from metricdp.exact.level import ln
from metricdp.metrics import Metric, Space

NUMBERS = st.one_of(
    st.floats(-1e9, 1e9),
    st.integers(-(2**70), 2**70),
    st.fractions(-100, 100, max_denominator=1000),
    st.decimals(-1000, 1000, places=4),
)
VECTORS = st.tuples(NUMBERS, NUMBERS)
PLACES = st.tuples(st.floats(-90, 90) | st.sampled_from([-90, 90, 0]), st.floats(-400, 400) | st.integers(-360, 360))
LETTERS = st.sampled_from("abcd")
RECORDS = st.tuples(LETTERS, LETTERS, LETTERS)
PRESENT = st.tuples(*[LETTERS | st.none()] * 3)
SETS = st.frozensets(st.integers(0, 5))
MOMENTS = st.dates() | st.datetimes() | st.datetimes(datetime.datetime(1970, 1, 1)).map(np.datetime64)
ROADS = networkx.Graph()
ROADS.add_weighted_edges_from([("a", "b", 0.1), ("b", "c", Fraction(1, 3)), ("a", "c", 5)])
ROADS.add_node("d")
TREE = {"a": "left", "b": "left", "c": "right", "left": "root", "right": "root", "d": "elsewhere"}
THIRDS = [[0, Fraction(1, 3), 1, math.inf], [Fraction(1, 3), 0, 1, math.inf], [1, 1, 0, math.inf], [math.inf] * 3 + [0]]
CORNERS = [(0, 0), (1, 1), (3, 4)]
BROKEN = metrics.matrix(CORNERS, [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False)

CATALOGUE: dict[str, tuple[Metric, st.SearchStrategy]] = {
    "absolute": (metrics.absolute(), NUMBERS),
    "manhattan": (metrics.manhattan(), VECTORS),
    "euclidean": (metrics.euclidean(), VECTORS),
    "chebyshev": (metrics.chebyshev(), VECTORS),
    "normalized manhattan": (metrics.normalized_manhattan(7), VECTORS),
    "great circle": (metrics.great_circle(), PLACES),
    "great circle of Mars": (metrics.great_circle("3389500.5"), PLACES),
    "discrete": (metrics.discrete(), LETTERS),
    "unprotected": (metrics.unprotected(), LETTERS),
    "hamming": (metrics.hamming(), RECORDS),
    "add_remove": (metrics.add_remove(), PRESENT),
    "symmetric difference": (metrics.symmetric_difference(), SETS),
    "graph": (metrics.graph(ROADS, weight="weight"), LETTERS),
    "taxonomy": (metrics.taxonomy(TREE, lengths=[2.5, "1/3"]), LETTERS | st.sampled_from(["left", "root"])),
    "matrix": (metrics.matrix("abcd", THIRDS), LETTERS),
    "individuals": (metrics.individuals({"a": 0.1, "b": ln(2), "c": math.inf, "d": 3}), LETTERS),
    "minimum": (metrics.individuals({"a": 1, "b": 2, "c": math.inf, "d": 2}, form="minimum"), LETTERS),
    "attributes": (
        metrics.attributes({"age": metrics.absolute() / 10, "place": metrics.great_circle().within(200), "job": "1/3"}),
        st.tuples(NUMBERS, PLACES, LETTERS),
    ),
    "value budgets": (
        metrics.value_budgets({"one": {"a": 1, "b": ln(3), "c": 2, "d": 2}, "two": dict.fromkeys("abcd", 0.1)}),
        st.tuples(LETTERS, LETTERS),
    ),
    "records 1": (metrics.records(metrics.absolute()), VECTORS),
    "records 2": (metrics.records(metrics.great_circle(), p=2), st.tuples(PLACES, PLACES)),
    "records ∞": (metrics.records(metrics.discrete(), p=math.inf), RECORDS),
    "nullable": (metrics.nullable(metrics.capped(metrics.absolute(), 20), 10), NUMBERS | st.none()),
    "blowfish": (metrics.blowfish(metrics.euclidean(), 0.1, ln(2)), st.tuples(*[st.floats(-10, 10)] * 2)),
    "blowfish on a universe": (metrics.blowfish(metrics.discrete(), 1, 0.5, universe="abcd"), LETTERS),
    "smooth": (metrics.smooth(metrics.euclidean(), 5, 0.5), VECTORS),
    "dates": (metrics.dates().within(5), MOMENTS),
    "supremum": (metrics.supremum([0, 0.5]), VECTORS),
    "square integrable": (metrics.square_integrable("Fourier"), VECTORS),
    "scaled": (ln(2) / 200 * metrics.great_circle(), PLACES),
    "sum": (ln(2) * metrics.manhattan() + metrics.euclidean() / 3 + 0.5 * metrics.discrete(), VECTORS),
    "maximum": (metrics.maximum(metrics.discrete(), metrics.euclidean() / 3), VECTORS),
    "capped": (metrics.capped(metrics.great_circle(), ln(2)), PLACES),
    "closure": ((metrics.euclidean() + BROKEN).closure(CORNERS), st.sampled_from(CORNERS)),
    "part of a broken matrix": (BROKEN, st.sampled_from(CORNERS[:2])),
    "normalized": (metrics.euclidean().normalized([(0, 0), (1, 1)]), VECTORS),
}


@dataclass(frozen=True, repr=False)
class Squared(Metric):
    """|x − y|², which breaks the triangle inequality: what the laws are there to find."""

    kind = "squared"
    symbol = "|x − y|²"

    def _pairwise(self, points, others):
        return np.subtract.outer(np.array(points, float), np.array(others, float)) ** 2

    def _exactly(self, x, y):
        return Fraction(x - y) ** 2


def is_metric_on(metric: Metric, x, y, z) -> bool:
    """The axioms, on enclosures 200 bits wide: what they cannot rule out is taken to hold."""
    ends, first, second, back = (metric.enclose(*pair, bits=200) for pair in [(x, z), (x, y), (y, z), (z, x)])
    return (
        all(metric.exactly(point, point) == 0 for point in (x, y, z))
        and ends.lower >= 0
        and ends.lower <= back.upper
        and back.lower <= ends.upper
        and ends.lower <= first.upper + second.upper
    )


def test_the_laws_can_fail():
    assert not is_metric_on(Squared(), 0, 1, 2)
    assert str(Squared().violation([0, 1, 2])).startswith("the triangle inequality is broken: d(0, 2) = 4")
    with pytest.raises(NotAMetricError):
        Space([0, 1, 2], Squared())


@pytest.mark.parametrize("name", CATALOGUE)
@given(data=st.data())
def test_axioms(name, data):
    metric, points = CATALOGUE[name]
    assert is_metric_on(metric, data.draw(points), data.draw(points), data.draw(points))


@pytest.mark.parametrize("name", CATALOGUE)
@given(data=st.data())
def test_the_float_is_a_view_of_the_enclosure(name, data):
    metric, points = CATALOGUE[name]
    x, y = data.draw(points), data.draw(points)
    enclosure = metric.enclose(x, y, bits=64)
    assert 0 <= enclosure.width * 2**64 <= enclosure.lower or enclosure.lower == enclosure.upper
    assert metric(x, y) == pytest.approx(float(enclosure), rel=1e-12, abs=1e-300)
    assert (metric(x, y) == 0) == (enclosure.upper == 0)


@pytest.mark.parametrize("name", CATALOGUE)
@given(data=st.data())
def test_pairwise_has_the_same_numbers_as_single_calls(name, data):
    metric, points = CATALOGUE[name]
    some, others = (
        data.draw(st.lists(points, min_size=1, max_size=3)),
        data.draw(st.lists(points, min_size=1, max_size=3)),
    )
    table = metric.pairwise(some, others)
    assert table.shape == (len(some), len(others))
    assert table.dtype == np.float64
    for i, x in enumerate(some):
        for j, y in enumerate(others):
            assert table[i, j] == pytest.approx(metric(x, y), rel=1e-13)
    assert np.array_equal(metric.pairwise(some), metric.pairwise(some, some))


@pytest.mark.parametrize("name", CATALOGUE)
@given(data=st.data())
def test_no_violation_is_found_where_the_axioms_hold(name, data):
    metric, points = CATALOGUE[name]
    some = data.draw(st.lists(points, min_size=1, max_size=5))
    assert metrics.axioms.find_violation(metric, some) is None
    assert metric.violation(some) is None


@pytest.mark.parametrize("name", CATALOGUE)
def test_to_text_and_back(name):
    metric, _ = CATALOGUE[name]
    names = {"math": math, "ln": ln, "Fraction": Fraction} | {name: getattr(metrics, name) for name in metrics.__all__}
    for again in (Metric.from_toml(metric.to_toml()), pickle.loads(pickle.dumps(metric)), eval(repr(metric), names)):
        assert again == metric
        assert hash(again) == hash(metric)
        assert repr(again) == repr(metric)
        assert str(again) == metric.formula != ""


@given(level=st.fractions("1/1000", 1000), scale=st.fractions("1/1000", 1000), points=st.tuples(VECTORS, VECTORS))
def test_scales_merge_exactly(level, scale, points):
    d = metrics.manhattan()
    assert level * (scale * d) == (level * scale) * d == d * scale * level
    assert (d * level) / level == d
    assert (ln(2) * d * level).level == ln(2) * level
    assert (level * d).exactly(*points) == level * d.exactly(*points)
