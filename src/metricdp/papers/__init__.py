"""Every experiment, table and figure of the five papers, re-run beside what was printed."""

from metricdp.lazy import listing
from metricdp.papers.item import Found, Item, PaperClaim, Size, items_of
from metricdp.papers.running import Outcome, PaperReport, run, run_all

__all__ = ["Found", "Item", "Outcome", "PaperClaim", "PaperReport", "Size", "items_of", "run", "run_all"]

__dir__ = listing(__all__)
