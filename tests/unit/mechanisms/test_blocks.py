"""Many rows on all processors: every row once, and of several errors the first row's."""

import threading
import time

import numpy as np
import pytest

from metricdp.errors import DataError
from metricdp.mechanisms import blocks
from metricdp.mechanisms.blocks import SHARED_BLOCK, in_blocks

COUNT = 9 * SHARED_BLOCK + 17


@pytest.fixture(autouse=True)
def processors(monkeypatch):
    monkeypatch.setattr(blocks, "processors", lambda: 3)


def test_every_row_is_drawn_once_and_by_several_threads():
    seen, threads = [], set()

    def draw(rows):
        seen.append((rows.start, rows.stop))
        threads.add(threading.get_ident())
        time.sleep(0.005)
        return np.arange(rows.start, rows.stop)

    assert np.array_equal(in_blocks(COUNT, draw), np.arange(COUNT))
    ends = sorted(seen)
    assert [one for one, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == COUNT
    assert len(threads) > 1


@pytest.mark.parametrize("broken", [(3, 5), (5, 3, 8), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_of_several_errors_the_first_rows_is_raised(broken):
    """Whichever thread comes to its own first."""
    for _ in range(20):

        def draw(rows):
            place = rows.start // SHARED_BLOCK
            if place in broken:
                time.sleep(0.001 * (10 - place))  # the first is the last to fail
                raise DataError("no number", 7)
            return np.zeros(rows.stop - rows.start)

        with pytest.raises(DataError) as caught:
            in_blocks(COUNT, draw)
        assert caught.value.row == min(broken) * SHARED_BLOCK + 7


def test_ctrl_c_comes_before_any_error():
    begun = threading.Event()

    def draw(rows):
        if rows.start == SHARED_BLOCK:
            assert begun.wait(5)
            raise DataError("no number", 0)
        if rows.start == 2 * SHARED_BLOCK:
            begun.set()
            raise KeyboardInterrupt
        return np.zeros(rows.stop - rows.start)

    with pytest.raises(KeyboardInterrupt):
        in_blocks(COUNT, draw)
