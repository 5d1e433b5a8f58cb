"""The audit: search pairs and events on past releases, test what was chosen on new ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from metricdp.audit.boxes.as_box import as_box
from metricdp.audit.boxes.box import Box
from metricdp.audit.boxes.program import Program
from metricdp.audit.boxes.samples import Samples
from metricdp.audit.events.event import given_event
from metricdp.audit.evidence import Evidence
from metricdp.audit.pairs import find_pairs, given_pairs
from metricdp.audit.plan import Plan
from metricdp.audit.rounds import Progress, Rounds
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee, Metric

__all__ = ["audit", "run"]

_SAMPLES = 4_000_000
_SECONDS = 30.0


def audit(
    mechanism: Any,
    pairs: Iterable[Any] | None = None,
    metric: Metric | Guarantee | None = None,
    *,
    confidence: float = 0.999,
    samples: int | None = None,
    time_limit: float | None = None,
    events: Iterable[Any] | None = None,
    progress: Progress | None = None,
) -> Evidence:
    """Find out from outside how private a box is: a lower bound on the least s for which it is s·d-private.

    The null hypothesis is that each call, given all earlier calls, is s·d-private; x and x' are drawn in random order.
    Pairs and events are chosen on past releases; the event that is reported is tested alone, on new ones. The bound
    stands whenever the audit stops, and why ever: after ``samples``, after ``time_limit``, at Ctrl-C, or because
    somebody did not like what they saw.

    Args:
        mechanism: a `Mechanism`; a function of one secret; `rows` of a function of many; "command:..." for a program
            that reads secrets and writes releases, a line each; two files, or two arrays, of samples of one pair.
        pairs: pairs of secrets; without them, some are searched.
        metric: what is claimed; a Guarantee where there is a delta. Without it, what the mechanism says of itself.
        confidence: of the bound.
        samples: releases to draw at most, of both secrets together; 4 million where neither limit is given.
        time_limit: seconds to draw for at most; 30 where neither limit is given.
        events: events to look at besides those that are learned: expressions in z such as "z > 3", functions of a
            release, or the word "time" for how long a call takes.
        progress: called with the releases so far, those planned, and the bound so far; if it returns True, the audit
            ends there.

    Raises:
        ArgumentError: if the confidence is not between 0 and 1, fewer than 100 samples or a time limit that is not
            positive is asked for, something is no box or no metric, the metric does not measure a pair, or the box
            fails on every call.
        FileError: if a file of samples cannot be read.

    References:
        Paper 2, Theorem 3 and Examples 3 and 4, for the events.

    >>> import metricdp as mdp
    >>> from metricdp.audit import audit
    >>> evidence = audit(mdp.randomized_response("ab", mdp.ln(3)), samples=40_000, confidence=1 - 1e-9)
    >>> evidence.holds, 0.8 < evidence.scale_at_least <= 1
    (True, True)
    """
    if isinstance(events, (str, bytes)) or not isinstance(events, (Iterable, type(None))):
        raise ArgumentError("events are several: write events=['z > 3']")
    return run(mechanism, pairs, metric, confidence, samples, time_limit, tuple(events or ()), progress, Plan())


def run(
    mechanism: Any,
    pairs: Iterable[Any] | None,
    metric: Metric | Guarantee | None,
    confidence: float,
    samples: int | None,
    time_limit: float | None,
    events: Sequence[Any],
    progress: Progress | None,
    plan: Plan,
) -> Evidence:
    """The same, with a plan."""
    if not _is_number(confidence) or not 0 < confidence < 1:
        raise ArgumentError("a confidence lies between 0 and 1")
    if samples is not None and not (_is_number(samples) and 100 <= samples < math.inf and samples == int(samples)):
        raise ArgumentError("an audit takes 100 samples at least, and a whole number of them")
    if time_limit is not None and not (_is_number(time_limit) and 0 < time_limit < math.inf):
        raise ArgumentError("a time limit is a positive number of seconds, or None where there is none")
    samples = None if samples is None else int(samples)
    if not isinstance(pairs, (Iterable, type(None))):
        raise ArgumentError("pairs are several: write pairs=[(0, 1)]")
    if progress is not None and not callable(progress):
        raise ArgumentError("progress is a function that is called with releases, planned releases and the bound")
    given = [event if isinstance(event, str) and event == "time" else given_event(event) for event in events]
    if samples is None and time_limit is None:
        samples, time_limit = _SAMPLES, _SECONDS
    box = as_box(mechanism, time_limit)
    promise = _claim(metric, box)
    if isinstance(box, Samples):
        samples = min(samples or box.size, box.size)
    if pairs is not None:
        apart = given_pairs(pairs, promise.metric)
    elif isinstance(box, (Samples, Program)):
        raise ArgumentError("say with pairs=.. which pair of secrets the releases are of")
    else:
        apart = find_pairs(box, mechanism, promise.metric)
    if isinstance(box, Samples) and len(apart) != 1:
        raise ArgumentError("two files of samples are of one pair of secrets")
    return Rounds(box, apart, promise, float(confidence), samples, time_limit, given, progress, plan).run()


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


def _claim(metric: Metric | Guarantee | None, box: Box) -> Guarantee:
    if isinstance(metric, Guarantee):
        return metric
    if isinstance(metric, Metric):
        return Guarantee(metric)
    if metric is not None:
        raise ArgumentError(f"a metric or a guarantee is needed here, not {type(metric).__name__}")
    if box.guarantee is None:
        raise ArgumentError("the box does not say what it promises: say it with metric=.., such as absolute distance")
    return box.guarantee
