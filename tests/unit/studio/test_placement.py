import json
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import FileError
from metricdp.studio.placement import LOSSES, Placement, read_places

PLACES = ((48.85, 2.33), (48.86, 2.33), (48.85, 2.36))


def made(loss="distance", weights=(1, 2, 3)):
    return Placement(PLACES, weights, Fraction(500), Fraction(2), loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_that_of_the_package_and_none_is_better_than_the_best(loss):
    placement = made(loss)
    best = placement.best(1e-3, None)
    assert placement.expected_loss(best) == pytest.approx(best.loss, rel=1e-9)
    assert mdp.channels.verify(best, placement.space)
    assert placement.expected_loss(placement.exponential()) >= best.bound


def test_laplace_noise_costs_at_least_the_bound_too():
    placement = made()
    with mdp.seeded(1):
        mean, error = placement.laplace()
    assert 0 < error < mean
    assert mean + 7 * error >= placement.best(1e-3, None).bound


def test_places_are_read(tmp_path):
    file = tmp_path / "places.csv"
    file.write_text("Name,LAT,lon,Population\na,52.5,13.4,3\n\nb,52.6,13.5,0\n")
    assert read_places(file) == ([(52.5, 13.4), (52.6, 13.5)], [3.0, 0.0])


def test_points_of_geojson_are_read(tmp_path):
    file = tmp_path / "places.geojson"
    points = {"type": "MultiPoint", "coordinates": [[13.6, 52.7], [13.7, 52.8, 30.0]]}
    line = {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}
    one = {"type": "Point", "coordinates": [13.4, 52.5]}
    features = [
        {"type": "Feature", "properties": {"Weight": 3}, "geometry": one},
        {"type": "Feature", "properties": None, "geometry": {"type": "GeometryCollection", "geometries": [points]}},
        {"type": "Feature", "properties": {}, "geometry": line},
    ]
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert read_places(file) == ([(52.5, 13.4), (52.7, 13.6), (52.8, 13.7)], [3.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "tree",
    [
        [],
        {},
        {"type": "Point", "coordinates": [13.4, 52.5]},
        {"type": "MultiPoint", "coordinates": [[13.4, 52.5], [13.4, 95]]},
        {"type": "MultiPoint", "coordinates": [[13.4, 52.5], [13.4]]},
        {"type": "MultiPoint", "coordinates": [[13.4, 52.5], ["x", 5]]},
        {"type": "LineString", "coordinates": [[13.4, 52.5], [13.5, 52]]},
    ],
)
def test_what_are_no_points_is_refused(tmp_path, tree):
    file = tmp_path / "places.json"
    file.write_text(json.dumps(tree))
    with pytest.raises(FileError):
        read_places(file)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "latitude,longitude,weight\n52,13,nan\n53,13,2\n",
        "a,b\n1,2\n",
        "latitude,longitude\n52,13\n",
        "latitude,longitude\n52,13\n52,13\n",
        "latitude,longitude\n95,13\n52,13\n",
        "latitude,longitude\nnan,13\n52,13\n",
        "latitude,longitude\n52\n53,13\n",
        "latitude,longitude,weight\n52,13,-1\n53,13,2\n",
        "latitude,longitude,weight\n52,13,0\n53,13,0\n",
        "latitude,longitude\n" + "".join(f"{row / 10},1\n" for row in range(61)),
    ],
)
def test_what_are_no_places_is_refused(tmp_path, text):
    file = tmp_path / "places.csv"
    file.write_text(text)
    with pytest.raises(FileError):
        read_places(file)


def test_other_delimiters_and_features_without_a_geometry(tmp_path):
    file = tmp_path / "places.csv"
    file.write_text("lat;lon;weight\n52.5;13.4;3\n52.6;13.5;0\n")
    assert read_places(file) == ([(52.5, 13.4), (52.6, 13.5)], [3.0, 0.0])
    points = {"type": "MultiPoint", "coordinates": [[13.6, 52.7], [13.7, 52.8]]}
    features = [{"type": "Feature", "properties": None, "geometry": one} for one in (None, points)]
    (tmp_path / "places.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert read_places(tmp_path / "places.geojson")[0] == [(52.7, 13.6), (52.8, 13.7)]


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"\x89PNG\r\n\x1a\n\xff", "is not text in UTF-8"),
        (b"lat,lon\n1,2\n", "it has 1 points; 2 to 60 are wanted"),
        (b"lat,lon\n1,2\n1,2\n", "two of its points are the same"),
        (b"lat,lon,weight\n1,2,nan\n1,3,1\n", "its weights are numbers from 0 on"),
    ],
)
def test_what_is_wrong_with_a_file_of_places_is_said(content, rule, tmp_path):
    (tmp_path / "places.csv").write_bytes(content)
    with pytest.raises(FileError, match=rule):
        read_places(tmp_path / "places.csv")


def test_losses_have_units():
    assert made().cost(1234) == "1,234 m"
    assert made("squared").cost(5) == "5 m²"
    assert made("binary").cost(0.25) == "25%"
