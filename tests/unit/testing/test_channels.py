"""Channels keep the laws that ship, and broken ones do not."""

from types import SimpleNamespace

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ConformanceError
from metricdp.testing import check_channel

TIGHT = mdp.Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
LAWS = ("rows", "labels", "view", "guarantee", "equality", "json", "releases")


@pytest.mark.parametrize(
    "channel",
    [
        TIGHT,
        mdp.channels.of(mdp.truncated_geometric(mdp.metrics.absolute(), steps=5), range(6)),
        mdp.channels.certify(np.full((3, 3), 1 / 3), mdp.Space("abc", mdp.metrics.discrete())),
        mdp.channels.of(mdp.set_response("ab", 1), [frozenset(), frozenset("a"), frozenset("ab")]),
    ],
    ids=["tight", "of a mechanism", "certified", "of sets"],
)
def test_channels_keep_the_laws(channel):
    checked = check_channel(channel)
    assert {*checked.laws, *(law for law, _ in checked.left_out)} == set(LAWS)
    assert set(checked.laws) >= set(LAWS) - {"json"}


def test_a_space_that_it_is_not_private_for():
    near = mdp.Space("ab", mdp.metrics.discrete() / 2)
    with pytest.raises(ConformanceError, match="does NOT hold"):
        check_channel(TIGHT, near)
    assert check_channel(TIGHT, mdp.Space("ab", mdp.metrics.discrete())).laws == LAWS


def broken(**fields):
    """A copy with fields that a channel would not be made with."""
    made = mdp.Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def test_channels_that_cannot_be():
    for made, law in [
        (broken(weights=np.array([[2, 2], [1, 2]], dtype=object)), "rows"),
        (broken(weights=np.array([[4, -1], [1, 2]], dtype=object)), "rows"),
        (broken(inputs=("a", "a")), "labels"),
        (broken(matrix=np.eye(2)), "view"),
        (
            broken(_sampler=SimpleNamespace(draw=lambda places: places * 0 + 1), weights=np.array([[3, 0], [0, 3]])),
            "releases",
        ),
    ]:
        with pytest.raises(ConformanceError) as caught:
            check_channel(made, only=[law])
        assert caught.value.law == law
    with pytest.raises(ArgumentError, match="a Channel is wanted"):
        check_channel([[1.0]])
