"""The optimal mechanism: against the plain program on small spaces, and certified on all of them."""

import importlib
import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.errors import ArgumentError, TooLargeError


def plain_optimum(distances, prior, losses):
    """The least loss by the program as it is written: all pairs, all outputs; losses are points by outputs."""
    points, outputs = losses.shape
    pairs = [(i, j) for i in range(points) for j in range(points) if i != j and np.isfinite(distances[i, j])]
    below = np.zeros((len(pairs) * outputs, points * outputs))
    for row, (i, j) in enumerate(pairs):
        for z in range(outputs):
            below[row * outputs + z, i * outputs + z] = math.exp(-distances[i, j])
            below[row * outputs + z, j * outputs + z] = -1
    sums = np.kron(np.eye(points), np.ones(outputs))
    answer = linprog(
        (prior[:, None] * losses).ravel(),
        below if len(below) else None,
        np.zeros(len(below)) if len(below) else None,
        sums,
        np.ones(points),
        method="highs-ds",
    )
    assert answer.status == 0
    return answer.fun


def random_space(generator, points, zero=0.0, infinite=0.0, largest=3.0):
    """A metric closed by shortest paths, with some distances zero and some infinite."""
    d = np.ceil(generator.uniform(0.05, largest, (points, points)) * 1024) / 1024  # sums of these are exact
    d = np.where(generator.random(d.shape) < zero, 0.0, np.where(generator.random(d.shape) < infinite, np.inf, d))
    d = np.minimum(d, d.T)
    np.fill_diagonal(d, 0)
    for k in range(points):
        d = np.minimum(d, d[:, [k]] + d[[k]])
    return mdp.Space(range(points), mdp.metrics.matrix(range(points), d.tolist()))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), points=st.integers(1, 7), outputs=st.integers(1, 7))
def test_small_spaces_agree_with_the_plain_program(seed, points, outputs):
    generator = np.random.default_rng(seed)
    space = random_space(generator, points, *generator.choice([0.0, 0.2], 2), generator.choice([0.5, 3.0, 20.0]))
    prior = generator.random(points) * (generator.random(points) < 0.8)
    prior = prior / prior.sum() if prior.any() else np.full(points, 1 / points)
    losses = generator.choice([-1.0, 1.0]) * generator.random((outputs, points)).round(int(generator.integers(0, 5)))
    names = [f"output {z}" for z in range(outputs)]
    channel = optimal(space, prior, losses, names)
    expected = plain_optimum(space.distances, prior, losses.T)
    assert verify(channel, space).holds
    assert channel.guarantee == mdp.Guarantee(space.metric)
    assert channel.bound <= expected + 1e-7
    assert expected - 1e-7 <= channel.loss <= expected + 1e-4 * abs(expected) + 1e-7
    assert channel.finished
    exact = sum(
        Fraction(float(prior[x])) * channel.probability(x, names[z]) * Fraction(float(losses[z, x]))
        for x in range(points)
        for z in range(outputs)
    ) / sum(map(Fraction, prior.tolist()))
    assert exact <= channel.loss <= exact + Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("space", "loss"),
    [
        (mdp.Space.grid(3, 3, mdp.ln(2) * mdp.metrics.euclidean()), "distance"),
        (mdp.Space.grid(3, 3, 1 * mdp.metrics.manhattan()), "distance"),
        (mdp.Space.bits(3, mdp.ln(2) * mdp.metrics.hamming()), "distance"),
        (mdp.Space("abcdef", mdp.ln(3) * mdp.metrics.discrete()), "bin"),
        (mdp.Space.line(9, 0.01 * mdp.metrics.absolute()), "bin"),
    ],
)
def test_symmetric_spaces(space, loss):
    channel = optimal(space, "uniform", loss, gap=1e-6)
    without = optimal(space, "uniform", loss, gap=1e-6, symmetry=False)
    table = mdp.adversaries.as_loss(loss, space.points, space).matrix
    expected = plain_optimum(space.distances, np.full(len(space), 1 / len(space)), table.T)
    for one in (channel, without):
        assert verify(one, space).holds
        assert one.loss == pytest.approx(expected, rel=2e-6)
        assert one.bound <= expected * (1 + 1e-9)
        assert one.gap <= 1e-6


