"""The accessors of GeoPandas, on GeoPandas."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, KindError, NotFiniteError

geopandas = pytest.importorskip("geopandas")
mdp.integrations.enable("geopandas")

PLACES = {
    "format": 2,
    "columns": {
        "home": {"type": "place", "columns": ["latitude", "longitude"], "within": "200 m", "missing": "refuse"},
        "who": "drop",
    },
}


@pytest.fixture
def homes():
    return geopandas.GeoSeries.from_xy([2.3522] * 400, [48.8566] * 400, index=range(5, 405), crs=4326)


def metres(series, truth):
    return np.asarray(series.to_crs(2154).distance(truth.to_crs(2154), align=False))


def test_points_on_the_globe_are_released_by_metres(homes):
    released = homes.metricdp.within(200)
    assert released.crs == homes.crs
    assert released.index.equals(homes.index)
    away = metres(released, homes)
    radius = mdp.laplace(mdp.metrics.great_circle().within(200, factor=2)).radius(0.5)
    assert 0.3 < (away < radius).mean() < 0.7  # half of 400, to within eight standard deviations
    assert np.abs(np.asarray(released.y) - 48.8566).max() < 0.1  # latitude and longitude are not swapped


def test_points_on_a_map_are_released_in_its_plane(homes):
    flat = homes.to_crs(2154)
    released = flat.metricdp.within(200)
    assert released.crs == flat.crs
    radius = mdp.laplace(mdp.metrics.euclidean().within(200, factor=2), dim=2).radius(0.5)
    assert 0.3 < (metres(released, flat) < radius).mean() < 0.7


def test_a_mechanism_of_the_other_kind_is_refused(homes):
    globe = mdp.laplace(mdp.metrics.great_circle().within(200, factor=2))
    assert len(homes.metricdp.release(globe)) == 400
    with pytest.raises(ArgumentError, match="the points lie on a plane, and the mechanism's on the globe"):
        homes.to_crs(2154).metricdp.release(globe)
    with pytest.raises(ArgumentError, match="the points lie on the globe"):
        homes.metricdp.release(mdp.laplace(mdp.metrics.euclidean(), dim=2))


def test_coordinates_that_are_neither_degrees_nor_metres_are_refused(homes):
    with pytest.raises(ArgumentError, match="no coordinate system"):
        geopandas.GeoSeries.from_xy([1.0], [2.0]).metricdp.within(200)
    with pytest.raises(ArgumentError, match="WGS 84"):
        homes.to_crs(4267).metricdp.within(200)
    with pytest.raises(ArgumentError, match="in metres"):
        homes.to_crs(2263).metricdp.within(200)  # feet
    with pytest.raises(ArgumentError, match="in metres"):
        homes.set_crs(4978, allow_override=True).metricdp.within(200)  # from the middle of the Earth, in three


def test_a_frame_without_a_geometry_is_refused_in_our_words(tmp_path):
    """GeoPandas' own error said that a geospatial method was called."""
    frame = geopandas.GeoDataFrame({"income": [1.0]})
    with pytest.raises(ArgumentError, match="has no geometry"):
        frame.metricdp.sanitize({"format": 2, "columns": {"income": "keep"}})
    (tmp_path / "list.csv").write_text("name,visits\na,1\n")
    for source in (frame, tmp_path / "list.csv"):
        with pytest.raises(ArgumentError, match="has no geometry"):
            mdp.integrations.read_map(source)


def test_other_geometries_are_refused_with_their_row_and_no_value(homes):
    from shapely import LineString, Point

    for bad, error in (
        (None, NotFiniteError),
        (Point(), NotFiniteError),
        (LineString([(0, 0), (1, 1)]), KindError),
        (Point(1, 2, 3), KindError),
    ):
        points = geopandas.GeoSeries([Point(2.3522, 48.8566), bad], crs=4326)
        with pytest.raises(error, match="row 1") as caught:
            points.metricdp.within(200)
        assert "48.85" not in str(caught.value)


def test_a_frame_is_sanitized_with_its_points_as_two_columns(homes, tmp_path):
    frame = geopandas.GeoDataFrame({"who": ["n"] * 400}, geometry=homes.reset_index(drop=True))
    release = frame.metricdp.sanitize(PLACES)
    assert list(release.table.columns) == ["latitude", "longitude"]
    assert (release.table["latitude"] - 48.8566).abs().max() < 0.1
    with pytest.raises(ArgumentError, match="to_crs"):
        frame.to_crs(2154).metricdp.sanitize(PLACES)
    with pytest.raises(ArgumentError, match="a column 'latitude'"):
        frame.assign(latitude=1.0).metricdp.sanitize(PLACES)
