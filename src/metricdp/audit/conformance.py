"""The audit as one check of a suite: a mechanism is asked to survive it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metricdp.audit.audit import audit
from metricdp.audit.evidence import Evidence

__all__ = ["check_claim"]


def check_claim(mechanism: Any, pairs: Iterable[Any] | None = None, *, samples: int = 100_000) -> Evidence:
    """Audit a mechanism against its own guarantee, at a confidence that a suite of a thousand checks can live with.

    Raises:
        AssertionError: there is evidence against the claim; its message is the evidence.

    >>> import metricdp as mdp
    >>> check_claim(mdp.randomized_response("ab", 1), samples=2000).holds
    True
    """
    evidence = audit(mechanism, pairs, confidence=1 - 1e-9, samples=samples)
    if not evidence.holds:
        raise AssertionError(str(evidence))
    return evidence
