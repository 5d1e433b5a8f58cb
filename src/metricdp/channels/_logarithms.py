"""Logarithms of large integers as floats, with a bound on their error: how candidates for an exact check are found."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR
from metricdp.exact.processors import processors
from metricdp.exact.weights import Weights

__all__ = ["greatest_differences", "logarithms"]

_BLOCK = 1 << 15
_LARGE = 10**8
"""From so many differences on, all cores look for them."""


def logarithms(weights: Weights) -> tuple[Floats, float]:
    """The natural logarithm of every weight, 0 in place of that of 0, and a bound on the error of each.

    A weight is its first 64 bits, rounded to a float (relative 2^-53 twice), times a power of two; numpy's logarithm is
    off by a relative `ERROR`, and a product and a sum are rounded. Where floats hold all of
    them, weights are rounded once.
    """
    heads = _held(weights)
    if heads is not None:
        logs = np.log(np.maximum(heads, 1.0))
        return logs, (2 + float(logs.max(initial=0.0))) * 2 * ERROR
    flat = weights.ravel().tolist()
    shifts = [max(0, value.bit_length() - 64) for value in flat]
    heads = np.array([float(value >> shift) for value, shift in zip(flat, shifts, strict=True)])
    powers = np.array(shifts, dtype=np.float64)
    logs = np.where(heads > 0, np.log(np.maximum(heads, 1.0)) + powers * math.log(2), 0.0)
    largest = float(np.abs(logs).max()) if logs.size else 0.0
    return logs.reshape(weights.shape), (2 + largest) * 2 * ERROR


def greatest_differences(logs: Floats) -> Floats:
    """For every two rows i, j: the maximum over the columns of ``logs[i] - logs[j]``."""
    varied = logs != logs[:1]
    used = varied.any(axis=0)
    if used.sum() + 1 < logs.shape[1]:  # of the columns in which all rows are alike one is enough
        used[int(used.argmin())] = True
        logs = np.ascontiguousarray(logs[:, used])
    rows, columns = logs.shape
    greatest = np.zeros((rows, rows))
    step = max(1, _BLOCK // max(1, columns))

    stopped: list[bool] = []

    def fill(part: range) -> None:
        buffer: NDArray[np.float64] = np.empty((step, columns))
        for i in part:
            if stopped:
                return
            for start in range(i + 1, rows, step):
                block = logs[start : start + step]
                differences = np.subtract(block, logs[i], out=buffer[: len(block)])
                greatest[start : start + step, i] = differences.max(axis=1)
                greatest[i, start : start + step] = -differences.min(axis=1)

    cores = processors() if rows * rows * columns > _LARGE else 1
    with ThreadPoolExecutor(cores) as pool:
        parts = [pool.submit(fill, range(first, rows, cores)) for first in range(cores)]
        try:
            for done in parts:
                done.result()
        except KeyboardInterrupt:
            stopped.append(True)
            raise
    return greatest


def _held(weights: Weights) -> Floats | None:
    """The weights as the nearest floats, where none is too large for one."""
    try:
        held = weights.astype(np.float64)
    except OverflowError:
        return None
    return held if np.isfinite(held).all() else None
