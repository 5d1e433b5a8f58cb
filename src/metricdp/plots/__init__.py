"""Pictures, by matplotlib, which is imported only when one is drawn."""

from metricdp.lazy import listing
from metricdp.plots.bounds import bound_figure
from metricdp.plots.channel_maps import channel_map, channel_shades
from metricdp.plots.noise import noise_figure
from metricdp.plots.noise_svg import noise_svg
from metricdp.plots.registry import draw
from metricdp.plots.saving import save
from metricdp.plots.svg import to_svg

__all__ = ["bound_figure", "channel_map", "channel_shades", "draw", "noise_figure", "noise_svg", "save", "to_svg"]

__dir__ = listing(__all__)
