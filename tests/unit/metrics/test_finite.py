import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import (
    ArgumentError,
    KindError,
    LevelError,
    NotAMetricError,
    NotFiniteError,
    ShapeError,
    UnknownCategoryError,
)
from metricdp.exact.level import Level, ln
from metricdp.metrics import discrete, individuals, matrix, unprotected


def test_discrete_compares_any_values():
    assert discrete()([1, 2], (1, 2)) == 0
    assert discrete()({1}, frozenset({1})) == 0
    assert discrete()(1, 1.0) == 0
    assert discrete()("1", 1) == 1
    assert discrete().greatest == Level.of(1)
    with pytest.raises(NotFiniteError):
        discrete()(math.nan, math.nan)
    with pytest.raises(KindError):
        discrete()({"a": 1}, "a")
    with pytest.raises(ShapeError):
        discrete().pairwise([])


def test_unprotected_is_infinite():
    assert unprotected().pairwise("ab").tolist() == [[0, math.inf], [math.inf, 0]]
    assert unprotected().exactly("a", "b") == math.inf


def test_individuals():
    d = individuals({"ann": "1/10", "bob": ln(2), "eve": math.inf})
    assert d.exactly("ann", "ann") == 0
    assert d("ann", "bob") == pytest.approx(0.1 + math.log(2))
    assert d.exactly("bob", "eve") == math.inf
    assert individuals({1: 1, 2: 2}).exactly(1, 2) == 3
    with pytest.raises(UnknownCategoryError) as error:
        d.pairwise(["ann", "zoe"])
    assert error.value.row == 1
    assert "zoe" not in str(error.value)


def test_bad_budgets():
    with pytest.raises(ArgumentError):
        individuals({})
    with pytest.raises(ArgumentError):
        individuals({"a": 1}, form="maximum")
    for bad in (0, -1, math.nan):
        with pytest.raises(LevelError):
            individuals({"a": 1, "b": bad})


def test_minimum_form():
    d = individuals({"a": ln(2), "b": 1, "c": math.inf}, form="minimum")
    assert d("a", "b") == float(ln(2))
    assert d.exactly("b", "c") == 1
    with pytest.raises(NotAMetricError):
        individuals({"a": ln(2), "b": "1.4", "c": 5}, form="minimum")
    assert individuals({"a": ln(2), "b": "1.38", "c": 5}, form="minimum").proven


def test_matrix_holds_exact_numbers():
    d = matrix([(0, 0), "b"], [[0, Fraction(1, 3)], ["1/3", 0]])
    assert d.exactly([0, 0], "b") == Fraction(1, 3)
    assert d.pairwise(["b", (0, 0)]).tolist() == [[0, 1 / 3], [1 / 3, 0]]
    assert matrix("ab", np.array([[0, 2], [2, 0]])) == matrix("ab", [[0.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize("rows", [[], [[0]], [[0, 1], [1]], [[0, 1, 2], [1, 0, 2]]])
def test_matrix_shapes(rows):
    with pytest.raises(ArgumentError):
        matrix("ab", rows)


def test_a_point_listed_twice():
    with pytest.raises(ArgumentError, match="twice"):
        matrix("aa", [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("rows", "axiom"),
    [
        ([[0, math.nan], [1, 0]], "not a number"),
        ([[0, -1], [-1, 0]], "negative"),
        ([[0, -math.inf], [-math.inf, 0]], "negative"),
        ([[1, 1], [1, 0]], "self-distance"),
        ([[0, 1], [2, 0]], "symmetry"),
        ([[0, 1], [Fraction(1) + Fraction(1, 10**40), 0]], "symmetry"),
    ],
)
def test_matrix_refuses_what_is_no_metric(rows, axiom):
    with pytest.raises(NotAMetricError) as error:
        matrix("ab", rows)
    assert error.value.violation.axiom == axiom
    assert ("mends it" in str(error.value)) == (axiom not in ("not a number", "negative"))
    unchecked = matrix("ab", rows, check=False)
    assert unchecked.violation("ab").axiom == axiom
    assert not unchecked.proven


def test_a_part_of_a_broken_matrix_may_be_whole():
    broken = matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False)
    assert broken.violation("abc") is not None
    assert broken.violation("ab") is None
