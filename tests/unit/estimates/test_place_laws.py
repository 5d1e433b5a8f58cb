"""The law of released places is the mechanism's, and regions are told apart by it."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ColumnError
from metricdp.estimates.place_laws import PlaceLaw, checked_boxes, quadrant
from metricdp.policies.policy import Policy

PARIS = {"west": (48.80, 2.25, 48.85, 2.35), "east": (48.80, 2.35, 48.85, 2.45)}


def column(**more):
    entry = {"type": "place", "columns": ["lat", "lon"], "within": "500 m", "missing": "refuse", **more}
    return Policy.of({"format": 2, "columns": {"home": entry}}).columns[0]


@pytest.fixture(scope="module")
def law():
    return PlaceLaw(column(), PARIS)


def test_the_law_is_that_of_releases(law):
    place = len(law.north) // 2, len(law.east) // 2
    secret, draws = (law.north[place[0]], law.east[place[1]]), 50_000
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(3):
        released = np.array(law.column.mechanism.release(np.tile([secret], (draws, 1))))
    codes = law.codes([pa.array(released[:, 0]), pa.array(released[:, 1])])
    wanted = law.matrix[place[0] * len(law.east) + place[1]] * draws
    common = wanted > 20
    seen = np.bincount(codes, minlength=len(wanted))
    chi = ((seen - wanted) ** 2 / np.maximum(wanted, 1e-9))[common].sum()
    assert common.sum() > 20
    assert chi < common.sum() + 6 * np.sqrt(2 * common.sum())


def test_rows_of_the_law_are_distributions(law):
    assert law.matrix.min() >= -1e-12
    np.testing.assert_allclose(law.matrix.sum(axis=1), 1, atol=1e-9)


def test_a_quadrant_of_noise_is_a_quarter_and_a_half_plane_by_both():
    far = np.array([30.0])
    assert quadrant(far, far)[0] == pytest.approx(0.25)
    # P(|z| <= 1) = 1 - 2/e lies between that of the inner and the outer square
    inner, outer = (4 * quadrant(np.array([side]), np.array([side]))[0] for side in (2**-0.5, 1.0))
    assert inner < 1 - 2 / np.e < outer


def test_every_secret_is_in_one_region_or_elsewhere(law):
    parts = [law.inside(box) for box in PARIS.values()] + [law.elsewhere()]
    assert (sum(part.low for part in parts) <= 1).all()
    assert (sum(part.high for part in parts) >= 1).all()
    border = np.isclose(law.east, 2.35)
    shared = parts[0].high[: len(law.north) * len(law.east)].reshape(len(law.north), -1)[:, border]
    assert shared.max() == 1


@pytest.mark.parametrize(
    "boxes",
    [
        {},
        {"a": (1, 2, 3)},
        {"a": (2, 0, 1, 1)},
        {"a": (0, 0, 1, float("nan"))},
        {"a": (0, 0, 2, 2), "b": (1, 1, 3, 3)},
    ],
)
def test_regions_that_are_none_are_refused(boxes):
    with pytest.raises(ArgumentError):
        checked_boxes(boxes)


def test_a_pole_and_noise_around_the_globe_are_refused():
    with pytest.raises(ArgumentError, match="80 degrees"):
        PlaceLaw(column(), {"pole": (84, 0, 86, 10)})
    with pytest.raises(ArgumentError, match="100 km"):
        PlaceLaw(column(within="300 km"), PARIS)


@pytest.mark.parametrize("north", [48.8123456789, 91.0, None])
def test_places_that_no_release_has_are_refused(law, north):
    with pytest.raises(ColumnError, match="row 0"):
        law.codes([pa.array([north], pa.float64()), pa.array([2.0])])


def test_missing_places_are_told_apart():
    law = PlaceLaw(column(missing="public"), PARIS)
    assert law.codes([pa.array([None], pa.float64()), pa.array([None], pa.float64())]) == [law.matrix.shape[1] - 1]
    assert law.matrix[-1, -1] == 1
