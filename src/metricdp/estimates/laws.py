"""The law of a released column: how probable each output is for each secret, cut into finitely many of both.

It is built from the mechanism's own exact law, seen as floats: estimates rest on floats, and no privacy rests on them.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import TooLargeError
from metricdp.estimates.deconvolution import FittedShares, iterative_bayesian_update
from metricdp.estimates.edited_values import check_values
from metricdp.estimates.fitting_region import FittingRegion
from metricdp.estimates.line_cuts import line_ends, seen_enough
from metricdp.estimates.noise_shape import is_geometric, noise_tail
from metricdp.estimates.outline import Outline
from metricdp.estimates.scores import ScorePath, inverse_of
from metricdp.estimates.type_ends import noise_within
from metricdp.exact.arrays import Booleans, Floats, Places
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine

__all__ = ["ColumnLaw", "LineLaw", "ListedLaw"]

MOST_POINTS = 1200
"""Secrets that are counted one by one; where there are more, they lie between the points of a grid."""

MOST_OUTPUTS = 400
"""Outputs that are counted one by one."""

MOST_LISTED = 16_384
"""Values of a category beyond which its law, one number for each two of them, is refused."""

_LIKELIEST_GAP = 1e-5
"""How far from its maximum the likelihood may be, per row; smaller shares are no more than the fit leaves."""

_NEVER = 1e-30
"""Less probable outputs never come; products of such numbers would make arithmetic many times as slow."""

_EPOCH = dt.date(1970, 1, 1)

_ILL = 1e4
"""Shares are not found by inversion where one row could move them by more than this many rows."""


@dataclass(eq=False)
class ColumnLaw:
    """A column cut into finitely many secrets and outputs, with the law between them and the counts that were seen.

    Attributes:
        column: of the policy.
        matrix: the probability of each output (columns) for each secret (rows).
        counts: how often each output was seen.
        missing: which secrets are missing values.
        near: for each secret, which others the counts hardly tell from it; None where there is no order.
        edges: which secrets lie at a jump of the question, where a value may be a little below or above.
        slack: how far the law between two secrets may be from that of the two.
    """

    column: ColumnType
    matrix: Floats
    missing: Booleans
    counts: Floats = field(default_factory=lambda: np.zeros(0))
    near: Places | None = None
    edges: Booleans | None = None
    slack: float = 0.0

    @property
    def name(self) -> str:
        """What the table calls the column."""
        return self.column.columns[0]

    @property
    def rows(self) -> float:
        """How many rows were counted."""
        return float(self.counts.sum())

    @cached_property
    def fitted(self) -> FittedShares:
        """The distribution of secrets that explains the counts, as smooth as these allow."""
        return iterative_bayesian_update(self.counts, self.matrix, start=self._start())

    def _start(self) -> Floats:
        return np.full(len(self.matrix), 1 / len(self.matrix))

    @cached_property
    def likeliest(self) -> FittedShares:
        """The distribution of secrets under which the counts are likeliest, however uneven it is."""
        return iterative_bayesian_update(
            self.counts, self.matrix, start=self._start(), stop="likelihood", rounds=2000, gap=_LIKELIEST_GAP
        )

    @cached_property
    def path(self) -> ScorePath:
        """Scores for questions about it."""
        return ScorePath(self.matrix, self.fitted.shares, self.rows, self.near)

    def region(self, chance: float) -> FittingRegion:
        """The distributions that fit the counts."""
        return FittingRegion(self.matrix, self.counts, chance, self.path.directions, self.slack)

    @property
    def is_exact(self) -> bool:
        """Whether there is no noise: what is released is the secret."""
        return self.column.release == "keep"


class ListedLaw(ColumnLaw):
    """A category or boolean: each declared value is a secret and an output, and so is the missing one."""

    def __init__(self, column: OneOf) -> None:
        values = len(column.listed)
        self.labels: tuple[Any, ...] = column.listed if column.missing == "refuse" else (*column.listed, None)
        size = len(self.labels)
        if size > MOST_LISTED:
            rule = f"column {column.columns[0]!r} has {size:,} values, and no more than {MOST_LISTED:,} are corrected"
            raise TooLargeError(rule, f"{size**2 * 8 / 2**30:.3g} GiB for their law")
        law = np.eye(size)
        if column.release == "noise":
            mechanism = column.mechanism
            assert mechanism is not None
            assert mechanism.declared is not None
            told = len(mechanism.declared)
            law[:told, :told] = mechanism.law(mechanism.declared).matrix
        super().__init__(column, law, np.arange(size) >= values)
        self._column = column

    @cached_property
    def inverted(self) -> Floats | None:
        """The shares by inversion of the law, some of which noise may have pushed below 0; None where it blows up."""
        inverse = inverse_of(self.matrix)
        if inverse is None or np.abs(inverse).sum(axis=1).max() > _ILL:
            return None
        return np.asarray(inverse.T @ (self.counts / self.rows))

    @property
    def leaves_simplex(self) -> bool:
        """Whether inversion finds a share below 0, which no table has."""
        return not self.is_exact and self.inverted is not None and bool(self.inverted.min() < -1e-12)

    @property
    def corrected(self) -> Floats:
        """The shares of the secrets: by inversion, or where that leaves the simplex or blows up, the fitted ones."""
        if self.inverted is None:
            return self.fitted.shares
        return self.likely_shares if self.leaves_simplex else self.inverted

    @property
    def likely_shares(self) -> Floats:
        """The likeliest shares; those that the fit has not yet brought down to 0 are 0."""
        found = np.where(self.likeliest.shares > _LIKELIEST_GAP, self.likeliest.shares, 0.0)
        return np.asarray(found / found.sum())

    def _start(self) -> Floats:
        """The inverse without what is below 0: near the likeliest shares already."""
        if self.inverted is None:
            return super()._start()
        return np.maximum(self.inverted, 1e-3 / len(self.matrix))

    def codes(self, arrays: Sequence[pa.Array]) -> Places:
        """Where each released value stands among the outputs."""
        return self._column.released_places(arrays[0])


class LineLaw(ColumnLaw):
    """Numbers, days, moments or durations: outputs cut at some of the grid's points, secrets one by one or on a grid.

    Args:
        column: of the policy; released with noise.
        arrow: the type of the released column, whose steps may be coarser than the mechanism's.
        outline: of the released numbers.
        rows: how many rows there are.
        thresholds: what the question compares with, in the metric's unit.
    """

    def __init__(
        self, column: OnALine, arrow: pa.DataType, outline: Outline, rows: float, thresholds: Sequence[float] = ()
    ) -> None:
        mechanism: Any = column.mechanism_in(arrow)
        self._column, self._arrow = column, arrow
        self.noise = noise_within(mechanism.cells, column, arrow, outline, rows)
        self.width = float(self.noise.resolution)
        self.origin = float(column.origin)
        self.tail = noise_tail(self.noise)
        self.scale = max(self.width / 2, self.tail)
        self.is_geometric = is_geometric(self.noise)
        self.ends = line_ends(self.noise, outline, self)
        self.is_lattice = self._is_lattice()
        self.tolerance = 0.05 / math.sqrt(max(rows, 100.0))
        self.sample = outline.sample
        self.cuts = self._cuts(outline, thresholds, rows)
        self.points = self._points(thresholds)
        law = self._law()
        missing = np.zeros(len(law), dtype=bool)
        if column.missing != "refuse":
            missing[-1] = True
        near = None
        reach = np.stack([np.searchsorted(self.points, self.points + side * self.scale) for side in (-1, 1)], axis=1)
        near = np.maximum(reach, np.arange(len(self.points))[:, None] + [[0, 1]])
        if column.missing != "refuse":
            near = np.concatenate([near, [[len(law) - 1, len(law)]]])
        edges = np.zeros(len(law), dtype=bool)
        if not self.is_lattice:
            edges[: len(self.points)] = np.isin(self.points, np.asarray(thresholds, dtype=np.float64))
        super().__init__(column, law, missing, near=near, edges=edges, slack=0.0 if self.is_lattice else self.tolerance)

    @property
    def is_unbounded(self) -> bool:
        """Whether secrets can lie anywhere: there are no bounds, and no ends at which noise is cut off."""
        return getattr(self.noise, "bounds", None) is None and self.noise.end_cells is None

    # Cutting

    def _is_lattice(self) -> bool:
        step = self._column.secret_step
        return step is not None and (self.ends[1] - self.ends[0]) / float(step) < MOST_POINTS

    def _cuts(self, outline: Outline, thresholds: Sequence[float], rows: float) -> Floats:
        """Where outputs are cut, in cells: at thresholds, finely around them, and so that no group is nearly empty."""
        first, last = (self._cell(end) for end in self.ends)
        clamped = self.noise.end_cells
        if clamped is not None and clamped[1] - clamped[0] < MOST_OUTPUTS:
            return np.arange(clamped[0] + 1, clamped[1] + 1, dtype=np.float64)
        wanted: set[float] = set()
        if clamped is not None:
            wanted |= {clamped[0] + 1.0, float(clamped[1])}
        for threshold in list(thresholds)[:64]:
            home = self._cell(threshold)
            wanted |= {home, home + 1.0}
            for steps in _AROUND if len(thresholds) <= 8 else _AROUND[::3]:
                away = max(1.0, round(steps * self.scale / self.width))
                wanted |= {home - away, home + 1 + away}
        shares = np.linspace(0, 1, min(96, 8 + int(rows) // 20) + 1)[1:-1]
        spread = np.rint(np.quantile(self.cells_of(outline.sample), shares))
        fine = self._cell(outline.sample[0]), self._cell(outline.sample[-1])
        step = max(1.0, round(self.scale / 2 / self.width))
        evenly = np.arange(fine[0], fine[1], step) if (fine[1] - fine[0]) / step <= 160 else np.zeros(0)
        wanted |= set(spread.tolist()) | set(evenly.tolist())
        cuts = np.array(sorted(cut for cut in wanted if first < cut <= last))
        return seen_enough(cuts, self.cells_of(outline.sample), rows, {self._cell(t) for t in thresholds})

    def _points(self, thresholds: Sequence[float]) -> Floats:
        low, high = self.ends
        step = self._column.secret_step
        if self.is_lattice and step is not None:
            width = float(step)
            first = math.ceil((low - self.origin) / width - 1e-9)
            return np.asarray(
                self.origin + width * np.arange(first, math.floor((high - self.origin) / width + 1e-9) + 1),
                dtype=np.float64,
            )
        # Between two points the law is that of the nearer ones, mixed: off by gap^2 / 8 of its second derivative,
        # which is below exp(-distance to the next cut) / 2 in units of the scale.
        edges = np.unique((self.cuts - 0.5) * self.width + self.origin)
        offsets = [0.0]
        while offsets[-1] < _FAR:
            offsets.append(offsets[-1] + max(0.02, 4 * math.sqrt(self.tolerance)) * math.exp(offsets[-1] / 2))
        around = np.array(offsets) * self.scale
        found = np.unique(np.concatenate([(edges[:, None] + around).ravel(), (edges[:, None] - around).ravel()]))
        found = found[(found > low) & (found < high)]
        gap = max(0.02, 3 * math.sqrt(self.tolerance)) * self.scale
        chosen = [low]
        for point in found.tolist():
            if point - chosen[-1] >= gap:
                chosen.append(point)
        chosen += self._within_wide(edges, low, high)
        exact = [value for value in thresholds if low <= value <= high]
        beside = [value + side * gap / 8 for value in exact for side in (-1, 1) if low < value + side * gap / 8 < high]
        return np.unique(np.concatenate([chosen, [high], exact, beside]))

    def _within_wide(self, edges: Floats, low: float, high: float) -> list[float]:
        """Released numbers inside wide groups, as in long tails: there the counts do not tell where secrets lie."""
        bounds = [low, *edges[(edges > low) & (edges < high)].tolist(), high]
        found: list[float] = []
        for first, last in itertools.pairwise(bounds):
            room = _FAR * self.scale
            if last - first > 2 * room:
                inner = self.sample[(self.sample > first + room) & (self.sample < last - room)]
                found += np.quantile(inner, np.linspace(0, 1, 9)).tolist() if len(inner) else []
        return found

    @cached_property
    def released_means(self) -> Floats:
        """The average of the released numbers of each group of outputs; not a number where none was seen."""
        groups, size = np.searchsorted(self.cuts, self.cells_of(self.sample), side="right"), len(self.cuts) + 1
        with np.errstate(invalid="ignore"):
            return np.bincount(groups, self.sample, size) / np.bincount(groups, minlength=size)

    @cached_property
    def middles(self) -> Floats | None:
        """The law halfway between each two points; None where no secret lies there."""
        return (
            None
            if self.is_lattice
            else self._known(self._between((self.points[1:] + self.points[:-1]) / 2 - self.origin))
        )

    def _known(self, inner: Floats) -> Floats:
        """The law of secrets that are not missing, whose outputs may be."""
        if self._column.missing == "refuse":
            return inner
        false = self.noise.null_shares[0] if self._column.missing == "secret" else 0.0
        return np.hstack([(1 - false) * inner, np.full((len(inner), 1), false)])

    def _law(self) -> Floats:
        inner = self._between(self.points - self.origin)
        missing = self._column.missing
        if missing == "refuse":
            return inner
        true = self.noise.null_shares[1] if missing == "secret" else 1.0
        absent = np.zeros(inner.shape[1])
        if missing == "secret":
            low, high = self.noise.bounds
            absent = self._between(np.array([float(low + high) / 2]))[0]
        return np.vstack([self._known(inner), np.append((1 - true) * absent, true)])

    def _between(self, places: Floats) -> Floats:
        below = self.noise.cells_below(places, self.cuts)
        law = np.diff(np.hstack([np.zeros((len(places), 1)), below, np.ones((len(places), 1))]), axis=1)
        return np.where(law < _NEVER, 0.0, law)

    # Reading

    def _cell(self, value: float) -> float:
        return float(np.rint((value - self.origin) / self.width))

    def cells_of(self, values: Floats) -> Floats:
        """The cell of the grid that each number lies in."""
        return np.asarray(np.rint((values - self.origin) / self.width))

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Floats, Booleans]:
        """The released numbers and which are missing, refused where no release can have such a value."""
        values, absent = self._column.measured(arrays[0])
        check_values(self, values, absent)
        return values, absent

    def codes(self, arrays: Sequence[pa.Array]) -> Places:
        """Between which cuts each released value lies; a missing one comes last."""
        return self.codes_of(*self.values(arrays))

    def codes_of(self, values: Floats, absent: Booleans) -> Places:
        """The same for numbers that were read before."""
        codes = np.searchsorted(self.cuts, self.cells_of(values), side="right").astype(np.int64)
        codes[absent] = len(self.cuts) + 1
        return codes

    def _start(self) -> Floats:
        """Evenly over the line, though points lie more closely in some places; in wide groups as released."""
        if len(self.points) < 2:
            return super()._start()
        gaps = np.gradient(self.points)
        start = np.full(len(self.matrix), gaps.mean())
        start[: len(self.points)] = gaps
        edges = (self.cuts - 0.5) * self.width + self.origin
        groups = np.searchsorted(edges, self.points, side="right")
        middles = (self.points[1:] + self.points[:-1]) / 2
        near = np.bincount(np.searchsorted(middles, self.sample), minlength=len(self.points)) + 1e-3
        for group in np.unique(groups):
            inside = np.flatnonzero(groups == group)
            if self.points[inside[-1]] - self.points[inside[0]] > _WIDE * self.scale:
                start[inside] = start[inside].sum() * near[inside] / near[inside].sum()
        return start

    def label(self, value: float) -> Any:
        """A number of the metric's unit as people write it: a day for days."""
        if self._column.is_moment and self.is_lattice:
            return _EPOCH + dt.timedelta(days=round(value))
        return int(value) if float(value).is_integer() and self.is_lattice else value


_FAR, _WIDE = 12.0, 4.0
"""So many scales from a cut the law hardly changes; groups that are so many wide tell little of what is in them."""

_AROUND = (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 13)


def as_number(value: Any) -> float:
    """A value of a question as a number of the metric's unit; a day as its number."""
    if isinstance(value, dt.date):
        return float((value - _EPOCH).days)
    return float(Fraction(value))
