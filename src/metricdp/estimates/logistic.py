"""Logistic regression with noise in what explains and in what is explained, by corrected scores.

For Laplace noise of scale b, ``E[f(y) - b^2 f''(y)] = f(x)`` for every smooth f: the noise's characteristic function is
``1 / (1 + b^2 t^2)``, and the operator takes it away. For geometric noise of decay a per step the second difference
times ``a / (1 - a)^2`` does the same exactly. What a bound clamped is on average ``f(L) - b f'(L)`` at the lower bound,
``f(U) + b f'(U)`` at the upper one, by partial integration. Categories are undone by the inverse of their law. Noise is
independent from column to column, so the operators are applied one after the other, and the sum over rows of the
corrected score has the expectation that the score of the secrets has: its root estimates theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, ColumnError, DataError
from metricdp.estimates.covariances import CERTAIN, columns_together, refuse_coarse
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.outlines import outlines_of
from metricdp.estimates.plan import column_line
from metricdp.estimates.reach import student_reach
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import AS_GOOD, Estimate, Estimates, Truth, as_good
from metricdp.exact.arrays import Booleans, Floats
from metricdp.policies.types._finite import OneOf

__all__ = ["LogisticRegression"]

_STEP = 0.05
_ROUNDS = 60
_BLOCK = 65_536
_MOST = 6

Stencil = tuple[Floats, Floats]
"""For each row, points and weights: the weighted sum of a function there is its value at the secret, on average."""


@dataclass(frozen=True)
class LogisticRegression:
    """The logistic regression of a yes-or-no column on others, with an intercept: the likeliest one for the secrets.

    Attributes:
        target: what is explained: a column of booleans, or a category.
        by: what it is explained by: numbers, days, booleans; noise in these would pull slopes to zero.
        value: which value of the target counts as yes.

    >>> LogisticRegression("smokes", ["age"]).text
    'whether smokes is true, explained by age'
    """

    target: str
    by: Sequence[str]
    value: Any = True

    @property
    def text(self) -> str:
        """In words."""
        value = str(self.value).lower() if isinstance(self.value, bool) else str(self.value)
        return f"whether {self.target} is {value}, explained by {', '.join(self.by)}"

    def answer(self, table: ReleasedTable, confidence: float, truth: Truth) -> Estimates:
        """See `metricdp.estimates.estimate`."""
        if not self.by or isinstance(self.by, str) or len(self.by) > _MOST:
            raise ArgumentError(f"by=[..] lists the columns that explain, one at least and {_MOST} at most")
        rows = _Rows.of(table, self)
        naive, _ = rows.plain().root(np.zeros(len(self.by) + 1))
        found, spread = rows.root(naive)
        names = ("intercept", *(f"slope of {name}" for name in self.by))
        z = student_reach(1 - confidence, rows.size - len(names))
        answers = tuple(
            _estimate(value, z * deviation, plain, confidence, truth, rows.size)
            for value, deviation, plain in zip(found, spread, naive, strict=True)
        )
        return Estimates(self.text, (), ((),), names, (answers,), rows.size, table.doubts, table.private)


def _estimate(value: float, reach: float, naive: float, confidence: float, truth: Truth, rows: int) -> Estimate:
    method = "the root of corrected scores, and the normal law for its distance from that of the secrets"
    plain = float(naive) if math.isfinite(naive) else None
    if not math.isfinite(value) or not math.isfinite(reach):
        why = (
            "The corrected score has no root: there are too few rows for such noise, or the two are too well separated."
        )
        ends = (-math.inf, math.inf)
        return Estimate(math.nan, ends, plain, confidence, None, method, True, truth, (why,), rows)
    good = plain is not None and as_good(abs(plain - value), float(reach), confidence)
    notes = (AS_GOOD,) if good else ()
    interval = float(value - reach), float(value + reach)
    return Estimate(
        float(value), interval, plain, confidence, float(reach), method, truth == "table", truth, notes, rows, good
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is explained, corrected, and the stencils of what explains, row by row; numbers in units of their spread."""

    target: Floats
    stencils: tuple[Stencil, ...]
    released: Floats
    face: Floats
    centre: Floats
    unit: Floats

    @property
    def size(self) -> int:
        return len(self.target)

    @classmethod
    def of(cls, table: ReleasedTable, asked: LogisticRegression) -> _Rows:
        """Read the table; a row with a missing value is left out where that is public."""
        names = (asked.target, *asked.by)
        columns = columns_together(table, names)
        outlines, number, types = outlines_of(table, columns)
        if number < 2:
            raise ArgumentError("two rows at least are wanted")
        readers: list[Any] = [_yes_or_no(columns[asked.target], asked)]
        readers += [_Explains(columns[name], types, outlines, number) for name in asked.by]
        parts: list[list[Any]] = [[] for _ in names]
        first = 0
        for arrays in table.batches(list(columns.values())):
            read = []
            for name, reader, given in zip(names, readers, arrays, strict=True):
                try:
                    read.append(reader(given))
                except ColumnError:
                    raise
                except DataError as error:
                    raise ColumnError(name, error.shifted(first)) from None
            there: Booleans = np.logical_and.reduce([part[-1] for part in read])
            for part, made in zip(parts, read, strict=True):
                part.append(tuple(array[there] for array in made[:-1]))
            first += len(arrays[0][0])
        whole = [tuple(np.concatenate(arrays) for arrays in zip(*part, strict=True)) for part in parts]
        released = np.stack([part[0] for part in whole[1:]], axis=1)
        if len(released) < 2:
            raise ArgumentError("two rows with values in all of these columns are wanted")
        centre, unit = released.mean(axis=0), np.maximum(released.std(axis=0), 1e-12)
        stencils = tuple(
            ((points - centre[place]) / unit[place], weights) for place, (_, points, weights) in enumerate(whole[1:])
        )
        return cls(whole[0][0], stencils, (released - centre) / unit, whole[0][1], centre, unit)

    def plain(self) -> _Rows:
        """The same at face value."""
        ones = np.ones((self.size, 1))
        stencils = tuple((column[:, None], ones) for column in self.released.T)
        return _Rows(self.face, stencils, self.released, self.face, self.centre, self.unit)

    def root(self, start: Floats) -> tuple[Floats, Floats]:
        """The coefficients at which corrected scores add up to 0, and their standard deviations; nan without one."""
        inside = self._scaled(start)
        nothing = np.full(len(inside), math.nan)
        score, slope, _ = self._sums(inside)
        for _ in range(_ROUNDS):
            if not np.isfinite(slope).all() or np.linalg.cond(slope) > 1e10:
                return nothing, nothing
            step = np.linalg.solve(slope, score)
            length = 1.0
            while length > 1e-4:
                tried = inside + length * step
                after, bent, squares = self._sums(tried)
                if np.isfinite(after).all() and np.linalg.norm(after) < np.linalg.norm(score):
                    break
                length /= 2
            else:
                break
            inside, score, slope = tried, after, bent
            if np.linalg.norm(step) < 1e-9:
                break
        score, slope, squares = self._sums(inside)
        if np.linalg.norm(score) > 1e-6 or not self._is_certain(inside, np.linalg.eigh((slope + slope.T) / 2)[1][:, 0]):
            return nothing, nothing
        inverse = np.linalg.inv(slope)
        covariance = inverse @ squares @ inverse.T / self.size
        change = self._change()
        return change @ inside, np.sqrt(np.maximum(np.diag(change @ covariance @ change.T), 0.0))

    def _change(self) -> Floats:
        """From coefficients of numbers in units of their spread to those of the numbers themselves."""
        change = np.diag(np.concatenate([[1.0], 1 / self.unit]))
        change[0, 1:] = -self.centre / self.unit
        return change

    def _scaled(self, outside: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self._change(), outside) if np.isfinite(outside).all() else 0 * outside)

    def _is_certain(self, inside: Floats, direction: Floats) -> bool:
        """Whether what the rows tell along a direction is above 0 by far more than noise moves it."""
        told = np.zeros(self.size)
        for weight, row, block in self._terms():
            share = 1 / (1 + np.exp(-np.clip(row @ inside, -500, 500)))
            told[block] += weight * share * (1 - share) * (row @ direction) ** 2
        return bool(told.mean() > CERTAIN * told.std() / math.sqrt(self.size))

    def _terms(self) -> Iterator[tuple[Floats, Floats, slice]]:
        """Every combination of the stencils' points, block by block: its weight, its numbers, and which rows."""
        width = len(self.stencils) + 1
        for start in range(0, self.size, _BLOCK):
            block = slice(start, min(start + _BLOCK, self.size))
            rows = block.stop - block.start
            for choice in itertools.product(*(range(points.shape[1]) for points, _ in self.stencils)):
                weight, row = np.ones(rows), np.ones((rows, width))
                for place, (which, (points, weights)) in enumerate(zip(choice, self.stencils, strict=True)):
                    weight = weight * weights[block, which]
                    row[:, place + 1] = points[block, which]
                yield weight, row, block

    def _sums(self, inside: Floats) -> tuple[Floats, Floats, Floats]:
        """The mean corrected score, minus its derivative, and the mean of its squares."""
        width = len(inside)
        slope, own = np.zeros((width, width)), np.zeros((self.size, width))
        for weight, row, block in self._terms():
            share = 1 / (1 + np.exp(-np.clip(row @ inside, -500, 500)))
            own[block] += (weight * (self.target[block] - share))[:, None] * row
            slope += (row * (weight * share * (1 - share))[:, None]).T @ row
        return own.mean(axis=0), slope / self.size, own.T @ own / self.size


