"""Questions about places: a heat map by cells, and flows between regions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, ColumnError, TooLargeError
from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.linear import LinearEstimator
from metricdp.estimates.monomials import Monomial
from metricdp.estimates.naive import NaiveRows
from metricdp.estimates.place_cells import ReleasedPlaces
from metricdp.estimates.place_laws import Box, PlaceLaw, checked_boxes
from metricdp.estimates.plan import Counted
from metricdp.estimates.region_scores import MapScores, ProductSums
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import AS_GOOD, TWO_SCORES, Estimate, Estimates, Truth, as_good
from metricdp.estimates.tally import TallyBuilder
from metricdp.exact.arrays import Booleans
from metricdp.policies.types.place import Place

__all__ = ["Flows", "HeatMap"]

_MOST_REGIONS = 64
_MARGIN = 0.02
_SAMPLE = 100_000
_ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class HeatMap:
    """How many rows lie in each cell of a map, of a column of places.

    Attributes:
        column: of places.
        rows: how many cells from north to south.
        columns: how many from west to east.
        bounds: south, west, north and east of the map, in degrees; None for where nearly all released places lie.

    >>> HeatMap("home", 2, 2, (48.8, 2.2, 48.9, 2.4)).text
    'heat map of home, 2 by 2 cells'
    """

    column: str
    rows: int = 4
    columns: int = 4
    bounds: Box | None = None

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1:
            raise ArgumentError(f"a map has a cell at least, not {self.rows} by {self.columns}")
        _refuse_many(self.rows * self.columns)

    @property
    def text(self) -> str:
        """In words."""
        return f"heat map of {self.column}, {self.rows} by {self.columns} cells"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        column = _places(table, self.column)
        bounds = self.bounds or _seen_bounds(table, column)
        south, west, north, east = checked_boxes({"the map": bounds})["the map"]
        across, down = np.linspace(west, east, self.columns + 1), np.linspace(south, north, self.rows + 1)
        labels, boxes = [], {}
        for row, place in itertools.product(reversed(range(self.rows)), range(self.columns)):
            corner = down[row], across[place], down[row + 1], across[place + 1]
            labels.append((_span(corner[0], corner[2]), _span(corner[1], corner[3])))
            boxes[f"{row}, {place}"] = corner
        asking = _Asking(table, [column], boxes, confidence, truth)
        found = [asking.count((name,)) for name in (*boxes, _ELSEWHERE)]
        return asking.estimates(self.text, ("latitude", "longitude"), [*labels, (_ELSEWHERE, "")], found)


@dataclass(frozen=True)
class Flows:
    """How many rows go from each region to each, of two columns of places.

    Attributes:
        origin: the column of places where rows begin.
        destination: the column where they end.
        regions: by name: south, west, north and east, in degrees. What lies in none is "elsewhere".

    >>> Flows("home", "work", {"centre": (48.8, 2.3, 48.9, 2.4)}).text
    'flows from home to work between 1 regions'
    """

    origin: str
    destination: str
    regions: Mapping[str, Box]

    def __post_init__(self) -> None:
        checked_boxes(self.regions)
        _refuse_many(len(self.regions))
        if _ELSEWHERE in self.regions:
            raise ArgumentError(f"a region is not called {_ELSEWHERE!r}: that is what lies in none")

    @property
    def text(self) -> str:
        """In words."""
        return f"flows from {self.origin} to {self.destination} between {len(self.regions)} regions"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        columns = [_places(table, self.origin), _places(table, self.destination)]
        if columns[0].name == columns[1].name:
            raise ArgumentError("flows go between two different columns")
        asking = _Asking(table, columns, checked_boxes(self.regions), confidence, truth)
        pairs = list(itertools.product((*self.regions, _ELSEWHERE), repeat=2))
        found = [asking.count(pair) for pair in pairs]
        return asking.estimates(self.text, (self.origin, self.destination), pairs, found)


class _Asking:
    """Counts of places by regions, of one table."""

    def __init__(
        self, table: ReleasedTable, columns: Sequence[Place], boxes: Mapping[str, Box], confidence: float, truth: Truth
    ) -> None:
        self.table, self.boxes, self.confidence, self.truth = table, boxes, confidence, truth
        self.laws = [PlaceLaw(column, boxes) for column in columns]
        self.counted = Counted(table, {law.name: law for law in self.laws})
        builder, first = TallyBuilder(len(columns), 0), 0
        for arrays in table.batches(columns):
            try:
                codes = [law.codes(given) for law, given in zip(self.laws, arrays, strict=True)]
            except ColumnError as error:
                raise error.shifted(first) from None
            builder.add(codes)
            first += len(codes[0])
        if not first:
            raise ArgumentError("the released table has no rows, and so says nothing")
        self.counted.fill(builder.made())
        self.linear = LinearEstimator(self.counted, confidence, truth)
        self.linear.check_fit()
        self._ends = self._bounded(columns)
        self._functions = [{name: law.inside(box) for name, box in boxes.items()} for law in self.laws]
        for law, functions in zip(self.laws, self._functions, strict=True):
            functions[_ELSEWHERE] = law.elsewhere()

    def count(self, names: Sequence[str]) -> Estimate:
        """How many rows lie in these regions, one for each column."""
        factors: dict[str, SecretFunction] = {}
        looks: dict[str, Booleans] = {}
        seen = np.ones(len(self.counted.tally.counts), dtype=bool)
        for law, functions, name in zip(self.laws, self._functions, names, strict=True):
            factors[law.name] = functions[name]
            looks[law.name] = self._looks_inside(law, name)
            seen &= looks[law.name][self.counted.codes(law.name)]
        value, noise = self.linear.likely(Monomial(factors))
        return self._estimate(value, noise, self._ends[tuple(names)], NaiveRows(self.counted, seen, (looks,)))

    def _bounded(self, columns: Sequence[Place]) -> dict[tuple[str, ...], tuple[float, float]]:
        """The least and the most rows in each region, or from each to each."""
        scores: dict[Any, MapScores] = {}
        for column in columns:
            key = column.mechanism, column.missing
            if key not in scores:
                boxes = tuple(self.boxes.values())
                scores[key] = MapScores.known(column, boxes, self.linear.rows, self.linear.z)
        sums = ProductSums([scores[column.mechanism, column.missing] for column in columns])
        for arrays in self.table.batches(columns):
            sums.add([ReleasedPlaces.of(column, given) for column, given in zip(columns, arrays, strict=True)])
        low, high = sums.ends(self.linear.z, self.truth)
        names = itertools.product((*self.boxes, _ELSEWHERE), repeat=len(columns))
        return dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True))

    def _looks_inside(self, law: PlaceLaw, name: str) -> Booleans:
        if name != _ELSEWHERE:
            return law.outputs_inside(self.boxes[name])
        found = ~np.logical_or.reduce([law.outputs_inside(box) for box in self.boxes.values()])
        if law.missing.any():
            found[-1] = False
        return np.asarray(found)

    def _estimate(self, share: float, reach: float, ends: tuple[float, float], released: NaiveRows) -> Estimate:
        rows, naive = self.linear.rows, released.count(None)
        naive_noise = self.linear.z * released.count_spread(self.truth == "population")
        low, high = (min(max(end, 0.0), rows) for end in ends)
        value, noise = min(max(rows * share, low), high), rows * reach
        notes = []
        if high - low >= 0.5 * rows:
            notes.append("The interval is half of all rows or more: at this level they tell next to nothing about it.")
        elif high - low > 3 * noise:
            scale = max(law.scale for law in self.laws)
            notes.append(
                f"The level hides where places lie to about {2 * scale:,.0f} m. Whether they lie just inside or just "
                "outside a region cannot be told, and that is most of the interval. Ask about larger regions."
            )
        good = as_good(abs(naive - value), noise, self.confidence, naive_noise, (value, rows - value))
        if good:
            notes.append(AS_GOOD)
        method = TWO_SCORES
        said = tuple(notes)
        ends = low, high
        return Estimate(value, ends, naive, self.confidence, noise, method, True, self.truth, said, int(rows), good)

    def estimates(
        self, text: str, names: tuple[str, ...], labels: Sequence[tuple[str, ...]], found: Sequence[Estimate]
    ) -> Estimates:
        """All of them."""
        notes = [*self.table.doubts]
        if not self.table.private:
            notes.append("The table says that its noise came from a seed: it is not private.")
        rows = tuple((one,) for one in found)
        return Estimates(
            text, names, tuple(labels), ("count(*)",), rows, int(self.linear.rows), tuple(notes), self.table.private
        )


def _places(table: ReleasedTable, name: str) -> Place:
    column = table.column(name)
    if not isinstance(column, Place) or column.release != "noise":
        raise ArgumentError(f"column {name!r} is no column of places that is released with noise")
    table.check(column)
    return column


def _seen_bounds(table: ReleasedTable, column: Place) -> Box:
    """Where nearly all released places lie, to a hundredth part."""
    parts: list[Any] = []
    for (arrays,) in table.batches([column]):
        places = ReleasedPlaces.of(column, arrays)
        parts.append(np.stack([places.north, places.east], axis=1)[~places.absent])
        if sum(map(len, parts)) > 2 * _SAMPLE:
            parts = [np.concatenate(parts)[::2]]
    seen = np.concatenate(parts) if parts else np.zeros((0, 2))
    if not len(seen):
        raise ArgumentError("the released table has no rows with a place, and so says nothing")
    seen[:, 1] = _turned(seen[:, 1])
    low, high = np.quantile(seen, _MARGIN, axis=0), np.quantile(seen, 1 - _MARGIN, axis=0)
    mechanism: Any = column.mechanism
    least = 4 / float(mechanism.metric.level) / 111_000
    far = np.maximum(high - low, least)
    middle = (low + high) / 2
    low, high = middle - far / 2, middle + far / 2
    around = 360.0 if low[1] < -180 else 0.0
    return float(low[0]), float(low[1]) + around, float(high[0]), float(high[1]) + around


def _turned(longitudes: Any) -> Any:
    """The same longitudes within half a turn of their middle, so that those beyond the antimeridian stand together."""
    angles = np.radians(longitudes)
    middle = np.degrees(np.arctan2(np.sin(angles).mean(), np.cos(angles).mean()))
    return (longitudes - middle + 180) % 360 - 180 + middle


def _refuse_many(regions: int) -> None:
    if regions > _MOST_REGIONS:
        raise TooLargeError(f"{regions:,} regions are too many at once", f"{_MOST_REGIONS} regions")


def _span(low: float, high: float) -> str:
    return f"{low:.4f} to {high:.4f}"
