"""Figures as files, the same bytes for the same figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.plots.svg import quietly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "save"]

PICTURES = (".svg", ".png", ".pdf")
"""Endings of the files that pictures are written to."""

_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def save(figure: Figure, path: Path, form: str) -> None:
    """Write a figure, on white, without a date in it.

    Args:
        figure: what was drawn.
        path: of the file.
        form: "svg", "png" or "pdf".
    """
    import matplotlib

    with quietly(), matplotlib.rc_context({"svg.hashsalt": "metricdp"}):
        figure.savefig(path, format=form, dpi=150, facecolor="white", metadata=_UNDATED[form])
