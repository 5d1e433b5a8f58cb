"""What a released table says at face value: the same question, taken literally."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metricdp.estimates.conditions import SecretFunction, terms_of
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.plan import Counted, KeptLaw
from metricdp.exact.arrays import Booleans, Floats
from metricdp.policies.sql.predicates import Predicate

__all__ = ["Naive", "NaiveRows"]


@dataclass(frozen=True, eq=False)
class NaiveRows:
    """The released rows that a group holds at face value.

    Attributes:
        counted: the tally.
        chosen: which combinations of outputs belong to it.
        looks: for each case of the condition, which outputs of each column belong to it.
    """

    counted: Counted
    chosen: Booleans
    looks: tuple[dict[str, Booleans], ...]

    @property
    def weights(self) -> Floats:
        """How many rows of each combination."""
        return np.where(self.chosen, self.counted.tally.counts, 0.0)

    def present(self, name: str) -> Booleans:
        """Which combinations have a value in a column."""
        if name in self.counted.laws:
            return np.asarray(~output_missing(self.counted, name)[self.counted.codes(name)])
        if name not in self.counted.moments:  # nothing was asked of it but whether it is there, and it always is
            return np.ones(len(self.chosen), dtype=bool)
        return np.asarray(self.counted.offsets(name) != 3)

    def count(self, name: str | None) -> float:
        """How many rows, with a value in the column where one is named."""
        weights = self.weights
        return float(weights.sum() if name is None else weights[self.present(name)].sum())

    def count_spread(self, drawn: bool) -> float:
        """The standard deviation of how many there are, about: by the noise, or also by how rows are drawn.

        A row of secret x looks like one of them with a probability p(x), and varies by p - p^2: that is the share of
        such rows, less the average of p^2, for which the fitted shares stand.
        """
        rows, variance = self.counted.rows, 0.0
        for term in self.looks:
            inside, kept = np.ones(len(self.chosen), dtype=bool), 1.0
            for name, outputs in term.items():
                inside &= outputs[self.counted.codes(name)]
                law = self.counted.laws[name]
                if not law.is_exact:
                    named = np.flatnonzero(outputs)
                    few = len(named) < len(outputs) / 2
                    like = law.matrix[:, named].sum(axis=1) if few else law.matrix @ outputs
                    average = float(law.fitted.shares @ like)
                    kept *= float(law.fitted.shares @ like**2) / average if average else 0.0
            share = float(self.counted.tally.counts[inside].sum()) / rows
            variance += share * (1 - (share if drawn else kept))
        return math.sqrt(rows * max(0.0, variance))

    def mean_spread(self, name: str, drawn: bool) -> float:
        """The standard deviation of the average of a column, at most: that of its numbers, and of its noise alone."""
        there = self.chosen & self.present(name)
        counts = self.counted.tally.counts[there]
        number = float(counts.sum())
        if not number:
            return 0.0
        if name in self.counted.moments:
            sums, squares = (part[there].sum() / number for part in self.counted.sums(name))
        else:
            numbers = output_numbers(self.counted, name)[self.counted.codes(name)][there]
            numbers = numbers - numbers.mean()
            sums, squares = counts @ numbers / number, counts @ numbers**2 / number
        variance = max(0.0, float(squares - sums**2))
        among_noise = any(not self.counted.laws[column].is_exact for term in self.looks for column in term)
        if name in self.counted.moments and not drawn and not among_noise:
            variance = min(variance, self.counted.moments[name].noise_variance)
        return math.sqrt(variance / number)

    def total(self, name: str) -> float:
        """The sum of a column."""
        if name in self.counted.moments:
            there, centre = self.chosen & self.present(name), self.counted.moments[name].centre
            return float((self.counted.sums(name)[0] + centre * self.counted.tally.counts)[there].sum())
        numbers = output_numbers(self.counted, name)[self.counted.codes(name)]
        return float((self.weights * numbers)[self.present(name)].sum())

    def mean(self, name: str) -> float | None:
        """The average of a column; None where there are no rows."""
        number = self.count(name)
        return self.total(name) / number if number else None

    def percentile(self, name: str, share: float) -> float | None:
        """A percentile of a column, to the nearest cut of its outputs; None where there are no rows."""
        weights = self.weights * self.present(name)
        if not weights.sum():
            return None
        numbers = output_numbers(self.counted, name)[self.counted.codes(name)]
        order = np.argsort(numbers, kind="stable")
        reached = np.cumsum(weights[order]) >= share * weights.sum() - 1e-9
        return float(numbers[order][int(np.argmax(reached))])


class Naive:
    """A condition at face value: each output is taken for the secret that it looks like."""

    def __init__(self, counted: Counted, where: Predicate | None) -> None:
        self._counted = counted
        self._terms = terms_of(where, counted)

    def rows(self, group: Mapping[str, SecretFunction]) -> NaiveRows:
        """The rows of a group."""
        chosen = np.zeros(len(self._counted.tally.counts), dtype=bool)
        looks: list[dict[str, Booleans]] = []
        for term in self._terms:
            inside = np.ones(len(chosen), dtype=bool)
            columns: dict[str, Booleans] = {}
            for product in (term, group):
                for name, factor in product.items():
                    like = self._looks_like(name, factor)
                    columns[name] = like & columns.get(name, True)
                    inside &= like[self._counted.codes(name)]
            chosen |= inside
            looks.append(columns)
        return NaiveRows(self._counted, chosen, tuple(looks))

    def _looks_like(self, name: str, factor: SecretFunction) -> Booleans:
        """For each output, whether the function is 1 at the secret that is nearest to it."""
        law = self._counted.laws[name]
        holds = (factor.low + factor.high) > 1.0
        if not isinstance(law, LineLaw):
            return holds
        nearest = np.clip(np.searchsorted(law.points, output_numbers(self._counted, name)), 0, len(law.points) - 1)
        before = np.maximum(nearest - 1, 0)
        outputs = output_numbers(self._counted, name)
        nearest = np.where(
            np.abs(law.points[before] - outputs) <= np.abs(law.points[nearest] - outputs), before, nearest
        )
        found = holds[nearest]
        if law.missing.any():
            found[-1] = holds[-1]
        return np.asarray(found)


def output_numbers(counted: Counted, name: str) -> Floats:
    """The number that each output looks like: the average of those released in its group; its middle where none was."""
    law = counted.laws[name]
    if isinstance(law, KeptLaw | ListedLaw):
        return counted.numbers(name)
    first, last = (law._cell(end) for end in law.ends)
    starts = np.concatenate([[min(first, law.cuts[0] - 1)], law.cuts])
    stops = np.concatenate([law.cuts - 1, [max(last, law.cuts[-1])]])
    seen = counted.outlines[name]
    middles = np.clip((starts + stops) / 2 * law.width + law.origin, seen.least, seen.greatest)
    middles = np.where(np.isnan(law.released_means), middles, law.released_means)
    return np.append(middles, 0.0) if law.missing.any() else middles


def output_missing(counted: Counted, name: str) -> Booleans:
    """Which outputs are a missing value."""
    law = counted.laws[name]
    if isinstance(law, KeptLaw | ListedLaw):
        return np.asarray(law.missing)
    missing = np.zeros(law.matrix.shape[1], dtype=bool)
    if law.missing.any():
        missing[-1] = True
    return missing
