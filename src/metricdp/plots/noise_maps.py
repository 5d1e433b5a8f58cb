"""A mechanism on a map: where one secret place is released, and how far from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from metricdp.errors import ArgumentError, KindError
from metricdp.exact.arrays import Floats
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.picture import short_number
from metricdp.metrics import EARTH_RADIUS
from metricdp.plots.canvas import COLOURS, FAINT, TEXT, canvas, dress, legend, noted, shortened
from metricdp.plots.svg import INK, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["mechanism_map"]

_GRID = 81
_SIDES: tuple[tuple[tuple[int, int], Literal["left", "right"]], ...] = (
    ((3, 3), "left"),
    ((3, -8), "left"),
    ((-3, 3), "right"),
)
"""Where the names of places stand, in turn, so that neighbours do not cover each other."""

_SHARES = (0.5, 0.95)

Place = Sequence[float]


def mechanism_map(
    mechanism: Mechanism,
    secret: Place,
    *,
    releases: Sequence[Place] | Floats = (),
    places: Mapping[str, Place] | None = None,
    circles: Mapping[str, tuple[Place, float]] | None = None,
    shares: Sequence[float] = _SHARES,
    unit: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """The lines within which shares of all releases of a place lie, and some releases.

    On the globe, distances are drawn in metres around the secret; elsewhere, as the coordinates are.

    Args:
        mechanism: on two coordinates.
        secret: the place, as the mechanism takes it.
        releases: some places that it was released as; nothing is released for the picture.
        places: other places by name.
        circles: places with a radius around them, by name, such as where somebody searches.
        shares: of the lines.
        unit: of the coordinates; the metric's own where not given.
        title: over the panel.
        ax: where to draw; a figure of its own where not given.

    Raises:
        KindError: the secret has not two coordinates, or the map would reach beyond a pole.

    References:
        Paper 1, Section 6.2.

    >>> import metricdp as mdp
    >>> K = mdp.laplace(mdp.metrics.euclidean().within(200), dim=2)
    >>> figure = mechanism_map(K, (0, 0), unit="m")
    >>> mdp.plots.data_of(figure)[0]["lines"][0]["share"]
    0.5
    """
    metric = mechanism.guarantee.metric
    centre = _coordinates(secret)
    if not len(shares):
        raise ArgumentError("a map wants at least one share of the releases, such as shares=[0.95]")
    unit = unit or metric.unit_name
    radii = {share: mechanism.radius(share) for share in sorted(shares)}
    figure, axes = canvas(ax, 3.6)
    panel: Any = axes
    flat = _Flat(centre, metric.on_globe)
    others = {name: flat.of(place) for name, place in (places or {}).items()}
    rings = {name: (flat.of(place), float(radius)) for name, (place, radius) in (circles or {}).items()}
    drawn = np.array([flat.of(place) for place in releases]).reshape(-1, 2)
    middle = flat.of(secret)
    reach = max(
        [1.15 * max(radii.values())]
        + [1.1 * (float(np.abs(centre - middle).max()) + radius) for centre, radius in rings.values()]
        + [1.1 * float(np.abs(place - middle).max()) for place in others.values()]
    )
    if flat.globe and abs(float(centre[0])) + math.degrees(reach / float(EARTH_RADIUS)) >= 90:
        raise KindError(
            "the map would reach beyond a pole, which no flat map shows: choose another secret, or less noise"
        )
    _lines(axes, metric, flat, middle, reach, radii, unit)
    if len(drawn):
        panel.scatter(*drawn.T, s=9, color=COLOURS[0], alpha=0.5, linewidths=0, label="releases", zorder=2)
    for row, (name, (place, radius)) in enumerate(rings.items()):
        from matplotlib.patches import Circle

        look = {"edgecolor": COLOURS[(2 + row) % len(COLOURS)], "linestyle": ("-", (0, (4, 2)))[row % 2]}
        axes.add_patch(
            Circle((place[0], place[1]), radius, fill=False, linewidth=1.2, label=shortened(name, 34), **look)
        )
    panel.scatter(*middle, s=46, color=COLOURS[1], marker="X", label="secret", zorder=5, linewidths=0)
    from matplotlib.patheffects import withStroke

    for number, (name, place) in enumerate(others.items()):
        panel.scatter(*place, s=10, color=INK, zorder=4, linewidths=0)
        shift, side = _SIDES[number % len(_SIDES)]
        axes.annotate(
            shortened(name, 20), tuple(place), shift, textcoords="offset points", fontsize=TEXT - 1.5, ha=side,
            color=INK, zorder=4.5, path_effects=[withStroke(linewidth=2, foreground="white")],
        )  # fmt: skip
    axes.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
    axes.set_aspect("equal")
    ways = (f"east of the secret, {unit}", f"north of it, {unit}") if metric.on_globe else (unit, unit)
    dress(axes, *ways, title)
    axes.locator_params(nbins=5)
    legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
    lines = [{"share": share, "radius": radius} for share, radius in radii.items()]
    data = {
        "plot": "mechanism_map", "unit": unit, "lines": lines, "secret": middle.tolist(), "releases": drawn.tolist(),
        "circles": {name: {"at": place.tolist(), "radius": radius} for name, (place, radius) in rings.items()},
        "places": {name: place.tolist() for name, place in others.items()},
    }  # fmt: skip
    told = ", ".join(
        f"{100 * share:g}% within {short_number(radius)} {unit}".rstrip() for share, radius in radii.items()
    )
    head = f"{title}. " if title else ""
    return noted(figure, axes, f"{head}Where a secret place is released: {told}; {len(drawn)} releases shown.", data)


def _coordinates(secret: Any) -> Floats:
    try:
        found = np.array([float(part) for part in secret])
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (2,):
        raise KindError("a map wants a secret with two coordinates")
    return found


class _Flat:
    """Places as two coordinates: those of the plane, or metres east and north of the secret."""

    def __init__(self, centre: Floats, globe: bool) -> None:
        self.centre, self.globe = centre, globe
        self.metres = math.radians(1) * float(EARTH_RADIUS)
        self.narrow = math.cos(math.radians(float(centre[0])))

    def of(self, place: Any) -> Floats:
        """A place on the map."""
        at = np.array([float(part) for part in place])
        if not self.globe:
            return at
        latitude, longitude = at - self.centre
        nearest = (longitude + 180) % 360 - 180  # whichever way around the globe is shorter
        return np.array([nearest * self.narrow, latitude]) * self.metres

    def back(self, at: Floats) -> Floats:
        """Places of the map, one a row, as the metric takes them."""
        if not self.globe:
            return at
        return self.centre + np.column_stack([at[:, 1], at[:, 0] / self.narrow]) / self.metres


def _lines(
    axes: Axes, metric: Any, flat: _Flat, middle: Floats, reach: float, radii: Mapping[float, float], unit: str
) -> None:
    """Where the distance from the secret is each of the radii, in the metric's own sense of distance."""
    across = np.linspace(-reach, reach, _GRID)
    grid = np.array([(middle[0] + x, middle[1] + y) for y in across for x in across])
    there = [tuple(point) for point in flat.back(grid).tolist()]
    here = tuple(flat.back(middle[None, :])[0].tolist())
    far = metric.unit.pairwise(there, [here]).reshape(_GRID, _GRID)
    xs, ys = middle[0] + across, middle[1] + across
    for share, radius in radii.items():
        dashes = "-" if share < 0.9 else "--"
        axes.contour(xs, ys, far, levels=[radius], colors=[FAINT], linewidths=1.1, linestyles=[dashes], zorder=3)
        label = literal(f"{100 * share:g}% within {short_number(radius)} {unit}".rstrip())
        axes.plot([], [], label=label, color=FAINT, linewidth=1.1, linestyle=dashes)
