"""Exact answers, and what a workload and its counts must be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, KindError, OutOfDomainError, ShapeError
from metricdp.queries.workloads.linear_queries import exact_answers, query_names, read_counts, read_queries


@dataclass
class Plain:
    matrix: Any
    space: mdp.Space


def by_fractions(matrix: np.ndarray, counts: np.ndarray) -> list[Fraction]:
    return [
        sum((Fraction(value) * int(count) for value, count in zip(row, counts, strict=True)), Fraction(0))
        for row in matrix.tolist()
    ]


@pytest.mark.parametrize("most", [1, 1000, 1 << 40])
def test_answers_are_those_of_rationals(most: int) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(7, 20)) * 10.0 ** rng.integers(-20, 20, (7, 20))
    counts = rng.integers(0, most, 20)
    assert exact_answers(matrix, counts) == by_fractions(matrix, counts)


def test_entries_beyond_what_scaling_holds_take_the_slow_way() -> None:
    matrix = np.array([[5e-324, 1.0, 1e300], [0.0, -1.0, 2.0]])
    counts = np.array([3, 2, 1])
    assert exact_answers(matrix, counts) == by_fractions(matrix, counts)


def test_no_records_answer_zero() -> None:
    assert exact_answers(np.array([[0.1, 2.0]]), np.array([0, 0])) == [0]


def test_what_is_no_workload_is_refused() -> None:
    space = mdp.Space("ab", mdp.metrics.discrete())
    with pytest.raises(ArgumentError):
        read_queries(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="2 columns"):
        read_queries(Plain(np.eye(3), space))
    with pytest.raises(ArgumentError, match="query 1"):
        read_queries(Plain(np.array([[0.0, 1.0], [np.nan, 0.0]]), space))


def test_counts_are_refused_without_a_word_of_their_values() -> None:
    workload = Plain(np.eye(2), mdp.Space("ab", mdp.metrics.discrete()))
    for bad, error in [([7777, -7777], OutOfDomainError), ([7777.5, 1.0], KindError), ([7777], ShapeError)]:
        with pytest.raises(error) as told:
            read_counts(workload, bad)
        assert "7777" not in str(told.value)
    with pytest.raises(OutOfDomainError):
        read_counts(workload, [1 << 50, 0])
    assert query_names(workload) == (0, 1)
