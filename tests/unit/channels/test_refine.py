"""Refinement with its proofs, each checked again here in Fractions."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.channels import Channel
from metricdp.channels.algebra import choice, equivalent
from metricdp.channels.refine._search import Search
from metricdp.channels.refine.refinement import Refinement, refines
from metricdp.errors import ArgumentError


def channel(rows, inputs=None):
    rows = [list(row) for row in rows]
    return Channel.from_matrix(inputs or range(len(rows)), range(len(rows[0])), rows)


def vulnerability(prior, through, gain, inputs):
    """V_g[prior > C], straight from its definition."""
    return sum(
        max(sum(p * through.probability(x, z) * g for p, x, g in zip(prior, inputs, row, strict=True)) for row in gain)
        for z in through.outputs
    )


def check(answer):
    """Whatever an answer claims, by its definition."""
    A, B = answer.refining, answer.refined
    if answer.holds:
        assert answer.post.inputs == B.outputs
        assert answer.post.outputs == A.outputs
        product = B @ answer.post
        assert all(product.probability(x, z) == A.probability(x, z) for x in A.inputs for z in A.outputs)
        assert answer.distance == answer.distance_below == 0
        assert answer.gain is answer.prior is answer.advantage is None
    else:
        assert answer.post is None
        assert answer.prior == (Fraction(1, len(A.inputs)),) * len(A.inputs)
        assert all(0 <= entry <= 1 for row in answer.gain for entry in row)
        through_a, through_b = (vulnerability(answer.prior, C, answer.gain, A.inputs) for C in (A, B))
        assert through_a - through_b == answer.advantage > 0
        assert 0 < answer.distance_below <= answer.distance <= 1
    return answer


def random_channel(rng, inputs, outputs, largest, zeros=0.0):
    weights = rng.integers(1, largest + 1, size=(inputs, outputs)) * (rng.random((inputs, outputs)) >= zeros)
    weights[weights.sum(axis=1) == 0, 0] = 1
    return channel([[Fraction(int(w), int(row.sum())) for w in row] for row in weights])


IDENTITY = channel([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
SILENT = channel([[1], [1], [1]])
LINE = channel([["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])  # geometric, ratio 1/2


def test_everything_refines_the_identity_and_silence_refines_everything():
    assert check(refines(LINE, IDENTITY)).post == LINE
    assert check(refines(SILENT, LINE))
    assert not check(refines(IDENTITY, LINE))
    assert not check(refines(LINE, SILENT))


def test_the_post_processing_is_found_exactly():
    post = channel([["1/2", "1/2"], ["1/3", "2/3"], [0, 1]])
    assert check(refines(LINE @ post, LINE)).post == post


def test_inputs_in_another_order():
    shuffled = Channel([2, 0, 1], range(3), LINE.weights[[2, 0, 1]], LINE.total)
    assert shuffled != LINE
    assert equivalent(shuffled, LINE)
    assert check(refines(shuffled, LINE))
    assert check(refines(LINE, shuffled))


def test_a_hair_outside_is_told_from_a_hair_inside():
    """R unique with an entry of +-10^-30: far below what floats can tell."""
    for sign in (1, -1):
        tiny = sign * Fraction(1, 10**30)
        rows = [[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], [1 - tiny, tiny], ["1/3", "2/3"]]
        R = np.array([[Fraction(entry) for entry in row] for row in rows], dtype=object)
        product = (LINE.weights * Fraction(1, LINE.total)) @ R
        assert check(refines(channel(product.tolist()), LINE)).holds is (sign > 0)


def test_columns_outside_the_span():
    """More inputs than outputs: A may miss the span of B by a hair, which no float sees."""
    B = channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]])
    post = channel([["3/5", "2/5"], ["1/7", "6/7"]])
    A = B @ post
    assert check(refines(A, B))
    tiny = Fraction(1, 10**30)
    rows = [[A.probability(x, z) for z in range(2)] for x in range(3)]
    rows[2] = [rows[2][0] + tiny, rows[2][1] - tiny]
    answer = check(refines(channel(rows), B))
    assert not answer
    assert answer.distance <= 1e-15
    rows[2] = [rows[2][0] + Fraction(1, 100), rows[2][1] - Fraction(1, 100)]
    assert not check(refines(channel(rows), B))


def test_proportional_and_empty_columns():
    B = channel([["1/3", "1/6", 0, "1/2"], ["1/6", "1/12", 0, "3/4"]])  # columns 0 and 1 alike, 2 never
    A = channel([["1/4", 0, "1/4", "1/2"], ["1/8", 0, "1/8", "3/4"]])
    assert check(refines(A, B))
    assert check(refines(B, A))


def test_dependent_columns_inside_and_on_the_boundary():
    """More outputs than inputs, R far from unique; random zeros put the answer on faces of the set of all B R."""
    rng = np.random.default_rng(8)
    for trial in range(40):
        inputs, between, outputs = (int(rng.integers(2, high)) for high in (6, 11, 7))
        B = random_channel(rng, inputs, between, 10 ** int(rng.integers(1, 4)), 0.4 * (trial % 2))
        R = random_channel(rng, between, outputs, 9, 0.7 * (trial % 3 > 0))
        assert check(refines(B @ R, B))


def test_random_channels_that_do_not_refine():
    rng = np.random.default_rng(9)
    refuted = 0
    for trial in range(40):
        inputs, between, outputs = (int(rng.integers(2, high)) for high in (6, 11, 7))
        B = random_channel(rng, inputs, between, 10, 0.3 * (trial % 2))
        answer = check(refines(random_channel(rng, inputs, outputs, 10, 0.5), B))
        refuted += not answer
        if not answer:
            assert answer.distance - answer.distance_below < 1e-7
    assert refuted > 20


def test_a_convex_sum_of_kernels_refines_what_splits_it():
    """The choice between two channels tells more than either: both refine it or not just as their mixtures do."""
    one = channel([["2/3", "1/3"], ["1/3", "2/3"], ["1/3", "2/3"]])
    two = channel([["1/3", "2/3"], ["1/3", "2/3"], ["2/3", "1/3"]])
    either = choice("1/2", one, two)
    forget = Channel.from_matrix(either.outputs, "xy", [[1, 0], [0, 1], [1, 0], [0, 1]])
    assert check(refines(either @ forget, either))
    assert not check(refines(one, either))
    assert not check(refines(either, one))


def test_the_distance_of_two_coins_is_what_it_is_on_paper():
    """A = diag-like with 3/4, B with 2/3: the nearest post-processing of B is B itself, at |3/4 - 2/3|."""
    A = channel([["3/4", "1/4"], ["1/4", "3/4"]])
    B = channel([["2/3", "1/3"], ["1/3", "2/3"]])
    answer = check(refines(A, B))
    assert answer.distance == pytest.approx(1 / 12, abs=1e-9)
    assert answer.distance_below == pytest.approx(1 / 12, abs=1e-9)
    assert answer.distance_below <= 1 / 12 <= answer.distance


def test_the_distance_of_a_rounded_channel_is_its_rounding():
    post = channel([["1/2", "1/2"], ["1/3", "2/3"], [0, 1]])
    tall = Channel.from_matrix(
        range(4),
        range(3),
        [
            [*map(Fraction, row)]
            for row in (("2/3", "1/6", "1/6"), ("1/3", "1/3", "1/3"), ("1/6", "1/6", "2/3"), ("1/5", "1/5", "3/5"))
        ],
    )
    rounded = Channel.from_matrix(range(4), range(2), (tall @ post).matrix)
    answer = check(refines(rounded, tall))
    assert not answer
    assert answer.distance < 1e-15


def rounded(exact, bits):
    """Each row to multiples of 2^-bits, the largest entry taking the difference."""
    rows = []
    for row in exact.weights.tolist():
        whole = [(weight << bits) // exact.total for weight in row]
        whole[whole.index(max(whole))] += (1 << bits) - sum(whole)
        rows.append([Fraction(weight, 1 << bits) for weight in whole])
    return Channel.from_matrix(exact.inputs, exact.outputs, rows)


@pytest.mark.parametrize("bits", [20, 53, 90])
def test_rounding_off_the_boundary_is_decided_and_measured(bits):
    """Dependent columns and a rounded A: it may fall on either side, by far less than a solver's tolerance."""
    rng = np.random.default_rng(bits)
    sides = set()
    for _ in range(15):
        inputs, between, outputs = (int(rng.integers(low, high)) for low, high in ((3, 5), (5, 9), (3, 6)))
        B = random_channel(rng, inputs, between, 100)
        exact = B @ random_channel(rng, between, outputs, 5, 0.7)
        answer = check(refines(rounded(exact, bits), B))
        sides.add(answer.holds)
        assert answer.distance <= outputs * 2.0**-bits
        assert answer.distance - answer.distance_below <= 1e-5 * answer.distance
    assert sides == {True, False}


