"""The gallery: every broken mechanism is caught, no sound one is accused.

The short form draws the same each time, and runs what needs no more than 400,000 releases. With METRICDP_EXAM set, all
of it with new draws, and ten million releases of every sound mechanism.
"""

import os
from contextlib import nullcontext

import pytest

from metricdp.audit.gallery import DP_SNIPER, broken, sound
from tests.draws import repeatable

LONG = bool(os.environ.get("METRICDP_EXAM"))
SOUND_RELEASES = 10_000_000 if LONG else 30_000
QUICK = 400_000


@pytest.fixture(autouse=True)
def same_draws(request):
    """In the short form."""
    with nullcontext() if LONG else repeatable(request.node.name):
        yield


def test_there_are_enough_and_each_says_what_is_wrong_with_it():
    shown = broken()
    assert len(shown) >= 40
    assert len({each.name for each in shown}) == len(shown)
    assert all(each.fault and each.seen for each in shown)
    assert len(DP_SNIPER) == 20
    assert not any(each.fault for each in sound())


@pytest.mark.parametrize(
    "exhibit", [each for each in broken() if LONG or each.samples <= QUICK], ids=lambda each: each.name
)
def test_a_broken_mechanism_is_caught(exhibit):
    evidence = exhibit.audit()
    assert not evidence.holds, evidence
    assert evidence.pair is not None
    if LONG:
        assert evidence.seconds < 60


@pytest.mark.long
@pytest.mark.parametrize("exhibit", sound(), ids=lambda each: each.name)
def test_a_sound_mechanism_is_not_accused(exhibit):
    """At a confidence at which none of them, in a hundred runs of the suite, would be."""
    evidence = exhibit.audit(SOUND_RELEASES, confidence=0.99999)
    assert evidence.holds, evidence
