"""The quick path and the slow one give the same release, bit for bit, from the same bits.

METRICDP_DRAWS sets how many draws of each mechanism are compared: 8,000 by default, a million in
`make agree`.
"""

import os
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import metricdp as mdp
from metricdp.exact import bits, decide_all_by_balls, tally
from metricdp.exact.balls import Real, ball
from metricdp.exact.bits import Source, seeded
from metricdp.exact.choice import Thresholds, uniform_below
from metricdp.exact.refine import nearest_integers
from metricdp.mechanisms.continuous._noise import LineNoise, PlaneNoise
from tests.mechanisms_to_test import CASES

DRAWS = int(os.environ.get("METRICDP_DRAWS", 8_000))


def same(one, two):
    if isinstance(one, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(two), equal_nan=one.dtype.kind == "f")
    return one == two


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_quick_and_slow_agree(case):
    mechanism = case.make()
    wide = len(case.secrets[0]) if case.vector else 1
    secrets = case.many(max(100, DRAWS // max(1, wide * wide // 16)))  # balls take their time in many dimensions
    with seeded(11), tally() as quick_tally:
        quick = mechanism.release(secrets)
    with seeded(11), decide_all_by_balls(), tally() as slow_tally:
        slow = mechanism.release(secrets)
    assert same(quick, slow)
    assert slow_tally.refined == slow_tally.draws
    # At a pole the longitude is ill-conditioned: one draw in a hundred needs balls there, elsewhere far fewer.
    assert quick_tally.refined <= quick_tally.draws * 1e-2 + 10, "the quick path is not quick"


@pytest.mark.parametrize(
    "mechanism",
    [
        mdp.laplace(mdp.ln(1 + Fraction(1, 10**26)) * mdp.metrics.absolute()),
        mdp.geometric(mdp.ln(1 + Fraction(1, 10**26)) * mdp.metrics.absolute(), step=10**20),
    ],
    ids=["laplace", "geometric"],
)
def test_quick_and_slow_agree_where_a_logarithm_is_near_zero(mechanism):
    """The float of the noise's scale has all its digits, however near to 1 the factor is that the level keeps."""
    with seeded(11):
        quick, _ = mechanism.release_cells(np.zeros(500))
    with seeded(11), decide_all_by_balls():
        slow, _ = mechanism.release_cells(np.zeros(500))
    assert np.array_equal(quick, slow)


@pytest.mark.parametrize("metric", [mdp.metrics.chebyshev(), mdp.metrics.euclidean()], ids=str)
def test_quick_and_slow_agree_on_long_series_of_which_balls_decide_a_few_readings(metric):
    mechanism = mdp.laplace(mdp.ln(2) * metric, dim=200, resolution=Fraction(1, 2**28))
    readings = np.random.default_rng(3).normal(size=(200, 200))
    with seeded(12), tally() as quick_tally:
        quick = mechanism.release(readings)
    with seeded(12), decide_all_by_balls():
        slow = mechanism.release(readings)
    assert np.array_equal(quick, slow)
    assert quick_tally.refined > 0, "no reading was decided by balls"


class Chosen(Source):
    """A source that first gives the words it was handed, then those of a seeded stream."""

    def __init__(self, words, seed=b"\x07"):
        super().__init__(seed * 32, private=False)
        self.first = list(words)
        self.asked = 0

    def words(self, count):
        given, self.first = self.first[:count], self.first[count:]
        self.asked += count
        return np.concatenate([np.array(given, dtype=np.uint64), super().words(count - len(given))])


def release_from(words, act):
    """Run with chosen words, quickly and by balls alone, and see that both agree; returns result and words read."""
    results = []
    for by_balls in (False, True):
        chosen = Chosen(words)
        token = bits._override.set(chosen)
        try:
            if by_balls:
                with decide_all_by_balls():
                    results.append((act(), chosen.asked))
            else:
                results.append((act(), chosen.asked))
        finally:
            bits._override.reset(token)
    assert same(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]
    return results[0]


CHANCES = [Fraction(1, 2), Fraction(1, 3), Fraction(3, 2**16), Fraction(1, 2**40), 1 - Fraction(1, 10**9)]


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_coins_in_words_are_those_of_balls(chance):
    thresholds = Thresholds(lambda: [ball(chance)])
    with seeded(11):
        quick = thresholds.flags(100)
    with seeded(11), decide_all_by_balls():
        assert np.array_equal(quick, thresholds.flags(100))
    count = 64 * 20_000
    heads = int(np.bitwise_count(thresholds.flags(20_000)).sum())
    assert abs(heads - count * chance) < 7 * (count * chance * (1 - chance)) ** 0.5 + 8


def test_coins_in_words_on_the_threshold_read_more_bits():
    """The first 16 bits of every U are those of 1/3; a 0 in a word stands for a 1 of U."""
    words = [0 if place % 2 else 2**64 - 1 for place in range(16)]  # 1/3 is 0.0101..
    thresholds = Thresholds(lambda: [ball(Fraction(1, 3))])
    drawn, read = release_from(words, lambda: thresholds.flags(1))
    assert read == 16 + 64
    assert 0 < int(np.bitwise_count(drawn)[0]) < 64, "the next bits are as likely above as below"
    assert int(np.bitwise_count(release_from([2**64 - 1] * 16, lambda: thresholds.flags(1))[0])[0]) == 64
    assert int(np.bitwise_count(release_from([0] * 16, lambda: thresholds.flags(1))[0])[0]) == 0


def test_bits_on_a_cell_boundary_are_extended():
    """U is chosen as the 63 bits of the boundary itself: only further bits of the same U can tell the cell."""
    scale = Real(lambda: ball(1000))
    formula = LineNoise(scale)
    from metricdp.exact.balls import enclose

    for cell in (0, 1, 7, 500, 3000):
        # scale * -ln V = cell + 1/2 at V = exp(-(cell + 1/2) / 1000)
        edge = enclose(lambda cell=cell: (-ball(Fraction(2 * cell + 1, 2000))).exp() * arb((1, 63)), 128)
        word = int(edge.lower)
        assert word == int(edge.upper)
        result, read = release_from([word], lambda: nearest_integers(formula, 1))
        assert result[0, 0] in (cell, cell + 1)
        assert read > 1, "64 bits cannot tell, so more must have been read"
        below, _ = release_from([word - 1], lambda: nearest_integers(formula, 1))
        above, _ = release_from([word + 1], lambda: nearest_integers(formula, 1))
        assert (below[0, 0], above[0, 0]) == (cell + 1, cell)


@pytest.mark.parametrize(
    "word",
    [0, 1, 1000, 2**43 - 1, 2**43, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 3 * 2**62 - 1, 3 * 2**62, 2**64 - 1],
)
def test_the_ends_of_the_uniform(word):
    result, read = release_from([word], lambda: nearest_integers(LineNoise(Real(lambda: ball(2**20))), 1))
    sign = -1 if word >= 2**63 else 1
    assert result[0, 0] * sign >= 0
    if word in (0, 2**63):
        assert abs(result[0, 0]) > 43 * 2**20, "further out than 63 bits can say"
        assert read > 1
    result, _ = release_from([word] * 3, lambda: nearest_integers(PlaneNoise(Real(lambda: ball(2**20)), places(2)), 1))
    assert result.shape == (2, 1)


def places(count):
    from metricdp.exact.grid import Grid

    return [Grid(Fraction(1)).place(np.array([0])) for _ in range(count)]


def test_thresholds_read_on_where_64_bits_are_the_thresholds_own():
    third = Thresholds(lambda: [arb(1) / 3])
    word = 2**64 // 3
    result, read = release_from([word], lambda: third.draw(1))
    assert read > 1
    assert result[0] in (0, 1)
    assert release_from([word - 1], lambda: third.draw(1))[0][0] == 0
    assert release_from([word + 1], lambda: third.draw(1))[0][0] == 1


def test_uniform_integers_read_on_where_they_must():
    # 7 * U crosses an integer within U's 64 bits at U = 1/7.
    word = 2**64 // 7
    result, read = release_from([word], lambda: uniform_below(7, 1))
    assert read > 1
    assert result[0] in (0, 1)
    assert release_from([word - 1], lambda: uniform_below(7, 1))[0][0] == 0
    assert release_from([word + 1], lambda: uniform_below(7, 1))[0][0] == 1


def test_refinement_is_rare_and_counted():
    with tally() as count:
        mdp.laplace(mdp.metrics.absolute().within(1)).release(np.zeros(300_000))
    assert count.draws == 300_000
    assert count.refined < 50


def test_flips_read_on_where_16_bits_are_the_thresholds_own():
    third = Thresholds(lambda: [arb(1) / 3])
    word = 2**16 // 3
    result, read = release_from([word], lambda: third.below(1))
    assert read > 1
    assert result[0] in (False, True)
    assert release_from([word - 1], lambda: third.below(1))[0][0]
    assert not release_from([word + 1], lambda: third.below(1))[0][0]
    both = {bool(release_from([word, more << 32], lambda: third.below(1))[0][0]) for more in range(0, 2**32, 2**28)}
    assert both == {False, True}, "the bits after the first 16 decide"


@pytest.mark.parametrize("chance", [0.0, 1.0, 0.5, 2.0**-16, 2.0**-17, 1 - 2.0**-40])
def test_flips_at_the_ends(chance):
    flips = Thresholds(lambda: [arb(chance)])
    with seeded(5):
        quick = flips.below(100_000)
    assert abs(quick.mean() - chance) < 0.01
    with seeded(5), decide_all_by_balls():
        assert (flips.below(3_000)[:3_000] == quick[:3_000]).mean() > 0.99
