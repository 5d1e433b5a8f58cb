"""Bounds on the loss of few points, computed in Fractions, for where the floats of a search end.

At high levels, and where one point is far likelier than the others, the least loss is tiny beside the losses
themselves. There two kinds of prices are tried. Those of the tight-constraints mechanism,

    μ = Φ⁻¹ min over z of Φ c(., z),    Φ = exp(-d),

are solved in balls of as many digits as it takes. From their sizes a linear program for all prices and flows at once is
scaled, row by row, so that what is tiny is no smaller than a solver's tolerances:

    maximise  Σ μ   with   c(x, z) - μ(x) >= Σ_i y_ix(z) - Σ_j exp(-d_xj) y_xj(z)   for all x and z,   y >= 0.

Whatever these are, what they prove is computed in Fractions: flows of points that give more than they have are made
smaller, and what is lacking still is taken off the prices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.design.optimal._problem import Problem
from metricdp.exact.arrays import Floats, Places
from metricdp.exact.balls import Enclosure, ball, precision
from metricdp.programs import LinearProgram, Sparse

__all__ = ["ExactBound", "exact_bound"]

_MOST_POINTS = 48
_MOST_EQUATIONS = 400
_FARTHEST = 3000.0
_BITS = 128
_LEAST_SHARE = 1e-3
"""Of the average price: no price is taken to be smaller when the program is scaled."""

_BEYOND = 1e8
"""How many times what it has a point would have to give for a pair to be left out."""

_LEAST_ASKED = 1e-9
"""What is less would be nothing for a solver, and what costs nothing would be given without end."""

_TRIALS = 2
_SWEEPS = 3


@dataclass(frozen=True, eq=False)
class ExactBound:
    """What is proved of all private channels.

    Attributes:
        bound: none of them has a smaller expected loss.
        matrix: points by outputs, in floats: the channel that the duals of the program say is best, if it was solved.
    """

    bound: Fraction
    matrix: Floats | None


def exact_bound(problem: Problem) -> ExactBound | None:
    """A lower bound on the expected loss of every private channel; None where there are too many points."""
    if max(problem.losses.shape) > _MOST_POINTS:
        return None
    terms = _Terms(problem)
    prices = terms.tight_prices
    if prices is None:
        return None
    flows: list[_Flows] = [[] for _ in problem.outputs]
    bound, matrix = terms.proved(prices, flows), None
    for _ in range(_TRIALS if terms.count * len(problem.outputs) <= _MOST_EQUATIONS else 0):
        found = _scaled_program(terms, prices)
        if found is None:
            break
        prices, flows, matrix = found  # they say better than the first ones how to scale the program
        bound = max(bound, terms.proved(prices, flows))
    return ExactBound(bound + terms.offset, None if matrix is None else matrix[terms.rows_of])


_Flows = list[tuple[int, int, Fraction]]
"""Of one output: to i, from j, how much."""


@dataclass(frozen=True, eq=False)
class _Terms:
    """The numbers of a problem as Fractions; points at distance zero are one, for they have equal rows."""

    problem: Problem

    @cached_property
    def places(self) -> list[int]:
        return [place for place, first in enumerate(self._matrix.representatives) if place == first]

    @property
    def rows_of(self) -> list[int]:
        """For each point of the problem, which of the places it is at."""
        return [self.places.index(first) for first in self._matrix.representatives]

    @property
    def count(self) -> int:
        return len(self.places)

    @cached_property
    def costs(self) -> list[list[Fraction]]:
        """Points by outputs."""
        problem, shares = self.problem, self.problem.belief.fractions
        costs = [[Fraction(0)] * len(problem.outputs) for _ in self.places]
        least = [Fraction(value) for value in problem.least_losses.tolist()]
        for place, (first, losses) in enumerate(
            zip(self._matrix.representatives, problem.losses.tolist(), strict=True)
        ):
            row = costs[self.places.index(first)]
            for z, value in enumerate(losses):
                row[z] += shares[place] * (Fraction(value) - least[place])
        return costs

    @cached_property
    def offset(self) -> Fraction:
        shares, least = self.problem.belief.fractions, self.problem.least_losses.tolist()
        return sum((share * Fraction(value) for share, value in zip(shares, least, strict=True)), Fraction(0))

    @cached_property
    def decays(self) -> list[list[Fraction]]:
        """Numbers that ``exp(-d)`` is not below."""
        with precision(self._bits):
            rows = self._rows
            with precision(_BITS):
                return [[Fraction(max(Enclosure.of(value + 0).lower, 0)) for value in row] for row in rows]

    @cached_property
    def tight_prices(self) -> list[Fraction] | None:
        """Those of the tight-constraints mechanism, about."""
        with precision(self._bits):
            matrix = arb_mat(self._rows)
            wanted = matrix * arb_mat([[ball(value) for value in row] for row in self.costs])
            outputs = range(len(self.problem.outputs))
            goals = [min((wanted[k, z] for z in outputs), key=_middle) for k in range(self.count)]
            try:
                prices = matrix.solve(arb_mat(self.count, 1, goals)).entries()
            except ZeroDivisionError:
                return None
            if not all(price.is_finite() for price in prices):
                return None
            with precision(_BITS):
                return [Fraction(Enclosure.of(price + 0).lower) for price in prices]

    def proved(self, prices: list[Fraction], flows: list[_Flows]) -> Fraction:
        """The sum of the prices, less what they lack: no private channel costs less, whatever the flows are."""
        lacking = [Fraction(0)] * self.count
        for z, flow in enumerate(flows):
            residuals = [self.costs[x][z] - prices[x] for x in range(self.count)]
            left = _covered(_after(residuals, flow, self.decays), self.decays)
            lacking = [max(here, -value) for here, value in zip(lacking, left, strict=True)]
        return sum(prices, Fraction(0)) - sum(lacking, Fraction(0))

    @cached_property
    def _matrix(self) -> Any:
        return constraints_matrix(self.problem.space)

    @cached_property
    def _far(self) -> Any:
        return self.problem.pairs.distances > _FARTHEST  # there nothing is asked, which only lowers the bound

    @cached_property
    def _bits(self) -> int:
        distances = self.problem.pairs.distances
        farthest = float(distances[np.isfinite(distances)].max())
        return _BITS + 2 * math.ceil(min(farthest, _FARTHEST) * math.log2(math.e)) + 64

    @cached_property
    def _rows(self) -> list[list[arb]]:
        """``exp(-d)`` in balls of many digits."""
        places = self.places
        with precision(self._bits):
            return [[arb(0) if self._far[i, j] else self._matrix.ball(i, j) for j in places] for i in places]


def _after(residuals: list[Fraction], flow: _Flows, decays: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """What is left of the residuals after a flow, of which points give no more than they have, nearly."""
    flow = [(i, j, amount) for i, j, amount in flow if decays[i][j] > 0]
    for sweep in range(_SWEEPS + 1):
        left, spent = list(residuals), [Fraction(0)] * len(residuals)
        for i, j, amount in flow:
            left[i] += decays[i][j] * amount
            left[j] -= amount
            spent[j] += amount
        if sweep == _SWEEPS:
            break
        kept = [
            max(Fraction(0), 1 + value / given) if value < 0 < given else Fraction(1)
            for value, given in zip(left, spent, strict=True)
        ]
        if all(share == 1 for share in kept):
            break
        flow = [(i, j, amount * kept[j]) for i, j, amount in flow]
    return left


def _covered(residuals: list[Fraction], decays: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """What is left of the residuals when those below zero are helped by the others, the nearest first.

    What j can spare, y, helps i with ``exp(-d_ij) y``; see `dual_bound`.
    """
    left = list(residuals)
    for i in sorted((x for x, value in enumerate(left) if value < 0), key=left.__getitem__):
        for j in sorted(range(len(left)), key=lambda place: -decays[i][place]):
            if left[i] >= 0:
                break
            if j != i and left[j] > 0 and decays[i][j] > 0:
                given = min(left[j], -left[i] / decays[i][j])
                left[j] -= given
                left[i] += given * decays[i][j]
    return left


def _scaled_program(terms: _Terms, prices: list[Fraction]) -> tuple[list[Fraction], list[_Flows], Floats] | None:
    """Prices, flows and duals of the program above, from a solver of floats; None where it has none."""
    count, outputs = terms.count, len(terms.problem.outputs)
    costs = np.array([[float(value) for value in row] for row in terms.costs])
    decays = np.array([[float(value) for value in row] for row in terms.decays])
    sizes = np.abs([float(price) for price in prices])
    if not sizes.sum() > 0:
        return None
    sizes = np.maximum(sizes, _LEAST_SHARE * float(sizes.mean()))
    rows = np.maximum(costs, sizes[:, None])  # what an equation is divided by
    program = LinearProgram(maximize=True)
    entries = [{z * count + x: sizes[x] / rows[x, z] for z in range(outputs)} for x in range(count)]
    flows: list[tuple[int, Places, Places, Floats]] = []
    for z in range(outputs):
        with np.errstate(divide="ignore", over="ignore"):
            asked = sizes[:, None] / decays / rows[:, z]  # of j, as a share of its row, to give i what its price is
        asked = np.maximum(asked, _LEAST_ASKED)
        first, second = np.nonzero((asked < _BEYOND) & ~np.eye(count, dtype=bool))
        flows.append((z, first, second, sizes[first] / decays[first, second]))
        entries += [
            {z * count + i: -sizes[i] / rows[i, z], z * count + j: asked[i, j]}
            for i, j in zip(first.tolist(), second.tolist(), strict=True)
        ]
    nothing = Sparse(np.zeros(count * outputs, np.int32), np.empty(0, np.int32), np.empty(0))
    program.add_rows(-math.inf, (costs / rows).T.ravel(), nothing)
    values = np.zeros(len(entries))
    values[:count] = sizes / sizes.sum()
    lower = np.where(np.arange(len(entries)) < count, -math.inf, 0.0)
    program.add_columns(values, lower=lower, entries=Sparse.of(entries))
    solution = program.solve()
    if not solution.optimal:
        return None
    found = [Fraction(float(value)) for value in solution.primal[:count] * sizes]
    amounts, place = list[_Flows](), count
    for _, first, second, unit in flows:
        given = np.maximum(solution.primal[place : place + len(first)], 0.0) * unit
        place += len(first)
        used = np.flatnonzero((given > 0) & np.isfinite(given)).tolist()
        amounts.append([(int(first[k]), int(second[k]), Fraction(float(given[k]))) for k in used])
    with np.errstate(over="ignore"):  # what is not finite is no channel
        duals = np.abs(solution.duals).reshape(outputs, count).T / rows * sizes.sum()
    return found, amounts, duals


def _middle(value: arb) -> Fraction:
    return Fraction(Enclosure.of(value.mid()).lower)
