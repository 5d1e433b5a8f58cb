"""What a channel on cells costs when every point of a cell is a secret: from above for a mechanism, from below for all.

Points are counted in cells, from the first corner: the middle of cell i is at ``i + 1/2`` along its coordinate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from metricdp.channels.extended import spline_weights
from metricdp.exact.arrays import Floats

__all__ = ["costs_above", "losses_below", "norm_of"]

_FINE = 8
"""Into how many parts a cell is cut along each coordinate where a loss is integrated."""

_PARTS = 16
_SLACK = 2.0**-40
_GRAIN = 2.0**-32
"""Costs are rounded up to multiples of so much of the largest one, so that symmetric ones are equal."""


def norm_of(vectors: Sequence[Floats], norm: float) -> Floats:
    """The norm of vectors, given coordinate by coordinate."""
    sizes = [np.abs(one) for one in vectors]
    if len(sizes) == 1:
        return np.asarray(sizes[0])
    if norm == 1:
        return np.asarray(sizes[0] + sizes[1])
    return np.asarray(np.maximum(*sizes) if math.isinf(norm) else np.sqrt(sizes[0] ** 2 + sizes[1] ** 2))


def costs_above(prior: Floats, widths: Sequence[float], norm: float) -> Floats:
    """``∫ p(x) λ_s(x) ‖x − z‖ dx`` for each cell s and each middle z of a cell, rounded up; cells by middles.

    λ_s(x) is the probability with which `metricdp.channels.extended.Blurred` takes x to s, and p is constant on each
    cell. The norm is convex along each coordinate, so between the points of a finer grid it is not above what is
    interpolated linearly from them, and that is integrated exactly.

    Args:
        prior: the probability of each cell, in the shape of the cells.
        widths: of a cell.
        norm: 1, 2 or infinity.
    """
    shape = prior.shape
    moments = _moments()
    steps = [np.arange(1 - count, count)[:, None] + np.arange(_FINE + 1) / _FINE - 0.5 for count in shape]
    indices = np.indices(shape).reshape(len(shape), -1)
    apart = [row[:, None] - row[None, :] + count - 1 for row, count in zip(indices, shape, strict=True)]
    costs = np.zeros((prior.size, prior.size))
    tables: dict[tuple[int, ...], Floats]
    if len(shape) == 1:
        table = np.abs(steps[0]) * widths[0] @ moments.T
        tables = {(step,): table[:, step + 1] for step in (-1, 0, 1)}
    else:
        first, second = (step * width for step, width in zip(steps, widths, strict=True))
        sizes = norm_of([first[:, :, None, None], second[None, None]], norm)
        both = np.einsum("ikjl,ak,bl->abij", sizes, moments, moments, optimize=True)
        tables = {(a, b): both[a + 1, b + 1] for a, b in itertools.product((-1, 0, 1), repeat=2)}
    for move, table in tables.items():
        to = [np.clip(row + step, 0, count - 1) for row, step, count in zip(indices, move, shape, strict=True)]
        np.add.at(costs, np.ravel_multi_index(tuple(to), shape), prior.reshape(-1, 1) * table[tuple(apart)])
    grain = 2.0 ** math.floor(math.log2(float(costs.max()) * _GRAIN))
    return np.asarray(np.ceil(costs * (1 + _SLACK) / grain) * grain)


def _moments() -> Floats:
    """``∫ λ(t) h_k(t) dt`` over a cell, of its three weights and the hats of the finer grid.

    By Simpson's rule, which is exact for cubic polynomials.
    """
    moments = [[Fraction(0)] * (_FINE + 1) for _ in range(3)]
    for part in range(_FINE):
        points = [Fraction(2 * part + k, 2 * _FINE) for k in range(3)]
        for point, share, rise in zip(points, (1, 4, 1), (Fraction(0), Fraction(1, 2), Fraction(1)), strict=True):
            for one, weight in enumerate(spline_weights(point)):
                amount = weight * share / (6 * _FINE)
                moments[one][part] += amount * (1 - rise)
                moments[one][part + 1] += amount * rise
    return np.array([[float(value) for value in row] for row in moments])


def losses_below(shape: Sequence[int], widths: Sequence[float], norm: float) -> Floats:
    """For each cell and each middle z_k of a cell, a loss g such that ``Σ_k λ_k g(s, z_k) <= ‖s − z‖`` for every z.

    z is any point among the middles, λ_k are its weights in linear interpolation between them, and s is the middle of
    a cell. So whoever releases z may as well release z_k with probability λ_k, at the losses g, and whatever is proved
    for the finitely many outputs z_k holds for all z. g is the norm, less the most by which interpolation is above it
    next to z_k: on each of some small parts the norm is above its tangent plane.
    """
    indices = np.indices(shape).reshape(len(shape), -1)
    apart = tuple(np.abs(row[:, None] - row[None, :]) for row in indices)
    middles = [np.arange(count, dtype=np.float64) * width for count, width in zip(shape, widths, strict=True)]
    if len(shape) == 1:  # between two middles the distance from a third is linear
        return np.asarray(middles[0][apart] * (1 - _SLACK))
    first, second = shape
    above = np.array([[_above(i, j, widths, norm) for j in range(-1, second)] for i in range(-1, first)])
    most = np.maximum.reduce([above[:-1, :-1], above[1:, :-1], above[:-1, 1:], above[1:, 1:]])
    exact = norm_of([middles[0][:, None], middles[1][None, :]], norm)
    lowered = exact - most - _SLACK * (exact + sum(widths))
    return np.asarray(lowered[apart])


def _above(i: int, j: int, widths: Sequence[float], norm: float) -> float:
    """The most by which bilinear interpolation on the cell with the corner (i, j) can be above the norm."""
    ends, middles = np.arange(_PARTS + 1) / _PARTS, (np.arange(_PARTS) + 0.5) / _PARTS
    corner = {
        (a, b): float(norm_of([np.array((i + a) * widths[0]), np.array((j + b) * widths[1])], norm))
        for a in (0, 1)
        for b in (0, 1)
    }
    s, t = ends[:, None], ends[None, :]
    between = (1 - s) * ((1 - t) * corner[0, 0] + t * corner[0, 1]) + s * ((1 - t) * corner[1, 0] + t * corner[1, 1])
    x, y = (i + middles)[:, None] * widths[0], (j + middles)[None, :] * widths[1]
    size, (along, across) = norm_of([x, y], norm), _slope(x, y, norm)
    largest = 0.0
    for a, b in itertools.product((0, 1), repeat=2):
        plane = size + (along * widths[0] * (a - 0.5) + across * widths[1] * (b - 0.5)) / _PARTS
        largest = max(largest, float((between[a : a + _PARTS, b : b + _PARTS] - plane).max()))
    return largest


def _slope(x: Floats, y: Floats, norm: float) -> tuple[Floats, Floats]:
    """A slope of the norm at points other than 0."""
    x, y = np.broadcast_arrays(x, y)
    if norm == 1:
        return np.sign(x), np.sign(y)
    if math.isinf(norm):
        larger = np.abs(x) >= np.abs(y)
        return np.where(larger, np.sign(x), 0.0), np.where(larger, 0.0, np.sign(y))
    size = np.sqrt(x * x + y * y)
    return x / size, y / size
