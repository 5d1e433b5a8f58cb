"""The audit's own exam: how often it accuses the innocent, when somebody stops it at the worst moment.

    python -m tests.statistical.exam 1000

Each run searches pairs and events of a sound mechanism whose promise is tight, tests what it found round after
round, and is stopped at the first moment the bound exceeds 1. No more than beta of the runs may come to that.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from metricdp.audit import rounds, rows
from metricdp.audit.audit import run
from metricdp.audit.gallery.sound import coin_response, halving
from metricdp.audit.plan import Plan
from metricdp.exact.level import ln
from metricdp.metrics import Guarantee, absolute, discrete

BETA = 0.1
ROUNDS = 14
PLAN = Plan(search=0.3, refine=0.05, rounds=ROUNDS, even=True, machine=False)
LOOKS = (1, 4)


def halving_in_floats(rows: Any) -> Any:
    """As floats, in which an audit looks at more than how often each number came."""
    return halving(rows).astype(float)


CASES: list[tuple[Callable[[Any], Any], Guarantee, list[tuple[int, int]]]] = [
    (halving_in_floats, Guarantee(ln(2) * absolute()), [(0, 1), (0, 2), (5, 6)]),
    (halving, Guarantee(ln(2) * absolute()), [(0, 1), (0, 2), (5, 6)]),
    (coin_response, Guarantee(ln(3) * discrete()), [(0, 1)]),
]


def accused(number: int, samples: int = 40_000) -> tuple[bool, int]:
    """Whether one run accuses, stopped by an adversary; and how many events and pairs it looked at."""
    release, claim, pairs = CASES[number % len(CASES)]
    plan = replace(PLAN, looks=LOOKS[number // len(CASES) % len(LOOKS)])
    evidence = run(
        rows(release), pairs, claim, 1 - BETA, samples, None, (), lambda done, planned, bound: bound > 1, plan
    )
    return not evidence.holds, sum(each.events for each in evidence.searched)


def rate(runs: int) -> tuple[float, int]:
    """The share of runs that accuse, and the fewest events that a run of the first case looked at."""
    found = [accused(number) for number in range(runs)]
    return sum(each for each, _ in found) / runs, min(events for _, events in found[:: len(CASES)])


def allowed(runs: int) -> float:
    """Beta and three standard errors."""
    return BETA + 3 * math.sqrt(BETA * (1 - BETA) / runs)


def without_correction(number: int, rounds: int, standby: bool = False) -> float:
    """The planted fault: every test has all of 1 - confidence."""
    del number, rounds, standby
    return 1.0


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    share, events = rate(count)
    print(f"{count} runs, {events} events at least: accused {share:.4f}, allowed {allowed(count):.4f}")
    correct = rounds.spent
    rounds.spent = without_correction
    faulty, _ = rate(max(200, count // 5))
    rounds.spent = correct
    print(f"without the correction: accused {faulty:.4f}, noticed: {faulty > allowed(max(200, count // 5))}")
    sys.exit(share > allowed(count) or faulty < 5 * BETA)
