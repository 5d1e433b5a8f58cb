"""Figures as SVG that stands inside a page and takes the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metricdp.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ACCENT", "INK", "MARK", "literal", "quietly", "to_svg"]

INK, ACCENT, MARK = "#0a0b0c", "#1d6fb8", "#c2410c"
"""The colours that figures are drawn in: text and axes, what is shown, what is marked."""

_COLOURS = {INK: "currentColor", ACCENT: f"var(--accent, {ACCENT})", MARK: f"var(--mark, {MARK})"}


def literal(words: str) -> str:
    """Words for matplotlib that come from outside: visible, and dollar signs do not make a formula of them."""
    return visible(words).replace("$", r"\$")


@contextmanager
def quietly() -> Iterator[None]:
    """Draw without a warning for every sign that the font does not have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def to_svg(figure: Figure, title: str) -> str:
    """One ``<svg>`` element; the same figure gives the same text.

    Args:
        figure: drawn in the three colours of this file, on no background.
        title: what it shows, for those who do not see it.

    >>> from matplotlib.figure import Figure
    >>> to_svg(Figure(), "nothing")[:40]
    '<svg role="img" aria-label="nothing" xml'
    """
    import html

    import matplotlib

    from metricdp.plots.arguments import as_figure

    figure = as_figure(figure, "to_svg")
    text = io.StringIO()
    # Text stays text, and names are the same each time.
    with quietly(), matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|PolyCollection)_\d+"', "", svg)
    for drawn, shown in _COLOURS.items():
        svg = svg.replace(drawn, shown)
    svg = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font-size: \1; font-family: inherit", svg)
    svg = re.sub(r' (?:width|height)="[0-9.]+pt"', "", svg, count=2)
    return svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(visible(title))}"', 1).strip()
