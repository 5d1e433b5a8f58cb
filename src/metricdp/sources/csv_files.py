"""CSV files, read strictly: a field that is not whole is refused before anything in it is taken for a value.

A reader that forgives an unclosed quote takes the rest of the file for one value, dropped and secret columns with it.
So every block of bytes is checked before it is parsed: where fields and rows end, and that each row has as many fields
as the header. The check works on whole blocks of bytes by numpy; pyarrow then cuts the columns out, as text, and must
find as many rows as were counted. What the text means is the policy's to say (`metricdp.sources.texts`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from metricdp.errors import DataError, DelimiterError, FileError
from metricdp.sources.dialect import Dialect

__all__ = ["CheckedRows", "CsvFile"]

BLOCK = 1 << 23
"""Bytes that are checked and parsed at once."""
MOST = 1 << 26
"""The most bytes that one row may have. Beyond that a quote was not closed."""

_QUOTE, _LINE, _RETURN = b'"\n\r'
_QUOTED = re.compile(b'"[^"]*"?')
Places = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class CsvFile:
    """A CSV file of a declared dialect.

    Legal are quoted fields with delimiters, line ends and doubled quotes in them, the line ends of Unix and of
    Windows, a byte-order mark, and empty lines at the end. Refused, with row and rule: an end of the file inside
    quotes, text after a closing quote, a quote inside an unquoted field, a row of another length than the header, null
    bytes, bytes that are not text in the declared encoding, a carriage return that ends no line.

    Attributes:
        path: of the file.
        dialect: how it is written.
        opened: opens its bytes, where they are not simply those of the path: compressed, or sealed.
    """

    path: Path
    dialect: Dialect
    opened: Callable[[], BinaryIO | RawIOBase] | None = None

    @property
    def delimiter(self) -> str:
        """What stands between two fields."""
        return self.dialect.delimiter or ("\t" if ".tsv" in self.path.name.lower()[-7:] else ",")

    def begin(self) -> tuple[list[str], Generator[CheckedRows, None, None]]:
        """The columns, from the header; and the rows after it, which `read` goes on with, so that it is opened once."""
        chunks = self._chunks()
        for header in chunks:
            generated = [f"f{number}" for number in range(header.fields)]
            row = self._parsed(header, generated, generated, null=False)
            names: list[str] = [column[0].as_py() for column in row.columns]
            if len(set(names)) < len(names):
                raise DataError(f"{self.path.name}: two columns have one name")
            return names, chunks
        raise FileError(f"{self.path.name} cannot be read as csv: it is empty")

    def _check_delimiter(self, content: bytes) -> None:
        """Recognise a file of other signs between its fields by its first line alone, before any row is looked at."""
        line = _QUOTED.sub(b"", content.split(b"\n", 1)[0])
        if self.dialect.delimiter is None and self.delimiter.encode() not in line:
            for sign, words in (";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "commas"):
                if sign.encode() in line:
                    said = "\\t" if sign == "\t" else sign
                    rule = f"its fields stand between {words}; say so in the policy: [csv] delimiter = "
                    raise DelimiterError(f'{self.path.name}: {rule}"{said}"', sign)

    def read(
        self, names: list[str], columns: list[str], most_rows: int, begun: Iterator[CheckedRows] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Some of the columns as text, in batches; null where a field is one of the words for it.

        Args:
            names: all columns.
            columns: those to read.
            most_rows: of a batch.
            begun: the rows after the header, where `begin` has just read it; None to read from the beginning.
        """
        chunks = begun
        if chunks is None:
            chunks = self._chunks()
            next(chunks)  # the header
        for chunk in chunks:
            yield from self._parsed(chunk, names, columns, null=True).combine_chunks().to_batches(most_rows)

    def _parsed(self, chunk: CheckedRows, names: list[str], columns: list[str], null: bool) -> pa.Table:
        """What pyarrow makes of rows that were checked."""
        # pyarrow passes over a byte-order mark at the beginning; one that stands there is part of a value.
        content = codecs.BOM_UTF8 + chunk.content if chunk.content.startswith(codecs.BOM_UTF8) else chunk.content
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(content),
                pa_csv.ReadOptions(use_threads=False, block_size=len(content) + 2, column_names=names),
                pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=False),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=columns,
                    strings_can_be_null=null,
                    null_values=list(self.dialect.null),
                ),
            )
        except Exception:  # of any kind: its message may hold a value
            table = None
        if table is None or table.num_rows != chunk.rows:
            raise DataError("the file is damaged: its rows cannot be told apart")
        return table

    def _chunks(self) -> Generator[CheckedRows, None, None]:
        """The header, and then whole rows, checked, as UTF-8."""
        checker, waiting, begun = _Checker(self.delimiter), b"", False
        for block in self._blocks():
            if block is None:
                raise checker.refused(0, f"bytes that are not {self.dialect.encoding.upper()}, the declared encoding")
            waiting += block
            if not begun and b"\n" in waiting:
                begun = True
                self._check_delimiter(waiting)
            for chunk in checker.whole_rows(waiting, end=False):
                yield chunk
                waiting = waiting[len(chunk.content) :]
            if len(waiting) > MOST:
                raise checker.refused(0, f"a row of more than {MOST >> 20} MB, or a quote that is not closed")
        if not begun:
            self._check_delimiter(waiting)
        yield from checker.whole_rows(waiting, end=True)

    def _blocks(self) -> Iterator[bytes | None]:
        """The file as UTF-8, without a byte-order mark; None where bytes are not text in the declared encoding.

        What is declared to be UTF-8 comes as it is: rows are checked when they are whole.
        """
        with self.path.open("rb") if self.opened is None else self.opened() as file:
            if self.dialect.encoding in ("utf-8", "utf-8-sig"):
                yield file.read(max(BLOCK, len(codecs.BOM_UTF8))).removeprefix(codecs.BOM_UTF8)
                while block := file.read(BLOCK):
                    yield block
                return
            decoder, begun = codecs.getincrementaldecoder(self.dialect.encoding)(), False
            while True:
                block = file.read(BLOCK)
                try:
                    text = decoder.decode(block, final=not block)
                except UnicodeError:
                    yield None
                    return
                yield (text if begun else text.removeprefix("\ufeff")).encode()
                begun = begun or bool(text)
                if not block:
                    return


