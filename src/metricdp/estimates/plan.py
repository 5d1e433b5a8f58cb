"""What a question needs of a released table: the laws of its columns, and one tally of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import ArgumentError, ColumnError, DataError, TooLargeError
from metricdp.estimates.laws import ColumnLaw, LineLaw, ListedLaw
from metricdp.estimates.moments import MomentScore
from metricdp.estimates.outline import Outline
from metricdp.estimates.outlines import as_plain_number, kept_numbers, outlines_of
from metricdp.estimates.point_cells import DayPoints, LinePoints, listed_cells
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.tally import RowTally, TallyBuilder
from metricdp.exact.arrays import Booleans, Floats, Places
from metricdp.policies.cells.listed import Cells
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine

__all__ = [
    "Counted",
    "KeptLaw",
    "PresenceLaw",
    "Seen",
    "column_line",
    "count",
    "prepared",
    "presence_of",
]

_MOST_KEPT = 2_000_000


class KeptLaw(ColumnLaw):
    """A column that is released as it is: each value that occurs is its own output."""

    def __init__(self, column: ColumnType) -> None:
        super().__init__(column, np.zeros((0, 0)), np.zeros(0, dtype=bool))
        self._places: dict[Any, int] = {}

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order in which they were first seen."""
        return tuple(self._places)

    def codes(self, arrays: Sequence[pa.Array]) -> Places:
        """The place of each value among those that were seen, which may grow."""
        encoded = arrays[0].dictionary_encode()
        known = [self._places.setdefault(value, len(self._places)) for value in encoded.dictionary.to_pylist()]
        if len(self._places) > _MOST_KEPT:
            raise TooLargeError(
                f"column {self.name!r} has more than {_MOST_KEPT:,} different values", f"{_MOST_KEPT:,} cells"
            )
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        if encoded.indices.null_count:
            null = self._places.setdefault(None, len(self._places))
            filled = np.where(np.isnan(indices), 0, indices).astype(np.int64)
            return np.asarray(np.where(np.isnan(indices), null, np.array([*known, 0])[filled]), dtype=np.int64)
        return np.asarray(np.array([*known, 0], dtype=np.int64)[indices.astype(np.int64)])

    def finish(self) -> None:
        """All rows were seen."""
        self.missing = np.array([value is None for value in self._places], dtype=bool)


class PresenceLaw(ColumnLaw):
    """Whether a column of numbers has a value: two secrets and two outputs, there and missing."""

    def __init__(self, column: ColumnType, law: LineLaw | None) -> None:
        secret = law is not None and column.missing == "secret"
        false, true = law.noise.null_shares if law is not None and secret else (0.0, 1.0)
        super().__init__(column, np.array([[1 - false, false], [1 - true, true]]), np.array([False, True]))
        self._law = law

    @property
    def is_exact(self) -> bool:
        """Whether missing values stay where they are."""
        return self._law is None or self.column.missing == "public"

    def codes(self, arrays: Sequence[pa.Array]) -> Places:
        """1 where it is missing."""
        return _numbers_of(self.column, self._law, arrays, 0)[1].astype(np.int64)


def presence_of(name: str) -> str:
    """What the law of whether a column has a value is called."""
    return f"{name} is there"


