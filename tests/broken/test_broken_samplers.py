"""Samplers with bugs that have been seen in the wild: the statistical tests catch each of them."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.statistical.harness import (
    DRAWS,
    QUANTILES,
    P,
    check_scale,
    check_table,
    fits,
    fits_table,
    plausible,
    unrelated,
)
from tests.statistical.test_finite import truncated, two_sided
from tests.statistical.test_sphere import Angle, seen_from

SCALE = 5 / math.log(2)
LAPLACE = stats.laplace(scale=SCALE)
CUTS = LAPLACE.ppf(QUANTILES)


@pytest.fixture
def generator():
    return np.random.default_rng(20240229)


def test_a_right_sampler_passes(generator):
    """The harness is not one that nothing passes."""
    check_scale(generator.laplace(scale=SCALE, size=DRAWS), lambda factor: stats.laplace(scale=SCALE * factor))
    answers = generator.choice(["a", "b"], DRAWS, p=[0.75, 0.25]).tolist()
    check_table(answers, lambda f: {"a": 3 ** (1 / f) / (1 + 3 ** (1 / f)), "b": 1 / (1 + 3 ** (1 / f))})


@pytest.mark.parametrize("factor", [0.9, 0.95, 1.05, 1.1])
def test_wrong_scale(generator, factor):
    assert not fits(generator.laplace(scale=SCALE * factor, size=DRAWS), LAPLACE, CUTS)


def test_input_rounded_before_the_noise(generator):
    secret = 3.7
    sample = np.rint(secret) + generator.laplace(scale=SCALE, size=DRAWS)
    assert not fits(sample - secret, LAPLACE, CUTS)


def test_sign_bias(generator):
    signs = np.where(generator.random(DRAWS) < 0.51, 1.0, -1.0)
    sample = signs * generator.exponential(SCALE, DRAWS)
    assert not fits(sample, LAPLACE, CUTS)
    assert not plausible((sample > 0).sum(), DRAWS, 0.5)


def test_noise_that_is_one_sided(generator):
    assert not fits(generator.exponential(SCALE, DRAWS), LAPLACE, CUTS)


def test_normal_noise_of_the_same_variance(generator):
    assert not fits(generator.normal(scale=SCALE * math.sqrt(2), size=DRAWS), LAPLACE, CUTS)


def test_tails_cut_off(generator):
    """A sampler that gives up beyond two scales, and draws again."""
    sample = generator.laplace(scale=SCALE, size=2 * DRAWS)
    assert not fits(sample[np.abs(sample) < 2 * SCALE][:DRAWS], LAPLACE, CUTS)


def test_noise_reused_for_the_next_block(generator):
    block = generator.laplace(scale=SCALE, size=DRAWS // 2)
    sample = np.concatenate([block, block])
    assert not unrelated(sample[: DRAWS // 2], sample[DRAWS // 2 :])


def test_noise_reused_with_another_sign(generator):
    noise = generator.laplace(scale=SCALE, size=DRAWS)
    assert not unrelated(noise, -noise)
    assert not unrelated(noise, noise * generator.choice([-1, 1], DRAWS))


def test_noise_slightly_related(generator):
    """One row in twenty copies its neighbour."""
    one, two = generator.laplace(scale=SCALE, size=(2, DRAWS))
    copied = np.where(generator.random(DRAWS) < 0.05, one, two)
    assert unrelated(one, two)
    assert not unrelated(one, copied)


def test_planar_noise_with_an_exponential_radius(generator):
    """The density of the radius is r exp(-r): forgetting the r is a common bug."""
    assert not fits(generator.exponential(1.0, DRAWS), stats.gamma(2), stats.gamma(2).ppf(QUANTILES))


def test_independent_noise_passed_off_as_planar(generator):
    sample = generator.laplace(size=(DRAWS, 2))
    lengths = np.linalg.norm(sample, axis=1)
    angles = np.arctan2(sample[:, 1], sample[:, 0])
    assert not fits(lengths, stats.gamma(2), stats.gamma(2).ppf(QUANTILES))
    assert not fits(angles, stats.uniform(-math.pi, 2 * math.pi), np.linspace(-math.pi, math.pi, 17)[1:-1])


def test_gaussian_direction_squashed(generator):
    sample = generator.normal(size=(DRAWS, 3)) * [1, 1, 0.95]
    heights = sample[:, 2] / np.linalg.norm(sample, axis=1)
    assert not fits(heights, stats.uniform(-1, 2), stats.uniform(-1, 2).ppf(QUANTILES))


def test_a_longitude_not_stretched_at_mid_latitude(generator):
    """Metres turned into degrees without the cosine of the latitude."""
    radius = generator.gamma(2, 200 / math.log(2), DRAWS) / 6_371_000
    angle = generator.uniform(0, 2 * math.pi, DRAWS)
    released = np.add(np.degrees([radius * np.sin(angle), radius * np.cos(angle)]).T, [48.8566, 2.3522])
    angles, azimuths = seen_from((48.8566, 2.3522), released)
    law = Angle(math.log(2) / 200 * 6_371_000)
    assert not fits(angles, law, law.ppf(QUANTILES))
    assert not fits(azimuths, stats.uniform(-math.pi, 2 * math.pi), np.linspace(-3, 3, 9))


def test_zero_counted_twice(generator):
    """A sign times a one-sided geometric: plus zero and minus zero are one."""
    sample = (generator.geometric(0.5, DRAWS) - 1) * generator.choice([-1, 1], DRAWS)
    assert not fits_table(np.clip(sample, -9, 9).tolist(), two_sided(0.5, 9))


def test_truncation_by_drawing_again(generator):
    """Drawing again until the result is inside is not what the truncated geometric mechanism does."""
    noise = (generator.geometric(1 - math.exp(-0.1), (2, 4 * DRAWS)) * [[1], [-1]]).sum(axis=0)
    inside = noise[(noise >= 0) & (noise <= 10)][:DRAWS]
    assert not fits_table(inside.tolist(), truncated(math.exp(-0.1), 10, 0))


def test_response_whose_lies_may_be_the_truth(generator):
    truth = math.e / (3 + math.e)
    told = generator.random(DRAWS) < truth
    answers = np.where(told, "a", generator.choice(list("abcd"), DRAWS))
    table = {"a": truth} | dict.fromkeys("bcd", (1 - truth) / 3)
    assert not fits_table(answers.tolist(), table)


def test_response_that_prefers_a_neighbour(generator):
    table = {"a": 0.4, "b": 0.2, "c": 0.2, "d": 0.2}
    answers = generator.choice(list("abcd"), DRAWS, p=[0.4, 0.21, 0.2, 0.19])
    assert not fits_table(answers.tolist(), table)


def test_one_flip_for_the_whole_set(generator):
    p = 1 / (1 + math.exp(1.5))
    flips = np.repeat(generator.random((DRAWS, 1)) < p, 2, axis=1)
    table = {(a, b): (p if a else 1 - p) * (p if b else 1 - p) for a in (False, True) for b in (False, True)}
    assert plausible(flips.sum(axis=0), DRAWS, [p, p])
    assert not fits_table(map(tuple, flips.tolist()), table)


def test_an_outcome_that_should_not_be():
    assert not fits_table(["a"] * 10 + ["x"], {"a": 1.0})


def test_the_false_alarm_rate(generator):
    """At a rate of 1% about 1% of right samples are refused, and fewer at one of 10^-9: the rate is a bound."""
    counts = generator.binomial(1000, 0.3, size=20_000)
    refused = sum(not plausible(count, 1000, 0.3, p=0.01) for count in counts[:3000])
    assert 0 < refused < 60
    assert all(plausible(count, 1000, 0.3, p=P) for count in counts[:3000])
