import json
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, NotAMetricError, UnsupportedMetricError
from metricdp.metrics import (
    absolute,
    add_remove,
    capped,
    chebyshev,
    discrete,
    euclidean,
    hamming,
    manhattan,
    matrix,
    maximum,
    nullable,
    records,
    smooth,
    unprotected,
)
from metricdp.queries import Average, CellCounts, Count, FiniteFunction, Percentile, Sum, median, sensitivity
from metricdp.queries.single.record_metrics import record_metric, shape_of


def value(query, database_metric, answer_metric=None):
    return sensitivity(query, database_metric, answer_metric or absolute()).value


def test_large_universes_are_no_work():
    query = Sum((0, 10**9), records=10**9)
    assert value(query, hamming()) == 10**9
    assert value(query, manhattan()) == 1
    assert value(query, chebyshev()) == 10**9
    assert value(Average((0, 10**9), records=10**6), hamming()) == 1000
    assert value(Average((0, 10**9), records=10**6, rounding="floor"), hamming()) == 1000
    assert value(Average((0, 10**9 + 1), records=10**6, rounding="floor"), hamming()) == 1001
    assert value(median((0, 10**9)), hamming()) == 10**9


def test_levels_divide():
    query = Sum((0, 10), records=3)
    assert value(query, hamming() / 2) == 20
    assert value(query, 3 * manhattan()) == value(query, records(3 * absolute())) == Fraction(1, 3)
    assert value(query, mdp.ln(2) * manhattan(), 4 * (mdp.ln(2) * absolute())) == 4
    irrational = value(query, mdp.ln(2) * manhattan())
    assert 1 / math.log(2) <= irrational < 1 / math.log(2) + 1e-15


def test_absence():
    assert value(Sum((0, 10)), hamming()) == 10
    assert value(Sum((0, 10)), add_remove()) == 10  # to change a value costs 2, to remove it 1
    assert value(Sum((-10, 10)), add_remove()) == 10
    assert value(Sum((0, 10), records=5), add_remove()) == 5
    assert value(median((0, 10)), add_remove()) == 10
    assert value(Average((0, 10)), add_remove()) == 5
    assert value(Count({"a"}), add_remove()) == 1
    assert value(CellCounts("ab"), add_remove(), manhattan()) == 1
    assert value(CellCounts("ab"), hamming(), manhattan()) == 2
    for metric in (manhattan(), chebyshev(), records(absolute())):
        with pytest.raises(UnsupportedMetricError, match="absent record"):
            value(Sum((0, 10)), metric)


def test_a_constant_has_no_sensitivity():
    assert value(Count(records=5), hamming()) == 0
    assert value(Count({0, 1}, values=[0, 1], records=5), hamming()) == 0
    assert value(Count(), hamming()) == 1
    assert value(Sum((0, 1), records=5), records(unprotected())) == 0


def test_sums_of_metrics():
    both = 2 * hamming() + 3 * manhattan()
    assert value(Sum((0, 10), records=2), both) == Fraction(10, 32)
    assert value(Count({5}, values=range(11), records=2), both) == Fraction(1, 5)


