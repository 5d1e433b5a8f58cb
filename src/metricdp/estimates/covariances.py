"""Means, covariances, correlations and linear regressions of columns with noise, by corrected scores.

For a number x released as y there is a score whose expectation is x, and one whose expectation is x squared. Noise is
independent from column to column, so the product of two columns' scores has the expectation of the product. From these
averages every covariance follows, and from covariances the regression, as if there were no noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, ColumnError, DataError
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.outlines import outlines_of
from metricdp.estimates.plan import column_line
from metricdp.estimates.reach import student_reach
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import AS_GOOD, Estimate, Estimates, Truth, as_good
from metricdp.exact.arrays import Floats
from metricdp.policies.types._finite import OneOf

__all__ = ["CERTAIN", "Correlation", "Regression", "columns_together", "refuse_coarse"]

CERTAIN = 4.0
"""By how many standard deviations a number has to be above 0 before anything is divided by it."""


_COARSE = 0.25
"""Steps wider than so much of the noise's scale are too coarse for what is not linear."""


@dataclass(frozen=True)
class Correlation:
    """The correlation of two columns of numbers, days or booleans.

    Attributes:
        first: a column.
        second: another one.

    >>> Correlation("distance", "delay").text
    'correlation of distance and delay'
    """

    first: str
    second: str

    @property
    def text(self) -> str:
        """In words."""
        return f"correlation of {self.first} and {self.second}"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        moments = _Moments.of(table, (self.first, self.second))

        first, second = (moments.is_certain(partial(_variance_at, moments, place)) for place in (0, 1))
        certain = first and second

        def value(mean: Floats) -> float:
            spread = _covariance(moments, mean)
            if not certain or spread[0, 0] <= 0 or spread[1, 1] <= 0:
                return math.nan
            return float(spread[0, 1] / math.sqrt(spread[0, 0] * spread[1, 1]))

        one = moments.estimate(value, confidence, truth, 2, (-1.0, 1.0))
        return _estimates(self.text, ("correlation",), [one], table, moments.rows)


@dataclass(frozen=True)
class Regression:
    """The linear regression of one column on others, with an intercept, by least squares of the secrets.

    Attributes:
        target: what is explained.
        by: what it is explained by; noise in these would pull slopes to zero if it were left alone.

    >>> Regression("delay", ["distance"]).text
    'delay explained by distance'
    """

    target: str
    by: Sequence[str]

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.target} explained by {', '.join(self.by)}"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        if not self.by or isinstance(self.by, str):
            raise ArgumentError("by=[..] lists the columns that explain, one at least")
        moments = _Moments.of(table, (self.target, *self.by))

        size = len(self.by) + 1
        weak = np.linalg.eigh(_covariance(moments, moments.mean)[1:, 1:])[1][:, 0]
        certain = moments.is_certain(lambda mean: float(weak @ _covariance(moments, mean)[1:, 1:] @ weak))

        def coefficients(mean: Floats) -> Floats:
            spread = _covariance(moments, mean)
            inner = spread[1:, 1:]
            if not (certain or mean is moments.naive) or np.linalg.eigvalsh(inner)[0] <= 1e-9 * np.trace(inner):
                return np.full(len(self.by) + 1, math.nan)
            slopes = np.linalg.solve(inner, spread[1:, 0])
            means = mean[:size] + moments.centres
            return np.concatenate([[means[0] - slopes @ means[1:]], slopes])

        found = [
            moments.estimate(lambda mean, place=place: float(coefficients(mean)[place]), confidence, truth, size)  # type: ignore[misc]
            for place in range(size)
        ]
        names = ("intercept", *(f"slope of {name}" for name in self.by))
        return _estimates(self.text, names, found, table, moments.rows)


def _estimates(
    text: str, names: tuple[str, ...], found: list[Estimate], table: ReleasedTable, rows: float
) -> Estimates:
    return Estimates(text, (), ((),), names, (tuple(found),), int(rows), table.doubts, table.private)


