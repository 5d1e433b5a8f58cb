import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, KindError, NotFiniteError, OffGridError, OutOfDomainError, ShapeError
from metricdp.queries import Average, Percentile, Sum, maximum, median, minimum

ROWS = [20, 35, 35, 90]


def test_answers():
    assert Sum((0, 100)).evaluate(ROWS) == 180
    assert Average((0, 100), records=4).evaluate(ROWS) == 45
    assert [query((0, 100)).evaluate(ROWS) for query in (minimum, median, maximum)] == [20, 35, 90]
    assert Percentile(75, (0, 100)).evaluate(ROWS) == 90
    assert Percentile(74, (0, 100)).evaluate(ROWS) == 35
    assert Sum((0, 100))(ROWS) == 180


@pytest.mark.parametrize("p", [0, 10, 25, 50, 75, 99, 100])
def test_percentiles_count_repeated_values(p):
    rows = [3, 1, 1, 2, 2, 2, 9, 9]
    place = min(p * len(rows) // 100, len(rows) - 1)
    assert Percentile(p, (0, 10)).evaluate(rows) == sorted(rows)[place]


def test_rounding_is_to_the_grid_of_the_values():
    rows = [1, 2, 4, 4]  # the average is 11/4
    options = {"bounds": (1, 5), "step": 1, "nulls": True}
    assert Average(**options, records=4, rounding="floor").evaluate(rows) == 2
    assert Average(**options, records=4, rounding="half-up").evaluate(rows) == 3
    assert Average(**options, records=4, rounding="exact").evaluate(rows) == Fraction(11, 4)
    assert (
        Average((1, 5), step=2, records=2, rounding="half-up").evaluate([1, 3]) == 3
    )  # halves go up: 2 lies between 1 and 3
    assert Average((1, 5), step=2, records=2, rounding="floor").evaluate([1, 3]) == 1
    assert Average((-5, -1), step=2, records=2, rounding="half-up").evaluate([-5, -3]) == -3


def test_what_is_rounded_by_default():
    assert Average((0, 10), records=5).rounding == "exact"
    assert Average((0, 10), step=None).rounding == "exact"
    assert Average((0, 10)).rounding == "half-up"
    assert Average((0, 10), records=5, nulls=True).rounding == "half-up"


def test_absent_records():
    rows = [20, None, math.nan, 40]
    assert Sum((0, 100)).evaluate(rows) == 60
    assert Average((0, 100)).evaluate(rows) == 30
    assert maximum((0, 100), records=9, nulls=True).evaluate(rows) == 40
    for empty in ([], [None], [math.nan, None]):
        assert Sum((5, 100)).evaluate(empty) == 0
        assert Average((0, 101)).evaluate(empty) == 50
        assert median((0, 101)).evaluate(empty) == 50
        assert median((0, 101), step=None).evaluate(empty) == Fraction(101, 2)


def test_numbers_are_read_exactly():
    query = Sum((0, 1), step="0.1")
    assert query.evaluate([0.1, 0.2, 0.3]) == Fraction(6, 10)
    assert query.evaluate([Decimal("0.7"), Fraction(1, 5), 1]) == Fraction(19, 10)
    assert query.evaluate(np.array([0.1, 0.3])) == Fraction(4, 10)
    assert Sum((0, 1), step=None).evaluate([0.1, 0.2]) == Fraction(0.1) + Fraction(0.2)
    assert Sum((0, 2**70)).evaluate([2**69, 2**69 + 1]) == 2**70 + 1


@pytest.mark.parametrize("query", [Sum((0, 10)), Average((0, 10)), Percentile(50, (0, 10))], ids=repr)
def test_columns_of_frames(query):
    import pandas as pd
    import pyarrow as pa

    rows = [3, None, 7]
    wanted = query.evaluate(rows)
    columns = [pd.Series(rows), pd.Series(rows, dtype="Int64"), pd.Series(rows, dtype=object), pa.array(rows)]
    for column in (*columns, pa.chunked_array([rows]), np.array([3, np.nan, 7]), tuple(rows)):
        assert query.evaluate(column) == wanted
    polars = pytest.importorskip("polars")
    assert query.evaluate(polars.Series(rows)) == wanted


@pytest.mark.parametrize(
    ("rows", "error", "rule"),
    [
        ([1, 77], OutOfDomainError, "outside the declared bounds"),
        ([1, -77], OutOfDomainError, "outside the declared bounds"),
        ([1, math.inf], OutOfDomainError, "outside the declared bounds"),
        ([1, 7.7], OffGridError, "between two points"),
        ([1, math.nan], NotFiniteError, "nulls=True"),
        ([1, None], NotFiniteError, "nulls=True"),
        ([1, True], KindError, "a number is wanted"),
        ([1, "7"], KindError, "a number is wanted"),
        ([1, 7j], KindError, "a number is wanted"),
    ],
)
def test_a_row_that_breaks_a_rule_is_named_without_its_value(rows, error, rule):
    with pytest.raises(error, match=rule) as caught:
        Sum((0, 10), records=2).evaluate(rows)
    assert caught.value.row == 1
    assert "7" not in str(caught.value)


def test_values_outside_are_clamped_where_that_is_declared():
    query = Sum((0, 10), records=4, outside="clamp")
    assert query.evaluate([-5, 3, 12.5, math.inf]) == 23
    with pytest.raises(NotFiniteError):
        query.evaluate([math.nan, 1, 1, 1])
    with pytest.raises(OffGridError):
        query.evaluate([0.5, 1, 1, 1])


def test_the_number_of_records():
    for rows in ([], [1], [1, 2, 3]):
        with pytest.raises(ShapeError, match="exactly 2 records"):
            Sum((0, 10), records=2).evaluate(rows)
    assert Sum((0, 10), records=2, nulls=True).evaluate([1]) == 1
    with pytest.raises(ShapeError, match="at most 2 records"):
        Sum((0, 10), records=2, nulls=True).evaluate([1, 2, 3])
    for data in ("12", 12, {"a": 1}, b"12"):
        with pytest.raises(KindError, match="a column of records"):
            Sum((0, 10)).evaluate(data)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Sum(), "a sum has bounds"),
        (lambda: Average(0), "an average has bounds"),
        (lambda: median(5), "a percentile has bounds"),
        (lambda: Sum((5, 5)), "lower bound"),
        (lambda: Sum((0, math.inf)), "finite"),
        (lambda: Sum((0, math.nan)), "finite"),
        (lambda: Sum((0, 10), step=3), "divides 10, the width of the bounds"),
        (lambda: Sum((0, 10), step=-1), "a step is positive"),
        (lambda: Sum((0, 10), records=0), "1 or more"),
        (lambda: Sum((0, 10), records=2.0), "1 or more"),
        (lambda: Sum((0, 10), records=True), "1 or more"),
        (lambda: Sum((0, 10), nulls=False), "may be absent"),
        (lambda: Sum((0, 10), outside="wrap"), "refuse"),
        (lambda: Percentile(101, (0, 10)), "between 0 and 100"),
        (lambda: Average((0, 10), rounding="half-even"), "half to even"),
        (lambda: Average((0, 10), step=None, rounding="floor"), "rounded to the grid"),
    ],
)
def test_queries_that_cannot_be(make, rule):
    with pytest.raises(ArgumentError, match=rule):
        make()


