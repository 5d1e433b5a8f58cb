"""What can be concluded from a released table: values with intervals, beside what the table says at face value."""

from __future__ import annotations

import datetime as dt
import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

from metricdp.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AS_GOOD",
    "CHOSEN",
    "ONE_ROW",
    "TWO_SCORES",
    "Estimate",
    "Estimates",
    "as_good",
    "check_asked",
    "day_of",
    "known",
]

Truth = Literal["table", "population"]
Number = float | dt.date

AS_GOOD = "The value as released is expected to be as good here: correcting adds no less error than it removes."

TWO_SCORES = "two scores, one never too low and one never too high on average: holds for every table"

ONE_ROW = "One row tells nothing of how far the values of the population are spread, and so nothing of their average."

CHOSEN = "Noise that lifts a value also gets it chosen: the intervals are wider than others, to make up for that."

_AS_GOOD = 1.3
"""By how much the expected squared error of the naive value may be above that of the corrected one."""

_NAMED = 4
"""So many answers at most are named beside a note that is about them."""

_TRUTHS = {"table": "this table's own secrets", "population": "the population that its rows were drawn from"}


def check_asked(confidence: float, truth: Truth) -> None:
    """Refuse a confidence that is none, and a truth that nothing is asked about.

    Raises:
        ArgumentError: one of them is.

    >>> check_asked(0.95, "table")
    """
    if isinstance(confidence, bool) or not isinstance(confidence, SupportsFloat) or not 0 < float(confidence) < 1:
        raise ArgumentError(f"a confidence lies between 0 and 1, not at {confidence!r}")
    if truth not in ("table", "population"):
        raise ArgumentError(f'truth is "table" or "population", not {truth!r}')


def as_good(
    apart: float,
    noise: float,
    confidence: float,
    naive_noise: float = 0.0,
    room: tuple[float, float] = (math.inf, math.inf),
) -> bool:
    """Whether a value as released may be taken as it is: its expected squared error is no more, or hardly more.

    The naive value is off by its bias, about how far the two are apart, and by its own noise, which is the less of the
    two; the corrected one by its noise alone, which is cut off where the answer ends, as at a count of 0. A squared
    error that is a third more is still called as good. Where the two are even, this says so of every other table or a
    few more, since how far they are apart is moved by noise, too.

    Args:
        apart: how far the naive value is from the corrected one.
        noise: how far noise moves the corrected value, with ``confidence``.
        confidence: of the interval.
        naive_noise: how far it moves the naive one; 0 where that is not known.
        room: how far the corrected value lies from the least and from the greatest that it can be.

    >>> as_good(11, 19.6, 0.95), as_good(12, 19.6, 0.95)
    (True, False)
    >>> as_good(11, 19.6, 0.95, naive_noise=14.0), as_good(11, 19.6, 0.95, room=(0.0, math.inf))
    (False, False)
    """
    if not math.isfinite(noise):
        return False
    spread, own = (part / NormalDist().inv_cdf((1 + confidence) / 2) for part in (noise, min(naive_noise, noise)))
    squared = spread**2 * sum(_cut_square(end / spread if spread else math.inf) for end in room)
    return apart <= 1e-12 or apart**2 + own**2 <= _AS_GOOD * squared


def _cut_square(end: float) -> float:
    """The mean square of the normal law on one side of 0, cut off at an end: what lies beyond is at the end."""
    if end > 40:
        return 0.5
    law, end = NormalDist(), max(end, 0.0)
    return law.cdf(end) - 0.5 - end * law.pdf(end) + end**2 * (1 - law.cdf(end))


def known(noise: float) -> float | None:
    """How far noise moves a value; None where the rows do not tell."""
    return noise if math.isfinite(noise) else None


