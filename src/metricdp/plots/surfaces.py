"""Uncertainty, vulnerability or anything else as a surface over the priors of two or three secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.adversaries.pictures import SurfacePicture
from metricdp.errors import TooLargeError
from metricdp.plots.arguments import as_picture
from metricdp.plots.canvas import COLOURS, FAINT, TEXT, canvas, dress, noted, shortened
from metricdp.plots.svg import INK, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["surface"]

_TRIANGLE = np.array([[0, 0], [1, 0], [0.5, 3**0.5 / 2]])


def surface(thing: Any, *, title: str = "", ax: Axes | None = None) -> Figure:
    """What the best action gives under each prior: a curve over two secrets, a surface over the triangle of three.

    Args:
        thing: a `Loss` or `Gain`, or what else has a ``picture()`` that is a `SurfacePicture`.
        title: over the panel.
        ax: where to draw: with the projection "3d" for three secrets; a figure of its own where not given.

    Raises:
        TooLargeError: there are more than three secrets.

    References:
        Paper 5, Fig. 3.

    >>> import metricdp as mdp
    >>> figure = surface(mdp.adversaries.as_loss("nib", ["x1", "x2", "x3"]))
    >>> mdp.plots.data_of(figure)[0]["shows"]
    'uncertainty, nib'
    """
    picture = as_picture(thing, SurfacePicture, "surface", "a Loss or a Gain, as adversaries.as_loss makes one")
    count = len(picture.secrets)
    if count not in (2, 3):
        raise TooLargeError(
            f"a surface over the priors of {count} secrets cannot be drawn: adversaries.restricted(loss, points) with "
            "two or three of them can",
            f"{count} secrets",
        )
    if count == 2:
        figure, axes = canvas(ax)
        order = np.argsort(picture.priors[:, 1])
        axes.plot(picture.priors[order, 1], picture.values[order], color=COLOURS[0], linewidth=1.5)
        dress(axes, f"probability of {shortened(picture.secrets[1])}", picture.shows, title)
    else:
        figure, axes = _over_a_triangle(ax, picture)
        if title:
            axes.set_title(literal(title), fontsize=TEXT + 1, color=INK)
    low, high = float(picture.values.min()), float(picture.values.max())
    head = f"{title}. " if title else ""
    corners = ", ".join(picture.secrets)
    words = f"{head}{picture.shows} over all priors of {corners}: from {low:.3g} to {high:.3g}."
    return noted(figure, axes, words[:1].upper() + words[1:], {"plot": "surface"} | picture.to_json())


def _over_a_triangle(ax: Axes | None, picture: SurfacePicture) -> tuple[Figure, Axes]:
    figure, axes = canvas(ax, 3.0, projection="3d")
    panel: Any = axes
    places = picture.priors @ _TRIANGLE
    panel.plot_trisurf(*places.T, picture.values, cmap="cividis", linewidth=0, antialiased=False, rasterized=True)
    floor = min(0.0, float(picture.values.min()))
    ring = np.vstack([_TRIANGLE, _TRIANGLE[:1]])
    panel.plot(*ring.T, floor, color=FAINT, linewidth=0.8)
    for corner, name in zip(_TRIANGLE, picture.secrets, strict=True):
        away = corner + 0.12 * (corner - _TRIANGLE.mean(axis=0)) * 2
        panel.text(*away, floor, shortened(name, 16), fontsize=TEXT, color=INK, ha="center")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.text2D(0.0, 0.9, literal(picture.shows), transform=panel.transAxes, fontsize=TEXT, color=INK)
    panel.tick_params(axis="z", labelsize=TEXT - 1, pad=0)
    panel.locator_params(axis="z", nbins=4)
    for axis in (panel.xaxis, panel.yaxis, panel.zaxis):
        axis.pane.set_visible(False)
    panel.grid(False)
    panel.view_init(elev=24, azim=-62)
    panel.set_box_aspect((1, 0.9, 0.6), zoom=0.95)
    return figure, axes
