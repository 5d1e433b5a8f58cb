"""Capacities of a privacy type: formulas, programs, proofs and the channels that reach them."""

import json
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.adversaries import capacity as capacity_of
from metricdp.channels import certify, verify
from metricdp.design import capacity
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.level import ln
from metricdp.metrics import Space
from metricdp.programs import LinearProgram, Sparse

LN2 = ln(2)


def plain_program(space, largest):
    """The linear program as Corollaries 17 and 18 write it: one unknown for each entry of the channel."""
    count, falls = len(space), np.exp(-space.distances)
    program = LinearProgram(maximize=largest)
    program.add_columns([float(i == j) for i in range(count) for j in range(count)])
    program.add_rows(1, 1, Sparse.of([{i * count + j: 1.0 for j in range(count)} for i in range(count)]))
    pairs = [(i, k, j) for j in range(count) for i in range(count) for k in range(count) if i != k]
    rows = [{i * count + j: falls[i, k], k * count + j: -1.0} for i, k, j in pairs]
    program.add_rows(-math.inf, 0, Sparse.of(rows))
    value = program.solve().objective
    return value if largest else 1 - value


def both(found):
    return found.multiplicative, found.additive


def check_reached(space, found, within=1e-9):
    """The channels are private and reach the capacities, which are bounds from above."""
    for channel, value, name in (
        (found.multiplicative_channel, found.multiplicative, "multiplicative"),
        (found.additive_channel, found.additive, "additive"),
    ):
        assert verify(channel, space).holds
        reached = getattr(capacity_of(channel), name)
        assert reached <= value <= reached + within
        assert value.enclosure.lower <= value.enclosure.upper <= reached + within


SPACES = {
    "line": Space.line(5, LN2 * metrics.absolute()),
    "even line, irrational": Space([0.5, 1, 1.5, 2], Fraction(1, 3) * metrics.absolute()),
    "uneven line": Space([0, 1, 3, 4], LN2 * metrics.absolute()),
    "discrete": Space(range(4), LN2 * metrics.discrete()),
    "discrete, irrational": Space(range(5), metrics.discrete()),
    "bits": Space.bits(3, LN2 * metrics.hamming()),
    "manhattan": Space.grid(3, 4, LN2 * metrics.manhattan()),
    "euclidean": Space.grid(3, 3, LN2 * metrics.euclidean()),
    "no tight mechanism": Space.grid(3, 3, ln(Fraction(4, 3)) * metrics.chebyshev()),
    "star": Space(range(6), LN2 * metrics.graph(nx.star_graph(5))),
    "cycle": Space(range(7), LN2 * metrics.graph(nx.cycle_graph(7))),
}


@pytest.mark.parametrize("name", SPACES)
def test_formula_program_and_plain_program_agree(name):
    space = SPACES[name]
    chosen, programmed = capacity(space), capacity(space, method="program")
    for one, two, largest in zip(both(chosen), both(programmed), (True, False), strict=True):
        assert one.enclosure.lower <= two.enclosure.upper
        assert two.enclosure.lower <= one.enclosure.upper
        assert two == pytest.approx(plain_program(space, largest), abs=1e-7)
    check_reached(space, chosen)
    check_reached(space, programmed)


@pytest.mark.parametrize("name", [name for name, space in SPACES.items() if space.metric.level.log_of is not None])
def test_rational_spaces_are_solved_exactly_by_the_program(name):
    space = SPACES[name]
    if name == "euclidean":
        assert capacity(space).additive.exact is None
        return
    for one, two in zip(both(capacity(space)), both(capacity(space, method="program")), strict=True):
        assert one.exact is not None
        assert one.exact == two.exact
    check_reached(space, capacity(space, method="program"), within=Fraction(1, 10**15))


@pytest.mark.parametrize("count", range(2, 9))
@pytest.mark.parametrize("factor", [2, 3, Fraction(5, 4)])
def test_even_lines(count, factor):
    alpha, (half, odd) = 1 / Fraction(factor), divmod(count, 2)
    found = capacity(Space.line(count, ln(factor) * metrics.absolute()), method="program")
    assert found.multiplicative.exact == (count * (1 - alpha) + 2 * alpha) / (1 + alpha)
    assert found.additive.exact == (1 - alpha**half if odd else 1 - 2 * alpha**half / (1 + alpha))


@pytest.mark.parametrize("count", range(2, 7))
def test_discrete_spaces(count):
    found = capacity(Space(range(count), ln(3) * metrics.discrete()), method="program")
    assert found.multiplicative.exact == count / (1 + (count - 1) * Fraction(1, 3))
    assert found.additive.exact == 1 - Fraction(count, 1 + (count - 1) * 3)


