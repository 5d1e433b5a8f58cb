"""A channel that stands in for a mechanism or a matrix, with how far it moved from it."""

from __future__ import annotations

from dataclasses import dataclass

from metricdp.channels.channel import Channel

__all__ = ["Certified"]


@dataclass(frozen=True, eq=False, repr=False)
class Certified(Channel):
    """A channel with a verified promise, made from something that could not be taken as it was.

    Attributes:
        moved: the largest total variation between what a row was to be and what it is, rounded up.
        cost: what that costs: the largest rise, over all inputs, of the expected distance (in `metric.unit`) between
            input and output, rounded up; None where the outputs are not points of the metric.
    """

    moved: float = 0.0
    cost: float | None = None

    def _shown(self) -> str:
        return f"{super()._shown()}, moved {self.moved:.2g}"
