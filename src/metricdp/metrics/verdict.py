"""Verdicts: the answer of every check, with its tightest case."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.metrics.amounts import formula, plain, plain_label
from metricdp.metrics.metric import Metric

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a mechanism keeps a promise, how nearly, and where it is tightest.

    Attributes:
        holds: whether the mechanism is d-private, with ``delta``. True is proved; so is False, but for a tie that an
            irrational distance leaves undecided.
        scale: proved from above: the mechanism is ``scale * d``-private. Infinite where no scale serves.
        scale_below: proved from below: it is not ``s * d``-private for any s below this.
        witness: the tightest case (x, x', z): no pair of secrets and no output comes nearer to the promise or
            breaks it more (of thousands that are tied to twelve digits, it is one). None where no pair of secrets is
            constrained.
        metric: d.
        delta: the delta of the promise.
        within: where given, only secrets up to this distance apart, before the level, were looked at: nothing is said
            of others.

    >>> from metricdp.metrics import discrete
    >>> print(Verdict(True, 0.5, 0.5, ("yes", "no", "yes"), discrete()))
    holds: [x ≠ y]-private, with room: it is private even at 0.5 times that distance.
    Tightest for the secrets 'yes' and 'no' at the output 'yes'.
    """

    holds: bool
    scale: float
    scale_below: float
    witness: tuple[Any, Any, Any] | None
    metric: Metric
    delta: Fraction = Fraction(0)
    within: Fraction | None = None

    @property
    def reason(self) -> str:
        """Why it holds, or does not, in a sentence."""
        return str(self).splitlines()[-1]

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines()
        return f"<b>{html.escape(first)}</b><br>{'<br>'.join(map(html.escape, rest))}"

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        promise = (
            f"({self.metric}, {formula(self.delta)})-private" if self.delta else f"{self.metric.bracketed}-private"
        )
        if self.within is not None:
            promise += f" for secrets at most {formula(self.within)} apart"
        lines = [f"{'holds' if self.holds else 'does NOT hold'}: {promise}{self._margin()}"]
        if self.witness is not None:
            x, other, z = self.witness
            lines.append(f"Tightest for the secrets {x!r} and {other!r} at the output {z!r}.")
        else:
            lines.append("No two secrets are at a finite distance, so nothing is constrained.")
        return "\n".join(lines)

    def _margin(self) -> str:
        if self.holds and self.scale_below >= 1:
            return ", and exactly so: nothing stronger is true."
        if self.holds and self.scale > 1 - 1e-9:
            return ", with hardly any room."
        if self.holds:
            return f", with room: it is private even at {self.scale:.6g} times that distance."
        if math.isinf(self.scale):
            return ", nor at any multiple of that distance."
        if self.scale < 1 + 1e-6:
            return f": it takes {1:.0f} + {self.scale - 1:.2g} times that distance."
        return f": it takes {self.scale:.6g} times that distance."

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain values for JSON; an infinite scale is written "infinite"."""
        witness = None if self.witness is None else [plain_label(part) for part in self.witness]
        return {
            "holds": self.holds,
            "scale": _number(self.scale),
            "scale_below": _number(self.scale_below),
            "witness": witness,
            "metric": str(self.metric),
            "delta": plain(self.delta),
            **({} if self.within is None else {"within": plain(self.within)}),
        }


def _number(value: float) -> float | str:
    return "infinite" if math.isinf(value) else value
