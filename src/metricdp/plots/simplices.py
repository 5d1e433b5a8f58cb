"""Beliefs about two, three or four secrets as points of a simplex: a segment, a triangle, a tetrahedron."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.adversaries import Prior, as_prior, hyper
from metricdp.adversaries.pictures import SimplexLayer, SimplexPicture
from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.plots.arguments import as_picture
from metricdp.plots.canvas import FAINT, TEXT, canvas, dress, legend, noted, shortened, style
from metricdp.plots.hulls import faces_in_space, ring_in_plane
from metricdp.plots.svg import INK, literal
from metricdp.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["simplex"]

_LARGEST = 4
_DOT, _BUBBLE = 18.0, 260.0  # square points; the second for a probability of one
_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0.5, 3**0.5 / 2, 0], [0.5, 3**0.5 / 6, (2 / 3) ** 0.5]])


def simplex(
    *things: Any,
    prior: Any = "uniform",
    secrets: Sequence[Any] | None = None,
    hulls: bool = True,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Channels, hypers, priors, vertices and kernels over the same two, three or four secrets, one over the other.

    A corner is the certainty of one secret, a point a belief. A channel or hyper is drawn as its posteriors, each as
    large as it is likely; vertices and lists of priors as points with what they enclose.

    Args:
        things: each a channel, a `Hyper`, a `Prior`, a list of priors, what has a ``picture()`` on a simplex, such as
            ``design.vertices(space)`` and ``design.kernels(space)``; or a mapping from names to such things.
        prior: what is believed before a channel is used.
        secrets: their names; those of the first thing where not given.
        hulls: whether to draw what points enclose, for things that enclose something.
        title: over the panel.
        ax: where to draw: with the projection "ternary" for three secrets, "3d" for four; a figure of its own where
            not given.

    Raises:
        TooLargeError: there are more than four secrets.
        ArgumentError: nothing to draw, or things over different secrets.
        MissingExtraError: matplotlib or, for three secrets, mpltern is not installed.

    References:
        Paper 3, Figs. 2 and 3; paper 5, Figs. 2, 4b and 5b.

    >>> import metricdp as mdp
    >>> space = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    >>> figure = simplex(mdp.design.vertices(space), {"uniform": mdp.adversaries.Prior.uniform(range(3))})
    >>> [layer["name"] for layer in mdp.plots.data_of(figure)[0]["layers"]]
    ['private posteriors', 'uniform']
    """
    pictures = [picture for thing in things for picture in _pictures(thing, prior, secrets)]
    names = _secrets(pictures, secrets)
    layers = [layer if hulls else replace(layer, hull=False) for picture in pictures for layer in picture.layers]
    shape = {2: _segment, 3: _triangle, 4: _tetrahedron}.get(len(names))
    if shape is None:
        few = "at least two are wanted" if len(names) < 2 else _advice(len(names))
        raise TooLargeError(f"a simplex of {len(names)} secrets cannot be drawn: {few}", f"{len(names)} secrets")
    figure, axes = shape(ax, names, layers)
    if title:
        axes.set_title(literal(title), fontsize=TEXT + 1, color=INK, pad=14 if len(names) == 3 else None)
    legend(axes, **_legend_place(len(names), len(layers)))
    drawn = SimplexPicture(tuple(names), tuple(layers))
    return noted(figure, axes, _words(drawn, title), {"plot": "simplex"} | drawn.to_json())


def _advice(count: int) -> str:
    return (
        f"it has {count - 1} dimensions. Look at channels.restrict(channel, points) with up to {_LARGEST} of them, or "
        "at plots.heat_map, which has no limit"
    )


# What is drawn


