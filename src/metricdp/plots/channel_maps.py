"""Channels on a map: where one secret is released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.adversaries import as_prior
from metricdp.channels.arguments import as_channel
from metricdp.channels.channel import Channel
from metricdp.errors import KindError, UnknownCategoryError
from metricdp.exact.arrays import Floats
from metricdp.metrics import EARTH_RADIUS
from metricdp.metrics.metric import Metric
from metricdp.plots.canvas import canvas, noted, require_matplotlib, shortened
from metricdp.plots.svg import ACCENT, INK, MARK, quietly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["channel_map"]

_GREY, _DIM = "#9aa1a9", "#6b7280"
_HEIGHT = 5.2
_MOST_BARS = 10
_MOST_NAMES = 30
_MOST_LINES = 16
_BUBBLE = 2200.0  # square points, for a probability of one; more where all probabilities are small
_SEEN = 0.005  # probabilities below it get no line
_TEXT = 9.0

Place = tuple[float, float]
Box = tuple[float, float, float, float]


def channel_map(
    channel: Channel,
    secret: Any,
    places: Mapping[Any, Sequence[float]] | None = None,
    names: Mapping[Any, str] | None = None,
    prior: Any = None,
    ax: Axes | None = None,
) -> Figure:
    """Where one secret of a channel on a map is released: a bubble at each place, as large as it is likely.

    Places are drawn in metres around their middle where the channel's promise is in metres on the globe, and otherwise
    as they are. The dashed circle is where likelihoods may differ by a factor 2: nearer places look more alike.

    Args:
        channel: from points of the plane or the globe, to others.
        secret: one of its inputs.
        places: two coordinates for every input and output; the labels themselves, unless given.
        names: what to call them.
        prior: of the inputs, as `metricdp.adversaries.as_prior` takes it; the rings of the places are as large.
        ax: where to draw the map, without the bars beside it; a figure of its own, with them, where not given.

    Raises:
        KindError: a label without two coordinates.
        MissingExtraError: matplotlib is not installed.

    >>> from metricdp.channels import Channel
    >>> corners = [(0, 0), (0, 1), (1, 0)]
    >>> noise = Channel.from_matrix(corners, corners, [["1/2", "1/4", "1/4"]] * 3)
    >>> channel_map(noise, (0, 1)).axes[0].get_title(loc="left")
    'What is released for (0, 1)'
    """
    require_matplotlib()
    channel = as_channel(channel, "channel_map")
    if secret not in channel.inputs:
        raise UnknownCategoryError(f"{secret!r} is not among the inputs of the channel")
    metric = None if channel.promise is None else channel.promise.metric
    labels = list(dict.fromkeys([*channel.inputs, *channel.outputs]))
    globe = metric is not None and metric.on_globe
    where = {label: (x, y) for label, (x, y) in zip(labels, _projected(labels, places, globe).tolist(), strict=True)}
    called = {label: (names or {}).get(label, str(label)) for label in labels}
    chances = channel.matrix[channel.inputs.index(secret)]

    spots = np.array(list(where.values()))
    wide, high = np.ptp(_bounds(spots), axis=0).tolist()
    width = _HEIGHT * min(max(wide / high, 0.75), 1.6)
    scale = max(_BUBBLE, min(500 / float(chances.max()), 6 * _BUBBLE))
    figure, axes, bars = _panels(ax, width)
    axes.set_title(f"What is released for {shortened(called[secret], 36)}", loc="left", fontsize=13, color=INK)
    rings = _ring_sizes(channel.inputs, prior, scale)
    _places(axes, [where[x] for x in channel.inputs], rings)
    _flights(axes, where[secret], [where[z] for z in channel.outputs], chances, scale)
    axes.set_aspect("equal")
    (left, low), (right, up) = _bounds(spots).tolist()
    axes.set(xlim=(left, right), ylim=(low, up))
    axes.set_xlabel("\n".join(_caption(axes, where[secret], metric)), color=_DIM, fontsize=_TEXT, loc="left")
    _rule(axes, globe)
    if bars is not None:
        _bars(bars, [called[z] for z in channel.outputs], chances, [z == secret for z in channel.outputs])
        if channel.promise is not None:
            bars.set_title(str(channel.promise), loc="right", fontsize=_TEXT, color=_DIM)
    with quietly():
        figure.draw_without_rendering()
    sizes = dict(zip(channel.inputs, rings.tolist(), strict=True))
    for z, chance in zip(channel.outputs, chances.tolist(), strict=True):
        sizes[z] = max(sizes.get(z, 0.0), scale * chance)
    _names(axes, called, where, dict(zip(channel.outputs, chances.tolist(), strict=True)), sizes, secret)
    likeliest = called[channel.outputs[int(chances.argmax())]]
    words = f"A map of where {called[secret]} is released, most often at {likeliest}: {chances.max():.0%}."
    data = {
        "plot": "channel_map",
        "secret": called[secret],
        "places": {called[label]: list(place) for label, place in where.items()},
        "chances": {called[z]: chance for z, chance in zip(channel.outputs, chances.tolist(), strict=True)},
    }
    return noted(figure, axes, words, data)


def _panels(ax: Axes | None, width: float) -> tuple[Figure, Axes, Axes | None]:
    if ax is not None:
        return *canvas(ax), None
    figure = require_matplotlib()(figsize=(width + 3.6, _HEIGHT + 0.8), layout="constrained")
    axes, bars = figure.subplots(1, 2, width_ratios=(width, 2.6))
    return figure, axes, bars


# The map


def _projected(labels: Sequence[Any], places: Mapping[Any, Sequence[float]] | None, globe: bool) -> Floats:
    """Two coordinates for each label: east and north in metres from the middle, on the globe."""
    pairs: list[list[float]] = []
    for label in labels:
        place = label if places is None else places.get(label)
        try:
            pairs.append([float(part) for part in place])  # type: ignore[union-attr]  # refused just below
        except (TypeError, ValueError):
            pairs.append([])
        if len(pairs[-1]) != 2:
            raise KindError(f"{label!r} has no two coordinates, and there is no map without them")
    table = np.array(pairs, dtype=np.float64)
    if not globe:
        return table
    latitude, longitude = np.radians(table).T
    middle = math.atan2(float(np.sin(longitude).mean()), float(np.cos(longitude).mean()))
    turned = (longitude - middle + np.pi) % (2 * np.pi) - np.pi  # no gap where the date line is
    height = (latitude.min() + latitude.max()) / 2
    return float(EARTH_RADIUS) * np.column_stack([turned * math.cos(height), latitude - height])


def _places(axes: Axes, places: Sequence[Place], sizes: Floats) -> None:
    """Every place as a ring, as large as it is likely to be the secret."""
    spots = np.array(places)
    axes.scatter(spots[:, 0], spots[:, 1], s=sizes, facecolors="none", edgecolors=_GREY, linewidths=0.8, zorder=2)


def _ring_sizes(inputs: Sequence[Any], prior: Any, scale: float) -> Floats:
    sizes: Floats = 8 + scale * as_prior("uniform" if prior is None else prior, inputs).floats
    return sizes


def _flights(axes: Axes, start: Place, ends: Sequence[Place], chances: Floats, scale: float) -> None:
    """A bubble at each output, and a bent line to each of the likeliest."""
    from matplotlib.patches import FancyArrowPatch

    shown = chances > 0
    spots = np.array(ends)[shown]
    axes.scatter(spots[:, 0], spots[:, 1], s=scale * chances[shown], color=ACCENT, alpha=0.55, linewidths=0, zorder=4)
    for place in np.argsort(-chances, kind="stable")[:_MOST_LINES].tolist():
        end, chance = ends[place], float(chances[place])
        if chance >= _SEEN and end != start:
            bend = FancyArrowPatch(
                start,
                end,
                connectionstyle="arc3,rad=0.16",
                arrowstyle="-",
                linewidth=0.5 + 7 * chance,
                color=ACCENT,
                alpha=0.4,
                zorder=3,
            )
            axes.add_patch(bend)
    axes.scatter([start[0]], [start[1]], s=150, facecolors="none", edgecolors=MARK, linewidths=2, zorder=6)
    axes.scatter([start[0]], [start[1]], s=12, color=MARK, linewidths=0, zorder=6)


def _bounds(spots: Floats) -> Floats:
    """Two corners with room around the places, and not too narrow a map where they lie on a line."""
    low, high = spots.min(axis=0), spots.max(axis=0)
    middle, widths = (low + high) / 2, high - low
    widths = np.maximum(widths, 0.35 * float(widths.max()) or 1.0)
    return np.array([middle - 0.6 * widths, middle + 0.6 * widths])


def _caption(axes: Axes, start: Place, metric: Metric | None) -> list[str]:
    """What is drawn how, in a line each; draws the circle within which likelihoods differ by a factor 2 at most."""
    lines = ["discs: how likely a place is released; rings: how likely it was the secret"]
    if metric is None or not (metric.on_globe or metric.norm == 2):
        return lines
    from matplotlib.patches import Circle

    radius = math.log(2) / float(metric.level)
    circle = Circle((start[0], start[1]), radius, fill=False, color=MARK, linewidth=1, linestyle=(0, (4, 3)), zorder=5)
    axes.add_patch(circle)
    return [*lines, f"dashed: places {_length(radius, metric.unit_name)} apart look alike up to a factor 2"]


def _rule(axes: Axes, globe: bool) -> None:
    """On the globe a bar of a round length in place of ticks."""
    for spine in axes.spines.values():
        spine.set(color=_GREY, linewidth=0.6)
    axes.tick_params(colors=_GREY, labelsize=_TEXT - 1, width=0.6)
    if not globe:
        axes.locator_params(nbins=6)
        return
    axes.set_xticks([])
    axes.set_yticks([])
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    length = _round_length((right - left) / 4)
    x, y = right - 0.04 * (right - left) - length, low + 0.05 * (high - low)
    axes.plot([x, x + length], [y, y], color=INK, linewidth=2, solid_capstyle="butt", zorder=7)
    axes.text(x + length / 2, y, f"{_length(length, 'm')}\n", ha="center", va="center", fontsize=_TEXT - 1, color=INK)


def _round_length(most: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that is not larger."""
    power = 10.0 ** math.floor(math.log10(most))
    return next(power * step for step in (5, 2, 1) if power * step <= most * (1 + 1e-9))


