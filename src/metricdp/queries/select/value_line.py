"""The values of a column as places on a line of equal steps, and how many records of each group have each of them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.metrics import Metric
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.queries.universes.engines.codes import MISSING, NOT_A_NUMBER, NOT_WHOLE, OUTSIDE, Coded
from metricdp.queries.universes.engines.grouping import RULES, needed, read_by_code
from metricdp.queries.universes.engines.orders import cases, column_of, numbers
from metricdp.queries.universes.engines.steps import OFF_STEP, ValueSteps, decimal_text_of
from metricdp.queries.universes.universe import Universe
from metricdp.sources.engines.sql import SqlTable
from metricdp.sources.opening import open_sql

__all__ = ["LineTally", "ValueLine", "by_day"]

_LEFT_OUT = -6
_DEFAULT_STEPS = 100_000


@dataclass(frozen=True)
class ValueLine:
    """The values that a column can have, in steps.

    Attributes:
        cells: the column as the policy has it.
        low: what place 0 stands for, as a number; of a day, 0.
        step: between two places.
        places: how many there are.
        rounds: whether a number between two places is taken for the nearer. It is where any two values are told apart
            alike; elsewhere two that are nearer than a step would come a step apart, and the table is refused.
    """

    cells: Cells
    low: Fraction
    step: Fraction
    places: int
    rounds: bool = False

    @classmethod
    def of(cls, policy: Askable, name: str) -> ValueLine:
        """The line of a column of integers, numbers or days.

        Raises:
            ArgumentError: another column, or one whose policy leaves the steps open.
        """
        cells = policy.column(name)
        if cells.other is not None:
            raise ArgumentError(
                f"column {cells.name!r}: values outside are counted in the cell {cells.other!r} and have no number; "
                'declare outside = "clamp" to ask for a percentile'
            )
        if isinstance(cells, DateCells):
            first, last = cells.bounds
            line = cls(by_day(cells), Fraction(0), Fraction(1), (last - first).days + 1)
        elif isinstance(cells, IntegerCells):
            first, last = cells.bounds
            line = cls(cells, Fraction(first), Fraction(1), last - first + 1)
        elif isinstance(cells, NumberCells):
            line = cls._of_numbers(policy, cells)
        else:
            raise ArgumentError(
                f"column {cells.name!r}: percentiles are answered for columns of integers, numbers and dates; write "
                f"count(*) .. group by {cells.name}"
            )
        if line.places < 2:
            raise ArgumentError(f"column {cells.name!r} has one value only, which is its percentile")
        return line

    @classmethod
    def _of_numbers(cls, policy: Askable, cells: NumberCells) -> ValueLine:
        low, high = (Fraction(bound) for bound in cells.bounds)
        rounds = policy.metric(cells.name).without_null().all_alike
        step = getattr(policy.column_type(cells.name), "resolution", None)
        if step is None:
            if not rounds:
                raise ArgumentError(
                    f"column {cells.name!r}: declare the steps of its values, such as resolution = 0.01 for money, to "
                    "ask for a percentile"
                )
            step = Fraction(10) ** math.floor(math.log10((high - low) / _DEFAULT_STEPS))
        steps = ValueSteps.between(cells, step, rounds)
        return cls(cells, steps.first * step, step, steps.last - steps.first + 1, rounds)

    @property
    def _steps(self) -> ValueSteps:
        first = int(self.low / self.step)
        return ValueSteps(self.step, first, first + self.places - 1, self.rounds)

    # Values

    def number(self, place: int) -> Fraction:
        """What a place stands for, as the metric on numbers has it."""
        return self.low + place * self.step

    def shown(self, place: int) -> int | float | dt.date:
        """A place as people have it."""
        if isinstance(self.cells, DateCells):
            day: dt.date = self.cells.bounds[0] + dt.timedelta(days=place)
            return day
        number = self.number(place)
        return int(number) if isinstance(self.cells, IntegerCells) else float(decimal_text_of(number))

    def shown_width(self, places: int) -> float:
        """So many steps, in the unit of the values; in days, for days."""
        return float(places * self.step)

    def least_distance(self, metric: Metric, steps: int) -> Fraction | None:
        """The least distance of values so many steps apart, rounded down; None where nothing limits it.

        Raises:
            UnsupportedMetricError: it is not the same everywhere on the line, or not concave.
        """
        between = metric.without_null()
        if not between.concave or any(leaf.moments for leaf in between.leaves):
            raise UnsupportedMetricError(f"column {self.cells.name!r}: no draw by rank is known under {metric}")
        found = between.enclose(self.number(0), self.number(steps)).lower
        if found == math.inf:
            return None
        return Fraction(found) * (self._steps.kept if isinstance(self.cells, NumberCells) else 1)

    # SQL

    def code(self, table: SqlTable) -> tuple[str, dict[int, str]]:
        """The place of a row's value, and 1, as SQL; and what is said of those that are refused."""
        cells = self.cells
        name, kind, values = cells.name, table.type(cells.name), column_of(table, cells.name)
        whole = isinstance(cells, IntegerCells)
        order = numbers(name, values, kind, table.dialect, "integers" if whole else "numbers")
        low, high = cells.bounds  # type: ignore[attr-defined]
        refused: list[tuple[str, Any]] = [(f"{values} is null", MISSING if cells.missing is None else _LEFT_OUT)]
        if order.is_number() is not None:
            refused.append((f"not ({order.is_number()})", NOT_A_NUMBER))
        if whole and order.is_whole() is not None:
            refused.append((f"not ({order.is_whole()})", NOT_WHOLE))
        inside = f"({order.after(low)} + 1)" if whole else self._steps.place(values, table)
        found: list[tuple[str, Any]] = [(f"{order.at_least(low)} and {order.at_most(high)}", inside)]
        outside: Any = OUTSIDE
        if getattr(cells, "outside", "refuse") == "clamp":
            found, outside = [*found, (f"not ({order.at_least(low)})", 1)], self.places
        code = cases(*refused, *found, otherwise=outside)
        rules = dict(RULES) | {OFF_STEP: self._steps.rule}
        return f"cast({code} as bigint)", rules


