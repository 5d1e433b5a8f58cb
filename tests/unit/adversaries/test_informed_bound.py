"""The informed adversary: the theorem's bound and the true supremum."""

import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, greatest_ratio, informed_bound, posterior_given
from metricdp.channels import Channel
from metricdp.errors import ArgumentError, UnknownCategoryError
from metricdp.metrics import Space, absolute, euclidean

LINE = Space.line(3, mdp.ln(2) * absolute())
C = Channel.from_matrix(range(3), "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])


def test_the_bound_alone():
    found = informed_bound(LINE, [0, 2])
    assert float(found) == pytest.approx(2 * math.log(2))
    assert (found.holds, found.truth) == (None, None)
    with pytest.raises(ArgumentError, match="give a channel"):
        _ = found.supremum
    assert "at most 1.38629" in str(found)
    assert float(informed_bound(LINE, [1])) == 0


def test_the_truth_is_the_largest_ratio_of_rows():
    found = informed_bound(LINE, [0, 1, 2], C)
    assert found.truth.ratio.lower == found.truth.ratio.upper == 4
    assert found.truth.secrets == (0, 2)
    assert found.truth.outputs == ("x",)
    assert found.holds is True
    assert found.supremum_below <= 2 * math.log(2) <= found.supremum
    assert found.supremum - found.supremum_below < 1e-15


@pytest.mark.parametrize("within", ["1/10", Fraction(1, 1000), 1e-9, 3])
def test_a_prior_comes_within_the_distance_stated_and_does_not_reach_it(within):
    found = informed_bound(LINE, [0, 1, 2], C, within=within)
    after = posterior_given(found.prior, C, found.truth.outputs)
    assert found.truth.reached == greatest_ratio(found.prior, after)
    assert found.truth.reached < 4
    assert found.supremum - found.reached <= float(Fraction(within)) + 1e-15


def test_broken_by_a_channel_that_is_not_private():
    found = informed_bound(Space.line(3, mdp.ln("3/2") * absolute()), [0, 1], C, within=1e-3)
    assert found.holds is False
    assert "BREAKS" in str(found)
    assert found.reached > float(found)  # and by a prior that can be shown


def test_exactly_at_the_bound_is_kept_and_a_hair_beyond_is_not():
    hair = Fraction(1, 10**40)
    third = Fraction(1, 3)
    near = Channel.from_matrix([0, 1], "yz", [[2 * third + hair, third - hair], [third, 2 * third]])
    line = Space.line(2, mdp.ln(2) * absolute())
    assert informed_bound(line, [0, 1], near).holds is False
    assert (
        informed_bound(line, [0, 1], Channel.from_matrix([0, 1], "yz", [["2/3", "1/3"], ["1/3", "2/3"]])).holds is True
    )


def test_zero_against_positive_is_infinite_and_reached():
    channel = Channel.from_matrix(range(3), "yz", [[1, 0], ["1/2", "1/2"], ["1/2", "1/2"]])
    found = informed_bound(LINE, [0, 1], channel)
    assert found.truth.ratio.upper == found.truth.reached == math.inf
    assert found.supremum == found.reached == math.inf
    assert found.holds is False
    assert "without any bound" in str(found)
    assert greatest_ratio(found.prior, posterior_given(found.prior, channel, found.truth.outputs)) == math.inf
    assert informed_bound(LINE, [1, 2], channel).truth.ratio.upper == 1


def test_infinite_distances_allow_everything():
    far = Space("ab", mdp.metrics.matrix("ab", [[0, math.inf], [math.inf, 0]]))
    copy = Channel.from_matrix("ab", "ab", [[1, 0], [0, 1]])
    found = informed_bound(far, "ab", copy)
    assert found.holds is True
    assert float(found) == math.inf
    assert "infinite" in str(found)


def test_zero_distances_allow_nothing():
    twins = Space("ab", mdp.metrics.matrix("ab", [[0, 0], [0, 0]]))
    assert informed_bound(twins, "ab", Channel.from_matrix("ab", "yz", [["1/2", "1/2"], ["1/2", "1/2"]])).holds is True
    assert informed_bound(twins, "ab", Channel.from_matrix("ab", "yz", [["1/2", "1/2"], ["1/3", "2/3"]])).holds is False


def test_irrational_distances_are_decided_in_balls():
    grid = Space.grid(2, 2, euclidean())
    corners = [(0, 0), (1, 1)]
    rows = {Fraction(4): True, Fraction(5): False}  # e^sqrt(2) = 4.113...
    for ratio, holds in rows.items():
        share = ratio / (1 + ratio)
        table = [[share, 1 - share], ["1/2", "1/2"], ["1/2", "1/2"], [1 - share, share]]
        assert informed_bound(grid, corners, Channel.from_matrix(grid.points, "yz", table)).holds is holds


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="7 is not a point"):
        informed_bound(LINE, [0, 7])
    with pytest.raises(ArgumentError):
        informed_bound(LINE, [])
    with pytest.raises(ArgumentError, match="positive distance"):
        informed_bound(LINE, [0], C, within=0)
    with pytest.raises(UnknownCategoryError):
        informed_bound(LINE, [0, 2], Channel.from_matrix([0, 1], "yz", [[1, 0], [0, 1]]))


def test_the_distance_between_beliefs():
    assert greatest_ratio(Prior("abc", (1, 1, 0), 2), Prior("abc", (1, 3, 0), 4)) == 2
    assert greatest_ratio(Prior("abc", (1, 1, 0), 2), Prior("abc", (1, 0, 0), 1)) == math.inf
    with pytest.raises(ArgumentError):
        greatest_ratio(Prior.uniform("ab"), Prior.uniform("abc"))
