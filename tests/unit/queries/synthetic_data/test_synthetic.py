"""Synthetic histograms, and the error that may be measured on public data alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee, discrete, records
from metricdp.queries.synthetic_data.synthetic import Synthetic, measured_error
from metricdp.queries.workloads.workload import Workload

WORKLOAD = Workload([[1, 0, 0], [1, 1, 0]], mdp.Space("abc", discrete()), names=["a", "a or b"])
PROMISE = Guarantee(records(discrete()))


def test_answers_come_from_the_synthetic_counts_alone() -> None:
    made = Synthetic(WORKLOAD, np.array([1.5, 2.0, 6.5]), PROMISE, (), "by hand")
    assert made.answers.tolist() == [1.5, 3.5]
    assert made.answer("a or b") == 3.5
    assert made.total == 10
    assert repr(made) == "Synthetic(by hand, 2 queries over 3 cells, ℓ₁([x ≠ y])-private)"
    for array in (made.counts, made.answers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_error_on_public_data() -> None:
    made = Synthetic(WORKLOAD, np.array([1.5, 2.0, 6.5]), PROMISE, (), "by hand")
    error = measured_error(made, [3, 3, 4])
    assert (error.worst, error.mean) == (2.5, 2.0)
    assert error.root_mean_square == pytest.approx(math.sqrt((1.5**2 + 2.5**2) / 2))
    assert measured_error([3, 7], [3, 3, 4], WORKLOAD).worst == 1
    with pytest.raises(ArgumentError, match="workload"):
        measured_error([3, 7], [3, 3, 4])
    assert "NOT PRIVATE" in str(measured_error.__doc__)
