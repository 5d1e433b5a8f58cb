"""Verify with a delta: the sum over all outputs, for every pair."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify

m = mdp.metrics
F = Fraction
LN2 = mdp.Space("abcd", mdp.ln(2) * m.discrete())


def response(delta, growth=2, values="abcd"):
    """Randomized response with a delta, which is tight for it."""
    n = len(values)
    lie = (1 - F(delta)) / (n - 1 + growth)
    return Channel.from_matrix(values, values, [[1 - (n - 1) * lie if x == z else lie for z in values] for x in values])


def test_randomized_response_is_tight():
    channel = response("1/10")
    verdict = verify(channel, LN2, F(1, 10))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
    assert verdict.delta == F(1, 10)
    assert not verify(channel, LN2, F(1, 10) - F(1, 10**40)).holds
    inside = verify(channel, LN2, F(1, 10) + F(1, 10**40))
    assert inside.holds
    assert inside.scale_below < 1
    assert not verify(channel, LN2).holds
    x, other, z = verdict.witness
    assert x == z != other


def test_the_least_delta_at_a_given_level():
    """It is the sum over all outputs of the excess, and one part in 10^40 less is refused."""
    rows = [[F(1, 2), F(1, 4), F(1, 8), F(1, 8)], [F(1, 8), F(1, 8), F(1, 4), F(1, 2)]]
    channel = Channel.from_matrix([0, 1], range(4), rows)
    space = mdp.Space.line(2, mdp.ln("3/2") * m.absolute())
    least = max(
        sum(max(F(0), a - F(3, 2) * b) for a, b in zip(*pair, strict=True)) for pair in itertools.permutations(rows)
    )
    assert least > 0
    verdict = verify(channel, space, least)
    assert (verdict.holds, verdict.scale) == (True, 1.0)
    assert not verify(channel, space, least - F(1, 10**40)).holds
    single = max(a - F(3, 2) * b for a, b in zip(*rows, strict=True))
    assert single < least, "one output alone would not tell"
    assert not verify(channel, space, single).holds


def test_delta_excuses_what_only_one_input_can_give():
    channel = Channel.from_matrix([0, 1], "ab", [[1, 0], ["9/10", "1/10"]])
    space = mdp.Space.line(2)
    assert verify(channel, space, F(1, 10)).holds
    broken = verify(channel, space, F(1, 10) - F(1, 10**30))
    assert (broken.holds, broken.scale, broken.scale_below) == (False, math.inf, math.inf)
    assert broken.witness == (1, 0, "b")


def test_zeros_on_one_side_only():
    """Both sides are looked at: here x' can give what x cannot, there x."""
    rows = [["1/2", "1/2", 0], ["1/2", "2/5", "1/10"]]
    for order in ([0, 1], [1, 0]):
        channel = Channel.from_matrix(order, "abc", [rows[x] for x in order])
        assert not verify(channel, mdp.Space.line(2), F(9, 100)).holds
        assert verify(channel, mdp.Space.line(2), F(1, 10)).holds


