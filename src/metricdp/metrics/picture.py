"""The picture of a space as data: its points, and the pairs whose distances no others imply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.metrics.space import Space

__all__ = ["GraphPicture", "graph_picture"]

_NEAR = 1e-9


@dataclass(frozen=True)
class GraphPicture:
    """Points joined by the distances that imply all others.

    Attributes:
        names: of the points.
        edges: two places in the list of names and the distance between them, as a float.
        places: two coordinates for each point.
        metric: in words.
    """

    plot: ClassVar[str] = "graph"

    names: tuple[str, ...]
    edges: tuple[tuple[int, int, float], ...]
    places: tuple[tuple[float, float], ...]
    metric: str

    def to_json(self) -> dict[str, Any]:
        """The picture as plain values for JSON."""
        return {
            "names": list(self.names),
            "edges": [list(edge) for edge in self.edges],
            "places": [list(place) for place in self.places],
            "metric": self.metric,
        }


def graph_picture(space: Space) -> GraphPicture:
    """See `Space.picture`."""
    distances = np.array(space.distances)
    return GraphPicture(
        tuple(visible(_name(point)) for point in space.points),
        tuple(_edges(distances)),
        tuple((x, y) for x, y in _places(space.points, distances).tolist()),
        str(space.metric),
    )


def _name(point: Any) -> str:
    """A tuple of bits or other short things without commas."""
    if isinstance(point, tuple) and all(isinstance(part, int) and 0 <= part < 10 for part in point):
        return "".join(map(str, point)) if set(point) <= {0, 1} and len(point) > 2 else str(point).replace(" ", "")
    return str(point)


def _edges(distances: Floats) -> list[tuple[int, int, float]]:
    """Pairs at a finite distance that is shorter than every way over a third point."""
    count = len(distances)
    found = []
    for i in range(count):
        for j in range(i + 1, count):
            direct = float(distances[i, j])
            if not np.isfinite(direct):
                continue
            ways = distances[i] + distances[j]
            ways[[i, j]] = np.inf
            if count == 2 or direct < float(ways.min()) * (1 - _NEAR):
                found.append((i, j, direct))
    return found


def _places(points: tuple[Any, ...], distances: Floats) -> Floats:
    """The coordinates that the points have themselves, or such that distances look about right."""
    if all(_is_number(point) for point in points):
        return np.array([(float(point), 0.0) for point in points])
    if all(isinstance(point, tuple) and len(point) == 2 and all(map(_is_number, point)) for point in points):
        return np.array([(float(point[1]), float(point[0])) for point in points])
    if all(isinstance(point, tuple) and len(point) == 3 and set(point) <= {0, 1} for point in points):
        return np.array([(x + 0.45 * z, y + 0.3 * z) for x, y, z in points])  # a cube seen from a side
    return _scaled(distances)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or hasattr(value, "numerator")


def _scaled(distances: Floats) -> Floats:
    """The two axes along which points differ most (classical scaling); points on a circle where all look alike."""
    count = len(distances)
    finite = distances[np.isfinite(distances)]
    known = np.where(np.isfinite(distances), distances, 2 * float(finite.max()) or 1.0)
    middle = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-middle @ known**2 @ middle / 2)
    first, second = values[-1], values[-2] if count > 1 else 0.0
    if count > 3 and (second <= 0 or np.isclose(values[-2:], values[1], rtol=1e-6).all()):
        turns = 2 * np.pi * np.arange(count) / count
        return np.column_stack([np.cos(turns), np.sin(turns)])
    axes = np.sqrt(np.maximum([first, second], 0.0))
    return np.asarray(vectors[:, [-1, -2]] * axes, dtype=np.float64) if count > 1 else np.zeros((1, 2))
