"""Releases of few kinds: all are counted, and luck does not decide which of them is looked at."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.audit import audit, rows
from metricdp.audit.audit import run
from metricdp.audit.events.smoothing import shrunk
from metricdp.audit.gallery import broken
from metricdp.audit.plan import Plan
from metricdp.audit.rounds import Rounds

m = mdp.metrics


def log_ratios(more, less):
    return np.log(more / more.sum()) - np.log(less / less.sum())


def test_one_size_of_log_ratios_draws_the_rare_ones_to_it():
    """Truth: ± 0.1 everywhere; the rare cells are off by up to three standard errors of theirs."""
    more = np.array([500_000.0, 400_000.0, 1000.0, 1000.0])
    less = more * np.exp([0.1, -0.125, 0.0, 0.0])
    less[2:] *= np.exp([-0.2, -0.02])
    less *= more.sum() / less.sum()
    before, after = log_ratios(more, less), log_ratios(*shrunk(more, less))
    usual = np.abs(before[:2]).mean()
    assert np.abs(before[2:] - usual).max() > 0.05
    assert np.abs(after[2:] - usual).max() < 0.35 * np.abs(before[2:] - usual).max()
    assert after[:2] == pytest.approx(before[:2], abs=2e-3)


def test_sizes_that_differ_are_left_as_they_are():
    more = np.array([500_000.0, 400_000.0, 300_000.0, 50_000.0])
    less = more * np.exp([0.5, -0.05, 0.2, -0.9])
    assert log_ratios(*shrunk(more, less)) == pytest.approx(log_ratios(more, less), abs=0.01)


def test_each_cell_keeps_its_sum():
    more, less = np.array([90.0, 110, 5, 0]), np.array([110.0, 90, 0, 0])
    assert np.sum(shrunk(more, less), axis=0) == pytest.approx(more + less)


def response(kind, share=0.75):
    """Randomised response in numbers of a kind: the true scale is ln 3."""
    generator = np.random.default_rng(3)

    def release(secrets):
        told = np.asarray(secrets, dtype=int)
        return np.where(generator.random(len(told)) < share, told, 1 - told).astype(kind)

    return rows(release)


@pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "bool", "float64"])
def test_whole_numbers_of_few_kinds_are_as_good_as_any(kind):
    evidence = audit(response(kind), [(0, 1)], m.discrete(), samples=100_000)
    assert 0.95 * np.log(3) < evidence.scale_at_least < np.log(3)


def test_the_event_says_the_numbers_as_they_were_released():
    evidence = audit(response("int64"), [(0, 1)], m.discrete(), samples=20_000)
    assert evidence.event in ("the release is 0", "the release is 1")
    assert evidence.event_code in ("z == 0", "z == 1")


def test_what_is_rare_is_looked_for_longer_before_an_audit_gives_up():
    generator = np.random.default_rng(5)
    box = rows(lambda secrets: (np.asarray(secrets) > 0) & (generator.random(len(secrets)) < 4e-4))
    evidence = audit(box, [(0.0, 1.0)], m.absolute(), samples=200_000, confidence=0.9)
    assert evidence.ended == "all samples were drawn"
    assert not evidence.holds


def test_a_box_that_says_one_thing_alone_is_asked_half_of_the_times_at_most():
    evidence = audit(lambda secret: "no", [(0.0, 1.0)], m.absolute(), samples=10_000)
    assert evidence.ended == "there was no event to test"
    assert 4_000 < evidence.samples < 7_000
    assert any("one and the same release" in note for note in evidence.notes)


def test_a_cell_that_one_secret_never_reaches_is_not_drawn_to_the_others():
    """Noise of one ratio everywhere, cut off at one end: 90 against 0 is no luck of a ratio of e."""
    more = np.array([np.e, 1.0, np.e, 1.0, 0.0]) * 5000
    less = np.array([1.0, np.e, 1.0, np.e, 0.0]) * 5000
    more[-1] = 90.0
    drawn = shrunk(more, less)
    assert np.log(drawn[0][-1] / drawn[1][-1]) > 2.5


def test_noise_that_is_cut_off_is_caught():
    """Values that one secret alone reaches, beside a heap of them whose ratio is the one that is promised."""
    shown = {exhibit.name: exhibit for exhibit in broken()}
    assert shown["geometric within a window"].audit(confidence=0.9).scale_at_least > 2


def test_a_test_that_shows_too_little_waits_for_another_search(monkeypatch):
    """The first search is led astray: it sees one pair alone, whose secrets hardly differ."""
    generator = np.random.default_rng(11)
    chances = np.array([0.5, 0.52, 0.9])
    box = rows(lambda secrets: (generator.random(len(secrets)) < chances[np.asarray(secrets, dtype=int)]).astype(int))
    search, seen = Rounds._search, []

    def astray(self, number):
        hunts = self.hunts
        if not seen:
            self.hunts = hunts[:1]
        seen.append(number)
        search(self, number)
        self.hunts = hunts

    monkeypatch.setattr(Rounds, "_search", astray)
    evidence = run(
        box,
        [(0, 1), (0, 2)],
        m.discrete(),
        0.99,
        2_000_000,
        None,
        (),
        lambda done, planned, bound: bound > 0.5,
        Plan(looks=7),
    )
    assert seen.count(0) == 2
    assert evidence.tested[0].pair in ((0, 1), (1, 0))
    assert evidence.pair in ((0, 2), (2, 0))
    assert 0.5 < evidence.scale_at_least < np.log(0.5 / 0.1)
    assert sum(test.alpha for test in evidence.tested) <= 0.01 + 1e-12
