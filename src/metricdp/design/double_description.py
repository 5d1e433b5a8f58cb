"""The extreme rays of a cone given by inequalities, in integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from metricdp.errors import LevelError

__all__ = ["extreme_rays"]

Ray = tuple[int, ...]


def extreme_rays(dimension: int, inequalities: Sequence[Sequence[int]], most: int, what: str = "rays") -> list[Ray]:
    """The extreme rays of ``{v >= 0 : c · v >= 0 for each c}``, each as integers without a common divisor.

    The double description method: the inequalities are added one by one to the orthant. A ray that breaks the new one
    goes, and each of its edges to a ray that keeps it strictly is cut where it meets the new plane. Two rays share an
    edge iff no third is tight wherever both are.

    Args:
        dimension: of v.
        inequalities: the vectors c.
        most: how many rays there may be, at any step.
        what: the name of the rays in the error.

    Raises:
        LevelError: more than ``most`` rays.

    References:
        Motzkin, Raiffa, Thompson and Thrall 1953, *The double description method*.

    >>> extreme_rays(3, [[1, 1, -1]], most=10)
    [(0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1)]
    """
    rays = [tuple(int(place == axis) for place in range(dimension)) for axis in reversed(range(dimension))]
    full = (1 << dimension) - 1
    tight = [full & ~(1 << ray.index(1)) for ray in rays]
    for number, c in enumerate(inequalities):
        bit = 1 << (dimension + number)
        used = [(place, entry) for place, entry in enumerate(c) if entry]
        values = [sum(entry * ray[place] for place, entry in used) for ray in rays]
        outside = [k for k, value in enumerate(values) if value < 0]
        if outside:
            inside = [k for k, value in enumerate(values) if value > 0]
            cut = _cut(rays, tight, values, (inside, outside), dimension)
        else:
            cut = []
        kept = [k for k, value in enumerate(values) if value >= 0]
        rays, tight = (
            [rays[k] for k in kept] + [ray for ray, _ in cut],
            [tight[k] | (0 if values[k] else bit) for k in kept] + [common | bit for _, common in cut],
        )
        if len(rays) > most:
            raise LevelError(
                f"more than {most} {what} after {number + 1} of {len(inequalities)} inequalities: take fewer points, "
                "actions or outputs"
            )
    return rays


def _cut(
    rays: list[Ray], tight: list[int], values: list[int], sides: tuple[list[int], list[int]], dimension: int
) -> list[tuple[Ray, int]]:
    """Where the edges between the two sides meet the plane, and where these points were tight before."""
    holders = _holders(tight)
    everyone = (1 << len(rays)) - 1
    found = []
    for p in sides[0]:
        for q in sides[1]:
            common = tight[p] & tight[q]
            if common.bit_count() >= dimension - 2 and _only(common, holders, everyone, (1 << p) | (1 << q)):
                up, down = values[p], -values[q]
                mixed = [down * a + up * b for a, b in zip(rays[p], rays[q], strict=True)]
                divisor = math.gcd(*mixed)
                found.append((tuple(value // divisor for value in mixed), common))
    return found


def _holders(tight: list[int]) -> list[int]:
    """For each inequality the set of rays that are tight there, as bits."""
    holders = [0] * max(mask.bit_length() for mask in tight)
    for k, mask in enumerate(tight):
        while mask:
            lowest = mask & -mask
            holders[lowest.bit_length() - 1] |= 1 << k
            mask ^= lowest
    return holders


def _only(common: int, holders: list[int], held: int, pair: int) -> bool:
    """Whether no other ray is tight at all of ``common``."""
    while common:
        if held == pair:
            return True
        lowest = common & -common
        held &= holders[lowest.bit_length() - 1]
        common ^= lowest
    return held == pair
