"""Priors: every way to give one, and every way to get it wrong."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

from metricdp.adversaries import Prior, as_prior
from metricdp.adversaries.float_priors import float_prior, float_priors, float_shares
from metricdp.errors import ArgumentError
from metricdp.metrics import Space

DRINKS = ("tea", "coffee", "water")


def test_weights_are_in_lowest_terms_and_equal_priors_are_equal():
    assert Prior("ab", (2, 4), 6) == Prior("ab", (1, 2), 3)
    assert hash(Prior("ab", (2, 4), 6)) == hash(Prior("ab", (1, 2), 3))
    assert Prior("ab", (0, 4), 4).total == 1


def test_a_space_names_the_secrets_of_a_prior():
    assert Prior.uniform(Space.line(3)) == Prior.uniform(range(3))
    assert Prior.point(Space.line(3), 1) == Prior.point(range(3), 1)
    assert Prior.proportional(Space.line(2), [1, 2]) == Prior.proportional(range(2), [1, 2])
    with pytest.raises(ArgumentError, match="secrets"):
        Prior.uniform(5)


@pytest.mark.parametrize(
    "given",
    [
        {"coffee": "1/4", "tea": Fraction(1, 2), "water": 0.25},
        [0.5, 0.25, 0.25],
        np.array([0.5, 0.25, 0.25]),
        [Decimal("0.5"), "0.25", Fraction(1, 4)],
        Prior(("water", "tea", "coffee"), (1, 2, 1), 4),
    ],
)
def test_every_form_gives_the_same_prior(given):
    prior = as_prior(given, DRINKS)
    assert prior == Prior(DRINKS, (2, 1, 1), 4)
    assert prior.fractions == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    assert prior.floats.tolist() == [0.5, 0.25, 0.25]
    assert not prior.floats.flags.writeable
    assert float_prior(given, DRINKS).tolist() == [0.5, 0.25, 0.25]


def test_uniform_and_what_is_left_out():
    assert as_prior("uniform", DRINKS) == Prior.uniform(DRINKS)
    assert as_prior({"tea": 1}, DRINKS).support == ("tea",)
    assert as_prior({"tea": 1}, DRINKS) == Prior.point(DRINKS, "tea")
    assert as_prior(Prior("ab", (1, 0), 1), "a") == Prior("a", (1,), 1)


def test_floats_are_divided_by_their_exact_sum():
    prior = as_prior([0.1, 0.2, 0.7], DRINKS)
    exact = [Fraction(value) for value in (0.1, 0.2, 0.7)]
    assert sum(exact) != 1
    assert prior.fractions == [value / sum(exact) for value in exact]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([0.5, 0.5], ArgumentError, "2 probabilities for 3"),
        ([0.5, 0.6, -0.1], ArgumentError, "'water': a negative"),
        ([0.5, 0.5, 0.1], ArgumentError, "sums to 1.1"),
        (["1/2", "1/3", "1/7"], ArgumentError, "not to one"),
        ([Fraction(1, 2), Fraction(1, 2), Fraction(1, 10**9)], ArgumentError, "not to one"),
        ({"milk": 1}, ArgumentError, "'milk'"),
        ("flat", ArgumentError, "'flat'"),
        ([float("nan"), 0.5, 0.5], ArgumentError, "finite"),
        (np.array([0.5, 0.6, -0.1]), ArgumentError, "'water': a negative"),
        (np.array([0.5, 0.5, 0.1]), ArgumentError, "sums to 1.1"),
        (np.array([np.nan, 0.5, 0.5]), ArgumentError, "finite"),
        (np.array([np.inf, -np.inf, 1]), ArgumentError, "finite"),
        ([True, 0, 0], ArgumentError, "bool"),
        (7, ArgumentError, "int"),
        (np.ones((3, 1)) / 3, ArgumentError, "shape"),
        (Prior(("tea", "milk"), (1, 1), 2), ArgumentError, "'milk'"),
    ],
)
def test_bad_priors_are_refused_with_a_reason(given, error, words):
    for read in (as_prior, float_prior):
        with pytest.raises(error, match=words):
            read(given, DRINKS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ab", (1,), 1), "2 secrets and 1 weights"),
        (("ab", (-1, 2), 1), "'a': a negative"),
        (("ab", (1, 1), 3), "sum"),
        (("aa", (1, 1), 2), "stands twice"),
        (((), (), 0), "at least one"),
        (("ab", (0, 0), 0), "positive"),
        (("ab", (0.5, 0.5), 1), "integers"),
    ],
)
def test_the_constructor_checks(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        Prior(*arguments)


def test_conditioning():
    prior = Prior("abc", (1, 2, 3), 6)
    assert prior.conditioned("ab") == Prior("abc", (1, 2, 0), 3)
    assert prior.probability("c") == Fraction(1, 2)
    with pytest.raises(ArgumentError, match="no probability"):
        Prior("abc", (1, 0, 0), 1).conditioned("bc")
    with pytest.raises(ArgumentError, match="'d'"):
        prior.conditioned("d")


def test_proportional():
    assert Prior.proportional("ab", [0.5, 1]) == Prior("ab", (1, 2), 3)
    with pytest.raises(ArgumentError, match="negative"):
        Prior.proportional("ab", [-1, 2])
    with pytest.raises(ArgumentError, match="positive probability"):
        Prior.proportional("ab", [0, 0])


def test_pickles_without_its_cache():
    prior = Prior("ab", (1, 2), 3)
    assert prior.floats.sum() == 1
    assert pickle.loads(pickle.dumps(prior)) == prior


def test_shares_are_in_proportion():
    given = np.array([0.25, 0.25, 0.5]) * (1 - 3e-7)
    shares, total = float_shares(given, DRINKS)
    assert shares is given
    assert shares / total == pytest.approx([0.25, 0.25, 0.5], rel=1e-15)
    shares, total = float_shares("uniform", DRINKS)
    assert (shares / total).tolist() == [1 / 3] * 3
    assert not shares.flags.writeable


def test_many_priors_miss_one_by_no_more_than_one_does():
    near, beyond = np.array([[1, 0, 0], [1 + 9e-7, 0, 0]]), np.array([[1, 0, 0], [1 + 1.1e-6, 0, 0]])
    assert float_priors(near, DRINKS)[1].tolist() == [1, 1 + 9e-7]
    with pytest.raises(ArgumentError, match=r"row 1: the prior sums to 1\.0000011, not to one"):
        float_priors(beyond, DRINKS)


def test_a_series_that_lists_a_secret_twice_is_refused():
    """Its last probability alone would count: 1/2 and 1/2 here, without a word."""
    twice = pandas.Series([0.25, 0.5, 0.5], index=["a", "a", "b"])
    with pytest.raises(ArgumentError, match="lists a secret twice"):
        as_prior(twice, ("a", "b"))
