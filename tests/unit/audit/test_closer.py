"""A threshold is looked at once more where the test to come is far more exact than the choice of it."""

from dataclasses import replace

import pytest

import metricdp as mdp
from metricdp.audit.boxes.as_box import as_box
from metricdp.audit.closer import look_closer
from metricdp.audit.coins import WHOLE, coins
from metricdp.audit.events.candidate import Candidate
from metricdp.audit.events.scores import Monotone
from metricdp.audit.events.search import Hunt
from metricdp.audit.events.threshold import Cut, Goal
from metricdp.audit.events.views import number_views
from metricdp.metrics import Guarantee

PAIR = (0.0, 1.0)


class Drawn:
    """Releases of Laplace noise, and how many were asked for."""

    def __init__(self):
        self.box, self.asked = as_box(mdp.laplace(mdp.metrics.absolute())), 0

    def batches(self, hunt, count, weight):
        self.asked += count
        labels = coins(count, weight)
        yield self.box.draw(hunt.pair, labels), labels


def chosen(draws, error, swapped=False):
    hunt = Hunt(PAIR, 1.0, Guarantee(mdp.metrics.absolute()), [], False, False)
    batch = draws.box.draw(PAIR, coins(1000, WHOLE // 2))
    view = number_views(batch, PAIR, None, False)[0]
    cut = Cut(0.5, 0.4, swapped, swapped, 0.6, 0.4, error, 100.0)  # below 0.4, where the ratio is not at its greatest
    candidate = Candidate(hunt, Monotone(view), cut, refined=True)
    hunt.candidates = [candidate]
    return candidate


@pytest.mark.parametrize("swapped", [False, True])
def test_a_lucky_threshold_is_chosen_again(swapped):
    draws = Drawn()
    candidate = chosen(draws, 1.0, swapped)
    again = look_closer(draws, candidate, Goal(2_000_000, cells=160), WHOLE // 2)
    assert draws.asked == 200_000
    assert again is not candidate
    assert candidate.hunt.candidates == [again]
    assert again.refined
    assert again.cut.promise > 0.97, "at most 0, or at least 1, the logarithm of the ratio is 1"


@pytest.mark.parametrize("change", [{"error": 1e-6}, {"refined": False}, {"hints": (0.0, 1.0)}], ids=str)
def test_another_one_stays_as_it_is(change):
    draws = Drawn()
    candidate = chosen(draws, change.get("error", 1.0))
    candidate.refined = change.get("refined", True)
    candidate.score = replace(candidate.score, hints=change.get("hints"))
    assert look_closer(draws, candidate, Goal(2_000_000), WHOLE // 2) is candidate
    assert draws.asked == 0


def test_no_more_are_kept_than_memory_holds():
    draws = Drawn()
    draws.batches = lambda hunt, count, weight: setattr(draws, "asked", count) or []
    look_closer(draws, chosen(draws, 1.0), Goal(10**12), WHOLE // 2)
    assert draws.asked == 10_000_000
