"""A form for each column: what it is, what is promised of it, and what follows from that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from metricdp.errors import MetricDPError
from metricdp.policies.draft import answered, answered_list
from metricdp.policies.entry import OPEN
from metricdp.policies.open_questions import OpenQuestion
from metricdp.policies.types import TYPES
from metricdp.studio.controls import choice, said, text_of
from metricdp.studio.policy_text import PolicyText, typed
from metricdp.visible import visible_name

__all__ = ["ColumnForms"]

_MOST_FORMS = 60
_LISTS = ("values", "columns", "bounds")
_MEANINGS = {
    OPEN: "? (choose)",
    "number": "number: any, with decimals",
    "integer": "integer: whole numbers",
    "date": "date: a day",
    "time": "time: a moment",
    "duration": "duration: how long",
    "time_of_day": "time_of_day: such as 08:30",
    "category": "category: one of a few values",
    "boolean": "boolean: yes or no",
    "place": "place: latitude and longitude",
    "set": "set: several of a few values",
    "series": "series: readings in their order",
    "keep": "keep: public, released as it is",
    "drop": "drop: left out",
    "rekey": "rekey: new keys for identifiers",
}
_LOOK = "dense outlined debounce=400"


class ColumnForms:
    """The forms of all columns. A form stays while its column does, and with it the keyboard in it.

    Args:
        policy: as it is now.
        write: takes a changed policy, and shows it.
    """

    def __init__(self, policy: Callable[[], PolicyText], write: Callable[[PolicyText], None]) -> None:
        self._policy, self._write = policy, write
        self._forms: dict[str, _ColumnForm] = {}
        self._place = ui.element("div").classes("forms-of-columns")
        self._more = ui.label()

    def follow(self) -> None:
        """Say what each column's entry means now; columns that have come or gone get and lose their forms."""
        names = list(self._policy().entries)
        for name in set(self._forms) - set(names[:_MOST_FORMS]):
            self._forms.pop(name).place.delete()
        for name in names[:_MOST_FORMS]:
            if name not in self._forms:
                with self._place:
                    self._forms[name] = _ColumnForm(name, self._policy, self._write)
            self._forms[name].follow()
        more = len(names) - _MOST_FORMS
        self._more.text = f"And {more:,} more: change them in the text." if more > 0 else ""


class _ColumnForm:
    """The form of one column."""

    def __init__(self, name: str, policy: Callable[[], PolicyText], write: Callable[[PolicyText], None]) -> None:
        self._name, self._policy, self._write = name, policy, write
        self._error: Any = None
        self._answers: dict[str, Any] = {}
        shown, kind = visible_name(name), self._entry.get("type", OPEN)
        options = {one: _MEANINGS.get(one, one) for one in (OPEN, *TYPES.names)}
        with ui.element("section").classes("entry") as self.place:
            self.place.props["aria-label"] = shown
            ui.html(text_of(shown), tag="h3")
            choice(f"What {shown} is", options, str(kind), self._retype)
            self._fields = ui.element("div").classes("fields")
            self._consequence = said("consequence")
        self._ask()

    @property
    def _entry(self) -> dict[str, Any]:
        return self._policy().entries.get(self._name, {})

    def follow(self) -> None:
        """Say what the column's entry means."""
        self._consequence.text = self._policy().words(self._name)
        found, entry = self._policy().error(self._name), self._entry
        if found is None or not ("within" in entry or "factor" in entry):
            return
        now = float(f"{found[1]:.4g}")
        if self._error is None:  # added where the others are: somebody may be typing into them
            with self._fields:
                self._error = ui.number(found[0], value=now, min=0).props("dense outlined debounce=600")
                self._error.on_value_change(self._wanted)
        elif self._error.value != now:
            self._error.value = now

    def _ask(self) -> None:
        """The questions of the column's type: the rest of the form stays, and the keyboard where it is."""
        entry = self._entry
        kind = entry.get("type", OPEN)
        self._error, self._answers = None, {}
        self._fields.clear()
        with self._fields:
            for question in TYPES[kind].questions if kind in TYPES else ():
                self._ask_one(question, typed(entry.get(question.key, "")))

    def _ask_one(self, question: OpenQuestion, now: str) -> None:
        key = question.key
        if question.choices:
            options = {OPEN: "? (choose)"} | {one: f"{one}: {words}" for one, words in question.choices}
            with ui.element("div").classes("asked"):
                ui.html(key, tag="span")
                choice(key, options if now in options else {now: now or "not said"} | options, now, self._chosen(key))
            return
        made = ui.input(key, value=now, on_change=lambda event: self._answer(key, event.value or "")).props(_LOOK)
        if question.example:
            made.props["hint"] = f"such as {question.example}"
        self._answers[key] = made.tooltip(question.by_itself)

    def _chosen(self, key: str) -> Callable[[str], None]:
        return partial(self._answer, key)

    def _retype(self, kind: str) -> None:
        old = self._entry
        asked = [question.key for question in TYPES[kind].questions] if kind in TYPES else []
        entry = {"type": kind} | {key: old.get(key, OPEN) for key in asked}
        self._write(self._policy().with_entry(self._name, entry))
        self._ask()
        self.follow()

    def _answer(self, key: str, written: str) -> None:
        entry, answer = dict(self._entry), written.strip()
        if typed(entry.get(key, "")) == answer:
            return
        entry.pop(key, None)
        if answer:
            listed = key in _LISTS and answer != OPEN
            entry[key] = answered_list(answer, bounds=key == "bounds") if listed else answered(answer)
        self._write(self._policy().with_entry(self._name, entry))

    def _wanted(self, event: Any) -> None:
        """Take the promise that gives the accuracy that is wanted."""
        found = self._policy().error(self._name)
        if event.value is None or found is None or event.value == float(f"{found[1]:.4g}"):
            return
        try:
            self._write(self._policy().with_error(self._name, float(event.value)))
        except MetricDPError as error:
            ui.notify(str(error), type="negative")
            return
        for key, made in self._answers.items():
            made.value = typed(self._entry.get(key, ""))
