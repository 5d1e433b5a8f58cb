"""Maps from files: the same places whatever the file, joined to cells, with weights that are refused by their row."""

import json
from fractions import Fraction

import geopandas
import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.errors import ArgumentError, DataError, KindError, NotFiniteError
from metricdp.integrations import read_map

PARIS = [(2.3522, 48.8566), (2.2945, 48.8584), (2.3376, 48.8606), (2.2945, 48.8584)]


@pytest.fixture
def frame():
    x, y = zip(*PARIS, strict=True)
    return geopandas.GeoDataFrame({"visits": [5, 1, 2, 3]}, geometry=geopandas.points_from_xy(x, y), crs=4326)


def test_every_file_gives_the_same_map(frame, tmp_path):
    frame.to_file(tmp_path / "places.geojson", driver="GeoJSON")
    frame.to_parquet(tmp_path / "places.parquet")
    maps = [
        read_map(s, weights="visits") for s in (frame, tmp_path / "places.geojson", str(tmp_path / "places.parquet"))
    ]
    for town in maps:
        assert town.points == ((48.8566, 2.3522), (48.8584, 2.2945), (48.8606, 2.3376))
        assert town.weights == (5, 4, 2)  # rows of one place are joined
        assert town.rows == 4
        assert town.metric == mdp.metrics.great_circle()
        assert town.prior.fractions == [Fraction(5, 11), Fraction(4, 11), Fraction(2, 11)]
    assert json.loads(json.dumps(maps[0].to_json()))["weights"] == [5, 4, 2]
    assert str(maps[0]).startswith("3 places of 4 rows")
    assert read_map(frame).weights == (1, 2, 1)


def test_from_a_file_to_a_channel_with_public_outputs(frame):
    town = read_map(frame, weights="visits")
    space = town.space(1000)
    channel = optimal(space, town.prior, outputs=town.likeliest(2))
    assert verify(channel, space)
    assert channel.outputs == ((48.8566, 2.3522), (48.8584, 2.2945))
    assert channel.finished
    with pytest.raises(ArgumentError, match="between 1 and 3"):
        town.likeliest(4)


@pytest.mark.parametrize("side", [50, 700, 20000.5])
def test_squares_on_the_globe_are_near_and_as_large_as_they_say(side):
    generator = np.random.default_rng(1)
    longitudes, latitudes = generator.uniform(-180, 180, 300), generator.uniform(-89.9, 89.9, 300)
    longitudes[:100] = 179.9 + generator.uniform(0, 0.2, 100)
    places = geopandas.GeoSeries.from_xy(longitudes, latitudes, crs=4326)
    town = read_map(places, cells=side)
    metric = mdp.metrics.great_circle()
    near = metric.pairwise(list(zip(latitudes.tolist(), longitudes.tolist(), strict=True)), list(town.points)).min(
        axis=1
    )
    assert near.max() <= side  # half a diagonal, with room for the row's edge
    assert sum(town.weights) == 300
    assert len(set(town.points)) == len(town.points)


def test_squares_on_a_plane_and_hexagons(frame):
    plane = geopandas.GeoSeries.from_xy([-1, -99, 1, 250], [0, 0, 0, 0], crs=3857)
    town = read_map(plane, cells=100)
    assert town.points == ((-50.0, 50.0), (50.0, 50.0), (250.0, 50.0))
    assert town.weights == (2, 1, 1)
    assert town.metric == mdp.metrics.euclidean()
    coarse = read_map(frame, weights="visits", cells="h3:5")
    assert len(coarse.points) < 3
    assert sum(coarse.weights) == 11
    assert coarse.cells == "H3 cells of resolution 5"
    fine = read_map(frame, cells="h3:12")
    apart = mdp.metrics.great_circle().pairwise(list(fine.points), [(48.8566, 2.3522)])
    assert apart.min() < 15
    with pytest.raises(ArgumentError, match=r"to_crs\(4326\)"):
        read_map(plane, cells="h3:9")


@pytest.mark.parametrize("cells", [0, -5, float("nan"), float("inf"), True, "9", "h3:16", "h3:", "h3:x", [100]])
def test_bad_cells(frame, cells):
    with pytest.raises(ArgumentError):
        read_map(frame, cells=cells)


@pytest.mark.parametrize("bad", [-1, None, float("nan"), float("inf"), "three"])
def test_bad_weights_name_the_row_and_never_the_value(frame, bad):
    frame["visits"] = [5, 1, bad, 3]
    with pytest.raises(DataError) as caught:
        read_map(frame, weights="visits")
    assert caught.value.row == 2
    assert "three" not in str(caught.value)


def test_bad_maps(frame, tmp_path):
    with pytest.raises(ArgumentError, match="no column 'visitors'"):
        read_map(frame, weights="visitors")
    with pytest.raises(ArgumentError, match="there is no file"):
        read_map(tmp_path / "none.geojson")
    (tmp_path / "broken.geojson").write_text("{")
    with pytest.raises(ArgumentError, match="cannot be read as a map"):
        read_map(tmp_path / "broken.geojson")
    with pytest.raises(ArgumentError, match="a file or a GeoDataFrame"):
        read_map([(0, 1)])
    with pytest.raises(ArgumentError, match="no rows"):
        read_map(frame.iloc[:0])
    with pytest.raises(ArgumentError, match="all weights are 0"):
        read_map(frame.assign(visits=0), weights="visits")
    with pytest.raises(ArgumentError, match="set_crs"):
        read_map(frame.set_crs(None, allow_override=True))
    with pytest.raises(NotFiniteError):
        read_map(geopandas.GeoSeries([None, frame.geometry[0]], crs=4326))
    with pytest.raises(KindError, match="centroid"):
        read_map(frame.to_crs(3857).buffer(1))
