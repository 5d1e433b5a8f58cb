"""Prices that move with care, and weights of columns: interior points for both.

The prices that a few columns suggest lie far off, and jump. So the next ones are sought near the best so far, y':

    maximise  b . y - |y - y'|² / (2 t)   with   A^T y <= c,

one row of A^T for each column of the master. In its dual the equations ``A x = b`` may be missed by ``(y - y') / t``:
where t is large, x are the weights of the columns that cost least. The step t is steered so that the promised rise is a
set part of the gap between loss and bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["interior_point", "met", "near_prices", "never", "solver"]

_MOST_STEPS = 80
_EVEN = 2.0**-49
_LARGE = 500
_BLOCK = 256


def never() -> bool:
    """Not late, whatever the time."""
    return False


def near_prices(sums: Floats, prices: Floats, right: Floats, centre: Floats, pull: Floats, tolerance: float) -> Floats:
    """The y that maximises ``right . y - Σ pull (y - centre)² / 2`` with ``sums^T y <= prices``, to a tolerance."""
    return interior_point(np.ascontiguousarray(sums.T), prices, right, centre, pull, tolerance)[1]


@np.errstate(all="ignore")  # what is not finite is caught below
def interior_point(
    columns: Floats,
    prices: Floats,
    right: Floats,
    centre: Floats,
    pull: Floats,
    tolerance: float,
    late: Callable[[], bool] = never,
) -> tuple[Floats, Floats, bool]:
    """The same y, with the weights x of the columns (one row each), and whether the tolerance was reached in time.

    By Mehrotra's predictor and corrector, with the same step for both sides.
    """
    y = centre.copy()
    spare = np.maximum(prices - columns @ y, 1e-2 * float(np.abs(prices).mean()) + 1e-12)
    x = np.full(len(prices), len(right) / len(prices) + 1e-3)
    for _ in range(_MOST_STEPS):
        unmet = right - x @ columns - pull * (y - centre)
        off = prices - columns @ y - spare
        product = x * spare
        if product.sum() < tolerance and np.abs(off).max() < 1e-9 and np.abs(unmet).max() < 1e-6:
            return x, y, True
        if late():
            break
        ratio = x / spare
        scaled = columns * np.sqrt(ratio)[:, None]
        system = scaled.T @ scaled
        del scaled
        system[np.diag_indices(len(right))] += pull + 1e-15 * float(system.trace())
        try:
            solve = solver(system)
        except np.linalg.LinAlgError:  # as near as floats can go
            break

        def step(target: Floats) -> tuple[Floats, Floats, Floats]:
            dy = solve(unmet + (ratio * off - target / spare) @ columns)  # noqa: B023  # used at once
            ds = off - columns @ dy  # noqa: B023
            return target / spare - ratio * ds, dy, ds  # noqa: B023

        dx, _, ds = step(-product)
        length = min(1.0, _length(x, dx), _length(spare, ds))
        ahead = float((x + length * dx) @ (spare + length * ds)) / max(float(product.sum()), 1e-300)
        dx, dy, ds = step(max(ahead**3, 1e-3) * product.mean() - product - dx * ds)
        length = min(1.0, 0.95 * _length(x, dx), 0.95 * _length(spare, ds))
        if not (np.isfinite(dx).all() and np.isfinite(dy).all() and np.isfinite(ds).all()):
            break
        x, y, spare = x + length * dx, y + length * dy, spare + length * ds
    return x, y, False


@np.errstate(all="ignore")
def met(columns: Floats, weights: Floats, right: Floats, late: Callable[[], bool] = never) -> Floats | None:
    """Positive weights near the given ones with ``weights @ columns = right`` to the last digits; None without any."""
    found = np.maximum(weights, 0.0)
    for _ in range(5):
        missing = right - found @ columns
        if float(np.abs(missing).max()) < _EVEN * float(np.abs(right).max()):
            return found
        if late():
            return None
        scaled = columns * np.sqrt(found)[:, None]
        system = scaled.T @ scaled
        system[np.diag_indices(len(right))] += 1e-15 * float(system.trace()) / len(right)
        try:
            step = found * (columns @ solver(system)(missing))
        except np.linalg.LinAlgError:
            return None
        if not (np.isfinite(step).all() and (found + step >= 0).all()):
            return None
        found = found + step
    return found if float(np.abs(right - found @ columns).max()) < 1e-12 * float(np.abs(right).max()) else None


def solver(system: Floats) -> Callable[[Floats], Floats]:
    """What solves the equations of a symmetric positive definite matrix, one right side after the other.

    For many equations by Cholesky's factor, which takes a sixth of the time of an inverse; blocks on its diagonal are
    inverted, the rest is products.

    Raises:
        numpy.linalg.LinAlgError: if the matrix is singular.

    >>> solver(np.array([[2.0, 0.0], [0.0, 4.0]]))(np.array([1.0, 1.0])).tolist()
    [0.5, 0.25]
    """
    if len(system) < _LARGE:
        return np.linalg.inv(system).__matmul__
    try:
        factor = np.linalg.cholesky(system)
    except np.linalg.LinAlgError:  # not definite, by rounding
        return np.linalg.inv(system).__matmul__
    blocks = [slice(start, min(start + _BLOCK, len(system))) for start in range(0, len(system), _BLOCK)]
    inverses = [np.linalg.inv(factor[block, block]) for block in blocks]

    def solve(right: Floats) -> Floats:
        found = right.astype(np.float64)
        for block, inverse in zip(blocks, inverses, strict=True):
            found[block] = inverse @ (found[block] - factor[block, : block.start] @ found[: block.start])
        for block, inverse in zip(reversed(blocks), reversed(inverses), strict=True):
            found[block] = inverse.T @ (found[block] - factor[block.stop :, block].T @ found[block.stop :])
        return found

    return solve


def _length(values: Floats, change: Floats) -> float:
    """How far one can go before an entry is negative."""
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=2.0))
