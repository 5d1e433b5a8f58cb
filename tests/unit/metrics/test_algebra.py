import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import Level, ln
from metricdp.metrics import Added, absolute, capped, discrete, euclidean, manhattan, maximum, unprotected
from metricdp.metrics.algebra import add


def test_sums_are_flat_and_merge():
    d, e = absolute(), discrete()
    assert d + d == 2 * d
    assert d + e + d == 2 * d + e == Added((2 * d, e))
    assert (d + e) + (e + d) == 2 * (d + e)
    assert ln(2) * d + ln(4) * d == 3 * (ln(2) * d)
    assert ln(2) * d + d == Added((ln(2) * d, d))
    assert 3 * (d + ln(2) * e) / 3 == d + ln(2) * e


def test_sums_in_numbers():
    both = absolute() / 2 + 3 * discrete()
    assert both(0, 5) == 5.5
    assert both.exactly(0, 5) == Fraction(11, 2)
    assert both.exactly(5, 5) == 0
    assert (absolute() + unprotected()).exactly(1, 2) == math.inf
    assert (ln(2) * absolute() + unprotected()).exactly(1, 2) == math.inf
    with pytest.raises(ArgumentError):
        add()


def test_maximum():
    d = maximum(euclidean(), maximum(euclidean(), 2 * discrete()))
    assert d == maximum(euclidean(), 2 * discrete())
    assert maximum(absolute()) == absolute() == maximum(absolute(), absolute())
    assert [d((0, 0), point) for point in [(0, 0), (1, 1), (3, 4)]] == [0, 2, 5]
    assert d.exactly((0, 0), (1, 1)) is None
    assert 2 in d.enclose((0, 0), (1, 1))
    with pytest.raises(ArgumentError):
        maximum()
    with pytest.raises(ArgumentError):
        maximum(absolute(), 3)


def test_capped():
    d = capped(euclidean(), 2)
    assert [d.exactly((0, 0), point) for point in [(0, 0), (0, 1), (3, 4), (2, 2)]] == [0, 1, 2, 2]
    assert d.exactly((0, 0), (1, 1)) is None
    assert d((0, 0), (1, 1)) == math.sqrt(2)
    assert capped(unprotected(), ln(2))("a", "b") == float(ln(2))
    assert d.greatest == Level.of(2)
    assert (3 * d).greatest == Level.of(6)
    for bad in (0, -1, math.inf, math.nan):
        with pytest.raises(LevelError):
            capped(manhattan(), bad)


def test_words():
    assert str(2 * (absolute() + discrete())) == "2·|x − y| + 2·[x ≠ y]"
    assert str(maximum(absolute(), discrete())) == "max(|x − y|, [x ≠ y])"
    assert str(capped(absolute(), ln(2))) == "min(|x − y|, ln 2)"
    assert str(capped(absolute() + discrete(), 2) / 3) == "min(|x − y| + [x ≠ y], 2)/3"
