"""Writes a report to a folder: a page, its data, the table for the docs, and the pictures."""

from __future__ import annotations

import json
from pathlib import Path

from metricdp.papers.listing import markdown
from metricdp.papers.page import page
from metricdp.papers.running import PaperReport

__all__ = ["FILES", "GALLERY", "write"]

FILES = ("papers.html", "papers.json", "papers.md")
"""What a folder gets, besides the pictures in its folder gallery."""

GALLERY = "gallery"


def write(report: PaperReport, folder: Path, *, pictures: bool = True, overwrite: bool = False) -> list[Path]:
    """Write ``papers.html``, ``papers.json``, ``papers.md`` and the pictures; each file appears whole or not at all.

    Args:
        report: what was found.
        folder: made where it is missing.
        pictures: whether to draw; the page then has them inside, and the JSON their data.
        overwrite: whether files may be replaced.

    Raises:
        FileError: a file exists already, or cannot be written.
        MissingExtraError: pictures are wanted, and matplotlib is not installed.
    """
    from metricdp.sources.whole_files import appearing

    folder.mkdir(parents=True, exist_ok=True)
    texts = (
        page(report, pictures),
        json.dumps(report.to_json(pictures), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        markdown(report, GALLERY),
    )
    written = []
    for name, text in zip(FILES, texts, strict=True):
        with appearing(folder / name, overwrite) as temporary:
            temporary.write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written + (_draw(report, folder / GALLERY, overwrite) if pictures else [])


def _draw(report: PaperReport, folder: Path, overwrite: bool) -> list[Path]:
    from metricdp.plots import save

    folder.mkdir(exist_ok=True)
    written = []
    for outcome in report.outcomes:
        for name, figure in outcome.figures().items():
            path = folder / f"{outcome.item.paper}-{name}.png"
            save(figure, path, overwrite=overwrite)
            written.append(path)
    return written