def test_the_distance_against_another_formulation():
    """Total variation as half of the sum of absolute differences, solved by scipy."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(6)
    for _ in range(5):
        A, B = random_channel(rng, 4, 3, 9), random_channel(rng, 4, 5, 9)
        answer = refines(A, B)
        a, b = A.matrix, B.matrix
        # columns: R (5 x 3), D (4 x 3), t
        above, below = [], []
        for x in range(4):
            for z in range(3):
                line = np.zeros(28)
                line[z:15:3] = b[x]
                for sign, rows in ((1, above), (-1, below)):
                    row = sign * line
                    row[15 + x * 3 + z] = -1
                    rows.append((row, sign * a[x, z]))
        for x in range(4):
            row = np.zeros(28)
            row[15 + x * 3 : 18 + x * 3] = 0.5
            row[27] = -1
            above.append((row, 0.0))
        held, limits = zip(*(above + below), strict=True)
        sums = np.array([[1.0 if place // 3 == y and place < 15 else 0.0 for place in range(28)] for y in range(5)])
        found = linprog(np.eye(28)[27], np.array(held), np.array(limits), sums, np.ones(5))
        assert answer.distance == pytest.approx(found.fun, abs=1e-8)
        assert answer.distance_below == pytest.approx(found.fun, abs=1e-8)


def test_a_float_channel_of_thirty_points():
    rng = np.random.default_rng(2)
    B, R = rng.random((30, 30)), rng.random((30, 30))
    B, R = B / B.sum(axis=1, keepdims=True), R / R.sum(axis=1, keepdims=True)
    A, B = channel(B @ R), channel(B)
    answer = refines(A, B)
    assert answer
    assert B @ answer.post == A
    other = refines(B, A)
    assert not other
    assert other.advantage > 0
    assert len(other.gain) == 2


def test_undecided_is_no_truth_value(monkeypatch):
    from metricdp.channels.refine._factoring import Factoring

    monkeypatch.setattr(Factoring, "decide", lambda self, watch: None)
    answer = refines(IDENTITY, LINE)
    assert answer.holds is None
    with pytest.raises(ArgumentError, match=r"undecided: neither .* by a total variation of 0\.5 to 0\.5"):
        bool(answer)
    assert str(answer).startswith("undecided: at a total variation of 0.5 ")


def test_in_words():
    assert str(refines(LINE, IDENTITY)) == "refines: the first channel is a post-processing of the second."
    words = str(refines(IDENTITY, LINE))
    assert words.startswith("does NOT refine: with a uniform prior and a gain function of 2 actions")
    # A quarter of the outer outputs goes to the middle one: each input is then guessed with probability 1/2.
    assert words.endswith("It would at a total variation of 0.5.")
    assert repr(refines(LINE, LINE)) == "Refinement(holds=True, by a post-processing)"
    assert isinstance(refines(LINE, LINE), Refinement)


def test_bad_input():
    with pytest.raises(ArgumentError, match="2 is an input of the first channel, but not an input of the second"):
        refines(LINE, channel([[1], [1]]))
    with pytest.raises(ArgumentError, match="refines takes a Channel, not str"):
        refines("noisy", LINE)


# Where R has room


def roomy(rng, inputs, columns, outputs):
    """B with more columns than rows, and a post-processing of it that is positive everywhere."""
    B = random_channel(rng, inputs, columns, 40)
    return B, B @ random_channel(rng, columns, outputs, 40)


def unsolved(*_):
    raise AssertionError("no solver is wanted here")


@pytest.mark.parametrize("shape", [(4, 9, 3), (6, 12, 6), (10, 20, 10)])
def test_a_point_well_inside_needs_no_solver(shape, monkeypatch):
    monkeypatch.setattr("metricdp.channels.refine._factoring.least_distance", unsolved)
    rng = np.random.default_rng(sum(shape))
    for _ in range(5):
        B, A = roomy(rng, *shape)
        found = Search(A.matrix, B.matrix).inside()
        assert found.min() > 0
        assert B.matrix @ found == pytest.approx(A.matrix, rel=1e-12)
        assert found.sum(axis=1) == pytest.approx(np.ones(shape[1]), rel=1e-12)
        assert check(refines(A, B))


def test_what_floats_cannot_see_is_still_met_exactly():
    B, A = roomy(np.random.default_rng(3), 4, 9, 3)
    tiny = Fraction(1, 10**40)
    rows = [[A.probability(x, z) for z in A.outputs] for x in A.inputs]
    rows[0][0], rows[0][1] = rows[0][0] + tiny, rows[0][1] - tiny
    assert check(refines(channel(rows), B))


def test_room_with_proportional_and_empty_columns():
    B, A = roomy(np.random.default_rng(4), 4, 9, 3)
    split = channel([[p for z in A.outputs for p in (A.probability(x, z) / 2,) * 2] + [0] for x in A.inputs])
    assert Search(split.matrix, B.matrix).inside() is None  # the empty column has no room
    assert check(refines(split, B))
    doubled = channel([[p for z in B.outputs for p in (B.probability(x, z) / 2,) * 2] + [0] for x in B.inputs])
    assert check(refines(split, doubled))


def test_a_few_steps_tell_most_channels_apart(monkeypatch):
    monkeypatch.setattr("metricdp.channels.refine._factoring.least_distance", unsolved)
    rng = np.random.default_rng(6)
    for _ in range(5):
        B, A = random_channel(rng, 6, 12, 40, zeros=0.5), random_channel(rng, 6, 6, 40, zeros=0.5)
        search = Search(A.matrix, B.matrix)
        _, gains = search.separation(short=True)
        assert (gains @ A.matrix).max(axis=0).sum() > (gains @ B.matrix).max(axis=0).sum()
        assert search.inside() is None
        assert not refines(A, B)
