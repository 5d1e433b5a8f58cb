"""Laws: their float view, and laws made of laws. Their probabilities are tested in ../channels/test_of.py."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import TooLargeError
from metricdp.exact.balls import ball
from metricdp.mechanisms.law import MOST_OUTPUTS, Law, log2_below, refuse_many

m = mdp.metrics


def test_the_float_view_holds_what_the_fixed_points_hold():
    law = mdp.truncated_geometric(m.absolute(), steps=3).law([0, 2])
    a = math.exp(-1)
    ends, inside = 1 / (1 + a), (1 - a) / (1 + a)
    expected = [[ends, inside * a, inside * a**2, ends * a**3], [ends * a**2, inside * a, inside, ends * a]]
    np.testing.assert_allclose(law.matrix, expected, rtol=1e-14)
    assert repr(law) == "Law(2 inputs, 4 outputs)"
    with pytest.raises(ValueError, match="read-only"):
        law.matrix[0, 0] = 1


def test_the_float_view_of_very_small_probabilities_is_relatively_close():
    law = mdp.truncated_geometric(300 * m.absolute(), steps=2).law([0])
    np.testing.assert_allclose(law.matrix[0, 2], math.exp(-600), rtol=1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=3),
        mdp.laplace(mdp.ln(4) * m.absolute(), bounds=(0, 3), resolution=1),
        mdp.postprocess(mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=3), lambda z: z % 2),
        mdp.compose(*[mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=3)] * 2),
    ],
)
def test_fixed_points_are_the_rational_probabilities_rounded_up_by_less_than_two(mechanism):
    law = mechanism.law(range(4))
    exact = np.asarray(law.rational(), dtype=object)
    assert all(sum(row) == 1 for row in exact.tolist())
    for bits in (8, 100):
        off = law.fixed(bits) - exact * (1 << bits)
        assert (off >= 0).all()
        assert (off < 2).all()
    assert law.least <= min(math.log2(value) for value in exact.ravel().tolist())


@pytest.mark.parametrize("exponent", [-1, -5000, 3, -Fraction(1, 10**40)])
def test_a_logarithm_from_below(exponent):
    found = log2_below(lambda: ball(exponent).exp())
    assert found <= float(exponent) / math.log(2) + 1e-12
    assert found > float(exponent) / math.log(2) - 1e-9


def test_too_many_outputs_are_counted():
    refuse_many(MOST_OUTPUTS, "this")
    with pytest.raises(TooLargeError, match="this would have 16,385 outputs") as error:
        refuse_many(MOST_OUTPUTS + 1, "this")
    assert error.value.estimate == "16,385 outputs"


def test_a_law_can_be_written_by_hand():
    law = Law(("a",), ("y", "z"), lambda bits: np.array([[1 << (bits - 1)] * 2], dtype=object), -1.0)
    assert law.matrix.tolist() == [[0.5, 0.5]]
