"""The policy: what is promised for each column of a table, written in TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import MetricDPError, PolicyError
from metricdp.metrics import Guarantee, attributes
from metricdp.tables.entries import KINDS
from metricdp.tables.lines import Lines

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.tables.plan import Plan
    from metricdp.tables.treatments import Treatment

__all__ = ["Policy", "Unit"]

FORMAT = 1

_ENDLESS = re.compile(r"[eE][-+]?[0-9]{4,}")
"""An exponent that no exact number should have: it would fill the memory."""

_WORDS = ("type", "columns", "values", "parents")
"""Keys that hold names, not numbers."""


@dataclass(frozen=True)
class Unit:
    """Whose privacy is counted: the column that says which rows are one person's, and how many they may be.

    Attributes:
        column: its name.
        rows: the greatest number of rows a person may have.
        excess: whether a table in which somebody has more is refused, or cut by a blind draw.
        release: whether the column is dropped, or given new keys at random.
    """

    column: str
    rows: int
    excess: Literal["refuse", "cut"] = "refuse"
    release: Literal["drop", "rekey"] = "drop"


@dataclass(frozen=True)
class Policy:
    """What is done to each column of a table, and what that promises.

    Attributes:
        treatments: one for each column or group of columns, in the order of the policy.
        unit: whose rows are counted together, if anybody's.
        order: whether the order of rows is public; where it is secret, rows are shuffled.
        text: the policy as it was written.
    """

    treatments: tuple[Treatment, ...]
    unit: Unit | None
    order: Literal["secret", "public"]
    text: str

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a file.

        Raises:
            PolicyError: with every mistake that was found, each with its line and column.
        """
        return cls.parse(Path(path).read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Read a policy from its text.

        >>> policy = Policy.parse('''
        ... format = 1
        ... [columns]
        ... note = "drop"
        ... [columns.salary]
        ... type = "number"
        ... within = "1000 dollars"
        ... ''')
        >>> [treatment.name for treatment in policy.treatments]
        ['note', 'salary']
        """
        try:
            tree = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError([f"not TOML: {error}"]) from None
        return _Reader(tree, Lines(text)).read(text)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is promised for one row: the sum over its columns."""
        mechanisms = {item.name: item.mechanism for item in self.treatments if item.mechanism is not None}
        if not mechanisms:
            raise PolicyError(["no column is released privately: every one is kept or dropped"])
        metric = attributes({name: mechanism.guarantee.metric for name, mechanism in mechanisms.items()})
        return Guarantee(metric, sum(mechanism.guarantee.delta for mechanism in mechanisms.values()))

    @property
    def person_guarantee(self) -> Guarantee:
        """What is promised for one person: as many times a row's as a person may have rows."""
        guarantee = self.guarantee
        if self.unit is None:
            return guarantee
        return Guarantee(self.unit.rows * guarantee.metric, self.unit.rows * guarantee.delta)

    def bind(self, schema: pa.Schema) -> Plan:
        """The policy for tables of this schema; raises a PolicyError with every mismatch."""
        from metricdp.tables.plan import Plan

        return Plan.of(self, schema)


class _Reader:
    """Collects treatments and mistakes from the parsed policy."""

    def __init__(self, tree: dict[str, Any], lines: Lines) -> None:
        self.tree = tree
        self.lines = lines
        self.problems: list[tuple[int, str]] = []

    def read(self, text: str) -> Policy:
        self._unknown(self.tree, ("format", "columns", "unit", "rows"), ())
        version = self.tree.get("format")
        if version != FORMAT or type(version) is not int:
            self._problem(("format",), f"format = {FORMAT} is wanted, the version this program reads")
        columns = self.tree.get("columns")
        if not isinstance(columns, dict) or not columns:
            self._problem(("columns",), "no columns: write [columns.NAME] for each")
            columns = {}
        treatments = [made for name, entry in columns.items() if (made := self._treatment(name, entry)) is not None]
        self._twice(treatments)
        unit = self._unit()
        if unit is not None and any(unit.column in item.columns for item in treatments):
            self._problem(("unit",), f"column {unit.column!r} is the unit; it needs no entry under columns")
        order = self._rows()
        if self.problems:
            raise PolicyError(
                [f"line {line}, {problem}" if line else problem for line, problem in sorted(self.problems)]
            )
        return Policy(tuple(treatments), unit, order, text)

    def _treatment(self, name: str, entry: Any) -> Treatment | None:
        path = ("columns", name)
        if isinstance(entry, str):
            entry = {"type": entry}
        if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
            self._problem(path, f"column {name!r}: a type is wanted, one of {', '.join(KINDS)}")
            return None
        kind = KINDS.get(entry["type"])
        if kind is None:
            self._problem((*path, "type"), f"column {name!r}: {entry['type']!r} is no type; one of {', '.join(KINDS)}")
            return None
        self._unknown(entry, ("type", "columns", *kind.keys), path)
        columns = entry.get("columns", [name])
        if not isinstance(columns, list) or len(columns) != kind.width or not all(isinstance(c, str) for c in columns):
            wanted = "the latitude and the longitude" if kind.width == 2 else "one column"
            self._problem((*path, "columns"), f"column {name!r}: columns = [..] names {wanted}")
            return None
        endless = [key for key in entry if key not in _WORDS and _ENDLESS.search(str(entry[key]))]
        if endless:
            self._problem((*path, endless[0]), f"column {name!r}: {endless[0]} is too large or too small a number")
            return None
        return self._try(path, name, lambda: kind.make(name, tuple(columns), self.lines.of(path), entry))

    def _unit(self) -> Unit | None:
        entry = self.tree.get("unit")
        if entry is None:
            return None
        if not isinstance(entry, dict):
            self._problem(("unit",), "unit: write [unit] with column and rows")
            return None
        self._unknown(entry, ("column", "rows", "excess", "release"), ("unit",))
        column, rows = entry.get("column"), entry.get("rows")
        if not isinstance(column, str):
            self._problem(("unit",), "unit: column = .. names the column that says whose row it is")
            return None
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            self._problem(("unit",), "unit: rows = .. is the greatest number of rows a person may have")
            return None
        excess = self._one_of(entry, "unit", "excess", ("refuse", "cut"))
        release = self._one_of(entry, "unit", "release", ("drop", "rekey"))
        return Unit(column, rows, excess, release)

    def _rows(self) -> Literal["secret", "public"]:
        entry = self.tree.get("rows", {})
        if not isinstance(entry, dict):
            self._problem(("rows",), 'rows: write [rows] with order = "secret" or "public"')
            return "secret"
        self._unknown(entry, ("order",), ("rows",))
        order: Literal["secret", "public"] = self._one_of(entry, "rows", "order", ("secret", "public"))
        return order

    def _one_of(self, entry: dict[str, Any], table: str, key: str, allowed: tuple[Any, ...]) -> Any:
        value = entry.get(key, allowed[0])
        if value not in allowed:
            self._problem((table, key), f"{table}: {key} is one of {', '.join(map(repr, allowed))}")
        return value

    def _twice(self, treatments: list[Treatment]) -> None:
        seen: dict[str, str] = {}
        for item in treatments:
            for column in item.columns:
                if column in seen:
                    self.problems.append(
                        (item.line, f"column {column!r} stands in two entries, {seen[column]!r} and {item.name!r}")
                    )
                seen[column] = item.name

    def _unknown(self, entry: dict[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
        for key in entry:
            if key not in known:
                where = f"column {path[1]!r}: " if len(path) > 1 else ""
                self._problem((*path, key), f"{where}{key!r} is not known here; one of {', '.join(known)}")

    def _try(self, path: tuple[str, ...], name: str, make: Callable[[], Treatment]) -> Treatment | None:
        try:
            return make()
        except MetricDPError as error:
            self._problem(path, f"column {name!r}: {error}")
        except (ArithmeticError, TypeError, ValueError):
            self._problem(path, f"column {name!r}: a number in this entry cannot be read, or no mechanism can hold it")
        return None

    def _problem(self, path: tuple[str, ...], problem: str) -> None:
        self.problems.append((self.lines.of(path), problem))
