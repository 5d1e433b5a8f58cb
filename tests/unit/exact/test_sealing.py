"""Digests against the same function computed one text at a time, and seals that show any change."""

import hashlib
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.exact.sealing import Digests, Seal

SECRET = bytes(range(64))


def aes(kind, block):
    key = hashlib.sha512(SECRET + kind).digest()[:32]
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def slow_digest(text):
    """CBC-MAC of the length, the text and zeros."""
    message = len(text).to_bytes(8, "little") + text
    message += bytes(-len(message) % 16)
    state = bytes(16)
    for start in range(0, len(message), 16):
        block = message[start : start + 16]
        state = aes(b"texts", bytes(a ^ b for a, b in zip(state, block, strict=True)))
    return state


def digests_of(texts, before=b""):
    content = np.frombuffer(before + b"".join(texts) + b"after", dtype=np.uint8)
    offsets = len(before) + np.cumsum([0, *map(len, texts)])
    return [row.tobytes() for row in Digests(SECRET).of_texts(content, offsets)]


@given(st.lists(st.binary(max_size=70), min_size=1, max_size=8), st.binary(max_size=9))
def test_texts(texts, before):
    assert digests_of(texts, before) == [slow_digest(text) for text in texts]


def test_texts_of_every_length():
    texts = [bytes([length % 256]) * length for length in range(200)] + [b"\0" * length for length in range(60)]
    found = digests_of(texts)
    assert found == [slow_digest(text) for text in texts]
    assert len(set(found)) == len(set(texts))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_integers(dtype):
    ends = np.iinfo(dtype)
    values = np.array([ends.min, 0, 1, ends.max], dtype=dtype)
    for value, row in zip(values.tolist(), Digests(SECRET).of_integers(values), strict=True):
        assert row.tobytes() == aes(b"integers", (value % 2**64).to_bytes(8, "little") + bytes(8))


def test_of_nothing_there_are_no_digests():
    """A batch without rows, or whose rows are all nobody's."""
    nothing = np.zeros(0, dtype=np.int64)
    assert Digests(SECRET).of_integers(nothing).shape == (0, 2)
    assert Digests(SECRET).of_texts(nothing.astype(np.uint8), np.zeros(1, dtype=np.int64)).shape == (0, 2)


def test_keys_are_never_the_same_nor_a_seeds():
    values = np.arange(4)
    with mdp.seeded(1):
        one = Digests()
    with mdp.seeded(1):
        two = Digests()
    assert not (one.of_integers(values) == two.of_integers(values)).any()
    again = pickle.loads(pickle.dumps(one))
    assert (one.of_integers(values) == again.of_integers(values)).all()


def test_a_seal_shows_every_change():
    seal = Seal()
    sealed = seal.close(3, b"content")
    assert seal.open(3, sealed) == b"content"
    assert pickle.loads(pickle.dumps(seal)).open(3, sealed) == b"content"
    assert b"content" not in sealed
    for number, content, last in ((4, sealed, False), (3, sealed, True), (3, sealed[:-1], False), (3, b"", False)):
        with pytest.raises(ValueError, match="not what was sealed"):
            seal.open(number, content, last)
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(ValueError, match="not what was sealed"):
            seal.open(3, changed)
    with pytest.raises(ValueError, match="not what was sealed"):
        Seal().open(3, sealed)
