"""The family of queries that follow the values of their records."""

import itertools

import pytest

from metricdp.errors import ArgumentError
from metricdp.metrics import absolute, nullable
from metricdp.queries import Average, Percentile, Sum, follows_values

PAIRS = list(itertools.product(range(3), repeat=2))
BASE = nullable(absolute(), 2)


OPTIONS = {"bounds": (0, 2), "records": 2, "nulls": True}


@pytest.mark.parametrize(
    "query", [Sum(**OPTIONS), Average(**OPTIONS, rounding="floor"), Percentile(50, **OPTIONS)], ids=repr
)
def test_proposition_5(query):
    assert follows_values(query, BASE).holds


def test_others_do_not():
    steep = follows_values(lambda x: 3 * max(x), absolute(), databases=PAIRS)
    assert not steep
    x, y = steep.witness
    assert abs(3 * max(x) - 3 * max(y)) > abs(sum(x) - sum(y))
    flat = follows_values(lambda x: min(x[0], 1), absolute(), databases=PAIRS)
    assert not flat
    assert "never moves by 2" in flat.reason
    with pytest.raises(ArgumentError, match="databases="):
        follows_values(max, absolute())
