"""The region of regular priors: bounds on their probabilities, its corners, and how a prior mixes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.regular_priors import regular
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, enclose, float_above, float_below, precision
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, enclosure_json
from metricdp.metrics import Space
from metricdp.visible import visible

__all__ = ["PriorBounds", "convex_coordinates", "corner_priors", "prior_bounds"]

_BITS = 192
_PRINTED = 40
_CORNER_BITS = 64


@dataclass(frozen=True, repr=False)
class PriorBounds(Result):
    """Bounds on the probabilities of every regular prior; a prior within them need not be regular.

    Attributes:
        space: the points and the metric d.
        shares: for each point i, between ``1 / Σ_j exp(d(i, j))`` and ``1 / Σ_j exp(-d(i, j))``, rounded outward where
            these are irrational.

    References:
        Paper 3, Propositions 2 and 3.
    """

    space: Space
    shares: tuple[Enclosure, ...]

    @property
    def lower(self) -> Floats:
        """The least probability of each point, rounded down."""
        return np.array([float_below(share.lower) for share in self.shares])

    @property
    def upper(self) -> Floats:
        """The greatest probability of each point, rounded up."""
        return np.array([float_above(share.upper) for share in self.shares])

    def __len__(self) -> int:
        return len(self.shares)

    def __str__(self) -> str:
        lines = [
            f"{visible(str(point))}: from {low:.6g} to {high:.6g}"
            for point, low, high in zip(self.space.points, self.lower, self.upper, strict=True)
        ]
        more = len(lines) - _PRINTED
        return "\n".join(lines if more <= 0 else [*lines[:_PRINTED], f"and {more} more"])

    def __repr__(self) -> str:
        return f"PriorBounds({len(self)} points, shares from {self.lower.min():.6g} to {self.upper.max():.6g})"

    def to_json(self) -> dict[str, Any]:
        """The bounds of each point as plain values for JSON, rounded outward."""
        bounds = zip(self.space.points, self.shares, strict=True)
        return {"shares": [{"point": label_document(point), **enclosure_json(share)} for point, share in bounds]}

    def violation(self, prior: Any) -> tuple[Any, Any] | None:
        """Two points i, j with ``prior(i) > exp(d(i, j)) prior(j)``, proved; None where none was found.

        A prior that has such points is not regular (Proposition 2). Looked for among the nearest misses in floats.
        """
        believed, phi = as_prior(prior, self.space.points), constraints_matrix(self.space)
        excess = believed.floats[:, None] * phi.matrix - believed.floats[None, :]
        i, j = (int(place) for place in np.unravel_index(int(np.argmax(excess)), excess.shape))
        with precision(_BITS):
            broken = ball(believed.fractions[i]) * phi.ball(i, j) > ball(believed.fractions[j])
        return (self.space.points[i], self.space.points[j]) if broken else None


def prior_bounds(
    space: Space,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> PriorBounds:
    """The bounds on the probabilities of every regular prior.

    ``1 / Σ_j exp(d(i, j)) <= prior(i) <= 1 / Σ_j exp(-d(i, j))``.

    Args:
        space: the points and the metric d.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        TooLargeError: the time limit is reached.

    References:
        Paper 3, Propositions 2 and 3.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> bounds = prior_bounds(Space.line(3, ln(2) * absolute()))
    >>> [str(share.lower) for share in bounds.shares], [str(share.upper) for share in bounds.shares]
    (['1/7', '1/5', '1/7'], ['4/7', '1/2', '4/7'])
    """
    space, watch = as_space(space, "prior_bounds"), Stopwatch(time_limit, progress)
    phi = constraints_matrix(space)
    return PriorBounds(space, tuple(_share_bounds(phi, i) for i in _rows(space, watch, "to bound all priors")))


def corner_priors(
    space: Space,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> tuple[Prior, ...]:
    """The corners of the region of regular priors: row i of Φ divided by its sum, for each point i.

    ``c_i(j) = φ(i, j) / Σ_k φ(i, k)``. Exact where Φ is rational. A corner with irrational probabilities is no `Prior`;
    given is one within 2^-50 of it in total variation, which may lie just outside the region.

    Args:
        space: the points and the metric d of ``Φ = exp(-d)``.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        TooLargeError: the time limit is reached.

    References:
        Paper 3, Definition 6.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> for corner in corner_priors(Space.line(3, ln(2) * absolute())):
    ...     print(corner)
    0 4/7, 1 2/7, 2 1/7
    0 1/4, 1 1/2, 2 1/4
    0 1/7, 1 2/7, 2 4/7
    """
    space, watch = as_space(space, "corner_priors"), Stopwatch(time_limit, progress)
    phi = constraints_matrix(space)
    places = range(len(space))
    corners = []
    for i in _rows(space, watch, "to find all corners"):
        entries = [phi.exactly(i, j) for j in places]
        if None not in entries:
            corners.append(Prior.proportional(space.points, entries))
            continue
        bits = _CORNER_BITS + len(space).bit_length()
        with precision(bits + 16):
            row = [phi.ball(i, j) for j in places]
            weights = [max(0, math.floor(Enclosure.of(entry).upper * (1 << bits))) for entry in row]
        corners.append(Prior(space.points, tuple(weights), sum(weights)))
    return tuple(corners)


def convex_coordinates(
    prior: Any,
    space: SpaceLike,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> tuple[Enclosure, ...]:
    """How near a regular prior is to each corner: ``γ >= 0`` with ``prior = Σ γ_i c_i`` and ``Σ γ = 1``.

    ``γ_i = y_i Σ_k φ(i, k)``; enclosed, exactly where Φ is rational and small.

    Args:
        prior: over the points of the space; see `metricdp.adversaries.as_prior`.
        space: the points and the metric d; or d alone, on the secrets of a `Prior`.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        ArgumentError: the prior is not regular, or cannot be told to be.
        TooLargeError: the time limit is reached.

    References:
        Paper 3, Proposition 4.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> [str(share.lower) for share in convex_coordinates("uniform", Space.line(3, ln(2) * absolute()))]
    ['7/18', '2/9', '7/18']
    """
    watch = Stopwatch(time_limit, progress)
    found = regular(prior, space, time_limit=time_limit, progress=progress)
    if found.solution is None:
        raise ArgumentError(f"only a regular prior is a mixture of the corners; this one is {found}")
    phi = constraints_matrix(found.space)
    coordinates = []
    for i in _rows(found.space, watch, "to find all coordinates"):
        entry, total = found.solution[i], _row_sum(phi, i)
        coordinates.append(Enclosure(entry.lower * total.lower, entry.upper * total.upper))
    return tuple(coordinates)


def _rows(space: Space, watch: Stopwatch, what: str) -> Iterator[int]:
    """All rows, one after the other, as long as there is time."""
    for row in range(len(space)):
        watch.check(what, row, len(space), "points")
        watch.tell(row, len(space), unit="points")
        yield row


def _row_sum(phi: ConstraintsMatrix, i: int) -> Enclosure:
    entries = [phi.exactly(i, j) for j in range(len(phi))]
    if None not in entries:
        total = sum((entry for entry in entries if entry is not None), Fraction(0))
        return Enclosure(total, total)
    return enclose(lambda: sum((phi.ball(i, j) for j in range(len(phi))), arb(0)), _BITS)


def _share_bounds(phi: ConstraintsMatrix, i: int) -> Enclosure:
    upper = 1 / Fraction(_row_sum(phi, i).lower)
    entries = [phi.exactly(i, j) for j in range(len(phi))]
    if any(entry == 0 for entry in entries):
        return Enclosure(Fraction(0), upper)
    if None not in entries:
        return Enclosure(1 / sum((1 / entry for entry in entries if entry is not None), Fraction(0)), upper)
    inverse = enclose(lambda: 1 / sum((phi.space.ball(i, j).exp() for j in range(len(phi))), arb(0)), _BITS)
    return Enclosure(max(Fraction(0), Fraction(inverse.lower)), upper)
