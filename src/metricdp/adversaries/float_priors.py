"""Priors as floats, one or many at once: for the fast paths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from metricdp.adversaries.prior import ROUNDING, as_prior, check_name
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats

__all__ = ["Priors", "are_many", "float_prior", "float_priors", "float_shares"]

Priors = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""Many priors at once: an array of floats, one prior a row."""


def float_prior(value: Any, points: Sequence[Any]) -> Floats:
    """The same as floats, without the detour through integers where floats were given; for the fast paths.

    >>> float_prior([0.25, 0.75], "ab").tolist()
    [0.25, 0.75]
    """
    shares, total = float_shares(value, points)
    return shares if total == 1 else shares / total


def float_shares(value: Any, points: Sequence[Any]) -> tuple[Floats, float]:
    """The same before the division: floats in proportion, and their sum, to divide a single result by instead.

    >>> shares, total = float_shares([0.25, 0.75], "ab")
    >>> shares.tolist(), total
    ([0.25, 0.75], 1.0)
    """
    whole = type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (len(points),)
    # The methods below do not go through a ufunc of numpy's, which takes longer than short sums do.
    if whole and value.item(value.argmin()) >= 0:  # no NaN, then; what is refused here gets its error further on
        total = float(value.dot(_ones(len(value))))
        if abs(total - 1) <= ROUNDING:
            return value, total
    if isinstance(value, str):
        check_name(value)
        return _ones(len(points)), float(len(points))
    return as_prior(value, points).floats, 1.0


def are_many(prior: Any) -> TypeGuard[NDArray[Any]]:
    """Whether these are many priors, one a row of an array, rather than one."""
    return isinstance(prior, np.ndarray) and prior.ndim == 2


def float_priors(values: NDArray[Any], points: Sequence[Any]) -> tuple[Priors, Floats]:
    """Many priors at once, one a row: floats in proportion, and the sum of each row.

    Raises:
        ArgumentError: a row is no distribution over the points; names the row.

    >>> shares, totals = float_priors(np.array([[0.25, 0.75], [1.0, 0.0]]), "ab")
    >>> shares.tolist(), totals.tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [1.0, 1.0])
    """
    if values.dtype.kind not in "fiu":
        raise ArgumentError(f"many priors at once are an array of floats, one prior a row, not of {values.dtype}")
    if values.shape[1] != len(points):
        raise ArgumentError(
            f"priors of {values.shape[1]} probabilities for {len(points)} secrets: give a column for each"
        )
    rows: Priors = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        totals: Floats = rows.dot(_ones(len(points)))
    good = np.abs(totals - 1) <= ROUNDING
    if rows.size and not rows.item(rows.argmin()) >= 0:
        good &= (rows >= 0).all(axis=1)
    for row in np.flatnonzero(~good).tolist():
        try:
            as_prior(rows[row], points)
        except ArgumentError as error:
            raise ArgumentError(f"row {row}: {error}") from None
    return rows, totals


@lru_cache(maxsize=64)
def _ones(length: int) -> Floats:
    ones = np.ones(length)
    ones.setflags(write=False)
    return ones
