"""A report as it may be shown: no name in it steers a terminal, breaks a line or fills a page."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from metricdp.visible import visible, visible_name

if TYPE_CHECKING:
    from metricdp.tables.report.report import Report

__all__ = ["shown"]

_NAMES = ("name", "column", "columns", "kept", "dropped", "unbounded", "by", "source", "output")
_LONGEST_WORDS = 4000


def shown(report: Report) -> Report:
    """The report with every text in it in one line and visible, and long names shortened.

    A report may come from a file that somebody else wrote. What it stores, and writes as JSON, stays as it is.
    """
    seen: Report = _seen(report)
    return seen


def _seen(value: Any, name: bool = False) -> Any:
    if isinstance(value, str):
        return visible_name(value) if name else visible(value, _LONGEST_WORDS)
    if isinstance(value, tuple):
        return tuple(_seen(part, name) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        public = [field.name for field in fields(value) if not field.name.startswith("_")]
        return replace(value, **{key: _field(key, getattr(value, key)) for key in public})
    return value


def _field(key: str, value: Any) -> Any:
    if key == "policy_text" and value is not None:
        return "\n".join(visible(line, _LONGEST_WORDS) for line in value.splitlines())
    return _seen(value, key in _NAMES)
