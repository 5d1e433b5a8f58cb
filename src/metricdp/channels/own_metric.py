"""The distance that a channel itself puts between its inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from metricdp.channels._logarithms import greatest_differences, logarithms
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball
from metricdp.metrics.amounts import Exact
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.finite import Listed
from metricdp.metrics.norms import Root

if TYPE_CHECKING:
    from metricdp.channels.channel import Channel

__all__ = ["OwnMetric"]


@dataclass(frozen=True, repr=False)
class OwnMetric(Listed):
    """``d(x, x') = max over z of |ln K(x)(z) - ln K(x')(z)|``, infinite where only one of the two can give z.

    The least distance for which the channel K is private. It is a metric for every channel, but that inputs with equal
    rows are at distance zero: the triangle inequality holds for each z, and so for the maximum.

    References:
        Paper 1, section 2 (d_P on the rows).
    """

    channel: Channel = field(repr=False)
    kind: ClassVar[str] = "own_metric"
    sound: ClassVar[bool] = True

    @classmethod
    def of(cls, channel: Channel) -> OwnMetric:
        """The metric of a channel, whatever that promises."""
        return cls(channel.promising(None))

    @property
    def listed(self) -> Sequence[Any]:
        """The inputs of the channel."""
        return self.channel.inputs

    @cached_property
    def _floats(self) -> Floats:
        return self._known[0]

    @cached_property
    def _known(self) -> tuple[Floats, float]:
        """The distances as floats, and how far they may be off."""
        weights = self.channel.stored
        logs, error = logarithms(weights)
        greatest = greatest_differences(logs)
        possible = (weights > 0).astype(float)
        shared = possible @ possible.T
        alike = (shared == possible.sum(axis=1)[:, None]) & (shared == possible.sum(axis=1)[None, :])
        distances: Floats = greatest.clip(min=0)
        distances = distances.clip(min=distances.T)
        distances[~alike] = math.inf
        return distances, 2 * error + float(distances[alike].max(initial=0.0)) * 2.0**-50

    def _between(self, left: list[int], right: list[int]) -> Floats:
        return self._floats[left][:, right]

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        distances, error = self._between(left, right), self._known[1]
        return Enclosures(np.maximum(distances - error, 0), distances + error)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        ratio = self.ratio(x, y)
        return math.inf if ratio is None else Fraction(0) if ratio == 1 else None

    def _irrational(self, x: Any, y: Any) -> arb:
        ratio = self.ratio(x, y)
        assert ratio is not None  # `exactly` has answered for an infinite distance
        return ball(ratio).log()

    def _exponential(self, x: Any, y: Any) -> Root | None:
        ratio = self.ratio(x, y)
        return None if ratio is None else Root(ratio)

    def ratio(self, x: Any, y: Any) -> Fraction | None:
        """The largest ratio of probabilities between two inputs, exp of their distance; None where it is infinite."""
        largest = Fraction(1)
        left, right = (self.channel.stored[self._place(point)].tolist() for point in (x, y))
        for one, other in zip(left, right, strict=True):
            if not one and not other:
                continue
            if not one or not other:
                return None
            largest = max(largest, Fraction(max(one, other), min(one, other)))
        return largest

    def _formula(self) -> str:
        inputs, outputs = self.channel.shape
        return f"d_K of a {inputs}×{outputs} channel"
