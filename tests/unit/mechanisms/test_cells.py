"""Mechanisms on the line from inside: exact numbers in any unit go in, whole multiples of the resolution come out."""

import importlib
from contextlib import ExitStack
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.errors import ArgumentError, NotFiniteError, OffGridError, OutOfDomainError
from metricdp.exact.bits import seeded
from metricdp.exact.grid import RESULT_CELLS, SECRET_CELLS, Grid
from metricdp.exact.refine import CELLS

m = mdp.metrics
DRAWN = tuple(f"metricdp.mechanisms.{name}" for name in ("continuous.line", "continuous.vectors", "geometric"))


def without_noise(release, drawn=0):
    """What is released where every draw is the same number of cells around the nearest."""

    def chosen(formula, count):
        return np.full((formula.outputs, count), drawn)

    with ExitStack() as stack:
        for name in DRAWN:
            stack.enter_context(mock.patch.object(importlib.import_module(name), "nearest_integers", chosen))
        return release()


units = st.sampled_from(
    [Fraction(1), Fraction(1, 100), Fraction(1, 10**18), Fraction(1, 86_400), Fraction(7, 3), Fraction(10**5)]
)
widths = st.sampled_from(
    [Fraction(1), Fraction(1, 100), Fraction(1, 2**40), Fraction(1, 3), Fraction(10**6), Fraction(5**20, 2**60)]
)


@given(units, widths, st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.integers(0, 62))
def test_every_way_of_placing_says_the_same(unit, width, numbers, shift):
    """Integers of 64 bits, objects, Decimals and Fractions: one range, one cell, one fraction."""
    numbers = [number >> shift for number in numbers]
    grid = Grid.of(width / unit)
    outside = [abs(number * unit) > SECRET_CELLS * width for number in numbers]
    for kind in (int, Fraction, Decimal, np.int64):
        array = np.array(numbers, dtype=np.int64) if kind is np.int64 else np.array([*map(kind, numbers), None])[:-1]
        if any(outside):
            with pytest.raises(OutOfDomainError) as caught:
                grid.place(array)
            assert caught.value.row == outside.index(True)
            continue
        placed = grid.place(array)
        for row, number in enumerate(numbers):
            assert (int(placed.cells[row]) + placed.exact(row)) * width == number * unit
            assert 0 <= placed.exact(row) < 1
            assert abs(Fraction(float(placed.fractions[row])) - placed.exact(row)) <= Fraction(placed.radius)


@given(
    st.sampled_from([Fraction(1, 3), Fraction(1, 100), Fraction(7), Fraction(1, 2**30), Fraction(0.1)]),
    st.floats(-1 + 2**-50, 1 - 2**-50),
)
def test_floats_far_out_are_placed_exactly(width, share):
    secret = float(share * SECRET_CELLS * width)
    placed = Grid(width).place(np.array([secret]))
    assert (int(placed.cells[0]) + placed.exact(0)) * width == Fraction(secret)
    assert abs(placed.exact(0)) <= Fraction(1, 2) + Fraction(1, 2**30)
    assert abs(Fraction(float(placed.fractions[0])) - placed.exact(0)) <= Fraction(placed.radius)


def test_the_range_is_the_same_for_every_type():
    width = Fraction(1, 8)
    last = SECRET_CELLS // 8
    for array in (
        np.array([last, -last]),
        np.array([float(last)]),
        np.array([last], dtype=object),
        np.array([last], np.uint64),
    ):
        Grid(width).place(array)
    for array in (
        np.array([last + 1]),
        np.array([float(last) * (1 + 2.0**-52)]),
        np.array([Fraction(8 * last + 1, 8)]),
    ):
        with pytest.raises(OutOfDomainError):
            Grid(width).place(array)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float16, np.float64, object])
def test_a_cell_is_the_secret_over_the_resolution(dtype):
    mechanism = mdp.laplace(m.absolute().within(5), resolution="0.01")
    cells, missing = without_noise(lambda: mechanism.release_cells(np.array([3, 100, 0], dtype=dtype), Fraction(1, 50)))
    assert cells.tolist() == [6, 200, 0]
    assert cells.dtype == np.int64
    assert missing is None


def test_wide_decimals_are_exact():
    mechanism = mdp.laplace(m.absolute(), resolution="0.01")
    unscaled = np.array([12345678901234567890123, -5 * 10**18, 7], dtype=object)
    cells, _ = without_noise(lambda: mechanism.release_cells(unscaled, Fraction(1, 10**18)))
    assert cells.tolist() == [1234567, -500, 0]


def test_bounds_are_kept_exactly():
    mechanism = mdp.laplace(m.absolute(), resolution="0.01", bounds=("0.015", "0.095"))
    inside = np.array([15, 95] * 1000, dtype=np.int64)
    cells, _ = mechanism.release_cells(inside, Fraction(1, 1000))
    assert set(cells.tolist()) <= set(range(2, 10))
    for bad in (14, 96):
        with pytest.raises(OutOfDomainError) as caught:
            mechanism.release_cells(np.array([15, bad]), Fraction(1, 1000))
        assert caught.value.row == 1
    with pytest.raises(OutOfDomainError):
        mechanism.release_cells(np.array([15 * 10**30 - 1], dtype=object), Fraction(1, 10**33))
    assert set(mechanism.release_cells(np.array([15 * 10**30], dtype=object), Fraction(1, 10**33))[0]) <= set(
        range(2, 10)
    )


