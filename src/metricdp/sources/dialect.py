"""How a CSV file writes its values: what a policy's ``[csv]`` table declares."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Dialect", "Untyped", "read_dialect"]

ENCODINGS = frozenset(
    ["ascii", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
    + ["gb18030", "gbk", "big5", "euc_jp", "euc_kr", "shift_jis", "koi8-r", "koi8-u", "mac-roman", "cp437", "cp850"]
    + [f"iso8859-{part}" for part in range(1, 17) if part != 12]
    + [f"cp{number}" for number in (874, 932, 949, 950, *range(1250, 1259))]
)
"""Encodings whose text is the same wherever reading begins, by the names that Python gives them."""

_DIRECTIVES = frozenset("YymdHMSfzbB%")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file writes its values. Declared, never guessed from the file.

    Attributes:
        delimiter: what stands between two fields; None for a comma, or a tab in a file that ends in ``.tsv``.
        decimal: what stands before the decimals of a number.
        null: the words that stand for a missing value; the empty field alone by default.
        encoding: of the file's text.
        date_formats: for each column, or for all under the name ``""``, how dates are written, as in strptime:
            ``%d.%m.%Y``. ISO 8601 without any.
        zoned: the columns whose moments carry an offset from UTC, or ``""`` for all.
        true: the words for true.
        false: the words for false.
    """

    delimiter: str | None = None
    decimal: str = "."
    null: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    date_formats: dict[str, str] = field(default_factory=dict, hash=False)
    zoned: frozenset[str] = frozenset()
    true: tuple[str, ...] = ("true", "True", "TRUE", "1")
    false: tuple[str, ...] = ("false", "False", "FALSE", "0")

    def date_format(self, column: str) -> str | None:
        """How the dates of a column are written; None for ISO 8601."""
        return self.date_formats.get(column, self.date_formats.get(""))

    def is_zoned(self, column: str) -> bool:
        """Whether the moments of a column carry an offset, so that they are instants."""
        return not self.zoned.isdisjoint(("", column)) or "%z" in (self.date_format(column) or "")

    def released(self) -> Dialect:
        """How a table that was read in this dialect is written: with its delimiter and decimal, and else as by default.

        >>> Dialect(delimiter=";", null=("NA",), date_formats={"": "%d.%m.%Y"}).released() == Dialect(delimiter=";")
        True
        """
        zoned = self.zoned | {column for column, written in self.date_formats.items() if "%z" in written}
        return Dialect(self.delimiter, self.decimal, zoned=zoned)


@dataclass(frozen=True)
class Untyped:
    """The columns of a source that declare no type, so that the policy does: they come as text.

    Attributes:
        columns: their names.
        dialect: how the text is written.
    """

    columns: frozenset[str] = frozenset()
    dialect: Dialect = field(default_factory=Dialect)


def read_dialect(entry: Any, moments: Iterable[str], mistake: Callable[[str, str], None]) -> Dialect:
    """The dialect that a ``[csv]`` table declares.

    Args:
        entry: the table, as TOML has it.
        moments: the columns of type time, which ``date_format`` and ``zoned`` may name.
        mistake: called with the key and what is wrong with it.
    """
    if not isinstance(entry, dict):
        mistake("", "write [csv] with delimiter, decimal, null, encoding, date_format, zoned, true or false")
        return Dialect()
    for key in entry:
        if key not in _READERS:
            mistake(key, f"{key!r} is not known here; one of {', '.join(_READERS)}")
    known = frozenset(moments)
    found: dict[str, Any] = {}
    for key, read in _READERS.items():
        if key in entry:
            try:
                found |= read(entry[key], known)
            except ValueError as error:
                mistake(key, f"{key} {error}")
    made = Dialect(**found)
    if made.decimal == (made.delimiter or ","):
        mistake("decimal", 'decimal and delimiter are the same: say delimiter = ";", or what the file has')
    if set(made.true) & set(made.false):
        mistake("true", "true and false share a word")
    if set(made.null) & (set(made.true) | set(made.false)):
        mistake("null", "a word for a missing value is also one for true or false")
    return made


def _delimiter(value: Any, moments: frozenset[str]) -> dict[str, Any]:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in '"\r\n\0.' or value.isalnum():
        raise ValueError('is one character, such as ";" or "\\t", and no letter, digit, point or quote')
    return {"delimiter": value}


def _decimal(value: Any, moments: frozenset[str]) -> dict[str, Any]:
    if value not in (".", ","):
        raise ValueError('is "." or ","')
    return {"decimal": value}


def _words(key: str) -> Callable[[Any, frozenset[str]], dict[str, Any]]:
    def read(value: Any, moments: frozenset[str]) -> dict[str, Any]:
        if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
            raise ValueError("= [..] lists words")
        return {key: tuple(value)}

    return read


def _encoding(value: Any, moments: frozenset[str]) -> dict[str, Any]:
    try:
        name = codecs.lookup(value).name
    except (LookupError, TypeError, ValueError):
        name = ""
    if name not in ENCODINGS:
        raise ValueError('is the name of one, such as "utf-8", "latin-1", "cp1252" or "utf-16"')
    return {"encoding": name}


def _date_format(value: Any, moments: frozenset[str]) -> dict[str, Any]:
    formats = {"": value} if isinstance(value, str) else value
    if not isinstance(formats, dict) or not all(isinstance(each, str) for each in formats.values()):
        raise ValueError('is a format such as "%d.%m.%Y", or a table of one for each column')
    for column, each in formats.items():
        if column and column not in moments:
            raise ValueError("names a column that is no column of type time")
        _check_format(each)
    return {"date_formats": dict(formats)}


def _check_format(written: str) -> None:
    used = re.findall(r"%(.?)", written)
    if not set(used) <= _DIRECTIVES:
        raise ValueError("has directives from %Y %y %m %d %H %M %S %f %z %b %B")
    once = [directive for directive in used if directive != "%"]
    day = {"Y", "y"} & set(used) and {"m", "b", "B"} & set(used) and "d" in used
    if not day or len(set(once)) < len(once) or {"Y", "y"} <= set(used) or len({"m", "b", "B"} & set(used)) > 1:
        raise ValueError("says the year, the month and the day, each once")


def _zoned(value: Any, moments: frozenset[str]) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"zoned": frozenset([""] if value else [])}
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value) or not set(value) <= moments:
        raise ValueError("is true, or lists columns of type time")
    return {"zoned": frozenset(value)}


_READERS: dict[str, Callable[[Any, frozenset[str]], dict[str, Any]]] = {
    "delimiter": _delimiter,
    "decimal": _decimal,
    "null": _words("null"),
    "encoding": _encoding,
    "date_format": _date_format,
    "zoned": _zoned,
    "true": _words("true"),
    "false": _words("false"),
}
