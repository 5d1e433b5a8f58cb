"""Posteriors and hypers."""

import importlib
from fractions import Fraction

import numpy as np
import pytest

from metricdp.adversaries import Prior, hyper, posterior, posterior_floats, posterior_given, posteriors
from metricdp.channels import Channel
from metricdp.errors import ArgumentError, UnknownCategoryError

C = Channel.from_matrix("abc", "xyz", [["1/2", "1/2", 0], ["1/4", "1/4", "1/2"], [0, 0, 1]])


def test_posteriors():
    assert posterior("uniform", C, "x") == Prior("abc", (2, 1, 0), 3)
    assert posterior_given("uniform", C, "yz") == Prior("abc", (2, 3, 4), 9)
    assert posterior_given({"a": 1}, C, ["x"]) == Prior.point("abc", "a")
    assert list(posteriors({"a": 1}, C)) == ["x", "y"]
    with pytest.raises(ArgumentError, match="'z' never occurs"):
        posterior({"a": 1}, C, "z")
    with pytest.raises(UnknownCategoryError):
        posterior("uniform", C, "w")


def test_floats_agree_with_the_exact_posteriors():
    view = posterior_floats({"a": 1}, C)
    assert view[:, 0].tolist() == [1, 0, 0]
    assert np.isnan(view[:, 2]).all()
    prior = [0.2, 0.3, 0.5]
    for column, exact in enumerate(posteriors(prior, C).values()):
        assert posterior_floats(prior, C)[:, column] == pytest.approx(exact.floats, rel=1e-14)


def test_outputs_with_equal_posteriors_are_one():
    found = hyper("uniform", C)
    assert found.outputs == (("x", "y"), ("z",))
    assert found.outers == (Fraction(1, 2), Fraction(1, 2))
    assert found.inners[1] == Prior("abc", (0, 1, 2), 3)
    assert found.prior == Prior.uniform("abc")
    assert len(found) == 2
    assert repr(found) == "Hyper(1/2: Prior({'a': 2/3, 'b': 1/3, 'c': 0}), 1/2: Prior({'a': 0, 'b': 1/3, 'c': 2/3}))"
    assert str(found).splitlines()[0].split() == ["x|y", "z"]


def test_outputs_that_never_occur_are_left_out():
    found = hyper({"a": 1}, C)
    assert found.inners == (Prior.point("abc", "a"),)
    assert found.outers == (1,)


def test_equality_of_posteriors_is_exact():
    tiny = Fraction(1, 10**30)
    near = Channel.from_matrix(
        "ab", "xy", [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2) + tiny, Fraction(1, 2) - tiny]]
    )
    assert len(hyper("uniform", near)) == 2
    assert hyper("uniform", near).prior == Prior.uniform("ab")


def test_floats_are_as_near_as_documented():
    generator = np.random.default_rng(3)
    channel = Channel.from_matrix(range(12), range(9), generator.dirichlet(np.ones(9), 12))
    prior = generator.dirichlet(np.ones(12)) * (1 + 1e-7)
    view = posterior_floats(prior, channel)
    for column, exact in enumerate(posteriors(prior, channel).values()):
        for value, share in zip(view[:, column], exact.fractions, strict=True):
            assert abs(Fraction(float(value)) - share) <= share * (12 + 8) / 2**53


def test_outputs_that_hardly_ever_occur_have_their_posterior():
    tiny = Fraction(1, 10**300)
    rare = Channel.from_matrix("ab", "yz", [[tiny, 1 - tiny], [3 * tiny, 1 - 3 * tiny]])
    for prior in ("uniform", np.array([0.5, 0.5]), np.array([[0.5, 0.5]])):
        assert np.reshape(posterior_floats(prior, rare), (2, 2))[:, 0] == pytest.approx([0.25, 0.75], rel=1e-14)


@pytest.mark.parametrize("block", [1, 300, 10**6])
def test_many_priors_at_once(block, monkeypatch):
    monkeypatch.setattr(importlib.import_module("metricdp.adversaries.hyper"), "_BLOCK", block)
    priors = np.vstack([np.random.default_rng(1).dirichlet(np.ones(3), 20), np.eye(3)])
    views = posterior_floats(priors, C)
    assert views.shape == (23, 3, 3)
    assert np.isnan(views).any()
    for prior, view in zip(priors, views, strict=True):
        assert view == pytest.approx(posterior_floats(prior, C), rel=1e-15, nan_ok=True)
    assert posterior_floats(np.empty((0, 3)), C).shape == (0, 3, 3)
    with pytest.raises(ArgumentError, match="row 1: the prior sums to 0"):
        posterior_floats(np.array([[0, 0, 1], [0, 0, 0]]), C)
    with pytest.raises(ArgumentError, match="4 probabilities for 3"):
        posterior_floats(np.full((2, 4), 0.25), C)
