"""Floats below and above distances."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.exact.level import ln
from metricdp.metrics import (
    Metric,
    absolute,
    attributes,
    blowfish,
    capped,
    dates,
    discrete,
    euclidean,
    graph_of,
    great_circle,
    hamming,
    individuals,
    matrix,
    maximum,
    nullable,
    records,
    smooth,
    symmetric_difference,
    taxonomy,
    unprotected,
)
from metricdp.metrics.enclosures import VIEW_ERROR, Enclosures, nearest_distances

TINY = Fraction(1, 2**1074)
NUMBERS = [0, 1, 0.1, Fraction(1, 3), 10**20, 10**20 + Fraction(1, 3), TINY, TINY / 3, -1e300]
PAIRS = [(0.1, 2), (0.1, np.nextafter(2.0, 3)), (Fraction(1, 3), 1e-200), (TINY, TINY / 2), (0.1, 2)]
PLACES = [(48.85, 2.35), (48.85, 362.35), (Fraction(1, 3), Fraction(10**18, 3)), (90, 5), (90, 7), (-48.85, 182.35)]
TREE = taxonomy(
    dict(zip("bcdefg", "aabbcc", strict=True)), dict(zip("bcdefg", (10**17, 1, 0, 1, TINY, 7), strict=True))
)


@dataclass(frozen=True, repr=False)
class Careless(Metric):
    """Somebody's metric whose floats are always zero."""

    kind = "careless"
    symbol = "|x − y|"

    def _pairwise(self, points, others):
        return 0 * absolute().pairwise(points, others)

    def _exactly(self, x, y):
        return absolute().exactly(x, y)


CASES = [
    (absolute(), NUMBERS),
    (10**330 * absolute(), NUMBERS),
    (Fraction(1, 10**330) * absolute(), NUMBERS),
    (ln(2) / 3 * absolute(), NUMBERS),
    (Careless(), NUMBERS),
    (absolute() + smooth(absolute(), 1), NUMBERS),
    (maximum(absolute(), 3 * discrete()), NUMBERS),
    (capped(absolute(), ln(2)), NUMBERS),
    (smooth(absolute(), Fraction(1, 3)), NUMBERS),
    (blowfish(absolute(), Fraction(1, 3)), NUMBERS[:4]),
    (nullable(absolute(), 10**400), [*NUMBERS, None]),
    (euclidean(), PAIRS[:4]),
    (records(10**15 * records(10**15 * absolute(), 2)), [((x, y),) for x, y in PAIRS[:4]]),
    (attributes({"a": absolute(), "b": unprotected()}), [(1, "x"), (TINY, "x"), (1, "y")]),
    (hamming(), [(1, 2, 3), (1, 2, 4), (4, 5, 6)]),
    (great_circle(), PLACES),
    (10**400 * great_circle(), PLACES),
    (TREE, list("abcdefg")),
    (taxonomy({"a": "b", "c": "d"}), list("abcd")),
    (graph_of(range(4), [(0, 1, Fraction(1, 3)), (1, 2, 10**20)]), range(4)),
    (matrix("abc", [[0, 1, 10**400], [1, 0, 10**400], [10**400, 10**400, 0]]), "abc"),
    (individuals({"a": 0.1, "b": ln(2), "c": math.inf}), "abc"),
    (symmetric_difference(), [{1}, {1, 2}, set()]),
    (
        dates(3),
        [np.datetime64("2024-01-01T00:00:00.000000001"), np.datetime64("2024-01-01"), np.datetime64("1500-01-01")],
    ),
    (euclidean().normalized(PAIRS[:4]), PAIRS[:4]),
    (nullable(euclidean(), 1).closure([*PAIRS[:4], None]), [*PAIRS[:4], None]),
]


