"""Maps without tiles: coastlines and borders that come with the package, and lines of the user's own."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import FileError
from metricdp.exact.arrays import Floats
from metricdp.mechanisms.picture import short_number
from metricdp.metrics import EARTH_RADIUS
from metricdp.studio.drawing import FAINT, svg, words

__all__ = ["MapLines", "MapView", "around", "coastlines", "map_of", "read_lines"]

_METRES = math.radians(1) * float(EARTH_RADIUS)
_LEAST_STEP = 1.5  # in the picture: points are drawn at multiples of it
_MOST_POINTS = 200_000


@dataclass(frozen=True)
class MapView:
    """A window on the globe: flat, true to size at its centre.

    Attributes:
        latitude: of the centre.
        longitude: of the centre.
        metres: how wide it is.
        width: of the picture.
        height: of the picture.

    >>> view = MapView(48.0, 2.0, 10_000)
    >>> view.at(48.0, 2.0), view.place(0.5, 0.5)
    ((320.0, 210.0), (48.0, 2.0))
    """

    latitude: float
    longitude: float
    metres: float
    width: float = 640
    height: float = 420

    @property
    def scale(self) -> float:
        """Units of the picture for each metre."""
        return self.width / self.metres

    def at(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Where a place is in the picture."""
        x, y = self.many(np.array([[longitude, latitude]]))[0].tolist()
        return x, y

    def many(self, places: Floats) -> Floats:
        """Where many places are, given as longitudes and latitudes."""
        east = (places[:, 0] - self.longitude + 180) % 360 - 180
        x = self.width / 2 + east * self._narrow * _METRES * self.scale
        y = self.height / 2 - (places[:, 1] - self.latitude) * _METRES * self.scale
        return np.column_stack([x, y])

    def place(self, across: float, down: float) -> tuple[float, float]:
        """The latitude and longitude at a share of the picture's width and height."""
        latitude = self.latitude + (0.5 - down) * self.height / self.scale / _METRES
        longitude = self.longitude + (across - 0.5) * self.width / self.scale / _METRES / self._narrow
        return max(-90.0, min(90.0, latitude)), (longitude + 180) % 360 - 180

    def shows(self, latitude: float, longitude: float) -> bool:
        """Whether a place is to be seen."""
        x, y = self.at(latitude, longitude)
        return 0 <= x <= self.width and 0 <= y <= self.height

    @property
    def degree(self) -> float:
        """Units of the picture for each degree of longitude."""
        return self._narrow * _METRES * self.scale

    @property
    def _narrow(self) -> float:
        return max(0.05, math.cos(math.radians(self.latitude)))


@dataclass(frozen=True, eq=False)
class MapLines:
    """Many lines of longitudes and latitudes, one after the other.

    Attributes:
        points: of all lines.
        first: for each point, whether a line begins there.
    """

    points: Floats
    first: NDArray[np.bool_]

    @classmethod
    def of(cls, lines: Sequence[Floats]) -> MapLines:
        """All of these lines."""
        first = np.zeros(sum(map(len, lines)), dtype=bool)
        first[np.cumsum([0, *map(len, lines[:-1])])] = True
        return cls(np.concatenate(lines), first)

    def path(self, view: MapView) -> str:
        """What is to be seen of them, as a path of SVG: pieces that are too short to be seen are left out."""
        drawn = np.round(view.many(self.points) / _LEAST_STEP)
        start, end = drawn[:-1], drawn[1:]
        low, high = np.minimum(start, end), np.maximum(start, end)
        corner = np.array([view.width, view.height]) / _LEAST_STEP
        seen = ~self.first[1:] & (high >= 0).all(axis=1) & (low <= corner).all(axis=1) & (start != end).any(axis=1)
        seen &= np.abs(np.diff(self.points[:, 0])) < 180  # no line around the globe
        seen &= high[:, 0] - low[:, 0] < 180 * view.degree / _LEAST_STEP  # nor one from edge to edge of the map
        parts, last = [], -2
        for place in np.flatnonzero(seen).tolist():
            if last != place - 1:
                parts.append(f"M{start[place, 0] * _LEAST_STEP:g} {start[place, 1] * _LEAST_STEP:g}")
            parts.append(f"L{end[place, 0] * _LEAST_STEP:g} {end[place, 1] * _LEAST_STEP:g}")
            last = place
        return "".join(parts)


