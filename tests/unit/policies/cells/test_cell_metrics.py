"""How far apart cells are that stand for more than one value: by brute force over those values, or refused."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.errors import PolicyError, UnsupportedMetricError
from metricdp.exact.level import ln
from metricdp.metrics import (
    absolute,
    capped,
    discrete,
    euclidean,
    great_circle,
    matrix,
    nullable,
    records,
    smooth,
    taxonomy,
)
from metricdp.policies.cells.cell_metrics import check_cells
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.queries.universes.universe import Universe

METRICS = {
    "absolute": absolute(),
    "scaled": Fraction(2, 3) * absolute(),
    "smooth": smooth(absolute(), 3),
    "nullable": nullable(capped(absolute(), 8), 4),
    "alike": nullable(discrete(), 3),
    "near": nullable(discrete(), Fraction(1, 2)),
}


@settings(max_examples=80)
@given(
    st.sets(st.integers(0, 9), min_size=1, max_size=5).map(sorted),
    st.sampled_from(["own", "shared", 0, -1]),
    st.sampled_from(sorted(METRICS)),
)
def test_a_list_of_integers_with_a_cell_for_all_others(values, other, name):
    """The greatest metric on cells with D(cell of x, cell of y) <= d(x, y), over all integers nearby."""
    metric = METRICS[name]
    missing = "none" if name in ("nullable", "alike", "near") else None
    label = {"own": "rest", "shared": missing or "rest"}.get(other) or str(values[other])
    column = CategoryCells("v", values, other=label, missing=missing)
    held = [*range(values[0] - 4, values[-1] + 5), *([None] if missing else [])]
    places = {value: place for place, value in enumerate(values)}
    codes = [column.missing_code if value is None else places.get(value, column.other_code) for value in held]
    size = len(column)
    brute = [[Fraction(10**9)] * size for _ in range(size)]
    for (x, i), (y, j) in itertools.product(zip(held, codes, strict=True), repeat=2):
        brute[i][j] = min(brute[i][j], metric.exactly(x, y))
    for k, i, j in itertools.product(range(size), repeat=3):
        brute[i][j] = min(brute[i][j], brute[i][k] + brute[k][j])
    space = Universe([column]).space(metric)
    assert [[space.metric.exactly(x, y) for y in space.points] for x in space.points] == brute


def test_rooms():
    """Five rooms are counted with ten: the cells of 4 and of 10 are 1 apart, and not 6."""
    rooms = CategoryCells("rooms", [1, 2, 3, 4, 10], other="10")
    space = Universe([rooms]).space(ln(2) / 2 * absolute())
    assert [space.metric.unit.exactly(x, 10) for x in (1, 2, 3, 4)] == [1, 2, 2, 1]  # of 0 rooms, and of 5
    assert space.metric.level == ln(2) / 2


def test_words():
    word = CategoryCells("w", ["a", "b"], other="b", missing="b")
    assert Universe([word]).space(nullable(4 * discrete(), Fraction(1, 2))).distances[0, 1] == 0.5
    assert Universe([word]).space(discrete()).distances[0, 1] == 1
    listed = matrix(["a", "b", "z"], [[0, 9, 1], [9, 0, 9], [1, 9, 0]])
    others = CategoryCells("w", ["a", "b"], other="b")
    assert Universe([others]).space(listed).distances[0, 1] == 1  # z is counted with b
    assert Universe([CategoryCells("w", ["a", "b"])]).space(listed).distances[0, 1] == 9  # z is refused
    tree = taxonomy({"a": "left", "b": "left", "c": "right", "left": "all", "right": "all"})
    assert Universe([CategoryCells("w", ["a", "b", "c"])]).space(tree).distances[0].tolist() == [0, 2, 4]
    assert Universe([CategoryCells("w", ["a", "b", "c"], other="c")]).space(tree).distances[0].tolist() == [0, 2, 1]
    rest = CategoryCells("w", ["a"], other="z")
    assert Universe([rest]).space(listed).distances[0, 1] == 1


def test_bands_and_bounds_of_values_that_a_metric_lists():
    values = matrix(range(4), [[0, 9, 9, 1], [9, 0, 9, 9], [9, 9, 0, 9], [1, 9, 9, 0]])
    assert Universe([IntegerCells("v", (0, 3), edges=(2,))]).space(values).distances[0, 1] == 1
    assert Universe([IntegerCells("v", (0, 3))]).space(values).distances[0].tolist() == [0, 9, 9, 1]
    named = matrix([0, 2], [[0, 5], [5, 0]])
    assert Universe([IntegerCells("v", (0, 3), edges=(2,))]).space(named).distances[0, 1] == 5  # it names the cells
    both = Universe([IntegerCells("v", (0, 2), other="rest")])
    whole = matrix([0, 1, 2, "rest"], [[0, 9, 9, 9], [9, 0, 9, 9], [9, 9, 0, 9], [9, 9, 9, 0]])
    assert both.space(whole).distances[0].tolist() == [0, 9, 9, 9]
    with pytest.raises(UnsupportedMetricError, match="list it there"):
        both.space(values)


@pytest.mark.parametrize(
    ("column", "metric", "rule"),
    [
        (CategoryCells("v", ["a"], other="rest"), great_circle(), "values that are not listed"),
        (
            CategoryCells("v", [1, 2], other="2", at={1: (0, 0), 2: (0, 1)}),
            great_circle(),
            "values that are not listed",
        ),
        (
            CategoryCells("v", ["a", "b"], other="rest"),
            matrix("ab", [[0, 1], [1, 0]]),
            "'rest' is from others: list it",
        ),
        (
            IntegerCells("v", (0, 1), outside="clamp"),
            matrix(range(3), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
            "are clamped",
        ),
        (IntegerCells("v", (0, 1), outside="clamp"), great_circle().normalized([(0, 0), (1, 1)]), "outside the bounds"),
        (IntegerCells("v", (0, 1), other="rest"), great_circle().normalized([(0, 0), (1, 1)]), "outside the bounds"),
    ],
)
def test_what_is_not_known_is_refused(column, metric, rule):
    for ask in (lambda: check_cells(column, metric), lambda: Universe([column]).space(metric)):
        with pytest.raises(UnsupportedMetricError, match=rule):
            ask()


def test_nothing_is_refused_where_all_values_are_equally_far_apart():
    for column in (
        CategoryCells("v", ["a"], other="rest", missing="rest"),
        CategoryCells("v", [1, 2], other="2", at={1: (0, 0), 2: (0, 1)}),
        IntegerCells("v", (0, 1), outside="clamp"),
        NumberCells("v", (0, 1), edges=["0.5"], other="rest", missing="none"),
        DateCells("v", ("2024-01-01", "2024-01-09"), other="rest"),
        BooleanCells("v", missing="false"),
    ):
        check_cells(column, discrete())
        assert Universe([column]).space(Fraction(1, 3) * discrete()).distances.max() == pytest.approx(1 / 3)


def test_a_missing_value_is_no_number():
    """Zeros were taken for missing values, and left out of averages."""
    with pytest.raises(PolicyError, match="missing has a name of its own"):
        CategoryCells("v", [0, 10], missing="0")
    assert CategoryCells("v", [0, 10], missing="none").missing_code == 2
    assert CategoryCells("w", ["yes", "no"], missing="no").mixes_missing
    assert IntegerCells("v", (0, 1), other="both", missing="both").mixes_missing
    assert not IntegerCells("v", (0, 1), other="rest", missing="none").mixes_missing
    assert not BooleanCells("v").mixes_missing


def test_metrics_that_are_no_sum_over_columns():
    """They are taken where every value is a cell of its own."""
    plain = Universe([IntegerCells("x", (0, 3)), IntegerCells("y", (0, 4))])
    clamped = Universe([IntegerCells("x", (0, 3)), IntegerCells("y", (0, 4), outside="clamp")])
    for universe in (plain, clamped):
        for metric in (euclidean(), records(absolute(), p=2), records(absolute(), p=math.inf)):
            assert universe.space(metric).metric == metric
    unknown = euclidean().normalized([(0, 0), (1, 1)])
    assert plain.space(unknown).metric == unknown
    for universe, metric in [
        (clamped, unknown),
        (Universe([IntegerCells("x", (0, 3), edges=(2,)), IntegerCells("y", (0, 4))]), euclidean()),
        (Universe([IntegerCells("x", (0, 3)), CategoryCells("y", [0, 4], other="4")]), euclidean()),
    ]:
        with pytest.raises(UnsupportedMetricError, match="not a sum over columns"):
            universe.space(metric)
