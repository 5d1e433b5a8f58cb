"""Lists as arguments: what is not one is refused with our own error, by every function that takes one."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.lists import as_list

SPACE = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
CHANNEL = mdp.channels.of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), steps=2), range(3))


@pytest.mark.parametrize("values", [[1, 2], (1, 2), np.array([1, 2]), iter([1, 2]), {1: "a", 2: "b"}])
def test_what_can_be_gone_through(values):
    assert as_list(values, "points") == [1, 2]


@pytest.mark.parametrize("values", [None, 3, 0.5, object(), np.array(3)])
def test_what_cannot(values):
    with pytest.raises(ArgumentError, match=f"a list of points is needed here, not {type(values).__name__}"):
        as_list(values, "points")


@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: mdp.Space(wrong, mdp.metrics.absolute()),
        lambda wrong: mdp.metrics.matrix(wrong, [[0]]),
        lambda wrong: mdp.metrics.matrix("ab", wrong),
        lambda wrong: mdp.metrics.matrix("ab", [wrong, wrong]),
        lambda wrong: mdp.metrics.graph_of(wrong, []),
        lambda wrong: mdp.metrics.graph_of("ab", wrong),
        lambda wrong: mdp.metrics.taxonomy(wrong),
        lambda wrong: mdp.randomized_response(wrong, 1),
        lambda wrong: mdp.set_response(wrong, mdp.metrics.symmetric_difference()),
        lambda wrong: mdp.channels.of(CHANNEL, wrong),
        lambda wrong: mdp.channels.restrict(CHANNEL, wrong),
        lambda wrong: mdp.adversaries.informed_bound(SPACE, wrong),
        lambda wrong: mdp.adversaries.hiding_bound(SPACE, wrong),
        lambda wrong: mdp.adversaries.Prior(wrong, (1,), 1),
        lambda wrong: mdp.adversaries.Prior("a", wrong, 1),
        lambda wrong: mdp.adversaries.posterior_given("uniform", CHANNEL, wrong),
        lambda wrong: mdp.adversaries.distance(wrong),
        lambda wrong: mdp.queries.Universe(wrong),
        lambda wrong: mdp.queries.Count(wrong),
        lambda wrong: mdp.testing.check_metric(mdp.metrics.absolute(), wrong),
        lambda wrong: mdp.plots.heat_map(wrong),
    ],
)
def test_every_function_says_it_in_its_own_words(call):
    with pytest.raises(MetricDPError):
        call(3)


def test_an_array_is_no_level():
    with pytest.raises(MetricDPError, match="is a number, not ndarray"):
        mdp.laplace(mdp.metrics.absolute(), resolution=np.zeros((2, 2)))


def test_a_word_is_no_distance():
    with pytest.raises(MetricDPError, match="distance"):
        mdp.metrics.matrix("ab", [[0, "near"], ["near", 0]])
