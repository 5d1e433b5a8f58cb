"""Posteriors and hypers."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.adversaries import Prior, hyper, posterior, posterior_floats, posterior_given, posteriors
from metricdp.channels import Channel
from metricdp.errors import InputError, UnknownCategoryError

C = Channel.from_matrix("abc", "xyz", [["1/2", "1/2", 0], ["1/4", "1/4", "1/2"], [0, 0, 1]])


def test_posteriors():
    assert posterior("uniform", C, "x") == Prior("abc", (2, 1, 0), 3)
    assert posterior_given("uniform", C, "yz") == Prior("abc", (2, 3, 4), 9)
    assert posterior_given({"a": 1}, C, ["x"]) == Prior.point("abc", "a")
    assert list(posteriors({"a": 1}, C)) == ["x", "y"]
    with pytest.raises(InputError, match="'z' never occurs"):
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
    assert repr(found) == "Hyper(2 posteriors of 3 secrets)"
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
