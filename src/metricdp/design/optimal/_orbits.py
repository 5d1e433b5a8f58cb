"""Symmetries of a design problem, found and not assumed: which points, and which outputs, are alike.

A symmetry is a permutation g of the points and s of the outputs with ``d(g x, g y) = d(x, y)`` and
``c(g x, s z) = c(x, z)``, up to the rounding of floats. Averaging a solution over symmetries gives another one, so it
is enough to look at one output of each orbit, and at sums over the orbits of points. Nothing is proved by it: what is
found is spread over all points and outputs, and judged there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["Orbits"]

Symmetry = tuple[Places, Places]

_ALIKE = 1e-11
"""Relative: numbers nearer than this count as equal."""

_MANY = 500
_MOST_TRIALS = 4000


@dataclass(frozen=True, eq=False)
class Orbits:
    """Points and outputs by their orbits.

    Attributes:
        points: the orbit of each point, counted from 0.
        outputs: the orbit of each output.
        representatives: one output of each orbit.
        carriers: for each output a permutation of the points that carries the representative of its orbit to it.
        stabilised: for each representative, the orbit of each point under the symmetries that leave it in place.
    """

    points: Places
    outputs: Places
    representatives: Places
    carriers: Places
    stabilised: Places

    @classmethod
    def of(cls, distances: Floats, costs: Floats) -> Orbits:
        """Search for symmetries of the distances and of the costs, a matrix of points by outputs."""
        of_points = [costs.sum(axis=1), _squares(costs.T)]
        if np.isfinite(distances).all():
            of_points += [distances.sum(axis=1), _squares(distances)]
        # Where no two points are alike, only outputs that cost the same everywhere are: of many that is no help.
        if _all_unlike(of_points) and (len(costs) > _MANY or _all_unlike([costs.sum(axis=0), _squares(costs)])):
            return cls.none(*costs.shape)
        return cls._from(list(_symmetries(_codes(distances), _codes(costs))), *costs.shape)

    @classmethod
    def none(cls, points: int, outputs: int) -> Orbits:
        """All points and outputs by themselves."""
        alone, apart = np.arange(points), np.arange(outputs)
        carriers = np.broadcast_to(alone, (outputs, points))
        return cls(alone, apart, apart, carriers, carriers)

    @classmethod
    def _from(cls, generators: list[Symmetry], points: int, outputs: int) -> Orbits:
        output_orbits = _joined([s for _, s in generators], outputs)
        representatives = np.unique(output_orbits, return_index=True)[1]
        carriers = np.tile(np.arange(points), (outputs, 1))
        stabilised = np.empty((len(representatives), points), dtype=np.int64)
        for place, z in enumerate(representatives.tolist()):
            reached = [z]
            seen = {z}
            leftovers = []
            for here in reached:  # grows as it is walked through
                for g, s in generators:
                    there = int(s[here])
                    step = g[carriers[here]]
                    if there in seen:
                        back = np.argsort(carriers[there], kind="stable")
                        leftovers.append(back[step])  # Schreier: these generate what leaves z in place
                    else:
                        seen.add(there)
                        reached.append(there)
                        carriers[there] = step
            stabilised[place] = _joined(leftovers, points)
        return cls(_joined([g for g, _ in generators], points), output_orbits, representatives, carriers, stabilised)

    @property
    def trivial(self) -> bool:
        """Whether there is no symmetry."""
        return len(self.representatives) == len(self.outputs) and int(self.points.max()) + 1 == len(self.points)

    @property
    def sizes(self) -> Places:
        """How many points each orbit has."""
        return np.bincount(self.points).astype(np.int64)

    @property
    def output_sizes(self) -> Places:
        """How many outputs each orbit has."""
        return np.bincount(self.outputs).astype(np.int64)

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of the points over each orbit."""
        sums = np.bincount(self.points, weights=values, minlength=int(self.points.max()) + 1)
        return sums.astype(np.float64)

    def settled(self, place: int, values: Floats) -> Floats:
        """Values of the points averaged over the symmetries that leave a representative in place."""
        orbits = self.stabilised[place]
        averages: Floats = np.bincount(orbits, weights=values) / np.bincount(orbits)
        spread: Floats = averages[orbits]
        return spread


def _symmetries(near: Places, costs: Places) -> Iterator[Symmetry]:
    """Symmetries that together join all points that any symmetry joins, as far as the number of trials goes."""
    colours = _colours(near, costs)
    columns: dict[bytes, list[int]] = {}
    for z in range(costs.shape[1]):
        columns.setdefault(np.ascontiguousarray(costs[:, z]).tobytes(), []).append(z)
    trials = [_MOST_TRIALS]
    found: list[Places] = []
    for colour in np.flatnonzero(np.bincount(colours) > 1).tolist():
        members = np.flatnonzero(colours == colour).tolist()
        kept = [members[0]]
        for x in members[1:]:
            orbits = _joined(found, len(near))
            if any(orbits[x] == orbits[first] for first in kept):
                continue
            for first in kept:
                symmetry = _carrying(first, x, near, costs, colours, columns, trials)
                if symmetry is not None:
                    found.append(symmetry[0])
                    yield symmetry
                    break
            else:
                kept.append(x)


