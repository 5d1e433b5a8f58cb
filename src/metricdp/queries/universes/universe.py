"""Universes: what a record can be, as finitely many cells that the policy declares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import KindError, PolicyError, UnknownCategoryError
from metricdp.exact.level import LevelLike
from metricdp.metrics import Metric, Space, nullable
from metricdp.queries.universes.cell_metrics import metric_on_cells
from metricdp.queries.universes.columns import Column
from metricdp.queries.universes.intervals import MOST_CELLS

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

    >>> from metricdp.queries.universes.columns import Boolean
    >>> from metricdp.queries.universes.intervals import Integer
    >>> universe = Universe([Boolean("native"), Integer("age", (0, 120), edges=(18, 65))])
    >>> universe
    Universe(native: 2 cells, age: 3 cells; 6 in all)
    >>> universe.cells[4], universe.names[4]
    ((True, 18), 'native=true, age=18..64')
    """

    columns: tuple[Column, ...]
    capacity: int | None = None

    def __init__(self, columns: Iterable[Column], capacity: int | None = None) -> None:
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "capacity", capacity)
        if not self.columns or not all(isinstance(column, Column) for column in self.columns):
            raise KindError("a universe has columns, such as Category, Boolean, Integer, Number and Date")
        folded = [column.name.casefold() for column in self.columns]
        twice = sorted({name for name in folded if folded.count(name) > 1})
        if twice:  # engines differ on whether capitals count
            raise PolicyError([f"column {name!r} stands twice; capitals do not count" for name in twice])
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

    def column(self, name: str) -> Column:
        """The column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns)
        raise UnknownCategoryError(f"the universe has no column {name!r}; it has {known}")

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
        >>> from metricdp.queries.universes.intervals import Integer
        >>> age = Universe([Integer("age", (0, 59), width=20)])
        >>> age.space(absolute()).distances[0].tolist(), age.space(absolute(), "points").distances[0].tolist()
        ([0.0, 1.0, 2.0], [0.0, 20.0, 40.0])
        """
        if between not in ("values", "points"):
            raise KindError("distances are between 'values' or 'points'")
        if (absent is None) != (self.capacity is None):
            raise KindError("absent = .., how far an absent record is from any other, goes with a capacity")
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
        >>> from metricdp.queries.universes.columns import Category
        >>> from metricdp.queries.universes.predicates import col
        >>> from metricdp.queries.universes.questions import count
        >>> sex = Universe([Category("sex", ["F", "M", "X"])])
        >>> sex.workload([count(), count(col("sex") == "F")], discrete()).matrix.tolist()
        [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
        """
        from metricdp.queries.universes.questions import question_matrix
        from metricdp.queries.workloads.workload import Workload

        names, matrix = question_matrix(self, questions)
        return Workload(matrix, metric if isinstance(metric, Space) else self.space(metric, between, absent), names)

    def to_toml(self) -> str:
        """The universe as TOML, from which `from_toml` makes an equal one.

        >>> from metricdp.queries.universes.intervals import Integer
        >>> print(Universe([Integer("age", (0, 120), edges=(18, 65), missing="unknown")]).to_toml())
        [universe.age]
        type = "integer"
        bounds = [0, 120]
        edges = [18, 65]
        missing = "unknown"
        <BLANKLINE>
        """
        from metricdp.queries.universes.universe_toml import write_universe

        return write_universe(self)

    @classmethod
    def from_toml(cls, text: str) -> Universe:
        """The universe that TOML declares.

        Raises:
            PolicyError: with every mistake that was found.
        """
        from metricdp.queries.universes.universe_toml import read_universe

        return read_universe(text)

    @classmethod
    def load(cls, path: str | Path) -> Universe:
        """Read a universe from a TOML file."""
        return cls.from_toml(Path(path).read_text(encoding="utf-8"))
