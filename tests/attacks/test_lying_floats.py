"""Metrics whose floats lie, through every function that returns a proof.

Taxonomies whose depths cancel, distances that floats do not hold, coordinates that floats merge and levels beyond the
largest float: whatever is claimed of them is decided here again, by brute force in rationals and balls.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from metricdp.adversaries import (
    error_bound,
    informed_bound,
    regular,
    utility_bound,
    vulnerability,
)
from metricdp.adversaries.error_bounds import reached_error
from metricdp.channels import Channel, certify, of, refines, verify
from metricdp.errors import ArgumentError, ImpossibleError, MetricDPError, NotAMetricError, TooLargeError
from metricdp.exact.balls import ball, precision
from metricdp.exact.level import ln
from metricdp.mechanisms import exponential
from metricdp.metrics import (
    Guarantee,
    Space,
    absolute,
    chebyshev,
    discrete,
    euclidean,
    great_circle,
    manhattan,
    matrix,
    nullable,
    records,
    smooth,
    taxonomy,
)
from tests.attacks.effort import attack

TINY, THIRD = Fraction(1, 2**1074), Fraction(1, 3)
LENGTHS = (1, 10**17, 0, THIRD, Fraction(1, 2**1070) / 3, 10**17 + THIRD, 2)
LEVELS = (1, ln(2), Fraction(1, 10), 10**40, Fraction(1, 10**320), 3)


# Spaces whose floats lie


@st.composite
def taxonomies(draw):
    count = draw(st.integers(3, 6))
    parents = {node: draw(st.integers(0, node - 1)) for node in range(1, count)}
    metric = taxonomy(parents, {child: draw(st.sampled_from(LENGTHS)) for child in parents})
    points = draw(st.lists(st.sampled_from(range(count)), min_size=2, max_size=4, unique=True))
    return metric, points


@st.composite
def numbers(draw):
    near = st.sampled_from([Fraction(0), TINY, 3 * TINY, TINY * THIRD, Fraction(1), THIRD, Fraction(10**20)])
    offset = draw(st.sampled_from([Fraction(0), Fraction(10**20), THIRD]))
    points = draw(st.lists(near, min_size=2, max_size=4, unique=True))
    return absolute(), [offset + point for point in points]


@st.composite
def vectors(draw):
    near = st.sampled_from([Fraction(0), TINY, THIRD, THIRD + Fraction(1, 10**30), Fraction(1), Fraction(10**18)])
    points = draw(st.lists(st.tuples(near, near), min_size=2, max_size=4, unique=True))
    return draw(st.sampled_from([euclidean(), manhattan(), chebyshev(), records(10**15 * absolute(), 2)])), points


@st.composite
def places(draw):
    first = (Fraction(48) + THIRD, Fraction(2))
    steps = st.sampled_from([Fraction(0), Fraction(1, 10**20), Fraction(1, 10**9), Fraction(1), Fraction(360)])
    moves = draw(st.lists(st.tuples(steps, steps), min_size=2, max_size=3, unique=True))
    points = {((first[0] + a) % 90, first[1] + b) for a, b in moves}
    return great_circle() / 10, sorted(points)


@st.composite
def hidden(draw):
    """A distance that is small beside one that is smaller than floats, so that a part of it is lost."""
    points = draw(st.lists(st.sampled_from([0, TINY / 3, TINY, 1, 2]), min_size=2, max_size=4, unique=True))
    if draw(st.booleans()):
        return smooth(absolute(), 1) + absolute(), [Fraction(point) for point in points]
    deep = 10**15 * absolute()
    for _ in range(2):
        deep = 10**15 * records(deep)
    return deep, [((Fraction(point),),) for point in points]


ANY = st.one_of(taxonomies(), numbers(), vectors(), places(), hidden())


@st.composite
def spaces(draw, within=ANY, levels=LEVELS):
    metric, points = draw(within)
    assume(len(points) > 1)
    return Space(points, metric * draw(st.sampled_from(levels)))


def distance(space, i, j):
    """The distance as a ball, from what is exact of the metric alone."""
    return space.metric.ball(space.points[i], space.points[j])


def breaks(ratio, apart):
    """Whether a ratio of likelihoods is above exp(apart), for certain."""
    return bool(ratio.log() > apart)


def private(channel, space):
    """Whether a channel is private, decided pair by pair and output by output in balls of many bits."""
    with precision(1500):
        for x, other in itertools.permutations(range(len(channel.inputs)), 2):
            apart = space.metric.ball(channel.inputs[x], channel.inputs[other])
            if not apart.is_finite():
                continue
            for one, two in zip(channel.weights[x].tolist(), channel.weights[other].tolist(), strict=True):
                if one > two and (two == 0 or breaks(ball(one) / ball(two), apart)):
                    return False
    return True


# Distances


@attack(150)
@given(spaces())
def test_enclosures_hold_the_distance(space):
    known = space.enclosures
    for i, j in itertools.product(range(len(space)), repeat=2):
        true = space.metric.enclose(space.points[i], space.points[j], 128)
        assert float(known.lower[i, j]) <= true.lower
        assert true.upper <= float(known.upper[i, j])
        exact = space.metric.exactly(space.points[i], space.points[j])
        assert bool(known.zero[i, j]) == (exact == 0)
        assert bool(known.infinite[i, j]) == (exact == math.inf)
        held = true.lower > 1e-280 and true.upper < 1e280
        assert not held or known.upper[i, j] <= known.lower[i, j] * (1 + 1e-7)
        assert (space.distances[i, j] == 0) == (exact == 0)
        assert (space.distances[i, j] == math.inf) == (exact == math.inf)


@attack(80)
@given(taxonomies())
def test_distances_of_a_taxonomy_are_those_of_its_graph(case):
    metric, points = case
    nodes = range(len(metric.nodes))
    far = [[Fraction(0) if i == j else math.inf for j in nodes] for i in nodes]
    for node, parent in enumerate(metric.parents):
        if parent >= 0:
            far[node][parent] = far[parent][node] = metric.lengths[node]
    far = shortest(far)
    known = metric.enclosures(points)
    for (i, x), (j, y) in itertools.product(enumerate(points), repeat=2):
        true = far[metric.nodes.index(x)][metric.nodes.index(y)]
        assert metric.exactly(x, y) == true
        assert float(known.lower[i, j]) <= true <= float(known.upper[i, j])


@attack(80)
@given(spaces())
def test_the_farthest_pair_is_the_farthest(space):
    x, y = space.metric.farthest(space.points)
    with precision(900):
        longest = space.metric.ball(x, y)
        for one, other in itertools.product(space.points, repeat=2):
            assert not space.metric.ball(one, other) > longest, str(space.metric)
    true = space.metric.enclose(x, y, 128)
    diameter = space.metric.diameter(space.points)
    assert diameter == math.inf or true.upper > 1e-300 or diameter < 1e-299
    if true.lower > 1e-300 and true.upper < 1e300:
        assert abs(Fraction(diameter) / Fraction(true.lower) - 1) < Fraction(1, 2**50), str(space.metric)


# Axioms


ENTRIES = (TINY, 2 * TINY, TINY * THIRD, 2 * TINY * THIRD, 3 * TINY, Fraction(1), Fraction(10**400), 2 * 10**400, THIRD)


@st.composite
def tables(draw):
    size = draw(st.integers(3, 4))
    some = draw(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=3, unique=True))
    rows = [[Fraction(0)] * size for _ in range(size)]
    for i, j in itertools.combinations(range(size), 2):
        rows[i][j] = rows[j][i] = draw(st.sampled_from(some)) * draw(st.sampled_from([1, 1, 2, 3, THIRD]))
    return rows


def shortest(rows):
    least = [list(row) for row in rows]
    for k, i, j in itertools.product(range(len(rows)), repeat=3):
        least[i][j] = min(least[i][j], least[i][k] + least[k][j])
    return least


@attack(200)
@given(tables())
def test_a_matrix_is_taken_just_where_it_is_a_metric(rows):
    points = range(len(rows))
    metric = matrix(points, rows, check=False)
    is_metric = shortest(rows) == rows
    assert (metric.violation(points) is None) == is_metric
    if not is_metric:
        with pytest.raises(NotAMetricError):
            matrix(points, rows)
        with pytest.raises(NotAMetricError):
            Space(points, 3 * metric)
    closed = metric.closure(points)
    assert [[closed.exactly(x, y) for y in points] for x in points] == shortest(rows)


@attack(60)
@given(tables())
def test_closures_of_irrational_distances_are_the_shortest_paths(rows):
    """The root of two beside each distance makes them irrational; a number before them changes no path."""
    points = range(len(rows))
    metric = nullable(ln(2) * matrix(points, rows, check=False), 10**500)
    closed = metric.closure(points)
    least = shortest(rows)
    for x, y in itertools.combinations(points, 2):
        with precision(200):
            apart, true = closed.ball(x, y), ball(least[x][y]) * ball(2).log()
            assert apart.overlaps(true)


# Guarantees


@attack(200)
@given(st.one_of(taxonomies(), numbers()), st.data())
def test_implications_are_right(case, data):
    metric, points = case
    exact = [[metric.exactly(x, y) for y in points] for x in points]
    nudge = st.sampled_from([1, 1, 1 - Fraction(1, 10**12), 1 + Fraction(1, 10**12), 2])
    other = [list(row) for row in exact]
    for i, j in itertools.combinations(range(len(points)), 2):
        other[i][j] = other[j][i] = exact[i][j] * data.draw(nudge)
    near = matrix(points, other, check=False)
    for one, two, mine, theirs in ((metric, near, exact, other), (near, metric, other, exact)):
        closed = shortest(mine)
        true = all(a <= b for r, s in zip(closed, theirs, strict=True) for a, b in zip(r, s, strict=True))
        assert Guarantee(one).implies(Guarantee(two), points) == true
        assert Guarantee(ln(2) * one).implies(Guarantee(ln(2) * two), points) == true


@attack(60)
@given(spaces())
def test_a_guarantee_implies_itself_and_no_smaller_one(space):
    mine = Guarantee(space.metric)
    assert mine.implies(mine, space.points)
    assert mine.implies(Guarantee(space.metric + space.metric), space.points)
    smaller = Guarantee(space.metric * (1 - Fraction(1, 10**30)))
    apart = any(space.metric.exactly(x, y) not in (0, math.inf) for x, y in itertools.combinations(space.points, 2))
    assert smaller.implies(mine, space.points)
    assert mine.implies(smaller, space.points) != apart


# Mechanisms and channels


def assert_exponential_is_private(space):
    mechanism = exponential(space)
    with precision(3000):
        laws = [mechanism.probabilities(place) for place in range(len(space))]
        for x, other in itertools.permutations(range(len(space)), 2):
            apart = distance(space, x, other)
            if apart.is_finite():
                for one, two in zip(laws[x], laws[other], strict=True):
                    assert not one > two * apart.exp(), (mechanism.share, space.points[x], space.points[other])


@attack(60)
@given(spaces(levels=(1, ln(2), Fraction(1, 10), 3, Fraction(1, 10**17), Fraction(1, 10**320))))
def test_the_exponential_mechanism_is_private(space):
    assert_exponential_is_private(space)


@pytest.mark.parametrize(
    "space",
    [
        Space("abc", taxonomy(dict.fromkeys("abc", "l") | {"l": "t"}, {"l": 10**17, "a": 1, "b": 2, "c": 0})),
        Space([(THIRD, THIRD + Fraction(k, 10**18)) for k in range(3)], 10**13 * great_circle()),
        Space([0, Fraction(1, 10**330), Fraction(2, 10**330)], 10**330 * absolute()),
    ],
    ids=["taxonomy", "globe", "level"],
)
def test_the_exponential_mechanism_where_floats_see_no_distance(space):
    assert_exponential_is_private(space)


@st.composite
def rows_of_weights(draw, count):
    outputs = draw(st.integers(2, 3))
    small = st.sampled_from([1, 2, 3, 4, 5, 7, 100, 10**6, 10**18, 10**18 + 1])
    rows = [[draw(small) for _ in range(outputs)] for _ in range(count)]
    if draw(st.booleans()):  # nearly private
        rows = [[value + 10**9 for value in row] for row in rows]
    if draw(st.booleans()):  # twins
        rows[-1] = rows[0]
    total = math.lcm(*(sum(row) for row in rows))
    return [[value * (total // sum(row)) for value in row] for row in rows], total


@attack(150)
@given(spaces(), st.data())
def test_verdicts_are_those_of_rationals(space, data):
    rows, total = data.draw(rows_of_weights(len(space)))
    channel = Channel(space.points, tuple(range(len(rows[0]))), np.array(rows, dtype=object), total)
    assert bool(verify(channel, space)) == private(channel, space)
    own = channel.guarantee.metric
    assert verify(channel, Space(space.points, own))
    assert private(channel, Space(space.points, own))


@attack(60)
@given(spaces(), st.data())
def test_a_promise_is_verified_before_it_is_believed(space, data):
    rows, total = data.draw(rows_of_weights(len(space)))
    made = functools.partial(Channel, space.points, tuple(range(len(rows[0]))), np.array(rows, dtype=object), total)
    promise = Guarantee(space.metric)
    if private(made(), space):
        assert made(promise).guarantee == promise
    else:
        with pytest.raises(ArgumentError, match="does not keep its promise"):
            made(promise)
        with pytest.raises(ArgumentError, match="does not keep its promise"):
            made().promising(promise)


def test_a_broken_triangle_cannot_be_verified():
    """Two steps of 3/5 of the least float are shorter than one of 7/5; as floats they are longer."""
    step, leap = TINY * 3 / 5, TINY * 7 / 5
    rows = [[0, step, leap, 1], [step, 0, step, 1], [leap, step, 0, 1], [1, 1, 1, 0]]
    with pytest.raises(NotAMetricError):
        matrix("abcd", rows)
    scaled = 2**1074 * matrix("abcd", rows, check=False)
    with pytest.raises(NotAMetricError):
        Space("abcd", scaled)
    assert scaled.closure("abcd").exactly("a", "c") == Fraction(6, 5)


@attack(30)
@given(spaces(levels=(1, ln(2), Fraction(1, 10**17))), st.data())
def test_what_is_certified_is_private(space, data):
    rows, total = data.draw(rows_of_weights(len(space)))
    try:
        channel = certify([[value / total for value in row] for row in rows], space)
    except ImpossibleError:
        return
    assert private(channel, space)
    assert verify(channel, space)


@attack(30)
@given(spaces(levels=(1, ln(2), Fraction(1, 10**17))))
def test_the_channel_of_a_mechanism_is_private(space):
    try:
        channel = of(exponential(space), space.points)
    except (TooLargeError, ImpossibleError):
        return
    assert private(channel, space)
    assert refines(channel, channel)


# Adversaries


@attack(40)
@given(spaces(levels=(1, ln(2), Fraction(1, 10**17))))
def test_bounds_hold_for_a_private_channel(space):
    try:
        channel = of(exponential(space), space.points)
    except (TooLargeError, ImpossibleError):
        return
    bound = error_bound(space)
    reached = reached_error(channel, space)
    assert max(bound.best, bound.anywhere) <= reached
    assert vulnerability("uniform", channel, exact=True) <= Fraction(utility_bound("uniform", space))
    found = regular("uniform", space)
    assert found.holds is None or found.check(bits=8192)
    assert informed_bound(space, space.points, channel).holds in (True, None)


@attack(80)
@given(spaces(levels=(1, ln(2), Fraction(1, 10))))
def test_error_bounds_are_those_of_the_theorems(space):
    """Theorems 6 and 7, with the diameter, the least distance and the largest level found by brute force."""
    bound, unit = error_bound(space), space.metric.unit
    with precision(400):
        pairs = list(itertools.combinations(space.points, 2))
        growth = functools.reduce(arb.max, [space.metric.ball(*pair) for pair in pairs]).exp()
        errors = [unit.ball(*pair) for pair in pairs]
        spread, closest = functools.reduce(arb.max, errors), functools.reduce(arb.min, errors)
        others = len(space) - 1
        six, seven = spread / (2 * (1 + growth)), closest * others / (others + growth)
        if spread.is_finite():
            assert not ball(float(bound.theorem_6)) > six
        if closest.is_finite():
            assert not ball(float(bound.theorem_7)) > seven


def test_what_cannot_be_done_is_refused_in_words():
    """Beyond all floats, no error but one of ours."""
    space = Space(range(3), 10**330 * absolute())
    for ask in (
        lambda: exponential(space).release(1),
        lambda: of(exponential(space), range(3)),
        lambda: certify(np.full((3, 3), 1 / 3), space),
        lambda: error_bound(space),
        lambda: utility_bound("uniform", space),
        lambda: Guarantee(space.metric).odds(10**400),
        lambda: Guarantee(space.metric).implies(Guarantee(discrete()), range(3)),
        lambda: space.metric.diameter(range(3)),
        lambda: space.metric.normalized(range(3)),
    ):
        with contextlib.suppress(MetricDPError):
            ask()
    with pytest.raises(TooLargeError, match="too small for a channel"):
        of(exponential(space), range(3))
