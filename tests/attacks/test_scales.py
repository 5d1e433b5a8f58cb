"""At which scales a tight-constraints mechanism exists: what is said against the equations themselves, in Fractions.

The equations ``Φ a = 1, a >= 0`` are decided here by a simplex in rationals whose answer is checked on the spot: a
solution is put into them, and a refutation is Farkas' w. Scales are chosen so that Φ is rational: ``exp(-s d) = α^m``.
"""

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import Line, Product, least_scale, tight_constraints
from metricdp.programs.nonnegative import least_solution
from tests.attacks.effort import attack

m = mdp.metrics
INFINITE = math.inf
FALSE_AT_EVERY_SCALE = [
    [[0, 2, 2, 1, 2], [2, 0, 2, 1, 2], [2, 2, 0, 1, 3], [1, 1, 1, 0, 3], [2, 2, 3, 3, 0]],
    [[0, 3, 3, 2, 2], [3, 0, 1, 2, 2], [3, 1, 0, 1, 1], [2, 2, 1, 0, 2], [2, 2, 1, 2, 0]],
    [[0, 1, 1, 1, 3], [1, 0, 2, 2, 3], [1, 2, 0, 2, 2], [1, 2, 2, 0, 2], [3, 3, 2, 2, 0]],
]
ALIKE_FROM_THE_FIRST = (
    [[0, 2, 2, 2, 1], [2, 0, 4, 2, 1], [2, 4, 0, 3, 3], [2, 2, 3, 0, 2], [1, 1, 3, 2, 0]],
    [[0, 2, 2, 2, 1], [2, 0, 2, 3, 1], [2, 2, 0, 2, 1], [2, 3, 2, 0, 3], [1, 1, 1, 3, 0]],
)


def exists(table, alpha, unit=Fraction(1)):
    """Whether the whole system has a nonnegative solution where a unit decays to ``alpha``; proved either way."""
    count = len(table)
    rows = [[Fraction(0) if d == INFINITE else alpha ** int(d / unit) for d in row] for row in table]
    found = least_solution(rows, [Fraction(1)] * count)
    if found.solution is not None:
        assert min(found.solution) >= 0
        assert all(sum(a * y for a, y in zip(row, found.solution, strict=True)) == 1 for row in rows)
        return True
    w = found.refutation
    assert sum(w) < 0
    assert all(sum(a * y for a, y in zip(row, w, strict=True)) >= 0 for row in rows)  # Φ is symmetric
    return False


def unit_of(*tables):
    """The largest number that all distances are multiples of."""
    finite = [Fraction(d) for table in tables for row in table for d in row if d not in (0, INFINITE)]
    denominator = math.lcm(*(d.denominator for d in finite))
    return Fraction(math.gcd(*(int(d * denominator) for d in finite)) if finite else 1, denominator)


def closed(table):
    for k, i, j in itertools.product(range(len(table)), repeat=3):
        table[i][j] = min(table[i][j], table[i][k] + table[k][j])
    return table


@st.composite
def distances(draw, points=(3, 6), lengths=(1, 2, 3), first=None):
    """Shortest paths over a few lengths, so that ties are many; ``first`` are the distances of the first point."""
    count = draw(st.integers(*points)) if first is None else len(first)
    table = [[Fraction(0)] * count for _ in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        length = draw(st.sampled_from(lengths)) if first is None or i else first[j]
        table[i][j] = table[j][i] = length if length == INFINITE else Fraction(length)
    return closed(table)


def space_of(table):
    return mdp.Space(range(len(table)), m.matrix(range(len(table)), table))


def places(found, unit, extra):
    """Rationals α for which existence is certain by what was found: near all ends, near 1, and anywhere."""
    scales = [float(end) for pair in found.intervals for end in pair if 0 < float(end) < INFINITE]
    singles = [float(scale) for scale in (*found.isolated, *found.undecided)]
    near = [math.exp(-(scale + side) * unit) for scale in scales for side in (1e-7, -1e-7)]
    for alpha in (*extra, *near, 0.999):
        exact = Fraction(alpha).limit_denominator(10**9)
        if 0 < exact < 1:
            scale = -math.log(exact) / float(unit)
            if all(abs(scale - place) > 1e-9 for place in (*scales, *singles)):
                yield exact, scale


def agrees(found, space, table, alphas, channel=False):
    """What was found is what the equations say, and what `tight_constraints` says, at every one of these places."""
    unit = unit_of(table)
    for alpha, scale in places(found, unit, alphas):
        truth = exists(table, alpha, unit)
        assert (scale in found) is truth, (table, alpha, str(found))
        held = mdp.Space(space.points, (mdp.ln(1 / alpha) / unit) * space.metric)
        there = tight_constraints(held)
        assert there.holds is truth
        if truth and channel:
            assert verify(there.channel, held).holds
        if there.holds is False:
            assert there.check()


ALPHAS = st.lists(st.fractions(Fraction(1, 20), Fraction(199, 200), max_denominator=200), min_size=2, max_size=2)


@pytest.mark.parametrize("table", FALSE_AT_EVERY_SCALE)
def test_spaces_that_were_said_to_have_one_at_every_scale(table):
    found = least_scale(space_of(table))
    assert found.least > 0
    assert not exists(table, Fraction(math.exp(-found.least + 1e-9)))
    assert exists(table, Fraction(math.exp(-found.least - 1e-12)))
    agrees(found, space_of(table), table, [Fraction(99, 100), Fraction(1, 2)], channel=True)


@attack(40)
@given(distances(), ALPHAS)
def test_whole_distances(table, alphas):
    space = space_of(table)
    agrees(least_scale(space), space, table, alphas)


@attack(12)
@given(distances(points=(5, 5)), ALPHAS)
def test_channels_at_the_scales_that_were_found(table, alphas):
    space = space_of(table)
    agrees(least_scale(space), space, table, alphas, channel=True)


@attack(20)
@given(distances(points=(3, 5), lengths=(Fraction(1, 2), Fraction(2, 3), 1, Fraction(5, 6), 2, INFINITE)), ALPHAS)
def test_fractions_and_infinite_distances(table, alphas):
    space = space_of(table)
    agrees(least_scale(space), space, table, alphas)


@st.composite
def graphs(draw):
    count = draw(st.integers(4, 8))
    tree = [(node, draw(st.integers(0, node - 1))) for node in range(1, count)]
    others = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] != pair[1])
    return nx.Graph([*tree, *draw(st.lists(others, max_size=count))])