@dataclass(eq=False)
class Counted:
    """The laws of some columns and the tally of a table by them.

    Attributes:
        table: the released table.
        laws: by the columns' names, in the order of the tally.
        moments: of the columns whose numbers are summed.
        lines: their laws; None for a column that is released as it is.
        tally: the counts: an output for each law, then which of four offsets for each summed column.
        outlines: how far the numbers of each column reach.
        days: the columns whose numbers are days.
    """

    table: ReleasedTable
    laws: dict[str, Any]
    moments: dict[str, MomentScore] = field(default_factory=dict)
    lines: dict[str, LineLaw | None] = field(default_factory=dict)
    tally: RowTally = field(default_factory=lambda: TallyBuilder(0, 0).made())
    outlines: dict[str, Outline] = field(default_factory=dict)
    days: frozenset[str] = frozenset()

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return self.tally.rows

    def fill(self, tally: RowTally) -> None:
        """Take the counts, and tell each law its own."""
        self.tally = tally
        for place, law in enumerate(self.laws.values()):
            if isinstance(law, KeptLaw):
                law.finish()
            size = len(law.values) if isinstance(law, KeptLaw) else law.matrix.shape[1]
            law.counts = tally.margin(place, size)

    def codes(self, name: str) -> Places:
        """The output of a column, for each combination."""
        found: Places = self.tally.codes[:, list(self.laws).index(name)]
        return found

    def offsets(self, name: str) -> Places:
        """Which of the four offsets a summed column has, for each combination."""
        found: Places = self.tally.codes[:, len(self.laws) + list(self.moments).index(name)]
        return found

    def sums(self, name: str) -> tuple[Floats, Floats]:
        """The sums of what a column's numbers lie above its centre, and of its squares, for each combination."""
        place = 2 * list(self.moments).index(name)
        return self.tally.sums[:, place], self.tally.sums[:, place + 1]

    @cached_property
    def _numbers(self) -> dict[str, Floats]:
        return {}

    def numbers(self, name: str) -> Floats:
        """The number that each secret of a law is; 0 for missing ones and for those that are none."""
        if name not in self._numbers:
            law = self.laws[name]
            if isinstance(law, LineLaw):
                made = np.zeros(len(law.matrix))
                made[: len(law.points)] = law.points
            elif isinstance(law, KeptLaw):
                if any(isinstance(value, str) for value in law.values):
                    raise ArgumentError(f"column {name!r} holds text: it has no sum and no order")
                made = np.array([as_plain_number(value) for value in law.values])
            else:
                labels = [label for label in law.labels if label is not None]
                if isinstance(labels[0], str):
                    raise ArgumentError(f"column {name!r} is a category: it has no sum and no order")
                made = np.array([0.0 if label is None else float(label) for label in law.labels])
            self._numbers[name] = made
        return self._numbers[name]

    def cells(self, name: str, points: Sequence[Any] | None = None) -> Cells:
        """The secrets of a law for predicates: all, or in the place of numbers some that stand for them."""
        law = self.laws[name]
        if isinstance(law, ListedLaw):
            values = [label for label in law.labels if label is not None]
            return listed_cells(name, values, None in law.labels)
        if isinstance(law, KeptLaw) and any(isinstance(value, str | bool) for value in law.values):
            return listed_cells(name, [value for value in law.values if value is not None], True)
        missing = bool(law.missing.any())
        given = self.numbers(name)[~law.missing] if points is None else points
        return DayPoints(name, points=given, missing=missing) if name in self.days else LinePoints(name, given, missing)


def _holds_days(column: ColumnType, arrow: pa.DataType) -> bool:
    return column.release == "keep" and (pa.types.is_date(arrow) or pa.types.is_timestamp(arrow))


