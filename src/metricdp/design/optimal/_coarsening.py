"""A design problem with fewer points, whose solution shows where to begin.

Some points stand for all: each point belongs to the nearest of them, and its costs are added to those of its group. The
solution of the smaller problem proves nothing about the larger one, but its prices and columns are near to good ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["Coarser", "Instance"]


@dataclass(frozen=True, eq=False)
class Instance:
    """Minimise ``Σ_z c(., z) . v_z`` over columns v_z of the cone that add up to one.

    Attributes:
        distances: a metric as floats; infinite where nothing is asked.
        costs: c, a matrix of points by outputs, not negative.
        centres: for each output, the point about which its columns are centred.
        prior: how likely each point is, which says where prices begin.
        offset: what the loss is above the sum of the costs.
        negligible: a gap too small to be closed.
    """

    distances: Floats
    costs: Floats
    centres: Places
    prior: Floats
    offset: float = 0.0
    negligible: float = 0.0


@dataclass(frozen=True, eq=False)
class Coarser:
    """A smaller problem and the way back.

    Attributes:
        instance: the smaller problem.
        points: the points that stand for all.
        groups: for each point of the larger problem, which of them it belongs to.
        outputs: the outputs that are kept, at most one for each group.
    """

    instance: Instance
    points: Places
    groups: Places
    outputs: Places

    @classmethod
    def of(cls, instance: Instance, count: int) -> Coarser:
        """Points far from each other, one by one: each the farthest from those before it."""
        distances = instance.distances
        points = [int(np.argmax(instance.prior))]
        nearest = distances[points[0]].copy()
        while len(points) < count:
            points.append(int(np.argmax(nearest)))
            np.minimum(nearest, distances[points[-1]], out=nearest)
        kept = np.array(points, dtype=np.int64)
        groups = distances[kept].argmin(axis=0)
        belongs, away = groups[instance.centres], distances[kept[groups[instance.centres]], instance.centres]
        order = np.lexsort((away, belongs))  # of each group's outputs the one nearest to its point
        outputs = order[np.unique(belongs[order], return_index=True)[1]]
        costs = np.zeros((count, len(outputs)))
        np.add.at(costs, groups, instance.costs[:, outputs])
        prior: Floats = np.bincount(groups, weights=instance.prior, minlength=count).astype(np.float64)
        smaller = Instance(
            distances[np.ix_(kept, kept)],
            costs,
            belongs[outputs],
            prior,
            instance.offset,
            instance.negligible,
        )
        return cls(smaller, kept, groups, outputs)

    def prices(self, prices: Floats, shares: Floats) -> Floats:
        """Prices of the groups, spread over their points by shares that are positive."""
        spread: Floats = (prices / np.bincount(self.groups, weights=shares))[self.groups] * shares
        return spread

    def column(self, column: Floats, decay: Floats) -> Floats:
        """The least column of the larger cone that has these values at the points kept, with sum one."""
        whole: Floats = (decay[self.points] * column[:, None]).max(axis=0)
        whole /= whole.sum()
        return whole
