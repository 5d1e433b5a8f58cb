"""The law of released places: how probable each part of a map is for each secret place, with noise on the globe."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.laws import ColumnLaw
from metricdp.estimates.place_cells import PlaceCells, ReleasedPlaces
from metricdp.estimates.scores import OutputScore, ScorePath
from metricdp.exact.arrays import Booleans, Floats, Places
from metricdp.policies.types.place import Place

__all__ = ["Box", "PlaceLaw", "checked_boxes"]

Box = tuple[float, float, float, float]
"""South, west, north and east of a region, in degrees."""

_OUTSIDE = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 14.0])
_OUTSIDE_CUTS = (1.0, 2.0, 4.5, 10.0)
_WIDE = (
    (0.0, 0.0, True),
    (0.0, 0.75, True),
    (0.0, 2.0, False),
    (0.5, 0.0, False),
    (1.0, -2.0, False),
    (1.0, -0.75, True),
)
_NARROW = ((0.0, 0.0, True), (0.25, 0.0, False), (0.5, 0.0, True), (0.75, 0.0, False))
_THIN = ((0.0, 0.0, True), (0.5, 0.0, False))
"""Lines between two edges of a region: at a part of it, so many scales further, and whether outputs are cut there."""

_FINE = (0.0, 0.5, 1.0, 1.5, 2.25, 3.5, 5.5, 9.0, 14.0)
_FINE_CUTS, _FINE_OUTSIDE_CUTS = (0.0, 0.5, 1.0), (0.5, 1.0, 2.25, 5.5)
"""Of a law that is wanted finely: lines so many scales from an edge, on either side, and where outputs are cut."""

_FARTHEST_NORTH = 80.0
_LONGEST = 50_000.0
_STEP = 0.025
_FARTHEST = 16.0


def checked_boxes(boxes: Mapping[str, Box]) -> dict[str, Box]:
    """Regions by name, each south of its north and west of its east; refuse others, and those that overlap.

    Raises:
        ArgumentError: they are none, or overlap.

    >>> checked_boxes({"centre": (48.8, 2.3, 48.9, 2.4)})
    {'centre': (48.8, 2.3, 48.9, 2.4)}
    """
    made: dict[str, Box] = {}
    for name, box in boxes.items():
        try:
            south, west, north, east = map(float, box)
        except (TypeError, ValueError):
            raise ArgumentError(f"region {name!r} is (south, west, north, east) in degrees, not {box!r}") from None
        if not (-90 <= south < north <= 90 and -180 <= west < 540 and west < east <= west + 360):
            raise ArgumentError(
                f"region {name!r}: south lies below north, both from -90 to 90, and west before east, from -180 on; "
                f"not {box!r}"
            )
        made[str(name)] = south, west, north, east
    if not made:
        raise ArgumentError("at least one region is wanted")
    listed = list(made.items())
    for place, (name, one) in enumerate(listed):
        for other, two in listed[place + 1 :]:
            if min(one[2], two[2]) > max(one[0], two[0]) and min(one[3], two[3]) > max(one[1], two[1]):
                raise ArgumentError(f"the regions {name!r} and {other!r} overlap")
    return made


class PlacePath(ScorePath):
    """Scores whose bias also covers secrets between the points of the lattice.

    There the expected score is that of the four points around, mixed, but for what it bends in between: that is seen at
    the middles of the sides and of the squares, and is added to the bias of the points around.
    """

    def __init__(self, law: PlaceLaw) -> None:
        super().__init__(law.matrix, law.fitted.shares, law.rows)
        self._place_law = law

    def bent(self, made: OutputScore) -> OutputScore:
        """See `ScorePath.bent`."""
        bends = self._place_law.bends(made.weights)
        return replace(made, excess_low=made.excess_low + bends, excess_high=made.excess_high - bends)


class PlaceLaw(ColumnLaw):
    """Places cut into a lattice of secrets, denser around the regions, and into rectangles of outputs.

    Far from all regions, secrets and outputs are one each. Missing places, which are public, are one each, too.

    Args:
        column: of the policy; released with noise.
        boxes: the regions that are asked about; see `checked_boxes`.
        fine: whether to cut finely, which is for few regions.

    Raises:
        ArgumentError: the level is too strong for such regions, or they lie too near a pole.
    """

    def __init__(self, column: Place, boxes: Mapping[str, Box], fine: bool = False) -> None:
        mechanism: Any = column.mechanism
        self.boxes = dict(boxes)
        self.level = float(mechanism.metric.level)
        self.earth = float(mechanism.metric.unit.radius)
        self.resolution = float(mechanism.resolution)
        self.scale = 1 / self.level
        edges = np.array(list(self.boxes.values()))
        degree = self.earth * math.pi / 180 / self.scale
        middle = math.cos(math.radians((edges[:, 0].min() + edges[:, 2].max()) / 2))
        self.north, self.north_cuts = _lines(np.unique(edges[:, [0, 2]]), degree, fine)
        self.east, self.east_cuts = _lines(np.unique(edges[:, [1, 3]]), degree * middle, fine)
        if max(-self.north[0], self.north[-1]) > _FARTHEST_NORTH or self.scale > _LONGEST or self._is_global():
            raise ArgumentError(
                f"column {column.name!r}: regions with noise of about {2 * self.scale / 1000:.2g} km around them have "
                "to lie within 80 degrees of the equator and half around the globe, and noise within 100 km"
            )
        halved = self._law(_halved(self.north), _halved(self.east))
        sides = 2 * len(self.north) - 1, 2 * len(self.east) - 1
        self._fine = halved.reshape(*sides, -1)
        points, outputs = len(self.north) * len(self.east), halved.shape[1]
        absent = column.missing != "refuse"
        law = np.zeros((points + 1 + absent, outputs + absent))
        law[:points, :outputs] = self._fine[::2, ::2].reshape(points, -1)
        law[points, outputs - 1] = 1.0
        if absent:
            law[-1, -1] = 1.0
        missing = np.zeros(len(law), dtype=bool)
        missing[points + 1 :] = True
        super().__init__(column, law, missing)

    def _is_global(self) -> bool:
        return bool(self.east[-1] - self.east[0] > 180)

    # The law

    def _law(self, north: Floats, east: Floats) -> Floats:
        """The probability of each output for secrets at a lattice.

        Around a secret the globe is taken for a plane, in which a degree of longitude is as long as halfway to the row
        of outputs; that is off by the square of the noise over the Earth's radius.
        """
        cuts, sides = self._rounded(self.north_cuts), self._rounded(self.east_cuts)
        degree = self.earth * math.pi / 180 * self.level
        middles = (cuts[1:] + cuts[:-1]) / 2
        across = sides - east[:, None]
        made = np.zeros((len(north), len(east), len(cuts) - 1, len(sides) - 1))
        for place, latitude in enumerate(north.tolist()):
            wide = degree * np.cos(np.radians((middles + latitude) / 2))
            x = across[:, None, :] * wide[:, None]
            up = degree * (cuts - latitude)
            columns = quadrant(x, up[1:, None]) - quadrant(x, up[:-1, None])
            made[place] = np.diff(columns, axis=2)
        flat = np.maximum(made.reshape(len(north) * len(east), -1), 0.0)
        flat /= np.maximum(flat.sum(axis=1, keepdims=True), 1.0)
        return np.hstack([flat, 1 - flat.sum(axis=1, keepdims=True)])

    def _rounded(self, cuts: Floats) -> Floats:
        """Where noise has to end for its rounding to be at or above each cut."""
        return (np.ceil(cuts / self.resolution - 1e-9) - 0.5) * self.resolution

    def bends(self, weights: Floats) -> Floats:
        """For each secret, how far the expected score around it is from that of the lattice's points, mixed."""
        inner = self._fine @ weights[: self._fine.shape[2]]
        corners = inner[::2, ::2]
        off = np.zeros_like(inner)
        off[1::2, ::2] = np.abs(inner[1::2, ::2] - (corners[1:] + corners[:-1]) / 2)
        off[::2, 1::2] = np.abs(inner[::2, 1::2] - (corners[:, 1:] + corners[:, :-1]) / 2)
        middles = (corners[1:, 1:] + corners[:-1, 1:] + corners[1:, :-1] + corners[:-1, :-1]) / 4
        off[1::2, 1::2] = np.abs(inner[1::2, 1::2] - middles)
        padded = np.pad(off, 1)
        most = np.zeros(corners.shape)
        for down in range(3):
            for right in range(3):
                most = np.maximum(most, padded[down : down + off.shape[0] : 2, right : right + off.shape[1] : 2])
        return np.append(most.ravel(), np.zeros(len(self.matrix) - most.size))

    @cached_property
    def path(self) -> ScorePath:
        """Scores for questions about it."""
        return PlacePath(self)

    # Regions

    def inside(self, box: Box) -> SecretFunction:
        """1 at the secrets of a region; on its border anything from 0 to 1."""
        south, west, north, east = box
        closed, opened = (
            self._at((self.north >= south - room) & (self.north <= north + room), self._within(west, east, room))
            for room in (1e-9, -1e-9)
        )
        return SecretFunction(opened, closed)

    def _within(self, west: float, east: float, room: float) -> Booleans:
        return np.asarray((self.east >= west - room) & (self.east <= east + room))

    def _at(self, rows: Booleans, columns: Booleans) -> Floats:
        made = np.zeros(len(self.matrix))
        made[: rows.size * columns.size] = np.outer(rows, columns).ravel()
        return made

    def elsewhere(self) -> SecretFunction:
        """1 at the secrets that lie in no region."""
        parts = [self.inside(box) for box in self.boxes.values()]
        there = (~self.missing).astype(np.float64)
        low = np.clip(there - sum(part.high for part in parts), 0.0, 1.0)
        inner = sum(part.low for part in parts)
        covered = np.array([self._is_covered(place) for place in range(len(self.north) * len(self.east))], dtype=bool)
        high = np.where(np.append(covered, np.zeros(len(there) - len(covered), dtype=bool)), 0.0, there - inner)
        return SecretFunction(low, np.clip(high, 0.0, 1.0))

    def _is_covered(self, place: int) -> bool:
        """Whether regions lie all around a point, so that nothing near it is elsewhere."""
        north, east = self.north[place // len(self.east)], self.east[place % len(self.east)]
        corners = ((north + up, east + right) for up in (-1e-7, 1e-7) for right in (-1e-7, 1e-7))
        return all(
            any(south < y < top and west < x < right for south, west, top, right in self.boxes.values())
            for y, x in corners
        )

    def outputs_inside(self, box: Box) -> Booleans:
        """Which outputs lie in a region."""
        south, west, north, east = box
        rows = (self.north_cuts[:-1] >= south - 1e-9) & (self.north_cuts[1:] <= north + 1e-9)
        columns = (self.east_cuts[:-1] >= west - 1e-9) & (self.east_cuts[1:] <= east + 1e-9)
        found = np.zeros(self.matrix.shape[1], dtype=bool)
        found[: rows.size * columns.size] = np.outer(rows, columns).ravel()
        return found

    # Reading

    @property
    def cells(self) -> PlaceCells:
        """The rectangles of outputs."""
        return PlaceCells(self.north_cuts, self.east_cuts)

    def codes(self, arrays: Sequence[pa.Array]) -> Places:
        """In which rectangle each released place lies; one that is missing comes last.

        Raises:
            ColumnError: a place that no release has.
        """
        return self.cells.codes(ReleasedPlaces.of(self.column, arrays))


def _lines(edges: Floats, degree: float, fine: bool) -> tuple[Floats, Floats]:
    """The lines of the lattice through regions' edges, and which of them cut the outputs; ``degree`` is in scales."""
    far, far_cuts = (np.array(_FINE[1:]), _FINE_OUTSIDE_CUTS) if fine else (_OUTSIDE, _OUTSIDE_CUTS)
    lines, cuts = [edges[0] - far[::-1] / degree], [edges[0] - np.array(far_cuts)[::-1] / degree]
    for first, last in itertools.pairwise(edges.tolist()):
        wide = (last - first) * degree
        steps = (_finely(wide) if fine else _WIDE) if wide > 5 else _NARROW if wide > 2 else _THIN
        between = first + np.array([wide * part + away for part, away, _ in steps]) / degree
        lines.append(between)
        cuts.append(between[[cut for _, _, cut in steps]])
    beyond = edges[-1] + far / degree, edges[-1] + np.array(far_cuts) / degree
    return np.concatenate([*lines, edges[-1:], beyond[0]]), np.concatenate([*cuts, edges[-1:], beyond[1]])


def _finely(wide: float) -> tuple[tuple[float, float, bool], ...]:
    """The lines between two edges that are so many scales apart, in the form of those of `_WIDE`."""
    near = [(step, step in _FINE_CUTS) for step in _FINE if step < wide / 2 - 0.2]
    after = [(1.0, -step, cut) for step, cut in near[:0:-1]]
    return (*((0.0, step, cut) for step, cut in near), (0.5, 0.0, False), *after)


def _halved(lines: Floats) -> Floats:
    made = np.zeros(2 * len(lines) - 1)
    made[::2], made[1::2] = lines, (lines[1:] + lines[:-1]) / 2
    return made


@cache
def _quadrant_table() -> Floats:
    """For steps x and y, the chance that noise in the plane, of scale 1, lies between 0 and x, and 0 and y."""
    starts = np.arange(round(_FARTHEST / _STEP)) * _STEP
    near, far = (starts + _STEP * (0.5 + side / math.sqrt(12)) for side in (-1, 1))
    cells = sum(np.exp(-np.hypot(one[:, None], two)) for one in (near, far) for two in (near, far))
    table = np.zeros((len(starts) + 1, len(starts) + 1))
    table[1:, 1:] = np.cumsum(np.cumsum(cells * (_STEP**2 / 4 / (2 * math.pi)), axis=0), axis=1)
    table *= 0.25 / table[-1, -1]
    return table


def quadrant(x: Floats, y: Floats) -> Floats:
    """The chance that noise in the plane, of scale 1, lies between 0 and x, and 0 and y; below 0 in odd quadrants.

    It has the density ``exp(-|z|) / (2 pi)``. A rectangle has the chance of its corners, with signs.

    >>> round(float(quadrant(np.array([20.0]), np.array([-20.0]))[0]), 9)
    -0.25
    """
    table = _quadrant_table()
    sign = np.sign(x) * np.sign(y)
    places = [np.minimum(np.abs(part) / _STEP, len(table) - 1 - 1e-9) for part in (x, y)]
    (row, column), (down, right) = ([part.astype(np.int64) for part in places], [part % 1 for part in places])
    upper = table[row, column] * (1 - right) + table[row, column + 1] * right
    lower = table[row + 1, column] * (1 - right) + table[row + 1, column + 1] * right
    return np.asarray(sign * (upper * (1 - down) + lower * down))
