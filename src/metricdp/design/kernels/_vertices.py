"""All vertices of a privacy type, as a stream: in logarithms, by additions of distances alone."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.adversaries.pictures import SimplexPicture
from metricdp.channels.serialize import label_document
from metricdp.design.arguments import check_space
from metricdp.design.kernels._unit_lengths import UnitLengths, packed, unpacked
from metricdp.design.kernels._vertex import Vertex
from metricdp.exact.arrays import Floats
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result
from metricdp.metrics import Space

__all__ = ["Stream", "Vertex", "Vertices", "vertices"]

_CHUNK = 4096
_COUNTING = "to count the vertices"

Keys = NDArray[Any]


@dataclass(eq=False, repr=False)
class Stream(Result, ABC):
    """Many things of a space that are found one after the other, and not stored; iterate as often as you like.

    An iteration may end at the time limit; ``list`` takes all or raises, since it asks for the length first.

    Attributes:
        space: the points and the metric d.
        time_limit: seconds after which an iteration ends and a count is given up; None for no limit.
        progress: is given an `Update` now and then, with how many have been found.
        finished: whether the last iteration, or count, came to its end.
        reason: why it did not; empty if it did.
    """

    space: Space
    time_limit: float | None = None
    progress: Progress | None = None
    finished: bool = field(init=False, default=False)
    reason: str = field(init=False, default="nothing has been found yet")
    _counted: int | None = field(init=False, default=None)

    def count(self) -> int:
        """How many there are, counted without storing any."""
        if self._counted is None:
            self._counted = self._count()
            self._ends("")
        return self._counted

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True  # without counting

    def to_json(self) -> dict[str, Any]:
        """What the stream is of, and how many there are where that has been counted."""
        return {
            "points": [label_document(point) for point in self.space.points],
            "metric": str(self.space.metric),
            "count": self._counted,
            "finished": self.finished,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        many = "" if self._counted is None else f", {self._counted:,} of them"
        return f"{type(self).__name__}({len(self.space)} points, {self.space.metric}{many})"

    @abstractmethod
    def _count(self) -> int:
        """How many there are."""

    def _ends(self, reason: str) -> None:
        self.finished, self.reason = not reason, reason

    def _late(self, watch: Stopwatch) -> bool:
        """Whether the time is over; then the iteration ends here, and says so."""
        over = watch.over  # asked once: it may become true between two times
        if over:
            self._ends(f"the time limit of {self.time_limit:g} seconds was reached")
        return over


@dataclass(eq=False, repr=False)
class Vertices(Stream):
    """The vertices of a space, as a stream of `Vertex`; see `vertices`."""

    @cached_property
    def lengths(self) -> UnitLengths:
        """The distances by generators."""
        return UnitLengths.of(self.space)

    def __iter__(self) -> Iterator[Vertex]:
        self._ends("the iteration has not come to its end")
        watch = Stopwatch(self.time_limit, self.progress)
        for part, search in self._searches(watch):
            for keys in search:
                for row in keys:
                    if self._late(watch):
                        return
                    yield self._vertex(part, [search.unpack(key) for key in row.tolist()])
        if not self._late(watch):
            self._ends("")

    def picture(self, most: int = 1000) -> SimplexPicture:
        """The first vertices as points of a simplex, and what they enclose: all d-private posteriors.

        `metricdp.plots.simplex` draws it.
        """
        points = [vertex.posterior for vertex in itertools.islice(self, most)]
        return SimplexPicture.of(self.space.points, "private posteriors", points, hull=True)

    def _count(self) -> int:
        watch = Stopwatch(self.time_limit, self.progress)
        found = 0
        for _, search in self._searches(watch):
            for keys in search:
                found += len(keys)
            watch.check(_COUNTING, found, unit="vertices")
        return found

    def stars(self) -> Iterator[Vertex]:
        """The vertices ``f = -d(x, ·)`` and ``f = d(x, ·)`` of all points x: steepest hills and pits, each once."""
        seen = set()
        for part in self.lengths.parts:
            for side in (-1, 1):
                for centre in part:
                    rows = [self._from(centre, place, side) for place in part]
                    vertex = self._vertex(
                        part, [tuple(a - b for a, b in zip(row, rows[0], strict=True)) for row in rows]
                    )
                    if vertex not in seen:
                        seen.add(vertex)
                        yield vertex

    def _from(self, centre: int, place: int, side: int) -> tuple[int, ...]:
        if centre == place:
            return (0,) * len(self.lengths.generators)
        return tuple(side * c for c in self.lengths.table[centre, place])

    def _vertex(self, part: tuple[int, ...], rows: list[tuple[int, ...]]) -> Vertex:
        held = dict(zip(part, rows, strict=True))
        return Vertex(self.lengths, tuple(held.get(twin) for twin in self.lengths.twins))

    def _searches(self, watch: Stopwatch) -> Iterator[tuple[tuple[int, ...], _Search]]:
        found = 0
        for part in self.lengths.parts:
            search = _Search(self.lengths, part, watch, found)
            yield part, search
            found = search.found


class _Search:
    """All vertices of one part, each once, by chunks of packed integers.

    Points get their values one after the other. Given some of them, each other point j has a least and a greatest
    value that keep the distances, ``max_i f_i - d_ij`` and ``min_i f_i + d_ij``: where j is tight with a point so far,
    it has one of the two. So one point j is asked: is it at the least, at the greatest, or between them for now? A
    vertex answers each question in one way, so it is found once; where all points left are between, there is none.
    """

    def __init__(self, lengths: UnitLengths, part: tuple[int, ...], watch: Stopwatch, found: int) -> None:
        self.lengths, self.part, self.watch, self.found = lengths, part, watch, found
        size, width = len(part), len(lengths.generators)
        rows = np.zeros((size, size, width), dtype=object)
        for a, i in enumerate(part):
            for b, j in enumerate(part):
                if a != b:
                    rows[a, b] = lengths.table[i, j]
        self.spread = 4 * size * int(abs(rows).max(initial=1))  # sums of distances along paths, and their differences
        self.keys = packed(rows, self.spread)
        self.views = np.array([[0.0 if i == j else lengths.view(lengths.table[i, j]) for j in part] for i in part])
        self.close = 1e-9 * float(self.views.max(initial=1.0))
        self.signs: dict[int, int] = {}

    def unpack(self, key: int) -> tuple[int, ...]:
        return unpacked(key, len(self.lengths.generators), self.spread)

    def __iter__(self) -> Iterator[Keys]:
        # States wait by how many points they lack. Full chunks nearest to the end go first, so few wait; while there is
        # no full chunk, those farthest from the end go first, to make one.
        waiting: list[list[_States]] = [[] for _ in self.part]
        self._put(waiting, self._start())
        while any(waiting) and not self.watch.over:
            sizes = [sum(state.size for state in states) for states in waiting]
            full = [left for left, size in enumerate(sizes) if size >= _CHUNK]
            left = full[0] if full else max(left for left, size in enumerate(sizes) if size)
            state = _States.joined(waiting[left])
            waiting[left] = []
            if left == 0:
                self.found += state.size
                self.watch.tell(self.found, unit="vertices")
                yield state.low_keys
                continue
            self._put(waiting, state.part(slice(_CHUNK, None)))
            for child in self._expand(state.part(slice(None, _CHUNK))):
                self._put(waiting, child)

    def _put(self, waiting: list[list[_States]], state: _States) -> None:
        if state.size:
            waiting[state.left].append(state)

    def _start(self) -> _States:
        size = len(self.part)
        state = _States(
            size - 1,
            self.views[[0]] * -1,
            self.keys[[0]] * -1,
            self.views[[0]].copy(),
            self.keys[[0]].copy(),
            np.zeros((1, size), dtype=bool),
            np.zeros((1, size), dtype=bool),
            np.zeros((1, size), dtype=bool),
        )
        state.given[0, 0] = True
        return state

    def _expand(self, state: _States) -> Iterator[_States]:
        point = self._ask(state)
        rows = np.arange(state.size)
        forced = state.low_keys[rows, point] == state.high_keys[rows, point]
        low = ~state.above[rows, point]
        high = ~state.below[rows, point] & ~forced
        between = state.part(~forced)
        chosen = point[~forced]
        between.above[np.arange(between.size), chosen] = True
        between.below[np.arange(between.size), chosen] = True
        open_ = ((~between.above | ~between.below) & ~between.given).any(axis=1)
        yield between.part(open_)
        for here, upper in ((low, False), (high, True)):
            if here.any():
                yield self._give(state.part(here), point[here], upper)

    def _ask(self, state: _States) -> NDArray[np.int64]:
        """The point to ask: one whose value is known, else the one with the widest room."""
        options = (~state.above).astype(np.int8) + (~state.below).astype(np.int8)
        options[state.given] = 0
        room = state.high - state.low
        room = np.where(options == 0, -1.0, room)
        forced = (options > 0) & (state.low_keys == state.high_keys)
        room = np.where(forced, np.inf, room)
        return np.asarray(np.argmax(room, axis=1), dtype=np.int64)

    def _give(self, state: _States, point: NDArray[np.int64], upper: bool) -> _States:
        rows = np.arange(state.size)
        value = (state.high if upper else state.low)[rows, point]
        key = (state.high_keys if upper else state.low_keys)[rows, point]
        views, keys = self.views[point], self.keys[point]
        new_low, new_low_keys = value[:, None] - views, key[:, None] - keys
        new_high, new_high_keys = value[:, None] + views, key[:, None] + keys
        rises = self._compare(new_low - state.low, new_low_keys - state.low_keys) > 0
        falls = self._compare(new_high - state.high, new_high_keys - state.high_keys) < 0
        rises[rows, point] = falls[rows, point] = True
        state.given[rows, point] = True
        rises &= ~state.given
        falls &= ~state.given
        rises[rows, point] = falls[rows, point] = True
        state.low = np.where(rises, new_low, state.low)
        state.low_keys = np.where(rises, new_low_keys, state.low_keys)
        state.high = np.where(falls, new_high, state.high)
        state.high_keys = np.where(falls, new_high_keys, state.high_keys)
        state.above &= ~rises
        state.below &= ~falls
        state.left -= 1
        # A point that is between its least and its greatest value has to have room there.
        met = state.low_keys == state.high_keys
        dead = (met & (state.above | state.below)).any(axis=1)
        if state.left:
            dead |= ~((~state.above | ~state.below) & ~state.given).any(axis=1)
        return state.part(~dead)

    def _compare(self, difference: Floats, keys: Keys) -> NDArray[np.int8]:
        """The sign of each difference: from floats where they tell, else exactly."""
        signs = np.sign(difference).astype(np.int8)
        near = np.abs(difference) <= self.close
        same = keys == 0
        signs[same] = 0
        for row, column in np.argwhere(near & ~same).tolist():
            key = int(keys[row, column])
            if key not in self.signs:
                self.signs[key] = self.lengths.sign(self.unpack(key))
            signs[row, column] = self.signs[key]
        return signs


@dataclass(eq=False)
class _States:
    """Many partial functions at once: a row for each, a column for each point.

    Attributes:
        left: how many points have no value yet, in every row.
        low, high: the least and greatest value that a point can take, as floats; with the exact ones packed in
            ``low_keys`` and ``high_keys``.
        above, below: the point is said to be strictly above the least, below the greatest.
        given: the point has its value.
    """

    left: int
    low: Floats
    low_keys: Keys
    high: Floats
    high_keys: Keys
    above: NDArray[np.bool_]
    below: NDArray[np.bool_]
    given: NDArray[np.bool_]

    @property
    def size(self) -> int:
        return len(self.low)

    @classmethod
    def joined(cls, states: list[_States]) -> _States:
        if len(states) == 1:
            return states[0]
        arrays = zip(*(state._arrays for state in states), strict=True)
        return cls(states[0].left, *(np.concatenate(array) for array in arrays))

    def part(self, rows: Any) -> _States:
        return _States(self.left, *(array[rows].copy() for array in self._arrays))

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (self.low, self.low_keys, self.high, self.high_keys, self.above, self.below, self.given)


def vertices(space: Space, *, time_limit: float | None = None, progress: Progress | None = None) -> Vertices:
    """The vertices of the space of d-private posteriors, as a stream.

    A posterior v is d-private where ``v(x) <= exp(d(x, x')) v(x')`` for all x, x'. In logarithms these are the
    1-Lipschitz functions, and the vertices are those whose tight pairs connect all points: they depend on d alone, by
    additions of distances, and are the same at every level. Each is found once, exactly, and none is stored. Points at
    distance zero share their value; parts of the space at infinite distance have vertices of their own, zero elsewhere.

    Args:
        space: the points and d.
        time_limit: seconds after which an iteration ends, with ``finished`` False, and a count raises TooLargeError.
        progress: is given an `Update` now and then, with how many have been found; ``print`` will do.

    Raises:
        ArgumentError: if ``space`` is not a Space; or, while iterating, if two sums of distances can neither be told
            apart nor proved equal.

    References:
        Paper 5, Definition 4; Section VI.

    >>> import metricdp as mdp
    >>> vertices(Space.bits(3)).count(), vertices(Space.grid(2, 2)).count()
    (38, 18)
    >>> [vertex.logarithms.tolist() for vertex in vertices(Space.line(3))]
    [[0.0, -1.0, -2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]
    """
    Stopwatch(time_limit)
    return Vertices(check_space(space, "vertices"), time_limit, progress)