def _variance_at(moments: _Moments, place: int, mean: Floats) -> float:
    return float(_covariance(moments, mean)[place, place])


def _covariance(moments: _Moments, mean: Floats) -> Floats:
    size = moments.size
    spread = np.zeros((size, size))
    for place, (one, two) in enumerate(moments.pairs):
        spread[one, two] = spread[two, one] = mean[size + place] - mean[one] * mean[two]
    return spread


def refuse_coarse(column: Any, line: LineLaw | None) -> None:
    """Refuse a column whose releases are rounded so coarsely that squares and curves of its numbers are not corrected.

    Raises:
        ArgumentError: they are.
    """
    if line is not None and not line.is_geometric and line.width > _COARSE * line.tail:
        raise ArgumentError(
            f"column {column.columns[0]!r}: its releases are rounded too coarsely for correlations and regressions; "
            "averages and counts can be asked for"
        )


def columns_together(table: ReleasedTable, names: Sequence[str]) -> dict[str, Any]:
    """The columns of these names, whose values are used row by row.

    Raises:
        ArgumentError: one stands there twice, or its missing values are secret.
    """
    if len(set(names)) < len(names):
        raise ArgumentError("a column stands there twice")
    columns = {name: table.column(name) for name in names}
    for name, column in columns.items():
        table.check(column)
        if column.missing == "secret":
            raise ArgumentError(f"column {name!r}: missing values are secret there, and only averages are corrected")
    return columns


