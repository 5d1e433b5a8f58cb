"""The picture of a mechanism's noise as data; `metricdp.plots` draws it.

A mechanism makes its own picture (`Mechanism.picture`) from the pieces here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.results import Result
from metricdp.metrics.words import percent
from metricdp.visible import visible

__all__ = [
    "NoisePicture",
    "around_zero",
    "bars",
    "curve",
    "distances_from",
    "labelled",
    "response_bars",
    "shares_table",
    "short_number",
    "steps",
]

Array = NDArray[Any]

_MOST_BARS = 12
_MOST_STEPS = 60
_LONGEST_LABEL = 14
_POINTS = 801
_DAYS = (("days", 1.0), ("hours", 24.0), ("minutes", 1440.0), ("seconds", 86400.0))


@dataclass(frozen=True)
class NoisePicture(Result):
    """How likely a release is at each distance from its secret; or among categories, which ones.

    Attributes:
        shape: a curve; bars; or a table of squares, a row for each truth and a column for each release.
        places: where the curve or the bars stand on the axis.
        heights: how likely each is; for a table, the probabilities of releases by truths.
        inside: which of them lie within the 95% radius, or are the truth.
        label: what the axis counts.
        radius: within which 95% lie, on the axis; None where there is no distance.
        note: what there is to say besides.
        names: of the truth and of the others, or of the rows of a table; none where the axis has numbers.
        whole: whether only whole numbers make sense on the axis.
    """

    shape: Literal["curve", "bars", "table"]
    places: Array
    heights: Array
    inside: Array
    label: str
    radius: float | None = None
    note: str = ""
    names: tuple[str, ...] = ()
    whole: bool = False

    def __str__(self) -> str:
        within = "" if self.radius is None else f", 95% within {self.radius:.6g}"
        return f"a {self.shape} of {len(self.heights)} places{f', {self.label}' if self.label else ''}{within}"

    @property
    def step(self) -> float:
        """How far apart bars stand."""
        return float(self.places[1] - self.places[0]) if len(self.places) > 1 else 1.0

    @property
    def marks(self) -> tuple[float, ...]:
        """Where the 95% radius is marked on a curve."""
        if self.radius is None or self.shape != "curve":
            return ()
        return (-self.radius, self.radius) if self.places[0] < 0 else (self.radius,)

    def to_json(self) -> dict[str, Any]:
        """The picture as plain values for JSON."""
        return {
            "shape": self.shape,
            "places": self.places.tolist(),
            "heights": self.heights.tolist(),
            "inside": self.inside.tolist(),
            "label": self.label,
            "radius": self.radius,
            "note": self.note,
            "names": list(self.names),
        }


def short_number(value: float) -> str:
    """A number for an axis or a title."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def around_zero(density: Callable[[Array], Array], radius: float, unit: str, note: str = "") -> NoisePicture:
    """A density of errors on the line, which is symmetric around 0."""
    unit, factor = _shown(unit, radius)
    errors = np.linspace(-2 * radius, 2 * radius, _POINTS)
    label = labelled("released - secret", unit)
    return curve(errors * factor, density(errors) / factor, radius * factor, label, note)


def distances_from(density: Callable[[Array], Array], radius: float, what: str, unit: str) -> NoisePicture:
    """A density of distances from the secret, up to a constant factor."""
    unit, factor = _shown(unit, radius)
    if not radius:  # no noise to speak of: a single bar
        return bars(np.zeros(1), np.ones(1), radius, labelled(what, unit), False)
    lengths = np.linspace(0, 1.6 * radius, _POINTS)
    heights = np.asarray(density(lengths), dtype=np.float64)
    heights = heights / (heights.sum() * (lengths[1] - lengths[0]) * factor)
    return curve(lengths * factor, heights, radius * factor, labelled(what, unit))


def steps(probability: Callable[[Array], Array], step: float, radius: float, label: str, whole: bool) -> NoisePicture:
    """Errors that are whole numbers of steps, either side of 0: a bar for each, where they are few."""
    most = max(3, math.ceil(1.6 * radius / step))
    many = most > _MOST_STEPS  # too many to be seen one by one
    places = np.unique(np.linspace(-float(most), float(most), _POINTS).round()) if many else np.arange(-most, most + 1)
    heights = probability(places)
    if many:
        return curve(places * step, heights, radius, label, whole=whole)
    return bars(places * step, heights, radius, label, whole)


def response_bars(truth: float, others: int) -> NoisePicture:
    """The probability of the truth, and of each of the others."""
    shown = min(others, _MOST_BARS)
    heights = np.array([truth] + [(1 - truth) / others] * shown)
    places = np.arange(shown + 1)
    words = "each other value" if others > 1 else "the other value"
    names = f"the truth: {percent(truth)}", f"{words}: {percent(float(heights[-1]))}"
    return NoisePicture("bars", places, heights, places == 0, "", names=names)


def shares_table(points: Sequence[Any], shares: Callable[[Sequence[Any]], Array]) -> NoisePicture:
    """For each of the first points, how likely it is released as each of them."""
    shown = points[:_MOST_BARS]
    names = ("missing" if point is None else visible(str(point)) for point in shown)
    short = tuple(name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…" for name in names)
    rows = np.arange(len(shown))
    inside = rows[:, None] == rows[None, :]
    return NoisePicture("table", rows, shares(shown), inside, "released as, in the same order", names=short)


def curve(
    places: Array, heights: Array, radius: float, label: str, note: str = "", whole: bool = False
) -> NoisePicture:
    """A curve with its 95% radius."""
    return NoisePicture("curve", places, heights, np.abs(places) <= radius, label, radius, note, whole=whole)


def bars(places: Array, heights: Array, radius: float, label: str, whole: bool) -> NoisePicture:
    """Bars with their 95% radius; a curve where they are too many."""
    if len(places) > 2 * _MOST_STEPS + 1:
        return curve(places, heights, radius, label, whole=whole)
    return NoisePicture("bars", places, heights, np.abs(places) <= radius, label, radius, whole=whole)


def labelled(what: str, unit: str) -> str:
    """The words under an axis."""
    return f"{what}, {unit}" if unit else what


def _shown(unit: str, radius: float) -> tuple[str, float]:
    """The unit in which a radius is a number of ordinary size, and how many of it the metric's own unit is."""
    if unit == "m" and radius >= 2000:
        return "km", 1e-3
    if unit == "days":
        return next(((name, many) for name, many in _DAYS if radius * many >= 2), _DAYS[-1])
    return unit, 1.0
