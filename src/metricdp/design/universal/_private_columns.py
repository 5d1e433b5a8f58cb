"""The columns that a private mechanism is made of, and the best mechanism for a prior, in rationals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq_mat, fmpz_mat

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.verify import verify
from metricdp.design.kernels import Vertex, vertices
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.progress import Stopwatch
from metricdp.exact.rationals import fraction
from metricdp.metrics import Guarantee, Space
from metricdp.programs.double_description import extreme_rays

__all__ = ["MOST_COLUMNS", "LeastLoss", "PrivacyType", "PrivateColumns", "fall"]

MOST_COLUMNS = 20_000
"""How many extreme columns are enumerated before a space is refused; any 9 points have at most C(16, 8) = 12870."""

_BITS = 64
_MOST_BITS = 2048
_PATIENCE = 20

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LeastLoss:
    """The least expected loss of a cone of columns, for one prior p (or the sum of the least for several).

    Attributes:
        value: ``B(p)``, the least of ``Σ p(x) T(x)(w) l(w, x)`` over all channels T with columns in the cone.
        multipliers: y, one for each secret, with ``Σ y = B(p)`` and ``Σ over x of (p(x) l(w, x) - y_x) v_x >= 0`` for
            every action w and every v of the cone: summed over the columns of any T, its loss is at least B(p).
        parts: the best channel, as triples of an extreme column, its weight and the action that follows it.
    """

    value: Fraction
    multipliers: tuple[Fraction, ...]
    parts: tuple[tuple[int, Fraction, int], ...]


class PrivateColumns:
    """The cone ``{v >= 0 : v_j >= a_ij v_i}``, by its extreme rays, and the programs over it.

    A channel with columns in the cone is, up to what a user can do with its outputs, a sum of extreme rays v_k with
    weights ``a_k >= 0`` such that ``Σ a_k v_k = 1``, and a user acts best on each by itself. So the best for a prior is

        minimise  Σ a_k · min over w of Σ over x of p(x) l(w, x) v_k(x),

    solved by the simplex method in rationals: it has as many rows as there are points, and starts from the last basis.

    Args:
        classes: for each point the place of its class; points of one class have equal entries in every column.
        falls: the numbers a_ij between classes, each below 1.
        rays: the extreme rays in integers, an entry for each class, if they are known already.
        watch: says when to stop.

    References:
        Paper 5, Section III and Theorem 3.

    >>> half = Fraction(1, 2)
    >>> PrivateColumns([0, 1], {(0, 1): half, (1, 0): half}).rays
    [(1, 2), (2, 1)]
    """

    def __init__(
        self,
        classes: Sequence[int],
        falls: dict[Edge, Fraction],
        rays: Sequence[tuple[int, ...]] | None = None,
        watch: Stopwatch | None = None,
    ) -> None:
        self._watch = watch
        self.classes = tuple(classes)
        self.size = max(classes) + 1
        self.rays = sorted(self._enumerated(falls) if rays is None else rays)
        self._table = fmpz_mat(self.rays)
        self._basis = self._feasible()

    def _enumerated(self, falls: dict[Edge, Fraction]) -> list[tuple[int, ...]]:
        inequalities = []
        for (i, j), fall in sorted(falls.items()):
            row = [0] * self.size
            row[j], row[i] = fall.denominator, -fall.numerator
            inequalities.append(row)
        return extreme_rays(self.size, inequalities, MOST_COLUMNS, "extreme columns", self._watch)

    def column(self, k: int) -> list[int]:
        """The extreme ray k, with an entry for each point."""
        return [self.rays[k][place] for place in self.classes]

    def costs(self, prior: Prior, loss: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """For each extreme ray the least ``Σ p(x) l(w, x) v(x)``, with p in its integer weights, and the w of it."""
        table = [[0] * self.size for _ in loss]
        for held, row in zip(table, loss, strict=True):
            for place, weight, value in zip(self.classes, prior.weights, row, strict=True):
                held[place] += weight * value
        found = (self._table * fmpz_mat(table).transpose()).tolist()
        least = [min(range(len(row)), key=row.__getitem__) for row in found]
        return [int(row[w]) for row, w in zip(found, least, strict=True)], least

    def best(self, priors: Sequence[Prior], loss: Sequence[Sequence[int]], divisor: int) -> LeastLoss:
        """The channel with the least sum of losses for some priors; the loss in integers to be divided by ``divisor``.

        Parts name the action of the first prior; where there is one, that is the only one.
        """
        scale = math.lcm(*(prior.total for prior in priors))
        costs, actions = [0] * len(self.rays), [0] * len(self.rays)
        for prior in reversed(priors):
            held, actions = self.costs(prior, loss)
            costs = [cost + scale // prior.total * more for cost, more in zip(costs, held, strict=True)]
        basis, weights, duals = _simplex(self._table, costs, self._basis)
        self._basis = basis
        y = [Fraction(0)] * len(self.classes)
        for place, dual in enumerate(duals):  # points of one class share theirs; the first may carry all of it
            y[self.classes.index(place)] = dual / (divisor * scale)
        parts = tuple((k, weight, actions[k]) for k, weight in zip(basis, weights, strict=True) if weight)
        return LeastLoss(sum(y, Fraction(0)), tuple(y), parts)

    def _feasible(self) -> list[int]:
        """A basis of ``Σ a_k v_k = 1, a >= 0``, which exists since the cone holds the column of ones."""
        count, size = len(self.rays), self.size
        units = [[int(place == axis) for place in range(size)] for axis in range(size)]
        table = fmpz_mat([*self.rays, *units])
        basis, weights, _ = _simplex(table, [0] * count + [1] * size, list(range(count, count + size)))
        if any(weight and k >= count for k, weight in zip(basis, weights, strict=True)):
            raise ArithmeticError("internal error: no sum of private columns is one")
        for place in range(size):  # artificial columns that stayed, at zero, leave for any independent one
            if basis[place] >= count:
                for k in range(count):
                    tried = [*basis[:place], k, *basis[place + 1 :]]
                    if k not in basis and fmpz_mat([table.table()[b] for b in tried]).det() != 0:
                        basis = tried
                        break
        return basis


def _simplex(table: fmpz_mat, costs: list[int], basis: list[int]) -> tuple[list[int], list[Fraction], list[Fraction]]:
    """Minimise ``c · a`` over ``a >= 0`` with ``Σ a_k table[k] = 1``, from a feasible basis: basis, weights, duals."""
    size = table.ncols()
    rows = table.tolist()
    ones, price = fmpq_mat(size, 1, [1] * size), fmpz_mat(len(costs), 1, costs)
    basis, stalled = list(basis), 0
    while True:
        matrix = fmpq_mat(fmpz_mat([rows[k] for k in basis]))
        weights = matrix.transpose().solve(ones).entries()
        duals = matrix.solve(fmpq_mat(size, 1, [costs[k] for k in basis])).entries()
        common = math.lcm(*(int(dual.q) for dual in duals))
        whole = fmpz_mat(size, 1, [int(dual.p) * (common // int(dual.q)) for dual in duals])
        reduced = (price * common - table * whole).entries()
        least = min(reduced)
        if least >= 0:
            return basis, [fraction(value) for value in weights], [fraction(value) for value in duals]
        # The steepest column is quick; Bland's first one never cycles, and takes over where nothing moves.
        entering = reduced.index(least) if stalled < _PATIENCE else next(k for k, v in enumerate(reduced) if v < 0)
        falling = matrix.transpose().solve(fmpq_mat(size, 1, rows[entering])).entries()
        steps = [
            (weight / fall, basis[place], place)
            for place, (weight, fall) in enumerate(zip(weights, falling, strict=True))
            if fall > 0
        ]
        step, _, leaving = min(steps, key=lambda held: (held[0], held[1]))
        stalled = stalled + 1 if step == 0 else 0
        basis[leaving] = entering


@dataclass(frozen=True, eq=False)
class PrivacyType:
    """All mechanisms that are private for a space, between two cones with rational columns.

    Attributes:
        space: the points and d.
        relaxed: the cone of ``a_ij <= exp(-d_ij)``: it holds all private columns.
        strict: the cone of ``a_ij >= exp(-d_ij)``: all its columns are private. The same as ``relaxed`` where every
            exp(-d_ij) is rational; else the a_ij differ by a relative 2^-64.
    """

    space: Space
    relaxed: PrivateColumns
    strict: PrivateColumns = field(repr=False)

    @classmethod
    def of(cls, space: Space, watch: Stopwatch | None = None) -> PrivacyType:
        """The type of a small space.

        Where every exp(-d) is rational, the extreme columns are the vertices of the space; else the two cones that
        enclose the type have columns of their own, about as many.

        Raises:
            TooLargeError: if there are more than 20000 extreme columns, or the time limit is reached.
        """
        phi = constraints_matrix(space)
        firsts = sorted(set(phi.representatives))
        classes = [firsts.index(first) for first in phi.representatives]
        corners = _vertices(space, len(firsts), watch or Stopwatch())
        exact = [vertex.direction for vertex in corners]
        if corners and None not in exact:
            rays = [_primitive([values[place] for place in firsts]) for values in exact if values is not None]
            columns = PrivateColumns(classes, {}, rays)
            return cls(space, columns, columns)
        below: dict[Edge, Fraction] = {}
        above: dict[Edge, Fraction] = {}
        for i, x in enumerate(firsts):
            for j, z in enumerate(firsts):
                if i != j and not _implied(phi, x, z, firsts):
                    enclosed = fall(phi, x, z)
                    below[i, j], above[i, j] = Fraction(enclosed.lower), Fraction(enclosed.upper)
        relaxed = PrivateColumns(classes, below, watch=watch)
        return cls(space, relaxed, relaxed if below == above else PrivateColumns(classes, above, watch=watch))

    @property
    def exact(self) -> bool:
        """Whether both cones are the type itself."""
        return self.relaxed is self.strict

    def least_loss(self, priors: Sequence[Prior], loss: Loss) -> tuple[LeastLoss, LeastLoss]:
        """The least sum of losses for some priors, of the relaxed and of the strict cone; the type's is between them.

        >>> import metricdp as mdp
        >>> from metricdp.adversaries import as_loss
        >>> held = PrivacyType.of(mdp.Space(range(3), mdp.ln(2) * mdp.metrics.discrete()))
        >>> held.least_loss([Prior.uniform(range(3))], as_loss("bin", range(3)))[0].value
        Fraction(1, 2)
        """
        numbers, common = loss.over(self.space.points).whole
        table = numbers.tolist()
        relaxed = self.relaxed.best(priors, table, common)
        return relaxed, relaxed if self.exact else self.strict.best(priors, table, common)

    def channel(self, best: LeastLoss, actions: Sequence[Any] | None = None) -> Certified:
        """The best channel of the strict cone, verified; its outputs are the actions that are used.

        Without actions each extreme column is an output by itself, numbered from 0.
        """
        outputs = [w if actions is not None else place for place, (_, _, w) in enumerate(best.parts)]
        used = sorted(set(outputs))
        table = [[Fraction(0)] * len(used) for _ in self.space.points]
        for (k, weight, _), z in zip(best.parts, outputs, strict=True):
            for row, value in zip(table, self.strict.column(k), strict=True):
                row[used.index(z)] += weight * value
        names = used if actions is None else [actions[z] for z in used]
        plain = Channel.from_matrix(self.space.points, names, table)
        verdict = verify(plain, self.space)
        if not verdict:
            raise ImpossibleError(f"the best channel could not be proved private: {verdict}")
        return Certified(plain.inputs, plain.outputs, plain.weights, plain.total, Guarantee(self.space.metric))

    @cached_property
    def columns(self) -> int:
        """How many extreme columns there are, of the relaxed cone."""
        return len(self.relaxed.rays)


def fall(phi: ConstraintsMatrix, i: int, j: int) -> Enclosure:
    """``exp(-d)``, exactly where it is rational, else between two rationals below 1 that differ by a relative 2^-64."""
    exact = phi.exactly(i, j)
    if exact is not None:
        return Enclosure(exact, exact)
    bits = 2 * _BITS
    while bits <= _MOST_BITS:
        with precision(bits):
            enclosed = Enclosure.of(phi.ball(i, j))
        lower, upper = Fraction(enclosed.lower), Fraction(enclosed.upper)
        if lower > 0 and upper < 1:
            near = min(lower, 1 - upper)
            scale = 1 << (_BITS + math.ceil(1 / near).bit_length())
            if (upper - lower) * scale < 1:
                return Enclosure(Fraction(math.floor(lower * scale), scale), Fraction(math.ceil(upper * scale), scale))
        bits *= 2
    raise ArgumentError(
        f"the distance between {phi.space.points[i]!r} and {phi.space.points[j]!r} is too near to zero or too large"
    )


def _vertices(space: Space, size: int, watch: Stopwatch) -> list[Vertex]:
    """All vertices; none if they cannot be told apart, and then the cones that enclose the type are enumerated."""
    found: list[Vertex] = []
    try:
        for vertex in itertools.islice(vertices(space), MOST_COLUMNS + 1):
            watch.check("to find all extreme columns", len(found), unit="columns")
            found.append(vertex)
    except TooLargeError:
        raise
    except ArgumentError:  # two sums of distances could not be compared
        return []
    if len(found) > MOST_COLUMNS:
        most = math.comb(2 * size - 2, size - 1)
        raise TooLargeError(
            f"all private columns are enumerated, and there are more than {MOST_COLUMNS} extreme ones: any {size} "
            f"points have up to {most}; use fewer points",
            f"up to {most:,} columns",
        )
    return found


def _primitive(values: Sequence[Fraction]) -> tuple[int, ...]:
    """The integers without a common divisor in the direction of some fractions."""
    common = math.lcm(*(value.denominator for value in values))
    whole = [int(value * common) for value in values]
    divisor = math.gcd(*whole)
    return tuple(value // divisor for value in whole)


def _implied(phi: ConstraintsMatrix, i: int, j: int, places: Sequence[int]) -> bool:
    """Whether the constraint of i and j follows from those through a third point that lies exactly between them."""
    unit, points = phi.space.metric.unit, phi.space.points
    whole = unit.exactly(points[i], points[j])
    if whole == math.inf:
        return True  # nothing is constrained
    if whole is None:
        return False
    for k in places:
        if k not in (i, j):
            first, second = unit.exactly(points[i], points[k]), unit.exactly(points[k], points[j])
            if first is not None and second is not None and first + second == whole:
                return True
    return False
