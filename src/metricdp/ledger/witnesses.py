"""A witness: a file outside of the ledger that remembers its heads, so that nobody cuts or rewrites it unseen."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metricdp.errors import FileError
from metricdp.ledger.entries import Receipt

__all__ = ["Witness"]

_FIRST = "metricdp ledger witness"
_TORN = re.compile(r"(\d+( [0-9a-f]{0,63})?)?\n")
"""What is left of a line where the power failed while it was written: its head is not whole."""


class Witness:
    """A text file: which ledger it is about, then a number and a head for every time something was written.

    A line is added after its entries are durable and before the receipt is given out. So a witness is never ahead of
    its ledger, unless the ledger was cut or restored from a backup.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()

    def begin(self, ledger: str) -> None:
        """Make the file, if it is not there.

        Raises:
            FileError: it is the witness of another ledger, or of none.
        """
        if not self.path.exists():
            self._write(f"{_FIRST} {ledger}\n", new=True)
        elif self._ledger() != ledger:
            raise FileError(f"{self.path} is the witness of another ledger")

    def add(self, sequence: int, head: str) -> None:
        """Remember one more head, on the disk when this returns."""
        self._write(f"{sequence} {head}\n")

    def receipts(self) -> Iterator[Receipt]:
        """All that it remembers."""
        with self._reading() as lines:
            ledger = _ledger_in(next(lines, ""), self.path)
            for line in lines:
                if line.endswith("\n") and not _TORN.fullmatch(line):  # a torn line says nothing
                    sequence, head = line.split()
                    yield Receipt(ledger, int(sequence), head)

    def _ledger(self) -> str:
        with self._reading() as lines:
            return _ledger_in(next(lines, ""), self.path)

    @contextmanager
    def _reading(self) -> Iterator[Iterator[str]]:
        try:
            with self.path.open(encoding="ascii") as lines:
                yield lines
        except (OSError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self.path} cannot be read as the witness of a ledger") from None

    def last(self) -> Receipt | None:
        """What it remembers of the latest entry."""
        return max(self.receipts(), key=lambda receipt: receipt.sequence, default=None)

    def _write(self, text: str, *, new: bool = False) -> None:
        """Add a line, after the end of one that is torn; the file is made by its first line alone."""
        line = text.encode("ascii")
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | (os.O_CREAT if new else 0), 0o600)
            try:
                if os.lseek(handle, 0, os.SEEK_END) and os.lseek(handle, -1, os.SEEK_END) >= 0:
                    line = line if os.read(handle, 1) == b"\n" else b"\n" + line
                if os.write(handle, line) < len(line):
                    raise OSError(errno.ENOSPC, "the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise FileError(
                f"the witness {self.path} could not be written: {error.strerror}. What was to be written is in the "
                "ledger, and nothing left it: ask again with the same request key"
            ) from None


def _ledger_in(first: str, path: Path) -> str:
    """Which ledger the first line names."""
    if not first.startswith(f"{_FIRST} ") or not first.endswith("\n"):
        raise FileError(f"{path} is no witness of a ledger")
    return first.removeprefix(_FIRST).strip()
