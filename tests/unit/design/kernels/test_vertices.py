"""Vertices of privacy types: all of them, once, exactly, against a brute force over spanning trees."""

import itertools
import math
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.design import vertices
from metricdp.design.kernels._unit_lengths import UnitLengths
from metricdp.design.kernels._vertex import Vertex
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Space, absolute, chebyshev, discrete, euclidean, great_circle, hamming, manhattan, matrix

LN2 = mdp.ln(2)


def brute(space: Space) -> set[tuple[tuple[int, ...], ...]]:
    """Every orientation of every spanning tree gives a function; those that keep all distances are the vertices."""
    lengths = UnitLengths.of(space)
    count, zero = len(space), (0,) * len(lengths.generators)
    edges = list(combinations(range(count), 2))
    found = set()
    for tree in combinations(edges, count - 1):
        graph = nx.Graph(list(tree))
        if len(graph) < count or not nx.is_connected(graph):
            continue
        for signs in itertools.product((1, -1), repeat=count - 1):
            way = {}
            for (i, j), sign in zip(tree, signs, strict=True):
                way[i, j], way[j, i] = sign, -sign
            f = {0: zero}
            for i, j in nx.bfs_edges(graph, 0):
                f[j] = tuple(a + way[i, j] * b for a, b in zip(f[i], lengths.table[i, j], strict=True))
            if all(_within(lengths, f, i, j) for i, j in itertools.permutations(range(count), 2)):
                found.add(tuple(f[i] for i in range(count)))
    return found


def _within(lengths, f, i, j):
    return lengths.sign(tuple(a - b - c for a, b, c in zip(f[i], f[j], lengths.table[i, j], strict=True))) <= 0


SMALL = {
    "line": Space.line(5),
    "uneven line": Space([0, 1, Fraction(5, 2), 4], absolute()),
    "discrete": Space("abcd", discrete()),
    "square": Space.grid(2, 2),
    "manhattan": Space.grid(2, 2, manhattan()),
    "chebyshev": Space([(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)], chebyshev()),
    "kite": Space([(0, 0), (1, 1), (3, 1), (0, 2), (-1, 1)], euclidean()),
    "logarithms": Space([(0, 0), (0, 1), (1, 0), (1, 1)], mdp.metrics.attributes({0: mdp.ln(2), 1: mdp.ln(3)})),
}


@pytest.mark.parametrize("name", SMALL)
def test_all_are_found_once(name):
    space = SMALL[name]
    found = [vertex.coefficients for vertex in vertices(space)]
    assert len(found) == len(set(found)) == vertices(space).count()
    assert set(found) == brute(space)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=5, unique=True))
def test_random_points_of_the_plane(points):
    for metric in (euclidean(), manhattan()):
        space = Space(points, metric)
        assert {vertex.coefficients for vertex in vertices(space)} == brute(space)


def test_ties_of_square_roots_are_exact():
    lengths = UnitLengths.of(Space([(0, 0), (1, 1), (2, 2), (0, 4)], LN2 * euclidean()))
    assert lengths.generators == (("root", 1), ("root", 2), ("root", 10))
    assert lengths.table[0, 2] == (0, 2, 0) == tuple(2 * c for c in lengths.table[0, 1])
    assert lengths.sign((0, 7, -3)) > 0 > lengths.sign((0, 2, -1))  # 7√2 > 3√10, 2√2 < √10
    assert lengths.sign((0, 0, 0)) == 0


def test_fractions_under_the_root():
    space = Space([(0, 0), (Fraction(1, 2), Fraction(1, 2)), (1, 1)], euclidean())
    lengths = UnitLengths.of(space)
    assert lengths.denominator == 2
    assert lengths.table[0, 1] == (1,)
    assert lengths.table[0, 2] == (2,)


def test_vertices_do_not_depend_on_the_level():
    logs = [
        {vertex.coefficients for vertex in vertices(Space.grid(2, 3, level * euclidean()))}
        for level in (1, LN2, mdp.ln(7) / 5)
    ]
    assert logs[0] == logs[1] == logs[2]
    assert len(logs[0]) == 162


