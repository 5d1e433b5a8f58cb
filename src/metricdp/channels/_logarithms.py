"""Logarithms of large integers as floats, with a bound on their error: how candidates for an exact check are found."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR
from metricdp.exact.weights import Weights

__all__ = ["greatest_differences", "logarithms"]

_BLOCK = 1 << 16


def logarithms(weights: Weights) -> tuple[Floats, float]:
    """The natural logarithm of every weight, 0 in place of that of 0, and a bound on the error of each.

    A weight is its first 64 bits, rounded to a float (relative 2^-53 twice), times a power of two; numpy's logarithm is
    off by a relative `ERROR`, and a product and a sum are rounded.
    """
    flat = weights.ravel().tolist()
    shifts = [max(0, value.bit_length() - 64) for value in flat]
    heads = np.array([float(value >> shift) for value, shift in zip(flat, shifts, strict=True)])
    powers = np.array(shifts, dtype=np.float64)
    logs = np.where(heads > 0, np.log(np.maximum(heads, 1.0)) + powers * math.log(2), 0.0)
    largest = float(np.abs(logs).max()) if logs.size else 0.0
    return logs.reshape(weights.shape), (2 + largest) * 2 * ERROR


def greatest_differences(logs: Floats) -> Floats:
    """For every two rows i, j: the maximum over the columns of ``logs[i] - logs[j]``."""
    rows, columns = logs.shape
    greatest = np.zeros((rows, rows))
    step = max(1, _BLOCK // max(1, columns))
    buffer: NDArray[np.float64] = np.empty((step, columns))
    for i in range(rows):
        for start in range(i + 1, rows, step):
            block = logs[start : start + step]
            differences = np.subtract(block, logs[i], out=buffer[: len(block)])
            greatest[start : start + step, i] = differences.max(axis=1)
            greatest[i, start : start + step] = -differences.min(axis=1)
    return greatest
