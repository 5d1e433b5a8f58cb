"""Tight-constraints mechanisms: existence with proof, all of them, structure, and the scales where they exist."""

import json
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.channels import verify
from metricdp.design import Line, Product, TightConstraints, least_scale, tight_constraints
from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.tight._enclosures import least_by_enclosures
from metricdp.errors import ArgumentError, ImpossibleError, LevelError, TooLargeError
from metricdp.exact.balls import Enclosure
from metricdp.exact.level import ln
from metricdp.metrics import Space
from metricdp.programs.nonnegative import least_solution

HALF = Fraction(1, 2)
INFINITE = math.inf
BOAT = nx.Graph([(0, 2), (0, 4), (0, 6), (1, 2), (1, 3), (1, 5), (2, 3), (3, 4), (3, 6), (4, 5), (5, 6)])


def hops(graph, alpha=HALF):
    """The space of a graph's nodes at the level where one step is worth ``alpha``."""
    return Space(sorted(graph), ln(1 / alpha) * metrics.graph(graph))


def brute_force(graph, alpha):
    """Whether the whole system, without classes, has a nonnegative solution; in Fractions."""
    apart = dict(nx.all_pairs_shortest_path_length(graph))
    nodes = sorted(graph)
    rows = [[Fraction(alpha) ** apart[i][j] if j in apart[i] else Fraction(0) for j in nodes] for i in nodes]
    return least_solution(rows, [Fraction(1)] * len(nodes)).solution is not None


@st.composite
def graphs(draw):
    count = draw(st.integers(3, 7))
    seed = draw(st.integers(0, 10**6))
    graph = nx.gnp_random_graph(count, draw(st.sampled_from([0.4, 0.6])), seed=seed)
    for node in range(1, count):  # connected
        if not nx.has_path(graph, 0, node):
            graph.add_edge(0, node)
    return graph


def on_a_quotient(n=7, level=Fraction(13, 10)):
    return Space.grid(n, n, level * metrics.chebyshev())


# Existence


def test_a_line_has_the_truncated_geometric_mechanism():
    found = tight_constraints(Space.line(4, ln(2) * metrics.absolute()))
    third = Fraction(1, 3)
    assert found.exact == (2 * third, third, third, 2 * third)
    assert found.unique is True
    assert found.check()
    assert found.total.lower == 2
    assert found.channel.probability(0, 3) == Fraction(1, 12)
    assert found.utility.exact == HALF


@pytest.mark.parametrize(("alpha", "exists"), [("7/10", True), ("11/20", False), ("2/5", True)])
def test_existence_is_not_monotone(alpha, exists):
    space = hops(BOAT, Fraction(alpha))
    found = tight_constraints(space)
    assert bool(found) is exists is brute_force(BOAT, Fraction(alpha))
    assert found.check()
    if exists:
        assert verify(found.channel, space).scale == 1.0
    else:
        assert found.diagonal is None
        assert "does not exist" in str(found)
        with pytest.raises(ImpossibleError, match="does not exist"):
            _ = found.channel


def test_a_false_proof_is_seen():
    found = tight_constraints(hops(BOAT, Fraction(2, 5)))
    other = Enclosure(found.diagonal[0].lower * 2, found.diagonal[0].upper * 2)
    assert not TightConstraints(True, found.space, (other, *found.diagonal[1:])).check()
    refuted = tight_constraints(hops(BOAT, Fraction(11, 20)))
    assert not TightConstraints(False, refuted.space, witness=tuple(-w for w in refuted.witness)).check()


@pytest.mark.parametrize(
    "space", [Space.grid(4, 4), on_a_quotient(), Space.line(3, Fraction(1, 7) * metrics.absolute())]
)
def test_irrational_entries_are_enclosed_and_the_channel_is_private(space):
    found = tight_constraints(space)
    assert found.holds
    assert found.unique
    assert found.check()
    assert max(entry.width for entry in found.diagonal) < 1e-20
    assert verify(found.channel, space).holds
    np.testing.assert_allclose(found.channel.matrix.diagonal(), [float(entry) for entry in found.diagonal])
    np.testing.assert_allclose(found.channel.matrix[1], found.row(space.points[1]))
    assert found.row(space.points[1]).sum() == pytest.approx(1)


