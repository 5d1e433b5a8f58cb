import math

import pytest

from metricdp.errors import KindError, NotFiniteError, ShapeError
from metricdp.metrics import symmetric_difference


def test_sets_of_any_kind():
    d = symmetric_difference()
    assert d({1, 2}, frozenset({2, 3, 4})) == 3
    assert d(set(), set()) == 0
    assert d.pairwise([set(), {"a"}], [{"a", "b"}]).tolist() == [[2], [1]]


def test_what_is_no_set():
    d = symmetric_difference()
    with pytest.raises(KindError) as error:
        d.pairwise([{1}, [1, 1]])
    assert error.value.row == 1
    with pytest.raises(ShapeError):
        d.pairwise([])
    with pytest.raises(NotFiniteError):
        d.pairwise([{math.nan}])
