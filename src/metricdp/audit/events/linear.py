"""Weighted sums of several columns: half-spaces, by logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event
from metricdp.audit.events.view import View
from metricdp.audit.pace import one_thread
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Lesson", "Linear", "fit_linear"]

_BLOCK = 1 << 15
_NEWTON = 5
_FOR_TERMS = 30_000
_SURE = 3.5


@dataclass(frozen=True)
class Term:
    """A number from one column: its place on a scale, whether it is one value, or whether it exceeds one."""

    view: View
    kind: str
    value: float
    scale: float = 1.0
    leave_out: tuple[float, ...] = ()

    def of(self, column: Floats) -> Floats:
        """The number for each row; 0 where there is none."""
        if self.kind == "equal":
            return np.asarray(column == self.value, dtype=np.float64)
        return np.where(self.usable(column), self.number(column), 0.0)

    def usable(self, column: Floats) -> Booleans:
        """Which rows have a number that is none of those left out."""
        usable: Booleans = np.logical_not(np.isnan(column))
        for each in self.leave_out:
            usable &= column != each
        return usable

    def number(self, column: Floats) -> Floats:
        """The number for rows that have one; anything for the others."""
        if self.kind == "above":
            return np.where(column > self.value, 0.5, -0.5)
        return np.asarray(np.clip((column - self.value) * (1 / self.scale), -4, 4))

    @property
    def code(self) -> str:
        """The same in Python."""
        if self.kind == "equal":
            return f"({self.view.code} == {self.value!r})"
        base = (
            f"(0.5 if {self.view.code} > {self.value!r} else -0.5)"
            if self.kind == "above"
            else f"np.clip(({self.view.code} - {self.value!r}) / {self.scale!r}, -4, 4)"
        )
        guards = [
            f"{self.view.code} == {self.view.code}",
            *(f"{self.view.code} != {each!r}" for each in self.leave_out),
        ]
        return f"({base} if {' and '.join(guards)} else 0)"


@dataclass(frozen=True)
class Linear:
    """A weighted sum of terms: its cuts are half-spaces where terms are linear.

    Attributes:
        terms: what is summed, terms of one view together.
        weights: of the terms.
        known: the curvature of the likelihood that the weights come from, with the constant term first.
    """

    terms: tuple[Term, ...]
    weights: Floats
    known: Floats = field(repr=False)
    both_sides: bool = True
    plain: bool = False
    hints: tuple[float, float] | None = None
    caution: float = 0.0

    def of(self, batch: Batch) -> Floats:
        """The sum."""
        total = np.zeros(len(batch))
        pairs = zip(self.terms, self.weights.tolist(), strict=True)
        for _, group in groupby(pairs, key=lambda each: each[0].view.code):
            terms = list(group)
            column = terms[0][0].view.of(batch)
            numbers = [(term, weight) for term, weight in terms if term.kind != "equal"]
            if numbers:
                total += np.where(
                    numbers[0][0].usable(column), sum(w * term.number(column) for term, w in numbers), 0.0
                )
            for term, weight in terms:
                if term.kind == "equal":
                    total += weight * (column == term.value)
        return total

    def event(self, threshold: float, high: bool) -> Event:
        """What lies on one side."""
        side = ">=" if high else "<="
        code = " + ".join(
            f"{weight!r} * {term.code}" for term, weight in zip(self.terms, self.weights.tolist(), strict=True)
        )
        words = f"a weighted sum of {len(self.terms)} terms is {'at least' if high else 'at most'} {threshold:.6g}"
        return Event(
            words,
            f"({code}) {side} {threshold!r}",
            lambda batch: self.of(batch) >= threshold if high else self.of(batch) <= threshold,
        )


def fit_linear(views: Sequence[View], columns: Sequence[Floats], marks: Booleans) -> list[Linear]:
    """A sum of all terms, and one of those whose weights are surely not 0.

    Args:
        views: columns of numbers that were released.
        columns: what they gave for some releases.
        marks: which of those had the secret x.
    """
    by_code = {view.code: column for view, column in zip(views, columns, strict=True)}
    terms = _terms(views, columns)
    if not terms:  # so few releases that no column has any
        return []
    linear, errors = _weights(terms, by_code, marks)
    sure = [term for term, far in zip(linear.terms, np.abs(linear.weights) / errors, strict=True) if far > _SURE]
    if not 1 < len(sure) < len(linear.terms):
        return [linear]
    return [linear, _weights(sure, by_code, marks)[0]]


def _terms(views: Sequence[View], columns: Sequence[Floats]) -> list[Term]:
    """What is summed: common values, and the place and the side of all others."""
    terms: list[Term] = []
    for view, column in zip(views, columns, strict=True):
        some = column[:_FOR_TERMS]
        values, counts = np.unique(some[~np.isnan(some)], return_counts=True)
        if len(values) == 0:
            continue
        atoms = tuple(values[counts > max(20, len(some) // 50)][:4].tolist())
        several = atoms[1:] if len(atoms) == len(values) else atoms  # all of them together would be one too many
        terms += [Term(view, "equal", atom) for atom in several]
        rest = some[~np.isnan(some) & ~np.isin(some, atoms)]
        if len(rest) > 100:
            middle, spread = float(np.median(rest)), float(np.subtract(*np.quantile(rest, [0.75, 0.25]))) or 1.0
            terms += [Term(view, "place", middle, spread, atoms), Term(view, "above", middle, 1.0, atoms)]
    return terms


def _weights(terms: Sequence[Term], columns: dict[str, Floats], marks: Booleans) -> tuple[Linear, Floats]:
    """Newton's method, with a small penalty, by blocks of rows."""
    size = len(terms) + 1
    weights = np.zeros(size)
    penalty = np.full(size, 1.0)
    penalty[0] = 1e-9
    blocks = []
    for start in range(0, len(marks), _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = _rows(terms, [columns[term.view.code][part] for term in terms])
        blocks.append((rows, marks[part]))
    with one_thread():
        for _ in range(_NEWTON):
            curvature, slope = np.diag(penalty), -penalty * weights
            for rows, labels in blocks:
                bend, rise = _derivatives(rows, labels, weights)
                curvature += bend
                slope += rise
            step = np.linalg.solve(curvature, slope)
            weights += step
            if np.abs(step).max() < 0.02:
                break
        errors = np.sqrt(np.maximum(np.diag(np.linalg.inv(curvature)), 1e-12))
    return Linear(tuple(terms), weights[1:], curvature), errors[1:]


def _rows(terms: Sequence[Term], columns: Sequence[Floats]) -> NDArray[np.float32]:
    """A constant and all terms, for each release."""
    rows = np.ones((len(columns[0]), len(terms) + 1), dtype=np.float32)
    for place, (term, column) in enumerate(zip(terms, columns, strict=True), start=1):
        rows[:, place] = term.of(column)
    return rows


def _derivatives(rows: NDArray[np.float32], labels: Booleans, weights: Floats) -> tuple[Floats, Floats]:
    """The curvature and the slope of the log-likelihood."""
    chance = 1 / (1 + np.exp(-np.clip(rows @ weights.astype(np.float32), -30, 30)))
    bend = (rows * (chance * (1 - chance))[:, None]).T @ rows
    return bend, rows.T @ (labels - chance)


class Lesson:
    """Better weights for a sum, from releases that come by and need not be kept: one step of Newton's method.

    Where two laws are nearly the same, millions of releases are needed to know the weights, and one step is enough.
    """

    def __init__(self, linear: Linear) -> None:
        self.linear = linear
        self._curvature, self._slope = linear.known.copy(), np.zeros(len(linear.known))
        self._start: float | None = None

    def take(self, batch: Batch, labels: Booleans) -> None:
        """Learn from releases, and from which of them had the secret x."""
        terms = self.linear.terms
        if self._start is None:  # coins have another weight than before
            odds = (np.count_nonzero(labels) + 1) / (labels.size - np.count_nonzero(labels) + 1)
            self._start = float(np.log(odds) - np.median(self.linear.of(batch)))
        weights = np.concatenate([[self._start], self.linear.weights])
        with one_thread():
            bend, rise = _derivatives(_rows(terms, [term.view.of(batch) for term in terms]), labels, weights)
        self._curvature += bend
        self._slope += rise

    def learned(self) -> Linear:
        """The sum with its new weights."""
        step = np.linalg.solve(self._curvature, self._slope)
        return replace(self.linear, weights=self.linear.weights + step[1:], known=self._curvature)
