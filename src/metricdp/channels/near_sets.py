"""Points in sets that are near each other, for what is done to thousands of them a set at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["near_sets"]


def near_sets(distances: Floats, most: int) -> Iterator[Places]:
    """All points in sets of ``most`` at most that are near each other: halved between two that are far apart.

    >>> [some.tolist() for some in near_sets(np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))), 2)]
    [[1, 0], [3, 2]]
    """
    left = [np.arange(len(distances))]
    while left:
        some = left.pop()
        if len(some) <= most:
            yield some
            continue
        one = some[distances[some[0], some].argmax()]
        two = some[distances[one, some].argmax()]
        with np.errstate(invalid="ignore"):
            nearer = np.nan_to_num(distances[one, some] - distances[two, some])
        order = some[np.argsort(nearer, kind="stable")]
        left += [order[: len(order) // 2], order[len(order) // 2 :]]
