"""Paper 1, Sections 4 and 5: sensitivity, uniform sensitivity, and the queries that are answered best.

Databases are tuples over a small universe with nulls, as in the paper without the empty one where that is said; the
closed forms of `sensitivity` include it, with an answer in the middle.
"""

import itertools
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.design import answer_space
from metricdp.metrics import (
    Guarantee,
    Space,
    absolute,
    chebyshev,
    discrete,
    hamming,
    manhattan,
    matrix,
    normalized_manhattan,
    nullable,
    records,
)
from metricdp.queries import Average, Count, FiniteFunction, Percentile, Sum, minimum, sensitivity, uniformity
from metricdp.queries.single.plan import plan

K = 2
VALUES = [0, 1, 2, None]
DATABASES = [x for x in itertools.product(VALUES, repeat=2) if x != (None, None)]
BASE = nullable(absolute(), K)
D1, LARGEST = records(BASE), records(BASE, math.inf)
OPTIONS = {"bounds": (0, K), "records": 2, "nulls": True}
NEAR_MEAN = [Average(**OPTIONS, rounding="floor"), Average(**OPTIONS, rounding="half-up")]
PERCENTILES = [Percentile(p, **OPTIONS) for p in (0, 25, 50, 75, 99, 100)]
ALL = [Sum(**OPTIONS), *NEAR_MEAN, *PERCENTILES]


def on_databases(query):
    return FiniteFunction(query.evaluate, DATABASES)


