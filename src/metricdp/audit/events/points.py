"""Releases as points: rows of numbers."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.machine import fields, numbers
from metricdp.exact.arrays import Floats

__all__ = ["are_gathered", "as_points", "medians", "points_of"]

_LARGEST = 10**308  # an int beyond it has no float
_LOOKED_AT = 2000
_MOMENTS = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
_NUMBERS_IN = (complex, np.complexfloating, Decimal, Fraction, dict, tuple, list, np.ndarray, *_MOMENTS)
_PLAIN = {int, float, bool, str, type(None), np.float64, np.int64}  # most are, and a set is asked quicker


def as_points(releases: Any, size: int | None = None) -> Floats | None:
    """The releases as rows of numbers, with NaN where one is no point of that size; None where none is one of any size.

    A single number is a point of one coordinate, and so is a date. Complex numbers, tables, nested lists and
    dictionaries are the numbers in them, one after the other. Without a size, the most frequent one.
    """
    if isinstance(releases, np.ndarray):
        if releases.dtype.kind == "M" and releases.ndim == 1:
            return np.where(np.isnat(releases), np.nan, releases.astype(np.int64).astype(np.float64))[:, None]
        if releases.dtype.kind == "c":
            releases = np.stack([releases.real, releases.imag], axis=-1)
        if releases.dtype.kind in "biuf" and releases.size:
            return np.asarray(releases.reshape(len(releases), -1), dtype=np.float64)
        return None
    if size is None:
        sizes = Counter(found for release in releases[:_LOOKED_AT] if (found := _size(release)) is not None)
        if not sizes:
            return None
        size = sizes.most_common(1)[0][0]
    points = np.full((len(releases), size), np.nan)
    for row, release in enumerate(releases):
        if _gathered(release):
            found = numbers(release)
            if found is not None and len(found) == size:
                points[row] = found
        elif _plain_size(release) == size:
            points[row] = np.asarray(release, dtype=np.float64)
    return points


def are_gathered(releases: Any) -> bool:
    """Whether releases are no points as they stand, and the numbers in them have to be gathered.

    >>> are_gathered([1j]), are_gathered([(1.0, 2.0), 3.0]), are_gathered(np.zeros((5, 2, 2)))
    (True, False, True)
    """
    if isinstance(releases, np.ndarray):
        return releases.dtype.kind == "c" or releases.ndim > 2
    return any(
        _gathered(release) or (isinstance(release, (tuple, list)) and len(release) == 1)
        for release in releases[:_LOOKED_AT]
    )


def _gathered(release: Any) -> bool:
    if isinstance(release, np.ndarray):
        return release.ndim != 1 or release.dtype.kind == "c"
    if isinstance(release, (tuple, list)):
        return any(type(part) not in _PLAIN and isinstance(part, _NUMBERS_IN) for part in release)
    return type(release) not in _PLAIN and (
        isinstance(release, _NUMBERS_IN)
        or hasattr(type(release), "to_numpy")
        or (not isinstance(release, (np.generic, str, bytes, int, float)) and fields(release) is not None)
    )


def _size(release: Any) -> int | None:
    """How many numbers a release is; None where it is something else."""
    if _gathered(release):
        found = numbers(release)
        return None if found is None else len(found)
    return _plain_size(release)


def _plain_size(release: Any) -> int | None:
    if isinstance(release, int) and abs(release) > _LARGEST:
        return None
    if isinstance(release, (int, float, np.number)) and not isinstance(release, bool):
        return 1
    if isinstance(release, np.ndarray):
        return int(release.size) if release.dtype.kind in "biuf" and release.ndim == 1 and release.size else None
    if isinstance(release, (tuple, list)) and release:
        only_numbers = all(
            isinstance(part, (int, float, np.number)) and not (isinstance(part, int) and abs(part) > _LARGEST)
            for part in release
        )
        return len(release) if only_numbers else None
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


def medians(points: Floats) -> Floats:
    """The median of each column; the largest float where a column has no number.

    >>> medians(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [2.0, 1.7976931348623157e+308]
    """
    largest = np.finfo(np.float64).max
    return np.array([np.median(some) if (some := each[~np.isnan(each)]).size else largest for each in points.T])
