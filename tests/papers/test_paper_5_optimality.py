"""Paper 5, Sections IV.C to IV.E and VI: Theorems 6, 8, 10, 11 and 12, Corollaries 7, 9 and 13, Fig. 8."""

import itertools
from fractions import Fraction

import pytest
from flint import fmpq_mat

import metricdp as mdp
from metricdp.adversaries import Loss, as_loss, distance, is_monotone, is_strictly_monotone, is_trivial, lifted
from metricdp.channels import Channel, choice, of, refines, restrict, verify
from metricdp.design import compare, universal_example, universal_mechanism, universally_optimal
from metricdp.metrics import Space, absolute, discrete, hamming

LEVELS = [mdp.ln("11/10"), mdp.ln("3/2"), mdp.ln(2), mdp.ln(10)]
LINE = Space.line(3, mdp.ln(2) * absolute())
GEOMETRIC = of(mdp.truncated_geometric(LINE.metric, steps=2), range(3))
RESPONSE = of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
NOTHING = Channel.from_matrix(range(3), [0], [[1]] * 3)
LOSSES = ["bin", "nib", "distance", [[0, 1, 1], [1, 0, 0]], [[0, 5, 1], [2, 0, 2], [1, 5, 0], ["1/2", 1, "1/2"]]]


def utility_set(channel, space, losses):
    return [bool(universally_optimal(channel, space, loss)) for loss in losses]


# Theorem 6, on losses and channels that make both sides of each claim true somewhere and false somewhere


@pytest.mark.parametrize("channel", [GEOMETRIC, RESPONSE, NOTHING])
def test_theorem_6_1_trivial_losses_are_in_every_set(channel):
    trivial = Loss.from_matrix("uv", range(3), [[3, 1, 2], [3, 1, 2]])
    assert is_trivial(trivial)
    assert universally_optimal(channel, LINE, trivial)


def test_theorem_6_2_who_tells_more_serves_more():
    """A mechanism that is another with its outputs merged serves no loss that the other does not."""
    coarser = GEOMETRIC @ Channel.from_matrix(range(3), "ab", [[1, 0], [1, 0], [0, 1]])
    assert refines(coarser, GEOMETRIC)
    one, two = utility_set(GEOMETRIC, LINE, LOSSES), utility_set(coarser, LINE, LOSSES)
    assert all(a or not b for a, b in zip(one, two, strict=True))
    assert one != two


def test_theorem_6_3_nothing_serves_trivial_losses_alone():
    assert utility_set(NOTHING, LINE, LOSSES) == [False] * len(LOSSES)


def test_theorem_6_3_trivial_is_to_be_read_as_in_definition_a1():
    """Where one action is the best everywhere, the channel of nothing serves, though the loss depends on the action."""
    dominated = Loss.from_matrix("uv", range(3), [[0, 1, 0], [1, 1, 2]])
    assert not is_trivial(dominated)
    assert universally_optimal(NOTHING, LINE, dominated)


def test_theorem_6_4_a_choice_serves_what_both_serve():
    space = Space(range(3), mdp.ln(2) * discrete())
    first = universal_example(space)
    other = Channel.from_matrix(range(3), "bc", [["1/3", "2/3"], ["2/3", "1/3"], ["1/3", "2/3"]])
    losses = [first.loss, Loss.from_matrix("bc", range(3), [[1, 0, 1], [0, 1, 0]]), *LOSSES[:3], [[1, 1, 1]] * 2]
    mixed = choice(Fraction(1, 3), first.channel, other)
    one, two, both = (utility_set(channel, space, losses) for channel in (first.channel, other, mixed))
    assert one == [True, False, False, False, False, True]
    assert two == [True, True, False, False, False, True]
    assert both == [a and b for a, b in zip(one, two, strict=True)]


@pytest.mark.parametrize("loss", ["bin", [[0, 1], [3, 0]], [[0, 2], [1, 1], [2, 0]]])
def test_theorem_6_5_optimal_on_some_secrets_lifts(loss):
    space = Space(range(4), mdp.ln(3) * discrete())
    channel = universal_example(space).channel
    part = Space([0, 1], space.metric)
    small = as_loss(loss, part.points)
    assert universally_optimal(restrict(channel, part.points), part, small)
    assert universally_optimal(channel, space, lifted(small, space.points))


