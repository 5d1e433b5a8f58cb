"""Batches put together and taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch
from metricdp.exact.arrays import Booleans

__all__ = ["part_of", "some_of", "together"]


def together(batches: Sequence[Batch]) -> Batch:
    """One batch after the other; a list where they are not arrays of one shape.

    >>> together([Batch(np.zeros((2, 3))), Batch(np.zeros((1, 2)))]).releases
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0]]
    """
    if len(batches) == 1:
        return batches[0]
    parts = [batch.releases for batch in batches]
    seconds = [batch.seconds for batch in batches if batch.seconds is not None]
    releases: Any
    if all(isinstance(part, np.ndarray) for part in parts) and len({part.shape[1:] for part in parts}) == 1:
        releases = np.concatenate(parts)
    else:
        releases = [release for part in parts for release in (part.tolist() if isinstance(part, np.ndarray) else part)]
    return Batch(releases, np.concatenate(seconds) if len(seconds) == len(parts) else None)


def part_of(batch: Batch, rows: slice) -> Batch:
    """Neighbouring releases of a batch."""
    return Batch(batch.releases[rows], None if batch.seconds is None else batch.seconds[rows])


def some_of(batch: Batch, rows: Booleans) -> Batch:
    """Some releases of a batch.

    >>> some_of(Batch(["a", "b", "c"]), np.array([True, False, True])).releases
    ['a', 'c']
    """
    releases = batch.releases
    kept = releases[rows] if isinstance(releases, np.ndarray) else [releases[row] for row in np.flatnonzero(rows)]
    return Batch(kept, None if batch.seconds is None else batch.seconds[rows])