@dataclass(frozen=True, repr=False)
class Estimate:
    """One corrected number.

    Attributes:
        value: the corrected value.
        interval: it holds the truth with probability ``confidence`` at least, for every table.
        naive: what the released table says at face value; None where it says nothing.
        confidence: of the interval.
        noise: how far the noise alone moves the value, with that confidence; what the interval has beyond it is what
            the counts cannot tell.
        method: how it was made.
        conservative: whether the interval is known to hold more often than it says.
        truth: "table" for the secrets of the released rows, "population" for where they were drawn from.
        notes: what to know before it is used.
        rows: of the released table.
        naive_is_as_good: whether the naive value is expected to be as near to the truth, or nearer; see `as_good`.

    >>> Estimate(0.21, (0.2, 0.22), 0.31, noise=0.01, method="inversion").interval
    (0.2, 0.22)
    """

    value: Number
    interval: tuple[Number, Number]
    naive: Number | None
    confidence: float = 0.95
    noise: float | None = None
    method: str = ""
    conservative: bool = False
    truth: Truth = "table"
    notes: tuple[str, ...] = ()
    rows: int = 0
    naive_is_as_good: bool = False

    def __float__(self) -> float:
        if isinstance(self.value, dt.date):
            raise TypeError("a day is no number")
        return float(self.value)

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence:.6g}%"

    def __repr__(self) -> str:
        low, high = map(shown, self.interval)
        naive = "" if self.naive is None else f"; as released {shown(self.naive)}"
        return f"Estimate({shown(self.value)}, {self._level} within {low} to {high}{naive}; {self.method})"

    def __str__(self) -> str:
        lines = [f"{shown(self.value)}  ({self._level}: {shown(self.interval[0])} to {shown(self.interval[1])})"]
        if self.naive is not None:
            lines.append(f"as released, uncorrected: {shown(self.naive)}")
        lines += [f"about {_TRUTHS[self.truth]}; {self.method}", *self.notes]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """As plain values for JSON; an end that is not known is None."""
        return {
            "value": _plain(self.value),
            "interval": [_plain(end) for end in self.interval],
            "naive": None if self.naive is None else _plain(self.naive),
            "confidence": self.confidence,
            "noise": self.noise,
            "naive_is_as_good": self.naive_is_as_good,
            "method": self.method,
            "conservative": self.conservative,
            "truth": self.truth,
            "notes": list(self.notes),
            "rows": self.rows,
        }

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True, repr=False)
class Estimates:
    """The answers to one question: for each group, a value for each thing asked.

    Attributes:
        question: as it was asked.
        group_names: the columns to group by.
        groups: the names of the groups' cells.
        names: what the answers are called.
        found: an Estimate for each group (rows) and each thing asked.
        rows: of the released table.
        notes: what to know of all of them.
        private: False where the table says that its noise came from a seed.
    """

    question: str
    group_names: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    found: tuple[tuple[Estimate, ...], ...]
    rows: int
    notes: tuple[str, ...] = ()
    private: bool = True

    def __getitem__(self, name: str) -> tuple[Estimate, ...]:
        """The answers of that name, one for each group."""
        place = self.names.index(name)
        return tuple(row[place] for row in self.found)

    def __iter__(self) -> Iterator[Estimate]:
        return (one for row in self.found for one in row)

    def __len__(self) -> int:
        return sum(len(row) for row in self.found)

    @property
    def only(self) -> Estimate:
        """The answer, where there is one."""
        (row,) = self.found
        (one,) = row
        return one

    def __repr__(self) -> str:
        return f"Estimates({self.question!r}; {len(self.groups)} groups, {', '.join(self.names)})"

    def table(self) -> list[list[str]]:
        """The answers as rows of text, with a heading."""
        lines = [[*self.group_names, "", "corrected", "from", "to", "as released"]]
        for labels, row in zip(self.groups, self.found, strict=True):
            for name, one in zip(self.names, row, strict=True):
                naive = "" if one.naive is None else shown(one.naive)
                lines.append([*labels, name, shown(one.value), *map(shown, one.interval), naive])
        return lines

    def figure(self) -> Figure:
        """A picture: for each thing asked a panel, with the corrected values, their intervals and those as released.

        Raises:
            MissingExtraError: matplotlib is not installed.
            ArgumentError: no group is left to draw.
        """
        if not self.groups:
            raise ArgumentError("no group is shown, so that there is nothing to draw: ask for less with having")
        from metricdp.plots.canvas import require_matplotlib
        from metricdp.plots.intervals import intervals

        labels = [", ".join(group) or "all rows" for group in self.groups]
        tall = 3.2 if len(labels) > 30 else 1.3 + 0.24 * len(labels)
        figure = require_matplotlib()(figsize=(6.0, tall * len(self.names)), layout="constrained")
        for place, name in enumerate(self.names):
            found = self[name]
            low, high = ([_drawn(one.interval[side]) for one in found] for side in (0, 1))
            intervals(
                labels,
                [_drawn(one.value) for one in found],
                list(zip(low, high, strict=True)),
                [None if one.naive is None else _drawn(one.naive) for one in found],
                x=f"{name}, in days since 1970" if isinstance(found[0].value, dt.date) else name,
                title=self.question if place == 0 else "",
                ax=figure.add_subplot(len(self.names), 1, place + 1),
            )
        return figure

    def all_notes(self) -> tuple[str, ...]:
        """Every note once: of the whole, then of single answers."""
        return tuple(dict.fromkeys([*self.notes, *(note for one in self for note in one.notes)]))

    def _said_notes(self) -> list[str]:
        """The same with the answers that each is about, where it is not about all of them."""
        about: dict[str, list[str]] = {}
        for labels, row in zip(self.groups, self.found, strict=True):
            for name, one in zip(self.names, row, strict=True):
                for note in dict.fromkeys(one.notes):
                    about.setdefault(note, []).append(", ".join([*labels, name] if len(self.names) > 1 else labels))
        said = [*dict.fromkeys(self.notes)]
        for note, whose in about.items():
            if note in said:
                continue
            which = "; ".join(whose) if len(whose) <= _NAMED else f"{len(whose)} of the {len(self)} answers"
            said.append(note if len(whose) == len(self) else f"Of {which}: {note}")
        if len(self) == 1 and self.only.conservative and self.only.noise:
            said.append(f"Noise alone moves the value by {shown(self.only.noise)}.")
        return said

    def __str__(self) -> str:
        rendered = aligned(self.table(), len(self.group_names) + 1)
        return "\n".join([*rendered, *(f"- {note}" for note in self._said_notes())])

    def to_json(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "question": self.question,
            "group_by": list(self.group_names),
            "answers": [
                {
                    "group": dict(zip(self.group_names, labels, strict=True)),
                    **{name: one.to_json() for name, one in zip(self.names, row, strict=True)},
                }
                for labels, row in zip(self.groups, self.found, strict=True)
            ],
            "rows": self.rows,
            "notes": list(self.notes),
            "private": self.private,
        }

    def _repr_html_(self) -> str:
        first, *rest = self.table()
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in first)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in rest)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._said_notes())
        return f"<table><tr>{head}</tr>{body}</table><ul>{notes}</ul>"


def aligned(lines: list[list[str]], left: int) -> list[str]:
    """Lines of cells under one another; the first ``left`` columns start at the left, the others end at the right.

    >>> aligned([["sex", "share"], ["F", "0.5"]], 1)
    ['sex  share', 'F      0.5']
    """
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def shown(value: Number) -> str:
    """A number with the digits that people read, or a day.

    >>> shown(0.214567), shown(5630.0), shown(1234567.8), shown(math.inf)
    ('0.2146', '5,630', '1,234,568', 'unknown')
    """
    if isinstance(value, dt.date):
        return value.isoformat()
    if not math.isfinite(value):
        return "unknown"
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def day_of(days: float) -> Number:
    """The day of a number of days since 1970; infinite where there is none.

    >>> day_of(18262), day_of(-math.inf)
    (datetime.date(2020, 1, 1), -inf)
    """
    if not abs(days) < 700_000:
        return math.copysign(math.inf, days)
    return dt.date(1970, 1, 1) + dt.timedelta(days=round(days))


def _drawn(value: Number) -> float:
    return float((value - dt.date(1970, 1, 1)).days) if isinstance(value, dt.date) else float(value)


def _plain(value: Number) -> float | str | None:
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if math.isfinite(value) else None