def test_theorem_6_5_does_not_go_back():
    """On a line of three the geometric mechanism serves bin lifted from the ends; on the ends alone it is not the best.

    The best for the ends alone would be T with e^d = 4 (Corollary 9). It has no middle row: privacy allows 2/5 at most
    for each output there.
    """
    ends = Space([0, 2], LINE.metric)
    assert universally_optimal(GEOMETRIC, LINE, lifted(as_loss("bin", ends.points), LINE.points))
    alone = universally_optimal(restrict(GEOMETRIC, ends.points), ends, "bin")
    assert alone.refuted
    assert (alone.loss, alone.better_loss) == (Fraction(1, 4), Fraction(1, 5))


def test_sums_and_scalings_stay_in_the_set():
    """Eq. 13 and 14: the utility set is closed under addition and generalised scalar multiplication."""
    bin_, far = as_loss("bin", range(3)), distance(LINE)
    assert universally_optimal(GEOMETRIC, LINE, bin_ + far)
    assert universally_optimal(GEOMETRIC, LINE, bin_.weighted([2, 0, "1/3"]))
    assert universally_optimal(GEOMETRIC, LINE, far.weighted([1, 5, 2]))


# Two secrets


@pytest.mark.parametrize("factor", ["11/10", 2, 9])
@pytest.mark.parametrize("loss", ["bin", "nib", [[0, 7], [1, 0]], [[0, 3], [1, 1], [2, "1/2"]], [[-1, 4], [2, "-3/7"]]])
def test_corollary_9_two_secrets(factor, loss):
    space = Space.line(2, mdp.ln(factor) * absolute())
    k = 1 / (1 + Fraction(factor))
    best = Channel.from_matrix([0, 1], "yz", [[1 - k, k], [k, 1 - k]])
    assert universally_optimal(best, space, loss)
    found = universal_mechanism(space, loss)  # Theorem 8: one kernel, which serves every loss
    assert found
    assert compare(found.channel, best, loss).equal
    weaker = Channel.from_matrix([0, 1], "yz", [[1 - k, k], [(1 + k) / 3, (2 - k) / 3]])
    assert verify(weaker, space)
    assert not universally_optimal(weaker, space, loss)


# Existence


FAR = mdp.metrics.matrix("abf", [[0, 1, "inf"], [1, 0, "inf"], ["inf", "inf", 0]])
UNEVEN = mdp.metrics.matrix("abcd", [[0, 3, 4, 4], [3, 0, 2, 2], [4, 2, 0, 1], [4, 2, 1, 0]])


@pytest.mark.parametrize(
    ("space", "lifted_is_monotone"),
    [
        (Space(range(5), mdp.ln(2) * discrete()), False),
        (Space.line(4, mdp.ln(3) * absolute()), False),
        (Space("abcd", mdp.ln(2) * UNEVEN), False),
        (Space.grid(2, 3, 0.7 * mdp.metrics.euclidean()), False),
        (Space("abf", FAR), False),
        (Space.bits(3, mdp.ln(2) * hamming()), True),  # each action goes to the point opposite to the other
        (Space.grid(2, 2, mdp.ln(2) * mdp.metrics.euclidean()), True),
    ],
    ids=str,
)
def test_theorem_10_a_universally_optimal_mechanism_always_exists(space, lifted_is_monotone):
    """The loss of the proof, with zeros on the other points, is not monotone in general; ours always is."""
    example = universal_example(space)
    assert verify(example.channel, space)
    assert not is_trivial(example.loss)
    assert is_monotone(space, example.loss)
    assert universally_optimal(example.channel, space, example.loss)
    paper = lifted(as_loss("bin", example.pair), space.points)
    assert universally_optimal(example.channel, space, paper)
    assert is_monotone(space, paper) is lifted_is_monotone


def test_theorem_10_needs_the_closest_pair():
    space = Space("abc", mdp.ln(2) * mdp.metrics.matrix("abc", [[0, 2, 3], [2, 0, 1], [3, 1, 0]]))
    assert set(universal_example(space).pair) == {"b", "c"}


# Impossibility


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("points", [3, 4])
def test_corollary_13_bin_has_none_in_the_discrete_type(points, level):
    space = Space(range(points), level * discrete())
    assert is_strictly_monotone(space, as_loss("bin", space.points))
    refuted = universal_mechanism(space, "bin")
    assert not refuted
    assert refuted.shortfall > 0
    assert len(refuted.witness) >= 2


