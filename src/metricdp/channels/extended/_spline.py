"""Quadratic splines over equal cells: their weights, and how fast the logarithm of one can change, rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from metricdp.channels.extended._steepness import normalised
from metricdp.errors import ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_above
from metricdp.exact.weights import Weights

__all__ = ["folded", "spline_level", "spline_weights"]

_PARTS = 4
_SLACK = 2.0**-44
_TINY = 1e-250
_BLOCK = 1 << 22


def spline_weights(t: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The weights of the cell before, the own one and the next for a point at the share t of its cell.

    >>> spline_weights(Fraction(1, 2))
    (Fraction(1, 8), Fraction(3, 4), Fraction(1, 8))
    """
    return (1 - t) ** 2 / 2, Fraction(1, 2) + t - t * t, t * t / 2


def folded(cell: int, count: int) -> int:
    """A cell beyond an end is the last one before it, as in a mirror."""
    return min(max(cell, 0), count - 1)


def spline_level(weights: Weights, shape: Sequence[int], widths: Sequence[Fraction], norm: float) -> Fraction:
    """A number that ``‖∇v‖ / v`` does not exceed anywhere, for the spline v of any column.

    On a cell, v is a polynomial of degree two in each coordinate, so on each of some equal parts of a cell it is a sum
    of positive Bernstein polynomials, ``v = Σ b_k B_k``, and so is its gradient, ``∇v = Σ g_k B_k``. Where
    ``‖g_k‖ <= ε b_k`` for all k, ``‖∇v‖ <= ε v``. The parts make it tight. Floats compute it, with their error added.

    Args:
        weights: of the channel: cells, in the order of rows, by outputs.
        shape: how many cells there are along each coordinate.
        widths: of a cell along each.
        norm: of the metric, 1, 2 or infinity; gradients are measured in its dual.

    Raises:
        ImpossibleError: an output is impossible in one cell and not in another, or nearly so.
    """
    columns = np.array(normalised(weights))
    used = columns.max(axis=0) > 0
    columns = columns[:, used]
    if float(columns.min()) < _TINY:
        raise ImpossibleError(
            "an output is impossible, or nearly so, in one cell and not in another, so no level is proved between "
            "them; mix the channel with one that has no zeros"
        )
    values, slopes = _bernstein()
    dimension = len(shape)
    largest = 0.0
    block = max(1, _BLOCK // (len(columns) * len(values) ** dimension))
    for start in range(0, columns.shape[1], block):
        part = columns[:, start : start + block]
        cells = np.pad(part.reshape(*shape, part.shape[1]), [(1, 1)] * dimension + [(0, 0)], mode="edge")
        below = _along(cells, [values] * dimension) * (1 - _SLACK)
        sizes = []
        for axis, width in enumerate(widths):
            tables = [slopes if axis == other else values for other in range(dimension)]
            change = np.abs(_along(cells, tables)) + _SLACK * _along(cells, [np.abs(table) for table in tables])
            sizes.append(change * (1 / float(width)))
        largest = max(largest, float((_dual(sizes, norm) / below).max()))
    return Fraction(float_above(largest * (1 + _SLACK)))


def _bernstein() -> tuple[Floats, Floats]:
    """Coefficients of a spline, and of its slope, on each part of a cell, from those of three neighbouring cells."""
    values, slopes = [], []
    for part in range(_PARTS):
        low, high = part / _PARTS, (part + 1) / _PARTS
        at_low, at_high = (np.array([(1 - t) ** 2 / 2, 0.5 + t - t * t, t * t / 2]) for t in (low, high))
        rise, end = (np.array([t - 1, 1 - 2 * t, t]) for t in (low, high))
        values += [at_low, at_low + rise * (high - low) / 2, at_high]
        slopes += [rise, (rise + end) / 2, end]
    return np.array(values), np.array(slopes)


def _along(cells: Floats, tables: Sequence[Floats]) -> Floats:
    """Each table applied along its coordinate to every three neighbours; parts follow their cell."""
    for axis, table in enumerate(tables):
        count = cells.shape[axis] - 2
        three = [np.take(cells, np.arange(k, k + count), axis=axis) for k in range(3)]
        terms = [sum(weight * one for weight, one in zip(row, three, strict=True)) for row in table.tolist()]
        cells = np.concatenate([np.asarray(term) for term in terms], axis=axis)
    return cells


def _dual(sizes: list[Floats], norm: float) -> Floats:
    if len(sizes) == 1:
        return sizes[0]
    if norm == 1:
        return np.maximum(*sizes)
    if norm == math.inf:
        return np.asarray(sizes[0] + sizes[1])
    return np.asarray(np.sqrt(sizes[0] ** 2 + sizes[1] ** 2))
