"""How many records satisfy a condition, and how many lie in each of several cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError, NotFiniteError, UnknownCategoryError
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import distinct, label
from metricdp.queries.single.query import AnswerGrid, Query, check_count, is_missing, rows_of

__all__ = ["CellCounts", "Count"]

Condition = Callable[[Any], Any]


@dataclass(frozen=True, init=False, repr=False)
class Count(Query):
    """How many records satisfy a condition.

    Attributes:
        where: the values that are counted, or a function of a value that says; None counts all records that are there.
        values: all values that a record may have, where they are declared. Metrics that tell values apart by more than
            equality need them.
        records: how many there are, where that is public; None where it is not.
        nulls: whether a record may be absent. Where their number is not public, one always may.

    References:
        Paper 1, Section 4.2 and Theorem 8.

    >>> Count(where={"yes"}, records=3).evaluate(["yes", "no", "yes"])
    Fraction(2, 1)
    """

    where: frozenset[Hashable] | Condition | None
    values: tuple[Any, ...] | None
    records: int | None
    nulls: bool

    def __init__(
        self,
        where: Iterable[Any] | Condition | None = None,
        values: Iterable[Any] | None = None,
        *,
        records: int | None = None,
        nulls: bool | None = None,
    ) -> None:
        if isinstance(where, str):
            raise ArgumentError("where is a set of values, such as {'yes'}, or a function")
        counted = (
            where
            if where is None or callable(where)
            else frozenset(label(value) for value in as_list(where, "values to count", "{'yes'}"))
        )
        declared = None if values is None else distinct(values, "value")
        count, absent = check_count(records, nulls)
        for name, value in {"where": counted, "values": declared, "records": count, "nulls": absent}.items():
            object.__setattr__(self, name, value)
        if declared is not None and isinstance(counted, frozenset) and not counted <= set(declared):
            raise ArgumentError("where names a value that is not among the declared values")

    @property
    def grid(self) -> AnswerGrid | None:
        """From 0 to the number of records; without an end where that is not public."""
        greatest = None if self.records is None else Fraction(self.records)
        return AnswerGrid(Fraction(0), Fraction(1), Fraction(0), greatest)

    @property
    def universe(self) -> Sequence[Any] | None:
        """The declared values, and None where a record may be absent."""
        if self.values is None:
            return None
        return [*self.values, None] if self.nulls else list(self.values)

    def counts(self, value: Any) -> bool:
        """Whether a value is counted."""
        if self.where is None:
            return True
        return bool(self.where(value)) if callable(self.where) else label(value) in self.where

    def evaluate(self, data: Any) -> Fraction:
        """The true count."""
        allowed = None if self.values is None else set(self.values)
        tally = _tally(data, self, allowed)
        return Fraction(sum(count for value, count in tally.items() if self.counts(value)))

    def _shown(self) -> dict[str, str]:
        shown = super()._shown()
        if callable(self.where):
            shown["where"] = getattr(self.where, "__name__", "function")
        elif self.where is not None:
            shown["where"] = "{" + ", ".join(sorted(map(repr, self.where))) + "}"
        if self.values is not None:
            shown["values"] = f"{len(self.values)} values"
        return shown


@dataclass(frozen=True, init=False, repr=False)
class CellCounts(Query):
    """How many records lie in each of several cells: a histogram of one column.

    Attributes:
        names: what the cells are called.
        cells: the values of each cell; every value a record may have lies in exactly one of them.
        records: how many there are, where that is public; None where it is not.
        nulls: whether a record may be absent. Where their number is not public, one always may.

    References:
        Paper 4, Section 2.

    >>> CellCounts(["tea", "coffee"], records=3).evaluate(["tea", "coffee", "tea"])
    (2, 1)
    >>> CellCounts({"minor": range(18), "adult": range(18, 100)}).names
    ('minor', 'adult')
    """

    names: tuple[Any, ...]
    cells: tuple[tuple[Any, ...], ...]
    records: int | None
    nulls: bool

    def __init__(
        self,
        cells: Mapping[Any, Iterable[Any]] | Iterable[Any],
        *,
        records: int | None = None,
        nulls: bool | None = None,
    ) -> None:
        if isinstance(cells, Mapping):
            names, members = distinct(cells, "cell"), [distinct(values, "value") for values in cells.values()]
        else:
            names = distinct(cells, "cell")
            members = [(name,) for name in names]
        seen: dict[Hashable, Any] = {}
        for name, values in zip(names, members, strict=True):
            for value in values:
                if seen.setdefault(label(value), name) != name:
                    raise ArgumentError(f"a value of the cell {name!r} is also one of the cell {seen[label(value)]!r}")
        count, absent = check_count(records, nulls)
        for field, value in {"names": names, "cells": tuple(members), "records": count, "nulls": absent}.items():
            object.__setattr__(self, field, value)
        if len(names) < 2:
            raise ArgumentError("there are at least two cells; Count counts one")

    @property
    def grid(self) -> AnswerGrid | None:
        """Each count, from 0 to the number of records."""
        return AnswerGrid(
            Fraction(0), Fraction(1), Fraction(0), None if self.records is None else Fraction(self.records)
        )

    @property
    def universe(self) -> Sequence[Any] | None:
        """The values of all cells, and None where a record may be absent."""
        values = [value for cell in self.cells for value in cell]
        return [*values, None] if self.nulls else values

    def evaluate(self, data: Any) -> tuple[int, ...]:
        """The true counts, in the order of `names`."""
        places = {label(value): place for place, cell in enumerate(self.cells) for value in cell}
        counts = [0] * len(self.cells)
        for value, count in _tally(data, self, places).items():
            counts[places[value]] += count
        return tuple(counts)

    def _shown(self) -> dict[str, str]:
        shown = super()._shown()
        del shown["cells"]
        shown["names"] = repr(list(self.names))
        return shown


def _tally(data: Any, query: Query, allowed: Any) -> dict[Any, int]:
    """The values that are there, each with how often; refuses a row that breaks a rule, without its value."""
    counts: dict[Any, int] = {}
    for row, value in enumerate(rows_of(data, query)):
        try:
            if value in counts:  # seen before, and found to be in order
                counts[value] += 1
                continue
        except TypeError:  # a list, say, which is looked up as a tuple
            pass
        if is_missing(value):
            if not query.nulls:
                raise NotFiniteError("there is no value here; declare nulls=True if a record may be absent", row)
            continue
        key = label(value, row)
        if allowed is not None and key not in allowed:
            raise UnknownCategoryError("not one of the declared values; declare it, or a cell for all others", row)
        counts[key] = counts.get(key, 0) + 1
    return counts