def test_thresholds_are_compared_value_by_value():
    assert value(Sum((0, 10), records=2), records(capped(absolute(), 4))) == Fraction(10, 4)
    assert value(Sum((0, 10), records=2), records(smooth(absolute(), 4, 1))) == 4
    budget = matrix([0, 1, 2], [[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    assert value(Sum((0, 2), records=2), records(budget)) == 1
    assert sensitivity(Sum((0, 2), records=2), records(budget), absolute()).uniform is False
    with pytest.raises(UnsupportedMetricError, match="too many values"):
        value(Sum((0, 10_000), records=2), records(capped(absolute(), 4)))
    with pytest.raises(UnsupportedMetricError, match="too many values"):
        value(Sum((0, 10), step=None, records=2), records(capped(absolute(), 4)))


def test_where_there_is_no_closed_form():
    largest = maximum(hamming(), manhattan() / 2)
    found = sensitivity(Sum((0, 4), records=2), largest, absolute())
    assert (found.value, found.theorem) == (2, "compared pair by pair")
    assert found.uniformity.witness is not None
    with pytest.raises(UnsupportedMetricError, match="no closed form"):
        value(Sum((0, 4), records=9), largest)
    with pytest.raises(UnsupportedMetricError, match="no closed form"):
        value(Sum((0, 4)), largest)
    assert value(Sum((0, 4), records=2), hamming(), discrete()) == 1
    assert value(CellCounts("ab", records=2), hamming(), euclidean()) > math.sqrt(2) - 1e-15
    with pytest.raises(UnsupportedMetricError, match="values="):
        value(Count(lambda age: age >= 18, records=3), manhattan())
    assert value(Count(lambda age: age >= 18, values=range(100), records=3), manhattan()) == 1


def test_infinite_sensitivity():
    for query in (Sum((0, 4)), Count({1}, values=[0, 1])):
        found = sensitivity(query, records(nullable(absolute(), 4), math.inf), absolute())
        assert found.value == math.inf
        assert "not public" in str(found)
    zero = matrix([0, 1], [[0, 0], [0, 0]])
    assert value(Sum((0, 1), records=1), records(zero)) == math.inf


def test_a_metric_that_is_none():
    with pytest.raises(NotAMetricError, match="absent"):
        value(Sum((0, 10)), records(nullable(absolute(), 4)))
    assert value(Sum((0, 10)), records(nullable(absolute(), 5))) == 2
    assert value(Sum((0, 10), records=2), records(nullable(absolute(), 4))) == 1  # nobody is absent here
    broken = matrix([0, 1, 2], [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False)
    with pytest.raises(NotAMetricError, match="triangle"):
        value(Sum((0, 2), records=2), records(broken))


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="a query is wanted"):
        sensitivity(sum, hamming(), absolute())
    with pytest.raises(ArgumentError, match="metric"):
        sensitivity(Sum((0, 1)), 0.5, absolute())
    with pytest.raises(UnsupportedMetricError, match="irrational"):
        value(Sum((0, 10)), records(nullable(mdp.ln(2) * absolute(), 10)))
    with pytest.raises(UnsupportedMetricError):
        value(Sum((0, 10), records=1000), absolute())  # between numbers, not databases


def test_words_and_json():
    found = sensitivity(Sum((0, 10), records=3), hamming(), absolute())
    assert repr(found) == "Sensitivity(10, uniform=False, 'paper 1, Propositions 4 and 5')"
    assert "where two databases are 1 apart by dₕ, their answers are at most 10 apart by |x − y|" in str(found)
    assert float(found) == 10.0
    assert json.loads(json.dumps(found.to_json()))["value"] == 10
    root = sensitivity(Sum((0, 10), records=3), euclidean(), absolute())
    assert "1.73205" in repr(root)
    assert root.to_json()["exact"] is False
    assert root.above**2 > 3
    function = FiniteFunction(sum, [(0, 0), (0, 1), (1, 1)])
    assert sensitivity(function, hamming(), absolute()).uniform is True


def test_percentiles_do_not_depend_on_p():
    for p in (0, "12.5", 50, 100):
        assert value(Percentile(p, (0, 7), records=9), manhattan()) == 1
        assert value(Percentile(p, (0, 7)), hamming()) == 7


def test_metrics_are_taken_apart():
    assert record_metric(absolute()) is None
    assert record_metric(maximum(hamming(), manhattan())) is None
    assert record_metric(hamming() + chebyshev()) is None
    taken = record_metric(3 * records(2 * nullable(absolute(), 5), math.inf))
    assert (taken.level.coefficient, taken.p, taken.base) == (6, math.inf, nullable(absolute(), 5))
    assert shape_of(nullable(2 * discrete(), 1)) == ("discrete", 2)
    assert shape_of(mdp.ln(2) * absolute())[0] == "listed"
