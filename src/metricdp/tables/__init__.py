"""Sanitize files and frames: policy, batches, engines, report."""

from metricdp.tables.policy import Policy
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.sanitize import sanitize

__all__ = ["Policy", "Release", "Report", "sanitize"]
