"""Exact draws from rows of integer weights, many rows at a time.

Output z of a row is drawn with probability ``weights[row, z] / total``, exactly: it is where a uniform U falls among
the sums of the weights. 64 bits of U are compared with the sums, rounded down to 64 bits; only where they meet (once
in 2^64 draws for each output) are more bits of the same U read. A guide table answers most draws with one look: it
holds the output for every value of the first few bits of U that no sum divides.
"""

from __future__ import annotations

import bisect
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import OutOfDomainError
from metricdp.exact.bits import Source, Words, source
from metricdp.exact.refine import BLOCK, Integers, _balls_only

__all__ = ["IntegerRows", "Stored", "Weights"]

Weights = NDArray[np.object_]
"""A matrix of Python integers."""

Stored = NDArray[Any]
"""A matrix of Python integers, or of machine integers whose rows sum to less than 2^62."""

_TOP = (1 << 64) - 1
_GUIDE_ENTRIES = 1 << 20  # a table that stays in the cache


class IntegerRows:
    """Rows of nonnegative integers that each sum to ``total``, to draw places from.

    >>> rows = IntegerRows(np.array([[1, 2], [3, 0]], dtype=object), 3)
    >>> set(rows.draw(np.array([1, 1, 1])).tolist()), set(rows.draw(np.zeros(100, dtype=np.int64)).tolist())
    ({0}, {0, 1})
    """

    def __init__(self, weights: Stored, total: int) -> None:
        self._total = total
        rows, columns = weights.shape
        self._sums: Any
        if weights.dtype != object and total & (total - 1) == 0:  # then a sum is its first bits, and no others follow
            sums = self._sums = np.cumsum(weights[:, :-1], axis=1)
            self._between = sums == total
            self._floors = sums.astype(np.uint64) << np.uint64(65 - total.bit_length())
            self._floors[self._between] = _TOP
        else:
            self._sums = [list(itertools.accumulate(row[:-1])) for row in weights.tolist()]
            self._floors = np.empty((rows, columns - 1), dtype=np.uint64)
            self._between = np.empty((rows, columns - 1), dtype=bool)
            for row, accumulated in enumerate(self._sums):
                parts = [divmod(value << 64, total) for value in accumulated]
                self._floors[row] = [min(floor, _TOP) for floor, _ in parts]
                self._between[row] = [bool(rest) or floor > _TOP for floor, rest in parts]
        self._bits = max(2, min(16, (_GUIDE_ENTRIES // max(1, rows)).bit_length() - 1))
        self._guide = self._make_guide()

    def _make_guide(self) -> NDArray[np.int32]:
        """For each row and each value of the first bits of U: the place drawn, or -1 where a sum lies among them."""
        rows, sums = self._floors.shape
        buckets = 1 << self._bits
        held = (self._floors >> np.uint64(64 - self._bits)).astype(np.int64)
        guide = np.empty((rows, buckets), dtype=np.int32)
        for row in range(rows):
            met = np.bincount(held[row], minlength=buckets) if sums else np.zeros(buckets, dtype=np.int64)
            guide[row] = np.where(met > 0, -1, np.cumsum(met))
        return guide

    def draw(self, rows: Integers) -> Integers:
        """A place for each of the given rows, independently; refuses a number that is none of them."""
        outside = (rows < 0) | (rows >= len(self._sums))
        if outside.any():
            raise OutOfDomainError(f"outside the rows 0 .. {len(self._sums) - 1}", int(np.argmax(outside)))
        drawn = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            drawn[start : start + len(some)] = self._draw(some)
        return drawn

    def _draw(self, rows: Integers) -> Integers:
        bits = source()
        words = bits.words(len(rows))
        bucket = (words >> np.uint64(64 - self._bits)).astype(np.int64)
        places: Integers = self._guide.ravel()[(rows << self._bits) | bucket].astype(np.int64)
        open_draws = np.arange(len(rows)) if _balls_only.get() else np.flatnonzero(places < 0)
        if len(open_draws):
            places[open_draws] = self._search(bits, rows[open_draws], words[open_draws])
        return places

    def _search(self, bits: Source, rows: Integers, words: Words) -> Integers:
        """The number of sums that U is not below, by bisection in all rows at once."""
        sums = self._floors.shape[1]
        flat = self._floors.ravel()
        low, high = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), sums, dtype=np.int64)
        while bool((low < high).any()):
            middle = (low + high) >> 1
            above = flat[np.minimum(rows * sums + middle, flat.size - 1)] <= words
            above &= low < high
            low, high = np.where(above, middle + 1, low), np.where(above, high, np.minimum(middle, high))
        met = np.zeros(len(rows), dtype=bool)
        if sums:
            last = rows * sums + np.maximum(low - 1, 0)
            met = (low > 0) & (flat[last] == words) & self._between.ravel()[last]
        for draw in np.arange(len(rows)) if _balls_only.get() else np.flatnonzero(met):
            low[draw] = self._refine(bits, int(rows[draw]), int(words[draw]))
        return low

    def _refine(self, bits: Source, row: int, word: int) -> int:
        """The same in integers, with as many bits of U as it takes."""
        sums, read = list(map(int, self._sums[row])), 64
        while True:
            least, most = word * self._total, (word + 1) * self._total - 1
            place = bisect.bisect_right(sums, least >> read)
            # U is not below a sum s where word * total >= s * 2^read; no sum may lie above least and up to most.
            if place == len(sums) or sums[place] << read > most:
                return place
            word, read = (word << 64) | bits.integer(64), read + 64
