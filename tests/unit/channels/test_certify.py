"""Certify: any matrix of floats becomes a channel that verify accepts, near to it, and says how near."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify, verify
from metricdp.channels.certify import nearest_private
from metricdp.channels.pairs import Pairs
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee

m = mdp.metrics
F = Fraction


def check(matrix, space, outputs=None, most=None):
    """What certify promises, whatever it was given."""
    made = certify(matrix, space, outputs)
    if isinstance(matrix, Channel):
        wanted = [[F(weight, matrix.total) for weight in row] for row in matrix.weights.tolist()]
    else:
        wanted = np.asarray(matrix, dtype=float).tolist()
    assert verify(made, space).holds
    assert made.promise == made.guarantee == Guarantee(space.metric)
    true = max(
        sum(abs(F(weight, made.total) - F(value)) for weight, value in zip(row, wants, strict=True)) / 2
        for row, wants in zip(made.weights.tolist(), wanted, strict=True)
    )
    assert made.moved >= true
    assert made.moved <= float(true) * (1 + 1e-9) + 1e-12
    if most is not None:
        assert made.moved <= most
    again = certify(made, space)
    assert again == made
    assert again.moved == 0
    return made


def tight(space):
    """The tight-constraints channel in floats, where it exists."""
    kernel = np.exp(-space.distances)
    scales = np.linalg.solve(kernel, np.ones(len(space)))
    assert (scales > 0).all()
    return kernel * scales


SPACES = {
    "line": mdp.Space.line(12, m.absolute()),
    "line, ln 2": mdp.Space.line(12, mdp.ln(2) * m.absolute()),
    "grid": mdp.Space.grid(4, 4, m.euclidean()),
    "discrete": mdp.Space("abcdef", 0.5 * m.discrete()),
    "cube": mdp.Space.bits(3, mdp.ln(3) * m.hamming()),
    "globe": mdp.Space([(48.8, 2.3), (48.9, 2.3), (48.8, 2.4), (0, 0)], m.great_circle().within(5000)),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_tight_channel_in_floats_moves_by_rounding_alone(name):
    check(tight(SPACES[name]), SPACES[name], most=1e-9)


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("name", SPACES)
def test_a_solver_s_errors_are_mended_at_their_own_size(name, noise):
    space = SPACES[name]
    rng = np.random.default_rng(1)
    matrix = tight(space)
    broken = matrix + noise * rng.standard_normal(matrix.shape)
    broken /= broken.sum(axis=1, keepdims=True)
    check(broken, space, most=60 * noise * len(space))


def test_small_entries_that_a_solver_set_to_zero():
    space = mdp.Space.line(30, m.absolute())
    matrix = tight(space)
    matrix[matrix < 1e-9] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    made = check(matrix, space, most=1e-7)
    assert made.weights.min() > 0


def test_a_valid_channel_is_returned_as_it_is():
    rows = [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]]
    channel = Channel.from_matrix(range(3), "abc", rows)
    made = check(channel, mdp.Space.line(3, mdp.ln(2) * m.absolute()), most=0)
    assert made == channel
    assert made.moved == 0
    assert made.total == 6


def test_valid_floats_are_returned_as_they_are():
    matrix = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    made = check(matrix, mdp.Space.line(2), most=0)
    assert (made.matrix == matrix).all()
    assert made.cost in (0, None)


def test_sums_that_miss_one_by_rounding_count_as_moved():
    """Ten times 0.1 is not 1: the channel is another one than the floats, by that much."""
    made = check([[0.1] * 10] * 2, mdp.Space.line(2))
    assert 0 < made.moved < 1e-13


def test_some_inputs_of_the_space_in_another_order():
    channel = Channel.from_matrix([3, 0], "ab", [["9/10", "1/10"], ["1/10", "9/10"]])
    space = mdp.Space.line(5, F(1, 4) * m.absolute())
    assert not verify(channel, space).holds
    made = check(channel, space)
    assert made.inputs == (3, 0)
    assert made.outputs == ("a", "b")


@pytest.mark.parametrize("near", ["1e-3", "1e-6", "1e-9", "1e-12", "1e-15", "1e-30", "1e-330"])
def test_near_points_that_the_matrix_tells_apart(near):
    """What it costs is about what the matrix does too much, not the whole of its use."""
    space = mdp.Space([0, F(near), 1, 2], m.absolute())
    matrix = np.array([[0.6, 0.2, 0.2], [0.6, 0.2, 0.2], [0.4, 0.35, 0.25], [0.25, 0.35, 0.4]])
    matrix[1] += [1e-7, -1e-7, 0]
    check(matrix, space, most=1e-5)


@pytest.mark.parametrize("near", ["1e-6", "1e-9", "1e-12"])
def test_a_tight_channel_with_near_points(near):
    places = [0, F(near), 1, 1 + F(near), 3]
    space = mdp.Space(places, m.absolute())
    kernel = np.exp(-np.abs(np.subtract.outer([0.0, 0, 1, 1, 3], [0.0, 1, 3])))
    matrix = kernel * np.linalg.solve(kernel[[0, 2, 4]], np.ones(3))
    check(matrix + 1e-10 * np.random.default_rng(0).standard_normal(matrix.shape), space, most=1e-6)


def test_twins_get_equal_rows():
    metric = m.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    made = check([[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]], mdp.Space("abc", metric))
    assert made.weights[0].tolist() == made.weights[1].tolist()


@pytest.mark.parametrize("blocks", [True, False])
def test_infinite_distances(blocks):
    metric = m.matrix("abcd", _blocks())
    matrix = np.kron(np.eye(2), [[0.9, 0.1], [0.1, 0.9]]) if blocks else np.random.default_rng(0).random((4, 4))
    made = check(matrix / matrix.sum(axis=1, keepdims=True), mdp.Space("abcd", metric))
    if blocks:
        assert (made.weights[:2, 2:] == 0).all(), "what is impossible in a part of its own may stay so"
    assert made.cost is None or math.isfinite(made.cost)


def _blocks():
    inf = math.inf
    return [[0, 1, inf, inf], [1, 0, inf, inf], [inf, inf, 0, 1], [inf, inf, 1, 0]]


def test_nothing_is_protected():
    made = check(np.eye(3), mdp.Space("abc", m.unprotected()), most=0)
    assert (made.weights == np.eye(3, dtype=int)).all()


def test_everything_is_the_same():
    made = check([[1.0, 0.0], [0.0, 1.0]], mdp.Space("ab", m.matrix("ab", [[0, 0], [0, 0]])))
    assert made.weights[0].tolist() == made.weights[1].tolist()


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.5, 0.5], [-1e-9, 1 + 1e-9]],
        [[5.0, -3.0], [0.2, 0.8]],
        [[0.5, 0.4], [0.5, 0.6]],
        [[1e-320, 1.0], [0.5, 0.5]],
        [[0.1, 0.9 + 1e-12], [1e-320, 1.0]],
        [[1e300, 1e300], [1.0, 2.0]],
        [[1e308, 1e308], [1.0, 2.0]],
        [[1e-300, 2e-300], [1.0, 2.0]],
        [[1, 0], [0, 1]],
        [[True, False], [False, True]],
    ],
)
@pytest.mark.parametrize("level", [F(1, 10**15), F(1, 1000), 1, 200, 2000])
def test_odd_matrices(matrix, level):
    space = mdp.Space.line(2, level * m.absolute())
    made = certify(matrix, space)
    assert verify(made, space).holds
    assert certify(made, space) == made


def test_rows_of_other_sums_are_divided_by_them():
    made = certify([[0.6, 0.2, 0.2], [1.2, 0.4, 0.4]], mdp.Space.line(2))
    assert np.abs(made.matrix - [0.6, 0.2, 0.2]).max() < 1e-9
    assert verify(made, mdp.Space.line(2)).holds


def test_far_points():
    """exp(-5000) is no float, but a weight like any other."""
    space = mdp.Space([0, 5000], m.absolute())
    made = check([[1.0, 0.0], [0.0, 1.0]], space, most=1e-9)
    assert made.weights.min() > 0
    assert made.matrix.min() == 0


def test_one_output_or_one_input():
    check([[1.0], [1.0], [1.0]], mdp.Space.line(3), most=0)
    check([[0.3, 0.7]], mdp.Space.line(1), most=1e-14)


def test_more_and_fewer_outputs_than_points():
    rng = np.random.default_rng(4)
    for columns in (1, 2, 7, 30):
        matrix = rng.random((5, columns))
        made = check(matrix / matrix.sum(axis=1, keepdims=True), mdp.Space.line(5, F(1, 3) * m.absolute()))
        assert made.outputs == (tuple(range(columns)))


def test_labels_of_outputs():
    assert certify(np.eye(2), mdp.Space("ab", m.discrete())).outputs == ("a", "b")
    assert certify(np.eye(2), mdp.Space("ab", m.discrete()), outputs="yz").outputs == ("y", "z")
    assert certify(np.ones((2, 3)) / 3, mdp.Space("ab", m.discrete())).outputs == (0, 1, 2)


def test_the_cost_is_the_rise_of_the_expected_distance():
    space = mdp.Space.line(3, mdp.ln(2) * m.absolute())
    made = certify(np.eye(3), space)
    rise = max(
        sum(F(weight, made.total) * abs(x - z) for z, weight in enumerate(made.weights[x].tolist())) for x in range(3)
    )
    assert rise <= made.cost <= float(rise) * (1 + 1e-9) + 1e-12
    assert certify(np.eye(3), space, outputs="abc").cost is None


@pytest.mark.parametrize(
    ("matrix", "error", "words"),
    [
        ([[0.5, 0.5], [math.nan, 1]], ArgumentError, "row 1"),
        ([[0.5, 0.5], [math.inf, 1]], ArgumentError, "row 1"),
        ([[0.5, 0.5], [0.0, 0.0]], ArgumentError, "row 1"),
        ([[0.5, 0.5], [-0.5, -1.0]], ArgumentError, "row 1"),
        ([[0.5, 0.5]], ArgumentError, "2 points"),
        ([[0.5, 0.5], [1.0]], ArgumentError, "numbers"),
        ([["a", "b"], ["c", "d"]], ArgumentError, "numbers"),
        ([0.5, 0.5], ArgumentError, "2 points"),
        ([[], []], ArgumentError, "2 points"),
    ],
)
def test_what_no_channel_is_near_to(matrix, error, words):
    with pytest.raises(error, match=words):
        certify(matrix, mdp.Space.line(2))


def test_wrong_labels():
    with pytest.raises(ArgumentError):
        certify(np.eye(2), mdp.Space.line(2), outputs="aa")
    with pytest.raises(ArgumentError):
        certify(np.eye(2), mdp.Space.line(2), outputs="abc")
    with pytest.raises(ArgumentError, match="no point 7"):
        certify(Channel.from_matrix([0, 7], "ab", [["1/2", "1/2"]] * 2), mdp.Space.line(2))
    with pytest.raises(ArgumentError):
        certify(np.eye(2), m.absolute())


@pytest.mark.parametrize("points", [[0, 10**400, 1], [0, 10**20, 1], [-(10**400), 10**400]], ids=["one", "two", "both"])
def test_distances_beyond_floats_and_beyond_memory(points):
    space = mdp.Space(points, mdp.metrics.absolute())
    certified = certify(np.eye(len(points)), space)
    assert verify(certified, space)
    assert certified.moved < 0.3


@pytest.mark.parametrize("scale", [1, 1.1])
def test_columns_that_are_said_to_be_inside_are_verified_all_the_same(scale):
    """A matrix that is private at 1.1 times the level, said to lie in the cone, is put into it."""
    space = SPACES["grid"]
    matrix = tight(mdp.Space(space.points, scale * space.metric))
    made = nearest_private(matrix, Pairs.of(space.points, space), space.points, inside=True)
    assert verify(made, space)
    assert (made.moved > 1e-3) == (scale > 1)


def test_integers_are_short_where_a_share_may_be_spent():
    places = [(F(x * x % 31), F(7 * x % 29)) for x in range(24)]
    space = mdp.Space(places, 2 * m.euclidean())
    weights = np.linalg.solve(np.exp(-space.distances), np.ones(len(space)))
    matrix = np.exp(-space.distances * (1 - 1e-9)) * weights
    matrix /= matrix.sum(axis=1, keepdims=True)
    pairs = Pairs.of(space.points, space)
    short = nearest_private(matrix, pairs, space.points, inside=True, spare=1e-9)
    assert short.total == 1 << 60
    assert verify(short, space)
    assert short.moved < 1e-9
    assert min(short.weights.ravel().tolist()) > 0  # what is below 2^-60 is lifted
    long = nearest_private(matrix, pairs, space.points, inside=True)
    assert long.total > 1 << 100


def test_impossible_outputs_stay_impossible_where_integers_are_short():
    far = math.inf
    space = mdp.Space(
        "abcd", m.matrix("abcd", [[0, 1, far, far], [1, 0, far, far], [far, far, 0, 2], [far, far, 2, 0]])
    )
    matrix = np.array([[0.6, 0.4, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.25, 0.75]])
    made = nearest_private(matrix, Pairs.of("abcd", space), ("a", "b", "c", "d"), inside=True, spare=1e-6)
    assert made.total <= 1 << 60
    assert ((made.weights > 0) == (matrix > 0)).all()
    assert made.moved < 1e-14
