"""Accessors of GeoPandas: points on the globe or on a projected map, released by the metres between them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, KindError, NotFiniteError
from metricdp.integrations.accessors import FrameAccessor
from metricdp.integrations.in_place import PolicyLike, required
from metricdp.ledger import Ledger
from metricdp.mechanisms.forms.pandas import marked
from metricdp.mechanisms.laplace import laplace
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.metrics import euclidean, great_circle
from metricdp.tables import Release, sanitize

__all__ = ["GeoFrameAccessor", "GeoSeriesAccessor", "coordinates", "geometry_of", "give_accessors", "on_globe"]


class GeoSeriesAccessor:
    """``geoseries.metricdp``: release points, each in its place.

    Args:
        series: of GeoPandas, with points.
    """

    def __init__(self, series: Any) -> None:
        self._series = series

    def within(self, metres: float | Fraction, factor: float | Fraction = 2) -> Any:
        """Points released so that likelihoods of two places so many metres apart are within a factor.

        On the globe where the coordinates are degrees of WGS 84 (EPSG:4326), in the plane where they are metres.

        Args:
            metres: a distance that matters.
            factor: how much likelier a release can be from one of two such places than from the other.

        Raises:
            ArgumentError: the coordinates are neither; `to_crs` changes them.
        """
        if on_globe(self._series):
            return self.release(laplace(great_circle().within(metres, factor=factor)))
        return self.release(laplace(euclidean().within(metres, factor=factor), dim=2))

    def release(self, mechanism: Mechanism) -> Any:
        """Points released by a mechanism: of (latitude, longitude) where they are degrees, else of (x, y).

        Raises:
            ArgumentError: the mechanism is for the globe, and the points are not, or the other way round.
            KindError: a geometry is no point.
            NotFiniteError: a geometry is missing or empty.
        """
        geopandas = required("geopandas", "geopandas", "geopandas")
        globe = on_globe(self._series)
        if mechanism.guarantee.metric.on_globe is not globe:
            words = ("on the globe", "on a plane")
            raise ArgumentError(f"the points lie {words[not globe]}, and the mechanism's {words[globe]}")
        points = coordinates(self._series)
        released = np.asarray(mechanism.release(points[:, ::-1] if globe else points))
        placed = released[:, ::-1] if globe else released
        made = geopandas.points_from_xy(placed[:, 0], placed[:, 1], crs=self._series.crs)
        given = geopandas.GeoSeries(made, index=self._series.index, name=self._series.name, crs=self._series.crs)
        return marked(given)


class GeoFrameAccessor(FrameAccessor):
    """``geoframe.metricdp``: sanitize a frame whose geometry is a place of its policy."""

    def sanitize(
        self,
        policy: PolicyLike,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        *,
        by: str | None = None,
        key: str | None = None,
    ) -> Release[Any]:
        """As `FrameAccessor.sanitize`; the policy's columns ``latitude`` and ``longitude`` are the points' own.

        The released table has these two columns in place of the geometry.
        """
        pandas = required("pandas", "pandas", "tables")
        frame, points = self._frame, geometry_of(self._frame)
        if not on_globe(points):
            raise ArgumentError("a policy's places are degrees: to_crs(4326) turns points into those")
        places = coordinates(points)
        taken = {"latitude", "longitude"} & set(map(str, frame.columns))
        if taken:
            raise ArgumentError(f"the frame has a column {min(taken)!r}, which is what the points' own is called")
        plain = pandas.DataFrame(frame.drop(columns=points.name))
        plain["latitude"], plain["longitude"] = places[:, 1], places[:, 0]
        return sanitize(plain, policy, ledger=ledger, account=account, by=by, key=key)


def geometry_of(frame: Any) -> Any:
    """The geometry of a frame, refused where it has none: so does a file of places without any."""
    if getattr(frame, "active_geometry_name", None) is None:
        raise ArgumentError("the frame has no geometry: set_geometry says which column it is")
    return frame.geometry


def on_globe(series: Any) -> bool:
    """Whether points are degrees on the globe; False where they are metres on a plane, refused where neither."""
    crs = series.crs
    if crs is None:
        raise ArgumentError("the points have no coordinate system: set_crs says which numbers these are")
    if crs.is_geographic:
        if crs.to_epsg() not in (4326, None) or crs.axis_info[0].unit_name != "degree":
            raise ArgumentError("degrees are wanted in WGS 84: to_crs(4326) turns them into those")
        return True
    if crs.is_geocentric or any(axis.unit_conversion_factor != 1.0 for axis in crs.axis_info[:2]):
        raise ArgumentError("a map in metres is wanted: to_crs turns it into one")
    return False


def coordinates(series: Any) -> Any:
    """The x and y of points, refused where a geometry is something else."""
    missing = np.asarray(series.isna() | series.is_empty)
    if missing.any():
        raise NotFiniteError("a point is missing", int(np.argmax(missing)))
    others = np.asarray(series.geom_type != "Point") | np.asarray(series.has_z)
    if others.any():
        row = int(np.argmax(others))
        raise KindError("points in two dimensions are wanted; centroid makes them of other geometries", row)
    return np.column_stack([np.asarray(series.x), np.asarray(series.y)])


class _Accessor:
    """Gives an object its accessor, as pandas does for classes of its own."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __get__(self, thing: Any, owner: type) -> Any:
        return self._kind if thing is None else self._kind(thing)


def give_accessors() -> None:
    """Put them on GeoSeries and GeoDataFrame."""
    geopandas = required("geopandas", "geopandas", "geopandas")
    required("pyarrow", "pyarrow", "geopandas")
    geopandas.GeoSeries.metricdp = _Accessor(GeoSeriesAccessor)
    geopandas.GeoDataFrame.metricdp = _Accessor(GeoFrameAccessor)
