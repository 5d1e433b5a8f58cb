"""How hard the attacks try: short in `make test`, twice that in CI, long and with fresh seeds in `make attack`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

EFFORT = float(os.environ.get("METRICDP_ATTACK", "1" if os.environ.get("METRICDP_CI") else "0.5"))
"""How many times more cases than CI tries."""


def tries(short: int) -> int:
    """How many cases to try, where CI tries ``short``."""
    return max(1, round(short * EFFORT))


def attack(short: int) -> Callable[[Any], Any]:
    """Hypothesis settings of a test that tries ``short`` cases in CI, the same ones each time.

    The long run tries more of them, and others every time.
    """
    return settings(
        max_examples=tries(short),
        deadline=None,
        derandomize=EFFORT <= 1,
        suppress_health_check=list(HealthCheck),
    )
