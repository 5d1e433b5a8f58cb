"""The mechanism of least expected loss on an interval or a rectangle, with a bound on every other."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.channels.channel import Channel
from metricdp.channels.extended import Blurred, blurred, read_bounds
from metricdp.design.arguments import check_gap
from metricdp.design.continuous._costs import costs_above, losses_below
from metricdp.design.optimal import Optimal, optimal
from metricdp.errors import (
    ArgumentError,
    ImpossibleError,
    MetricDPError,
    ShapeError,
    TooLargeError,
    UnsupportedMetricError,
)
from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import number_json
from metricdp.metrics import Metric, Space
from metricdp.metrics.coordinates import number

__all__ = ["Continuous", "continuous"]

_FIRST = Fraction(23, 25)
"""The share of the level that a channel on cells is first sought at; its spline needs a little more."""

_TRIES = 4
_NEAR = Fraction(24, 25)
_STEP = 0.6
"""The level times the width of a cell that the cells are chosen for."""

_MOST_CELLS = 225
_MOST_EVER = 2500
_FOR_BOUND = 0.4
_ROUNDED = 1 + 2.0**-40


@dataclass(frozen=True, repr=False)
class Continuous(Blurred):
    """A mechanism for every point of an interval or a rectangle, and how good it is; see `continuous`.

    Attributes:
        loss: its expected loss, rounded up.
        bound: no mechanism that keeps the metric has a smaller one; rounded down.
        finished: whether the gap that was asked for is proved.
        reason: what stopped the search before that; empty if it is finished.
    """

    loss: float = 0.0
    bound: float = 0.0
    finished: bool = True
    reason: str = ""

    @property
    def gap(self) -> float:
        """``(loss − bound) / loss``: the share of its loss by which any other mechanism may be better, at most."""
        return max(self.loss - self.bound, 0.0) / self.loss

    def to_json(self) -> dict[str, Any]:
        """The mechanism, and under "continuous" what is proved of its loss."""
        names = ("loss", "bound", "gap", "finished", "reason")
        values = {name: getattr(self, name) for name in names}
        return super().to_json() | {"continuous": values | {"gap": number_json(self.gap)}}

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(repr(self))}</b>"

    def __repr__(self) -> str:
        cells = " x ".join(map(str, self.shape))
        return f"Continuous({cells} cells, {self.guarantee}, loss {self.loss:.6g}, bound {self.bound:.6g})"


def continuous(
    metric: Metric,
    bounds: Sequence[Any],
    prior: Any = "uniform",
    *,
    cells: int | Sequence[int] | None = None,
    gap: float = 0.25,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Continuous:
    """A mechanism for every point x of an interval or a rectangle with a small loss ``∫ p(x) ∫ ‖x − z‖ K(x)(dz) dx``.

    The region is cut into equal cells. The mechanism is a channel on the cells after random moves between them (see
    `metricdp.channels.extended.blurred`); the channel is the best one for the loss that the whole mechanism has, at the
    highest share of the level for which the mechanism is proved to keep all of it.

    The bound: cut each cell in the same way, and take from every cell the point at the same place o in it. On these
    points any private mechanism is a private channel, whatever o is, and p is constant on a cell, so its loss is the
    mean over o of losses of private channels on points that lie as the middles of the cells do. The least loss of
    such a channel, with outputs anywhere, is therefore a bound; smaller cells make it tighter.

    Args:
        metric: the metric to keep: a norm of the line or the plane. The loss is the distance, in ``metric.unit``.
        bounds: of the secrets: ``(low, high)``, or ``((low, high), (low, high))``.
        prior: where secrets are: "uniform", or a list or matrix of weights, one for each of equal cells of the region;
            the density is constant on each of those.
        cells: how many cells there are along each coordinate, a multiple of those of the prior. By default so many
            that the level times the width of a cell is 0.6, if these are not more than 225.
        gap: stop when no mechanism can be better by more than this share of the loss.
        time_limit: seconds after which the best so far is returned. Ctrl-C does the same.
        progress: called with an `Update` after each round of each of the searches.

    Returns:
        A mechanism with its `loss`, a `bound` for every mechanism that keeps the metric, and the `gap` between them.

    Guarantee:
        ``level · metric.unit`` with a level that is proved, at most that of the metric.

    Raises:
        UnsupportedMetricError: the metric is no norm.
        ArgumentError: the bounds, the prior or the cells do not fit each other.
        TooLargeError: there are more than 2,500 cells.
        ImpossibleError: no share of the level was found that serves: cells are too wide for the level.

    References:
        Paper 5, sections III and IV, on a continuous set of secrets.

    >>> import metricdp as mdp
    >>> K = continuous(mdp.metrics.absolute(), (0, 2), cells=6)
    >>> K.level <= 1, K.bound <= K.loss <= 1.1 * K.bound
    (True, True)
    """
    share, watch = check_gap(gap), Stopwatch(time_limit, progress)
    if not isinstance(metric, Metric):
        raise ArgumentError(f"a Metric is wanted here, such as ln(2) * euclidean(), not {type(metric).__name__}")
    if metric.norm is None or metric.on_globe:
        raise UnsupportedMetricError(f"a norm on numbers or on the plane is wanted, not {metric}")
    ends = read_bounds(bounds)
    corner = [low for low, _ in ends] if len(ends) > 1 else ends[0][0]
    try:
        metric(corner, corner)
    except ShapeError:
        raise ArgumentError(f"{metric} does not measure points of {len(ends)} coordinates") from None
    weights, shape = _cells(_read_prior(prior, len(ends)), cells, ends, float(metric.level))
    region = _Region(metric, ends, shape, weights)
    return _Search(region, share, watch).run()


@dataclass(frozen=True, eq=False)
class _Region:
    """The cells, with the probability of each in the order of rows."""

    metric: Metric
    bounds: tuple[tuple[Fraction, Fraction], ...]
    shape: tuple[int, ...]
    prior: list[Fraction]

    @property
    def widths(self) -> list[Fraction]:
        return [(high - low) / count for (low, high), count in zip(self.bounds, self.shape, strict=True)]

    @property
    def norm(self) -> float:
        return self.metric.norm or 1.0

    def space(self, share: Fraction) -> Space:
        """The middles of the cells, counted so that they are integers, with a share of the metric."""
        widths = self.widths
        divisor = math.lcm(*(width.denominator for width in widths))
        unit = Fraction(math.gcd(*(int(width * divisor) for width in widths)), divisor)
        steps = [int(width / unit) for width in widths]
        indices = np.indices(self.shape).reshape(len(self.shape), -1).T.tolist()
        points = [tuple(place * step for place, step in zip(index, steps, strict=True)) for index in indices]
        named = points if len(self.shape) > 1 else [point[0] for point in points]
        return Space(named, share * unit * self.metric)

    def middles(self) -> list[Any]:
        """Of the cells, as floats."""
        indices = np.indices(self.shape).reshape(len(self.shape), -1).T.tolist()
        ends, widths = self.bounds, self.widths
        points = [
            tuple(
                float(low + (place + Fraction(1, 2)) * width)
                for place, (low, _), width in zip(index, ends, widths, strict=True)
            )
            for index in indices
        ]
        return points if len(self.shape) > 1 else [point[0] for point in points]

    @property
    def rounded(self) -> float:
        """How far a middle as floats can be from the middle."""
        return 4 * max(abs(float(end)) for ends in self.bounds for end in ends) * 2.0**-52


class _Search:
    """The channel, the level of its spline, and the bound."""

    def __init__(self, region: _Region, gap: float, watch: Stopwatch) -> None:
        self.region, self.gap, self.watch = region, gap, watch
        self.stopped: list[str] = []
        self.interrupted = False

    def run(self) -> Continuous:
        region = self.region
        widths = [float(width) for width in region.widths]
        prior = np.array([float(value) for value in region.prior]).reshape(region.shape)
        below = losses_below(region.shape, widths, region.norm)
        bound = self._best(Fraction(1), region.prior, below, _FOR_BOUND).bound
        # Float probabilities differ from the exact ones by less than this factor; the channel has the costs of all
        # cells together, so each of them counts as one of equally many.
        above = costs_above(prior, widths, region.norm) * prior.size * _ROUNDED
        best, level = self._highest(above)
        loss = float(np.nextafter((best.loss + region.rounded) * _ROUNDED, np.inf))
        finished = Fraction(loss) - Fraction(bound) <= Fraction(self.gap) * Fraction(loss)
        reason = "" if finished else "; ".join(self.stopped or ["cells are wide for this level: more of them"])
        channel = Channel(tuple(region.middles()), tuple(region.middles()), best.weights, best.total)
        return Continuous(
            channel,
            region.metric.unit,
            region.bounds,
            region.shape,
            level,
            loss,
            max(bound, 0.0),
            finished,
            reason,
        )

    def _best(self, share: Fraction, prior: Any, losses: Floats, part: float) -> Optimal:
        """The best channel on the middles at a share of the level, in a part of the time that is left."""
        left = 0.0 if self.interrupted else self.watch.left
        found = optimal(
            self.region.space(share),
            prior,
            np.ascontiguousarray(losses.T),
            gap=self.gap / 10,
            time_limit=None if math.isinf(left) else max(part * left, 0.1),
            progress=self.watch.progress,
        )
        self.interrupted = self.interrupted or found.interrupted
        if found.reason and found.reason not in self.stopped:
            self.stopped.append(found.reason)
        return found

    def _highest(self, costs: Floats) -> tuple[Optimal, Fraction]:
        """The channel for the highest share of the level at which its spline keeps the level."""
        region = self.region
        wanted = region.metric.level
        share, kept, low, high = _FIRST, None, Fraction(0), Fraction(1)
        for attempt in range(_TRIES):
            found = self._best(share, "uniform", costs, 1 / 2)
            level = blurred(found, region.bounds, region.shape, region.metric).level
            if Level.of(level) <= wanted:
                if kept is None or found.loss < kept[0].loss:
                    kept = found, level
                low = share
            else:
                high = share
            close = Level.of(level) >= wanted * _NEAR
            if kept is not None and (close or attempt or self.watch.over or self.interrupted):
                break
            likely = share * Fraction(float(wanted) / float(level)) * Fraction(199, 200)
            share = min(max(likely, low + (high - low) / 4), high - (high - low) / 64).limit_denominator(1 << 20)
        if kept is None:
            raise ImpossibleError("no channel on these cells was found whose spline keeps the level; take more cells")
        return kept


def _read_prior(prior: Any, dimension: int) -> tuple[list[Fraction], tuple[int, ...]]:
    """The weights of equal cells, and how many there are along each coordinate."""
    if isinstance(prior, str):
        if prior != "uniform":
            raise ArgumentError(f'a prior is "uniform" or weights of equal cells of the region, not {prior!r}')
        return [Fraction(1)], (1,) * dimension
    try:
        array = np.array(prior, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != dimension or not array.size:
        kind = "a list of weights" if dimension == 1 else "a matrix of weights, rows along the first coordinate"
        raise ArgumentError(f"the prior of {dimension} coordinates is {kind}, all of one length")
    wanted = "weights of cells are finite numbers, not negative, and not all of them 0"
    try:
        weights = [number(value) for value in array.ravel().tolist()]
    except MetricDPError:
        raise ArgumentError(wanted) from None
    if min(weights) < 0 or not any(weights):
        raise ArgumentError(wanted)
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights], array.shape


def _cells(
    prior: tuple[list[Fraction], tuple[int, ...]],
    cells: int | Sequence[int] | None,
    bounds: tuple[tuple[Fraction, Fraction], ...],
    level: float,
) -> tuple[list[Fraction], tuple[int, ...]]:
    """The same prior on smaller cells."""
    weights, given = prior
    if cells is None:
        wanted = [max(level * float(high - low) / _STEP, 8.0) for low, high in bounds]
        most = min(1.0, (_MOST_CELLS / math.prod(wanted)) ** (1 / len(wanted))) if len(wanted) > 1 else 1.0
        shape = [
            count * max(1, round(min(want * most, _MOST_CELLS) / count))
            for count, want in zip(given, wanted, strict=True)
        ]
    else:
        shape = list(cells) if isinstance(cells, Sequence) else [cells] * len(given)
    if len(shape) != len(given) or any(type(count) is not int or count < 1 for count in shape):
        raise ArgumentError(f"cells is a positive number for each of {len(given)} coordinates, not {cells!r}")
    if any(count % parts for count, parts in zip(shape, given, strict=True)):
        raise ArgumentError(f"cells {tuple(shape)} are not a multiple of those of the prior, {given}")
    if math.prod(shape) > _MOST_EVER:
        raise TooLargeError(f"{math.prod(shape):,} cells are too many: {_MOST_EVER:,} at most", "hours")
    table = np.array(weights, dtype=object).reshape(given)
    for axis, (count, parts) in enumerate(zip(shape, given, strict=True)):
        table = np.repeat(table, count // parts, axis=axis)
    divisor = math.prod(shape) // math.prod(given)
    return [weight / divisor for weight in table.ravel().tolist()], tuple(shape)
