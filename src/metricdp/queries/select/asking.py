"""Ask a table in SQL, and get private answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from metricdp.errors import KindError
from metricdp.exact.balls import float_above
from metricdp.exact.bits import source as noise_source
from metricdp.mechanisms.stepped import Geometric
from metricdp.queries.select.asking_groups import Division, Shares
from metricdp.queries.select.asking_percentiles import GroupPercentiles
from metricdp.queries.select.asking_single import Single, single
from metricdp.queries.select.asking_totals import Amount, Linear, bounds_of, check_numbers, check_records, holds_numbers
from metricdp.queries.select.query_policy import QueryPolicy
from metricdp.queries.select.select_statements import Aggregate, Select, read_select
from metricdp.queries.select.table_answers import Found, Part, TableAnswers
from metricdp.queries.single.answer_plans import Plan
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocation import Allocation

__all__ = ["Asking", "ask"]

CONFIDENCE = Fraction(95, 100)

Progress = Callable[[int, float, float, float], None]


def ask(
    source: Any,
    policy: QueryPolicy | str | Path,
    question: str,
    engine: Any = None,
    progress: Progress | None = None,
) -> TableAnswers:
    """Answer a question about a table privately, with error bars, spending the policy's metric once for all answers.

    Counts and sums, also by group, are linear queries: Laplace noise, shared among them by `allocate`; or where one
    number alone needs noise, the truncated geometric mechanism. An average is the noisy sum by the noisy count.
    Percentiles, minimum and maximum among them, are drawn by the truncated geometric mechanism. Where several of these
    depend on one column, they share its metric in equal parts.

    Args:
        source: a file or a frame, or what else `histogram` takes.
        policy: the cells of the columns, the number of records and the metric; or the path of a file that has them.
        question: ``select AGGREGATES [from ..] [where CONDITION] [group by COLUMNS]``; see `read_select`.
        engine: "spark", or a connection of ibis, where the source is a table's name there.
        progress: called while noise is allocated; see `allocate`.

    Guarantee:
        The policy's metric on the columns of the question, added up over the records. Groups come from the policy, so
        those without records are answered too. Asking twice spends it twice.

    Raises:
        InputError: a question that cannot be bounded, and why; or a table that is not as the policy says. Neither a
            value nor a count of the table is in an error.

    References:
        Paper 4, sections 2 to 4; paper 1, Section 5.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "F", "M"], "age": [30, 50, 39]})
    >>> policy = QueryPolicy.parse('''
    ... format = 1
    ... records = 3
    ... [universe]
    ... sex = { type = "category", values = ["F", "M", "X"] }
    ... age = { type = "integer", bounds = [0, 120] }
    ... [metric]
    ... sex = 1000
    ... age = "1000 absolute"
    ... ''')
    >>> answers = ask(people, policy, "select count(*), avg(age) from people group by sex")
    >>> answers.groups, [round(one.value) for one in answers["count(*)"]]
    ((('F',), ('M',), ('X',)), [2, 1, 0])
    >>> print(answers.guarantee)
    ℓ₁(1000·[x ≠ y] (sex) + 1000·|x − y| (age))-private
    """
    rules = policy if isinstance(policy, QueryPolicy) else QueryPolicy.load(policy)
    return Asking.of(question, rules).answer(source, engine, progress)


@dataclass(frozen=True, eq=False)
class Asking:
    """A question and how it will be answered: decided before any data are seen.

    Attributes:
        select: the question.
        policy: what it is answered under.
        division: its groups.
    """

    select: Select
    policy: QueryPolicy
    division: Division

    @classmethod
    def of(cls, question: str, policy: QueryPolicy) -> Asking:
        """Read a question against a policy; refuse what cannot be bounded."""
        select = read_select(question, policy)
        asking = cls(select, policy, Division.of(select, policy))
        _ = asking.linear is not None and asking.linear.workload
        for part in asking.percentiles.values():
            _ = part.plan
        return asking

    # What depends on what

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """The linear queries that are needed, each once."""
        needed: dict[Amount, None] = {}
        for group in range(len(self.division.labels)):
            for aggregate in self.select.aggregates:
                needed |= dict.fromkeys(self._amounts(aggregate, group))
        return tuple(needed)

    def _amounts(self, aggregate: Aggregate, group: int) -> tuple[Amount, ...]:
        if aggregate.kind == "count":
            return (Amount("count", self._counted(aggregate.column), group),)
        if aggregate.kind == "sum":
            return (Amount("sum", aggregate.column, group),)
        if aggregate.kind == "average":
            assert aggregate.column is not None
            number = Amount("count", self._counted(aggregate.column), group)
            return Amount("sum", aggregate.column, group, self._centre(aggregate.column)), number
        return ()

    def _centre(self, column: str) -> Fraction:
        """What an average is counted from: the middle of the bounds, unless the sum itself is asked for too."""
        check_numbers(self.policy.column(column))
        asked = any(other.kind == "sum" and other.column == column for other in self.select.aggregates)
        low, high = bounds_of(self.policy.column(column))
        return Fraction(0) if asked else (Fraction(low) + Fraction(high)) / 2

    def _counted(self, column: str | None) -> str | None:
        """The column of which only known values are counted; None where none can be missing."""
        return column if column is not None and self.policy.column(column).missing is not None else None

    @cached_property
    def _summed(self) -> tuple[str, ...]:
        """Columns whose values, or whether they are missing, the linear queries depend on."""
        names: dict[str, None] = {}
        for amount in self.amounts:
            if amount.column is None or amount.column in names:
                continue
            column = self.policy.column(amount.column)
            if amount.kind == "sum":
                check_numbers(column)
            elif not holds_numbers(column):
                if column.name in self.division.names:
                    continue  # its cells are told apart anyway
                raise KindError(
                    f"count({column.name}) counts the values that are there: write count(*) .. where {column.name} is "
                    "not null"
                )
            names[amount.column] = None
        return tuple(names)

    @cached_property
    def _uses(self) -> dict[str, tuple[str, ...]]:
        """For each part of the question the columns on which it depends; the linear one is called ''."""
        uses: dict[str, tuple[str, ...]] = {}
        if self.amounts:
            uses[""] = (*self.division.names, *(name for name in self._summed if name not in self.division.names))
        for aggregate in self.select.aggregates:
            if aggregate.kind == "percentile":
                assert aggregate.column is not None
                own = () if aggregate.column in self.division.names else (aggregate.column,)
                uses[aggregate.name] = (*self.division.names, *own)
        return uses

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns on which an answer depends, in the order of the policy."""
        used = {name for names in self._uses.values() for name in names}
        return tuple(column.name for column in self.policy.columns if column.name in used)

    def shares(self, part: str) -> Shares:
        """What one part of the question may spend: of each column's metric, as much as every other part that uses it.

        Over all parts, the shares of a column add up to 1.
        """
        uses = self._uses
        times = {name: sum(name in names for names in uses.values()) for name in self.columns}
        return Shares({name: Fraction(1, times[name]) for name in uses[part]}, Fraction(1, len(uses)))

    @cached_property
    def linear(self) -> Linear | None:
        """Counts and sums; None where none are asked, or where they are public."""
        if not self.amounts or (not self._uses[""] and self.policy.absent is None):
            return None
        return Linear(self.policy, self.division, self.amounts, self._summed, self.shares(""))

    @cached_property
    def percentiles(self) -> dict[str, GroupPercentiles]:
        """The percentiles by the names of their answers."""
        return {
            aggregate.name: GroupPercentiles(
                self.policy, self.division, aggregate.column, aggregate.p, self.shares(aggregate.name)
            )
            for aggregate in self.select.aggregates
            if aggregate.kind == "percentile" and aggregate.column is not None and aggregate.p is not None
        }

    # Answers

    def answer(self, source: Any, engine: Any = None, progress: Progress | None = None) -> TableAnswers:
        """Read the table, and draw the noise."""
        amounts, parts = self._linear_answers(source, engine, progress)
        columns: dict[str, list[Found]] = {}
        for aggregate in self.select.aggregates:
            if aggregate.kind == "percentile":
                columns[aggregate.name], part = self._percentile_answers(aggregate.name, source, engine)
                parts.append(part)
            else:
                columns[aggregate.name] = [
                    self._found(aggregate, group, amounts) for group in range(len(self.division.labels))
                ]
        return TableAnswers(
            self.select,
            self.policy,
            self.division.labels,
            tuple(zip(*columns.values(), strict=True)),
            tuple(parts),
            self.columns,
            self.policy.guarantee(self.columns),
            float(CONFIDENCE),
            noise_source().private,
        )

    def _linear_answers(
        self, source: Any, engine: Any, progress: Progress | None
    ) -> tuple[dict[Amount, _Noisy], list[Part]]:
        names = tuple(one.name for one in self.select.aggregates if one.kind != "percentile")
        if not self.amounts:
            return {}, []
        if self.linear is None:
            smallest = min(self.policy.columns, key=len)
            check_records(histogram(source, Universe([smallest]), engine), self.policy)
            public = _Noisy(float(self.policy.most), None)
            return dict.fromkeys(self.amounts, public), [Part(names, {}, "no noise", True, "the number is public")]
        allocation = self.linear.allocate(progress)
        alone = single(self.linear, allocation)
        noisy = {}
        for place, (amount, truth) in enumerate(zip(self.amounts, self.linear.truth(source, engine), strict=True)):
            mechanism = allocation.mechanism(place, self.policy.most)
            if mechanism is None:
                noisy[amount] = _Noisy(float(truth), None)
            elif alone is not None:
                noisy[amount] = _Noisy(alone.draw(truth), alone.plan.error_bar)
            else:
                noisy[amount] = _Noisy(float(mechanism.release([truth])[0]), mechanism.radius)
        return noisy, [self._linear_part(names, self.linear, allocation, alone)]

    def _linear_part(
        self, names: tuple[str, ...], linear: Linear, allocation: Allocation, alone: Single | None
    ) -> Part:
        shares = linear.shares.columns
        if alone is not None:
            return Part(names, shares, _noise(alone.plan), alone.plan.optimal, alone.plan.why)
        if not any(allocation.scales):
            return Part(names, shares, "no noise", True, "these answers are the same whatever is secret")
        return Part(names, shares, "Laplace noise", False, _why(allocation))

    def _found(self, aggregate: Aggregate, group: int, noisy: dict[Amount, _Noisy]) -> Found:
        amounts = self._amounts(aggregate, group)
        first, *second = (noisy[amount] for amount in amounts)
        if aggregate.kind == "count":
            return Found(first.value, first.bar(CONFIDENCE), 2 * first.bar(CONFIDENCE) < self.policy.most)
        assert aggregate.column is not None
        low, high = (Fraction(bound) for bound in bounds_of(self.policy.column(aggregate.column)))
        if aggregate.kind == "sum":
            bar = first.bar(CONFIDENCE)
            span = self.policy.most * (max(high, Fraction(0)) - min(low, Fraction(0)))
            return Found(first.value, bar, 2 * Fraction(bar) < span)
        return _average(first, second[0], amounts[0].centre, (low, high), self.policy.most)

    def _percentile_answers(self, name: str, source: Any, engine: Any) -> tuple[list[Found], Part]:
        part = self.percentiles[name]
        planned = part.plan
        bar = planned.error_bar(float(CONFIDENCE))
        assert bar is not None  # its answers are numbers
        span = part.column.declared[-1] - part.column.declared[0]
        tells = 2 * bar < (span if isinstance(span, int) else span.days)
        found = [Found(part.shown(planned.draw(truth)), bar, tells) for truth in part.truth(source, engine)]
        known = part.of_all is not None
        why = planned.why if known else "a record can come or go: no theorem says that it is the best"
        return found, Part((name,), part.shares.columns, _noise(planned), planned.optimal and known, why)


