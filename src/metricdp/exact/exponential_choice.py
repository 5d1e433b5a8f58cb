"""Exact draws by exponential weights: place j with a probability that goes with ``counts[j] exp(-rate losses[j])``.

It is where a uniform U falls among the sums of the weights. 64 bits of U and floats decide where no sum is near, by a
margin far beyond the error of floats; elsewhere the same U, with as many more bits as it takes, is compared with sums
of balls. Weights too small to matter are not computed: together they are a ball between 0 and a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.assumed import trusted
from metricdp.exact.balls import ball, precision
from metricdp.exact.bits import Source, source
from metricdp.exact.refine import _balls_only

__all__ = ["exponential_choice", "whole_below"]

_MARGIN = 2.0**-28
_MOST_FLOATS = 1 << 22
"""More weights than this are not added up in floats: the error of a sum grows with their number."""

_Whole = Sequence[int] | NDArray[Any]

_DEEPEST = 600.0
"""Exponents up to here are floats with a relative error below 2^-40; further ones are below 2^-800."""
_MOST_COUNT = 1 << 63
"""With a greater count a weight matters at any depth."""


def exponential_choice(losses: _Whole, counts: _Whole, rate: Fraction) -> int:
    """A place j, with probability ``counts[j] exp(-rate losses[j])`` by the sum of these, exactly.

    The error of the floats: an exponent ``rate * loss`` up to 600 has an absolute error of 2^-41 at most, its
    exponential 2^-40 then, relative; 2^22 sums add 2^-30. Where U times the sum lies 2^-28 of the sum from every
    boundary, no exact sum lies on its other side.

    Args:
        losses: increasing integers.
        counts: positive integers.
        rate: not negative.

    >>> sorted({exponential_choice([0, 1], [1, 1], Fraction(1)) for _ in range(200)})
    [0, 1]
    >>> {exponential_choice([0, 10**6], [1, 5], Fraction(1)) for _ in range(20)}
    {0}
    """
    if len(losses) != len(counts) or not len(losses) or min(counts) < 1 or rate < 0:
        raise ArgumentError("losses come with as many positive counts, and a rate that is not negative")
    bits = source()
    word = bits.integer(64)
    if len(losses) <= _MOST_FLOATS and max(counts) <= _MOST_COUNT and trusted() and not _balls_only.get():
        place = _by_floats(losses, counts, rate, word)
        if place is not None:
            return place
    return _by_balls(bits, word, losses, counts, rate)


def _by_floats(losses: _Whole, counts: _Whole, rate: Fraction, word: int) -> int | None:
    """The place where floats leave no doubt; None where they do."""
    exponents = (np.asarray(losses) - losses[0]).astype(np.float64) * float(rate)
    weights = np.where(exponents <= _DEEPEST, np.exp(-np.minimum(exponents, _DEEPEST)), 0.0)
    sums = np.cumsum(weights * np.asarray(counts).astype(np.float64))
    whole = float(sums[-1])
    if not np.isfinite(whole):
        return None
    target = word / 2.0**64 * whole
    place = int(np.searchsorted(sums[:-1], target, side="right"))
    near = sums[max(place - 1, 0) : min(place + 1, len(sums) - 1)]
    return None if len(near) and float(np.abs(near - target).min()) <= _MARGIN * whole else place


def _by_balls(bits: Source, word: int, losses: _Whole, counts: _Whole, rate: Fraction) -> int:
    """The place in ball arithmetic, with as many bits of U as it takes."""
    read = 64
    while True:
        with precision(2 * read + 64):
            place = _found(arb(fmpz(word)), arb(fmpz(word + 1)), arb((1, -read)), losses, counts, rate, read)
        if place is not None:
            return place
        word, read = (word << 64) | bits.integer(64), read + 64


def _found(low: arb, high: arb, unit: arb, losses: _Whole, counts: _Whole, rate: Fraction, read: int) -> int | None:
    """The one place where U can fall; None where its bits do not say."""
    sums: list[arb] = []
    total = arb(0)
    enough = Fraction(read + 64)
    for loss, count in zip(map(int, losses), map(int, counts), strict=True):
        depth = rate * (loss - int(losses[0]))
        if depth > enough and sums:
            rest = sum(int(count) for count in counts[len(sums) :])
            tail = ball(rest) * (-ball(depth)).exp()
            total = total + tail / 2 + arb(0, 1) * tail / 2  # between nothing and all of it
            break
        total = total + ball(count) * (-ball(depth)).exp()
        sums.append(total)
    least, most = low * unit * total, high * unit * total
    for place, upto in enumerate(sums):
        if most < upto:
            before = place == 0 or least > sums[place - 1]
            return place if before else None
    if len(sums) == len(losses):
        return len(sums) - 1 if len(sums) == 1 or least > sums[-2] else None
    return None


def whole_below(bound: int) -> int:
    """A uniform integer from 0 to below a bound of any size, exactly.

    >>> sorted({whole_below(3) for _ in range(200)})
    [0, 1, 2]
    """
    if bound < 1:
        raise ArgumentError("a bound is 1 or more")
    bits, read = source(), 64
    word = bits.integer(64)
    while word * bound >> read != ((word + 1) * bound - 1) >> read:
        word, read = (word << 64) | bits.integer(64), read + 64
    return word * bound >> read
