"""What an audit under way has found so far, as evidence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from metricdp.audit.evidence import Evidence, Searched

if TYPE_CHECKING:
    from metricdp.audit.rounds import Rounds

__all__ = ["conclude"]


def conclude(rounds: Rounds) -> Evidence:
    """The evidence so far."""
    tested = tuple(trial.record() for trial in rounds.trials if trial.calls)
    best = max(tested, key=lambda test: test.scale_at_least, default=None)
    shown = best is not None and best.scale_at_least > 0
    explored = max((hunt.calls for hunt in rounds.hunts), default=0)
    notes = [*rounds.notes, *([rounds.box.note] if rounds.box.note else [])]
    notes += sorted({hunt.note for hunt in rounds.hunts if hunt.note})
    return Evidence(
        scale_at_least=best.scale_at_least if best is not None and shown else 0.0,
        pair=best.pair if best is not None and shown else None,
        event=best.event if best is not None and shown else None,
        event_code=best.code if best is not None and shown else None,
        samples=rounds.calls,
        smallest_probability=min(1.0, 16 / max(explored, 1)),
        confidence=rounds.confidence,
        metric=rounds.promise.metric,
        delta=float(rounds.promise.delta),
        box=rounds.box.name,
        tested=tested,
        searched=tuple(
            Searched(hunt.pair, hunt.distance, hunt.calls, hunt.looked_at, hunt.best_words, hunt.promise)
            for hunt in rounds.hunts
            if hunt.calls
        ),
        seconds=time.perf_counter() - rounds.start,
        ended=rounds.ended,
        notes=tuple(notes),
        importable=rounds.box.importable,
        imports=rounds.box.imports,
        failures=any(hunt.failures for hunt in rounds.hunts),
    )
