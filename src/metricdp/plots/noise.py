"""The noise of a mechanism as a figure of matplotlib: how likely each error is, with the 95% radius marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.picture import NoisePicture, short_number
from metricdp.plots.arguments import as_picture
from metricdp.plots.canvas import canvas, noted
from metricdp.plots.svg import ACCENT, INK, MARK, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["noise_figure"]

_SIZE = (4.4, 2.2)
_TEXT = 10.5


def noise_figure(mechanism: Mechanism, unit: str | None = None, ax: Axes | None = None) -> Figure:
    """How likely a release is at each distance from its secret, or among categories, which ones.

    Args:
        mechanism: any of those on the line, in R^n, on the globe, among categories or sets.
        unit: what distances are counted in; the metric's own where it is not given.
        ax: where to draw; a figure of its own where not given.

    Raises:
        MissingExtraError: matplotlib is not installed.

    >>> import metricdp as mdp
    >>> noise_figure(mdp.laplace(mdp.metrics.absolute().within(5)), "euros").axes[0].get_xlabel()
    'released - secret, euros'
    """
    picture = as_picture(mechanism, NoisePicture, "noise_figure", "a mechanism, such as mdp.laplace(metric)", unit)
    height = max(_SIZE[1], 0.26 * len(picture.places) + 0.6) if picture.shape == "table" else _SIZE[1]
    figure, axes = canvas(ax, height, width=_SIZE[0])
    {"curve": _curve, "bars": _bars, "table": _table}[picture.shape](axes, picture)
    _dress(axes, picture)
    reach = "" if picture.radius is None else f" 95% lie within {short_number(picture.radius)}."
    words = f"How likely each release is: {picture.label or 'the truth, and the others'}.{reach}"
    return noted(figure, axes, words, {"plot": "noise"} | picture.to_json())


def _curve(axes: Axes, picture: NoisePicture) -> None:
    places, heights = picture.places, picture.heights
    axes.fill_between(places, heights, where=picture.inside, color=ACCENT, alpha=0.25, linewidth=0)
    axes.plot(places, heights, color=ACCENT, linewidth=1.5)
    for mark in picture.marks:
        axes.axvline(mark, color=MARK, linewidth=1, linestyle=(0, (3, 2)))
    axes.set_ylim(bottom=0)
    axes.set_xlim(places[0], places[-1])
    axes.locator_params(axis="x", nbins=6, integer=picture.whole)


def _bars(axes: Axes, picture: NoisePicture) -> None:
    for chosen, alpha in ((picture.inside, 0.85), (~picture.inside, 0.35)):
        places, heights = picture.places[chosen], picture.heights[chosen]
        axes.bar(places, heights, width=0.85 * picture.step, color=ACCENT, alpha=alpha, linewidth=0)
    if picture.names:
        axes.set_xticks([0, len(picture.places) / 2], [*map(literal, picture.names)])
        axes.tick_params(axis="x", length=0)
    else:
        axes.locator_params(axis="x", nbins=7, integer=picture.whole)


def _table(axes: Axes, picture: NoisePicture) -> None:
    from matplotlib.patches import Rectangle

    count = len(picture.places)
    for truth in range(count):
        for release in range(count):
            side = float(picture.heights[truth, release]) ** 0.5
            colour = ACCENT if picture.inside[truth, release] else MARK
            corner = (release - side / 2, truth - side / 2)
            axes.add_patch(Rectangle(corner, side, side, facecolor=colour, linewidth=0))
    axes.set_yticks(range(count), [*map(literal, picture.names)])
    axes.set_xticks([])
    axes.set(xlim=(-0.6, count - 0.4), ylim=(count - 0.4, -0.6), aspect="equal")


def _dress(axes: Axes, picture: NoisePicture) -> None:
    """Thin axes without numbers on the ordinate: it is the shape that matters."""
    if picture.radius is not None:
        axes.set_title(f"95% within {short_number(picture.radius)}", loc="right", fontsize=_TEXT, color=MARK)
    if picture.note:
        axes.set_title(picture.note, loc="left", fontsize=_TEXT, color=INK)
    if picture.shape != "table":
        axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.tick_params(colors=INK, labelsize=_TEXT, width=0.6)
    axes.set_xlabel(literal(picture.label), color=INK, size=_TEXT)
    if not picture.names:
        axes.xaxis.set_major_formatter(lambda value, _: short_number(value))