def _length(length: float, unit: str) -> str:
    if unit == "m" and length >= 1000:
        return f"{length / 1000:,.4g} km"
    return f"{length:.4g} {unit}".rstrip()


def _names(
    axes: Axes,
    called: Mapping[Any, str],
    where: Mapping[Any, Place],
    chances: Mapping[Any, float],
    sizes: Mapping[Any, float],
    secret: Any,
) -> None:
    """Names beside their places, the likeliest first, each where it covers nothing; some may find no room."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    scale = figure.dpi / 72
    spots = {label: axes.transData.transform(place) for label, place in where.items()}
    frame = axes.get_window_extent()
    radii = {label: scale * math.sqrt(sizes.get(label, 0.0) / math.pi) for label in where}
    radii[secret] = max(radii[secret], 8 * scale)
    taken: list[Box] = [
        (x - 0.7 * radii[label] - 2, y - 0.7 * radii[label] - 2, x + 0.7 * radii[label] + 2, y + 0.7 * radii[label] + 2)
        for label, (x, y) in spots.items()
    ]
    order = sorted(where, key=lambda label: (label != secret, -chances.get(label, 0.0)))
    for label in order[:_MOST_NAMES]:
        chosen = label == secret
        size = _TEXT + 1 if chosen else _TEXT if chances.get(label, 0.0) >= _SEEN else _TEXT - 1
        text = shortened(called[label], 26)
        width, height = 0.56 * size * len(text) * scale, 1.2 * size * scale
        x, y = spots[label]
        away = radii[label] + 3 * scale
        left, right, above, below = x - away - width, x + away, y + away, y - away - height
        slanted = 0.3 * away
        options = [
            *((right, y - height / 2), (left, y - height / 2), (x - width / 2, above), (x - width / 2, below)),
            *((right - slanted, above - slanted), (left + slanted, above - slanted)),
            *((right - slanted, below + slanted), (left + slanted, below + slanted)),
        ]
        boxes = [(start, low, start + width, low + height) for start, low in options]
        free = [box for box in boxes if _inside(box, frame.extents) and not any(_meet(box, other) for other in taken)]
        if not free:
            continue
        box = free[0]
        taken.append(box)
        across, up = axes.transData.inverted().transform((box[0], box[1] + 0.22 * height)).tolist()
        colour = MARK if chosen else INK if chances.get(label, 0.0) >= _SEEN else _DIM
        weight = "bold" if chosen else "normal"
        halo = {"facecolor": "white", "alpha": 0.6, "pad": 0.8, "linewidth": 0}
        axes.text(across, up, text, fontsize=size, color=colour, fontweight=weight, zorder=8, bbox=halo)


def _inside(box: Box, frame: Any) -> bool:
    return bool(box[0] > frame[0] and box[1] > frame[1] and box[2] < frame[2] and box[3] < frame[3])


def _meet(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _bars(axes: Axes, names: Sequence[str], chances: Floats, own: Sequence[bool]) -> None:
    """The likeliest outputs by name, and the others together."""
    order = np.argsort(-chances, kind="stable")
    shown = [place for place in order[:_MOST_BARS].tolist() if chances[place] > 0]
    heights = chances[shown].tolist()
    texts = [shortened(names[place], 20) for place in shown]
    colours = [MARK if own[place] else ACCENT for place in shown]
    top, rest = max(heights), int((chances > 0).sum()) - len(shown)
    shares = list(heights)
    if rest > 0:  # without a bar, which might dwarf all others
        shares.append(float(chances.sum() - sum(heights)))
        heights.append(0.0)
        texts.append(f"{rest:,} others")
        colours.append(_GREY)
    rows = np.arange(len(heights))
    axes.barh(rows, heights, height=0.66, color=colours, alpha=0.75, linewidth=0)
    for row, (share, height) in enumerate(zip(shares, heights, strict=True)):
        axes.annotate(
            _percent(share), (height, row), (4, 0), textcoords="offset points", va="center", fontsize=_TEXT, color=INK
        )
    axes.set_yticks(rows.tolist(), texts)
    axes.set_ylim(max(len(heights), 6) - 0.4, -0.6)
    axes.set_xlim(0, 1.25 * top)
    axes.set_xticks([])
    axes.tick_params(colors=INK, labelsize=_TEXT, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


# Words


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f}%" if chance >= 0.0995 else f"{100 * chance:.1f}%" if chance >= 0.0005 else "under 0.1%"
