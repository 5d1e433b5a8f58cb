"""The capacities of a privacy type as linear programs, solved by columns and certified.

The columns v of a channel lie in the cone ``C = {v >= 0 : v_i <= exp(d_ij) v_j}`` and sum to 1 in each row. The largest
sum of column maxima (or the least sum of column minima) is to

    maximise (minimise)  Σ_k λ_k v_k(z_k)   over columns v_k of C and points z_k, with  Σ_k λ_k v_k = 1,  λ >= 0.

Its dual is ``y`` with ``v_z <= y · v`` (``y · v <= v_z``) for all z and all v of C, and ``Σ y`` is the bound. For one z
that is a small program over C, whose multipliers u >= 0 show that ``y - e_z`` is at least ``Σ u_ij (e_j - exp(-d_ij)
e_i)``, which no v of C makes negative. So whatever multipliers u a solver returns, the largest of ``e_z + Σ u_ij (e_j -
exp(-d_ij) e_i)`` over all z, entry by entry, is a y that is feasible beyond doubt: that is the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from metricdp.adversaries.capacity import capacity as capacity_of
from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.channels.certified import Certified
from metricdp.channels.certify import certify
from metricdp.channels.channel import Channel
from metricdp.channels.verify import verify
from metricdp.errors import TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, precision
from metricdp.exact.progress import Stopwatch, duration
from metricdp.metrics import Guarantee, Space
from metricdp.programs import Echelon, LinearProgram, Sparse, point_on_support
from metricdp.programs.exact import integers

__all__ = ["Optimum", "best_by_columns"]

LATE = "the time limit was reached"

_MOST_POINTS = 100
_SECONDS = 60
"""About how long a program of so many points takes."""

_EXACT_POINTS = 40
_TOLERANCE = 1e-10
_ENOUGH = 1e-9
_SMALLEST = 1e-12
_FARTHEST = 300.0
_DEAREST = 1e9
_MOST_ROUNDS = 500
_BITS = 128

Edge = tuple[int, int]


@dataclass(frozen=True)
class Optimum:
    """A capacity between a channel that reaches its lower end and a dual that proves its upper end.

    Attributes:
        value: the capacity.
        channel: private, verified.
        rounds: how often columns were added.
        reason: what stopped the search before its end; empty if nothing did.
    """

    value: Enclosure
    channel: Certified
    rounds: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of the cone, with the entry that it counts by; its largest entry is 1."""

    values: Floats
    point: int


def best_by_columns(space: Space, largest: bool, gap: float = 0.0, watch: Stopwatch | None = None) -> Optimum:
    """The multiplicative (``largest``) or additive capacity of a space of points at finite, positive distances.

    Args:
        space: the points and the metric.
        largest: which of the two.
        gap: stop when the bounds are this near, as a share of the capacity, as far as floats tell.
        watch: says when to stop.

    Raises:
        TooLargeError: if there are more than 100 points.
    """
    if len(space) > _MOST_POINTS:
        estimate = f"about {duration(_SECONDS * (len(space) / _MOST_POINTS) ** 4)}"
        raise TooLargeError(
            f"no formula is known for the capacity of this space, and its linear program takes at most {_MOST_POINTS} "
            f"points, not {len(space)}, which would take {estimate}",
            estimate,
        )
    search = _Search(space, largest, gap, watch or Stopwatch())
    rounds = search.run()
    return (None if search.reason else search.exactly(rounds)) or search.enclosed(rounds)


