"""What privacy costs: losses and what is proved of them, over multiples of a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.design import TradeOff
from metricdp.exact.lists import as_a
from metricdp.plots.lines import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["trade_off_figure"]


def trade_off_figure(table: TradeOff, unit: str = "", *, title: str = "", ax: Axes | None = None) -> Figure:
    """The losses of a `TradeOff` and the bounds below them.

    Args:
        table: what `metricdp.design.trade_off` found.
        unit: of the loss.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    >>> import metricdp as mdp
    >>> table = mdp.design.trade_off(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), multiples=[1, 2])
    >>> trade_off_figure(table, "steps").axes[0].get_ylabel()
    'expected loss, steps'
    """
    table = as_a(TradeOff, table, "design.trade_off(space)")
    lines = {"best found, proved private": table.losses, "no private channel is below": table.bounds}
    return curves(
        lines,
        [float(multiple) for multiple in table.multiples],
        x=f"multiple of {table.metric}",
        y=f"expected loss, {unit}" if unit else "expected loss",
        points={"best found, proved private": list(zip(map(float, table.multiples), table.losses, strict=True))},
        title=title,
        ax=ax,
    )
