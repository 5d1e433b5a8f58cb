"""What a charge adds to an account, and what all its charges add up to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.level import Level
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.entries import canonical
from metricdp.ledger.running import GRID_BITS, Running, grid_above
from metricdp.ledger.terms import MetricTerm, refuse_long, terms_of, unit_digest
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.amounts import plain

if TYPE_CHECKING:
    from metricdp.ledger.caps import Cap

__all__ = ["AccountTotals", "Name", "Price", "Spent", "guarantee_from", "guarantee_to", "name_of"]

Name = tuple[str, int, int, Fraction | None, int, int]

_NOTHING = Running()

MOST_TERMS = 1000
"""Different terms in one account: each charge looks at all of them."""


@dataclass(frozen=True)
class Price:
    """What a charge adds to an account.

    Attributes:
        guarantee: as it was charged.
        terms: of its metric, each with its level.
        delta: of the guarantee.
    """

    guarantee: Guarantee
    terms: Mapping[str, tuple[MetricTerm, Running]]
    delta: Running

    @classmethod
    def of(cls, guarantee: Guarantee) -> Price:
        """The price of a guarantee.

        Raises:
            ArgumentError: it is no guarantee, or its metric cannot be written down.
        """
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError(
                f"a charge is a Guarantee, not {type(guarantee).__name__}; write Guarantee(metric, delta)"
            )
        terms = {term.key: (term, Running.of(level)) for term, level in terms_of(guarantee.metric).items()}
        if not guarantee.delta:
            return cls(guarantee, terms, _NOTHING)
        refuse_long(LevelSum(guarantee.delta))
        return cls(guarantee, terms, Running.of(LevelSum(guarantee.delta)))

    @property
    def unit(self) -> str:
        """The digest of the metric without the number before it."""
        return self.name[0]

    @cached_property
    def text(self) -> str:
        """The guarantee as an entry holds it."""
        return canonical(guarantee_to(self.guarantee, self.unit))

    @cached_property
    def name(self) -> Name:
        """The digest of the unit, the level and the delta: equal for equal guarantees."""
        return name_of(self.guarantee)

    @property
    def written_name(self) -> list[str]:
        """The name as text, as request keys are bound to it."""
        return [self.unit, str(plain(self.guarantee.metric.level)), str(self.guarantee.delta)]


@dataclass(frozen=True)
class Spent:
    """What was spent of one term.

    Attributes:
        term: where, and in which metric.
        total: the sum of the levels.
        squares: an upper bound on the sum of their squares, in steps of 2^-256.
        drift: an upper bound on the sum of level times half the greatest distance, likewise.
    """

    term: MetricTerm
    total: Running
    squares: int = 0
    drift: int = 0


@dataclass(frozen=True)
class AccountTotals:
    """The running sums of an account.

    Attributes:
        charges: how many there were.
        delta: the sum of their deltas.
        spent: for each term's key, what was spent of it.
        bounded: whether every charge so far had a greatest distance, so that advanced composition says something.
    """

    charges: int = 0
    delta: Running = _NOTHING
    spent: Mapping[str, Spent] = field(default_factory=dict)
    bounded: bool = True

    def plus(self, charged: Price, cap: Cap) -> AccountTotals:
        """After one more charge to an account with this cap."""
        price, greatest = cap.priced(charged)
        spent = dict(self.spent)
        for key, (term, level) in price.terms.items():
            before = spent.get(key) or Spent(term, Running())
            squares, drift = before.squares, before.drift
            if isinstance(greatest, Fraction):
                upper = Fraction(level.upper, 1 << GRID_BITS)
                squares += grid_above(upper * upper)
                drift += grid_above(upper * greatest / 2)
            spent[key] = Spent(term, before.total + level, squares, drift)
        if len(spent) > MOST_TERMS:
            raise TooLargeError(
                f"an account holds {MOST_TERMS:,} different metrics at most; charge in those of its cap"
            )
        bounded = self.bounded and greatest != math.inf
        return AccountTotals(self.charges + 1, self.delta + price.delta, spent, bounded)

    def to_json(self) -> dict[str, Any]:
        """Plain values, of which `from_json` makes them again."""
        spent = [
            [
                list(one.term.path),
                one.term.digest,
                *one.total.to_json(),
                f"{one.squares:x}",
                f"{one.drift:x}",
            ]
            for one in self.spent.values()
        ]
        return {"charges": self.charges, "delta": self.delta.to_json(), "bounded": self.bounded, "spent": spent}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any], unit: Callable[[str], Metric]) -> AccountTotals:
        """What `to_json` wrote; ``unit`` finds the metric of a digest."""
        spent = {}
        for path, digest, lower, upper, exact, squares, drift in tree["spent"]:
            term = MetricTerm(tuple(path), unit(digest))
            spent[term.key] = Spent(term, Running.from_json([lower, upper, exact]), int(squares, 16), int(drift, 16))
        return cls(tree["charges"], Running.from_json(tree["delta"]), spent, tree["bounded"])


def name_of(guarantee: Guarantee) -> Name:
    """What tells a guarantee from others, quick to compare: the digest of the unit, the level and the delta."""
    level, delta = guarantee.metric.level, guarantee.delta
    digest = unit_digest(guarantee.metric.unit)
    return digest, *level.coefficient.as_integer_ratio(), level.log_of, *delta.as_integer_ratio()


def guarantee_to(guarantee: Guarantee, unit: str) -> dict[str, Any]:
    """A guarantee as an entry holds it: the unit by its digest, the rest in plain values."""
    metric = str(guarantee.metric)
    scaled = guarantee.metric.unit is not guarantee.metric  # stands in a formula without brackets
    return {
        "unit": unit,
        "level": plain(guarantee.metric.level),
        "delta": str(guarantee.delta),
        "metric": metric,
        "formula": f"{metric}-private" if scaled and not guarantee.delta else str(guarantee),
    }


def guarantee_from(tree: Mapping[str, Any], units: Callable[[str], Metric]) -> Guarantee:
    """The guarantee that `guarantee_to` took apart; ``units`` finds the metric of a digest."""
    return Guarantee(units(tree["unit"]) * Level.of(tree["level"]), Fraction(tree["delta"]))
