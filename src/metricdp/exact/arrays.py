"""The array types that most of the package speaks of, and large matrices in blocks of rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.processors import processors

__all__ = ["Booleans", "Floats", "Places", "each_block", "row_blocks"]

Block = TypeVar("Block")

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_BLOCK = 1 << 18


def row_blocks(shape: tuple[int, ...], numbers: int = _BLOCK) -> Iterator[slice]:
    """The rows of a large matrix in blocks that stay in the cache: what is computed on the way takes no memory then.

    >>> list(row_blocks((5, 100_000)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows, columns = shape
    step = max(1, numbers // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def each_block(work: Callable[[Block], object], blocks: Sequence[Block]) -> None:
    """Do the same to every block, on all processors; what is done to one must not concern another.

    Work that sets a precision of balls is not for this, since that is one for all threads.

    >>> sums = np.zeros(3)
    >>> each_block(lambda row: sums.__setitem__(row, row + 1.0), range(3))
    >>> sums.tolist()
    [1.0, 2.0, 3.0]
    """
    cores = min(processors(), len(blocks))
    if cores < 2:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(cores) as pool:
        running = [pool.submit(work, block) for block in blocks]
        try:
            for done in running:
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
