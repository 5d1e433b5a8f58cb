"""Released places are read, checked and put into rectangles."""

import numpy as np
import pyarrow as pa
import pytest

from metricdp.errors import ColumnError
from metricdp.estimates.place_cells import PlaceCells, ReleasedPlaces
from metricdp.policies.policy import Policy


def column(**more):
    entry = {"type": "place", "columns": ["lat", "lon"], "within": "500 m", "missing": "refuse", **more}
    return Policy.of({"format": 2, "columns": {"home": entry}}).columns[0]


def read(north, east, **more):
    return ReleasedPlaces.of(column(**more), [pa.array(north, pa.float64()), pa.array(east, pa.float64())])


def test_outside_and_missing_come_after_the_rectangles():
    cells = PlaceCells(np.array([0.0, 1.0, 2.0]), np.array([10.0, 11.0]))
    places = read([0.5, 1.5, 3.0, None], [10.5, 10.5, 10.5, None], missing="public")
    assert cells.codes(places).tolist() == [0, 1, 2, 3]


def test_rectangles_beyond_the_antimeridian_are_met_from_the_other_side():
    cells = PlaceCells(np.array([0.0, 1.0]), np.array([179.0, 180.0, 181.0]))
    assert cells.codes(read([0.5, 0.5, 0.5], [179.5, -179.5, 10.0])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("north", "east", "named"),
    [
        ([0.5, 91.0], [1.0, 1.0], "lat"),
        ([0.5, 0.5], [1.0, 180.5], "lon"),
        ([0.5, float("inf")], [1.0, 1.0], "lat"),
        ([0.5, 0.1], [1.0, 1.0], "lat"),
        ([0.5, None], [1.0, 1.0], "lat"),
    ],
)
def test_a_place_that_no_release_has_is_refused_by_its_row(north, east, named):
    with pytest.raises(ColumnError, match=f"{named}.*row 1") as caught:
        read(north, east)
    assert "0.1" not in str(caught.value)
