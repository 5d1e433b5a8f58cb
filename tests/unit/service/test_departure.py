"""When an answer leaves does not tell whether its draw was refined."""

import asyncio
from types import SimpleNamespace

import pytest

from metricdp.exact import bits, tally

pytest.importorskip("fastapi")
QUICK, SLOW = 0.002, 0.009
"""Seconds that drawing takes in the test's own time, by whether something was refined."""


class Clock:
    """A time that moves only as the test says; to sleep is to move it on."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


class Edge(bits.Source):
    """Bits whose first words lie so near to 0 that no float can tell the cell of a draw: balls have to."""

    def __init__(self):
        super().__init__(bytes(range(32)), private=False)
        self._first = True

    def words(self, count):
        found = super().words(count)
        if self._first:
            self._first = False
            found >>= 44
        return found


class NoQuantum:
    """The fault that the test has to find."""

    overruns = 0

    def __init__(self, seconds):
        del seconds

    async def hold(self, came):
        del came


@pytest.fixture(params=[True, False], ids=["held", "not held"])
def timed(request, tmp_path, monkeypatch):
    """A service behind a real server, in the test's own time, whose source of bits the test chooses."""
    from metricdp.service import app, limits, verbs
    from tests.unit.service.conftest import Service

    clock, chosen = Clock(), SimpleNamespace(source=None, refined=[])
    monkeypatch.setattr(limits, "time", clock)
    fake = SimpleNamespace(sleep=clock.sleep, timeout=asyncio.timeout)
    monkeypatch.setattr(limits, "asyncio", fake)
    if not request.param:
        monkeypatch.setattr(app, "Quantum", NoQuantum)
    drawn_together = verbs.drawn_together

    def drawn(wanted):
        mine = bits._override.set(chosen.source)
        try:
            with tally() as counted:
                made = drawn_together(wanted)
        finally:
            bits._override.reset(mine)
        chosen.refined.append(counted.refined > 0)
        clock.now += SLOW if counted.refined else QUICK
        return made

    monkeypatch.setattr(verbs, "drawn_together", drawn)
    service = Service(tmp_path)
    yield SimpleNamespace(service=service, clock=clock, chosen=chosen, held=request.param)
    service.close()


def test_refinement_is_not_seen_in_time_and_without_the_quantum_it_is(timed):
    """Over HTTP: a request whose draw is refined, because of the bits it was given, leaves when any other does."""
    left = {True: set(), False: set()}
    for number, forced in enumerate([False, True, False, True, True]):
        timed.chosen.source = Edge() if forced else bits.Source(bytes(32), private=False)
        came = timed.clock.now
        answer = timed.service.release(subject=f"rider {number}", mechanism="age", secrets=[30.0])
        assert answer.status_code == 200, answer.text
        assert timed.chosen.refined[-1] == forced
        left[forced].add(round(timed.clock.now - came, 9))
    quantum = timed.service.settings.quantum
    expected = {quantum} if timed.held else None
    assert (left[True] == left[False] == expected) if timed.held else (left == {True: {SLOW}, False: {QUICK}})


def test_an_answer_that_is_late_leaves_at_a_later_multiple_and_is_counted(monkeypatch):
    from metricdp.service import limits

    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    monkeypatch.setattr(limits, "asyncio", clock)
    quantum = limits.Quantum(0.02)
    for passed, leaves in ((0.0, 0.02), (0.02, 0.02), (0.021, 0.04), (0.05, 0.06)):
        came = clock.now = 0.0
        clock.now = passed
        asyncio.run(quantum.hold(came))
        assert clock.now == pytest.approx(leaves)
    assert quantum.overruns == 2
