"""Releases as points: rows of numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch
from metricdp.exact.arrays import Floats

__all__ = ["as_points", "points_of"]

_LARGEST = 10**308  # an int beyond it has no float


def as_points(releases: Any, size: int | None = None) -> Floats | None:
    """The releases as rows of numbers, with NaN where one is no point of that size; None where none is one of any size.

    A single number is a point of one coordinate, and so is a date. Without a size, the most frequent one.
    """
    if isinstance(releases, np.ndarray):
        if releases.dtype.kind == "M" and releases.ndim == 1:
            return np.where(np.isnat(releases), np.nan, releases.astype(np.int64).astype(np.float64))[:, None]
        if releases.dtype.kind in "biuf" and releases.ndim in (1, 2):
            return np.asarray(releases.reshape(len(releases), -1), dtype=np.float64)
        return None
    if size is None:
        sizes = Counter(found for release in releases[:2000] if (found := _size(release)) is not None)
        if not sizes:
            return None
        size = sizes.most_common(1)[0][0]
    points = np.full((len(releases), size), np.nan)
    for row, release in enumerate(releases):
        if _size(release) == size:
            points[row] = np.asarray(release, dtype=np.float64)
    return points


def _size(release: Any) -> int | None:
    """How many numbers a release is; None where it is something else."""
    if isinstance(release, int) and abs(release) > _LARGEST:
        return None
    if isinstance(release, (int, float, np.number)) and not isinstance(release, bool):
        return 1
    if isinstance(release, np.ndarray):
        return int(release.size) if release.dtype.kind in "biuf" and release.ndim == 1 and release.size else None
    if isinstance(release, (tuple, list)) and release:
        numbers = all(
            isinstance(part, (int, float, np.number)) and not (isinstance(part, int) and abs(part) > _LARGEST)
            for part in release
        )
        return len(release) if numbers else None
    return None


def points_of(batch: Batch, size: int) -> Floats:
    """The points of a batch with so many coordinates, computed once."""
    found = batch.__dict__.get("_points")
    if found is None:
        found = as_points(batch.releases, size)
        if found is None or found.shape[1] != size:
            found = np.full((len(batch), size), np.nan)
        batch.__dict__["_points"] = found
    return found
