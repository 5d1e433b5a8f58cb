"""Workloads: what they take exactly, and what they refuse."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.errors import ArgumentError, KindError, NotAMetricError, OutOfDomainError, ShapeError
from metricdp.metrics import Space
from metricdp.queries.workloads.workload import Workload, whole_counts

LINE = Space.line(3)


def test_entries_are_exactly_what_was_given():
    workload = Workload([[1, 0.1, Fraction(1, 3)], [Decimal("0.1"), 2, 10**30]], LINE)
    assert workload.entries == (
        (Fraction(1), Fraction(0.1), Fraction(1, 3)),
        (Fraction(1, 10), Fraction(2), Fraction(10**30)),
    )
    assert workload.matrix[0, 2] == 1 / 3


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ([[1, 2, 3]], np.int64),
        ([[1.5, 2, 3]], np.float64),
        (np.array([[True, False, True]]), np.int64),
        (np.array([[1, 2, 3]], dtype=np.uint8), np.int64),
        (np.array([[1, 2, 3]], dtype=np.float32), np.float64),
        ([[2**53 + 1, 0.5, 1]], object),
        (np.array([[2**64 - 1, 0, 1]], dtype=np.uint64), object),
    ],
)
def test_the_smallest_type_that_loses_nothing(given, dtype):
    workload = Workload(given, LINE)
    assert workload.given.dtype == dtype
    assert workload.entries == (tuple(Fraction(value) for value in np.array(given, dtype=object)[0].tolist()),)


def test_one_query_may_be_a_list():
    assert Workload([1, 2, 3], LINE) == Workload([[1, 2, 3]], LINE)


def test_the_matrix_cannot_be_written_to():
    given = np.array([[1.0, 2.0, 3.0]])
    workload = Workload(given, LINE)
    with pytest.raises(ValueError, match="read-only"):
        workload.matrix[0, 0] = 7
    given[0, 0] = 7  # the caller's own array is another one
    assert workload.entries[0][0] == 1


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([[1, 2]], ArgumentError, "2 columns, and the universe 3 cells"),
        ([[1, 2, 3], [1, 2]], ArgumentError, "different lengths"),
        ([], ArgumentError, "a row for each query"),
        ([[1, 2, float("nan")]], ArgumentError, "query 0: NaN or infinity"),
        (np.array([[1, 2, 3], [1, np.inf, 2]]), ArgumentError, "query 1: NaN or infinity"),
        ([[1, 2, Decimal("NaN")]], ArgumentError, "NaN or infinity"),
        ([["1", "2", "3"]], ArgumentError, "not of str"),
        ([[1, 2, 1j]], ArgumentError, "not of complex"),
        ([[1, 2, 10**400]], ArgumentError, "beyond the largest float"),
        (np.zeros((1, 3, 1)), ArgumentError, "a row for each query"),
    ],
)
def test_bad_matrices_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        Workload(given, LINE)


def test_a_metric_that_is_none_is_refused():
    broken = metrics.matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False)
    with pytest.raises(NotAMetricError, match="triangle"):
        Workload([[1, 0, 0]], Space("abc", broken))
    with pytest.raises(ArgumentError, match="takes a Space"):
        Workload([[1, 0, 0]], broken)


@pytest.mark.parametrize(
    ("names", "error", "words"),
    [
        (["a"], ArgumentError, "1 names for 2"),
        (["a", "a"], ArgumentError, "two queries are named 'a'"),
        ("ab", ArgumentError, "a list"),
    ],
)
def test_bad_names_are_refused(names, error, words):
    with pytest.raises(error, match=words):
        Workload([[1, 0, 0], [0, 1, 0]], LINE, names=names)


def test_names_find_queries():
    workload = Workload([[1, 0, 0], [0, 1, 0]], LINE, names=["low", "middle"])
    assert workload.index("middle") == 1
    with pytest.raises(ArgumentError, match="no query 'high'"):
        workload.index("high")
    assert Workload([[1, 0, 0], [0, 1, 0]], LINE).names == ("q0", "q1")


@pytest.mark.parametrize("given", [[[3, -1, 2]], [[0.1, 0.2, -0.3]], [[Fraction(1, 3), 2, 0]], [[2**60, 1, 2**61]]])
def test_the_truth_is_exact(given):
    counts = [10, 0, 2**10 + 1]
    expected = sum(Fraction(q) * x for q, x in zip(given[0], counts, strict=True))
    assert Workload(given, LINE).truth(counts) == (expected,)


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ([1, 2], ShapeError),
        ([1, 2, -3], OutOfDomainError),
        ([1, 2, 0.5], KindError),
        ([1, 2, float("nan")], KindError),
        (["1", "2", "3"], KindError),
        ([2**62, 2**61, 2**61], OutOfDomainError),
        (np.array([2**63, 0, 0], dtype=np.uint64), OutOfDomainError),
        ([True, False, True], KindError),
    ],
)
def test_bad_counts_are_refused(counts, error):
    with pytest.raises(error):
        whole_counts(counts, 3)


def test_errors_never_carry_a_count():
    with pytest.raises(OutOfDomainError) as caught:
        whole_counts([1, -12345, 2], 3)
    assert "12345" not in str(caught.value)
    assert caught.value.row == 1


def test_counts_may_be_whole_floats_or_a_histogram():
    class Histogram:
        counts = np.array([1.0, 2.0, 3.0])

    assert whole_counts(Histogram(), 3).tolist() == [1, 2, 3]


def test_equal_and_pickled():
    workload = Workload([[1, 0.5, 0]], LINE, names=["a"])
    again = pickle.loads(pickle.dumps(workload))
    assert again == workload
    assert hash(again) == hash(workload)
    assert workload != Workload([[1, 0.5, 0]], LINE, names=["b"])
    assert workload != Workload([[1, 0.5, 1]], LINE, names=["a"])
    assert repr(workload) == "Workload(1 query over 3 cells, |x − y|)"
