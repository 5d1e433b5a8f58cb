"""A policy as it is being written: its text, what each column's entry says, and what follows from it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from metricdp.errors import ArgumentError, MetricDPError, PolicyError
from metricdp.metrics.words import percent
from metricdp.policies import ColumnType, Policy
from metricdp.policies.entry import OPEN
from metricdp.policies.quantities import quantity, unit_in
from metricdp.studio.policy_edits import read_tree, with_answer, with_keys

__all__ = ["PolicyText", "shortened", "typed"]

_STEPS = 60
_MOST_PROBLEMS = 12
_MOST_COLUMNS = 8
_OPEN = "is still an open question"
_LARGEST_FACTOR = 1e9
_QUESTIONS = {
    "records": "the number of records",
    "person.column": "whose row it is",
    "person.rows": "how many rows one may have",
    "type": "what it is",
}


@dataclass(frozen=True)
class PolicyText:
    r"""The text of a policy, finished or not.

    Attributes:
        text: as somebody wrote it.

    >>> draft = PolicyText('format = 2\n[columns.age]\ntype = "integer"\nwithin = "5 years"\n')
    >>> print(draft.consequence("age"))
    odds within a factor 2 at 5 years; half within 5 years, 95% within 22 years
    >>> print(draft.with_error("age", 50).entries["age"]["within"])
    11.6 years
    """

    text: str

    @cached_property
    def tree(self) -> dict[str, Any] | None:
        """What is written, if it is TOML."""
        return read_tree(self.text)

    @cached_property
    def entries(self) -> dict[str, dict[str, Any]]:
        """For each column what is written under it; a word alone is its type."""
        columns = (self.tree or {}).get("columns", {})
        found = columns if isinstance(columns, Mapping) else {}
        return {name: dict(entry) if isinstance(entry, Mapping) else {"type": entry} for name, entry in found.items()}

    @cached_property
    def problems(self) -> list[str]:
        """What is wrong with it, or still open; nothing where it can be used."""
        try:
            _ = Policy.parse(self.text).guarantee
        except PolicyError as error:
            return list(error.problems)
        except MetricDPError as error:
            return [str(error)]
        return []

    @property
    def summary(self) -> str:
        """What is wrong with it, or still open, in few lines; empty where it can be used."""
        questions = [problem for problem in self.problems if _OPEN in problem]
        shown = shortened([problem for problem in self.problems if _OPEN not in problem])
        if questions:
            word = "question is" if len(questions) == 1 else "questions are"
            shown.insert(0, f"{len(questions)} {word} still open: {_asked(questions)}.")
        return "\n".join(shown)

    def with_entry(self, name: str, entry: Mapping[str, Any] | None) -> PolicyText:
        """The same with another entry for a column, or without one; what else is written stays."""
        return self._with(("columns", name), entry)

    @property
    def undecided(self) -> list[str]:
        """The columns of which nothing has been said yet."""
        return [name for name, entry in self.entries.items() if entry == {"type": OPEN}]

    def with_undecided_dropped(self) -> PolicyText:
        """The same, with all columns left out of which nothing has been said yet."""
        names = self.undecided
        entries = self.tree["columns"] if self.tree else {}
        edited = with_answer(
            self.text,
            [("columns", name, "type") if isinstance(entries[name], Mapping) else ("columns", name) for name in names],
            "drop",
        )
        changed = PolicyText(edited)
        if changed.entries != self.entries | {name: {"type": "drop"} for name in names}:  # not line by line
            changed = self
            for name in names:
                changed = changed.with_entry(name, {"type": "drop"})
        return changed

    def with_records(self, records: int | None) -> PolicyText:
        """The same with another number of records, or none."""
        keys = {name: one for name, one in (self.tree or {}).items() if not isinstance(one, Mapping)}
        keys.pop("records", None)
        return self._with((), keys if records is None else keys | {"records": records})

    def with_person(self, person: Mapping[str, Any] | None) -> PolicyText:
        """The same with other words on whose row it is; None where each is another person's.

        The column that says whose row it is has no entry; one that does no longer gets an open one.
        """
        before = (self.tree or {}).get("person", {})
        old = before.get("column") if isinstance(before, Mapping) else None
        new = None if person is None else person.get("column")
        changed = self._with(("person",), person)
        if new in changed.entries:
            changed = changed.with_entry(str(new), None)
        if old not in (None, "?", new) and old not in changed.entries:
            changed = changed.with_entry(str(old), {"type": "?"})
        return changed

    def _with(self, path: tuple[str, ...], keys: Mapping[str, Any] | None) -> PolicyText:
        if self.tree is None:
            raise ArgumentError("the policy is not TOML; correct its text first")
        return PolicyText(with_keys(self.text, path, keys))

    def column(self, name: str) -> ColumnType:
        """One column, whatever is said of the others.

        Raises:
            PolicyError: with what is wrong with its entry, or still open.
        """
        return _column(name, self.entries.get(name, {}))

    def words(self, name: str) -> str:
        """What follows from a column's entry; or what is wrong with it, or still open."""
        if self.entries.get(name, {}).get("type") == "?":
            return "Choose above what it is."
        try:
            return self.consequence(name)
        except PolicyError as error:  # its lines are not those of the text
            own = [re.sub(r"^line \d+, ", "", problem).removeprefix(f"column {name!r}: ") for problem in error.problems]
            asked = [problem.partition(_OPEN)[0].strip() for problem in own if _OPEN in problem]
            wrong = [problem for problem in own if _OPEN not in problem]
            return "\n".join([*wrong, *([f"Still open: {', '.join(asked)}."] if asked else [])])
        except MetricDPError as error:
            return str(error)

    def consequence(self, name: str) -> str:
        """What a column's entry promises, and the error to expect."""
        column = self.column(name)
        if column.mechanism is None:
            return {"drop": "it is left out", "keep": "it is public, and released as it is"}.get(column.release, "")
        said = "; ".join(column.mechanism.expected_error(column.measure).words)
        return "; ".join(part for part in (column.level_words, said) if part)

    def error(self, name: str) -> tuple[str, float] | None:
        """How accurate a column is, as what it is and a number; None where it has no noise or is not finished."""
        try:
            return _error(self.column(name))
        except MetricDPError:
            return None

    def with_error(self, name: str, wanted: float) -> PolicyText:
        """The same with the strongest promise for a column whose error is what is wanted.

        Raises:
            ArgumentError: it cannot be had, or the column has no promise that could be changed.
        """
        entry = self.entries.get(name, {})
        found = self.error(name)
        if found is None or wanted <= 0:
            raise ArgumentError("say first what the column is and what is promised; an error is positive")
        if "within" in entry:
            return self.with_entry(name, {**entry, "within": _within(name, entry, wanted, found[1])})
        if "factor" in entry:
            return self.with_entry(name, entry | {"factor": _factor(name, entry, wanted)})
        raise ArgumentError("its promise is written neither with within nor with factor: change it in the text")


