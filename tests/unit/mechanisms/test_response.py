"""Randomized response and its sets: tight guarantees, and values that were not declared."""

import itertools
import math
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from flint import arb

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    KindError,
    LevelError,
    MetricDPError,
    UnknownCategoryError,
)
from metricdp.exact.balls import ball, precision
from metricdp.metrics import Guarantee
from tests.refused_secrets import LETTERS, LINE, PLANE, SETS, refused
from tests.tight_guarantees import BITS, TINY, assert_tight, check_sums, metric_of, spent

m = mdp.metrics


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, mdp.ln(3), 5])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_randomized_response(count, epsilon):
    mechanism = mdp.randomized_response(range(count), epsilon)
    with precision(BITS):
        truth = mechanism.truth()
        lie = (1 - truth) / (count - 1)
        tables = {x: {z: truth if z == x else lie for z in range(count)} for x in range(count)}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 4)])
@pytest.mark.parametrize("count", [2, 4])
def test_randomized_response_with_delta(count, delta):
    """P(Z | x) - e^eps P(Z | x') is delta exactly for the worst Z, and more for 0.9 eps or for 0.9 delta."""
    mechanism = mdp.randomized_response(range(count), 1, delta)
    with precision(BITS):
        truth = mechanism.truth()
        lie = (1 - truth) / (count - 1)

        def beyond(epsilon):
            """The hockey-stick divergence between any two secrets, by brute force over all sets of outputs."""
            one = [truth if z == 0 else lie for z in range(count)]
            two = [truth if z == 1 else lie for z in range(count)]
            sets = itertools.chain.from_iterable(itertools.combinations(range(count), r) for r in range(count + 1))
            factor = ball(epsilon).exp()
            return max((sum((one[z] - factor * two[z] for z in chosen), start=arb(0)) for chosen in sets), key=float)

        assert abs(beyond(Fraction(1)) - ball(delta)) < ball(TINY)
        assert beyond(Fraction(9, 10)) > ball(delta)
        assert beyond(Fraction(1)) > ball(delta * Fraction(9, 10))


@pytest.mark.parametrize("level", [Fraction(3, 2), mdp.ln(3)])
def test_set_response(level):
    mechanism = mdp.set_response("abc", level)
    subsets = [frozenset(chosen) for r in range(4) for chosen in itertools.combinations("abc", r)]
    with precision(BITS):
        flip = mechanism.flip()
        tables = {x: {z: flip ** len(x ^ z) * (1 - flip) ** (3 - len(x ^ z)) for z in subsets} for x in subsets}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def test_refusing_is_possible():
    """The check itself is not blind: response with a truth too likely, and geometric noise for a larger metric."""
    with precision(BITS):
        truth = ball(Fraction(3, 4))
        tables = {x: {z: truth if x == z else 1 - truth for z in "ab"} for x in "ab"}
        exact = mdp.ln(3) * m.discrete()
        assert_tight(tables, exact.ball)
        with pytest.raises(AssertionError, match="broken"):
            assert_tight(tables, (mdp.ln(3) * Fraction(9, 10) * m.discrete()).ball)
        with pytest.raises(AssertionError, match="not tight"):
            assert_tight(tables, (mdp.ln(3) * Fraction(11, 10) * m.discrete()).ball)
        with pytest.raises(AssertionError, match="cannot"):
            spent({"a": {0: arb(1), 1: arb(0)}, "b": {0: arb(0), 1: arb(1)}}, exact.ball)


@pytest.mark.parametrize("bad", ["e", None, 3, "A", ["a", "b"], {"a"}, math.nan])
def test_unknown_category(bad):
    for mechanism in (
        LETTERS,
        mdp.randomized_response("abcd", 1, "0.1"),
        mdp.exponential(mdp.Space("abcd", m.discrete())),
    ):
        refused(mechanism, ["a", bad], UnknownCategoryError, 1, "not one of the declared values")


@pytest.mark.parametrize("bad", [{"b", "x"}, ["x"], (None,), [["a"]], [{"a"}]])
def test_unknown_element(bad):
    refused(SETS, [{"a"}, bad], UnknownCategoryError, 1, "not in the declared universe")


def test_sets_of_the_wrong_kind():
    for bad in ("ab", 3, None, {"a": 1}):
        refused(SETS, [{"a"}, bad], KindError, 1, "a set is wanted")
        refused(SETS, bad, KindError, 0, "a set is wanted")


@pytest.mark.parametrize("bad", [1, 1.5, -0.1, math.nan, math.inf, None, True])
def test_delta(bad):
    for make in (
        lambda: mdp.randomized_response("ab", 1, bad),
        lambda: mdp.approximate_laplace(0, 1, 1, bad),
        lambda: Guarantee(m.discrete(), bad),
    ):
        with pytest.raises(LevelError):
            make()


