"""The audit: what it finds, what it refuses, and what it makes of boxes that misbehave."""

import math
import sys
import time

import numpy as np
import pytest

import metricdp as mdp
from metricdp.audit import Samples, audit, one_at_a_time, rows
from metricdp.audit.events import machine
from metricdp.errors import ArgumentError

m = mdp.metrics
generator = np.random.default_rng()


def noisy(x):
    return float(x + generator.laplace())


@rows
def nearly(secrets):
    return np.rint(1024 * (secrets + generator.laplace(size=len(secrets)))) / 1024


@rows
def weak(secrets):
    return np.rint(1024 * (secrets + generator.laplace(scale=0.5, size=len(secrets)))) / 1024


# What is found


def test_a_sound_mechanism_is_not_accused_and_the_bound_is_near_one():
    evidence = audit(mdp.laplace(m.absolute()), [(0.0, 1.0)], samples=400_000)
    assert evidence
    assert evidence.holds
    assert 0.9 < evidence.scale_at_least <= 1
    assert evidence.samples <= 400_000
    assert 0 < evidence.smallest_probability < 0.01


def test_half_the_noise_is_twice_the_scale():
    evidence = audit(weak, [(0.0, 1.0)], m.absolute(), samples=100_000)
    assert not evidence
    assert 1.6 < evidence.scale_at_least <= 2.05
    assert set(evidence.pair) == {0.0, 1.0}
    assert evidence.witness[2] == evidence.event


def test_half_lines_are_no_algebra():
    """(.4, .2, .4) against (.5, 0, .5): infinitely far apart on the middle, near on every half-line."""
    table = np.array([[0.4, 0.2, 0.4], [0.5, 0.0, 0.5]])

    def release(secrets):
        return (generator.random((len(secrets), 1)) > table[secrets].cumsum(axis=1)).sum(axis=1)

    evidence = audit(rows(release), [(0, 1)], 0.3 * m.absolute(), samples=40_000)
    assert evidence.scale_at_least > 5
    assert [bool(eval(evidence.event_code, {"z": z, "m": machine})) for z in (0, 1, 2)] == [False, True, False]


def test_projections_one_by_one_are_not_enough():
    """A function with one noise for all times: every single time is private, two together are not."""

    def release(secrets):
        return np.rint(16 * (secrets + generator.laplace(size=(len(secrets), 1)))) / 16

    pair = [((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))]
    jointly = audit(rows(release), pair, m.supremum(), samples=40_000)
    assert jointly.scale_at_least > 3
    for place in range(3):
        alone = audit(rows(lambda secrets, place=place: release(secrets)[:, place]), pair, m.supremum(), samples=40_000)
        assert alone.holds


def test_a_delta_is_allowed_for_and_no_more():
    assert audit(mdp.randomized_response("ab", 1, "0.05"), samples=200_000).holds
    stronger = mdp.Guarantee(m.discrete(), "0.01")
    evidence = audit(mdp.randomized_response("ab", 1, "0.1"), metric=stronger, samples=200_000)
    assert not evidence.holds
    assert evidence.delta == pytest.approx(0.01)


def test_secrets_at_distance_zero_must_not_differ_at_all():
    d = m.matrix("ab", [[0, 0], [0, 0]])

    def release(secret):
        return int(generator.random() < (0.6 if secret == "a" else 0.4))

    assert audit(release, [("a", "b")], d, samples=20_000).scale_at_least == math.inf


