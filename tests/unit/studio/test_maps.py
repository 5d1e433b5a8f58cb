import json
import re

import numpy as np
import pytest

from metricdp.errors import FileError
from metricdp.studio.maps import MapLines, MapView, around, coastlines, map_of, read_lines


def test_places_come_back():
    view = MapView(48.0, 2.0, 50_000)
    for place in ((48.1, 2.2), (47.9, 1.8)):
        x, y = view.at(*place)
        assert view.place(x / view.width, y / view.height) == pytest.approx(place)


def test_distances_are_true_at_the_centre():
    import metricdp as mdp

    view = MapView(48.0, 2.0, 50_000)
    x, y = view.at(48.05, 2.1)
    drawn = ((x - view.width / 2) ** 2 + (y - view.height / 2) ** 2) ** 0.5 / view.scale
    assert drawn == pytest.approx(mdp.metrics.great_circle()((48.0, 2.0), (48.05, 2.1)), rel=2e-3)


def test_the_shipped_coastlines_are_on_the_globe_and_where_land_is():
    for lines in coastlines().values():
        assert np.abs(lines.points[:, 0]).max() <= 180.01
        assert np.abs(lines.points[:, 1]).max() <= 90
    coast = coastlines()["coasts"].points
    for longitude, latitude in ((-5.6, 36.0), (18.4, -34.3), (-67.3, -55.9)):  # Tarifa, the Cape, Cape Horn
        assert np.hypot(coast[:, 0] - longitude, coast[:, 1] - latitude).min() < 0.6


@pytest.mark.parametrize("metres", [500, 1e5, 4e7])
@pytest.mark.parametrize("longitude", [0, 179.9, -120])
def test_nothing_is_drawn_across_the_edge_of_the_map(metres, longitude):
    view = MapView(10.0, longitude, metres)
    text = map_of(view)
    for piece in re.findall(r'd="(M[^"]*)"', text)[:2]:
        for start, end in re.findall(r"M(\S+) \S+L(-?[\d.e+]+) ", piece):
            assert abs(float(start) - float(end)) <= 180 * view.degree


def test_what_lies_elsewhere_is_not_drawn():
    lines = MapLines.of([np.array([[2.0, 48.0], [2.1, 48.1]]), np.array([[100.0, 10.0], [101.0, 11.0]])])
    assert lines.path(MapView(48.05, 2.05, 50_000)).count("M") == 1
    assert lines.path(MapView(0.0, 0.0, 1000)) == ""


def test_geojson_is_read():
    square = [[0, 0], [1, 0], [1, 1], [0, 0]]
    tree = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": [[square], [square]]}},
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [3, 4]}},
            {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[5, 6, 7], [8, 9, 10]]}},
        ],
    }
    lines = read_lines(json.dumps(tree))
    assert lines.first.sum() == 3
    assert lines.points[-1].tolist() == [8, 9]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"type": "Point", "coordinates": [1, 2]}',
        '{"type": "LineString", "coordinates": [["a", "b"]]}',
        '{"type": "LineString", "coordinates": [[1, 2], [3]]}',
        '{"type": "LineString", "coordinates": [[1, NaN], [3, 4]]}',
        '{"type": "LineString"}',
        '{"type": "FeatureCollection", "features": [null]}',
    ],
)
def test_what_is_no_geojson_is_refused(text):
    with pytest.raises(FileError):
        read_lines(text)


def test_features_without_a_geometry_and_empty_rings_are_passed_over():
    text = json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {"type": "Feature", "properties": None, "geometry": None},
                {
                    "type": "Feature",
                    "properties": {},
                    "geometry": {"type": "Polygon", "coordinates": [[[2, 48], [3, 48], [3, 49], [2, 48]], []]},
                },
            ],
        }
    )
    assert read_lines(text).points.tolist() == [[2, 48], [3, 48], [3, 49], [2, 48]]


@pytest.mark.parametrize(
    "places", [[(48.8, 2.3), (52.5, 13.4)], [(-17.0, 179.0), (-18.0, -179.0)], [(89.0, 0.0), (-89.0, 170.0)], [(1, 1)]]
)
def test_a_map_around_places_shows_them_all(places):
    centre, wide = around(places)
    view = MapView(*centre, wide)
    assert all(view.shows(*place) for place in places)
    if len(places) == 2 and places[0][0] < 89:
        assert not all(MapView(*centre, wide / 2).shows(*place) for place in places)
