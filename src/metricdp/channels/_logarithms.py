"""Logarithms of large integers as floats, with a bound on their error: how candidates for an exact check are found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats, Places, each_block
from metricdp.exact.assumed import ERROR
from metricdp.exact.processors import processors
from metricdp.exact.weights import Stored

__all__ = ["greatest_beyond", "greatest_differences", "logarithms"]

_BLOCK = 1 << 15
_LARGE = 10**8
"""From so many differences on, all cores look for them."""


def logarithms(weights: Stored) -> tuple[Floats, float]:
    """The natural logarithm of every weight, 0 in place of that of 0, and a bound on the error of each.

    A weight is its first 64 bits, rounded to a float (relative 2^-53 twice), times a power of two; numpy's logarithm is
    off by a relative `ERROR`, and a product and a sum are rounded. Where floats hold all of
    them, weights are rounded once.
    """
    heads = _held(weights)
    if heads is not None:
        np.maximum(heads, 1.0, out=heads)
        logs = np.log(heads, out=heads)
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


def greatest_beyond(logs: Floats, sets: Sequence[Places], enough: Callable[[Places], Floats]) -> Floats:
    """The same where it is more than enough; elsewhere minus infinity or something up to the maximum.

    For two sets of rows a column is looked at only where its largest entry in the one is by more than enough above its
    least in the other; so it is quick where rows of a set are much alike and few columns tell two sets apart.

    Args:
        logs: one row for each input.
        sets: all rows, in sets.
        enough: for some rows, one number for each row of all.
    """
    order = np.concatenate(sets)
    starts = np.cumsum([0, *map(len, sets)]).tolist()
    blocks = [logs[some] for some in sets]
    least = np.stack([block.min(axis=0) for block in blocks])
    greatest = np.empty((len(logs), len(logs)))
    longest = max(map(len, sets))

    def fill(place: int) -> None:
        block, found = blocks[place], np.full((len(sets[place]), len(logs)), -np.inf)
        most = np.minimum.reduceat(enough(sets[place])[:, order].min(axis=0), starts[:-1])
        highest, buffer = block.max(axis=0), np.empty(longest * logs.shape[1])
        for other, theirs in enumerate(blocks):
            columns = np.flatnonzero(highest - least[other] > most[other])
            if not len(columns):
                continue
            mine, rest = block.take(columns, axis=1), theirs.take(columns, axis=1)
            differences = buffer[: rest.size].reshape(rest.shape)
            for row, values in enumerate(mine):
                np.subtract(values, rest, out=differences)
                differences.max(axis=1, out=found[row, starts[other] : starts[other + 1]])
        rows = np.empty(found.shape)
        rows[:, order] = found
        greatest[sets[place]] = rows

    each_block(fill, range(len(sets)))
    return greatest


def _held(weights: Stored) -> Floats | None:
    """The weights as the nearest floats, where none is too large for one."""
    try:
        held = weights.astype(np.float64)
    except OverflowError:
        return None
    return held if np.isfinite(held).all() else None
