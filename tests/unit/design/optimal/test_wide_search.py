"""The search for many points without symmetry: proved gaps, and bars that hold whenever it is stopped."""

import networkx
import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.design.optimal._covering import Covering
from metricdp.errors import ArgumentError, DataError, TooLargeError
from tests.unit.design.optimal.test_start import city, free_losses


def free(space, prior):
    return min(float(costs.min(axis=1).sum()) for costs in free_losses(space, prior))


def test_a_skewed_city_is_solved_and_the_answer_is_the_same_each_time():
    space, prior = city(70, 4)
    wide = optimal(space, prior, gap=5e-3)
    assert wide.finished
    assert wide.reason == ""
    assert wide.gap <= 5e-3
    assert verify(wide, space)
    assert wide.loss < free(space, prior)
    assert optimal(space, prior, gap=5e-3) == wide  # whatever the cores do


@pytest.mark.parametrize("stop", [1, 2, 4])
def test_the_bars_hold_in_every_round(stop):
    """Stopped after any round: private, no worse than what is free, a bound above 0, and a reason."""
    space, prior = city(90, 2)

    def progress(update):
        assert update.bound > 0
        assert update.best <= free(space, prior) * (1 + 1e-9)
        if update.done == stop:
            raise KeyboardInterrupt

    channel = optimal(space, prior, gap=1e-6, progress=progress)
    assert verify(channel, space)
    assert channel.rounds == stop
    assert not channel.finished
    assert channel.reason == "it was interrupted"
    assert channel.loss <= free(space, prior) * (1 + 1e-6)
    assert 0 < channel.bound <= channel.loss


def test_without_any_time_the_bars_hold():
    space, prior = city(90, 3)
    channel = optimal(space, prior, time_limit=1e-6)
    assert verify(channel, space)
    assert channel.loss <= free(space, prior) * (1 + 1e-6)
    assert 0 < channel.bound <= channel.loss
    assert not channel.finished
    assert channel.reason == "the time limit was reached"


@pytest.mark.parametrize(("count", "seed"), [(100, 0), (150, 1), (150, 2)])
def test_a_prior_with_very_heavy_tails_has_a_bound_at_once(count, seed):
    """Nearly all of it at one place: prices in closed form, repaired in haste, were 0 everywhere."""
    generator = np.random.default_rng(seed)
    places = [tuple(place) for place in generator.random((count, 2)).tolist()]
    space = mdp.Space(places, 12 * mdp.metrics.euclidean())
    prior = generator.pareto(0.25, count) + 1
    channel = optimal(space, prior / prior.sum(), np.minimum(space.distances, 3.0), time_limit=1e-6)
    assert 0.1 * channel.loss < channel.bound <= channel.loss


def test_bounds_and_losses_never_cross():
    space, prior = city(64, 7)
    seen = []
    channel = optimal(space, prior, gap=2e-3, progress=seen.append)
    assert max(update.bound for update in seen) <= channel.loss * (1 + 1e-9)
    assert channel.bound <= min(update.best for update in seen) * (1 + 1e-9)


def test_towns_that_do_not_constrain_each_other():
    space, prior = city(40, 8)
    places = np.array(space.points)
    apart = np.full((80, 80), np.inf)
    apart[:40, :40] = apart[40:, 40:] = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    towns = mdp.Space(range(80), mdp.metrics.matrix(range(80), apart))
    losses = np.where(np.isfinite(apart), apart, 50.0)
    losses[:40, :40] *= 1.01  # no symmetry between the towns
    both = np.concatenate([prior, prior]) / 2
    channel = optimal(towns, both, losses, gap=1e-2)
    assert channel.finished
    assert verify(channel, towns)


def test_few_outputs():
    space, prior = city(70, 8)
    outputs = [space.points[place] for place in np.argsort(-prior)[:5].tolist()]
    restricted = optimal(space, prior, outputs=outputs, gap=1e-2)
    assert restricted.finished
    assert restricted.outputs == tuple(outputs)
    assert verify(restricted, space)
    assert restricted.loss >= optimal(space, prior, gap=1e-2).bound


@pytest.mark.long
def test_places_that_coincide_have_equal_rows():
    generator = np.random.default_rng(0)
    places = generator.integers(0, 9, (66, 2))
    apart = np.abs(places[:, None] - places).sum(axis=-1)
    assert len(np.unique(places, axis=0)) < 66
    space = mdp.Space(range(66), mdp.metrics.matrix(range(66), apart))
    channel = optimal(space, generator.dirichlet(np.ones(66)), gap=3e-2)
    assert channel.finished
    assert channel.merged
    assert verify(channel, space)
    points = [tuple(place) for place in places.tolist()]
    with pytest.raises(DataError, match="the same point as in row"):
        mdp.Space(points, mdp.metrics.euclidean())


def test_places_that_nearly_coincide_cost_nothing():
    """Two places 10^-15 apart are given one row; that stopped the search from weighing any columns."""
    space, prior = city(66, 3)
    points = [*space.points, (space.points[0][0] + 4e-15, space.points[0][1])]
    assert len(set(points)) == 67
    twice = mdp.Space(points, space.metric)
    channel = optimal(twice, np.append(prior, prior[0]) / (1 + prior[0]), gap=2e-2)
    assert channel.merged
    assert channel.finished
    assert channel.rounds < 20
    assert verify(channel, twice)


def test_a_road_graph_in_two_pieces_asks_for_another_loss():
    graph = networkx.Graph([(0, 1), (1, 2), (3, 4)])
    roads = mdp.Space(list(graph), mdp.metrics.graph(graph))
    with pytest.raises(ArgumentError, match="some distances are infinite"):
        optimal(roads)
    assert verify(optimal(roads, loss="binary"), roads)


def test_places_on_two_continents():
    space, prior = city(60, 5)
    places = np.array(space.points) / 100
    points = [(40 + x, y) for x, y in places[:30].tolist()] + [(-30 + x, 100 + y) for x, y in places[30:].tolist()]
    far = mdp.Space(points, mdp.metrics.great_circle().within(1000))
    channel = optimal(far, prior, gap=2e-2)
    assert channel.finished
    assert verify(channel, far)


def test_too_many_places_are_refused_at_once_with_what_to_do():
    places = [(x, y) for x in range(300) for y in range(300)]
    space = mdp.Space(places, mdp.metrics.euclidean())
    for options in ({}, {"prior": "worst"}, {"between": True}):
        with pytest.raises(TooLargeError, match=r"90,000 points would take about 778 GB .* cells") as refused:
            optimal(space, **options)
        assert refused.value.estimate == "about 778 GB"


@pytest.mark.parametrize("visits", [1, 30])
def test_interrupted_in_the_first_round_the_bars_hold(monkeypatch, visits):
    """The prices are lowered in a hurry instead of thrown away."""
    space, prior = city(90, 6)
    calls, one = [], Covering._one

    def interrupted(self, z, prices):
        calls.append(z)
        if len(calls) == visits:
            raise KeyboardInterrupt
        return one(self, z, prices)

    monkeypatch.setattr(Covering, "_one", interrupted)
    channel = optimal(space, prior, gap=1e-6)
    assert channel.interrupted
    assert not channel.finished
    assert channel.loss <= free(space, prior) * (1 + 1e-6)
    assert 0 < channel.bound <= channel.loss
    assert verify(channel, space)


def test_a_worst_case_whose_first_program_leads_the_primal_simplex_astray():
    """It ended with a gap of 44% and "the solver found no weights"; the dual one solves it."""
    space, _ = city(70, 82)
    channel = optimal(space, "worst", gap=0.1)
    assert channel.finished
    assert verify(channel, space)
