import math

import pytest

from metricdp.errors import LevelError
from metricdp.exact.level import Level, ln
from metricdp.metrics import absolute, capped, discrete, euclidean, nullable


def test_null_is_one_more_point():
    d = nullable(absolute(), 10)
    assert d.pairwise([None, 0, 3]).tolist() == [[0, 10, 10], [10, 0, 3], [10, 3, 0]]
    assert d.pairwise([None]).tolist() == [[0]]
    assert d.pairwise([None], [1, 2]).tolist() == [[10, 10]]
    assert d.exactly(None, None) == 0
    assert nullable(euclidean(), ln(2))(None, (0, 0)) == float(ln(2))
    assert nullable(absolute(), math.inf).exactly(None, 1) == math.inf


def test_when_it_is_proven():
    assert not nullable(absolute(), 10).proven
    assert nullable(absolute(), math.inf).proven
    assert nullable(capped(absolute(), 20), 10).proven
    assert not nullable(capped(absolute(), 21), 10).proven
    assert nullable(2 * discrete(), 1).proven
    assert not nullable(3 * discrete(), 1).proven


def test_greatest():
    assert nullable(discrete(), 3).greatest == Level.of(3)
    assert nullable(absolute(), 3).greatest == math.inf


def test_the_diameter_is_still_a_method():
    assert nullable(absolute(), 10).diameter([None, 1, 2]) == 10


@pytest.mark.parametrize("bad", [0, -1, math.nan, None])
def test_bad_diameters(bad):
    with pytest.raises(LevelError):
        nullable(absolute(), bad)
