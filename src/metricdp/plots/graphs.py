"""A metric as a graph: which secrets are neighbours, how far apart, and which pairs a channel tells apart as it may."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError
from metricdp.metrics.picture import GraphPicture
from metricdp.metrics.space import Space
from metricdp.plots.arguments import as_picture
from metricdp.plots.canvas import COLOURS, FAINT, TEXT, canvas, noted, put_title, shortened
from metricdp.plots.svg import INK, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["graph"]

_FLAT = 1e-6
_MOST_LABELS = 24
_MOST_NAMES = 80
_MANY_LINES = 200
_NEAR = 1e-9
_SIGNS = 60
"""So many signs stand side by side below a row of points."""


def graph(
    space: Space,
    *,
    places: Mapping[Any, Sequence[float]] | None = None,
    names: Mapping[Any, str] | None = None,
    channel: ChannelLike | None = None,
    path: Iterable[Any] = (),
    distances: bool | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """The points of a space, joined where no other distances imply theirs.

    Args:
        space: the points and the metric.
        places: two coordinates for each point; their own, or about right, where not given.
        names: what to call points.
        channel: pairs that it tells apart exactly as far as the metric allows are drawn thick.
        path: points one after the other, joined by a line of another colour.
        distances: whether to write them; only where they differ and are few, where not given.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    References:
        Paper 3, Figs. 1, 5 and 7; paper 5, Figs. 6b and 7b.

    >>> import metricdp as mdp
    >>> figure = graph(mdp.Space.bits(2))
    >>> [edge[:2] for edge in mdp.plots.data_of(figure)[0]["edges"]]
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    picture = as_picture(space, GraphPicture, "graph", "a Space, such as mdp.Space.line(3)")
    at = np.array(picture.places if places is None else _places(space, places))
    called = [(names or {}).get(point, name) for point, name in zip(space.points, picture.names, strict=True)]
    tight = set() if channel is None else _tight(space, as_channel(channel, "graph", space.points))
    line = float(np.ptp(at[:, 1])) <= _FLAT * float(np.ptp(at[:, 0]))
    if line:  # whatever rounding made of it
        at[:, 1] = 0
    wide, high = (float(span) or 1.0 for span in np.ptp(at, axis=0))
    bends = line and any(_over_others(at, i, j) for i, j, _ in picture.edges)
    figure, axes = canvas(ax, min(3.6, max(0.9 if line and not bends else 1.7, 2.9 * high / wide + 0.6)))
    lengths = {round(length, 9) for *_, length in picture.edges}
    few = len(picture.edges) <= _MOST_LABELS
    told = (len(lengths) > 1 and few) if distances is None else distances
    _edges(axes, picture, at, bends, tight)
    for i, j, length in picture.edges:
        if told:
            middle = (at[i] + at[j]) / 2
            axes.annotate(
                f"{length:.3g}", (float(middle[0]), float(middle[1])), fontsize=TEXT - 2, color=INK, ha="center",
                va="center", zorder=3, bbox={"facecolor": "white", "alpha": 0.8, "pad": 0.6, "linewidth": 0},
            )  # fmt: skip
    way = [space.index(point) for point in path]
    if way:
        axes.plot(*at[way].T, color=COLOURS[4], linewidth=4, alpha=0.7, zorder=1.5, solid_capstyle="round")
    axes.scatter(at[:, 0], at[:, 1], s=24, color=COLOURS[0], zorder=4, linewidths=0)
    if len(called) <= _MOST_NAMES:
        from matplotlib.patheffects import withStroke

        shift = (0, -11) if line else (4, 4)
        step = _every(called) if line else 1
        for (x, y), name in list(zip(at.tolist(), called, strict=True))[::step]:
            axes.annotate(
                shortened(name, 18), (x, y), shift, textcoords="offset points", fontsize=TEXT - 1, color=INK,
                ha="center" if line else "left", zorder=5, path_effects=[withStroke(linewidth=2, foreground="white")],
            )  # fmt: skip
    axes.set_axis_off()
    axes.margins(0.12, 0.25 if line else 0.15)
    if not line:
        axes.set_aspect("equal")
    caption = f"distances: {picture.metric}" + ("; thick: told apart as far as allowed" if channel is not None else "")
    axes.text(
        0.5, -0.02, literal(caption), transform=axes.transAxes, fontsize=TEXT - 1, color=INK, ha="center", va="top"
    )
    put_title(axes, title)
    return _noted(figure, axes, picture, at, called, tight, way, title)


