"""Hiding functions: the theorem's bound and the true supremum, where sets of outputs matter."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import Prior, _hiding_search, greatest_ratio, hidden, hiding_bound, posterior_given
from metricdp.channels import Channel
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, discrete

LINE = Space.line(3, mdp.ln(2) * absolute())
C = Channel.from_matrix(range(3), "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
SWAP = {0: 1, 1: 0, 2: 2}


def reached(prior, channel, images, outputs):
    one, two = (posterior_given(prior, K, outputs) for K in (channel, hidden(channel, images)))
    return greatest_ratio(one, two)


def test_the_bound_alone():
    assert float(hiding_bound(LINE, SWAP)) == pytest.approx(2 * math.log(2))
    assert float(hiding_bound(LINE, lambda x: 0)) == pytest.approx(4 * math.log(2))
    assert float(hiding_bound(LINE, [0, 1, 2])) == 0


def test_a_swap_reaches_twice_the_distance():
    found = hiding_bound(LINE, SWAP, C, within=1e-6)
    assert found.truth.ratio.upper == found.truth.ratio.lower == 4
    assert found.holds is True
    assert found.truth.reached == reached(found.prior, C, SWAP, found.truth.outputs) < 4
    assert found.supremum - found.reached <= 1e-6
    assert hiding_bound(Space.line(3, mdp.ln("3/2") * absolute()), SWAP, C).holds is False


def test_hiding_nothing_changes_nothing():
    found = hiding_bound(LINE, [0, 1, 2], C)
    assert (found.supremum, found.truth.reached, found.holds) == (0, 1, True)


def test_a_constant_gives_half_the_bound():
    found = hiding_bound(LINE, lambda x: 1, C)  # the largest ratio of rows, 4; the bound is 4 as well
    assert found.truth.ratio.upper == 4
    assert found.holds is True


def two_ratios(large):
    """Four secrets, two by two, each pair best told apart at an output where the other is not."""
    tiny = Fraction(1, 1000 * large)
    return Channel.from_matrix(
        "abcd",
        "yzr",
        [
            [large * tiny, tiny / large, 1 - large * tiny - tiny / large],
            [tiny, tiny / large, 1 - tiny - tiny / large],
            [tiny / large, tiny, 1 - tiny - tiny / large],
            [tiny / large, large * tiny, 1 - large * tiny - tiny / large],
        ],
    )


PAIRS = {"a": "b", "b": "b", "c": "d", "d": "d"}


def test_sets_of_outputs_tell_more_than_single_ones():
    channel, space = two_ratios(100), Space("abcd", discrete())
    found = hiding_bound(space, PAIRS, channel)
    assert found.truth.outputs == ("y", "z")
    singles = [_hiding_search.HidingSearch(channel.weights, [1, 1, 3, 3])._spread((z,))[0] for z in range(3)]
    assert max(singles) <= 101
    assert found.truth.ratio.lower > 9000  # nearly 100 squared
    assert found.supremum - found.reached <= 1e-6
    assert found.truth.reached == reached(found.prior, channel, PAIRS, found.truth.outputs)


def by_enumeration(channel, images):
    """The supremum for each set of outputs, from the definition: two secrets, all weight on either in the limit."""
    best = Fraction(1)
    rows = [channel.row(images[x]) for x in channel.inputs]
    for size in range(1, len(channel.outputs) + 1):
        for outputs in itertools.combinations(range(len(channel.outputs)), size):
            sums = [sum(row[z] for z in outputs) for row in channel.weights.tolist()]
            odds = [Fraction(sums[x], sums[image]) for x, image in enumerate(rows)]
            best = max(best, max(odds) / min(odds))
    return best


def test_all_sets_are_tried_where_there_are_few_outputs():
    generator = np.random.default_rng(1)
    for _ in range(20):
        weights = generator.integers(1, 50, size=(4, 4)).astype(object)
        channel = Channel.from_matrix(
            range(4), range(4), [[Fraction(int(w), int(sum(row))) for w in row] for row in weights]
        )
        images = dict(enumerate(generator.integers(0, 4, size=4).tolist()))
        found = hiding_bound(Space.line(4), images, channel)
        assert found.truth.ratio.lower == found.truth.ratio.upper == by_enumeration(channel, images)


def test_many_outputs_give_an_enclosure_of_the_same_number(monkeypatch):
    generator = np.random.default_rng(2)
    exactly, apart = 0, 0
    for _ in range(20):
        weights = generator.integers(1, 50, size=(4, 5)).astype(object)
        channel = Channel.from_matrix(
            range(4), range(5), [[Fraction(int(w), int(sum(row))) for w in row] for row in weights]
        )
        images = dict(enumerate(generator.integers(0, 4, size=4).tolist()))
        true = hiding_bound(Space.line(4), images, channel).truth.ratio.upper
        with monkeypatch.context() as patch:
            patch.setattr(_hiding_search, "_MOST_SUMS", 0)
            patch.setattr(_hiding_search, "_MOST_PAIRS", 0)
            found = hiding_bound(Space.line(4), images, channel)
        assert found.truth.ratio.lower <= true <= found.truth.ratio.upper
        exactly += found.truth.ratio.lower == found.truth.ratio.upper
        apart += found.truth.ratio.upper > true
    assert exactly
    assert apart  # so the enclosure has been seen to be one


def test_a_truncated_geometric_is_exact_with_many_outputs():
    n = 24
    table = [
        [Fraction(2, 3) / 2 ** abs(x - z) if z in (0, n - 1) else Fraction(1, 3) / 2 ** abs(x - z) for z in range(n)]
        for x in range(n)
    ]
    channel = Channel.from_matrix(range(n), range(n), table)
    space = Space.line(n, mdp.ln(2) * absolute())
    shift = hiding_bound(space, lambda x: min(x + 1, n - 1), channel)
    assert shift.truth.ratio.lower == shift.truth.ratio.upper == 4
    assert shift.holds is True
    assert hiding_bound(space, lambda x: 0, channel).truth.ratio.upper == 2 ** (n - 1)  # half of what the bound allows


def test_an_undecided_enclosure_says_so(monkeypatch):
    channel = two_ratios(100)
    monkeypatch.setattr(_hiding_search, "_MOST_SUMS", 0)
    found = hiding_bound(Space("abcd", discrete()), PAIRS, channel)
    low, high = found.truth.ratio.lower, found.truth.ratio.upper
    assert low < high
    between = hiding_bound(Space("abcd", (mdp.ln((low + high) / 2) / 2) * discrete()), PAIRS, channel)
    assert between.holds is None
    assert "may or may not keep" in str(between)
    assert "from" in str(between)


def test_zeros():
    space = Space("abc", discrete())
    told = Channel.from_matrix("abc", "yz", [[1, 0], ["1/2", "1/2"], ["1/2", "1/2"]])
    first = hiding_bound(space, {"a": "b", "b": "b", "c": "c"}, told)  # K excludes a, K after f does not
    assert first.truth.ratio.lower == first.truth.reached == math.inf
    assert first.holds is False
    second = hiding_bound(space, {"a": "a", "b": "a", "c": "c"}, told)  # K after f excludes b, K does not
    assert second.truth.reached == math.inf
    assert reached(second.prior, told, {"a": "a", "b": "a", "c": "c"}, second.truth.outputs) == math.inf
    third = hiding_bound(space, {"a": "a", "b": "a", "c": "a"}, told)  # on z alone K after f gives no posterior at all
    # With both outputs seen nothing is learned; on y alone, a is twice as likely as b under K, and as likely after f.
    assert third.truth.ratio.upper == 2
    assert third.holds is True


def test_outputs_that_only_some_inputs_give_are_counted_in_the_enclosure(monkeypatch):
    space = Space("abc", discrete())
    channel = Channel.from_matrix("abc", "xyz", [["1/2", "1/2", 0], ["1/8", "1/8", "3/4"], ["1/8", "3/8", "1/2"]])
    constant = dict.fromkeys("abc", "a")
    true = hiding_bound(space, constant, channel).truth.ratio
    assert true.lower == true.upper
    monkeypatch.setattr(_hiding_search, "_MOST_SUMS", 0)
    found = hiding_bound(space, constant, channel).truth.ratio
    assert found.lower <= true.upper <= found.upper < math.inf


def test_outputs_that_no_image_gives_still_count(monkeypatch):
    """The third output is given by c and d only, which f hides behind a and b; it adds to every set of outputs."""
    weights = [[3, 3, 0], [1, 5, 0], [4, 3, 5], [2, 5, 4]]
    channel = Channel.from_matrix("abcd", "xyz", [[Fraction(w, sum(row)) for w in row] for row in weights])
    images = {"a": "a", "b": "b", "c": "a", "d": "b"}
    space = Space("abcd", discrete())
    true = hiding_bound(space, images, channel).truth
    assert true.ratio.upper == Fraction(36, 11)
    assert true.outputs == ("x", "z")
    monkeypatch.setattr(_hiding_search, "_MOST_SUMS", 0)
    found = hiding_bound(space, images, channel).truth.ratio
    assert found.lower <= Fraction(36, 11) <= found.upper == Fraction(60, 11)


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="no image for 2"):
        hiding_bound(LINE, {0: 1, 1: 0})
    with pytest.raises(ArgumentError, match="9 is not a point"):
        hiding_bound(LINE, [0, 1, 9])
    with pytest.raises(ArgumentError):
        hiding_bound(LINE, [0, 1])
    with pytest.raises(ArgumentError, match="'a'"):
        hiding_bound(LINE, SWAP, Channel.from_matrix(["a", 0, 1], "y", [[1]] * 3))


def test_a_prior_that_shows_it_has_the_labels_of_the_channel():
    turned = Channel.from_matrix([2, 0, 1], "xyz", [["1/6", "1/6", "2/3"], ["2/3", "1/6", "1/6"], ["1/3"] * 3])
    found = hiding_bound(LINE, SWAP, turned)
    assert isinstance(found.prior, Prior)
    assert found.prior.points == (2, 0, 1)
    assert found.truth.ratio.upper == 4
