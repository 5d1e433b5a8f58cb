"""Predicates and questions: decided exactly for each cell, refused where a cell is cut, three-valued as in SQL."""

import datetime as dt
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import InputError, KindError, OffGridError, ShapeError, UnknownCategoryError
from metricdp.metrics import discrete
from metricdp.queries.universes.columns import Boolean, Category
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.intervals import Date, Integer, Number
from metricdp.queries.universes.predicates import Predicate, col, true_cells
from metricdp.queries.universes.questions import count, marginal, marginals, prefixes, question_matrix, ranges, total
from metricdp.queries.universes.universe import Universe

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
AGE = Integer("age", (0, 59), width=20, missing="unknown", other="other")
SEX = Category("sex", ["F", "M"], missing="unknown", other="other")


def holds(universe, predicate):
    return true_cells(universe, predicate).tolist()


@given(
    st.sets(st.integers(1, 9), max_size=5),
    st.sampled_from(sorted(SIGNS)),
    st.one_of(st.integers(-2, 12), st.fractions(-2, 12, max_denominator=4)),
)
def test_a_cell_is_counted_whole_or_not_at_all(edges, sign, value):
    """Each integer of a cell is compared one by one: all agree, or the question is refused."""
    column = Integer("v", (0, 10), edges=sorted(edges))
    compare = SIGNS[sign]
    one_by_one = [{compare(v, value) for v in range(cell.first, cell.last + 1)} for cell in column.intervals]
    predicate = compare(col("v"), value)
    if any(len(answers) == 2 for answers in one_by_one):
        with pytest.raises(OffGridError, match="cuts the cell"):
            true_cells(Universe([column]), predicate)
    else:
        assert holds(Universe([column]), predicate) == [answers == {True} for answers in one_by_one]


def test_numbers_have_ends():
    universe = Universe([Number("x", (0, 1), edges=["0.3"])])
    assert holds(universe, col("x") >= 0.3) == holds(universe, col("x") >= Decimal("0.3")) == [False, True]
    assert holds(universe, col("x") < "0.3") == [True, False]
    assert holds(universe, col("x") <= 1) == [True, True]
    assert holds(universe, col("x") > 1) == [False, False]
    for cut in (col("x") > 0.3, col("x") <= 0.3, col("x") < 1, col("x") == 0, col("x") != 0.5, col("x") > 0):
        with pytest.raises(OffGridError, match="cuts the cell"):
            true_cells(universe, cut)
    assert holds(universe, col("x") == 2) == [False, False]
    assert holds(universe, col("x") >= Fraction(-1, 3)) == [True, True]


