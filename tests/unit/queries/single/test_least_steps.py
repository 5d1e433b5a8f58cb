import itertools
import math
from fractions import Fraction

import pytest

from metricdp.metrics import (
    absolute,
    add_remove,
    capped,
    chebyshev,
    discrete,
    euclidean,
    hamming,
    manhattan,
    matrix,
    maximum,
    nullable,
    records,
)
from metricdp.queries.single.least_steps import _from_tables, least_steps

SPLIT = matrix(
    [0, 1, 2, None], [[0, 1, math.inf, 2], [1, 0, math.inf, 1], [math.inf] * 2 + [0, math.inf], [2, 1, math.inf, 0]]
)
METRICS = [
    hamming(),
    add_remove(),
    records(nullable(absolute(), 2)),
    records(nullable(Fraction(1, 3) * capped(absolute(), 1), "2/7"), math.inf),
    records(SPLIT),
    hamming() + records(nullable(absolute(), 5) / 3),
]


def by_definition(points, answers, metric):
    least = {}
    for (x, i), (y, j) in itertools.combinations(list(zip(points, answers, strict=True)), 2):
        if i != j:
            pair = (min(i, j), max(i, j))
            least[pair] = min(least.get(pair, math.inf), metric.exactly(x, y))
    return least


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_looked_up_or_computed_they_are_the_same(metric):
    points = list(itertools.product([0, 1, 2, None], repeat=2))
    answers = [(7 * place + place // 3) % 5 for place in range(len(points))]
    assert _from_tables(points, metric) is not None
    found = least_steps(points, answers, metric)
    assert {pair: cost for pair, (cost, _) in found.items()} == by_definition(points, answers, metric)
    for (i, j), (cost, (x, y)) in found.items():
        assert metric.exactly(x, y) == cost
        assert (answers[points.index(x)], answers[points.index(y)]) == (i, j)


def test_what_is_not_a_norm_of_records_is_not_looked_up():
    points = list(itertools.product([0, 1, 2], repeat=2))
    answers = [sum(x) for x in points]
    metric = maximum(hamming(), chebyshev() / 2)
    assert _from_tables(points, metric) is None
    found = least_steps(points, answers, metric)
    assert {pair: cost for pair, (cost, _) in found.items()} == by_definition(points, answers, metric)


def test_distances_beyond_whole_floats_are_not_looked_up():
    awkward = nullable(absolute() / (2**60 - 93), Fraction(1, 2**60 - 107))  # the denominators have no common factor
    assert _from_tables([(0, None), (1, 1)], records(awkward)) is None
    assert least_steps([(0, None), (1, 1)], [0, 1], records(awkward))[0, 1][0] == (
        Fraction(1, 2**60 - 93) + Fraction(1, 2**60 - 107)
    )


def test_irrational_distances_are_none():
    for metric in (euclidean(), records(discrete(), 2)):
        assert least_steps([(0, 0), (1, 1)], [0, 1], metric)[0, 1][0] is None
    assert least_steps([(0, 0), (1, 0)], [0, 1], manhattan())[0, 1][0] == 1


def test_one_answer_has_no_steps():
    assert least_steps([(0,), (1,)], [0, 0], hamming()) == {}
