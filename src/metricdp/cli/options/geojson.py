"""Points in a GeoJSON file as a table: latitude, longitude, and what else each feature says of itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError

__all__ = ["ENDINGS", "geojson_cells"]

ENDINGS = (".geojson", ".json")
_COORDINATES = ("lat", "latitude", "lon", "lng", "long", "longitude", "x", "y", "z", "row", "column", "value")
"""Names of properties that are left out: a feature's place is its geometry."""


def geojson_cells(path: Path) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The names of the columns, the cells as text, and what to call each row; numbers keep all their digits.

    Raises:
        ArgumentError: it is no GeoJSON of points; names the feature.
    """
    try:
        tree = json.loads(path.read_text(encoding="utf-8-sig"), parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"it cannot be read as GeoJSON: {error}") from None
    features = [tree] if isinstance(tree, dict) and tree.get("type") == "Feature" else _listed(tree)
    rows: list[dict[str, str]] = []
    for number, feature in enumerate(features, 1):
        longitude, latitude = _place(feature, number)
        own = feature.get("properties")
        told = own.items() if isinstance(own, dict) else ()
        known = {name: _text(value) for name, value in told if name.strip() and name.lower() not in _COORDINATES}
        rows.append({"lat": latitude, "lon": longitude} | {name: text for name, text in known.items() if text})
    header = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(row.get(name, "") for name in header) for row in rows)
    return header, cells, tuple(f"feature {number}" for number in range(1, len(rows) + 1))


def _listed(tree: Any) -> Sequence[Any]:
    features = tree.get("features") if isinstance(tree, dict) and tree.get("type") == "FeatureCollection" else None
    if not isinstance(features, list):
        raise ArgumentError("it is no GeoJSON of points: a FeatureCollection is wanted")
    if not features:
        raise ArgumentError("its FeatureCollection is empty: each feature is a point")
    return features


def _place(feature: Any, number: int) -> tuple[str, str]:
    """Longitude and latitude as they are written."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    if not isinstance(geometry, dict) or geometry.get("type") != "Point":
        kind = geometry.get("type") if isinstance(geometry, dict) else "nothing"
        raise ArgumentError(f"feature {number}: a geometry of type Point is wanted, not {kind}")
    numbers = geometry.get("coordinates")
    if not isinstance(numbers, list) or len(numbers) < 2 or not all(isinstance(one, str) for one in numbers):
        raise ArgumentError(f"feature {number}: the coordinates of a Point are its longitude and latitude, two numbers")
    return numbers[0], numbers[1]


def _text(value: Any) -> str:
    """A property as a cell; empty for what is no text and no number."""
    return value.strip() if isinstance(value, str) else ""
