"""Where the search of thousands of points begins: equations without cubes, and closed forms that are private."""

import sys
import time

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.design.optimal._covering import nearest_points
from metricdp.design.optimal._equations import falling_solution
from metricdp.design.optimal._wide_search import WideSearch
from metricdp.design.optimal._wide_start import Ground, closed_form, falling, start_prices
from tests.unit.design.optimal.test_start import city


def ground(count, seed):
    space, prior = city(count, seed)
    distances = space.distances
    costs = prior[:, None] * distances
    return Ground(distances, falling(distances), costs, np.arange(count), nearest_points(distances))


def private(matrix, distances):
    assert np.array_equal((matrix > 0).any(axis=0), (matrix > 0).all(axis=0))
    logs = np.log(matrix[:, (matrix > 0).any(axis=0)])
    return all((logs[x] - logs <= distances[x][:, None] + 1e-9).all() for x in range(len(matrix)))


@pytest.mark.parametrize("count", [20, 300])
def test_equations_are_solved_as_by_elimination(count):
    some = ground(count, 5)
    right = np.stack([np.ones(count), np.arange(count) / count], axis=1)
    found = falling_solution(some.decay, some.nearest, right)
    assert np.abs(some.decay @ found - right).max() < 1e-12
    assert found == pytest.approx(np.linalg.solve(some.decay, right), abs=1e-8)


def test_equations_without_a_solution_have_none():
    apart = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    apart[:, 1], apart[1] = apart[:, 0].copy(), apart[0].copy()
    apart[0, 1] = apart[1, 0] = apart[1, 1] = 0.0  # twice the same point
    right = np.arange(4.0)[:, None]
    assert falling_solution(np.exp(-apart), nearest_points(apart), right) is None


def test_the_closed_form_is_private_where_weights_are_negative():
    some = ground(250, 4)
    guesses = some.best_outputs(some.decay)
    worth = some.worth(some.decay, None, guesses)
    weights, prices = start_prices(some, worth)
    assert weights.min() < 0
    form = closed_form(some, weights, guesses, worth)
    assert 0.5 < form.share < 1
    matrix = form.matrix()
    assert matrix.sum(axis=1) == pytest.approx(np.ones(250), abs=1e-12)
    assert private(matrix, some.distances)
    assert form.loss == pytest.approx(float((matrix * some.costs).sum()))
    assert 0 < prices.sum() <= form.loss
    exponential = closed_form(some, None, guesses, worth)
    assert exponential.share == 0.5
    assert private(exponential.matrix(), some.distances)
    assert form.loss < exponential.loss


def test_near_outputs_are_the_best_of_all(monkeypatch):
    monkeypatch.setattr(sys.modules[Ground.__module__], "_FEW_OUTPUTS", 10)
    some = ground(300, 2)
    guesses = some.best_outputs(some.decay)
    worth = some.worth(some.decay, None, guesses)
    assert worth == pytest.approx((some.decay @ some.costs).min(axis=1))
    assert guesses.tolist() == (some.decay @ some.costs).argmin(axis=1).tolist()


def test_many_places_without_time_begin_with_the_tight_constraints(monkeypatch):
    """With a limit of a second the exponential mechanism was all there was, at 1.78 times the loss."""
    monkeypatch.setattr(sys.modules[WideSearch.__module__], "_LARGE", 100)
    space, prior = city(150, 4)
    channel = optimal(space, prior, time_limit=1e-6)
    assert verify(channel, space)
    decay, costs = np.exp(-space.distances), prior[:, None] * space.distances
    half = np.sqrt(decay)
    half /= half.sum(axis=1, keepdims=True)
    assert channel.loss < 0.7 * float((half.T @ costs).min(axis=1).sum())
    assert 0 < channel.bound <= channel.loss
    assert channel.reason == "the time limit was reached"


def test_many_places_of_which_some_nearly_coincide(monkeypatch):
    monkeypatch.setattr(sys.modules[WideSearch.__module__], "_LARGE", 100)
    space, prior = city(120, 3)
    points = [*space.points, (space.points[0][0] + 4e-15, space.points[0][1])]
    twice = mdp.Space(points, space.metric)
    channel = optimal(twice, np.append(prior, prior[0]) / (1 + prior[0]), gap=0.1)
    assert channel.merged
    assert channel.finished
    assert verify(channel, twice)


def test_a_machine_that_hesitates_once_does_not_end_the_search(monkeypatch):
    """The time of one small system says how long others take; a pause in it made all of them too long."""
    monkeypatch.setattr(sys.modules[WideSearch.__module__], "_LARGE", 100)
    monkeypatch.setattr(sys.modules[optimal.__module__], "_MOST_NARROW", 100)  # no other search goes on
    solve, paused = np.linalg.solve, []

    def slow(*arguments):
        if arguments[1].ndim == 1 and not paused:
            paused.append(True)
            time.sleep(0.3)
        return solve(*arguments)

    gauge = WideSearch._gauge

    def with_a_pause(self):
        monkeypatch.setattr(np.linalg, "solve", slow)
        gauge(self)
        monkeypatch.setattr(np.linalg, "solve", solve)

    monkeypatch.setattr(WideSearch, "_gauge", with_a_pause)
    space, prior = city(110, 6)
    channel = optimal(space, prior, gap=0.05, time_limit=60)
    assert paused
    assert channel.finished
