"""Whether one mechanism is the best of its type for every loss and every prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.channels.refine import Refinement, refines
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_space
from metricdp.design.kernels import kernels
from metricdp.errors import ArgumentError
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result
from metricdp.metrics import Space

__all__ = ["EveryLoss", "optimal_for_every_loss"]


@dataclass(frozen=True, eq=False)
class EveryLoss(Result):
    """Whether no private mechanism is better than a channel for any loss and prior; see `optimal_for_every_loss`.

    Attributes:
        holds: whether none is.
        channel: which.
        looked_at: how many kernels were compared with it.
        better: a kernel that is worth more to somebody; None where there is none.
        proof: why: a gain for which it is, checked in integers.
    """

    holds: bool
    channel: Channel
    looked_at: int
    better: Channel | None = None
    proof: Refinement | None = None

    def __bool__(self) -> bool:
        return self.holds

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON."""
        better = None if self.better is None else self.better.to_json()
        return {"holds": self.holds, "looked_at": self.looked_at, "better": better}

    def __str__(self) -> str:
        if self.holds:
            return f"the best of its type for every loss and prior: all {self.looked_at} kernels refine it"
        assert self.proof is not None
        return f"NOT the best for every loss: some gain is worth {self.proof.advantage} more through another kernel"


def optimal_for_every_loss(
    channel: ChannelLike,
    space: Space,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> EveryLoss:
    """Whether a private channel costs least of all private ones, for all losses and all priors at once.

    That is: every private channel refines it. By Theorem 3 it is enough that every kernel does.

    Args:
        channel: private, over the points of the space.
        space: the points and d.
        time_limit: seconds; then it is given up.
        progress: told how many kernels were compared.

    Raises:
        ArgumentError: the channel is not private for the metric.
        TooLargeError: the time limit is reached.

    References:
        Paper 5, Definition 2, Corollary 9 and Theorem 11: two secrets have such a mechanism, three or more have none.

    >>> import metricdp as mdp
    >>> T = Channel.from_matrix([0, 1], "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(optimal_for_every_loss(T, Space.line(2, mdp.ln(2) * mdp.metrics.absolute())))
    the best of its type for every loss and prior: all 1 kernels refine it
    """
    space = check_space(space, "optimal_for_every_loss")
    given = as_channel(channel, "optimal_for_every_loss", space.points)
    if not verify(given, space):
        raise ArgumentError(
            f"only a private channel can be the best of its type, and this one is not {space.metric}-private"
        )
    watch = Stopwatch(time_limit, progress)
    looked_at = 0
    for kernel in kernels(space):
        watch.check("to compare all kernels", looked_at, unit="kernels")
        looked_at += 1
        watch.tell(looked_at, unit="kernels")
        proof = refines(kernel, given)
        if not proof:
            return EveryLoss(False, given, looked_at, kernel, proof)
    return EveryLoss(True, given, looked_at)
