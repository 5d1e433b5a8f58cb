"""Events inside events: what a search sees too seldom is found by another look."""

import math

import numpy as np
import pytest

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.batches import some_of
from metricdp.audit.events.event import Event
from metricdp.audit.events.scores import Monotone
from metricdp.audit.events.search import Hunt
from metricdp.audit.events.threshold import Goal, best_cut
from metricdp.audit.events.views import View
from metricdp.audit.events.within import Within
from metricdp.audit.zoom import zoom
from metricdp.metrics import Guarantee, absolute

generator = np.random.default_rng()
VALUE = View("the release", "z", lambda batch: np.asarray(batch.releases))
LOW = Event("it is low", "z < 0.2", lambda batch: np.asarray(batch.releases) < 0.2)


def drawn(count):
    """Numbers in [0, 1]: from x, those below 0.2 are 1.5 times as likely, and those below 0.002 five times."""
    labels = generator.random(count) < 0.5
    parts = generator.random((2, count))
    chances = np.array([5 * 0.002, 1.5 * 0.198])
    part = np.searchsorted(np.cumsum(chances), parts[0])
    low, high = np.array([0, 0.002, 0.2])[part], np.array([0.002, 0.2, 1])[part]
    return Batch(np.where(labels, low + (high - low) * parts[1], parts[0])), labels


class Drawn:
    """Counts what is drawn."""

    calls = 0

    def batches(self, hunt, count, weight):
        del hunt, weight
        self.calls += count
        while count > 0:
            yield drawn(min(count, 100_000))
            count -= 100_000


def searched(count):
    hunt = Hunt((0, 1), 1.0, Guarantee(absolute()), (), False, machine=False)
    hunt.add(*drawn(count))
    hunt.learn(Goal(5_000_000))
    return hunt


def test_a_rare_event_inside_a_common_one_is_found():
    hunt = searched(6_000)
    before = hunt.promise
    assert before < math.log(2)
    draws = Drawn()
    zoom(draws, hunt, Goal(5_000_000), 2_000_000, 4, 60_000)
    assert 0 < draws.calls <= 4 * 2_000_000
    best = max(hunt.candidates, key=lambda candidate: candidate.promise)
    assert best.promise > math.log(3)
    assert isinstance(best.score, Within)
    assert best.cut.chance == pytest.approx(0.01, rel=0.3)
    batch, labels = drawn(400_000)
    hits = best.event.among(batch)
    assert np.count_nonzero(hits & labels) > 3 * np.count_nonzero(hits & ~labels)
    values = batch.releases[:2000]
    assert [bool(eval(best.event.code, {"z": z})) for z in values] == best.event.among(Batch(values)).tolist()


def test_no_call_is_spent_where_a_promise_says_where_to_look():
    hunt = searched(6_000)
    for candidate in hunt.candidates:
        candidate.score = Monotone(VALUE, (0.2, 0.8))
    draws = Drawn()
    zoom(draws, hunt, Goal(5_000_000), 2_000_000, 4, 60_000)
    assert draws.calls == 0


def test_a_score_inside_an_event():
    score = Within(LOW, Monotone(VALUE))
    batch = Batch(np.array([0.1, 0.5, 0.15]))
    assert np.isnan(score.of(batch)).tolist() == [False, True, False]
    event = score.event(0.12, True)
    assert event.among(batch).tolist() == [False, False, True]
    assert event.code == "(z < 0.2) and (z >= 0.12)"
    nobody = Batch(np.zeros((1, 2))[:, 0] + 1)
    assert not event.among(nobody).any()
    assert np.isnan(score.of(nobody)).all()


def test_some_of_a_batch_keeps_its_seconds():
    part = some_of(Batch(["a", "b"], np.array([1.0, 2.0])), np.array([False, True]))
    assert part.releases == ["b"]
    assert part.seconds.tolist() == [2.0]


def test_releases_outside_count_for_how_rare_an_event_is():
    scores, labels = np.repeat([0.0, 1.0], 500), np.tile([True, True, True, False], 250)
    alone = best_cut(scores, labels, Goal(10_000))
    among = best_cut(scores, labels, Goal(10_000), totals=(75_000, 25_000))
    assert among.chance == pytest.approx(alone.chance / 100, rel=0.5)
