"""The noise of a mechanism as a picture: how likely each error is, with the 95% radius marked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import MissingExtraError, UnsupportedMetricError
from metricdp.exact.balls import Real
from metricdp.mechanisms.continuous import LineMechanism, VectorLaplace
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.nulls import NullableLaplace
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.mechanisms.sphere import SphereLaplace
from metricdp.mechanisms.stepped import Geometric
from metricdp.metrics import EARTH_RADIUS
from metricdp.plots.svg import ACCENT, INK, MARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["noise_figure"]

_SIZE = (4.4, 2.2)
_TEXT = 10.5
_MOST_BARS = 12
_MOST_STEPS = 60
_DAYS = (("days", 1.0), ("hours", 24.0), ("minutes", 1440.0), ("seconds", 86400.0))


def noise_figure(mechanism: Mechanism, unit: str | None = None) -> Figure:
    """How likely a release is at each distance from its secret, or among categories, which ones.

    Args:
        mechanism: any of those on the line, in R^n, on the globe, among categories or sets.
        unit: what distances are counted in; the metric's own where it is not given.

    Raises:
        MissingExtraError: matplotlib is not installed.

    >>> import metricdp as mdp
    >>> noise_figure(mdp.laplace(mdp.metrics.absolute().within(5)), "euros").axes[0].get_xlabel()
    'released - secret, euros'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None
    named = mechanism.guarantee.metric.unit_name if unit is None else unit
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    drawer = next((draw for kinds, draw in _DRAWERS if isinstance(mechanism, kinds)), None)
    if drawer is None:
        raise UnsupportedMetricError(f"no picture is known for {type(mechanism).__name__}")
    drawer(axes, mechanism, named)
    _dress(axes)
    return figure


def _line(axes: Axes, mechanism: Any, unit: str) -> None:
    """Laplace noise on the line: a density around 0."""
    numbers = mechanism.numbers if isinstance(mechanism, NullableLaplace) else mechanism
    scale, radius = 1 / float(Real(numbers.rate)), numbers.radius(0.95)
    unit, factor = _shown(unit, radius)
    errors = np.linspace(-2 * radius, 2 * radius, 801)
    _density(axes, errors * factor, np.exp(-np.abs(errors) / scale) / (2 * scale * factor), radius * factor)
    axes.set_xlabel(_label("released - secret", unit))
    if isinstance(mechanism, NullableLaplace):
        axes.set_title(f"missing: {_percent(float(Real(mechanism.false_null)))}", loc="left", fontsize=_TEXT, color=INK)


def _radial(axes: Axes, mechanism: Any, unit: str) -> None:
    """Noise in the plane, in R^n or on the globe: the density of its length."""
    radius, level = mechanism.radius(0.95), float(mechanism.guarantee.metric.level)
    unit, factor = _shown(unit, radius)
    lengths = np.linspace(0, 1.6 * radius, 801)
    if isinstance(mechanism, SphereLaplace):
        angles = np.minimum(lengths / float(EARTH_RADIUS), math.pi)
        heights = np.sin(angles) * np.exp(-level * lengths)
    else:
        with np.errstate(divide="ignore"):
            logs = (mechanism._dimension() - 1) * np.log(level * lengths) - level * lengths
        heights = np.exp(logs - logs.max())
    heights /= heights.sum() * (lengths[1] - lengths[0]) * factor
    _density(axes, lengths * factor, heights, radius * factor)
    what = "distance from the secret" if isinstance(mechanism, SphereLaplace) else "length of the noise"
    axes.set_xlabel(_label(what, unit))


def _steps(axes: Axes, mechanism: Geometric, unit: str) -> None:
    """Geometric noise: a bar for each step, where they are few."""
    step, radius = float(mechanism.step), mechanism.radius(0.95)
    decay = math.exp(-float(mechanism.metric.level) * step)
    most = max(3, math.ceil(1.6 * radius / step))
    places = np.unique(np.linspace(-most, most, 801).round()) if most > _MOST_STEPS else np.arange(-most, most + 1)
    heights = (1 - decay) / (1 + decay) * decay ** np.abs(places)
    if most > _MOST_STEPS:  # too many to be seen one by one
        _density(axes, places * step, heights, radius)
    else:
        _bars(axes, places * step, heights, np.abs(places) * step <= radius, width=0.85 * step)
        _note(axes, radius)
    axes.locator_params(axis="x", nbins=7, integer=mechanism.step.denominator == 1)
    axes.set_xlabel(_label("released - secret", unit))


def _flips(axes: Axes, mechanism: SetResponse, unit: str) -> None:
    """Set response: how many elements are wrong."""
    size, radius, flip = len(mechanism.universe), mechanism.radius(0.95), float(Real(mechanism.flip))
    spread = max(2.0, 4 * math.sqrt(size * flip * (1 - flip)))
    counts = np.arange(max(0, math.floor(size * flip - spread)), min(size, math.ceil(size * flip + spread)) + 1)
    logs = [
        _log_binomial(size, int(count)) + count * math.log(flip) + (size - count) * math.log1p(-flip)
        for count in counts
    ]
    if len(counts) > _MOST_STEPS:
        _density(axes, counts, np.exp(logs), radius)
    else:
        _bars(axes, counts, np.exp(logs), counts <= radius)
        _note(axes, radius)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("elements that are wrong")


