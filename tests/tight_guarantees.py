"""Guarantees from the mechanisms' own probabilities, exactly: they hold, and where they are tight nothing less would.

For every pair of secrets and every output, ln P(z | x) - ln P(z | x') is enclosed in balls and compared with d(x, x').
A guarantee is tight where the greatest of these is d itself: then 0.9 d is refused. Where it is not, the slack, the
share of d that no output uses, is printed and asserted.
"""

import itertools
from fractions import Fraction

from flint import arb

from metricdp.exact.balls import ball

BITS = 192


TINY = Fraction(1, 2**120)  # what balls of 192 bits cannot tell from 0 here, with room to spare


def spent(tables, distance):
    """The greatest ln P(z | x) / P(z | x') over d(x, x'), over all pairs and outputs: (share, pair, output).

    ``tables[x][z]`` is P(z | x) as a ball, ``distance(x, x')`` a ball. A probability of 0 must be 0 for both.
    """
    greatest = None
    for x, y in itertools.permutations(tables, 2):
        apart = distance(x, y)
        if not apart.is_finite():
            continue
        assert tables[x].keys() == tables[y].keys()
        for z in tables[x]:
            one, two = tables[x][z], tables[y][z]
            if one.is_zero() and two.is_zero():
                continue
            assert one > 0, "an output that one secret gives and the other cannot"
            assert two > 0, "an output that one secret gives and the other cannot"
            share = (one.log() - two.log()) / apart
            if greatest is None or share.mid() > greatest[0].mid():
                greatest = share, (x, y), z
    return greatest


def check_sums(tables):
    for table in tables.values():
        assert abs(sum(table.values(), start=arb(0)) - 1) < ball(TINY)


def assert_tight(tables, distance):
    """The guarantee holds, and one 10% stronger would not."""
    share, pair, output = spent(tables, distance)
    assert share < 1 + ball(TINY), f"broken at {pair} by {output}"
    assert share > 1 - ball(TINY), f"not tight: only {share} of it is used"
    assert share > ball(Fraction(9, 10)), "a guarantee 10% stronger would pass"


def metric_of(mechanism):
    return mechanism.guarantee.metric.ball
