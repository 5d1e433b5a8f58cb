"""Sanitize files and frames: what is done to each column, engines, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.tables._sanitize import sanitize, validate
    from metricdp.tables.release import Release
    from metricdp.tables.report import Report
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Release": "release",
            "Report": "report",
            "sanitize": "_sanitize",
            "validate": "_sanitize",
        },
    )

__all__ = ["Release", "Report", "sanitize", "validate"]