def test_classes_give_what_the_whole_system_gives():
    space = on_a_quotient()
    classes = DistanceClasses.of(space)
    assert len(classes.leaders) == 10
    assert classes.sizes.sum() == 49
    whole = np.linalg.solve(np.exp(-space.distances), np.ones(49))
    np.testing.assert_allclose([float(entry) for entry in tight_constraints(space).diagonal], whole, atol=1e-12)


def test_classes_refute_too_exactly_and_in_balls():
    for level in (ln(2), Fraction(7, 10)):
        found = tight_constraints(Space.grid(7, 7, level * metrics.chebyshev()))
        assert found.holds is False
        assert found.check()


# All solutions


def test_a_singular_matrix_has_a_segment_of_solutions():
    cube = nx.hypercube_graph(3)
    for node in list(cube):
        cube.add_edge(node, tuple(1 - bit for bit in node))
    space = Space(sorted(cube), ln(3) * metrics.graph(cube))
    found = tight_constraints(space)
    assert found.holds
    assert found.unique is False
    assert len(found.directions) == 1
    even = {tuple(Fraction(3, 4) if sum(node) % 2 == odd else Fraction(0) for node in sorted(cube)) for odd in (0, 1)}
    assert {tuple(entry.lower for entry in corner) for corner in found.corners} == even
    for corner in found.corners:
        assert verify(found.channel_of(corner), space).holds


def test_points_at_distance_zero_may_share_a_column_in_any_way():
    twins = Space("abc", ln(2) * metrics.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]]))
    found = tight_constraints(twins)
    assert found.unique is False
    assert found.check()
    two = Fraction(2, 3)
    assert {tuple(e.lower for e in corner) for corner in found.corners} == {(two, 0, two), (0, two, two)}
    assert verify(found.channel, twins).holds


def test_parts_at_infinite_distance_are_solved_by_themselves():
    apart = [[0, 1, INFINITE], [1, 0, INFINITE], [INFINITE, INFINITE, 0]]
    found = tight_constraints(Space("abc", ln(2) * metrics.matrix("abc", apart)))
    assert found.exact == (Fraction(2, 3), Fraction(2, 3), 1)
    assert found.unique
    assert found.channel.probability("c", "a") == 0


# Structure


@pytest.mark.long
def test_a_line_of_a_hundred_thousand_points():
    found = tight_constraints(Line(range(100_000), ln(2) * metrics.absolute()))
    assert found
    assert len(found) == 100_000
    assert found.total.lower == found.total.upper == Fraction(100_002, 3)  # Corollary 20 of paper 5
    assert found.entry(0).lower == Fraction(2, 3)
    assert found.entry(99_999).lower == Fraction(2, 3)
    assert found.diagonal[50_000] == pytest.approx(1 / 3)
    assert found.row(70_000).sum() == pytest.approx(1)


def test_an_uneven_line_is_what_the_matrix_gives():
    points = [0, 1, 3, Fraction(7, 2), 10]
    line = tight_constraints(Line(points, Fraction(2, 3) * metrics.absolute()))
    whole = tight_constraints(Space(points, Fraction(2, 3) * metrics.absolute()))
    for one, two in zip(line.factors[0][1], whole.diagonal, strict=True):
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert one.width < 1e-20
    np.testing.assert_allclose(line.row(3), whole.row(3))


def test_a_product_is_what_the_matrix_gives():
    parts = Line(range(3), ln(2) * metrics.absolute()), hops(nx.cycle_graph(4))
    found = tight_constraints(Product(*parts))
    graph = nx.cartesian_product(nx.path_graph(3), nx.cycle_graph(4))
    whole = tight_constraints(hops(graph))
    assert [found.entry(point).lower for point in sorted(graph)] == list(whole.exact)
    np.testing.assert_allclose(found.diagonal, [float(value) for value in whole.exact])
    np.testing.assert_allclose(found.row((1, 2)), whole.row((1, 2)))


def test_a_product_with_a_factor_that_has_none_has_none():
    with pytest.raises(ImpossibleError, match="has no tight-constraints mechanism"):
        tight_constraints(Product(Line(range(5)), hops(BOAT, Fraction(11, 20))))