def test_twins_may_differ_by_delta():
    twins = mdp.Space("xy", m.matrix("xy", [[0, 0], [0, 0]]))
    channel = Channel.from_matrix("xy", "abc", [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    assert verify(channel, twins, F(1, 4)).holds
    broken = verify(channel, twins, F(1, 4) - F(1, 10**30))
    assert (broken.holds, broken.scale) == (False, math.inf)
    total = F(1, 2) + F(1, 10**50)
    late = Channel.from_matrix("xy", "ab", [[total, 1 - total], ["1/2", "1/2"]])
    assert verify(late, twins, F(1, 10**50)).holds
    assert not verify(late, twins, F(1, 10**50) - F(1, 10**60)).holds


def test_delta_does_not_chain():
    """Every step of the line keeps the promise, the whole of it does not."""
    n = 12
    rows = [[F(1, 2) - F(x, 4 * n), F(1, 2) + F(x, 4 * n)] for x in range(n)]
    channel = Channel.from_matrix(range(n), "ab", rows)
    space = mdp.Space.line(n, mdp.ln("1001/1000") / n * m.absolute())
    step = F(1, 4 * n)
    for x in range(n - 1):
        pair = Channel.from_matrix([x, x + 1], "ab", rows[x : x + 2])
        assert verify(pair, space, step).holds
    verdict = verify(channel, space, step)
    assert not verdict.holds
    assert abs(verdict.witness[0] - verdict.witness[1]) > 1


def test_probabilities_that_floats_cannot_hold():
    """A tiny probability makes a huge ratio; the tightest pair is another one."""
    apart = [[0, 1000, 1000], [1000, 0, F(1, 100)], [1000, F(1, 100), 0]]
    space = mdp.Space(range(3), m.matrix(range(3), apart))
    for bits in (1000, 1030, 1060, 1073, 1074, 1075, 1090, 3000):
        b = F(1, 2**bits)
        rows = [[F(1, 2), F(1, 2) - b, b], [b, F(1, 2) - b, F(1, 2)], [b, F(3, 4) - b, F(1, 4)]]
        verdict = verify(Channel.from_matrix(range(3), "abc", rows), space, F(1, 10))
        assert not verdict.holds
        assert verdict.scale == pytest.approx(100 * math.log((F(1, 2) - F(1, 10)) / F(1, 4)), rel=1e-9)
        assert set(verdict.witness[:2]) == {1, 2}
        far = verify(Channel.from_matrix([0, 1], "abc", rows[:2]), space, F(1, 10))
        assert far.scale == pytest.approx((math.log(0.4) + bits * math.log(2)) / 1000, rel=1e-9)


def test_ties_among_outputs():
    """Outputs of one ratio may be taken in any order."""
    for order in itertools.permutations(range(4)):
        rows = [[F(2, 5), F(1, 5), F(1, 5), F(1, 5)], [F(1, 5), F(1, 10), F(1, 2), F(1, 5)]]
        rows = [[row[z] for z in order] for row in rows]
        verdict = verify(
            Channel.from_matrix([0, 1], range(4), rows), mdp.Space.line(2, mdp.ln(2) * m.absolute()), F(1, 20)
        )
        # From row 1 to row 0: (1/2 - 1/20) / (1/5) = 9/4, more than (3/5 - 1/20) / (3/10) = 11/6.
        assert not verdict.holds
        assert verdict.scale == pytest.approx(math.log(9 / 4) / math.log(2))
        assert verdict.witness == (1, 0, order.index(2))


def test_the_exact_scale_of_a_set():
    """(6/7 - 2/7) / (1/7) = 4 at ln 2: scale 2, exactly."""
    channel = Channel.from_matrix([0, 1], "ab", [["6/7", "1/7"], ["1/7", "6/7"]])
    verdict = verify(channel, mdp.Space.line(2, mdp.ln(2) * m.absolute()), F(2, 7))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (False, 2.0, 2.0)


def test_a_delta_that_excuses_everything():
    channel = Channel.from_matrix(range(3), "ab", [["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]])
    verdict = verify(channel, mdp.Space.line(3), F(1, 4))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 0.0, 0.0)
    assert set(verdict.witness[:2]) == {0, 2}
    assert verify(channel, mdp.Space.line(3), F(24, 100)).scale > 0


def test_infinite_distances_are_free():
    channel = Channel.from_matrix("ab", "yz", np.eye(2))
    assert verify(channel, mdp.Space("ab", m.unprotected()), F(1, 10)).holds


def test_forms_of_delta():
    channel = response("1/4")
    for delta in ("1/4", "0.25", 0.25, F(1, 4), np.float64(0.25)):
        assert verify(channel, LN2, delta).holds
    assert not verify(channel, LN2, 0.2499999).holds


def test_subsets_by_brute_force_with_long_weights():
    total = 1 << 700
    weights = [[total // 4 + z for z in range(3)], [total // 5, total // 7, total // 2]]
    rows = [[F(value, total) for value in row] for row in weights]
    for row in rows:
        row.append(1 - sum(row))
    channel = Channel.from_matrix([0, 1], range(4), rows)
    for delta in (F(1, 10**3), F(1, 10**50), F(1, 3)):
        best = max(
            (sum(one[z] for z in some) - delta) / sum(two[z] for z in some)
            for one, two in itertools.permutations(rows)
            for size in (1, 2, 3, 4)
            for some in itertools.combinations(range(4), size)
        )
        verdict = verify(channel, mdp.Space.line(2), delta)
        assert verdict.scale == pytest.approx(max(0, math.log(best)), rel=1e-12)
