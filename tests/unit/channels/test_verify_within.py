"""Verification between neighbours alone."""

import itertools
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.channels import Channel, of, verify
from metricdp.errors import LevelError
from metricdp.metrics import Space, absolute, hamming

DELTA = Fraction(1, 20)
ROWS = list(itertools.product("ab", repeat=2))
SPACE = Space(ROWS, mdp.ln(2) * hamming())


def product():
    row = mdp.randomized_response("ab", mdp.ln(2), delta=DELTA)
    return of(mdp.independent(row, row), ROWS)


def least_delta(channel, within):
    """By the hockey-stick sum, in Fractions."""
    return max(
        sum(max(0, channel.probability(x, z) - 2 ** int(hamming()(x, y)) * channel.probability(y, z)) for z in ROWS)
        for x, y in itertools.permutations(ROWS, 2)
        if hamming()(x, y) <= within
    )


def test_neighbours_keep_what_others_do_not():
    channel = product()
    assert least_delta(channel, 1) == DELTA
    near = verify(channel, SPACE, DELTA, within=1)
    assert near.holds
    assert near.within == 1
    assert not verify(channel, SPACE, DELTA * Fraction(9, 10), within=1)
    assert verify(channel, SPACE, DELTA).holds == (least_delta(channel, 2) <= DELTA)
    assert verify(channel, SPACE, DELTA).within is None, "what was found of neighbours is not remembered for all"
    assert "for secrets at most 1 apart" in str(near)
    assert near.to_json()["within"] == 1


def test_without_a_delta_chains_make_it_the_same():
    space = Space.line(4, mdp.ln(2) * absolute())
    good = of(mdp.truncated_geometric(space.metric, steps=3), range(4))
    assert verify(good, space, within=1).holds == verify(good, space).holds
    far = Channel.from_matrix(range(4), "yz", [["1/2", "1/2"]] * 3 + [["9/10", "1/10"]])
    assert not verify(far, space, within=1)


def test_a_distance_is_positive():
    with pytest.raises(LevelError, match="positive distance"):
        verify(product(), SPACE, within=0)
