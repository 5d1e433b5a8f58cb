"""Pictures, by matplotlib, which is imported only when one is drawn."""

from metricdp.plots.channel_maps import channel_map, channel_shades
from metricdp.plots.noise import noise_figure
from metricdp.plots.saving import save
from metricdp.plots.svg import to_svg

__all__ = ["channel_map", "channel_shades", "noise_figure", "save", "to_svg"]