def test_bad_lines_and_products():
    with pytest.raises(ArgumentError, match="must rise; point 2"):
        Line([0, 2, 1])
    with pytest.raises(ArgumentError, match="absolute"):
        Line(range(3), metrics.discrete())
    with pytest.raises(ArgumentError, match="Lines and Spaces"):
        Product()
    with pytest.raises(ArgumentError, match="not on this line"):
        tight_constraints(Line(range(3))).entry(7)
    with pytest.raises(ArgumentError, match="a Space, a Line or a Product"):
        tight_constraints([1, 2])
    with pytest.raises(ArgumentError, match="a Space, a Line or a Product"):
        least_scale("line")


# Scales


def test_the_scales_of_a_graph_where_existence_comes_and_goes():
    found = least_scale(Space(range(7), metrics.graph(BOAT)))
    (_, first), (second, last) = found.intervals
    assert float(first) == pytest.approx(math.log((1 + math.sqrt(5)) / 2), abs=1e-12)
    assert float(last) == INFINITE
    assert second.width < 1e-12
    assert not found.isolated
    assert not found.undecided
    assert found.decided_from == 0
    for alpha in ("7/10", "62/100", "61/100", "11/20", "48/100", "47/100", "2/5"):
        scale = -math.log(Fraction(alpha))
        assert (scale in found) is brute_force(BOAT, Fraction(alpha)), alpha
    assert brute_force(BOAT, Fraction(math.exp(-found.least)))
    assert not brute_force(BOAT, Fraction(math.exp(-found.least + 1e-9)))


def test_the_scale_counts_in_the_metric_that_is_given():
    plain = least_scale(Space.grid(3, 3, metrics.chebyshev()))
    doubled = least_scale(Space.grid(3, 3, ln(4) * metrics.chebyshev()))
    assert float(plain) == pytest.approx(math.log(2 + math.sqrt(5)), abs=1e-12)
    assert float(doubled) == pytest.approx(float(plain) / math.log(4), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(graphs(), st.lists(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40), min_size=4, max_size=4))
def test_polynomials_agree_with_the_whole_system_in_fractions(graph, alphas):
    found = least_scale(Space(sorted(graph), metrics.graph(graph)))
    ends = [float(end) for pair in found.intervals for end in pair]
    singles = [float(scale) for scale in (*found.isolated, *found.undecided)]
    for alpha in alphas:
        scale = -math.log(alpha)
        if all(abs(scale - place) > 1e-9 for place in (*ends, *singles)):
            assert (scale in found) is brute_force(graph, alpha), (sorted(graph.edges), alpha)


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_enclosures_agree_with_polynomials(graph):
    space = Space(sorted(graph), metrics.graph(graph))
    exact = least_scale(space)
    bracket = least_by_enclosures(DistanceClasses.of(space), 0.01)
    assert exact.least <= bracket.upper
    if bracket.lower:
        assert bracket.lower <= exact.least
        assert bracket.upper - bracket.lower <= 1e-9


def test_irrational_distances_are_enclosed():
    space = Space.grid(4, 4)
    found = least_scale(space)
    assert found.decided_from > 0
    assert found.least.enclosure.width <= 1e-9
    for shift, exists in ((0, True), (-1e-9, False), (0.5, True)):
        scaled = Space.grid(4, 4, Fraction(float(found) + shift) * metrics.euclidean())
        assert tight_constraints(scaled).holds is exists


def test_spaces_that_have_one_at_every_scale():
    for space in (
        Space.line(4),
        Space.bits(3),
        Space.grid(3, 4, metrics.manhattan()),
        Space(range(5), metrics.discrete()),
        Line(range(1000)),
        Product(Line(range(100)), Space(range(5), metrics.discrete())),
    ):
        found = least_scale(space)
        assert found.least == 0
        assert len(found.intervals) == 1
        assert 1e-6 in found
        assert 0 not in found


