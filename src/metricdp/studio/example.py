"""The example of the first page: two secrets, a promise, a release, and an adversary with a prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import metricdp as mdp
from metricdp.adversaries import Prior, posterior
from metricdp.channels import Channel
from metricdp.errors import ArgumentError
from metricdp.metrics import Metric
from metricdp.metrics.words import Measure

__all__ = ["Example"]

_LARGEST_EXPONENT = 700
Place = float | tuple[float, float]


@dataclass(frozen=True)
class Example:
    """What the first page shows, computed by the package.

    Attributes:
        first: a secret: a number, or a latitude and a longitude.
        second: another one.
        seen: what was released, as the adversary sees it.
        radius: the distance of the promise.
        factor: how many times more likely a release can be at that distance.
        candidates: the secrets that the adversary thinks possible.
        prior: how likely each is before the release, as weights; all 0 means that they are alike.

    >>> example = Example(40.0, 50.0, 47.0, Fraction(10), Fraction(2), (40.0, 50.0), (1, 1))
    >>> example.odds, str(example.mechanism.guarantee)
    (2.0, 'ln 2/10·|x − y|-private')
    >>> [round(share, 3) for share in example.posterior]
    [0.431, 0.569]
    """

    first: Place
    second: Place
    seen: Place
    radius: Fraction
    factor: Fraction
    candidates: Sequence[Place]
    prior: Sequence[float]

    @cached_property
    def on_map(self) -> bool:
        """Whether secrets are places."""
        return isinstance(self.first, tuple)

    @cached_property
    def unit(self) -> Metric:
        """How far apart secrets are, without a level."""
        return mdp.metrics.great_circle() if self.on_map else mdp.metrics.absolute()

    @cached_property
    def mechanism(self) -> Any:
        """Laplace noise for the promise."""
        if self.factor <= 1:
            raise ArgumentError("a factor is greater than 1")
        return mdp.laplace(self.unit.within(self.radius, factor=self.factor))

    @cached_property
    def measure(self) -> Measure:
        """What distances are counted in."""
        return Measure(self.unit.unit_name)

    @cached_property
    def distance(self) -> float:
        """Between the two secrets."""
        return float(self.unit(self.first, self.second))

    @cached_property
    def odds(self) -> float:
        """The factor by which a release can move the odds between the two secrets at most."""
        return float(self.mechanism.guarantee.odds(self.distance))

    @cached_property
    def sentence(self) -> str:
        """What is promised of the two secrets, by `Guarantee.explain`, and the error to expect."""
        return str(self.mechanism.explain([self.distance]))

    @cached_property
    def radii(self) -> tuple[float, float]:
        """Within which half, and 95%, of all releases lie."""
        return self.mechanism.radius(0.5), self.mechanism.radius(0.95)

    @cached_property
    def belief(self) -> Prior:
        """The adversary's prior."""
        points = range(len(self.candidates))
        return Prior.proportional(points, self.prior) if any(self.prior) else Prior.uniform(points)

    @cached_property
    def posterior(self) -> list[float]:
        """What the adversary believes after the release, for each candidate.

        A release at z is exp(-d(x, z)) times as likely from x as from z, so Bayes' rule is that of a channel with the
        outputs "it was z" and "it was not".
        """
        far = self.mechanism.guarantee.metric.pairwise(list(self.candidates), [self.seen])[:, 0].tolist()
        likely = [Fraction(math.exp(min(far) - one)) for one in far]
        channel = Channel.from_matrix(range(len(far)), ["seen", "other"], [[one, 1 - one] for one in likely])
        if not any(share and one for share, one in zip(self.belief.weights, likely, strict=True)):
            return self._shares(self.belief)  # it was out of reach of all that is believed
        return self._shares(posterior(self.belief, channel, "seen"))

    @property
    def before(self) -> list[float]:
        """What the adversary believes before the release, for each candidate."""
        return self._shares(self.belief)

    @staticmethod
    def _shares(prior: Prior) -> list[float]:
        shares: list[float] = prior.floats.tolist()
        return shares

    @cached_property
    def moved(self) -> float:
        """The factor by which this release moves the odds of the first secret against the second."""
        return _exponential(self._exponent)

    @cached_property
    def moved_either_way(self) -> float:
        """The factor, 1 or more, by which this release moves the odds between the two secrets."""
        return _exponential(abs(self._exponent))

    @cached_property
    def _exponent(self) -> float:
        metric = self.mechanism.guarantee.metric
        return float(metric(self.second, self.seen) - metric(self.first, self.seen))


def _exponential(exponent: float) -> float:
    return math.exp(exponent) if exponent < _LARGEST_EXPONENT else math.inf
