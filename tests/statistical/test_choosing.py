"""Choices by score follow their law, ties and all; with a scale 10% off they do not."""

import math
from fractions import Fraction

import numpy as np

import metricdp as mdp
from metricdp.queries.synthetic_data.choose import ExponentialChoice
from tests.statistical.harness import check_table

DRAWS = 12_000
SCORES = [-9, 0, -9, -20]


def law(factor):
    weights = [math.exp(factor * math.log(3) * score / 4) for score in SCORES]
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


def test_rationals():
    choice = ExponentialChoice(range(4), mdp.ln(3) * mdp.metrics.hamming(), Fraction(4, 3))
    scores = [Fraction(score, 3) for score in SCORES]
    check_table([choice.release(scores) for _ in range(DRAWS)], law)


def test_integers_with_a_unit():
    choice = ExponentialChoice(range(4), mdp.ln(3) * mdp.metrics.hamming(), Fraction(4, 7))
    scores = np.array(SCORES)
    check_table([choice.release_place(scores, Fraction(1, 7)) for _ in range(DRAWS)], law)
