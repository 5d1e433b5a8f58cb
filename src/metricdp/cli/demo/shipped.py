"""The tables that lie in the package."""

from __future__ import annotations

import csv
from importlib.resources import files

__all__ = ["read_shipped"]


def read_shipped(name: str) -> list[dict[str, str]]:
    """The rows of a shipped table, as text.

    >>> len(read_shipped("health_insurance"))
    5630
    """
    text = files("metricdp.cli.demo").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
