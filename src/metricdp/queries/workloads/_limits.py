"""Limits on the noise of a workload, merged where they are alike: solved in floats, proved exactly.

    minimise  sum_b w_b c_b²   or   prod_b c_b^w_b     with   sum_b A[p, b] / c_b <= d_p  for all limits p.

A variable c_b is the scale of one query, or of many that are alike; A[p, b] is what a step between two cells changes in
all of them together. Amounts are integers over one denominator for each variable, and no amount is negative: so what is
spent is a sum without cancellation, and floats bound it closely on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, ball, enclose, float_above, float_below, precision
from metricdp.exact.progress import Stopwatch
from metricdp.programs.convex import InverseSquares, Logarithms, best_shares

__all__ = ["LargestPart", "Limits", "SteppedScales", "sum_of_roots"]

Places = NDArray[np.int64]
Scales = list[float]

_ROUNDING = 2.0**-52
_BITS = 128
_MOST_ROUNDS = 60
_ALL_AT_ONCE = 600
_MOST_DECIDED = 128
_MOST_POLISHED = 160
_NEAREST = 6
_FEW_RATES = 24
_MOST_IN_BALLS = 50_000


class LargestPart(NamedTuple):
    """The limit that is nearest to being broken.

    Attributes:
        part: encloses the largest part of a distance that is spent.
        limit: which it is; None where nothing is spent.
    """

    part: Enclosure
    limit: int | None


class SteppedScales(NamedTuple):
    """Scales that keep all limits, proved, and what no others can be below.

    Attributes:
        scales: one for each variable.
        bound: below ``sum w c²``, or ``sum w ln c``, of all scales that keep the limits.
        limits: those that prove it.
        multipliers: of these.
    """

    scales: Scales
    bound: float
    limits: Places
    multipliers: Floats


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits, without those that are the same.

    Attributes:
        rows: of the amounts that are not zero, in order.
        variables: of these.
        amounts: of these; positive.
        denominators: of the amounts of each variable.
        distances: the different ones, all positive and finite.
        kinds: which of them each limit has.
    """

    rows: Places
    variables: Places
    amounts: Places
    denominators: tuple[int, ...]
    distances: tuple[Enclosure, ...]
    kinds: Places

    def __post_init__(self) -> None:
        for distance in self.distances:
            low, high = distance.outward
            if not 1e-290 < low <= high < 1e290:
                raise ArgumentError("a distance lies beyond what floats hold well; scale the metric")

    def __len__(self) -> int:
        return len(self.kinds)

    @classmethod
    def of(
        cls,
        rows: Places,
        variables: Places,
        amounts: Places,
        denominators: tuple[int, ...],
        distances: tuple[Enclosure, ...],
        kinds: Places,
    ) -> Limits:
        """Limits of amounts in any order; those of one row and variable are added up."""
        places, which = np.unique(rows * len(denominators) + variables, return_inverse=True)
        summed = np.zeros(len(places), dtype=np.int64)
        np.add.at(summed, which, amounts)
        return cls(places // len(denominators), places % len(denominators), summed, denominators, distances, kinds)

    def renumbered(self, variables: Places) -> Limits:
        """With these variables alone, which are all that have limits."""
        numbers = np.zeros(len(self.denominators), dtype=np.int64)
        numbers[variables] = np.arange(len(variables))
        kept = tuple(self.denominators[place] for place in variables.tolist())
        return Limits(self.rows, numbers[self.variables], self.amounts, kept, self.distances, self.kinds)

    def merged(self, labels: Places, count: int) -> tuple[Limits, Places]:
        """One variable for all of a label, whose denominators are alike; each limit once, and which of these it is."""
        denominators = [1] * count
        for label, denominator in zip(labels.tolist(), self.denominators, strict=True):
            denominators[label] = denominator
        dense = np.zeros((len(self), count + 1), dtype=np.int64)
        np.add.at(dense, (self.rows, labels[self.variables]), self.amounts)
        dense[:, count] = self.kinds
        unique, which = np.unique(dense, axis=0, return_inverse=True)
        rows, variables = np.nonzero(unique[:, :count])
        amounts = unique[rows, variables]
        found = Limits.of(rows, variables, amounts, tuple(denominators), self.distances, unique[:, count])
        return found, which.ravel()

    @cached_property
    def _starts(self) -> Places:
        """Where the amounts of each limit begin."""
        return np.searchsorted(self.rows, np.arange(len(self) + 1))

    @cached_property
    def _inverse(self) -> Floats:
        return np.array([1 / float(distance) for distance in self.distances])[self.kinds]

    @cached_property
    def _values(self) -> Floats:
        """The amounts as floats."""
        return np.asarray(self.amounts / np.array([float(number) for number in self.denominators])[self.variables])

    def loads(self, rates: Floats) -> Floats:
        """What is spent of each distance, as floats within a relative error of 2^-52 times (amounts + 8)."""
        spent = np.bincount(self.rows, weights=self._values * rates[self.variables], minlength=len(self))
        return np.asarray(spent * self._inverse)

    def amounts_of(self, limit: int) -> list[tuple[int, Fraction]]:
        """The variables of a limit, each with its amount."""
        places = range(int(self._starts[limit]), int(self._starts[limit + 1]))
        found = [(int(self.variables[place]), int(self.amounts[place])) for place in places]
        return [(variable, Fraction(amount, self.denominators[variable])) for variable, amount in found]

    # Proofs

    def spent(self, scales: Sequence[float]) -> LargestPart:
        """The largest part of a distance that is spent, enclosed; exactly where distances are rational and few tie."""
        rates = np.array([1 / scale if scale else 0.0 for scale in scales])
        loads = self.loads(rates)
        if not len(loads) or not loads.max():
            return LargestPart(Enclosure(Fraction(0), Fraction(0)), None)
        widths = max(distance.outward[1] / distance.outward[0] - 1 for distance in self.distances)
        off = (int(np.diff(self._starts).max()) + 16) * _ROUNDING + 2 * widths
        near = np.flatnonzero(loads * (1 + off) >= loads.max() * (1 - off))
        near = near[np.argsort(-loads[near], kind="stable")]
        if len(near) > _MOST_DECIDED:
            alike = {
                pair: place for place, pair in enumerate(dict.fromkeys(zip(scales, self.denominators, strict=True)))
            }
            if len(alike) < len(scales):  # many limits are one, where scales are the same
                labels = [alike[pair] for pair in zip(scales, self.denominators, strict=True)]
                fewer, which = self.merged(np.array(labels), len(alike))
                found = fewer.spent([scale for scale, _ in alike])
                return LargestPart(found.part, None if found.limit is None else int(np.argmax(which == found.limit)))
            # What floats prove has to do.
            middle = Fraction(float(loads.max()))
            return LargestPart(Enclosure(middle * (1 - Fraction(off)), middle * (1 + Fraction(off))), int(near[0]))
        exact = [1 / Fraction(scale) if scale else Fraction(0) for scale in scales]
        least, most, where = Fraction(0), Fraction(0), None
        for limit in near.tolist():
            low, high = _total([(amount, exact[variable]) for variable, amount in self.amounts_of(limit)])
            distance = self.distances[int(self.kinds[limit])]
            least = max(least, low / Fraction(distance.upper))
            if high / Fraction(distance.lower) > most:
                most, where = high / Fraction(distance.lower), limit
        return LargestPart(Enclosure(least, most), where)

    def certified(self, scales: Sequence[float], shrink: bool = False) -> Scales:
        """Scales that break no limit, proved: the given ones, raised together where they fell short.

        Args:
            scales: in the right proportions.
            shrink: whether to lower them, too, where nothing is used up.
        """
        result, grown = list(scales), Fraction(1)
        while True:
            part = Fraction(self.spent(result).part.upper)
            if part == 0 or (part <= 1 and not shrink):
                return result
            result = [float_above(Fraction(scale) * part * grown) for scale in result]
            shrink, grown = False, grown + Fraction(1, 1 << 50)  # each time with more to spare, so that it ends

    # The best

    def best(
        self, weights: Sequence[Fraction], geometric: bool = False, gap: float = 1e-6, watch: Stopwatch | None = None
    ) -> SteppedScales:
        """The scales with the least weighted sum of c², or of ln c, to a gap; every variable has a limit.

        Limits are taken in where they are broken most, until none is broken. The multipliers of those taken in bound
        the program with all of them, since fewer limits never make the least value higher.
        """
        watch = watch or Stopwatch()
        own = np.zeros(len(self.denominators))
        np.maximum.at(own, self.variables, self._values * self._inverse[self.rows])
        floats = np.array([float(weight) for weight in weights])
        shares = floats if geometric else floats * own**2
        shares /= shares.sum()
        objective = Logarithms(shares) if geometric else InverseSquares(shares)
        best = np.full(len(own), 1 / float(self.loads(1 / own).max()))
        proved, off, multipliers, kept = -math.inf, 1.0, np.zeros(0), np.zeros(0, dtype=np.int64)
        active = self._first(own)
        for turn in range(1, _MOST_ROUNDS + 1):
            tolerance = max(gap / 64, off / 50) if len(active) < len(self) else gap / 64
            found = best_shares(objective, self._dense(active, own), best, tolerance)
            bound = objective.bound(self._dense(active, own).T @ found.multipliers, float(found.multipliers.sum()))
            loads = self.loads(found.x / own)
            inside = found.x / max(float(loads.max()), 1.0)
            best = min(best, inside, key=objective.value)
            if bound > proved:
                proved, multipliers, kept = bound, found.multipliers, active
            off = objective.excess(objective.value(best), proved)
            watch.tell(turn, unit="rounds", best=objective.value(best), bound=proved)
            if watch.over or off <= gap / 8 or len(active) == len(self):
                break
            known = np.isin(np.arange(len(self)), active)
            broken = np.flatnonzero((loads > 1 + max(off / 100, 1e-13)) & ~known)
            broken = broken[np.argsort(-loads[broken], kind="stable")[: 2 * len(own)]]
            quiet = active[found.multipliers < found.multipliers.max() * 1e-9] if turn > 2 else active[:0]
            spare = np.isin(active, quiet) & (loads[active] < 0.9)
            active = np.concatenate([active[~spare], broken]) if len(broken) else active
        scales = self.certified((own / best).tolist())
        if len(own) <= _MOST_POLISHED:
            scales = min(scales, self.certified(self._polished(own / best)), key=lambda one: _value(one, weights))
        shared = self.certified([float_above(Fraction(self.spent([1.0] * len(own)).part.upper))] * len(own))
        both = [scales, shared]
        value = _logarithms if geometric else _value
        found_scales, least = (
            min(both, key=lambda one: value(one, weights)),
            self.bound(kept, multipliers, weights, geometric),
        )
        return SteppedScales(found_scales, least, kept, multipliers)

    def _first(self, own: Floats) -> Places:
        """The limits to begin with: all, where they are few; else for each variable one that it alone could break."""
        if len(self) <= max(_ALL_AT_ONCE, 3 * len(own)):
            return np.arange(len(self))
        alone = np.zeros(len(own), dtype=np.int64)
        reaches = self._values * self._inverse[self.rows] >= own[self.variables] * (1 - 1e-12)
        alone[self.variables[reaches]] = self.rows[reaches]
        heavy = np.argsort(-self.loads(1 / own), kind="stable")[: 2 * len(own)]
        return np.unique(np.concatenate([alone, heavy]))

    def _dense(self, limits: Places, own: Floats) -> Floats:
        """Some limits as rows of a matrix, so that every row is at most 1 and every variable alone reaches 1."""
        matrix = np.zeros((len(limits), len(own)))
        place = np.full(len(self), -1, dtype=np.int64)
        place[limits] = np.arange(len(limits))
        taken = place[self.rows] >= 0
        rows, variables = self.rows[taken], self.variables[taken]
        matrix[place[rows], variables] = self._values[taken] * self._inverse[rows] / own[variables]
        return matrix

    def _polished(self, scales: Floats) -> Scales:
        """Each variable in turn takes all that the others leave, exactly; so a best scale that is a float is found."""
        result: Scales = scales.tolist()
        exact = [1 / Fraction(scale) for scale in result]
        for variable in range(len(result)):
            mine = np.flatnonzero(self.variables == variable)
            loads = self.loads(np.array([float(rate) for rate in exact]))
            room = (1 - loads[self.rows[mine]]) / (self._values[mine] * self._inverse[self.rows[mine]])
            rooms = []
            for place in mine[np.argsort(room, kind="stable")[:_NEAREST]].tolist():
                limit = int(self.rows[place])
                others = [(amount, exact[other]) for other, amount in self.amounts_of(limit) if other != variable]
                left = Fraction(self.distances[int(self.kinds[limit])].lower) - _total(others)[1]
                rooms.append(left * self.denominators[variable] / int(self.amounts[place]))
            if min(rooms) > 0:
                result[variable] = float_above(1 / min(rooms))
                exact[variable] = 1 / Fraction(result[variable])
        return result

    def bound(self, limits: Places, multipliers: Floats, weights: Sequence[Fraction], geometric: bool = False) -> float:
        """A number below ``sum w c²``, or below ``sum w ln c``, for all scales that keep the limits, in balls."""
        used = [(int(p), float(y)) for p, y in zip(limits, multipliers, strict=True) if y > 0]
        if not used:
            return -math.inf
        amounts = int((self._starts[limits + 1] - self._starts[limits]).sum())
        if amounts > _MOST_IN_BALLS and not geometric:
            return self._bound_in_floats(limits, multipliers, weights)
        with precision(_BITS):
            sums = [arb(0)] * len(self.denominators)
            for limit, y in used:
                share = ball(y) / ball(Fraction(self.distances[int(self.kinds[limit])].upper))
                for variable, amount in self.amounts_of(limit):
                    sums[variable] = sums[variable] + share * ball(amount)
            total = sum((ball(y) for _, y in used), start=arb(0))
            return sum_of_roots(sums, total, [ball(weight) for weight in weights], geometric)

    def _bound_in_floats(self, limits: Places, multipliers: Floats, weights: Sequence[Fraction]) -> float:
        """The same in floats: all terms are positive, so that a billionth is more than rounding can take."""
        shares = np.zeros(len(self))
        shares[limits] = multipliers * self._inverse[limits]
        sums = np.bincount(self.variables, weights=self._values * shares[self.rows], minlength=len(weights))
        roots = np.cbrt(np.array([float(weight) for weight in weights])) * np.cbrt(sums) ** 2
        return float(roots.sum() ** 3 / float(multipliers.sum()) ** 2) * (1 - 1e-9)


def sum_of_roots(sums: Sequence[arb], total: arb, weights: Sequence[arb], geometric: bool) -> float:
    """What multipliers y prove, rounded down, with ``sums = A^T y`` and ``total = sum y``; see `programs.convex`."""
    if geometric:
        whole = sum(weights, start=arb(0))
        bound = whole * (whole / total).log()
        for weight, value in zip(weights, sums, strict=True):
            bound += weight * (value / weight).log()
    else:
        roots = (weight.root(3) * (value * value).root(3) for weight, value in zip(weights, sums, strict=True))
        # 4 G³ / 27 with G = 3 · 2^(-2/3) R is R³.
        bound = sum(roots, start=arb(0)) ** 3 / (total * total)
    return float_below(Enclosure.of(bound).lower) if bound.is_finite() else -math.inf


def _total(terms: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """The sum of amounts times rates, from below and from above: exactly, where few rates differ.

    Sums of many different fractions grow long. Each rate is then rounded to 240 binary places of the largest one.
    """
    by_rate: dict[Fraction, Fraction] = {}
    for amount, rate in terms:
        by_rate[rate] = by_rate.get(rate, Fraction(0)) + amount
    if len(by_rate) <= _FEW_RATES:
        exact = sum((rate * amount for rate, amount in by_rate.items()), Fraction(0))
        return exact, exact
    unit = Fraction(2) ** (math.frexp(float(max(by_rate)))[1] - 240)
    floors = [(math.floor(rate / unit), amount) for rate, amount in by_rate.items()]
    below = sum((amount * floor for floor, amount in floors), Fraction(0)) * unit
    return below, below + sum(by_rate.values(), Fraction(0)) * unit


def _value(scales: Sequence[float], weights: Sequence[Fraction]) -> Fraction:
    return sum((weight * Fraction(scale) ** 2 for scale, weight in zip(scales, weights, strict=True)), Fraction(0))


def _logarithms(scales: Sequence[float], weights: Sequence[Fraction]) -> Fraction:
    pairs = list(zip(scales, weights, strict=True))
    return Fraction(enclose(lambda: sum((ball(w) * ball(scale).log() for scale, w in pairs), start=arb(0))).upper)
