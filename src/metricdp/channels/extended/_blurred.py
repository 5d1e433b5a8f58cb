"""A mechanism for every point of an interval or a rectangle, from a channel on its equal cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.channel import Channel
from metricdp.channels.extended._locate import OUTSIDE, as_floats
from metricdp.channels.extended._mesh import Point
from metricdp.channels.extended._snapping import EVERY, Snapping
from metricdp.channels.extended._spline import folded, spline_level, spline_weights
from metricdp.errors import ArgumentError, OutOfDomainError, UnsupportedMetricError
from metricdp.exact.balls import float_below
from metricdp.exact.choice import draw_shares
from metricdp.mechanisms.mechanism import at_distance
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.coordinates import number
from metricdp.metrics.words import Measure

__all__ = ["Blurred", "blurred", "read_bounds"]

_ERROR = 2.0**-48


@dataclass(frozen=True, repr=False)
class Blurred(Snapping):
    """The mechanism on an interval or a rectangle that a channel on its equal cells gives; see `blurred`.

    Along each coordinate, a secret at the share t of its cell is taken to the cell before with probability
    ``(1 − t)²/2``, to the next one with ``t²/2``, and stays otherwise; at an end it stays instead of going beyond. That
    is what two uniform moves of up to half a cell do. The cell it comes to goes through the channel. The probability of
    each output is then a quadratic spline, whose slope is continuous.

    Attributes:
        channel: on the cells, in the order of rows.
        base: the metric without its level.
        bounds: the least and the largest value of each coordinate.
        shape: how many cells there are along each.
        level: one for which ``level · base`` is proved to be kept by every two points.

    Guarantee:
        ``level · base``: see `metricdp.channels.extended._spline.spline_level`.

    References:
        Paper 1, Definition 1, on a continuous set of secrets.
    """

    channel: Channel
    base: Metric
    bounds: tuple[tuple[Fraction, Fraction], ...]
    shape: tuple[int, ...]
    level: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """``level · base``, with no delta."""
        return Guarantee(self.level * self.base)

    @property
    def name(self) -> str:
        """What it does with a secret."""
        return "a channel on cells, and random moves to them"

    def words(self, measure: Measure | None = None) -> str:
        """With the number of cells."""
        del measure
        return f"random moves among {' x '.join(map(str, self.shape))} cells, then a channel"

    @property
    def dimension(self) -> int:
        """One or two."""
        return len(self.shape)

    @property
    def secrets_to_try(self) -> Sequence[Any]:
        """The corners and their mean."""
        mean = tuple((low + high) / 2 for low, high in self.bounds)
        tried = [tuple(map(float, corner)) for corner in [*itertools.product(*self.bounds), mean]]
        inside = [point for point in tried if self._holds(tuple(map(Fraction, point)))]
        return inside if self.dimension > 1 else [point[0] for point in inside]

    def _holds(self, x: Point) -> bool:
        return all(low <= value <= high for value, (low, high) in zip(x, self.bounds, strict=True))

    @cached_property
    def widths(self) -> tuple[Fraction, ...]:
        """Of a cell."""
        return tuple((high - low) / count for (low, high), count in zip(self.bounds, self.shape, strict=True))

    def _shares(self, x: Point, row: int | None = None) -> list[tuple[int, Fraction]]:
        if len(x) != self.dimension or not self._holds(x):
            raise OutOfDomainError(OUTSIDE, row)
        moves = []
        for axis, value in enumerate(x):
            cell, weights = self._weights(axis, value)
            moves.append(list(zip(self._around(axis, cell), weights, strict=True)))
        return [
            (self._place([cell for cell, _ in chosen]), math.prod((share for _, share in chosen), start=Fraction(1)))
            for chosen in itertools.product(*moves)
        ]

    def _weights(self, axis: int, value: Fraction) -> tuple[int, tuple[Fraction, Fraction, Fraction]]:
        along = (value - self.bounds[axis][0]) / self.widths[axis]
        cell = folded(math.floor(along), self.shape[axis])
        return cell, spline_weights(along - cell)

    def _around(self, axis: int, cell: int) -> list[int]:
        return [folded(cell + step, self.shape[axis]) for step in (-1, 0, 1)]

    def _place(self, cells: Sequence[int]) -> int:
        return int(np.ravel_multi_index(tuple(cells), self.shape))

    def _snapped(self, numbers: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> NDArray[np.int64]:
        exact = [column.astype(object) for column in numbers]
        floats, sure = as_floats(numbers, units)
        for axis, ((low, high), width) in enumerate(zip(self.bounds, self.widths, strict=True)):
            reach = _ERROR * (np.abs(floats[axis]) + abs(float(low)) + abs(float(high)) + float(width))
            sure &= (floats[axis] > float(low) + reach) & (floats[axis] < float(high) - reach)
        for row in np.flatnonzero(~sure).tolist():
            x = tuple(number(column[row], row) * unit for column, unit in zip(exact, units, strict=True))
            if not self._holds(x):
                raise OutOfDomainError(OUTSIDE, row)
        cells = [self._moved(axis, floats[axis], sure, exact[axis], units[axis]) for axis in range(self.dimension)]
        return np.asarray(np.ravel_multi_index(tuple(cells), self.shape), dtype=np.int64)

    def _moved(
        self, axis: int, floats: NDArray[np.float64], sure: NDArray[np.bool_], exact: NDArray[Any], unit: Fraction
    ) -> NDArray[np.int64]:
        """The cell along one coordinate that each secret comes to, drawn; exactly, where floats do not tell."""
        low, width, count = float(self.bounds[axis][0]), float(self.widths[axis]), self.shape[axis]
        along = np.where(sure, floats - low, 0.0) / width
        error = _ERROR * (1 + np.abs(along) + (np.where(sure, np.abs(floats), 0.0) + abs(low)) / width)
        own = np.clip(np.floor(along), 0, count - 1).astype(np.int64)
        t = along - own
        known = sure & (t > error) & (t < 1 - error)
        for row in np.flatnonzero(~known).tolist():
            own[row] = self._weights(axis, number(exact[row], row) * unit)[0]
        shares = np.array([(1 - t) ** 2 / 2, 0.5 + t - t * t, t * t / 2])
        radius = np.where(known, 4 * error, np.nan)

        def exactly(row: int) -> Sequence[Fraction]:
            return self._weights(axis, number(exact[row], row) * unit)[1]

        moved: NDArray[np.int64] = np.clip(own + draw_shares(shares, radius, exactly) - 1, 0, count - 1)
        return moved

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """For every secret, at least this: it moves to a cell whose middle is near, and an output near that follows."""
        channel = self.channel
        reach = float_below(distance) - self._unit_error()
        near = self.base.enclosures(list(channel.inputs), list(channel.outputs)).upper <= reach
        rows = range(len(channel.inputs))
        return float_below(min(Fraction(sum(channel.weights[x][near[x]].tolist()), channel.total) for x in rows))

    def _unit_error(self) -> float:
        """The farthest that the middle of a cell can be from a secret that moves to it, rounded up."""
        sizes = [1.5 * float(width) for width in self.widths]
        norm = self.base.norm or 1.0
        longest = max(sizes) if math.isinf(norm) else sum(size**norm for size in sizes) ** (1 / norm)
        farthest = max(abs(float(end)) for ends in self.bounds for end in ends)
        return (longest + 4 * farthest * 2.0**-52) * (1 + 2.0**-40)


def blurred(channel: Channel, bounds: Sequence[Any], shape: Sequence[int], metric: Metric) -> Blurred:
    """A mechanism for every point of an interval or a rectangle, from a channel on its equal cells.

    Args:
        channel: its inputs are the cells, in the order of rows. An output that is impossible in one of them only is
            refused.
        bounds: of the interval, ``(low, high)``, or of both coordinates, ``((low, high), (low, high))``.
        shape: how many cells there are along each coordinate.
        metric: a norm. Its level does not matter: the level that holds is computed.

    Returns:
        A mechanism with its `level`, which is proved for every two points.

    Raises:
        UnsupportedMetricError: the metric is no norm. (On the globe cells are not equal.)
        ArgumentError: the bounds are no rectangle, or the channel has another number of inputs.
        ImpossibleError: an output is impossible in one cell and not in another.

    >>> import metricdp as mdp
    >>> K = mdp.channels.of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), 3), range(4))
    >>> between = blurred(K, (0, 4), (4,), mdp.metrics.absolute())
    >>> round(float(between.level), 3), between.release(1.25) in range(4)
    (0.71, True)
    """
    ends = read_bounds(bounds)
    sizes = tuple(shape)
    if metric.norm is None or metric.on_globe:
        raise UnsupportedMetricError(f"equal cells are those of a norm on numbers or on the plane, not of {metric}")
    if len(sizes) != len(ends) or math.prod(sizes) != len(channel.inputs):
        raise ArgumentError(f"cells {sizes!r} do not fit {len(ends)} coordinates and {len(channel.inputs)} inputs")
    widths = [(high - low) / count for (low, high), count in zip(ends, sizes, strict=True)]
    rows = channel.weights.tolist()
    same = all(row == rows[0] for row in rows)
    level = EVERY if same else spline_level(channel.weights, sizes, widths, metric.norm)
    return Blurred(channel, metric.unit, ends, sizes, level)


def read_bounds(bounds: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    """The ends of each coordinate.

    Raises:
        ArgumentError: there are not one or two of them, or an end is not below the other.

    >>> read_bounds((0, 4))
    ((Fraction(0, 1), Fraction(4, 1)),)
    """
    wanted = "bounds are (low, high), or for points of the plane ((low, high), (low, high)), each low below its high"
    try:
        listed = [list(pair) if isinstance(pair, Sequence | np.ndarray) else pair for pair in bounds]
        pairs = listed if listed and isinstance(listed[0], list) else [listed]
        read = tuple((number(low), number(high)) for low, high in pairs)
    except (TypeError, ValueError):
        raise ArgumentError(f"{wanted}, not {bounds!r}") from None
    if not 1 <= len(read) <= 2 or any(low >= high for low, high in read):
        raise ArgumentError(f"{wanted}, not {bounds!r}")
    return read
