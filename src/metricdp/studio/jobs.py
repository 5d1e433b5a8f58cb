"""What takes long: runs beside the pages, says how far it is, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from metricdp.errors import MetricDPError

__all__ = ["Job", "Stopped"]


class Stopped(Exception):
    """Raised inside a job that somebody stopped, by the call that says how far it is."""


class Job:
    """One piece of work in a thread of its own.

    Attributes:
        done: how far it is, in whatever it counts.
        total: how far it will go; None where nobody knows.
        latest: what it last had to show.
        result: what came out; None until then.
        problem: why nothing came out, in words; empty otherwise.

    Args:
        work: called with the job; calls `report` now and then.

    >>> job = Job(lambda job: 6 * 7)
    >>> job.wait()
    >>> job.result, job.running, job.problem
    (42, False, '')
    """

    def __init__(self, work: Callable[[Job], Any]) -> None:
        self.done: float = 0
        self.total: float | None = None
        self.latest: Any = None
        self.result: Any = None
        self.problem = ""
        self.stopped = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job], Any]) -> None:
        try:
            self.result = work(self)
        except (Stopped, KeyboardInterrupt):  # the latter where a search had nothing yet to give
            self.stopped = True
            self.problem = "Stopped; nothing was kept."
        except MetricDPError as error:  # its words never hold a private value
            self.problem = str(error)
        except Exception as error:
            self.problem = f"It failed ({type(error).__name__}); nothing was released."  # a message may hold a secret

    def report(self, done: float, total: float | None = None) -> None:
        """Say how far it is.

        Raises:
            Stopped: somebody asked for that.
        """
        self.done, self.total = done, total
        self.refuse_if_stopped()

    def refuse_if_stopped(self) -> None:
        """Raise `Stopped` if somebody asked for that."""
        if self._stop.is_set():
            raise Stopped

    @property
    def stopping(self) -> bool:
        """Whether somebody asked it to stop."""
        return self._stop.is_set()

    @property
    def running(self) -> bool:
        """Whether it still works."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask it to stop."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Until it has ended, or the time is over."""
        self._thread.join(seconds)
