"""Panels on a dark ground: what is drawn in ink elsewhere is drawn pale there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metricdp.plots.svg import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["readable"]

_PALE = "#e8ebee"
_DARK = 0.35
_LIGHTNESS = (0.2126, 0.7152, 0.0722)


def readable(axes: Axes) -> None:
    """Turn ink into a pale colour where a panel that was given lies on a dark ground."""
    from matplotlib.colors import same_color, to_rgba

    figure = axes.get_figure(root=True)
    below = to_rgba(figure.get_facecolor() if figure is not None else "white")
    framed = axes.patch.get_visible() and axes.axison and axes.get_label() != "<colorbar>"
    above = to_rgba(axes.get_facecolor() if framed else "none")
    ground = tuple(above[3] * a + (1 - above[3]) * b for a, b in zip(above[:3], below[:3], strict=True))
    if below[3] < 1 or sum(part * weight for part, weight in zip(ground, _LIGHTNESS, strict=True)) > _DARK:
        return
    drawn: Any = axes.findobj(lambda one: hasattr(one, "set_color") and hasattr(one, "get_color"))
    for artist in drawn:
        if same_color(artist.get_color(), INK) and not _on_light(axes, artist):
            artist.set_color(_PALE)
            if artist.get_path_effects():
                from matplotlib.patheffects import withStroke

                artist.set_path_effects([withStroke(linewidth=2, foreground=ground)])
    for spine in axes.spines.values():
        if same_color(spine.get_edgecolor(), INK):
            spine.set_edgecolor(_PALE)
    axes.tick_params(colors=_PALE)


def _on_light(axes: Axes, artist: Any) -> bool:
    """Whether words stand on a box or a shade of their own."""
    box = getattr(artist, "get_bbox_patch", lambda: None)()
    return box is not None or (bool(axes.images) and artist in axes.texts)