def test_fact_5_has_no_converse_without_uniform_sensitivity():
    """As in Fig. 1: H ∘ f is ln 2-private and f is 1-sensitive, but H(y1)(z1) = 3/4 > 2 H(y3)(z1) = 2/4."""
    people = matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    f = FiniteFunction({"a": "y1", "b": "y2", "c": "y3"}, Space("abc", people))
    proof = uniformity(f, people, discrete())
    assert proof.sensitivity == 1
    assert proof.holds is False
    assert proof.refuted_by == ("y1", "y3")
    H = mdp.Channel.from_matrix(f.answers, ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
    assert not mdp.channels.verify(H, Space(f.answers, mdp.ln(2) * discrete()))
    composed = mdp.Channel.from_matrix("abc", H.outputs, H.matrix)
    assert mdp.channels.verify(composed, Space("abc", mdp.ln(2) * people))


@pytest.mark.parametrize("query", ALL, ids=repr)
def test_theorem_6_the_induced_metric_is_that_of_the_answers(query):
    """Uniformly Δ-sensitive: the largest metric that noise on the answers has to respect is |y - y'| / Δ."""
    answers = answer_space(query.evaluate, Space(DATABASES, D1))
    delta = sensitivity(query, D1, absolute()).value
    assert all(
        answers.metric.unit.exactly(y, z) * delta == abs(y - z) for y, z in itertools.combinations(answers.points, 2)
    )


def test_proposition_3_normalised_manhattan_is_nowhere_above_hamming():
    values = list(itertools.product(range(4), repeat=2))
    stronger, weaker = Guarantee(normalized_manhattan(3)), Guarantee(hamming())
    assert stronger.implies(weaker, values)
    assert not weaker.implies(stronger, values)


@pytest.mark.parametrize("query", ALL, ids=repr)
def test_propositions_4_and_5(query):
    """The sensitivities for Hamming's metric and for the normalised Manhattan metric coincide: d_V(V)."""
    for metric in (hamming(), D1 / K):
        assert sensitivity(query, metric, absolute()).value == K
        assert uniformity(on_databases(query), metric, absolute()).sensitivity == K


@pytest.mark.parametrize("query", ALL, ids=repr)
def test_theorem_11_normalised_manhattan(query):
    found = sensitivity(query, D1 / K, absolute())
    assert (found.value, found.uniform) == (K, True)
    assert uniformity(on_databases(query), D1 / K, absolute()).holds
    assert plan(query, 0.5 * D1 / K).optimal
    assert not plan(query, 0.5 * hamming()).optimal  # the same noise, yet not the best for the weaker promise


@pytest.mark.parametrize("query", ALL, ids=repr)
def test_theorem_12_manhattan(query):
    found = sensitivity(query, D1, absolute())
    assert (found.value, found.uniform) == (1, True)
    assert uniformity(on_databases(query), D1, absolute()).holds
    assert plan(query, 0.5 * D1).optimal


@pytest.mark.parametrize("query", [*NEAR_MEAN, *PERCENTILES], ids=repr)
def test_theorem_13_largest(query):
    found = sensitivity(query, LARGEST, absolute())
    assert (found.value, found.uniform) == (1, True)
    assert uniformity(on_databases(query), LARGEST, absolute()).holds
    assert plan(query, 0.5 * LARGEST).optimal


def test_theorem_13_does_not_hold_for_the_sum():
    """The sum moves by n for each unit, and not uniformly: the paper leaves it out rightly."""
    found = sensitivity(Sum((0, K), records=2), chebyshev(), absolute())
    assert (found.value, found.uniform) == (2, False)
    assert not plan(Sum((0, K), records=2), chebyshev()).optimal


def test_half_even_rounding_breaks_theorem_13():
    """Averages 1/2 and 3/2 of databases one apart are rounded to 0 and 2."""

    def half_even(x):
        present = [value for value in x if value is not None]
        return round(Fraction(sum(present), len(present)))

    proof = uniformity(FiniteFunction(half_even, DATABASES), LARGEST, absolute())
    assert proof.sensitivity == 2
    x, y = proof.witness
    assert LARGEST.exactly(x, y) == 1
    assert abs(half_even(x) - half_even(y)) == 2
    with pytest.raises(mdp.errors.ArgumentError, match="half to even"):
        Average((0, K), records=2, nulls=True, rounding="half-even")


def test_average_that_is_not_rounded_is_no_query_of_theorem_13():
    """Its values are not on the grid. With n public its answers are n times as fine, and under d1 that is best."""
    exact = Average((0, K), records=2)
    assert sensitivity(exact, manhattan(), absolute()).value == Fraction(1, 2)
    assert plan(exact, manhattan()).optimal
    found = sensitivity(exact, chebyshev(), absolute())
    assert (found.value, found.uniform) == (1, False)
    rounded = plan(Average((0, K), records=2, rounding="floor"), manhattan())
    assert plan(exact, manhattan()).error_bar() < rounded.error_bar()


def test_footnote_10_nulls_without_zero():
    """An absent record moves the sum by |v|: where 0 is no value, by more than the values move it."""
    away = Sum((5, 7), records=2, nulls=True)
    assert sensitivity(away, hamming(), absolute()).value == 7
    assert sensitivity(Sum((5, 7), records=2), hamming(), absolute()).value == 2
    assert sensitivity(away, records(nullable(absolute(), 2)), absolute()).value == Fraction(7, 2)
    adapted = sensitivity(away, records(nullable(absolute(), 7)), absolute())
    assert (adapted.value, adapted.uniform) == (1, False)  # 1-sensitive again, but from 0 to 5 it costs 7
    assert sensitivity(Sum((-7, -5), records=2, nulls=True), hamming(), absolute()).value == 7
    assert sensitivity(Sum((-3, 7), records=2, nulls=True), hamming(), absolute()).value == 10


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_theorem_8_counting_queries(n):
    """Uniformly 1-sensitive under Hamming's metric (the proof of Proposition 8), answered by TG, the best there is."""
    query = Count({1}, values=[0, 1], records=n)
    found = sensitivity(query, hamming(), absolute())
    assert (found.value, found.uniform) == (1, True)
    assert uniformity(FiniteFunction(query.evaluate, itertools.product([0, 1], repeat=n)), hamming(), absolute()).holds
    planned = plan(query, mdp.ln(3) * hamming())
    assert planned.optimal
    assert planned.mechanism == mdp.truncated_geometric(mdp.ln(3) * absolute(), steps=n)


def test_example_1_registration_dates():
    """The least of values from 0 to about 5000 days: 5000-sensitive for d_h, 1-sensitive for d1; ε/5·d1 for 5 days."""
    earliest = minimum((0, 5000), records=10_000, nulls=True)
    d1 = records(nullable(absolute(), 5000))
    assert sensitivity(earliest, hamming(), absolute()).value == 5000
    assert sensitivity(earliest, d1, absolute()).value == 1
    whole, five_days = plan(earliest, 1.0 * hamming()), plan(earliest, d1 / 5)
    assert whole.mechanism.metric == absolute() / 5000
    assert five_days.mechanism.metric == absolute() / 5
    assert five_days.optimal
    assert five_days.error_bar(0.95) <= 16
    assert (
        whole.error_bar(0.95) == 5000
    )  # noise of scale 5000 is as wide as the range: almost useless, as the paper says