def test_queries_are_values():
    assert Sum((0, 10), records=3) == Sum(("0", 10.0), records=3) != Sum((0, 10), records=4)
    assert hash(median((0, 10))) == hash(Percentile(50, (0, 10)))
    assert Sum((0, 10)) != Average((0, 10))
    assert repr(Percentile(50, (0, 10), step="0.5", records=4, nulls=True, outside="clamp")) == (
        "Percentile(bounds=(0, 10), step=0.5, records=4, percent=50, nulls=True, outside='clamp')"
    )
    assert "step=None" in repr(Sum((0, 10), step=None))


@pytest.mark.parametrize("lo", [Fraction(0), Fraction(-2), Fraction(1), Fraction(-4), Fraction(1, 2), Fraction(-1, 2)])
@pytest.mark.parametrize("nulls", [False, True])
def test_answers_lie_on_the_grid(lo, nulls):
    for make in (Sum, Average, median):
        query = make((lo, lo + 2), records=2, nulls=nulls)
        answers = {query.evaluate(x) for x in itertools.product(query.universe, repeat=2)}
        grid = query.grid
        points = {grid.start + i * grid.step for i in range(grid.steps + 1)}
        assert answers <= points
        assert (min(answers), max(answers)) == (grid.least, grid.greatest)
        if grid.contiguous:
            assert answers == points


def test_grids_without_an_end():
    assert Sum((0, 10)).grid.steps is None
    assert (Sum((0, 10)).grid.least, Sum((0, 10)).grid.greatest) == (0, None)
    assert (Sum((-10, -1)).grid.least, Sum((-10, -1)).grid.greatest) == (None, 0)
    assert (Sum((-1, 1)).grid.least, Sum((-1, 1)).grid.greatest) == (None, None)
    assert Average((0, 10)).grid.steps == 10
    for query in (
        Sum((0, 1), step=None),
        Average((0, 1), step=None),
        Average((0, 10), rounding="exact"),
        Sum((0, 1), step=None),
    ):
        assert query.grid is None
