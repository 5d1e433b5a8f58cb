"""Distances against slow, independent arithmetic: Fractions, and Decimals of 60 digits."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import networkx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.errors import NotAMetricError
from metricdp.metrics.axioms import find_violation

EXACT = st.floats(-1e6, 1e6) | st.integers(-1000, 1000) | st.fractions(-10, 10, max_denominator=60)
VECTORS = st.lists(EXACT, min_size=3, max_size=3).map(tuple)


def differences(x, y):
    return [abs(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)]


@given(VECTORS, VECTORS)
def test_manhattan_and_chebyshev_in_fractions(x, y):
    assert metrics.manhattan().exactly(x, y) == sum(differences(x, y))
    assert metrics.chebyshev().exactly(x, y) == max(differences(x, y))
    assert metrics.records(metrics.absolute()).exactly(x, y) == sum(differences(x, y))


@given(VECTORS, VECTORS)
def test_euclidean_encloses_the_root(x, y):
    square = sum(difference**2 for difference in differences(x, y))
    for bits in (20, 64, 500):
        enclosure = metrics.euclidean().enclose(x, y, bits)
        assert enclosure.lower**2 <= square <= enclosure.upper**2
        assert enclosure.width * 2**bits <= enclosure.lower


def decimal_angle(one, two):
    """The angle between two places by unit vectors, their chords and Taylor series, in Decimals."""
    pi = 4 * (4 * arctangent(Decimal(1) / 5) - arctangent(Decimal(1) / 239))

    def unit_vector(place):
        latitude, longitude = (Decimal(Fraction(c).numerator) / Fraction(c).denominator / 180 * pi for c in place)
        return cosine(latitude) * cosine(longitude), cosine(latitude) * sine(longitude), sine(latitude)

    u, v = unit_vector(one), unit_vector(two)
    apart = sum((a - b) ** 2 for a, b in zip(u, v, strict=True)).sqrt()
    together = sum((a + b) ** 2 for a, b in zip(u, v, strict=True)).sqrt()
    return 2 * arctangent(apart / together) if apart < together else pi - 2 * arctangent(together / apart)


def arctangent(x):
    doublings = 0
    while abs(x) > Decimal("0.05"):
        x, doublings = x / (1 + (1 + x * x).sqrt()), doublings + 1
    total, power, n = Decimal(0), x, 1
    while abs(power) > Decimal(10) ** -75:
        total, power, n = total + power / n * (1 if n % 4 == 1 else -1), power * x * x, n + 2
    return total * 2**doublings


def series(x, term, n):
    total = Decimal(0)
    while abs(term) > Decimal(10) ** -75:
        total, term, n = total + term, -term * x * x / ((n + 1) * (n + 2)), n + 2
    return total


def sine(x):
    return series(x, x, 1)


def cosine(x):
    return series(x, Decimal(1), 0)


PLACES = st.tuples(
    st.integers(-90, 90) | st.floats(-90, 90).filter(lambda x: not 0 < abs(x) < 1e-6), st.integers(-180, 180)
)


@given(PLACES, PLACES)
@example((48.8566, 2.3522), (40.7128, -74.0060))
@example((0, 179), (0, -179))
@example((90, 0), (-90, 77))
@example((12.5, 30), (-12.5, -150))
@example((89, 0), (89, 180))
def test_great_circle_against_unit_vectors(one, two):
    with localcontext(prec=75):
        expected = Decimal("6371008.8") * decimal_angle(one, two)
        margin = Decimal(10) ** -28
        low, high = Fraction(expected - margin), Fraction(expected + margin)
    enclosure = metrics.great_circle().enclose(one, two, bits=128)
    assert enclosure.lower <= high
    assert low <= enclosure.upper
    assert enclosure.width < Fraction(1, 10**25)
    assert metrics.great_circle()(one, two) == pytest.approx(float(expected), rel=1e-13, abs=1e-12)


MATRICES = st.integers(2, 5).flatmap(
    lambda n: st.lists(
        st.lists(
            st.integers(0, 12) | st.just(math.inf) | st.sampled_from([0.1, 0.2, 0.30000000000000004]),
            min_size=n,
            max_size=n,
        ),
        min_size=n,
        max_size=n,
    )
)


def symmetric(rows):
    n = len(rows)
    return [[0 if i == j else rows[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def exact(value):
    return value if value == math.inf else Fraction(value)


@given(MATRICES, st.booleans())
def test_violation_is_found_exactly_where_there_is_one(rows, mirrored):
    rows = symmetric(rows) if mirrored else rows
    places = range(len(rows))
    metric = metrics.matrix(places, rows, check=False)
    d = {(i, j): exact(rows[i][j]) for i in places for j in places}
    broken = {
        "self-distance": any(d[i, i] != 0 for i in places),
        "symmetry": any(d[i, j] != d[j, i] for i in places for j in places),
        "triangle": any(d[i, k] > d[i, j] + d[j, k] for i in places for j in places for k in places),
    }
    violation = find_violation(metric, places)
    assert (violation is not None) == any(broken.values())
    if violation is not None:
        assert broken[violation.axiom]
    if violation is not None and violation.axiom == "triangle":
        x, y, z = violation.points
        assert d[x, z] > d[x, y] + d[y, z]


@given(MATRICES)
def test_closure_is_the_shortest_of_all_paths(rows):
    rows = symmetric(rows)
    places = range(len(rows))
    closed = metrics.matrix(places, rows, check=False).closure(places)
    for i, j in itertools.combinations(places, 2):
        inner = [k for k in places if k not in (i, j)]
        paths = [(i, *middle, j) for size in range(len(inner) + 1) for middle in itertools.permutations(inner, size)]
        shortest = min(sum(exact(rows[a][b]) for a, b in itertools.pairwise(path)) for path in paths)
        assert closed.exactly(i, j) == closed.exactly(j, i) == shortest
    assert closed.violation(places) is None


@given(st.lists(st.tuples(*[st.integers(-5, 5)] * 2), min_size=2, max_size=5, unique=True), st.integers(1, 6))
def test_irrational_closure_is_the_shortest_of_all_paths(points, diameter):
    universe = [None, *points]
    metric = metrics.nullable(metrics.euclidean(), diameter)
    closed = metric.closure(universe)
    for x, y in itertools.combinations(universe, 2):
        by_null = math.inf if None in (x, y) else 2.0 * diameter
        assert closed(x, y) == pytest.approx(min(metric(x, y), by_null), rel=1e-14)
        assert closed.enclose(x, y, 300).width * 2**300 <= closed.enclose(x, y, 300).lower
    assert find_violation(closed, universe) is None


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.fractions(0, 10)), max_size=15))
def test_graph_against_floyd_and_warshall(edges):
    network = networkx.MultiGraph()
    network.add_nodes_from(range(7))
    for a, b, length in edges:
        network.add_edge(a, b, km=length)
    least = {(i, j): Fraction(0) if i == j else math.inf for i in range(7) for j in range(7)}
    for a, b, length in edges:
        least[a, b] = least[b, a] = min(least[a, b], length)
    for k, i, j in itertools.product(range(7), repeat=3):
        least[i, j] = min(least[i, j], least[i, k] + least[k, j])
    metric = metrics.graph(network, weight="km")
    assert all(metric.exactly(i, j) == distance for (i, j), distance in least.items())
    assert np.allclose(metric.pairwise(range(7)), [[float(least[i, j]) for j in range(7)] for i in range(7)])


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12), st.lists(st.fractions(0, 5), min_size=12, max_size=12))
def test_taxonomy_against_the_same_tree_as_a_graph(choices, lengths):
    parents = {node: choice % node for node, choice in enumerate(choices, start=1)}
    by_child = {node: lengths[node - 1] for node in parents}
    tree = networkx.Graph()
    tree.add_weighted_edges_from((node, parent, by_child[node]) for node, parent in parents.items())
    metric, along = metrics.taxonomy(parents, by_child), metrics.graph(tree, "weight")
    nodes = list(tree)
    for x, y in itertools.product(nodes, repeat=2):
        assert metric.exactly(x, y) == along.exactly(x, y)
    assert np.allclose(metric.pairwise(nodes), along.pairwise(nodes), rtol=1e-12, atol=1e-12)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5))
def test_minimum_form_is_refused_exactly_where_it_is_no_metric(budgets):
    places = range(len(budgets))
    is_metric = all(
        i == k
        or min(budgets[i], budgets[k])
        <= (i != j) * min(budgets[i], budgets[j]) + (j != k) * min(budgets[j], budgets[k])
        for i, j, k in itertools.product(places, repeat=3)
    )
    assert is_metric == (sorted(budgets)[-2:][0] <= 2 * min(budgets))
    try:
        metrics.individuals(dict(enumerate(budgets)), form="minimum")
        accepted = True
    except NotAMetricError:
        accepted = False
    assert accepted == is_metric


@given(st.lists(st.integers(0, 40), min_size=2, max_size=8, unique=True), st.integers(1, 12))
def test_blowfish_hops_by_breadth_first_search(universe, threshold):
    near = networkx.Graph()
    near.add_nodes_from(universe)
    near.add_edges_from((a, b) for a, b in itertools.combinations(universe, 2) if abs(a - b) <= threshold)
    metric = metrics.blowfish(metrics.absolute(), threshold, "1/7", universe=universe)
    everywhere = metrics.blowfish(metrics.absolute(), threshold, "1/7")
    for x, y in itertools.combinations(universe, 2):
        try:
            hops = networkx.shortest_path_length(near, x, y)
        except networkx.NetworkXNoPath:
            hops = math.inf
        assert metric.exactly(x, y) == (hops if hops == math.inf else Fraction(hops, 7))
        assert everywhere.exactly(x, y) == Fraction(-(-abs(x - y) // threshold), 7) <= metric.exactly(x, y)


@given(st.lists(st.frozensets(st.integers(0, 8)), min_size=1, max_size=6))
def test_symmetric_difference_counts(sets):
    assert metrics.symmetric_difference().pairwise(sets).tolist() == [[len(a ^ b) for b in sets] for a in sets]


@given(st.lists(st.tuples(*[st.none() | st.integers(0, 2)] * 3), min_size=1, max_size=6))
def test_add_remove_by_walking_the_graph_of_removals(databases):
    universe = list(itertools.product([None, 0, 1, 2], repeat=3))
    walk = networkx.Graph()
    for database in universe:
        for i in range(3):
            if database[i] is not None:
                walk.add_edge(database, (*database[:i], None, *database[i + 1 :]))
    expected = [[networkx.shortest_path_length(walk, a, b) for b in databases] for a in databases]
    assert metrics.add_remove().pairwise(databases).tolist() == expected
