"""Columns of sets and of series: how many rows hold each element, and the mean of each reading."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow.compute as pc

from metricdp.errors import ArgumentError, ColumnError, UnknownCategoryError
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import AS_GOOD, Estimate, Estimates, Truth, as_good
from metricdp.policies.types.series import Series
from metricdp.policies.types.set_of import SetOf

__all__ = ["MeanCurve", "TopElements"]


@dataclass(frozen=True)
class TopElements:
    """The elements that most rows hold, of a column of sets.

    Each element is put in or out by a coin of its own, so its count is corrected by itself.

    Attributes:
        column: of sets.
        most: how many elements.

    >>> TopElements("hobbies", 3).text
    'the 3 most frequent elements of hobbies'
    """

    column: str
    most: int = 10

    @property
    def text(self) -> str:
        """In words."""
        return f"the {self.most} most frequent elements of {self.column}"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        column = table.column(self.column)
        if not isinstance(column, SetOf) or column.release != "noise":
            raise ArgumentError(f"column {self.column!r} is no column of sets that is released with noise")
        table.check(column)
        places = {element: place for place, element in enumerate(column.values)}
        seen, rows = np.zeros(len(places)), 0
        for ((array,),) in table.batches([column]):
            for item in pc.value_counts(pc.list_flatten(array)).to_pylist():
                if item["values"] not in places:
                    raise ColumnError(self.column, UnknownCategoryError("an element is not in the declared universe"))
                seen[places[item["values"]]] += item["counts"]
            rows += len(array) - array.null_count
        if not rows:
            raise ArgumentError("the released table has no rows with a set, and so says nothing")
        mechanism: Any = column.mechanism
        flip = 1 / (1 + math.exp(float(mechanism.metric.level)))
        corrected = (seen / rows - flip) / (1 - 2 * flip)
        shares = np.clip(corrected, 0, 1)
        variance = np.full(len(shares), flip * (1 - flip))
        if truth == "population":
            released = flip + (1 - 2 * flip) * shares
            variance = released * (1 - released)
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance / rows) / (1 - 2 * flip)
        order = np.argsort(-corrected, kind="stable")[: self.most]
        found = tuple((_share(place, corrected, reach, seen, rows, confidence, truth),) for place in order)
        labels = tuple((str(column.values[place]),) for place in order)
        return Estimates(self.text, (self.column,), labels, ("count(*)",), found, rows, table.doubts, table.private)


def _share(place: int, corrected: Any, reach: Any, seen: Any, rows: int, confidence: float, truth: Truth) -> Estimate:
    low, high = (min(max(rows * (corrected[place] + side * reach[place]), 0.0), rows) for side in (-1, 1))
    value = min(max(rows * float(corrected[place]), low), high)
    good = as_good(abs(seen[place] - value), rows * float(reach[place]), confidence)
    return Estimate(
        float(value),
        (float(low), float(high)),
        float(seen[place]),
        confidence,
        float(rows * reach[place]),
        "inversion of each element's coin",
        False,
        truth,
        (AS_GOOD,) if good else (),
        rows,
    )


@dataclass(frozen=True)
class MeanCurve:
    """The mean of each reading of a column of series.

    Noise on readings is symmetric, so the mean as released is right on average; what it lacks is its interval.

    Attributes:
        column: of series.

    >>> MeanCurve("meter").text
    'mean curve of meter'
    """

    column: str

    @property
    def text(self) -> str:
        """In words."""
        return f"mean curve of {self.column}"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        column = table.column(self.column)
        if not isinstance(column, Series) or column.release != "noise":
            raise ArgumentError(f"column {self.column!r} is no column of series that is released with noise")
        table.check(column)
        total, squares, rows = np.zeros(column.length), np.zeros(column.length), 0
        for ((array,),) in table.batches([column]):
            flat = pc.list_flatten(array.drop_null()).to_numpy(zero_copy_only=False)
            if len(flat) % column.length or not np.isfinite(flat).all():
                rule = f"a series of {column.length} finite readings is wanted: the table was edited"
                raise ColumnError(self.column, UnknownCategoryError(rule))
            readings = flat.reshape(-1, column.length)
            total, squares, rows = (
                total + readings.sum(axis=0),
                squares + (readings**2).sum(axis=0),
                rows + len(readings),
            )
        if rows < 1:
            raise ArgumentError("the released table has no rows with a series, and so says nothing")
        means = total / rows
        variance = np.maximum(squares / rows - means**2, 0.0) * rows / max(1, rows - 1)
        if truth == "table" or rows == 1:
            noise = _reading_variance(column)
            variance = np.full(column.length, noise) if truth == "table" else variance + noise
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance / rows)
        note = ("The value as released is as good here: noise on readings is symmetric.",)
        method = "the mean as released, with the interval of its noise"
        found = tuple(
            (Estimate(mean, (mean - far, mean + far), mean, confidence, far, method, False, truth, note, rows),)
            for mean, far in zip(means.tolist(), reach.tolist(), strict=True)
        )
        labels = tuple((str(place),) for place in range(1, column.length + 1))
        return Estimates(self.text, ("reading",), labels, ("mean",), found, rows, table.doubts, table.private)


def _reading_variance(column: Series) -> float:
    """Of one reading: the maximum norm has a Gamma law of n + 1, and within the cube a reading is uniform.

    The norm r of the noise has density proportional to r^(n - 1) exp(-e r). With probability 1/n a reading is the one
    that reaches it, otherwise it is uniform within: its second moment is ``E r^2 (1/n + (1 - 1/n) / 3)``.
    """
    mechanism: Any = column.mechanism
    size, level = column.length, float(mechanism.metric.level)
    return size * (size + 1) / level**2 * (1 / size + (1 - 1 / size) / 3)
