"""How far one channel is from refining another: the most that it can be worth more, for a prior; with proofs.

Let a(x, y) and b(x, z) be the joint probabilities of secrets and outputs of two channels. Over all gain functions g
that gain at most 1, with an action that gains nothing,

    maximise  sum over z of max over w of b_z . g_w  -  sum over y of max over w of a_y . g_w

is the dual of covering as much of b as possible by a, through a post-processing R that may lose outputs:

    maximise  sum over y, z of |a_y| R(y, z)   over R >= 0 with  sum over z of R(y, z) <= 1  and  a R <= b

and the distance is 1 less that maximum. A solver proposes R and g in floats; R is made smaller until it keeps its
constraints exactly, and g is worth what it is worth, exactly. The two enclose the distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.adversaries._arguments import channel_for
from metricdp.adversaries.hyper import joint
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.algebra import same_rows
from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.exact.balls import Enclosure
from metricdp.exact.results import Result, enclosure_json, number_json, short
from metricdp.programs import LinearProgram, Sparse

__all__ = ["RefinementDistance", "refinement_distance"]

_Table = list[list[Fraction]]


@dataclass(frozen=True, repr=False)
class RefinementDistance(Result):
    """The most that one channel can be worth more than another to an adversary with a given prior.

    Attributes:
        lower: proved by `gain`.
        upper: proved by a post-processing of the other channel.
        prior: of the adversary.
        gain: what each action (a row) gains for each secret (a column): at most 1, and with an action that gains 0.
            Its posterior vulnerabilities through the two channels differ by `lower`, exactly.
    """

    lower: Fraction
    upper: Fraction
    prior: Prior
    gain: tuple[tuple[Fraction, ...], ...]

    @property
    def enclosure(self) -> Enclosure:
        """Both bounds."""
        return Enclosure(self.lower, self.upper)

    def __float__(self) -> float:
        return float(self.enclosure)

    def to_json(self) -> dict[str, Any]:
        """The bounds and the gain as plain values for JSON."""
        return {
            "distance": enclosure_json(self.enclosure),
            "gain": [[number_json(value) for value in row] for row in self.gain],
        }

    def __str__(self) -> str:
        return f"the first channel is worth up to {short(self.enclosure)} more than the second"

    def __repr__(self) -> str:
        return f"RefinementDistance({short(self.enclosure)})"


def refinement_distance(prior: Any, refining: ChannelLike, refined: ChannelLike) -> RefinementDistance:
    """How far A is from refining B: the most that A is worth more than B, over all gains up to 1, with a proof.

    ``max over g of V_g[prior, A] - V_g[prior, B]`` where g gains at most 1 and has an action that gains nothing. It is
    0 where A refines B (see `metricdp.channels.refines`), and only there if every secret is possible; it keeps the
    triangle inequality, but is not symmetric.

    Args:
        prior: of the adversary; see `metricdp.adversaries.as_prior`.
        refining: A.
        refined: B, on the same inputs.

    Raises:
        ArgumentError: the channels have different inputs, or the prior is no distribution over them.

    References:
        Paper 5, Eq. 6, for what is refined; the metric is qif's ``refinement.add_metric(prior, B, A)``.

    >>> from metricdp.adversaries import refinement_distance
    >>> telling, silent = [[1, 0], [0, 1]], [[1], [1]]
    >>> refinement_distance([0.5, 0.5], telling, silent), refinement_distance([0.5, 0.5], silent, telling)
    (RefinementDistance(1), RefinementDistance(0))
    """
    A = channel_for(prior, refining, "refinement_distance")
    B = as_channel(refined, "refinement_distance", A.inputs)
    belief = as_prior(prior, A.inputs)
    more, less = _joint(belief, A), _joint(belief, Channel(A.inputs, B.outputs, same_rows(A, B), B.total))
    masses = [sum(column, Fraction(0)) for column in zip(*less, strict=True)]
    cover, prices = _solved(more, less, masses)
    gain = _gains(more, less, masses, prices)
    covered = _covered(more, less, masses, cover)
    lower = _worth(more, gain) - _worth(less, gain)
    if lower < 0:
        gain, lower = ((Fraction(0),) * len(more),), Fraction(0)
    return RefinementDistance(lower, max(lower, 1 - covered), belief, gain)


def _joint(belief: Prior, channel: Channel) -> _Table:
    total = belief.total * channel.total
    return [[Fraction(int(value), total) for value in row] for row in joint(belief, channel).tolist()]


def _solved(more: _Table, less: _Table, masses: Sequence[Fraction]) -> tuple[Any, Any]:
    """R and the prices of the constraints ``a R <= b``, in floats; rows are divided by b, so that all are alike."""
    rows, columns, outputs = len(more), len(masses), len(more[0])
    program = LinearProgram(maximize=True)
    allowed = [[all(more[x][z] or not less[x][y] for x in range(rows)) for z in range(outputs)] for y in range(columns)]
    program.add_columns(
        [float(masses[y]) for y in range(columns) for _ in range(outputs)], 0, np.where(allowed, 1.0, 0.0).ravel()
    )
    program.add_rows(-math.inf, 1, Sparse.of([{y * outputs + z: 1.0 for z in range(outputs)} for y in range(columns)]))
    held = [(x, z) for x in range(rows) for z in range(outputs) if more[x][z]]
    program.add_rows(
        -math.inf,
        1,
        Sparse.of(
            [{y * outputs + z: float(less[x][y] / more[x][z]) for y in range(columns) if less[x][y]} for x, z in held]
        ),
    )
    solution = program.solve()
    cover = np.clip(solution.primal.reshape(columns, outputs), 0, None)
    cover[~np.array(allowed, dtype=bool).reshape(columns, outputs)] = 0
    prices = {place: max(0.0, float(dual)) for place, dual in zip(held, solution.duals[columns:], strict=True)}
    return cover, prices


def _gains(more: _Table, less: _Table, masses: Sequence[Fraction], prices: Any) -> tuple[tuple[Fraction, ...], ...]:
    """An action for each output z of A: 1 less the price of (x, z); where b(x, z) = 0, too little for a to use."""
    found = []
    for z in range(len(more[0])):
        action = []
        for x, row in enumerate(more):
            if row[z]:
                price = Fraction(prices[x, z]) / row[z]
            else:
                price = max((mass / less[x][y] for y, mass in enumerate(masses) if less[x][y]), default=Fraction(0))
            action.append(min(Fraction(1), 1 - price))
        found.append(tuple(action))
    return (*found, (Fraction(0),) * len(more))


def _worth(table: _Table, gain: Sequence[Sequence[Fraction]]) -> Fraction:
    total = Fraction(0)
    for column in zip(*table, strict=True):
        total += max(sum((p * g for p, g in zip(column, action, strict=True)), Fraction(0)) for action in gain)
    return total


def _covered(more: _Table, less: _Table, masses: Sequence[Fraction], cover: Any) -> Fraction:
    """What R covers, once each of its rows and columns is scaled down to where it keeps the constraints."""
    shares = [[Fraction(float(value)) for value in row] for row in cover]
    for y, row in enumerate(shares):
        over = max(Fraction(1), sum(row, Fraction(0)))
        shares[y] = [value / over for value in row]
    covered = Fraction(0)
    for z in range(len(more[0])):
        over = Fraction(1)
        for x, row in enumerate(less):
            used = sum((p * shares[y][z] for y, p in enumerate(row)), Fraction(0))
            if used > 0:
                over = max(over, used / more[x][z])
        covered += sum((mass * shares[y][z] for y, mass in enumerate(masses)), Fraction(0)) / over
    return covered
