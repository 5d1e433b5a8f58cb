"""The same release outside of the studio: as a command, and as a notebook."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp.errors import MetricDPError
from metricdp.ledger import Ledger
from metricdp.ledger.charging import which_account

__all__ = ["RELEASED", "HandedOver", "command_text", "notebook_text"]

RELEASED = "released.parquet"
"""What a released table is called, in the studio and outside of it: its report names the file."""


@dataclass(frozen=True)
class HandedOver:
    """What was released, and what it was released by: the page may say something else by now.

    Attributes:
        release: what came out.
        policy: its text.
        name: of the table.
        ledger: that was charged; empty for none.
        account: of the ledger; empty for the only one.
    """

    release: Any
    policy: str
    name: str
    ledger: str
    account: str

    @property
    def left(self) -> str:
        """What the account has left."""
        try:
            with Ledger(Path(self.ledger)) as book:
                return str(book.balance(which_account(self.account or None, book)))
        except MetricDPError as error:
            return str(error)


def command_text(table: str, ledger: str = "", account: str = "") -> str:
    """The command that does the same.

    Args:
        table: the name of the file.
        ledger: which is charged; empty where none is.
        account: of the ledger; empty for the only one.

    >>> print(command_text("my table.csv"))
    metricdp sanitize 'my table.csv' -o released.parquet --policy policy.toml --report report.html
    """
    charged = "".join(
        f" {option} {shlex.quote(value)}"
        for option, value in (("--ledger", ledger), ("--account", account if ledger else ""))
        if value
    )
    return f"metricdp sanitize {shlex.quote(table)} -o {RELEASED} --policy policy.toml --report report.html{charged}"


def notebook_text(table: str, policy: str, ledger: str = "", account: str = "") -> str:
    """A notebook that does the same, with the policy in it; it opens anywhere that Jupyter's files do.

    Args:
        table: the name of the file.
        policy: its text.
        ledger: which is charged; empty where none is.
        account: of the ledger; empty for the only one.

    >>> [cell["cell_type"] for cell in json.loads(notebook_text("t.csv", "format = 2"))["cells"]]
    ['markdown', 'code', 'code', 'code']
    """
    name = Path(table).name
    charged = f", ledger={ledger!r}" + (f", account={account!r}" if account else "") if ledger else ""
    sanitized = f"{name!r}, policy, {RELEASED!r}, overwrite=True{charged}"
    cells = [
        _cell("markdown", f"# {name}, sanitized\n\nThe policy says what is promised; the report says it in words."),
        _cell(
            "code", f"import metricdp as mdp\n\nPOLICY = {_literal(policy)}\npolicy = mdp.policies.Policy.parse(POLICY)"
        ),
        _cell("code", f"release = mdp.tables.sanitize({sanitized})\nrelease"),
        _cell("code", "print(release.report.text())"),
    ]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    cell["id"] = f"cell-{abs(len(text)) % 10**6}-{kind}"
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def _literal(text: str) -> str:
    """Text over several lines as Python, where that is the same; else in one line."""
    plain = "'''" not in text and "\\" not in text and not text.endswith("'") and text.isprintable() is False
    lines = all(line.isprintable() for line in text.split("\n"))
    return f"'''\\\n{text}'''" if plain and lines else repr(text)
