"""Kernels: the finitely many mechanisms of which every private mechanism is a refinement of a mixture."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from metricdp.adversaries.hyper import hyper
from metricdp.adversaries.pictures import SimplexPicture
from metricdp.channels.channel import Channel
from metricdp.design.arguments import check_space
from metricdp.design.kernels._channels import kernel_channel
from metricdp.design.kernels._columns import columns_of
from metricdp.design.kernels._levels import supports_of
from metricdp.design.kernels._vertex import Vertex
from metricdp.design.kernels._vertices import Stream, Vertices, vertices
from metricdp.errors import TooLargeError
from metricdp.exact.arrays import Places
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Space
from metricdp.visible import visible

__all__ = ["Kernels", "kernels"]

_SHOWN = 3
_COUNTING = "to count the kernels"
_AT_ONCE = 1 << 22
_FIRST_PASS = 1 << 14
_GROWTH = 8
_MOST_BASES = 1 << 28
_MOST_HELD = 50_000_000
"""Numbers at once: about 4 GB with everything around them."""


@dataclass(eq=False, repr=False)
class Kernels(Stream):
    """The kernels of a space, as a stream of channels; see `kernels`.

    The outputs of a kernel are numbers of vertices (see `vertex`), its columns multiples of their posteriors. Where
    exp(-d) is rational they are exact; elsewhere every sign was decided, and the channel is rounded to integers and
    verified. ``len`` counts all kernels, as `count` does.
    """

    _source: Iterator[Vertex] = field(init=False, repr=False)
    _held: list[Vertex] = field(init=False, repr=False, default_factory=list)
    _ended: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        self._source = _stars_first(vertices(self.space))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as a stream that begins anew, and tells nobody of its progress."""
        return partial(kernels, time_limit=self.time_limit), (self.space,)

    def vertex(self, number: int) -> Vertex:
        """A vertex by its number: the steepest hills and pits first, then as `vertices` gives them."""
        self._hold(number + 1)
        return self._held[number]

    def picture(self, most: int = 6) -> SimplexPicture:
        """The posteriors of the first kernels as points of a simplex, each kernel with what it encloses.

        `metricdp.plots.simplex` draws it.
        """
        layers = []
        for number, kernel in enumerate(itertools.islice(self, most), start=1):
            (layer,) = hyper("uniform", kernel).picture(f"kernel {number}").layers
            layers.append(replace(layer, hull=True))
        return SimplexPicture(tuple(visible(str(point)) for point in self.space.points), tuple(layers))

    def _repr_html_(self) -> str:
        shown = [kernel._repr_html_() for kernel in itertools.islice(self, _SHOWN)]
        return f"<b>{html.escape(repr(self))}</b><p>The first of them:</p>{''.join(shown)}"

    def __iter__(self) -> Iterator[Channel]:
        return map(self.channel, self.supports())

    def channel(self, support: Sequence[int]) -> Channel:
        """The kernel of some vertices, given by their numbers."""
        return kernel_channel([self.vertex(number) for number in support], list(support))

    def supports(self) -> Iterator[tuple[int, ...]]:
        """The numbers of the vertices of each kernel, each kernel once."""
        watch = Stopwatch(self.time_limit)
        for chunk in self.chunks():
            for row in chunk.tolist():
                if self._late(watch):
                    return
                yield tuple(place for place in row if place >= 0)

    def count(self) -> int:
        """How many kernels there are, counted without storing them.

        Raises:
            TooLargeError: if there are too many to count, or the time limit is reached; its estimate says about how
                many there are at least.
        """
        return super().count()

    def _count(self) -> int:
        rows, watch = self._rows, Stopwatch(self.time_limit, self.progress)
        while not self._ended and not _too_many(len(self._held), rows):
            self._hold(len(self._held) + rows)
            watch.check(_COUNTING)
        columns = len(self._held)
        if _too_many(columns, rows):
            estimate = f"about {_bases(columns, rows):.1e}"
            raise TooLargeError(
                f"{estimate} sets of up to {rows} of the first {columns} vertices surround the uniform distribution, "
                "too many to count; iterate for as many as you like",
                f"{estimate} or more",
            )
        found = 0
        for chunk in self._pass(np.arange(columns), 0, watch):
            found += len(chunk)
            watch.tell(found, unit="kernels")
        watch.check(_COUNTING, found, unit="kernels")
        return found

    def chunks(self) -> Iterator[Places]:
        """The same as `supports` by arrays: a row for each kernel, filled up with -1 from the left.

        Where there are too many for one pass, kernels among the first few vertices come first, then those with more.

        Raises:
            TooLargeError: after very many, if memory does not hold what the next would take.
        """
        self._ends("the iteration has not come to its end")
        watch = Stopwatch(self.time_limit, self.progress)
        found = 0
        for chunk in self._passes(watch):
            found += len(chunk)
            watch.tell(found, unit="kernels")
            yield chunk
            if self._late(watch):
                return
        if not self._late(watch):
            self._ends("")

    def _passes(self, watch: Stopwatch) -> Iterator[Places]:
        before = 0
        while (size := self._next_size(before)) > before and not watch.over:
            yield from self._pass(np.arange(size), before, watch)
            self._hold(size + 1)
            if size == len(self._held):
                return
            before = size
        # Memory does not hold a larger pass. Further vertices join the first ones one at a time.
        first = self._next_size(0)
        for number in itertools.count(before):
            if watch.over:
                return
            self._hold(number + 1)
            if number >= len(self._held):
                estimate = f"{_held(before + 1, self._rows) * 80 / 1e9:,.0f} GB"
                raise TooLargeError(
                    f"further kernels, of {before} vertices and one more, would take {estimate} of memory", estimate
                )
            yield from self._pass(np.append(np.arange(first), number), first, watch)

    def _pass(self, numbers: Places, before: int, watch: Stopwatch) -> Iterator[Places]:
        """The kernels among some vertices that are not among the first few of these."""
        seen = _Seen(len(numbers))
        for places in supports_of(columns_of([self._held[number] for number in numbers]), watch):
            kept = places[places[:, -1] >= before]
            whole = kept[:, 0] >= 0  # a basis without zeros comes once
            yield numbers[kept[whole]]
            fewer = seen.new(kept[~whole])
            if len(fewer):
                yield np.where(fewer >= 0, numbers[fewer], -1)

    def _next_size(self, before: int) -> int:
        """How many vertices to take: all where that is little work, else enough for some times more, or what fits."""
        rows = self._rows
        if not before:
            while not self._ended and _bases(len(self._held), rows) <= _AT_ONCE:
                self._hold(len(self._held) + rows)
            if _bases(len(self._held), rows) <= _AT_ONCE:
                return len(self._held)
        size, wanted = max(before, rows), _GROWTH * _bases(before, rows) if before else _FIRST_PASS
        while _bases(size, rows) < wanted and _held(size + 1, rows) <= _MOST_HELD:
            size += 1
        self._hold(size)
        return min(size, len(self._held))

    @property
    def _rows(self) -> int:
        self._hold(1)
        return len(set(self._held[0].lengths.twins))

    def _hold(self, count: int) -> None:
        """Has that many vertices at hand, or all where there are fewer."""
        while not self._ended and len(self._held) < count:
            try:
                self._held.append(next(self._source))
            except StopIteration:
                self._ended = True


