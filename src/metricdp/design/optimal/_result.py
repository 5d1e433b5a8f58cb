"""The answer of `optimal`: a certified channel with its loss and the proof of how good it is."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from metricdp.channels.certified import Certified
from metricdp.channels.serialize import label_document
from metricdp.exact.results import number_json

__all__ = ["INTERRUPTED", "Optimal"]

INTERRUPTED = "it was interrupted"
"""The reason after Ctrl-C; whoever goes on with other searches ends them, too."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimal(Certified):
    """A private channel of least expected loss, up to a gap that is proved.

    Attributes:
        loss: its expected loss (the largest over all inputs, if that was minimised), rounded up.
        bound: no d-private channel with these outputs has a smaller loss; rounded down.
        rounds: how often columns were added.
        merged: groups of points that are too near to be told apart; they have equal rows, which is stricter than d.
        finished: whether the gap that was asked for is proved.
        reason: what stopped the search before that; empty if it is finished.
    """

    loss: float = 0.0
    bound: float = 0.0
    rounds: int = 0
    merged: tuple[tuple[Any, ...], ...] = ()
    finished: bool = True
    reason: str = ""

    @property
    def gap(self) -> float:
        """``(loss - bound) / |loss|``: the share of its loss by which another channel may be better, at most."""
        apart = max(self.loss - self.bound, 0.0)
        return apart / abs(self.loss) if self.loss else (math.inf if apart else 0.0)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped the search."""
        return self.reason.startswith(INTERRUPTED)

    def to_json(self) -> dict[str, Any]:
        """The channel as `Channel.to_json` writes it, and under "optimal" what is proved of its loss."""
        proved = {
            "loss": self.loss,
            "bound": self.bound,
            "gap": number_json(self.gap),
            "finished": self.finished,
            "reason": self.reason,
            "rounds": self.rounds,
            "merged": [[label_document(point) for point in group] for group in self.merged],
        }
        return super().to_json() | {"optimal": proved}

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(repr(self))}</b><pre>{html.escape(super().__str__())}</pre>"

    def __str__(self) -> str:
        stopped = "" if self.finished else f"; not finished: {self.reason}"
        loss = f"loss {self.loss:.6g}, at least {self.bound:.6g} for any private mechanism{stopped}"
        return f"{loss}\n{super().__str__()}"

    def __repr__(self) -> str:
        stopped = "" if self.finished else f", not finished: {self.reason}"
        return (
            f"Optimal({len(self.inputs)} inputs, {len(self.outputs)} outputs, loss {self.loss:.6g}, "
            f"gap {self.gap:.1e}{stopped})"
        )