def test_randomised_response_is_best_on_a_discrete_space():
    """It is right with probability ``e^eps / (e^eps + n - 1)``."""
    space = mdp.Space("abcde", mdp.ln(4) * mdp.metrics.discrete())
    channel = optimal(space, "uniform", "bin")
    assert channel.loss == pytest.approx(1 - 4 / 8, rel=1e-4)


def test_known_losses_of_a_grid():
    space = mdp.Space.grid(6, 6, mdp.ln(2) * mdp.metrics.euclidean())
    rounds = []
    channel = optimal(space, progress=rounds.append)
    assert verify(channel, space).holds
    assert channel.gap <= 1e-4
    assert [update.done for update in rounds] == list(range(1, channel.rounds + 1))
    assert all(update.unit == "rounds" and update.bound <= update.best for update in rounds)
    losses = [update.best for update in rounds]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(losses))
    again = optimal(space)
    assert again == channel
    assert (again.loss, again.bound) == (channel.loss, channel.bound)


def plain_worst_case(distances, losses):
    """The least largest loss: the plain program with one more variable above the loss of each point."""
    points, outputs = losses.shape
    rows = []
    for i in range(points):
        rows.append(np.append(np.kron(np.eye(points)[i], losses[i]), -1.0))
        for j in range(points):
            if i != j and np.isfinite(distances[i, j]):
                pair = math.exp(-distances[i, j]) * np.eye(points)[i] - np.eye(points)[j]
                rows.extend(np.append(np.kron(pair, np.eye(outputs)[z]), 0.0) for z in range(outputs))
    sums = np.hstack([np.kron(np.eye(points), np.ones(outputs)), np.zeros((points, 1))])
    aim, bounds = np.append(np.zeros(points * outputs), 1.0), [(0, None)] * (points * outputs) + [(None, None)]
    answer = linprog(aim, np.array(rows), np.zeros(len(rows)), sums, np.ones(points), bounds, method="highs-ds")
    assert answer.status == 0
    return answer.fun


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), points=st.integers(1, 6), outputs=st.integers(1, 5))
def test_the_worst_case_agrees_with_its_plain_program(seed, points, outputs):
    generator = np.random.default_rng(seed)
    space = random_space(generator, points, *generator.choice([0.0, 0.2], 2), generator.choice([0.5, 3.0, 20.0]))
    losses = generator.random((outputs, points)).round(int(generator.integers(0, 5))) - generator.choice([0.0, 0.5])
    channel = optimal(space, "worst", losses)
    expected = plain_worst_case(space.distances, losses.T)
    assert verify(channel, space).holds
    assert channel.bound <= expected + 1e-7
    assert expected - 1e-7 <= channel.loss <= expected + 1e-4 * abs(expected) + 1e-7
    expected_losses = [
        sum(channel.probability(x, z) * Fraction(float(losses[z, x])) for z in range(outputs)) for x in range(points)
    ]
    assert max(expected_losses) <= channel.loss <= max(expected_losses) + Fraction(1, 10**9)


def test_the_worst_case_is_below_no_expected_loss():
    """The best for a prior loses no more, on average, than the best for the worst case; and the latter is fair."""
    space = mdp.Space.grid(4, 4, mdp.ln(2) * mdp.metrics.euclidean())
    fair, average = optimal(space, "worst"), optimal(space)
    table = space.metric.unit.pairwise(space.points)
    assert fair.finished
    assert average.bound <= float((fair.matrix * table).sum()) / 16 <= fair.loss
    assert fair.loss < float((average.matrix * table).sum(axis=1).max())


def test_a_coarser_problem_shows_where_to_begin(monkeypatch):
    """On 70 points without symmetry, by the search for few points."""
    monkeypatch.setattr(importlib.import_module("metricdp.design.optimal._optimal"), "_WIDE", 1000)
    generator = np.random.default_rng(3)
    places = [tuple(place) for place in generator.integers(0, 40, (70, 2)).tolist()]
    space = mdp.Space(list(dict.fromkeys(places)), mdp.ln(2) * mdp.metrics.euclidean() / 4)
    prior = generator.random(len(space)) ** 4
    channel = optimal(space, prior / prior.sum(), gap=2e-2)
    assert verify(channel, space).holds
    assert channel.gap <= 2e-2
    blind = (space.metric.unit.pairwise(space.points) @ prior).min() / prior.sum()
    assert channel.loss < blind


