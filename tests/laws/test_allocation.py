"""No pair of cells is spent beyond its distance, and some pair is spent to a billionth of it."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.exact.level import ln
from metricdp.metrics import Space
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.workload import Workload

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.fractions(-2, 2, max_denominator=7),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3)),
)


@st.composite
def spaces(draw):
    kind = draw(st.sampled_from(["matrix", "plane", "discrete", "blowfish", "attributes"]))
    level = draw(st.sampled_from([1, Fraction(1, 3), 0.1, ln(2)]))
    n = draw(st.integers(2, 6))
    if kind == "plane":
        place = st.tuples(st.integers(0, 9), st.integers(0, 9))
        return Space(draw(st.lists(place, min_size=n, max_size=n, unique=True)), level * metrics.euclidean())
    if kind == "discrete":
        return Space(range(n), level * metrics.discrete())
    if kind == "blowfish":
        return Space(range(n), level * metrics.blowfish(metrics.absolute(), draw(st.integers(1, 3)), 1))
    if kind == "attributes":
        free = draw(st.sampled_from([0.5, float("inf")]))
        points = [(i, j) for i in range(2) for j in range(3)]
        return Space(points, level * metrics.attributes({"a": free, "b": metrics.absolute()}))
    distance = [[0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        distance[i][j] = distance[j][i] = draw(st.integers(1, 9))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                distance[i][j] = min(distance[i][j], distance[i][k] + distance[k][j])
    return Space(range(n), level * metrics.matrix(range(n), distance))


@st.composite
def workloads(draw):
    space = draw(spaces())
    queries = draw(st.integers(1, 4))
    row = st.lists(NUMBERS, min_size=len(space), max_size=len(space))
    return Workload(draw(st.lists(row, min_size=queries, max_size=queries)), space)


def parts(workload, scales):
    """Of every distance the part that is spent, between two Fractions; straight from the definition."""
    for i, j in combinations(range(len(workload.space)), 2):
        distance = workload.space.metric.enclose(workload.cells[i], workload.cells[j], bits=200)
        if distance.lower == float("inf"):
            continue
        spent = Fraction(0)
        for row, scale in zip(workload.entries, scales, strict=True):
            if row[i] != row[j]:
                assert scale > 0
                spent += abs(row[i] - row[j]) / Fraction(scale)
        yield spent / Fraction(distance.upper), spent / Fraction(distance.lower)


@pytest.mark.long
@pytest.mark.parametrize("objective", ["mean", "geometric", "worst"])
@given(workload=workloads())
@settings(max_examples=40)
def test_no_pair_is_spent_beyond_and_some_pair_is_spent(objective, workload):
    for method in ("equal", "shared", "proportional", "exact"):
        allocation = allocate(workload, method, objective=objective)
        spent = list(parts(workload, allocation.scales))
        assert all(high <= 1 for _, high in spent)
        assert allocation.verdict.holds
        if not any(allocation.scales):
            continue
        most = max(low for low, _ in spent)
        assert allocation.verdict.scale_below <= most * (1 + Fraction(1, 2**50))
        assert most <= Fraction(allocation.verdict.scale)
        if method != "equal":  # strategy 1 wastes what a query does not use of its part
            assert most >= 1 - Fraction(1, 10**9)


@given(workload=workloads(), numbers=st.lists(st.integers(1, 9), min_size=4, max_size=4))
@settings(max_examples=40)
def test_nobody_is_better_than_the_bound(workload, numbers):
    weights = numbers[: len(workload)]
    for objective in ("mean", "geometric", "worst"):
        exact = allocate(workload, "exact", objective=objective, weights=weights)
        assert exact.gap <= 1e-6
        for method in ("equal", "shared", "proportional"):
            other = allocate(workload, method, objective=objective, weights=weights)
            assert exact.value <= other.value
            assert exact.bound <= other.value


@given(workload=workloads())
@settings(max_examples=25)
def test_no_query_can_be_given_less_noise_alone(workload):
    allocation = allocate(workload)
    for query, scale in enumerate(allocation.scales):
        if scale:
            less = list(allocation.scales)
            less[query] = scale * (1 - 1e-6)
            assert max(high for _, high in parts(workload, less)) > 1


@given(workload=workloads(), factor=st.sampled_from([2, 4, Fraction(1, 8)]))
@settings(max_examples=25)
def test_twice_the_distance_is_half_the_noise(workload, factor):
    scaled = Workload(workload.given, Space(workload.space.points, factor * workload.space.metric))
    one, other = allocate(workload), allocate(scaled)
    assert np.array(other.scales) * float(factor) == pytest.approx(np.array(one.scales), rel=1e-4)
    assert other.value * float(factor) ** 2 == pytest.approx(one.value, rel=2e-6)
