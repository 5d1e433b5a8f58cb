"""The array types that most of the package speaks of."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Booleans", "Floats", "Places"]

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
