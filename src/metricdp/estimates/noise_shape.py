"""The shape of noise on a line: how far it reaches, and whether it falls evenly from the secret on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["is_geometric", "noise_scale"]


def noise_scale(noise: Any) -> float:
    """How far noise on the line reaches: the distance over which its tail falls by a factor e, at least half a cell."""
    width = float(noise.resolution)
    centre = noise.end_cells
    middle = 0.0 if centre is None else float(round((centre[0] + centre[1]) / 2))
    tails = noise.cells_below(np.array([middle * width]), np.array([middle, middle - 1, middle - 2]))[0]
    if tails[1] <= 0:
        return width / 2
    return float(max(width / 2, width / math.log(tails[0] / tails[1]))) if tails[0] > tails[1] else _far(noise, width)


def _far(noise: Any, width: float) -> float:
    """The same where one cell is too little to tell: by the radius."""
    owner = getattr(noise, "numbers", noise)
    return float(max(width / 2, owner.radius(0.95) / math.log(20)))


def is_geometric(noise: Any) -> bool:
    """Whether noise falls by the same factor from each cell to the next, from the secret's own on.

    >>> import metricdp as mdp
    >>> is_geometric(mdp.geometric(mdp.metrics.absolute())), is_geometric(mdp.laplace(mdp.metrics.absolute()))
    (True, False)
    """
    ends = noise.end_cells
    middle = 0.0 if ends is None else float(round((ends[0] + ends[1]) / 2))
    cuts = middle + np.array([0.0, 1.0, 2.0, 3.0])
    shares = np.diff(noise.cells_below(np.array([middle * float(noise.resolution)]), cuts)[0])
    return bool(abs(shares[0] * shares[2] - shares[1] ** 2) < 1e-9 * max(1e-300, float(shares[1]) ** 2))
