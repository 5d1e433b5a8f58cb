"""The channel of every discrete mechanism: its own probabilities, exactly or a hair inside, and what is refused."""

import collections
import datetime as dt
import itertools
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.channels import Channel, of, verify
from metricdp.errors import (
    ArgumentError,
    DataError,
    KindError,
    OffGridError,
    OutOfDomainError,
    ShapeError,
    TooLargeError,
)
from metricdp.exact.balls import ball, precision
from metricdp.metrics import Guarantee

m = mdp.metrics
F = Fraction
INF = math.inf
SETS = [frozenset(some) for size in range(4) for some in itertools.combinations("abc", size)]
TWO_PARTS = m.matrix("abcd", [[0, 1, INF, INF], [1, 0, INF, INF], [INF, INF, 0, 2], [INF, INF, 2, 0]])


def truncated(level, k, step=1):
    """The law, as balls, written down from the formula of the two-sided geometric."""

    def law(x, z):
        a = (-(ball(F(level)) if not isinstance(level, mdp.exact.Level) else level.ball()) * ball(F(step))).exp()
        cell, out = round(F(x) / F(step)), round(F(z) / F(step))
        if out in (0, k):
            return a ** abs(cell - out) / (1 + a)
        return a ** abs(cell - out) * (1 - a) / (1 + a)

    return law


def response(epsilon, n, delta=0):
    def law(x, z):
        growth = (ball(F(epsilon)) if not isinstance(epsilon, mdp.exact.Level) else epsilon.ball()).exp()
        lie = ball(1 - F(delta)) / (n - 1 + growth)
        return 1 - (n - 1) * lie if x == z else lie

    return law


def flips(level, universe):
    def law(x, z):
        flip = 1 / (1 + ball(F(level)).exp())
        wrong = len(frozenset(x) ^ frozenset(z))
        return flip**wrong * (1 - flip) ** (len(universe) - wrong)

    return law


def cdf(rate, x, edge):
    """The distribution function of Laplace noise around x, from its two textbook branches."""
    far = (-rate * abs(ball(edge) - ball(x))).exp() / 2
    return far if edge < x else 1 - far


def clamped(rate, first, last, resolution=1, place=F):
    """Laplace noise, rounded to the nearest multiple of the resolution and clamped, as differences of its CDF."""

    def law(x, z):
        e, x, z, r = rate(), place(x), place(z), F(resolution)
        low = ball(0) if z == first else cdf(e, x, z - r / 2)
        high = ball(1) if z == last else cdf(e, x, z + r / 2)
        return high - low

    return law


def day(moment):
    return F(moment.toordinal() - dt.date(1970, 1, 1).toordinal())


def nullable(rate, null, first, last, resolution):
    """Null with chances p and q of its docstring; numbers as before, and null like the middle of the bounds."""
    numbers = clamped(rate, first, last, resolution)

    def law(x, z):
        far, half = rate() * ball(F(null)), rate() * ball(F(last - first, 2))
        p = ((far - half).exp() - 1) / ((2 * far - half).exp() - 1)
        share = far.exp() * p if x is None else p
        return share if z is None else (1 - share) * numbers(F(first + last, 2) if x is None else x, z)

    return law


def product(*laws):
    def law(x, z):
        result = ball(1)
        for part, one, out in zip(laws, x, z, strict=True):
            result = result * part(one, out)
        return result

    return law


def both(*laws):
    return lambda x, z: product(*laws)([x] * len(laws), z)


