"""The best column for one output at given prices, as a flow with gains that is solved again and again.

For an output and costs r of the points, the problem is

    minimise  r . v   over the cone  v >= 0,  v_j >= exp(-d_ij) v_i,   with  h . v = 1.

Solved is its dual, a flow y >= 0 over pairs (i, j): what j can spare, y_ij, helps i with exp(-d_ij) y_ij,

    maximise  ρ   with   h_x ρ + Σ_i y_ix - Σ_j exp(-d_xj) y_xj <= r_x   for every point x,

for which other costs are other bounds of the rows, and pairs that come later are new columns: the basis stays good for
both. The duals of its rows are v. Rows are multiplied by ``exp(-d(x, centre))`` and columns divided by it, so that
numbers near one stand where v falls to 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metricdp.exact.arrays import Floats, Places
from metricdp.programs import Basis, LinearProgram, Sparse

__all__ = ["Geometry", "Priced", "Pricing"]

_VIOLATED = 1e-9
_FARTHEST = 9.0
"""What lies farther is scaled as if it were here: a column may have a second peak there, which must not vanish among
the solver's tolerances. Entries that are small because of the distance alone come back when the column is closed."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """What all outputs share.

    Attributes:
        distances: a metric as floats; infinite where nothing is asked.
        decay: ``exp(-distances)``.
        neighbours: for each point, some that are near.
        mass: h, the weights of the points by which columns are normalised.
    """

    distances: Floats
    decay: Floats
    neighbours: Places
    mass: Floats

    @classmethod
    def of(cls, distances: Floats, mass: Floats, neighbours: int = 12) -> Geometry:
        """From a metric that keeps the triangle inequality, infinities included."""
        order = np.argsort(distances, axis=1, kind="stable")[:, 1 : 1 + neighbours]
        return cls(distances, np.exp(-distances), order, mass)

    def closed(self, values: Floats, sources: Places) -> tuple[Floats, Places]:
        """The least column of the cone above the values of some points, and from which of them each entry comes."""
        reached = self.decay[sources] * values[sources, None]
        best = reached.argmax(axis=0)
        return reached[best, np.arange(len(values))], sources[best]


@dataclass(frozen=True, eq=False)
class Priced:
    """A column, and the flow that shows how good any can be.

    Attributes:
        value: ρ; no column of the cone has ``r . v < ρ h . v``, up to the solver's tolerance.
        column: in the cone, with ``h . v = 1``.
        reduced: ``r . column``.
        flow: y for the pairs the pricing knows by now.
        earlier: columns that were seen on the way, with ``r`` times each.
    """

    value: float
    column: Floats
    reduced: float
    flow: Floats
    earlier: tuple[tuple[Floats, float], ...] = ()


class Pricing:
    """The pricing problem of one output, alive from round to round.

    Args:
        geometry: of the space.
        centre: the point about which the output's columns are centred.
    """

    def __init__(self, geometry: Geometry, centre: int) -> None:
        self.geometry = geometry
        self.centre = centre
        distances = geometry.distances
        away = distances[:, centre]
        for x in np.flatnonzero(~np.isfinite(away)).tolist():  # other components are centred about their first point
            if not np.isfinite(away[x]):
                away = np.where(np.isfinite(away), away, distances[:, x])
        self.away = np.minimum(away, _FARTHEST)
        self.scale = np.exp(-self.away)
        count = len(away)
        self._known: set[int] = set()
        self._begun = np.zeros(count, dtype=bool)
        self._first: list[Places] = [np.empty(0, dtype=np.int64)]
        self._second: list[Places] = [np.empty(0, dtype=np.int64)]
        self._program: LinearProgram | None = None
        self._start: Basis | None = None
        others = np.flatnonzero((np.arange(count) != centre) & np.isfinite(distances[centre]))
        self._add(np.full(len(others), centre), others)
        if len(others) == count - 1:  # the column exp(-d(., centre)): every point hangs on the centre
            self._start = Basis.of_columns(count, range(count), count)

    def rest(self) -> None:
        """Give the solver's memory back; its basis is kept, and the next solve starts from there."""
        if self._program is not None:
            self._start, self._program = self._program.basis, None

    def _awake(self) -> LinearProgram:
        if self._program is None:
            count = len(self.away)
            self._program = LinearProgram(maximize=True)
            nothing = Sparse(np.zeros(count, np.int32), np.empty(0, np.int32), np.empty(0))
            self._program.add_rows(-np.inf, np.zeros(count), nothing)
            whole = Sparse.of_dense((self.geometry.mass * self.scale)[None, :])
            self._program.add_columns([1.0], -np.inf, np.inf, whole)
            self._program.add_columns(np.zeros(len(self.pairs[0])), entries=self._entries(*self.pairs))
        return self._program

    @property
    def pairs(self) -> tuple[Places, Places]:
        """The pairs (i, j) that the flow runs over."""
        return np.concatenate(self._first), np.concatenate(self._second)

    def solve(self, costs: Floats, tolerance: float, attempts: int) -> Priced:
        """The best column for these costs, to within ``tolerance`` of the value or after so many attempts."""
        self._awake().change_row_bounds(np.arange(len(costs)), -np.inf, costs * self.scale)
        sources = np.flatnonzero(costs < 0)
        if not len(sources):
            sources = np.array([self.centre])
        # Other bounds leave the basis good for the dual method, new columns for the primal one: never both at once.
        priced, missing = self._once(costs, sources, "dual")
        fresh = sources[~self._begun[sources]]
        self._begun[fresh] = True
        neighbours = self.geometry.neighbours[fresh]
        later = np.repeat(fresh, neighbours.shape[1]), neighbours.ravel()
        missing = np.concatenate([missing[0], later[0]]), np.concatenate([missing[1], later[1]])
        earlier: list[tuple[Floats, float]] = []
        for _ in range(attempts):
            if (priced.reduced - priced.value <= tolerance and not len(fresh)) or not self._add(*missing):
                break
            fresh = fresh[:0]
            earlier.append((priced.column, priced.reduced))
            priced, missing = self._once(costs, sources, "primal")
        return replace(priced, earlier=tuple(earlier))

    def _once(
        self, costs: Floats, sources: Places, method: Literal["primal", "dual"]
    ) -> tuple[Priced, tuple[Places, Places]]:
        solution = self._awake().solve(method, basis=self._start, keep_basis=False)
        self._start = None
        values = np.abs(solution.duals) * self.scale
        if not values[sources].any():  # as long as pairs are missing, the best may stand apart from all that gain
            sources = np.flatnonzero(values)
        if not (solution.optimal and np.isfinite(values).all() and len(sources)):
            column = self.geometry.decay[self.centre] / (self.geometry.mass @ self.geometry.decay[self.centre])
            nothing = np.empty(0, dtype=np.int64)
            return Priced(-np.inf, column, float(costs @ column), np.empty(0)), (nothing, nothing)
        column, origin = self.geometry.closed(values, sources)
        missed = np.flatnonzero(column > values * (1 + _VIOLATED))
        column = column / (self.geometry.mass @ column)
        flow = np.maximum(solution.primal[1:], 0.0)
        return Priced(solution.objective, column, float(costs @ column), flow), (origin[missed], missed)

    def _add(self, first: Places, second: Places) -> int:
        """New pairs; returns how many were not there before."""
        count = len(self.away)
        keys = first * count + second
        new = np.array([key not in self._known for key in keys.tolist()], dtype=bool) & (first != second)
        new &= np.isfinite(self.geometry.distances[first, second])
        if not new.any():
            return 0
        places = np.sort(np.unique(keys[new], return_index=True)[1])
        keys, first, second = keys[new][places], first[new][places], second[new][places]
        self._known.update(keys.tolist())
        if self._program is not None:
            self._program.add_columns(np.zeros(len(first)), entries=self._entries(first, second))
        self._first.append(first)
        self._second.append(second)
        return len(first)

    def _entries(self, first: Places, second: Places) -> Sparse:
        gains = np.exp(-(self.geometry.distances[first, second] + self.away[first] - self.away[second]))
        number = len(first)
        where, what = np.empty(2 * number, np.int32), np.ones(2 * number)
        where[0::2], where[1::2], what[1::2] = second, first, -gains
        return Sparse(np.arange(0, 2 * number, 2, dtype=np.int32), where, what)
