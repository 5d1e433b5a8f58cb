"""Sentences that go with a number: why an interval is wide, what the level made unknowable, where naive is as good."""

from __future__ import annotations

import math
from collections.abc import Sequence

from metricdp.estimates.laws import LineLaw
from metricdp.estimates.monomials import LinearAnswer
from metricdp.estimates.plan import Counted
from metricdp.estimates.results import AS_GOOD, ONE_ROW, as_good, shown

__all__ = ["notes_on"]


def notes_on(
    counted: Counted,
    columns: Sequence[str],
    found: LinearAnswer,
    scale: float,
    ends: tuple[float, float],
    naive: float | None,
    value: float,
    interval: tuple[float, float],
    confidence: float,
    naive_noise: float | None = None,
) -> tuple[str, ...]:
    """What to know of one answer.

    Args:
        counted: the laws and the tally.
        columns: on which it depends.
        found: the answer, before it is scaled.
        scale: what it is multiplied by.
        ends: the least and the most that the answer can be.
        naive: what the table says at face value.
        value: the answer.
        interval: its interval.
        confidence: of the interval.
        naive_noise: how far noise moves what the table says at face value; None where that is not known.
    """
    notes = []
    width, whole = interval[1] - interval[0], ends[1] - ends[0]
    if math.isfinite(whole) and whole > 0 and width >= 0.5 * whole:
        rows, tell = ("1 row", "tells") if round(counted.rows) == 1 else (f"{shown(counted.rows)} rows", "tell")
        notes.append(
            f"The interval is half of all that the answer can be, or more: {rows} at this level {tell} next to nothing "
            "about it."
        )
    if width == 0 and found.low < found.high:
        notes.append(
            "Such released values hardly ever occur under this policy: the whole interval lay beyond what the answer "
            "can be. Few rows, or a table that was edited or released under another policy."
        )
    if math.isinf(found.noise):
        notes.append(ONE_ROW)
    for name in columns:
        moment = counted.moments.get(name)
        if moment is not None and any(moment.bias):
            line = counted.lines[name]
            assert line is not None
            step, far = (line.column.measure.say(float(f"{end:.2g}")) for end in (line.width, max(moment.bias)))
            notes.append(
                f"{name}: releases are rounded to steps of {step}, which is coarse beside the noise: rounding alone "
                f"may move an average by {far}, and the interval has room for that."
            )
    if found.biased and width > 3 * scale * found.noise:
        for name in columns:
            law = counted.laws.get(name)
            if isinstance(law, LineLaw):
                unit = law.column.measure.say(float(f"{law.scale:.2g}"))
                notes.append(
                    f"{name}: the level hides detail finer than about {unit}. How many rows lie just before the border "
                    "that is asked about, and how many just after it, cannot be told: that is most of the interval. "
                    "The estimate is good where rows are spread evenly around the border."
                )
    room = value - ends[0], ends[1] - value
    noise, own = scale * found.noise, naive_noise or 0.0
    if naive is not None and width > 0 and as_good(abs(naive - value), noise, confidence, own, room):
        notes.append(AS_GOOD)
    return tuple(notes)
