"""Pictures of beliefs as data: points of a simplex, and surfaces over it; `metricdp.plots` draws them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.visible import visible

__all__ = ["SimplexLayer", "SimplexPicture", "SurfacePicture", "lattice"]


@dataclass(frozen=True)
class SimplexLayer:
    """Distributions over the same secrets that are drawn alike.

    Attributes:
        name: of all of them together.
        points: probabilities of the secrets, for each point.
        weights: how likely each point is, which is how large it is drawn; None where that means nothing.
        hull: whether what they enclose is drawn, too.
        labels: what to write beside each point; none where empty.
    """

    name: str
    points: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] | None = None
    hull: bool = False
    labels: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The layer as plain values for JSON."""
        weights = None if self.weights is None else list(self.weights)
        points = [list(point) for point in self.points]
        return {
            "name": self.name, "points": points, "weights": weights, "hull": self.hull, "labels": list(self.labels)
        }  # fmt: skip


@dataclass(frozen=True)
class SimplexPicture:
    """Distributions as points of a simplex: each corner is a secret.

    Attributes:
        secrets: their names.
        layers: what is drawn, one over the other.
    """

    plot: ClassVar[str] = "simplex"

    secrets: tuple[str, ...]
    layers: tuple[SimplexLayer, ...]

    @classmethod
    def of(
        cls,
        secrets: Iterable[Any],
        name: str,
        points: Iterable[Iterable[float]],
        weights: Sequence[float] | None = None,
        hull: bool = False,
    ) -> SimplexPicture:
        """A picture of one layer.

        >>> SimplexPicture.of("ab", "a belief", [(0.25, 0.75)]).layers[0].points
        ((0.25, 0.75),)
        """
        listed = tuple(tuple(float(share) for share in point) for point in points)
        sizes = None if weights is None else tuple(float(weight) for weight in weights)
        return cls(tuple(visible(str(secret)) for secret in secrets), (SimplexLayer(name, listed, sizes, hull),))

    def to_json(self) -> dict[str, Any]:
        """The picture as plain values for JSON."""
        return {"secrets": list(self.secrets), "layers": [layer.to_json() for layer in self.layers]}


@dataclass(frozen=True, eq=False)
class SurfacePicture:
    """A number for each of many distributions over the same secrets.

    Attributes:
        secrets: their names.
        priors: the distributions, one a row.
        values: the number of each.
        shows: what it is, in words.
    """

    plot: ClassVar[str] = "surface"

    secrets: tuple[str, ...]
    priors: Floats
    values: Floats
    shows: str

    def to_json(self) -> dict[str, Any]:
        """The picture as plain values for JSON."""
        return {
            "secrets": list(self.secrets),
            "priors": self.priors.tolist(),
            "values": self.values.tolist(),
            "shows": self.shows,
        }


def lattice(count: int, steps: int) -> Floats:
    """All distributions over so many secrets whose probabilities are multiples of 1 / steps.

    >>> lattice(2, 2).tolist()
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    """
    cuts = itertools.combinations(range(steps + count - 1), count - 1)
    rows = [np.diff([-1, *cut, steps + count - 1]) - 1 for cut in cuts]
    return np.array(rows, dtype=np.float64) / steps
