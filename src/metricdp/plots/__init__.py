"""Pictures, by matplotlib, which is imported only when one is drawn."""

from metricdp.plots.noise import noise_figure
from metricdp.plots.svg import to_svg

__all__ = ["noise_figure", "to_svg"]
