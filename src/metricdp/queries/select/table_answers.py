"""Answers to a question about a table: noisy values with their error bars, and what they promise."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError
from metricdp.exact.level import Level
from metricdp.metrics import Guarantee, Metric, discrete
from metricdp.metrics.explain import telling_distances
from metricdp.metrics.released import Released
from metricdp.policies.askable import Askable
from metricdp.policies.sql.statements import Select
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.plots.error_bars import AnswerPicture

__all__ = ["Part", "TableAnswer", "TableAnswers", "claimed", "groups_tree"]


@dataclass(frozen=True)
class TableAnswer:
    """One answer.

    Attributes:
        value: a number, or a day.
        error_bar: half the width of an interval around the value that holds the truth with the confidence of all error
            bars; in days, for a day. 0 where no noise was needed.
        tells: False where the error bar is as wide as half of all that the answer can be, so that it says nothing.
        private: False where the noise came from a seeded source.
    """

    value: int | float | dt.date
    error_bar: float
    tells: bool = True
    private: bool = True

    @property
    def words(self) -> str:
        """With no more digits than its error bar has room for.

        >>> TableAnswer(2710.8412, 17.26).words, TableAnswer(31.0, 4.0).words, TableAnswer(7, 0.0).words
        ('2,711 ± 18', '31 ± 4', '7')
        >>> TableAnswer(0.0, math.inf, tells=False).words
        '0 ± ∞'
        """
        if not self.error_bar or not math.isfinite(self.error_bar):
            told = f"{self.value:,.6g}" if isinstance(self.value, float) else str(self.value)
            return f"{told} ± ∞" if self.error_bar else told
        if not isinstance(self.value, int | float):
            return f"{self.value} ± {math.ceil(self.error_bar)} days"
        whole = float(self.value).is_integer() and self.error_bar >= 1
        places = 0 if whole else max(0, 1 - math.floor(math.log10(self.error_bar)))
        bar = math.ceil(Fraction(self.error_bar) * 10**places) / 10**places
        value = round(self.value, places) or 0  # not -0
        return f"{value:,.{places}f} ± {bar:,.{places}f}"


@dataclass(frozen=True)
class Part:
    """Answers that one mechanism gave together.

    Attributes:
        answers: their names.
        shares: which part of each column's metric they spent.
        mechanism: the noise in words.
        optimal: whether no other noise on the true answer that keeps the promise is better for anybody. Nothing is
            claimed where an answer tells next to nothing.
        why: the theorem that proves it, or what is known.
    """

    answers: tuple[str, ...]
    shares: dict[str, Fraction]
    mechanism: str
    optimal: bool
    why: str


@dataclass(frozen=True, repr=False)
class TableAnswers(Released):
    """What was released: one answer for each group and each thing asked, never the truth.

    Attributes:
        select: the question.
        policy: what it was answered under.
        groups: the names of the groups' cells, in the order of the policy.
        found: the answers, a row for each group, in the order of the question.
        parts: how they were made.
        columns: on which they depend; of the others, nothing was read.
        guarantee: what all answers together promise; distances add up over the records. None where they tell nothing
            secret.
        confidence: of each error bar by itself.
        private: False where the noise came from a seeded source.
        asked: all groups, with the noisy answers that those shown were computed from; None where they are the same.
        again: whether a ledger had them already, so that nothing more was spent.
    """

    select: Select
    policy: Askable
    groups: tuple[tuple[str, ...], ...]
    found: tuple[tuple[TableAnswer, ...], ...]
    parts: tuple[Part, ...]
    columns: tuple[str, ...]
    guarantee: Guarantee | None
    confidence: float
    private: bool
    asked: tuple[tuple[tuple[str, ...], ...], tuple[tuple[TableAnswer, ...], ...]] | None = None
    again: bool = False

    def __post_init__(self) -> None:
        if not self.private:  # each answer says so by itself
            rows = tuple(tuple(replace(one, private=False) for one in row) for row in self.found)
            object.__setattr__(self, "found", rows)

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called."""
        return tuple(one.name for one in self.select.shown)

    def __getitem__(self, name: str) -> tuple[TableAnswer, ...]:
        """The answers of that name, one for each group."""
        if name not in self.names:
            raise ArgumentError(f"there is no answer {visible_name(str(name))!r}; there are: {', '.join(self.names)}")
        place = self.names.index(name)
        return tuple(row[place] for row in self.found)

    def __repr__(self) -> str:
        lines = [f"TableAnswers({self.select.text!r}; {self.confidence:.0%} error bars; {self.promise})"]
        for labels, row in zip(self.groups, self.found, strict=True):
            named = [f"{group}={label}" for group, label in zip(self.select.groups, labels, strict=True)]
            answers = [
                f"{name} {_short(one.value)} ± {one.error_bar:.3g}" for name, one in zip(self.names, row, strict=True)
            ]
            lines.append("  " + ", ".join(named + answers))
        return "\n".join(lines)

    @property
    def person_guarantee(self) -> Guarantee | None:
        """What all answers together promise for one person, who may have several rows; None as above."""
        return None if self.guarantee is None else Guarantee(self.guarantee.metric * self.policy.rows)

    def __str__(self) -> str:
        return repr(self)

    def meanings(self) -> Iterator[tuple[str, float]]:
        """What two people may differ by, in words, and the factor by which an adversary's odds can move at most.

        Where the policy names a person, in all rows that one may have.
        """
        standard = self.policy.policy.standard
        if standard is not None:
            person = {"add or remove": "one person more or less", "replace": "one person, replaced by any other"}
            yield person[standard.neighbours], Guarantee(discrete() * standard.epsilon).odds(1)
            return
        absent = None if self.policy.absent is None else self.policy.absent * self.policy.rows
        most = math.inf if absent is None else Guarantee(discrete() * absent).odds(2)  # by way of an absent record
        yield from ((words, min(factor, most)) for words, factor in self._by_column())
        if absent is not None:
            yield "being in the table at all", Guarantee(discrete() * absent).odds(1)

    def _by_column(self) -> Iterator[tuple[str, float]]:
        for name in self.columns:
            metric = self.policy.metric(name) * self.policy.rows
            yield from _meanings(name, metric.without_null())
            if self.policy.column(name).missing is not None:
                first = self.policy.column(name).declared[0]
                yield f"{name} known or missing", _factor(metric, first, None)

    def to_rows(self) -> tuple[list[str], list[list[Any]]]:
        """A header and a row for each group: the groups, then each answer and its error bar.

        Where noise came from a seed, a last column says in each row that it is not private.
        """
        header = [*self.select.groups]
        for name in self.names:
            header += [name, f"{name} error bar"]
        if not self.private:
            header.append("private")
        rows = []
        for labels, answers in zip(self.groups, self.found, strict=True):
            row: list[Any] = [*labels]
            for one in answers:
                row += [one.value, one.error_bar]
            rows.append(row if self.private else [*row, "NOT private (seeded noise)"])
        return header, rows

    def to_arrow(self) -> Any:
        """The rows of `to_rows` as an Arrow table."""
        import pyarrow as pa

        header, rows = self.to_rows()
        return pa.table({name: pa.array([row[place] for row in rows]) for place, name in enumerate(header)})

    def to_pandas(self) -> Any:
        """The same as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The same as a Polars frame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def picture(self, name: str | None = None) -> AnswerPicture:
        """One thing that was asked, of all groups shown, for `metricdp.plots.error_bars`; the first without a name.

        Raises:
            ArgumentError: nothing of that name was asked.
        """
        from metricdp.plots.error_bars import AnswerPicture

        chosen = self.names[0] if name is None else name
        if chosen not in self.names:
            raise ArgumentError(f"there is no answer {chosen!r}; there are {', '.join(self.names)}")
        found = self[chosen]
        return AnswerPicture(
            chosen,
            tuple(", ".join(labels) for labels in self.groups),
            tuple(one.value for one in found),
            tuple(one.error_bar for one in found),
            tuple(one.tells for one in found),
            self.confidence,
            self.private,
        )

    def to_json(self) -> dict[str, Any]:
        """The answers as plain values for JSON."""
        return {
            "question": self.select.text,
            "groups": groups_tree(self.select.groups, self.groups, self.names, self.found),
            "confidence": self.confidence,
            "records": self.policy.records,
            "capacity": self.policy.capacity,
            "columns": list(self.columns),
            "guarantee": None if self.guarantee is None else self.guarantee.to_json(),
            "rows_per_person": self.policy.rows,
            "meaning": [
                {"differ": words, "odds": factor if math.isfinite(factor) else "infinite"}
                for words, factor in self.meanings()
            ],
            "parts": [
                {
                    "answers": list(part.answers),
                    "shares": {name: str(share) for name, share in part.shares.items()},
                    "mechanism": part.mechanism,
                    "optimal": part.optimal,
                    "why": part.why,
                }
                for part in self.parts
            ],
            "private": self.private,
            "again": self.again,
        }


def groups_tree(
    groups: tuple[str, ...],
    labels: tuple[tuple[str, ...], ...],
    names: tuple[str, ...],
    rows: tuple[tuple[TableAnswer, ...], ...],
) -> list[dict[str, Any]]:
    """Groups with their answers, as plain values for JSON."""
    return [
        {
            "group": dict(zip(groups, own, strict=True)),
            "answers": [
                {"name": name, "value": _plain(one.value), "error_bar": _plain(one.error_bar), "tells": one.tells}
                for name, one in zip(names, row, strict=True)
            ],
        }
        for own, row in zip(labels, rows, strict=True)
    ]


def _meanings(name: str, metric: Metric) -> Iterator[tuple[str, float]]:
    unit = metric.unit
    if unit.all_alike:
        yield name, math.inf if unit.greatest == math.inf else Guarantee(metric).odds(1)
    elif isinstance(unit.capped_at, Level):
        for words, factor in _meanings(name, unit.parts[0] * metric.level):
            yield words, min(factor, Guarantee(metric).odds(Fraction(unit.capped_at.enclose().upper)))
    elif unit.on_line or unit.on_globe or (unit.norm is not None and not unit.parts):
        for distance in telling_distances(metric)[1:]:
            words = f"{float(distance):,.6g} {unit.unit_name}".strip()
            yield f"{name}, {words} apart", Guarantee(metric).odds(distance)
    else:
        yield f"{name}, at a distance of 1 by {unit}", Guarantee(metric).odds(1)


def _factor(metric: Metric, one: Any, other: Any) -> float:
    distance = metric.unit.exactly(one, other)
    return Guarantee(metric).odds(math.inf if distance is None else distance)


def _plain(value: Any) -> Any:
    """A value for JSON, which has no infinity: of what is not defined, nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.isoformat() if isinstance(value, dt.date) else value


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def claimed(part: Part, columns: dict[str, list[TableAnswer]]) -> Part:
    """The part, without a claim where an answer of it tells next to nothing."""
    if not part.optimal or all(found.tells for name in part.answers for found in columns[name]):
        return part
    return replace(part, optimal=False, why="nothing is claimed for an answer that tells next to nothing")
