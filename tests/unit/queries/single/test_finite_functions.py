import itertools
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, NotFiniteError, UnknownCategoryError
from metricdp.exact.outward import Bound
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming, manhattan, matrix, unprotected
from metricdp.queries import FiniteFunction, Sum, uniformity

BITS = Space.bits(3)


def test_from_a_function_or_a_table():
    table = {x: sum(x) for x in BITS.points}
    assert FiniteFunction(sum, BITS) == FiniteFunction(table, BITS.points)
    assert FiniteFunction(sum, BITS).evaluate([1, 0, 1]) == 2
    assert FiniteFunction(sum, BITS).image == (0, 1, 2, 3)
    assert FiniteFunction(list, [(0, 1)]).answers == ((0, 1),)
    assert FiniteFunction.of(Sum((0, 1), records=3), 8).answers == FiniteFunction(sum, BITS).answers
    assert FiniteFunction.of(Sum((0, 1), records=4), 8) is None
    assert FiniteFunction.of(Sum((0, 1)), 8) is None


def test_what_is_no_function():
    with pytest.raises(ArgumentError, match="database 1"):
        FiniteFunction({0: 1}, [0, 1])
    with pytest.raises(ArgumentError):
        FiniteFunction(7, [0, 1])
    with pytest.raises(ArgumentError, match="stands twice"):
        FiniteFunction(abs, [0, 0])
    with pytest.raises(NotFiniteError):
        FiniteFunction(lambda x: math.nan, [0, 1])
    with pytest.raises(UnknownCategoryError, match="not one of the declared databases"):
        FiniteFunction(sum, BITS).evaluate((1, 1))


def test_the_grid_of_answers():
    assert FiniteFunction(lambda x: x, [0, 2, 4]).grid.contiguous
    gaps = FiniteFunction(lambda x: Fraction(x, 2), [0, 2, 3]).grid
    assert (gaps.step, gaps.steps, gaps.contiguous) == (Fraction(1, 2), 3, False)
    assert FiniteFunction(lambda x: 7, [0, 1]).grid is None
    assert FiniteFunction(str, [0, 1]).grid is None
    assert FiniteFunction(bool, [0, 1]).grid is None
    assert FiniteFunction(lambda x: math.inf if x else 0, [0, 1]).grid is None


def check_chain(proof, function, database_metric, answer_metric, start, end):
    """A chain is a proof: steps that follow each other, are expansive, and add up to the distance."""
    steps = proof.chain(start, end)
    assert steps[0].start == start
    assert steps[-1].end == end
    assert all(one.end == two.start for one, two in itertools.pairwise(steps))
    for step in steps:
        x, y = step.databases
        assert (function.evaluate(x), function.evaluate(y)) == (step.start, step.end)
        assert answer_metric.exactly(step.start, step.end) == proof.sensitivity * database_metric.exactly(x, y)
    assert sum(answer_metric.exactly(step.start, step.end) for step in steps) == answer_metric.exactly(start, end)


def test_chains_are_proofs():
    line = matrix("abcd", [[0, 1, 2, 4], [1, 0, 1, 3], [2, 1, 0, 2], [4, 3, 2, 0]])
    for function, database_metric, answer_metric in [
        (FiniteFunction(sum, BITS), hamming(), absolute()),
        (FiniteFunction(lambda x: x[0], BITS), hamming(), discrete()),
        (FiniteFunction({"a": 0, "b": 1, "c": 2, "d": 4}, "abcd"), line, absolute()),
        (FiniteFunction(lambda x: x, BITS), manhattan(), hamming()),
    ]:
        proof = uniformity(function, database_metric, answer_metric)
        assert proof
        for start, end in itertools.permutations(function.image, 2):
            check_chain(proof, function, database_metric, answer_metric, start, end)
    assert proof.chain((0, 0, 0), (0, 0, 0)) == ()


def test_a_chain_of_several_steps():
    """0 to 3 directly costs more than it moves; by way of 1 and 2 it does not."""
    far = matrix("abcd", [[0, 1, 2, 9], [1, 0, 1, 9], [2, 1, 0, 9], [9, 9, 9, 0]], check=False)
    near = matrix("efgh", [[0, 9, 9, 9], [9, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]], check=False)
    points = "abcdefgh"
    costs = [
        [
            far.exactly(x, y) if {x, y} <= set("abcd") else near.exactly(x, y) if {x, y} <= set("efgh") else 9
            for y in points
        ]
        for x in points
    ]
    d = matrix(points, costs).closure(points)
    function = FiniteFunction(dict(zip(points, [0, 1, 2, 7, 8, 9, 2, 3], strict=True)), points)
    proof = uniformity(function, d, absolute())
    assert proof.sensitivity == 1
    assert [(step.start, step.end) for step in proof.chain(0, 3)] == [(0, 2), (2, 3)]


def test_refutations():
    function = FiniteFunction(sum, itertools.product(range(3), repeat=2))
    proof = uniformity(function, hamming(), absolute())
    assert proof.sensitivity == 2
    assert proof.holds is False
    y, z = proof.refuted_by
    steps = proof.chain(y, z)
    assert steps is None or sum(abs(step.start - step.end) for step in steps) > abs(y - z)
    with pytest.raises(ArgumentError):
        proof.chain(0, 99)


def test_levels_divide():
    function = FiniteFunction(sum, BITS)
    assert uniformity(function, hamming() / 3, absolute()).sensitivity == 3
    assert uniformity(function, mdp.ln(2) * hamming(), 5 * (mdp.ln(2) * absolute())).sensitivity == 5
    irrational = uniformity(function, mdp.ln(2) * hamming(), absolute())
    assert irrational.holds  # decided without the logarithm
    assert isinstance(irrational.sensitivity, Bound)
    assert 1 / math.log(2) <= irrational.sensitivity < 1 / math.log(2) + 1e-15


def test_infinite_and_zero_distances():
    split = matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])
    proof = uniformity(FiniteFunction({"a": 0, "b": 1, "c": 9}, "abc"), split, absolute())
    assert proof.sensitivity == 1
    assert proof.holds is False  # nothing is asked of the answer 9, yet |9 - 1| is finite
    assert proof.chain(0, 9) is None
    assert uniformity(FiniteFunction(abs, [0, 1]), unprotected(), absolute()).sensitivity == 0
    assert uniformity(FiniteFunction(lambda x: 7, [0, 1]), absolute(), absolute()).sensitivity == 0
    same = uniformity(FiniteFunction(str, ["a", "b"]), matrix("ab", [[0, 0], [0, 0]]), discrete())
    assert same.sensitivity == math.inf
    assert same.witness == ("a", "b")
    assert uniformity(FiniteFunction(str, "ab"), discrete(), unprotected()).sensitivity == math.inf


def test_irrational_distances_are_enclosed():
    corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
    proof = uniformity(FiniteFunction(sum, corners), euclidean(), absolute())
    assert proof.holds is None
    assert proof.witness == ((0, 0), (1, 1))
    assert proof.sensitivity.enclosure.lower**2 <= 2 <= proof.sensitivity.enclosure.upper**2
    assert math.sqrt(2) <= proof.sensitivity < math.sqrt(2) + 1e-15
    assert uniformity(FiniteFunction(lambda x: 0, corners), euclidean(), absolute()).sensitivity == 0


def test_progress():
    seen = []
    uniformity(FiniteFunction(sum, BITS), hamming(), absolute(), progress=seen.append)
    assert [(update.done, update.total) for update in seen] == [(done, 8) for done in range(1, 9)]