@functools.cache
def coastlines() -> dict[str, MapLines]:
    """Coasts and borders."""
    file = Path(__file__).parent / "data" / "coastlines.json"
    tree = json.loads(file.read_text(encoding="utf-8"))
    return {
        kind: MapLines.of(
            [np.cumsum(np.array(flat, dtype=float).reshape(-1, 2), axis=0) / tree["scale"] for flat in tree[kind]]
        )
        for kind in ("coasts", "borders")
    }


@functools.lru_cache(maxsize=32)
def map_of(view: MapView, more: MapLines | None = None) -> str:
    """The coasts, borders and other lines in a view, with a bar that says how long something is."""
    parts = [f'<rect width="{view.width:g}" height="{view.height:g}" fill="currentColor" fill-opacity=".03"/>']
    looks = {"coasts": (FAINT, 1.2, ""), "borders": (FAINT, 0.7, "4 3"), "own": ("currentColor", 1.2, "")}
    for kind, lines in (coastlines() | ({} if more is None else {"own": more})).items():
        colour, wide, dashes = looks[kind]
        parts.append(
            f'<path d="{lines.path(view)}" fill="none" style="stroke: {colour}" stroke-width="{wide}" '
            f'stroke-dasharray="{dashes}"/>'
        )
    length = _round(view.metres / 4)
    across, y = length * view.scale, view.height - 12
    parts.append(f'<path d="M12 {y - 4:g}v4h{across:.1f}v-4" fill="none" stroke="currentColor" stroke-width="1.5"/>')
    said = f"{short_number(length / 1000)} km" if length >= 1000 else f"{short_number(length)} m"
    parts.append(words(said, 12 + across / 2, y - 6))
    return svg(view.width, view.height, f"A map; its bar is {said} long", parts)


def around(places: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], float]:
    """Where the centre of a map of some places is, and how many metres wide it has to be.

    >>> around([(0.0, 179.0), (0.0, -179.0)])[0]
    (0.0, -180.0)
    """
    if not places:
        return (0.0, 0.0), 360 * _METRES
    first = places[0][1]
    east = [(longitude - first + 180) % 360 - 180 for _, longitude in places]  # the shorter way around
    low, high = (min(one[0] for one in places), max(one[0] for one in places))
    middle = (low + high) / 2, (first + (min(east) + max(east)) / 2 + 180) % 360 - 180
    view = MapView(*middle, 1.0)
    wide = max((max(east) - min(east)) * view.degree, (high - low) * _METRES * view.scale * view.width / view.height)
    return middle, max(1.3 * wide / view.scale, 1000.0)


def _round(length: float) -> float:
    power = 10.0 ** math.floor(math.log10(length))
    return power * max(times for times in (1, 2, 5) if times * power <= length)


def read_lines(text: str) -> MapLines:
    """The lines and edges of a GeoJSON text.

    Raises:
        FileError: it is none, or has too many points.

    >>> read_lines('{"type": "LineString", "coordinates": [[2, 48], [3, 49]]}').points.tolist()
    [[2.0, 48.0], [3.0, 49.0]]
    """
    try:
        found = [np.array(line, dtype=float)[:, :2] for line in _lines(json.loads(text))]
        whole = all(line.ndim == 2 and line.shape[1] == 2 and np.isfinite(line).all() for line in found)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        found, whole = [], False
    if not found or not whole:
        raise FileError("that is no GeoJSON with lines or areas in it")
    if sum(map(len, found)) > _MOST_POINTS:
        raise FileError(f"it has more than {_MOST_POINTS:,} points: simplify it first")
    return MapLines.of(found)


def _lines(tree: Any) -> Iterator[Sequence[Any]]:
    """Every line of coordinates in a tree of GeoJSON, in which a feature may have no geometry."""
    if tree is None:
        return
    if tree.get("type") == "FeatureCollection":
        for feature in tree["features"]:
            yield from _lines(feature)
    elif tree.get("type") == "Feature":
        yield from _lines(tree["geometry"])
    elif tree.get("type") == "GeometryCollection":
        for geometry in tree["geometries"]:
            yield from _lines(geometry)
    elif tree["type"] not in ("Point", "MultiPoint"):
        yield from _nested(tree["coordinates"])


def _nested(coordinates: Sequence[Any]) -> Iterable[Sequence[Any]]:
    if not coordinates or not coordinates[0]:
        return
    if isinstance(coordinates[0][0], int | float):
        yield coordinates
    else:
        for part in coordinates:
            yield from _nested(part)