@pytest.mark.parametrize("level", [*LEVELS, 0.3])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("points", [3, 4])
def test_theorem_12_strictly_monotone_losses_have_none_in_the_discrete_type(points, power, level):
    """Here l(w, x) = |w - x|^power, strictly monotone in the metric of the line, not in the discrete one."""
    space, line = Space(range(points), level * discrete()), Space.line(points)
    loss = mdp.adversaries.monotone(line, lambda d: d**power)
    assert is_strictly_monotone(line, loss)
    assert not universal_mechanism(space, loss)


def test_theorem_12_strictness_is_needed():
    """The loss of Theorem 10 is monotone in the discrete metric, not strictly, and has an optimal mechanism."""
    space = Space(range(3), mdp.ln(2) * discrete())
    assert universal_mechanism(space, universal_example(space).loss)


@pytest.mark.long
@pytest.mark.parametrize(
    "space", [LINE, Space(range(3), mdp.ln(2) * discrete()), Space.bits(2, mdp.ln(2) * hamming())], ids=str
)
def test_theorem_11_no_mechanism_serves_every_loss(space):
    """Two losses, each of which has an optimal mechanism, that none serves both: their sum (Eq. 13) has none."""
    rows = [row for row in itertools.product([-1, 0, 1], repeat=len(space)) if row > (0,) * len(space)]
    losses = [Loss.from_matrix("uv", space.points, [[0] * len(space), row]) for row in rows]
    served = [loss for loss in losses if universal_mechanism(space, loss)]
    assert any(not universal_mechanism(space, one + two) for one, two in itertools.combinations(served, 2))


def test_corollary_7_by_all_kernels():
    """In the type of three points in a line the kernels are few: one is optimal iff the search finds a mechanism."""
    vertices = [(4, 2, 1), (1, 2, 4), (1, 2, 1), (2, 1, 2)]  # of the cone at ln 2
    kernels = set()
    for chosen in itertools.combinations(vertices, 3):
        weights = _solve(chosen)
        if weights is not None and min(weights) >= 0:
            table = [[w * v[x] for w, v in zip(weights, chosen, strict=True) if w] for x in range(3)]
            kernels.add(Channel.from_matrix(range(3), range(len(table[0])), table))
    assert len(kernels) == 2
    assert {compare(kernel, GEOMETRIC, "bin").equal for kernel in kernels} == {True, False}
    for loss in LOSSES:
        by_kernels = any(universally_optimal(kernel, LINE, loss) for kernel in kernels)
        assert by_kernels is bool(universal_mechanism(LINE, loss))


def _solve(columns):
    matrix = fmpq_mat(3, 3, [columns[k][x] for x in range(3) for k in range(3)])
    if matrix.det() == 0:
        return None
    return [Fraction(int(v.p), int(v.q)) for v in matrix.solve(fmpq_mat(3, 1, [1, 1, 1])).entries()]


# Section VI


@pytest.mark.parametrize("points", [3, 4, 5])
@pytest.mark.parametrize("level", [mdp.ln(2), mdp.ln("5/4")])
def test_the_geometric_mechanism_is_optimal_for_monotone_losses_and_for_nib(points, level):
    space = Space.line(points, level * absolute())
    channel = of(mdp.truncated_geometric(space.metric, steps=points - 1), range(points))
    for loss in ("bin", "nib", "distance", mdp.adversaries.monotone(space, lambda d: int(d > 1))):
        assert universally_optimal(channel, space, loss)


def test_figure_8_on_the_cube():
    """The kernel K that is the geometric mechanism on the path 000, 100, 110, 111."""
    space = Space.bits(3, mdp.ln(2) * hamming())
    path = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
    rows = [[8, 2, 1, 1], [4, 4, 2, 2], [2, 2, 4, 4], [1, 1, 2, 8]]  # by the number of ones
    table = [[Fraction(value, 12) for value in rows[sum(x)]] for x in space.points]
    channel = Channel.from_matrix(space.points, range(4), table)
    assert verify(channel, space)
    geometric = of(mdp.truncated_geometric(mdp.ln(2) * absolute(), steps=3), range(4))
    assert restrict(channel, path).weights.tolist() == geometric.weights.tolist()
    loss = lifted(as_loss("bin", path), space.points)
    assert universally_optimal(channel, space, loss)
    assert not universally_optimal(channel, space, "bin")


def test_the_square_has_no_mechanism_for_bin():
    assert not universal_mechanism(Space.bits(2, mdp.ln(2) * hamming()), "bin")