def _asked(questions: Sequence[str]) -> str:
    """What is asked, by column: the text beside it has no numbers of lines."""
    found: dict[str, list[str]] = {}
    for question in questions:
        what = re.sub(r"^line \d+, ", "", question).partition(_OPEN)[0].strip()
        column, _, key = what.removeprefix("column ").rpartition(": ")
        found.setdefault(column, []).append(_QUESTIONS.get(key, key))
    parts = [": ".join(part for part in (column, ", ".join(keys)) if part) for column, keys in found.items()]
    return "; ".join([*parts[:_MOST_COLUMNS], *(["and more"] if len(parts) > _MOST_COLUMNS else [])])


def shortened(problems: Sequence[str]) -> list[str]:
    """The first of many problems, and how many more there are.

    >>> shortened(["a"] * 14)[-2:]
    ['a', 'And 2 more.']
    """
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"And {more} more."] if more > 0 else [])]


def typed(value: Any) -> str:
    """An answer as somebody would type it.

    >>> typed(["a", 1]), typed(Decimal("0.5"))
    ('["a", 1]', '0.5')
    """
    if isinstance(value, list):
        return f"[{', '.join(json.dumps(part) if isinstance(part, str) else str(part) for part in value)}]"
    return str(value)


def _column(name: str, entry: Mapping[str, Any]) -> ColumnType:
    return Policy.of({"format": 2, "columns": {name: entry}}).columns[0]


def _error(column: ColumnType) -> tuple[str, float] | None:
    if column.mechanism is None:
        return None
    expected = column.mechanism.expected_error(column.measure)
    if expected.radius_95 is not None:
        unit = column.measure.unit or expected.unit
        return f"95% within{f' ({unit})' if unit else ''}", expected.radius_95
    if expected.truth is not None:
        return "released as it is (%)", 100 * expected.truth
    return None


def _within(name: str, entry: Mapping[str, Any], wanted: float, now: float) -> str:
    """The longest distance, in three digits, with which 95% of releases are as near as wanted."""
    unit = unit_in(entry["within"])
    begin = float(quantity(entry["within"], ""))

    def reach(length: float) -> float:
        found = _error(_column(name, {**entry, "within": f"{_plain(length)} {unit}".strip()}))
        return math.inf if found is None else found[1]

    length = _digits(1.1 * begin * wanted / now, math.floor)
    for _ in range(_STEPS):
        if reach(length) <= wanted:
            return f"{_plain(length)} {unit}".strip()
        length = _digits(length * min(0.996, 1.1 * wanted / reach(length)), math.floor)
    raise ArgumentError(f"no promise gives an error of {wanted:g}: its values are whole, or its bounds too wide")


def _factor(name: str, entry: Mapping[str, Any], wanted: float) -> Decimal:
    """The smallest factor, in three digits, with which the truth is released as often as wanted, in percent."""

    def share(factor: float) -> float:
        found = _error(_column(name, {**entry, "factor": Decimal(_plain(factor))}))
        return 0.0 if found is None else found[1]

    low, high = 1.001, _LARGEST_FACTOR
    if not share(low) < wanted <= share(high):
        raise ArgumentError(f"it is released as it is in {percent(share(low) / 100)} of cases at least, below 100%")
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if share(middle) >= wanted else (middle, high)
    return Decimal(_plain(_digits(high, math.ceil)))


def _digits(number: float, rounding: Callable[[float], int]) -> float:
    """A number in three digits."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return rounding(round(number / step, 6)) * step


def _plain(number: float) -> str:
    text = f"{number:.6g}"
    return f"{Decimal(text):f}"
