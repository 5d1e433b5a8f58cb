"""Noise for the marginals of a table: one scale for each marginal, from the steps along each attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from metricdp.errors import ImpossibleError
from metricdp.exact.balls import Enclosure, float_above
from metricdp.exact.level import Level
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.queries.workloads._limits import Limits
from metricdp.queries.workloads.allocation import noise_for
from metricdp.queries.workloads.group_totals import Axis

__all__ = ["MarginalNoise", "allocate_marginals"]


@dataclass(frozen=True)
class MarginalNoise:
    """Laplace noise for marginals, proved: every cell of a marginal has the same scale.

    Attributes:
        sets: the attributes of each marginal, by their places.
        scales: of the noise on each cell of each; 0 where none is needed.
        gap: how far the sum of squared errors is above the least with one scale for each marginal, relatively.
        tightest: what is spent of a distance at most, enclosed; it is not above 1.

    Guarantee:
        A record that changes in one attribute moves from one cell to another in each marginal that has the attribute,
        and in no other: it changes two counts by 1 in each. So ``sum of 2 / c_S`` over those marginals is at most the
        shortest step along the attribute, decided exactly, for each attribute. A record that changes in several goes
        from step to step. One that comes or goes changes one count in each: ``sum of 1 / c_S <= absent``.
    """

    sets: tuple[tuple[int, ...], ...]
    scales: tuple[float, ...]
    gap: float
    tightest: Enclosure

    def mechanism(self, place: int, total: int) -> Mechanism | None:
        """The noise on each count of a marginal, among ``total`` records; None where none is needed."""
        return noise_for(self.scales[place], Fraction(max(total, 1)))


def allocate_marginals(
    axes: Sequence[Axis], sets: Sequence[tuple[int, ...]], absent: Level | None = None
) -> MarginalNoise:
    """The scales with the least sum of squared errors over all cells of the marginals.

    Args:
        axes: the attributes, with their points and metrics.
        sets: the attributes of each marginal, by their places.
        absent: how far an absent record is from any other, where records can be absent.

    Raises:
        ImpossibleError: two points of an attribute are at distance zero.

    >>> import metricdp as mdp
    >>> axes = [Axis("FM", mdp.metrics.discrete()), Axis(range(9), mdp.metrics.absolute() / 4)]
    >>> round(allocate_marginals(axes, [(0,), (0, 1)]).scales[1], 6)
    8.0
    """
    distances, rows = [], []
    for place, axis in enumerate(axes):
        shortest = _shortest(axis)
        inside = [number for number, chosen in enumerate(sets) if place in chosen]
        if shortest is not None and inside:
            distances.append(shortest)
            rows.append([(number, 2) for number in inside])
    if absent is not None:
        distances.append(absent.enclose())
        rows.append([(number, 1) for number in range(len(sets))])
    entries = [(row, number, amount) for row, found in enumerate(rows) for number, amount in found]
    scales = np.zeros(len(sets))
    if not entries:
        return MarginalNoise(tuple(sets), tuple(scales.tolist()), 0.0, Enclosure(Fraction(0), Fraction(0)))
    row, number, amount = (np.array(side, dtype=np.int64) for side in zip(*entries, strict=True))
    whole = Limits.of(row, number, amount, (1,) * len(sets), tuple(distances), np.arange(len(rows)))
    noisy = np.unique(whole.variables)
    limits = whole.renumbered(noisy)
    cells = [Fraction(math.prod(len(axes[axis].points) for axis in sets[place])) for place in noisy.tolist()]
    best = limits.best(cells, gap=1e-9)
    scales[noisy] = best.scales
    spent = limits.spent(best.scales).part
    if not spent.upper <= 1:
        raise ArithmeticError("a limit is broken after all: this cannot be")
    value = sum((w * Fraction(c) ** 2 for w, c in zip(cells, best.scales, strict=True)), Fraction(0))
    off = float_above((value - Fraction(max(best.bound, 0.0))) / value)
    return MarginalNoise(tuple(sets), tuple(scales.tolist()), max(off, 0.0), spent)


def _shortest(axis: Axis) -> Enclosure | None:
    """The shortest step along an attribute; None where all points may be told apart freely, or there is one only."""
    found = [distance for _, distance in axis.steps(range(len(axis.points)))] if not axis.alike else _one_step(axis)
    for distance in found:
        if distance.upper == 0:
            raise ImpossibleError(
                "two cells of a column are at distance 0: no noise hides which of them a record is in; make them one "
                "cell, or give them a distance"
            )
    finite = [distance for distance in found if distance.lower != math.inf]
    return min(finite, key=lambda distance: Fraction(distance.lower)) if finite else None


def _one_step(axis: Axis) -> list[Enclosure]:
    return [axis.metric.enclose(axis.points[0], axis.points[1])] if len(axis.points) > 1 else []
