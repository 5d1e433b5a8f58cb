"""The refinement engine: the exact rounding of an ideal real-valued draw.

The ideal mechanism draws uniforms U with infinitely many bits and computes a real number. What is released is
that number rounded to the nearest integer (the caller counts in cells of its grid). Here 64 bits of each U are
read and the number is computed in float64 with a rigorous radius of error; where the interval lies inside one
cell, the cell is known. Where it does not, about once in 10^5 draws, the number is enclosed by balls, with
more bits of the *same* U and more precision until it is decided. So the result never depends on rounding:
it is a function of U alone, and `decide_all_by_balls` computes the same one, slowly.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import trusted
from metricdp.exact.balls import precision
from metricdp.exact.bits import Source, Words, source

__all__ = [
    "BLOCK",
    "CELLS",
    "LOG_ERROR",
    "Approximation",
    "Formula",
    "Tally",
    "Uniforms",
    "decide_all_by_balls",
    "fraction",
    "nearest_integers",
    "settle_allocator",
    "signed_unit",
    "signed_unit_ball",
    "tally",
    "unit",
]

Integers = NDArray[np.int64]
Rows = slice | Integers

CELLS = 3 * 2**61 - 2
"""Draws further out than this many cells saturate.

That is beyond the end of every grid whatever the secret (`metricdp.exact.grid` holds secrets up to 2^61 cells and
results up to 2^62 - 2), so the release is what it would have been without: no draw is cut off relative to its secret.
A draw and its secret never add up past 64 bits.
"""

BLOCK = 1 << 15
"""Rows to draw at a time."""

TAIL = 2.0**-20
"""A uniform below this leaves too much of its logarithm to the bits not yet read; the balls take over."""

LOG_ERROR = 2.0**-42
"""A bound on the error of ``np.log(unit(words))``, and half that of a product of two units, and so on.