@dataclass(frozen=True, eq=False)
class LineTally:
    """How many records have which value: a row for each combination of cells and place that is there. It is private.

    Attributes:
        cells: the place of the combination of the other columns' cells.
        places: of the value, on the line.
        counts: how many records.
        records: all that the table has, also those without a value.
    """

    cells: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    records: int

    def __repr__(self) -> str:
        return "LineTally(..)"

    @classmethod
    def read(cls, source: Any, line: ValueLine, others: Sequence[Cells], policy: Askable, engine: Any) -> LineTally:
        """Count them where the table is."""
        universe = Universe([*others, line.cells] if isinstance(line.cells, DateCells) else [*others, _one(line.cells)])
        with open_sql(source, needed(universe, dialect=policy.policy.dialect), engine) as table:
            days = isinstance(line.cells, DateCells)
            coded = Coded.of(table, universe.columns if days else others)
            checks: list[Any] = [(cells.name, code, RULES) for cells, code in zip(others, coded.codes, strict=False)]
            value = (coded.codes[-1], RULES) if days else line.code(table)
            found, read = read_by_code(coded, [*checks, (line.cells.name, *value)])
        counts = np.asarray(read["records"], dtype=np.int64)
        *of_others, places = found
        if not days:
            places = np.where(places < 0, -1, np.clip(places - 1, 0, line.places - 1))
        elif line.cells.missing_code is not None:
            places = np.where(places == line.cells.missing_code, -1, places)
        shape = tuple(len(cells) for cells in others)
        cells = np.ravel_multi_index(of_others, shape) if others else np.zeros(len(counts), dtype=np.int64)
        there = places >= 0
        return cls(cells[there].astype(np.int64), places[there], counts[there], int(counts.sum()))


def by_day(cells: DateCells) -> DateCells:
    """The column with a cell for each day, whatever cells the policy has them counted in."""
    rules: dict[str, Any] = {"zone": cells.zone, "moments": cells.moments, "outside": cells.outside}
    return DateCells(cells.name, cells.bounds, **rules, missing=cells.missing)


def _one(cells: Cells) -> Cells:
    """The column with one cell, to say what is read of it."""
    if isinstance(cells, IntegerCells):
        return IntegerCells(cells.name, cells.bounds, edges=(), outside=cells.outside, missing=cells.missing)
    assert isinstance(cells, NumberCells)
    return NumberCells(cells.name, cells.bounds, outside=cells.outside, missing=cells.missing)
