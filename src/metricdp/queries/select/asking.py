"""Ask a table in SQL, and get private answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from metricdp.exact.bits import source as noise_source
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Guarantee
from metricdp.policies.askable import Askable
from metricdp.policies.cells.ordered import DateCells
from metricdp.policies.policy import Policy
from metricdp.policies.sql.public_tables import PublicTable, public_tables
from metricdp.policies.sql.statements import Aggregate, Select, read_select
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.asked_amounts import AskedAmounts
from metricdp.queries.select.averages import CONFIDENCE, Noisy, as_day, average, widest_average
from metricdp.queries.select.distinct_values import DistinctValues
from metricdp.queries.select.division import Division, Shares
from metricdp.queries.select.joint_percentiles import JointPercentiles, joint_percentiles
from metricdp.queries.select.people import check_people
from metricdp.queries.select.percentiles import GroupPercentiles
from metricdp.queries.select.rolled_up import widest_bar
from metricdp.queries.select.shown_answers import check_days, shown_answers
from metricdp.queries.select.single_number import Single, single
from metricdp.queries.select.table_answers import Part, TableAnswer, TableAnswers, claimed
from metricdp.queries.select.totals import LinearPart, check_records, why_shared
from metricdp.queries.universes.engines.grouping import declared_types
from metricdp.queries.workloads.allocation import Allocation, released
from metricdp.queries.workloads.by_group import GroupNoise
from metricdp.sources.opening import count_rows, kept, open_sql
from metricdp.sources.table import Declared

__all__ = ["Asking", "ask"]

Public = Mapping[str, PublicTable]

_ALONE = ("percentile", "distinct")
"""What has noise of its own, besides that of counts and sums."""


def ask(
    source: Any,
    policy: Policy | str | Path | Mapping[str, Any],
    question: str,
    *,
    public: Mapping[str, Any] | None = None,
    engine: Any = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> TableAnswers:
    """Answer a question about a table privately, with error bars, spending the policy's metric once for all answers.

    Counts and sums, also by group, are linear queries: Laplace noise, shared among them by `allocate`; or where one
    number alone needs noise, the truncated geometric mechanism. An average is the noisy sum by the noisy count.
    Percentiles are drawn by rank. Where several of these depend on one column, they share its metric in equal parts.

    Args:
        source: a file or a frame, or what else `histogram` takes.
        policy: the cells of the columns, the number of records and the metric; or the path of a file that has them.
        question: ``select AGGREGATES [from ..] [where CONDITION] [group by COLUMNS]``; see `read_select`.
        public: tables that anybody may see, such as ``{"regions": "regions.csv"}`` for ``from people join regions on
            people.state = regions.state``. The policy's column decides a record's row, and is what is spent.
        engine: "spark", or a connection of ibis, where the source is a table's name there.
        time_limit: seconds for sharing out the noise; then the best so far is used. See `allocate`.
        progress: told while noise is shared out; see `allocate`.

    Guarantee:
        The policy's metric on the columns of the question, added up over the records. Groups come from the policy, so
        those without records are answered too. Asking twice spends it twice; `metricdp.Session` keeps account.

    Raises:
        DataError: a question that cannot be bounded, and why; or a table that is not as the policy says. Neither a
            value nor a count of the table is in an error.

    References:
        Paper 4, sections 2 to 4; paper 1, Section 5.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "F", "M"], "age": [30, 50, 39]})
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 3
    ... [columns]
    ... sex = {type = "category", values = ["F", "M", "X"], epsilon = 1000, missing = "refuse"}
    ... age = {type = "integer", bounds = [0, 120], epsilon = 1000, missing = "refuse"}
    ... ''')
    >>> answers = ask(people, policy, "select count(*), avg(age) from people group by sex")
    >>> answers.groups, [round(one.value) for one in answers["count(*)"]]
    ((('F',), ('M',), ('X',)), [2, 1, 0])
    >>> print(answers.guarantee)
    ℓ₁(1000·[x ≠ y] (sex) + 1000·|x − y| (age))-private
    """
    rules = Policy.of(policy)
    rules.refuse_without_ledger(charged=False)
    asking = Asking.of(question, rules.askable, public=public_tables(public))
    return asking.answer(source, engine, time_limit=time_limit, progress=progress)


@dataclass(frozen=True, eq=False)
class Asking:
    """A question and how it will be answered: decided before any data are seen.

    Attributes:
        select: the question.
        policy: what it is answered under.
        division: its groups.
        scale: how much of the policy's metric it spends; 1 unless somebody wants less noise, or can do with more.
    """

    select: Select
    policy: Askable
    division: Division
    scale: Fraction = Fraction(1)

    @classmethod
    def of(cls, question: str, policy: Askable, scale: Fraction = Fraction(1), public: Public | None = None) -> Asking:
        """Read a question against a policy, perhaps with public tables; see `made`."""
        return cls.made(read_select(question, policy, public), policy, scale)

    @classmethod
    def made(cls, select: Select, policy: Askable, scale: Fraction = Fraction(1)) -> Asking:
        """A question that was read already; refuse what cannot be bounded."""
        check_days(select, policy)
        asking = cls(select, policy, Division.of(select, policy), scale)
        if asking.linear is not None:
            asking.linear.check()
        for part in asking.percentiles.values():
            _ = part.ranks is not None or part.plan
        _ = [counted.scales for counted in asking.distinct.values()]
        return asking

    # What depends on what

    @cached_property
    def _asked(self) -> AskedAmounts:
        return AskedAmounts(self.select, self.policy, self.division)

    @property
    def amounts(self) -> tuple[Amount, ...]:
        """The linear queries that are needed, each once."""
        return self._asked.all

    def amounts_of(self, aggregate: Aggregate, group: int) -> tuple[Amount, ...]:
        """The linear queries that an answer is made of; see `AskedAmounts.of`."""
        return self._asked.of(aggregate, group)

    @cached_property
    def _uses(self) -> dict[str, tuple[str, ...]]:
        """For each part of the question the columns on which it depends; the linear one is called ''."""
        uses: dict[str, tuple[str, ...]] = {}
        if self.amounts:
            uses[""] = (
                *self.division.names,
                *(name for name in self._asked.columns if name not in self.division.names),
            )
        for aggregate in self.select.aggregates:
            if aggregate.kind in _ALONE:
                assert aggregate.column is not None
                own = () if aggregate.column in self.division.names else (aggregate.column,)
                uses[aggregate.name] = (*self.division.names, *own)
        return uses

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns on which an answer depends, in the order of the policy."""
        used = {name for names in self._uses.values() for name in names}
        return tuple(name for name in self.policy.names if name in used)

    def shares(self, part: str) -> Shares:
        """What one part of the question may spend: of each column's metric, as much as every other part that uses it.

        Over all parts, the shares of a column add up to the scale.
        """
        uses = self._uses
        times = {name: sum(name in names for names in uses.values()) for name in self.columns}
        if self.policy.apart is not None:  # one level for all columns of a record together
            times = dict.fromkeys(times, len(uses))
        return Shares({name: self.scale / times[name] for name in uses[part]}, self.scale / len(uses))

    @property
    def guarantee(self) -> Guarantee | None:
        """What all answers together promise; None where they tell nothing secret."""
        found = self.policy.guarantee(self.columns)
        return None if found is None else Guarantee(found.metric * self.scale)

    @cached_property
    def linear(self) -> LinearPart | None:
        """Counts and sums; None where none are asked, or where they are public."""
        if not self.amounts or (not self._uses[""] and self.policy.absent is None):
            return None
        return LinearPart(self.policy, self.division, self.amounts, self._asked.columns, self.shares(""))

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

    @cached_property
    def joint(self) -> tuple[JointPercentiles, ...]:
        """The percentiles that are drawn together, column by column."""
        return joint_percentiles(self.percentiles)

    @cached_property
    def distinct(self) -> dict[str, DistinctValues]:
        """The numbers of distinct values by the names of their answers."""
        return {
            one.name: DistinctValues(self.policy, self.division, one.column, self.shares(one.name))
            for one in self.select.aggregates
            if one.kind == "distinct" and one.column is not None
        }

    # Errors to expect

    def error_bars(
        self, fewest: Mapping[Amount, Fraction] | None = None, confidence: Fraction = CONFIDENCE
    ) -> dict[str, float | None]:
        """For each thing asked, the widest error bar of its groups, before anything is read.

        The error bar of an average depends on how many there are of whom, and that of a percentile drawn by rank on how
        densely values lie. It is None where that is secret; `forecast` says what to expect.

        Args:
            fewest: how many there are at least, where somebody knows; see `widest_average`.
            confidence: of each error bar.
        """
        counts = self.public_counts | dict(fewest or {})
        allocation = None if self.linear is None else self.linear.allocate()
        alone = None if self.linear is None or allocation is None else single(self.linear, allocation)
        noisy = {amount: self._noisy(place, allocation, alone) for place, amount in enumerate(self.amounts)}
        groups = range(len(self.division.labels))
        bars: dict[str, float | None] = {}
        for aggregate in self.select.aggregates:
            amounts = [self.amounts_of(aggregate, group) for group in groups]
            if aggregate.kind == "percentile":
                planned = self.percentiles[aggregate.name].plan
                bars[aggregate.name] = None if planned is None else planned.error_bar(float(confidence))
            elif aggregate.kind == "distinct":
                counted = self.distinct[aggregate.name]
                bars[aggregate.name] = max(counted.bar(group, float(confidence)) for group in groups)
            elif aggregate.kind in ("count", "sum"):
                each = [noisy[amount].bar(confidence) for (amount,) in amounts]
                known = self.public_total(aggregate) is not None
                bars[aggregate.name] = widest_bar(self.division.labels, each, self.select.kept.totals, known)
            elif aggregate.kind == "average" and all(count in counts for _, count in amounts):
                bounds = self._asked.bounds(aggregate)
                bars[aggregate.name] = max(
                    widest_average(noisy[total], noisy[count], total.centre, bounds, counts[count], len(groups))
                    for total, count in amounts
                )
            else:
                bars[aggregate.name] = None
        return bars

    @property
    def public_counts(self) -> dict[Amount, Fraction]:
        """The number of all records, where it is public."""
        return self._asked.public_counts

    def public_total(self, aggregate: Aggregate) -> int | None:
        """What the answers of all groups add up to, where that is public."""
        return self._asked.public_total(aggregate)

    def _noisy(self, place: int, allocation: Allocation | GroupNoise | None, alone: Single | None) -> Noisy:
        mechanism = None if allocation is None else allocation.mechanism(place, self.policy.most)
        if mechanism is None:
            return Noisy(0.0, None)
        return Noisy(0.0, mechanism.radius if alone is None else alone.plan.error_bar)

    # Answers

    def answer(
        self,
        source: Any,
        engine: Any = None,
        *,
        charged: bool = False,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> TableAnswers:
        """Read the table, and draw the noise.

        Args:
            source: see `ask`, like all but one of the others.
            engine: what reads it.
            charged: whether a ledger is charged for it, as a policy can require.
            time_limit: seconds for sharing out the noise.
            progress: told while noise is shared out.
        """
        self.policy.policy.refuse_without_ledger(charged)
        dialect = self.policy.policy.dialect
        with (
            kept(source, Declared(dialect=dialect), engine) as again,
            open_sql(again, declared_types(self._csv_types(), dialect), engine) as table,
        ):
            return self._answer(table, engine, Stopwatch(time_limit, progress))

    def _csv_types(self) -> dict[str, str]:
        """All columns that are read, with the types that a CSV file has no place for."""
        person = self.policy.policy.person
        types = {} if person is None else {person.column: "string"}
        for part in self.percentiles.values():
            types |= {column.name: column.csv_type for column in (*self.division.columns, part.line.cells)}
        for counted in self.distinct.values():
            types |= {column.name: column.csv_type for column in counted.read}
        return types | ({} if self.linear is None else self.linear.csv_types)

    def _answer(self, source: Any, engine: Any, watch: Stopwatch) -> TableAnswers:
        check_people(source, self.policy.policy, engine)
        amounts, parts = self._linear_answers(source, engine, watch)
        columns: dict[str, list[TableAnswer]] = {}
        for together in self.joint:
            columns |= together.answers(source, engine)
            parts.append(together.part)
        for aggregate in self.select.aggregates:
            if aggregate.kind == "percentile" and aggregate.name not in columns:
                columns[aggregate.name], part = self._percentile_answers(aggregate.name, source, engine)
                parts.append(part)
            elif aggregate.kind == "percentile":
                continue
            elif aggregate.kind == "distinct":
                counted = self.distinct[aggregate.name]
                columns[aggregate.name] = counted.answers(source, engine)
                parts.append(counted.part(aggregate.name))
            else:
                columns[aggregate.name] = [
                    self.computed(aggregate, needed, [amounts[amount] for amount in needed])
                    for group in range(len(self.division.labels))
                    for needed in [self.amounts_of(aggregate, group)]
                ]
        return shown_answers(
            self,
            tuple(zip(*(columns[one.name] for one in self.select.aggregates), strict=True)),
            *(tuple(claimed(part, columns) for part in parts), self.columns, self.guarantee),
            *(float(CONFIDENCE), noise_source().private),
        )

    def _linear_answers(self, source: Any, engine: Any, watch: Stopwatch) -> tuple[dict[Amount, Noisy], list[Part]]:
        names = tuple(one.name for one in self.select.aggregates if one.kind not in _ALONE)
        if not self.amounts:
            return {}, []
        if self.linear is None:
            check_records(count_rows(source, Declared(dialect=self.policy.policy.dialect), engine), self.policy)
            public = Noisy(float(self.policy.most), None)
            return dict.fromkeys(self.amounts, public), [Part(names, {}, "no noise", True, "the number is public")]
        allocation = self.linear.allocate(watch)
        alone = single(self.linear, allocation)
        truths = self.linear.truth(source, engine)
        mechanisms = [allocation.mechanism(place, self.policy.most) for place in range(len(truths))]
        drawn = released(mechanisms, truths) if alone is None else alone.released(truths)
        noisy = {amount: Noisy(*one) for amount, one in zip(self.amounts, drawn, strict=True)}
        return noisy, [self._linear_part(names, self.linear, allocation, alone)]

    def _linear_part(
        self, names: tuple[str, ...], linear: LinearPart, allocation: Allocation | GroupNoise, alone: Single | None
    ) -> Part:
        shares = linear.shares.columns
        if alone is not None:
            return Part(names, shares, alone.plan.noise, alone.plan.optimal, alone.plan.why)
        if not any(allocation.scales):
            return Part(names, shares, "no noise", True, "these answers are the same whatever is secret")
        return Part(names, shares, "Laplace noise", False, why_shared(allocation, bool(linear.squared)))

    def computed(self, aggregate: Aggregate, amounts: Sequence[Amount], noisy: Sequence[Noisy]) -> TableAnswer:
        """An answer, from the noisy numbers of the linear queries that it is made of."""
        first, records = noisy[0], self.policy.most
        if aggregate.kind == "count":
            return TableAnswer(first.value, first.bar(CONFIDENCE), 2 * first.bar(CONFIDENCE) < records)
        if aggregate.kind == "moment":
            return self._asked.moment(aggregate).answer(noisy, amounts, records)
        low, high = self._asked.bounds(aggregate)
        if aggregate.kind == "sum":
            bar = first.bar(CONFIDENCE)
            span = records * (max(high, Fraction(0)) - min(low, Fraction(0)))
            return TableAnswer(first.value, bar, 2 * Fraction(bar) < span)
        found = average(first, noisy[1], amounts[0].centre, (low, high), records)
        column = None if aggregate.column is None else self.policy.column(aggregate.column)
        return as_day(found, column.bounds) if isinstance(column, DateCells) else found

    def _percentile_answers(self, name: str, source: Any, engine: Any) -> tuple[list[TableAnswer], Part]:
        part = self.percentiles[name]
        found, planned = part.answers(source, engine), part.plan
        if part.ranks is not None:
            return found, Part((name,), part.shares.columns, part.ranks.words, False, part.ranks.why)
        assert planned is not None
        known = part.of_all is not None
        why = planned.why if known else "a record can come or go: no theorem says that no other noise is better"
        return found, Part((name,), part.shares.columns, planned.noise, planned.optimal and known, why)
