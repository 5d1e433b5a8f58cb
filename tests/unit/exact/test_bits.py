"""Secure bits: independent across threads and forks, never pickled; the seeded twin repeats and says so."""

import os
import pickle
import threading

import numpy as np
import pytest

from metricdp.errors import NotPrivateWarning
from metricdp.exact.bits import secure, seeded, source


def test_words_are_uniform_bits():
    words = secure().words(1 << 17)
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64)
    # 2^17 fair coins for each of 64 positions: 6.5 standard deviations is p < 1e-9 after the union bound.
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 6.5 * 0.5 / 2**8.5
    neighbours = bits[:, 1:] ^ bits[:, :-1]
    assert np.abs(neighbours.mean(axis=0) - 0.5).max() < 6.5 * 0.5 / 2**8.5
    assert len(np.unique(words)) == words.size


def test_a_request_longer_than_the_buffer_does_not_repeat_it():
    words = secure().words(3 << 16)
    assert len(np.unique(words)) == words.size


def test_threads_have_streams_of_their_own():
    found: dict[int, bytes] = {}

    def draw(number: int) -> None:
        found[number] = secure().words(4).tobytes()

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found.values())) == 8


def test_one_source_shared_by_threads_gives_each_word_once():
    with seeded(5) as bits:
        expected = set(bits.words(8 * 4096).tolist())
    found: list[int] = []
    with seeded(5) as shared:

        def draw() -> None:
            for _ in range(64):
                found.extend(shared.words(64).tolist())

        threads = [threading.Thread(target=draw) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == len(set(found)) == 8 * 4096
    assert set(found) == expected


def test_a_forked_child_does_not_repeat_its_parent():
    secure().words(1)  # the parent's stream is open
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        os.write(write, secure().words(4).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 32)
    assert len(theirs) == 32
    assert theirs != secure().words(4).tobytes()


def test_a_source_does_not_pickle():
    with pytest.raises(TypeError, match="does not pickle"):
        pickle.dumps(secure())


def test_the_seeded_twin_repeats_warns_and_ends_with_its_block():
    block = seeded(3)
    with pytest.warns(NotPrivateWarning, match="not private"):
        bits = block.__enter__()
    first = bits.words(4)
    assert source() is bits
    assert not bits.private
    block.__exit__(None, None, None)
    with seeded(3) as bits:
        assert (bits.words(4) == first).all()
    with seeded(4) as bits:
        assert (bits.words(4) != first).all()
    assert source() is secure()
    assert secure().private


def test_known_keystream():
    """AES-256-CTR of zeros, from the key and counter block of a zero stream: fixed for ever."""
    from metricdp.exact.bits import Source

    # AES-256 of the zero block under the zero key (NIST's known answer test).
    assert Source(bytes(32), private=False).words(2).tobytes().hex() == "dc95c078a2408989ad48a21492842087"