With U >= TAIL: the bits not read move ln U by at most 2^-63 / TAIL = 2^-43, the float nearest to U by 2^-52,
and numpy's error is at most ERROR * ln(1 / TAIL) < 2^-44. Together less than 2^-42.
"""


class Approximation(NamedTuple):
    """A batch of draws in float64.

    Attributes:
        values: one row for each output, one column for each draw; NaN where only balls can tell.
        radius: a bound on ``|value - ideal|``, for all draws or for each.
        keep: for rejection sampling, a margin for each draw: the ideal draw is kept where it is positive.
        keep_radius: a bound on the margin's error.
    """

    values: Floats
    radius: float | Floats
    keep: Floats | None = None
    keep_radius: float | Floats = 0.0


_FACTORS = 8


class Uniforms:
    """The uniforms of a draw as balls around the bits of them that were read, each made where it is used.

    Args:
        words: the bits of each, as an integer.
        read: how many bits.
    """

    def __init__(self, words: Sequence[int], read: int) -> None:
        self._words, self._read = words, read
        self._width = arb((1, -read - 1))

    def __getitem__(self, place: int) -> arb:
        return arb(arb((2 * self._words[place] + 1, -self._read - 1)), self._width)

    def product(self, first: int, last: int) -> arb:
        """The product of those from one place up to another, which is left out; of a few at a time in integers."""
        whole = arb(1)
        for start in range(first, last, _FACTORS):
            some = self._words[start : min(start + _FACTORS, last)]
            low, high = math.prod(some), math.prod(word + 1 for word in some)
            scale = -self._read * len(some) - 1
            whole *= arb(arb((low + high, scale)), arb((high - low, scale)))
        return whole


class Formula(Protocol):
    """An ideal draw as a function of uniforms, said twice: quickly in floats, rigorously in balls."""

    @property
    def uniforms(self) -> int:
        """How many uniforms a draw takes."""
        ...

    @property
    def outputs(self) -> int:
        """How many numbers it gives."""
        ...

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """The draws for the given rows of the input, from words of shape (uniforms, rows)."""
        ...

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """One draw at the working precision: the outputs wanted and, if draws may be rejected, the margin."""
        ...


@dataclass
class Tally:
    """How many draws were made, and how many of them needed balls; by any number of threads."""

    draws: int = 0
    refined: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, draws: int, refined: int) -> None:
        """Count some more."""
        with self._lock:
            self.draws += draws
            self.refined += refined


_tally: ContextVar[Tally | None] = ContextVar("metricdp_tally", default=None)
_balls_only: ContextVar[bool] = ContextVar("metricdp_balls_only", default=False)


@contextmanager
def tally() -> Iterator[Tally]:
    """Count the draws made inside the block.

    >>> import metricdp as mdp
    >>> with tally() as count:
    ...     _ = mdp.laplace(mdp.metrics.absolute()).release([0.0] * 100)
    >>> count.draws
    100
    """
    count = Tally()
    token = _tally.set(count)
    try:
        yield count
    finally:
        _tally.reset(token)


@contextmanager
def decide_all_by_balls() -> Iterator[None]:
    """Trust no float inside the block: the slow path that the quick one must agree with, bit for bit.

    >>> import metricdp as mdp
    >>> with mdp.seeded(1):
    ...     quick = mdp.laplace(mdp.metrics.absolute()).release(0.0)
    >>> with mdp.seeded(1), decide_all_by_balls():
    ...     mdp.laplace(mdp.metrics.absolute()).release(0.0) == quick
    True
    """
    token = _balls_only.set(True)
    try:
        yield
    finally:
        _balls_only.reset(token)


def nearest_integers(formula: Formula, count: int) -> Integers:
    """Draw ``count`` times from the formula and round each output to the nearest integer, exactly.

    A caller with many rows asks for a `BLOCK` at a time, so that work stays in the processor's cache.
    """
    bits = source()
    with np.errstate(all="ignore"):  # whatever the caller would have raised, a NaN here is undecided and nothing more
        return _nearest_integers(formula, count, bits)


def _nearest_integers(formula: Formula, count: int, bits: Source) -> Integers:
    result = np.empty((formula.outputs, count), dtype=np.int64)
    by_balls = _balls_only.get() or not trusted()
    pending = _attempt(formula, bits, slice(0, count), np.arange(count), result, by_balls)
    while pending.size:
        pending = _attempt(formula, bits, pending, pending, result, by_balls)
    return result


def _attempt(
    formula: Formula, bits: Source, rows: Rows, numbers: Integers, result: Integers, by_balls: bool
) -> Integers:
    """Draw once for each row; write what was kept and return the numbers of the rows to be drawn again."""
    words = bits.words(formula.uniforms * numbers.size).reshape(formula.uniforms, numbers.size)
    values, radius, keep, keep_radius = formula.approximate(words, rows)
    nearest = np.rint(values)
    distance = np.abs(np.subtract(values, nearest, out=values), out=values)
    result[:, rows] = nearest  # NaN, the undecided, casts to something that is overwritten below
    decided = distance < 0.5 - radius  # at 1/2 from the integer the next cell begins
    again: list[int] = []
    if keep is not None:
        decided = decided.all(axis=0) & (np.abs(keep) > keep_radius)
        again = np.flatnonzero(decided & (keep < 0) & (not by_balls)).tolist()
    undecided = _where_not(decided, by_balls)
    for column in undecided:
        row = int(numbers[column])
        every = by_balls or keep is not None
        wanted = list(range(len(result))) if every else np.flatnonzero(~decided[:, column]).tolist()
        cells = _refine(formula, bits, words[:, column].tolist(), row, wanted, keep is not None)
        if cells is None:
            again.append(int(column))
        else:
            result[wanted, row] = cells
    count = _tally.get()
    if count is not None:
        count.add(numbers.size, len(undecided))
    return numbers[np.sort(np.array(again, dtype=np.int64))]


@functools.cache
def settle_allocator() -> None:
    """Free one large array, once.

    It raises the sizes from which the C library gives memory back to the system after every use. Without that, the
    short-lived arrays of a block are paged in anew for each block, at up to half the speed. Elsewhere it does nothing.
    """
    np.empty((1 << 22) - 1024)


def _where_not(decided: NDArray[np.bool_], by_balls: bool) -> Integers:
    """The columns in which not every output is decided."""
    if by_balls:
        return np.arange(decided.shape[-1])
    if decided.all():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(~(decided if decided.ndim == 1 else decided.all(axis=0)))


def _refine(
    formula: Formula, bits: Source, words: list[int], row: int, wanted: list[int], may_reject: bool
) -> list[int] | None:
    """Decide outputs of one draw by balls, reading more bits of its uniforms as needed; None where it is rejected."""
    read = 64
    while True:
        with precision(64 + 2 * read):
            outputs = formula.ball(Uniforms(words, read), row, wanted)
            margin = outputs.pop() if may_reject else None
            if margin is not None and margin < 0:
                return None
            if margin is None or margin > 0:
                cells = [(output + arb((1, -1))).floor().unique_fmpz() for output in outputs]
                known = [_saturate(cell) for cell in cells if cell is not None]
                if len(known) == len(cells):
                    return known
        words = [(word << read) | bits.integer(read) for word in words]
        read *= 2


def _saturate(cell: fmpz) -> int:
    return max(-CELLS, min(CELLS, int(cell)))


def fraction(words: Words) -> Floats:
    """Uniforms on [0, 1] as floats, within 2^-53 of the ideal.

    From 63 of the bits, because processors turn signed integers into floats ten times as fast as others.
    """
    values = (words >> np.uint64(1)).view(np.int64).astype(np.float64)
    values *= 2.0**-63
    return values


def unit(words: Words) -> Floats:
    """Uniforms to take logarithms of: as floats, NaN below `TAIL`; see `LOG_ERROR`."""
    return _without_tail(fraction(words))


def signed_unit(words: Words) -> tuple[Floats, Floats]:
    """Floats whose sign is fair, and units from the other 63 bits; `signed_unit_ball` says it in balls."""
    magnitudes = (words & np.uint64(2**63 - 1)).view(np.int64).astype(np.float64)
    magnitudes *= 2.0**-63
    return words.view(np.float64), _without_tail(magnitudes)


def signed_unit_ball(uniform: arb) -> tuple[int, arb]:
    """The sign that the first bit of U gives, and the uniform that its other bits are."""
    first = int(uniform.mid() > arb((1, -1)))  # the midpoint lies inside, so its first bit is U's
    return 1 - 2 * first, 2 * uniform - first


def _without_tail(values: Floats) -> Floats:
    if values.min() < TAIL:
        values[values < TAIL] = np.nan
    return values
