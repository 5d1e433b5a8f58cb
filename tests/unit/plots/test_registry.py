"""Plots by name."""

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError
from metricdp.plots import draw


def test_a_name_draws():
    figure = draw("noise", mdp.geometric(mdp.metrics.absolute()), "people")
    assert figure.axes[0].get_xlabel() == "released - secret, people"
    assert len(draw("channel-shades", mdp.Channel.from_matrix("ab", "ab", [[1, 0], [0, 1]])).axes) >= 1
    with pytest.raises(ArgumentError, match="there is no plot 'pie'; there are: before_and_after"):
        draw("pie")
