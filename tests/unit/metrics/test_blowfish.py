import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, NotAMetricError
from metricdp.exact.level import ln
from metricdp.metrics import (
    Graph,
    Hops,
    Space,
    absolute,
    blowfish,
    chebyshev,
    dates,
    euclidean,
    great_circle,
    hamming,
    records,
    smooth,
    symmetric_difference,
)


def test_hops_on_the_line_are_exact_where_floats_are_not():
    d = blowfish(absolute(), 0.1)
    assert 0.3 / 0.1 < 3  # in floats
    assert d(0, 0.3) == 3
    assert blowfish(absolute(), "0.1")(0, 0.1) == 2  # the float 0.1 is a little more than a tenth
    assert d(0, 0.1) == 1
    assert d(0, math.nextafter(0.1, 1)) == 2
    assert d(0, 5e-324) == 1
    assert d(0, 0) == 0
    assert d.pairwise([0, 0.1, 0.25]).tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


def test_hops_are_whole_even_where_the_base_is_irrational():
    d = blowfish(euclidean(), 1)
    assert d.exactly((0, 0), (1, 1)) == 2
    assert d((0, 0), (3, 4)) == 5
    assert blowfish(great_circle(), 1000).exactly((0, 0), (0, 1)) == 112
    assert d.unit_name == "hops"


@pytest.mark.parametrize(
    "base", [absolute(), 3 * euclidean(), chebyshev(), great_circle(), dates(), records(absolute(), 2)]
)
def test_geodesic_bases(base):
    assert base.geodesic
    assert blowfish(base, 5, ln(2)).proven


def test_a_base_without_places_in_between_must_be_closed():
    d = blowfish(hamming(), 1, 0.5)
    x, y, z = (0, 0), (0, 1), (1, 1)
    assert d(x, y) == 0.5
    assert d(x, z) == math.inf
    assert not d.proven
    with pytest.raises(NotAMetricError):
        Space([x, y, z], d)
    closed = d.closure([x, y, z])
    assert closed.exactly(x, z) == 1
    assert Space([x, y, z], closed).distances[0, 2] == 1


def test_over_a_universe():
    d = blowfish(euclidean(), 5, 0.5, universe=[(0, 0), (3, 4), (6, 8), (100, 0)])
    assert isinstance(d.unit, Graph)
    assert d((0, 0), (6, 8)) == 1
    assert d((0, 0), (100, 0)) == math.inf
    tie = blowfish(absolute(), 0.1, universe=[0, 0.1, math.nextafter(0.1, 1)])
    assert tie(0, 0.1) == 1
    assert tie(0, math.nextafter(0.1, 1)) == 2


def test_smooth():
    d = smooth(euclidean(), 5, ln(2))
    assert d((0, 0), (0, 0)) == 0
    assert d((0, 0), (1, 1)) == d((0, 0), (3, 4)) == float(ln(2))
    assert d((0, 0), (6, 8)) == pytest.approx(2 * math.log(2), rel=1e-15)
    assert d.unit.exactly((0, 0), (1, 1)) == 1
    assert d.unit.exactly((0, 0), (10, 10)) is None
    assert smooth(great_circle(), 5).exactly((0, 180), (0, -180)) == 0
    assert smooth(symmetric_difference(), 2).exactly({1}, {1, 2, 3, 4, 5, 6}) == Fraction(5, 2)


@pytest.mark.parametrize("make", [blowfish, smooth])
def test_bad_thresholds(make):
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(ArgumentError):
            make(absolute(), bad, 1)
        with pytest.raises(ArgumentError):
            make(absolute(), 1, bad)
    with pytest.raises(ArgumentError):
        make("absolute", 1, 1)


def test_words():
    assert str(blowfish(euclidean(), 4, 0.1)) == "0.1·⌈d₂/4⌉"
    assert str(smooth(absolute(), 5)) == "max([x ≠ y], |x − y|/5)"
    assert isinstance(blowfish(absolute(), 5), Hops)
