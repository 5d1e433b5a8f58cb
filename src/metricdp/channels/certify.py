"""Certification: from any matrix of floats to the nearest channel that can be proved private."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.proved import Proved
from metricdp.channels.rounding import floats_inside
from metricdp.channels.shorter import SLACK, merging_distance, shorter_distances
from metricdp.channels.verify import verify
from metricdp.channels.whole_rows import ROUNDING
from metricdp.errors import ArgumentError, ImpossibleError, MetricDPError
from metricdp.exact.arrays import Floats, each_block, row_blocks
from metricdp.exact.lists import as_list
from metricdp.exact.weights import Weights
from metricdp.metrics import Space
from metricdp.metrics.enclosures import Enclosures, amount_bounds

__all__ = ["certify", "close_columns", "nearest_private"]

_EVEN = SLACK / 8
"""How much the rows may still differ in their sums when they are divided by them."""

_MANY = 500
"""Of more points than these, distances to outputs are taken from those of the space."""

_SPARE_BITS = 64
_ATTEMPTS = 8
_MERGING = (1e-8, 1e-6, 1e-4, 1e-2)
_CLOSE = 1e-9


def certify(matrix: Any, space: SpaceLike, outputs: Iterable[Any] | None = None) -> Certified:
    """The channel nearest to a matrix of floats that can be proved d-private, with that guarantee.

    A solver's answer is private up to its tolerances, which is not private. A column v of a d-private channel lies in
    the cone ``v_x <= exp(d(x, x')) v_x'``, and any v is put into it by ``v_x <- max over x' of v_x' exp(-d(x, x'))``,
    which lifts the zeros too. Weights near one for the columns then make all rows sum to one again; where no such
    weights exist, a little of the uniform channel is mixed in. The result is rounded to integers and verified.

    A valid channel, or a matrix that is one, is returned unchanged.

    Args:
        matrix: one row for each point of the space, or a Channel. Negative entries count as zero.
        space: the points and d.
        outputs: labels of the columns; by default the points where there are as many, else numbers.

    Returns:
        A channel whose `moved` says how far it is from the matrix, and `cost` what that costs.

    Guarantee:
        ``space.metric``, verified.

    References:
        Paper 5, Lemma 2.

    >>> import metricdp as mdp
    >>> space = mdp.Space.line(2, mdp.ln(3) * mdp.metrics.absolute())
    >>> C = certify([[0.751, 0.249], [0.25, 0.75]], space)
    >>> C.guarantee == mdp.Guarantee(space.metric), 0.001 < C.moved < 0.003
    (True, True)
    """
    space = as_space(space, "certify", matrix.inputs if isinstance(matrix, Channel) else None)
    if isinstance(matrix, Channel):
        inputs, names, wanted = matrix.inputs, matrix.outputs, matrix.matrix
    else:
        wanted = _read(matrix, space)
        inputs = space.points
        names = tuple(as_list(outputs, "outputs")) if outputs is not None else _default_outputs(space, wanted.shape[1])
    pairs = Pairs.of(inputs, space)
    taken = matrix if isinstance(matrix, Channel) else _as_it_is(inputs, names, wanted)
    if taken is not None and verify(taken, space):
        if isinstance(matrix, Channel):
            return Certified(inputs, names, matrix.stored, matrix.total, Proved(space.metric), 0.0, 0.0)
        return _certified(taken, wanted, space)
    return nearest_private(wanted, pairs, names)


def nearest_private(
    wanted: Floats, pairs: Pairs, outputs: tuple[Any, ...], *, inside: bool = False, spare: float = 0.0
) -> Certified:
    """The same for a matrix that is known not to be a channel as it is, with one row for each of the inputs.

    Args:
        wanted: the matrix.
        pairs: the inputs and their distances.
        outputs: labels of the columns.
        inside: whether the columns lie in the cone of `shorter_distances` already, up to rounding, and the rows sum to
            one; then they are not put into it, which takes long, unless what comes of it cannot be verified.
        spare: what share of each row may be given to all outputs alike, so that integers can be short.

    Raises:
        ImpossibleError: if none near it could be proved private.
    """
    space = pairs.space
    inputs = tuple(space.points[place] for place in pairs.places)
    best: Certified | None = None
    if inside and (wanted > 0).any(axis=0).any():
        short = floats_inside(wanted, pairs, spare, merging_distance(pairs))
        for attempt in range(0 if short else 1, 2):
            integers = _integers(_log(np.maximum(wanted, 0))) if short is None or attempt else short
            channel = Channel(inputs, outputs, *integers)
            if verify(channel, space):
                return _certified(channel, wanted, space)
    for near in _nearnesses(pairs):
        private = _nearest(wanted, pairs, near, lambda weights, total: Channel(inputs, outputs, weights, total))
        found = None if private is None else _certified(private, wanted, space)
        if found is not None and (best is None or found.moved < best.moved):
            best = found
        if best is not None and best.moved < _CLOSE:
            break
    if best is None:
        raise ImpossibleError("no channel near this matrix could be proved private for this metric")
    return best


def _nearnesses(pairs: Pairs) -> list[float]:
    """Distances below which two points are taken as one, which is stricter, in the order in which to try them.

    Where a matrix tells two very near points apart, bringing all of it into the cone may cost more than making those
    two rows equal.
    """
    least = 4 * SLACK * len(pairs)
    apart = np.unique(pairs.distances[pairs.constrained])
    return [least, *(nearness for nearness in _MERGING if nearness > least and (apart < nearness).any())]


def _nearest(wanted: Floats, pairs: Pairs, near: float, made: Callable[[Weights, int], Channel]) -> Channel | None:
    """A verified channel near to the matrix, with points nearer than ``near`` taken as one."""
    positive = np.maximum(wanted, 0)
    positive /= positive.max(axis=1, keepdims=True)
    logs = close_columns(_log(positive / positive.sum(axis=1, keepdims=True)), shorter_distances(pairs, SLACK, near))
    share = 0.0
    for _ in range(_ATTEMPTS):
        weights, total, share = _to_rows(logs, pairs, near, share)
        channel = made(weights, total)
        if verify(channel, pairs.space):
            return channel
        share = max(4 * share, 2.0**-40)
    return None


def close_columns(logs: Floats, distances: Floats) -> Floats:
    """Columns, as logarithms, put into the cone of a metric: ``f_x <- max over x' of f_x' - d(x, x')``."""
    closed = logs.copy()
    for row in range(len(logs)):
        with np.errstate(invalid="ignore"):
            np.maximum(closed, logs[row][None, :] - distances[:, row][:, None], out=closed)
    return closed


def _to_rows(logs: Floats, pairs: Pairs, near: float, share: float) -> tuple[Weights, int, float]:
    """Integer rows of one sum from closed columns, and the share of the uniform channel that it took."""
    possible = np.isfinite(logs)
    columns = np.where(possible, np.exp(np.where(possible, logs, 0)), 0)
    scales = _column_weights(columns)
    weighted = columns * scales
    sums = weighted.sum(axis=1)
    logs = logs + np.log(scales)
    spread = float(np.abs(sums / sums.mean() - 1).max())
    if spread > _EVEN or share:
        apart = pairs.distances[pairs.constrained & (pairs.distances > near)]
        needed = 2.5 * spread * logs.shape[1] / math.expm1(min(float(apart.min(initial=700.0)), 700.0))
        needed = needed if spread > _EVEN else 0.0
        share = min(1.0, max(share, needed))
        even = possible / possible.sum(axis=1, keepdims=True)
        logs = _log((1 - share) * weighted / sums[:, None] + share * even)
    weights, total = _integers(logs)
    for kept, copy in np.argwhere(np.triu(pairs.distances <= near, 1)).tolist():
        weights[copy] = weights[kept]
    return weights, total, share


def _column_weights(columns: Floats) -> Floats:
    """Weights near one with which the columns add up to one in every row, as far as there are any."""
    scales = np.ones(columns.shape[1])
    for _ in range(4):
        missing = 1 - columns @ scales
        if np.abs(missing).max() < _EVEN / 8:
            break
        correction = np.linalg.lstsq(columns, missing, rcond=1e-13)[0]
        if not (scales + correction > 0).all():
            break
        scales = scales + correction
    return scales


def _integers(logs: Floats) -> tuple[Weights, int]:
    """Integer rows from logarithms, divided by the sum of each row; what rounding leaves goes to the largest entry."""
    least = min(float(row.min(initial=0.0, where=np.isfinite(row))) for row in logs)
    lowest = math.floor(least / math.log(2))
    bits = _SPARE_BITS - lowest + int(logs.shape[1]).bit_length()
    weights = np.zeros(logs.shape, dtype=object)
    for row in range(len(logs)):
        used = np.flatnonzero(np.isfinite(logs[row]))
        powers = np.floor(logs[row, used] / math.log(2)).astype(np.int64)
        heads = np.exp(logs[row, used] - powers * math.log(2)) * 2.0**52
        parts = zip(heads.astype(np.int64).tolist(), (powers - lowest).tolist(), strict=True)
        whole = [head << power for head, power in parts]
        total = sum(whole)
        scaled = [(value << bits) // total for value in whole]
        largest = max(range(len(scaled)), key=scaled.__getitem__)
        scaled[largest] += (1 << bits) - sum(scaled)
        weights[row, used] = scaled
    return weights, 1 << bits


def _certified(plain: Channel, wanted: Floats, space: Space) -> Certified:
    """A channel that has been verified, with how far it is from what was wanted."""
    promise, inputs, outputs = Proved(space.metric), plain.inputs, plain.outputs
    error = 0.0 if _equal(plain, wanted) else 2.0**-50 * len(outputs)
    moves, view = [0.0], plain.matrix

    def look(rows: slice) -> None:
        with np.errstate(over="ignore"):  # from a matrix of huge numbers, infinitely far
            moves.append(float(np.abs(view[rows] - wanted[rows]).sum(axis=1).max()))

    each_block(look, list(row_blocks(wanted.shape)))
    moved = max(moves) / 2 * (1 + 2.0**-40) + error
    cost = _rise(plain, wanted, error, space) if math.isfinite(moved) else None
    return Certified(inputs, outputs, plain.stored, plain.total, promise, moved, cost)


def _rise(plain: Channel, wanted: Floats, error: float, space: Space) -> float | None:
    """What a channel costs more than what was wanted, at most; None where outputs are not points of the metric."""
    rise, size, farthest = -math.inf, 0.0, 0.0
    to_outputs = _to_outputs(plain, space)
    for rows in row_blocks(wanted.shape):
        try:
            apart = to_outputs(rows)
        except MetricDPError:
            return None
        change = plain.matrix[rows] - wanted[rows]
        lower, upper = (np.where(apart.infinite, 0.0, ends) for ends in (apart.lower, apart.upper))
        with np.errstate(over="ignore", invalid="ignore"):  # distances beyond floats
            rises = np.where(change > 0, change * upper, change * lower)
            rises = np.where(change == 0, 0.0, rises)
            rise = float(np.maximum(rise, rises.sum(axis=1).max()))  # NaN stays
            size = float(np.maximum(size, abs(rises).sum(axis=1).max()))
        farthest = max(farthest, float(upper.max()))
    rise += size * 2.0**-40
    cost = math.inf if math.isnan(rise) else max(0.0, rise)
    return cost + (error * farthest if error else 0.0)


def _to_outputs(plain: Channel, space: Space) -> Callable[[slice], Enclosures]:
    """The distances of some inputs to all outputs, in the unit: from those of the points where these are known."""
    inputs, outputs, unit = plain.inputs, plain.outputs, space.metric.unit
    low, high = amount_bounds(space.metric.level)
    if inputs == space.points and inputs == outputs and len(inputs) > _MANY and low > 0:
        known, inverse = space.enclosures, (math.nextafter(1 / high, 0), math.nextafter(1 / low, math.inf))
        return lambda rows: known[rows].times(inverse)
    return lambda rows: unit.enclosures(list(inputs[rows]), list(outputs))


def _equal(channel: Channel, wanted: Floats) -> bool:
    """Whether the channel is exactly what was wanted."""
    if not np.array_equal(channel.matrix, wanted):
        return False
    total = channel.total
    entries = zip(channel.stored.ravel().tolist(), wanted.ravel().tolist(), strict=True)
    return all(Fraction(value) * total == weight for weight, value in entries)


def _read(matrix: Any, space: Space) -> Floats:
    try:
        wanted = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError("certify takes a matrix of numbers, one row for each point of the space") from None
    if wanted.ndim != 2 or len(wanted) != len(space) or not wanted.shape[1]:
        raise ArgumentError(f"a matrix with one row for each of the {len(space)} points is wanted, not {wanted.shape}")
    bad = ~np.isfinite(wanted).all(axis=1)
    if bad.any():
        raise ArgumentError(f"row {int(bad.argmax())}: NaN or infinity where a probability belongs")
    empty = ~(wanted > 0).any(axis=1)
    if empty.any():
        raise ArgumentError(f"row {int(empty.argmax())}: no entry of this row is positive")
    return wanted


def _as_it_is(inputs: Sequence[Any], outputs: Sequence[Any], wanted: Floats) -> Channel | None:
    """The matrix as a channel, where it is one but for the rounding of its sums."""
    if wanted.min() < 0 or wanted.max() > 2 or np.abs(wanted.sum(axis=1) - 1).max() > ROUNDING / 2:
        return None
    return Channel.from_matrix(inputs, outputs, wanted)


def _default_outputs(space: Space, count: int) -> tuple[Any, ...]:
    return space.points if count == len(space) else tuple(range(count))


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(values)