@attack(20)
@given(graphs(), ALPHAS)
def test_graphs(graph, alphas):
    apart = dict(nx.all_pairs_shortest_path_length(graph))
    nodes = sorted(graph)
    space = mdp.Space(nodes, m.graph(graph))
    agrees(least_scale(space), space, [[apart[i][j] for j in nodes] for i in nodes], alphas)


@attack(20)
@given(distances(points=(3, 5)), st.fractions(Fraction(1, 100), 4, max_denominator=500))
def test_scales_whose_decays_are_irrational(table, scale):
    """In balls: exp(-s) for a rational s."""
    space = space_of(table)
    found = least_scale(space)
    there = tight_constraints(mdp.Space(space.points, scale * space.metric))
    assert there.holds is (scale in found)
    assert there.check()
    at_least = tight_constraints(mdp.Space(space.points, Fraction(max(float(found), 1e-3)) * space.metric))
    assert at_least.holds


# Products


def summed(tables):
    """The points of a product and their distances."""
    points = list(itertools.product(*(range(len(table)) for table in tables)))
    apart = [[sum(t[a][b] for t, a, b in zip(tables, x, y, strict=True)) for y in points] for x in points]
    return points, apart


def product_of(tables):
    points, apart = summed(tables)
    parts = {f"part {place}": m.matrix(range(len(t)), t) for place, t in enumerate(tables)}
    return mdp.Space(points, m.attributes(parts)), apart


def test_factors_that_look_alike_from_their_first_point():
    space, apart = product_of(ALIKE_FROM_THE_FIRST)
    found = least_scale(space)
    assert found.least == max(least_scale(space_of(table)).least for table in ALIKE_FROM_THE_FIRST)
    assert found.least == pytest.approx(math.log(2) / 2, abs=1e-12)
    assert not exists(apart, Fraction(math.exp(-found.least + 1e-7)))
    assert exists(apart, Fraction(math.exp(-found.least - 1e-7)))


@st.composite
def factors(draw):
    """Two or three small spaces; often their first points see the same distances."""
    if draw(st.booleans()):
        first = [0, *draw(st.lists(st.sampled_from([1, 2, 2]), min_size=2, max_size=3))]
        return [draw(distances(lengths=(1, 2, 3, 4), first=first)) for _ in range(2)]
    count = draw(st.integers(2, 3))
    return [draw(distances(points=(2, 5 - count))) for _ in range(count)]


@attack(16)
@given(factors(), ALPHAS)
def test_products_against_their_whole_systems(tables, alphas):
    space, apart = product_of(tables)
    found = least_scale(space)
    apart = [[Fraction(d) for d in row] for row in apart]
    agrees(found, space, apart, alphas)
    taken_apart = least_scale(Product(*map(space_of, tables)))
    assert taken_apart.intervals == found.intervals
    assert taken_apart.isolated == found.isolated


