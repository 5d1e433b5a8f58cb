"""All distributions of secrets that fit the released counts, and how large or small a linear question can be there."""

from __future__ import annotations

import math
from functools import cached_property
from statistics import NormalDist

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans, Floats
from metricdp.programs.linear import LinearProgram, Sparse
from metricdp.programs.solution import Status

__all__ = ["FittingRegion", "share_bounds"]


_PARTS = 24
"""Groups of outputs are not halved below this part of them all: smaller ones say little, and cost time."""


def share_bounds(counts: Floats, rows: float, chance: float) -> tuple[Floats, Floats]:
    """Bounds on the expected shares of outputs, each wrong with probability at most ``chance`` on either side.

    By Hoeffding's inequality, ``P(mean >= m) <= exp(-n KL(m, p))`` for rows with different probabilities of average p,
    as the rows of a table have.

    >>> low, high = share_bounds(np.array([50.0]), 100, 0.001)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.32, 0.68)
    """
    means, budget = counts / rows, -math.log(chance) / rows
    ends = []
    for outside in (0.0, 1.0):
        inner, outer = means.copy(), np.full_like(means, outside)
        for _ in range(60):
            middle = (inner + outer) / 2
            near = _divergence(means, middle) <= budget
            inner, outer = np.where(near, middle, inner), np.where(near, outer, middle)
        ends.append(outer)
    return ends[0], ends[1]


def _divergence(means: Floats, shares: Floats) -> Floats:
    """KL between coins, infinite where the share is 0 or 1 and the mean is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(means > 0, means * np.log(means / shares), 0.0)
        two = np.where(means < 1, (1 - means) * np.log((1 - means) / (1 - shares)), 0.0)
    return np.asarray(one + two)


class FittingRegion:
    """The distributions of secrets under which no group of outputs is seen too often or too rarely.

    The groups are the outputs in a row, halved again and again, so their order should be that of the outputs. With
    probability at least ``1 - chance`` the distribution of the table's own secrets is among them.

    Args:
        law: the probability of each output (columns) for each secret (rows).
        counts: how often each output was released.
        chance: to miss the truth.
        directions: functions of the output, as rows, and the standard deviation of each for one row: their averages are
            not too far off either, by the normal law. None to leave that out.
        slack: by how much the law of a group may be off, where secrets lie between two rows of the law.
    """

    def __init__(
        self,
        law: Floats,
        counts: Floats,
        chance: float,
        directions: tuple[Floats, Floats] | None = None,
        slack: float = 0.0,
    ) -> None:
        rows = float(counts.sum())
        groups = _halves(len(counts))
        share = chance if directions is None else chance / 2
        low, high = share_bounds(groups @ counts, rows, share / (2 * len(groups)))
        low, high = np.maximum(low - slack, 0.0), np.minimum(high + slack, 1.0)
        if directions is not None:
            functions, spreads = directions
            reach = NormalDist().inv_cdf(1 - share / (2 * len(functions))) * 1.05 * spreads / math.sqrt(rows)
            reach += slack * np.abs(functions).max(axis=1) / 4
            means = functions @ counts / rows
            groups = np.concatenate([groups, functions])
            low, high = np.concatenate([low, means - reach]), np.concatenate([high, means + reach])
        self._law, self._groups, self._low, self._high = law, groups, low, high

    @cached_property
    def _program(self) -> LinearProgram:
        program = LinearProgram(maximize=True)
        program.add_columns(np.zeros(len(self._law)))
        program.add_rows([1.0], [1.0], Sparse.of_dense(np.ones((1, len(self._law)))))
        reach = self._groups @ self._law.T
        reach[np.abs(reach) < 1e-9] = 0.0
        program.add_rows(self._low - 1e-9, self._high + 1e-9, Sparse.of_dense(reach))
        return program

    @cached_property
    def is_empty(self) -> bool:
        """Whether no distribution fits: the counts cannot come from this law."""
        return self._program.solve(keep_basis=False).status is Status.INFEASIBLE

    def most(self, question: Floats) -> float:
        """The largest average of a question over all distributions that fit; over all there are, where none fits."""
        size = float(np.abs(question).max())
        if self.is_empty or size == 0:
            return float(question.max())
        self._program.change_costs(np.arange(len(question)), question / size)
        solved = self._program.solve("primal", keep_basis=False)
        if solved.status is not Status.OPTIMAL:  # from the last basis it can lose its way
            solved = self._program.solve("ipm", keep_basis=False)
        if solved.status is not Status.OPTIMAL:
            raise ArgumentError(f"the solver ended without an answer: {solved.status}")
        return size * solved.objective

    def least(self, question: Floats) -> float:
        """The smallest average of a question over all distributions that fit."""
        return -self.most(-question)


def _halves(count: int) -> Floats:
    """Groups of neighbours, as rows of zeros and ones: both halves, their halves and so on, down to a few."""
    rows: list[Booleans] = []
    spans = [(0, count)]
    while spans:
        first, last = spans.pop(0)
        if last - first < count:
            row = np.zeros(count, dtype=bool)
            row[first:last] = True
            rows.append(row)
        if last - first > max(1, count // _PARTS):
            middle = (first + last) // 2
            spans += [(first, middle), (middle, last)]
    return np.array(rows, dtype=np.float64) if rows else np.ones((1, count))
