"""Is one stochastic matrix a post-processing of another? The factor, or a gain function that refutes it; both exact.

The problem: given stochastic A (n x k) and B (n x m), find a stochastic R (m x k) with ``B R = A``. Its refutation is a
matrix G of gains (actions x inputs) with

    sum over z of max_w (G A)_wz  >  sum over y of max_w (G B)_wy

for the right side can only sink when B is followed by an R. One of the two exists always (Farkas). The least distance
is the least t for which some R puts every row of B R within total variation t of that of A; any G bounds it from below
by the difference of the two sides above over ``sum over x of (max_w G_wx - min_w G_wx)``.

Floats propose; what is returned was checked in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from metricdp.channels.algebra import directions
from metricdp.channels.refine._program import Nearest, least_distance, precisely
from metricdp.channels.refine._search import Search
from metricdp.channels.refine._support import exact_factor, integer_rows, stochastic_rows
from metricdp.exact.progress import Stopwatch
from metricdp.exact.weights import Weights
from metricdp.programs import Echelon

__all__ = ["Factor", "Factoring", "Gains", "Refutation"]

Floats = NDArray[np.float64]
Gains = list[list[int]]
"""Integer gains, actions by inputs."""

_GRAIN = 40  # bits that a float gain is rounded to
_FACTOR_BITS = 60
_ROUNDS = 8  # of refinement, each some 30 bits
_WIDE = Fraction(1, 10**6)  # an enclosure of a distance, relative to it


@dataclass(frozen=True, eq=False)
class Factor:
    """A stochastic R with ``B R = A``: integers whose rows sum to ``total``."""

    weights: Weights
    total: int


@dataclass(frozen=True, eq=False)
class Refutation:
    """Gains for which A is worth more than B, and ``excess``, the difference of the two sums (see the module)."""

    gains: Gains
    excess: Fraction

    @property
    def distance(self) -> Fraction:
        """What it proves about the least distance."""
        spread: int = sum(max(column) - min(column) for column in zip(*self.gains, strict=True))
        return Fraction(self.excess, spread)


@dataclass(frozen=True, eq=False)
class Factoring:
    """The problem for two matrices of integers, whose rows sum to their totals.

    Attributes:
        a: weights of A.
        a_total: what its rows sum to.
        b: weights of B.
        b_total: what its rows sum to.
        views: both as floats, where somebody has them already.
    """

    a: Weights
    a_total: int
    b: Weights
    b_total: int
    views: tuple[Floats, Floats] | None = None

    def decide(self, watch: Stopwatch) -> Factor | Refutation | None:
        """The factor or a refutation; None where neither could be proved, or not in time."""
        for tried, (problem, method) in enumerate(self._methods()):
            watch.tell(tried, unit="methods tried")
            answer = None if watch.over else method()
            if answer is not None:
                return self._expanded(answer) if problem is not self and isinstance(answer, Factor) else answer
        return None

    def _methods(self) -> Iterator[tuple[Factoring, Callable[[], Factor | Refutation | None]]]:
        """What to try, the quickest first, each with the problem that it solves."""
        yield self, self._guess
        yield self, self._eliminate
        small = self.merged
        if small is not self:
            yield small, small._guess
            yield small, small._eliminate
        yield small, small._program

    def enclose_distance(self) -> tuple[Fraction, Fraction]:
        """Proved bounds on the least distance, for channels that are not known to be a post-processing."""
        small = self.merged
        upper = small.total_variation(integer_rows(small.nearest.factor, _FACTOR_BITS), 1 << _FACTOR_BITS)
        refutation = small._rounded(small.nearest.gains)
        lower = Fraction(0) if refutation is None else refutation.distance
        if upper - lower <= _WIDE * upper:
            return lower, upper
        for answer in precisely(small.a, small.a_total, small.b, small.b_total, _ROUNDS):
            upper = min(upper, small.total_variation(*stochastic_rows(answer.factor)))
            refutation = small.refutation(answer.gains)
            lower = lower if refutation is None else max(lower, refutation.distance)
            if upper - lower <= _WIDE * upper:
                break
        return lower, upper

    # The numbers, and what is checked with them in integers

    @cached_property
    def _a(self) -> fmpz_mat:
        return fmpz_mat(self.a.tolist())

    @cached_property
    def _b(self) -> fmpz_mat:
        return fmpz_mat(self.b.tolist())

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        return self.views or (_view(self.a, self.a_total), _view(self.b, self.b_total))

    def factor(self, weights: Weights, total: int) -> Factor | None:
        """R, if it is stochastic and ``B R = A``."""
        rows = weights.tolist()
        if any(min(row) < 0 or sum(row) != total for row in rows):
            return None
        equal = self._b * fmpz_mat(rows) * self.a_total == self._a * (self.b_total * total)
        return Factor(weights, total) if equal else None

    def refutation(self, gains: Gains) -> Refutation | None:
        """These gains, if they refute."""
        matrix = fmpz_mat(gains)
        excess = _best(matrix * self._a) * self.b_total - _best(matrix * self._b) * self.a_total
        return Refutation(gains, Fraction(excess, self.a_total * self.b_total)) if excess > 0 else None

    def total_variation(self, weights: Weights, total: int) -> Fraction:
        """The largest, over inputs, between the rows of A and of B R."""
        reached = self._b * fmpz_mat(weights.tolist()) * self.a_total
        differences = (self._a * (self.b_total * total) - reached).table()
        largest = max(sum(abs(int(entry)) for entry in row) for row in differences)
        return Fraction(largest, 2 * self.a_total * self.b_total * total)

    # What is quick to see

    def _guess(self) -> Factor | Refutation | None:
        """A few steps of the search where R has room; else a bet."""
        inputs, columns = self.b.shape
        if columns <= inputs:
            return self._guess_bet()
        _, gains = self._search.separation(short=True)
        return self._inside if gains is None else self._rounded(gains)

    @cached_property
    def _search(self) -> Search:
        return Search(*self._floats)

    @cached_property
    def _inside(self) -> Factor | None:
        guess = self._search.inside()
        return None if guess is None else self._on_support(guess, guess > 0)

    def _guess_bet(self) -> Refutation | None:
        """Where the R of least squares is negative or misses A, betting on one side of a hyperplane may refute."""
        a, b = self._floats
        inputs, columns = b.shape
        try:
            inverse = np.linalg.inv(b) if inputs == columns else np.linalg.pinv(b)
        except np.linalg.LinAlgError:
            return None
        guess = inverse @ a
        below = np.minimum(guess, 0).sum(axis=1)
        row = int(below.argmin())
        found = self._bet(-inverse[row]) if below[row] < -1e-12 else None
        if found is None and inputs > columns:
            missed = a - b @ guess
            found = self._bet(missed[:, int(np.abs(missed).sum(axis=0).argmax())])
        return found

    def _bet(self, stakes: Floats) -> Refutation | None:
        largest = float(np.abs(stakes).max())
        if not 0 < largest < np.inf:
            return None
        return self.refutation(_two_actions(_whole(stakes / largest)))

    # Independent columns: R is unique

    def _eliminate(self) -> Factor | Refutation | None:
        """Decide exactly, where the columns of B are independent; None where they are not."""
        inputs, columns = self.b.shape
        if columns > inputs:
            return None
        held = Echelon.of(self._b, self._a)
        if len(held.pivots) < columns:
            return None
        if not held.consistent:
            return self._outside(columns)
        # In integers, R is reduced / divisor * b_total / a_total.
        weights = np.empty((columns, self.a.shape[1]), dtype=object)
        weights[:] = [[int(entry) for entry in row[columns:]] for row in held.reduced.table()[:columns]]
        answer = self.factor(weights * self.b_total, held.divisor * self.a_total)
        return answer or self._negative(int(np.minimum(weights, 0).sum(axis=1).argmin()), columns)

    def _outside(self, columns: int) -> Refutation | None:
        """A column of A is no combination of B's: there is a v with v B = 0 and v A not zero."""
        kernel = Echelon.of(self._b.transpose(), fmpz_mat(columns, 1))
        answers = (self._exact_bet(kernel.null_vector(free)) for free in kernel.free)
        return next((answer for answer in answers if answer is not None), None)

    def _negative(self, row: int, columns: int) -> Refutation | None:
        """R has negative entries in a row y: where l B is the unit vector of y, l A is that row, so bet on -l."""
        unit = fmpz_mat(columns, 1)
        unit[row, 0] = -1
        return self._exact_bet(Echelon.of(self._b.transpose(), unit).solution(0))

    def _exact_bet(self, stakes: list[Fraction]) -> Refutation | None:
        common = math.lcm(*(stake.denominator for stake in stakes))
        whole = [stake.numerator * (common // stake.denominator) for stake in stakes]
        return self.refutation(_two_actions(whole))

    # Dependent columns

    def _program(self) -> Factor | Refutation | None:
        """By projection where that is clear, else by linear programming."""
        if self.a.shape[1] == 1:
            return Factor(np.full((self.b.shape[1], 1), 1, dtype=object), 1)
        if self._inside is not None:
            return self._inside
        guess, gains = self._search.separation()
        early = self._on_support(guess, guess > 1e-9) if gains is None else self._rounded(gains)
        if early is not None:
            return early
        nearest = self.nearest
        if nearest.distance < 1e-6:
            for support in (nearest.basic, nearest.factor > 1e-9, nearest.factor > 1e-12, nearest.factor > 1e-7):
                answer = self._on_support(nearest.factor, support)
                if answer is not None:
                    return answer
        return self._rounded(nearest.gains) or self._precisely()

    def _precisely(self) -> Factor | Refutation | None:
        """For channels that are, or miss being, a post-processing by less than the solver can tell."""
        for answer in precisely(self.a, self.a_total, self.b, self.b_total, _ROUNDS):
            found = self.refutation(answer.gains)
            if found is not None:
                return found
            weights, total = stochastic_rows(answer.factor)
            guess = _view(weights, total)
            for support in (answer.basic, guess > 2.0**-40):
                held = self._on_support(guess, support)
                if held is not None:
                    return held
        return None

    @cached_property
    def nearest(self) -> Nearest:
        """The program for the least distance, solved in floats."""
        return least_distance(*self._floats)

    def _on_support(self, guess: Floats, support: NDArray[np.bool_]) -> Factor | None:
        found = exact_factor(self.a, self.a_total, self.b, self.b_total, guess, support)
        return None if found is None else self.factor(*found)

    def _rounded(self, gains: Floats) -> Refutation | None:
        shifted = gains - gains.min(axis=0)
        largest = float(shifted.max())
        if not 0 < largest < np.inf:
            return None
        return self.refutation([_whole(row) for row in shifted / largest])

    # Proportional columns

    @cached_property
    def merged(self) -> Factoring:
        """The same problem with proportional columns merged and zero columns dropped, in A and in B; itself if none."""
        if (len(self._ways_a), len(self._ways_b)) == (self.a.shape[1], self.b.shape[1]):
            return self
        return Factoring(_summed(self.a, self._ways_a), self.a_total, _summed(self.b, self._ways_b), self.b_total)

    @cached_property
    def _ways_a(self) -> list[list[int]]:
        return list(directions(self.a).values())

    @cached_property
    def _ways_b(self) -> list[list[int]]:
        return list(directions(self.b).values())

    def _expanded(self, small: Factor) -> Factor | None:
        """The factor of this problem: what goes to a merged column of A is shared out; merged ones of B act alike."""
        (_, columns), outputs = self.b.shape, self.a.shape[1]
        shares: list[tuple[list[int], list[int], int]] = []
        for group in self._ways_a:
            parts = [math.gcd(*self.a[:, place].tolist()) for place in group]
            shares.append((group, parts, sum(parts)))
        common = math.lcm(*(whole for _, _, whole in shares))
        weights = np.zeros((columns, outputs), dtype=object)
        weights[:, 0] = small.total * common  # for outputs of B that never come, anything will do
        for row, group in enumerate(self._ways_b):
            line = np.zeros(outputs, dtype=object)
            for column, (places, parts, whole) in enumerate(shares):
                for place, part in zip(places, parts, strict=True):
                    line[place] = small.weights[row, column] * (part * (common // whole))
            weights[group] = line
        return self.factor(weights, small.total * common)


def _view(weights: Weights, total: int) -> Floats:
    return np.array([[weight / total for weight in row] for row in weights.tolist()], dtype=np.float64)


def _best(values: fmpz_mat) -> int:
    """The sum, over columns, of the largest entry."""
    return sum(int(max(column)) for column in zip(*values.table(), strict=True))


def _whole(values: Floats) -> list[int]:
    return [round(math.ldexp(value, _GRAIN)) for value in values.tolist()]


def _two_actions(stakes: list[int]) -> Gains:
    """To take a bet with these stakes or to leave it, shifted so that no gain is negative."""
    return [[max(stake, 0) for stake in stakes], [max(-stake, 0) for stake in stakes]]


def _summed(weights: Weights, groups: list[list[int]]) -> Weights:
    merged = np.empty((len(weights), len(groups)), dtype=object)
    for place, group in enumerate(groups):
        merged[:, place] = weights[:, group].sum(axis=1) if len(group) > 1 else weights[:, group[0]]
    return merged
