"""Universal optimality: whether one mechanism is the best of its type for every prior."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries.losses import as_loss
from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_channel, check_space
from metricdp.design.universal._expected_loss import ExpectedLoss
from metricdp.design.universal._private_columns import LeastLoss, PrivacyType
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure
from metricdp.exact.level import rational
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, enclosure_json, number_json, short
from metricdp.metrics import Space

__all__ = ["Universality", "UniversalityCertificate", "universally_optimal"]

_ENCLOSED = Fraction(1, 10**12)
"""The excess that is let pass where exp(-d) is irrational: no channel of integers can be exactly the best there."""

MOST_PRIORS = 40_000
"""How many extreme priors are enumerated before a problem is refused."""

_Found = tuple[Prior | None, Fraction | None, Certified | None, Fraction | None]


@dataclass(frozen=True)
class UniversalityCertificate:
    """The proof that no private mechanism is better than by so much for one prior.

    Attributes:
        prior: p, an extreme one.
        loss: what the channel costs its best user there.
        multipliers: y, one for each secret, with ``Σ over x of (p(x) l(w, x) - y_x) v_x >= 0`` for every action w and
            every column v of a private channel; so no private channel costs less than ``Σ y``.
    """

    prior: Prior
    loss: Fraction
    multipliers: tuple[Fraction, ...]

    @property
    def bound(self) -> Fraction:
        """What every private mechanism costs at least."""
        return sum(self.multipliers, Fraction(0))


@dataclass(frozen=True, repr=False)
class Universality(Result):
    """Whether a channel is universally optimal in its type, with the proof.

    Attributes:
        holds: whether no private mechanism costs less, for any prior, by more than ``tolerance``; proved.
        excess: encloses the most that the channel costs above the least possible, over all priors; of a search that
            did not finish, over those looked at.
        tolerance: the excess that is ignored.
        witness: the prior of the largest excess; None if the excess is 0.
        loss: what the channel costs there.
        better: a private channel that costs less there, verified; its outputs are the actions to take.
        better_loss: what that one costs.
        purpose: the loss function, with rational entries.
        certificates: one for each extreme prior that was looked at.
        finished: whether all were looked at; if not, a better mechanism was found before.

    >>> import metricdp as mdp
    >>> space = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    >>> guess = mdp.channels.of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
    >>> print(universally_optimal(guess, space, "bin"))
    NOT universally optimal for 'bin': for the prior 0 1/2, 1 0, 2 1/2
    it costs 3/8, and another private mechanism costs 1/4.
    """

    holds: bool
    excess: Enclosure
    tolerance: Fraction
    witness: Prior | None
    loss: Fraction | None
    better: Certified | None
    better_loss: Fraction | None
    purpose: Loss
    certificates: tuple[UniversalityCertificate, ...]
    finished: bool = True

    def __bool__(self) -> bool:
        return self.holds

    @property
    def refuted(self) -> bool:
        """Whether some private mechanism is proved to cost less, for some prior, by more than ``tolerance``.

        Where neither ``holds`` nor ``refuted``, the enclosures of an irrational exp(-d) could not tell.
        """
        return self.excess.lower > self.tolerance

    @property
    def reason(self) -> str:
        """Why it does not hold, or is not known to; empty if it holds."""
        if self.holds:
            return ""
        if self.refuted:
            return f"another private mechanism costs less for the prior {self.witness}"
        return "exp(-d) is irrational, and its enclosures could not tell"

    def to_json(self) -> dict[str, Any]:
        """Whether it holds, the excess between bounds, and the prior that decides."""
        return {
            "holds": self.holds,
            "refuted": self.refuted,
            "loss_by": self.purpose.name,
            "excess": enclosure_json(self.excess),
            "tolerance": number_json(self.tolerance),
            "witness": None if self.witness is None else [number_json(share) for share in self.witness.fractions],
            "loss": number_json(self.loss),
            "better": None if self.better is None else self.better.to_json(),
            "better_loss": number_json(self.better_loss),
            "priors": len(self.certificates),
            "finished": self.finished,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        most = short(self.excess.upper, 3)
        return f"Universality(holds={self.holds}, {len(self.certificates)} priors, excess at most {most})"

    def __str__(self) -> str:
        name = f"universally optimal for {self.purpose.name!r}"
        if self.holds and not self.excess.upper:
            return f"{name}: proved by {len(self.certificates)} extreme priors."
        if self.holds:
            return f"{name} up to {float(self.excess.upper):.2g}: proved by {len(self.certificates)} extreme priors."
        if not self.refuted:
            return f"not known to be {name}: it costs at most {float(self.excess.upper):.2g} more than the best."
        return (
            f"NOT {name}: for the prior {self.witness}\n"
            f"it costs {short(self.loss)}, and another private mechanism costs {short(self.better_loss)}."
        )


def universally_optimal(
    channel: Channel,
    space: Space,
    loss: Any,
    *,
    tolerance: int | float | str | Fraction | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Universality:
    """Whether a channel costs the least among all d-private mechanisms, for every prior at once; decided.

    With ``U(p) = Σ over z of min over w of Σ over x of p(x) K(x)(z) l(w, x)``, the channel's cost to a user who remaps
    its outputs in the best way, and ``B(p)`` the least cost of any d-private mechanism, it asks whether ``U(p) = B(p)``
    for all p.

    The proof. U is linear on each of finitely many cones of priors, the cells where one remap is the best. B is
    concave, as the least of functions that are linear in p (one for each private channel whose outputs are actions),
    and ``B <= U`` since the channel is private. On a cell, U - B is therefore convex, and takes its largest value (over
    priors, which sum to one) at an extreme prior of the cell. So the largest excess over all priors is the largest at
    the extreme priors, and the channel is universally optimal iff U = B there. In the words of the minimax theorem:
    the loss vectors that private mechanisms reach lie in those that the channel reaches, plus the nonnegative orthant,
    and the extreme priors are the normals of the facets of the latter.

    Extreme priors are enumerated in integers, and B is found at each by the simplex method in rationals over all
    extreme private columns. Where exp(-d) is irrational, it is put between two rationals, which encloses B.

    Args:
        channel: its inputs are the points of ``space``.
        space: the points and d, of no more than 20000 extreme private columns, as any 9 points or a line of 15 are; and
            with no more than 40000 extreme priors: for the loss "bin", the geometric mechanism has 6528 on 8 points.
        loss: l; see `metricdp.adversaries.as_loss`. Irrational entries are taken as their floats, exactly.
        tolerance: the excess to ignore; by default 0 if every exp(-d) is rational, as at ln 2, and else 1e-12, since
            the best channel is then irrational and a rounded one costs a little more.
        time_limit: seconds after which it stops. If a better mechanism was found by then, the answer is False, with
            ``finished`` False; otherwise nothing is known, and that is an error.
        progress: is given an `Update` after each extreme prior, with how many are settled and how many there are.

    Raises:
        ArgumentError: if the channel is not private for the space, or its inputs are not the points.
        TooLargeError: if there are more extreme columns or extreme priors than are enumerated (says about how many
            there are), or the time limit is reached with nothing decided.

    References:
        Paper 5, Section IV; Ghosh, Roughgarden and Sundararajan 2012, for the geometric mechanism.

    >>> import metricdp as mdp
    >>> metric = mdp.ln(2) * mdp.metrics.absolute()
    >>> geometric = mdp.channels.of(mdp.truncated_geometric(metric, steps=3), range(4))
    >>> print(universally_optimal(geometric, mdp.Space.line(4, metric), "distance"))
    universally optimal for 'distance': proved by 42 extreme priors.
    """
    watch = Stopwatch(time_limit, progress)
    purpose = _checked(channel, space, loss)
    held = PrivacyType.of(space, watch)
    share = rational(tolerance, "tolerance") if tolerance is not None else Fraction(0) if held.exact else _ENCLOSED
    cost = ExpectedLoss.of(channel, purpose, space.points)
    certificates = []
    lower = upper = Fraction(0)
    worst: tuple[Prior, Fraction, LeastLoss] | None = None
    extremes = cost.extreme_priors(MOST_PRIORS, watch)
    for number, prior in enumerate(extremes):
        if watch.over and lower > share:
            break
        watch.check("to look at all extreme priors", number, len(extremes), "extreme priors")
        own = cost.at(prior)
        relaxed, strict = held.least_loss([prior], purpose)
        certificates.append(UniversalityCertificate(prior, own, relaxed.multipliers))
        upper = max(upper, own - relaxed.value)
        if own - strict.value > lower:
            lower, worst = own - strict.value, (prior, own, strict)
        watch.tell(number + 1, len(extremes), unit="extreme priors")
    found: _Found = (None, None, None, None)
    if worst is not None:
        better = held.channel(worst[2], purpose.actions)
        found = worst[0], worst[1], better, worst[2].value
    finished = len(certificates) == len(extremes)
    excess = Enclosure(lower, upper)
    return Universality(upper <= share, excess, share, *found, purpose, tuple(certificates), finished)


def _checked(channel: Channel, space: Space, loss: Any) -> Loss:
    """The loss with rational entries, for a private channel on all points of the space."""
    check_channel(channel, "universally_optimal")
    check_space(space, "universally_optimal")
    if len(channel.inputs) != len(space):
        raise ArgumentError(
            f"the channel has {len(channel.inputs)} inputs, the space {len(space)} points, and they must be the same; "
            "mdp.channels.restrict leaves some inputs out"
        )
    verdict = verify(channel, space)
    if not verdict:
        raise ArgumentError(f"only a private channel can be the best of the private ones: {verdict}")
    return as_loss(loss, space.points, space).rounded()
