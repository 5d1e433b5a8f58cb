"""Points on a map, the promise and the purpose: what the best mechanism is sought for, and what it is compared with."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import metricdp as mdp
from metricdp.adversaries import Prior, as_loss
from metricdp.channels import Channel
from metricdp.errors import FileError
from metricdp.mechanisms.picture import short_number
from metricdp.metrics import Space
from metricdp.metrics.words import Measure
from metricdp.sources.channel_files import read_csv

__all__ = ["LOSSES", "Placement", "read_places"]

LOSSES = {
    "distance": "how far it is",
    "squared": "the square of how far it is",
    "binary": "whether it is another point",
}
"""What a release can cost, with words."""

MOST_PLACES = 60
_DRAWS = 2000
_LATITUDE, _LONGITUDE, _WEIGHT = ("latitude", "lat"), ("longitude", "lon", "lng"), ("weight", "population", "visits")

Place = tuple[float, float]


@dataclass(frozen=True)
class Placement:
    """What the best mechanism is sought for.

    Attributes:
        places: latitudes and longitudes, each once.
        weights: how likely each is, up to a factor.
        radius: the distance of the promise, in metres.
        factor: how many times more likely a release can be at that distance.
        loss: one of `LOSSES`.

    >>> two = Placement(((48.0, 2.0), (48.01, 2.0)), (1, 1), Fraction(1000), Fraction(2), "binary")
    >>> print(two.space.metric)
    ln 2/1000·great-circle(m)
    """

    places: tuple[Place, ...]
    weights: tuple[float, ...]
    radius: Fraction
    factor: Fraction
    loss: str

    @cached_property
    def space(self) -> Space:
        """The places and the metric."""
        return Space(self.places, mdp.metrics.great_circle().within(self.radius, factor=self.factor))

    @cached_property
    def prior(self) -> Prior:
        """How likely each place is."""
        return Prior.proportional(self.places, self.weights)

    @property
    def words(self) -> str:
        """What it is, in words.

        >>> Placement(((48.0, 2.0), (48.01, 2.0)), (1, 1), Fraction(1000), Fraction(2), "binary").words
        '2 places, a factor 2 at 1 km, where a release costs whether it is another point'
        """
        measure = Measure(self.space.metric.unit.unit_name)
        return (
            f"{len(self.places)} places, a factor {float(self.factor):g} at {measure.say(self.radius)}, "
            f"where a release costs {LOSSES[self.loss]}"
        )

    def cost(self, loss: float) -> str:
        """A loss with its unit."""
        if self.loss == "binary":
            return f"{100 * loss:.3g}%"
        return f"{short_number(loss)} {'m' if self.loss == 'distance' else 'm²'}"

    def best(self, gap: float, progress: Any) -> Any:
        """The best channel; see `metricdp.design.optimal`."""
        return mdp.design.optimal(self.space, self.prior, self.loss, gap=gap, progress=progress)

    def expected_loss(self, channel: Channel) -> float:
        """Of a channel that releases the places themselves, as it is: nobody turns its releases into better guesses."""
        costs = as_loss(self.loss, self.places, self.space).matrix
        rows = [channel.outputs.index(place) for place in self.places]
        likely = channel.matrix[[channel.row(place) for place in self.places]][:, rows]
        return float((self.prior.floats[:, None] * likely * costs.T).sum())

    def exponential(self) -> Channel:
        """The exponential mechanism on the places."""
        return mdp.channels.of(mdp.exponential(self.space), self.places)

    def laplace(self) -> tuple[float, float]:
        """What Laplace noise costs, moved to the nearest place: an average over draws, and its standard error."""
        mechanism = mdp.laplace(self.space.metric)
        costs = as_loss(self.loss, self.places, self.space).matrix
        shares = self.prior.floats.tolist()
        mean = variance = 0.0
        each = max(50, _DRAWS // len(self.places))
        for place, share in enumerate(shares):
            drawn = [tuple(one) for one in mechanism.release([self.places[place]] * each)]
            nearest = self.space.metric.unit.pairwise(drawn, list(self.places)).argmin(axis=1)
            found = costs[nearest, place]
            mean += share * float(found.mean())
            variance += share**2 * float(found.var()) / each
        return mean, math.sqrt(variance)


def read_places(path: Path) -> tuple[list[Place], list[float]]:
    """Latitudes, longitudes and weights of a CSV file whose first row names its columns, or of points in GeoJSON.

    Raises:
        FileError: a column is not there, a value is no number, or there are too many or too few places.
    """
    if path.suffix in (".json", ".geojson"):
        return _checked(*_points(path))
    rows = [row for row in read_csv(path, (",", ";", "\t")) if any(row)]
    head = [name.strip().casefold() for name in rows[0]] if rows else []
    columns = [next((head.index(name) for name in names if name in head), None) for names in (_LATITUDE, _LONGITUDE)]
    weight = next((head.index(name) for name in _WEIGHT if name in head), None)
    if None in columns:
        raise FileError("the first row names the columns: latitude and longitude, and weight if there is one")
    try:
        places = [_place(row, columns) for row in rows[1:]]
        weights = [1.0 if weight is None else float(row[weight]) for row in rows[1:]]
    except (ValueError, IndexError):
        raise FileError("a latitude, a longitude or a weight is no number, or is not on the globe") from None
    return _checked(places, weights)


def _points(path: Path) -> tuple[list[Place], list[float]]:
    """The points of a GeoJSON file; the property "weight" of one is its weight."""
    places: list[Place] = []
    weights: list[float] = []

    def walk(tree: Any, weight: float) -> None:
        if tree is None:  # a feature without a geometry
            return
        kind = tree["type"]
        if kind == "FeatureCollection":
            for feature in tree["features"]:
                walk(feature, weight)
        elif kind == "Feature":
            own = {name.casefold(): value for name, value in (tree.get("properties") or {}).items()}
            walk(tree["geometry"], float(next((own[name] for name in _WEIGHT if name in own), weight)))
        elif kind == "GeometryCollection":
            for geometry in tree["geometries"]:
                walk(geometry, weight)
        elif kind in ("Point", "MultiPoint"):
            for point in [tree["coordinates"]] if kind == "Point" else tree["coordinates"]:
                places.append(_place([str(part) for part in point], (1, 0)))
                weights.append(weight)

    try:
        walk(json.loads(path.read_text(encoding="utf-8")), 1.0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise FileError("that is no GeoJSON with points on the globe in it") from None
    return places, weights


def _checked(places: list[Place], weights: list[float]) -> tuple[list[Place], list[float]]:
    if not 2 <= len(places) <= MOST_PLACES:
        raise FileError(f"it has {len(places):,} points; 2 to {MOST_PLACES} are wanted")
    if len(set(places)) < len(places):
        raise FileError("two of its points are the same: give each once, with the sum of their weights")
    if not all(0 <= weight < math.inf for weight in weights) or not any(weights):
        raise FileError("its weights are numbers from 0 on, and not all of them are 0")
    return places, weights


def _place(row: Sequence[str], columns: Sequence[int | None]) -> Place:
    latitude, longitude = (float(row[column]) for column in columns if column is not None)
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise ValueError
    return latitude, longitude