class _Search:
    """The master program over the columns so far, and one program for each point that finds a better one."""

    def __init__(self, space: Space, largest: bool, gap: float, watch: Stopwatch) -> None:
        self.space, self.largest = space, largest
        self.gap, self.watch, self.reason = gap, watch, ""
        self.sign = 1.0 if largest else -1.0
        self.phi: ConstraintsMatrix = constraints_matrix(space)
        self.falls = np.exp(-space.distances)
        self.edges = _edges(space)
        count = len(space)
        self.master = LinearProgram(maximize=largest, tolerance=_TOLERANCE)
        self.master.add_rows(1.0, 1.0, Sparse.of([{} for _ in range(count)]))
        self.unit = 1.0
        self.columns: list[_Column] = []
        self._add(np.ones(count), 0)
        for z in range(count):
            self._add(self.falls[:, z], z)
            self._add(np.exp(space.distances[z] - space.distances[z].max()), z)
        self.pricing = [self._pricing(z) for z in range(count)]
        self.weights: Floats = np.zeros(0)
        self.duals: Floats = np.zeros(count)
        self.multipliers: list[dict[Edge, float]] = []
        self.basic: list[int] = []

    def _add(self, values: Floats, point: int) -> None:
        scaled = values / values.max()
        self.columns.append(_Column(scaled, point))
        self.master.add_columns([scaled[point] / self.unit], entries=Sparse.of_dense(scaled[None, :]))

    def _pricing(self, z: int) -> LinearProgram:
        """``minimise ± y · v`` over the v of the cone with v_z = 1; the costs come later; v counts in ``_units``."""
        count = len(self.space)
        program = LinearProgram(tolerance=_TOLERANCE)
        bounds = np.zeros(count), np.full(count, np.inf)
        bounds[0][z] = bounds[1][z] = 1.0
        program.add_columns(np.zeros(count), *bounds)
        program.add_rows(-np.inf, 0.0, Sparse.of([self._constraint(z, i, j) for i, j in self.edges]))
        return program

    def _units(self, z: int) -> Floats:
        """What the unknowns of the program of z count in: columns that grow reach ``exp(d(x, z))``, which is large."""
        if self.largest:
            return np.ones(len(self.space))
        return np.exp(np.minimum(self.space.distances[:, z], _FARTHEST))

    def _constraint(self, z: int, i: int, j: int) -> dict[int, float]:
        """``exp(-d_ij) v_i - v_j``, divided by the unit of v_j, without what the solver would take for zero."""
        units = self._units(z)
        entry = float(self.falls[i, j] * (units[i] / units[j]))
        return {j: -1.0} if entry < _SMALLEST else {i: entry, j: -1.0}

    def run(self) -> int:
        """Add columns until none helps by more than the solver can see, or the bounds are near enough."""
        for rounds in range(1, _MOST_ROUNDS + 1):
            if self.watch.over and rounds > 1:
                self.reason = LATE
                return rounds - 1
            solution = self.master.solve(method="simplex")
            if solution.objective < 0.1 and self.unit > _ENOUGH:  # a solver sees no less than its tolerance
                self.unit = max(self.unit * solution.objective, _ENOUGH)
                entries = [column.values[column.point] / self.unit for column in self.columns]
                self.master.change_costs(range(len(entries)), entries)
                solution = self.master.solve(method="simplex")
            self.weights, self.duals = solution.primal, solution.duals * self.unit
            self.basic = solution.basis.basic_columns if solution.basis else []
            multipliers: list[dict[Edge, float]] = []
            better = []
            for z, program in enumerate(self.pricing):
                if self.watch.over:  # the bound of the last whole round stays
                    self.reason = LATE
                    return rounds
                units = self._units(z)
                costs = np.clip(self.sign * self.duals * units, -_DEAREST, _DEAREST)
                program.change_costs(range(len(self.space)), costs)
                found = program.solve(method="simplex")
                duals = zip(self.edges, found.duals.tolist(), strict=True)
                multipliers.append({(i, j): -u / float(units[j]) for (i, j), u in duals if u < 0})
                column = found.primal * (units / units.max())
                gain = self.sign * float(column[z] - self.duals @ column)
                if gain > _ENOUGH * self.unit * float(column.max()):
                    better.append((column, z))
            self.multipliers = multipliers
            value, bound = self._in_floats(float(self.weights @ self._entries))
            self.watch.tell(rounds, unit="rounds", best=value, bound=bound)
            if not better or abs(bound - value) <= 0.5 * self.gap * abs(value) or rounds == _MOST_ROUNDS:
                break
            for values, z in better:
                self._add(values, z)
        if better and rounds == _MOST_ROUNDS:
            self.reason = "the search took all its rounds"
        return rounds

    @property
    def _entries(self) -> Floats:
        """What each column counts by."""
        return np.array([column.values[column.point] for column in self.columns[: len(self.weights)]])

    def _in_floats(self, reached: float) -> tuple[float, float]:
        """The capacity reached, and the bound of the multipliers, both in floats."""
        count = len(self.space)
        ends = np.zeros((count, count))
        for z, held in enumerate(self.multipliers):
            ends[z, z] = 1.0
            for (i, j), u in held.items():
                ends[z, j] += self.sign * u
                ends[z, i] -= self.sign * u * self.falls[i, j]
        bound = float((ends.max(axis=0) if self.largest else ends.min(axis=0)).sum())
        return (reached, min(bound, count)) if self.largest else (1 - reached, 1 - max(bound, 0.0))

    # A proof in enclosures

    def enclosed(self, rounds: int) -> Optimum:
        """The channel put into the cone and rounded, and a dual that is feasible whatever the solver did."""
        matrix = np.zeros((len(self.space), len(self.space)))
        for column, weight in zip(self.columns, self.weights, strict=True):
            matrix[:, column.point] += max(weight, 0.0) * column.values
        used = matrix.max(axis=0) > 0
        labels = [point for point, kept in zip(self.space.points, used, strict=True) if kept]
        channel = certify(matrix[:, used], self.space, labels)
        reached = capacity_of(channel)
        trivial = Fraction(len(self.space) if self.largest else 0)  # probabilities are between 0 and 1
        bound = self._bound() if self.multipliers else trivial
        if self.largest:
            value = Enclosure(reached.multiplicative, max(min(bound, trivial), reached.multiplicative))
        else:
            value = Enclosure(reached.additive, max(1 - max(bound, trivial), reached.additive))
        return Optimum(value, channel, rounds, self.reason)

    def _bound(self) -> Fraction:
        """``Σ y`` for the feasible y of the multipliers, rounded to the safe side."""
        count = len(self.space)
        ends: list[list[Fraction]] = [[] for _ in range(count)]
        with precision(_BITS):
            falls = {edge: self.phi.ball(*edge) for held in self.multipliers for edge in held}
            for z, held in enumerate(self.multipliers):
                entries = [ball(int(place == z)) for place in range(count)]
                for (i, j), u in held.items():
                    entries[j] += ball(self.sign * u)
                    entries[i] -= ball(self.sign * u) * falls[i, j]
                for place, entry in enumerate(entries):
                    enclosure = Enclosure.of(entry)
                    ends[place].append(Fraction(enclosure.upper if self.largest else enclosure.lower))
        return sum((max(held) if self.largest else min(held) for held in ends), Fraction(0))

    # A proof in rationals

    def exactly(self, rounds: int) -> Optimum | None:
        """Both sides solved in rationals on the bases that the solver ended with; None where that proves nothing."""
        if len(self.space) > _EXACT_POINTS or (rows := self.phi.exact) is None:
            return None
        count = len(self.space)
        columns = {k: self._exact_column(k, rows) for k in self.basic}
        held = {k: column for k, column in columns.items() if column is not None}
        if len(held) < len(columns):
            return None
        order = sorted(held)
        table = [[held[k][x] for k in order] for x in range(count)]
        weights = point_on_support(table, [1] * count, range(len(order)))
        duals = _dual([held[k] for k in order], [held[k][self.columns[k].point] for k in order])
        if weights is None or duals is None:
            return None
        value = sum((w * held[k][self.columns[k].point] for w, k in zip(weights, order, strict=True)), Fraction(0))
        if value != sum(duals, Fraction(0)) or not all(self._feasible(z, duals, rows) for z in range(count)):
            return None
        channel = self._exact_channel(order, weights, held)
        if not verify(channel, self.space):
            return None
        capacity = value if self.largest else 1 - value
        return Optimum(Enclosure(capacity, capacity), channel, rounds)

    def _exact_column(self, k: int, rows: tuple[tuple[Fraction, ...], ...]) -> list[Fraction] | None:
        """The column with the same tight constraints, along a tree of them that reaches every point."""
        values, start = self.columns[k].values, self.columns[k].point
        exact: dict[int, Fraction] = {start: Fraction(1)}
        waiting = [start]
        while waiting:
            i = waiting.pop()
            for j in range(len(values)):
                if j in exact:
                    continue
                if abs(values[i] * self.falls[i, j] - values[j]) <= 1e-8 * values[j]:
                    exact[j] = exact[i] * rows[i][j]
                elif abs(values[j] * self.falls[i, j] - values[i]) <= 1e-8 * values[i]:
                    exact[j] = exact[i] / rows[i][j]
                else:
                    continue
                waiting.append(j)
        return [exact[place] for place in range(len(values))] if len(exact) == len(values) else None

    def _feasible(self, z: int, duals: list[Fraction], rows: tuple[tuple[Fraction, ...], ...]) -> bool:
        """Whether multipliers u >= 0 on the solver's edges show ``± (y - e_z)`` to be nonnegative on the cone."""
        count, used = len(self.space), list(self.multipliers[z])
        sign = 1 if self.largest else -1
        target = [sign * (value - int(place == z)) for place, value in enumerate(duals)]
        table = [[Fraction(0)] * len(used) for _ in range(count)]
        for column, (i, j) in enumerate(used):
            table[j][column] += 1
            table[i][column] -= rows[i][j]
        others = [place for place in range(count) if place != z]
        if not used:
            return all(target[place] == 0 for place in others) and target[z] >= 0
        found = point_on_support([table[x] for x in others], [target[x] for x in others], range(len(used)))
        if found is None:
            return False
        return target[z] >= sum((a * u for a, u in zip(table[z], found, strict=True)), Fraction(0))

    def _exact_channel(self, order: list[int], weights: list[Fraction], held: dict[int, list[Fraction]]) -> Certified:
        points = sorted({self.columns[k].point for w, k in zip(weights, order, strict=True) if w})
        table = [[Fraction(0)] * len(points) for _ in range(len(self.space))]
        for w, k in zip(weights, order, strict=True):
            if w:
                column = points.index(self.columns[k].point)
                for x, value in enumerate(held[k]):
                    table[x][column] += w * value
        plain = Channel.from_matrix(self.space.points, [self.space.points[z] for z in points], table)
        return Certified(plain.inputs, plain.outputs, plain.weights, plain.total, Guarantee(self.space.metric))


def _dual(columns: list[list[Fraction]], costs: list[Fraction]) -> list[Fraction] | None:
    """The y with ``y · v_k = c_k`` for the columns of the basis; None where they contradict each other."""
    whole, _ = integers([*column, cost] for column, cost in zip(columns, costs, strict=True))
    table = whole.table()
    held = Echelon.of(fmpz_mat([row[:-1] for row in table]), fmpz_mat([row[-1:] for row in table]))
    return held.solution(0) if held.consistent else None


def _edges(space: Space) -> list[Edge]:
    """The pairs whose constraints do not follow from others, as far as floats tell: it only guides the solver."""
    distances = np.minimum(space.distances, 1e300)
    edges = []
    for i in range(len(space)):
        for j in range(len(space)):
            if i == j:
                continue
            through = distances[i] + distances[:, j]
            through[[i, j]] = np.inf
            if through.min() > distances[i, j] * (1 + 1e-12):
                edges.append((i, j))
    return edges
