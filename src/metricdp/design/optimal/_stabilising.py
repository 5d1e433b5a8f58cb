"""Prices that move with care: a step of the level method, by interior points.

The prices that a few columns suggest lie far off, and jump. So the next ones are sought near the best so far, y':

    maximise  b . y - |y - y'|² / (2 t)   with   A^T y <= c,

one row of A^T for each column of the master. In its dual the equations ``A x = b`` may be missed by ``(y - y') / t``.
The step t is steered so that the promised rise is a set part of the gap between loss and bound.
"""

from __future__ import annotations

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["near_prices"]

_MOST_STEPS = 80


@np.errstate(all="ignore")  # what is not finite is caught below
def near_prices(sums: Floats, prices: Floats, right: Floats, centre: Floats, pull: Floats, tolerance: float) -> Floats:
    """The y that maximises ``right . y - Σ pull (y - centre)² / 2`` with ``sums^T y <= prices``, to a tolerance.

    By Mehrotra's predictor and corrector, with the same step for both sides.
    """
    y = centre.copy()
    spare = np.maximum(prices - sums.T @ y, 1e-2 * float(np.abs(prices).mean()) + 1e-12)
    x = np.full(len(prices), len(right) / len(prices) + 1e-3)
    for _ in range(_MOST_STEPS):
        unmet = right - sums @ x - pull * (y - centre)
        off = prices - sums.T @ y - spare
        product = x * spare
        if product.sum() < tolerance and np.abs(off).max() < 1e-9 and np.abs(unmet).max() < 1e-6:
            break
        ratio = x / spare
        system = (sums * ratio) @ sums.T
        system[np.diag_indices(len(right))] += pull + 1e-15 * float(system.trace())
        try:
            inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:  # as near as floats can go
            break

        def step(target: Floats) -> tuple[Floats, Floats, Floats]:
            dy = inverse @ (unmet + sums @ (ratio * off - target / spare))  # noqa: B023  # used at once
            ds = off - sums.T @ dy  # noqa: B023
            return target / spare - ratio * ds, dy, ds  # noqa: B023

        dx, _, ds = step(-product)
        length = min(1.0, _length(x, dx), _length(spare, ds))
        ahead = float((x + length * dx) @ (spare + length * ds)) / max(float(product.sum()), 1e-300)
        dx, dy, ds = step(max(ahead**3, 1e-3) * product.mean() - product - dx * ds)
        length = min(1.0, 0.95 * _length(x, dx), 0.95 * _length(spare, ds))
        if not (np.isfinite(dx).all() and np.isfinite(dy).all() and np.isfinite(ds).all()):
            break
        x, y, spare = x + length * dx, y + length * dy, spare + length * ds
    return y


def _length(values: Floats, change: Floats) -> float:
    """How far one can go before an entry is negative."""
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=2.0))
