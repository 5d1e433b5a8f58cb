"""Distances between functions on an interval, known by samples or by coefficients.

What is released of a function is finite: its samples, or its coefficients in an orthonormal basis. A norm of those is
never above the norm of the function, so that a guarantee for them is a guarantee for the functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ShapeError
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import number
from metricdp.metrics.vectors import Norm

__all__ = ["SquareIntegrable", "Supremum", "square_integrable", "supremum"]


@dataclass(frozen=True, repr=False)
class Supremum(Norm):
    """See `supremum`.

    Attributes:
        times: where the functions are sampled; None where nobody needs to know.
    """

    times: tuple[Fraction, ...] | None = None
    kind: ClassVar[str] = "supremum"
    symbol: ClassVar[str] = "‖x − y‖∞"
    p: ClassVar[float] = math.inf

    def _read(self, points: Any) -> NDArray[Any]:
        samples = super()._read(points)
        if self.times is not None and samples.shape[1] != len(self.times):
            raise ShapeError(f"a function has {len(self.times)} samples here, not {samples.shape[1]}", 0)
        return samples

    def _differences(self, x: Any, y: Any) -> list[Fraction]:
        differences = super()._differences(x, y)
        if self.times is not None and len(differences) != len(self.times):
            raise ShapeError(f"a function has {len(self.times)} samples here, not {len(differences)}")
        return differences

    def _arguments(self) -> dict[str, Any]:
        return {} if self.times is None else {"times": self.times}


@dataclass(frozen=True, repr=False)
class SquareIntegrable(Norm):
    """See `square_integrable`.

    Attributes:
        basis: what the orthonormal basis is called; None where nobody needs to know.
    """

    basis: str | None = None
    kind: ClassVar[str] = "square_integrable"
    symbol: ClassVar[str] = "‖x − y‖₂"
    p: ClassVar[float] = 2

    def _arguments(self) -> dict[str, Any]:
        return {} if self.basis is None else {"basis": self.basis}


def supremum(times: Sequence[int | float | Fraction] | None = None) -> Supremum:
    """The largest difference between two functions, each given by its samples at the same ``times``.

    The samples' largest difference is at most the supremum over the whole interval: what keeps the promise for the
    samples keeps it for the functions.

    References:
        Paper 2, Examples 2 and 4.

    >>> supremum()((0.0, 1.0, 2.0), (0.0, 1.5, 1.75))
    0.5
    """
    if times is None:
        return Supremum()
    exact = tuple(number(time, row) for row, time in enumerate(as_list(times, "times")))
    if not exact or any(later <= earlier for earlier, later in itertools.pairwise(exact)):
        raise ArgumentError("times are given one after the other, at least one")
    return Supremum(exact)


def square_integrable(basis: str | None = None) -> SquareIntegrable:
    """The L₂ distance between two functions, each given by coefficients in one orthonormal basis.

    By Bessel's inequality it is at most the distance of the functions, and by Parseval's identity equal where the
    coefficients are all of them.

    References:
        Paper 2, Section 2.

    >>> square_integrable("Fourier")((1, 0, 0), (1, 3, 4))
    5.0
    """
    if basis is not None and not isinstance(basis, str):
        raise ArgumentError(f"a basis is named by text, not {type(basis).__name__}")
    return SquareIntegrable(basis)