@dataclass(frozen=True, eq=False)
class _Moments:
    """Averages over the rows of every column's score and of every product, with their covariance.

    Attributes:
        size: how many columns.
        pairs: which two columns each product is of.
        centres: of the columns: numbers are what they lie above these.
        mean: of the corrected scores, then of the products.
        naive: the same of the released values themselves.
        covariance: of one row's scores.
        rows: how many.
    """

    size: int
    pairs: tuple[tuple[int, int], ...]
    centres: Floats
    mean: Floats
    naive: Floats
    covariance: Floats
    rows: float

    @classmethod
    def of(cls, table: ReleasedTable, names: Sequence[str]) -> _Moments:
        """Read the table, batch by batch; a row with a missing value is left out where that is public."""
        columns = columns_together(table, names)
        outlines, rows, types = outlines_of(table, columns)
        if rows < 2:
            raise ArgumentError("two rows at least are wanted")
        readers, centres = zip(*(_reader(one, types, outlines, rows) for one in columns.values()), strict=True)
        size = len(names)
        pairs = tuple((one, two) for one in range(size) for two in range(one, size))
        width = size + len(pairs)
        total, naive, squares, number, first = np.zeros(width), np.zeros(width), np.zeros((width, width)), 0, 0
        for arrays in table.batches(list(columns.values())):
            parts = []
            for name, reader, given in zip(names, readers, arrays, strict=True):
                try:
                    parts.append(reader(given))
                except ColumnError:
                    raise
                except DataError as error:
                    raise ColumnError(name, error.shifted(first)) from None
            first += len(arrays[0][0])
            there = np.logical_and.reduce([part[3] for part in parts])
            scores = np.stack([part[0] for part in parts], axis=1)[there]
            doubled = np.stack([part[1] for part in parts], axis=1)[there]
            plain = np.stack([part[2] for part in parts], axis=1)[there]
            rows_of = [doubled[:, a] if a == b else scores[:, a] * scores[:, b] for a, b in pairs]
            made = np.concatenate([scores, np.stack(rows_of, axis=1)], axis=1)
            total += made.sum(axis=0)
            squares += made.T @ made
            naive += np.concatenate([plain.sum(axis=0), [plain[:, a] @ plain[:, b] for a, b in pairs]])
            number += len(made)
        if number < 2:
            raise ArgumentError("two rows with values in all of these columns are wanted")
        mean = total / number
        covariance = squares / number - np.outer(mean, mean)
        return cls(size, pairs, np.array(centres), mean, naive / number, covariance, float(number))

    def estimate(
        self,
        function: Callable[[Floats], float],
        confidence: float,
        truth: Truth,
        fitted: int,
        ends: tuple[float, float] | None = None,
    ) -> Estimate:
        """A smooth function of the averages, with the interval of its linear part; ``fitted`` rows alone tell none."""
        value, naive = function(self.mean), function(self.naive)
        notes: tuple[str, ...] = ()
        low, high = ends or (-math.inf, math.inf)
        reach = math.inf
        if math.isfinite(value):
            spreads = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300) / self.rows)
            slopes = np.array([self._slope(function, place, 1e-4 * spreads[place]) for place in range(len(self.mean))])
            variance = float(slopes @ self.covariance @ slopes) / self.rows
            if self.rows > fitted:
                reach = student_reach(1 - confidence, self.rows - fitted) * math.sqrt(max(variance, 0.0))
            low, high = max(low, value - reach), min(high, value + reach)
        else:
            notes = (
                "The noise is so much wider than the secrets' own spread that these rows do not tell the spread apart "
                "from 0, and so nothing of what is divided by it.",
            )
            value = math.nan if ends is None else 0.0
        if math.isfinite(value) and math.isinf(reach):
            notes = (*notes, f"{fitted + 1} rows at least tell how far noise moves the value.")
        good = math.isfinite(value) and as_good(abs(naive - value), reach, confidence)
        if good:
            notes = (*notes, AS_GOOD)
        method = "corrected scores, and the normal law for smooth functions of their averages"
        return Estimate(
            min(max(value, low), high) if math.isfinite(value) else value,
            (low, high),
            naive if math.isfinite(naive) else None,
            confidence,
            reach if math.isfinite(reach) else None,
            method,
            truth == "table",
            truth,
            notes,
            int(self.rows),
            good,
        )

    def is_certain(self, function: Callable[[Floats], float]) -> bool:
        """Whether a function of the averages is above 0 by far more than noise moves it: it may be divided by."""
        spreads = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300) / self.rows)
        slopes = np.array([self._slope(function, place, 1e-4 * spreads[place]) for place in range(len(self.mean))])
        return function(self.mean) > CERTAIN * math.sqrt(max(float(slopes @ self.covariance @ slopes), 0.0) / self.rows)

    def _slope(self, function: Callable[[Floats], float], place: int, step: float) -> float:
        up, down = self.mean.copy(), self.mean.copy()
        up[place] += step
        down[place] -= step
        found = (function(up) - function(down)) / (2 * step)
        return found if math.isfinite(found) else 0.0


_Reader = Callable[[Any], tuple[Floats, Floats, Floats, Any]]


def _reader(column: Any, types: Any, outlines: Any, rows: float) -> tuple[_Reader, float]:
    """For a batch of a column: scores of the number and of its square, the released number, and what is there.

    All of them are about what numbers lie above a centre, which is the second thing that is returned.
    """
    if isinstance(column, OneOf):
        law = ListedLaw(column)
        if isinstance(column.listed[0], str):
            raise ArgumentError(f"column {column.columns[0]!r} is a category: it has no number")
        numbers = np.array([0.0 if label is None else float(label) for label in law.labels])
        weights = np.linalg.solve(law.matrix, np.stack([numbers, numbers**2], axis=1))

        def listed(arrays: Any) -> tuple[Floats, Floats, Floats, Any]:
            codes = law.codes(arrays)
            return weights[codes, 0], weights[codes, 1], numbers[codes], ~law.missing[codes]

        return listed, 0.0
    score, line, read = column_line(column, types, outlines, rows)
    refuse_coarse(column, line)

    def numbered(arrays: Any) -> tuple[Floats, Floats, Floats, Any]:
        values, absent = read(arrays)
        return *score.pair(values, score.codes(values, absent)), values - score.centre, ~absent

    return numbered, score.centre
