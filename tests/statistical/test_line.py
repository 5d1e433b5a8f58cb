"""Laplace noise on the line: floats, cents, integers, decimals, dates, bounded, and with a delta."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import metricdp as mdp
from tests.statistical.harness import DRAWS, QUANTILES, check_scale, fits, half_cells, plausible, unrelated

m = mdp.metrics


def around(secret, scale):
    return lambda factor: stats.laplace(loc=secret, scale=scale * factor)


@pytest.mark.parametrize("secret", [0.0, 3.7, -1e6, 0.1])
def test_floats(secret):
    released = mdp.laplace(m.absolute().within(5)).release(np.full(DRAWS, secret))
    check_scale(released - secret, around(0, 5 / math.log(2)))


def test_other_levels():
    for level in (1e-6, 1, 250.5):
        released = mdp.laplace(level * m.absolute()).release(np.full(DRAWS, 0.3))
        check_scale(released - 0.3, around(0, 1 / level))


@pytest.mark.parametrize("secret", [0.1, -3.7049])
def test_cents(secret):
    law = around(secret, 4)
    released = mdp.laplace(0.25 * m.absolute(), resolution="0.01").release(np.full(DRAWS, secret))
    check_scale(released, law, half_cells(law(1).ppf(QUANTILES), 0.01))


@pytest.mark.parametrize("secret", [5, -(10**12)])
def test_integers_on_a_coarse_grid(secret):
    law = around(secret, 50 / math.log(2))
    released = mdp.laplace(m.absolute().within(50), resolution=7).release(np.full(DRAWS, secret))
    assert released.dtype.kind == "i"
    check_scale(released, law, half_cells(law(1).ppf(QUANTILES), 7))


def test_a_grid_coarser_than_the_noise():
    """Three quarters of a cell from one point: which one is released is the whole of the noise."""
    law = around(0.25, 1)
    released = mdp.laplace(m.absolute(), resolution=1).release(np.full(DRAWS, 0.25))
    assert set(np.unique(released)) <= set(range(-40, 40))
    check_scale(released, law, [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])


def test_integers_beyond_the_floats():
    secret = 10**17 + 3
    law = around(0, 50 / math.log(2))
    released = mdp.laplace(m.absolute().within(50), resolution=1).release(np.full(DRAWS, secret))
    check_scale(released - secret, law, half_cells(law(1).ppf(QUANTILES), 1))


def test_decimals():
    secret = Decimal("19.99")
    law = around(0, 4)
    released = mdp.laplace(0.25 * m.absolute(), resolution="0.01").release([secret] * 50_000)
    noise = np.array([value - float(secret) for value in released])
    check_scale(noise, law, half_cells(law(1).ppf(QUANTILES), 0.01))


@pytest.mark.parametrize(("kind", "per_day"), [("D", 1), ("h", 24), ("s", 86_400)])
def test_dates(kind, per_day):
    secrets = np.full(DRAWS, "2024-02-29", dtype=f"datetime64[{kind}]")
    law = around(0, 5 / math.log(2) * per_day)
    mechanism = mdp.laplace(m.dates().within(5), resolution=Fraction(1, per_day))
    noise = (mechanism.release(secrets) - secrets).astype(np.int64)
    check_scale(noise, law, half_cells(law(1).ppf(QUANTILES), 1))


@pytest.mark.long
def test_nanoseconds():
    secrets = np.full(DRAWS, "2024-02-29T12:34:56.123456789", dtype="datetime64[ns]")
    law = around(0, 5 / math.log(2) * 86_400e9)
    mechanism = mdp.laplace(m.dates().within(5), resolution=Fraction(1, 86_400 * 10**9))
    noise = (mechanism.release(secrets) - secrets).astype(np.int64)
    check_scale(noise, law)


@pytest.mark.parametrize("secret", [0.0, 3.7, 100.0])
def test_bounds_clamp_and_change_nothing_else(secret):
    law = around(secret, 5 / math.log(2))
    released = mdp.laplace(m.absolute().within(5), bounds=(0, 100)).release(np.full(DRAWS, secret))
    assert released.min() >= 0
    assert released.max() <= 100
    inside = [cut for cut in law(1).ppf(QUANTILES) if 0 < cut < 100]
    check_scale(released, law, [*inside, 99.0, 1.0])
    ends = [law(1).cdf(0), law(1).sf(100)]
    assert plausible([(released == 0).sum(), (released == 100).sum()], DRAWS, ends)


@pytest.mark.parametrize("secret", [0.0, 40.0, 100.0])
def test_epsilon_and_delta(secret):
    law = around(secret, 100 / (1 - 2 * math.log(0.99)))
    released = mdp.approximate_laplace(0, 100, 1, "0.01").release(np.full(2 * DRAWS, secret))
    assert released.min() >= 0
    assert released.max() <= 100
    check_scale(released, law, [0.01, 10, 30, 50, 70, 90, 99.99])


def test_rows_are_independent():
    """Neighbours, rows a block apart, the two halves, and two calls."""
    mechanism = mdp.laplace(m.absolute().within(5))
    one, two = mechanism.release(np.zeros(DRAWS)), mechanism.release(np.zeros(DRAWS))
    for lag in (1, 2, 1 << 13, 1 << 14, DRAWS // 2):
        assert unrelated(one[:-lag], one[lag:])
    assert unrelated(one, two)
    assert not unrelated(one, one)
    assert not unrelated(one, -one)
    assert not unrelated(one, np.abs(one))


def test_noise_does_not_depend_on_the_secret():
    """Secrets that differ from row to row, in sign, magnitude and low bits."""
    secrets = np.sin(np.arange(DRAWS)) * 10.0 ** (np.arange(DRAWS) % 9)
    noise = mdp.laplace(m.absolute().within(5)).release(secrets) - secrets
    check_scale(noise, around(0, 5 / math.log(2)))
    assert unrelated(secrets, noise)


def test_seeded():
    with mdp.seeded(2024):
        released = np.asarray(mdp.laplace(m.absolute().within(5)).release(np.zeros(DRAWS)))
    check_scale(released, around(0, 5 / math.log(2)))
    with mdp.seeded(2025):
        other = np.asarray(mdp.laplace(m.absolute().within(5)).release(np.zeros(DRAWS)))
    assert unrelated(released, other)


def test_signs_are_fair():
    released = mdp.laplace(m.absolute().within(5)).release(np.zeros(DRAWS))
    assert plausible((released > 0).sum(), DRAWS, 0.5)
    assert fits(released[released > 0], stats.expon(scale=5 / math.log(2)), [1, 5, 10, 20])
    assert fits(-released[released < 0], stats.expon(scale=5 / math.log(2)), [1, 5, 10, 20])
