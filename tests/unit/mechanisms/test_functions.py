"""Mechanisms on functions of time: bad readings and options."""

import math

import pytest

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    NotFiniteError,
    UnsupportedMetricError,
)
from tests.refused_secrets import refused

m = mdp.metrics


def test_functions():
    with pytest.raises(ArgumentError):
        mdp.function_samples(m.supremum(), [])
    for length, terms in ((0, 3), (-1, 3), (1, 0), (math.nan, 3)):
        with pytest.raises(ArgumentError):
            mdp.function_expansion(m.square_integrable(), length, terms)
    with pytest.raises(UnsupportedMetricError, match="supremum"):
        mdp.function_samples(m.absolute(), [0])
    with pytest.raises(UnsupportedMetricError, match="square_integrable"):
        mdp.function_expansion(m.supremum(), 1, 1)
    refused(mdp.function_samples(m.supremum(), [0, 1]), lambda time: math.nan, NotFiniteError, 0, "finite")
