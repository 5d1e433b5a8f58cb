"""Where every random bit of the package comes from.

Bits are the keystream of AES-256 in counter mode. `secure` keys it from the operating system, once for each
thread and again after a fork, so no two threads or processes share a stream. `seeded` is its twin for tests
and demonstrations: the same code with a key that anybody can compute, so it says that it is not private.
"""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from metricdp.errors import NotPrivateWarning

__all__ = ["Source", "secure", "seeded", "source"]

Words = NDArray[np.uint64]

_CHUNK = 1 << 19
_ZEROS = bytes(_CHUNK)  # encrypting zeros gives the bare keystream


class Source:
    """A stream of independent uniform bits, 64 at a time.

    Attributes:
        private: False for a stream whose key is known, which no release may be called private with.
    """

    def __init__(self, key: bytes, private: bool) -> None:
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._lock = threading.Lock()
        self.private = private

    def words(self, count: int) -> Words:
        """The next ``count`` words of 64 bits."""
        words = np.empty(count, dtype=np.uint64)
        into = words.view(np.uint8).data
        zeros = memoryview(_ZEROS)
        with self._lock:
            for start in range(0, len(into), _CHUNK):
                part = into[start : start + _CHUNK]
                self._stream.update_into(zeros[: len(part)], part)
        return words

    def integer(self, bits: int) -> int:
        """One uniform integer of ``bits`` bits, a multiple of 64."""
        return int.from_bytes(self.words(bits // 64).tobytes(), "little")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of bits does not pickle: two copies of one stream would repeat its noise")


class _Streams(threading.local):
    """One secure stream for each thread that asks."""

    def __init__(self) -> None:
        self.mine = Source(os.urandom(32), private=True)  # noqa: TID251 the one place that reads the system's entropy


_streams = _Streams()
_override: ContextVar[Source | None] = ContextVar("metricdp_source", default=None)


def _forget_after_fork() -> None:
    """Give a forked child streams of its own: with its parent's it would repeat the parent's noise."""
    global _streams
    _streams = _Streams()


if hasattr(os, "register_at_fork"):  # Windows forks no process
    os.register_at_fork(after_in_child=_forget_after_fork)


def secure() -> Source:
    """This thread's secure stream.

    >>> secure().private, 0 <= secure().integer(8) < 256
    (True, True)
    """
    return _streams.mine


def source() -> Source:
    """The stream in force: the secure one, unless the caller stands inside `seeded`."""
    return _override.get() or secure()


@contextmanager
def seeded(seed: int) -> Iterator[Source]:
    """Draw all noise inside the block from a stream that ``seed`` determines. Not private.

    Arrays and Series released inside the block are marked, and a `NotPrivateWarning` says so.

    >>> with seeded(1) as bits:
    ...     first = bits.words(2)
    >>> with seeded(1) as bits:
    ...     bool((bits.words(2) == first).all()), bits.private
    (True, False)
    """
    warnings.warn("noise comes from a seeded source: not private", NotPrivateWarning, stacklevel=3)
    key = hashlib.sha256(b"metricdp seeded source %d" % seed).digest()
    token = _override.set(Source(key, private=False))
    try:
        yield source()
    finally:
        _override.reset(token)
