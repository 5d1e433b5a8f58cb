"""Maps from files: places with weights from GeoJSON, GeoParquet or a GeoDataFrame, joined to cells where asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from metricdp.adversaries import Prior, as_prior
from metricdp.errors import ArgumentError, DataError, NotFiniteError, OutOfDomainError
from metricdp.exact.arrays import Floats
from metricdp.exact.results import Result, number_json
from metricdp.integrations.geopandas import coordinates, geometry_of, on_globe
from metricdp.integrations.in_place import required
from metricdp.metrics import Metric, Space, euclidean, great_circle
from metricdp.metrics.sphere import EARTH_RADIUS

__all__ = ["PlacesMap", "read_map"]

_DIGITS = 7
"""Of the degrees of a cell's centre: a centimetre."""

_PARQUET = (".parquet", ".geoparquet", ".pq")

Place = tuple[float, float]


@dataclass(frozen=True, eq=False)
class PlacesMap(Result):
    """Places and how much each weighs; see `read_map`.

    Attributes:
        points: all different: (latitude, longitude) on the globe, (x, y) in metres on a plane.
        weights: one for each, exact.
        metric: the metres between two of them.
        rows: how many rows were read; those of one place, or of one cell, are joined.
        cells: what they were joined to, in words; empty where they are as they were.
    """

    points: tuple[Place, ...]
    weights: tuple[Fraction, ...]
    metric: Metric
    rows: int
    cells: str = ""

    def space(self, metres: int | float | Fraction, factor: int | float | Fraction = 2) -> Space:
        """The places with the metric for which those so many metres apart have likelihoods within a factor."""
        return Space(self.points, self.metric.within(metres, factor=factor))

    @cached_property
    def prior(self) -> Prior:
        """The weights, divided by their sum."""
        total = sum(self.weights)
        return as_prior([weight / total for weight in self.weights], self.points)

    def likeliest(self, count: int) -> list[Place]:
        """The places of most weight, such as to be the only outputs; in the order of the map."""
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= len(self.points):
            raise ArgumentError(f"between 1 and {len(self.points):,} places can be the likeliest, not {count!r}")
        order = sorted(range(len(self.points)), key=lambda place: (-self.weights[place], place))[:count]
        return [self.points[place] for place in sorted(order)]

    def to_json(self) -> dict[str, Any]:
        """The places and their weights as plain values."""
        return {
            "points": [list(point) for point in self.points],
            "weights": [number_json(weight) for weight in self.weights],
            "metric": str(self.metric),
            "rows": self.rows,
            "cells": self.cells,
        }

    def __str__(self) -> str:
        joined = f" in {self.cells}" if self.cells else ""
        return f"{len(self.points):,} places of {self.rows:,} rows{joined}, distances {self.metric}"


def read_map(source: Any, *, weights: str | None = None, cells: int | float | str | None = None) -> PlacesMap:
    """The places of a map, each once, with their weights: for `optimal` and `trade_off`.

    A prior is public: take weights from visits that may be known, or that were released.

    Args:
        source: a file of GeoJSON (or whatever GeoPandas reads) or of GeoParquet, or a GeoDataFrame, with points in
            degrees of WGS 84 or in metres of a plane.
        weights: the column that says how much a row counts, such as its visits; without it each row counts one.
        cells: what to join places to: a number for squares of so many metres, or "h3:9" for the hexagons of H3 at that
            resolution. A cell stands for all places in it: its centre is the point, and the metric holds between
            centres.

    Raises:
        ArgumentError: no such file, column or cells, or coordinates that are neither degrees nor metres.
        DataError: a row without a place or without a weight; it names the row.
        MissingExtraError: geopandas is not installed, or h3 where it is asked for.

    >>> import geopandas
    >>> places = geopandas.GeoSeries.from_xy([0, 40, 900], [0, 30, 0], crs=3857)
    >>> town = read_map(geopandas.GeoDataFrame({"visits": [3, 1, 4]}, geometry=places), weights="visits", cells=100)
    >>> town.points, [str(weight) for weight in town.weights]
    (((50.0, 50.0), (950.0, 50.0)), ['4', '4'])
    >>> print(town.space(500).metric)
    ln 2/500·d₂
    """
    frame = _frame(source)
    points = geometry_of(frame)
    globe, found = on_globe(points), coordinates(points)
    if not len(found):
        raise ArgumentError("the map has no rows")
    bad = ~np.isfinite(found).all(axis=1)
    if bad.any():
        raise NotFiniteError("NaN or infinity where a coordinate belongs", int(bad.argmax()))
    beyond = np.abs(found[:, 1]) > 90 if globe else np.zeros(len(found), dtype=bool)
    if beyond.any():
        raise OutOfDomainError("a latitude lies between -90 and 90 degrees", int(beyond.argmax()))
    place_of, words = _cells(cells, globe)
    places = place_of(found[:, ::-1] if globe else found)
    joined: dict[Place, Fraction] = {}
    for place, weight in zip(places, _weights(frame, weights), strict=True):
        joined[place] = joined.get(place, Fraction(0)) + weight
    if not any(joined.values()):
        raise ArgumentError("all weights are 0; a map has a place that counts")
    metric: Metric = great_circle() if globe else euclidean()
    return PlacesMap(tuple(joined), tuple(joined.values()), metric, len(found), words)


