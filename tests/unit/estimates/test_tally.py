"""Tallies: the same however the rows come in batches, and never more cells than occur."""

import numpy as np
import pytest

from metricdp.errors import TooLargeError
from metricdp.estimates import tally as module
from metricdp.estimates.tally import TallyBuilder


def built(codes, numbers, batches):
    builder = TallyBuilder(len(codes), len(numbers))
    for rows in np.array_split(np.arange(len(codes[0])), batches):
        builder.add([code[rows] for code in codes], [number[rows] for number in numbers])
    return builder.made()


@pytest.mark.parametrize("spread", [3, 10**6, 10**12])
def test_batches_change_nothing(spread):
    random = np.random.default_rng(7)
    codes = [random.integers(0, 5, 1000) * (spread // 3) for _ in range(3)]
    numbers = [random.integers(-5, 5, 1000).astype(float)]
    one, many = built(codes, numbers, 1), built(codes, numbers, 17)
    assert np.array_equal(one.codes, many.codes)
    assert np.array_equal(one.counts, many.counts)
    assert np.array_equal(one.sums, many.sums)
    assert one.rows == 1000
    assert one.sums[:, 0].sum() == numbers[0].sum()
    assert one.sums[:, 1].sum() == (numbers[0] ** 2).sum()


def test_of_nothing_it_is_empty():
    assert TallyBuilder(2, 1).made().rows == 0


def test_a_hundred_thousand_by_a_hundred_thousand_cells_are_never_formed():
    random = np.random.default_rng(8)
    made = built([random.integers(0, 10**5, 2000), random.integers(0, 10**5, 2000)], [], 4)
    assert len(made.counts) <= 2000


def test_more_cells_than_memory_should_hold_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 100)
    with pytest.raises(TooLargeError, match="fewer columns"):
        built([np.arange(200)], [], 2)
