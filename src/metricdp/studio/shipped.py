"""The table that comes with the package, with its policy."""

from __future__ import annotations

from pathlib import Path

import metricdp
from metricdp.studio.files import GivenFile

__all__ = ["shipped_policy", "shipped_table"]

_PLACE = Path(metricdp.__file__).parent / "cli" / "demo" / "data" / "health_insurance.csv"


def shipped_table() -> GivenFile:
    """5,630 people of a health insurance experiment.

    >>> shipped_table().name
    'health_insurance.csv'
    """
    return GivenFile(_PLACE.name, _PLACE)


def shipped_policy() -> str:
    """The text of its policy.

    >>> "records = 5630" in shipped_policy()
    True
    """
    return _PLACE.with_suffix(".toml").read_text(encoding="utf-8")
