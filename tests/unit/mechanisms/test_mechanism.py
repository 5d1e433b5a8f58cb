"""What every mechanism says about itself, also one that gives no more than the three methods it has to."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.mechanisms.mechanism import Mechanism, as_mechanism, is_mechanism
from metricdp.metrics.words import Measure
from tests.mechanisms_to_test import CASES

m = mdp.metrics


@dataclass(frozen=True, repr=False)
class Bare(Mechanism):
    """The least there can be."""

    width: float = 5.0

    @property
    def guarantee(self):
        return mdp.Guarantee(m.absolute().within(self.width))

    def release(self, secrets):
        return mdp.laplace(self.guarantee.metric).release(secrets)

    def probability_within(self, distance):
        return mdp.laplace(self.guarantee.metric).probability_within(distance)


def test_a_bare_mechanism_describes_itself():
    bare = Bare()
    assert bare.name == bare.words() == "bare"
    assert repr(bare) == "Bare(bare; (ln 2/5·|x − y|)-private)" or repr(bare) == "Bare(bare; ln 2/5·|x − y|-private)"
    error = bare.expected_error(Measure("years"))
    assert error.words == ("half within 5 years, 95% within 21.6 years",)
    assert error.unit == "years"
    assert [words for words, _ in bare.pairs_to_tell(Measure("years"))] == [
        "2.5 years apart",
        "5 years apart",
        "10 years apart",
        "25 years apart",
    ]
    assert bare.pairs_to_tell(middle=Fraction(3))[1] == ("3 apart", Fraction(3))
    assert (bare.declared, bare.widest, bare.cells, bare.parts, bare.takes_null) == (None, None, None, (), False)
    assert bare.at_resolution(Fraction(1)) is bare
    assert list(bare.secrets_to_try) == []
    picture = bare.picture("years")
    assert picture.label == "distance from the secret, years"
    assert picture.heights.sum() * (picture.places[1] - picture.places[0]) == pytest.approx(1)
    with pytest.raises(ArgumentError, match="no finite list of outputs"):
        bare.law([0, 1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_descriptions_hold_no_page_of_numbers(case):
    mechanism = case.make()
    for said in (repr(mechanism), mechanism.words(), *mechanism.expected_error().words):
        assert 0 < len(said) < 300
        assert "Fraction(" not in said
    plain = json.loads(json.dumps(mechanism.to_json()))
    assert set(plain) >= {"guarantee"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_error_that_is_told_is_the_error(case):
    """At least as many releases as are told lie within the distances that are told."""
    mechanism = case.make()
    error = mechanism.expected_error()
    if error.radius_95 is not None:
        assert mechanism.probability_within(error.median) >= 0.5 or mechanism.takes_null
        assert mechanism.probability_within(error.radius_95) >= 0.95 or mechanism.takes_null
    if error.truth is not None:
        assert error.truth == mechanism.probability_within(0)
    if mechanism.widest is not None and not mechanism.guarantee.metric.without_null().all_alike:
        for secret in case.secrets:
            for other in case.secrets:
                known = [None if isinstance(each, float) and math.isnan(each) else each for each in (secret, other)]
                assert mechanism.guarantee.metric.unit.enclose(*known).lower <= mechanism.widest


def test_names():
    assert mdp.laplace(m.absolute()).name == "Laplace noise"
    assert mdp.geometric(m.absolute()).name == "geometric noise"
    assert mdp.truncated_geometric(m.absolute(), 3).name == "truncated geometric noise"
    assert mdp.randomized_response("ab", 1).name == "randomized response"
    assert mdp.exponential(mdp.Space.line(3)).name == "exponential mechanism"
    assert mdp.laplace(m.chebyshev(), dim=2).name == "Laplace noise in the maximum norm"


def test_what_is_a_mechanism():
    assert is_mechanism(Bare())
    assert not is_mechanism(Bare)
    assert as_mechanism(Bare()) == Bare()
    with pytest.raises(ArgumentError, match=r"a mechanism is wanted here, such as laplace\(metric\), not function"):
        as_mechanism(lambda secret: secret)


def test_the_cells_are_its_own():
    for mechanism in (mdp.laplace(m.absolute()), mdp.geometric(m.absolute())):
        assert mechanism.cells is mechanism
        cells, missing = mechanism.cells.release_cells(np.array([1, 2, 3]))
        assert cells.dtype == np.int64
        assert missing is None
    assert mdp.laplace(m.euclidean(), dim=2).cells is None
