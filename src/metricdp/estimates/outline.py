"""What is known of a column of released numbers before its outputs are cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["Outline"]


@dataclass(frozen=True)
class Outline:
    """What is known of a column of numbers before its outputs are cut: its ends, and a sample to cut by.

    Attributes:
        least: the least released number, in the metric's unit.
        greatest: the greatest.
        sample: some of them, in order.
    """

    least: float
    greatest: float
    sample: Floats

    @classmethod
    def of(cls, numbers: Floats) -> Outline:
        """Of numbers that are all known."""
        if not len(numbers):
            return cls(0.0, 0.0, np.zeros(1))
        ordered = np.sort(numbers)
        return cls(float(ordered[0]), float(ordered[-1]), ordered[:: max(1, len(ordered) // 20_000)])
