"""Percentiles: where the corrected distribution reaches a share, with an interval that inverts its tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.estimates.conditions import SecretFunction
from metricdp.estimates.few_rows import FEW, likeliest_percentile, released_percentile
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.linear import LinearEstimator
from metricdp.estimates.monomials import LinearAnswer, Monomial
from metricdp.estimates.results import Estimate, day_of

__all__ = ["percentile"]

_FEW_BEYOND = 3
"""Where fewer rows than this lie beyond a percentile, it hangs on single rows."""

_COARSE = 50
"""Fewer rows than this fill too few cells for a value: it comes from the single rows."""

_HANGS = (
    "The least and the greatest values hang on single rows, and those the noise hides: the value is a guess within the "
    "interval. Ask for a percentile further inside, such as percentile(.., 0.01)."
)


def percentile(
    linear: LinearEstimator,
    name: str,
    share: float,
    products: Sequence[dict[str, SecretFunction]],
    naive: Any,
    estimate: Callable[..., Estimate],
) -> Estimate:
    """A percentile of a column among the rows that a condition leaves.

    A number t is kept in the interval unless the counts tell that fewer than the share lie at or below it, or that more
    than the share lie below it; each test has half of the chance to be wrong.

    Args:
        linear: answers linear questions.
        name: the column.
        share: from 0 to 1.
        products: the condition, as functions of single columns.
        naive: the rows at face value.
        estimate: turns an answer into an `Estimate`.
    """
    law = linear.counted.laws[name]
    numbers = linear.counted.numbers(name)
    order = np.argsort(np.where(law.missing, math.inf, numbers), kind="stable")
    places = order[: int((~law.missing).sum())]
    if not len(places):
        raise ArgumentError(f"column {name!r} has no values")
    tests = _Tests(linear, name, share, products, places)
    middle = tests.first(lambda found: found.value >= 0)
    low = tests.first(lambda found: found.high >= 0, 1)
    high = tests.first(lambda found: found.low > 0, -1)
    points = numbers[places]
    value, least, most = float(points[middle]), float(points[low]), float(points[min(high, len(points) - 1)])
    hangs = not law.is_exact and min(share, 1 - share) * linear.rows < _FEW_BEYOND
    ends = points[0], points[-1]
    if isinstance(law, LineLaw) and law.is_unbounded and name in linear.counted.outlines:
        reach = law.scale * math.log(1 / linear.chance) + law.width  # noise goes farther with just that chance
        seen = linear.counted.outlines[name]
        ends = min(ends[0], seen.least - reach), max(ends[1], seen.greatest + reach)
        least, most = ends[0] if low == 0 else least, ends[1] if high >= len(points) - 1 else most
    if linear.truth == "population" and getattr(law.column, "bounds", None) is None and not isinstance(law, ListedLaw):
        ends = -math.inf, math.inf  # the population may reach farther than all that was seen
        least = -math.inf if low == 0 and tests.at(-1, 1).high >= 0 else least
        most = math.inf if high >= len(points) - 1 and tests.at(len(points) - 1, -1).low <= 0 else most
    alone = all(not product for product in products)
    rows = _single_rows(linear, law, name) if alone else None
    if rows is not None and (hangs or linear.rows < _COARSE):
        assert isinstance(law, LineLaw)
        value = likeliest_percentile(law, rows, share)
    elif hangs and alone:
        value = _end(law, share, linear.rows, places, points)
    elif isinstance(law, LineLaw) and not law.is_lattice:
        value = tests.between(middle)
    noise = tests.noise(points)
    made = LinearAnswer(value, least, most, noise, True, 0.0, by_two_scores=tests.at(middle).by_two_scores)
    label = day_of if name in linear.counted.days else None
    seen_alone = alone and isinstance(law, LineLaw) and law.counts[: len(law.cuts) + 1].any()
    found = released_percentile(law.sample, share) if seen_alone else naive.percentile(name, share)
    unit = noise / tests.at(middle).noise if tests.at(middle).noise else 0.0  # what a share of the rows is in numbers
    spread = unit * math.sqrt(share * (1 - share) * naive.count(name)) / linear.rows
    extent = float(ends[0]), float(ends[1])
    answer = estimate(made, 1.0, found, extent, products, name, label, naive_spread=spread)
    return replace(answer, notes=(*answer.notes, _HANGS)) if hangs else answer


def _single_rows(linear: LinearEstimator, law: Any, name: str) -> Any:
    """The released numbers, where they are few and all known; None otherwise."""
    if not isinstance(law, LineLaw) or name not in linear.counted.outlines or linear.rows > FEW:
        return None
    sample = linear.counted.outlines[name].sample
    return sample if law.counts[: len(law.cuts) + 1].sum() == len(sample) else None


def _end(law: Any, share: float, rows: float, places: Any, points: Any) -> float:
    """Where the likeliest distribution reaches the share, with half a row to spare at either end."""
    reached = np.cumsum(law.likeliest.shares[places])
    wanted = min(max(share, 0.5 / rows), 1 - 0.5 / rows) * reached[-1]
    return float(points[min(int(np.searchsorted(reached, wanted)), len(points) - 1)])


class _Tests:
    """For each place, the average of ``1[x <= t] - share`` among the rows of the condition."""

    def __init__(
        self,
        linear: LinearEstimator,
        name: str,
        share: float,
        products: Sequence[dict[str, SecretFunction]],
        places: Any,
    ) -> None:
        self.linear, self.name, self.share, self.products, self.places = linear, name, share, products, places
        self._known: dict[tuple[int, tuple[int, ...]], LinearAnswer] = {}

    def at(self, rank: int, *sides: int) -> LinearAnswer:
        """The answer at the t of that rank, with the ends of its interval on some sides."""
        if (rank, sides) not in self._known:
            law = self.linear.counted.laws[self.name]
            step = np.where(law.missing, 0.0, -self.share)
            step[self.places[: rank + 1]] += 1.0
            monomials = []
            for product in self.products:
                factor = SecretFunction(step, step)
                own = product.get(self.name)
                monomials.append(Monomial({**product, self.name: factor if own is None else own.times(factor)}))
            self._known[rank, sides] = self.linear.answer(monomials, sides)
        return self._known[rank, sides]

    def first(self, holds: Callable[[LinearAnswer], bool], *sides: int) -> int:
        """The first rank at which something holds that goes on holding; the last where it never does."""
        low, high = 0, len(self.places) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(self.at(middle, *sides)) else (middle + 1, high)
        return low

    def noise(self, points: Any) -> float:
        """How far noise moves the percentile: half of where the tests may come out even by noise alone."""
        low, high = (
            self.first(lambda found: found.value + found.noise >= 0),
            self.first(lambda found: found.value - found.noise > 0),
        )
        return float(points[high] - points[low]) / 2

    def between(self, rank: int) -> float:
        """Between two points, where the share is reached if rows lie evenly between them."""
        numbers = self.linear.counted.numbers(self.name)
        here = float(numbers[self.places[rank]])
        if rank == 0:
            return here
        before = float(numbers[self.places[rank - 1]])
        one, two = self.at(rank - 1).value, self.at(rank).value
        return here if two <= one else before + (here - before) * min(1.0, max(0.0, -one / (two - one)))
