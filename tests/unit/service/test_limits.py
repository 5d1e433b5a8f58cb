"""Rates, and the multiples at which answers leave."""

import asyncio
import time

from metricdp.service.limits import Quantum, RateLimit


def test_a_rate_is_kept_for_each_name():
    now = [0.0]
    limit = RateLimit(10.0, lambda: now[0])
    assert [limit.wait("ann") for _ in range(10)] == [0.0] * 10
    assert limit.wait("ann") > 0
    assert limit.wait("bob") == 0
    now[0] = 0.1
    assert limit.wait("ann") == 0
    assert limit.wait("ann") > 0


def test_answers_leave_at_multiples(monkeypatch):
    """With a clock of the test's own: what took 3 ms and what took 14 ms both leave at 20 ms; 25 ms leaves at 40."""
    now, slept = [0.0], []

    async def sleep(seconds):
        slept.append(round(seconds, 6))

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asyncio, "sleep", sleep)
    quantum = Quantum(0.02)
    for passed in (0.003, 0.014, 0.025):
        now[0] = passed
        asyncio.run(quantum.hold(0.0))
    assert slept == [0.017, 0.006, 0.015]
    assert quantum.overruns == 1
