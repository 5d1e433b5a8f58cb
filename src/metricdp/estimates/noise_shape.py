"""The shape of noise on a line: how far it reaches, and whether it falls evenly from the secret on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["is_geometric", "noise_scale", "noise_tail"]

_LEAST = 700.0


def noise_scale(noise: Any) -> float:
    """How far noise on the line reaches: as `noise_tail`, but half a cell at least."""
    return max(float(noise.resolution) / 2, noise_tail(noise))


def noise_tail(noise: Any) -> float:
    """The distance over which the tail of noise on the line falls by a factor e.

    >>> import metricdp as mdp
    >>> round(1 / noise_tail(mdp.geometric(6 * mdp.metrics.absolute())), 9)
    6.0
    >>> round(1 / noise_tail(mdp.truncated_geometric(6 * mdp.metrics.absolute(), 1)), 9)
    6.0
    """
    width, steps = float(noise.resolution), 1
    if noise.end_cells is not None and noise.end_cells[0] >= noise.end_cells[1]:
        return width  # one release for all: nothing can be told
    while steps < 2**50:
        near, far = _below_first_cut(noise, [0, steps])
        if far <= 0:
            return width * steps / _LEAST if near > 0 else width / _LEAST
        if near > 2 * far:
            return width * steps / math.log(near / far)
        steps *= 2
    return width * steps


def is_geometric(noise: Any) -> bool:
    """Whether noise falls by the same factor from each cell to the next, from the secret's own on.

    >>> import metricdp as mdp
    >>> is_geometric(mdp.geometric(mdp.metrics.absolute())), is_geometric(mdp.laplace(mdp.metrics.absolute()))
    (True, False)
    >>> is_geometric(mdp.truncated_geometric(mdp.metrics.absolute(), 1))
    True
    """
    shares = -np.diff(_below_first_cut(noise, [-1, 0, 1, 2]))
    return bool(shares[1] > 0 and abs(shares[0] * shares[2] - shares[1] ** 2) < 1e-9 * float(shares[1]) ** 2)


def _below_first_cut(noise: Any, steps: list[int]) -> Floats:
    """The chance that the cell lies below the first cut within the ends, for secrets so many cells above the cut.

    Noise does not depend on the secret but for the ends. So what other cuts would tell of one secret, one cut tells of
    others, where there are as few as two cells.
    """
    ends = noise.end_cells
    cut = 0 if ends is None else ends[0] + 1
    places = (cut + np.array(steps, dtype=np.float64)) * float(noise.resolution)
    return np.asarray(noise.cells_below(places, np.array([float(cut)]))[:, 0])
