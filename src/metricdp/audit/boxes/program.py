"""A program as a box: it reads secrets and writes releases."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch, Box, Failure
from metricdp.audit.boxes.samples import read_release
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans

__all__ = ["BLOCK_LIMIT", "Program"]

BLOCK_LIMIT = 30.0
"""Seconds that a program may take for one block of secrets, where nobody says otherwise."""


class Program(Box):
    """A program that reads secrets on standard input, one a line as JSON, and writes a release for each, one a line.

    It is started anew for every block of secrets, and its input ends after the block, so that a program that writes
    when it has read everything serves as well.

    Args:
        command: the program and its arguments, as one would type them; no shell reads it.
        limit: seconds that one block may take; a program that takes longer hangs, and is killed with all it started.
    """

    def __init__(self, command: str, limit: float = BLOCK_LIMIT) -> None:
        self.command, self.limit = command, limit
        self.name = f"command:{command}"
        self.importable = (
            f"lambda secret: Program({command!r}).draw((secret, secret), np.ones(1, dtype=bool)).releases[0]"
        )
        self.imports = ("from metricdp.audit import Program",)
        self.block = 1 << 12
        self.note = "The program was started anew for each block of secrets."
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ArgumentError(f"the command cannot be read: {error}") from None
        if not self._words:
            raise ArgumentError("the command is empty: write 'command:program with arguments'")

    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """One run of the program; what it leaves out after its first failure was not asked of it."""
        lines = [_line(pair[0]), _line(pair[1])]
        asked = "".join(lines[0] if label else lines[1] for label in labels.tolist())
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise ArgumentError(f"the program {self._words[0]!r} does not start: {error.strerror}") from None
        failure, interrupted = None, False
        try:
            written, _ = process.communicate(asked.encode(), timeout=self.limit)
            if process.returncode:
                failure = Failure(f"the program ended with status {process.returncode}")
        except subprocess.TimeoutExpired:
            written = _killed(process)
            failure = Failure("hung")
        except KeyboardInterrupt:  # what was written before it counts
            written, interrupted = _killed(process), True
        text = written.decode(errors="replace")
        if interrupted:
            text = text[: text.rfind("\n") + 1]  # the last line may be a part of one
        releases = [read_release(line) for line in text.splitlines()]
        if len(releases) > labels.size:
            raise ArgumentError(
                f"the program wrote {len(releases)} lines for {labels.size} secrets: it must write one line for each"
            )
        if len(releases) < labels.size and not interrupted:
            releases.append(failure or Failure("no release"))
        return Batch(releases, interrupted=interrupted)


def _killed(process: subprocess.Popen[bytes]) -> bytes:
    """End a program and whatever it started; gives what it had written."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows has no groups of processes
        process.kill()
    written, _ = process.communicate()
    return written or b""


def _line(secret: Any) -> str:
    return json.dumps(secret, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)