CASES = {
    "geometric": (mdp.truncated_geometric("0.1" * m.absolute(), steps=10), range(11), truncated("0.1", 10)),
    "geometric, some": (mdp.truncated_geometric(2 * m.absolute(), steps=10), [3, 7], truncated(2, 10)),
    "geometric, steps": (
        mdp.truncated_geometric("0.3" * m.absolute(), steps=5, step="0.25"),
        [0, 0.25, 1.25],
        truncated("0.3", 5, F(1, 4)),
    ),
    "geometric, far": (mdp.truncated_geometric(300 * m.absolute(), steps=4), range(5), truncated(300, 4)),
    "geometric, farther": (mdp.truncated_geometric(2000 * m.absolute(), steps=2), range(3), truncated(2000, 2)),
    "geometric, near": (
        mdp.truncated_geometric(F(1, 10**30) * m.absolute(), steps=3),
        range(4),
        truncated(F(1, 10**30), 3),
    ),
    "geometric, very near": (
        mdp.truncated_geometric(F(1, 10**330) * m.absolute(), steps=3),
        range(4),
        truncated(F(1, 10**330), 3),
    ),
    "geometric, root of 2": (
        mdp.truncated_geometric(mdp.ln(2) / 2 * m.absolute(), steps=4),
        range(5),
        truncated(mdp.ln(2) / 2, 4),
    ),
    "response": (mdp.randomized_response("abcd", 1), "abcd", response(1, 4)),
    "response, two": (mdp.randomized_response("ab", "0.01"), "ab", response("0.01", 2)),
    "response, delta": (mdp.randomized_response("abcd", 1, "0.05"), "abd", response(1, 4, "0.05")),
    "response, nearly all delta": (
        mdp.randomized_response("abcd", 1, 1 - F(1, 10**24)),
        "abcd",
        response(1, 4, 1 - F(1, 10**24)),
    ),
    "response, loud": (mdp.randomized_response("abcd", 10**4), "abcd", response(10**4, 4)),
    "response, quiet": (mdp.randomized_response("abcd", F(1, 10**15)), "abcd", response(F(1, 10**15), 4)),
    "sets": (mdp.set_response("abc", "1.5"), SETS, flips("1.5", "abc")),
    "sets, loud": (mdp.set_response("abc", 800), SETS, flips(800, "abc")),
    "laplace": (
        mdp.laplace("0.5" * m.absolute(), bounds=(0, 6), resolution=1),
        [0, F(1, 3), 0.5, 2, 2.5, 5.75, 6],
        clamped(lambda: ball(F(1, 2)), 0, 6),
    ),
    "laplace, bounds off the grid": (
        mdp.laplace(2 * m.absolute(), bounds=("-3.9", "7.9"), resolution=2),
        [F("-3.9"), -3, 0, 7, F("7.9")],
        clamped(lambda: ball(2), -2, 6, 2),
    ),
    "laplace, one output": (
        mdp.laplace(m.absolute(), bounds=("-0.9", "0.9"), resolution=1),
        [-0.5, 0, 0.75],
        lambda x, z: ball(1),
    ),
    "laplace, loud": (
        mdp.laplace(500 * m.absolute(), bounds=(0, 3), resolution=1),
        [0, 1, 2.5],
        clamped(lambda: ball(500), 0, 3),
    ),
    "laplace, quiet": (
        mdp.laplace(F(1, 10**20) * m.absolute(), bounds=(0, 3), resolution=1),
        [0, 1, 3],
        clamped(lambda: ball(F(1, 10**20)), 0, 3),
    ),
    "laplace, dates": (
        mdp.laplace("0.25" * m.dates(), bounds=(dt.date(2024, 2, 27), dt.date(2024, 3, 3)), resolution=1),
        [dt.date(2024, 2, 27), dt.date(2024, 2, 29), dt.date(2024, 3, 3)],
        clamped(lambda: ball(F(1, 4)), day(dt.date(2024, 2, 27)), day(dt.date(2024, 3, 3)), place=day),
    ),
    "laplace, delta": (
        mdp.approximate_laplace(0, 10, 1, "0.01", resolution=1),
        [0, 2.25, 5, 10],
        clamped(lambda: (1 - 2 * ball(F(99, 100)).log()) / 10, 0, 10),
    ),
    "laplace, null": (
        mdp.laplace("0.5" * m.nullable(m.absolute(), 7), bounds=(0, 5), resolution=1),
        [None, 0, 1.75, 5],
        nullable(lambda: ball(F(1, 2)), 7, 0, 5, 1),
    ),
    "laplace, loud null": (
        mdp.laplace(300 * m.nullable(m.absolute(), 9), bounds=(0, 5), resolution=1),
        [None, 0, 5],
        nullable(lambda: ball(300), 9, 0, 5, 1),
    ),
    "composed": (
        mdp.compose(mdp.randomized_response("ab", 1), mdp.randomized_response("ab", mdp.ln(2))),
        "ab",
        both(response(1, 2), response(mdp.ln(2), 2)),
    ),
    "independent": (
        mdp.independent(mdp.randomized_response("ab", 1), mdp.truncated_geometric(m.absolute(), steps=3)),
        list(itertools.product("ab", range(4))),
        product(response(1, 2), truncated(1, 3)),
    ),
}


LOOSE = ("laplace, one output", "laplace, quiet", "laplace, delta")
"""Rounding to few outputs left these more private than they say."""


@pytest.mark.parametrize("name", CASES)
def test_its_probabilities_are_those_of_the_mechanism(name):
    """Against the law written down here: `moved` bounds how far it is off, and that is nothing one could see."""
    mechanism, inputs, law = CASES[name]
    channel = of(mechanism, inputs)
    assert 0 <= channel.moved < 2.0**-60
    bits = 2 * channel.total.bit_length() + 200
    with precision(bits):
        for x in channel.inputs:
            change, whole = ball(0), ball(0)
            for z in channel.outputs:
                ideal = law(x, z)
                whole += ideal
                change += abs(ball(channel.probability(x, z)) - ideal)
            assert abs(whole - 1) < ball(F(1, 1 << 100)), "the law of this test does not sum to one"
            assert change / 2 < ball(F(channel.moved) + F(1, 1 << (bits - 64))), "it moved farther than it says"


