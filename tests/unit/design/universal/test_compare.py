"""Comparisons of mechanisms over all priors."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.adversaries import Loss, Prior, uncertainty
from metricdp.channels import Channel, of, refines
from metricdp.design import compare
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.metrics import Space, absolute

LINE = Space.line(3, mdp.ln(2) * absolute())
GEOMETRIC = of(mdp.truncated_geometric(LINE.metric, steps=2), range(3))
RESPONSE = of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))


@st.composite
def channels(draw, outputs=None):
    columns = outputs or draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, 4), min_size=columns, max_size=columns).filter(any)
    table = draw(st.lists(rows, min_size=3, max_size=3))
    return Channel.from_matrix(range(3), range(columns), [[Fraction(v, sum(row)) for v in row] for row in table])


tables = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4)


@given(channels(), channels(), tables, st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
@settings(max_examples=60, deadline=None)
def test_no_prior_goes_beyond(first, second, table, weights):
    loss = Loss.from_matrix(range(len(table)), range(3), table)
    found = compare(first, second, loss)
    for case in (found.worst_for_first, found.worst_for_second):
        assert uncertainty(case.prior, first, loss, exact=True) == case.first
        assert uncertainty(case.prior, second, loss, exact=True) == case.second
    prior = Prior.proportional(range(3), weights)
    one, two = (uncertainty(prior, channel, loss, exact=True) for channel in (first, second))
    assert found.worst_for_second.difference <= one - two <= found.worst_for_first.difference
    assert one == 0 or found.ratio == math.inf or one <= found.ratio * two
    assert two == 0 or found.inverse_ratio == math.inf or two <= found.inverse_ratio * one
    other = compare(second, first, loss)
    assert other.first_never_worse is found.second_never_worse
    assert other.ratio == found.inverse_ratio


@given(channels(outputs=3), channels(outputs=3), tables)
@settings(max_examples=40, deadline=None)
def test_what_is_put_through_noise_is_never_better(first, noise, table):
    coarser = first @ noise
    assert refines(coarser, first)
    assert compare(first, coarser, Loss.from_matrix(range(len(table)), range(3), table)).first_never_worse


def test_never_worse():
    found = compare(GEOMETRIC, RESPONSE, "bin")
    assert found.first_never_worse
    assert not found.second_never_worse
    assert not found.incomparable
    assert found.worst_for_second.difference == Fraction(-1, 8)
    assert found.ratio == 1
    assert found.inverse_ratio == Fraction(3, 2)
    assert str(found).startswith("The first is never worse for 'bin'")
    assert str(compare(RESPONSE, GEOMETRIC, "bin")).startswith("The second is never worse for 'bin'")


def test_incomparable():
    found = compare(GEOMETRIC, RESPONSE, [[1, 0, 1], [0, 1, 0]])
    assert found.incomparable
    assert found.worst_for_first.difference == Fraction(1, 18)
    assert found.worst_for_second.difference == Fraction(-1, 24)
    assert str(found).startswith("Incomparable for 'matrix': the first costs 1/24 less")


def test_equal_with_other_labels_and_order():
    turned = Channel.from_matrix([2, 0, 1], "cba", [["2/3", "1/6", "1/6"], ["1/6", "1/6", "2/3"], ["1/3"] * 3])
    found = compare(GEOMETRIC, turned, "distance", LINE)
    assert found.equal
    assert found.ratio == 1
    assert "the same" in str(found)


def test_ratios():
    told = Channel.from_matrix(range(3), range(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    found = compare(GEOMETRIC, told, "bin")
    assert found.ratio == math.inf
    assert found.inverse_ratio == 0
    assert compare(GEOMETRIC, told, [[-1, 0, 0], [0, -1, 0]]).ratio is None
    assert compare(told, told, "bin").ratio == 0  # what costs nothing, costs no more than nothing


def test_refusals():
    with pytest.raises(ArgumentError, match="different inputs"):
        compare(GEOMETRIC, mdp.channels.restrict(GEOMETRIC, [0, 1]), "bin")
    with pytest.raises(ArgumentError, match="different inputs"):
        compare(GEOMETRIC, Channel.from_matrix("abc", [0], [[1]] * 3), "bin")
    with pytest.raises(ArgumentError, match="compare takes a Channel, not"):
        compare(GEOMETRIC, "bin", GEOMETRIC)


def test_progress_time_limit_and_json():
    updates = []
    found = compare(GEOMETRIC, RESPONSE, "bin", progress=updates.append)
    assert updates[-1].done == updates[-1].total
    with pytest.raises(TooLargeError, match="time_limit"):
        compare(GEOMETRIC, RESPONSE, "bin", time_limit=1e-9)
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert document["first_never_worse"] is True
    assert "Fraction" not in repr(found)
    squares = compare(GEOMETRIC, RESPONSE, lambda guess, secret: (guess - secret) ** 2)
    assert squares.ratio == compare(GEOMETRIC, RESPONSE, "squared", mdp.Space.line(3)).ratio
