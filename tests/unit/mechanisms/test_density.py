"""Densities of continuous mechanisms: they integrate to one, and keep the promise."""

import math

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ShapeError
from metricdp.metrics import absolute, chebyshev, euclidean, great_circle, manhattan


def test_on_the_line():
    K = mdp.laplace(0.7 * absolute())
    places = np.linspace(-60, 60, 120_001)
    assert np.trapezoid([K.density(0, z) for z in places[::100]], places[::100]) == pytest.approx(1, abs=1e-2)
    assert K.density(3, 3) == pytest.approx(0.35)
    assert K.density(0, 2) / K.density(1, 2) == pytest.approx(math.exp(-0.7))
    with pytest.raises(ArgumentError, match="bounds"):
        mdp.laplace(absolute(), bounds=(0, 1)).density(0, 1)


@pytest.mark.parametrize(
    ("metric", "constant"), [(euclidean(), 1 / (2 * math.pi)), (manhattan(), 1 / 4), (chebyshev(), 1 / 8)]
)
def test_in_the_plane(metric, constant):
    K = mdp.laplace(2 * metric, dim=2)
    assert K.density((1, 1), (1, 1)) == pytest.approx(4 * constant)
    step = 0.05
    across = np.arange(-8, 8, step) + step / 2
    total = sum(K.density((0, 0), (x, y)) for x in across[::2] for y in across[::2]) * (2 * step) ** 2
    assert total == pytest.approx(1, rel=0.02)
    with pytest.raises(ShapeError):
        K.density((1, 1, 1), (0, 0, 0))


def test_on_the_globe_as_in_the_plane_nearby():
    K = mdp.laplace(great_circle() / 500)
    assert K.density((10, 20), (10, 20)) == pytest.approx(1 / (2 * math.pi * 500**2), rel=1e-6)
    assert K.density((0, 0), (0, 1)) < K.density((0, 0), (0, 0.5))


def test_what_has_none():
    with pytest.raises(ArgumentError, match="has no density"):
        mdp.randomized_response("ab", 1).density("a", "b")


def test_neighbours_of_a_product_pay_the_largest_delta():
    one = mdp.randomized_response("ab", 1, delta="0.05")
    other = mdp.randomized_response("ab", 1, delta="0.02")
    both = mdp.independent(one, other)
    assert float(both.neighbours.delta) == 0.05
    assert float(both.guarantee.delta) == pytest.approx(0.07)
    assert both.neighbours.metric == both.guarantee.metric
