"""Questions that are linear in the histogram: counts, totals, ranges and marginals."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.metrics import discrete
from metricdp.policies import BooleanCells, CategoryCells, DateCells, IntegerCells, NumberCells, col
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.questions import count, marginal, marginals, prefixes, question_matrix, ranges, total
from metricdp.queries.universes.universe import Universe

AGE = IntegerCells("age", (0, 59), width=20, missing="unknown", other="other")
SEX = CategoryCells("sex", ["F", "M"], missing="unknown", other="other")


def test_a_workload_answers_as_rows_do():
    """Each query of a workload on the histogram is what counting the rows one by one gives."""
    universe = Universe([CategoryCells("sex", ["F", "M"]), IntegerCells("age", (0, 3)), BooleanCells("native")])
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
    universe = Universe([SEX, BooleanCells("native")])
    names, rows = question_matrix(universe, marginal("sex", "native"))
    assert names == universe.names
    assert np.array_equal(rows, np.eye(8, dtype=np.int64))
    names, rows = question_matrix(universe, marginals(1))
    assert names[:4] == ("sex=F", "sex=M", "sex=other", "sex=unknown")
    assert rows.sum(axis=0).tolist() == [2] * 8
    with pytest.raises(ArgumentError, match="2 columns"):
        question_matrix(universe, marginals(3))


def test_totals_of_cells():
    universe = Universe([IntegerCells("v", (0, 5), edges=(1, 4), missing="unknown")])
    with pytest.raises(ArgumentError, match=r"the cell 'v=1\.\.3' holds several values"):
        question_matrix(universe, total("v"))
    for at, wanted in (("first", [0, 1, 4, 0]), ("middle", [0, 2, Fraction(9, 2), 0]), ("last", [0, 3, 5, 0])):
        names, rows = question_matrix(universe, total("v", at=at))
        assert names == (f"total(v at the {at} of its cell)",)
        assert rows.tolist() == [wanted]
    assert question_matrix(universe, total("v", where=col("v") == 0))[1].tolist() == [[0, 0, 0, 0]]
    assert question_matrix(Universe([CategoryCells("c", [5, -2], missing="u")]), total("c"))[1].tolist() == [[5, -2, 0]]
    for outside in (
        CategoryCells("c", [5], other="other"),
        CategoryCells("c", [5, 6], other="6"),
        IntegerCells("c", (0, 1), other="o"),
    ):
        with pytest.raises(ArgumentError, match="holds several values"):
            question_matrix(Universe([outside]), total("c"))
    assert question_matrix(Universe([NumberCells("c", (0, 1))]), total("c", at="middle"))[1].tolist() == [
        [Fraction(1, 2)]
    ]
    for wrong in (SEX, DateCells("sex", ("2024-01-01", "2024-01-02"))):
        with pytest.raises(ArgumentError, match="no numbers"):
            question_matrix(Universe([wrong]), total("sex"))
    with pytest.raises(ArgumentError, match="first"):
        total("v", at="lower")


def test_those_absent_are_in_no_count():
    universe = Universe([IntegerCells("v", (0, 2))], capacity=9)
    names, rows = question_matrix(universe, [count(), total("v"), marginal("v"), prefixes("v")])
    assert rows[:, -1].tolist() == [0] * len(names)
    assert universe.workload(count(), discrete(), absent=1).matrix.tolist() == [[1, 1, 1, 0]]


def test_ranges_are_named_by_their_ends():
    numbers = Universe([NumberCells("x", (0, 1), edges=["0.5"], missing="unknown")])
    assert question_matrix(numbers, ranges("x"))[0] == ("x in [0, 0.5)", "x in [0, 1]", "x in [0.5, 1]")
    assert question_matrix(numbers, ranges("x"))[1].tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]
    days = Universe([DateCells("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert question_matrix(days, prefixes("d"))[0] == ("d in 2024-01", "d in 2024-01..2024-02", "d in 2024-01..2024-03")
    with pytest.raises(ArgumentError, match="no order"):
        question_matrix(Universe([SEX]), ranges("sex"))


@pytest.mark.parametrize(
    ("ask", "error", "rule"),
    [
        (lambda u: question_matrix(u, []), ArgumentError, "made by count"),
        (lambda u: question_matrix(u, [col("age") > 1]), ArgumentError, "made by count"),
        (lambda u: question_matrix(u, [count(), count()]), ArgumentError, "asked twice"),
        (lambda u: question_matrix(u, [marginal("age", "age")]), ArgumentError, "each once"),
        (lambda u: question_matrix(u, [marginal()]), ArgumentError, "one or more"),
        (lambda u: question_matrix(u, [marginals(0)]), ArgumentError, "order of marginals"),
        (lambda u: question_matrix(u, [count("age > 1")]), ArgumentError, "a condition such as"),
        (
            lambda u: question_matrix(Universe([IntegerCells("v", (0, 9999))]), marginal("v")),
            ArgumentError,
            "more than 20,000,000",
        ),
    ],
)
def test_workloads_that_cannot_be(ask, error, rule):
    with pytest.raises(error, match=rule):
        ask(Universe([AGE]))
