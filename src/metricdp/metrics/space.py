"""Spaces: finitely many points and a metric on them, the (X, d) of the papers."""

from __future__ import annotations

import html
import itertools
import operator
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import arb

from metricdp.errors import ArgumentError, DataError, NotAMetricError, TooLargeError, UnknownCategoryError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import all_different, frozen, label
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.metric import Metric
from metricdp.metrics.picture import GraphPicture, graph_picture
from metricdp.metrics.records import hamming
from metricdp.metrics.vectors import absolute, euclidean
from metricdp.visible import visible

__all__ = ["Space"]

_SHOWN = 8


@dataclass(frozen=True, repr=False)
class Space:
    """Finitely many points and a metric on them.

    Attributes:
        points: the secrets, all different, as a tuple; lists and arrays among them become tuples.
        metric: how far apart they are. Its axioms are searched for a violation unless they are a theorem.

    Raises:
        NotAMetricError: an axiom is broken.

    >>> from metricdp.metrics import discrete
    >>> space = Space(["tea", "coffee", "water"], 2 * discrete())
    >>> len(space), space.index("coffee"), space.distances[0].tolist()
    (3, 1, [0.0, 2.0, 2.0])
    """

    points: tuple[Any, ...]
    metric: Metric

    def __init__(self, points: Iterable[Any], metric: Metric) -> None:
        if not isinstance(metric, Metric):
            raise ArgumentError(f"a metric is needed here, not {type(metric).__name__}")
        object.__setattr__(self, "points", tuple(frozen(point) for point in as_list(points, "points")))
        object.__setattr__(self, "metric", metric)
        if not self.points:
            raise ArgumentError("a space has at least one point")
        _ = self._places, metric.pairwise(self.points, self.points[:1])  # refuses what is listed twice, or is no point
        if not metric.proven:
            violation = metric.violation(self.points)
            if violation is not None:
                advice = "; metric.closure(points) mends it" if violation.mendable else ""
                raise NotAMetricError(f"{violation}{advice}", violation)

    def __repr__(self) -> str:
        shown = ", ".join(visible(repr(point), 40) for point in self.points[:_SHOWN])
        more = f", .. {len(self.points):,} points" if len(self.points) > _SHOWN else ""
        return f"Space([{shown}{more}], {self.metric!r})"

    def _repr_html_(self) -> str:
        return f"<b>{len(self.points):,} points</b>, {html.escape(str(self.metric))}: {html.escape(repr(self))}"

    @classmethod
    def line(cls, n: int, metric: Metric | None = None) -> Space:
        """The numbers 0 to n - 1.

        >>> Space.line(3).distances[0].tolist()
        [0.0, 1.0, 2.0]
        """
        return cls(range(_count(n, "points")), metric or absolute())

    @classmethod
    def grid(cls, rows: int, columns: int, metric: Metric | None = None) -> Space:
        """The points (row, column) of a grid, row by row.

        >>> Space.grid(2, 2).points
        ((0, 0), (0, 1), (1, 0), (1, 1))
        """
        places = itertools.product(range(_count(rows, "rows")), range(_count(columns, "columns")))
        return cls(places, metric or euclidean())

    @classmethod
    def bits(cls, n: int, metric: Metric | None = None) -> Space:
        """All tuples of n bits.

        >>> Space.bits(2).distances[0].tolist()
        [0.0, 1.0, 1.0, 2.0]
        """
        return cls(itertools.product((0, 1), repeat=_count(n, "bits")), metric or hamming())

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "metric": self.metric}  # what is cached stays behind

    @cached_property
    def distances(self) -> Floats:
        """All pairwise distances as floats, a view that cannot be written to; proofs use `enclosures`.

        It is kept within them: zero and infinite only where a distance is so.
        """
        distances = self.enclosures.around(self.metric.pairwise(self.points))
        distances.setflags(write=False)
        return distances

    @cached_property
    def enclosures(self) -> Enclosures:
        """Floats below and above all pairwise distances, proved; see `Metric.enclosures`."""
        return self.metric.enclosures(self.points)

    def ball(self, row: int, column: int) -> arb:
        """The distance between ``points[row]`` and ``points[column]`` as a ball at the working precision."""
        return self.metric.ball(self.points[row], self.points[column])

    def picture(self) -> GraphPicture:
        """The points, and the pairs whose distances imply all others, as data; `metricdp.plots.graph` draws it.

        >>> Space.line(3).picture().edges
        ((0, 1, 1.0), (1, 2, 1.0))
        """
        return graph_picture(self)

    def index(self, point: Any) -> int:
        """The place of a point in the list."""
        place = self._places.get(_key(point))
        if place is None:
            raise UnknownCategoryError("the point is not in this space")
        return place

    @cached_property
    def _places(self) -> dict[Any, int]:
        quick = all_different(self.points)
        if quick is not None:
            return quick
        places: dict[Any, int] = {}
        for row, point in enumerate(self.points):
            first = places.setdefault(_key(point, row), row)
            if first != row:
                raise DataError(f"the same point as in row {first}", row)
        return places


def _key(point: Any, row: int | None = None) -> Any:
    return label(frozenset(point.items()) if isinstance(point, dict) else point, row)


def _count(number: Any, what: str) -> int:
    """How many there are: a whole number, not negative, and no more than a list can have."""
    try:
        found = operator.index(number)
    except TypeError:
        raise ArgumentError(f"the number of {what} is a whole number, not {type(number).__name__}") from None
    if found < 0:
        raise ArgumentError(f"the number of {what} is not negative, and {found} is")
    if found > sys.maxsize:
        raise TooLargeError(f"no list holds that many {what}")
    return found
