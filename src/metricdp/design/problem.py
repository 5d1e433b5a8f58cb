"""What `optimal` is asked, read and checked, and brought into a form for floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.adversaries import Loss, as_loss, as_prior
from metricdp.channels.certifying import shorter_distances
from metricdp.channels.pairs import Pairs
from metricdp.errors import InputError, KindError, NotFiniteError, ShapeError, UnknownCategoryError
from metricdp.exact.refine import Floats
from metricdp.metrics import Space
from metricdp.metrics.coordinates import frozen, label

__all__ = ["Problem"]

Places = NDArray[np.int64]

_ROUNDED = 2.0**-50
"""Relative, on a prior times a loss as floats."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ``Σ_x prior(x) Σ_z K(x)(z) loss(z, x)`` over the private channels K.

    Attributes:
        space: the points and d.
        prior: the probability of each point.
        losses: a matrix of points by outputs.
        outputs: their labels.
    """

    space: Space
    prior: Floats
    losses: Floats
    outputs: tuple[Any, ...]

    @classmethod
    def of(cls, space: Space, prior: Any, loss: Any, outputs: Iterable[Any] | None) -> Problem:
        """Reads what was meant; see `metricdp.adversaries.as_prior` and `as_loss`."""
        if not isinstance(space, Space):
            raise KindError(f"optimal takes a Space, not {type(space).__name__}")
        belief = as_prior(prior, space.points)
        names = None if outputs is None else tuple(frozen(z) for z in outputs)
        if names is not None and not names:
            raise ShapeError("there is at least one output")
        table, names = _losses(space, loss, names)
        bad = ~np.isfinite(table).all(axis=1)
        if bad.any():
            raise NotFiniteError(f"the loss of output {names[int(bad.argmax())]!r} is not a finite number")
        return cls(space, belief.floats, np.ascontiguousarray(table.T), names)

    @cached_property
    def pairs(self) -> Pairs:
        """The points with their exact distances."""
        return Pairs.of(self.space.points, self.space)

    @cached_property
    def shorter(self) -> Floats:
        """A metric a little below d, and 0 between points too near: what is private for it survives rounding."""
        return shorter_distances(self.pairs)

    @cached_property
    def least_losses(self) -> Floats:
        """The least loss of each point: taken off, since a constant in a row changes no choice."""
        least: Floats = self.losses.min(axis=1)
        return least

    @cached_property
    def costs(self) -> Floats:
        """``prior * (losses - least_losses)``, points by outputs: never negative."""
        return self.prior[:, None] * (self.losses - self.least_losses[:, None])

    @cached_property
    def offset(self) -> float:
        """What was taken off, together."""
        return float(self.prior @ self.least_losses)

    @property
    def error(self) -> float:
        """How far rounding can move ``offset + Σ costs K``, for any channel K."""
        largest = np.abs(self.losses).max(axis=1) + np.abs(self.least_losses)
        return (len(self.prior) + 8) * _ROUNDED * float(self.prior @ largest) + 1e-300

    @cached_property
    def centres(self) -> Places:
        """For each output, the point for which it costs least, of those the one for which others cost most."""
        above = self.losses - self.least_losses[:, None]
        tied = above <= above.min(axis=0, keepdims=True) + 1e-12 * max(float(above.max()), 1e-300)
        order = np.where(tied, -above.sum(axis=1)[:, None], np.inf)
        own = {label(point): row for row, point in enumerate(self.space.points)}
        centres: Places = order.argmin(axis=0)
        for z, name in enumerate(self.outputs):
            row = own.get(label(name))
            if row is not None and tied[row, z]:
                centres[z] = row
        return centres

    @cached_property
    def merged(self) -> tuple[tuple[int, ...], ...]:
        """Groups of points at distance zero in `shorter`."""
        groups: dict[int, list[int]] = {}
        for x, first in enumerate((self.shorter <= 0).argmax(axis=1).tolist()):
            groups.setdefault(first, []).append(x)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def loss_of(self, matrix: Floats) -> float:
        """The expected loss of a channel given by its probabilities as floats, rounded up."""
        value = float((self.prior[:, None] * matrix * self.losses).sum())
        terms = matrix.size * 2.0**-52 if matrix.size < 64 else 128 * 2.0**-52  # numpy adds in pairs
        size = float((self.prior[:, None] * matrix * np.abs(self.losses)).sum())
        return value + size * (terms + 8 * 2.0**-52) + 1e-290


def _losses(space: Space, loss: Any, outputs: tuple[Any, ...] | None) -> tuple[Floats, tuple[Any, ...]]:
    """The losses of outputs by points, and the outputs."""
    if isinstance(loss, str) and loss == "distance":
        guesses = space.points if outputs is None else outputs
        table = space.metric.unit.pairwise(list(guesses), list(space.points))
        if not np.isfinite(table).all():
            raise InputError("some distances are infinite, and a loss is finite: give a loss matrix")
        return table, guesses
    if isinstance(loss, np.ndarray) and loss.dtype == np.float64 and loss.ndim == 2:
        rows = space.points if len(loss) == len(space) else tuple(range(len(loss)))
        if loss.shape[1] != len(space):
            raise ShapeError(f"a loss has a column for each of the {len(space)} points, not {loss.shape[1]}")
        table = loss
    else:
        read: Loss = as_loss(loss, space.points, space)
        rows, table = read.actions, read.matrix
    if outputs is None:
        return table, rows
    if not isinstance(loss, (str, Loss)):
        if len(outputs) != len(table):
            raise ShapeError(f"{len(outputs)} outputs and {len(table)} rows of losses: give one row for each output")
        return table, outputs
    places = {label(row): place for place, row in enumerate(rows)}
    for z in outputs:
        if label(z) not in places:
            raise UnknownCategoryError(f"the loss says nothing of the output {z!r}")
    return table[[places[label(z)] for z in outputs]], outputs
