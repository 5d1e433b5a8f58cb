"""Channels and bounds in closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import Optimal, optimal
from metricdp.design.optimal._closed_forms import constant_channel, tight_with_remap
from metricdp.design.optimal._exact_bound import exact_bound
from metricdp.design.optimal._problem import FARTHEST, Problem
from metricdp.design.optimal._worst_case import WorstCase

m = mdp.metrics


def line(level, count=4, prior="uniform", loss="distance"):
    return Problem.of(mdp.Space.line(count, level * m.absolute()), prior, loss, None)


def test_the_constant_channel_has_one_output_for_each_part():
    apart = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    space = mdp.Space("abc", m.matrix("abc", apart))
    problem = Problem.of(space, {"a": "1/2", "b": "1/4", "c": "1/4"}, "bin", None)
    channel = constant_channel(problem)
    assert channel.weights.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert verify(channel, space).holds
    assert problem.loss_of(channel) == 0.25


def test_the_constant_channel_of_the_worst_case_is_the_fairest():
    problem = WorstCase.of(mdp.Space.line(5, m.absolute()), "uniform", "distance", None)
    assert problem.loss_of(constant_channel(problem)) == 2


@pytest.mark.parametrize("level", [3, 20, 90, 400])
def test_the_tight_mechanism_is_proved_best_by_its_own_prices(level):
    problem = line(mdp.ln(2) * level)
    channel, bound = tight_with_remap(problem, math.inf), exact_bound(problem).bound
    share = Fraction(1, 1 + 2**level)  # of a step to either side; an end has one side alone
    exact = problem._together(problem.exact_losses(channel))
    assert bound <= exact
    assert (exact - bound) / exact < Fraction(1, 2**60)
    assert exact > share


def test_little_time_is_not_spent_on_very_many_digits():
    problem = line(mdp.ln(2) * 2500, count=6)
    hurried, exact = tight_with_remap(problem, math.inf, 0.0), tight_with_remap(problem, math.inf)
    assert hurried.total.bit_length() < 2000 < 12_000 < exact.total.bit_length()
    assert verify(hurried, problem.space).holds


def test_a_bound_is_a_bound_where_the_tight_mechanism_is_not_the_best():
    for level in (Fraction(1, 100), Fraction(1, 3), 1):
        problem = line(level, prior={0: "1/100", 1: "1/2", 2: "49/100"})
        assert exact_bound(problem).bound <= Fraction(optimal(problem.space, problem.belief).loss)


def test_distances_beyond_floats_are_shortened_and_the_channel_is_private():
    for level in (10**6, 10**9):
        space = mdp.Space.line(3, level * m.absolute())
        problem = Problem.of(space, "uniform", "bin", None)
        assert problem.capped
        assert problem.shorter.max() == FARTHEST
        channel = optimal(space, "uniform", "bin")
        assert verify(channel, space).holds
        assert 0 < channel.loss < 1e-200
        assert not channel.finished
        assert "taken as 500" in channel.reason


def test_losses_are_exact():
    problem = Problem.of(
        mdp.Space.line(2, m.absolute()), {0: "1/3", 1: "2/3"}, np.array([[0.0, 0.1], [1e-300, 0.0]]), None
    )
    channel = mdp.Channel.from_matrix([0, 1], [0, 1], [["1/2", "1/2"], ["1/2", "1/2"]])
    exact = Fraction(1, 3) * Fraction(1e-300) / 2 + Fraction(2, 3) * Fraction(0.1) / 2
    assert problem._together(problem.exact_losses(channel)) == exact
    assert Fraction(problem.loss_of(channel)) >= exact
    assert Fraction(math.nextafter(problem.loss_of(channel), 0)) < exact


def test_gaps_and_words():
    made = {"inputs": (0,), "outputs": (0,), "weights": np.array([[1]], dtype=object), "total": 1}
    assert Optimal(**made, loss=1e-300, bound=0.0, finished=False, reason="late").gap == 1
    assert Optimal(**made).gap == 0
    assert Optimal(**made, loss=0.0, bound=-1.0).gap == math.inf
    assert "not finished: late" in repr(Optimal(**made, loss=1.0, finished=False, reason="late"))