def test_a_product_of_formulas_at_a_size_without_programs():
    found = capacity(Space.grid(12, 13, LN2 * metrics.manhattan()))
    alpha = Fraction(1, 2)
    assert found.multiplicative.exact == Fraction(14, 3) * 5
    assert found.additive.exact == 1 - (2 * alpha**6 / (1 + alpha)) * alpha**6


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), st.sampled_from([0.01, 0.3, 1.0, 5.0, 20.0, 60.0]))
def test_no_private_channel_leaks_more(count, seed, size):
    generator = np.random.default_rng(seed)
    points = [tuple(map(float, point)) for point in generator.uniform(0, size, (count, 2))]
    space = Space(points, metrics.euclidean())
    found = capacity(space)
    check_reached(space, found)
    for _ in range(3):
        leaks = capacity_of(certify(generator.dirichlet(np.full(count, 0.2), count), space))
        assert leaks.multiplicative <= found.multiplicative.enclosure.upper
        assert leaks.additive <= found.additive.enclosure.upper


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 6), st.integers(0, 10**6), st.sampled_from([Fraction(5, 4), 2, 8]))
def test_graphs_are_solved_exactly(count, seed, factor):
    graph = nx.compose(nx.gnp_random_graph(count, 0.4, seed=seed), nx.star_graph(count - 1))
    space = Space(range(count), ln(factor) * metrics.graph(graph))
    found = capacity(space, method="program")
    assert found.multiplicative.exact == pytest.approx(plain_program(space, True), abs=1e-6)
    assert found.additive.exact == pytest.approx(plain_program(space, False), abs=1e-6)
    assert capacity_of(found.multiplicative_channel).multiplicative == found.multiplicative.exact
    assert capacity_of(found.additive_channel).additive == found.additive.exact


def test_parts_at_infinite_distance_and_points_at_distance_zero():
    far = math.inf
    apart = [[0, 1, far, far], [1, 0, far, far], [far, far, 0, 0], [far, far, 0, 0]]
    space = Space("abcd", LN2 * metrics.matrix("abcd", apart))
    found = capacity(space)
    assert found.multiplicative.exact == Fraction(4, 3) + 1
    assert found.additive.exact == 1
    check_reached(space, found)


def test_one_point_and_far_points():
    alone = capacity(Space([7], metrics.absolute()))
    assert (alone.multiplicative.exact, alone.additive.exact) == (1, 0)
    space = Space([0, 1, 200, 455], metrics.absolute())
    found = capacity(space)
    assert found.additive <= 1
    check_reached(space, found)


def test_refusals():
    with pytest.raises(ArgumentError, match="capacity takes a Space"):
        capacity(SPACES["line"].points)
    with pytest.raises(ArgumentError, match="method"):
        capacity(SPACES["line"], method="guess")
    with pytest.raises(TooLargeError, match="at most 100 points"):
        capacity(Space.grid(11, 11), method="program")


def test_a_time_limit_leaves_what_is_proved_so_far():
    generator = np.random.default_rng(5)
    space = Space([tuple(point) for point in generator.random((60, 2)).tolist()], 3 * metrics.euclidean())
    early = capacity(space, time_limit=0.5, method="program")
    assert not early.finished
    assert "time limit" in early.reason
    assert "not finished" in str(early)
    check_reached(space, early, within=math.inf)


def test_a_wide_gap_takes_fewer_rounds_and_is_kept():
    generator = np.random.default_rng(6)
    space = Space([tuple(point) for point in generator.random((12, 2)).tolist()], 3 * metrics.euclidean())
    updates = []
    wide = capacity(space, gap=0.05, method="program", progress=updates.append)
    near = capacity(space, method="program")
    assert updates
    assert {update.unit for update in updates} == {"rounds"}
    assert wide.finished
    assert near.finished
    for one, two in ((wide.multiplicative, near.multiplicative), (wide.additive, near.additive)):
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert one.upper - one.lower <= 0.05 * one.upper
        assert two.upper - two.lower <= 1e-8 * two.upper


def test_a_space_has_what_a_channel_has():
    found = capacity(SPACES["line"])
    assert isinstance(found, type(capacity_of(found.multiplicative_channel)))
    assert found.bits == pytest.approx(math.log2(found.multiplicative))
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert document["multiplicative"]["lower"] <= document["multiplicative"]["upper"]
    assert document["finished"] is True
    assert "Fraction" not in repr(found)
    assert "multiplicative" in found._repr_html_()