def test_a_product_needs_all_its_factors():
    boat = Space(range(7), metrics.graph(BOAT))
    square = Space.grid(3, 3, metrics.chebyshev())
    found = least_scale(Product(boat, square))
    assert found.least == least_scale(square).least
    assert len(found.intervals) == 1
    assert len(least_scale(Product(boat, Line(range(3)))).intervals) == 2


def test_distances_of_any_size_are_brought_near_one():
    """10^400 is no float; and floor, steps and brackets are relative to the distances."""
    plain = least_scale(Space.grid(3, 3)).least.enclosure
    for level in (10**9, Fraction(1, 10**9), 10**400, Fraction(1, 10**400)):
        found = least_scale(Space.grid(3, 3, level * metrics.euclidean())).least.enclosure
        assert 0 < found.lower * level <= plain.upper
        assert plain.lower <= found.upper * level
        assert found.width / found.upper < 1e-8
    with pytest.raises(ArgumentError, match="too much for floats"):
        least_scale(Space([(0, 0), (Fraction(1, 10**60), 0), (1, 1)], metrics.euclidean()))
    mixed = least_scale(Space([(0.0, 0.0), (1e-40, 0.0), (1.0, 1.0)], metrics.euclidean()))
    assert mixed.decided_from == float(mixed.least)


def test_points_that_are_nearly_one_have_a_channel():
    space = Space([0.0, 1e-60, 1.0], metrics.absolute())
    found = tight_constraints(space)
    assert found.holds
    assert verify(found.channel, space).holds


def test_a_channel_that_cannot_be_written_out_is_refused():
    found = tight_constraints(Space.line(3, 10**9 * metrics.absolute()))
    assert found.holds
    with pytest.raises(LevelError, match="a smaller level"):
        _ = found.channel


@pytest.mark.long
def test_sizes_beyond_reach_are_refused():
    # a path with one chord sees no symmetry, and its distances are many
    many = nx.path_graph(700)
    many.add_edges_from([(0, 2), (3, 7)])
    with pytest.raises(TooLargeError, match="at most 600 classes"):
        least_scale(Space(range(700), metrics.graph(many)))


# Stopping, and what is shown


def scattered(count, seed=3):
    points = np.random.default_rng(seed).random((count, 2))
    return Space([tuple(point) for point in points.tolist()], metrics.euclidean())


def test_a_time_limit_leaves_the_scales_proved_so_far():
    space = scattered(60)
    whole = least_scale(space)
    assert whole.finished, whole.reason
    assert whole.least.upper - whole.least.lower <= 1e-9 * whole.least.upper
    updates = []
    early = least_scale(space, time_limit=0.1)
    assert not early.finished
    assert "time limit" in early.reason
    assert early.least >= whole.least, "what is proved stays true"
    wide = least_scale(space, gap=1e-3, progress=updates.append)
    assert wide.finished
    assert updates[-1].unit == "intervals"
    assert wide.least.lower <= whole.least.upper
    assert whole.least.lower <= wide.least.upper


def test_a_time_limit_with_nothing_proved_is_an_error():
    with pytest.raises(TooLargeError, match=r"time_limit=1e-06 seconds were not enough to find the scales"):
        least_scale(Space.grid(4, 5, metrics.chebyshev()), time_limit=1e-6)
    with pytest.raises(TooLargeError, match="to solve the equations"):
        tight_constraints(scattered(40), time_limit=1e-9)


def test_answers_are_shown_and_written():
    found = tight_constraints(Space.line(3, ln(2) * metrics.absolute()))
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert document["holds"] is True
    assert document["diagonal"][0]["exact"] == "2/3"
    refuted = tight_constraints(Space.grid(3, 3, ln(Fraction(4, 3)) * metrics.chebyshev()))
    assert refuted.reason
    assert len(refuted.to_json()["witness"]) == 9
    scales = least_scale(Space.grid(3, 3, metrics.chebyshev()))
    assert json.loads(json.dumps(scales.to_json(), allow_nan=False))["intervals"][-1][1]["upper"] == "infinite"
    line = tight_constraints(Line(range(1000)))
    assert line.to_json()["points"] == 1000
    for shown in (found, refuted, scales, line):
        assert "Fraction" not in repr(shown)
        assert len(repr(shown)) < 300
        assert shown._repr_html_().startswith("<b>")