def test_days():
    universe = Universe([Date("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert holds(universe, col("d") >= dt.date(2024, 2, 1)) == holds(universe, col("d") > "2024-01-31")
    assert holds(universe, col("d").between("2024-02-01", "2024-02-29")) == [False, True, False]
    with pytest.raises(OffGridError, match=r"d >= 2024-02-02 cuts the cell 2024-02,"):
        true_cells(universe, col("d") >= dt.date(2024, 2, 2))
    for wrong in (3, "yesterday", dt.datetime(2024, 1, 1)):
        with pytest.raises(KindError, match="compared with days"):
            true_cells(universe, col("d") >= wrong)


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
    universe = Universe([SEX, AGE, Boolean("native")])
    predicate = col("sex").isin(["F", "M"]) & (col("age") < 40) & (col("native") == True)  # noqa: E712
    names = [name for name, kept in zip(universe.names, true_cells(universe, predicate), strict=True) if kept]
    assert names == [f"sex={s}, age={a}, native=true" for s in "FM" for a in ("0..19", "20..39")]
    assert repr(predicate) == "(((sex == 'F' | sex == 'M') & age < 40) & native == True)"
    assert repr(~(col("age") < 40)) == "~(age < 40)"
    assert repr(col("age").is_missing()) == "age is missing"


def test_shared_cells_cannot_be_told_apart():
    shared = Universe([Integer("age", (0, 1), missing="unknown", other="unknown")])
    for ask in (col("age").is_missing(), col("age").is_other()):
        with pytest.raises(OffGridError, match="holds others too"):
            true_cells(shared, ask)
    assert holds(Universe([Boolean("b")]), col("b").is_missing()) == [False, False]


@pytest.mark.parametrize(
    ("ask", "error", "rule"),
    [
        (lambda: col("sex") == "X", UnknownCategoryError, "'X' is none of its values, which are 'F', 'M'"),
        (lambda: col("sex") == 1, UnknownCategoryError, "none of its values"),
        (lambda: col("sex") < "F", KindError, "has no order"),
        (lambda: col("age") == "old", KindError, "finite numbers"),
        (lambda: col("age") >= float("nan"), KindError, "finite numbers"),
        (lambda: col("age") >= True, KindError, "not with bool"),
        (lambda: col("age") >= [1], KindError, "not with list"),
        (lambda: col("native") == "true", KindError, "True or False"),
        (lambda: col("nobody") == 1, UnknownCategoryError, "no column 'nobody'"),
        (lambda: col("age") == None, KindError, "is_missing"),  # noqa: E711
        (lambda: col("age") == col("sex"), KindError, "not with another column"),
        (lambda: (col("age") >= 20) & True, KindError, "a condition such as"),
        (lambda: 0 <= col("age") < 20, KindError, "&, | and ~"),
        (lambda: (col("age") >= 20) and (col("age") < 40), KindError, "&, | and ~"),
        (lambda: col("sex").isin([]), InputError, "at least one"),
        (lambda: col(3), KindError, "text"),
    ],
)
def test_questions_that_cannot_be_asked(ask, error, rule):
    universe = Universe([SEX, AGE, Boolean("native")])
    with pytest.raises(error, match=rule):
        true_cells(universe, ask())


# Questions


def test_a_workload_answers_as_rows_do():
    """Each query of a workload on the histogram is what counting the rows one by one gives."""
    universe = Universe([Category("sex", ["F", "M"]), Integer("age", (0, 3)), Boolean("native")])
    rows = [(s, a, n) for k, (s, a, n) in enumerate(universe.cells) for _ in range(k * k % 5)]
    counts = [sum(row == cell for row in rows) for cell in universe.cells]
    questions = [
        count(),
        count(col("sex") == "F", name="women"),
        total("age"),
        total("age", where=col("native") == True, name="years of natives"),  # noqa: E712
        marginal("sex", "native"),
        prefixes("age"),
        ranges("age", where=col("sex") == "M"),
    ]
    workload = universe.workload(questions, {"sex": 1, "age": 1, "native": 1})
    answers = dict(zip(workload.names, workload.truth(Histogram(universe, counts)), strict=True))
    assert answers["count"] == len(rows)
    assert answers["women"] == sum(s == "F" for s, _, _ in rows)
    assert answers["total(age)"] == sum(a for _, a, _ in rows)
    assert answers["years of natives"] == sum(a for _, a, n in rows if n)
    assert answers["sex=M, native=true"] == sum(s == "M" and n for s, _, n in rows)
    assert answers["age in 0..2"] == sum(a <= 2 for _, a, _ in rows)
    assert answers["age in 1..3 (sex == 'M')"] == sum(s == "M" and a >= 1 for s, a, _ in rows)
    assert len(workload) == 4 + 4 + 4 + 10


def test_a_contingency_table_is_the_histogram():
    universe = Universe([SEX, Boolean("native")])
    names, rows = question_matrix(universe, marginal("sex", "native"))
    assert names == universe.names
    assert np.array_equal(rows, np.eye(8, dtype=np.int64))
    names, rows = question_matrix(universe, marginals(1))
    assert names[:4] == ("sex=F", "sex=M", "sex=other", "sex=unknown")
    assert rows.sum(axis=0).tolist() == [2] * 8
    with pytest.raises(ShapeError, match="2 columns"):
        question_matrix(universe, marginals(3))


def test_totals_of_cells():
    universe = Universe([Integer("v", (0, 5), edges=(1, 4), missing="unknown")])
    with pytest.raises(OffGridError, match=r"the cell 'v=1\.\.3' holds several values"):
        question_matrix(universe, total("v"))
    for at, wanted in (("first", [0, 1, 4, 0]), ("middle", [0, 2, Fraction(9, 2), 0]), ("last", [0, 3, 5, 0])):
        names, rows = question_matrix(universe, total("v", at=at))
        assert names == (f"total(v at the {at} of its cell)",)
        assert rows.tolist() == [wanted]
    assert question_matrix(universe, total("v", where=col("v") == 0))[1].tolist() == [[0, 0, 0, 0]]
    assert question_matrix(Universe([Category("c", [5, -2], missing="u")]), total("c"))[1].tolist() == [[5, -2, 0]]
    for outside in (
        Category("c", [5], other="other"),
        Category("c", [5, 6], other="6"),
        Integer("c", (0, 1), other="o"),
    ):
        with pytest.raises(OffGridError, match="holds several values"):
            question_matrix(Universe([outside]), total("c"))
    assert question_matrix(Universe([Number("c", (0, 1))]), total("c", at="middle"))[1].tolist() == [[Fraction(1, 2)]]
    for wrong in (SEX, Date("sex", ("2024-01-01", "2024-01-02"))):
        with pytest.raises(KindError, match="no numbers"):
            question_matrix(Universe([wrong]), total("sex"))
    with pytest.raises(KindError, match="first"):
        total("v", at="lower")


def test_those_absent_are_in_no_count():
    universe = Universe([Integer("v", (0, 2))], capacity=9)
    names, rows = question_matrix(universe, [count(), total("v"), marginal("v"), prefixes("v")])
    assert rows[:, -1].tolist() == [0] * len(names)
    assert universe.workload(count(), discrete(), absent=1).matrix.tolist() == [[1, 1, 1, 0]]


def test_ranges_are_named_by_their_ends():
    numbers = Universe([Number("x", (0, 1), edges=["0.5"], missing="unknown")])
    assert question_matrix(numbers, ranges("x"))[0] == ("x in [0, 0.5)", "x in [0, 1]", "x in [0.5, 1]")
    assert question_matrix(numbers, ranges("x"))[1].tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]
    days = Universe([Date("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert question_matrix(days, prefixes("d"))[0] == ("d in 2024-01", "d in 2024-01..2024-02", "d in 2024-01..2024-03")
    with pytest.raises(KindError, match="no order"):
        question_matrix(Universe([SEX]), ranges("sex"))


@pytest.mark.parametrize(
    ("ask", "error", "rule"),
    [
        (lambda u: question_matrix(u, []), KindError, "made by count"),
        (lambda u: question_matrix(u, [col("age") > 1]), KindError, "made by count"),
        (lambda u: question_matrix(u, [count(), count()]), InputError, "asked twice"),
        (lambda u: question_matrix(u, [marginal("age", "age")]), InputError, "each once"),
        (lambda u: question_matrix(u, [marginal()]), InputError, "one or more"),
        (lambda u: question_matrix(u, [marginals(0)]), InputError, "order of marginals"),
        (lambda u: question_matrix(u, [count("age > 1")]), KindError, "a condition such as"),
        (
            lambda u: question_matrix(Universe([Integer("v", (0, 9999))]), marginal("v")),
            ShapeError,
            "more than 20,000,000",
        ),
    ],
)
def test_workloads_that_cannot_be(ask, error, rule):
    with pytest.raises(error, match=rule):
        ask(Universe([AGE]))


def test_a_histogram_shows_no_count():
    universe = Universe([Boolean("native")], capacity=77777)
    counts = Histogram(universe, np.array([31415, 0, 46362]))
    assert "31415" not in repr(counts) + str(counts)
    assert counts.records == 31415
    assert counts == Histogram(universe, [31415, 0, 46362])
    assert counts != Histogram(universe, [31414, 1, 46362])
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0] = 1
    for bad, error in (([1, 2], ShapeError), ([1.0, 2.0, 3.0], KindError), ([1, -1, 0], InputError)):
        with pytest.raises(error):
            Histogram(universe, bad)
    with pytest.raises(KindError, match="a Universe"):
        Histogram("people", [1])
    assert issubclass(type(col("a") == 1), Predicate)
