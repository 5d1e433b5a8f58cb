"""Guessing entropy and predicates: as qif computes them, and by brute force."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, guessing_entropy, predicate_gain, predicate_vulnerability, vulnerability
from metricdp.channels import random_channel
from metricdp.errors import ArgumentError

QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    p, channel = case["p"], case["C"]
    assert float(guessing_entropy(p)) == pytest.approx(case["guessing_prior"], rel=1e-12)
    assert float(guessing_entropy(p, channel)) == pytest.approx(case["guessing_posterior"], rel=1e-12)

    def odd(x):
        return x % 2

    assert float(predicate_vulnerability(p, None, odd)) == pytest.approx(case["odd_prior"], rel=1e-12)
    assert float(predicate_vulnerability(p, channel, odd)) == pytest.approx(case["odd_posterior"], rel=1e-12)


def test_no_order_of_guesses_is_better():
    with mdp.seeded(1):
        prior, channel = Prior.random("abcd"), random_channel("abcd", range(3))
    total = Fraction(0)
    for z in channel.outputs:
        shares = [prior.probability(x) * channel.probability(x, z) for x in "abcd"]
        total += min(
            sum((place * share for place, share in enumerate(order, start=1)), Fraction(0))
            for order in itertools.permutations(shares)
        )
    assert guessing_entropy(prior, channel) == total


def test_a_predicate_that_names_the_secret_is_the_identity():
    with mdp.seeded(2):
        channel = random_channel("abc", range(3))
    assert predicate_vulnerability("uniform", channel, lambda x: x) == vulnerability("uniform", channel, exact=True)
    assert predicate_vulnerability("uniform", channel, lambda x: 0) == 1
    by_name = predicate_vulnerability("uniform", channel, {"a": "vowel", "b": "other", "c": "other"})
    assert by_name == predicate_vulnerability("uniform", channel, lambda x: x == "a")


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="does not say over which secrets"):
        guessing_entropy("uniform")
    with pytest.raises(ArgumentError, match="does not say over which secrets"):
        predicate_vulnerability("uniform", None, len)
    with pytest.raises(ArgumentError, match="no value for the secret 'b'"):
        predicate_gain("ab", {"a": 1})
    with pytest.raises(ArgumentError, match="a function of the secret, or a mapping"):
        predicate_gain("ab", [1, 0])
