from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import KindError, NotFiniteError, ShapeError
from metricdp.metrics.coordinates import all_different, codes, coordinates, frozen, label, number, to_floats, vector


def test_numbers_are_not_rounded():
    assert number(Decimal("0.1")) == Fraction(1, 10)
    assert number(2**70 + 1) == 2**70 + 1
    assert number(np.float32(0.1)) == Fraction(13421773, 134217728)
    assert number(np.int64(2**62 + 1)) == 2**62 + 1
    assert number(np.longdouble(2) ** 63 + 1) == 2**63 + 1


@pytest.mark.parametrize("bad", ["1", True, 1j, None, np.True_, b"1"])
def test_what_is_no_number(bad):
    with pytest.raises(KindError) as error:
        number(bad, row=3)
    assert error.value.row == 3


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), Decimal("nan"), Decimal("-inf"), np.float32("nan")])
def test_what_is_not_finite(bad):
    with pytest.raises(NotFiniteError):
        number(bad)
    with pytest.raises(NotFiniteError) as error:
        coordinates([0, bad])
    assert error.value.row == 1


def test_floats_where_nothing_is_lost_and_fractions_where_it_would_be():
    assert coordinates([[1, 0.5], [2, 3]]).dtype == np.float64
    assert coordinates([2**60 + 1, 0]).dtype == object
    assert coordinates(np.array([2**60 + 1, 0])).dtype == object
    assert coordinates(np.array([2**53, -(2**53)])).dtype == np.float64
    assert coordinates(np.array([2**63], dtype=np.uint64)).dtype == object
    assert coordinates([Decimal("0.1")])[0, 0] == Fraction(1, 10)
    assert coordinates(np.array([[0.5, 1.5]], dtype=np.float32)).dtype == np.float64


def test_bad_arrays_name_the_row():
    with pytest.raises(NotFiniteError) as error:
        coordinates(np.array([[0, 1], [2, np.nan]]))
    assert error.value.row == 1
    with pytest.raises(ShapeError) as ragged:
        coordinates([(0, 0), (1, 1), (2,)])
    assert ragged.value.row == 2


@pytest.mark.parametrize("empty", [[], np.empty(0), np.empty((0, 2)), np.empty((2, 0)), np.zeros((2, 2, 2)), [()]])
def test_empty_and_misshapen(empty):
    with pytest.raises(ShapeError):
        coordinates(empty)


def test_the_float_view_of_what_is_beyond_floats():
    assert to_floats(np.array([Fraction(10) ** 400, Fraction(1, 3)], dtype=object)).tolist() == [np.inf, 1 / 3]


def test_a_single_number_is_a_point():
    assert vector(3) == (3,)
    with pytest.raises(ShapeError):
        vector([])


def test_labels():
    assert frozen([1, [2, {3}]]) == (1, (2, frozenset({3})))
    assert frozen(np.array([[1, 2]])) == ((1, 2),)
    with pytest.raises(KindError):
        label({"a": 1})
    with pytest.raises(NotFiniteError):
        label(("a", float("nan")))


def test_codes_agree_between_both_lists():
    left, right = codes(["a", "b"], ["b", "c", "a"])
    assert (left.tolist(), right.tolist()) == ([0, 1], [1, 2, 0])


@pytest.mark.parametrize(
    "points",
    [
        [(0.5, -0.0), (1, 2)],
        [(2**53 + 1, 0.5), (1, 2)],
        [(10**400, 0.5), (1, 2)],
        [(1e300, 0.1), (0.5, 0.25)],
        [(np.float64(0.5), 1), (0, 1)],
        [(Fraction(1, 3), 1), (0, 1)],
    ],
)
def test_many_points_at_once_are_what_each_of_them_is(points):
    array = coordinates(points)
    for row, point in zip(array.tolist(), points, strict=True):
        assert tuple(map(Fraction, row)) == vector(point)
    assert not any(isinstance(value, float) and str(value) == "-0.0" for value in array.ravel().tolist())


def test_many_points_at_once_are_refused_as_each_of_them_is():
    for bad, error, row in (((0, float("nan")), NotFiniteError, 1), ((0, True), KindError, 1), ((0,), ShapeError, 1)):
        with pytest.raises(error) as caught:
            coordinates([(0, 0), bad])
        assert caught.value.row == row


def test_points_that_are_all_different():
    assert all_different([(0, 1), (1, 0.5)]) == {(0, 1): 0, (1, 0.5): 1}
    for unsure in ([(0, 1), (0, 1.0)], [(0, float("nan"))], [(0, "a")], [[0, 1]], [(0, True)]):
        assert all_different(unsure) is None