@pytest.mark.parametrize("name", CASES)
def test_it_keeps_the_guarantee_of_the_mechanism_and_is_as_tight(name):
    mechanism, inputs, _ = CASES[name]
    channel = of(mechanism, inputs)
    guarantee = mechanism.guarantee
    assert channel.guarantee == guarantee
    assert verify(channel, mdp.Space(channel.inputs, guarantee.metric), guarantee.delta).holds
    if name not in LOOSE:
        smaller = mdp.Space(channel.inputs, F(9, 10) * guarantee.metric)
        assert not verify(channel, smaller, guarantee.delta).holds


@pytest.mark.parametrize(
    ("mechanism", "inputs", "total"),
    [
        (mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=2), range(3), 6),
        (mdp.randomized_response("ab", mdp.ln(3)), "ab", 4),
        (mdp.randomized_response("abc", mdp.ln(3), "1/6"), "abc", 6),
        (mdp.set_response("ab", mdp.ln(2)), [set(), {"a"}, {"a", "b"}], 9),
        (mdp.compose(mdp.randomized_response("ab", mdp.ln(2)), mdp.randomized_response("ab", mdp.ln(3))), "ab", 12),
        (mdp.postprocess(mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=2), lambda z: z > 0), range(3), 6),
        (mdp.laplace(mdp.ln(4) * m.absolute(), bounds=(0, 3), resolution=1), range(4), 64),
        (mdp.laplace(mdp.ln(4) * m.nullable(m.absolute(), 3), bounds=(0, 2), resolution=1), [None, 0, 1, 2], 1364),
        (
            mdp.independent(mdp.randomized_response("ab", mdp.ln(2)), mdp.randomized_response("ab", mdp.ln(3))),
            [("a", "a"), ("b", "b")],
            12,
        ),
    ],
)
def test_rational_probabilities_stay_what_they_are(mechanism, inputs, total):
    channel = of(mechanism, inputs)
    assert channel.total == total
    assert channel.moved == 0
    assert channel.guarantee == mechanism.guarantee


def test_the_exponential_mechanism_with_parts_infinitely_far_apart():
    mechanism = mdp.exponential(mdp.Space("abcd", TWO_PARTS))
    channel = of(mechanism, "abcd")
    assert channel.probability("a", "c") == 0
    assert channel.probability("a", "b") > 0
    assert verify(channel, mdp.Space("abcd", TWO_PARTS)).holds


@pytest.mark.parametrize("metric", [m.great_circle().within(10_000), m.euclidean(), mdp.ln(2) * m.manhattan()])
def test_the_exponential_mechanism(metric):
    points = [(0, 0), (0, 1), (1, 0), (89, 2)]
    mechanism = mdp.exponential(mdp.Space(points, metric))
    channel = of(mechanism, points[1:])
    assert channel.inputs == tuple(points[1:])
    assert channel.outputs == tuple(points)
    assert verify(channel, mdp.Space(points, metric)).holds
    with precision(4000):
        for row, x in enumerate(channel.inputs):
            ideal = mechanism.probabilities(row + 1)
            change = sum(
                (abs(ball(channel.probability(x, z)) - p) for z, p in zip(points, ideal, strict=True)), ball(0)
            )
            assert change / 2 < ball(F(channel.moved))


def test_twins_get_equal_rows():
    points = [(90, 0), (90, 77), (0, 0)]
    channel = of(mdp.exponential(mdp.Space(points, F(1, 10**7) * m.great_circle())), points)
    assert channel.weights[0].tolist() == channel.weights[1].tolist()


def test_a_part_with_a_delta_and_a_zero():
    """What only one input can give has exactly delta, and may not grow."""
    part = Channel.from_matrix([0, 1], [0, 1], [[1, 0], ["9/10", "1/10"]])
    part = part.promising(Guarantee(m.absolute(), F(1, 10)))
    channel = of(mdp.compose(part, mdp.truncated_geometric(m.absolute(), steps=1)), [0, 1])
    assert channel.guarantee == Guarantee(2 * m.absolute(), F(1, 10))
    assert verify(channel, mdp.Space([0, 1], 2 * m.absolute()), F(1, 10)).holds
    assert channel.moved < 2.0**-60


def test_a_channel_restricts_to_the_inputs_with_its_promise():
    promise = Guarantee(mdp.ln(2) * m.absolute())
    channel = of(mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=4), range(5))
    part = of(channel, [3, 1])
    assert part.inputs == (3, 1)
    assert part.promise == promise
    assert part.probability(3, 0) == channel.probability(3, 0)