@pytest.mark.parametrize("drawn", [CELLS, -CELLS])
def test_cells_saturate_at_fixed_ends(drawn):
    for mechanism in (mdp.laplace(m.absolute(), resolution=1), mdp.geometric(m.absolute())):
        for secret in (0, SECRET_CELLS, -SECRET_CELLS):
            cells, _ = without_noise(lambda secret=secret, by=mechanism: by.release_cells(np.array([secret])), drawn)
            assert cells.tolist() == [RESULT_CELLS if drawn > 0 else -RESULT_CELLS]


def test_missing_values():
    line, steps = mdp.laplace(m.absolute(), resolution=1), mdp.geometric(m.absolute())
    for mechanism in (line, steps):
        with pytest.raises(NotFiniteError) as caught:
            mechanism.release_cells(np.array([1, 2]), missing=np.array([False, True]))
        assert caught.value.row == 1
        assert mechanism.release_cells(np.array([1, 2]), missing=np.zeros(2, dtype=bool))[1] is None
    null = mdp.laplace(Fraction(1, 240) * m.nullable(m.absolute(), 240), bounds=(20, 101), resolution=1)
    secrets = np.array([50, 10**9] * 500)
    with seeded(3):
        cells, missing = null.release_cells(secrets, missing=secrets == 10**9)
    assert 0.15 < missing[::2].mean() < 0.35
    assert 0.5 < missing[1::2].mean() < 0.8
    assert (cells[missing] == 0).all()
    assert cells[~missing].min() >= 20
    with seeded(3):
        floats = null.release_cells(np.where(secrets == 10**9, np.nan, secrets.astype(float)))
    assert (floats[0] == cells).all()
    assert (floats[1] == missing).all()
    with pytest.raises(OutOfDomainError):
        null.release_cells(secrets)


def test_the_centre_is_the_middle_itself():
    """Where no type of column holds it: between two cells, and for dates within a day."""
    null = mdp.laplace(m.nullable(m.absolute(), 10), bounds=(0, Fraction(1, 3)), resolution=Fraction(1, 3))
    assert null._centre == Fraction(1, 6)
    dates = mdp.laplace(m.nullable(m.dates(), 10), bounds=(0, 3), resolution=1)
    assert dates._centre == Fraction(3, 2)


def test_steps():
    steps = mdp.truncated_geometric(m.absolute(), steps=10, step="0.5")
    cells, _ = steps.release_cells(np.array([0, 50, 500], dtype=np.int32), Fraction(1, 100))
    assert ((cells >= 0) & (cells <= 10)).all()
    with pytest.raises(OffGridError) as caught:
        steps.release_cells(np.array([0, 51]), Fraction(1, 100))
    assert caught.value.row == 1
    with pytest.raises(OutOfDomainError):
        steps.release_cells(np.array([0, 550]), Fraction(1, 100))


def test_bounds_beyond_every_cell_are_refused_at_once():
    for bounds in ((0, 2**62), (-(2**62), 0)):
        with pytest.raises(ArgumentError, match="coarser"):
            mdp.laplace(m.absolute(), bounds=bounds, resolution=1)
    with pytest.raises(ArgumentError, match="coarser"):
        mdp.truncated_geometric(m.absolute(), steps=2**62)


def test_points():
    plane = mdp.laplace(m.chebyshev(), dim=2, resolution="0.5")
    columns = [np.array([3, 5]), np.array([2**70, 2**69 + 1], dtype=object)]
    cells = without_noise(lambda: plane.release_cells(columns, [Fraction(1), Fraction(1, 2**60)]))
    assert cells.tolist() == [[6, 2048], [10, 1024]]
    assert without_noise(lambda: plane.release_cells(np.array([[1.0, 2.5]]))).tolist() == [[2, 5]]
    with pytest.raises(NotFiniteError) as caught:
        plane.release_cells(np.array([[1.0, 2.5], [0.0, 1.0], [np.nan, 0.0]]))
    assert caught.value.row == 2


@pytest.mark.parametrize("size", [1, 4, 8, 9, 16, 33, 64, 65, 200])
def test_sets_as_bits(size):
    sets = mdp.set_response(range(size), mdp.ln(3))
    present = np.zeros((20_000, sets.mask_bits), dtype=bool)
    present[:, size // 2 : size] = True
    released = sets.release_masks(sets.masks(present))
    assert released.shape == (20_000, max(1, sets.mask_bits // 64))
    shown = np.unpackbits(released.view(np.uint8), bitorder="little").view(bool).reshape(present.shape)
    assert np.abs((shown ^ present)[:, :size].mean(axis=0) - 0.25).max() < 0.03
    assert not shown[:, size:].any()
    with pytest.raises(mdp.errors.ShapeError):
        sets.release_masks(released[:, 0])
