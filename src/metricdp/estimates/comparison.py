"""For the curator alone: what a release says beside what the secrets say. Nothing of it may be released."""

from __future__ import annotations

import datetime as dt
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.estimates.asking import estimate
from metricdp.estimates.before_after import ColumnPicture, pictures_of
from metricdp.estimates.released_table import ReleasedTable, read_released
from metricdp.estimates.results import Estimate, Estimates, aligned, shown
from metricdp.estimates.selects import answer_select
from metricdp.exact.arrays import Floats
from metricdp.policies.column_type import ColumnType
from metricdp.policies.policy import Policy
from metricdp.policies.types._finite import OneOf
from metricdp.policies.types._line import OnALine
from metricdp.policies.types.place import Place

__all__ = ["ComparedAnswer", "MovedColumn", "ReleaseComparison", "compare"]

WARNING = "NOT TO BE RELEASED: this page was made from the secrets, and tells them."
_SHARES = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class ComparedAnswer:
    """One answer three times.

    Attributes:
        question: as it was asked.
        label: the group and the thing asked.
        truth: from the secrets.
        found: from the release: corrected, with its interval and the value as released.
    """

    question: str
    label: str
    truth: Any
    found: Estimate

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth."""
        low, high = (_number(end) for end in self.found.interval)
        truth = _number(self.truth)
        room = 1e-9 * max(1.0, abs(truth))
        return math.isnan(truth) or low - room <= truth <= high + room


@dataclass(frozen=True)
class MovedColumn:
    """How far the rows of a column moved.

    Attributes:
        name: of the column.
        words: how far half, 95% and 99% of the rows moved at most, and the one that moved most.
        shares: the same as numbers: of rows that moved no farther, and how far; in the metric's unit.
        measured: False where rows are in another order, and the mechanism says how far they moved.
    """

    name: str
    words: str
    shares: tuple[tuple[float, float], ...]
    measured: bool


@dataclass(frozen=True, repr=False)
class ReleaseComparison:
    """A release beside its secrets.

    Attributes:
        answers: for each question and each answer.
        moved: for each column with noise.
        pictures: of columns before, after and corrected.
        rows: how many.
        notes: what to know of all of it.
    """

    answers: tuple[ComparedAnswer, ...]
    moved: tuple[MovedColumn, ...]
    pictures: tuple[ColumnPicture, ...]
    rows: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        held = sum(one.held for one in self.answers)
        return f"ReleaseComparison({len(self.answers)} answers, {held} intervals hold the truth; not to be released)"

    def table(self) -> list[list[str]]:
        """The answers as rows of text, with a heading."""
        lines = [["question", "", "secret", "corrected", "from", "to", "as released", "holds"]]
        for one in self.answers:
            naive = "" if one.found.naive is None else shown(one.found.naive)
            ends = map(shown, one.found.interval)
            held = "yes" if one.held else "no"
            lines.append([one.question, one.label, shown(one.truth), shown(one.found.value), *ends, naive, held])
        return lines

    def __str__(self) -> str:
        lines = self.table()
        head, *rows = aligned([line[1:] for line in lines], 1)
        asked = [line[0] for line in lines[1:]]
        if len(set(asked)) > 1:  # the same thing may be asked of other rows
            rows = [
                text
                for place, row in enumerate(rows)
                for text in ([row] if place and asked[place] == asked[place - 1] else ["", asked[place], row])
            ]
        moved = [f"{one.name}: {one.words}" for one in self.moved]
        return "\n".join([WARNING, "", head, *rows, "", *moved, *(f"- {note}" for note in self.notes)])

    def to_json(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "not_to_be_released": True,
            "rows": self.rows,
            "answers": [
                {
                    "question": one.question,
                    "label": one.label,
                    "secret": _plain(one.truth),
                    "holds": one.held,
                    **one.found.to_json(),
                }
                for one in self.answers
            ],
            "moved": [
                {"column": one.name, "words": one.words, "shares": [list(pair) for pair in one.shares]}
                | {"measured": one.measured}
                for one in self.moved
            ],
            "notes": list(self.notes),
        }

    def html(self) -> str:
        """The whole page: nothing is loaded from anywhere."""
        from metricdp.estimates.comparison_page import page

        return page(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def compare(
    secret: Any,
    released: Any,
    questions: Sequence[Any] = (),
    *,
    policy: Policy | str | Path | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    engine: Any = None,
) -> ReleaseComparison:
    """What a release says beside what its secrets say, for the curator alone.

    The secrets are read into memory. Values beyond declared bounds are taken for the bound, as in the release.

    Args:
        secret: the table before the release.
        released: the sanitized table.
        questions: SQL; by default the average of every column of numbers and the counts of every category.
        policy: what it was released under, where it does not say so itself.
        confidence: of each interval by itself.
        engine: what reads both.

    Raises:
        ArgumentError: the two tables do not have the same number of rows, or a question cannot be answered.

    >>> people = pa.table({"smokes": [True] * 300 + [False] * 700})
    >>> policy = {"format": 2, "columns": {"smokes": {"type": "boolean", "factor": 3, "missing": "refuse"}}}
    >>> released = pa.table({"smokes": [True] * 400 + [False] * 600})
    >>> found = compare(people, released, ["select count(*) where smokes = true"], policy=policy)
    >>> found.answers[0].truth, round(found.answers[0].found.value), found.answers[0].found.naive
    (300.0, 300, 400.0)
    """
    with read_released(released, policy, engine) as table:
        own = ReleasedTable(secret, table.policy, engine, written=table.policy.dialect)
        columns = [column for column in table.policy.columns if column.release != "drop" and not column.rekeyed]
        secrets = _read(own, columns)
        kept = replace(table.policy, columns=tuple(replace(column, release="keep") for column in columns))
        answers: list[ComparedAnswer] = []
        asked = list(questions) or _usual_questions(columns)
        if not asked:
            raise ArgumentError("no column has an average or categories to count: list the questions")
        for question in asked:
            found: Estimates = estimate(table, question, confidence=confidence)
            if found.rows != len(secrets):
                raise ArgumentError(
                    f"the released table has {found.rows:,} rows and the secret one {len(secrets):,}: they are not one "
                    "table before and after"
                )
            truth = _truth(secrets, question, kept)
            answers += _paired(found, truth)
        after = _read(table, columns)
        moved = tuple(_moved(column, secrets, after, table.policy.order == "public") for column in columns
                      if column.release == "noise" and isinstance(column, OnALine | OneOf | Place))  # fmt: skip
        return ReleaseComparison(tuple(answers), moved, pictures_of(table, columns, secrets, after), len(secrets))


def _truth(secrets: pa.Table, question: Any, kept: Policy) -> Estimates:
    """The answers for the secrets themselves, of all groups: whichever the corrected values show."""
    if not isinstance(question, str):
        found: Estimates = estimate(secrets, question, policy=kept)
        return found
    with read_released(secrets, kept, None) as own:
        return answer_select(own, question, 0.95, "table", every=True)


def _paired(found: Estimates, truth: Estimates) -> list[ComparedAnswer]:
    truths = dict(zip(truth.groups, truth.found, strict=True))
    made = []
    for group, row in zip(found.groups, found.found, strict=True):
        for place, (name, one) in enumerate(zip(found.names, row, strict=True)):
            label = f"{', '.join(group)}: {name}" if group else name
            known = truths.get(group)
            value: Any = 0.0 if known is None and name.startswith("count") else math.nan
            made.append(ComparedAnswer(found.question, label, value if known is None else known[place].value, one))
    return made


def _usual_questions(columns: Sequence[ColumnType]) -> list[str]:
    numbers = [column.columns[0] for column in columns if isinstance(column, OnALine)]
    listed = [column.columns[0] for column in columns if isinstance(column, OneOf) and len(column.listed) <= 50]
    averages = [f'select avg("{name}")' for name in numbers]
    return averages + [f'select count(*) group by "{name}"' for name in listed]


def _read(table: ReleasedTable, columns: Sequence[ColumnType]) -> pa.Table:
    """All rows of some columns, values beyond bounds taken for the bound where the policy does so."""
    names = [name for column in columns for name in column.columns]
    batches = [
        pa.table([array for arrays in batch for array in arrays], names=names) for batch in table.batches(columns)
    ]
    if not batches:
        raise ArgumentError("the table has no rows")
    whole = pa.concat_tables(batches).combine_chunks()
    for column in columns:
        if isinstance(column, OnALine) and column.bounds is not None and column.outside == "clamp":
            place = whole.schema.get_field_index(column.columns[0])
            whole = whole.set_column(place, column.columns[0], _clamped(whole[column.columns[0]], column))
    return whole


def _clamped(array: pa.ChunkedArray, column: OnALine) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    assert column.bounds is not None
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return array
    low, high = (pa.scalar(float(end)).cast(array.type, safe=False) for end in column.bounds)
    return pc.min_element_wise(pc.max_element_wise(array, low, skip_nulls=False), high, skip_nulls=False)


# How far rows moved


def _moved(column: ColumnType, before: pa.Table, after: pa.Table, in_order: bool) -> MovedColumn:
    name = column.columns[0]
    if isinstance(column, OneOf):
        return _changed(column, before, after, in_order)
    if not in_order:
        mechanism: Any = column.mechanism
        numbers = getattr(mechanism, "numbers", mechanism)  # of those that are not released as missing
        shares = tuple((share, float(numbers.radius(share))) for share in _SHARES)
        return MovedColumn(name, f"{_far(column, shares)} (by the law of the noise)", shares, False)
    apart = _apart(column, before, after)
    if not len(apart):
        return MovedColumn(name, "every value is missing", (), True)
    shares = tuple((share, float(np.quantile(apart, share))) for share in (*_SHARES, 1.0))
    return MovedColumn(name, _far(column, shares), shares, True)


def _far(column: ColumnType, shares: Sequence[tuple[float, float]]) -> str:
    say = column.measure.say
    half, *others = [say(float(f"{far:.3g}")) for _, far in shares]
    names = ["the one that moves most" if share == 1 else f"{share:.0%}" for share, _ in shares[1:]]
    told = ", ".join(f"{name} by {far}" for name, far in zip(names, others, strict=True))
    return f"half of the rows move by {half} at most, {told}"


def _changed(column: OneOf, before: pa.Table, after: pa.Table, in_order: bool) -> MovedColumn:
    name = column.columns[0]
    if not in_order:
        from metricdp.estimates.laws import ListedLaw

        law = ListedLaw(column)
        places = column.released_places(before[name].combine_chunks())
        shares = np.bincount(places, minlength=len(law.matrix)) / max(1, len(places))
        changed = float(1 - shares @ np.diag(law.matrix))
        return MovedColumn(
            name, f"{changed:.1%} of the rows change (by the law of the noise)", ((0.0, changed),), False
        )
    one, two = (column.released_places(table[name].combine_chunks()) for table in (before, after))
    changed = float(np.mean(one != two)) if len(one) else 0.0
    return MovedColumn(name, f"{changed:.1%} of the rows changed", ((0.0, changed),), True)


def _apart(column: ColumnType, before: pa.Table, after: pa.Table) -> Floats:
    if isinstance(column, Place):
        from metricdp.estimates.before_after import metres_apart, places_of

        return metres_apart(*(places_of(column, table) for table in (before, after)))
    assert isinstance(column, OnALine)
    (one, first), (two, second) = (column.measured(table[column.columns[0]].combine_chunks())
                                   for table in (before, after))  # fmt: skip
    known = ~first & ~second
    return np.asarray(np.abs(one - two)[known])


def _number(value: Any) -> float:
    return float((value - dt.date(1970, 1, 1)).days) if isinstance(value, dt.date) else float(value)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat()
