"""What a question would cost, and the error to expect, without reading a row."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from metricdp.metrics import Guarantee
from metricdp.visible import visible

__all__ = ["Preview"]


@dataclass(frozen=True)
class Preview:
    """What asking would do.

    Attributes:
        question: as it was written.
        guarantee: what it would cost; None where it costs nothing.
        error_bars: for each thing asked, the widest error bar of its groups at 95%; None where that depends on a
            secret count, as for averages.
        holds: whether the account can bear it, or it is free.
        reason: why it cannot, or why it is free; empty otherwise.
        free: whether it was answered before, about the same data.
    """

    question: str
    guarantee: Guarantee | None
    error_bars: dict[str, float | None]
    holds: bool
    reason: str = ""
    free: bool = False

    def __bool__(self) -> bool:
        return self.holds

    def words(self) -> str:
        """For people."""
        bars = ", ".join(
            f"{name} ± {'depends on a secret count' if bar is None else f'{bar:.4g}'}"
            for name, bar in self.error_bars.items()
        )
        cost = "nothing" if self.free or self.guarantee is None else str(self.guarantee)
        return visible(f"{self.question}: would cost {cost}; {bars}{f'. {self.reason}' if self.reason else ''}")

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {
            "question": self.question,
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "error_bars": self.error_bars,
            "holds": self.holds,
            "reason": self.reason,
            "free": self.free,
        }

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.words())}</p>"
