"""Laplace noise on points: a tight density, and points of another dimension."""

import math

import numpy as np
import pandas as pd
import pytest

import metricdp as mdp
from metricdp.errors import (
    DataError,
    KindError,
    NotFiniteError,
    ShapeError,
)
from metricdp.exact.balls import precision
from tests.refused_secrets import EXPANSION, GLOBE, LINE, PLANE, SAMPLES, refused
from tests.tight_guarantees import BITS, assert_tight, metric_of

m = mdp.metrics


@pytest.mark.parametrize("unit", [m.manhattan(), m.euclidean(), m.chebyshev()], ids=str)
def test_laplace_density_in_the_plane(unit):
    """Density proportional to exp(-d(x, z)) for the metric itself: the triangle inequality, an equality beyond."""
    mechanism = mdp.laplace(mdp.ln(2) * unit, dim=2)
    secrets = [(0, 0), (1, 0), (0, 2), (-1, -1)]
    outputs = [(a, b) for a in range(-4, 5) for b in range(-4, 5)]
    with precision(BITS):
        tables = {x: {z: (-mechanism.metric.ball(x, z)).exp() for z in outputs} for x in secrets}
        assert_tight(tables, metric_of(mechanism))


def test_not_finite_points():
    refused(PLANE, [[0.0, 0.0], [1.0, math.nan]], NotFiniteError, 1, "finite number is wanted")
    refused(PLANE, [0.0, math.inf], NotFiniteError, 0, "finite number is wanted")
    refused(GLOBE, [[0.0, 0.0], [math.nan, 1.0]], NotFiniteError, 1, "finite number of degrees")
    refused(GLOBE, np.array([[0.0, 0.0], [0.0, -math.inf]]), NotFiniteError, 1, "finite number of degrees")


@pytest.mark.parametrize(
    ("mechanism", "secrets", "row", "words"),
    [
        (PLANE, [1.0, 2.0, 3.0], None, "dimension 2 are wanted, not 3"),
        (PLANE, np.zeros((4, 3)), None, "dimension 2 are wanted, not 3"),
        (PLANE, np.zeros((4, 2, 2)), None, "points are wanted"),
        (PLANE, 3.0, None, "a point is wanted"),
        (PLANE, [[1.0, 2.0], [1.0]], 1, "length"),
        (PLANE, [[1.0, 2.0], 3.0], 1, "point"),
        (PLANE, [1.0, [2.0, 3.0]], None, None),
        (PLANE, pd.DataFrame({"a": [1.0]}), None, "dimension 2 are wanted, not 1"),
        (PLANE, pd.Series([1.0, 2.0]), None, "a point is wanted"),
        (GLOBE, [[1.0, 2.0, 3.0]], None, "latitude, longitude"),
        (LINE, np.zeros((3, 2)), None, "one number a row is wanted"),
        (LINE, pd.DataFrame({"a": [1.0], "b": [2.0]}), 0, None),
        (SAMPLES, [1.0, 2.0, 3.0], None, "dimension 2"),
        (EXPANSION, [1.0, 2.0, 3.0], None, "dimension 2"),
        (EXPANSION, [[1.0, 2.0], [1.0]], 1, "length"),
        (EXPANSION, 1.0, None, "coefficients are wanted"),
    ],
)
def test_wrong_dimension(mechanism, secrets, row, words):
    with pytest.raises(DataError, match=words) as caught:
        mechanism.release(secrets)
    assert type(caught.value) is ShapeError or (words is None and type(caught.value) is KindError)
    assert caught.value.row in (row, None) or words is None
