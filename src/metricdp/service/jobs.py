"""Tables that are sanitized over HTTP: uploaded as a stream, made in the background, and fetched once."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.bits import secure
from metricdp.sources.whole_files import scratch_folder

__all__ = ["FORMS", "TableJob", "TableJobs"]

FORMS = ("csv", "csv.gz", "parquet", "arrow")
"""What an uploaded table may be written in."""


@dataclass
class TableJob:
    """One table on its way.

    Attributes:
        id: 128 random bits; only the token that began the job can use it.
        owner: the name of that token.
        folder: where its files lie; gone with the job, and after a crash with the next start.
        source: the uploaded file.
        state: uploading, running, done, sent or failed.
        rows: done so far, of ``total`` where that is known; a table is read twice, once to check it.
        error: the kind and the words of what went wrong.
    """

    id: str
    owner: str
    folder: Path
    source: Path
    state: str = "uploading"
    rows: int = 0
    total: int | None = None
    error: tuple[str, str] | None = None
    ended: float | None = None
    stack: ExitStack = field(default_factory=ExitStack, repr=False)

    @property
    def result(self) -> Path:
        """The sanitized table."""
        return self.folder / "released.parquet"

    def progress(self, rows: int, total: int | None) -> None:
        """Note how far it is."""
        self.rows, self.total = rows, total

    def to_json(self) -> dict[str, Any]:
        """How far it is, as plain values for JSON."""
        error = None if self.error is None else {"kind": self.error[0], "message": self.error[1]}
        return {"job": self.id, "state": self.state, "rows": self.rows, "total": self.total, "error": error}


class TableJobs:
    """All jobs of a service, so many of them at a time.

    Args:
        most: of all tokens together, uploads among them.
        kept: seconds that a result waits to be fetched.
        now: the clock.
        of_one: the most of one token, so that one that is slow, or fetches nothing, leaves places for others.
    """

    def __init__(
        self, most: int, kept: float, now: Callable[[], float] = time.monotonic, of_one: int | None = None
    ) -> None:
        self._most, self._kept, self._now = most, kept, now
        self._of_one = most if of_one is None else of_one
        self._jobs: dict[str, TableJob] = {}
        self._lock = threading.Lock()

    def begin(self, owner: str, form: str) -> TableJob | None:
        """A place for an upload; None where there are as many jobs as there may be, of all or of this owner.

        Raises:
            ArgumentError: tables are not read in that form.
        """
        if form not in FORMS:
            raise ArgumentError(f"form is one of {', '.join(FORMS)}")
        with self._lock:
            self._forget()
            own = sum(job.owner == owner for job in self._jobs.values())
            if len(self._jobs) >= self._most or own >= self._of_one:
                return None
            stack = ExitStack()
            folder = stack.enter_context(scratch_folder(Path(tempfile.gettempdir())))
            job = TableJob(f"{secure().integer(128):032x}", owner, folder, folder / f"upload.{form}", stack=stack)
            self._jobs[job.id] = job
            return job

    def run(self, job: TableJob, work: Callable[[TableJob], object]) -> None:
        """Do the work in the background; the upload is removed when it ends, however it does."""

        def worked() -> None:
            try:
                work(job)
                job.state = "done"
            except MetricDPError as error:
                job.error, job.state = (type(error).__name__, str(error)), "failed"
            except Exception:  # its message may hold a secret
                job.error, job.state = ("InternalError", "the service failed; nothing was released"), "failed"
            finally:
                job.source.unlink(missing_ok=True)
                job.ended = self._now()

        job.state = "running"
        threading.Thread(target=worked, name=f"job {job.id[:8]}", daemon=True).start()

    def of(self, owner: str, name: str) -> TableJob | None:
        """A job of this owner's; None where there is none."""
        with self._lock:
            self._forget()
            found = self._jobs.get(name)
        return found if found is not None and found.owner == owner and found.state != "sent" else None

    def drop(self, job: TableJob) -> None:
        """Forget a job and remove its files; one that runs is removed when it ends."""
        with self._lock:
            if job.state != "running" and self._jobs.pop(job.id, None) is not None:
                job.stack.close()
            elif job.state == "running":
                job.owner = ""

    def close(self) -> None:
        """Remove the files of all jobs."""
        with self._lock:
            for job in self._jobs.values():
                job.stack.close()
            self._jobs.clear()

    def _forget(self) -> None:
        for job in list(self._jobs.values()):
            if job.ended is not None and (not job.owner or self._now() - job.ended > self._kept):
                self._jobs.pop(job.id).stack.close()
