import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, DataError, NotFiniteError, ShapeError, UnknownCategoryError
from metricdp.queries import CellCounts, Count

ROWS = ["tea", "coffee", "tea", "water"]


def drinks_tea(value):
    return value == "tea"


def test_counts():
    assert Count({"tea"}).evaluate(ROWS) == Count(["tea"]).evaluate(ROWS) == Count(drinks_tea).evaluate(ROWS) == 2
    assert Count().evaluate([*ROWS, None, math.nan]) == 4
    assert Count(lambda age: age >= 18, values=range(100), records=3).evaluate([17, 18, 99]) == 2
    assert Count({(1, 2)}).evaluate([[1, 2], (2, 1)]) == 1
    assert isinstance(Count().evaluate([]), Fraction)


def test_cells():
    assert CellCounts(["tea", "coffee", "water"]).evaluate(ROWS) == (2, 1, 1)
    warm = CellCounts({"warm": ["tea", "coffee"], "cold": ["water", "milk"]}, records=4)
    assert warm.evaluate(ROWS) == (3, 1)
    assert warm.names == ("warm", "cold")
    assert list(CellCounts([0, 1], records=2, nulls=True).universe) == [0, 1, None]
    assert CellCounts(["tea", "coffee", "water"]).evaluate([]) == (0, 0, 0)  # a cell is there without a record


@pytest.mark.parametrize("query", [Count({"tea"}, values=["tea", "coffee"]), CellCounts(["tea", "coffee"])], ids=repr)
def test_undeclared_values_are_refused_without_being_named(query):
    with pytest.raises(UnknownCategoryError, match="declared values") as caught:
        query.evaluate(["tea", "coffee", "secret"])
    assert caught.value.row == 2
    assert "secret" not in str(caught.value)


def test_absence_is_refused_unless_declared():
    for query in (Count({"tea"}, records=2), CellCounts(["tea", "coffee"], records=2)):
        for absent in (None, math.nan):
            with pytest.raises(NotFiniteError, match="nulls=True"):
                query.evaluate(["tea", absent])
        with pytest.raises(ShapeError, match="exactly 2"):
            query.evaluate(["tea"])


def test_what_cannot_be():
    with pytest.raises(ArgumentError, match="a set of values"):
        Count("tea")
    with pytest.raises(ArgumentError, match="where names a value"):
        Count({"milk"}, values=["tea"])
    with pytest.raises(ArgumentError, match="also one of the cell"):
        CellCounts({"warm": ["tea"], "all": ["tea", "milk"]})
    with pytest.raises(ArgumentError, match="at least two cells"):
        CellCounts(["tea"])
    with pytest.raises(ArgumentError, match="stands twice"):
        CellCounts(["tea", "tea"])
    with pytest.raises(ArgumentError, match="may be absent"):
        Count(nulls=False)
    with pytest.raises(DataError):
        Count({"tea"}).evaluate(["tea", {}])


def test_they_are_values():
    assert Count({"a", "b"}, records=2) == Count(["b", "a"], records=2)
    assert hash(Count(drinks_tea)) == hash(Count(drinks_tea))
    assert repr(Count(drinks_tea, records=2)) == "Count(where=drinks_tea, records=2)"
    assert repr(Count({"b", "a"}, values="abc", records=2)) == "Count(where={'a', 'b'}, values=3 values, records=2)"
    assert repr(CellCounts(["a", "b"], records=2)) == "CellCounts(names=['a', 'b'], records=2)"
    assert Count(records=5).grid.steps == 5
    assert Count().grid.steps is None
