"""Heat maps of places and flows between regions, with intervals that hold the truth."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ColumnError, TooLargeError
from metricdp.estimates import Flows, HeatMap, estimate
from metricdp.tables import sanitize

PLACE = {"type": "place", "within": "200 m", "missing": "refuse"}
POLICY = {
    "format": 2,
    "columns": {
        "home": {**PLACE, "columns": ["lat", "lon"]},
        "work": {**PLACE, "columns": ["lat2", "lon2"]},
    },
}
MAP = (48.80, 2.25, 48.90, 2.45)
REGIONS = {"west": (48.80, 2.25, 48.90, 2.35), "east": (48.80, 2.35, 48.90, 2.45)}


@pytest.fixture(scope="module")
def town():
    random = np.random.default_rng(4)
    centres, rows = np.array([[48.825, 2.29], [48.875, 2.41]]), 4000
    whose = random.integers(0, 2, rows)
    home = centres[whose] + random.normal(size=(rows, 2)) * 0.006
    work = centres[np.where(random.random(rows) < 0.7, 1, whose)] + random.normal(size=(rows, 2)) * 0.004
    table = pa.table({"lat": home[:, 0], "lon": home[:, 1], "lat2": work[:, 0], "lon2": work[:, 1]})
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(5):
        return home, work, sanitize(table, POLICY).table


def within(places, box):
    south, west, north, east = box
    return (places[:, 0] >= south) & (places[:, 0] < north) & (places[:, 1] >= west) & (places[:, 1] < east)


def test_a_heat_map_holds_the_truth_in_each_cell(town):
    home, _, released = town
    found = estimate(released, HeatMap("home", 2, 2, MAP))
    assert found.group_names == ("latitude", "longitude")
    assert found.groups[0] == ("48.8500 to 48.9000", "2.2500 to 2.3500")  # from the north-west on
    for one, north, west in zip(found, (48.85, 48.85, 48.8, 48.8), (2.25, 2.35, 2.25, 2.35), strict=False):
        truth = within(home, (north, west, north + 0.05, west + 0.1)).sum()
        assert one.interval[0] <= truth <= one.interval[1]
        assert abs(one.value - truth) < 200
        assert one.conservative
    assert found.groups[-1][0] == "elsewhere"
    assert not found.private


def test_flows_hold_the_truth_between_each_two_regions(town):
    home, work, released = town
    found = estimate(released, Flows("home", "work", REGIONS))
    assert len(found) == 9
    for (start, end), (one,) in zip(found.groups, found.found, strict=True):
        if "elsewhere" not in (start, end):
            truth = (within(home, REGIONS[start]) & within(work, REGIONS[end])).sum()
            assert one.interval[0] <= truth <= one.interval[1]
            assert abs(one.value - truth) < 250


def test_without_bounds_the_map_is_where_places_were_released(town):
    _, _, released = town
    found = estimate(released, HeatMap("home", 1, 1))
    assert found.found[0][0].value > 3000


def test_what_cannot_be_asked_is_said(town):
    _, _, released = town
    with pytest.raises(ArgumentError, match="no column 'nowhere'"):
        estimate(released, HeatMap("nowhere"))
    with pytest.raises(TooLargeError):
        HeatMap("home", 100, 100)
    with pytest.raises(ArgumentError, match="a cell at least"):
        HeatMap("home", 0)
    with pytest.raises(ArgumentError, match="two different columns"):
        estimate(released, Flows("home", "home", REGIONS))
    with pytest.raises(ArgumentError, match="lies in none"):
        Flows("home", "work", {"elsewhere": MAP})
    with pytest.raises(ArgumentError, match="HeatMap"):
        estimate(released, "select count(*) where home = 1")


def test_no_rows_and_edited_places_are_refused(town):
    _, _, released = town
    with pytest.raises(ArgumentError, match="no rows"):
        estimate(released.slice(0, 0), HeatMap("home", 1, 1, MAP))
    edited = released.set_column(0, "lat", pa.array([*released["lat"].to_pylist()[:-1], 48.123456789]))
    with pytest.raises(ColumnError, match=f"'lat', row {len(released) - 1}:") as caught:
        estimate(edited, HeatMap("home", 1, 1, MAP))
    assert "48.12" not in str(caught.value)


def test_a_map_across_the_antimeridian_is_found():
    random = np.random.default_rng(3)
    east = (180 + random.normal(0, 0.05, 400) + 180) % 360 - 180
    policy = {"format": 2, "columns": {"home": {"type": "place", "columns": ["lat", "lon"], "within": "500 m"}}}
    with mdp.seeded(4):
        released = sanitize(pa.table({"lat": random.normal(-17, 0.05, 400), "lon": east}), policy).table
    found = estimate(released, HeatMap("home", 1, 1), policy=policy)
    west, last = map(float, found.groups[0][1].split(" to "))
    assert 179.8 < west < 180 < last < 180.2
    assert found.found[0][0].naive > 350
