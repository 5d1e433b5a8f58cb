"""A program as a box: it reads secrets and writes releases."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from threading import Thread
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch, Box, Failure
from metricdp.audit.boxes.samples import lines_of, read_release
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans

__all__ = ["BLOCK_LIMIT", "Program"]

BLOCK_LIMIT = 30.0
"""Seconds that a program may take for one block of secrets, where nobody says otherwise."""

_MOST_WRITTEN = 1 << 28  # bytes for one block of secrets
_MOMENT = 0.2  # seconds


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
        with _Talk(process, asked.encode(), labels.size) as talk:
            try:
                if not talk.ends_within(self.limit):
                    failure = Failure("hung")
                elif process.returncode:
                    failure = Failure(f"the program ended with status {process.returncode}")
            except KeyboardInterrupt:  # what was written before it counts
                interrupted = True
        if talk.too_much:
            raise ArgumentError(talk.too_much)
        text = bytes(talk.written).decode(errors="surrogateescape")  # two bytes that are no text stay different
        if interrupted:
            text = text[: text.rfind("\n") + 1]  # the last line may be a part of one
        releases = [read_release(line) for line in lines_of(text)]
        if len(releases) < labels.size and not interrupted:
            releases.append(failure or Failure("no release"))
        return Batch(releases, interrupted=interrupted)


class _Talk:
    """What is said to a program and what it answers, up to as much as it should, by two threads.

    At the end the program is killed, with whatever it started.

    Attributes:
        written: what it has written so far.
        too_much: what is wrong, where it wrote more lines than secrets, or a line without an end.
    """

    def __init__(self, process: subprocess.Popen[bytes], asked: bytes, lines: int) -> None:
        self.process, self.written, self.too_much = process, bytearray(), ""
        self._asked, self._lines = asked, lines
        self._reader, self._writer = Thread(target=self._read, daemon=True), Thread(target=self._write, daemon=True)

    def ends_within(self, seconds: float) -> bool:
        """Wait until the program is over; False where that takes longer.

        A process that it started may keep its output open: nobody waits for that.
        """
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            if (left := end - time.monotonic()) <= 0:
                return False
            if self._reader.is_alive():
                self._reader.join(min(left, _MOMENT))
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(left)
        self._reader.join(_MOMENT)
        return True

    def __enter__(self) -> _Talk:
        self._reader.start()
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None or self._reader.is_alive():
            self._kill()
        self.process.wait()
        self._writer.join(_MOMENT)
        self._reader.join(_MOMENT)

    def _kill(self) -> None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.killpg(self.process.pid, signal.SIGKILL)
        else:  # Windows has no groups of processes
            self.process.kill()

    def _write(self) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError), pipe:  # it need not read everything
            pipe.write(self._asked)

    def _read(self) -> None:
        pipe, lines = self.process.stdout, 0
        assert pipe is not None
        with pipe:
            while part := os.read(pipe.fileno(), 1 << 16):
                self.written += part
                lines += part.count(b"\n")
                if lines + (not self.written.endswith(b"\n")) > self._lines:
                    self.too_much = (
                        f"the program wrote more lines than the {self._lines:,} secrets it was given: "
                        "it must write one line for each"
                    )
                elif len(self.written) > _MOST_WRITTEN:
                    self.too_much = f"the program wrote more than {_MOST_WRITTEN >> 20} MB for {self._lines:,} secrets"
                if self.too_much:
                    self._kill()
                    return


def _line(secret: Any) -> str:
    return json.dumps(secret, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "Mm":
        return value.tolist()
    return str(value)
