"""The questions about a table as a whole, as controls: whose rows they are, and how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from metricdp.policies.draft import answered
from metricdp.policies.entry import OPEN
from metricdp.studio.controls import choice
from metricdp.studio.policy_text import PolicyText, typed
from metricdp.visible import visible_name

__all__ = ["table_form"]

_SEVERAL = "Can somebody have several rows?"
_ONE_EACH = "no: every row is another person's"
_WHOSE = "yes: {} says whose row it is"
_LOOK = "dense outlined debounce=400"


def table_form(policy: Callable[[], PolicyText], columns: Sequence[str], write: Callable[..., None]) -> None:
    """Controls for what a policy says about the whole table.

    Args:
        policy: as it is now.
        columns: of the table.
        write: takes a changed policy, and whether the controls have to be made anew.
    """
    tree = policy().tree or {}
    person = tree["person"] if isinstance(tree.get("person"), dict) else None
    column = None if person is None else str(person.get("column", OPEN))
    names = {_WHOSE.format(visible_name(name)): name for name in columns}
    chosen = _ONE_EACH if column is None else OPEN if column == OPEN else _WHOSE.format(visible_name(column))

    def whose(option: str) -> None:
        rows = OPEN if person is None else person.get("rows", OPEN)
        told = None if option == _ONE_EACH else {"column": names.get(option, OPEN), "rows": rows}
        client = ui.context.client  # the control is made anew, and gets the keyboard back
        write(policy().with_person(told), again=True)
        client.run_javascript(f"document.querySelector('select[aria-label=\"{_SEVERAL}\"]').focus()")

    def most(event: Any) -> None:
        rows = answered((event.value or "").strip() or OPEN)
        write(policy().with_person({"column": column, "rows": rows}))

    def count(event: Any) -> None:
        written = (event.value or "").strip()
        write(policy().with_records(answered(written) if written else None))

    with ui.element("section").classes("entry").props('aria-label="The table as a whole"'):
        ui.html("The table as a whole", tag="h3")
        ui.label(_SEVERAL)
        choice(_SEVERAL, {OPEN: "? (choose)"} | {one: one for one in (_ONE_EACH, *names)}, chosen, whose)
        with ui.element("div").classes("fields"):
            if person is not None:
                ui.input("rows of one, at most", value=typed(person.get("rows", OPEN)), on_change=most).props(_LOOK)
            counted = ui.input("records, if public", value=typed(tree.get("records", "")), on_change=count)
            counted.props(_LOOK).props["hint"] = "for the page Ask alone; otherwise empty it"
