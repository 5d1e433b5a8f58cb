"""Points of GeoJSON as a table."""

import json

import pytest

from metricdp.cli.options.geojson import geojson_cells
from metricdp.cli.options.points import read_points
from metricdp.errors import ArgumentError


def feature(coordinates, properties=None, kind="Point"):
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def written(tmp_path, *features):
    path = tmp_path / "places.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def test_longitude_stands_first_and_digits_are_kept(tmp_path):
    path = tmp_path / "places.geojson"
    place = '{"type": "Point", "coordinates": [2.3500000000000000000001, 48.85, 35]}'
    path.write_text(f'{{"type": "Feature", "properties": {{"name": "a", "visits": 3}}, "geometry": {place}}}')
    header, cells, where = geojson_cells(path)
    assert header == ("lat", "lon", "name", "visits")
    assert cells == (("48.85", "2.3500000000000000000001", "a", "3"),)
    assert where == ("feature 1",)


def test_properties_never_move_a_point_and_may_be_missing(tmp_path):
    path = written(
        tmp_path, feature([2, 48], {"lat": 0, "X": 7, "name": "a", "tags": ["b"]}), feature([3, 49], {"staff": 4})
    )
    header, cells, _ = geojson_cells(path)
    assert header == ("lat", "lon", "name", "staff")
    assert cells == (("48", "2", "a", ""), ("49", "3", "", "4"))


def test_points_of_a_map_are_those_of_the_same_table(tmp_path):
    path = written(tmp_path, feature([2.5, 48], {"visits": 3}), feature([3, 49.25], {"visits": 1}))
    table = tmp_path / "places.csv"
    table.write_text("lat,lon,visits\n48,2.5,3\n49.25,3,1\n")
    mapped, listed = read_points(path), read_points(table)
    assert mapped.coordinates == listed.coordinates
    assert mapped.prior(None, mapped.coordinates)[0] == listed.prior(None, listed.coordinates)[0]


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([feature([], kind="Polygon")], "feature 1: a geometry of type Point is wanted, not Polygon"),
        ([feature([1, 2]), {"type": "Feature", "geometry": None}], "feature 2: .* not nothing"),
        ([feature([1])], "feature 1: the coordinates"),
        ([feature(["a", [2]])], "feature 1: the coordinates"),
        ([feature([float("nan"), 2])], "feature 1: the coordinates"),
        ([], "empty"),
    ],
)
def test_what_is_no_point_is_refused_with_its_feature(tmp_path, features, words):
    with pytest.raises(ArgumentError, match=words):
        geojson_cells(written(tmp_path, *features))


@pytest.mark.parametrize("text", ["[1, 2]", "{", '{"type": "FeatureCollection"}', '"a"', '{"type": "Topology"}'])
def test_what_is_no_geojson_is_refused(tmp_path, text):
    path = tmp_path / "places.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match="GeoJSON"):
        geojson_cells(path)


def test_the_same_place_twice_is_named_by_feature(tmp_path):
    with pytest.raises(ArgumentError, match="feature 2: the same point as in feature 1"):
        read_points(written(tmp_path, feature([1, 2]), feature([1, 2])))
