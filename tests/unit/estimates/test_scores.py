"""Scores: unbiased where that is cheap, of little variance where it is not, and never a bias that is not told."""

import math

import numpy as np

from metricdp import randomized_response, truncated_geometric
from metricdp.estimates.scores import ScorePath
from metricdp.metrics import absolute


def test_of_randomized_response_it_is_the_inverse_and_unbiased():
    law = randomized_response("abcd", 1).law("abcd").matrix
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    question = np.array([1.0, 0, 0, 0])
    score = ScorePath(law, shares, 10_000).score(question, question, 1.96)
    assert score.unbiased
    assert np.allclose(law @ score.weights, question)
    assert np.allclose(score.weights, np.linalg.solve(law, question))


def test_the_spread_is_that_of_the_score():
    law = randomized_response("abc", 1).law("abc").matrix
    shares, question = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 0.0])
    score = ScorePath(law, shares, 1000).score(question, question, 1.96)
    within = shares @ (law @ score.weights**2 - (law @ score.weights) ** 2)
    assert math.isclose(score.spread, math.sqrt(within))
    assert score.spread < score.spread_population


def test_where_inversion_would_blow_up_some_bias_is_taken_and_told():
    law = truncated_geometric(absolute().within(20), 59).law(range(60)).matrix
    shares = np.full(60, 1 / 60)
    question = (np.arange(60) >= 30).astype(float)
    path = ScorePath(law, shares, 1000)
    chosen = path.score(question, question, 1.96)
    exact = np.linalg.solve(law, question)
    assert chosen.spread < math.sqrt(shares @ (law @ exact**2 - question**2)) / 5
    assert not chosen.unbiased
    assert np.allclose(chosen.excess_low, law @ chosen.weights - question)


def test_a_constant_has_no_variance():
    law = truncated_geometric(absolute().within(5), 20).law(range(21)).matrix
    ones = np.ones(21)
    score = ScorePath(law, np.full(21, 1 / 21), 100).score(ones, ones, 1.96)
    assert score.spread < 1e-6
    assert np.allclose(score.weights, 1)