def _frame(source: Any) -> Any:
    geopandas = required("geopandas", "geopandas", "geopandas")
    if isinstance(source, geopandas.GeoDataFrame):
        return source
    if isinstance(source, geopandas.GeoSeries):
        return geopandas.GeoDataFrame(geometry=source)
    if not isinstance(source, (str, Path)):
        raise ArgumentError(f"a map is a file or a GeoDataFrame, not {type(source).__name__}")
    path = Path(source)
    if not path.is_file():
        raise ArgumentError(f"there is no file {str(path)!r}")
    try:
        if path.suffix.lower() in _PARQUET:
            return geopandas.read_parquet(path)
        return geopandas.read_file(path)
    except Exception as error:  # whatever a driver raises: it is the file that cannot be read
        raise ArgumentError(f"the file {path.name!r} cannot be read as a map ({type(error).__name__})") from None


def _weights(frame: Any, column: str | None) -> list[Fraction]:
    if column is None:
        return [Fraction(1)] * len(frame)
    if column not in frame.columns or column == frame.geometry.name:
        raise ArgumentError(f"the map has no column {column!r} of weights")
    read: list[Fraction] = []
    for row, value in enumerate(frame[column].tolist()):
        try:
            weight = Fraction(value) if not isinstance(value, (bool, str)) else None
        except (TypeError, ValueError, OverflowError):
            weight = None
        if weight is None or weight < 0:
            raise DataError("a weight is a number from 0 on", row)
        read.append(weight)
    return read


def _cells(cells: Any, globe: bool) -> tuple[Callable[[Floats], list[Place]], str]:
    """What makes the place of a row from its coordinates, and how that is called."""
    if cells is None:
        return _as_they_are, ""
    if isinstance(cells, str) and cells.startswith("h3:"):
        return _hexagons(cells[3:], globe), f"H3 cells of resolution {cells[3:]}"
    side = cells if isinstance(cells, (int, float)) and not isinstance(cells, bool) else math.nan
    if not (side > 0 and math.isfinite(side)):
        raise ArgumentError(f'cells are a number of metres or "h3:" and a resolution, not {cells!r}')
    words = f"squares of {side:g} m"
    return (lambda found: _globe_squares(found, float(side)) if globe else _squares(found, float(side))), words


def _as_they_are(found: Floats) -> list[Place]:
    return [(x, y) for x, y in (found + 0.0).tolist()]


def _squares(found: Floats, side: float) -> list[Place]:
    return _as_they_are((np.floor(found / side) + 0.5) * side)


def _globe_squares(found: Floats, side: float) -> list[Place]:
    """Rows of one height, cut into cells that are as wide in the middle of the row."""
    degrees = math.degrees(side / float(EARTH_RADIUS))
    latitudes = np.clip((np.floor(found[:, 0] / degrees) + 0.5) * degrees, -90, 90)
    parts = np.maximum(np.floor(360 * np.cos(np.radians(latitudes)) / degrees), 1)
    turned = np.mod(found[:, 1], 360)
    longitudes = (np.minimum(np.floor(turned * parts / 360), parts - 1) + 0.5) * 360 / parts
    longitudes = np.where(longitudes >= 180, longitudes - 360, longitudes)
    return _as_they_are(np.round(np.stack([latitudes, longitudes], axis=1), _DIGITS))


def _hexagons(resolution: str, globe: bool) -> Callable[[Floats], list[Place]]:
    if not globe:
        raise ArgumentError("H3 cells are on the globe: to_crs(4326) turns points into degrees")
    if resolution not in {str(number) for number in range(16)}:
        raise ArgumentError(f'a resolution of H3 is a number from 0 to 15, such as "h3:9", not {resolution!r}')
    h3 = required("h3", "h3", "geopandas")

    def placed(found: Floats) -> list[Place]:
        names = [h3.latlng_to_cell(latitude, longitude, int(resolution)) for latitude, longitude in found.tolist()]
        centres = {name: h3.cell_to_latlng(name) for name in set(names)}
        return _as_they_are(np.round(np.array([centres[name] for name in names]), _DIGITS))

    return placed
