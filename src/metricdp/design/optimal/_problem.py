"""What `optimal` is asked, read and checked, and brought into a form for floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from metricdp.adversaries import Loss, Prior, as_loss, as_prior
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.shorter import shorter_distances
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.arrays import Floats, Places, each_block, row_blocks
from metricdp.exact.balls import float_above
from metricdp.exact.weights import Weights
from metricdp.metrics import Metric, Space
from metricdp.metrics.coordinates import frozen, label
from metricdp.metrics.enclosures import nearest_distances

__all__ = ["FARTHEST", "Problem", "close_distances"]

_ROUNDED = 2.0**-50
"""Relative, on a prior times a loss as floats."""

FARTHEST = 500.0
"""Distances above it are taken as it, which is stricter: floats hold no smaller probabilities than exp(-700)."""

_NUMBERS = 12
"""About how many numbers the search holds for each pair of points."""

_LEAST = 1e-290
_LARGEST = 1e300
"""Sums of losses and their differences are to be floats."""

_UNDERFLOW = 1e-322
"""More than what floats can miss a number by that is too small for them to hold well, three times over."""

_BLOCK = 1 << 20
_MANY = 1 << 22
"""Of so many distances the metric's own floats are not looked at."""

_MOST_EXACT = 300_000
"""So many products of weights and losses are summed as integers; of more, the floats with their error."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ``Σ_x prior(x) Σ_z K(x)(z) loss(z, x)`` over the private channels K.

    Attributes:
        space: the points and d.
        belief: the probability of each point.
        losses: a matrix of points by outputs.
        outputs: their labels.
        most_points: so many are taken at most.
    """

    space: Space
    belief: Prior
    losses: Floats
    outputs: tuple[Any, ...]

    most_points: ClassVar[int] = 10_000

    @classmethod
    def of(cls, space: Space, prior: Any, loss: Any, outputs: Iterable[Any] | None) -> Problem:
        """Reads what was meant; see `metricdp.adversaries.as_prior` and `as_loss`."""
        if len(space) > cls.most_points:
            memory = f"about {_NUMBERS * 8 * len(space) ** 2 / 1e9:,.0f} GB"
            raise TooLargeError(
                f"{len(space):,} points would take {memory} of memory; {cls.most_points:,} are the most. Join near "
                "points to cells, and take the cells as points: metricdp.integrations.read_map(.., cells=500) does it",
                memory,
            )
        belief = as_prior(prior, space.points)
        names = None if outputs is None else tuple(frozen(z) for z in outputs)
        if names is not None and not names:
            raise ArgumentError("outputs is empty; a channel has at least one output")
        table, names = _losses(space, loss, names)
        bad = ~np.isfinite(table).all(axis=1)
        if bad.any():
            raise ArgumentError(f"the loss of the output {names[int(bad.argmax())]!r} is not a finite number")
        if float(table.max()) > _LARGEST or float(table.min()) < -_LARGEST:
            raise ArgumentError(f"losses are between -{_LARGEST:g} and {_LARGEST:g}; divide all of them by one number")
        return cls(space, belief, np.ascontiguousarray(table.T), names)

    @cached_property
    def prior(self) -> Floats:
        """The belief as floats."""
        return self.belief.floats

    @cached_property
    def pairs(self) -> Pairs:
        """The points with their exact distances."""
        return Pairs.of(self.space.points, self.space)

    @cached_property
    def shorter(self) -> Floats:
        """A metric a little below d, 0 between points too near and `FARTHEST` between those too far.

        What is private for it survives rounding.
        """
        with np.errstate(over="ignore"):
            shorter = shorter_distances(self.pairs)

        def cap(rows: slice) -> None:
            some = shorter[rows]
            if float(some.max()) > FARTHEST:
                np.minimum(some, FARTHEST, out=some, where=np.isfinite(some))

        each_block(cap, list(row_blocks(shorter.shape)))
        return shorter

    @cached_property
    def capped(self) -> bool:
        """Whether some finite distance is above `FARTHEST`."""
        above = self.pairs.enclosures.upper
        return any(
            bool((np.isfinite(above[rows]) & (above[rows] > FARTHEST)).any()) for rows in row_blocks(above.shape)
        )

    @cached_property
    def largest(self) -> float:
        """The largest loss, of either sign."""
        return max(-float(self.losses.min()), float(self.losses.max()))

    @cached_property
    def least_losses(self) -> Floats:
        """The least loss of each point: taken off, since a constant in a row changes no choice."""
        least: Floats = self.losses.min(axis=1)
        return least

    @cached_property
    def costs(self) -> Floats:
        """``prior * (losses - least_losses)``, points by outputs: never negative."""
        costs = np.empty(self.losses.shape)

        def fill(rows: slice) -> None:
            np.subtract(self.losses[rows], self.least_losses[rows, None], out=costs[rows])
            costs[rows] *= self.prior[rows, None]

        each_block(fill, list(row_blocks(costs.shape)))
        return costs

    @cached_property
    def offset(self) -> float:
        """What was taken off, together."""
        return float(self.prior @ self.least_losses)

    @cached_property
    def error(self) -> float:
        """How far rounding can move the `offset`; that of the `costs` is relative, and counted where they are used."""
        blocks = (self.costs[rows] for rows in row_blocks(self.costs.shape))
        hidden = 1e-300 if any(((some > 0) & (some < _LEAST)).any() for some in blocks) else 0.0
        rounded = (len(self.prior) + 8) * _ROUNDED * float(self.prior @ np.abs(self.least_losses))
        return rounded + hidden + self.hidden

    @cached_property
    def hidden(self) -> float:
        """What an expected loss may miss since floats do not hold the least probabilities well; mostly 0."""
        weights = self.belief.weights
        tiny = [x for x, share in enumerate(self.prior.tolist()) if share < _LEAST and weights[x]]
        return _UNDERFLOW * float(np.abs(self.losses[tiny]).max(axis=1).sum()) + 1e-300 if tiny else 0.0

    @cached_property
    def centres(self) -> Places:
        """For each output, the point for which it costs least, of those the one for which others cost most."""
        least, largest = np.full(len(self.outputs), np.inf), 1e-300
        sizes = np.empty(len(self.losses))
        for rows in row_blocks(self.losses.shape):
            above = self.losses[rows] - self.least_losses[rows, None]
            np.minimum(least, above.min(axis=0), out=least)
            largest, sizes[rows] = max(largest, float(above.max())), above.sum(axis=1)
        own = {label(point): row for row, point in enumerate(self.space.points)}
        centres = np.array([own.get(label(name), -1) for name in self.outputs], dtype=np.int64)
        limits = least + 1e-12 * largest
        open_still = (centres < 0) | (self._above(centres, np.arange(len(centres))) > limits)
        others, order = np.flatnonzero(open_still), np.argsort(-sizes, kind="stable")
        if len(others):
            tied = self._above(order[:, None], others) <= limits[others]
            centres[others] = order[tied.argmax(axis=0)]
        return centres

    def _above(self, points: Places, outputs: Places) -> Floats:
        """What some losses are above the least of their points."""
        above: Floats = self.losses[points, outputs] - self.least_losses[points]
        return above

    @cached_property
    def merged(self) -> tuple[tuple[int, ...], ...]:
        """Groups of points at distance zero in `shorter`."""
        groups: dict[int, list[int]] = {}
        for x, first in enumerate((self.shorter <= 0).argmax(axis=1).tolist()):
            groups.setdefault(first, []).append(x)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def _whole(self) -> tuple[Weights, int]:
        """The losses as integers, and what they are to be divided by."""
        ratios = [value.as_integer_ratio() for value in self.losses.ravel().tolist()]
        divisor = max(below for _, below in ratios)  # powers of two, so each divides the largest
        whole = np.array([above * (divisor // below) for above, below in ratios], dtype=object)
        return whole.reshape(self.losses.shape), divisor

    def best_output(self, points: Places) -> int:
        """The output that costs these points least, if it is all they get."""
        return self.best_guesses(np.isin(np.arange(len(self.losses)), points).astype(object)[:, None])[0]

    def best_guesses(self, weights: Weights) -> list[int]:
        """For each column of integers, points by columns, the output that it is best used for, exactly."""
        shared = self._whole[0] * np.array(self.belief.weights, dtype=object)[:, None]
        return [int(value) for value in (weights.T @ shared).argmin(axis=1)]

    def exact_losses(self, channel: Channel) -> list[Fraction]:
        """The expected loss of each point: exact for the channel's integers and the losses, which are floats."""
        whole, divisor = self._whole
        sums = (channel.weights * whole).sum(axis=1)
        return [Fraction(int(value), channel.total * divisor) for value in sums.tolist()]

    def loss_of(self, channel: Channel) -> float:
        """The expected loss of a channel, rounded up: to the next float, or for many points by what floats may err."""
        if self.losses.size <= _MOST_EXACT:
            return float_above(self._together(self.exact_losses(channel)))
        matrix, terms = channel.matrix, (self.losses.size + 8) * 2.0**-52
        values, sizes = np.empty(len(matrix)), np.empty(len(matrix))
        for rows in row_blocks(matrix.shape):
            costs = matrix[rows] * self.losses[rows]
            values[rows], sizes[rows] = costs.sum(axis=1), np.abs(costs).sum(axis=1)
        return self._in_floats(values, sizes, terms)

    @cached_property
    def components(self) -> tuple[Places, ...]:
        """The points in sets at finite distances of each other."""
        finite = ~self.pairs.enclosures.infinite
        left, found = np.ones(len(finite), dtype=bool), []
        while left.any():
            near = finite[int(left.argmax())] & left
            found.append(np.flatnonzero(near))
            left &= ~near
        return tuple(found)

    @cached_property
    def about_constant(self) -> float:
        """About the least loss of channels that are constant on each component; not above it by more than rounding."""
        whole = len(self.components) == 1
        least = sum(float(self.costs[... if whole else points].sum(axis=0).min()) for points in self.components)
        return (least + self.offset) * (1 - 1e-9) if least + self.offset > 0 else least + self.offset - 1e-300

    def handed_over(self) -> Floats:
        """The costs of many points, which the caller may change; asked for again, they are made again.

        With them the memory of the distances that `shorter` is made of is given back.
        """
        costs, _ = self.costs, (self.shorter, self.error, self.about_constant, self.capped)
        self.__dict__.pop("costs")
        self.pairs.__dict__.pop("distances", None)
        self.pairs.enclosures.__dict__.pop("nearest", None)
        return costs

    def forget_search(self) -> None:
        """Give back the memory of what only a search needs; where it is asked for again, it is made again."""
        _ = self.merged, self.error, self.about_constant
        for name in ("costs", "shorter"):
            self.__dict__.pop(name, None)

    def about(self, matrix: Floats) -> float:
        """About the loss of a matrix whose columns are remapped in the best way, in floats that prove nothing."""
        return float((matrix.T @ self.costs).min(axis=1).sum()) + self.offset

    def _together(self, losses: list[Fraction]) -> Fraction:
        shares = self.belief.fractions
        return sum((share * loss for share, loss in zip(shares, losses, strict=True)), Fraction(0))

    def _in_floats(self, values: Floats, sizes: Floats, terms: float) -> float:
        return float(self.prior @ values) + float(self.prior @ sizes) * terms + self.hidden + 1e-300


def close_distances(metric: Metric, guesses: tuple[Any, ...], points: tuple[Any, ...]) -> Floats:
    """The distances of guesses by points as floats that are known to be close: the metric's own where they are.

    >>> from metricdp.metrics import taxonomy
    >>> d = taxonomy({"flu": "lungs", "asthma": "lungs", "lungs": "disease"}, [10**17, 1])
    >>> close_distances(d, ("flu",), ("asthma",)).tolist()
    [[2.0]]
    """
    some, others = list(guesses), list(points)
    if len(some) * len(others) > _MANY:
        return nearest_distances(metric, some, others)
    found = np.empty((len(some), len(others)))
    for rows in row_blocks(found.shape, _BLOCK):
        found[rows] = metric.enclosures(some[rows], others).around(metric.pairwise(some[rows], others))
    return found


def _losses(space: Space, loss: Any, outputs: tuple[Any, ...] | None) -> tuple[Floats, tuple[Any, ...]]:
    """The losses of outputs by points, and the outputs."""
    if isinstance(loss, str) and loss in ("distance", "squared"):
        guesses = space.points if outputs is None else outputs
        if outputs is None:  # points by points as they are used, for a metric is symmetric
            table = close_distances(space.metric.unit, space.points, guesses).T
        else:
            table = close_distances(space.metric.unit, guesses, space.points)
        if not np.isfinite(table).all():
            raise ArgumentError(
                f"some distances are infinite, so {loss!r} cannot be the loss; give a matrix or a function"
            )
        return table if loss == "distance" else table**2, guesses
    if callable(loss) and not isinstance(loss, Loss):
        guesses = space.points if outputs is None else outputs
        read = Loss.from_matrix(guesses, space.points, [[loss(z, x) for x in space.points] for z in guesses])
        return read.matrix, read.actions
    if isinstance(loss, np.ndarray) and loss.dtype == np.float64 and loss.ndim == 2:
        rows = space.points if len(loss) == len(space) else tuple(range(len(loss)))
        if loss.shape[1] != len(space):
            raise ArgumentError(f"a loss needs a column for each of the {len(space)} points, not {loss.shape[1]}")
        table = loss
    else:
        read = as_loss(loss, space.points, space)
        rows, table = read.actions, read.matrix
    if outputs is None:
        return table, rows
    if not isinstance(loss, (str, Loss)):
        if len(outputs) != len(table):
            raise ArgumentError(f"{len(outputs)} outputs and {len(table)} rows of losses: give one row for each output")
        return table, outputs
    places = {label(row): place for place, row in enumerate(rows)}
    for z in outputs:
        if label(z) not in places:
            raise ArgumentError(f"the loss has no row for the output {z!r}")
    return table[[places[label(z)] for z in outputs]], outputs
