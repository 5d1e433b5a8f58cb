"""Scores of the number and its square: right on average for every secret, at the bounds and for null too."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from metricdp.estimates.laws import LineLaw
from metricdp.estimates.moments import MomentScore
from metricdp.estimates.outline import Outline
from metricdp.policies import Policy

ENTRIES = {
    "unbounded": {"type": "number", "within": 3},
    "bounded": {"type": "number", "within": 3, "bounds": [0, 10], "missing": "refuse", "resolution": 0.001},
    "delta": {
        "type": "number",
        "metric": "1 discrete",
        "bounds": [0, 10],
        "delta": 0.01,
        "missing": "refuse",
        "resolution": 0.001,
    },
    "nulls": {"type": "number", "within": 3, "bounds": [0, 10], "missing": "secret", "resolution": 0.001},
    "integers": {"type": "integer", "within": 3},
    "bounded integers": {"type": "integer", "within": 3, "bounds": [-4, 10], "missing": "refuse"},
}


def law_of(entry, arrow):
    column = Policy.of({"format": 2, "columns": {"x": entry}}).columns[0]
    return LineLaw(column, arrow, Outline.of(np.linspace(-20, 30, 2000)), 2000)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_expected_score_is_the_secret_and_the_expected_square_its_square(name):
    arrow = pa.int64() if "integer" in name else pa.float64()
    law = law_of(ENTRIES[name], arrow)
    score, noise = MomentScore.of(law), law.noise
    first, last = noise.end_cells or (-60_000, 60_000)
    if noise.end_cells is None and name == "unbounded":
        half = round(60 / law.width / 2**6)
        cuts = np.arange(-half, half, dtype=float) * 2**6
    else:
        cuts = np.arange(first, last + 2, dtype=float)
    secrets = np.array([0.0, 3.0, 5.0, 10.0])
    below = noise.cells_below(secrets - law.origin, cuts)
    shares = np.diff(below, axis=1)
    middles = (cuts[:-1] + cuts[1:] - 1) / 2 * law.width + law.origin
    codes = score.codes(middles, np.zeros(len(middles), dtype=bool))
    false, true = noise.null_shares
    room = 0.02 if "unbounded" in name else 1e-2
    for values, powers in ((score.score(middles, codes), secrets), (score.pair(middles, codes)[1], secrets**2)):
        nothing = np.zeros(1), np.array([3])
        null = float(score.score(*nothing)[0] if powers is secrets else score.pair(*nothing)[1][0])
        expected = (1 - false) * (shares @ values) + false * (null if false else 0.0)
        assert np.allclose(expected, powers, rtol=room, atol=room * 10)
    if false:
        centre = np.diff(noise.cells_below(np.array([5.0]), cuts), axis=1)[0]
        absent = float(score.score(np.zeros(1), np.array([3]))[0])
        assert (1 - true) * (centre @ score.score(middles, codes)) + true * absent == pytest.approx(0, abs=0.01)


def test_without_noise_the_number_is_the_score():
    score = MomentScore.without_noise()
    values = np.array([1.5, -2.0])
    assert score.score(values, score.codes(values, np.zeros(2, dtype=bool))).tolist() == [1.5, -2.0]
    assert score.noise_variance == 0


def test_a_clamped_release_counts_as_what_it_was_before():
    law = law_of(ENTRIES["bounded"], pa.float64())
    score = MomentScore.of(law)
    assert law.width == float(Fraction(1, 1000))
    assert score.offsets[2] == pytest.approx(law.scale, rel=1e-3)
    assert score.offsets[0] == pytest.approx(-law.scale, rel=1e-3)


@pytest.mark.parametrize("bounds", [None, [0, 100], [3, 97], [12, 48]], ids=str)
@pytest.mark.parametrize("resolution", [2, 10, 20])
def test_a_coarse_grid_has_its_bias_bounded(resolution, bounds):
    entry = {"type": "number", "within": 10, "resolution": resolution, "missing": "refuse"}
    law = law_of(entry | ({} if bounds is None else {"bounds": bounds}), pa.float64())
    score = MomentScore.of(law)
    first, last = law.noise.end_cells or (-200, 200)
    cells = np.arange(first, last + 1, dtype=float)
    secrets = np.linspace(*(bounds or (30, 70)), 301)
    shares = np.diff(law.noise.cells_below(secrets, np.append(cells, last + 1)), axis=1)
    values = cells * law.width
    found = score.score(values, score.codes(values, np.zeros(len(values), dtype=bool)))
    off = shares @ found - secrets
    assert score.bias[0] - 1e-3 * resolution <= off.min() <= score.bias[0] / 2
    assert score.bias[1] / 2 <= off.max() <= score.bias[1] + 1e-3 * resolution
    assert score.noise_variance >= (shares @ values**2 - (shares @ values) ** 2).max() * 0.999


def test_a_fine_grid_has_no_bias_to_speak_of():
    assert MomentScore.of(law_of(ENTRIES["bounded"], pa.float64())).bias == (0, 0)
    assert MomentScore.of(law_of(ENTRIES["bounded integers"], pa.int64())).bias == (0, 0)


@pytest.mark.parametrize("bounds", [[0, 1], [0, 2], [-4, 400]], ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 6])
def test_integers_are_right_whether_few_or_hardly_moved(epsilon, bounds):
    entry = {"type": "integer", "epsilon": epsilon, "bounds": bounds, "missing": "refuse"}
    law = law_of(entry, pa.int64())
    score = MomentScore.of(law)
    first, last = law.noise.end_cells
    cells = np.arange(first, last + 1, dtype=float)
    secrets = np.arange(bounds[0], bounds[1] + 1, dtype=float)
    shares = np.diff(law.noise.cells_below(secrets - law.origin, np.append(cells, last + 1)), axis=1)
    values = cells * law.width + law.origin
    codes = score.codes(values, np.zeros(len(values), dtype=bool))
    assert np.allclose(shares @ score.score(values, codes), secrets, atol=1e-9 * bounds[1])
    assert np.allclose(shares @ score.pair(values, codes)[1], secrets**2, atol=1e-9 * bounds[1] ** 2)