@pytest.mark.parametrize(
    ("metric", "points"), CASES, ids=[f"{place}: {metric}" for place, (metric, _) in enumerate(CASES)]
)
def test_the_distance_lies_between(metric, points):
    points = list(points)
    known = metric.enclosures(points)
    quick = metric._enclosures(points, points)
    for i, x in enumerate(points):
        for j, y in enumerate(points):
            true, exact = metric.enclose(x, y, 128), metric.exactly(x, y)
            for bounds in (known, quick):
                assert float(bounds.lower[i, j]) <= true.lower
                assert true.upper <= float(bounds.upper[i, j])
            assert known.zero[i, j] == (exact == 0)
            assert known.infinite[i, j] == (exact == math.inf)
            if true.lower > 1e-280 and true.upper < 1e280:
                assert known.held[i, j]
                assert known.upper[i, j] <= known.lower[i, j] * (1 + VIEW_ERROR)
                assert abs(known.nearest[i, j] - true.lower) <= VIEW_ERROR * true.lower
    others = metric.enclosures(points[:1], points)
    assert np.array_equal(others.lower, known.lower[:1])


def test_arithmetic_moves_outward_unless_it_is_exact():
    one = Enclosures.exact(np.array([[1.0, 0.1, 5e-324, 1.7e308, math.inf, 0.0]]))
    two = one + one
    assert np.array_equal(two.lower[0], [2, 0.2, 1e-323, np.finfo(float).max, math.inf, 0])
    assert np.array_equal(two.upper[0], [2, 0.2, 1e-323, math.inf, math.inf, 0])
    third = one.times((1 / 3, np.nextafter(1 / 3, 1)))
    assert third.lower[0, 0] < Fraction(1, 3) < third.upper[0, 0]
    assert third.lower[0, 2] == 0 < third.upper[0, 2]
    assert third.infinite[0, 4]
    assert third.zero[0, 5]
    root = one.hypot(one)
    for place, value in enumerate((1.0, 0.1, 5e-324)):
        assert Fraction(root.lower[0, place]) ** 2 < 2 * Fraction(value) ** 2 < Fraction(root.upper[0, place]) ** 2
    assert root.lower[0, 3] <= np.finfo(float).max
    assert root.infinite[0, 4]


def test_nothing_is_known_of_what_is_no_distance():
    odd = Enclosures.exact(np.array([[-1.0, math.nan]]))
    for result in (odd + odd, odd.times((1.0, 2.0)), odd.hypot(odd), odd.maximum(odd)):
        assert (result.lower == -math.inf).all()
        assert (result.upper == math.inf).all()


def test_integers_over_a_common_denominator():
    known = Enclosures.ratios(np.array([[1, 3, -1, 0]]), 3)
    assert known.lower[0, 0] < Fraction(1, 3) < known.upper[0, 0]
    assert known.lower[0, 1:].tolist() == known.upper[0, 1:].tolist() == [1, math.inf, 0]
    long = Enclosures.ratios(np.array([[10**400, 10**20 + 1]], dtype=object), 1)
    assert long.lower[0, 0] == np.finfo(float).max
    assert long.upper[0, 0] == math.inf
    assert float(long.lower[0, 1]) < 10**20 + 1 < float(long.upper[0, 1])


@pytest.mark.parametrize(
    "metric", [3 * mdp.metrics.euclidean(), mdp.metrics.great_circle() / 700, mdp.metrics.manhattan()]
)
def test_very_many_distances_are_what_few_are(metric):
    """Block by block, on all cores: the same bounds, and floats between them."""
    places = np.random.default_rng(2).uniform(-50, 50, (2060, 2))
    places[7] = places[2]
    points = [tuple(place) for place in places.tolist()]
    known, nearest = metric.enclosures(points), nearest_distances(metric, points, points)
    some = [0, 2, 7, 1031, 2059]
    few = metric.enclosures([points[row] for row in some], points)
    assert np.array_equal(known.lower[some], few.lower)
    assert np.array_equal(known.upper[some], few.upper)
    assert ((known.lower <= nearest) & (nearest <= known.upper)).all()
    assert np.array_equal(nearest[some], few.nearest)
    assert (nearest == 0).sum() == len(points) + 2


def test_the_nearest_floats_of_distances_that_are_hard_to_enclose():
    """Digits cancel: what is quick is too loose, and balls decide."""
    metric = mdp.metrics.taxonomy({"a": "b", "c": "b", "b": "root", "d": "root"}, lengths=[10**17, 1])
    assert nearest_distances(metric, ["a"], ["c", "d"]).tolist() == [[2.0, 2e17]]
