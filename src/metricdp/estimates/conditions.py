"""Conditions and groups as functions of the secrets, column by column, so that no joint cells are ever formed."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, PolicyError, TooLargeError
from metricdp.estimates.laws import LineLaw, ListedLaw, as_number
from metricdp.estimates.plan import Counted, KeptLaw
from metricdp.exact.arrays import Booleans, Floats, Places
from metricdp.policies.cells.ordered import OrderedCells
from metricdp.policies.column_type import ColumnType
from metricdp.policies.sql.predicates import Predicate, compared_values, true_cells
from metricdp.policies.types._line import OnALine

__all__ = ["GroupCells", "Product", "SecretFunction", "group_cells", "group_edges", "product_of", "terms_of"]

_MOST_TERMS = 512
_MOST_SLICES = 4_000_000


@dataclass(frozen=True, eq=False)
class SecretFunction:
    """A function of one column's secret, between two functions beside a jump.

    Attributes:
        low: the least it can be at each secret.
        high: the most.
    """

    low: Floats
    high: Floats

    def times(self, other: SecretFunction) -> SecretFunction:
        """The product."""
        options = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high]
        return SecretFunction(np.minimum.reduce(options), np.maximum.reduce(options))

    @property
    def key(self) -> bytes:
        """The same for equal functions."""
        return self.low.tobytes() + self.high.tobytes()


Product = dict[str, SecretFunction]
"""A product of functions of single columns, by their names."""


def product_of(one: Product, other: Product) -> Product:
    """The product of two products."""
    made = dict(one)
    for name, factor in other.items():
        made[name] = made[name].times(factor) if name in made else factor
    return made


def indicator(law: Any, mask: Booleans) -> SecretFunction:
    """1 where the mask holds; at a jump between two numbers, anything between its neighbours."""
    low, high = mask.astype(np.float64), mask.astype(np.float64)
    if isinstance(law, LineLaw) and law.edges is not None:
        size, padded = len(law.points), np.pad(mask[: len(law.points)], 1, mode="edge")
        beside = np.stack([padded[:-2], padded[1:-1], padded[2:]])
        jumps = np.asarray(law.edges)[:size]
        low[:size][jumps], high[:size][jumps] = beside.min(axis=0)[jumps], beside.max(axis=0)[jumps]
    return SecretFunction(low, high)


def number_thresholds(predicate: Predicate | None) -> dict[str, list[float]]:
    """What columns of numbers and days are compared with; a day is compared at its beginning and its end."""
    found: dict[str, list[float]] = {}
    for name, values in compared_values(predicate).items():
        numbers = found.setdefault(name, [])
        for value in values:
            if isinstance(value, bool) or (isinstance(value, str) and not _is_day(value)):
                continue
            plain = dt.date.fromisoformat(value) if isinstance(value, str) else value
            numbers.append(as_number(plain))
            if isinstance(plain, dt.date):
                numbers.append(as_number(plain) + 1)
        found[name] = sorted(set(numbers))
    return found


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def terms_of(predicate: Predicate | None, counted: Counted) -> list[dict[str, SecretFunction]]:
    """The condition as a sum of products of functions, one for each column; without a condition, the empty product."""
    if predicate is None:
        return [{}]
    names = list(compared_values(predicate))
    thresholds = number_thresholds(predicate)
    cells, classes = [], []
    for name in names:
        made, places = _slices(counted, name, thresholds.get(name, []))
        cells.append(made)
        classes.append(places)
    combined = math.prod(len(column) for column in cells)
    if combined > _MOST_SLICES:
        rule = (
            f"the values of the columns that the condition compares make {combined:,} combinations, which is too many"
        )
        raise TooLargeError(rule, f"{_MOST_SLICES:,} combinations at most")
    truth = true_cells(cells, predicate).reshape([len(column) for column in cells])
    for axis in range(len(names)):
        flat = np.moveaxis(truth, axis, 0).reshape(truth.shape[axis], -1)
        different, inverse = np.unique(flat, axis=0, return_inverse=True)
        classes[axis] = inverse.ravel()[classes[axis]]
        rest = [size for place, size in enumerate(truth.shape) if place != axis]
        truth = np.moveaxis(different.reshape([len(different), *rest]), 0, axis)
    chosen = list(itertools.islice(zip(*np.nonzero(truth), strict=True), _MOST_TERMS + 1))
    if len(chosen) > _MOST_TERMS:
        raise TooLargeError("the condition has too many cases; write it with fewer 'or'", f"{_MOST_TERMS} cases")
    return [
        {
            name: indicator(counted.laws[name], classes[axis] == int(place))
            for axis, (name, place) in enumerate(zip(names, combination, strict=True))
        }
        for combination in chosen
    ]


def _slices(counted: Counted, name: str, thresholds: list[float]) -> tuple[Any, Places]:
    """Cells that the condition tells apart, and which of them each secret of the law lies in."""
    law = counted.laws[name]
    cells = counted.cells(name, [])
    if not isinstance(cells, OrderedCells):
        labels = law.labels if isinstance(law, ListedLaw) else law.values
        known = [label for label in labels if label is not None]
        ordered = sorted(known) if isinstance(known[0], bool) else known
        at: dict[Any, int] = {label: place for place, label in enumerate(ordered)} | {None: len(known)}
        return cells, np.array([at[label] for label in labels], dtype=np.int64)
    if not thresholds:
        thresholds = [0.0]
    middles = [(one + two) / 2 for one, two in itertools.pairwise(thresholds)]
    between = [thresholds[0] - 1, *middles, thresholds[-1] + 1]
    points = [between[0]]
    for threshold, after in zip(thresholds, between[1:], strict=True):
        points += [threshold, after]
    numbers = counted.numbers(name)
    places = 2 * np.searchsorted(thresholds, numbers, side="left")
    places[np.isin(numbers, thresholds)] += 1
    places[law.missing] = len(points)
    return counted.cells(name, points), places.astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupCells:
    """The groups of one column.

    Attributes:
        labels: what they are called.
        factors: for each, 1 at the secrets that belong to it.
        outputs: for each, the released values that do, as places of the law's outputs, for the naive count.
    """

    labels: tuple[str, ...]
    factors: tuple[SecretFunction, ...]


def group_edges(column: ColumnType) -> list[float]:
    """Where the groups of a column of numbers begin and end, in the metric's unit; none for other columns.

    Raises:
        ArgumentError: the policy does not say how finely the column is counted.
    """
    try:
        cells = column.cells
    except PolicyError as error:
        raise ArgumentError(
            f"group by {column.columns[0]}: the groups come from the policy. {error.problems[0]}"
        ) from None
    if not isinstance(cells, OrderedCells):
        return []
    return [as_number(start) for start in cells.starts] + [as_number(cells.intervals[-1].last)]


def group_cells(counted: Counted, name: str, edges: list[float] | None = None) -> GroupCells:
    """The groups of a column: its categories, the intervals that the policy counts it by, or those between edges."""
    law = counted.laws[name]
    if isinstance(law, ListedLaw):
        eye = np.eye(len(law.labels), dtype=bool)
        labels = tuple("missing" if label is None else _word(label) for label in law.labels)
        return GroupCells(labels, tuple(indicator(law, row) for row in eye))
    if isinstance(law, KeptLaw) and edges is None and not _is_cut(law.column):
        places = sorted(range(len(law.values)), key=lambda place: _order(law.values[place]))
        eye = np.eye(len(law.values), dtype=bool)
        labels = tuple("missing" if law.values[place] is None else _word(law.values[place]) for place in places)
        return GroupCells(labels, tuple(indicator(law, eye[place]) for place in places))
    numbers = counted.numbers(name)
    bounds: list[tuple[float, float, bool]]
    if edges is not None:
        bounds = [(one, two, False) for one, two in itertools.pairwise(edges)]
        bounds[-1] = (*bounds[-1][:2], True)
        named = [f"[{_short(low)}, {_short(high)}{']' if closed else ')'}" for low, high, closed in bounds]
    else:
        cells: Any = law.column.cells
        bounds = [(as_number(cell.first), as_number(cell.last), cell.closed) for cell in cells.intervals]
        named = list(cells.declared_labels)
    days = 1.0 if law.column.is_moment else 0.0
    factors = []
    for low, high, closed in bounds:
        inside = (numbers >= low) & ((numbers <= high) if closed and not days else (numbers < high + days))
        factors.append(indicator(law, inside & ~law.missing))
    if law.missing.any():
        named.append("missing")
        factors.append(indicator(law, law.missing))
    return GroupCells(tuple(named), tuple(factors))


def _is_cut(column: ColumnType) -> bool:
    """Whether the policy says how finely a column of numbers is counted, though it may be released as it is."""
    return isinstance(column, OnALine) and column.written is not None


def _word(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _order(value: Any) -> tuple[bool, Any]:
    return value is None, 0 if value is None else value


def _short(value: float) -> str:
    return f"{value:g}"
