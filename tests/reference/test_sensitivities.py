"""Every closed form of a sensitivity, against all pairs of databases of small universes, in Fractions.

Nothing here is taken from the library but the queries and the form under test: answers, distances, the least Δ, and
uniformity (paper 1, Definition 5) are computed again from their definitions.
"""

import functools
import itertools
import math
from fractions import Fraction as F

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from metricdp.errors import UnsupportedMetricError
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
    nullable,
    records,
)
from metricdp.queries import Average, CellCounts, Count, FiniteFunction, Percentile, Sum, sensitivity, uniformity

UNIVERSES = [(F(0), F(1), F(1)), (F(0), F(2), F(1)), (F(0), F(3), F(1)), (F(-1), F(1), F(1)), (F(2), F(4), F(1))]
UNIVERSES += [(F(-3), F(-1), F(1)), (F(1, 2), F(3, 2), F(1, 2)), (F(-1), F(2), F(3, 2)), (F(0), F(8), F(4))]


def values_of(lo, hi, step):
    return [lo + i * step for i in range(int((hi - lo) / step) + 1)]


def middle(values):
    return values[(len(values) - 1) // 2]


def the_sum(values, present):
    del values
    return sum(present, F(0))


def the_average(rounding):
    def query(values, present):
        if not present:
            return middle(values)
        step = values[1] - values[0]
        mean = F(sum(present), len(present))
        if rounding == "exact":
            return mean
        below = max(v for v in values if v <= mean)
        return below if rounding == "floor" or mean - below < step / 2 else below + step

    return query


def the_percentile(p):
    def query(values, present):
        if not present:
            return middle(values)
        place = (p * len(present)) // 100 + 1
        return sorted(present)[min(place, len(present)) - 1]

    return query


def an_average(rounding):
    return functools.partial(Average, rounding=rounding), the_average(rounding)


def a_percentile(p):
    return functools.partial(Percentile, p), the_percentile(p)


NUMBERS = {
    "sum": (Sum, the_sum),
    **{f"average, {rounding}": an_average(rounding) for rounding in ("exact", "floor", "half-up")},
    **{f"percentile {p}": a_percentile(p) for p in (0, 50, 75, 100)},
}


def null_extended(d, far):
    def extended(v, w):
        return F(0) if v == w else far if v is None or w is None else d(v, w)

    return extended


def difference(v, w):
    return abs(v - w)


def equality(v, w):
    return F(v != w)


def at_most(bound):
    return lambda v, w: min(abs(v - w), bound)


def combine(d, p):
    def distance(x, y):
        parts = [d(v, w) for v, w in zip(x, y, strict=True)]
        return max(parts) if p == math.inf else sum(parts, F(0))

    return distance


def metrics_for(lo, hi, nulls):
    """Names, the library's metrics, and the same from scratch."""
    wide = hi - lo
    yield "hamming", hamming(), combine(equality, 1)
    yield "add or remove", add_remove(), combine(null_extended(lambda v, w: 2 * equality(v, w), F(1)), 1)
    if not nulls:
        yield "manhattan", manhattan(), combine(difference, 1)
        yield "normalised", manhattan() / wide, combine(lambda v, w: difference(v, w) / wide, 1)
        yield "largest", chebyshev(), combine(difference, math.inf)
        yield (
            "largest of equality",
            records(3 * discrete(), math.inf),
            combine(lambda v, w: 3 * equality(v, w), math.inf),
        )
        yield "capped", records(capped(absolute(), 1)), combine(at_most(F(1)), 1)
        return
    # Absent records as far as the values are from each other, farther, nearer, and as far as they are from zero.
    for far in {wide, 2 * wide, wide / 2, max(abs(lo), abs(hi))}:
        if 2 * far >= wide:
            d = null_extended(difference, far)
            yield f"manhattan, ∅ at {far}", records(nullable(absolute(), far)), combine(d, 1)
            yield f"largest, ∅ at {far}", records(nullable(absolute(), far), math.inf), combine(d, math.inf)
    d = null_extended(difference, wide)
    yield "normalised", records(nullable(absolute(), wide)) / wide, combine(lambda v, w: d(v, w) / wide, 1)
    yield (
        "scaled within",
        records(nullable(3 * absolute(), 4 * wide)),
        combine(null_extended(lambda v, w: 3 * difference(v, w), 4 * wide), 1),
    )
    yield (
        "equality, ∅ near",
        records(nullable(2 * discrete(), F(3, 2))),
        combine(null_extended(lambda v, w: 2 * equality(v, w), F(3, 2)), 1),
    )
    yield "capped", records(nullable(capped(absolute(), 1), 1)), combine(null_extended(at_most(F(1)), F(1)), 1)


def by_definition(points, answers, d, answer_metric=lambda y, z: abs(y - z)):
    """The least Δ, and whether every two answers have a tight, Δ-expansive chain."""
    cheapest = {}
    for (x, y), (other, z) in itertools.combinations(list(zip(points, answers, strict=True)), 2):
        if y != z:
            cost = d(x, other)
            for pair in ((y, z), (z, y)):
                cheapest[pair] = min(cheapest.get(pair, cost), cost)
    if not cheapest:
        return F(0), None
    delta = max(answer_metric(*pair) / cost for pair, cost in cheapest.items())
    image = set(answers)
    reach = {(y, z): F(0) if y == z else math.inf for y in image for z in image}
    reach |= {pair: answer_metric(*pair) for pair, cost in cheapest.items() if answer_metric(*pair) == delta * cost}
    for k, i, j in itertools.product(image, repeat=3):
        reach[i, j] = min(reach[i, j], reach[i, k] + reach[k, j])
    return delta, all(reach[y, z] == answer_metric(y, z) for y in image for z in image)


def small(universe, n, nulls):
    return (len(values_of(*universe)) + nulls) ** n <= 27


CASES = [
    (name, universe, n, nulls)
    for name in NUMBERS
    for universe in UNIVERSES
    for n in (1, 2, 3)
    for nulls in (False, True)
    if small(universe, n, nulls) and (name == "sum" or universe in UNIVERSES[:2] or n == 2)
]


@pytest.mark.parametrize(("name", "universe", "n", "nulls"), CASES)
def test_numbers(name, universe, n, nulls):
    lo, hi, step = universe
    make, definition = NUMBERS[name]
    query = make((lo, hi), step=step, records=n, nulls=nulls)
    values = values_of(*universe)
    points = list(itertools.product([*values, *([None] if nulls else [])], repeat=n))
    answers = [definition(values, [v for v in x if v is not None]) for x in points]
    assert [query.evaluate(x) for x in points] == answers
    for label, metric, d in metrics_for(lo, hi, nulls):
        delta, uniform = by_definition(points, answers, d)
        found = sensitivity(query, metric, absolute())
        assert found.value == delta, label
        assert found.uniform is uniform, label


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("universe", UNIVERSES[2:5])
def test_number_of_records_that_is_not_public(name, universe):
    """It is the worst over all numbers of records."""
    lo, hi, step = universe
    make, definition = NUMBERS[name]
    values = values_of(*universe)
    for label, metric, d in metrics_for(lo, hi, nulls=True):
        if name == "sum" and "largest" in label:
            assert sensitivity(make((lo, hi), step=step), metric, absolute()).value == math.inf
            continue
        if name.startswith("average") and "largest" in label and f"at {(hi - lo) / 2}" in label:
            with pytest.raises(UnsupportedMetricError, match="no closed form"):
                sensitivity(make((lo, hi), step=step), metric, absolute())
            continue
        worst = F(0)
        for n in (1, 2):
            points = list(itertools.product([*values, None], repeat=n))
            answers = [definition(values, [v for v in x if v is not None]) for x in points]
            worst = max(worst, by_definition(points, answers, d)[0])
        assert sensitivity(make((lo, hi), step=step), metric, absolute()).value == worst, label


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("nulls", [False, True])
def test_numbers_without_a_grid(name, nulls):
    """The least upper bound over finer and finer grids: those with an even number of steps attain it."""
    make, _ = NUMBERS[name]
    if name not in ("average, floor", "average, half-up"):
        real = make((0, 2), step=None, records=2, nulls=nulls)
        for label, metric, _ in metrics_for(F(0), F(2), nulls):
            if label == "capped" or (name == "average, exact" and label == "largest, ∅ at 1"):
                continue  # these have no closed form
            finer = [
                sensitivity(make((0, 2), step=F(2, 2 * k), records=2, nulls=nulls), metric, absolute()).value
                for k in (1, 4)
            ]
            assert sensitivity(real, metric, absolute()).value == finer[0] == finer[1], label


@pytest.mark.parametrize("n", [2, 3, 4])
def test_euclidean_distance_between_databases(n):
    """With all records moving together the sum moves √n times as far; rounded up where that is irrational."""
    points = list(itertools.product([F(0), F(1), F(2)], repeat=n))
    squares = [
        (sum(x) - sum(y)) ** 2 / sum((v - w) ** 2 for v, w in zip(x, y, strict=True))
        for x, y in itertools.combinations(points[:: 1 if n < 4 else 2], 2)
    ]
    assert max(squares) == n
    for query, share in ((Sum((0, 2), records=n), 1), (Average((0, 2), records=n), n)):
        found = sensitivity(query, euclidean(), absolute())
        assert found.uniform is False
        assert found.above**2 >= F(n, share**2)
        assert found.above**2 - F(n, share**2) < F(1, 2**100)
        assert (n == 4) == isinstance(found.value, F)
    for query in (Average((0, 2), records=n, rounding="floor"), Percentile(50, (0, 2), records=n)):
        assert sensitivity(query, euclidean(), absolute()).value == 1


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("counted", [{F(2)}, {F(0), F(1)}, None])
def test_counts(n, nulls, counted):
    values = [F(0), F(1), F(2)]
    query = Count(counted, values=values, records=n, nulls=nulls)
    points = list(itertools.product([*values, *([None] if nulls else [])], repeat=n))
    answers = [F(sum(v is not None and (counted is None or v in counted) for v in x)) for x in points]
    for label, metric, d in metrics_for(F(0), F(2), nulls):
        delta, uniform = by_definition(points, answers, d)
        found = sensitivity(query, metric, absolute())
        assert found.value == delta, label
        if delta:
            assert found.uniform is uniform, label


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("cells", [[[0], [1, 2]], [[0, 2], [1]], [[0], [1], [2]]])
def test_cells(n, nulls, cells):
    query = CellCounts({f"cell {place}": cell for place, cell in enumerate(cells)}, records=n, nulls=nulls)
    points = list(itertools.product([0, 1, 2, *([None] if nulls else [])], repeat=n))
    answers = [tuple(sum(v in cell for v in x) for cell in cells) for x in points]
    for label, metric, d in metrics_for(F(0), F(2), nulls):
        for out, p in ((manhattan(), 1), (chebyshev(), math.inf)):
            delta, uniform = by_definition(points, answers, d, combine(lambda a, b: F(abs(a - b)), p))
            found = sensitivity(query, metric, out)
            assert found.value == delta, (label, p)
            assert found.uniform is uniform, (label, p)


@st.composite
def queries_and_metrics(draw):
    """A query with up to 200 databases, and a norm of distances of any shape between its values."""
    k, n, nulls = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.booleans())
    assume((k + 1 + nulls) ** n <= 200)
    step, lo = draw(st.sampled_from([F(1), F(2, 3), F(5)])), draw(st.sampled_from([F(0), F(-2), F(-1, 2), F(3)]))
    make, _ = NUMBERS[draw(st.sampled_from(sorted(NUMBERS)))]
    query = make((lo, lo + k * step), step=step, records=n, nulls=nulls)
    values = [lo + i * step for i in range(k + 1)]
    shape = draw(st.sampled_from(["difference", "equality", "capped", "listed"]))
    base = {"difference": 2 * absolute(), "equality": 3 * discrete(), "capped": capped(absolute(), 2 * step)}.get(shape)
    if base is None:
        costs = draw(st.lists(st.integers(1, 6), min_size=k * (k + 1) // 2, max_size=k * (k + 1) // 2))
        table = [[0] * (k + 1) for _ in values]
        for (i, j), cost in zip(itertools.combinations(range(k + 1), 2), costs, strict=True):
            table[i][j] = table[j][i] = cost
        base = matrix(values, table, check=False).closure(values)
    if nulls:
        wide = max(base.exactly(v, w) for v in values for w in values)
        base = nullable(base, wide * draw(st.sampled_from([F(1, 2), F(2, 3), F(1), F(3, 2)])))
    return query, records(base, draw(st.sampled_from([1, 1, math.inf])))


@given(queries_and_metrics())
@settings(max_examples=60, deadline=None)
def test_random_universes(case):
    """What the closed forms say, and what they leave undecided, is what comparing all databases says."""
    query, metric = case
    found = sensitivity(query, metric, absolute())
    proof = uniformity(FiniteFunction.of(query, 200), metric, absolute())
    assert (found.value, found.uniform) == (proof.sensitivity, proof.holds)
