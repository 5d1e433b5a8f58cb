"""Draws from integer weights: each word of bits gives the place that integers say, at every edge."""

import bisect
import itertools
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.exact import decide_all_by_balls
from metricdp.exact.weights import IntegerRows

TOP = (1 << 64) - 1


class Planned:
    """A source of bits that hands out what it is told, and keeps count of what was read."""

    private = True

    def __init__(self, words, more=()):
        self.planned, self.more, self.read = list(words), list(more), 0

    def words(self, count):
        taken, self.planned = self.planned[:count], self.planned[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint64)

    def integer(self, bits):
        assert bits == 64
        self.read += 1
        return self.more.pop(0)


def matrix(rows):
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    made[:] = rows
    return made


def draw(monkeypatch, weights, rows, words, more=()):
    source = Planned(words, more)
    monkeypatch.setattr("metricdp.exact.weights.source", lambda: source)
    drawn = IntegerRows(matrix(weights), sum(weights[0])).draw(np.array(rows, dtype=np.int64)).tolist()
    return drawn, source


def slow_place(row, word, read):
    """The place of every U in [word, word + 1) / 2^read, or None where it depends on further bits."""
    total, sums = sum(row), list(itertools.accumulate(row))
    places = {
        bisect.bisect_right(sums, u * total) for u in (Fraction(word, 1 << read), Fraction(2 * word + 1, 2 << read))
    }
    ends = [Fraction(s, total) for s in sums[:-1]]
    inside = any(Fraction(word, 1 << read) < end < Fraction(word + 1, 1 << read) for end in ends)
    return None if inside else places.pop()


ROWS = {
    "even": [1, 1],
    "thirds": [1, 1, 1],
    "zeros at the ends": [0, 0, 3, 0, 4, 0, 0],
    "all in the first": [5, 0, 0],
    "all in the last": [0, 0, 5],
    "one output": [7],
    "a rare first": [1, (1 << 200) - 1],
    "a rare last": [(1 << 200) - 1, 1],
    "many within one word": [1, 0, 2, 1, (1 << 90) - 9, 3, 2],
    "powers of two": [1 << 70, 1 << 70, 1 << 71],
    "not quite a power of two": [(1 << 64) - 1, 1, 1],
}


@pytest.mark.parametrize("quick", [True, False], ids=["by the table", "by integers"])
@pytest.mark.parametrize("name", ROWS)
def test_words_at_every_edge(name, quick, monkeypatch):
    """Around every sum of weights, and at both ends, the place is that of exact arithmetic."""
    row = ROWS[name]
    total = sum(row)
    edges = {0, 1, TOP, TOP - 1, 1 << 63, (1 << 63) - 1}
    for edge in itertools.accumulate(row):
        near = (edge << 64) // total
        edges |= {word for word in range(near - 2, near + 3) if 0 <= word <= TOP}
    for word in sorted(edges):
        for more in ([0], [TOP], [1 << 63]):
            further = more * 8
            expected, read, longer = slow_place(row, word, 64), 64, word
            for extra in further:
                if expected is not None:
                    break
                longer, read = (longer << 64) | extra, read + 64
                expected = slow_place(row, longer, read)
            if quick:
                drawn, source = draw(monkeypatch, [row], [0], [word], further)
            else:
                with decide_all_by_balls():
                    drawn, source = draw(monkeypatch, [row], [0], [word], further)
            assert drawn == [expected]
            assert source.read == (read - 64) // 64, "bits were read that nobody needs"


def test_one_read_decides_several_rows(monkeypatch):
    """Each draw takes its own word, in order, whatever row it is for."""
    weights = [[1, 3], [3, 1], [2, 2]]
    words = [0, 1 << 62, 1 << 63, TOP, (1 << 62) - 1, 3 << 62]
    drawn, _ = draw(monkeypatch, weights, [0, 0, 1, 1, 0, 1], words)
    assert drawn == [0, 1, 0, 1, 0, 1]


def test_the_integers_path_gives_the_same_draws():
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 50, (7, 9)).astype(object)
    weights[:, 4] = 500 - (weights.sum(axis=1) - weights[:, 4])
    rows = rng.integers(0, 7, 20_000)
    for total in (500, 500 << 2000):
        sampler = IntegerRows(weights * (total // 500), total)
        with mdp.seeded(8):
            quick = sampler.draw(rows)
        with mdp.seeded(8), decide_all_by_balls():
            slow = sampler.draw(rows)
        assert (quick == slow).all()
        assert len(set(zip(rows.tolist(), quick.tolist(), strict=True))) > 40


@pytest.mark.parametrize("bits", [0, 1, 6, 40, 61])
def test_machine_integers_give_the_same_draws(bits):
    rng, total = np.random.default_rng(bits), 1 << bits
    cuts = np.sort(rng.integers(0, total, (6, 8), endpoint=True), axis=1)
    cuts[0], cuts[1] = 0, total
    weights = np.diff(cuts, axis=1, prepend=0, append=total)
    short, long = IntegerRows(weights, total), IntegerRows(weights.astype(object), total)
    assert (short._floors == long._floors).all()
    assert (short._between == long._between).all()
    rows = rng.integers(0, 6, 20_000)
    for path in (nullcontext, decide_all_by_balls):
        drawn = []
        for sampler in (short, long):
            with mdp.seeded(9), path():
                drawn.append(sampler.draw(rows))
        assert (drawn[0] == drawn[1]).all()
        assert (weights[rows, drawn[0]] > 0).all()


def test_a_place_of_weight_zero_is_never_drawn():
    weights = matrix([[0, 1, 0, 1, 0], [0, 0, 2, 0, 0]])
    drawn = IntegerRows(weights, 2).draw(np.array([0, 1] * 20_000))
    assert set(drawn[::2].tolist()) == {1, 3}
    assert set(drawn[1::2].tolist()) == {2}


def test_many_rows_share_a_small_table(monkeypatch):
    """More rows than a table has room for: it gets coarse, never wrong."""
    monkeypatch.setattr("metricdp.exact.weights._GUIDE_ENTRIES", 64)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 9, (100, 12)).astype(object)
    weights[:, 0] += 200 - weights.sum(axis=1)
    rows = np.arange(100).repeat(300)
    with mdp.seeded(2):
        coarse = IntegerRows(weights, 200).draw(rows)
    monkeypatch.undo()
    with mdp.seeded(2):
        fine = IntegerRows(weights, 200).draw(rows)
    assert (coarse == fine).all()


def test_no_draws():
    assert IntegerRows(matrix([[1, 1]]), 2).draw(np.array([], dtype=np.int64)).tolist() == []
