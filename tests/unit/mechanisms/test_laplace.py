"""laplace chooses the mechanism of a metric, and says what it cannot serve."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    LevelError,
    MetricDPError,
    UnsupportedMetricError,
)

m = mdp.metrics


@pytest.mark.parametrize(
    "bad", [0, -1, -0.5, math.nan, math.inf, -math.inf, "zero", "", None, True, 1j, Fraction(0), Decimal("nan")]
)
def test_epsilon(bad):
    for make in (
        lambda: mdp.laplace(bad * m.absolute()),
        lambda: mdp.randomized_response("ab", bad),
        lambda: mdp.set_response("ab", bad),
        lambda: mdp.Space.line(3, bad * m.absolute()),
    ):
        with pytest.raises((LevelError, TypeError)):
            make()
    with pytest.raises(LevelError):
        mdp.randomized_response("ab", bad)
    with pytest.raises(ArgumentError):  # a radius, which is no level
        m.absolute().within(bad)


@pytest.mark.parametrize("bad", [1, 0, 0.5, -2, math.nan, math.inf])
def test_factor(bad):
    with pytest.raises(LevelError):
        m.absolute().within(5, factor=bad)
    with pytest.raises(LevelError):
        mdp.ln(bad)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "a cell", True, None])
def test_resolution_and_step(bad):
    makers = [lambda: mdp.geometric(m.absolute(), step=bad), lambda: mdp.truncated_geometric(m.absolute(), 3, step=bad)]
    if bad is not None:  # None asks for the default
        makers += [
            lambda: mdp.laplace(m.absolute(), resolution=bad),
            lambda: mdp.laplace(m.euclidean(), resolution=bad),
            lambda: mdp.laplace(m.great_circle(), resolution=bad),
            lambda: mdp.approximate_laplace(0, 1, 1, "0.1", resolution=bad),
            lambda: mdp.function_samples(m.supremum(), [0], resolution=bad),
        ]
    for make in makers:
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: mdp.laplace(m.absolute(), dim=2),
        lambda: mdp.laplace(m.euclidean(), dim=2, bounds=(0, 1)),
        lambda: mdp.laplace(m.great_circle().within(200), bounds=(0, 1)),
        lambda: mdp.laplace(m.great_circle().within(200), dim=3),
        lambda: mdp.laplace(m.attributes({"a": m.absolute()}), bounds=(0, 1)),
        lambda: mdp.laplace(m.matrix("ab", [[0, 1], [1, 0]]), bounds=(0, 1)),
    ],
)
def test_options_that_mean_nothing_are_not_ignored(make):
    """Bounds that are not kept, or a dimension that is not the one, would deceive."""
    with pytest.raises((ArgumentError, UnsupportedMetricError)):
        make()


def test_an_unknown_dimension_says_so():
    mechanism = mdp.laplace(m.euclidean())
    assert len(mechanism.release([0.0, 0.0, 0.0])) == 3
    assert "give dim=" in mechanism.explain()
    with pytest.raises(ArgumentError, match="dim="):
        mechanism.radius()


@pytest.mark.parametrize(
    ("metric", "instead"),
    [
        (m.hamming(), "exponential"),
        (m.discrete(), "randomized_response"),
        (m.symmetric_difference(), "set_response"),
        (m.add_remove(), "exponential"),
        (m.capped(m.absolute(), 10), "exponential"),
    ],
    ids=str,
)
def test_no_laplace_density(metric, instead):
    with pytest.raises(UnsupportedMetricError, match=instead):
        mdp.laplace(2 * metric)


@pytest.mark.parametrize(
    "make",
    [
        mdp.laplace,
        mdp.geometric,
        lambda bad: mdp.truncated_geometric(bad, 3),
        lambda bad: mdp.function_samples(bad, [0]),
        lambda bad: mdp.function_expansion(bad, 1, 1),
        lambda bad: mdp.Space("abc", bad),
        mdp.exponential,
    ],
)
def test_not_a_metric_at_all(make):
    for bad in (3, None, "absolute", m.absolute, 0.5):
        with pytest.raises(MetricDPError):
            make(bad)


def test_a_metric_for_another_mechanism():
    for metric in (m.euclidean(), m.great_circle(), m.dates()):
        with pytest.raises(UnsupportedMetricError, match="between numbers"):
            mdp.geometric(metric)
    with pytest.raises(UnsupportedMetricError, match="symmetric_difference"):
        mdp.set_response("ab", m.hamming())
