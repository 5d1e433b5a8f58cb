"""The shares of greatest likelihood for released counts, by Newton's method with a barrier."""

from __future__ import annotations

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["MOST_SECRETS", "greatest_likelihood"]

MOST_SECRETS = 1500
"""More secrets than this are left to updates: a step solves as many equations."""

_STEPS = 60
_TO_THE_WALL = 0.995
_NARROWED = 0.1
_LEAST_SLACK = 0.1


def greatest_likelihood(parts: Floats, law: Floats, gap: float, most: int = _STEPS) -> tuple[Floats, int, bool]:
    """Shares s >= 0 that make ``sum_z parts_z ln (sum_x s_x law_xz) - sum_x s_x`` greatest; they add up to 1 there.

    With ``ratio_x = sum_z law_xz parts_z / (sum_x' s_x' law_x'z)`` the conditions are ``ratio_x + slack_x = 1`` and
    ``s_x slack_x = 0``, with both at least 0. Newton's method is applied to ``s_x slack_x = m`` for a barrier m that
    goes to 0. By concavity no shares are higher by more than the greatest ratio less 1, and that ends it.

    Args:
        parts: the share of each output among those that were released, none of them 0.
        law: the probability of each of these outputs (columns) for each secret (rows).
        gap: how far from the maximum the log-likelihood may be, per row.
        most: steps at most, and 60 in any case: where they come to no end, updates go on.

    Returns:
        The shares, the number of steps, and whether the gap is proved.

    >>> shares, steps, proved = greatest_likelihood(np.array([0.7, 0.3]), np.array([[0.75, 0.25], [0.25, 0.75]]), 1e-9)
    >>> shares.round(6).tolist(), proved
    ([0.9, 0.1], True)
    """
    size = len(law)
    shares, done = np.full(size, 1 / size), 0
    mixed = shares @ law
    ratios = law @ (parts / mixed)
    slack = np.maximum(1 - ratios, _LEAST_SLACK)
    while done < min(most, _STEPS):
        whole = shares.sum()
        if float(ratios.max()) * whole - 1 <= gap:  # those of shares that add up to 1
            return shares / whole, done, True
        done += 1
        barrier = _NARROWED * float(shares @ slack) / size
        scaled = law * (np.sqrt(parts) / mixed)
        curve = scaled @ scaled.T
        curve.flat[:: size + 1] += slack / shares
        try:
            step = np.asarray(np.linalg.solve(curve, ratios - 1 + barrier / shares), dtype=np.float64)
        except np.linalg.LinAlgError:
            break
        change = barrier / shares - slack - slack / shares * step
        stride = _TO_THE_WALL * min(1 / _TO_THE_WALL, _room(shares, step), _room(slack, change))
        shares, slack = shares + stride * step, slack + stride * change
        mixed = shares @ law
        if not np.isfinite(mixed).all() or not (mixed > 0).all():
            break
        ratios = law @ (parts / mixed)
    shares = np.maximum(np.nan_to_num(shares), 0)
    whole = shares.sum()
    return (shares / whole if whole > 0 else np.full(size, 1 / size)), done, False


def _room(values: Floats, step: Floats) -> float:
    """How many times the step can be taken before a value is 0."""
    down = step < 0
    return float((values[down] / -step[down]).min()) if down.any() else np.inf