def count(
    table: ReleasedTable,
    binned: Sequence[str],
    summed: Sequence[str] = (),
    thresholds: dict[str, list[float]] | None = None,
) -> Counted:
    """Read a released table once to see how far its numbers reach, and once more to count it.

    Args:
        table: the released table.
        binned: columns whose outputs are counted.
        summed: columns of numbers that are summed as they are.
        thresholds: what columns are compared with, in the metric's unit.

    Raises:
        ColumnError: a released value that no release has; names the column and the row.
        ArgumentError: the table has no rows.
    """
    names = list(dict.fromkeys([*binned, *summed]))
    columns = {name: table.column(name) for name in names}
    for column in columns.values():
        table.check(column)
    outlines, rows, types = outlines_of(table, columns)
    if rows == 0:
        raise ArgumentError("the released table has no rows, and so says nothing")
    counted = prepared(table, Seen(columns, outlines, types, rows), binned, summed, thresholds)
    builder, first = TallyBuilder(len(counted.laws) + len(summed), len(summed)), 0
    for arrays in table.batches(list(columns.values())):
        given = dict(zip(names, arrays, strict=True))
        codes = [_coded(law, given[law.name], first) for law in counted.laws.values()]
        numbers = []
        for name in summed:
            values, absent = _numbers_of(columns[name], counted.lines[name], given[name], first)
            numbers.append(np.where(absent, 0.0, values - counted.moments[name].centre))
            codes.append(counted.moments[name].codes(values, absent))
        builder.add(codes, numbers)
        first += len(arrays[0][0]) if arrays and arrays[0] else 0
    counted.fill(builder.made())
    return counted


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of some columns before they are counted.

    Attributes:
        columns: by name.
        outlines: how far their numbers reach.
        types: their Arrow types.
        rows: how many rows there are.
    """

    columns: dict[str, ColumnType]
    outlines: dict[str, Outline]
    types: dict[str, pa.DataType]
    rows: float


def prepared(
    table: ReleasedTable,
    seen: Seen,
    binned: Sequence[str],
    summed: Sequence[str] = (),
    thresholds: dict[str, list[float]] | None = None,
) -> Counted:
    """The laws and moments of columns, before anything is counted; see `count`."""
    columns, types, outlines, wanted = seen.columns, seen.types, seen.outlines, thresholds or {}
    laws: dict[str, Any] = {
        name: _law(columns[name], types, outlines, seen.rows, wanted.get(name, ())) for name in binned
    }
    for name in summed:
        if not isinstance(columns[name], OnALine) and columns[name].release != "keep":
            raise ArgumentError(f"column {name!r} is of type {columns[name].type_name!r}: it has no sum")
    moments = {name: _moments(columns[name], types, outlines, seen.rows) for name in summed}
    for name, (_, law) in moments.items():
        if law is None or columns[name].missing != "refuse":
            laws[presence_of(name)] = PresenceLaw(columns[name], law)
    days = frozenset(name for name in columns if columns[name].is_moment or _holds_days(columns[name], types[name]))
    scores = {name: score for name, (score, _) in moments.items()}
    lines = {name: law for name, (_, law) in moments.items()}
    return Counted(table, laws, scores, lines, outlines=outlines, days=days)


def _coded(law: Any, arrays: Sequence[pa.Array], first: int) -> Places:
    try:
        found: Places = law.codes(arrays)
    except ColumnError:
        raise
    except DataError as error:
        raise ColumnError(law.name, error.shifted(first)) from None
    return found


def _law(
    column: ColumnType, types: dict[str, pa.DataType], outlines: dict[str, Outline], rows: float, cuts: Sequence[float]
) -> ColumnLaw:
    name = column.columns[0]
    if column.release == "keep" and not isinstance(column, OneOf):
        return KeptLaw(column)
    if isinstance(column, OneOf):
        return ListedLaw(column)
    if isinstance(column, OnALine):
        return LineLaw(column, types[name], outlines[name], rows, cuts)
    raise ArgumentError(f"column {name!r} is of type {column.type_name!r}, of which no cells are counted here")


def _moments(
    column: ColumnType, types: dict[str, pa.DataType], outlines: dict[str, Outline], rows: float
) -> tuple[MomentScore, LineLaw | None]:
    sample = outlines[column.columns[0]].sample
    centre = float(sample[len(sample) // 2])
    if column.release == "keep":
        return MomentScore.without_noise(centre), None
    assert isinstance(column, OnALine)
    law = LineLaw(column, types[column.columns[0]], outlines[column.columns[0]], rows)
    return MomentScore.of(law, centre), law


def column_line(
    column: ColumnType, types: dict[str, pa.DataType], outlines: dict[str, Outline], rows: float
) -> tuple[MomentScore, LineLaw | None, Callable[[Sequence[pa.Array]], tuple[Floats, Booleans]]]:
    """The score of a column's numbers, their law where there is noise, and what reads those of a batch."""
    if not isinstance(column, OnALine) and column.release != "keep":
        raise ArgumentError(f"column {column.columns[0]!r} is of type {column.type_name!r}: it has no number")
    score, law = _moments(column, types, outlines, rows)
    return score, law, lambda arrays: _numbers_of(column, law, arrays, 0)


def _numbers_of(
    column: ColumnType, law: LineLaw | None, arrays: Sequence[pa.Array], first: int
) -> tuple[Floats, Booleans]:
    if law is not None:
        try:
            return law.values(arrays)
        except ColumnError:
            raise
        except DataError as error:
            raise ColumnError(column.columns[0], error.shifted(first)) from None
    if isinstance(column, OnALine):
        return column.measured(arrays[0])
    return kept_numbers(column.columns[0], arrays[0])