def _every(names: Sequence[Any]) -> int:
    """Of so many names of points in a row one is written, that they do not cover each other."""
    longest = max(len(shortened(name, 18)) for name in names)
    return -(-len(names) * (longest + 1) // _SIGNS)


def _over_others(at: Any, i: int, j: int) -> bool:
    """Whether another point of a line lies between two of them."""
    low, high = sorted((float(at[i, 0]), float(at[j, 0])))
    room = _FLAT * (high - low)
    return bool(((at[:, 0] > low + room) & (at[:, 0] < high - room)).any())


def _edges(axes: Axes, picture: GraphPicture, at: Any, bends: bool, tight: set[tuple[int, int]]) -> None:
    """Straight lines; on a line those over other points are bent."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import FancyArrowPatch

    straight: dict[bool, list[Any]] = {False: [], True: []}
    for i, j, _ in picture.edges:
        thick = (i, j) in tight or (j, i) in tight
        look: dict[str, Any] = {"color": COLOURS[1] if thick else FAINT, "linewidth": 2.2 if thick else 0.8}
        if bends and _over_others(at, i, j):
            bent: dict[str, Any] = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 0, "connectionstyle": "arc3,rad=-0.45"}
            axes.add_patch(FancyArrowPatch(tuple(at[i]), tuple(at[j]), zorder=2, **look, **bent))
        else:
            straight[thick].append(at[[i, j]])
    for thick, lines in straight.items():
        colour, width = (COLOURS[1], 2.2) if thick else (FAINT, 0.8 if len(lines) <= _MANY_LINES else 0.3)
        pale = min(1.0, max(0.15, _MANY_LINES / max(1, len(lines))))
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=pale, zorder=2))


def _places(space: Space, places: Mapping[Any, Sequence[float]]) -> list[tuple[float, ...]]:
    """Two coordinates for each point."""
    found = []
    for row, point in enumerate(space.points):
        try:
            found.append(tuple(map(float, places[point])))
        except (KeyError, TypeError, ValueError):
            found.append(())
        if len(found[-1]) != 2:
            raise ArgumentError(f"row {row}: the point {point!r} has no two coordinates in places")
    return found


def _tight(space: Space, channel: Channel) -> set[tuple[int, int]]:
    """Pairs for which some output has probabilities in the ratio exp(d), as far as floats can tell."""
    if missing := [point for point in space.points if point not in channel.inputs]:
        raise ArgumentError(f"{missing[0]!r} is a point of the space, but not an input of the channel")
    rows = np.array([channel.matrix[channel.inputs.index(point)] for point in space.points])
    found = set()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        for i in range(len(space)):
            reached = np.nanmax(logs[i] - logs, axis=1)
            for j in np.flatnonzero(np.abs(reached - space.distances[i]) <= _NEAR).tolist():
                if i != j and math.isfinite(float(space.distances[i, j])):
                    found.add((i, j))
    return found


def _noted(
    figure: Figure, axes: Axes, picture: GraphPicture, at: Any, called: Sequence[str],
    tight: set[tuple[int, int]], way: Sequence[int], title: str,
) -> Figure:  # fmt: skip
    head = f"{title}. " if title else ""
    words = f"{head}A graph of {len(called)} points and {len(picture.edges)} neighbouring pairs; {picture.metric}."
    if tight:
        words += f" {len(tight)} ordered pairs are told apart as far as allowed."
    data = {"plot": "graph"} | picture.to_json() | {"places": at.tolist(), "names": list(called)}
    return noted(figure, axes, words, data | {"tight": sorted(map(list, tight)), "path": list(way)})