def _log_binomial(size: int, count: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(count + 1) - math.lgamma(size - count + 1)


def _response(axes: Axes, mechanism: RandomizedResponse, unit: str) -> None:
    """Randomized response: the truth, and each of the others."""
    truth = float(Real(mechanism.truth))
    others = len(mechanism.values) - 1
    shown = min(others, _MOST_BARS)
    heights = np.array([truth] + [(1 - truth) / others] * shown)
    _bars(axes, np.arange(shown + 1), heights, np.arange(shown + 1) == 0)
    axes.set_xticks([0, (shown + 1) / 2], ["the truth", "each other value" if others > 1 else "the other value"])
    axes.tick_params(axis="x", length=0)
    axes.margins(y=0.2)
    for place in (0, (shown + 1) // 2):
        axes.annotate(
            _percent(heights[place]), (place, heights[place]), ha="center", va="bottom", fontsize=_TEXT, color=INK
        )


def _table(axes: Axes, mechanism: Exponential, unit: str) -> None:
    """Exponential mechanism: for each truth, how likely each release is, as squares."""
    distances = mechanism.space.distances[:_MOST_BARS, :_MOST_BARS]
    weights = np.exp(-float(mechanism.share) * mechanism.space.distances)
    shares = (weights / weights.sum(axis=1, keepdims=True))[:_MOST_BARS, :_MOST_BARS]
    count = len(distances)
    for truth in range(count):
        for release in range(count):
            side = math.sqrt(shares[truth, release])
            corner = (release - side / 2, truth - side / 2)
            _square(axes, corner, side, ACCENT if truth == release else MARK)
    names = ["missing" if point is None else str(point) for point in mechanism.space.points[:count]]
    short = [name if len(name) <= 14 else f"{name[:13]}…" for name in names]
    axes.set_yticks(range(count), short)
    axes.set_xticks([])
    axes.set(xlim=(-0.6, count - 0.4), ylim=(count - 0.4, -0.6), aspect="equal")
    axes.set_xlabel("released as, in the same order")
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.set_size_inches(_SIZE[0], max(_SIZE[1], 0.26 * count + 0.6))


def _square(axes: Axes, corner: tuple[float, float], side: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner, side, side, facecolor=colour, linewidth=0))


def _density(axes: Axes, places: NDArray[Any], heights: NDArray[Any], radius: float) -> None:
    inside = np.abs(places) <= radius
    axes.fill_between(places, heights, where=inside, color=ACCENT, alpha=0.25, linewidth=0)
    axes.plot(places, heights, color=ACCENT, linewidth=1.5)
    for mark in (-radius, radius) if places[0] < 0 else (radius,):
        axes.axvline(mark, color=MARK, linewidth=1, linestyle=(0, (3, 2)))
    axes.set_ylim(bottom=0)
    axes.set_xlim(places[0], places[-1])
    axes.locator_params(axis="x", nbins=6)
    _note(axes, radius)


def _bars(axes: Axes, places: NDArray[Any], heights: NDArray[Any], inside: NDArray[Any], width: float = 0.85) -> None:
    for chosen, alpha in ((inside, 0.85), (~inside, 0.35)):
        axes.bar(places[chosen], heights[chosen], width=width, color=ACCENT, alpha=alpha, linewidth=0)


def _note(axes: Axes, radius: float) -> None:
    axes.set_title(f"95% within {_number(radius)}", loc="right", fontsize=_TEXT, color=MARK)


def _dress(axes: Axes) -> None:
    """Thin axes without numbers on the ordinate: it is the shape that matters."""
    if not any(label.get_text() for label in axes.get_yticklabels() if axes.yaxis.get_inverted()):
        axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.tick_params(colors=INK, labelsize=_TEXT, width=0.6)
    axes.xaxis.label.set(color=INK, size=_TEXT)
    if not axes.xaxis.get_ticklabels() or axes.xaxis.get_major_formatter().__class__.__name__ == "ScalarFormatter":
        axes.xaxis.set_major_formatter(lambda value, _: _number(value))


def _shown(unit: str, radius: float) -> tuple[str, float]:
    """The unit in which a radius is a number of ordinary size, and how many of it the metric's own unit is."""
    if unit == "m" and radius >= 2000:
        return "km", 1e-3
    if unit == "days":
        return next(((name, many) for name, many in _DAYS if radius * many >= 2), _DAYS[-1])
    return unit, 1.0


def _label(what: str, unit: str) -> str:
    return f"{what}, {unit}" if unit else what


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _percent(probability: float) -> str:
    return f"{100 * probability:.3g}%" if probability >= 0.001 or probability == 0 else "under 0.1%"


_DRAWERS: tuple[tuple[tuple[type, ...], Callable[[Any, Any, str], None]], ...] = (
    ((LineMechanism, NullableLaplace), _line),
    ((SphereLaplace, VectorLaplace), _radial),
    ((Geometric,), _steps),
    ((SetResponse,), _flips),
    ((RandomizedResponse,), _response),
    ((Exponential,), _table),
)
