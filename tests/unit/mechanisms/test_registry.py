"""Mechanisms by name."""

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.mechanisms.registry import MECHANISMS, named_mechanism


def test_a_name_makes_the_mechanism():
    metric = mdp.metrics.absolute().within(5)
    assert named_mechanism("laplace", metric) == mdp.laplace(metric)
    assert named_mechanism("truncated-geometric", metric, steps=3) == mdp.truncated_geometric(metric, 3)
    assert MECHANISMS["laplace"] is mdp.laplace


def test_names_that_are_none():
    with pytest.raises(ArgumentError, match="there is no mechanism 'gauss'; there are: approximate_laplace"):
        named_mechanism("gauss")
