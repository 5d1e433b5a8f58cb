"""Universes: what a record can be, as finitely many cells that the policy declares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, PolicyError
from metricdp.exact.level import LevelLike
from metricdp.exact.lists import as_list
from metricdp.metrics import Metric, Space, nullable
from metricdp.policies.cells.cell_metrics import metric_on_cells
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import MOST_CELLS
from metricdp.policies.policy import Policy
from metricdp.policies.sql.predicates import Predicate, true_cells

if TYPE_CHECKING:
    from metricdp.queries.universes.questions import Question
    from metricdp.queries.workloads.workload import Workload

__all__ = ["Universe"]


@dataclass(frozen=True, repr=False)
class Universe:
    """What a record can be: the product of its columns' cells, the X of paper 4 with N cells.

    Cells, bounds and groups are declared, and never depend on the data. An empty cell is a cell like any other.

    Attributes:
        columns: each with its cells.
        capacity: the greatest number of records there can be, where the number of records is secret. Then those that
            are absent are counted too, in a last cell of their own, None. Without it the number of records is public.

    References:
        Paper 4, sections 2.2 and 5.

    >>> from metricdp.policies.cells.listed import BooleanCells
    >>> from metricdp.policies.cells.ordered import IntegerCells
    >>> universe = Universe([BooleanCells("native"), IntegerCells("age", (0, 120), edges=(18, 65))])
    >>> universe
    Universe(native: 2 cells, age: 3 cells; 6 in all)
    >>> universe.cells[4], universe.names[4]
    ((True, 18), 'native=true, age=18..64')
    """

    columns: tuple[Cells, ...]
    capacity: int | None = None

    def __init__(self, columns: Iterable[Cells], capacity: int | None = None) -> None:
        object.__setattr__(self, "columns", tuple(as_list(columns, "columns")))
        object.__setattr__(self, "capacity", capacity)
        if not self.columns or not all(isinstance(column, Cells) for column in self.columns):
            raise ArgumentError(
                "a universe has columns, such as CategoryCells, BooleanCells, IntegerCells, NumberCells and DateCells"
            )
        folded = [column.name.casefold() for column in self.columns]
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:  # engines differ on whether capitals count
            raise PolicyError([f"column {name!r} stands twice; capitals do not count" for name in twice])
        for column in self.columns:
            if column.crowded:
                raise column.refusal(
                    f"more than {MOST_CELLS:,} values, and each would be a cell: declare count_by = 1000, or edges"
                )
        if capacity is not None and (isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1):
            raise PolicyError(["capacity is the greatest number of records there can be"])
        if capacity is not None and len(self.columns) == 1 and None in self.columns[0].points:
            raise PolicyError(["in a universe of one column, a record is missing or its value is, not both"])
        if math.prod(self.shape) > MOST_CELLS:
            sizes = " x ".join(f"{column.name} {len(column):,}" for column in self.columns)
            raise PolicyError(
                [
                    f"the universe has {math.prod(self.shape):,} cells ({sizes}), more than {MOST_CELLS:,}: "
                    "make a column's cells wider, or leave one out"
                ]
            )

    @classmethod
    def of(cls, policy: Policy, *names: str) -> Universe:
        """The cells of columns of a policy, all that may be asked about where none is named.

        Where the number of records is secret, those absent have a cell too.

        >>> policy = Policy.parse('''
        ... format = 2
        ... records = 1000
        ... columns.age = {type = "integer", bounds = [0, 120], within = 5, missing = "refuse", count_by = [18, 65]}
        ... ''')
        >>> Universe.of(policy, "age").names
        ('age=0..17', 'age=18..64', 'age=65..120')
        """
        askable = policy.askable
        return cls([askable.column(name) for name in names or askable.names], askable.capacity)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(len(column) for column in self.columns)

    def __len__(self) -> int:
        return math.prod(self.shape) + (self.capacity is not None)

    def __repr__(self) -> str:
        parts = ", ".join(f"{column.name}: {len(column):,} cells" for column in self.columns)
        absent = "" if self.capacity is None else ", with one for those absent"
        return f"Universe({parts}; {len(self):,} in all{absent})"

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "capacity": self.capacity}  # what is cached stays behind

    @cached_property
    def cells(self) -> tuple[Any, ...]:
        """The cells, the last column's changing fastest: tuples of points, or the points of a single column."""
        if len(self.columns) == 1:
            points: tuple[Any, ...] = self.columns[0].points
        else:
            points = tuple(itertools.product(*(column.points for column in self.columns)))
        return points if self.capacity is None else (*points, None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What people call the cells, in the same order."""
        labels = [[f"{column.name}={label}" for label in column.labels] for column in self.columns]
        names = tuple(", ".join(parts) for parts in itertools.product(*labels))
        return names if self.capacity is None else (*names, "absent")

    def column(self, name: str) -> Cells:
        """The column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns)
        raise ArgumentError(f"the universe has no column {name!r}; it has {known}")

    def space(
        self,
        metric: Metric | Mapping[str, Metric | LevelLike],
        between: Literal["values", "points"] = "values",
        absent: LevelLike | None = None,
    ) -> Space:
        """The cells with a metric on them.

        Args:
            metric: on records, or a metric or an ε for each column, which add up.
            between: "values": what the metric promises for values holds for the values, whichever cells they are in. So
                two cells are as far apart as their nearest values, or nearer by way of others: ages 39 and 40 are one
                year apart, and so are the cells 30..39 and 40..49. Values outside that share a cell bring both ends
                of a line together; to clamp them does not. "points": the promise is for cells, as far apart as
                their first values (or where they are ``at``); 39 and 40 are then told apart as if by ten years.
            absent: how far an absent record is from any other, where the universe has a capacity.

        Raises:
            UnsupportedMetricError: nothing is known of the nearest values of two cells.

        References:
            Paper 4, section 5.

        >>> from metricdp.metrics import absolute
        >>> from metricdp.policies.cells.ordered import IntegerCells
        >>> age = Universe([IntegerCells("age", (0, 59), width=20)])
        >>> age.space(absolute()).distances[0].tolist(), age.space(absolute(), "points").distances[0].tolist()
        ([0.0, 1.0, 2.0], [0.0, 20.0, 40.0])
        """
        if between not in ("values", "points"):
            raise ArgumentError("distances are between 'values' or 'points'")
        if (absent is None) != (self.capacity is None):
            raise ArgumentError("absent = .., how far an absent record is from any other, goes with a capacity")
        on_cells = metric_on_cells(self.columns, metric, between)
        return Space(self.cells, on_cells if absent is None else nullable(on_cells, absent))

    def workload(
        self,
        questions: Iterable[Question] | Question,
        metric: Space | Metric | Mapping[str, Metric | LevelLike],
        between: Literal["values", "points"] = "values",
        absent: LevelLike | None = None,
    ) -> Workload:
        """The questions as linear queries over these cells.

        >>> from metricdp.metrics import discrete
        >>> from metricdp.policies.cells.listed import CategoryCells
        >>> from metricdp.policies.sql.predicates import col
        >>> from metricdp.queries.universes.questions import count
        >>> sex = Universe([CategoryCells("sex", ["F", "M", "X"])])
        >>> sex.workload([count(), count(col("sex") == "F")], discrete()).matrix.tolist()
        [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
        """
        from metricdp.queries.universes.questions import question_matrix
        from metricdp.queries.workloads.workload import Workload

        names, matrix = question_matrix(self, questions)
        return Workload(matrix, metric if isinstance(metric, Space) else self.space(metric, between, absent), names)

    def where(self, predicate: Predicate | None) -> NDArray[np.bool_]:
        """The cells where a condition holds; without one all of them, but that of those absent.

        >>> from metricdp.policies.cells.ordered import IntegerCells
        >>> from metricdp.policies.sql.predicates import col
        >>> Universe([IntegerCells("age", (0, 59), width=20)], capacity=9).where(col("age") >= 20).tolist()
        [False, True, True, False]
        """
        holds = true_cells(self.columns, predicate)
        return holds if self.capacity is None else np.append(holds, False)