def _pictures(thing: Any, prior: Any, secrets: Sequence[Any] | None) -> Iterable[SimplexPicture]:
    if isinstance(thing, Mapping):
        for name, part in thing.items():
            for picture in _pictures(part, prior, secrets):
                several = len(picture.layers) > 1
                renamed = [replace(one, name=f"{name}: {one.name}" if several else str(name)) for one in picture.layers]
                yield replace(picture, layers=tuple(renamed))
    elif isinstance(thing, SimplexPicture):
        yield thing
    elif isinstance(thing, Prior):
        yield SimplexPicture.of(thing.points, "prior", [thing.floats])
    elif isinstance(thing, (list, tuple)) and _are_beliefs(thing, secrets):
        yield _enclosed(thing, secrets)
    elif isinstance(thing, Channel) or not hasattr(thing, "picture"):
        yield hyper(prior, thing).picture("channel")
    else:
        yield as_picture(thing, SimplexPicture, "simplex", "hypers, priors, channels, vertices or kernels")


def _are_beliefs(listed: Sequence[Any], secrets: Sequence[Any] | None) -> bool:
    return not listed or any(isinstance(one, Prior) for one in listed) or secrets is not None


def _enclosed(beliefs: Sequence[Any], secrets: Sequence[Any] | None) -> SimplexPicture:
    """A list of priors, or of rows of probabilities, as a region."""
    points = next((one.points for one in beliefs if isinstance(one, Prior)), secrets)
    if points is None:
        return SimplexPicture((), (SimplexLayer("nothing", ()),))
    rows = [as_prior(one, points).floats for one in beliefs]
    return SimplexPicture.of(points, "priors", rows, hull=True)


def _secrets(pictures: Sequence[SimplexPicture], secrets: Sequence[Any] | None) -> list[str]:
    if secrets is not None:
        names = [visible(str(secret)) for secret in secrets]
    else:
        names = next((list(picture.secrets) for picture in pictures if picture.secrets), [])
    if not names:
        raise ArgumentError("there is no belief to draw, and nothing says what the secrets are: give secrets=")
    for picture in pictures:
        for layer in picture.layers:
            if any(len(point) != len(names) for point in layer.points):
                raise ArgumentError(f"{layer.name!r} is about other secrets than {', '.join(names[:_LARGEST])}")
    return names


# How


def _segment(ax: Axes | None, names: Sequence[str], layers: Sequence[SimplexLayer]) -> tuple[Figure, Axes]:
    figure, axes = canvas(ax, 1.1 + 0.22 * len(layers))
    for row, layer in enumerate(layers):
        at = [point[1] for point in layer.points]
        look = style(row, marker=True)
        axes.plot([0, 1], [-row, -row], color=FAINT, linewidth=0.6, zorder=1)
        if layer.hull and at:
            axes.plot([min(at), max(at)], [-row, -row], color=look["color"], linewidth=4, alpha=0.3, zorder=2)
        axes.scatter(at, [-row] * len(at), s=_sizes(layer), label=_named(layer), alpha=0.8, zorder=3, **look)
    axes.set(xlim=(-0.04, 1.04), ylim=(-len(layers) + 0.5, 0.6))
    axes.set_yticks([])
    dress(axes, f"probability of {shortened(names[1])} (of {shortened(names[0])}: one minus it)")
    axes.spines["left"].set_visible(False)
    return figure, axes


def _triangle(ax: Axes | None, names: Sequence[str], layers: Sequence[SimplexLayer]) -> tuple[Figure, Axes]:
    figure, axes = canvas(ax, 3.3, projection="ternary")
    panel: Any = axes
    for row, layer in enumerate(layers):
        look = style(row, marker=True)
        points = np.array(layer.points, dtype=np.float64).reshape(-1, 3)
        if layer.hull and len(points) > 1:
            ring = points[ring_in_plane(points @ _CORNERS[:3, :2])]
            panel.fill(*ring.T, facecolor=look["color"], alpha=0.13, linewidth=0, zorder=2)
            panel.plot(*np.vstack([ring, ring[:1]]).T, color=look["color"], linewidth=1, zorder=3)
        if len(points):
            panel.scatter(*points.T, s=_sizes(layer), label=_named(layer), zorder=4 + row, **_dots(layer, look))
        else:
            panel.scatter([], [], [], label=_named(layer), **look)
        for point, label in zip(points, layer.labels, strict=False):
            panel.annotate(
                literal(label), tuple(point), (3, 3), textcoords="offset points", fontsize=TEXT - 1, color=INK, zorder=9
            )
    for put, name in zip((panel.set_tlabel, panel.set_llabel, panel.set_rlabel), names, strict=True):
        put(shortened(name, 16), color=INK, fontsize=TEXT)  # longer ones would leave no room for the triangle
    for spine in panel.spines.values():
        spine.set(color=INK, linewidth=0.8)
    for axis in (panel.taxis, panel.laxis, panel.raxis):
        axis.set_major_locator(_fifths())
        axis.set_label_position("corner")
        axis.set_label_rotation_mode("horizontal")
    panel.grid(color=FAINT, alpha=0.25, linewidth=0.4)
    panel.tick_params(labelsize=TEXT - 2, colors=FAINT, width=0.5, length=2)
    return figure, axes


