"""Scores of regions: never too low, never too high on average, and narrow enough to tell something."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import HeatMap, estimate
from metricdp.estimates.place_cells import ReleasedPlaces
from metricdp.estimates.place_laws import PlaceLaw
from metricdp.estimates.region_scores import MapScores, RegionScores
from metricdp.policies import Policy
from metricdp.tables import sanitize

BOX = (48.80, 2.25, 48.85, 2.35)
POLICY = {
    "format": 2,
    "columns": {"home": {"type": "place", "within": "200 m", "columns": ["lat", "lon"], "missing": "refuse"}},
}


COLUMN = Policy.of(POLICY).columns[0]


@pytest.fixture(scope="module")
def scores():
    return RegionScores.of(COLUMN, BOX, 4000, 1.96)


def check_scores(scores, box):
    law = PlaceLaw(COLUMN, {"region": box}, fine=True)
    inside = law.inside(box)
    assert (law.matrix @ scores.upper >= inside.high - 1e-6).all()
    assert (law.matrix @ scores.lower <= inside.low + 1e-6).all()
    halves = law._fine.reshape(-1, law._fine.shape[2])  # the points between, too
    north = np.repeat(np.sort(np.concatenate([law.north, (law.north[1:] + law.north[:-1]) / 2])), law._fine.shape[1])
    east = np.tile(np.sort(np.concatenate([law.east, (law.east[1:] + law.east[:-1]) / 2])), law._fine.shape[0])
    closed = (north >= box[0]) & (north <= box[2]) & (east >= box[1]) & (east <= box[3])
    opened = (north > box[0]) & (north < box[2]) & (east > box[1]) & (east < box[3])
    seen = law._fine.shape[2]
    assert (halves @ scores.upper[:seen] >= closed - 1e-6).all()
    assert (halves @ scores.lower[:seen] <= opened + 1e-6).all()


def test_no_secret_is_scored_too_low_or_too_high_on_average(scores):
    check_scores(scores, BOX)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((48.80, 2.35, 48.85, 2.45), id="beside it"),
        pytest.param((48.85, 2.25, 48.90, 2.35), id="north of it"),
        pytest.param((48.80, 2.25, 48.84, 2.35), id="smaller"),
        pytest.param((60.00, 2.25, 60.05, 2.35), id="far from it"),
        pytest.param((48.80, 2.25, 48.801, 2.252), id="with other outputs"),
    ],
)
def test_scores_mended_from_those_of_another_region_are_right_for_this_one(scores, other):
    mended = RegionScores.of(COLUMN, other, 4000, 1.96, like=scores)
    check_scores(mended, other)
    alone = RegionScores.of(COLUMN, other, 4000, 1.96)
    if mended.cap == alone.cap and len(mended.upper) == len(alone.upper):
        assert np.abs(mended.upper - mended.lower).mean() < 1.1 * np.abs(alone.upper - alone.lower).mean()


def test_scores_that_follow_nothing_released_are_found_once():
    one, two = (MapScores.known(Policy.of(POLICY).columns[0], (BOX,), 4000, 1.96) for _ in range(2))
    assert one is two
    assert MapScores.known(COLUMN, (BOX,), 5000, 1.96) is not one


def test_what_is_elsewhere_is_the_rest():
    made = MapScores(COLUMN, [BOX], 4000, 1.96)
    released = ReleasedPlaces(np.array([48.8125, 48.0]), np.array([2.3125, 2.0]), np.zeros(2, dtype=bool), 1e-8)
    upper, lower = made.of(released)
    assert upper[:, 1] == pytest.approx(1 - lower[:, 0])
    assert lower[:, 1] == pytest.approx(1 - upper[:, 0])


def test_a_region_with_all_rows_far_from_its_border_is_told_within_a_fifth():
    random = np.random.default_rng(8)
    homes = [48.825, 2.30] + random.normal(size=(20_000, 2)) * 0.004
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(3):
        released = sanitize(pa.table({"lat": homes[:, 0], "lon": homes[:, 1]}), POLICY).table
    inside, elsewhere = estimate(released, HeatMap("home", 1, 1, BOX))
    assert inside.interval[0] > 16_000
    assert elsewhere.interval[1] < 4000
    assert elsewhere.interval[0] <= 0 <= 20_000 <= inside.interval[1]


def test_one_row_tells_next_to_nothing():
    found = estimate(pa.table({"lat": [48.8125], "lon": [2.3125]}), HeatMap("home", 1, 1, BOX), policy=POLICY)
    assert all(one.interval == (0.0, 1.0) for one in found)


def test_a_wide_region_is_told_by_its_border_alone_and_not_by_how_many_rows_there_are():
    """Cells of 55 km, beside noise of 300 m: few rows lie near a border."""
    random = np.random.default_rng(9)
    homes = random.random((4000, 2)) + np.array([40.2, -74.5])
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(4):
        released = sanitize(pa.table({"lat": homes[:, 0], "lon": homes[:, 1]}), POLICY).table
    box = (40.2, -74.5, 40.7, -74.0)
    found = estimate(released, HeatMap("home", 1, 1, box))
    truth = ((homes[:, 0] < 40.7) & (homes[:, 1] < -74.0)).sum()
    for one, wanted in zip(found, (truth, 4000 - truth), strict=True):
        assert one.interval[0] <= wanted <= one.interval[1]
        assert one.interval[1] - one.interval[0] < 150  # 1,065 before; to draw a quarter of 4,000 rows varies by 107
    drawn = estimate(released, HeatMap("home", 1, 1, box), truth="population")
    assert drawn["count(*)"][0].interval[1] - drawn["count(*)"][0].interval[0] > 140
