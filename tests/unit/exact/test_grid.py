"""Secrets are placed on a grid as the exact rationals they are."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import ArgumentError, KindError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.grid import RESULT_CELLS, SECRET_CELLS, Grid
from metricdp.exact.refine import CELLS

WIDTHS = [
    Fraction(1),
    Fraction(1, 2**20),
    Fraction(8),
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(7),
    Fraction(0.1),
]
widths = st.sampled_from(WIDTHS)


def check(grid, secrets, exact):
    placed = grid.place(secrets)
    for row, secret in enumerate(exact):
        fraction = placed.exact(row)
        assert grid.width * (int(placed.cells[row]) + fraction) == secret
        assert abs(Fraction(float(placed.fractions[row])) - fraction) <= Fraction(placed.radius)
        assert placed.aligned()[row] == ((secret / grid.width).denominator == 1)


@given(widths, st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_floats(width, numbers):
    check(Grid(width), np.array(numbers), [Fraction(number) for number in numbers])


@given(widths, st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=8))
def test_integers(width, numbers):
    check(Grid(width), np.array(numbers), [Fraction(number) for number in numbers])


@given(
    st.sampled_from([Fraction(1), Fraction(7), Fraction(10**9)]),
    st.lists(st.integers(-(2**60), 2**60), min_size=1),
)
def test_integers_that_no_float_holds(width, numbers):
    check(Grid(width), np.array(numbers), [Fraction(number) for number in numbers])


@given(widths, st.lists(st.decimals(-(10**6), 10**6, places=8), min_size=1, max_size=5))
def test_decimals(width, numbers):
    secrets = np.empty(len(numbers), dtype=object)
    secrets[:] = numbers
    check(Grid(width), secrets, [Fraction(number) for number in numbers])


def test_a_residue_far_out_keeps_its_digits():
    """x / r near 2^50: the naive quotient has three bits left for the fraction."""
    grid = Grid(Fraction(1, 3))
    secrets = np.array([float(2**49) + 0.125, float(2**49) + 0.25])
    check(grid, secrets, [Fraction(float(secret)) for secret in secrets])


def test_points_are_the_nearest_floats():
    assert Grid(Fraction(1, 100)).values(np.array([3, 7, 29])).tolist() == [0.03, 0.07, 0.29]
    assert Grid(Fraction(1, 4)).values(np.array([-3])).tolist() == [-0.75]


def test_overflow_saturates():
    assert Grid(Fraction(10)).whole_values(np.array([2**61]))[0] == (2**63 - 1) // 10 * 10
    ends = [RESULT_CELLS, -RESULT_CELLS]
    for give in (Grid(Fraction(1)).whole_values, Grid(Fraction(1)).numbers):
        assert list(give(np.array([2**63 - 1, -(2**63)]))) == ends
    assert Grid(Fraction(1)).values(np.array([2**63 - 1])).tolist() == [float(RESULT_CELLS)]
    assert Grid(Fraction(10)).within(np.array([-99, 99]), -128, 127).tolist() == [-120, 120]


def test_numbers_are_of_any_size():
    assert Grid(Fraction(2**70)).numbers(np.array([3, -5])) == [3 * 2**70, -5 * 2**70]
    assert Grid(Fraction(1, 4)).numbers(np.array([3])) == [0.75]
    with pytest.raises(ArgumentError):
        Grid(Fraction(2**70)).whole_values(np.array([1]))


def test_a_draw_that_saturates_ends_beyond_the_grid_whatever_the_secret():
    """Otherwise the place where it was cut off would tell the secret."""
    assert CELLS - SECRET_CELLS >= RESULT_CELLS
    assert CELLS + SECRET_CELLS < 2**63


@pytest.mark.parametrize(
    ("secrets", "error", "row"),
    [
        (np.array([0.0, np.nan]), NotFiniteError, 1),
        (np.array([np.inf]), NotFiniteError, 0),
        (np.array([0.0, 1e300]), OutOfDomainError, 1),
        (np.array([0.0, 1e-300, 2.0**61]), OutOfDomainError, 2),
        (np.array([-(2**63)]), OutOfDomainError, 0),
        (np.array(["a"]), KindError, None),
        (np.array([True]), KindError, None),
        (np.array([1j]), KindError, None),
        (np.array([1, "a"], dtype=object), KindError, 1),
        (np.array([1, Decimal("NaN")], dtype=object), NotFiniteError, 1),
        (np.array([1, True], dtype=object), KindError, 1),
        (np.array([2**70], dtype=object), OutOfDomainError, 0),
    ],
)
def test_bad_secrets_are_refused_by_row(secrets, error, row):
    with pytest.raises(error) as caught:
        Grid(Fraction(1, 2)).place(secrets)
    assert caught.value.row == row


def on_grid(grid, secrets):
    return grid.on_grid(grid.place(secrets)).tolist()


def test_off_the_grid_is_refused_exactly():
    assert on_grid(Grid(Fraction(1, 4)), np.array([0.75, -2.0])) == [3, -8]
    assert on_grid(Grid(Fraction(1, 10)), np.array([Decimal("0.3")], dtype=object)) == [3]
    for grid, secrets in [
        (Grid(Fraction(1, 4)), np.array([0.75, 0.7500000000000001])),
        (Grid(Fraction(1, 10)), np.array([0.0, 0.3])),  # the float 0.3 is not three tenths
        (Grid(Fraction(7)), np.array([14, 13])),
    ]:
        with pytest.raises(OffGridError) as caught:
            on_grid(grid, secrets)
        assert caught.value.row == 1


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float64, object])
@pytest.mark.parametrize("width", [Fraction(1, 2**63), Fraction(1, 2**120), Fraction(1, 10**80), Fraction(3, 10**80)])
def test_zero_lies_on_the_finest_grid_whatever_its_type(dtype, width):
    """Integers met a factor of more than 64 bits there, and ended in an error of Python where others were taken."""
    placed = Grid(width).place(np.array([0, 0], dtype=dtype))
    assert placed.cells.tolist() == [0, 0]
    assert placed.aligned().all()
    with pytest.raises(OutOfDomainError):
        Grid(width).place(np.array([0, 1], dtype=dtype))