def _fifths() -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(0.2)


def _tetrahedron(ax: Axes | None, names: Sequence[str], layers: Sequence[SimplexLayer]) -> tuple[Figure, Axes]:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure, axes = canvas(ax, 3.4, projection="3d")
    panel: Any = axes
    for i in range(4):
        for j in range(i):
            panel.plot(*_CORNERS[[i, j]].T, color=FAINT, linewidth=0.7)
        away = _CORNERS[i] + 0.13 * (_CORNERS[i] - _CORNERS.mean(axis=0))
        panel.text(*away, shortened(names[i], 16), fontsize=TEXT, color=INK, ha="center", va="center")
    for row, layer in enumerate(layers):
        look = style(row, marker=True)
        places = np.array(layer.points, dtype=np.float64).reshape(-1, 4) @ _CORNERS
        if layer.hull and len(places) > 2:
            faces = [places[face] for face in faces_in_space(places)]
            shade = {"facecolor": look["color"], "edgecolor": look["color"], "linewidth": 0.7}
            panel.add_collection3d(Poly3DCollection(faces, alpha=0.12, **shade))
        panel.scatter(*places.T, s=_sizes(layer), label=_named(layer), depthshade=False, **_dots(layer, look))
    panel.set_axis_off()
    panel.set_box_aspect((1, 0.9, 0.85), zoom=1.25)
    panel.view_init(elev=18, azim=-75)
    return figure, axes


def _dots(layer: SimplexLayer, look: Mapping[str, Any]) -> dict[str, Any]:
    """Bubbles whose size says something are hollow, so that nothing under them is hidden."""
    if layer.weights is None:
        return dict(look) | {"linewidths": 0}
    return {"marker": look["marker"], "facecolors": [(*_rgb(look["color"]), 0.35)], "edgecolors": look["color"]}


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _sizes(layer: SimplexLayer) -> Floats | float:
    return _DOT if layer.weights is None else 6 + _BUBBLE * np.array(layer.weights)


def _named(layer: SimplexLayer) -> str:
    return shortened(layer.name if layer.points else f"{layer.name} (empty)", 34)


def _legend_place(secrets: int, layers: int) -> dict[str, Any]:
    if secrets == 2:
        return {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": min(layers, 3), "markerscale": 0.8}
    if secrets == 3:
        return {"loc": "upper left", "bbox_to_anchor": (-0.16, 1.1), "markerscale": 0.8}
    return {"loc": "upper left", "markerscale": 0.8}


def _words(picture: SimplexPicture, title: str) -> str:
    shape: Callable[[int], str] = {2: "A segment", 3: "A triangle", 4: "A tetrahedron"}.__getitem__
    parts = []
    for layer in picture.layers:
        count = f"{len(layer.points)} point{'' if len(layer.points) == 1 else 's'}"
        parts.append(f"{layer.name}: {count}{' and what they enclose' if layer.hull and len(layer.points) > 1 else ''}")
    head = f"{title}. " if title else ""
    corners = ", ".join(picture.secrets)
    return f"{head}{shape(len(picture.secrets))} of beliefs with the corners {corners}. {'; '.join(parts)}."
