"""The array types that most of the package speaks of, and large matrices in blocks of rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Booleans", "Floats", "Places", "row_blocks"]

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
