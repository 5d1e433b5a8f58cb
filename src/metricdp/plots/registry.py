"""Plots by their names, also those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError
from metricdp.extensions import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PLOTS", "draw"]


def _problem(draws: Any) -> str:
    return "" if callable(draws) else "a function that returns a figure of matplotlib is wanted"


PLOTS: Registry[Callable[..., Figure]] = Registry(
    "plots",
    "plot",
    {
        "before_and_after": "metricdp.plots.before_after:before_and_after",
        "bound": "metricdp.plots.bounds:bound_figure",
        "channel_map": "metricdp.plots.channel_maps:channel_map",
        "channel_shades": "metricdp.plots.heat_maps:channel_shades",
        "curves": "metricdp.plots.lines:curves",
        "error_bars": "metricdp.plots.error_bars:error_bars",
        "distributions": "metricdp.plots.distributions:distributions",
        "graph": "metricdp.plots.graphs:graph",
        "heat_map": "metricdp.plots.heat_maps:heat_map",
        "histogram": "metricdp.plots.histograms:histogram",
        "intervals": "metricdp.plots.intervals:intervals",
        "mechanism_map": "metricdp.plots.noise_maps:mechanism_map",
        "noise": "metricdp.plots.noise:noise_figure",
        "simplex": "metricdp.plots.simplices:simplex",
        "surface": "metricdp.plots.surfaces:surface",
        "traces": "metricdp.plots.series:traces",
        "trade_off": "metricdp.plots.trade_offs:trade_off_figure",
        "usefulness": "metricdp.plots.lines:usefulness",
    },
    _problem,
)
"""Functions that draw a figure."""


def draw(name: str, *arguments: Any, **options: Any) -> Figure:
    """The plot of that name, of these arguments: ours, or one that another package registers.

    Raises:
        ArgumentError: there is none of that name, or two packages claim it.
        MissingExtraError: matplotlib is not installed.

    >>> import metricdp as mdp
    >>> draw("noise", mdp.laplace(mdp.metrics.absolute().within(5)), "euros").axes[0].get_xlabel()
    'released - secret, euros'
    """
    if not isinstance(name, str):
        raise ArgumentError(f"draw takes the name of a plot, not {type(name).__name__}")
    return PLOTS[name.replace("-", "_")](*arguments, **options)
