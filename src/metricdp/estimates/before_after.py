"""Columns before a release, after it and corrected: as shares of bins, for pictures that are not to be released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.plan import count
from metricdp.estimates.released_table import ReleasedTable
from metricdp.exact.arrays import Floats
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine
from metricdp.policies.types.place import Place

__all__ = ["ColumnPicture", "metres_apart", "pictures_of", "places_of"]

_BINS = 40
_EARTH = 6_371_008.8


@dataclass(frozen=True, eq=False)
class ColumnPicture:
    """One column three times, or a map twice.

    Attributes:
        name: of the column.
        shares: by name, the share of each bin; of maps, a square of bins.
        edges: of the bins of numbers, or of latitudes and longitudes.
        labels: of the bins of categories.
        unit: what numbers are counted in.
    """

    name: str
    shares: dict[str, Floats]
    edges: tuple[Floats, ...] = ()
    labels: tuple[str, ...] = ()
    unit: str = ""

    def figure(self) -> Any:
        """A picture of it.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from metricdp.plots.distributions import distributions

        if len(self.edges) == 2:
            return self._map()
        shares = {name: part.tolist() for name, part in self.shares.items()}
        x = f"{self.name}, {self.unit}" if self.unit else self.name
        if self.labels:
            return distributions(shares, labels=self.labels, x=x)
        return distributions(shares, self.edges[0].tolist(), x=x)

    def _map(self) -> Any:
        from metricdp.plots.canvas import dress, require_matplotlib

        figure = require_matplotlib()(figsize=(3.2 * len(self.shares), 3.0), layout="constrained")
        most = max(float(part.max()) for part in self.shares.values())
        for place, (name, part) in enumerate(self.shares.items()):
            axes = figure.add_subplot(1, len(self.shares), place + 1)
            axes.pcolormesh(self.edges[1], self.edges[0], np.sqrt(part), vmin=0, vmax=most**0.5, cmap="Blues")
            dress(axes, "longitude", "latitude" if place == 0 else "", f"{self.name}: {name}")
        return figure


def pictures_of(
    table: ReleasedTable, columns: Sequence[ColumnType], before: pa.Table, after: pa.Table
) -> tuple[ColumnPicture, ...]:
    """A picture of every column with noise that has bins."""
    made = []
    for column in columns:
        if column.release != "noise":
            continue
        if isinstance(column, OneOf):
            made.append(_of_categories(table, column, before))
        elif isinstance(column, OnALine):
            found = _of_numbers(table, column, before, after)
            made += [] if found is None else [found]
        elif isinstance(column, Place):
            made.append(_of_places(column, before, after))
    return tuple(made)


def _of_categories(table: ReleasedTable, column: OneOf, before: pa.Table) -> ColumnPicture:
    name = column.columns[0]
    law: ListedLaw = count(table, [name]).laws[name]
    places = column.released_places(before[name].combine_chunks())
    shares = {
        "secret": np.bincount(places, minlength=len(law.labels)) / len(places),
        "released": law.counts / law.rows,
        "corrected": law.corrected,
    }
    return ColumnPicture(name, shares, labels=tuple("missing" if one is None else str(one) for one in law.labels))


def _of_numbers(table: ReleasedTable, column: OnALine, before: pa.Table, after: pa.Table) -> ColumnPicture | None:
    name = column.columns[0]
    known = []
    for source in (before, after):
        values, absent = column.measured(source[name].combine_chunks())
        known.append(values[~absent])
    if not all(len(part) for part in known):
        return None
    law: LineLaw = count(table, [name]).laws[name]
    low, high = np.percentile(np.concatenate(known), [0.5, 99.5])
    step = max(float(law.width if not law.is_lattice else column.secret_step or law.width), (high - low) / _BINS)
    if law.is_lattice and column.secret_step is not None:  # bins of whole steps, or they would beat against each other
        step = float(column.secret_step) * max(1, round(step / float(column.secret_step)))
    edges = np.arange(low - step / 2, high + step, step)
    inside = [np.histogram(np.clip(part, edges[0], edges[-1]), edges)[0] / len(part) for part in known]
    shares = law.fitted.shares[: len(law.points)]
    spread = np.interp(edges, _middles(law.points), np.concatenate([[0.0], np.cumsum(shares)]))
    spread[0], spread[-1] = 0.0, shares.sum()
    corrected = np.diff(spread) / max(float(shares.sum()), 1e-12)
    parts = {"secret": inside[0], "released": inside[1], "corrected": corrected}
    return ColumnPicture(name, parts, (edges,), unit=column.measure.unit)


def _middles(points: Floats) -> Floats:
    """The borders between points, and beyond the outermost."""
    if len(points) < 2:
        return np.array([points[0] - 0.5, points[0] + 0.5])
    inner = (points[1:] + points[:-1]) / 2
    return np.concatenate([[2 * points[0] - inner[0]], inner, [2 * points[-1] - inner[-1]]])


def _of_places(column: Place, before: pa.Table, after: pa.Table) -> ColumnPicture:
    known = [places_of(column, table) for table in (before, after)]
    known = [part[np.isfinite(part).all(axis=1)] for part in known]
    low, high = np.percentile(np.concatenate(known), [0.5, 99.5], axis=0)
    edges = tuple(np.linspace(low[side], high[side] + 1e-9, _BINS + 1) for side in (0, 1))
    names = ("secret", "released")
    shares = {
        name: np.histogram2d(part[:, 0], part[:, 1], edges)[0] / max(1, len(part))
        for name, part in zip(names, known, strict=True)
    }
    return ColumnPicture(column.name, shares, edges)


def places_of(column: Place, table: pa.Table) -> Floats:
    """Latitudes and longitudes; not a number where one is missing."""
    parts = [table[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in column.columns]
    return np.stack(parts, axis=1)


def metres_apart(one: Floats, two: Floats) -> Floats:
    """How far apart places are on the globe, row by row, in metres; rows with a missing place are left out.

    >>> metres_apart(np.array([[0.0, 0.0]]), np.array([[0.0, 180.0]])).round().tolist()
    [20015114.0]
    """
    known = np.isfinite(one).all(axis=1) & np.isfinite(two).all(axis=1)
    first, second = np.radians(one[known]), np.radians(two[known])
    half = np.sin((second - first) / 2) ** 2
    arc = half[:, 0] + np.cos(first[:, 0]) * np.cos(second[:, 0]) * half[:, 1]
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(arc, 0, 1))))
