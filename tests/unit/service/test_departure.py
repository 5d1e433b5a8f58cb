"""When an answer leaves does not tell whether its draw was refined."""

import asyncio
import time

import pytest

import metricdp as mdp
from metricdp.exact import decide_all_by_balls, tally

pytest.importorskip("fastapi")
SLOW = {False: 0.002, True: 0.009}
"""Seconds that a draw takes in the test's own time, by whether it was refined."""


class Clock:
    """A time that moves only as the test says; to sleep is to move it on."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds):
        self.now += seconds


class NoQuantum:
    """The fault that the test has to find."""

    async def hold(self, came):
        del came


def departures(clock, held, refined):
    """When the answer of a draw leaves, which is refined or not by the bits it is given."""
    mechanism = mdp.laplace(mdp.metrics.absolute().within(200, factor=2))
    came = clock.now
    with tally() as counted:
        if refined:
            with decide_all_by_balls():
                mechanism.release([1.0])
        else:
            mechanism.release([1.0])
    clock.now += SLOW[counted.refined > 0]
    asyncio.run(held.hold(came))
    return counted.refined > 0, round(clock.now - came, 9)


def test_refinement_is_not_seen_in_time_and_without_the_quantum_it_is(monkeypatch):
    from metricdp.service.limits import Quantum

    clock = Clock(monkeypatch)
    forced = [True, True, False, False]
    seen = [departures(clock, Quantum(0.02), refined) for refined in forced]
    assert [refined for refined, _ in seen][:2] == [True, True]
    assert {left for _, left in seen} == {0.02}
    open_to_see = [departures(clock, NoQuantum(), refined) for refined in forced]
    assert {left for refined, left in open_to_see if refined} == {0.009}
    assert {left for refined, left in open_to_see if not refined} <= {0.002}
