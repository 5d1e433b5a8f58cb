"""What privacy costs: the least loss at several levels, as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.design.arguments import check_space
from metricdp.design.optimal import Optimal, optimal
from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import rational
from metricdp.exact.lists import as_list
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json, short
from metricdp.metrics import Metric, Space

__all__ = ["TradeOff", "trade_off"]


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff(Result):
    """The least loss at several multiples of a metric; see `trade_off`.

    Attributes:
        metric: the metric whose multiples these are.
        multiples: in rising order.
        channels: for each multiple a channel that is proved to keep it; from one to the next it may stay the same.
        losses: theirs; they never rise.
        bounds: for each multiple, no private channel has a smaller loss; they never rise.
    """

    metric: Metric
    multiples: tuple[Fraction, ...]
    channels: tuple[Optimal, ...]
    losses: tuple[float, ...]
    bounds: tuple[float, ...]

    @property
    def gaps(self) -> tuple[float, ...]:
        """``(loss - bound) / |loss|`` for each multiple: by what share another channel may be better, at most."""
        apart = [max(loss - bound, 0.0) for loss, bound in zip(self.losses, self.bounds, strict=True)]
        return tuple(
            gap / abs(loss) if loss else (math.inf if gap else 0.0)
            for gap, loss in zip(apart, self.losses, strict=True)
        )

    def at(self, multiple: int | float | str | Fraction) -> Optimal:
        """The channel for a multiple: that of the largest one listed which is not above it, so private for it too.

        Raises:
            LevelError: all that are listed are above it.
        """
        wanted = rational(multiple, "multiple")
        kept = [place for place, listed in enumerate(self.multiples) if listed <= wanted]
        if not kept:
            raise LevelError(f"the least multiple here is {short(self.multiples[0])}; no channel is private for less")
        return self.channels[kept[-1]]

    def least_multiple(self, loss: float) -> Fraction | None:
        """The least multiple listed whose loss is at most this; None where none is."""
        return next((m for m, reached in zip(self.multiples, self.losses, strict=True) if reached <= loss), None)

    def to_json(self) -> dict[str, Any]:
        """The table as plain values, without the channels."""
        rows = zip(self.multiples, self.losses, self.bounds, self.gaps, self.channels, strict=True)
        return {
            "metric": str(self.metric),
            "rows": [
                {
                    "multiple": number_json(multiple),
                    "loss": loss,
                    "bound": bound,
                    "gap": number_json(gap),
                    "reason": channel.reason,
                }
                for multiple, loss, bound, gap, channel in rows
            ],
        }

    def __str__(self) -> str:
        names = [short(multiple) for multiple in self.multiples]
        width = max(len("multiple"), *map(len, names))
        lines = [
            f"least loss at multiples of {self.metric}",
            f"{'multiple':>{width}}  {'loss':>10}  {'bound':>10}  gap",
        ]
        for name, loss, bound, gap in zip(names, self.losses, self.bounds, self.gaps, strict=True):
            lines.append(f"{name:>{width}}  {loss:>10.5g}  {bound:>10.5g}  {100 * gap:.2f}%")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"TradeOff({len(self.multiples)} multiples, losses {self.losses[0]:.4g} to {self.losses[-1]:.4g})"


def trade_off(
    space: Space,
    prior: Any = "uniform",
    loss: Any = "distance",
    outputs: Iterable[Any] | None = None,
    *,
    multiples: Iterable[int | float | str | Fraction] = ("1/4", "1/2", 1, 2, 4),
    gap: float = 1e-2,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> TradeOff:
    """The least loss at several multiples of a metric, each with a proved gap: what more or less privacy costs.

    The multiples are solved from the strictest on. A channel that keeps a multiple keeps every larger one, so losses
    never rise; and no channel of a smaller multiple can be better than the bound of a larger one, so bounds never rise
    either.

    Args:
        space: the points and d.
        prior: how likely each point is; see `optimal`.
        loss: what an output costs; see `optimal`. "distance" is in ``space.metric.unit``, the same for all multiples.
        outputs: labels of the outputs; see `optimal`.
        multiples: of d; 2 stands for half the privacy.
        gap: stop each search when no private channel can be better by more than this share of the loss.
        time_limit: seconds for all multiples together, dealt out evenly to those that are left. Ctrl-C ends the search;
            of the multiples that are left, the table then has what is found in closed form.
        progress: called after each multiple.

    Returns:
        A table of losses and bounds with the channels; `metricdp.plots.trade_off_figure` draws it.

    Raises:
        ArgumentError: there are no multiples, or something does not fit the space.
        LevelError: a multiple is not positive.

    References:
        Paper 3, section 5.

    >>> import metricdp as mdp
    >>> table = trade_off(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), multiples=[1, 2])
    >>> print(table)
    least loss at multiples of ln 2·|x − y|
    multiple        loss       bound  gap
           1     0.55556     0.55556  0.00%
           2         0.3         0.3  0.00%
    >>> table.least_multiple(0.4)
    Fraction(2, 1)
    """
    check_space(space, "trade_off")
    watch = Stopwatch(time_limit, progress)
    asked = sorted({rational(value, "multiple") for value in as_list(multiples, "multiples", "[1, 2]")})
    if not asked:
        raise ArgumentError("a trade-off wants at least one multiple")
    if asked[0] <= 0:
        raise LevelError("a multiple of a metric is positive")
    names = None if outputs is None else list(outputs)
    found: list[Optimal] = []
    bounds: list[float] = []
    interrupted = False
    for done, multiple in enumerate(asked):
        left = None if math.isinf(watch.left) else max(watch.left / (len(asked) - done), 1e-3)
        left = 1e-3 if interrupted else left
        here = optimal(Space(space.points, multiple * space.metric), prior, loss, names, gap=gap, time_limit=left)
        interrupted = interrupted or here.interrupted
        found.append(found[-1] if found and found[-1].loss <= here.loss else here)
        bounds.append(here.bound)
        watch.tell(done + 1, len(asked), unit="multiples", best=found[-1].loss, bound=here.bound)
    for place in range(len(bounds) - 2, -1, -1):
        bounds[place] = max(bounds[place], bounds[place + 1])
    losses = tuple(channel.loss for channel in found)
    return TradeOff(space.metric, tuple(asked), tuple(found), losses, tuple(bounds))
