"""Paper 1, Sections 4.2, 5 and 6: where the truncated geometric mechanism is universally optimal, and where not.

Databases are all tuples over a small universe with nulls, without the empty one; distances between answers are those
that the databases induce (`answer_space`); optimality is decided for all priors by `universally_optimal`.
"""

import itertools
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.adversaries import is_monotone, monotone
from metricdp.design import answer_space, compare, universal_mechanism, universally_optimal
from metricdp.metrics import Space, absolute, hamming, nullable, records

K = 2  # the universe is 0, 1, 2 and null


def databases(people, metric, nulls=True):
    values = [*range(K + 1), *([None] if nulls else [])]
    listed = [x for x in itertools.product(values, repeat=people) if any(v is not None for v in x)]
    return Space(listed, metric)


def present(x):
    return [value for value in x if value is not None]


def total(x):
    return sum(present(x))


def average_floor(x):
    return sum(present(x)) // len(present(x))


def average_half_up(x):
    return math.floor(Fraction(sum(present(x)), len(present(x))) + Fraction(1, 2))


def average_half_even(x):
    return round(Fraction(sum(present(x)), len(present(x))))


def percentile(p):
    def query(x):
        values = sorted(present(x))
        return values[math.floor(Fraction(p, 100) * len(values) + 1) - 1]

    query.__name__ = f"percentile_{p}"
    return query


QUERIES = [total, average_floor, average_half_up, percentile(0), percentile(50), percentile(75)]
BASE = nullable(absolute(), K)
MANHATTAN, LARGEST = records(BASE, 1), records(BASE, math.inf)
LOSSES = {
    "bin": lambda distance: int(distance > 0),
    "distance": lambda distance: distance,
    "squared": lambda distance: distance**2,
    "beyond one": lambda distance: int(distance > 1),
}


def reference(answers, m):
    """A loss that is monotone in the metric of reference, |y - y'|."""
    return monotone(Space(answers.points, absolute()), m)


def geometric(answers, level):
    return mdp.channels.of(mdp.truncated_geometric(level * absolute(), steps=len(answers) - 1), answers.points)


def optimal_for_all(answers, level):
    channel = geometric(answers, level)
    for m in LOSSES.values():
        loss = reference(answers, m)
        assert is_monotone(Space(answers.points, absolute()), loss)
        result = universally_optimal(channel, answers, loss)
        assert result.holds
        assert result.excess.upper == 0
        assert result.better is None


def is_the_line(answers, sensitivity):
    """Uniform sensitivity (Definition 5): the induced distance times it is |y - y'|."""
    unit = answers.metric.unit
    return answers.points == tuple(range(len(answers))) and all(
        sensitivity * unit.exactly(y, z) == abs(y - z) for y in answers.points for z in answers.points
    )


@pytest.mark.parametrize("level", [mdp.ln(2), mdp.ln("3/2"), mdp.ln(7)])
@pytest.mark.parametrize("people", [1, 2, 3, 4])
def test_theorem_8_counting_queries(people, level):
    answers = answer_space(sum, Space.bits(people, level * hamming()))
    assert is_the_line(answers, 1)
    optimal_for_all(answers, level)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.__name__)
def test_theorem_12_manhattan(query):
    answers = answer_space(query, databases(2, mdp.ln(2) * MANHATTAN))
    assert is_the_line(answers, 1)
    optimal_for_all(answers, mdp.ln(2))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.__name__)
def test_theorem_11_normalised_manhattan(query):
    """TG at level ε / (q k) is optimal for ε times the normalised metric, whose unit is k times as large."""
    answers = answer_space(query, databases(2, mdp.ln(4) * (MANHATTAN / K)))
    scale = answers.metric.level.coefficient  # a scaled metric is the level times the unit, however it was written
    assert is_the_line(answers, 1)
    assert scale == 1
    optimal_for_all(answers, mdp.ln(2))


@pytest.mark.parametrize("query", QUERIES[1:], ids=lambda query: query.__name__)
def test_theorem_13_largest(query):
    answers = answer_space(query, databases(2, mdp.ln(2) * LARGEST))
    assert is_the_line(answers, 1)
    optimal_for_all(answers, mdp.ln(2))