def test_a_vertex_says_what_it_is():
    space = Space.line(3, LN2 * absolute())
    hill = next(vertex for vertex in vertices(space) if vertex.logarithms.tolist() == [0, 1, 0])
    assert hill.exact == (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    assert hill.direction == (1, 2, 1)
    assert hill.exact_logarithms == (0, 1, 0)
    assert hill.rational
    assert set(hill.tight) == {(1, 0), (1, 2)}
    assert hill.posterior.tolist() == [0.25, 0.5, 0.25]
    assert repr(hill) == "Vertex(0, 1, 0)"
    with pytest.raises(ValueError, match="read-only"):
        hill.logarithms[0] = 1


def test_irrational_posteriors_are_enclosed():
    for vertex in vertices(Space.grid(2, 2, LN2 * euclidean())):
        enclosed = vertex.enclose(100)
        weights = np.exp2(vertex.logarithms)
        assert np.allclose([float(value) for value in enclosed], weights / weights.sum(), rtol=1e-14)
        assert all(value.width < Fraction(1, 2**90) for value in enclosed)
        assert sum(value.lower for value in enclosed) <= 1 <= sum(value.upper for value in enclosed)


def test_half_a_level_is_rational_only_where_it_is():
    found = list(vertices(Space([0, 1, 3], LN2 / 2 * absolute())))
    assert {vertex.rational for vertex in found} == {False}
    assert all(vertex.rational for vertex in vertices(Space([0, 2, 6], LN2 / 2 * absolute())))


def test_stars_are_vertices():
    for space in (Space.bits(3), Space.grid(2, 3), Space("abcd", discrete())):
        every, stars = set(vertices(space)), list(vertices(space).stars())
        assert set(stars) <= every
        assert len(stars) == len(set(stars)) >= len(space)


def test_parts_and_twins():
    far = math.inf
    space = Space(
        "abcd", LN2 * matrix("abcd", [[0, 1, far, far], [1, 0, far, far], [far, far, 0, 0], [far, far, 0, 0]])
    )
    found = list(vertices(space))
    assert [vertex.exact for vertex in found] == [
        (Fraction(2, 3), Fraction(1, 3), 0, 0),
        (Fraction(1, 3), Fraction(2, 3), 0, 0),
        (0, 0, Fraction(1, 2), Fraction(1, 2)),
    ]
    assert vertices(space).count() == 3


def test_one_point_has_one_vertex():
    (only,) = vertices(Space(["x"], discrete()))
    assert only.exact == (1,)


def test_progress_counts_up():
    told = []
    assert vertices(Space.grid(2, 3), progress=told.append).count() == 162
    assert [update.done for update in told] == sorted(update.done for update in told)
    assert (told[-1].done, told[-1].unit) == (162, "vertices")


def test_the_sphere_has_lengths_of_its_own():
    space = Space([(0, 0), (1, 1), (3, 2)], great_circle() / 10**6)
    found = list(vertices(space))
    assert len(found) == 6
    assert not any(vertex.rational for vertex in found)
    assert found[0].exact_logarithms is None


def test_sums_that_cannot_be_told_apart_are_refused():
    # On the equator both halves add up to the whole, and nobody has told so.
    space = Space([(0, 0), (0, 1), (0, 2)], great_circle() / 10**6)
    with pytest.raises(ArgumentError, match="cannot be told apart"):
        vertices(space).count()


def test_only_spaces():
    with pytest.raises(ArgumentError, match="vertices takes a Space"):
        vertices("line")


def test_equal_vertices_are_equal():
    one, two = (list(vertices(Space.line(3))) for _ in range(2))
    assert one == two
    assert len({*one, *two}) == 4
    assert one[0] != one[1]
    assert one[0] != "v"
    assert isinstance(one[0], Vertex)
    assert next(iter(vertices(Space.line(3, 2 * absolute())))) != one[0]


def test_large_coordinates_take_long_integers():
    space = Space([(0, 0), (10**9, 1), (3, 10**9 + 7), (10**8, 10**8)], euclidean())
    assert len({vertex.coefficients for vertex in vertices(space)}) == vertices(space).count() > 6


def test_hamming_cube_of_four_bits():
    assert vertices(Space.bits(4, LN2 * hamming())).count() == 990


def test_a_time_limit_refuses_a_count():
    held = vertices(Space.grid(4, 4), time_limit=0.3)
    with pytest.raises(TooLargeError, match=r"time_limit=0.3 seconds were not enough to count the vertices"):
        len(held)


def test_a_time_limit_ends_an_iteration(monkeypatch):
    held = vertices(Space.grid(3, 3), time_limit=60)
    found = []
    monkeypatch.setattr(Stopwatch, "over", property(lambda watch: len(found) >= 5))
    for vertex in held:
        found.append(vertex)
    assert len(found) == 5
    assert not held.finished
    assert "time limit of 60 seconds" in held.reason


def test_a_vertex_is_shown_and_written():
    first = next(iter(vertices(Space.line(3, LN2 * absolute()))))
    assert first.to_json() == {"points": [0, 1, 2], "logarithms": [0, -1, -2], "posterior": ["4/7", "2/7", "1/7"]}
    assert "Vertex(0, -1, -2)" in first._repr_html_()