@attack(12)
@given(
    st.lists(st.sampled_from(["line", "grid", "discrete", "cycle", "star"]), min_size=2, max_size=3),
    st.lists(st.sampled_from([1, Fraction(1, 2), Fraction(3, 2), 2]), min_size=3, max_size=3),
    st.fractions(Fraction(1, 10), 5, max_denominator=100),
)
def test_products_of_lines_grids_and_discrete_spaces(kinds, levels, scale):
    """A product has one exactly where all factors have, each at its own level."""
    made = {
        "line": lambda level: Line([0, 1, 3], level * m.absolute()),
        "grid": lambda level: mdp.Space.grid(3, 3, level * m.chebyshev()),
        "discrete": lambda level: mdp.Space(range(4), level * m.discrete()),
        "cycle": lambda level: mdp.Space(range(5), level * m.graph(nx.cycle_graph(5))),
        "star": lambda level: mdp.Space(range(5), level * m.graph(nx.star_graph(4))),
    }
    parts = [made[kind](level) for kind, level in zip(kinds, levels, strict=False)]
    found = least_scale(Product(*parts))
    alone = [least_scale(part) for part in parts]
    assert found.least == max(one.least for one in alone)
    assert (scale in found) is all(scale in one for one in alone)
    for part in parts:
        if isinstance(part, mdp.Space) and scale in found:
            assert tight_constraints(mdp.Space(part.points, scale * part.metric)).holds


def test_ends_of_two_factors_that_meet_are_known_to_meet():
    """One factor has a mechanism up to a scale and the other from the very same on: there the product has one."""
    ends = nx.Graph([(0, 2), (0, 3), (0, 5), (1, 2), (1, 3), (1, 5), (2, 3), (2, 4), (3, 4), (4, 5)])
    one = mdp.Space(range(6), m.graph(ends))
    two = mdp.Space(range(4), 2 * m.graph(nx.star_graph(3)))
    half = math.log(2) / 2
    assert float(least_scale(one).intervals[0][1]) == pytest.approx(half)
    assert least_scale(two).least == pytest.approx(half)
    found = least_scale(Product(one, two))
    assert [float(scale) for scale in found.isolated] == pytest.approx([half])
    assert found.undecided == ()
    assert len(found.intervals) == 1


# Single places, and distances that are not rational


def test_single_irrational_places_are_decided():
    """Graphs of 7 nodes whose Φ is singular at an irrational number, with no mechanism around; checked in floats."""
    looked_at = 0
    for edges in (
        [(0, 1), (0, 5), (1, 2), (1, 4), (2, 3), (2, 5), (3, 4), (4, 5), (5, 6)],
        [(0, 1), (0, 2), (0, 5), (1, 2), (1, 3), (1, 5), (1, 6), (2, 3), (2, 4), (3, 4), (4, 5)],
        [(0, 1), (0, 2), (0, 5), (1, 2), (1, 3), (1, 5), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6)],
        [(0, 1), (0, 3), (0, 5), (1, 2), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5), (5, 6)],
        [(0, 1), (0, 3), (0, 5), (0, 6), (1, 2), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5)],
    ):
        graph = nx.Graph(edges)
        found = least_scale(mdp.Space(range(7), m.graph(graph)))
        assert found.undecided == ()
        apart = dict(nx.all_pairs_shortest_path_length(graph))
        for scale in (math.log((1 + math.sqrt(5)) / 2), 0.220724310283033, math.log(2) / 2):
            phi = np.array([[math.exp(-scale * apart[i][j]) for j in range(7)] for i in range(7)])
            off = linprog(
                np.r_[np.zeros(7), np.ones(14)], A_eq=np.hstack([phi, np.eye(7), -np.eye(7)]), b_eq=np.ones(7)
            )
            near = scale in found or any(abs(float(single) - scale) < 1e-9 for single in found.isolated)
            assert near is (off.fun < 1e-9)
            looked_at += abs(np.linalg.det(phi)) < 1e-9
    assert looked_at >= 5


@attack(6)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=6, unique=True),
    st.sampled_from([1, 10**9, Fraction(1, 10**9), Fraction(1, 10**12)]),
)
def test_places_in_a_plane_at_levels_of_any_size(points, level):
    """The same scales, but for the level."""
    plain, found = (least_scale(mdp.Space(points, factor * m.euclidean())) for factor in (1, level))
    enclosed, there = plain.least.enclosure, found.least.enclosure
    assert bool(there.lower) is bool(enclosed.lower)
    if enclosed.lower:
        assert there.upper * level <= enclosed.upper * (1 + Fraction(1, 10**6))
        assert there.lower * level >= enclosed.lower * (1 - Fraction(1, 10**6))
        for scale, truth in ((enclosed.upper, True), (enclosed.lower, False)):
            assert tight_constraints(mdp.Space(points, Fraction(scale) * m.euclidean())).holds is truth
