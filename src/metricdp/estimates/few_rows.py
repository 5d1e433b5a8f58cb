"""Percentiles of few rows: the rows are taken one by one, where cells with enough rows in each would be too coarse."""

from __future__ import annotations

import numpy as np

from metricdp.estimates.greatest_likelihood import greatest_likelihood
from metricdp.estimates.laws import LineLaw
from metricdp.exact.arrays import Floats

__all__ = ["FEW", "likeliest_percentile", "released_percentile"]

FEW = 200
"""Tables with no more rows than this are looked at row by row."""

_GAP, _STEPS = 1e-5, 30


def likeliest_percentile(law: LineLaw, released: Floats, share: float) -> float:
    """Where the distribution of secrets under which these numbers are likeliest reaches a share.

    Between two released numbers the chance of each falls towards one and rises towards the other as an exponential
    does, which is convex: so the likeliest secrets are among the released numbers. At either end there is half a row to
    spare.

    Args:
        law: of the column.
        released: its numbers, all of them.
        share: from 0 to 1.
    """
    cells, counts = np.unique(law.cells_of(released), return_counts=True)
    secrets = np.unique(np.clip(cells * law.width + law.origin, *law.ends))
    shares, _, _ = greatest_likelihood(counts / counts.sum(), _chances(law, secrets, cells), _GAP, _STEPS)
    wanted = min(max(share, 0.5 / len(released)), 1 - 0.5 / len(released))
    return float(secrets[min(int(np.searchsorted(np.cumsum(shares), wanted - 1e-9)), len(secrets) - 1)])


def _chances(law: LineLaw, secrets: Floats, cells: Floats) -> Floats:
    """The probability of single cells (columns) for secrets (rows)."""
    places = secrets - law.origin
    below, above = law.noise.cells_below(places, cells), law.noise.cells_below(places, cells + 1)
    if law.noise.end_cells is not None:
        first, last = law.noise.end_cells
        below, above = np.where(cells <= first, 0.0, below), np.where(cells >= last, 1.0, above)
    return np.asarray(np.maximum(above - below, 1e-300))


def released_percentile(released: Floats, share: float) -> float:
    """The percentile of the numbers as they were released: the first that the share does not pass.

    >>> released_percentile(np.array([1.0, 2.0, 3.0]), 0.5)
    2.0
    """
    ordered = np.sort(released)
    return float(ordered[min(max(int(np.ceil(share * len(ordered) - 1e-9)) - 1, 0), len(ordered) - 1)])
