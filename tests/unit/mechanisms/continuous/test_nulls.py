"""Numbers that may be missing: the guarantee between a number and a null, and nulls that cannot be."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    ImpossibleError,
)
from metricdp.exact.balls import ball, precision
from tests.tight_guarantees import BITS, TINY, assert_tight, check_sums, metric_of

m = mdp.metrics


@pytest.mark.parametrize("null_distance", [51, 60, 100, 400])
def test_nullable(null_distance):
    """p and q, and the numbers' own cells: tight between null and the numbers, and between the numbers."""
    mechanism = mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), null_distance), bounds=(0, 100))
    cells = 20
    with precision(BITS):
        p, q = mechanism.false_null(), mechanism.true_null()
        assert 0 < p < q < 1
        rate = mechanism.numbers.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def table(x):
            stays, at = (1 - q, 50) if x is None else (1 - p, x)
            edges = [arb(0), *(below(Fraction(100 * n, cells) - at) for n in range(cells + 1)), arb(1)]
            numbers = {n: stays * (high - low) for n, (low, high) in enumerate(itertools.pairwise(edges))}
            return numbers | {None: 1 - stays}

        tables = {x: table(x) for x in (None, Fraction(0), Fraction(30), Fraction(50), Fraction(100))}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))
        # Both ways between null and a number: releasing null, and releasing a number at the far end.
        far = mechanism.metric.ball(None, 0)
        assert abs(q.log() - p.log() - far) < ball(TINY)
        at_the_end = tables[Fraction(0)][0].log() - tables[None][0].log()
        assert abs(at_the_end - far) < ball(TINY)


def test_a_null_as_near_as_it_can_be_is_refused():
    """At half the width of the bounds p and q would be 0, and nearer d would be no metric."""
    for null_distance in (50, 49, 1):
        with pytest.raises(mdp.errors.NotAMetricError, match="half the width"):
            mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), null_distance), bounds=(0, 100))


def test_a_null_on_an_unbounded_column():
    with pytest.raises(ImpossibleError, match="unbounded") as caught:
        mdp.laplace(mdp.ln(2) * m.nullable(m.absolute(), 100))
    for word in ("twice", "capped", "bounds", "public column"):
        assert word in str(caught.value)


def test_a_null_at_infinity():
    with pytest.raises(ArgumentError, match="public"):
        mdp.laplace(m.nullable(m.absolute(), math.inf), bounds=(0, 1))
