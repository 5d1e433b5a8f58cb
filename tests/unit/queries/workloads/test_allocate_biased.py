"""Answers with bias: never worse, private all the same, and right where the best is known by hand."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.errors import ArgumentError
from metricdp.metrics import Space
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocate_biased import allocate_biased, closed
from metricdp.queries.workloads.workload import Workload


def plane(cells, queries, level, seed=1):
    generator = np.random.default_rng(seed)
    space = Space((generator.random((cells, 2)) * 10).tolist(), level * metrics.euclidean())
    return Workload(generator.random((queries, cells)), space)


@pytest.mark.parametrize(("total", "distance"), [(4, 1), (16, 0.125), (100, 0.01), (1000, 1)])
def test_two_cells_by_calculus(total, distance):
    """With c = n² d / (8 + n² d²) and a bias of (1 - c d) / 2 either way, the error is 2 n² / (8 + n² d²)."""
    allocation = allocate_biased(Workload([[0, 1]], Space.line(2, distance * metrics.absolute())), total)
    assert allocation.squared_error(total) == pytest.approx(2 * total**2 / (8 + total**2 * distance**2), rel=1e-6)
    assert allocation.scales[0] == pytest.approx(total**2 * distance / (8 + total**2 * distance**2), rel=1e-4)
    assert allocation.bias[0] == pytest.approx(np.array([1, -1]) * allocation.bias[0, 0], abs=1e-9)


def test_one_query_against_a_search():
    """For one query the least error is that of n² b² + 2 c², b = max (|q_i - q_j| - c d_ij) / 2, over c alone."""
    workload = plane(12, 1, 0.02)
    total = 50
    apart = np.abs(np.subtract.outer(workload.matrix[0], workload.matrix[0]))
    scales = np.linspace(0, allocate(workload).scales[0], 20_001)
    bias = np.array([max(0.0, float((apart - scale * workload.space.distances).max())) / 2 for scale in scales])
    least = float((total**2 * bias**2 + 2 * scales**2).min())
    assert allocate_biased(workload, total).squared_error(total) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize(
    ("queries", "level", "total"), [(3, 0.01, 100), (3, 0.001, 1000), (2, 1, 10_000), (4, 0.1, 30)]
)
def test_never_worse_and_private(queries, level, total):
    workload = plane(15, queries, level)
    plain, allocation = allocate(workload), allocate_biased(workload, total)
    assert allocation.squared_error(total) <= plain.squared_error(total)
    assert allocation.verdict.holds
    for i in range(15):
        for j in range(i):
            distance = workload.space.metric.enclose(workload.cells[i], workload.cells[j]).lower
            rows = zip(allocation.answered.entries, allocation.scales, strict=True)
            assert sum(abs(row[i] - row[j]) / Fraction(scale) for row, scale in rows if scale) <= distance


def test_strong_privacy_and_few_records_gain_most():
    saved = []
    for total in (10, 100, 1000, 10_000):
        workload = plane(10, 2, 0.02)
        saved.append(1 - allocate_biased(workload, total).squared_error(total) / allocate(workload).squared_error())
    assert saved == sorted(saved, reverse=True)
    assert saved[0] > 0.9
    assert 0 <= saved[-1] < 0.1


def test_a_query_without_noise_stays_as_it_is():
    workload = Workload([[1, 1], [0, 1]], Space.line(2, 0.01 * metrics.absolute()))
    allocation = allocate_biased(workload, 5)
    assert allocation.scales[0] == 0
    assert allocation.answered.entries[0] == (1, 1)
    assert allocation.scales[1] < 1


def test_error_bars_hold_the_bias():
    """A histogram with all records in the cell of the largest bias: the truth is still within the bar."""
    workload = Workload([[0, 1]], Space.line(2, 0.001 * metrics.absolute()))
    allocation = allocate_biased(workload, 10)
    answers = allocation.release([0, 10], confidence=1 - 1e-9)
    assert abs(answers.values[0] - 10) <= answers.error_bars[0]
    assert answers.error_bars[0] >= 10 * abs(allocation.bias).max()
    assert allocation.absolute_error(10) >= 10 * abs(allocation.bias).max()


def test_the_bound_is_reached():
    """The sharpened Theorem 2.1 is the error of a database with all its records in the worst cell."""
    workload = plane(8, 2, 0.05)
    allocation = allocate_biased(workload, 20)
    worst = int((allocation.bias**2).sum(axis=0).argmax())
    counts = [20 if cell == worst else 0 for cell in range(8)]
    away = [float(a - q) for a, q in zip(allocation.answered.truth(counts), workload.truth(counts), strict=True)]
    error = sum(value**2 for value in away) + 2 * sum(scale**2 for scale in allocation.scales)
    assert allocation.squared_error(20) == pytest.approx(error, rel=1e-12)
    published = 2 * 20**2 * float((allocation.bias**2).sum()) + 4 * sum(scale**2 for scale in allocation.scales)
    assert allocation.squared_error(20) <= published / 2


def test_progress_and_refusals():
    told = []
    allocate_biased(plane(6, 2, 0.05), 20, progress=told.append)
    assert (told[0].done, told[0].unit) == (1, "queries")
    assert told[-1].best < told[0].best
    for total in (0, -1, 1.5, True):
        with pytest.raises(ArgumentError, match="positive integer"):
            allocate_biased(plane(3, 1, 1), total)
    with pytest.raises(ArgumentError, match="Workload"):
        allocate_biased([[1, 2]], 3)


def test_closed_gives_shortest_paths():
    limits = np.array([[0, 1, 9.0], [1, 0, 2], [9, 2, 0]])
    assert closed(limits)[0].tolist() == [0, 1, 3]
