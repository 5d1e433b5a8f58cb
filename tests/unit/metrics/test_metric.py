import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.balls import ball, precision
from metricdp.exact.level import Level, ln
from metricdp.metrics import Metric, Scaled, absolute, discrete, euclidean, great_circle, hamming, matrix


@pytest.mark.parametrize(
    "factor", [2, 2.0, Fraction(2), Decimal(2), np.float64(2), np.int64(2), np.float32(2), Level.of(2)]
)
def test_a_scale_from_either_side(factor):
    assert factor * absolute() == absolute() * factor == Scaled(Level.of(2), absolute())


def test_levels_before_metrics():
    d = ln(2) * euclidean()
    assert (d.level, d.unit) == (ln(2), euclidean())
    assert (euclidean().level, euclidean().unit) == (Level.of(1), euclidean())
    assert d / 3 == (ln(2) / 3) * euclidean()
    assert (2 * d) * 0.5 == d
    assert 2 * (euclidean() / 2) == euclidean()
    assert isinstance(d, Scaled)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, None, "two", euclidean()])
def test_levels_that_cannot_be(bad):
    with pytest.raises(LevelError):
        absolute() * bad
    with pytest.raises(ArgumentError):
        absolute() / bad


def test_a_product_of_logarithms_is_refused():
    with pytest.raises(LevelError, match="two logarithms"):
        ln(2) * (ln(3) * absolute())


def test_adding_something_else():
    with pytest.raises(ArgumentError):
        absolute() + 3


def test_within():
    d = great_circle().within(200)
    assert d.level == ln(2) / 200
    assert great_circle().within(0.5, factor=3).level == 2 * ln(3)
    assert great_circle().within(200, factor=4) == great_circle().within(100)
    for radius, factor in [(0, 2), (-1, 2), (math.nan, 2), (200, 1), (200, 0), (200, math.inf)]:
        with pytest.raises(ArgumentError):
            great_circle().within(radius, factor)


def test_balls_follow_the_working_precision():
    with precision(200):
        ball = euclidean().ball((0, 0), (1, 1))
        assert ball.rel_accuracy_bits() > 190
        assert euclidean().ball((0, 0), (3, 4)) == 5
        assert matrix("ab", [[0, math.inf], [math.inf, 0]]).ball("a", "b") > 10**300
        assert not matrix("ab", [[0, math.inf], [math.inf, 0]]).ball("a", "b").is_finite()


def test_rational_distances_are_enclosed_exactly():
    third = (absolute() / 3).enclose(0, 1)
    assert third.lower == third.upper == Fraction(1, 3)
    apart = matrix("ab", [[0, math.inf], [math.inf, 0]]).enclose("a", "b")
    assert apart.lower == apart.upper == math.inf
    assert (ln(2) * absolute()).exactly(0, 1) is None
    assert (ln(2) * absolute()).exactly(1, 1) == 0


def test_integers_beyond_floats_stay_apart():
    assert absolute()(2**60, 2**60 + 1) == 1
    assert absolute().pairwise(np.array([2**60, 2**60 + 1]))[0, 1] == 1
    assert absolute().exactly(Decimal("0.3"), Fraction(1, 10)) == Fraction(1, 5)


@dataclass(frozen=True, repr=False)
class Cancelling(Metric):
    """√(2 + |x − y|) − √2, computed in the worst way."""

    kind = "cancelling"
    symbol = "√(2 + |x − y|) − √2"

    def _pairwise(self, points, others):
        return np.sqrt(2 + absolute().pairwise(points, others)) - math.sqrt(2)

    def _irrational(self, x, y):
        return ball(2 + absolute().exactly(x, y)).sqrt() - ball(2).sqrt()


def test_enclosures_are_narrow_even_where_digits_cancel():
    tiny = Fraction(1, 10**40)
    enclosure = Cancelling().enclose(0, tiny, bits=64)
    assert enclosure.width * 2**64 <= enclosure.lower
    assert float(enclosure) == pytest.approx(float(tiny) / math.sqrt(8), rel=1e-15)


def test_words():
    assert repr(ln(2) / 200 * great_circle()) == "ln(2) / 200 * great_circle()"
    assert str(0.5 * hamming()) == "0.5·dₕ"
    assert str(absolute() / 5000) == "|x − y|/5000"
    assert great_circle().within(5).unit_name == "m"
    assert discrete().unit_name == ""


def test_metrics_are_values():
    assert len({euclidean(), euclidean(), 2 * euclidean(), euclidean() * 2}) == 2
    with pytest.raises(AttributeError):
        (2 * euclidean()).factor = 3
