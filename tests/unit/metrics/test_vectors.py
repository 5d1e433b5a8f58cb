import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp import metrics as m
from metricdp.errors import ArgumentError, KindError, NotFiniteError, ShapeError
from metricdp.exact.level import ln
from metricdp.metrics import absolute, chebyshev, euclidean, manhattan, normalized_manhattan


@pytest.mark.parametrize(("metric", "distance"), [(manhattan(), 7), (euclidean(), 5), (chebyshev(), 4)])
def test_three_four_five(metric, distance):
    assert metric((0, 0), (3, 4)) == metric(np.array([0.0, 0.0]), [3, 4]) == distance
    assert metric.exactly((0, 0), (Fraction(3, 7), Fraction(4, 7))) == Fraction(distance, 7)
    assert metric.pairwise(np.array([[0, 0], [3, 4]])).tolist() == [[0, distance], [distance, 0]]


def test_on_the_line_all_three_are_one():
    points = [0, 1.5, -2]
    expected = absolute().pairwise(points).tolist()
    for metric in (manhattan(), euclidean(), chebyshev()):
        assert metric.pairwise(points).tolist() == expected
        assert metric.exactly(0, 1.5) == Fraction(3, 2)
    assert absolute().pairwise([[1], [2]])[0, 1] == 1


@pytest.mark.parametrize("metric", [manhattan(), euclidean(), chebyshev()])
def test_no_overflow_on_the_way(metric):
    assert metric((1e200, 0), (0, 1e-200)) == pytest.approx(1e200)
    assert metric((1e-200, 0), (0, 0)) == 1e-200
    assert metric((1.7e308, 0), (-1.7e308, 0)) == math.inf  # the view; the distance itself is known
    assert metric.exactly((1.7e308, 0), (-1.7e308, 0)) == 2 * Fraction(1.7e308)


@pytest.mark.parametrize("metric", [absolute(), manhattan(), euclidean(), chebyshev()])
def test_bad_points(metric):
    with pytest.raises(NotFiniteError) as error:
        metric.pairwise([0, math.nan])
    assert error.value.row == 1
    with pytest.raises(KindError):
        metric("0", 1)
    with pytest.raises(ShapeError):
        metric.pairwise([])
    with pytest.raises(ShapeError):
        metric((0, 0), (0, 0, 0))
    with pytest.raises(ShapeError):
        metric.exactly((0, 0), (0, 0, 0))


def test_absolute_takes_numbers_only():
    with pytest.raises(ShapeError):
        absolute()((0, 0), (1, 1))
    with pytest.raises(ShapeError):
        absolute().exactly((0, 0), (1, 1))


def test_errors_carry_no_value():
    with pytest.raises(KindError) as error:
        euclidean().pairwise([(0, 0), (0, "secret-4711")])
    assert "4711" not in str(error.value)


def test_normalized_manhattan():
    assert normalized_manhattan(3).exactly((0, 1), (1, 2)) == Fraction(2, 3)
    with pytest.raises(ArgumentError):
        normalized_manhattan(0)


@pytest.mark.parametrize("metric", [manhattan(), euclidean(), chebyshev(), ln(3) / 7 * euclidean()])
@pytest.mark.parametrize("dimension", [1, 2, 40])
def test_enclosures_are_as_near_as_rounding_allows(metric, dimension):
    """Beside balls, also where coordinates nearly cancel."""
    generator = np.random.default_rng(dimension)
    points = generator.normal(size=(12, dimension)) * 10.0 ** generator.integers(-9, 9, (12, 1)) + 1e3
    points[1] = np.nextafter(points[0], math.inf)
    known = metric._enclosures(points, points)
    for i in range(12):
        for j in range(i):
            true = metric.enclose(tuple(points[i].tolist()), tuple(points[j].tolist()), 80)
            assert Fraction(known.lower[i, j]) <= true.lower <= true.upper <= Fraction(known.upper[i, j])
            assert known.upper[i, j] <= known.lower[i, j] * (1 + (dimension + 4) * 2.0**-48)


@pytest.mark.parametrize(
    "metric",
    [
        m.absolute(),
        m.manhattan(),
        m.chebyshev(),
        m.blowfish(m.absolute(), 5, 1).unit,
        m.blowfish(m.chebyshev(), 1.5, 1).unit,
    ],
)
def test_integers_are_the_exact_distances(metric):
    points = [0, 7, -3, 2, 2] if "|x" in str(metric) else [(0, 7), (-3, 2), (5, 5), (5, 5)]
    found = metric.integers(points)
    assert found.tolist() == [[metric.exactly(x, y) for y in points] for x in points]


def test_integers_only_where_they_are():
    assert m.euclidean().integers([(0, 0), (3, 4)]) is None
    assert m.absolute().integers([0, 0.5]) is None
    assert m.absolute().integers([0, 1 << 50]) is None
    assert m.absolute().integers([True, 2]) is None
    assert m.manhattan().integers([(0, 1), (0, 1, 2)]) is None
    assert m.discrete().integers([0, 1]) is None
