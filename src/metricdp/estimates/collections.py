"""Columns of sets and of series: how many rows hold each element, and the mean of each reading."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metricdp.errors import ArgumentError, ColumnError, NotFiniteError, OutOfDomainError, UnknownCategoryError
from metricdp.estimates.computed import said_with
from metricdp.estimates.edited_values import EDITED
from metricdp.estimates.moments import FINE
from metricdp.estimates.reach import agresti_coull, noise_reach, normal_reach, student_reach
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import AS_GOOD, CHOSEN, ONE_ROW, Estimate, Estimates, Truth, as_good, known
from metricdp.policies.types.series import Series
from metricdp.policies.types.set_of import SetOf

__all__ = ["MeanCurve", "TopElements"]


@dataclass(frozen=True)
class TopElements:
    """The elements that most rows hold, of a column of sets.

    Each element is put in or out by a coin of its own, so its count is corrected by itself. Elements that noise lifts
    are among the most frequent more often than others: of those that are shown, the intervals fail no more often than
    the confidence says, since each is so sure as to make up for how many there were to choose from.

    Attributes:
        column: of sets.
        most: how many elements.

    References:
        Benjamini and Yekutieli 2005, *False discovery rate-adjusted multiple confidence intervals for selected
        parameters*, Theorem 1.

    >>> TopElements("hobbies", 3).text
    'the 3 most frequent elements of hobbies'
    """

    column: str
    most: int = 10

    def __post_init__(self) -> None:
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ArgumentError(f"most is a number of elements, 1 at least, not {self.most!r}")

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
        seen, rows, first = np.zeros(len(places)), 0, 0
        for ((array,),) in table.batches([column]):
            _check_sets(column, array, first)
            first += len(array)
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
        order = np.argsort(-corrected, kind="stable")[: self.most]
        chosen = len(order) < len(corrected)
        surer = 1 - (1 - confidence) * len(order) / len(corrected) if chosen else confidence
        shares = [_share(float(seen[place]), flip, rows, surer, truth) for place in order]
        found = tuple((said_with(one, confidence),) for one in shares)
        notes = (*table.doubts, CHOSEN) if chosen else table.doubts
        labels = tuple((str(column.values[place]),) for place in order)
        return Estimates(self.text, (self.column,), labels, ("count(*)",), found, rows, notes, table.private)


def _check_missing(column: SetOf | Series, array: pa.Array, first: int) -> None:
    """Refuse a missing value where none can be."""
    if column.missing == "refuse" and array.null_count:
        row = first + int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise ColumnError(column.columns[0], NotFiniteError("a value is missing, which is refused", row))


def _check_sets(column: SetOf, array: pa.Array, first: int) -> None:
    """Refuse what no release is: a set that is missing where none can be, or that holds an element twice."""
    _check_missing(column, array, first)
    rows = pc.list_parent_indices(array).to_numpy().astype(np.int64)
    elements = pc.list_flatten(array).dictionary_encode()
    pairs = rows * (len(elements.dictionary) + 1) + elements.indices.fill_null(-1).to_numpy().astype(np.int64)
    _, places = np.unique(pairs, return_index=True)
    if len(places) < len(pairs):
        twice = np.ones(len(pairs), dtype=bool)
        twice[places] = False
        raise ColumnError(column.columns[0], OutOfDomainError(EDITED, first + int(rows[np.argmax(twice)])))


def _share(seen: float, flip: float, rows: int, confidence: float, truth: Truth) -> Estimate:
    share, z = seen / rows, normal_reach(1 - confidence)
    if truth == "table":
        centre, reach = share, z * math.sqrt(flip * (1 - flip) / rows) + 0.5 / rows  # half a coin, as coins are whole
    else:
        centre, reach = agresti_coull(share, share, rows, 0.0, 1.0, z)
    low, high = (
        min(max(rows * (end - flip) / (1 - 2 * flip), 0.0), float(rows)) for end in (centre - reach, centre + reach)
    )
    value, noise = min(max(rows * (share - flip) / (1 - 2 * flip), low), high), rows * reach / (1 - 2 * flip)
    good = as_good(abs(seen - value), noise, confidence, rows * reach, (value, rows - value))
    return Estimate(
        value,
        (low, high),
        seen,
        confidence,
        noise,
        "inversion of each element's coin",
        False,
        truth,
        (AS_GOOD,) if good else (),
        rows,
        good,
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
        total, squares, rows, first = np.zeros(column.length), np.zeros(column.length), 0, 0
        for ((array,),) in table.batches([column]):
            _check_missing(column, array, first)
            first += len(array)
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
        noise, far = _reading_variance(column), noise_reach(1 - confidence, rows)
        variance = np.full(column.length, noise)
        if truth == "population":
            far = student_reach(1 - confidence, rows - 1)
            variance = np.maximum(variance, (squares / rows - means**2) * rows / max(1, rows - 1))
        off = _rounding_bias(column)
        reach = far * np.sqrt(variance / rows) + off
        note: tuple[str, ...] = ("The value as released is as good here: noise on readings is symmetric.",)
        if rows == 1 and truth == "population":
            note = (*note, ONE_ROW)
        method = "the mean as released, with the interval of its noise" + (" and of its rounding" if off else "")
        found = []
        for mean, end in zip(means.tolist(), reach.tolist(), strict=True):
            ends, said = (mean - end, mean + end), (method, off > 0, truth, note, rows, True)
            found.append((Estimate(mean, ends, mean, confidence, known(end), *said),))
        labels = tuple((str(place),) for place in range(1, column.length + 1))
        return Estimates(self.text, ("reading",), labels, ("mean",), tuple(found), rows, table.doubts, table.private)


def _reading_variance(column: Series) -> float:
    """Of one reading: the maximum norm has a Gamma law of n + 1, and within the cube a reading is uniform.

    The norm r of the noise has density proportional to r^(n - 1) exp(-e r). With probability 1/n a reading is the one
    that reaches it, otherwise it is uniform within: its second moment is ``E r^2 (1/n + (1 - 1/n) / 3)``.
    """
    mechanism: Any = column.mechanism
    size, level, width = column.length, float(mechanism.metric.level), float(mechanism.resolution)
    return size * (size + 1) / level**2 * (1 / size + (1 - 1 / size) / 3) + width**2 / 12


def _rounding_bias(column: Series) -> float:
    """How far rounding to the grid moves the mean of a reading, at most, where the grid is coarse beside the noise.

    Rounding is off by ``w / pi * sum_m (-1)^m sin(2 pi m y / w) / m``, and its mean by the same with the noise's
    characteristic function f at ``k = 2 pi m / w`` as factor: ``f(k) = C(k, n) / n + e S(k, n - 1) / (k n)``, where C
    and S are the parts of the Gamma law's, ``(1 - i k / e)^-n``.
    """
    mechanism: Any = column.mechanism
    size, level, width = column.length, float(mechanism.metric.level), float(mechanism.resolution)
    if width * level <= FINE:
        return 0.0
    terms = np.arange(1, 200)
    far = 2 * math.pi * terms / width
    whole = ((1 - 1j * far / level) ** -size).real / size
    if size > 1:
        whole = whole + level / far * ((1 - 1j * far / level) ** -(size - 1)).imag / size
    return float(width / math.pi * (np.abs(whole) / terms).sum())
