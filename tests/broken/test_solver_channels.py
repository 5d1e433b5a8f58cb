"""What solvers return for the optimal mechanism: `verify` says which are private, `certify` mends those that are not.

The fixtures are made by `benchmarks/solver_channels.py`, bit for bit as the solvers returned them. A user would set
small negative numbers to zero and divide each row by its sum, and so does this file. `python -m
tests.broken.test_solver_channels` prints the table.
"""

import functools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify, verify

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "solvers"
INDEX = json.loads((FOLDER / "index.json").read_text())
SHIPPED = {entry["file"].removesuffix(".npz"): entry for entry in INDEX if entry["file"]}
MOST_MOVED = 1e-6
METRICS = {
    "absolute": 1 * mdp.metrics.absolute(),
    "ln(2) * absolute": mdp.ln(2) * mdp.metrics.absolute(),
    "euclidean": 1 * mdp.metrics.euclidean(),
    "ln(2) * euclidean": mdp.ln(2) * mdp.metrics.euclidean(),
}


def space_of(entry):
    sides, metric = entry["shape"], METRICS[entry["metric"]]
    return mdp.Space.line(*sides, metric) if len(sides) == 1 else mdp.Space.grid(*sides, metric)


def returned(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        return file["matrix"]


def tidied(matrix):
    """As a user would: no negative probabilities, and rows that sum to one as far as floats can."""
    positive = np.maximum(matrix, 0.0)
    return positive / positive.sum(axis=1, keepdims=True)


def scale_in_floats(matrix, distances):
    """The largest ratio of logarithm to distance, over all pairs and outputs; for comparison."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        differences = logs[:, None, :] - logs[None, :, :]
        apart = np.where(distances > 0, distances, np.inf)[:, :, None]
        return float(np.nanmax(differences / apart))


def total_variation(matrix, channel):
    """The largest of a row, between floats as the rationals they are and exact weights."""
    return max(
        sum(abs(Fraction(value) - Fraction(weight, channel.total)) for value, weight in zip(row, weights, strict=True))
        / 2
        for row, weights in zip(matrix.tolist(), channel.weights.tolist(), strict=True)
    )


def expected_loss(matrix, space):
    unit = space.metric.unit.pairwise(space.points)
    return float((np.asarray(matrix) * unit).sum() / len(matrix))


@functools.cache
def judged(name):
    """The space, the tidied matrix as a channel, the verdict on it, and what certify makes of the matrix."""
    space, matrix = space_of(SHIPPED[name]), tidied(returned(name))
    channel = Channel.from_matrix(space.points, space.points, matrix)
    return space, matrix, channel, verify(channel, space), certify(matrix, space)


@pytest.fixture(params=SHIPPED)
def name(request):
    return request.param


def test_every_solver_and_problem_is_there():
    solvers, problems = ({entry[key] for entry in INDEX} for key in ("package", "problem"))
    assert solvers == {"highspy", "qif", "clarabel"}
    assert {tuple(entry["shape"]) for entry in SHIPPED.values()} == {(25,), (7, 7), (8, 8)}
    for problem in problems:
        assert {entry["package"] for entry in SHIPPED.values() if entry["problem"] == problem} == solvers
    assert {file.stem for file in FOLDER.glob("*.npz")} == set(SHIPPED)
    assert all(entry["status"] for entry in INDEX if not entry["file"])


def test_the_solvers_solved_the_same_problem(name):
    """Their losses agree far better than their guarantees do."""
    entry = SHIPPED[name]
    losses = [other["objective"] for other in SHIPPED.values() if other["problem"] == entry["problem"]]
    assert entry["objective"] == pytest.approx(np.median(losses), rel=1e-4)
    assert expected_loss(returned(name), space_of(entry)) == pytest.approx(entry["objective"], rel=1e-12)


def test_verify_says_whether_it_is_private(name):
    space, matrix, channel, verdict, _ = judged(name)
    rough = scale_in_floats(matrix, space.distances)
    x, other, z = verdict.witness
    here, there = channel.probability(x, z), channel.probability(other, z)
    assert verdict.holds == (verdict.scale <= 1)
    assert here > 0
    if math.isinf(rough):
        assert verdict.scale == verdict.scale_below == math.inf
        assert there == 0
    else:
        assert verdict.scale == pytest.approx(rough, rel=1e-9)
        assert verdict.scale_below <= verdict.scale <= verdict.scale_below * (1 + 1e-15)
        at_witness = math.log(here / there) / space.distances[space.index(x), space.index(other)]
        assert at_witness == pytest.approx(verdict.scale, rel=1e-9)


def test_certify_mends_it(name):
    space, matrix, channel, verdict, mended = judged(name)
    assert verify(mended, space).holds
    assert mended.promise == mdp.metrics.Guarantee(space.metric)
    assert mended.inputs == mended.outputs == space.points
    assert total_variation(returned(name), mended) < MOST_MOVED
    assert total_variation(matrix, mended) <= Fraction(mended.moved)
    assert (mended == channel) == verdict.holds  # nothing is done to what needs no mending


def test_mending_costs_next_to_nothing(name):
    space, matrix, _, _, mended = judged(name)
    unit = space.metric.unit.pairwise(space.points)
    rise = ((mended.matrix - matrix) * unit).sum(axis=1).max()
    assert rise - 1e-12 <= mended.cost < 1e-5


UNTIDY = [name for name in SHIPPED if returned(name).min() < 0 or abs(returned(name).sum(axis=1) - 1).max() > 1e-10]


def test_some_fixtures_are_untidy():
    assert len(UNTIDY) >= 2


@pytest.mark.parametrize("name", UNTIDY)
def test_certify_takes_what_the_solver_returned_as_it_is(name):
    """Negative entries and sums that are off."""
    space = judged(name)[0]
    mended = certify(returned(name), space)
    assert verify(mended, space).holds
    assert total_variation(returned(name), mended) < MOST_MOVED


def test_a_mended_channel_stays_as_it_is(name):
    space, _, _, _, mended = judged(name)
    again = certify(mended, space)
    assert again == mended
    assert again.moved == 0


def test_solvers_seldom_return_a_private_channel():
    """What they call optimal: fewer than one in five is private, and a third is not private at any scale."""
    verdicts = [judged(name)[3] for name in SHIPPED]
    assert 0 < sum(verdict.holds for verdict in verdicts) < len(verdicts) / 5
    assert sum(math.isinf(verdict.scale) for verdict in verdicts) > len(verdicts) / 3


def show():
    print(f"{'problem':<14}{'solver':<22}{'version':<9}{'loss':>10}{'real scale':>13}{'moved':>10}{'loss after':>12}")
    for entry in INDEX:
        start = f"{entry['problem']:<14}{entry['solver']:<22}{entry['version']:<9}"
        if not entry["file"]:
            print(f"{start} {entry['status']}")
            continue
        name = entry["file"].removesuffix(".npz")
        space, _, _, verdict, mended = judged(name)
        scale = f"1 + {verdict.scale - 1:.1e}" if 0 < verdict.scale - 1 < 1e-3 else f"{verdict.scale:.6g}"
        moved, after = float(total_variation(returned(name), mended)), expected_loss(mended.matrix, space)
        print(f"{start}{entry['objective']:>10.6f}{scale:>13}{moved:>10.1e}{after:>12.6f}")


if __name__ == "__main__":
    show()
