"""The search for the outputs by which a channel and the same channel after a hiding function are best told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from metricdp.exact.weights import Weights

__all__ = ["BestOutputs", "HidingSearch"]

_MOST_SUMS = 1 << 18
_MOST_PAIRS = 1 << 18

Ratio = Fraction | float
_Spread = tuple[Fraction, int, int, tuple[int, ...]]


@dataclass(frozen=True)
class BestOutputs:
    """The best set of outputs, and a belief that shows it.

    Attributes:
        lower: exp of the supremum, from below: that of the set found.
        upper: from above.
        secrets: the rows with the greatest and the least ratio ``K(x)(Z) / K(f(x))(Z)``.
        outputs: the columns of the set.
        belief: numbers to which a prior that comes near is proportional.
    """

    lower: Ratio
    upper: Ratio
    secrets: tuple[int, int]
    outputs: tuple[int, ...]
    belief: list[Fraction]


class HidingSearch:
    """Maximises ``max over x of r_x(Z) / min over x of r_x(Z)`` over sets Z, with ``r_x = K(x)(Z) / K(f(x))(Z)``.

    Attributes:
        weights: K, as integers.
        images: the row of f(x) for each row x.
    """

    def __init__(self, weights: Weights, images: Sequence[int]) -> None:
        self.weights, self.images = weights.tolist(), list(images)
        self.rows, self.columns = weights.shape
        self.possible = np.array(weights > 0, dtype=bool)

    def run(self, within: Fraction) -> BestOutputs:
        """The best set that was found, and how much better another may be."""
        told_apart = self._told_apart()
        if told_apart is not None:
            return told_apart
        everything = (1 << self.columns) * self.rows <= _MOST_SUMS
        best = max(map(self._spread, self._sets(everything)), key=lambda spread: spread[0])
        best = best if everything else self._climb(best)
        ratio, most, least, outputs = best
        upper = ratio if everything else max(ratio, self._upper())
        return BestOutputs(ratio, upper, (most, least), outputs, self._belief(most, least, outputs, within))

    def _told_apart(self) -> BestOutputs | None:
        """A secret that one of K and K after f excludes and the other does not, on outputs that both can give."""
        for x, image in enumerate(self.images):
            only = np.flatnonzero(self.possible[image] & ~self.possible[x])
            if len(only):
                return self._infinite(x, image, (int(only[0]),))
        given = self.possible[self.images]
        for x, image in enumerate(self.images):
            only = np.flatnonzero(self.possible[x] & ~self.possible[image])
            others = np.argwhere(given & ~self.possible[image])
            if len(only) and len(others):
                other, z = others[0].tolist()
                return self._infinite(x, other, tuple(sorted({int(only[0]), z})))
        return None

    def _infinite(self, x: int, other: int, outputs: tuple[int, ...]) -> BestOutputs:
        belief = [Fraction(int(row in (x, other))) for row in range(self.rows)]
        return BestOutputs(math.inf, math.inf, (x, other), outputs, belief)

    def _sets(self, everything: bool) -> Iterator[tuple[int, ...]]:
        columns = range(self.columns)
        sizes: Iterable[int] = (1, 2) if self.columns**2 * self.rows <= _MOST_PAIRS else (1,)
        for size in columns if everything else sizes:
            yield from itertools.combinations(columns, size + 1 if everything else size)

    def _spread(self, outputs: Sequence[int]) -> _Spread:
        """The ratio for one set, with the two rows; 1 where no posterior exists, or none but equal ones."""
        sums = [sum(row[z] for z in outputs) for row in self.weights]
        most = least = -1
        for x, image in enumerate(self.images):
            if not sums[x]:
                continue  # nor can f(x) give these outputs, or it would have been told apart
            if not sums[image]:
                return Fraction(0), x, x, tuple(outputs)  # K after f never gives them
            if most < 0 or sums[x] * sums[self.images[most]] > sums[most] * sums[image]:
                most = x
            if least < 0 or sums[x] * sums[self.images[least]] < sums[least] * sums[image]:
                least = x
        if most < 0:
            return Fraction(0), 0, 0, tuple(outputs)
        top = Fraction(sums[most] * sums[self.images[least]], sums[self.images[most]] * sums[least])
        return top, most, least, tuple(outputs)

    def _climb(self, best: _Spread) -> _Spread:
        """Add or take away single outputs as long as that helps."""
        while True:
            chosen = set(best[3])
            moves = (tuple(sorted(chosen ^ {z})) for z in range(self.columns))
            better = max((self._spread(move) for move in moves if move), key=lambda spread: spread[0], default=best)
            if better[0] <= best[0]:
                return best
            best = better

    def _upper(self) -> Fraction:
        """For x and x', the ratio is at most the lesser of R(x, fx) R(fx', x') and R(x, x') R(fx', fx)."""
        greatest: dict[tuple[int, int], Fraction] = {}

        def ratio(one: int, two: int) -> Fraction:
            if (one, two) not in greatest:
                greatest[one, two] = _greatest(self.weights[one], self.weights[two])
            return greatest[one, two]

        top = Fraction(1)
        for (x, image), (other, other_image) in itertools.product(enumerate(self.images), repeat=2):
            if x == other:
                continue
            straight = ratio(x, image) * ratio(other_image, other)
            if straight > top:
                top = max(top, min(straight, ratio(x, other) * ratio(other_image, image)))
        return top

    def _belief(self, most: int, least: int, outputs: Sequence[int], within: Fraction) -> list[Fraction]:
        """All but a little on one of the two secrets.

        With a, b = K(x)(Z), K(f(x))(Z) for the greatest ratio and a', b' for the least: a belief of 1 in the second to
        ``h a'/a`` in the first has ``A/B <= a'/b' (1 + h)``; one of 1 in the first to ``h b/b'`` in the second has
        ``A/B >= a/b / (1 + h)``. Either falls short of the supremum by at most ln(1 + h) <= h.
        """
        belief = [Fraction(0)] * self.rows
        if most == least:
            belief[most] = Fraction(1)
            return belief
        a, b, c, d = (
            sum(self.weights[row][z] for z in outputs) for row in (most, self.images[most], least, self.images[least])
        )
        one, two = within * Fraction(c, a), within * Fraction(b, d)
        belief[most], belief[least] = (one, Fraction(1)) if one >= two else (Fraction(1), two)
        return belief


def _greatest(one: Sequence[int], two: Sequence[int]) -> Fraction:
    """The largest ratio of sums over a set of outputs, where the second is positive.

    Outputs that only the first gives may join every set, so they are counted with each.
    """
    free = sum(left for left, right in zip(one, two, strict=True) if not right)
    top, bottom = 0, 1
    for left, right in zip(one, two, strict=True):
        if right and (left + free) * bottom > top * right:
            top, bottom = left + free, right
    return Fraction(top, bottom)
