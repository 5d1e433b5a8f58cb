"""The float side of factoring, where no solver is needed: a separation by projection, or a point well inside.

The problem: given stochastic A and B, minimise ``|A - B R|^2`` over stochastic R, by accelerated projected gradients.
The difference D at the minimum separates A from all B R, since ``<A, D> > max over R of <B R, D>``.

Where the columns of B are dependent, R has room, and a point well inside is near: it is found by steps between the R
with ``B R = A`` and ``R 1 = 1``, a flat that two products project to, and the R whose entries are all of some size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Search"]

Floats = NDArray[np.float64]

_STEPS = 400
_LOOK_EVERY = 8
_FEW = 2  # steps that tell most channels apart
_INSIDE_STEPS = 16
_ROOM = 0.1  # the size that entries ought to have, relative to the average of their column
_BEYOND = 1.9  # how far to step towards it: almost to the mirror image


@dataclass(frozen=True, eq=False)
class Search:
    """For an R with ``B R = A``, or for a proof that there is none.

    Attributes:
        a: A.
        b: B.
    """

    a: Floats
    b: Floats

    @cached_property
    def _decomposed(self) -> tuple[Floats, float]:
        """The pseudo-inverse of B and its largest singular value."""
        left, values, right = np.linalg.svd(self.b, full_matrices=False)
        kept = values > 1e-13 * values[0]
        return (right[kept].T / values[kept]) @ left[:, kept].T, float(values[0])

    def separation(self, *, short: bool = False) -> tuple[Floats, Floats | None]:
        """R near the projection, and D transposed (actions by inputs) where it seems to separate A from all B R.

        Args:
            short: give up after a few steps.
        """
        a, b = self.a, self.b
        inverse, norm = self._decomposed
        factor = ahead = _to_simplex(inverse @ a)
        length, momentum = 1 / norm**2, 1.0
        steps = min(_STEPS, _LOOK_EVERY * 3 + factor.size // 2)  # a small program is solved sooner
        for step in range(_FEW if short else steps):
            if step < _FEW or step % _LOOK_EVERY == 0:
                missing = a - b @ factor
                size = float(np.abs(missing).max())
                if size < 1e-14:
                    break
                gap = float(np.vdot(a, missing) - (b.T @ missing).max(axis=1).sum())
                if gap > 1e-7 * size:
                    return factor, missing.T
            after = _to_simplex(ahead - length * (b.T @ (b @ ahead - a)))
            following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
            ahead = after + (momentum - 1) / following * (after - factor)
            factor, momentum = after, following
        return factor, None

    def inside(self) -> Floats | None:
        """An R with ``B R = A`` and ``R 1 = 1`` that is positive everywhere, if a few steps lead to one."""
        a, b, outputs = self.a, self.b, self.a.shape[1]
        inverse, _ = self._decomposed
        kernel = np.identity(b.shape[1]) - inverse @ b
        centred = np.identity(outputs) - 1 / outputs
        usual = a.mean(axis=0)
        start = inverse @ a
        start += ((1 - start.sum(axis=1)) / outputs)[:, None]
        factor: Floats = start + kernel.sum(axis=1)[:, None] * (usual @ centred)
        for _ in range(_INSIDE_STEPS):
            if factor.item(factor.argmin()) > 1e-9:
                return factor
            factor += _BEYOND * np.maximum(_ROOM * usual - factor, 0)
            factor = kernel @ (factor @ centred) + start
        return None


def _to_simplex(rows: Floats) -> Floats:
    """The nearest stochastic matrix, row by row."""
    largest = -np.sort(-rows, axis=1)
    excess = (np.cumsum(largest, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = (largest > excess).sum(axis=1) - 1
    nearest: Floats = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0)
    return nearest
