"""Progress and time limits: what every function takes that can run for more than a second.

A function that can take long has ``time_limit`` (seconds, or None) and ``progress``: a callable that is given an
`Update` now and then. An update prints as one line, so ``progress=print`` is enough to watch:

>>> print(Update(done=12, unit="rounds", best=0.5, bound=0.4, seconds=3.0))
12 rounds, best 0.5, bound 0.4 (gap 20%), 3.0 s
>>> print(Update(done=500, total=1000, unit="rows", seconds=0.5))
500 of 1,000 rows, 0.5 s
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

from metricdp.errors import ArgumentError, TooLargeError

__all__ = ["Progress", "Stopwatch", "Update", "duration", "float_or_infinity"]


def float_or_infinity(number: Any) -> float:
    """A number as a float; infinity, with its sign, for what is beyond floats.

    >>> float_or_infinity(10**400), float_or_infinity(-(10**400)), float_or_infinity(2)
    (inf, -inf, 2.0)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def duration(seconds: float) -> str:
    """A time in words, to one digit or two.

    >>> duration(3.21), duration(100), duration(50_000), duration(10**7)
    ('3 seconds', '2 minutes', '14 hours', '116 days')
    """
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(seconds, 1):.0f} seconds"


@dataclass(frozen=True, kw_only=True)
class Update:
    """How far a long computation has come.

    Attributes:
        done: how much is done, in ``unit``.
        total: how much there is to do; None where nobody knows.
        unit: what is counted: "rounds", "rows", "vertices".
        best: the value of the best answer so far; None where there is none.
        bound: what is proved of every answer (a best value is never beyond it); None where nothing is proved yet.
        seconds: how long it has run.
    """

    done: int
    total: int | None = None
    unit: str = "steps"
    best: float | None = None
    bound: float | None = None
    seconds: float = 0.0

    @property
    def gap(self) -> float | None:
        """How far the best answer may be from optimal, relative to its value; None where it is not known."""
        if self.best is None or self.bound is None or not (math.isfinite(self.best) and math.isfinite(self.bound)):
            return None
        if self.best == self.bound:
            return 0.0
        return abs(self.best - self.bound) / abs(self.best) if self.best else math.inf

    def __str__(self) -> str:
        count = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        parts = [f"{count} {self.unit}"]
        if self.best is not None and math.isfinite(self.best):
            parts.append(f"best {self.best:.6g}")
        if self.bound is not None and math.isfinite(self.bound):
            shown = "" if self.gap is None else f" (gap {100 * self.gap:.2g}%)"
            parts.append(f"bound {self.bound:.6g}{shown}")
        return ", ".join([*parts, f"{self.seconds:.1f} s"])


class Progress(Protocol):
    """A callable that is told now and then how far a computation has come; what it returns is ignored."""

    def __call__(self, update: Update, /) -> object:
        """Take one update."""


class Stopwatch:
    """The time since its creation, against a limit.

    Args:
        time_limit: seconds; None for no limit.
        progress: whom to tell; None for nobody.

    Raises:
        ArgumentError: if the limit is not a positive number, or the progress cannot be called.
    """

    def __init__(self, time_limit: float | None = None, progress: Progress | None = None) -> None:
        if time_limit is not None and not (
            isinstance(time_limit, Real) and not isinstance(time_limit, bool) and float_or_infinity(time_limit) > 0
        ):
            raise ArgumentError(f"time_limit must be a positive number of seconds, or None, not {time_limit!r}")
        if progress is not None and not callable(progress):
            raise ArgumentError(f"progress is a function that takes an Update, such as print, not {progress!r}")
        self.time_limit = None if time_limit is None else float_or_infinity(time_limit)
        self.progress = progress
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time that has passed."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """The time that is left, at least 0; infinite without a limit."""
        return math.inf if self.time_limit is None else max(self.time_limit - self.seconds, 0.0)

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        return self.left == 0.0

    def check(self, what: str, done: int = 0, total: int | None = None, unit: str = "steps") -> None:
        """Raise the error of a time limit that is reached before there is anything to return.

        Args:
            what: what was to be done, as a verb: "to count the kernels".
            done: how much of it is done.
            total: how much there is to do; None where nobody knows.
            unit: what is counted.

        Raises:
            TooLargeError: if the limit is reached; its estimate is how long all of it would take, where that is known.

        >>> Stopwatch().check("to count the kernels")
        """
        if not self.over:
            return
        so_far = f"; {done:,} {unit} so far" if total is None else f"; {done:,} of {total:,} {unit} are done"
        estimate = f"about {duration(self.seconds * total / done)}" if done and total else ""
        raise TooLargeError(
            f"time_limit={self.time_limit:g} seconds were not enough {what}{so_far if done else ''}"
            + (f"; it would take {estimate}" if estimate else ""),
            estimate,
        )

    def tell(
        self,
        done: int,
        total: int | None = None,
        *,
        unit: str = "steps",
        best: float | None = None,
        bound: float | None = None,
    ) -> None:
        """Pass an update on to whoever wants it."""
        if self.progress is not None:
            self.progress(Update(done=done, total=total, unit=unit, best=best, bound=bound, seconds=self.seconds))