def test_given_events_are_looked_at():
    """Nobody would learn this one: the digits of a product."""

    def release(secrets):
        values = generator.integers(0, 10**6, len(secrets))
        odd = (values * 7919 // 13) % 2 == 1
        return np.where((secrets == 1) & odd & (generator.random(len(secrets)) < 0.9), values ^ 1, values)

    event = "(z * 7919 // 13) % 2 == 1"
    blind = audit(rows(release), [(0, 1)], m.absolute(), samples=20_000)
    told = audit(rows(release), [(0, 1)], 0.05 * m.absolute(), samples=60_000, events=[event])
    assert blind.holds
    assert any(event in test.code for test in told.tested) or told.scale_at_least > 0


def test_pairs_are_searched_where_none_are_given():
    evidence = audit(mdp.truncated_geometric(m.absolute(), steps=4), samples=100_000)
    assert evidence.holds
    assert len(evidence.searched) > 3
    assert evidence.scale_at_least > 0.7


# Interleaving: a box that drifts accuses nobody


def test_a_drifting_box_is_not_accused():
    calls = 0

    def release(secret):
        nonlocal calls
        calls += 1
        return int(generator.random() < calls / 20_000)  # from 0 to 1, whatever the secret

    assert audit(release, [(0, 1)], 0.05 * m.absolute(), samples=20_000).holds


# Bad boxes


def test_a_box_that_always_raises_is_an_error_that_says_so():
    def release(secret):
        raise RuntimeError(secret)

    with pytest.raises(ArgumentError, match="raised RuntimeError on every call"):
        audit(release, [(0, 1)], m.absolute(), samples=1000)


def test_a_box_that_raises_for_one_secret_is_evidence():
    def release(secret):
        if secret == 1:
            raise ZeroDivisionError
        return 5

    evidence = audit(release, [(0, 1)], m.absolute(), samples=2000)
    assert evidence.scale_at_least > 3


def test_a_box_that_ends_the_program_for_one_secret_does_not_end_the_audit():
    assert audit(lambda secret: sys.exit(3) if secret else 5, [(0, 1)], m.absolute(), samples=2000).scale_at_least > 3


def test_arrays_of_changing_length():
    def release(secret):
        return np.arange(int(generator.integers(1, 4)) + secret)

    assert audit(release, [(0, 1)], m.absolute(), samples=3000).scale_at_least > 3


def test_a_box_that_hangs_for_one_secret_is_evidence():
    def release(secret):
        if secret == 1 and generator.random() < 0.5:
            time.sleep(60)
        return 0

    evidence = audit(one_at_a_time(release, limit=0.005), [(0, 1)], m.absolute(), samples=1200)
    assert evidence.scale_at_least > 1
    assert evidence.seconds < 600, "some hundred calls would sleep for a minute each"


def test_a_box_that_always_hangs_is_an_error_that_says_so():
    with pytest.raises(ArgumentError, match="hung on every call"):
        audit(one_at_a_time(lambda _: time.sleep(60), limit=0.01), [(0, 1)], m.absolute(), samples=600)


@pytest.mark.parametrize(
    "other", [math.nan, None, "text", (1.0, 2.0), np.float32(3.5), np.zeros(2), np.datetime64("NaT"), 10**400], ids=str
)
def test_another_kind_of_release_for_one_secret_is_evidence(other):
    def release(secret):
        return other if secret == 1 and generator.random() < 0.5 else noisy(secret)

    assert audit(release, [(0, 1)], m.absolute(), samples=8000).scale_at_least > 1.5


def test_a_deterministic_box_is_evidence_or_says_nothing():
    told = audit(round, [(0.2, 0.8)], m.absolute(), samples=2000)
    assert told.scale_at_least > 4
    for test in told.tested:
        assert test.chances == (1.0, 0.0)
        assert sum(test.drawn) == test.calls
        assert test.hits[0] == (test.drawn[0] if test.mirror is None else test.calls)
    silent = audit(lambda x: 7, [(0, 1)], m.absolute(), samples=2000)
    assert silent.holds
    assert silent.scale_at_least == 0
    assert any("one and the same release" in note for note in silent.notes)


def test_rows_that_fail_are_released_one_by_one():
    def release(secrets):
        if len(secrets) > 1 and (secrets == 1).any():
            raise ValueError
        return secrets + generator.laplace(size=len(secrets))

    evidence = audit(rows(release), [(0.0, 1.0)], m.absolute(), samples=4000)
    assert any("one by one" in note for note in evidence.notes)
    with pytest.raises(ArgumentError, match="did not give as many back"):
        audit(rows(lambda secrets: secrets[:-1]), [(0.0, 1.0)], m.absolute(), samples=4000)


# Stopping


def test_control_c_loses_no_sample():
    calls = 0

    def release(secret):
        nonlocal calls
        calls += 1
        if calls == 60_000:
            raise KeyboardInterrupt
        return secret

    evidence = audit(release, [(0, 1)], m.absolute(), samples=100_000)
    assert evidence.ended == "Ctrl-C"
    assert evidence.samples == 59_999
    assert evidence.scale_at_least > 1


def test_progress_sees_the_bound_and_can_end_the_audit():
    seen = []

    def progress(done, planned, bound):
        seen.append((done, planned, bound))
        return bound > 1

    evidence = audit(weak, [(0.0, 1.0)], m.absolute(), samples=4_000_000, progress=progress)
    assert not evidence.holds
    assert evidence.samples < 4_000_000
    assert evidence.ended == "progress said so"
    assert seen[-1][2] == evidence.scale_at_least > 1
    assert all(done <= planned for done, planned, _ in seen)


def test_a_time_limit_is_kept():
    evidence = audit(lambda x: (time.sleep(0.001), noisy(x))[1], [(0, 1)], m.absolute(), time_limit=1.0)
    assert 0 < evidence.samples < 2000, "of a millisecond each"


# Samples of others


def test_a_time_limit_does_not_make_the_search_small():
    evidence = audit(nearly, [(0.0, 1.0)], m.absolute(), samples=400_000, time_limit=600)
    assert evidence.searched[0].calls > 30_000


def test_two_arrays_of_samples():
    zeros, ones = generator.laplace(size=20_000), 1 + generator.laplace(scale=0.5, size=20_000)
    evidence = audit((np.round(zeros, 3), np.round(ones, 3)), [(0, 1)], m.absolute())
    assert not evidence.holds
    assert evidence.samples <= 40_000
    assert any("on trust" in note for note in evidence.notes)
    with pytest.raises(ArgumentError, match="which pair"):
        audit(Samples(zeros, ones), metric=m.absolute())
    with pytest.raises(ArgumentError, match="one pair"):
        audit(Samples(zeros, ones), [(0, 1), (0, 2)], m.absolute())


# Arguments


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"confidence": 1.0}, ArgumentError, "confidence"),
        ({"samples": 5}, ArgumentError, "100 samples"),
        ({"time_limit": 0}, ArgumentError, "time limit"),
        ({"metric": None}, ArgumentError, "does not say what it promises"),
        ({"metric": "absolute"}, ArgumentError, "a metric or a guarantee"),
        ({"pairs": [(0, 1, 2)]}, ArgumentError, "two secrets"),
        ({"pairs": [("a", "b")]}, ArgumentError, "pair"),
        ({"pairs": [], "metric": m.absolute()}, ArgumentError, "no pair"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be(options, error, words):
    given = {"pairs": [(0, 1)], "metric": m.absolute()} | options
    with pytest.raises(error, match=words):
        audit(noisy, given.pop("pairs"), given.pop("metric"), **given)


def test_what_is_no_box():
    with pytest.raises(ArgumentError, match="no box"):
        audit(3, [(0, 1)], m.absolute())


def test_pairs_that_may_be_told_apart_are_left_out():
    d = m.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]])
    release = mdp.randomized_response("abc", 1).release
    evidence = audit(release, [("a", "c"), ("a", "b")], d, samples=2000)
    assert [each.pair for each in evidence.searched] == [("a", "b")]


@pytest.mark.parametrize("samples", [100, 1_000, 3_000])
def test_few_samples_are_spent_on_few_pairs(samples):
    """And some are left to test what was found; more pairs than samples used to end in an IndexError."""
    evidence = audit(mdp.laplace(mdp.metrics.absolute()), samples=samples)
    assert evidence.holds
    assert evidence.samples <= samples
    assert all(searched.calls for searched in evidence.searched)
    assert samples < 1_000 or evidence.tested
