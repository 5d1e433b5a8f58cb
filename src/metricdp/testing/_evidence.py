"""Releases as a test of a promise: which pairs of secrets are worth it, and what an audit of them finds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from metricdp.audit.conformance import check_claim
from metricdp.errors import MetricDPError
from metricdp.metrics import Metric
from metricdp.testing.checked import Broken

__all__ = ["near_pairs", "no_evidence"]

_FARTHEST = 20.0
_MOST = 4


def near_pairs(metric: Metric, secrets: Sequence[Any]) -> list[tuple[Any, Any]]:
    """A few pairs of different secrets, those about 1 apart first, so that as many secrets as can be are among them."""
    found = []
    for x, y in itertools.combinations(secrets, 2):
        distance = _distance(metric, x, y)
        if distance < _FARTHEST and not _same(x, y):
            found.append((abs(math.log(max(distance, 1e-9))) if distance else 0.0, (x, y)))
    found.sort(key=lambda each: each[0])
    chosen: list[tuple[Any, Any]] = []
    for new in (True, False):
        for _, pair in found:
            seen = [secret for each in chosen for secret in each]
            known = all(any(_same(one, other) for other in seen) for one in pair)
            if known != new and not any(pair is each for each in chosen):
                chosen.append(pair)
    return chosen[:_MOST]


def _distance(metric: Metric, x: Any, y: Any) -> float:
    try:
        return float(metric.enclose(x, y).upper)
    except (MetricDPError, TypeError, ValueError, OverflowError):
        return math.inf


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def no_evidence(box: Any, pairs: Sequence[tuple[Any, Any]], samples: int) -> str | None:
    """Audit a box against its guarantee: nothing, or why there is nothing to audit.

    Raises:
        Broken: there is evidence against it.
    """
    if not pairs:
        return "no two of the secrets are near enough to each other for evidence"
    try:
        check_claim(box, pairs, samples=samples)
    except AssertionError as evidence:
        raise Broken(str(evidence)) from None
    return None
