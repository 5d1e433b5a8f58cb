"""Predicates: decided exactly for each cell, refused where a cell is cut, three-valued as in SQL."""

import datetime as dt
import operator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import ArgumentError
from metricdp.policies import BooleanCells, CategoryCells, DateCells, IntegerCells, NumberCells, Predicate, col
from metricdp.queries.universes.universe import Universe

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
AGE = IntegerCells("age", (0, 59), width=20, missing="unknown", other="other")
SEX = CategoryCells("sex", ["F", "M"], missing="unknown", other="other")


def holds(universe, predicate):
    return universe.where(predicate).tolist()


@given(
    st.sets(st.integers(1, 9), max_size=5),
    st.sampled_from(sorted(SIGNS)),
    st.one_of(st.integers(-2, 12), st.fractions(-2, 12, max_denominator=4)),
)
def test_a_cell_is_counted_whole_or_not_at_all(edges, sign, value):
    """Each integer of a cell is compared one by one: all agree, or the question is refused."""
    column = IntegerCells("v", (0, 10), edges=sorted(edges))
    compare = SIGNS[sign]
    one_by_one = [{compare(v, value) for v in range(cell.first, cell.last + 1)} for cell in column.intervals]
    predicate = compare(col("v"), value)
    if any(len(answers) == 2 for answers in one_by_one):
        with pytest.raises(ArgumentError, match="cuts the cell"):
            Universe([column]).where(predicate)
    else:
        assert holds(Universe([column]), predicate) == [answers == {True} for answers in one_by_one]


def test_numbers_have_ends():
    universe = Universe([NumberCells("x", (0, 1), edges=["0.3"])])
    assert holds(universe, col("x") >= 0.3) == holds(universe, col("x") >= Decimal("0.3")) == [False, True]
    assert holds(universe, col("x") < "0.3") == [True, False]
    assert holds(universe, col("x") <= 1) == [True, True]
    assert holds(universe, col("x") > 1) == [False, False]
    for cut in (col("x") > 0.3, col("x") <= 0.3, col("x") < 1, col("x") == 0, col("x") != 0.5, col("x") > 0):
        with pytest.raises(ArgumentError, match="cuts the cell"):
            universe.where(cut)
    assert holds(universe, col("x") == 2) == [False, False]
    assert holds(universe, col("x") >= Fraction(-1, 3)) == [True, True]


def test_days():
    universe = Universe([DateCells("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert holds(universe, col("d") >= dt.date(2024, 2, 1)) == holds(universe, col("d") > "2024-01-31")
    assert holds(universe, col("d").between("2024-02-01", "2024-02-29")) == [False, True, False]
    with pytest.raises(ArgumentError, match=r"d >= 2024-02-02 cuts the cell 2024-02,"):
        universe.where(col("d") >= dt.date(2024, 2, 2))
    for wrong in (3, "yesterday", dt.datetime(2024, 1, 1)):
        with pytest.raises(ArgumentError, match="compared with days"):
            universe.where(col("d") >= wrong)


def test_unknown_is_not_counted_nor_is_its_negation():
    """As NULL in SQL; of a value outside it is known that it is none of the list, and not where it is on the line."""
    age, sex = Universe([AGE]), Universe([SEX])
    assert AGE.labels == ("0..19", "20..39", "40..59", "other", "unknown")
    assert holds(age, col("age") >= 20) == [False, True, True, False, False]
    assert holds(age, ~(col("age") >= 20)) == [True, False, False, False, False]
    assert holds(sex, col("sex") == "F") == [True, False, False, False]
    assert holds(sex, col("sex") != "F") == holds(sex, ~(col("sex") == "F")) == [False, True, True, False]
    assert holds(age, (col("age") >= 20) | ~(col("age") >= 20)) == [True, True, True, False, False]
    assert holds(age, col("age").is_missing()) == [False, False, False, False, True]
    assert holds(age, ~col("age").is_missing()) == [True, True, True, True, False]
    assert holds(age, col("age").is_other() | (col("age") < 20)) == [True, False, False, True, False]
    assert holds(age, col("age").is_missing() & (col("age") < 20)) == [False] * 5


def test_columns_combine():
    universe = Universe([SEX, AGE, BooleanCells("native")])
    predicate = col("sex").isin(["F", "M"]) & (col("age") < 40) & (col("native") == True)  # noqa: E712
    names = [name for name, kept in zip(universe.names, universe.where(predicate), strict=True) if kept]
    assert names == [f"sex={s}, age={a}, native=true" for s in "FM" for a in ("0..19", "20..39")]
    assert repr(predicate) == "(((sex == 'F' | sex == 'M') & age < 40) & native == True)"
    assert repr(~(col("age") < 40)) == "~(age < 40)"
    assert repr(col("age").is_missing()) == "age is missing"


def test_shared_cells_cannot_be_told_apart():
    shared = Universe([IntegerCells("age", (0, 1), missing="unknown", other="unknown")])
    for ask in (col("age").is_missing(), col("age").is_other()):
        with pytest.raises(ArgumentError, match="holds others too"):
            shared.where(ask)
    assert holds(Universe([BooleanCells("b")]), col("b").is_missing()) == [False, False]


@pytest.mark.parametrize(
    ("ask", "error", "rule"),
    [
        (lambda: col("sex") == "X", ArgumentError, "'X' is none of its values, which are 'F', 'M'"),
        (lambda: col("sex") == 1, ArgumentError, "none of its values"),
        (lambda: col("sex") < "F", ArgumentError, "has no order"),
        (lambda: col("age") == "old", ArgumentError, "finite numbers"),
        (lambda: col("age") >= float("nan"), ArgumentError, "finite numbers"),
        (lambda: col("age") >= True, ArgumentError, "not with bool"),
        (lambda: col("age") >= [1], ArgumentError, "not with list"),
        (lambda: col("native") == "true", ArgumentError, "True or False"),
        (lambda: col("nobody") == 1, ArgumentError, "no column 'nobody'"),
        (lambda: col("age") == None, ArgumentError, "is_missing"),  # noqa: E711
        (lambda: col("age") == col("sex"), ArgumentError, "not with another column"),
        (lambda: (col("age") >= 20) & True, ArgumentError, "a condition such as"),
        (lambda: 0 <= col("age") < 20, ArgumentError, "&, | and ~"),
        (lambda: (col("age") >= 20) and (col("age") < 40), ArgumentError, "&, | and ~"),
        (lambda: col("sex").isin([]), ArgumentError, "at least one"),
        (lambda: col(3), ArgumentError, "text"),
    ],
)
def test_questions_that_cannot_be_asked(ask, error, rule):
    universe = Universe([SEX, AGE, BooleanCells("native")])
    with pytest.raises(error, match=rule):
        universe.where(ask())


def test_a_comparison_is_a_predicate():
    assert issubclass(type(col("a") == 1), Predicate)
