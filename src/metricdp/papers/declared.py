"""Where the items are declared: a file or more for each paper, in the order in which they are listed."""

from __future__ import annotations

from importlib import import_module

__all__ = ["FILES", "load"]

FILES = (
    "paper_1.figures",
    "paper_1.theorems",
    "paper_2.examples",
    "paper_2.theorems",
    "paper_3.figures",
    "paper_3.theorems",
    "paper_4.figures",
    "paper_4.theorems",
    "paper_5.figures",
    "paper_5.tables",
    "paper_5.theorems",
    "paper_5.examples",
)
"""The modules of this folder that declare items."""


def load() -> None:
    """Import all of them."""
    for name in FILES:
        import_module(f"metricdp.papers.{name}")