@dataclass(frozen=True)
class CheckedRows:
    """Whole rows of a file: how many, and with how many fields each."""

    content: bytes
    rows: int
    fields: int


@dataclass(frozen=True)
class _Marks:
    """The places in a text where quotes, delimiters and line ends stand.

    Attributes:
        data: the text.
        places: where they stand.
        kinds: what stands there.
        inside: for each, whether an odd number of quotes stands up to it; None where there are no quotes.
    """

    data: Bytes
    places: Places
    kinds: Bytes
    inside: Bytes | None

    @classmethod
    def of(cls, content: bytes, delimiter: int) -> _Marks:
        data = np.frombuffer(content, np.uint8)
        found = (data == _LINE) | (data == delimiter)
        if b"\r" in content:
            found |= data == _RETURN
        quoted = b'"' in content
        if quoted:
            found |= data == _QUOTE
        places = np.flatnonzero(found)
        kinds = data[places]
        inside = np.bitwise_xor.accumulate((kinds == _QUOTE).view(np.uint8)) if quoted else None
        return cls(data, places, kinds, inside)

    def until(self, end: int) -> _Marks:
        """Those before a place."""
        count = int(np.searchsorted(self.places, end))
        inside = None if self.inside is None else self.inside[:count]
        return _Marks(self.data[:end], self.places[:count], self.kinds[:count], inside)

    def of_kind(self, kind: int) -> Places:
        """The places of one kind."""
        return np.asarray(self.places[self.kinds == kind])

    def outside(self, kind: int) -> Places:
        """The places of one kind that do not lie inside quotes."""
        found = self.kinds == kind
        return np.asarray(self.places[found if self.inside is None else found & (self.inside == 0)])


