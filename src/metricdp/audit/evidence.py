"""Evidence: what an audit found, and how anybody can see it again."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metricdp.audit.reproduction import program
from metricdp.metrics import Metric

__all__ = ["Evidence", "Searched", "Tested"]


@dataclass(frozen=True)
class Tested:
    """One event, tested by itself on releases that were drawn after it was chosen.

    Attributes:
        pair: (x, x'), the event being more likely from x.
        distance: d(x, x'), rounded up.
        event: in words.
        code: as an expression in z.
        alpha: the part of 1 - confidence that this test had.
        weight: the chance that a call had the secret x.
        drawn: releases of x and of x' that were drawn.
        hits: those in the event, from x and from x'.
        scale_at_least: the bound that this test gave.
        trace: the bound after so many calls, for a picture.
        mirror: an event that is more likely from x' and was tested together with the first, in words; then hits are
            those of the secret that an event speaks for, and those of the other. None where one event was tested.
        mirror_code: the same as an expression in z.
    """

    pair: tuple[Any, Any]
    distance: float
    event: str
    code: str
    alpha: float
    weight: float
    drawn: tuple[int, int]
    hits: tuple[int, int]
    scale_at_least: float
    trace: tuple[tuple[int, float], ...] = field(default=(), repr=False)
    mirror: str | None = None
    mirror_code: str | None = None

    @property
    def calls(self) -> int:
        """Releases of both secrets."""
        return sum(self.drawn)

    @property
    def chances(self) -> tuple[float, float]:
        """The event's estimated probabilities from x and from x'; with a mirror, of right guesses and of wrong ones."""
        first, second = self.drawn if self.mirror is None else (self.calls, self.calls)
        return self.hits[0] / max(first, 1), self.hits[1] / max(second, 1)

    def to_json(self) -> dict[str, Any]:
        """The test as plain values."""
        return {
            "pair": [_plain(secret) for secret in self.pair],
            "distance": self.distance,
            "event": self.event,
            "code": self.code,
            "alpha": self.alpha,
            "weight": self.weight,
            "calls": self.calls,
            "drawn": list(self.drawn),
            "hits": list(self.hits),
            "mirror": self.mirror,
            "mirror_code": self.mirror_code,
            "scale_at_least": _number(self.scale_at_least),
        }


@dataclass(frozen=True)
class Searched:
    """One pair whose releases were searched for an event.

    Attributes:
        pair: two secrets.
        distance: between them, rounded up.
        calls: releases that were drawn for the search.
        events: how many events were looked at.
        best: the one that promised most, in words; None where there was none.
        promise: the scale that it promised.
    """

    pair: tuple[Any, Any]
    distance: float
    calls: int
    events: int
    best: str | None
    promise: float

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "pair": [_plain(secret) for secret in self.pair],
            "distance": self.distance,
            "calls": self.calls,
            "events": self.events,
            "best": self.best,
            "promise": _number(self.promise),
        }


@dataclass(frozen=True)
class Evidence:
    """What an audit found.

    Attributes:
        scale_at_least: with the confidence, no s below this makes the box s·d-private. 0 where nothing was shown.
        holds: whether there is no evidence against the claim, that is, against s = 1. It is no proof of it.
        pair: the secrets (x, x') that show it; None where nothing was shown.
        event: the set of releases that shows it, in words.
        event_code: the same as an expression in z.
        samples: releases that were drawn altogether.
        smallest_probability: an event that is rarer than this from both secrets had no chance to be chosen: of such
            events nothing is said.
        confidence: 1 - the chance that ``scale_at_least`` is above the truth, whenever and why ever the audit stopped.
        metric, delta: the claim.
        tested: the events that were tested, each alone and with its own part of 1 - confidence.
        searched: the pairs that were searched.
        seconds: how long it took.
        ended: why it ended.
        notes: what else there is to know.
        box: its name.
        importable, imports: code that gives a function of one secret, where there is such code, and its imports.
        failures: whether some calls gave an error, or hung, instead of a release.
    """

    scale_at_least: float
    pair: tuple[Any, Any] | None
    event: str | None
    event_code: str | None
    samples: int
    smallest_probability: float
    confidence: float
    metric: Metric
    delta: float
    box: str
    tested: tuple[Tested, ...] = ()
    searched: tuple[Searched, ...] = ()
    seconds: float = 0.0
    ended: str = ""
    notes: tuple[str, ...] = ()
    importable: str | None = None
    imports: tuple[str, ...] = ()
    failures: bool = False

    @property
    def holds(self) -> bool:
        """No evidence against the claim."""
        return self.scale_at_least <= 1

    def __bool__(self) -> bool:
        return self.holds

    @property
    def witness(self) -> tuple[Any, Any, str] | None:
        """x, x' and the event."""
        return None if self.pair is None or self.event is None else (*self.pair, self.event)

    @property
    def best(self) -> Tested | None:
        """The test that gave the bound."""
        return max(self.tested, key=lambda test: test.scale_at_least, default=None)

    @property
    def reason(self) -> str:
        """The bound and what shows it, in a few sentences."""
        claim = f"({self.metric}, {self.delta:g})-private" if self.delta else f"{self.metric.bracketed}-private"
        share = f"{self.confidence:.10g}"
        test = self.best
        if test is None or self.scale_at_least <= 0:
            return f"No evidence against {claim}: no event told two secrets apart, at confidence {share}."
        scale = "no multiple at all" if math.isinf(self.scale_at_least) else f"{self.scale_at_least:.4g}"
        if self.holds:
            head = f"No evidence against {claim}. The true scale is at least {scale} times that, at confidence {share}."
        elif math.isinf(self.scale_at_least):
            head = f"NOT {claim}, nor any multiple of it, at confidence {share}."
        else:
            head = f"NOT {claim}: the true scale is at least {scale} times what is claimed, at confidence {share}."
        first, second = test.chances
        secrets = f"Shown by the secrets {test.pair[0]!r} and {test.pair[1]!r}, {test.distance:.4g} apart"
        if test.mirror is not None:
            return (
                f"{head}\n{secrets}: guess the first where {test.event}, the second where {test.mirror}.\n"
                f"With either secret in half of the calls, {first:.4g} of all calls gave a right guess and "
                f"{second:.4g} a wrong one ({test.hits[0]:,} and {test.hits[1]:,})."
            )
        return (
            f"{head}\n{secrets}: {test.event}.\n"
            f"That came in {first:.4g} of the releases of the first and in {second:.4g} of the second "
            f"({test.hits[0]:,} and {test.hits[1]:,} times)."
        )

    def __str__(self) -> str:
        events = sum(each.events for each in self.searched)
        lines = [
            f"{self.box}: {self.samples:,} releases in {self.seconds:.1f} s",
            self.reason,
            f"Searched: {len(self.searched)} pairs, {events:,} events; tested alone on new releases: "
            f"{len(self.tested)}. "
            f"Nothing is said of events rarer than {self.smallest_probability:.2g}.",
        ]
        if self.ended:
            lines.append(f"Ended: {self.ended}.")
        return "\n".join([*lines, *self.notes])

    @property
    def code(self) -> str:
        """A program that shows it again: it needs ``release``, a function of one secret, where the box has no name."""
        return program(self)

    def to_json(self) -> dict[str, Any]:
        """The evidence as plain values for JSON; an infinite scale is written "infinite"."""
        return {
            "box": self.box,
            "holds": self.holds,
            "scale_at_least": _number(self.scale_at_least),
            "confidence": self.confidence,
            "metric": str(self.metric),
            "delta": self.delta,
            "pair": None if self.pair is None else [_plain(secret) for secret in self.pair],
            "event": self.event,
            "event_code": self.event_code,
            "samples": self.samples,
            "smallest_probability": self.smallest_probability,
            "seconds": self.seconds,
            "ended": self.ended,
            "notes": list(self.notes),
            "tested": [test.to_json() for test in self.tested],
            "searched": [each.to_json() for each in self.searched],
        }

    def _repr_html_(self) -> str:
        verdict = "no evidence against the claim" if self.holds else "evidence against the claim"
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in str(self).splitlines() if line.strip())
        code = html.escape(self.code)
        return f"<b>{verdict}</b><ul>{lines}</ul><details><summary>See it again</summary><pre>{code}</pre></details>"


def _number(value: float) -> float | str | None:
    if math.isinf(value):
        return "infinite" if value > 0 else None
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(part) for part in value), key=repr)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufSU":
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
