"""Tables that anybody may see, given beside the question: what they have for each value of a policy's column."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, DataError, TooLargeError
from metricdp.policies.sql.row_functions import Value

__all__ = ["PublicTable", "public_tables"]

MOST_ROWS = 1_000_000
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?|[+-]?0?\.\d+")


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A public table, read whole.

    Attributes:
        name: what questions call it.
        columns: the values of each column.
        texts: of columns whose source declares no type, as those of a CSV file, the texts.

    >>> regions = PublicTable.of("regions", {"state": ["CA", "NY"], "people": [39.5, 19.6]})
    >>> regions.columns["people"]
    (Fraction(79, 2), Fraction(98, 5))
    """

    name: str
    columns: Mapping[str, Sequence[Value]]
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, source: Any) -> PublicTable:
        """Read it from whatever a table can be; see `metricdp.sources.open_table`. A mapping has lists of values.

        Raises:
            ArgumentError: it has no columns, two of one name, or values that nothing can be compared with.
            TooLargeError: it has more rows than are kept in memory here.
        """
        from metricdp.sources.opening import open_table

        if isinstance(source, Mapping):
            import pyarrow as pa

            source = pa.table({str(key): list(values) for key, values in source.items()})
        with open_table(str(source) if isinstance(source, Path) else source) as table:
            names = table.schema.names
            if len({one.casefold() for one in names}) < len(names):
                raise ArgumentError(f"the public table {name!r} has two columns of one name; capitals do not count")
            read: dict[str, list[Any]] = {one: [] for one in names}
            try:
                for batch in table.batches():
                    for one in names:
                        read[one] += batch.column(one).to_pylist()
                    if len(read[names[0]]) > MOST_ROWS:
                        raise TooLargeError(f"the public table {name!r} has more than {MOST_ROWS:,} rows")
            except DataError as error:
                raise ArgumentError(f"the public table {name!r}: {error}") from None
            texts = {one: tuple(read[one]) for one in names if one in table.untyped.columns}
        values = {one: _typed(texts[one]) if one in texts else tuple(map(_plain, read[one])) for one in names}
        return cls(name, values, texts)

    def column(self, name: str) -> str | None:
        """The name of a column as the table has it; capitals count only where there is none of exactly that name."""
        if name in self.columns:
            return name
        return next((one for one in self.columns if one.casefold() == name.casefold()), None)

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def digest(self) -> str:
        """What tells it from others: the question depends on what it holds."""
        return hashlib.sha256(repr([*map(sorted, (self.columns.items(), self.texts.items()))]).encode()).hexdigest()


def public_tables(given: Mapping[str, Any] | None) -> dict[str, PublicTable]:
    """The public tables that somebody gives, by the names that questions call them, without capitals."""
    found = {}
    for name, source in (given or {}).items():
        if not isinstance(name, str) or not name:
            raise ArgumentError("a public table has a name, which is text: public={'regions': 'regions.csv'}")
        found[name.casefold()] = source if isinstance(source, PublicTable) else PublicTable.of(name, source)
    return found


def _plain(value: Any) -> Value:
    """A value of Arrow as one that is computed with; what cannot be is kept as it is, and refused where it is used."""
    if isinstance(value, bool | int | str | dt.date) or value is None:
        return value
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None if math.isnan(value) else _Other("infinite")
    if isinstance(value, Decimal):
        return Fraction(value)
    return _Other(type(value).__name__)


@dataclass(frozen=True)
class _Other:
    """A value that nothing here can be done with."""

    kind: str


def _typed(texts: Sequence[str | None]) -> tuple[Value, ...]:
    """Texts as numbers, truth values or days, where all of them are; else as they are."""
    there = [text for text in texts if text is not None]
    for kind in _KINDS if there else ():
        try:
            found = {text: kind(text) for text in set(there)}
        except ValueError:
            continue
        return tuple(None if text is None else found[text] for text in texts)
    return tuple(texts)


def _number(text: str) -> Fraction:
    if len(text) > 60 or _NUMBER.fullmatch(text) is None:  # 02139 is a text
        raise ValueError("no number")
    return Fraction(text)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("no truth value")
    return text.lower() == "true"


_KINDS: tuple[Callable[[str], Value], ...] = (_number, _truth, dt.date.fromisoformat, dt.datetime.fromisoformat)
