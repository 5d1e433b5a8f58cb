"""Gains and losses: names, matrices, functions, and what is made of them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.adversaries import (
    Gain,
    Loss,
    as_gain,
    as_loss,
    distance,
    is_monotone,
    is_strictly_monotone,
    is_trivial,
    lifted,
    monotone,
    restricted,
    uncertainty,
)
from metricdp.channels import Channel
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, discrete, euclidean

LINE = Space.line(3, mdp.ln(2) * absolute())


def _monotone_by_brute_force(loss, space, strictly):
    """Definition 6, word by word: some injection, and some function of the distances that occur."""
    exact = [[space.metric.unit.exactly(x, y) for y in space.points] for x in space.points]
    for images in itertools.permutations(range(len(space)), len(loss.actions)):
        value = {}
        good = True
        for row, image in enumerate(images):
            for column in range(len(space)):
                good &= value.setdefault(exact[column][image], loss.entries[row][column]) == loss.entries[row][column]
        ordered = [value[key] for key in sorted(value)]
        steps = list(itertools.pairwise(ordered))
        if good and all(a < b if strictly else a <= b for a, b in steps):
            return True
    return False


def test_names():
    assert as_loss("bin", "abc").entries[0] == (0, 1, 1)
    assert as_loss("nib", "abc").entries[0] == (1, 0, 0)
    assert as_gain("identity", "abc").entries == as_gain("nib", "abc").entries
    assert as_loss("distance", range(3), LINE).matrix.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_distance_does_not_depend_on_the_level_and_covers_inputs_that_are_some_of_the_points():
    assert distance(LINE) == distance(Space.line(3))
    some = as_loss("distance", [2, 0], LINE)
    assert some.secrets == (2, 0)
    assert some.actions == (0, 1, 2)
    assert some.entries == ((2, 0), (1, 1), (0, 2))


def test_irrational_distances_are_floats_and_can_be_taken_as_such():
    loss = distance(Space.grid(2, 2, euclidean()))
    assert not loss.exact
    assert loss.value((0, 0), (1, 1)) == pytest.approx(2**0.5)
    with pytest.raises(ArgumentError, match="rounded"):
        _ = loss.whole
    assert loss.rounded().entries[0][3] == Fraction(2**0.5)
    assert loss.rounded().rounded() is not loss


def test_infinite_distances_are_refused():
    space = Space("ab", mdp.metrics.matrix("ab", [[0, float("inf")], [float("inf"), 0]]))
    with pytest.raises(ArgumentError, match="infinite"):
        distance(space)


def test_matrices_are_read_exactly():
    loss = as_loss([["1/3", 0.5], [1, Fraction(1, 7)]], "ab")
    assert loss.entries == ((Fraction(1, 3), Fraction(1, 2)), (1, Fraction(1, 7)))
    numbers, common = loss.whole
    assert (numbers.tolist(), common) == ([[14, 21], [42, 6]], 42)
    assert as_gain(np.ones((3, 2)), "ab").actions == (0, 1, 2)


def test_columns_are_put_in_the_order_of_the_inputs():
    loss = Loss.from_matrix("w", "ab", [[1, 2]])
    assert as_loss(loss, ("b", "a")).entries == ((2, 1),)
    with pytest.raises(ArgumentError, match="'c'"):
        as_loss(loss, ("b", "c"))
    with pytest.raises(ArgumentError):
        as_loss(loss, ("b",))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("unheard", ArgumentError),
        ("distance", ArgumentError),
        ([[1, 2, 3]], ArgumentError),
        ([1, 2], ArgumentError),
        ([[float("inf"), 0]], ArgumentError),
        ([[None, 0]], ArgumentError),
        (Gain.from_matrix("w", "ab", [[1, 2]]), ArgumentError),
        (7, ArgumentError),
    ],
)
def test_bad_losses_are_refused(given, error):
    with pytest.raises(error):
        as_loss(given, "ab")


def test_repeated_actions_are_refused():
    with pytest.raises(ArgumentError, match="stands twice"):
        Loss.from_matrix("ww", "ab", [[1, 2], [3, 4]])


def test_sum_and_generalised_product_of_paper_5():
    one, two = Loss.from_matrix("vw", "ab", [[1, 2], [3, 4]]), Loss.from_matrix("y", "ba", [[10, 20]])
    both = one + two  # Eq. 13: actions are pairs
    assert both.actions == (("v", "y"), ("w", "y"))
    assert both.entries == ((21, 12), (23, 14))
    assert one.weighted({"b": 2, "a": Fraction(1, 2)}).entries == ((Fraction(1, 2), 4), (Fraction(3, 2), 8))  # Eq. 14
    with pytest.raises(ArgumentError, match="not negative"):
        one.weighted([1, -1])
    with pytest.raises(ArgumentError):
        one.weighted([1])
    with pytest.raises(TypeError):
        one + as_gain("identity", "ab")


def test_the_sum_of_losses_costs_the_sum_of_the_uncertainties():
    channel = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/4", "3/4"]])
    one, two = Loss.from_matrix("vw", "ab", [[1, 2], [3, 0]]), as_loss("bin", "ab")
    costs = [uncertainty("uniform", channel, loss, exact=True) for loss in (one, two, one + two)]
    assert costs[0] + costs[1] == costs[2]


def test_lifting_and_restricting():
    loss = as_loss("bin", "ab")
    up = lifted(loss, "bca")
    assert up.entries == ((1, 0, 0), (0, 0, 1))
    assert restricted(up, "ab").entries == loss.entries
    with pytest.raises(ArgumentError, match="'b'"):
        lifted(loss, "ac")
    grid = lifted(distance(Space([(0, 0), (1, 1)], euclidean())), [(0, 0), (1, 1), (5, 5)])
    assert not grid.exact
    assert grid.matrix[0].tolist() == [0, 2**0.5, 0]


def test_definition_6_agrees_with_brute_force():
    spaces = [Space.line(3), Space("abc", discrete()), Space.line(4), Space.bits(2)]
    for space in spaces:
        points = space.points
        candidates = [
            as_loss("bin", points),
            as_loss("nib", points),
            distance(space),
            monotone(space, lambda d: max(0, d - 1)),
            Loss.from_matrix([0], points, [list(range(len(points)))]),
            Loss.from_matrix([0, 1], points, [[0] * len(points), [1] * len(points)]),
            Loss.from_matrix(
                points, points, [[2 * abs(i - j) + i for i in range(len(points))] for j in range(len(points))]
            ),
        ]
        found = [(is_monotone(space, loss), is_strictly_monotone(space, loss)) for loss in candidates]
        expected = [
            (_monotone_by_brute_force(loss, space, False), _monotone_by_brute_force(loss, space, True))
            for loss in candidates
        ]
        assert found == expected
        assert (True, True) in found
        assert (False, False) in found


def test_trivial_losses():
    assert is_trivial(Loss.from_matrix("vw", "ab", [[1, 2], [1, 2]]))
    assert not is_trivial(as_loss("nib", "ab"))
    assert is_trivial(Loss.from_matrix("w", "ab", [[0, 5]]))


def test_squared_distances_are_exact_where_distances_are():
    space = Space.line(3)
    assert as_loss("squared", range(3), space).entries[0] == (0, 1, 4)
    flat = Space([(0, 0), (1, 1), (3, 1)], euclidean())
    far = as_loss("distance", flat.points, flat).matrix
    assert as_loss("squared", flat.points, flat).matrix.tolist() == (far**2).tolist()


def test_a_loss_may_be_a_function_of_guess_and_secret():
    late = as_loss(lambda guess, secret: 2 * max(secret - guess, 0), range(3), Space.line(3))
    assert late.value(0, 2) == 4
    assert late.value(2, 0) == 0
    assert as_gain(lambda guess, secret: guess == secret, "ab").matrix.tolist() == [[1, 0], [0, 1]]
    assert as_loss("binary", "ab") == as_loss("bin", "ab")
