"""A kernel as a channel: independent vertices, weighted so that every row sums to one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat

from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.proved import Proved
from metricdp.channels.rounding import round_inside
from metricdp.channels.verify import verify
from metricdp.design.kernels._vertex import Vertex
from metricdp.errors import ImpossibleError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.weights import Weights
from metricdp.metrics import Guarantee
from metricdp.programs.exact import point_on_support

__all__ = ["kernel_channel"]

_MOVED = 2.0**-48
"""Far above what rounding moves: a unit is 2^-64 of the least probability, and a row has few entries."""

_MOST_BITS = 1 << 14


def kernel_channel(vertices: Sequence[Vertex], labels: Sequence[Any]) -> Channel:
    """The channel whose columns are the vertices, each times the one weight that makes all rows sum to one.

    Exact where the vertices are rational; else rounded to integers and verified, as a `Certified` that says how far it
    moved.

    Args:
        vertices: linearly independent, with the uniform distribution as a mixture of them.
        labels: the outputs, one for each vertex.

    Raises:
        ImpossibleError: there are no such weights.
    """
    space = vertices[0].lengths.space
    columns = [vertex.direction for vertex in vertices]
    if None in columns:
        return _rounded(vertices, labels)
    table = list(zip(*(column for column in columns if column is not None), strict=True))
    weights = point_on_support(table, [1] * len(space), range(len(vertices)))
    if weights is None or not all(weights):
        raise ImpossibleError("these vertices make no kernel: no positive weights give rows that sum to one")
    rows = [[a * value for a, value in zip(weights, row, strict=True)] for row in table]
    channel = Channel.from_matrix(space.points, labels, rows)
    return _verified(channel, vertices).promising(Guarantee(space.metric))


def _rounded(vertices: Sequence[Vertex], labels: Sequence[Any]) -> Certified:
    space = vertices[0].lengths.space
    first = _fixed_point(vertices, 128)
    least = min(int(entry) for entry in first.ravel() if entry)
    weights, total = round_inside(
        lambda bits: _fixed_point(vertices, bits), math.log2(least) - 129, Pairs.of(space.points, space)
    )
    channel = Certified(space.points, tuple(labels), weights, total, Proved(space.metric), _MOVED)
    _verified(channel, vertices)
    return channel


def _fixed_point(vertices: Sequence[Vertex], bits: int) -> Weights:
    """Probabilities times 2^bits as integers, each off by less than 1, and 0 only where they are 0."""
    count, size = len(vertices), len(vertices[0].coefficients)
    working = 2 * bits + 64
    while working <= _MOST_BITS:
        with precision(working):
            columns = [vertex.balls() for vertex in vertices]
            table = arb_mat([[columns[c][r] for c in range(count)] for r in range(size)])
            turned = table.transpose()  # the equations are consistent, so those of least squares have the same solution
            try:
                weights = (turned * table).solve(turned * arb_mat(size, 1, [1] * size))
            except ZeroDivisionError:
                working *= 2
                continue
            found = np.zeros((size, count), dtype=object)
            entries = [(r, c, weights[c, 0] * columns[c][r]) for r in range(size) for c in range(count)]
            if all(_fine(value, bits) for _, _, value in entries):
                for r, c, value in entries:
                    if columns[c][r] != 0:
                        middle = Enclosure.of(value).lower
                        found[r, c] = max(1, math.floor(middle * (1 << bits)))
                return found
        working *= 2
    raise ImpossibleError("these vertices make no kernel: they are not independent")


def _fine(value: arb, bits: int) -> bool:
    enclosed = Enclosure.of(value)
    return bool(enclosed.width * (1 << (bits + 8)) < 1)


def _verified(channel: Channel, vertices: Sequence[Vertex]) -> Channel:
    verdict = verify(channel, vertices[0].lengths.space)
    if not verdict:
        raise ImpossibleError(f"the kernel could not be proved private: {verdict}")
    return channel