def test_three_people():
    for query in (average_half_up, percentile(50)):
        for metric in (MANHATTAN, LARGEST):
            answers = answer_space(query, databases(3, mdp.ln(3) * metric))
            assert is_the_line(answers, 1)
            optimal_for_all(answers, mdp.ln(3))


def test_a_level_at_which_nothing_is_rational():
    """The channel is a rounding of the mechanism, so it is the best up to that rounding."""
    answers = answer_space(percentile(50), databases(2, 0.8 * LARGEST))
    channel = geometric(answers, 0.8)
    for m in LOSSES.values():
        result = universally_optimal(channel, answers, reference(answers, m))
        assert result.holds
        assert result.excess.upper < 1e-17


def test_theorem_10_needs_uniform_sensitivity():
    """Under d-infinity the sum is 2-sensitive, and its induced distance is not half of |y - y'|."""
    answers = answer_space(total, databases(2, mdp.ln(4) * LARGEST, nulls=False))
    assert not is_the_line(answers, 2)
    assert answers.metric.unit.exactly(0, 1) == 1
    assert answers.metric.unit.exactly(0, 2) == 1
    result = universally_optimal(geometric(answers, mdp.ln(2)), answers, reference(answers, LOSSES["distance"]))
    assert result.refuted
    assert result.better_loss < result.loss


def test_half_even_rounding_breaks_theorem_13():
    """Python's round: averages 1/2 and 3/2 of databases one apart become 0 and 2."""
    answers = answer_space(average_half_even, databases(2, mdp.ln(2) * LARGEST))
    assert answers.metric.unit.exactly(0, 2) == 1
    assert answers.metric.unit.exactly(0, 1) == 1
    with pytest.raises(mdp.errors.ArgumentError, match="only a private channel"):
        universally_optimal(geometric(answers, mdp.ln(2)), answers, "bin")


@pytest.mark.parametrize("query", [total, average_floor, percentile(50)], ids=lambda query: query.__name__)
@pytest.mark.parametrize("loss", ["bin", "distance"])
def test_geometric_is_not_optimal_under_hamming(query, loss):
    """Scaled by its sensitivity it is private; the induced graph is no path, and better mechanisms exist."""
    answers = answer_space(query, databases(2, mdp.ln(4) * hamming()))
    channel = geometric(answers, mdp.ln(4) / K)
    assert mdp.channels.verify(channel, answers)
    result = universally_optimal(channel, answers, reference(answers, LOSSES[loss]))
    assert result.refuted
    assert result.witness is not None
    assert mdp.channels.verify(result.better, answers)
    purpose = result.purpose
    assert mdp.adversaries.uncertainty(result.witness, channel, purpose, exact=True) == result.loss
    assert mdp.adversaries.uncertainty(result.witness, result.better, purpose, exact=True) == result.better_loss
    assert result.better_loss < result.loss


@pytest.mark.parametrize("level", [mdp.ln("3/2"), mdp.ln("11/10")])
@pytest.mark.parametrize("query", [total, percentile(50)], ids=lambda query: query.__name__)
def test_theorem_9_no_mechanism_is_optimal_under_hamming(query, level):
    """Below ln 2, where the induced graph is no path; for bin and for the distance each, not only for both."""
    answers = answer_space(query, databases(2, level * hamming()))
    edges = sum(answers.metric.unit.exactly(y, z) == 1 for y, z in itertools.combinations(answers.points, 2))
    assert edges > len(answers) - 1  # a connected graph with more edges than a tree is no path
    for m in (LOSSES["bin"], LOSSES["distance"]):
        assert not universal_mechanism(answers, reference(answers, m))


@pytest.mark.parametrize("level", [mdp.ln("3/2"), mdp.ln(2), mdp.ln(5)])
def test_counting_queries_have_one_by_search(level):
    """The search that refutes Theorem 9's queries finds a mechanism for a counting query, as good as the geometric."""
    answers = answer_space(sum, Space.bits(3, level * hamming()))
    for m in LOSSES.values():
        loss = reference(answers, m)
        found = universal_mechanism(answers, loss)
        assert found
        assert found.proof.excess.upper == 0
        assert compare(found.channel, geometric(answers, level), loss).equal
