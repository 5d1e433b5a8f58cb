"""Exact choices: categories with real probabilities, uniform integers, coins.

A category is where a uniform U falls among thresholds c_1 <= c_2 <= ... on [0, 1]. Thresholds are enclosed
between 64-bit integers once, so a draw is a comparison of integers; only where the first 64 bits of U meet
those of a threshold (about once in 2^64 draws) are more bits of the same U read and compared as balls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.balls import precision
from metricdp.exact.bits import Source, Words, source
from metricdp.exact.refine import Integers, _balls_only, fraction

__all__ = ["Thresholds", "draw_shares", "uniform_below"]

_TOP = (1 << 64) - 1


class Thresholds:
    """Increasing real numbers in [0, 1] that a uniform is compared with.

    Args:
        cumulative: evaluates the thresholds as balls at the working precision. The last one, 1, is left out:
            k thresholds part k + 1 categories.

    >>> fair = Thresholds(lambda: [arb(1) / 2])
    >>> set(fair.draw(1000).tolist()) == {0, 1}
    True
    """

    def __init__(self, cumulative: Callable[[], Sequence[arb]]) -> None:
        self._cumulative = cumulative
        self._balls: dict[int, Sequence[arb]] = {}
        with precision(192):
            scaled = [value * arb((1, 64)) for value in self._at(192)]
            lower = [_clip(value.lower().floor()) for value in scaled]
            upper = [_clip(value.upper().floor()) for value in scaled]
        self._lower = np.array(lower, dtype=np.uint64)
        self._upper = np.array(upper, dtype=np.uint64)

    def draw(self, count: int) -> Integers:
        """``count`` independent categories, each the number of thresholds that U is not below."""
        bits = source()
        words = bits.words(count)
        above = np.searchsorted(self._upper, words, side="left")
        undecided = np.searchsorted(self._lower, words, side="right") != above
        rows = np.arange(count) if _balls_only.get() else np.flatnonzero(undecided)
        for row in rows:
            above[row] = self._refine(bits, int(words[row]))
        return above

    def below(self, count: int) -> NDArray[np.bool_]:
        """Whether each of ``count`` uniforms is below the first threshold: category 0, from 16 bits of U at a time.

        Only where those are the threshold's own, once in 65,536 times, are more bits of the same U read.
        """
        bits = source()
        words = bits.words((count + 3) // 4).view(np.uint16)[:count]
        low, high = (int(edge[0]) >> 48 for edge in (self._lower, self._upper))
        found = words < low
        undecided = words == low if low == high else (words >= low) & (words <= high)
        for row in np.arange(count) if _balls_only.get() else np.flatnonzero(undecided):
            found[row] = self._refine(bits, int(words[row]), 16) == 0
        return found

    def flags(self, count: int) -> Words:
        """``count`` words whose every bit says of a uniform of its own what `below` says: 64 coins at a time.

        The first bits of 64 uniforms are a word, their second bits another: one comparison with a bit of the threshold
        serves them all.
        """
        bits = source()
        words = bits.words(16 * count).reshape(16, count)
        edges = {int(edge[0]) >> 48 for edge in (self._lower, self._upper)}
        undecided = np.zeros(count, dtype=np.uint64)
        for edge in sorted(edges, reverse=True):
            found, equal = np.zeros(count, dtype=np.uint64), np.full(count, _TOP, dtype=np.uint64)
            for place, word in enumerate(words, start=1):  # a 0 stands for a 1 of U: so it takes fewer steps
                if edge >> (16 - place) & 1:
                    less = equal & word
                    found |= less
                    equal ^= less
                else:
                    equal &= word
            undecided |= equal
        if _balls_only.get():
            undecided[:] = _TOP
        for at in np.flatnonzero(undecided).tolist():
            for bit in range(64):
                if int(undecided[at]) >> bit & 1:
                    read = sum((1 - (int(word) >> bit & 1)) << (15 - place) for place, word in enumerate(words[:, at]))
                    below = int(self._refine(bits, read, 16) == 0)
                    found[at] = np.uint64(int(found[at]) & ~(1 << bit) | below << bit)
        return found

    def _refine(self, bits: Source, word: int, read: int = 64) -> int:
        while True:
            with precision(64 + 2 * read):
                uniform = arb(arb((2 * word + 1, -read - 1)), arb((1, -read - 1)))
                above = [uniform > value for value in self._at(64 + 2 * read)]
                below = [uniform < value for value in self._at(64 + 2 * read)]
            if all(over or under for over, under in zip(above, below, strict=True)):
                return sum(above)
            more = max(64, read - read % 64)
            word, read = (word << more) | bits.integer(more), read + more

    def _at(self, bits: int) -> Sequence[arb]:
        """The thresholds at a precision, which the caller has set; kept, for refinement asks again."""
        if bits not in self._balls:
            self._balls[bits] = list(self._cumulative())
        return self._balls[bits]


def draw_shares(shares: Floats, radius: float | Floats, exactly: Callable[[int], Sequence[Fraction]]) -> Integers:
    """A category for each of many draws that all have shares of their own.

    Args:
        shares: about the probabilities, a row for each category and a column for each draw.
        radius: a bound on the error of a sum of any of them, for all draws or for each; NaN asks for the exact ones.
        exactly: the probabilities of one draw, which sum to one.

    >>> thirds = [Fraction(1, 3), Fraction(2, 3)]
    >>> set(draw_shares(np.full((2, 100), 0.5), 0.5, lambda draw: thirds).tolist())
    {0, 1}
    """
    bits = source()
    words = bits.words(shares.shape[1])
    uniforms, margin = fraction(words), np.asarray(radius) + 2.0**-52
    sums = np.cumsum(shares[:-1], axis=0)
    above, below = uniforms > sums + margin, uniforms < sums - margin
    chosen: Integers = above.sum(axis=0).astype(np.int64)
    undecided = np.flatnonzero(~(above | below).all(axis=0))
    for draw in np.arange(len(words)) if _balls_only.get() else undecided:
        chosen[draw] = _place_among(bits, int(words[draw]), list(itertools.accumulate(exactly(int(draw))))[:-1])
    return chosen


def _place_among(bits: Source, word: int, sums: Sequence[Fraction]) -> int:
    """How many sums a uniform is not below, with as many of its bits as it takes."""
    read = 64
    while True:
        low, high = Fraction(word, 1 << read), Fraction(word + 1, 1 << read)
        if not any(low < value < high for value in sums):
            return sum(value <= low for value in sums)
        word, read = (word << 64) | bits.integer(64), read + 64


def uniform_below(bound: int, count: int) -> Integers:
    """``count`` independent uniform integers in [0, bound), for a bound up to 2^31.

    The integer is floor(bound * U): 32 bits of U settle it but for a share of bound / 2^32.

    >>> sorted(set(uniform_below(3, 1000).tolist()))
    [0, 1, 2]
    """
    bits = source()
    words: Words = bits.words(count)
    products = (words >> np.uint64(32)) * np.uint64(bound)
    chosen = (products >> np.uint64(32)).astype(np.int64)
    undecided = (products & np.uint64(0xFFFFFFFF)) > np.uint64((1 << 32) - bound)
    for row in np.arange(count) if _balls_only.get() else np.flatnonzero(undecided):
        word, read = int(words[row]), 64
        while ((word + 1) * bound - 1) >> read != word * bound >> read:
            word, read = (word << 64) | bits.integer(64), read + 64
        chosen[row] = word * bound >> read
    return chosen


def _clip(value: arb) -> int:
    whole: fmpz | None = value.unique_fmpz()
    if whole is None:
        raise ValueError("a threshold must be a finite number")
    return max(0, min(_TOP, int(whole)))
