"""The region of regular priors: its corners, coordinates and bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.adversaries import (
    convex_coordinates,
    corner_priors,
    prior_bounds,
    utility_bound,
)
from metricdp.errors import ArgumentError
from metricdp.exact.level import ln
from metricdp.metrics import Space

LINE = Space.line(3, ln(2) * metrics.absolute())
APART = metrics.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])


def test_corners_are_one_sided_mixtures():
    for place, corner in enumerate(corner_priors(LINE)):
        assert [share.lower for share in convex_coordinates(corner, LINE)] == [int(i == place) for i in range(3)]
        assert utility_bound(corner, LINE).exact == corner.fractions[place]


def test_irrational_corners_are_near():
    space = Space.line(4, 0.3 * metrics.absolute())
    rows = np.exp(-space.distances)
    for corner, row in zip(corner_priors(space), rows, strict=True):
        assert np.allclose(corner.floats, row / row.sum(), rtol=1e-15, atol=0)


def test_coordinates_mix_the_corners_to_the_prior():
    prior = [Fraction(3, 10), Fraction(4, 10), Fraction(3, 10)]
    coordinates = [share.lower for share in convex_coordinates(prior, LINE)]
    corners = [corner.fractions for corner in corner_priors(LINE)]
    assert sum(coordinates) == 1
    assert [sum(g * c[j] for g, c in zip(coordinates, corners, strict=True)) for j in range(3)] == prior
    with pytest.raises(ArgumentError, match="not regular"):
        convex_coordinates([1, 0, 0], LINE)


def test_prior_bounds_are_outward_where_irrational():
    bounds = prior_bounds(Space.line(3, 0.3 * metrics.absolute()))
    floats = np.exp(0.3 * np.array([0, 1, 2]))
    assert bounds.lower[0] == pytest.approx(1 / floats.sum(), rel=1e-15)
    assert bounds.upper[0] == pytest.approx(1 / (1 / floats).sum(), rel=1e-15)
    assert bounds.shares[0].lower < bounds.shares[0].upper
    assert prior_bounds(Space("abc", APART)).lower.tolist()[2] == 0


def test_prior_bounds_find_two_points_too_different():
    bounds = prior_bounds(LINE)
    assert bounds.violation([Fraction(6, 10), Fraction(2, 10), Fraction(2, 10)]) == (0, 1)
    assert bounds.violation("uniform") is None
