"""Caps: whether what an account spends stays within a guarantee, provably."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.level import Level
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.advanced import combined_level, greatest_distance
from metricdp.ledger.by_name import as_in, factor_by_name
from metricdp.ledger.running import GRID_BITS, Running, grid_above, grid_below
from metricdp.ledger.terms import MetricTerm, metric_of, terms_of
from metricdp.ledger.totals import AccountTotals, Name, Price, Spent
from metricdp.metrics import Guarantee
from metricdp.metrics.finite import Listed
from metricdp.metrics.records import Attributes, Records

__all__ = ["DELTA", "Cap", "Exactly"]

DELTA = "delta"
"""Stands for the sum of the deltas where a term's key is asked for."""

MOST_POINTS = 300
"""Secrets that are compared pair by pair."""

_MOST_KNOWN = 10_000
_HALF = Fraction(1, 2)
_HALVINGS = 16

Exactly = Callable[[str], LevelSum]
"""Adds up the entries of an account again, for the term with this key."""


@dataclass(frozen=True)
class Cap:
    """The most that an account may spend.

    Attributes:
        guarantee: that all charges together keep.
        composed_delta: the δ' of advanced composition, a part of the guarantee's delta; 0 where charges are added.
        points: the secrets, where they are finitely many and public; None where nobody said so.
    """

    guarantee: Guarantee
    composed_delta: Fraction = Fraction(0)
    points: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, Guarantee):
            raise ArgumentError(
                f"a cap is a Guarantee, not {type(self.guarantee).__name__}; write Guarantee(metric, delta)"
            )
        if self.composed_delta and self.composed_delta > self.guarantee.delta:
            raise ArgumentError("the delta of advanced composition is a part of the cap's delta, and not above it")
        if self.secrets is not None and len(self.secrets) <= MOST_POINTS:
            violation = self.guarantee.metric.violation(self.secrets)
            if violation is not None:
                raise ArgumentError(f"the cap is no metric: {violation}")
        _ = self.terms

    @cached_property
    def terms(self) -> dict[str, tuple[MetricTerm, Running]]:
        """The cap's own terms."""
        return {term.key: (term, Running.of(level)) for term, level in terms_of(self.guarantee.metric).items()}

    @cached_property
    def secrets(self) -> tuple[Any, ...] | None:
        """The points, or those that the cap's metric lists itself."""
        unit = self.guarantee.metric.unit
        return tuple(unit.listed) if self.points is None and isinstance(unit, Listed) else self.points

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes in their order, where there are some."""
        unit = self.guarantee.metric.unit
        inner = unit.base.unit if isinstance(unit, Records) else unit
        return inner.names if isinstance(inner, Attributes) else ()

    def priced(self, price: Price) -> tuple[Price, Fraction | float | None]:
        """The charge with its metric closed over the secrets, and how far apart they can be where that matters."""
        if self.secrets is None and not self.composed_delta:
            return price, None
        found = self._known_prices.get(price.name)
        if found is None:
            closed = self._closed(price.guarantee)
            priced = price if closed is price.guarantee else Price.of(closed)
            found = priced, self._greatest(priced) if self.composed_delta else None
            if len(self._known_prices) >= _MOST_KNOWN:
                self._known_prices.clear()
            self._known_prices[price.name] = found
        return found

    @cached_property
    def _known_prices(self) -> dict[Name, tuple[Price, Fraction | float | None]]:
        return {}

    def _greatest(self, price: Price) -> Fraction | float:
        metric = as_in(price.guarantee.metric, self.guarantee.metric)  # the secrets are read in the cap's order
        bound = price.guarantee.metric.greatest if metric is None else greatest_distance(metric, self.secrets)
        if isinstance(bound, Level):
            return Fraction(bound.enclose(GRID_BITS).upper)
        return bound if bound == math.inf else Fraction(bound)

    def _closed(self, guarantee: Guarantee) -> Guarantee:
        """The same promise with its metric closed over the secrets, where that may be done: without a delta."""
        if self.secrets is None or guarantee.delta or guarantee.metric.proven or len(self.secrets) > MOST_POINTS:
            return guarantee
        metric = as_in(guarantee.metric, self.guarantee.metric)
        if metric is None:
            return guarantee
        try:
            return Guarantee(metric.closure(self.secrets))
        except MetricDPError:  # a metric on other secrets: it is compared as it is, and refused
            return guarantee

    # Whether what was spent stays within

    def refusal(self, totals: AccountTotals, exactly: Exactly) -> str | None:
        """Why these totals are not proved to stay within the cap; None where they are."""
        # δ' is set aside from the beginning, also for charges whose plain sum fits: whoever asks may choose by the
        # answers between spending it on charges with a delta and going on by advanced composition, and would get both.
        problem = self._delta_problem(totals, exactly) if totals.delta.upper else None
        if problem:
            return problem
        added = self._problem(totals, _sums(totals), exactly)
        if added is None or not self.composed_delta:
            return added
        composed = self._composed(totals, exactly)
        return composed and f"{added}; nor does advanced composition help: {composed}"

    def _composed(self, totals: AccountTotals, exactly: Exactly) -> str | None:
        if not totals.bounded:
            return "a charge has no greatest distance, and gains nothing by it"
        return self._problem(totals, self._composed_sums(totals), exactly)

    def _composed_sums(self, totals: AccountTotals) -> dict[str, Running]:
        return {key: Running.of(LevelSum(self.composed_level(one))) for key, one in totals.spent.items()}

    def left(self, totals: AccountTotals) -> dict[str, Fraction]:
        """For each term of the cap, the level that one more charge may have of it; 0 also where nothing is known."""
        added = self._left(_terms(totals), _sums(totals))
        if not self.composed_delta or not totals.bounded:
            return added
        composed = self._one_more(totals, self._left(_terms(totals), self._composed_sums(totals)))
        return max(added, composed, key=lambda left: sum(left.values()))

    def _one_more(self, totals: AccountTotals, rest: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """How much of the rest one more charge can have: by advanced composition it adds more than its level."""

        def part(of: Fraction) -> dict[str, Fraction]:
            return {key: Fraction(grid_below(level * of), 1 << GRID_BITS) for key, level in rest.items()}

        def fits(of: Fraction) -> bool:
            levels = {self.terms[key][0]: LevelSum(level) for key, level in part(of).items() if level}
            metric = metric_of(levels, self.names) if levels else None
            if metric is None:
                return False
            after = totals.plus(Price.of(Guarantee(metric)), self)
            return self.refusal(after, lambda key: after.spent[key].total.bound) is None

        low, high = Fraction(0), Fraction(1)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return part(low)

    def _left(self, terms: Mapping[str, MetricTerm], sums: Mapping[str, Running]) -> dict[str, Fraction]:
        over = {
            key: total
            for key, total in sums.items()
            if key not in self.terms or (total.lower > self.terms[key][1].upper and not self.terms[key][0].unprotected)
        }
        left = self._after_paying(terms, sums, over)
        return {key: Fraction(0) if left is None else max(left[key], Fraction(0)) for key in self.terms}

    def composed_level(self, spent: Spent) -> Fraction:
        """The level of one term by advanced composition, rounded up."""
        step = 1 << GRID_BITS
        return combined_level(Fraction(spent.squares, step), Fraction(spent.drift, step), self.composed_delta)

    def _delta_problem(self, totals: AccountTotals, exactly: Exactly) -> str | None:
        most = self.guarantee.delta - self.composed_delta
        if totals.delta.upper <= grid_below(most):
            return None
        if totals.delta.lower <= grid_above(most):
            exact = exactly(DELTA) if totals.delta.exact is None else totals.delta.exact
            if exact.rational <= most:
                return None
        spent, most_shown = _rounded(totals.delta), f"{float(most):.6g}"
        more = "a little more than " if spent == most_shown else ""
        return f"the deltas add up to {more}{spent}, and the account has {most_shown} for them"

    def _problem(self, totals: AccountTotals, sums: Mapping[str, Running], exactly: Exactly) -> str | None:
        over = {key: sums[key] for key in sums if not self._fits(key, sums[key], exactly)}
        if not over:
            return None
        terms = _terms(totals)
        if self._after_paying(terms, sums, over) is not None or self._as_one_metric(terms, sums):
            return None
        return self._reason(terms, sums, over)

    def _fits(self, key: str, total: Running, exactly: Exactly) -> bool:
        """Whether a term's sum is at most the cap's level of that term: by enclosures, or exactly where they meet."""
        if key not in self.terms:
            return False
        term, cap = self.terms[key]
        if term.unprotected:
            return True
        if total.upper <= cap.lower:
            return True
        if total.lower > cap.upper:
            return False
        exact = exactly(key) if total.exact is None else total.exact
        assert cap.exact is not None
        return exact <= cap.exact

    def _after_paying(
        self, terms: Mapping[str, MetricTerm], sums: Mapping[str, Running], over: Mapping[str, Running]
    ) -> dict[str, Fraction] | None:
        """What is left of each term when others paid for what the cap's own level does not cover; None if they cannot.

        Each unit of a term costs a known factor of another one at the same place: any way to pay is a proof.
        """
        left = {
            key: Fraction(cap.enclosure.lower)
            - (Fraction(sums[key].enclosure.upper) if key in sums and not term.unprotected else 0)
            for key, (term, cap) in self.terms.items()
        }
        for key, total in over.items():
            owed = Fraction(total.enclosure.upper)
            if key in self.terms:
                owed = max(owed - Fraction(self.terms[key][1].enclosure.lower), Fraction(0))
            for factor, payer in self._payers(terms[key]):
                if payer == key or left[payer] < 0:
                    continue
                if factor == 0:
                    owed = Fraction(0)
                    break
                paid = min(owed, left[payer] / factor)
                owed, left[payer] = owed - paid, left[payer] - paid * factor
            if owed > 0:
                return None
        return left

    def _payers(self, term: MetricTerm) -> list[tuple[Fraction, str]]:
        """The terms of the cap that bound this one, each with its factor, the cheapest first."""
        known = self._known_payers
        if term.key not in known:
            at_place = [(key, own) for key, (own, _) in self.terms.items() if own.path == term.path]
            factors = [(factor_by_name(term.unit, own.unit), key) for key, own in at_place]
            known[term.key] = sorted((factor, key) for factor, key in factors if factor is not None)
        return known[term.key]

    @cached_property
    def _known_payers(self) -> dict[str, list[tuple[Fraction, str]]]:
        return {}

    def _as_one_metric(self, terms: Mapping[str, MetricTerm], sums: Mapping[str, Running]) -> bool:
        """Whether the sum as a whole is nowhere above the cap: by a theorem, or pair by pair."""
        spent = metric_of({terms[key]: total.bound for key, total in sums.items()}, self.names)
        if spent is None:
            return False
        factor = factor_by_name(spent, self.guarantee.metric)
        if factor is not None and factor <= 1:
            return True
        spent = as_in(spent, self.guarantee.metric)
        if spent is None or self.secrets is None or len(self.secrets) > MOST_POINTS:
            return False
        try:
            # With a delta on both sides it compares pair by pair and closes nothing: what may be closed was so before.
            return Guarantee(spent, _HALF).implies(Guarantee(self.guarantee.metric, _HALF), self.secrets)
        except MetricDPError:  # a metric on other secrets
            return False

    def _reason(self, terms: Mapping[str, MetricTerm], sums: Mapping[str, Running], over: Mapping[str, Running]) -> str:
        parts = []
        for key, total in over.items():
            term = terms[key]
            if key in self.terms:
                cap = self.terms[key][1]
                near = _rounded(total) == _rounded(cap)  # they differ in digits that are not shown
                together = f"a little more than {cap.bound}" if near else _number(total)
                parts.append(f"{term.name}: together {together}, and the cap is {cap.bound}")
            elif self._payers(term):
                parts.append(f"{term.name}: together {_number(total)} {term.unit}, more than what is left pays for")
            else:
                parts.append(self._foreign(term))
        return "; ".join(parts)

    def _foreign(self, term: MetricTerm) -> str:
        own = [cap for cap, _ in self.terms.values() if cap.path == term.path]
        if not own:
            return f"the cap says nothing about {term.name}; a cap that names it is needed, or a charge without it"
        if term.unprotected:
            return f"{term.name} would be told as it is, and the cap protects it"
        known = ", ".join(str(cap.unit) for cap in own)
        help_ = "" if self.secrets is not None else ", or open the account with the points that secrets can be"
        return (
            f"{term.name} is charged in {term.unit}, the cap is in {known}, and no theorem bounds the one by the "
            f"other; state the charge in the cap's metric{help_}"
        )


def _number(total: Running) -> str:
    exact = total.exact
    return str(exact) if exact is not None and len(str(exact)) < 40 else _rounded(total)


def _rounded(total: Running) -> str:
    return f"{float(total.enclosure.upper):.6g}"


def _terms(totals: AccountTotals) -> dict[str, MetricTerm]:
    return {key: one.term for key, one in totals.spent.items()}


def _sums(totals: AccountTotals) -> dict[str, Running]:
    return {key: one.total for key, one in totals.spent.items()}
