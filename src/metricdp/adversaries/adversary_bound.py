"""A theorem's bound on what an adversary learns, beside the truth for one channel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries.prior import Prior
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure, float_above, float_below, log_bounds
from metricdp.exact.level import rational
from metricdp.exact.lists import as_a
from metricdp.exact.results import Result, enclosure_json, number_json

__all__ = ["NEAR", "AdversaryBound", "LargestChange", "greatest_ratio", "nearness"]

NEAR = Fraction(1, 10**6)
"""How near to a supremum the prior shown comes, unless said otherwise."""


@dataclass(frozen=True)
class LargestChange(Result):
    """The largest change of belief over all priors and all sets of outputs, for one channel.

    Attributes:
        ratio: exp of the supremum, between two Fractions that are equal where it is known exactly; perhaps infinite.
        secrets: the two secrets x, x' between which it is approached.
        outputs: the set Z of outputs that is seen.
        prior: a prior that comes near.
        reached: exp of what this prior reaches with Z, exactly; perhaps infinite.
    """

    ratio: Enclosure
    secrets: tuple[Any, Any]
    outputs: tuple[Any, ...]
    prior: Prior
    reached: Fraction | float

    def to_json(self) -> dict[str, Any]:
        """The change, and where it is approached, as plain values for JSON; the supremum is that of the logarithm."""
        below, above = _logs(self.ratio.lower)[0], _logs(self.ratio.upper)[1]
        return {
            "supremum": number_json(above),
            "supremum_below": number_json(below),
            "secrets": [label_document(x) for x in self.secrets],
            "outputs": [label_document(z) for z in self.outputs],
            "prior": self.prior.to_json(),
        }

    def __str__(self) -> str:
        one, other = self.secrets
        return f"beliefs move by up to {_logs(self.ratio.upper)[1]:.6g} between the secrets {one!r} and {other!r}"


@dataclass(frozen=True, repr=False)
class AdversaryBound(Result):
    """What a theorem says of every private channel, and what is true of this one.

    Distances between beliefs are ``d_P(s, t) = sup over sets of |ln s(A) / t(A)|``, 0 where both are zero and infinite
    where one is. For finitely many secrets the supremum is that over single secrets: a ratio of sums lies between the
    ratios of their terms.

    Attributes:
        bound: the theorem's bound, enclosed; exact where it is rational.
        holds: whether the supremum is at most the bound; proved either way, and None where it is not known or where
            there is no channel.
        truth: the supremum for the channel, if one was given.
        within: how near to the supremum the prior of ``truth`` comes, where ``truth.ratio`` is exact.
    """

    bound: Enclosure
    holds: bool | None
    truth: LargestChange | None
    within: Fraction

    def __bool__(self) -> bool:
        """Whether the bound is proved to hold for the channel."""
        return self.holds is True

    @property
    def witness(self) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """The two secrets and the outputs where beliefs move most; None where no channel was given."""
        return None if self.truth is None else (*self.truth.secrets, self.truth.outputs)

    @property
    def reason(self) -> str:
        """The answer in words."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """The bound and the truth as plain values for JSON."""
        document: dict[str, Any] = {"holds": self.holds, "bound": enclosure_json(self.bound)}
        return document if self.truth is None else document | self.truth.to_json()

    def __repr__(self) -> str:
        known = "" if self.truth is None else f", supremum={self.supremum:.6g}, witness={self.witness!r}"
        return f"AdversaryBound(bound={float(self):.6g}, holds={self.holds}{known})"

    def __float__(self) -> float:
        """The theorem's bound, rounded up."""
        return float_above(self.bound.upper)

    @property
    def supremum(self) -> float:
        """The largest change of belief over all priors, rounded up."""
        return _logs(self._known.ratio.upper)[1]

    @property
    def supremum_below(self) -> float:
        """The same, rounded down."""
        return _logs(self._known.ratio.lower)[0]

    @property
    def reached(self) -> float:
        """The change of belief of the prior given, rounded down."""
        return _logs(self._known.reached)[0]

    @property
    def prior(self) -> Prior:
        """A prior that comes within ``within`` of the supremum."""
        return self._known.prior

    @property
    def _known(self) -> LargestChange:
        if self.truth is None:
            raise ArgumentError("only the theorem's bound is known: give a channel for the supremum over all priors")
        return self.truth

    def __str__(self) -> str:
        bound = "infinite" if math.isinf(float(self)) else f"{float(self):.6g}"
        if self.truth is None:
            return f"for every private channel, beliefs move by at most {bound}"
        below, above = self.supremum_below, self.supremum
        if math.isinf(below):
            truth = "are told apart without any bound"
        elif above - below <= 1e-9 * (1 + above):
            truth = f"move by up to {above:.6g}"
        else:
            truth = f"move by up to somewhere from {below:.6g} to {above:.6g}"
        judged = {True: "which keeps", False: "which BREAKS", None: "which may or may not keep"}[self.holds]
        x, other = self.truth.secrets
        return (
            f"beliefs {truth}, {judged} the bound {bound}; "
            f"between the secrets {x!r} and {other!r}, on seeing {', '.join(map(repr, self.truth.outputs))}"
        )


def greatest_ratio(one: Prior, two: Prior) -> Fraction | float:
    """The exp of ``d_P(one, two)``: the largest ratio of probabilities of a secret, either way; perhaps infinite.

    References:
        Paper 1, Section 2.

    >>> greatest_ratio(Prior("ab", (1, 2), 3), Prior("ab", (1, 1), 2))
    Fraction(3, 2)
    """
    one, two = (as_a(Prior, belief, "Prior(points, probabilities)") for belief in (one, two))
    if one.points != two.points:
        raise ArgumentError("the two beliefs are over different secrets")
    largest = Fraction(1)
    for left, right in zip(one.weights, two.weights, strict=True):
        if not left and not right:
            continue
        if not left or not right:
            return math.inf
        ratio = Fraction(left * two.total, right * one.total)
        largest = max(largest, ratio, 1 / ratio)
    return largest


def nearness(value: Any) -> Fraction:
    """How near to a supremum a prior is to come, checked."""
    near = rational(value, "distance from the supremum")
    if near <= 0:
        raise ArgumentError(
            "the supremum is approached and not reached: ask for a prior within a positive distance of it"
        )
    return near


def _logs(ratio: Fraction | float) -> tuple[float, float]:
    if ratio == math.inf:
        return math.inf, math.inf
    if ratio == 1:
        return 0.0, 0.0
    low, high = log_bounds(Fraction(ratio))
    return float_below(max(low, 0.0)), high