def kernels(space: Space, *, time_limit: float | None = None, progress: Progress | None = None) -> Kernels:
    """The kernel mechanisms of a space, as a stream of channels.

    A kernel is a mechanism whose posteriors, under the uniform prior, are linearly independent vertices v (see
    `vertices`): with the vertices as columns of V, the kernels are the vertices of ``{a >= 0 : V a = 1}``. Every
    d-private mechanism is a refinement of a mixture of kernels (see `decompose`).

    Args:
        space: the points and d.
        time_limit: seconds after which an iteration ends, with ``finished`` False, and a count raises TooLargeError.
        progress: is given an `Update` now and then, with how many have been found; ``print`` will do.

    Raises:
        ArgumentError: if ``space`` is not a Space, or the time limit is not positive.

    Guarantee:
        Each channel has ``space.metric``, verified.

    References:
        Paper 5, Definition 5, Theorem 3, Section VI.

    >>> import metricdp as mdp
    >>> found = kernels(Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
    >>> len(found)
    2
    >>> for kernel in found:
    ...     print(kernel)
    channel of 3 inputs and 3 outputs, weights out of 6
    ln 2·|x − y|-private
         0    1    2
    0  2/3  1/6  1/6
    1  1/3  1/3  1/3
    2  1/6  1/6  2/3
    channel of 3 inputs and 2 outputs, weights out of 3
    ln 2·|x − y|-private
         1    3
    0  1/3  2/3
    1  2/3  1/3
    2  1/3  2/3
    """
    Stopwatch(time_limit)
    return Kernels(check_space(space, "kernels"), time_limit, progress)


class _Seen:
    """Rows of places that have come, each as the integer of its digits."""

    def __init__(self, count: int) -> None:
        self.base, self.keys = count + 1, np.empty(0, dtype=np.int64)
        self.long: set[int] = set()

    def new(self, rows: Places) -> Places:
        """The rows that have not come before, each once."""
        short = self.base ** rows.shape[1] < 1 << 63
        digits = (rows + 1).astype(np.int64 if short else object)
        keys = np.zeros(len(rows), dtype=digits.dtype)
        for column in digits.T:
            keys = keys * self.base + column
        found, first = np.unique(keys, return_index=True)
        if short:
            fresh = ~np.isin(found, self.keys, assume_unique=True)
            self.keys = np.concatenate([self.keys, found[fresh]])
        else:
            fresh = np.array([key not in self.long for key in found.tolist()], dtype=bool)
            self.long.update(found.tolist())
        return rows[first[fresh]]


def _stars_first(stream: Vertices) -> Iterator[Vertex]:
    first = list(stream.stars())
    known = set(first)
    return itertools.chain(first, (vertex for vertex in stream if vertex not in known))


def _too_many(columns: int, rows: int) -> bool:
    return _bases(columns, rows) > _MOST_BASES or _held(columns, rows) > _MOST_HELD


def _held(columns: int, rows: int) -> float:
    """About how many numbers all levels but the last take at once."""
    return _bases(columns, max(1, rows - 1)) * rows


def _bases(columns: int, rows: int) -> float:
    """About how many bases the busiest level has: half of a set's signs, for each row but one, are right by chance."""
    return max(math.comb(columns, size) / 2.0 ** (size - 1) for size in range(1, rows + 1))
