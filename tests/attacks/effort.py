"""How hard the attacks try: shortly in `make test`, long and with fresh seeds in `make attack`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

EFFORT = float(os.environ.get("METRICDP_ATTACK", "0.5"))
"""The share of the cases named in the tests that are tried: half of them by default."""


def tries(short: int) -> int:
    """How many cases to try, where a test names ``short``."""
    return max(1, round(short * EFFORT))


def attack(short: int) -> Callable[[Any], Any]:
    """Hypothesis settings of a test that names ``short`` cases, the same ones each time.

    The long run tries more of them, and others every time.
    """
    return settings(
        max_examples=tries(short),
        deadline=None,
        derandomize=EFFORT <= 1,
        suppress_health_check=list(HealthCheck),
    )
