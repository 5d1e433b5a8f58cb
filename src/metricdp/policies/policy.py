"""The policy: one file about one table, for sanitized tables and for questions."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import ArgumentError, FileError, PolicyError
from metricdp.exact.level import Level
from metricdp.lazy import optional_libraries
from metricdp.metrics import Guarantee, attributes
from metricdp.policies.column_type import ColumnType
from metricdp.policies.person import Person
from metricdp.policies.standard import Standard
from metricdp.sources.dialect import Dialect
from metricdp.sources.layout import batch_rows
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.policies.askable import Askable

__all__ = ["Policy"]


_MOST_SHOWN = 20


@dataclass(frozen=True, repr=False)
class Policy:
    """What each column of a table can be, how far apart two values are, and what is done with it.

    Attributes:
        columns: one for each column, or group of columns, in the order of the policy.
        person: whose rows are counted together, if anybody's.
        order: whether the order of rows is public; where it is secret, rows of a sanitized table are shuffled.
        records: how many records there are, where that is public; questions ask for it.
        capacity: the greatest number there can be, where the number is secret.
        absent: how far an absent record is from any other, where the number is secret.
        dialect: how a CSV file writes its values, where the source is one.
        text: the policy as it was written.
        ledger: whether a release has to be charged to a ledger.
        standard: one epsilon for a person, where the policy says it in one line; see `Standard`.

    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 1000
    ... [columns]
    ... note = "drop"
    ... [columns.salary]
    ... type = "number"
    ... within = "1000 dollars"
    ... ''')
    >>> [column.name for column in policy.columns], str(policy.guarantee)
    (['note', 'salary'], '(ln 2/1000·|x − y| (salary))-private')
    """

    columns: tuple[ColumnType, ...]
    person: Person | None
    order: Literal["secret", "public"]
    records: int | None
    capacity: int | None
    absent: Level | None
    text: str
    dialect: Dialect = field(default_factory=Dialect)
    ledger: Literal["optional", "required"] = "optional"
    standard: Standard | None = None

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a file.

        Raises:
            PolicyError: with every mistake that was found, each with its line.
            FileError: there is no such file, or it may not be read.
        """
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise PolicyError(["not text in UTF-8"]) from None
        except FileNotFoundError:
            raise FileError(f"there is no policy {path}") from None
        except OSError:
            raise FileError(f"the policy {path} cannot be read") from None

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Read a policy from its text.

        Raises:
            PolicyError: with every mistake that was found, each with its line.
        """
        from metricdp.policies._reader import Reader

        return cls(**Reader(text).found)

    @classmethod
    def of(cls, policy: Policy | str | Path | Mapping[str, Any]) -> Policy:
        """A policy, the path of one, or a dict with what its file would hold.

        >>> made = Policy.of({"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}}})
        >>> made.columns[0].level_words
        'odds within a factor 2 at 5 years'
        """
        if isinstance(policy, Policy):
            return policy
        if isinstance(policy, str | Path):
            return cls.load(policy)
        if isinstance(policy, Mapping):
            from metricdp.policies._toml import written

            return cls.parse(written(policy))
        raise ArgumentError(f"a policy, its path, or a dict is wanted, not {type(policy).__name__}: see Policy.parse")

    @classmethod
    def draft(cls, schema: Any, *, source: str = "the table") -> str:
        """The text of a policy to be filled in, from the names and types of a table's columns alone.

        Every decision stands in it as a question, and until all are answered the policy refuses to run.

        Args:
            schema: an Arrow schema, or a dict of names and Arrow types; None for the type of a column that has none, as
                in a CSV file.
            source: what the table is called.
        """
        with optional_libraries("metricdp.policies.draft"):
            from metricdp.policies.draft import Draft
        return Draft.of(schema, source).text()

    def refuse_without_ledger(self, charged: bool) -> None:
        """Refuse a release that is not charged, where the policy requires that it is.

        Raises:
            PolicyError: it requires a ledger, and none was given.
        """
        if self.ledger == "required" and not charged:
            raise PolicyError(
                ["this policy requires a ledger: give one, and an account (--ledger URL --account NAME, or ledger=..)"]
            )

    # A sanitized table

    @cached_property
    def guarantee(self) -> Guarantee:
        """What a sanitized table promises for one row: the sum over its columns.

        Raises:
            PolicyError: a column cannot be released with noise, or none is.
        """
        if self.standard is not None:
            raise PolicyError(
                [
                    "standard = {..} is about answers to questions: for a table with noise in every row, give each "
                    "column a level of its own (within, epsilon or metric)"
                ]
            )
        unserved = [column.unserved for column in self.columns if column.unserved is not None]
        if unserved:
            raise PolicyError(unserved)
        found = {column.name: column.mechanism for column in self.columns if column.mechanism is not None}
        if not found:
            raise PolicyError(["no column is released privately: every one is kept or dropped"])
        metric = attributes({name: mechanism.guarantee.metric for name, mechanism in found.items()})
        return Guarantee(metric, sum(mechanism.guarantee.delta for mechanism in found.values()))

    @property
    def person_guarantee(self) -> Guarantee:
        """What a sanitized table promises for one person: as many times a row's as a person may have rows."""
        guarantee = self.guarantee
        if self.person is None:
            return guarantee
        return Guarantee(self.person.rows * guarantee.metric, self.person.rows * guarantee.delta)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the table that are released as they are."""
        return tuple(
            name
            for column in self.columns
            if column.release == "keep" and not column.rekeyed
            for name in column.columns
        )

    @property
    def rekeyed(self) -> tuple[str, ...]:
        """The columns whose values are replaced by new keys, besides that of the person."""
        return tuple(name for column in self.columns if column.rekeyed for name in column.columns)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns of the table that are left out."""
        return tuple(name for column in self.columns if column.release == "drop" for name in column.columns)

    @property
    def batch_rows(self) -> int:
        """How many rows of the table are read, released and written at once; fewer where rows are wide."""
        return batch_rows(sum(column.values_of_row for column in self.columns if column.release != "drop"))

    @property
    def released_text(self) -> str:
        """The part of it that a sanitized table may carry: its own columns, and nothing of those that are left out."""
        from metricdp.policies.released_part import released_part

        return released_part(self.text, tuple(column.name for column in self.columns if column.release != "drop"))

    # Questions

    @cached_property
    def askable(self) -> Askable:
        """What may be asked of the table under this policy.

        Raises:
            PolicyError: with what the policy lacks for questions.
        """
        from metricdp.policies.askable import Askable

        return Askable.of(self)

    # Words

    def __repr__(self) -> str:
        parts = [f"{visible_name(column.name)}: {column}" for column in self.columns[:_MOST_SHOWN]]
        if len(self.columns) > _MOST_SHOWN:
            parts.append(f"and {len(self.columns) - _MOST_SHOWN:,} more")
        if self.person is not None:
            parts.append(f"at most {self.person.rows} rows for each {visible_name(self.person.column)}")
        if self.records is not None:
            parts.append(f"{self.records:,} records")
        elif self.capacity is not None:
            parts.append(f"at most {self.capacity:,} records")
        return f"Policy({'; '.join(parts)})"

    def to_json(self) -> dict[str, Any]:
        """What it declares, as plain values for JSON; its text, which says it all, among them."""
        person = self.person
        return {
            "format": 2,
            "columns": [column.to_json() for column in self.columns],
            "person": None if person is None else {"column": person.column, "rows": person.rows},
            "records": self.records,
            "capacity": self.capacity,
            "absent": None if self.absent is None else str(self.absent),
            "standard": None
            if self.standard is None
            else {"epsilon": str(self.standard.epsilon), "neighbours": self.standard.neighbours},
            "order": self.order,
            "text": self.text,
        }

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(visible_name(column.name))}</td><td>{html.escape(str(column))}</td></tr>"
            for column in self.columns
        )
        return f"<table><tr><th>column</th><th>policy</th></tr>{rows}</table>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}  # what is cached stays behind
