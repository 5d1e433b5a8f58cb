"""Keys that live in memory alone: what is sealed with them may lie on a disk, and whoever finds it learns nothing.

Both classes rest on AES-256, as the noise does, and on a key from `secure`, never from a seed. Neither shows its key.
"""

from __future__ import annotations

import hashlib

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

from metricdp.exact.bits import secure

__all__ = ["Digests", "Seal"]

Words = NDArray[np.uint64]

_BLOCK = 16
_FIRST = 8
"""Bytes of a text in its first block, after its length."""


class Seal:
    """Authenticated encryption of numbered parts, by AES-256 in Galois counter mode.

    The number of a part is its nonce, so that a number may be used but once with one key. What was changed, cut off or
    put in another place does not open. Pickles, with its key, so that the processes of one run can share it: then each
    takes a nonce that no other takes.

    >>> seal = Seal()
    >>> sealed = seal.close(7, b"a secret")
    >>> seal.open(7, sealed)
    b'a secret'
    >>> len(sealed) - len(b"a secret") == Seal.overhead
    True
    """

    overhead = 16

    def __init__(self) -> None:
        self._key = secure().words(4).tobytes()
        self._cipher = AESGCM(self._key)

    def close(self, number: int, content: bytes | memoryview, last: bool = False) -> bytes:
        """The part sealed; ``last`` says that none follows it."""
        return self._cipher.encrypt(_nonce(number), bytes(content), _LAST if last else None)

    def open(self, number: int, sealed: bytes | memoryview, last: bool = False) -> bytes:
        """The part as it was; raises a ValueError where it is not what was sealed under this number."""
        try:
            return self._cipher.decrypt(_nonce(number), bytes(sealed), _LAST if last else None)
        except InvalidTag:
            raise ValueError("not what was sealed here") from None

    def __getstate__(self) -> bytes:
        return self._key

    def __setstate__(self, key: bytes) -> None:
        self._key, self._cipher = key, AESGCM(key)


_LAST = b"last"


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "little")


class Digests:
    """Digests of 128 bits under a key: equal for equal values, and telling nothing else without the key.

    A pseudorandom function for each kind of value, quick because whole arrays are encrypted at once.

    Integers: AES-256 of the block that holds the integer and zeros. AES is a permutation of blocks, so that no two
    integers have one digest, and it cannot be told from a random permutation, nor q of its values from random ones
    but by a chance of q^2 / 2^129.

    Texts: the CBC-MAC by AES-256 of the block "length, first 8 bytes" and of the blocks of 16 bytes that follow, the
    last one filled with zeros. Texts of equal length have equally many blocks, and those of unequal length differ in
    the first block, so that no encoded text begins with another: for such sets CBC-MAC is a pseudorandom function
    (Petrank and Rackoff 2000), with a chance of about l q^2 / 2^128 for q texts of l blocks (Bellare, Pietrzak and
    Rogaway 2005).

    Each kind has a key of its own, derived by SHA-512 from the secret. Pickles, with its secret.

    >>> digests = Digests()
    >>> one = digests.of_integers(np.array([5, 6, 5]))
    >>> bool((one[0] == one[2]).all()), bool((one[0] == one[1]).any())
    (True, False)
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secure().words(8).tobytes() if secret is None else secret

    def of_integers(self, values: NDArray[np.integer]) -> Words:
        """A row of two words for each integer of at most 64 bits."""
        blocks = np.zeros((len(values), 2), dtype="<u8")
        wide = np.uint64 if values.dtype.kind == "u" else np.int64
        blocks[:, 0] = values.astype(wide).view(np.uint64)
        return self._encrypted(blocks, b"integers")

    def of_texts(self, content: NDArray[np.uint8], offsets: NDArray[np.integer]) -> Words:
        """A row of two words for each text: text i stands in ``content[offsets[i]:offsets[i + 1]]``."""
        starts = offsets[:-1].astype(np.int64)
        lengths = np.diff(offsets).astype(np.int64)
        first = int(offsets[0]) if len(offsets) else 0
        held = np.zeros(
            int(offsets[-1]) - first + 2 * _BLOCK, dtype=np.uint8
        )  # so that a word may be read at each byte
        held[: int(offsets[-1]) - first] = content[first : int(offsets[-1])]
        words = np.ndarray((len(held) - 8,), "<u8", buffer=held, strides=(1,))  # the eight bytes from each place on
        starts -= first
        state = np.empty((len(starts), 2), dtype="<u8")
        state[:, 0] = lengths.astype(np.uint64)
        state[:, 1] = _word(words, starts, lengths)
        state = self._encrypted(state, b"texts")
        done = _FIRST
        waiting = np.flatnonzero(lengths > done)
        while waiting.size:
            here, left = starts[waiting] + done, lengths[waiting] - done
            block = state[waiting]
            block[:, 0] ^= _word(words, here, left)
            block[:, 1] ^= _word(words, np.where(left > 8, here + 8, here), left - 8)
            state[waiting] = self._encrypted(block, b"texts")
            done += _BLOCK
            waiting = waiting[left > _BLOCK]
        return state

    def _encrypted(self, blocks: Words, kind: bytes) -> Words:
        if not blocks.size:  # of nothing there is no view
            return blocks
        key = hashlib.sha512(self._secret + kind).digest()[:32]
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        into = np.empty(blocks.size * 8 + _BLOCK, dtype=np.uint8)
        encryptor.update_into(np.ascontiguousarray(blocks).view(np.uint8).data.cast("B"), into.data)
        return into[: blocks.size * 8].view("<u8").reshape(-1, 2)


def _word(words: Words, places: NDArray[np.int64], lengths: NDArray[np.int64]) -> Words:
    """The first ``lengths`` bytes, at most eight, from each place on, and zeros."""
    unused = (8 * (8 - np.clip(lengths, 0, 8))).astype(np.uint64)
    found = words[places]
    mask = np.where(lengths > 0, np.uint64(2**64 - 1) >> np.minimum(unused, np.uint64(63)), np.uint64(0))
    return found & mask
