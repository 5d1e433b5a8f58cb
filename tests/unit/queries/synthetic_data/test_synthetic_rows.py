"""Rows from a fit: each value as often as its share says, and values of the columns' own types."""

import datetime as dt
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from metricdp.exact.bits import seeded
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.queries.synthetic_data.fitting import fit_marginals
from metricdp.queries.synthetic_data.synthetic_rows import draw_cells, values_of_cells


def test_one_marginal_comes_out_to_one_record():
    wanted = np.array([[10.3, 0.0, 20.7], [5.5, 60.5, 3.0]])
    fitted = fit_marginals((2, 3), [(0, 1)], [wanted], [0.001], 100)
    with seeded(1):
        first, second = draw_cells(fitted, 100)
    rows = np.bincount(first * 3 + second, minlength=6).reshape(2, 3)
    assert rows.sum() == 100
    assert np.abs(rows - wanted).max() <= 2
    assert np.abs(rows.sum(axis=1) - wanted.sum(axis=1)).max() <= 1


def test_columns_of_different_tables_are_independent():
    halves = np.array([500.0, 500.0])
    fitted = fit_marginals((2, 2), [(0,), (1,)], [halves, halves], [1.0, 1.0], 1000)
    with seeded(2):
        first, second = draw_cells(fitted, 1000)
    both = np.bincount(first * 2 + second, minlength=4)
    assert np.abs(both - 250).max() < 100  # six standard deviations


@pytest.mark.parametrize(
    ("column", "kind", "inside"),
    [
        (CategoryCells("x", ["a", "b"], missing="?", other="else"), pa.string(), ["a", "b", "else", None]),
        (CategoryCells("x", [3, 5], other="else"), pa.int64(), [3, 5, None]),
        (BooleanCells("x", missing="?"), pa.bool_(), [False, True, None]),
    ],
)
def test_values_of_lists(column, kind, inside):
    values = values_of_cells(column, np.arange(len(column)))
    assert values.type == kind
    assert values.to_pylist() == inside


def test_values_of_cells_that_hold_several():
    ages = IntegerCells("x", (0, 99), width=20, missing="?")
    drawn = values_of_cells(ages, np.array([0] * 200 + [4] * 200 + [5]), pa.int16())
    assert drawn.type == pa.int16()
    assert set(drawn.to_pylist()[:200]) <= set(range(20))
    assert len(set(drawn.to_pylist()[:200])) > 10
    assert set(drawn.to_pylist()[200:400]) <= set(range(80, 100))
    assert drawn[400].as_py() is None
    days = DateCells("x", (dt.date(2024, 1, 1), dt.date(2024, 3, 31)), by="month")
    assert all(
        dt.date(2024, 2, 1) <= day <= dt.date(2024, 2, 29)
        for day in values_of_cells(days, np.ones(50, int)).to_pylist()
    )
    money = NumberCells("x", (0, 10), width=5)
    assert all(5 <= value <= 10 for value in values_of_cells(money, np.ones(50, int)).to_pylist())
    wide = IntegerCells("x", (0, 1 << 60), edges=())
    assert all(0 <= value <= 1 << 60 for value in values_of_cells(wide, np.zeros(50, int)).to_pylist())


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", None])
def test_moments_lie_on_the_day_of_their_zone(zone):
    """At midnight of UTC it is the day before in New York, which may lie outside the bounds."""
    column = DateCells("at", (dt.date(2024, 3, 9), dt.date(2024, 3, 12)), zone=zone, missing="?", moments=True)
    made = values_of_cells(column, np.array([0, 1, 2, 3, 4]), pa.timestamp("ms", "UTC"))
    assert made.type == pa.timestamp("ms", "UTC")
    days = [None if one is None else one.astimezone(ZoneInfo(zone or "UTC")).date() for one in made.to_pylist()]
    assert days == [*column.starts, None]


def test_numbers_lie_on_the_steps_that_the_policy_declares():
    column = NumberCells("pay", (0, 1), edges=("0.5",))
    made = values_of_cells(column, np.array([0, 1] * 300), pa.float64(), Fraction(1, 4)).to_pylist()
    assert (set(made[::2]), set(made[1::2])) == ({0.0, 0.25}, {0.5, 0.75, 1.0})
    coarse = values_of_cells(column, np.array([0, 1] * 300), pa.float64(), Fraction(3)).to_pylist()
    assert 0.5 < max(coarse) <= 1, "a cell without a multiple has any of its values"


def test_dictionaries_stay_dictionaries():
    wanted = pa.dictionary(pa.int16(), pa.string())
    made = values_of_cells(CategoryCells("x", ["a", "b"], missing="?"), np.array([1, 0, 2]), wanted)
    assert (made.type, made.to_pylist()) == (wanted, ["b", "a", None])


def test_a_type_that_cannot_hold_the_values_gives_way():
    assert values_of_cells(CategoryCells("x", ["a"]), np.zeros(2, int), pa.int64()).type == pa.string()
