"""Pictures as SVG text in the colours of the page; what they show is computed elsewhere."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from metricdp.mechanisms.picture import short_number
from metricdp.visible import visible

__all__ = ["Chart", "bars", "legend", "svg"]

ACCENT, MARK, SECOND, FAINT = "var(--accent)", "var(--mark)", "var(--second)", "var(--faint)"


def svg(width: float, height: float, title: str, parts: Iterable[str], text: float = 12) -> str:
    """One picture with words for those who do not see it.

    >>> svg(10, 5, "nothing", [])
    '<svg class="own" role="img" aria-label="nothing" viewBox="0 0 10 5" fill="currentColor" font-size="12"></svg>'
    """
    return (
        f'<svg class="own" role="img" aria-label="{html.escape(visible(title))}" viewBox="0 0 {width:g} {height:g}" '
        f'fill="currentColor" font-size="{text:g}">{"".join(parts)}</svg>'
    )


class Chart:
    """A picture over an axis of numbers.

    Args:
        low: the left end.
        high: the right end.
        top: the greatest height that is drawn.
        width: of the picture.
        height: of the picture.
    """

    edge, bottom, room = 14.0, 26.0, 68.0

    def __init__(self, low: float, high: float, top: float, width: float = 640, height: float = 300) -> None:
        self.low, self.high, self.top, self.width, self.height = low, high, top or 1.0, width, height
        self.floor = height - self.bottom
        self.parts: list[str] = []

    def across(self, place: float) -> float:
        """Where a place stands in the picture."""
        return self.edge + (place - self.low) / (self.high - self.low) * (self.width - 2 * self.edge)

    def back(self, share: float) -> float:
        """The place at a share of the picture's width."""
        return self.low + (share * self.width - self.edge) / (self.width - 2 * self.edge) * (self.high - self.low)

    def up(self, part: float) -> float:
        """How high something is drawn."""
        return self.floor - 0.92 * min(part / self.top, 1.08) * (self.floor - self.room)

    def axis(self, label: str = "", most: int = 8) -> Chart:
        """The line below, with numbers."""
        self.parts.append(_line(self.edge, self.floor, self.width - self.edge, self.floor))
        for tick in _ticks(self.low, self.high, most):
            self.parts.append(_line(self.across(tick), self.floor, self.across(tick), self.floor + 4))
            self.parts.append(words(short_number(tick), self.across(tick), self.floor + 16))
        if label:
            self.parts.append(words(label, self.width - self.edge, 12, "end"))
        return self

    def curve(self, places: Sequence[float], heights: Sequence[float], colour: str, fill: bool = True) -> Chart:
        """A line, with what is below it in a lighter tone."""
        points = [(self.across(place), self.up(part)) for place, part in zip(places, heights, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        if fill:
            area = f"{points[0][0]:.1f},{self.floor:g} {line} {points[-1][0]:.1f},{self.floor:g}"
            self.parts.append(f'<polygon points="{area}" style="fill: {colour}" fill-opacity=".16"/>')
        self.parts.append(f'<polyline points="{line}" fill="none" style="stroke: {colour}" stroke-width="2"/>')
        return self

    def stem(self, place: float, name: str, colour: str, row: int, anchor: str, dashed: bool = False) -> Chart:
        """A mark at a place, with its name above."""
        x, y = self.across(place), 14 + 19 * row
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<path d="M{x:.1f} {y + 4:.1f}V{self.floor:g}" style="stroke: {colour}" stroke-width="1.5"{dashes}/>'
        )
        self.parts.append(f'<circle cx="{x:.1f}" cy="{self.floor:g}" r="6" style="fill: {colour}"/>')
        aside = {"start": 5, "end": -5}.get(anchor, 0)
        if anchor == "middle":
            anchor = "start" if x < 40 else "end" if x > self.width - 40 else anchor
        self.parts.append(words(name, x + aside, y, anchor, colour))
        return self

    def span(self, low: float, high: float, name: str, colour: str, row: int = 0) -> Chart:
        """A length over the axis, with its name."""
        y = self.floor - 10 - 16 * row
        left, right = self.across(max(low, self.low)), self.across(min(high, self.high))
        self.parts.append(f'<path d="M{left:.1f} {y:g}H{right:.1f}" style="stroke: {colour}" stroke-width="3"/>')
        self.parts.append(words(name, left + 4, y - 6, "start"))
        return self

    def text(self, title: str) -> str:
        """The picture."""
        return svg(self.width, self.height, title, self.parts)


def bars(
    groups: Sequence[Sequence[float]],
    names: Sequence[str],
    colours: Sequence[str],
    title: str,
    size: tuple[float, float] = (640, 170),
) -> str:
    """For each name a bar of each group, side by side, with their numbers as percents above.

    >>> bars([[0.5, 0.5], [0.25, 0.75]], ["a", "b"], [ACCENT, MARK], "two").count("<rect")
    4
    """
    width, height = size
    floor, top = height - 26, max((value for group in groups for value in group), default=1.0) or 1.0
    each = (width - 12) / max(len(names), 1)
    parts = [_line(6, floor, width - 6, floor)]
    for place, name in enumerate(names):
        wide = 0.8 * each / len(groups)
        for row, group in enumerate(groups):
            left, tall = 6 + each * (place + 0.1) + row * wide, (floor - 22) * group[place] / top
            parts.append(
                f'<rect x="{left:.1f}" y="{floor - tall:.1f}" width="{0.94 * wide:.1f}" height="{tall:.1f}" '
                f'style="fill: {colours[row]}"/>'
            )
            parts.append(words(f"{100 * group[place]:.0f}", left + 0.47 * wide, floor - tall - 4))
        parts.append(words(name, 6 + each * (place + 0.5), height - 8))
    return svg(width, height, title, parts, 11)


def legend(colours: Iterable[tuple[str, str]]) -> str:
    """What each colour of a picture stands for, below it.

    >>> legend([(ACCENT, "before")])
    '<div class="legend"><span style="--colour: var(--accent)">before</span></div>'
    """
    shown = "".join(f'<span style="--colour: {colour}">{html.escape(name)}</span>' for colour, name in colours)
    return f'<div class="legend">{shown}</div>'


def words(text: str, x: float, y: float, anchor: str = "middle", colour: str = "") -> str:
    """Text in a picture."""
    style = f' style="fill: {colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{html.escape(visible(text))}</text>'


def _line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="currentColor" stroke-width=".8" fill="none"/>'


def _ticks(low: float, high: float, most: int) -> list[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= most)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
