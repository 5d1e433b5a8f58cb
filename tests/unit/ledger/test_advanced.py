"""Advanced composition, against the exact privacy of small channels that are used many times.

For two secrets, K used n times gives the releases z_1 .. z_n, and all that matters of them is how often each kind came:
the exact delta at an epsilon is a finite sum. It is computed here in rationals, from logarithms that are enclosed.
"""

import itertools
import math
from fractions import Fraction
from functools import partial

import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.balls import ball, enclose
from metricdp.exact.level import Level, ln
from metricdp.ledger import advanced_epsilon, advanced_metric
from metricdp.ledger.advanced import combined_level
from metricdp.metrics import absolute, attributes, capped, discrete, matrix

DELTA = Fraction(1, 10**4)


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def exact_delta(row, other, times, epsilon):
    """An upper bound, within 10^-30, on the least delta for these two secrets after so many uses."""
    bound = Fraction(enclose(lambda: ball(epsilon).exp(), 128).lower)
    total = Fraction(0)
    for counts in compositions(times, len(row)):
        ways = math.factorial(times)
        for count in counts:
            ways //= math.factorial(count)
        p = math.prod((value**count for value, count in zip(row, counts, strict=True)), start=Fraction(1))
        q = math.prod((value**count for value, count in zip(other, counts, strict=True)), start=Fraction(1))
        total += max(ways * (p - bound * q), Fraction(0))
    return total


def exact_epsilon(row, other, times, delta):
    """The least epsilon with this delta, by bisection, both ways round."""
    low, high = Fraction(0), Fraction(times * 4)
    for _ in range(30):
        middle = (low + high) / 2
        holds = max(exact_delta(row, other, times, middle), exact_delta(other, row, times, middle)) <= delta
        low, high = (low, middle) if holds else (middle, high)
    return high


def response(k, ratio):
    """Randomized response on k values: the likelihoods of two of them within this ratio."""
    total = ratio + k - 1
    return [[Fraction(ratio if i == j else 1) / total for j in range(k)] for i in range(k)]


def geometric(ratio):
    """Truncated geometric noise on three points in a row, with likelihoods within this ratio for each step."""
    a = Fraction(1) / ratio
    middle = (1 - a) / (1 + a)
    rows = [[a ** abs(i - j) * (middle if j == 1 else 1 / (1 + a)) for j in range(3)] for i in range(3)]
    assert all(sum(row) == 1 for row in rows)
    return rows


CASES = [
    ("two answers, 1.1", response(2, Fraction(11, 10)), Fraction(11, 10), [0, 1], discrete(), 60),
    ("two answers, 1.5", response(2, Fraction(3, 2)), Fraction(3, 2), [0, 1], discrete(), 40),
    ("two answers, 4", response(2, Fraction(4)), Fraction(4), [0, 1], discrete(), 20),
    ("three answers, 1.2", response(3, Fraction(6, 5)), Fraction(6, 5), [0, 1, 2], discrete(), 24),
    ("three in a row, 1.2", geometric(Fraction(6, 5)), Fraction(6, 5), [0, 1, 2], absolute(), 24),
    ("three in a row, 2", geometric(Fraction(2)), Fraction(2), [0, 1, 2], absolute(), 14),
]


@pytest.mark.parametrize(("name", "rows", "ratio", "points", "unit", "times"), CASES, ids=[case[0] for case in CASES])
def test_never_below_the_truth(name, rows, ratio, points, unit, times):
    metric = unit * ln(ratio)
    composed = advanced_metric([metric] * times, DELTA, points=points)
    assert composed.violation(points) is None, "it is a metric"
    filtered = _filter_metric([metric] * times, points)
    for i, j in itertools.combinations(range(len(points)), 2):
        true = exact_epsilon(rows[i], rows[j], times, DELTA)
        x, y = points[i], points[j]
        bound = Fraction(composed.enclose(x, y).lower)
        number = Fraction(float(advanced_epsilon([Level(unit.exactly(x, y)) * ln(ratio)] * times, DELTA)))
        added = times * Fraction(metric.enclose(x, y).upper)
        print(
            f"{name}: {x} and {y}, {times} times: exactly {float(true):.4f}, at these distances {float(number):.4f}, "
            f"as a metric {float(bound):.4f} (slack {float(bound / true - 1):.0%}), in the filter "
            f"{filtered(x, y):.4f}, added up {float(added):.4f}"
        )
        assert true <= number <= min(bound, added) * (1 + Fraction(1, 10**12))
        assert bound <= Fraction(filtered.enclose(x, y).upper)


