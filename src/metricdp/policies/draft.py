"""A policy to be filled in: from the names and types of a table's columns alone, every decision left as a question."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, DelimiterError
from metricdp.policies._toml import key, text, value
from metricdp.policies.entry import OPEN
from metricdp.policies.open_questions import OpenQuestion
from metricdp.policies.types import TYPES
from metricdp.sources.dialect import Dialect, read_dialect
from metricdp.sources.opening import kept, open_table
from metricdp.sources.table import Declared
from metricdp.visible import visible_name

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Draft", "DraftColumn", "answered", "answered_list", "suggested_type"]

_HEAD = """\
# A policy for {source}, to be filled in.
# It was drafted from the names and types of the columns: no value was read.
# Every "?" is a question. Until all of them are answered, the policy refuses to run, and says on which lines.
# All answers come from what you know about such tables, never from this one: the greatest value in it is somebody's.
# Then `metricdp explain` says what the answers promise.

format = 2
"""
_RECORDS = """\
# How many records are there? For `metricdp query`, where that number is public; delete the line where nobody asks
# questions. Where it is secret, write capacity = .., the most there can be, and absent = 0.5, a level, in its place.
records = {}
"""
_PERSON = """\
# Can somebody have several rows? Then which column says whose row it is, and how many rows may one have? (That column
# has no entry below.) Delete these three lines where every row is another person's.
[person]
column = {}
rows = {}
"""
_CSV = """\
# How the file is written. Where its numbers have a comma before their decimals, as in 1,5, add decimal = ",".
[csv]
"""
_LEGEND = """\
# What a column can be, and what then has to be said of it:
#   "drop"        it is left out
#   "keep"        it is public, and released as it is
#   "rekey"       it is an identifier, and gets new keys
{types}
"""
_PLACES = (("lat", "latitude"), ("lon", "lng", "long", "longitude"))


@dataclass(frozen=True)
class DraftColumn:
    """A column, or a field of a struct, of which somebody has to decide what is done with it.

    Attributes:
        name: of the column.
        holds: what it holds, in words; empty where the source does not say.
        suggested: the type that fits; None where that is a question too.
    """

    name: str
    holds: str
    suggested: str | None

    def questions(self, kind: str | None) -> Sequence[OpenQuestion]:
        """What there is to decide, once the type is decided."""
        return TYPES[kind].questions if kind is not None else ()


@dataclass(frozen=True)
class Draft:
    """A policy with questions.

    Attributes:
        columns: of the table.
        source: what the table is called.
        delimiter: of a CSV file, where its header shows that it is not the usual one.
        encoding: of a CSV file, where somebody said that it is not the usual one.
    """

    columns: tuple[DraftColumn, ...]
    source: str
    delimiter: str | None = None
    encoding: str | None = None

    @classmethod
    def of(cls, schema: Any, source: str, delimiter: str | None = None, encoding: str | None = None) -> Draft:
        """The draft for a table of this schema; see `Policy.draft`.

        Raises:
            ArgumentError: it is no schema, or two columns have one name.
        """
        names = [name for name, _ in _columns(schema)]
        if len(set(names)) < len(names):
            raise ArgumentError("two columns of the table have one name")
        found = tuple(found for name, kind in _columns(schema) for found in _drafted(name, kind))
        return cls(found, source, delimiter, encoding)

    @classmethod
    def of_table(cls, table: Any, source: str, encoding: str | None = None) -> Draft:
        """The draft for a table, which is opened and not read; see `metricdp.sources.open_table`.

        Args:
            table: as `metricdp.sources.open_table` takes it.
            source: what it is called.
            encoding: of a CSV file whose text is not UTF-8.

        Raises:
            ArgumentError: the encoding is not known.
        """
        if encoding is not None:
            encoding = _known_encoding(encoding)
        with kept(table) as again:
            try:
                return cls._opened(again, source, None, encoding)
            except DelimiterError as error:
                return cls._opened(again, source, error.delimiter, encoding)

    @property
    def dialect(self) -> Dialect:
        """How the CSV file is written, as far as that is known."""
        return Dialect(self.delimiter) if self.encoding is None else Dialect(self.delimiter, encoding=self.encoding)

    @classmethod
    def _opened(cls, table: Any, source: str, delimiter: str | None, encoding: str | None) -> Draft:
        with open_table(table, Declared(dialect=cls((), source, delimiter, encoding).dialect)) as opened:
            types = {
                name: None if name in opened.untyped.columns else kind
                for name, kind in zip(opened.schema.names, opened.schema.types, strict=True)
            }
        return cls.of(types, source, delimiter, encoding)

    def text(
        self, answers: Mapping[str, Mapping[str, Any]] | None = None, table: Mapping[str, Any] | None = None
    ) -> str:
        """The policy, with a question mark for every answer that is not given.

        Args:
            answers: for each column the values of its keys.
            table: what concerns the whole table: ``records``, and of the person ``column`` and ``rows``; None for a
                question that does not arise.
        """
        known, whole = answers or {}, table or {}
        parts = [_HEAD.format(source=visible_name(self.source))]
        if whole.get("records", OPEN) is not None:
            parts.append(_RECORDS.format(value(whole.get("records", OPEN))))
        if whole.get("column", OPEN) is not None:
            parts.append(_PERSON.format(value(whole.get("column", OPEN)), value(whole.get("rows", OPEN))))
        if self.delimiter is not None or self.encoding is not None:
            said = {"delimiter": self.delimiter, "encoding": self.encoding}
            parts.append(_CSV + "".join(f"{name} = {value(one)}\n" for name, one in said.items() if one is not None))
        if not known:
            parts.append(_LEGEND.format(types="\n".join(_explained())))
        settled = {whole.get("column"), *(name for answer in known.values() for name in answer.get("columns", []))}
        drafted = [column for column in self.columns if column.name in known or column.name not in settled]
        parts += [_entry(column, known.get(column.name), self._hint(column) if not known else "") for column in drafted]
        return "\n".join(parts)

    def _hint(self, column: DraftColumn) -> str:
        """A word on latitudes and longitudes, which are one secret."""
        names = {other.name.rpartition(".")[2].casefold() for other in self.columns}
        if not all(names & set(spellings) for spellings in _PLACES):
            return ""
        if column.name.rpartition(".")[2].casefold() not in {name for spellings in _PLACES for name in spellings}:
            return ""
        return (
            "# A latitude and a longitude are one place: in place of their two entries, write one with\n"
            '# type = "place", columns = [the latitude, the longitude] and within = "200 m".\n'
        )


def _known_encoding(name: str) -> str:
    wrong: list[str] = []
    found = read_dialect({"encoding": name}, (), lambda _, words: wrong.append(words))
    if wrong:
        raise ArgumentError(wrong[0])
    return found.encoding


def _explained() -> Iterator[str]:
    """A line for each type, with the keys that it asks for."""
    for name in TYPES.names:
        asked = ", ".join(question.key for question in TYPES[name].questions)
        if asked:
            yield f"#   {text(name):<13} {asked}"


def _entry(column: DraftColumn, answers: Mapping[str, Any] | None, hint: str) -> str:
    lines = [f"[columns.{key(column.name)}]"]
    if hint:
        lines.append(hint.rstrip())
    if answers is not None:
        return "\n".join([*lines, *(f"{name} = {value(answer)}" for name, answer in answers.items())]) + "\n"
    if column.suggested is None:
        holds = f" The table has {column.holds} here." if column.holds else ""
        lines.append(f'type = "{OPEN}"  # what is it, and what is done with it?{holds}')
        return "\n".join(lines) + "\n"
    lines.append(
        f'type = {text(column.suggested)}  # The table has {column.holds} here. "keep" and "drop" stand alone.'
    )
    lines += [f'{question.key} = "{OPEN}"  # {question.on_its_line}' for question in column.questions(column.suggested)]
    return "\n".join(lines) + "\n"


def _columns(schema: Any) -> list[tuple[str, Any]]:
    """Names and Arrow types; None for a type that the source does not say."""
    if isinstance(schema, Mapping):
        found = list(schema.items())
    elif hasattr(schema, "names") and hasattr(schema, "types"):
        found = list(zip(schema.names, schema.types, strict=True))
    else:
        raise ArgumentError("a schema is an Arrow schema, or a dict of names and Arrow types")
    if not found:
        raise ArgumentError("the table has no columns")
    if not all(isinstance(name, str) for name, _ in found):
        raise ArgumentError("the name of a column is text; a frame may have others: rename them first")
    return found


def _drafted(name: str, arrow: Any) -> Iterator[DraftColumn]:
    import pyarrow as pa

    from metricdp.sources.plain_arrays import kind_of

    if arrow is not None and not isinstance(arrow, pa.DataType):
        raise ArgumentError("a schema is an Arrow schema, or a dict of names and Arrow types")
    if arrow is not None and pa.types.is_struct(arrow) and arrow.num_fields:
        for place in range(arrow.num_fields):
            yield from _drafted(f"{name}.{arrow.field(place).name}", arrow.field(place).type)
        return
    known = arrow is not None and not pa.types.is_null(arrow)
    yield DraftColumn(name, kind_of(arrow) if known else "", suggested_type(arrow) if known else None)


def suggested_type(arrow: pa.DataType) -> str | None:
    """The type for columns that say by themselves what they are; None for text, for one, since several are as likely.

    >>> import pyarrow as pa
    >>> suggested_type(pa.date32()), suggested_type(pa.list_(pa.float64())), suggested_type(pa.string())
    ('date', 'series', None)
    """
    import pyarrow as pa

    inner = arrow.value_type if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) else None
    if inner is not None:
        return "series" if pa.types.is_floating(inner) else "set" if _is_label(inner) else None
    return next((kind for test, kind in _SUGGESTED.items() if getattr(pa.types, f"is_{test}")(arrow)), None)


def _is_label(arrow: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_integer(arrow))


_SUGGESTED = {
    "boolean": "boolean",
    "integer": "integer",
    "floating": "number",
    "decimal": "number",
    "date": "date",
    "timestamp": "time",
    "time": "time_of_day",
    "duration": "duration",
}


def answered(written: str) -> Any:
    """What somebody typed as an answer: a value of TOML where it is one, otherwise text.

    >>> answered("5 years"), answered("[0, 100]"), answered("3"), answered('"3"')
    ('5 years', [0, 100], 3, '3')
    """
    try:
        return tomllib.loads(f"answer = {written.strip()}")["answer"]
    except (tomllib.TOMLDecodeError, ValueError):
        return written.strip()


def answered_list(written: str, *, bounds: bool = False, numbers: bool = False) -> Any:
    """A list, also where its brackets and quotes were left out.

    Args:
        written: by somebody.
        bounds: whether it is the least and the greatest value, between which there may also be "to".
        numbers: whether its parts are numbers, and not text.

    >>> answered_list("0 to 120", bounds=True), answered_list("a, b"), answered_list("1, 2", numbers=True)
    ([0, 120], ['a', 'b'], [1, 2])
    """
    found = answered(written)
    if not isinstance(found, str):
        return found
    parts = re.split(r",|\s(?:to|-)\s" if bounds else ",", found)
    return [answered(part) if bounds or numbers else part.strip() for part in parts]
