"""Consistent answers by least squares: optimal, never negative, and never further from the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee, discrete, hamming
from metricdp.queries.workloads.consistent import consistent
from metricdp.queries.workloads.workload import Workload

PROMISE = Guarantee(0.5 * hamming())


def workload(matrix: np.ndarray) -> Workload:
    return Workload(matrix, mdp.Space(range(matrix.shape[1]), discrete()))


@pytest.mark.parametrize(("cells", "queries"), [(6, 4), (6, 20), (30, 12), (40, 90)])
def test_it_is_the_nearest_histogram(cells: int, queries: int) -> None:
    rng = np.random.default_rng(cells + queries)
    matrix = rng.integers(0, 3, (queries, cells)).astype(float)
    truth = rng.multinomial(200, rng.dirichlet(np.full(cells, 0.3)))
    scales = rng.uniform(1, 30, queries)
    noisy = matrix @ truth + rng.laplace(size=queries) * scales
    made = consistent(workload(matrix), noisy, scales, 200, guarantee=PROMISE)
    assert made.counts.min() >= 0
    assert made.counts.sum() == pytest.approx(200)
    assert made.gap <= 1e-6 * max(1.0, made.distance)

    def distance(shares: np.ndarray) -> float:
        return float((((200 * matrix @ shares - noisy) / scales) ** 2).sum())

    def slope(shares: np.ndarray) -> np.ndarray:
        return 400 * ((200 * matrix @ shares - noisy) / scales**2) @ matrix

    other = minimize(
        distance, np.full(cells, 1 / cells), jac=slope, bounds=[(0, 1)] * cells, method="SLSQP",
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1}, options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    assert made.distance == pytest.approx(distance(made.counts / 200), rel=1e-6, abs=1e-6)
    assert made.distance <= other.fun + 1e-5 * max(1.0, other.fun)
    nearer = (((made.answers - matrix @ truth) / scales) ** 2).sum()
    assert nearer <= (((noisy - matrix @ truth) / scales) ** 2).sum() + 1e-6


def test_answers_that_agree_already_are_kept() -> None:
    matrix = np.vstack([np.eye(4), np.tril(np.ones((4, 4)))])
    made = consistent(workload(matrix), matrix @ [3, 0, 5, 2], np.ones(8), 10, guarantee=PROMISE)
    assert made.counts == pytest.approx([3, 0, 5, 2], abs=1e-4)
    assert made.guarantee == PROMISE
    assert made.distance < 1e-8


def test_a_surer_answer_counts_for_more() -> None:
    made = consistent(workload(np.array([[1.0, 0], [1.0, 0]])), [10, 20], [1, 3], 100, guarantee=PROMISE)
    assert made.counts[0] == pytest.approx((10 * 9 + 20) / 10)
    exact = consistent(workload(np.array([[1.0, 0], [1.0, 0]])), [10, 20], [0, 3], 100, guarantee=PROMISE)
    assert exact.counts[0] == pytest.approx(10, abs=0.01)


def test_the_same_answers_give_the_same_histogram() -> None:
    rng = np.random.default_rng(1)
    queries, noisy = workload((rng.random((15, 60)) < 0.3).astype(float)), rng.normal(size=15) * 100
    one, two = (consistent(queries, noisy, np.full(15, 3.0), 500, guarantee=PROMISE) for _ in range(2))
    assert (one.counts == two.counts).all()


def test_no_records() -> None:
    made = consistent(workload(np.eye(3)), [1, 2, 3], [1, 1, 1], 0, guarantee=PROMISE)
    assert not made.counts.any()
    assert made.distance == pytest.approx(14)


def test_few_steps_leave_a_gap_and_say_so() -> None:
    rng = np.random.default_rng(8)
    matrix, truth = rng.normal(size=(500, 600)), rng.multinomial(9000, np.full(600, 1 / 600))  # no cell is empty
    noisy = matrix @ truth + rng.normal(size=500)
    made = consistent(workload(matrix), noisy, np.full(500, 1.0), 9000, guarantee=PROMISE, most_steps=25)
    assert made.gap > 1e-6 * max(1.0, made.distance)
    further = consistent(workload(matrix), noisy, np.full(500, 1.0), 9000, guarantee=PROMISE, most_steps=500)
    assert made.distance - made.gap <= further.distance < made.distance


def test_what_it_refuses() -> None:
    queries = workload(np.eye(2))
    with pytest.raises(ArgumentError, match="answers"):
        consistent(queries, [1], [1, 1], 2, guarantee=PROMISE)
    with pytest.raises(ArgumentError, match="scales"):
        consistent(queries, [1, 1], [1, np.inf], 2, guarantee=PROMISE)
    with pytest.raises(ArgumentError, match="scale"):
        consistent(queries, [1, 1], [1, -1], 2, guarantee=PROMISE)
    for total in (-1, 2.5, True):
        with pytest.raises(ArgumentError, match="public"):
            consistent(queries, [1, 1], [1, 1], total, guarantee=PROMISE)  # type: ignore[arg-type]