def test_postprocessing_merges_outputs():
    channel = of(mdp.postprocess(mdp.truncated_geometric(m.absolute(), steps=9), lambda z: z // 5), range(10))
    assert channel.outputs == (0, 1)
    assert verify(channel, mdp.Space(range(10), m.absolute())).holds
    assert float(channel.probability(0, 1)) == pytest.approx(math.exp(-5) / (1 + math.exp(-1)))


def test_releases_follow_the_channel():
    mechanism = mdp.truncated_geometric(m.absolute(), steps=3)
    assert set(of(mechanism, [0, 3]).release([0, 3] * 200)) <= set(range(4))


@pytest.mark.parametrize(
    ("mechanism", "inputs", "error", "words"),
    [
        (mdp.laplace(m.absolute()), [0], ArgumentError, "no finite list of outputs; with bounds="),
        (mdp.laplace(m.euclidean()), [(0, 0)], ArgumentError, "no finite list of outputs"),
        (mdp.geometric(m.absolute()), [0], ArgumentError, "truncated_geometric"),
        (mdp.laplace(m.absolute(), bounds=(0, 100)), [0], TooLargeError, "104,857,601 outputs.*wider than"),
        (mdp.laplace(m.absolute(), bounds=(0, 4), resolution=1), [0, 5], OutOfDomainError, "row 1: outside"),
        (mdp.laplace(m.absolute(), bounds=(0, 4), resolution=1), [0, None], DataError, "row 1"),
        (mdp.laplace(m.absolute(), bounds=(0, 4), resolution=1), [0, "x"], DataError, "row 1"),
        (mdp.laplace(10**6 * m.absolute(), bounds=(0, 4), resolution=1), [0], TooLargeError, "below 2\\^-65536"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [2.5], OffGridError, "row 0"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [0, 5], OutOfDomainError, "row 1"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [0, -1], OutOfDomainError, "row 1"),
        (mdp.truncated_geometric(m.absolute(), steps=4), ["a"], DataError, "row 0"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [math.nan], DataError, "row 0"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [1, 1], DataError, "same point"),
        (mdp.truncated_geometric(m.absolute(), steps=4), [], ShapeError, "at least one input"),
        (mdp.randomized_response("ab", 1), "ax", DataError, "row 1"),
        (mdp.set_response("ab", 1), [{"x"}], DataError, "row 0"),
        (mdp.set_response("ab", 1), ["x", 3], KindError, "row 0: a set"),
        (mdp.set_response(range(30), 1), [set()], TooLargeError, "2\\^30"),
        (
            mdp.independent(*[mdp.randomized_response(range(20), 1)] * 4),
            [(0, 0, 0, 0)],
            TooLargeError,
            "160,000 outputs",
        ),
        (mdp.independent(*[mdp.randomized_response(range(20), 1)] * 2), [0], ShapeError, "2 attributes"),
        (3, [0], ArgumentError, "takes a mechanism"),
        (m.absolute(), [0], ArgumentError, "takes a mechanism"),
    ],
)
def test_what_is_no_channel(mechanism, inputs, error, words):
    with pytest.raises(error, match=words):
        of(mechanism, inputs)


def test_a_mechanism_of_somebody_else_is_a_channel_as_soon_as_it_has_a_law():
    """Nothing asks for its class."""

    class Coin:
        guarantee = Guarantee(mdp.ln(3) * m.discrete())

        def law(self, inputs):
            return mdp.randomized_response("ab", mdp.ln(3)).law(inputs)

    assert of(Coin(), "ab").total == 4


RELEASED = {
    "numbers": (mdp.laplace("0.5" * m.absolute(), bounds=(0, 6), resolution=2), [0, 2.5, 6]),
    "null": (mdp.laplace("0.5" * m.nullable(m.absolute(), 5), bounds=(0, 6), resolution=2), [None, 0, 5]),
    "delta": (mdp.approximate_laplace(0, 4, 1, "0.05", resolution=1), [0, 1.5]),
    "dates": (
        mdp.laplace("0.5" * m.dates(), bounds=(dt.date(2024, 1, 1), dt.date(2024, 1, 5))),
        [dt.date(2024, 1, 1), dt.date(2024, 1, 4)],
    ),
    "composed": (mdp.postprocess(mdp.truncated_geometric(m.absolute(), steps=4), lambda z: z), [1, 4]),
}


@pytest.mark.parametrize("name", RELEASED)
@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_releases_have_the_law_that_the_channel_has(name):
    """Counts of releases lie within six standard deviations of the channel's probabilities, and no output is new."""
    mechanism, inputs = RELEASED[name]
    channel, draws = of(mechanism, inputs), 4000
    with mdp.seeded(7):
        for x in channel.inputs:
            released = collections.Counter(mechanism.release([x] * draws))
            assert set(released) <= set(channel.outputs)
            for z in channel.outputs:
                share = float(channel.probability(x, z))
                assert abs(released[z] - draws * share) < 6 * math.sqrt(draws * share * (1 - share)) + 1