class _Checker:
    """Finds where rows end, and refuses those that are not whole. Counts the rows as they go by."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = ord(delimiter)
        self._fields = 0  # until the header was seen
        self._done = 0

    def whole_rows(self, content: bytes, end: bool) -> list[CheckedRows]:
        """The rows that end in ``content``: the header by itself, and then all others."""
        if end and content and not content.endswith(b"\n"):
            content += b"\n"
        marks = _Marks.of(content, self._delimiter)
        lines = marks.outside(_LINE)
        if not end:
            marks = marks.until(int(lines[-1]) + 1 if lines.size else 0)
        data = marks.data
        if not data.size:
            return []
        self._check_text(content[: data.size], lines)
        if marks.inside is not None:
            self._check_quotes(data, marks.of_kind(_QUOTE), lines)
            if marks.inside[-1]:
                rule = "the file ends inside quotes: in this row a quote is not closed"
                raise self.refused(len(lines), rule)
        self._check_returns(data, marks.outside(_RETURN), lines)
        return self._cut(content, self._check_lengths(data, marks.outside(self._delimiter), lines))

    def refused(self, row: int, rule: str) -> DataError:
        """The error of a row, counted from the first that is not done."""
        number = self._done + row - 1
        return DataError(rule, number) if number >= 0 else DataError(f"the header: {rule}")

    def _cut(self, content: bytes, lines: Places) -> list[CheckedRows]:
        if not lines.size:
            return []
        header, last = (int(lines[0]) + 1 if self._done == 0 else 0), int(lines[-1]) + 1
        chunks = [CheckedRows(content[:header], 1, self._fields)] if header else []
        if last > header:
            chunks.append(CheckedRows(content[header:last], len(lines) - len(chunks), self._fields))
        self._done += len(lines)
        return chunks

    def _check_text(self, content: bytes, lines: Places) -> None:
        place = content.find(b"\0")
        try:
            content.decode()
        except UnicodeDecodeError as error:
            if place < 0 or error.start < place:
                raise self._at(
                    error.start, lines, "bytes that are not UTF-8; declare [csv] encoding where the file has another"
                ) from None
        if place >= 0:
            raise self._at(place, lines, "a null byte")

    def _check_quotes(self, data: Bytes, quotes: Places, lines: Places) -> None:
        """In whole rows quotes open and close in turns; a doubled one closes and opens again."""
        opening, closing = quotes[::2], quotes[1::2]
        before, after = data[opening - 1], data[closing + 1]
        starts = (opening == 0) | (before == self._delimiter) | (before == _LINE) | (before == _QUOTE)
        ends = (after == self._delimiter) | (after == _LINE) | (after == _QUOTE) | (after == _RETURN)
        bad = [
            (int(places[np.argmin(good)]), rule)
            for places, good, rule in (
                (
                    opening,
                    starts,
                    "a quote inside a field that is not quoted; write the field in quotes, and its quotes twice",
                ),
                (closing, ends, "text after a closing quote; a quote inside a quoted field is written twice"),
            )
            if not good.all()
        ]
        if bad:
            place, rule = min(bad)
            raise self._at(place, lines, rule)

    def _check_returns(self, data: Bytes, returns: Places, lines: Places) -> None:
        alone = data[returns + 1] != _LINE
        if alone.any():
            place = int(returns[np.argmax(alone)])
            raise self._at(place, lines, "a carriage return that ends no line; lines end in LF or CR LF")

    def _check_lengths(self, data: Bytes, delimiters: Places, lines: Places) -> Places:
        """The rows, without empty ones at the end, which may be the end of the file."""
        counts = np.diff(np.searchsorted(delimiters, lines), prepend=0) + 1
        if self._done == 0:
            self._fields = int(counts[0])
            if data[0] in (_LINE, _RETURN):
                raise DataError("the header: the first line is empty")
        if self._fields > 1:
            starts = np.concatenate([[0], lines[:-1] + 1])
            empty = (lines == starts) | ((lines == starts + 1) & (data[starts] == _RETURN))
            lines = lines[: len(lines) - int(np.argmin(empty[::-1])) if not empty.all() else 0]
        wrong = counts[: len(lines)] != self._fields
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.refused(row, f"the row does not have as many fields as the header, which has {self._fields}")
        return lines

    def _at(self, place: int, lines: Places, rule: str) -> DataError:
        return self.refused(int(np.searchsorted(lines, place)), rule)