def _yes_or_no(column: Any, asked: LogisticRegression) -> Any:
    """For a batch: the corrected yes, the yes at face value, and which are there."""
    if not isinstance(column, OneOf):
        raise ArgumentError(f"column {asked.target!r} is no category and holds no booleans: it is not yes or no")
    law = ListedLaw(column)
    if asked.value not in law.labels:
        raise ArgumentError(f"column {asked.target!r} has no value {asked.value!r}: say value=..")
    yes = np.array([float(label == asked.value) for label in law.labels])
    weights = np.linalg.solve(law.matrix, yes)

    def read(arrays: Any) -> tuple[Floats, Floats, Booleans]:
        codes = law.codes(arrays)
        return weights[codes], yes[codes], ~law.missing[codes]

    return read


class _Explains:
    """Reads a column that explains: the released number, its stencil, and which rows have one."""

    def __init__(self, column: Any, types: Any, outlines: Any, rows: float) -> None:
        self._listed: ListedLaw | None = None
        if isinstance(column, OneOf):
            self._listed = ListedLaw(column)
            if isinstance(column.listed[0], str):
                raise ArgumentError(f"column {column.columns[0]!r} is a category of text: it has no number")
            self._numbers: Floats = np.array([0.0 if label is None else float(label) for label in self._listed.labels])
            self._inverse: Floats = np.asarray(np.linalg.inv(self._listed.matrix), dtype=np.float64)
            return
        self._score, self._line, self._read = column_line(column, types, outlines, rows)
        refuse_coarse(column, self._line)

    def __call__(self, arrays: Any) -> tuple[Floats, Floats, Floats, Booleans]:
        if self._listed is not None:
            codes = self._listed.codes(arrays)
            points = np.broadcast_to(self._numbers, (len(codes), len(self._numbers)))
            return self._numbers[codes], np.asarray(points), self._inverse[codes], ~self._listed.missing[codes]
        values, absent = self._read(arrays)
        if self._line is None:
            return values, values[:, None], np.ones((len(values), 1)), ~absent
        step, weights = _stencils(self._line)
        points = values[:, None] + step * np.array([-1.0, 0.0, 1.0])
        return values, points, weights[self._score.codes(values, absent)], ~absent


def _stencils(line: LineLaw) -> tuple[float, Floats]:
    """The step, and the weights of the points before, at and after: at the least, between, at the most, for null."""
    if line.is_geometric:
        step = line.width
        decay = math.exp(-step / line.tail)
        bend, tilt = decay / (1 - decay) ** 2, decay / (1 - decay)
        ends = ([0.0, 1 + tilt, -tilt], [-tilt, 1 + tilt, 0.0])
    else:
        step = _STEP * line.tail
        bend, tilt = 1 / _STEP**2, 1 / (2 * _STEP)
        ends = ([tilt, 1.0, -tilt], [-tilt, 1.0, tilt])
    inside = [-bend, 1 + 2 * bend, -bend]
    return step, np.array([ends[0], inside, ends[1], [0.0, 1.0, 0.0]])
