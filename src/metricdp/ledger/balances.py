"""What an account has spent and has left, in the units that its readers think in."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from metricdp.exact.balls import ball, enclose, float_below
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.accounts import Account
from metricdp.ledger.terms import MetricTerm, metric_of
from metricdp.ledger.totals import AccountTotals
from metricdp.metrics import Guarantee, Metric, unprotected
from metricdp.metrics.explain import telling_distances
from metricdp.visible import visible_name

__all__ = ["Balance", "CapPart"]

_LARGEST_FACTOR = 10**15
_LARGEST_POWER = 1024
_TINY = Fraction(1, 1 << 100)


@dataclass(frozen=True)
class CapPart:
    """One part of a cap: an attribute, or the whole secret.

    Attributes:
        name: of the attribute, or the metric.
        unit: the metric without its level.
        cap: the level that may be spent.
        spent: the level that was spent of it, rounded up.
        left: the level that is left, rounded down.
        distance: one that is worth telling.
        exactly: what is left, where that is known exactly.
    """

    name: str
    unit: Metric
    cap: LevelSum
    spent: Fraction
    left: Fraction
    distance: Fraction
    exactly: LevelSum | None = None

    @property
    def factor(self) -> float:
        """The factor that odds at that distance may still move by, rounded down to a few digits."""
        exact = self._factor
        if exact > _LARGEST_FACTOR:
            return math.inf
        value = max(Decimal(float_below(exact)), Decimal(1))
        near = 1 < value < Decimal("1.01")
        step = Decimal(1).scaleb((value - 1).adjusted() - 1) if near else Decimal("0.01")
        return float(value.quantize(step, ROUND_FLOOR))

    @property
    def _factor(self) -> Fraction | float:
        level = None if self.exactly is None else self.exactly.level
        if level is not None and level.log_of is not None:
            power = level.coefficient * self.distance
            if power.denominator == 1 and power < _LARGEST_POWER:
                return level.log_of**power.numerator
        power = self.left * self.distance
        if power > _LARGEST_POWER:
            return math.inf
        return enclose(lambda: ball(power).exp()).lower

    @property
    def share(self) -> float:
        """How much of the cap is spent, between 0 and 1."""
        cap = Fraction(self.cap.enclose().upper)
        return min(1.0, max(0.0, 1 - float(self.left / cap)))

    def words(self) -> str:
        """For example: "place, 200 m apart: a factor 1.4 left"."""
        if self.unit == unprotected():
            return f"{visible_name(self.name)}: not protected, whatever is spent"
        if self.left == 0:
            return f"{visible_name(self.name)}: used up"
        unit = self.unit.unit_name
        apart = f"{float(self.distance):.6g} {unit}".rstrip() + " apart"
        where = apart if self.name == str(self.unit) else f"{visible_name(self.name)}, {apart}"
        if not unit and self.unit.typical == (1,):
            where = visible_name(self.name) if self.name != str(self.unit) else "different secrets"
        return f"{where}: a factor {self.factor:.12g} left"


@dataclass(frozen=True)
class Balance:
    """What was spent of an account's cap, and what is left.

    Attributes:
        account: with its cap.
        totals: the sums of all charges.
    """

    account: Account
    totals: AccountTotals

    @property
    def charges(self) -> int:
        """How many there were."""
        return self.totals.charges

    @property
    def cap(self) -> Guarantee:
        """The most that may be spent."""
        return self.account.cap.guarantee

    @cached_property
    def parts(self) -> tuple[CapPart, ...]:
        """For each part of the cap, what was spent and what is left."""
        left = self.account.cap.left(self.totals)
        found = []
        for key, (term, level) in self.account.cap.terms.items():
            rest = left[key]
            cap = level.bound
            exactly = self._exactly_left(key, cap, rest)
            spent = Fraction(0) if exactly == cap else max(Fraction(cap.enclose(256).upper) - rest, Fraction(0))
            found.append(CapPart(term.name, term.unit, cap, spent, rest, _telling(term, cap), exactly))
        return tuple(found)

    def _exactly_left(self, key: str, cap: LevelSum, rest: Fraction) -> LevelSum | None:
        """The cap less what was charged of it, where nothing else paid with it."""
        spent = self.totals.spent.get(key)
        exact = LevelSum() if spent is None else spent.total.exact
        if exact is None:
            return None
        difference = cap - exact
        around = difference.enclose(128)
        return difference if abs(Fraction(around.lower) - rest) < _TINY else None

    @property
    def delta_left(self) -> Fraction:
        """What is left of the cap's delta for the deltas of charges, rounded down."""
        cap = self.account.cap
        return max(cap.guarantee.delta - cap.composed_delta - Fraction(self.totals.delta.enclosure.upper), Fraction(0))

    @cached_property
    def spent(self) -> Metric | None:
        """The metric of all charges together, added up; None where there were none."""
        sums = {one.term: one.total.bound for one in self.totals.spent.values()}
        return metric_of(sums, self.account.cap.names) if sums else None

    @cached_property
    def left(self) -> Metric | None:
        """The metric that one more charge may have at most; None where nothing is left of any part."""
        rest = self.account.cap.left(self.totals)
        sums = {term: LevelSum(rest[key]) for key, (term, _) in self.account.cap.terms.items() if rest[key] > 0}
        return metric_of(sums, self.account.cap.names) if sums else None

    def words(self) -> str:
        """What is left, for people."""
        parts = [part.words() for part in self.parts]
        if self.cap.delta:
            parts.append(f"delta: {float(self.delta_left):.3g} left" if self.delta_left else "delta: used up")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {
            "account": self.account.name,
            "dataset": self.account.dataset,
            "receiver": self.account.receiver,
            "parent": self.account.parent,
            "cap": self.cap.to_json(),
            "charges": self.charges,
            "delta_left": str(self.delta_left),
            "parts": [
                {
                    "name": part.name,
                    "unit": str(part.unit),
                    "cap": str(part.cap),
                    "spent": float(part.spent),
                    "left": float(part.left),
                    "distance": float(part.distance),
                    "factor_left": part.factor,
                }
                for part in self.parts
            ],
            "words": self.words(),
        }

    def __str__(self) -> str:
        return f"{visible_name(self.account.name)}, {self.counted}. Left: {self.words()}"

    @property
    def counted(self) -> str:
        """How many charges there were, in words."""
        return "1 charge" if self.charges == 1 else f"{self.charges:,} charges"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(visible_name(part.name))}</td>"
            f"<td><meter min='0' max='1' value='{part.share:.4f}'></meter> {part.share:.0%} spent</td>"
            f"<td>{html.escape(part.words())}</td></tr>"
            for part in self.parts
        )
        return f"<table><caption>{html.escape(visible_name(self.account.name))}</caption>{rows}</table>"


def _telling(term: MetricTerm, cap: LevelSum) -> Fraction:
    """A distance that is worth telling at this cap."""
    level = cap.level
    metric = term.unit * (level if level is not None else Fraction(cap.enclose().upper))
    told = telling_distances(metric)
    return told[len(told) // 2] if not term.unit.typical else told[0]
