"""Rows and bytes that wait on a disk, where nobody but this process can read them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from metricdp.errors import FileError
from metricdp.exact.sealing import Seal

__all__ = ["SealedBytes", "SealedRows"]

_CHUNK = 1 << 17


class SealedBytes:
    """Bytes in a scratch file, sealed with a key of its own that is never written down.

    Written once and then read any number of times. Whoever finds the file, after a crash too, learns how long it is
    and nothing else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seal = Seal()

    def written(self) -> io.RawIOBase:
        """A file to write them to, once."""
        return _Sealing(self.path, self._seal)

    def opened(self) -> io.RawIOBase:
        """The bytes from the beginning."""
        return _Opening(self.path, self._seal)


class SealedRows:
    """Record batches in a scratch file, as `SealedBytes`.

    Written once, inside a ``with`` block, and then read any number of times.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self._schema = schema
        self._bytes = SealedBytes(path)
        self._writer: Any = None

    def __enter__(self) -> Self:
        self._file = self._bytes.written()
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, mode="w"), self._schema)
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""
        self._writer.write_batch(batch)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._writer.close()
        finally:
            self._writer = None
            self._file.close()

    def read(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The batches in the order in which they were written; of some columns, or of all."""
        with self._bytes.opened() as file, pa.ipc.open_stream(pa.PythonFile(file, mode="r")) as reader:
            for batch in reader:
                yield batch if columns is None else batch.select(columns)

    @property
    def size(self) -> int:
        """How long the file is, in bytes."""
        return self.path.stat().st_size

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink()


class _Sealing(io.RawIOBase):
    """What is written to it is sealed in chunks of one size; only the last one is shorter."""

    def __init__(self, path: Path, seal: Seal) -> None:
        self._file = path.open("xb", buffering=0)
        self._seal, self._number = seal, 0
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._waiting += content
        if len(self._waiting) >= _CHUNK:
            whole = len(self._waiting) // _CHUNK * _CHUNK
            with memoryview(self._waiting) as waiting:
                sealed = [self._sealed(waiting[start : start + _CHUNK]) for start in range(0, whole, _CHUNK)]
            del self._waiting[:whole]
            self._put(b"".join(sealed))
        return len(content)

    def close(self) -> None:
        if self.closed:
            return
        try:
            self._put(self._sealed(self._waiting, last=True))
        finally:
            self._file.close()
            super().close()

    def _sealed(self, content: Any, last: bool = False) -> bytes:
        self._number += 1
        return self._seal.close(self._number, content, last)

    def _put(self, sealed: bytes) -> None:
        with memoryview(sealed) as left:
            done = 0
            while done < len(sealed):
                done += self._file.write(left[done:]) or 0


class _Opening(io.RawIOBase):
    """Reads what was written to a `_Sealing`."""

    def __init__(self, path: Path, seal: Seal) -> None:
        self._file = path.open("rb")
        self._seal, self._number = seal, 0
        self._ready, self._place, self._ended = memoryview(b""), 0, False

    def readable(self) -> bool:
        return True

    def read(self, count: int | None = -1) -> bytes:
        if count is None or count < 0:
            raise io.UnsupportedOperation("a number of bytes is wanted")
        parts = []
        while count:
            if self._place == len(self._ready):
                if self._ended:
                    break
                self._next()
            part = self._ready[self._place : self._place + count]
            self._place += len(part)
            count -= len(part)
            parts.append(part)
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _next(self) -> None:
        sealed = self._file.read(_CHUNK + Seal.overhead)
        self._number += 1
        self._ended = len(sealed) < _CHUNK + Seal.overhead
        try:
            self._ready, self._place = memoryview(self._seal.open(self._number, sealed, self._ended)), 0
        except ValueError:
            raise FileError("a scratch file beside the output was changed while it was in use") from None