@dataclass(frozen=True)
class _Noisy:
    """A noisy number, and how far it is from the truth at most with a probability; None where it is the truth."""

    value: float
    reach: Callable[[float], float | None] | None

    def bar(self, confidence: Fraction) -> float:
        return 0.0 if self.reach is None else float(self.reach(float(confidence)) or 0.0)


def _average(total: _Noisy, count: _Noisy, centre: Fraction, bounds: tuple[Fraction, Fraction], records: int) -> Found:
    """The noisy sum by the noisy count, from the centre on, and all that the true ones can come to by their error bars.

    Where both are noisy, each bar fails half as often, so that both hold with the confidence that is wanted. The truth
    is one of somebody at least, since of nobody there is no average, and of no more than there are records.
    """
    low, high = bounds
    both = total.reach is not None and count.reach is not None
    confidence = 1 - (1 - CONFIDENCE) / 2 if both else CONFIDENCE
    added, off = Fraction(total.value), Fraction(total.bar(confidence))
    number, away = Fraction(count.value), Fraction(count.bar(confidence))

    def within(value: Fraction) -> Fraction:
        return min(max(value, low), high)

    one, all_of_them = Fraction(1), Fraction(records)
    fewest, most = max(number - away, one), min(number + away, all_of_them)
    if fewest > most:  # nothing is known of the count
        fewest, most = one, all_of_them
    value = within(centre + added / min(max(number, one), all_of_them))
    ends = [centre + (added + sign * off) / by for sign in (-1, 1) for by in (fewest, most)]
    if max(ends) < low or min(ends) > high:  # one of the bars has failed, so nothing is known
        ends = [low, high]
    bar = float_above(max(abs(within(end) - value) for end in ends))
    return Found(float(value), bar, 2 * Fraction(bar) < high - low)


def _noise(planned: Plan) -> str:
    if planned.mechanism is None:
        return "no noise"
    return "truncated geometric noise" if isinstance(planned.mechanism, Geometric) else "Laplace noise"


def _why(allocation: Allocation) -> str:
    if allocation.gap is None:
        return "shared among so many answers by the paper's strategy 3 (paper 4, Algorithm 3)"
    return (
        "no Laplace noise on these answers has a lower mean squared error, each beside the most that one record can "
        f"add, up to {max(allocation.gap, 1e-9):.1g} of it; other noise may be better"
    )
