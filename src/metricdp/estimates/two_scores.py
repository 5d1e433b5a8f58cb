"""Two scores for a question about a column of numbers: one never too low on average, and one never too high.

A score u of the released number with ``E[u(z) | x] >= q(x)`` for every secret x has, over any table, an average of at
least that of q, and a score l with ``E[l(z) | x] <= q(x)`` at most that. So the two averages, with the noise of each,
are an interval that holds for every table, and how wide it is hangs on the rows near a jump of q alone. Each of them is
the one with the least

    sum_z r_z u(z)  +  k sum_z r_z (u(z) - c(z))^2

where r is how often z is released under the fitted shares, c what q is there on average, and k weighs the noise, which
is less with more rows. It is a linear program, for the square is cut into straight lines. The fitted shares decide how
narrow an interval is, and not whether it holds.

References:
    Stanley, Patil and Kuusela 2022, *Uncertainty quantification for wide-bin unfolding: one-at-a-time strict bounds and
    prior-optimized confidence intervals*, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.programs.linear import LinearProgram, Sparse

if TYPE_CHECKING:
    from metricdp.estimates.laws import LineLaw

__all__ = ["BoundingScore", "BoundingScores"]

_LINES = np.array([0.3, 0.7, 1.3, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0, 22.0])
"""Where straight lines touch the square, on either side of 0."""

_FARTHEST = (2.0, 30.0)
_BENT = 4 / 3
"""Between two points of the law a score bends by no more than so many times what it bends at their middle."""


@dataclass(frozen=True, eq=False)
class BoundingScore:
    """A score that is never too low on average.

    Attributes:
        weights: of each output.
        variances: of one row's score, for each secret.
    """

    weights: Floats
    variances: Floats


class BoundingScores:
    """Finds such scores for questions about one column.

    Args:
        law: of the column, with its counts.
        z: how many standard deviations an interval reaches.
    """

    def __init__(self, law: LineLaw, z: float) -> None:
        self._law, self._z, self._rows = law, z, max(law.rows, 1.0)
        self._released, self._shares = law.path.released, law.fitted.shares
        self._penalty = math.nan

    def above(self, question: Floats) -> BoundingScore:
        """The score that is on average at least the question, which is one number for each secret."""
        law, least = self._law.matrix, float(question.min())
        size = float(question.max()) - least
        if size == 0:
            return BoundingScore(np.full(law.shape[1], least), np.zeros(len(law)))
        asked = (question - least) / size
        posterior = (self._shares * asked) @ law / np.maximum(self._shares @ law, 1e-12)
        centre = np.clip(posterior, 0.0, 1.0)
        near = float(self._released @ (centre * (1 - centre))) / 0.75  # how many rows lie within a scale of a jump
        spread, best, narrowest = max(0.5 * near**0.8 * self._rows**0.3, 0.02), None, math.inf
        for _ in range(2):
            found = self._solved(asked, centre, self._z / (2 * math.sqrt(self._rows) * spread))
            variances = np.maximum(law @ found**2 - (law @ found) ** 2, 0.0)
            needed = math.sqrt(float(self._shares @ variances))
            wide = float(self._released @ found) + self._z * needed / math.sqrt(self._rows)
            if wide < narrowest:
                best, narrowest = BoundingScore(least + size * found, size**2 * variances), wide
            if 0.5 < needed / spread < 2:
                break
            spread = max(needed, 0.02)
        assert best is not None
        return best

    def below(self, question: Floats) -> BoundingScore:
        """The score that is on average at most the question."""
        found = self.above(-question)
        return BoundingScore(-found.weights, found.variances)

    def _solved(self, asked: Floats, centre: Floats, penalty: float) -> Floats:
        program, outputs = self._program, len(centre)
        if penalty != self._penalty:
            program.change_costs(np.arange(outputs, 2 * outputs), penalty * self._released)
            self._penalty = penalty
        wanted = self._wanted(asked)
        rows = self._secrets
        program.change_row_bounds(np.arange(len(rows)), wanted - rows @ centre, np.full(len(rows), np.inf))
        solved = program.solve("dual", keep_basis=False)
        if not solved.optimal:  # from the last basis it can lose its way
            solved = program.solve("ipm", keep_basis=False)
        if not solved.optimal:
            return np.ones(outputs)  # which is above everything
        found = centre + np.asarray(solved.primal, dtype=np.float64)[:outputs]
        return np.asarray(found + max(0.0, float((wanted - rows @ found).max()), self._short_between(asked, found)))

    def _wanted(self, asked: Floats) -> Floats:
        """What is asked of each row of the program: of the secrets, and of those far beyond either end."""
        if len(self._secrets) == len(asked):
            return asked
        return np.append(asked, [asked[0], asked[len(self._law.points) - 1]])

    def _short_between(self, asked: Floats, weights: Floats) -> float:
        """By how much the expected score may be too low between two points of the law, where secrets lie, too."""
        middles = self._law.middles
        if middles is None:
            return 0.0
        ends = (self._law.matrix @ weights)[: len(self._law.points)]
        chord = (ends[1:] + ends[:-1]) / 2
        bent = np.maximum(0.0, chord - middles @ weights)
        inner = asked[: len(ends)]
        return max(0.0, float(((inner[1:] + inner[:-1]) / 2 - chord + _BENT * bent).max()))

    @cached_property
    def _secrets(self) -> Floats:
        law = self._law.matrix
        if not self._law.is_unbounded:
            return law
        far = np.zeros((2, law.shape[1]))
        far[0, 0] = far[1, len(self._law.cuts)] = 1.0
        return np.vstack([law, far])

    @cached_property
    def _program(self) -> LinearProgram:
        outputs = len(self._released)
        program = LinearProgram()
        cap = min(max(math.sqrt(self._rows) / 4, _FARTHEST[0]), _FARTHEST[1])
        program.add_columns(self._released, -cap, cap)
        program.add_columns(np.zeros(outputs))
        entries = np.where(np.abs(self._secrets) < 1e-12, 0.0, self._secrets)
        none = np.zeros(len(entries))
        program.add_rows(none, np.full(len(entries), np.inf), Sparse.of_dense(np.hstack([entries, 0 * entries])))
        unit = np.eye(outputs)
        for line in (*_LINES, *-_LINES):
            touching = np.hstack([2 * line * unit, -unit])
            program.add_rows(np.full(outputs, -np.inf), np.full(outputs, line**2), Sparse.of_dense(touching))
        return program
