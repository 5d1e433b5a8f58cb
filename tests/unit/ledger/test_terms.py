"""A metric as a sum of terms, and back."""

import itertools
import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import Level, ln
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.terms import MetricTerm, metric_of, terms_of, unit_digest
from metricdp.metrics import (
    absolute,
    add_remove,
    attributes,
    capped,
    discrete,
    great_circle,
    hamming,
    matrix,
    maximum,
    nullable,
    records,
    unprotected,
)
from metricdp.metrics.scaled import Scaled

LINEAR = [
    (2 * absolute(), [0, 1, 5]),
    (absolute() + discrete() * ln(2), [0, 1, 5]),
    (3 * attributes({"age": absolute() / 10, "sex": 0.5}), [(1, "f"), (2, "m"), (1, "m")]),
    (records(nullable(capped(absolute(), 10), 5)), [(1, None), (2, 3), (None, None)]),
    (nullable(attributes({"a": 1, "b": "inf"}) * ln(3), 2), [None, (0, 0), (1, 0), (1, 1)]),
    (2 * nullable(absolute(), math.inf), [None, 0, 3]),
    (maximum(absolute(), 2 * discrete()) * 3, [0, 1, 5]),
]


@pytest.mark.parametrize(("metric", "points"), LINEAR, ids=str)
def test_the_terms_add_up_to_the_metric(metric, points):
    names = ("age", "sex", "a", "b")
    again = metric_of(terms_of(metric), names)
    for x, y in itertools.product(points, repeat=2):
        assert again(x, y) == pytest.approx(metric(x, y))


def test_what_is_not_linear_is_a_term_of_its_own():
    assert [term.unit for term in terms_of(maximum(absolute(), discrete()) * 3)] == [maximum(absolute(), discrete())]
    assert [term.unit for term in terms_of(records(absolute(), p=2))] == [records(absolute(), p=2)]
    product = attributes({"a": ln(2) * absolute()}) * ln(3)  # a logarithm of a logarithm's multiple is no level
    assert [term.unit for term in terms_of(product)] == [product.unit]


def test_equal_terms_meet():
    terms = terms_of(ln(2) * absolute() + ln(3) * absolute())
    assert list(terms.values()) == [LevelSum.of(ln(6))]


def test_names_and_keys_tell_terms_apart():
    terms = terms_of(attributes({"a/b": discrete(), "a": nullable(discrete(), 1)}))
    assert [term.name for term in terms] == ["a/b", "a", "a, missing or not"]
    assert len({term.key for term in terms}) == 3
    assert MetricTerm((".a", ".b"), discrete()).key != MetricTerm((".a/.b",), discrete()).key
    assert MetricTerm((".a~1.b",), discrete()).key != MetricTerm((".a/.b",), discrete()).key
    assert (
        len({unit_digest(metric) for metric in [absolute(), hamming(), add_remove(), great_circle(), unprotected()]})
        == 5
    )


def test_no_negative_level_gets_in():
    with pytest.raises(LevelError, match="positive"):
        terms_of(Scaled(Level(Fraction(-1)), absolute()))


def test_a_level_that_is_too_long_to_write_is_refused():
    assert terms_of(absolute() * Fraction(1, 3**5000))
    with pytest.raises(LevelError, match="8,192 bits"):
        terms_of(absolute() * Fraction(1, 3**6000))


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ArgumentError, match="no written form"):
        unit_digest(matrix([frozenset({1}), frozenset()], [[0, 1], [1, 0]]))


def test_terms_of_several_shapes_have_no_metric():
    assert metric_of({}) is None
    absent = MetricTerm(("absent",), discrete())
    assert metric_of({absent: LevelSum.of(1)}) is None
