"""How much less noise an allocation needs than the same queries under plain differential privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.level import rational
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocation import Allocation
from metricdp.queries.workloads.workload import Workload

__all__ = ["improvement_factor"]


def improvement_factor(asked: Workload | Allocation, epsilon: Any = None) -> float:
    """The noise of the standard Laplace mechanism divided by ours, as a geometric mean over the queries; a float view.

    ``IF(Q) = (prod_k (Δ / ε) / c_k)^(1/K)``, with Δ the largest ``|Q[:, i] - Q[:, j]|_1`` of any two cells.

    Args:
        asked: an `Allocation`; or a `Workload`, which is then allocated for the best geometric mean.
        epsilon: ε; the least distance between two cells where not given, for which the standard mechanism keeps the
            same promise.

    Returns:
        Infinite where some query needs no noise at all.

    References:
        Paper 4, Sections 4.1 and 4.2.

    >>> import metricdp as mdp
    >>> improvement_factor(Workload([[0, 1, 2]], mdp.Space.line(3)))
    2.0
    """
    allocation = asked if isinstance(asked, Allocation) else _allocated(asked)
    workload = allocation.workload
    columns = workload.matrix.T
    change = max(float(np.abs(columns - column).sum(axis=1).max()) for column in columns)
    level = _least(workload) if epsilon is None else float(rational(epsilon, "epsilon"))
    if not level > 0:
        raise ArgumentError("epsilon is positive: some two cells are at distance 0, so give another one")
    if not all(allocation.scales):
        return math.inf
    logs = [math.log(change / level / scale) for scale in allocation.scales]
    return math.exp(math.fsum(logs) / len(logs)) if change else 1.0


def _allocated(workload: Workload) -> Allocation:
    if not isinstance(workload, Workload):
        raise ArgumentError(f"a Workload or an Allocation is wanted, not {type(workload).__name__}")
    return allocate(workload, objective="geometric")


def _least(workload: Workload) -> float:
    distances = workload.space.distances[~np.eye(len(workload.space), dtype=bool)]
    return float(distances.min()) if len(distances) else float(Fraction(1))
