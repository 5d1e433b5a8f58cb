"""What a run of the suite found, and how a law says that it is broken."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metricdp.errors import ArgumentError, ConformanceError
from metricdp.visible import visible

__all__ = ["Broken", "Checked", "require", "run_laws"]

_LONGEST_SUBJECT = 120


class Broken(Exception):
    """A law does not hold; the message says why."""


def require(condition: object, problem: str) -> None:
    """Raise `Broken` unless the condition is true."""
    if not condition:
        raise Broken(problem)


@dataclass(frozen=True)
class Checked:
    """What was checked, and held.

    Attributes:
        subject: the metric, mechanism, channel or column type, in words.
        laws: the names of the laws that it keeps.
        left_out: laws that say nothing here, each with the reason.
    """

    subject: str
    laws: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.subject} keeps {len(self.laws)} laws: {', '.join(self.laws)}"]
        return "\n".join(lines + [f"left out: {law} ({why})" for law, why in self.left_out])

    def to_json(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return {"subject": self.subject, "laws": list(self.laws), "left_out": dict(self.left_out)}

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


Law = Callable[[], str | None]
"""Checks something: returns why it says nothing here, or None; raises `Broken` where it does not hold."""


def run_laws(subject: object, laws: Mapping[str, Law], only: Iterable[str] | None = None) -> Checked:
    """Run the laws in their order.

    Args:
        subject: what they are about.
        laws: by their names.
        only: the names of those to run; all where it is not given.

    Raises:
        ConformanceError: one does not hold, or raises something unexpected.
        ArgumentError: ``only`` names a law that there is not.
    """
    named = visible(repr(subject), _LONGEST_SUBJECT)
    chosen = list(laws) if only is None else list(only)
    unknown = [law for law in chosen if law not in laws]
    if unknown:
        raise ArgumentError(f"there is no law {unknown[0]!r}; there are: {', '.join(laws)}")
    kept, left_out = [], []
    for law in chosen:
        try:
            reason = laws[law]()
        except Broken as broken:
            raise ConformanceError(law, named, str(broken)) from None
        except Exception as error:
            raise ConformanceError(law, named, f"it raises {type(error).__name__}: {error}") from error
        if reason is None:
            kept.append(law)
        else:
            left_out.append((law, reason))
    return Checked(named, tuple(kept), tuple(left_out))
