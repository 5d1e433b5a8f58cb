"""Geometric, response, sets, exponential, and nulls: every cell of their tables."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from tests.statistical.harness import (
    DRAWS,
    OFF,
    QUANTILES,
    check_scale,
    check_table,
    fits_table,
    plausible,
    unrelated,
)
from tests.statistical.test_line import around

m = mdp.metrics


def two_sided(a, most):
    """P(|k|) of the two-sided geometric law up to ``most``, with the tails at the ends."""
    table = {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-most + 1, most)}
    return table | dict.fromkeys((-most, most), a**most / (1 + a))


@pytest.mark.parametrize("secret", [0, -5, 10**15])
def test_geometric(secret):
    released = mdp.geometric(mdp.ln(2) * m.absolute()).release(np.full(DRAWS, secret))
    assert released.dtype.kind == "i"
    cells = np.clip(released - secret, -9, 9)
    check_table(cells.tolist(), lambda factor: two_sided(2 ** (-1 / factor), 9))


def test_geometric_in_steps():
    released = mdp.geometric("0.3" * m.absolute(), step="0.25").release(np.full(DRAWS, -7.5))
    cells = np.clip((released + 7.5) * 4, -60, 60)
    assert (cells == np.rint(cells)).all()
    check_table(cells.astype(int).tolist(), lambda factor: two_sided(math.exp(-0.075 / factor), 60))


def test_geometric_snapped():
    released = mdp.geometric(mdp.ln(2) * m.absolute(), snap=True).release(np.full(DRAWS, 2.5))
    cells = np.clip(released - 3, -9, 9).astype(int)
    check_table(cells.tolist(), lambda factor: two_sided(2 ** (-1 / factor), 9))


def truncated(a, k, secret):
    def cell(z):
        apart = abs(z - secret)
        return a**apart / (1 + a) if z in (0, k) else (1 - a) / (1 + a) * a**apart

    return {z: cell(z) for z in range(k + 1)}


@pytest.mark.parametrize("secret", [0, 3, 10])
def test_truncated_geometric(secret):
    released = mdp.truncated_geometric(0.1 * m.absolute(), steps=10).release(np.full(DRAWS, secret))
    check_table(released.tolist(), lambda factor: truncated(math.exp(-0.1 / factor), 10, secret))


@pytest.mark.parametrize("delta", ["0", "0.05"])
@pytest.mark.parametrize("secret", ["a", "c", "d"])
def test_randomized_response(secret, delta):
    def table(factor):
        lie = (1 - float(delta)) / (3 + math.exp(1 / factor))
        return {value: lie if value != secret else 1 - 3 * lie for value in "abcd"}

    check_table(mdp.randomized_response("abcd", 1, delta).release([secret] * DRAWS), table)


def test_two_and_many_values():
    yes_no = mdp.randomized_response(["yes", "no"], mdp.ln(3)).release(["no"] * DRAWS)
    check_table(
        yes_no, lambda factor: {"no": 3 ** (1 / factor) / (1 + 3 ** (1 / factor)), "yes": 1 / (1 + 3 ** (1 / factor))}
    )
    many = mdp.randomized_response(range(97), 4).release(np.full(DRAWS, 40))

    def table(factor):
        return {value: math.exp(4 / factor * (value == 40)) / (96 + math.exp(4 / factor)) for value in range(97)}

    check_table(many.tolist(), table)


def test_response_is_independent_from_row_to_row():
    released = mdp.randomized_response("ab", 1).release(["a"] * DRAWS)
    lies = np.array([value == "b" for value in released], dtype=float)
    pairs = list(zip(lies[:-1].tolist(), lies[1:].tolist(), strict=True))[::2]
    p = 1 / (1 + math.e)
    assert fits_table(pairs, {(a, b): (p if a else 1 - p) * (p if b else 1 - p) for a in (0, 1) for b in (0, 1)})


@pytest.mark.long
@pytest.mark.parametrize("secret", [set(), {"a", "b"}, set("abcde")])
def test_sets_element_by_element(secret):
    count = DRAWS // 2
    released = mdp.set_response("abcde", 1.5).release([secret] * count)
    flips = np.array([[(x in result) != (x in secret) for x in "abcde"] for result in released])

    def flip(factor):
        return 1 / (1 + math.exp(1.5 / factor))

    assert plausible(flips.sum(axis=0), count, [flip(1)] * 5)
    for factor in OFF:
        assert not plausible(flips.sum(axis=0), count, [flip(factor)] * 5)
    # All 32 patterns: the flips of different elements are independent.
    patterns = {
        pattern: math.prod(flip(1) if on else 1 - flip(1) for on in pattern)
        for pattern in itertools.product((False, True), repeat=5)
    }
    assert fits_table(map(tuple, flips.tolist()), patterns)


SPACES = {
    "line": mdp.Space.line(6, 0.5 * m.absolute()),
    "grid": mdp.Space.grid(3, 2, mdp.ln(2) * m.euclidean()),
    "ring": mdp.Space(
        range(5), m.matrix(range(5), [[min((i - j) % 5, (j - i) % 5) for j in range(5)] for i in range(5)])
    ),
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_exponential(space):
    mechanism = mdp.exponential(space)
    for x in (0, len(space) - 1):

        def table(factor, x=x):
            exponents = -float(mechanism.share) / factor * space.distances[x]
            weights = np.exp(exponents)
            return dict(zip(space.points, weights / weights.sum(), strict=True))

        check_table(mechanism.release([space.points[x]] * DRAWS), table)


def test_exponential_never_crosses_an_infinite_distance():
    space = mdp.Space("abc", m.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]))
    mechanism = mdp.exponential(space)
    assert set(mechanism.release(["c"] * 1000)) == {"c"}
    assert set(mechanism.release(["a"] * 1000)) == {"a", "b"}


def nulls(factor):
    """p and q, for D = 100 / 20 from null to any number and h = 50 / 20 from the middle to a bound."""
    far, half = 5 / factor, 2.5 / factor
    p = math.expm1(far - half) / math.expm1(2 * far - half)
    return p, math.exp(far) * p


@pytest.mark.parametrize("form", ["array", "list"])
def test_nulls(form):
    mechanism = mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), 100), bounds=(0, 100))
    count = DRAWS if form == "array" else 60_000
    for secret, which in ((33.3, 0), (math.nan, 1)):
        if form == "list":
            released = mechanism.release([None if secret != secret else secret] * count)
            assert None in released
            assert all(value is None or value == value for value in released), (
                "null is None in a list, whatever went in"
            )
            released = np.array([math.nan if value is None else float(value) for value in released])
        else:
            released = mechanism.release(np.full(count, secret))
        is_null = np.isnan(released)
        check_table(is_null.tolist(), lambda f, which=which: {True: nulls(f)[which], False: 1 - nulls(f)[which]})
        numbers = released[~is_null]
        law = around(33.3 if secret == secret else 50, 20)
        cuts = [cut for cut in law(1).ppf(QUANTILES) if 0 < cut < 100]
        if numbers.size > DRAWS / 4:
            check_scale(numbers, law, cuts)
        else:  # null is seldom released as a number: enough of them to see the shape, not 10%
            assert plausible([(numbers <= cut).sum() for cut in cuts], numbers.size, law(1).cdf(cuts))
        assert unrelated(is_null[:-1], is_null[1:])


def test_seeded_choices():
    with mdp.seeded(7):
        released = mdp.randomized_response("abcd", 1).release(["b"] * DRAWS)

    def table(factor):
        lie = 1 / (3 + math.exp(1 / factor))
        return {value: lie if value != "b" else 1 - 3 * lie for value in "abcd"}

    check_table(released, table)
