"""Pictures, by matplotlib, which is imported only when one is drawn."""

from metricdp.lazy import listing
from metricdp.plots.bounds import bound_figure
from metricdp.plots.canvas import data_of, words_of
from metricdp.plots.channel_maps import channel_map
from metricdp.plots.distributions import distributions
from metricdp.plots.error_bars import AnswerPicture, error_bars
from metricdp.plots.graphs import graph
from metricdp.plots.heat_maps import channel_shades, heat_map
from metricdp.plots.histograms import histogram
from metricdp.plots.intervals import intervals
from metricdp.plots.lines import curves, usefulness
from metricdp.plots.noise import noise_figure
from metricdp.plots.noise_maps import mechanism_map
from metricdp.plots.noise_svg import noise_svg
from metricdp.plots.registry import draw
from metricdp.plots.saving import save
from metricdp.plots.series import traces
from metricdp.plots.simplices import simplex
from metricdp.plots.surfaces import surface
from metricdp.plots.svg import to_svg
from metricdp.plots.trade_offs import trade_off_figure

__all__ = [
    "AnswerPicture",
    "bound_figure",
    "channel_map",
    "channel_shades",
    "curves",
    "data_of",
    "distributions",
    "draw",
    "error_bars",
    "graph",
    "heat_map",
    "histogram",
    "intervals",
    "mechanism_map",
    "noise_figure",
    "noise_svg",
    "save",
    "simplex",
    "surface",
    "to_svg",
    "traces",
    "trade_off_figure",
    "usefulness",
    "words_of",
]

__dir__ = listing(__all__)