def test_categories():
    for bad in ([], ["a"], "aab", [1, True], ["a", "a"]):
        with pytest.raises(ArgumentError, match="each once"):
            mdp.randomized_response(bad, 1)
    for bad in ([], "aba"):
        with pytest.raises(ArgumentError, match="each once"):
            mdp.set_response(bad, 1)
    with pytest.raises(ArgumentError, match="two points"):
        mdp.exponential(mdp.Space([1], m.discrete()))
    with pytest.raises(MetricDPError):
        mdp.Space(["a", "a"], m.discrete())


@pytest.mark.parametrize("make", [mdp.randomized_response, mdp.set_response])
def test_categories_that_cannot_be_looked_up(make):
    with pytest.raises(MetricDPError):
        make([["unhashable"], ["list"]], 1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_integers_of_any_width_beside_labels_that_it_does_not_hold(dtype):
    for labels in ([500, 501], [-700, -699], [2**63, 2**63 + 1], [2**70, 2**70 + 1]):
        refused(mdp.randomized_response(labels, 1), np.array([0, 1], dtype=dtype), UnknownCategoryError, 0, "declared")


def test_labels_beyond_64_bits_in_an_array_of_64():
    released = mdp.randomized_response([2**63, 2**63 + 1], 1).release(np.array([2**63] * 20, dtype=np.uint64))
    assert set(released.tolist()) <= {2**63, 2**63 + 1}


def test_missing_among_labels_in_the_words_of_numpy_and_pandas():
    letters, numbers = mdp.randomized_response(["a", None], 60), mdp.randomized_response([1.0, None], 60)
    assert letters.release(pd.Series(["a", np.nan])).tolist() == ["a", None]
    assert letters.release(["a", math.nan, pd.NA, pd.NaT, None]) == ["a", None, None, None, None]
    assert numbers.release(np.array([1.0, np.nan])).tolist() == [1.0, None]
    refused(LETTERS, ["a", math.nan], UnknownCategoryError, 1, "declared")


@pytest.mark.parametrize("bad", [math.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_a_declared_value_equals_itself(bad):
    with pytest.raises(ArgumentError, match="declare None for missing"):
        mdp.randomized_response([1.0, bad], 1)


def test_one_label_in_an_array_without_an_axis():
    assert mdp.randomized_response([0, 1], 60).release(np.array(1)) == 1
    assert mdp.randomized_response(["a", "b"], 60).release(np.array("a")) == "a"


@pytest.mark.parametrize("bad", [(label for label in "ab"), iter("ab"), range(2), {"a": "b"}.values()])
def test_labels_one_by_one(bad):
    for mechanism in (LETTERS, LINE, PLANE):
        refused(mechanism, bad, KindError, None, "give a list")


NUMBERED = mdp.set_response([1, 300], 1)
"""A set response whose universe not every type holds."""


@pytest.mark.parametrize(
    "secrets",
    [
        pa.array([[1], []], pa.list_(pa.int8())),
        pa.array([[1, 300]], pa.list_(pa.int64(), 2)),
        pa.array([[(1, 2)]], pa.map_(pa.int64(), pa.int64())),
        pd.Series([frozenset([1]), frozenset()]).astype("category"),
    ],
)
def test_a_type_that_does_not_hold_every_set(secrets):
    for _ in range(20):  # whatever is drawn
        refused(NUMBERED, secrets, KindError, None, "hold every|not categories")


@pytest.mark.parametrize("dtype", [pl.List(pl.Int8), pl.Array(pl.Int64, 1)])
def test_sets_that_a_type_of_polars_does_not_hold_are_objects(dtype):
    for _ in range(20):
        assert NUMBERED.release(pl.Series([[1], [1]], dtype=dtype)).dtype == pl.Object
    assert NUMBERED.release(pl.Series([[1]], dtype=pl.List(pl.Int16))).dtype == pl.List(pl.Int16)


def test_a_set_of_another_class_is_refused():
    class Hidden(set):
        pass

    pair = namedtuple("pair", "first second")
    for bad in (Hidden([1]), pair(1, 300), np.array(1)):
        refused(NUMBERED, [[1], bad], KindError, 1, "a set is wanted")
    refused(NUMBERED, np.array(["a"]), KindError, 0, "a set is wanted")


@pytest.mark.parametrize("level", [1e300, 1e20, mdp.ln(10**4000)], ids=str)
def test_levels_of_which_no_ball_holds_the_exponential(level):
    """They used to end in an error of Python's, at the first release."""
    assert mdp.randomized_response("abc", level).release(["a", "c"] * 20) == ["a", "c"] * 20
    assert mdp.set_response("ab", level).release([{"a"}, {"b"}]) == [{"a"}, {"b"}]
    null = mdp.metrics.nullable(mdp.metrics.absolute(), 20)
    assert mdp.laplace(level * null, bounds=(0, 10), resolution=1).release([None, 5, 7]) == [None, 5, 7]
