"""Comparing two mechanisms over all priors, for users who remap the outputs in the best way."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries.losses import as_loss
from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.channel import Channel
from metricdp.design.arguments import check_channel, check_space
from metricdp.design.universal._expected_loss import ExpectedLoss
from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json, short
from metricdp.metrics import Space

__all__ = ["Comparison", "LossesAt", "compare"]


@dataclass(frozen=True)
class LossesAt:
    """What two mechanisms cost for one prior.

    Attributes:
        prior: the prior.
        first: what the first costs a user who remaps its outputs in the best way.
        second: what the second costs.
    """

    prior: Prior
    first: Fraction
    second: Fraction

    @property
    def difference(self) -> Fraction:
        """How much more the first costs."""
        return self.first - self.second


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Which of two mechanisms is never worse, over all priors.

    Attributes:
        purpose: the loss function, with rational entries.
        worst_for_first: the prior where the first costs most above the second, or least below it.
        worst_for_second: the same for the second.
        ratio: the least r such that the first costs at most r times what the second does, for every prior; infinite
            if there is none, and None if some entry of the loss is negative.
        inverse_ratio: the same the other way round.

    >>> import metricdp as mdp
    >>> C = mdp.channels.of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), steps=2), range(3))
    >>> R = mdp.channels.of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
    >>> print(compare(C, R, "bin"))
    The first is never worse for 'bin': it costs at most the same, and 1/8 less for the prior 0 1/2, 1 0, 2 1/2.
    """

    purpose: Loss
    worst_for_first: LossesAt
    worst_for_second: LossesAt
    ratio: Fraction | float | None
    inverse_ratio: Fraction | float | None

    @property
    def first_never_worse(self) -> bool:
        """Whether the first costs at most what the second does, for every prior."""
        return self.worst_for_first.difference <= 0

    @property
    def second_never_worse(self) -> bool:
        """Whether the second costs at most what the first does, for every prior."""
        return self.worst_for_second.difference >= 0

    @property
    def equal(self) -> bool:
        """Whether both cost the same for every prior."""
        return self.first_never_worse and self.second_never_worse

    @property
    def incomparable(self) -> bool:
        """Whether each is better for some prior."""
        return not self.first_never_worse and not self.second_never_worse

    def to_json(self) -> dict[str, Any]:
        """Which is never worse, and the priors where each is worst."""

        def case(held: LossesAt) -> dict[str, Any]:
            shares = [number_json(share) for share in held.prior.fractions]
            return {"prior": shares, "first": number_json(held.first), "second": number_json(held.second)}

        return {
            "loss_by": self.purpose.name,
            "first_never_worse": self.first_never_worse,
            "second_never_worse": self.second_never_worse,
            "worst_for_first": case(self.worst_for_first),
            "worst_for_second": case(self.worst_for_second),
            "ratio": number_json(self.ratio),
            "inverse_ratio": number_json(self.inverse_ratio),
        }

    def __repr__(self) -> str:
        return f"Comparison({self})"

    def __str__(self) -> str:
        name = repr(self.purpose.name)
        if self.equal:
            return f"Both cost the same for {name}, for every prior."
        gains = self.worst_for_second, self.worst_for_first
        less = [f"{short(abs(case.difference))} less for the prior {case.prior}" for case in gains]
        if self.incomparable:
            return f"Incomparable for {name}: the first costs {less[0]}; the second costs {less[1]}."
        which = "first" if self.first_never_worse else "second"
        return f"The {which} is never worse for {name}: it costs at most the same, and {less[which == 'second']}."


def compare(
    first: Channel,
    second: Channel,
    loss: Any,
    space: Space | None = None,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """How two mechanisms on the same secrets compare for a loss, over all priors at once; exactly.

    With U the cost of the first to a user who remaps its outputs in the best way, and V that of the second, both as
    functions of the prior: U is linear on each of its cells (see `universally_optimal`) and V is concave, so U - V is
    convex there and U / V quasi-convex, and both are largest at an extreme prior of a cell of U. The other way round
    they are largest at an extreme prior of a cell of V. The two may have different outputs, and neither needs to be
    private.

    Args:
        first: a channel.
        second: a channel on the same inputs, in any order.
        loss: a name, a `Loss`, a matrix or a function; see `metricdp.adversaries.as_loss`. Irrational entries are taken
            as their floats, exactly.
        space: the points with their metric; needed for the losses "distance" and "squared".
        time_limit: seconds after which it is given up.
        progress: is given an `Update` now and then, with how many extreme priors are settled.

    Raises:
        ArgumentError: if the inputs of the two differ.
        TooLargeError: if there are more extreme priors than are enumerated, or the time limit is reached.

    References:
        Paper 5, Section IV. For all losses at once, see `metricdp.channels.refines`.

    >>> C = Channel.from_matrix("ab", "yz", [["1/2", "1/2"], [0, 1]])
    >>> R = Channel.from_matrix("ab", "yz", [["3/4", "1/4"], ["1/4", "3/4"]])
    >>> found = compare(C, R, "bin")
    >>> found.incomparable, str(found.worst_for_first.prior), found.worst_for_first.difference
    (True, 'a 2/3, b 1/3', Fraction(1, 12))
    """
    watch = Stopwatch(time_limit, progress)
    for channel in (first, second):
        check_channel(channel, "compare")
    if space is not None:
        check_space(space, "compare")
    secrets = first.inputs
    try:
        same = len(second.inputs) == len(secrets) and all(second.row(x) >= 0 for x in secrets)
    except MetricDPError:
        same = False
    if not same:
        raise ArgumentError("the two channels have different inputs; to be compared they need the same secrets")
    purpose = as_loss(loss, secrets, space).rounded()
    one, two = (ExpectedLoss.of(channel, purpose, secrets) for channel in (first, second))
    extremes = [cost.extreme_priors(watch=watch) for cost in (one, two)]
    total = sum(map(len, extremes))
    found: list[LossesAt] = []
    for prior in itertools.chain(*extremes):
        watch.check("to compare the two", len(found), total, "extreme priors")
        found.append(LossesAt(prior, one.at(prior), two.at(prior)))
        watch.tell(len(found), total, unit="extreme priors")
    at_first, at_second = found[: len(extremes[0])], found[len(extremes[0]) :]
    numbers, _ = purpose.whole
    positive = min(numbers.ravel().tolist()) >= 0
    return Comparison(
        purpose,
        max(at_first, key=lambda case: case.difference),
        min(at_second, key=lambda case: case.difference),
        _largest([(case.first, case.second) for case in at_first]) if positive else None,
        _largest([(case.second, case.first) for case in at_second]) if positive else None,
    )


def _largest(costs: list[tuple[Fraction, Fraction]]) -> Fraction | float:
    """The least r with ``u <= r v`` for all (u, v); where both are zero, any r serves, and 0 where all u are."""
    ratios = [u / v if v else math.inf for u, v in costs if u or v]
    return max(ratios, default=Fraction(0))