def test_inputs_of_prior_zero_still_constrain():
    space = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    ends = mdp.Space([0, 2], mdp.ln(2) * mdp.metrics.absolute())
    with_middle = optimal(space, {0: "1/2", 2: "1/2"}, [[0, 0, 1], [1, 0, 0]], ["low", "high"])
    assert with_middle.loss == pytest.approx(1 / 4, rel=1e-4)
    assert optimal(ends, "uniform", "bin").loss == pytest.approx(1 / 5, rel=1e-4)  # and no row for 1 extends this one
    assert verify(with_middle, space).holds


def test_near_points_are_merged_and_said():
    space = mdp.Space([0.0, 1e-12, 1.0], mdp.metrics.absolute())
    channel = optimal(space)
    assert channel.merged == ((0.0, 1e-12),)
    assert (channel.weights[0] == channel.weights[1]).all()
    assert verify(channel, space).holds


def test_components_do_not_constrain_each_other():
    d = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    space = mdp.Space("abc", mdp.metrics.matrix("abc", d))
    channel = optimal(space, "uniform", "bin")
    assert verify(channel, space).holds
    assert channel.loss == pytest.approx(2 / 3 / (1 + math.e), rel=1e-4)


def test_time_limit_gives_a_certified_channel():
    space = mdp.Space.grid(7, 7, mdp.ln(2) * mdp.metrics.euclidean())
    channel = optimal(space, gap=1e-9, time_limit=1e-3)
    assert not channel.finished
    assert verify(channel, space).holds
    assert -1e-9 <= channel.bound <= channel.loss


def test_interruption_gives_a_certified_channel():
    space = mdp.Space.grid(5, 5, mdp.ln(2) * mdp.metrics.euclidean())

    def stop(update):
        if update.done == 3:
            raise KeyboardInterrupt

    channel = optimal(space, progress=stop)
    assert not channel.finished
    assert channel.rounds == 3
    assert verify(channel, space).holds
    assert channel.bound <= optimal(space).loss <= channel.loss


def test_a_loss_of_zero():
    space = mdp.Space.line(2, mdp.metrics.absolute())
    channel = optimal(space, {0: 1}, "bin")
    assert channel.loss <= 1e-9
    assert channel.bound <= channel.loss
    assert verify(channel, space).holds


def test_a_loss_of_zero_beside_tiny_ones():
    """One output costs nothing at all; the others next to nothing."""
    apart = [[0, math.inf], [math.inf, 0]]
    space = mdp.Space(range(2), mdp.metrics.matrix(range(2), apart))
    channel = optimal(space, [0, 1], np.array([[0, 0], [2, 1e-9], [0, 1e-9]]))
    assert channel.loss <= 1e-18
    assert channel.gap == 0
    assert channel.rounds < 20


def test_bad_input():
    space = mdp.Space.line(3, mdp.metrics.absolute())
    with pytest.raises(ArgumentError, match="not a finite number"):
        optimal(space, "uniform", np.array([[0.0, 1.0, math.nan]] * 3))
    with pytest.raises(ArgumentError, match="finite number"):
        optimal(space, "uniform", [[0, 1, math.nan]] * 3)
    with pytest.raises(ArgumentError, match="sums to"):
        optimal(space, [0.5, 0.5, 0.5])
    with pytest.raises(ArgumentError, match="a column for each of the 3 points, not 2"):
        optimal(space, "uniform", np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match="2 outputs and 3 rows"):
        optimal(space, "uniform", np.zeros((3, 3)), ["a", "b"])
    with pytest.raises(ArgumentError, match="no row for the output 'x'"):
        optimal(space, "uniform", "bin", ["x"])
    with pytest.raises(ArgumentError, match="at least one output"):
        optimal(space, "uniform", "bin", [])
    with pytest.raises(ArgumentError, match=r"takes a Space, not 'str'; make one .* mdp\.Space\(points"):
        optimal("space")
    with pytest.raises(ArgumentError, match="not a metric; a space is points with a metric"):
        optimal(mdp.metrics.euclidean())
    with pytest.raises(TypeError):
        optimal(space, "uniform", "bin", None, 1e-3)
    for bad in ({"gap": 0.0}, {"gap": math.nan}, {"gap": "1%"}, {"time_limit": 0.0}, {"time_limit": True}):
        with pytest.raises(ArgumentError, match=f"{next(iter(bad))} must be a positive number"):
            optimal(space, **bad)


