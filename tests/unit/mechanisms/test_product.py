"""Several mechanisms as one: distances add up, and records have a part for each."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from flint import arb

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    DataError,
    KindError,
    MetricDPError,
    NotFiniteError,
    ShapeError,
    UnknownCategoryError,
)
from metricdp.exact.balls import precision
from tests.refused_secrets import LETTERS, LINE, refused
from tests.tight_guarantees import BITS, assert_tight, check_sums, metric_of


def test_product_adds_up():
    """Two attributes that both differ use the whole sum of their metrics."""
    one, two = mdp.randomized_response("ab", 1), mdp.randomized_response("xyz", mdp.ln(3))
    mechanism = mdp.independent(one, two)
    with precision(BITS):
        chances = [(part.truth(), (1 - part.truth()) / (len(part.values) - 1)) for part in (one, two)]
        records = list(itertools.product("ab", "xyz"))

        def chance(x, z):
            return math.prod((told[a != b] for told, a, b in zip(chances, x, z, strict=True)), start=arb(1))

        tables = {x: {z: chance(x, z) for z in records} for x in records}
        check_sums(tables)
        metric = mechanism.guarantee.metric
        assert_tight(tables, lambda x, y: metric.ball(dict(enumerated(x)), dict(enumerated(y))))


def enumerated(record):
    return ((str(number), value) for number, value in enumerate(record))


def test_composition_adds_up():
    one, two = mdp.randomized_response("ab", 1), mdp.randomized_response("ab", 2)
    mechanism = mdp.compose(one, two)
    with precision(BITS):
        tables = {
            x: {
                (z, w): (one.truth() if z == x else 1 - one.truth()) * (two.truth() if w == x else 1 - two.truth())
                for z in "ab"
                for w in "ab"
            }
            for x in "ab"
        }
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def test_records():
    records = mdp.independent(LINE, LETTERS)
    refused(records, [(1.0, "a"), (1.0,)], ShapeError, 1, "2 attributes")
    refused(records, (1.0, "a", "b"), ShapeError, 0, "2 attributes")
    refused(records, [(1.0, "a"), (math.nan, "b")], NotFiniteError, 1, "finite")
    refused(records, [(1.0, "a"), (2.0, "x")], UnknownCategoryError, 1, "declared")
    refused(records, [], ShapeError, None, "empty")
    refused(records, pd.DataFrame({"x": [1.0]}), ShapeError, None, "2 columns")


@pytest.mark.parametrize("bad", [5, None, [5], [None], "ab", ["ab"], object()])
def test_not_a_record(bad):
    with pytest.raises(DataError) as caught:
        mdp.independent(LINE, LETTERS).release(bad)
    assert type(caught.value) in (ShapeError, KindError)


def test_nothing_to_put_together():
    for make in (mdp.independent, mdp.compose):
        with pytest.raises(ArgumentError, match="at least one mechanism"):
            make()


@pytest.mark.parametrize("bad", [3, None, "laplace", mdp.laplace])
def test_not_a_mechanism(bad):
    for make in (mdp.independent, mdp.compose, lambda bad: mdp.postprocess(bad, abs)):
        with pytest.raises(MetricDPError):
            make(bad)


SURE = mdp.geometric(60 * mdp.metrics.absolute())
"""Whose noise is 0 for all that a test can see."""


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_record_keeps_its_own_parts(count):
    twice = mdp.independent(mdp.compose(SURE, SURE), SURE)
    assert twice.release([(row, -row) for row in range(count)]) == [((row, row), -row) for row in range(count)]
    assert twice.release((5, 6)) == ((5, 5), 6)


def test_a_function_within_a_record_is_applied_to_each():
    K = mdp.independent(mdp.postprocess(SURE, lambda number: f"{number:d}"), SURE)
    assert K.release((3, 4)) == ("3", 4)
    assert K.release([(3, 4), (5, 6)]) == [("3", 4), ("5", 6)]


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1], "b": [2]})])
def test_a_column_of_several_values(frame):
    refused(mdp.independent(mdp.compose(SURE, SURE), SURE), frame, KindError, None, "no one column")


def test_records_in_arrays_that_are_none():
    refused(mdp.independent(SURE, SURE), [(1, 2), np.array(5)], KindError, 1, "a record is wanted")