def _filter_metric(metrics, points):
    """The metric that an account keeps."""
    squares = sum((Fraction(metric.level.enclose(128).upper) ** 2 for metric in metrics), Fraction(0))
    drift = sum(
        Fraction(metric.level.enclose(128).upper) * Fraction(metric.enclose(*metric.farthest(points)).upper) / 2
        for metric in metrics
    )
    return metrics[0].unit * combined_level(squares, drift, DELTA)


def test_the_textbook_bound_taken_for_all_pairs_is_no_metric():
    """On three points in a row: from end to end it is more than over the middle, by the part with tanh."""
    levels = [ln(2)] * 40
    points = [0, 1, 2]
    apart = [
        [Fraction(0) if x == y else Fraction(_textbook([level * abs(x - y) for level in levels])) for y in points]
        for x in points
    ]
    assert apart[0][2] > apart[0][1] + apart[1][2]
    with pytest.raises(ArgumentError, match="triangle"):
        matrix(points, apart)
    composed = advanced_metric([absolute() * ln(2)] * 40, DELTA, points=points)
    assert composed.violation(points) is None
    for x, y in itertools.combinations(points, 2):
        assert composed(x, y) >= apart[x][y] * (1 - Fraction(1, 10**12))


def _textbook(levels):
    def value():
        balls = [level.ball() for level in levels]
        squares = sum((one * one for one in balls), ball(0))
        return (2 * (1 / ball(DELTA)).log() * squares).sqrt() + sum((one * (one / 2).tanh() for one in balls), ball(0))

    return enclose(value).upper


def test_the_filter_is_nowhere_below_its_theorem():
    """sqrt(2 ln(1/δ') Σ ε²) + Σ ε²/2 at every distance up to the greatest."""
    for levels in ([Fraction(1, 10)] * 50, [Fraction(1, 3), Fraction(2), Fraction(1, 50)]):
        greatest = 3
        squares = sum((level**2 for level in levels), Fraction(0))
        drift = sum((level * (level * greatest) / 2 for level in levels), Fraction(0))
        kept = combined_level(squares, drift, DELTA)
        for distance in (Fraction(1, 100), Fraction(1), Fraction(3)):
            theorem = enclose(partial(_theorem, squares, distance))
            assert kept * distance >= theorem.lower


def _theorem(squares, distance):
    return (2 * (1 / ball(DELTA)).log() * ball(squares)).sqrt() * ball(distance) + ball(squares * distance**2 / 2)


def test_drifts_chosen_by_luck_would_break_a_filter_that_adds_them_apart():
    """Why a charge without a greatest distance ends the gain of an account: see the decision record."""
    from metricdp.ledger.caps import Cap
    from metricdp.ledger.totals import AccountTotals, Price
    from metricdp.metrics import Guarantee

    cap = Cap(Guarantee(absolute() * 2, "1e-6"), composed_delta=Fraction(1, 10**6))
    totals = AccountTotals().plus(Price.of(Guarantee(capped(absolute(), 1) / 100)), cap)
    assert totals.bounded
    totals = totals.plus(Price.of(Guarantee(absolute() / 100)), cap)
    assert not totals.bounded
    assert not totals.plus(Price.of(Guarantee(capped(absolute(), 1) / 100)), cap).bounded


def test_several_attributes():
    metrics = [attributes({"a": Fraction(1, 50)}), attributes({"b": Fraction(1, 100), "a": Fraction(1, 100)})] * 100
    composed = advanced_metric(metrics, DELTA)
    for x, y in [((0, 0), (1, 0)), ((0, 0), (0, 1)), ((0, 0), (1, 1))]:
        a, b = x[0] != y[0], x[1] != y[1]
        distances = [Fraction(a, 50), Fraction(a + b, 100)] * 100
        assert composed(x, y) >= float(advanced_epsilon(distances, DELTA)) * (1 - 1e-12)


def test_no_gain_and_bad_input():
    assert advanced_metric([absolute()] * 3, DELTA) is None
    assert advanced_metric([absolute()] * 3, DELTA, points=["a"]) is None
    for bad in (0, 1, -1, 2):
        with pytest.raises(LevelError, match="between 0 and 1"):
            advanced_epsilon([1], bad)
    with pytest.raises(LevelError, match="negative"):
        advanced_epsilon([-1], DELTA)
    with pytest.raises(ArgumentError, match="no metrics"):
        advanced_metric([], DELTA)
    assert float(advanced_epsilon([3, 3], DELTA)) == 6.0, "never more than the sum"
