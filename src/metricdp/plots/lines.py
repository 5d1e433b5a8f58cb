"""Curves of anything over a level, a radius or another number, for several mechanisms side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans, Floats
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.plots.arguments import as_mapping, as_numbers, plain_numbers
from metricdp.plots.canvas import FAINT, canvas, dress, legend, noted, shortened, style
from metricdp.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curves", "usefulness"]

_RADII = 121
_FEW_PLACES = 8

Line = Callable[[float], Any] | Sequence[Any] | Floats


def curves(
    lines: Mapping[str, Line],
    over: Sequence[Any] | Floats | None = None,
    *,
    x: str = "",
    y: str = "",
    marks: Mapping[str, float] | None = None,
    spans: Mapping[str, tuple[float, float]] | None = None,
    points: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    log: bool = False,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """A curve for each of several functions or lists of values, over the same numbers.

    Args:
        lines: by name: values at ``over``, None where there is none; a function of one number, asked at each of them;
            or a pair of places and values of its own.
        over: where.
        x: what the numbers are, with their unit.
        y: what is shown, with its unit.
        marks: places on the axis that have a name, as thin vertical lines.
        spans: ranges that have a name, shaded.
        points: single points beside the line of that name, such as those that were proved.
        log: whether the ordinate goes by powers of ten.
        title: over the panel.
        ax: where to draw; a figure of its own, at column width, where not given.

    Raises:
        ArgumentError: no line, or one with another number of values.
        MissingExtraError: matplotlib is not installed.

    >>> from metricdp.plots import data_of
    >>> figure = curves({"twice": lambda x: 2 * x}, [0, 1], x="radius, m", y="loss, m")
    >>> figure.axes[0].get_xlabel(), data_of(figure)[0]["lines"][0]["y"]
    ('radius, m', [0.0, 2.0])
    """
    lines = as_mapping(lines, "curves", '{"loss": [1, 2]}')
    if not lines:
        raise ArgumentError("curves wants at least one line")
    figure, axes = canvas(ax)
    drawn, at, positive = [], set[float](), False
    for place, (name, line) in enumerate(lines.items()):
        xs, ys = _values(name, line, over)
        look = style(place)
        positive = positive or bool((ys > 0).any())
        at |= {value for value in xs.tolist() if math.isfinite(value)}
        axes.plot(xs, ys, label=shortened(name, 52), linewidth=1.5, **look)
        alone = _alone(ys)
        if alone.any():
            axes.plot(xs[alone], ys[alone], "o", color=look["color"], markersize=3.5)
        beside = [(float(a), float(b)) for a, b in (points or {}).get(name, ())]
        if beside:
            axes.plot(*zip(*beside, strict=True), "o", color=look["color"], markersize=3.5, clip_on=False)
        drawn.append(
            {"name": name, "x": plain_numbers(xs), "y": plain_numbers(ys)} | ({"points": beside} if beside else {})
        )
    for name, (low, high) in (spans or {}).items():
        axes.axvspan(low, high, color=FAINT, alpha=0.2, linewidth=0, label=shortened(name, 40))
    for name, where in (marks or {}).items():
        axes.axvline(where, color=FAINT, linewidth=1, linestyle=(0, (2, 2)))
        axes.annotate(
            shortened(name, 30), (where, 1), (2, -2), xycoords=("data", "axes fraction"), textcoords="offset points",
            rotation=90, va="top", fontsize=6.5, color=FAINT,
        )  # fmt: skip
    if log and positive:
        axes.set_yscale("log")
    if len(at) < _FEW_PLACES and all(place == int(place) for place in at):
        axes.set_xticks(sorted(at), [str(int(place)) for place in sorted(at)])  # counts have no halves
    dress(axes, x, y, title)
    legend(axes)
    data = {"plot": "curves", "x": x, "y": y, "lines": drawn, "marks": dict(marks or {}), "spans": dict(spans or {})}
    return noted(figure, axes, _words(drawn, x, y, title), data)


def usefulness(
    mechanisms: Mapping[str, Mechanism],
    radii: Sequence[float] | Floats | None = None,
    *,
    unit: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """How likely a release lies within each distance of its secret, for several mechanisms.

    Paper 1 calls a mechanism (α, δ)-useful if that is at least 1 - δ for the distance α.

    Args:
        mechanisms: by name.
        radii: the distances α; from 0 to where the most useful one is 99% sure, ten times over, where not given.
        unit: what distances are counted in; the first metric's own where not given.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    References:
        Paper 1, Example 1 and Fig. 3.

    >>> import metricdp as mdp
    >>> figure = usefulness({"five days": mdp.laplace(mdp.metrics.absolute() / 5)}, [0, 5], unit="days")
    >>> figure.axes[0].get_xlabel()
    'distance from the secret, days'
    """
    mechanisms = as_mapping(mechanisms, "usefulness", '{"mine": mdp.laplace(metric)}')
    for mechanism in mechanisms.values():
        if not callable(getattr(mechanism, "probability_within", None)):
            raise ArgumentError(f"usefulness takes mechanisms by name, not {type(mechanism).__name__}")
    if not mechanisms:
        raise ArgumentError("usefulness wants at least one mechanism")
    listed = list(mechanisms.values())
    unit = unit or visible(listed[0].guarantee.metric.unit_name, 30)
    if radii is None:
        radii = np.linspace(0, 10 * min(mechanism.radius(0.99) for mechanism in listed), _RADII)
    lines: dict[str, Line] = {name: mechanism.probability_within for name, mechanism in mechanisms.items()}
    label = f"distance from the secret, {unit}" if unit else "distance from the secret"
    figure = curves(lines, [float(r) for r in radii], x=label, y="probability to lie within", title=title, ax=ax)
    (ax or figure.axes[0]).set_ylim(-0.02, 1.05)
    return figure


def _values(name: str, line: Any, over: Any) -> tuple[Floats, Floats]:
    if isinstance(line, tuple) and len(line) == 2 and np.ndim(line[0]) == 1:
        xs, ys = (as_numbers(part, "curves") for part in line)
    elif over is None:
        raise ArgumentError(f"{name!r} wants over=, the numbers at which it is drawn")
    else:
        xs = as_numbers(over, "curves")
        ys = as_numbers([line(value) for value in xs.tolist()] if callable(line) else line, "curves")
    if len(xs) != len(ys):
        raise ArgumentError(f"{name!r} has {len(ys)} values at {len(xs)} places")
    return xs, ys


def _alone(values: Floats) -> Booleans:
    """Which values have no neighbour to draw a line to."""
    known = np.concatenate([[False], np.isfinite(values), [False]])
    return np.asarray(known[1:-1] & ~known[:-2] & ~known[2:])


def _words(lines: Sequence[Mapping[str, Any]], x: str, y: str, title: str) -> str:
    parts = []
    for line in lines:
        seen = [value for value in line["y"] if value is not None]
        ends = f", from {seen[0]:.3g} to {seen[-1]:.3g}" if seen else ", empty"
        parts.append(f"{line['name']}{ends}")
    places = [value for line in lines for value in line["x"] if value is not None]
    reach = f" from {min(places):.3g} to {max(places):.3g}" if places else ""
    head = f"{title}. " if title else ""
    return f"{head}Curves of {y or 'values'} over {x or 'numbers'}{reach}: {'; '.join(parts)}."
