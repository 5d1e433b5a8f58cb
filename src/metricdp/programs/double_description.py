"""The extreme rays of a cone given by inequalities, in integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import TooLargeError
from metricdp.exact.progress import Stopwatch

__all__ = ["extreme_rays"]

_BLOCK = 256

Ray = tuple[int, ...]
Marks = NDArray[np.bool_]


def extreme_rays(
    dimension: int,
    inequalities: Sequence[Sequence[int]],
    most: int,
    what: str = "rays",
    watch: Stopwatch | None = None,
) -> list[Ray]:
    """The extreme rays of ``{v >= 0 : c · v >= 0 for each c}``, each as integers without a common divisor.

    The double description method: the inequalities are added one by one to the orthant. A ray that breaks the new one
    goes, and each of its edges to a ray that keeps it strictly is cut where it meets the new plane. Two rays share an
    edge iff no third is tight wherever both are.

    Args:
        dimension: of v.
        inequalities: the vectors c.
        most: how many rays there may be, at any step.
        what: the name of the rays in the error.
        watch: says when to stop.

    Raises:
        TooLargeError: if there are more than ``most`` rays at some step (says how many to expect), or the time limit
            is reached.

    References:
        Motzkin, Raiffa, Thompson and Thrall 1953, *The double description method*.

    >>> extreme_rays(3, [[1, 1, -1]], most=10)
    [(0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1)]
    """
    rays = [tuple(int(place == axis) for place in range(dimension)) for axis in reversed(range(dimension))]
    tight = np.zeros((dimension, dimension + len(inequalities)), dtype=bool)
    tight[:, :dimension] = [[entry == 0 for entry in ray] for ray in rays]
    clock = watch or Stopwatch()
    task = f"to find all {what}"
    for number, c in enumerate(inequalities):
        clock.check(task, number, len(inequalities), "inequalities")
        column = dimension + number
        used = [(place, entry) for place, entry in enumerate(c) if entry]
        values = [sum(entry * ray[place] for place, entry in used) for ray in rays]
        cut, common = _cut(rays, tight, values, dimension, lambda: clock.check(task))
        kept = [k for k, value in enumerate(values) if value >= 0]
        tight[:, column] = [value == 0 for value in values]
        common[:, column] = True
        rays, tight = [rays[k] for k in kept] + cut, np.concatenate([tight[kept], common])
        if len(rays) > most:
            expected = _expected(dimension, len(rays), (number + 1) / len(inequalities))
            raise TooLargeError(
                f"more than {most} {what} after {number + 1} of {len(inequalities)} inequalities, and {expected} to "
                "expect after all of them; use fewer points, actions or outputs",
                f"{expected} {what}",
            )
    return rays


def _expected(first: int, now: int, share: float) -> str:
    """How many there will be if they go on to grow by the same factor with each inequality."""
    power = math.log10(first) + (math.log10(now) - math.log10(first)) / share
    return f"about 10^{power:.0f}" if power >= 7 else f"about {float(f'{10**power:.1g}'):.0f}"


def _cut(
    rays: list[Ray], tight: Marks, values: list[int], dimension: int, check: Callable[[], None]
) -> tuple[list[Ray], Marks]:
    """Where the edges between the two sides meet the plane, and where these points were tight before."""
    inside = [k for k, value in enumerate(values) if value > 0]
    outside = [k for k, value in enumerate(values) if value < 0]
    if not inside or not outside:
        return [], tight[:0].copy()
    holders = [_bits(column) for column in tight.T]
    masks = [_bits(row) for row in tight]
    everyone = (1 << len(rays)) - 1
    found, marks = [], []
    theirs = tight[outside].T.astype(np.float32)  # counts of this size are exact in floats
    for start in range(0, len(inside), _BLOCK):
        check()
        block = inside[start : start + _BLOCK]
        rows, places = np.nonzero(tight[block].astype(np.float32) @ theirs >= dimension - 2)
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            p, q = block[row], outside[place]
            if _only(masks[p] & masks[q], holders, everyone, (1 << p) | (1 << q)):
                up, down = values[p], -values[q]
                mixed = [down * a + up * b for a, b in zip(rays[p], rays[q], strict=True)]
                divisor = math.gcd(*mixed)
                found.append(tuple(value // divisor for value in mixed))
                marks.append(tight[p] & tight[q])
    return found, np.array(marks, dtype=bool).reshape(len(marks), tight.shape[1])


def _bits(marks: Marks) -> int:
    """The marks as the bits of an integer."""
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


def _only(both: int, holders: list[int], held: int, pair: int) -> bool:
    """Whether no third ray is tight at all inequalities of ``both``."""
    while both:
        lowest = both & -both
        held &= holders[lowest.bit_length() - 1]
        if held == pair:
            return True
        both ^= lowest
    return held == pair
