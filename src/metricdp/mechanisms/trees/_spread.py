"""How near to the secret the exponential mechanism draws on a tree, for reports."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR
from metricdp.exact.balls import Enclosure, ball, float_above, precision
from metricdp.mechanisms.trees._sums import BITS, TreeSums
from metricdp.metrics.enclosures import Enclosures, amount_bounds

__all__ = ["TreeSpread"]

_SAMPLED, _GRID, _SHOWN, _BLOCK = 16, 256, 256, 128


class TreeSpread:
    """The distances between secret and draw, for the law that the sums of a tree describe.

    Attributes:
        law: the sums.
    """

    def __init__(self, law: TreeSums) -> None:
        self.law = law

    def probability_within(self, reach: float) -> float:
        """The least probability, over all secrets, of a draw within a distance, before the level; rounded down."""
        distances, least = self._nearness
        place = int(np.searchsorted(distances, reach, side="right")) - 1
        return float(least[place]) if place >= 0 else 0.0

    @cached_property
    def _nearness(self) -> tuple[Floats, Floats]:
        """Some distances, and the least probability over all secrets of a draw within each of them."""
        alike = self._representatives
        some, _ = self._spread(alike[:: max(1, len(alike) // _SAMPLED)])
        distances = np.unique(np.concatenate([some.ravel(), [0.0]]))
        distances = distances[np.isfinite(distances)]
        if len(distances) > _GRID:
            distances = np.unique(distances[np.linspace(0, len(distances) - 1, _GRID).astype(np.int64)])
        least, buckets = np.ones(len(distances)), len(distances) + 1
        for start in range(0, len(alike), _BLOCK):
            far, shares = self._spread(alike[start : start + _BLOCK])
            places = np.searchsorted(distances, far, side="left") + buckets * np.arange(len(far))[:, None]
            held = np.bincount(places.ravel(), weights=shares.ravel(), minlength=buckets * len(far))
            least = np.minimum(least, np.cumsum(held.reshape(len(far), buckets), axis=1)[:, :-1].min(axis=0))
        return distances, np.maximum(least * (1 - 2.0**-30), 0)

    def _spread(self, secrets: list[int]) -> tuple[Floats, Floats]:
        """The distances of all secrets from some, rounded up, and their probabilities, rounded down."""
        tree, nodes = self.law.hierarchy.tree, self.law.nodes
        null = self.law.hierarchy.null_distance
        far = np.full((len(secrets), len(nodes)), math.inf if null is None else amount_bounds(null)[1])
        rows, columns = np.flatnonzero(nodes[secrets] >= 0), np.flatnonzero(nodes >= 0)
        if len(rows):
            steps = tree.steps(nodes[secrets][rows].tolist(), nodes[columns].tolist())
            far[np.ix_(rows, columns)] = Enclosures.ratios(steps, tree.scale).upper
        far[np.ix_(nodes[secrets] < 0, nodes < 0)] = 0.0
        with precision(BITS):
            rate = float_above(Enclosure.of(ball(self.law.share) * self.law.hierarchy.level.ball()).upper)
            constants = [float_above(Enclosure.of(self.law.constant(int(nodes[secret]))).upper) for secret in secrets]
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            exponents = np.where(far > 0, far * rate, 0.0) * (1 + 2.0**-50)
            shares = np.where(exponents < 700, np.exp(-np.minimum(exponents, 700)), 0.0) * (1 - 4 * ERROR)
        return far, np.nan_to_num(shares, nan=0.0) / np.array(constants)[:, None]

    @cached_property
    def _representatives(self) -> list[int]:
        """A secret of each kind: those that a symmetry of the tree carries into one another are alike.

        Two nodes are alike below if their children are, one by one; and alike altogether if their parents are, too.
        """
        tree, kinds = self.law.hierarchy.tree, dict[object, int]()
        count = len(self.law.parents)
        below = [0] * count
        for node in range(count - 1, -1, -1):
            inside = sorted(
                (tree.lengths[child], below[child]) for child in tree.children[node] if self.law.size[child]
            )
            below[node] = kinds.setdefault((self.law.secret[node] >= 0, tuple(inside)), len(kinds))
        whole, found = [0] * count, dict[int, int]()
        places: dict[object, int] = {}
        for node, parent in enumerate(self.law.parents):
            above = -1 - node if parent < 0 else whole[parent]  # trees beside each other are not compared
            whole[node] = places.setdefault((above, tree.lengths[node], below[node]), len(places))
            if self.law.secret[node] >= 0:
                found.setdefault(whole[node], self.law.secret[node])
        return [*found.values(), *([self.law.null] if self.law.null >= 0 else [])]

    def examples(self) -> dict[Fraction, tuple[int, int]]:
        """Distances between two nodes, each with two secrets that far apart; all of them where the tree is regular."""
        tree, nodes = self.law.hierarchy.tree, np.flatnonzero(self.law.nodes >= 0)
        kinds = [secret for secret in self._representatives if self.law.hierarchy.places[secret] >= 0]
        ends = tree.farthest(self.law.nodes[nodes].tolist())
        found: dict[Fraction, tuple[int, int]] = {}
        for secret in [*kinds[:: max(1, len(kinds) // _SHOWN)], int(nodes[ends[0]])]:
            steps = tree.steps([self.law.hierarchy.places[secret]], self.law.nodes[nodes].tolist())[0]
            values, first = np.unique(steps, return_index=True)
            for value, place in zip(values.tolist(), first.tolist(), strict=True):
                if value > 0 or (value == 0 and nodes[place] != secret):
                    found.setdefault(Fraction(value, tree.scale), (secret, int(nodes[place])))
        return found
