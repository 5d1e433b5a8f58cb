"""How finely questions count a column: ``count_by = "month"``, ``count_by = 10``, ``count_by = {other = "else"}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from metricdp.policies.entry import ColumnEntry, Mistake

__all__ = ["CountBy"]


@dataclass(frozen=True)
class CountBy:
    """What an entry says of the cells that questions count.

    Attributes:
        cuts: where cells begin: ``width``, ``edges`` or ``by``, with the time zone of days, ``zone``; as it is written.
        other: the name of a cell for values outside; None where there is none.
        missing: the name of the cell for missing values, where those are not refused.
        written: whether the entry says anything of it.
    """

    cuts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    other: str | None = None
    missing: str | None = None
    written: bool = False

    @classmethod
    def read(cls, entry: ColumnEntry, allowed: tuple[str, ...]) -> CountBy:
        """What the entry says; a number is a width, a list are edges, and a word is what is counted by."""
        if "count_by" not in entry:
            return cls()
        written = entry.take("count_by")
        if isinstance(written, bool):
            raise Mistake("count_by", _forms(allowed))
        if not isinstance(written, Mapping):
            key = next((key for key, kind in _SHORT.items() if key in allowed and isinstance(written, kind)), None)
            if key is None:
                raise Mistake("count_by", _forms(allowed))
            written = {key: written}
        for key in written:
            if key not in allowed:
                raise Mistake("count_by", f"{key!r} is not known in count_by; one of {', '.join(allowed)}")
        for key in ("other", "missing"):
            if key in written and (not isinstance(written[key], str) or not written[key]):
                raise Mistake("count_by", f"{key} is the name of a cell, which is text")
        cuts = {key: value for key, value in written.items() if key not in ("other", "missing")}
        return cls(cuts, written.get("other"), written.get("missing"), True)

    def missing_name(self, missing: str, taken: Iterable[str]) -> str | None:
        """What the cell for missing values is called: a name that no other cell has, unless somebody chose one."""
        if missing == "refuse":
            return None
        if self.missing is not None:
            return self.missing
        used = set(taken)
        return next((name for name in _MISSING_NAMES if name not in used), "(missing value)")


_SHORT: dict[str, Any] = {"width": int | Decimal | float, "edges": list, "by": str}
_MISSING_NAMES = ("missing", "(missing)", "(no value)", "(null)")


def _forms(allowed: tuple[str, ...]) -> str:
    forms = {"width": "10", "edges": "[18, 65]", "by": '"month"', "other": '{other = "else"}'}
    return f"count_by is written {' or '.join(form for key, form in forms.items() if key in allowed)}"
