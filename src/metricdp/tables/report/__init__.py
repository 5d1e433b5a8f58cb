"""The report: what a release promises, what to expect of it, and what it does not promise."""

from metricdp.tables.report.report import PersonReport, Report

__all__ = ["PersonReport", "Report"]