def _carrying(
    first: int,
    second: int,
    near: Places,
    costs: Places,
    colours: Places,
    columns: dict[bytes, list[int]],
    trials: list[int],
) -> Symmetry | None:
    """A symmetry that carries one point to another, searched by fixing more points until all are told apart."""
    stack = [(colours, colours, first, second)]
    while stack and trials[0] > 0:
        trials[0] -= 1
        before, after, x, y = stack.pop()
        pair = _told_apart(before, after, near[x], near[y], x, y)
        if pair is None:
            continue
        before, after = pair
        counts = np.bincount(before)
        several = np.flatnonzero(counts > 1)
        if not len(several):
            g = np.empty(len(near), dtype=np.int64)
            g[np.argsort(before)] = np.argsort(after)
            outputs = _outputs(g, near, costs, columns)
            if outputs is not None:
                return g, outputs
            continue
        cell = several[counts[several].argmin()]
        anchor = int(np.flatnonzero(before == cell)[0])
        stack.extend((before, after, anchor, int(image)) for image in np.flatnonzero(after == cell)[::-1])
    return None


def _told_apart(
    before: Places, after: Places, from_x: Places, from_y: Places, x: int, y: int
) -> tuple[Places, Places] | None:
    """Colours refined by the distance from x, and from its image y; None where their numbers differ."""
    width = int(max(from_x.max(), from_y.max())) + 2
    one, two = before * width + from_x + 1, after * width + from_y + 1
    one[x], two[y] = before[x] * width, after[y] * width
    values, codes = np.unique(np.concatenate([one, two]), return_inverse=True)
    left, right = codes[: len(one)], codes[len(one) :]
    same = np.array_equal(np.bincount(left, minlength=len(values)), np.bincount(right, minlength=len(values)))
    return (left, right) if same else None


def _outputs(g: Places, near: Places, costs: Places, columns: dict[bytes, list[int]]) -> Places | None:
    """The permutation of the outputs that goes with one of the points; None where it is no symmetry."""
    if not np.array_equal(near[np.ix_(g, g)], near):
        return None
    carried = np.ascontiguousarray(costs[np.argsort(g)].T)
    used: dict[bytes, int] = {}
    image = np.empty(len(carried), dtype=np.int64)
    for z in range(len(carried)):
        key = carried[z].tobytes()
        place = used.get(key, 0)
        alike = columns.get(key, [])
        if place >= len(alike):
            return None
        image[z] = alike[place]
        used[key] = place + 1
    return image


def _colours(near: Places, costs: Places) -> Places:
    """Points by what they see: their distances and costs, sorted."""
    seen = np.hstack([np.sort(near, axis=1), np.sort(costs, axis=1)])
    return np.unique(seen, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def _all_unlike(sums: list[Floats]) -> bool:
    """Whether no two points are alike in all of some sums, which symmetries leave as they are: then there is none."""
    left = [np.arange(len(sums[0]))]
    for values in (one for one in sums if np.isfinite(one).all()):  # squares of large values may not be
        finer = []
        for some in left:
            order = some[np.argsort(values[some], kind="stable")]
            steps = np.diff(values[order]) > len(values) * _ALIKE * np.abs(values[order[1:]])
            finer += [part for part in np.split(order, np.flatnonzero(steps) + 1) if len(part) > 1]
        if not finer:
            return True
        left = finer
    return False


def _squares(values: Floats) -> Floats:
    """The sum of the squares of each column."""
    with np.errstate(over="ignore"):
        sums: Floats = np.einsum("ij,ij->j", values, values)
    return sums


def _codes(values: Floats) -> Places:
    """Small integers for floats, the same where they are equal up to rounding."""
    finite = np.where(np.isfinite(values), values, np.finfo(np.float64).max)
    different, codes = np.unique(finite, return_inverse=True)
    scale = np.maximum(np.abs(different[1:]), np.abs(different[:-1]))
    steps = np.diff(different) > _ALIKE * scale if len(different) > 1 else np.zeros(0, dtype=bool)
    merged = np.concatenate([[0], np.cumsum(steps)])
    return merged[codes].reshape(values.shape).astype(np.int64)


def _joined(permutations: list[Places], count: int) -> Places:
    """The orbits of some permutations, counted in the order of their first members."""
    least = np.arange(count)
    changed = True
    while changed:
        before = least.copy()
        for permutation in permutations:
            np.minimum.at(least, permutation, least.copy())
            least = np.minimum(least, least[permutation])
        changed = not np.array_equal(before, least)
    return np.unique(least, return_inverse=True)[1].astype(np.int64)
