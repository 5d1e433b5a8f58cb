"""What is assumed of numpy's functions, and the test of it on the running machine.

The float path of `metricdp.exact.refine` is rigorous given these bounds. IEEE 754 promises correct rounding
of + - * / and the square root; of the functions below nobody promises anything, so a bound with a wide
margin is recorded here (the functions are within 4 units of 2^-53 on every machine we know: an eighth of it),
and `trusted` measures them against ball arithmetic, once in a process, before the first draw.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable

import numpy as np
from flint import arb

from metricdp.errors import SlowPathWarning
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import precision

__all__ = ["ERROR", "measure", "trusted"]

ERROR = 2.0**-48
"""The greatest error assumed: relative for log, exp, log1p, expm1 and tan on [0, pi / 2], absolute for arctan2."""


def _spread(low: float, high: float, count: int) -> Floats:
    """Points that fill an interval evenly without lying on a lattice of floats."""
    golden = (math.sqrt(5) - 1) / 2
    points: Floats = low + (high - low) * ((np.arange(1.0, count + 1) * golden) % 1.0)
    return points


def _logarithm_points(count: int) -> Floats:
    near_one = 1 - 2.0 ** -_spread(1, 52, count // 4)
    small = 2.0 ** -_spread(0, 1000, count // 4)
    return np.concatenate([_spread(0, 1, count // 2), near_one, small])


def _small_points(count: int) -> Floats:
    """Between 0 and 1, many of them near 0."""
    return np.concatenate([_spread(0, 1, count - count // 2), 2.0 ** -_spread(0, 80, count // 2)])


def _tangent_points(count: int) -> Floats:
    small = 2.0 ** -_spread(0, 60, count // 3)
    near_the_pole = math.pi / 2 - 2.0 ** -_spread(0, 50, count // 3)
    return np.concatenate([_spread(0, math.pi / 4, count - 2 * (count // 3)), small, near_the_pole])


_Case = tuple[Callable[..., Floats], Callable[..., arb], Callable[[int], tuple[Floats, ...]], bool]

_CASES: dict[str, _Case] = {
    "log": (np.log, arb.log, lambda n: (_logarithm_points(n),), True),
    "exp": (np.exp, arb.exp, lambda n: (_spread(-700, 5, n),), True),
    "log1p": (np.log1p, arb.log1p, lambda n: (-_small_points(n),), True),
    "expm1": (np.expm1, arb.expm1, lambda n: (-700 * _small_points(n),), True),
    "tan": (np.tan, arb.tan, lambda n: (_tangent_points(n),), True),
    "arctan2": (np.arctan2, arb.atan2, lambda n: (_spread(-1, 1, n), _spread(-1, 1, n + 7)[7:]), False),
}


def measure(count: int) -> dict[str, float]:
    """The greatest error seen of each function on ``count`` points, in units of `ERROR`.

    >>> max(measure(64).values()) < 0.25
    True
    """
    worst: dict[str, float] = {}
    for name, (function, exactly, points, relative) in _CASES.items():
        arguments = points(count)
        values = function(*arguments)
        worst[name] = 0.0
        with precision(128):
            for index in range(len(values)):
                truth = exactly(*(arb(float(column[index])) for column in arguments))
                error = abs(arb(float(values[index])) - truth)
                if relative:
                    error = error / abs(truth)
                worst[name] = max(worst[name], float(error.upper()) / ERROR)
    return worst


@functools.cache
def trusted() -> bool:
    """Whether this machine keeps the bound; where it does not, every draw takes the ball path, and we say so."""
    failing = [name for name, error in measure(509).items() if not error < 0.5]
    if failing:
        warnings.warn(
            f"numpy's {', '.join(failing)} is less accurate here than assumed: releases stay exact but are slow",
            SlowPathWarning,
            stacklevel=2,
        )
    return not failing
