"""A watch over calls that do not come back."""

from __future__ import annotations

import gc
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["TimedOut", "Watch"]


class TimedOut(BaseException):
    """A call took longer than it may. No Exception, so that no box can catch it by accident."""


class Watch:
    """Raises `TimedOut` inside a call that takes longer than the limit, and at most twice the limit.

    It needs the main thread of a system with interval timers; elsewhere it watches nothing. While garbage is collected
    it waits: what is raised there goes to nobody, and is printed as ignored.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._call = self._seen = 0
        self._inside = self._collecting = False
        self._able = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._before: Any = None

    def change(self, limit: float) -> None:
        """Another limit, from now on."""
        self.limit = limit
        if self._able:
            signal.setitimer(signal.ITIMER_REAL, limit, limit)

    def begin(self) -> None:
        """A call begins."""
        self._call += 1
        self._inside = True

    def end(self) -> None:
        """The call is over."""
        self._inside = False

    def __enter__(self) -> Watch:
        if self._able:
            self._before = signal.signal(signal.SIGALRM, self._tick)
            gc.callbacks.append(self._collects)
            signal.setitimer(signal.ITIMER_REAL, self.limit, self.limit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside = False
        if self._able:
            signal.setitimer(signal.ITIMER_REAL, 0)
            gc.callbacks.remove(self._collects)
            signal.signal(signal.SIGALRM, self._before)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._inside or self._collecting:
            return
        if self._seen == self._call:
            raise TimedOut  # and again at the next tick, where whatever ran just then let nothing through
        self._seen = self._call

    def _collects(self, phase: str, info: dict[str, int]) -> None:
        del info
        self._collecting = phase == "start"
