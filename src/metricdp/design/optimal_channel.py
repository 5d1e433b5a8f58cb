"""The answer of `optimal`: a certified channel with its loss and the proof of how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metricdp.channels.certified import Certified

__all__ = ["Optimal"]


_NOTHING = 1e-280
"""What is added to a loss of zero when it is rounded up."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimal(Certified):
    """A private channel of least expected loss, up to a gap that is proved.

    Attributes:
        loss: its expected loss (the largest over all inputs, where that was minimised), rounded up.
        bound: no d-private channel with these outputs has a loss below it; rounded down.
        rounds: how often columns were added.
        merged: groups of points that are too near to be told apart, and are given equal rows; that is stricter.
        finished: whether the wanted gap was reached, rather than a limit of time or an interruption.
    """

    loss: float = 0.0
    bound: float = 0.0
    rounds: int = 0
    merged: tuple[tuple[Any, ...], ...] = ()
    finished: bool = True

    @property
    def gap(self) -> float:
        """``(loss - bound) / |loss|``: by what part of its loss the channel may miss the best one; 0 where it is it."""
        apart = self.loss - self.bound
        return 0.0 if apart <= _NOTHING else apart / abs(self.loss) if self.loss else float("inf")

    def __repr__(self) -> str:
        return (
            f"Optimal({len(self.inputs)} inputs, {len(self.outputs)} outputs, loss {self.loss:.6g}, gap {self.gap:.1e})"
        )
