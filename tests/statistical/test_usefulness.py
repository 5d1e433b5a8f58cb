"""`probability_within` and `radius` promise no more than releases keep, and not much less."""

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from tests.mechanisms_to_test import CASES
from tests.statistical.harness import often_enough, plausible

m = mdp.metrics
COUNT = 40_000
# These promise for the worst secret, count a null as an error, or take off half a cell that is not small.
LOWER_BOUNDS = ("laplace bounded", "laplace delta", "laplace integers", "truncated", "exponential", "null", "channel")


def errors(case, mechanism, secret, count=COUNT):
    """How far releases of one secret lie from it, in the metric's unit."""
    released = mechanism.release([secret] * count if case.label else np.array([secret] * count))
    if case.name.startswith("sphere"):
        return great_circle(secret, released)
    if case.vector:
        norm = getattr(mechanism, "noise", mechanism).norm
        return np.linalg.norm(np.asarray(released) - secret, ord=norm, axis=1)
    if case.name == "records":
        return np.array([max(abs(float(z) - x) for z, x in zip(row, secret, strict=True)) for row in released])
    if case.name == "dates":
        return np.abs((released - secret).astype(np.int64)) / 86_400
    if case.name == "sets":
        return np.array([len(result ^ secret) for result in released])
    if case.name.startswith("response"):
        return np.array([float(result != secret) for result in released])
    if case.name.startswith("channel"):
        far = dict(
            zip(
                mechanism.outputs, mechanism.guarantee.metric.unit.pairwise([secret], mechanism.outputs)[0], strict=True
            )
        )
        return np.array([far[output] for output in released])
    distances = np.abs(np.asarray(released, dtype=float) - secret)
    return np.where(np.isnan(distances), np.inf, distances)


def great_circle(place, released):
    (phi, lam), (phi_, lam_) = np.radians(place), np.radians(np.asarray(released).T)
    half = np.sin((phi_ - phi) / 2) ** 2 + np.cos(phi) * np.cos(phi_) * np.sin((lam_ - lam) / 2) ** 2
    return 2 * float(m.EARTH_RADIUS) * np.arcsin(np.sqrt(np.minimum(half, 1)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_promises_are_kept(case):
    mechanism = case.make()
    for secret in case.secrets:
        if secret != secret:
            continue  # null: true_null speaks of it
        seen = errors(case, mechanism, secret)
        for confidence in (0.5, 0.9, 0.95):
            reach = mechanism.radius(confidence)
            assert mechanism.probability_within(reach) >= confidence
            assert often_enough((seen <= reach).sum(), COUNT, confidence)
        for distance in (reach / 7, reach / 2, reach, 2 * reach):
            assert often_enough((seen <= distance).sum(), COUNT, mechanism.probability_within(distance))


SHARP = [case for case in CASES if case.name not in LOWER_BOUNDS]


@pytest.mark.parametrize("case", SHARP, ids=lambda case: case.name)
def test_promises_are_not_timid(case):
    """The promise is the frequency itself, but for the half cell of rounding, which these grids hide."""
    mechanism = case.make()
    fine = isinstance(mechanism.resolution, Fraction) and mechanism.resolution < mechanism.radius(0.5) / 1000
    seen = errors(case, mechanism, case.secrets[1])
    for confidence in (0.5, 0.95):
        reach = mechanism.radius(confidence)
        promised = mechanism.probability_within(reach)
        assert plausible((seen <= reach).sum(), COUNT, promised)
        if fine and not case.name.startswith("sphere, "):
            for factor in (0.9, 1.1):
                assert not plausible((seen <= factor * reach).sum(), COUNT, promised)


def test_nulls_are_kept_as_often_as_said():
    mechanism = mdp.laplace(mdp.ln(2) / 20 * m.nullable(m.absolute(), 100), bounds=(0, 100))
    kept = np.isnan(mechanism.release(np.full(COUNT, np.nan))).sum()
    made_up = np.isnan(mechanism.release(np.full(COUNT, 10.0))).sum()
    assert plausible([kept, made_up], COUNT, [float(mechanism.true_null()), float(mechanism.false_null())])


@pytest.mark.parametrize("secret", [0.0, 52.0, 104.5])
def test_bounds_between_two_grid_points(secret):
    """The last grid point within the bounds may lie nearly a cell from a secret at the bound."""
    mechanism = mdp.laplace(m.absolute().within(5), resolution=7, bounds=(0, "104.5"))
    seen = np.abs(mechanism.release(np.full(COUNT, secret)) - secret)
    for distance in (3, 4, 5, 6, 6.5, 7, 10):
        assert often_enough((seen <= distance).sum(), COUNT, mechanism.probability_within(distance))


@pytest.mark.parametrize("distance", [0.3, 0.9, 1.0, 1.9, 7.9])
def test_dates_are_rounded_to_days(distance):
    """A type with steps coarser than the resolution rounds more, and the promise knows it."""
    mechanism = mdp.laplace(m.dates().within(5))
    seen = [abs((result - dt.date(2024, 2, 29)).days) for result in mechanism.release([dt.date(2024, 2, 29)] * COUNT)]
    assert often_enough(sum(days <= distance for days in seen), COUNT, mechanism.probability_within(distance))


def test_snapping_is_part_of_the_error():
    mechanism = mdp.geometric(mdp.ln(2) * m.absolute(), snap=True)
    seen = np.abs(mechanism.release(np.full(COUNT, 2.5)) - 2.5)
    for distance in (0.4, 0.5, 1.0, 1.5, 2.4, 2.5, 4.5):
        assert often_enough((seen <= distance).sum(), COUNT, mechanism.probability_within(distance))


def test_functions():
    samples = mdp.function_samples(m.supremum().within(0.5), times=[0, 1, 2])
    secrets = np.tile([0.0, 1.0, 4.0], (COUNT, 1))
    seen = np.abs(samples.release(secrets) - secrets).max(axis=1)
    for confidence in (0.5, 0.95):
        assert plausible((seen <= samples.radius(confidence)).sum(), COUNT, confidence)


def test_products_promise_for_all_parts_together():
    line = mdp.laplace(m.absolute().within(5))
    one, two = mdp.compose(line, line).release(np.zeros(COUNT))
    both = mdp.compose(line, line)
    seen = np.maximum(np.abs(one), np.abs(two))
    for confidence in (0.5, 0.95):
        assert plausible((seen <= both.radius(confidence)).sum(), COUNT, confidence)
        assert line.radius(confidence) < both.radius(confidence) < math.inf