def test_a_loss_is_a_name_a_function_or_a_matrix():
    space = mdp.Space.line(4, mdp.ln(2) * mdp.metrics.absolute())
    squares = [[(z - x) ** 2 for x in range(4)] for z in range(4)]
    by_name = optimal(space, loss="squared")
    for same in (squares, np.array(squares), lambda z, x: (z - x) ** 2):
        assert optimal(space, loss=same) == by_name
    assert optimal(space, loss="binary") == optimal(space, loss="bin")
    between = optimal(space, loss=lambda z, x: abs(z - x), outputs=[0.5, 2.5])
    assert between.outputs == (0.5, 2.5)


def test_what_is_proved_is_written_with_the_channel():
    space = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    channel = optimal(space)
    document = json.loads(json.dumps(channel.to_json(), allow_nan=False))
    assert document["optimal"]["loss"] == channel.loss
    assert document["optimal"]["finished"] is True
    assert mdp.Channel.from_json(document) == channel
    assert "gap" in channel._repr_html_()
    assert "Fraction" not in repr(channel)


def test_too_many_points_are_refused_with_the_memory_they_take():
    with pytest.raises(TooLargeError, match="10,000 are") as refused:
        optimal(mdp.Space.line(12_000, mdp.metrics.absolute()))
    assert refused.value.estimate == "about 14 GB"
    with pytest.raises(TooLargeError, match="6,000 are"):
        optimal(mdp.Space.line(10_000, mdp.metrics.absolute()), "worst")


def test_numbers_of_all_kinds_and_what_can_be_gone_through_but_once():
    line = mdp.Space.line(4, mdp.ln(2) * mdp.metrics.absolute())
    assert optimal(line, gap=Fraction(1, 100), time_limit=np.int64(5)).finished
    between = optimal(line, iter(["1/4"] * 4), outputs=iter(range(4)), between=True)
    assert between.outputs == (0, 1, 2, 3)
    for wrong in ({"gap": math.inf}, {"outputs": 3}, {"progress": 5}):
        with pytest.raises(ArgumentError):
            optimal(line, **wrong)


@pytest.mark.parametrize("scale", [1e40, 1e100])
@pytest.mark.parametrize("times", [1, 3, 100])
def test_probabilities_that_floats_do_not_hold_prove_nothing_false(times, scale):
    share = Fraction(3 * times, 10**324)
    losses = [[0.0, scale], [1e-300, 0.0]]
    found = optimal(mdp.Space.line(2, mdp.ln(2) * mdp.metrics.absolute()), [1 - share, share], losses)
    exact = sum(
        p * Fraction(int(found.weights[x, z]), found.total) * Fraction(losses[z][x])
        for x, p in enumerate([1 - share, share])
        for z in (0, 1)
    )
    assert found.bound <= exact <= found.loss


def test_losses_at_the_ends_of_floats():
    line = mdp.Space.line(4, mdp.ln(2) * mdp.metrics.absolute())
    with pytest.raises(ArgumentError, match="divide all of them"):
        optimal(line, loss=lambda z, x: 1.7e308 * (1 if z != x else -1))
    share = Fraction(3, 10**324)
    assert optimal(line, [1 - share, share, 0, 0], lambda z, x: 1e300 * (z != x)).gap < 1e-4
    assert 0 < optimal(line, loss=lambda z, x: 1e-320 * abs(z - x)).loss < 1e-319


def test_its_words_begin_with_the_loss_and_what_stopped_it():
    space = mdp.Space.line(4, mdp.metrics.absolute())
    proved = optimal(space)
    assert str(proved).startswith(f"loss {proved.loss:.6g}, at least {proved.bound:.6g} for any private mechanism\n")
    assert str(proved).endswith(str(mdp.channels.Channel.from_json(proved.to_json())))
    stopped = optimal(space, time_limit=1e-9)
    assert stopped.finished or f"not finished: {stopped.reason}" in str(stopped).splitlines()[0]
