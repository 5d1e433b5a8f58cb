"""Sanitize files and frames: policy, batches, engines, report; and channels in files."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.tables.channel_files import read_channel, write_channel
    from metricdp.tables.policy import Policy
    from metricdp.tables.release import Release
    from metricdp.tables.report import Report
    from metricdp.tables.sanitizing import sanitize

_HOME = {
    "Policy": "policy",
    "Release": "release",
    "Report": "report",
    "read_channel": "channel_files",
    "sanitize": "sanitizing",
    "write_channel": "channel_files",
}

__all__ = ["Policy", "Release", "Report", "read_channel", "sanitize", "write_channel"]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: not every one of them needs the libraries of the others."""
    if name in _HOME:
        return getattr(importlib.import_module(f"metricdp.tables.{_HOME[name]}"), name)
    raise AttributeError(f"module 'metricdp.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
