"""The one reader of policies: it collects what is declared, and every mistake with its line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from metricdp.errors import ArgumentError, MetricDPError, PolicyError
from metricdp.exact.level import Level
from metricdp.policies._lines import Lines
from metricdp.policies.column_type import ColumnType
from metricdp.policies.entry import OPEN, ColumnEntry, Mistake
from metricdp.policies.person import Person
from metricdp.policies.standard import NEIGHBOURS, Standard
from metricdp.policies.types import TYPES
from metricdp.sources.dialect import Dialect, read_dialect

__all__ = ["FORMAT", "Reader"]

FORMAT = 2

_TOP = ("format", "ledger", "records", "capacity", "absent", "standard", "rows", "person", "columns", "csv")
_ALWAYS = ("type", "columns", "release")
_OLD = (
    "format = 1 is no longer read. One file of format 2 now serves sanitize, explain and query: write what was "
    "[universe] and [metric] as one [columns.NAME] with its type, its bounds or values, and its level (within, epsilon "
    'or metric); [unit] is [person]; type "location" is "place"; a "time" of '
    'whole days is "date"; width, edges, by and other are count_by = {..}; and where a column has bounds or values, a '
    'missing value is secret unless missing = "refuse" or "public" says otherwise'
)
_QUESTION = 'still an open question: replace the "?" by an answer'


class Reader:
    """Collects columns and mistakes from the text of a policy.

    Attributes:
        found: what the policy declares, by the names of `Policy`'s attributes.

    Raises:
        PolicyError: with every mistake, in the order of their lines.
    """

    def __init__(self, text: str) -> None:
        self._tree = _parsed(text)
        self._lines = Lines(text)
        self._problems: list[tuple[int, str]] = []
        if self._tree.get("format") == 1 and type(self._tree.get("format")) is int:
            raise PolicyError([f"line {self._lines.of(('format',))}, {_OLD}"])
        self.found = self._read(text)
        if self._problems:
            found = sorted(dict.fromkeys(self._problems))
            raise PolicyError([f"line {line}, {problem}" if line else problem for line, problem in found])

    def _read(self, text: str) -> dict[str, Any]:
        tree = self._tree
        self._unknown(tree, _TOP, ())
        version = tree.get("format")
        if version != FORMAT or type(version) is not int:
            self._problem(("format",), f"format = {FORMAT} is wanted, the version this program reads")
        person = self._person()
        self._standard = self._standard_privacy(1 if person is None else person.rows)
        columns = self._columns()
        if person is not None and any(person.column in column.columns for column in columns):
            self._problem(("person",), f"column {person.column!r} is the person's; it needs no entry under columns")
        order = self._order()
        return {
            "columns": tuple(columns),
            "person": person,
            "order": order,
            "ledger": self._one_of(tree, (), "ledger", ("optional", "required")),
            "standard": self._standard,
            **self._size(),
            "dialect": self._dialect(columns),
            "text": text,
        }

    # Columns

    def _columns(self) -> list[ColumnType]:
        entries = self._tree.get("columns")
        if not isinstance(entries, dict) or not entries:
            self._problem(("columns",), "no columns: write [columns.NAME] for each")
            return []
        columns = [made for name, entry in entries.items() if (made := self._column(name, entry)) is not None]
        seen: dict[str, str] = {}
        for column in columns:
            for name in column.columns:
                if name in seen:
                    told = f"column {name!r} stands in two entries, {seen[name]!r} and {column.name!r}"
                    self._problems.append((column.line, told))
                seen[name] = column.name
        return columns

    def _column(self, name: str, written: Any) -> ColumnType | None:
        path = ("columns", name)
        tree = {"type": written} if isinstance(written, str) else written
        if isinstance(tree, dict) and "type" not in tree and tree and all(isinstance(v, dict) for v in tree.values()):
            inner = next(iter(tree))
            self._problem(path, f'column {name!r}: for the field of a struct, write [columns."{name}.{inner}"]')
            return None
        if not isinstance(tree, dict) or not isinstance(tree.get("type"), str):
            self._problem(path, f"column {name!r}: a type is wanted, one of {', '.join(TYPES.names)}")
            return None
        try:
            entry = ColumnEntry(name, tree, lambda inner: self._lines.of((*path, *inner)), self._standard)
        except Mistake as mistake:
            self._problem((*path, mistake.key), f"column {name!r}: {mistake.problem}")
            return None
        asked = entry.open_questions()
        for question in asked:
            self._problem((*path, *question), f"column {name!r}: {'.'.join(question)} is {_QUESTION}")
        if asked:
            return None
        return self._typed(entry, path)

    def _typed(self, entry: ColumnEntry, path: tuple[str, ...]) -> ColumnType | None:
        try:
            kind = TYPES.find(entry.take("type"))
        except ArgumentError as error:
            self._problem((*path, "type"), f"column {entry.name!r}: {error}")
            return None
        if kind is None:
            told = f"{entry.tree['type']!r} is no type; one of {', '.join(TYPES.names)}"
            self._problem((*path, "type"), f"column {entry.name!r}: {told}")
            return None
        known = (*_ALWAYS, *kind.keys)
        self._unknown(entry.tree, known, path)
        try:
            if len(entry.columns) != kind.width:
                wanted = "the latitude and the longitude" if kind.width == 2 else "one column"
                raise Mistake("columns", f"columns = [..] names {wanted}")
            endless = entry.endless()
            if endless is not None:
                raise Mistake(endless, f"{endless} is too large or too small a number")
            column = kind.read(entry)
            unused = [key for key in entry.untaken() if key in known]
            if unused:
                raise Mistake(unused[0], f"{unused[0]} is not used here")
            _check(column)
        except Mistake as mistake:
            where = path if not mistake.key else (*path, mistake.key)
            self._problem(where, f"column {entry.name!r}: {mistake.problem}")
        except PolicyError as error:
            for problem in error.problems:
                self._problem(
                    path,
                    f"column {entry.name!r}: {problem.removeprefix(f'line {entry.line}, column {entry.name!r}: ')}",
                )
        except MetricDPError as error:
            self._problem(path, f"column {entry.name!r}: {error}")
        except (ArithmeticError, TypeError, ValueError):
            told = "a number in this entry cannot be read, or no mechanism can hold it"
            self._problem(path, f"column {entry.name!r}: {told}")
        else:
            return column
        return None

    # The table as a whole

    def _person(self) -> Person | None:
        entry = self._tree.get("person")
        if entry is None:
            return None
        if not isinstance(entry, dict):
            self._problem(("person",), "person: write [person] with column and rows")
            return None
        self._unknown(entry, ("column", "rows", "excess", "release", "missing"), ("person",))
        if self._asked(entry, ("person",)):
            return None
        column, rows = entry.get("column"), entry.get("rows")
        if not isinstance(column, str):
            self._problem(("person",), "person: column = .. names the column that says whose row it is")
            return None
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            self._problem(("person", "rows"), "person: rows = .. is the greatest number of rows a person may have")
            return None
        excess = self._one_of(entry, ("person",), "excess", ("refuse", "cut"))
        release = self._one_of(entry, ("person",), "release", ("drop", "rekey"))
        missing = self._one_of(entry, ("person",), "missing", ("refuse", "drop"))
        return Person(column, rows, excess, release, missing, self._lines.of(("person",)))

    def _standard_privacy(self, rows: int) -> Standard | None:
        """One epsilon for a person, where the policy says it in one line."""
        entry = self._tree.get("standard")
        if entry is None:
            return None
        if not isinstance(entry, dict):
            self._problem(("standard",), 'standard: write standard = {epsilon = 1, neighbours = "add or remove"}')
            return None
        self._unknown(entry, ("epsilon", "neighbours"), ("standard",))
        if self._asked(entry, ("standard",)):
            return None
        if entry.get("neighbours") not in NEIGHBOURS:
            told = "one person more or less, or one replaced? write neighbours = 'add or remove', or 'replace'"
            self._problem(("standard", "neighbours"), f"standard: {told}")
            return None
        try:
            return Standard(Level.parse(entry.get("epsilon", "")), entry["neighbours"], rows)
        except MetricDPError as error:
            self._problem(("standard", "epsilon"), f"standard: epsilon: {error}")
            return None

    def _order(self) -> Any:
        entry = self._tree.get("rows", {})
        if not isinstance(entry, dict):
            self._problem(("rows",), 'rows: write [rows] with order = "secret" or "public"')
            return "secret"
        self._unknown(entry, ("order",), ("rows",))
        return self._one_of(entry, ("rows",), "order", ("secret", "public"))

    def _size(self) -> dict[str, Any]:
        """How many records there are, where that is public; else the most there can be, and the distance of absence."""
        found: dict[str, Any] = {"records": None, "capacity": None, "absent": None}
        top: dict[str, Any] = {key: self._tree[key] for key in ("records", "capacity", "absent") if key in self._tree}
        if self._asked(top, ()):
            return found
        for key in ("records", "capacity"):
            value = top.get(key)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 62):
                self._problem((key,), f"{key} is a whole number of records, 1 or more")
                return found
        if "records" in top and "capacity" in top:
            told = "records is for a number of records that is public, capacity for one that is not: one of the two"
            self._problem(("capacity",), told)
            return found
        if self._standard is not None:
            wanted = "records" if self._standard.absent is None else "capacity"
            if "absent" in top:
                self._problem(("absent",), "absent: standard = {..} says already how far an absent record is")
            elif set(top) - {wanted}:
                number = "public" if wanted == "records" else "secret"
                told = f"with neighbours = {self._standard.neighbours!r} the number of records is {number}"
                self._problem((next(iter(top)),), f"{told}: say {wanted} = ..")
            return found | {"absent": self._standard.absent, wanted: top.get(wanted)}
        if ("capacity" in top) != ("absent" in top):
            told = "absent = .., how far an absent record is from any other, goes with capacity = .."
            self._problem(("absent" if "absent" in top else "capacity",), told)
            return found
        if "absent" in top:
            try:
                found["absent"] = Level.parse(top["absent"])
            except MetricDPError as error:
                self._problem(("absent",), f"absent: {error}")
        return found | {key: top.get(key) for key in ("records", "capacity")}

    def _dialect(self, columns: list[ColumnType]) -> Dialect:
        if "csv" not in self._tree:
            return Dialect()
        moments = [name for column in columns if column.is_moment for name in column.columns]
        return read_dialect(
            self._tree["csv"], moments, lambda key, problem: self._problem(("csv", key), f"csv: {problem}")
        )

    # Mistakes

    def _asked(self, entry: Mapping[str, Any], path: tuple[str, ...]) -> bool:
        """Whether a draft's question is still open in it."""
        asked = [key for key, value in entry.items() if value == OPEN]
        for key in asked:
            self._problem((*path, key), f"{'.'.join((*path, key))} is {_QUESTION}")
        return bool(asked)

    def _one_of(self, entry: Mapping[str, Any], path: tuple[str, ...], key: str, allowed: tuple[str, ...]) -> Any:
        value = entry.get(key, allowed[0])
        if value not in allowed:
            told = _QUESTION if value == OPEN else f"one of {', '.join(map(repr, allowed))}"
            self._problem((*path, key), f"{'.'.join((*path, key))} is {told}")
        return value

    def _unknown(self, entry: Mapping[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
        where = f"column {path[1]!r}: " if len(path) > 1 else "".join(f"{part}: " for part in path)
        for key in entry:
            if key not in known:
                self._problem((*path, key), f"{where}{key!r} is not known here; one of {', '.join(known)}")

    def _problem(self, path: tuple[str, ...], problem: str) -> None:
        self._problems.append((self._lines.of(path), problem))


def _check(column: ColumnType) -> None:
    """Find the mistakes in what is written; what one use lacks is found when that use asks for it."""
    if column.release == "noise":
        if column.written is None:
            raise Mistake("", column.level_wanted)
        _ = column.unserved  # a mechanism is wanted by sanitized tables alone, but its numbers have to be right
    if column.count_by.missing is not None and column.missing == "refuse":
        raise Mistake("count_by", "count_by names a cell for missing values, which are refused here")
    if column.count_by.written:
        _ = column.cells


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError([f"not TOML: {error}"]) from None
    except ValueError:  # of int
        raise PolicyError(["an integer in it has thousands of digits"]) from None
