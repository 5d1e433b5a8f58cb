"""What may be asked of a table under a policy: the cells of its columns, and how far apart two records are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from metricdp.errors import ArgumentError, PolicyError
from metricdp.exact.level import Level
from metricdp.metrics import Guarantee, Metric, attributes, capped, discrete, nullable, records

if TYPE_CHECKING:
    from metricdp.policies.cells.listed import Cells
    from metricdp.policies.column_type import ColumnType
    from metricdp.policies.policy import Policy

__all__ = ["Askable", "absent_at"]


@dataclass(frozen=True)
class Askable:
    """What may be asked of a table, and what all answers to one question together may tell.

    Two records are apart by the sum over the columns. Columns of the table that the policy does not name cannot be
    asked about, and are not read.

    Attributes:
        policy: which it follows.

    >>> from metricdp.policies.policy import Policy
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 1000
    ... [columns]
    ... native = {type = "boolean", epsilon = 0.5, missing = "refuse"}
    ... age = {type = "integer", bounds = [0, 120], within = 5, missing = "refuse"}
    ... ''')
    >>> print(policy.askable.guarantee(["age"]))
    ℓ₁(ln 2/5·|x − y| (age))-private
    """

    policy: Policy

    @classmethod
    def of(cls, policy: Policy) -> Askable:
        """The policy, with a look at what it lacks."""
        if policy.records is None and policy.capacity is None:
            raise PolicyError(
                [
                    "to answer questions, the policy has to say how many records there are: write records = .. at its "
                    "top where that number is public; where it is not, capacity = .., the most there can be, and "
                    "absent = .., how far an absent record is from any other"
                ]
            )
        askable = cls(policy)
        folded = [name.casefold() for name in askable.names]
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:  # engines differ on whether capitals count
            raise PolicyError([f"column {name!r} stands twice; in a question, capitals do not count" for name in twice])
        return askable

    @property
    def records(self) -> int | None:
        """How many records there are, where that is public."""
        return self.policy.records

    @property
    def capacity(self) -> int | None:
        """The greatest number there can be, where the number is secret."""
        return self.policy.capacity

    @property
    def absent(self) -> Level | None:
        """How far an absent record is from any other, where the number is secret."""
        return self.policy.absent

    @property
    def apart(self) -> Level | None:
        """How far two records are apart at most, where the policy says that and none can be absent."""
        standard = self.policy.standard
        return None if standard is None or standard.absent is not None else standard.between

    @property
    def most(self) -> int:
        """The greatest number of records there can be."""
        most = self.records if self.capacity is None else self.capacity
        assert most is not None  # one of the two is there
        return most

    @property
    def by_rows(self) -> bool:
        """Whether values are there row by row: truth values to add up, missing ones to leave out. Else cells are."""
        return False

    @property
    def rows(self) -> int:
        """The greatest number of records that are one person's; 1 where the policy names no person."""
        return 1 if self.policy.person is None else self.policy.person.rows

    @cached_property
    def _typed(self) -> tuple[ColumnType, ...]:
        """The columns of which the policy says what they can be."""
        return tuple(column for column in self.policy.columns if column.metric is not None and column.keys)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table that may be asked about, in the order of the policy."""
        return tuple(column.columns[0] for column in self._typed)

    def column_type(self, name: str) -> ColumnType:
        """The entry for a column of the table; capitals count only where there is none of exactly that name.

        Where the policy calls the column by another name than the table, either is understood.
        """
        columns = self.policy.columns
        exact = {column.name: column for column in columns} | {column.columns[0]: column for column in columns}
        folded = {name.casefold(): column for name, column in exact.items()}
        found = exact.get(name) or folded.get(name.casefold())
        if found is None:
            raise ArgumentError(f"the policy has no column {name!r}; it has {', '.join(self.names)}")
        return found

    def column(self, name: str) -> Cells:
        """The cells of the column of that name.

        Raises:
            ArgumentError: there is no such column.
            PolicyError: with what the policy lacks for questions about it.
        """
        return self.column_type(name).cells

    def metric(self, name: str) -> Metric:
        """How far apart two values of a column are."""
        metric = self.column_type(name).metric
        assert metric is not None  # its cells were asked for before
        return metric

    def record_metric(self, names: Iterable[str]) -> Metric | None:
        """How far apart two records are that differ in these columns only; None where nothing tells them apart."""
        chosen = {name: self.metric(name) for name in names}
        metric = attributes(chosen) if chosen else None
        return self.together(metric)

    def together(self, metric: Metric | None, part: Fraction = Fraction(1)) -> Metric | None:
        """The metric of records from that of all their columns: they may be absent, or no farther apart than a level.

        Args:
            metric: the sum over the columns; None where nothing tells two records apart that are there.
            part: of those levels, which may be spent.
        """
        if self.absent is not None:
            return absent_at(metric, self.absent * part)
        if self.apart is None or metric is None or len(metric.parts) < 2:
            return metric
        return capped(metric, self.apart * part)

    def guarantee(self, names: Iterable[str]) -> Guarantee | None:
        """What answers promise that depend on these columns only; None where they tell nothing secret."""
        metric = self.record_metric(names)
        return None if metric is None else Guarantee(records(metric))


def absent_at(metric: Metric | None, absent: Level) -> Metric:
    """The metric with absent records at that distance, by way of which all others come within twice of it.

    >>> from metricdp.metrics import absolute
    >>> print(absent_at(absolute(), Level.of(3)))
    min(|x − y|, 6) with ∅ at 3
    """
    if metric is None:  # all that is asked is whether a record is there
        return discrete() * absent
    return nullable(capped(metric, absent * 2), absent)
