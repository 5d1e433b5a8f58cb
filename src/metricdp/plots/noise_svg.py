"""The noise of a mechanism as SVG that stands inside a page and takes the page's colours; it needs no library."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable

from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.picture import NoisePicture, short_number
from metricdp.plots.arguments import as_picture
from metricdp.plots.svg import ACCENT, MARK
from metricdp.visible import visible

__all__ = ["noise_svg"]

_WIDTH, _HEIGHT = 317.0, 158.0
_EDGE, _TOP, _BOTTOM = 8.0, 20.0, 32.0
_TEXT = 10.5
_ROW = 18.0  # of a table
_NAMES = 88.0  # room for the names of a table's rows
_EVERY = 8  # of the points of a curve are drawn
_Scale = Callable[[float], float]
_ACCENT, _MARK = f"var(--accent, {ACCENT})", f"var(--mark, {MARK})"


def noise_svg(mechanism: Mechanism, unit: str | None = None, title: str = "") -> str:
    """One ``<svg>`` element: how likely a release is at each distance from its secret, or among categories.

    Args:
        mechanism: any of those on the line, in R^n, on the globe, among categories or sets.
        unit: what distances are counted in; the metric's own where it is not given.
        title: what it shows, for those who do not see it; words of its own where it is not given.

    >>> import metricdp as mdp
    >>> "released - secret, euros" in noise_svg(mdp.laplace(mdp.metrics.absolute().within(5)), "euros")
    True
    """
    picture = as_picture(mechanism, NoisePicture, "noise_svg", "a mechanism, such as mdp.laplace(metric)", unit)
    height = _TOP + _BOTTOM + _ROW * len(picture.places) if picture.shape == "table" else _HEIGHT
    parts = _table(picture) if picture.shape == "table" else _axis(picture, height)
    if picture.radius is not None:
        words = f"95% within {short_number(picture.radius)}"
        parts.append(_text(words, _WIDTH - _EDGE, 12, "end", f' style="fill: {_MARK}"'))
    if picture.note:
        parts.append(_text(picture.note, _EDGE, 12, "start"))
    parts.append(_text(picture.label, _WIDTH / 2, height - 5))
    shows = title or f"how likely a release is, by: {picture.label or 'category'}"
    return (
        f'<svg role="img" aria-label="{html.escape(visible(shows))}" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'xmlns="http://www.w3.org/2000/svg" fill="currentColor" font-size="{_TEXT}">{"".join(parts)}</svg>'
    )


def _axis(picture: NoisePicture, height: float) -> list[str]:
    """A curve or bars above an axis."""
    bars = picture.shape == "bars"
    room = picture.step / 2 if bars else 0.0
    low, high = float(picture.places[0]) - room, float(picture.places[-1]) + room
    floor, highest = height - _BOTTOM, float(picture.heights.max()) or 1.0

    def across(place: float) -> float:
        return _EDGE + (place - low) / (high - low) * (_WIDTH - 2 * _EDGE)

    def up(part: float) -> float:
        return floor - 0.95 * part / highest * (floor - _TOP)

    parts = _bars(picture, across, up, floor) if bars else _curve(picture, across, up, floor)
    parts.append(f'<path d="M{_EDGE:g} {floor:g}H{_WIDTH - _EDGE:g}" stroke="currentColor" stroke-width=".6"/>')
    if picture.names:
        ends = ("start", across(low)), ("middle", across((len(picture.places)) / 2))
        parts += [
            _text(name, place, floor + 13, anchor) for name, (anchor, place) in zip(picture.names, ends, strict=True)
        ]
        return parts
    for tick in _ticks(low, high, picture.whole):
        place = across(tick)
        parts.append(f'<path d="M{place:.1f} {floor:g}v3" stroke="currentColor" stroke-width=".6"/>')
        if 2 * _EDGE < place < _WIDTH - 2 * _EDGE:
            parts.append(_text(short_number(tick), place, floor + 13))
    return parts


def _curve(picture: NoisePicture, across: _Scale, up: _Scale, floor: float) -> list[str]:
    points = [
        (across(place), up(part), inside)
        for place, part, inside in zip(
            picture.places[::_EVERY].tolist(),
            picture.heights[::_EVERY].tolist(),
            picture.inside[::_EVERY].tolist(),
            strict=True,
        )
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    filled = [(x, y) for x, y, inside in points if inside]
    parts = []
    if filled:
        area = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(filled[0][0], floor), *filled, (filled[-1][0], floor)])
        parts.append(f'<polygon points="{area}" style="fill: {_ACCENT}" fill-opacity=".25"/>')
    parts.append(f'<polyline points="{line}" fill="none" style="stroke: {_ACCENT}" stroke-width="1.5"/>')
    parts += [
        f'<path d="M{across(mark):.1f} {_TOP:g}V{floor:g}" style="stroke: {_MARK}" stroke-dasharray="3 2"/>'
        for mark in picture.marks
    ]
    return parts


def _bars(picture: NoisePicture, across: _Scale, up: _Scale, floor: float) -> list[str]:
    half = 0.425 * picture.step
    parts = []
    bars = zip(picture.places.tolist(), picture.heights.tolist(), picture.inside.tolist(), strict=True)
    for place, part, inside in bars:
        left, right, top = across(place - half), across(place + half), up(part)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{floor - top:.1f}" '
            f'style="fill: {_ACCENT}" fill-opacity="{".85" if inside else ".35"}"/>'
        )
    return parts


def _table(picture: NoisePicture) -> list[str]:
    """Squares as large as their probabilities, a row for each truth."""
    parts = []
    for truth, (name, shares) in enumerate(zip(picture.names, picture.heights.tolist(), strict=True)):
        middle = _TOP + (truth + 0.5) * _ROW
        parts.append(_text(name, _NAMES - 6, middle + 3.5, "end"))
        for release, share in enumerate(shares):
            side = 0.95 * _ROW * math.sqrt(share)
            x = _NAMES + (release + 0.5) * _ROW
            colour = _ACCENT if picture.inside[truth, release] else _MARK
            parts.append(
                f'<rect x="{x - side / 2:.1f}" y="{middle - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" '
                f'style="fill: {colour}"/>'
            )
    return parts


def _ticks(low: float, high: float, whole: bool, most: int = 6) -> Iterable[float]:
    """Round numbers between two ends, few of them."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= most)
    if whole:
        step = max(1.0, step)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _text(words: str, x: float, y: float, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'
