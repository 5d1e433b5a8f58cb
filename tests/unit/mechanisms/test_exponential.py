"""The exponential mechanism: what of its guarantee it uses, and points that are not in its space."""

import itertools
from fractions import Fraction

import pytest
from flint import arb

import metricdp as mdp
from metricdp.errors import (
    NotAMetricError,
    UnknownCategoryError,
)
from metricdp.exact.balls import ball, precision
from metricdp.testing._secrets import traces
from tests.tight_guarantees import BITS, check_sums, metric_of, spent

m = mdp.metrics


SPACES = {
    "line of 6": (mdp.Space.line(6, 0.5 * m.absolute()), Fraction(7, 8)),
    "grid of 9": (mdp.Space.grid(3, 3, mdp.ln(2) * m.euclidean()), Fraction(3, 4)),
    "bits": (mdp.Space.bits(3, m.hamming()), Fraction(999, 1000)),
    "discrete": (mdp.Space("abcd", 2 * m.discrete()), Fraction(999, 1000)),
    "uneven": (mdp.Space([0, 1, 2, 50, 51], Fraction(1, 3) * m.absolute()), Fraction(1, 2)),
}


@pytest.mark.parametrize("name", SPACES)
def test_exponential(name):
    """It keeps the metric with slack; where all points look alike almost none is left."""
    space, least = SPACES[name]
    mechanism = mdp.exponential(space)
    with precision(BITS):
        tables = {}
        for place, x in enumerate(space.points):
            edges = [arb(0), *mechanism._cumulative(place)(), arb(1)]
            tables[x] = dict(zip(space.points, (b - a for a, b in itertools.pairwise(edges)), strict=True))
        check_sums(tables)
        share, pair, output = spent(tables, metric_of(mechanism))
        print(
            f"{name}: {float(share.mid()):.4f} of the metric is used (at {pair} by {output}); share {mechanism.share}"
        )
        assert share <= 1
        assert share >= ball(least), "more slack than it had"
        assert share < 1, "tight: say so in the docstring, and move it to the tests above"


def test_space_index_names_no_point():
    secret = "-".join(("TOP", "SECRET"))
    with pytest.raises(UnknownCategoryError) as caught:
        mdp.Space("abc", m.discrete()).index(secret)
    assert traces(caught.value) == []


def test_no_triangle_inequality():
    with pytest.raises(NotAMetricError, match="triangle inequality") as caught:
        m.matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]])
    assert caught.value.violation is not None
    loose = m.matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False)
    for make in (lambda: mdp.Space("abc", loose), lambda: mdp.laplace(loose)):
        with pytest.raises(NotAMetricError, match="triangle inequality"):
            make()
    assert isinstance(mdp.laplace(loose.closure("abc")).release("a"), str)
    with pytest.raises(NotAMetricError, match="triangle inequality"):
        mdp.laplace(m.nullable(m.absolute(), 10), bounds=(0, 100))
