"""Shares of a budget: three convex programs with linear limits, by interior points.

    minimise  f(x)   with   B x <= 1,  x > 0,     B >= 0,

where f is ``sum v / x²`` (`InverseSquares`), ``sum v / x`` (`Inverses`) or ``- sum v ln x`` (`Logarithms`).
Multipliers y >= 0 on any of the rows prove a bound on f over all x that keep them, and over all x that keep still more
rows: with g = B^T y,

    sum v / x²     >=  4 G³ / (27 Y²)                   G = 3 · 2^(-2/3) sum v^(1/3) g^(2/3),  Y = sum y,
    sum v / x      >=  (sum sqrt(v g))² / Y,
    - sum v ln x   >=  V ln(V / Y) + sum v ln(g / v)    V = sum v.

These are the Lagrangian's least values at the best multiple of y, so a bound needs no equation to hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["BudgetShares", "InverseSquares", "Inverses", "Logarithms", "Objective", "best_shares"]

_MOST_STEPS = 120
_PATIENCE = 12
_NEAR = 0.9
_CENTRED = 0.2


class Objective(Protocol):
    """A separable function to minimise, with its derivatives and the bound that multipliers prove."""

    def value(self, x: Floats) -> float:
        """At x."""

    def slope(self, x: Floats) -> Floats:
        """The gradient."""

    def curvature(self, x: Floats) -> Floats:
        """The diagonal of the Hessian."""

    def bound(self, sums: Floats, total: float) -> float:
        """What is proved by multipliers y with ``sums = B^T y`` and ``total = sum y``; a float, and no proof itself."""

    def excess(self, value: float, bound: float) -> float:
        """How far a value is above a bound, relatively."""

    def proportions(self, sums: Floats) -> Floats:
        """A multiple of the x that minimises f with ``sums . x <= 1``."""


@dataclass(frozen=True)
class InverseSquares:
    """``sum v / x²``.

    >>> InverseSquares(np.array([1.0, 4.0])).value(np.array([1.0, 2.0]))
    2.0
    """

    weights: Floats

    def value(self, x: Floats) -> float:
        """At x."""
        return float((self.weights / x**2).sum())

    def slope(self, x: Floats) -> Floats:
        """The gradient."""
        return -2 * self.weights / x**3

    def curvature(self, x: Floats) -> Floats:
        """The diagonal of the Hessian."""
        return 6 * self.weights / x**4

    def bound(self, sums: Floats, total: float) -> float:
        """4 G³ / (27 Y²)."""
        root = 3 * 2 ** (-2 / 3) * float((np.cbrt(self.weights) * np.cbrt(sums) ** 2).sum())
        return 4 * root**3 / (27 * total**2)

    def excess(self, value: float, bound: float) -> float:
        """(value - bound) / value."""
        return (value - bound) / value

    def proportions(self, sums: Floats) -> Floats:
        """The cube roots of v / sums."""
        return np.cbrt(self.weights / sums)


@dataclass(frozen=True)
class Inverses:
    """``sum v / x``.

    >>> Inverses(np.array([1.0, 4.0])).value(np.array([1.0, 2.0]))
    3.0
    """

    weights: Floats

    def value(self, x: Floats) -> float:
        """At x."""
        return float((self.weights / x).sum())

    def slope(self, x: Floats) -> Floats:
        """The gradient."""
        return -self.weights / x**2

    def curvature(self, x: Floats) -> Floats:
        """The diagonal of the Hessian."""
        return 2 * self.weights / x**3

    def bound(self, sums: Floats, total: float) -> float:
        """(sum sqrt(v g))² / Y."""
        return float(np.sqrt(self.weights * sums).sum()) ** 2 / total

    def excess(self, value: float, bound: float) -> float:
        """(value - bound) / value."""
        return (value - bound) / value

    def proportions(self, sums: Floats) -> Floats:
        """The square roots of v / sums."""
        return np.sqrt(self.weights / sums)


@dataclass(frozen=True)
class Logarithms:
    """``- sum v ln x``: to minimise it is to minimise the weighted geometric mean of 1 / x.

    >>> Logarithms(np.array([1.0, 1.0])).value(np.array([1.0, 1.0])) == 0
    True
    """

    weights: Floats

    def value(self, x: Floats) -> float:
        """At x."""
        return -float((self.weights * np.log(x)).sum())

    def slope(self, x: Floats) -> Floats:
        """The gradient."""
        return -self.weights / x

    def curvature(self, x: Floats) -> Floats:
        """The diagonal of the Hessian."""
        return self.weights / x**2

    def bound(self, sums: Floats, total: float) -> float:
        """V ln(V / Y) + sum v ln(g / v)."""
        whole = float(self.weights.sum())
        with np.errstate(divide="ignore"):
            return whole * float(np.log(whole / total)) + float((self.weights * np.log(sums / self.weights)).sum())

    def excess(self, value: float, bound: float) -> float:
        """Of the geometric means: 1 - exp((bound - value) / V)."""
        return -float(np.expm1((bound - value) / float(self.weights.sum())))

    def proportions(self, sums: Floats) -> Floats:
        """The quotients v / sums."""
        return self.weights / sums


class BudgetShares(NamedTuple):
    """A point within the limits, multipliers of the rows, and what they prove of it in floats.

    Attributes:
        x: keeps ``B x <= 1``, up to rounding.
        multipliers: y >= 0, one for each row.
        excess: of f at x above the bound of y, relatively.
    """

    x: Floats
    multipliers: Floats
    excess: float


@np.errstate(all="ignore")  # what is not finite ends the search with the best so far
def best_shares(
    objective: Objective, rows: Floats, start: Floats | None = None, tolerance: float = 1e-13
) -> BudgetShares:
    """The x that minimises the objective with ``rows @ x <= 1``, by primal and dual steps along the central path.

    Args:
        objective: f.
        rows: B, not negative; every column has a positive entry.
        start: a positive x in the right proportions, where one is known; it may break the limits.
        tolerance: the excess to reach; floats may end the search before.

    >>> B = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> best_shares(InverseSquares(np.ones(2)), B).x.round(9)
    array([1., 1.])
    """
    if start is None:
        start = objective.proportions(rows.mean(axis=0))
    x = start * (_NEAR / float((rows @ start).max()))
    spare = 1 - rows @ x
    pull = -objective.slope(x)
    y = float(pull @ x) / float((rows @ x / spare).sum()) / spare
    best = _judged(objective, rows, x, y)
    waited = 0
    for _ in range(_MOST_STEPS):
        if best.excess <= tolerance or waited > _PATIENCE:
            break
        slope, curvature = objective.slope(x), objective.curvature(x)
        middle = float(y @ spare) / len(spare)
        try:
            factor = _Inverse(rows, y / spare, curvature)
        except np.linalg.LinAlgError:
            break
        # A step to the edge says how much of the way is open; the second one heads for a point as central as that.
        ahead = factor @ -slope
        towards = -(rows @ ahead)
        multiplied = -y - y / spare * towards
        reach = min(1.0, _length(spare, towards), _length(x, ahead)), min(1.0, _length(y, multiplied))
        left = float((y + reach[1] * multiplied) @ (spare + reach[0] * towards)) / len(spare)
        # The limits must not close before the slopes meet: f bends, and a step ends short of where it was headed.
        unmet = float(x @ np.abs(slope + rows.T @ y)) / len(spare)
        target = max(max((max(left, 0.0) / middle) ** 3, 1e-6) * middle, min(_CENTRED * unmet, middle))
        correction = target - towards * multiplied
        ahead = factor @ (-slope - rows.T @ (correction / spare))
        towards = -(rows @ ahead)
        multiplied = correction / spare - y - y / spare * towards
        if not (np.isfinite(ahead).all() and np.isfinite(multiplied).all()):
            break
        # Beyond a doubling or a halving of x, the curvature here says nothing.
        step = min(1.0, 0.95 * _length(spare, towards), 0.5 / max(float(np.abs(ahead / x).max()), 1e-300))
        x = x + step * ahead
        spare = 1 - rows @ x
        if not ((spare > 0).all() and (x > 0).all()):
            break
        y = y + min(1.0, 0.95 * _length(y, multiplied)) * multiplied
        found = _judged(objective, rows, x, y)
        waited = 0 if found.excess < 0.9 * best.excess else waited + 1
        best = min(best, found, key=lambda shares: shares.excess)
    return best


class _Inverse:
    """The inverse of ``rows^T diag(stiffness) rows + diag(curvature)``, by the smaller of its two forms (Woodbury)."""

    def __init__(self, rows: Floats, stiffness: Floats, curvature: Floats) -> None:
        self.rows, self.curvature = rows, curvature
        self.few = 2 * len(rows) < rows.shape[1]
        if self.few:
            system = (rows / curvature) @ rows.T
            system[np.diag_indices(len(rows))] += 1 / stiffness
        else:
            system = (rows.T * stiffness) @ rows
            system[np.diag_indices(len(curvature))] += curvature
        self.inner = np.linalg.inv(system)

    def __matmul__(self, vector: Floats) -> Floats:
        if not self.few:
            return np.asarray(self.inner @ vector)
        scaled = vector / self.curvature
        return np.asarray(scaled - (self.rows.T @ (self.inner @ (self.rows @ scaled))) / self.curvature)


def _judged(objective: Objective, rows: Floats, x: Floats, y: Floats) -> BudgetShares:
    bound = objective.bound(rows.T @ y, float(y.sum()))
    excess = objective.excess(objective.value(x), bound)
    return BudgetShares(x, y, excess if np.isfinite(excess) else np.inf)


def _length(values: Floats, change: Floats) -> float:
    """How far one can go before an entry is negative."""
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=2.0))
