"""Linear programs, solved in floats.

The problem: over all x with ``lower <= x <= upper`` and ``row_lower <= M x <= row_upper``,

    minimise (or maximise)  costs . x

With duals y, one for each row, the reduced costs are ``costs - M^T y``; where a program has an optimum, y says what one
unit more of a row's bound adds to it, and by complementarity only binding rows have a dual that is not zero.

A program stays alive between solves: columns and rows are added, costs and bounds changed, and the next solve starts
from the last basis. That is what column generation and lazy rows need.

The solver, HiGHS, is loaded when the first program is made, not when this module is imported.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.programs.solution import Basis, Solution, Status

__all__ = ["LinearProgram", "Sparse"]

Indices = NDArray[np.int32]
Method = Literal["choose", "simplex", "primal", "dual", "ipm"]
_SIMPLEX = {"dual": 1, "primal": 4}

_PATIENCE = 1.0
"""Seconds that an interrupted solver has to stop."""

_LOOK = 0.1
"""Seconds between two looks at whether somebody interrupts."""

_SEED = 1
_SMALLEST = 1e-12
"""The least entry of a matrix that the solver keeps; by itself it would drop all below 1e-9."""


@dataclass(frozen=True)
class Sparse:
    """Rows (or columns) of a matrix by their entries that are not zero.

    Attributes:
        starts: where each row begins among the entries.
        places: the column of each entry.
        values: the entries.

    >>> Sparse.of([{0: 1.0, 2: 5.0}, {}]).starts.tolist()
    [0, 2]
    """

    starts: Indices
    places: Indices
    values: Floats

    @classmethod
    def of(cls, rows: Iterable[Mapping[int, float]]) -> Sparse:
        """From one mapping of places to values for each row."""
        held = list(rows)
        places = [place for row in held for place in row]
        values = [value for row in held for value in row.values()]
        return cls._from_lengths([len(row) for row in held], places, values)

    @classmethod
    def of_dense(cls, matrix: ArrayLike) -> Sparse:
        """From a whole matrix, leaving its zeros out."""
        dense = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        rows, places = np.nonzero(dense)
        return cls._from_lengths(np.bincount(rows, minlength=len(dense)), places, dense[rows, places])

    @classmethod
    def _from_lengths(cls, lengths: ArrayLike, places: ArrayLike, values: ArrayLike) -> Sparse:
        sums = np.cumsum(np.asarray(lengths, dtype=np.int64))
        starts = np.concatenate([[0], sums[:-1]]) if len(sums) else sums
        return cls(starts.astype(np.int32), np.asarray(places, dtype=np.int32), np.asarray(values, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.starts)


class LinearProgram:
    """A linear program that can grow (see the module for the problem and the signs of its duals).

    Args:
        maximize: whether the objective is to be as large as possible.
        tolerance: by how much a constraint, or a sign of a reduced cost, may be missed.

    >>> program = LinearProgram(maximize=True)  # two goods that share 4 hours and 6 boards
    >>> goods = program.add_columns([3, 2])
    >>> rows = program.add_rows(-math.inf, [4, 6], Sparse.of_dense([[1, 1], [2, 1]]))
    >>> solution = program.solve()
    >>> solution.objective, solution.primal.tolist(), solution.duals.tolist()
    (10.0, [2.0, 2.0], [1.0, 1.0])
    >>> new = program.add_columns([10], entries=Sparse.of([{0: 1, 1: 4}]))  # warm: only this column is priced in
    >>> program.solve().objective
    15.0
    """

    def __init__(self, maximize: bool = False, tolerance: float = 1e-9) -> None:
        if not 1e-10 <= tolerance <= 1e-2:
            raise ArgumentError(f"the tolerance of the solver must be between 1e-10 and 1e-2, not {tolerance}")
        import highspy

        self._stopping: threading.Event | None = None
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("parallel", "off"),
            ("random_seed", _SEED),
            ("small_matrix_value", _SMALLEST),
            ("primal_feasibility_tolerance", tolerance),
            ("dual_feasibility_tolerance", tolerance),
        ):
            self._option(name, value)
        if maximize:
            self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return int(self._solver.numVariables)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._solver.numConstrs)

    @property
    def basis(self) -> Basis | None:
        """Where the simplex method stands; None before the first solve."""
        held = self._solver.getBasis()
        return _basis(held) if held.valid else None

    # Building

    def add_columns(
        self, costs: ArrayLike, lower: ArrayLike = 0, upper: ArrayLike = math.inf, entries: Sparse | None = None
    ) -> range:
        """More columns, with their entries in the rows there are; returns their places."""
        prices = _vector(costs, None, "a cost", finite=True)
        count, first = len(prices), self.columns
        sparse = _fitting(entries, count, self.rows, "column")
        bounds = _vector(lower, count, "a lower bound"), _vector(upper, count, "an upper bound")
        _check(self._solver.addCols(count, prices, *bounds, len(sparse.values), *_parts(sparse)), "the columns")
        return range(first, first + count)

    def remove_columns(self, columns: ArrayLike) -> None:
        """Fewer columns; those after them move up, and the basis stays where it has none of them."""
        places = _places(columns, self.columns, "column")
        _check(self._solver.deleteCols(len(places), np.sort(places)), "to leave columns out")

    def add_rows(self, lower: ArrayLike, upper: ArrayLike, entries: Sparse) -> range:
        """More rows, ``lower <= entries . x <= upper``; returns their places. Equal bounds make an equation."""
        count, first = len(entries), self.rows
        sparse = _fitting(entries, count, self.columns, "row")
        bounds = _vector(lower, count, "a lower bound"), _vector(upper, count, "an upper bound")
        _check(self._solver.addRows(count, *bounds, len(sparse.values), *_parts(sparse)), "the rows")
        return range(first, first + count)

    def change_costs(self, columns: ArrayLike, costs: ArrayLike) -> None:
        """Other costs for some columns; the basis stays."""
        places = _places(columns, self.columns, "column")
        prices = _vector(costs, len(places), "a cost", finite=True)
        _check(self._solver.changeColsCost(len(places), places, prices), "the costs")

    def change_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Other bounds for some columns; the basis stays."""
        places = _places(columns, self.columns, "column")
        bounds = _vector(lower, len(places), "a lower bound"), _vector(upper, len(places), "an upper bound")
        _check(self._solver.changeColsBounds(len(places), places, *bounds), "the bounds")

    def change_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Other bounds for some rows; the basis stays."""
        places = _places(rows, self.rows, "row")
        bounds = _vector(lower, len(places), "a lower bound"), _vector(upper, len(places), "an upper bound")
        _check(self._solver.changeRowsBounds(len(places), places, *bounds), "the bounds")

    # Solving

    def solve(
        self,
        method: Method = "choose",
        time_limit: float = math.inf,
        basis: Basis | None = None,
        presolve: bool = True,
        crossover: bool = True,
        keep_basis: bool = True,
        interruptible: bool = False,
    ) -> Solution:
        """Solve it, from the last basis where there is one.

        Args:
            method: "simplex", its variants "primal" (good after new columns or other costs) and "dual" (good after new
                rows or other bounds), "ipm" (interior points, then a basis), or the solver's choice.
            time_limit: seconds for this solve.
            basis: where to start instead.
            presolve: whether to simplify first; a solve from a basis does not.
            crossover: whether "ipm" ends with a basis; without it, it ends in the middle of the optimal points.
            keep_basis: whether the solution holds its basis; where many small solves follow each other, copying it
                costs as much as they do. The program itself always starts from its last one.
            interruptible: whether Ctrl-C ends the solve at once; it then runs in a thread of its own. Without it, a
                KeyboardInterrupt waits for the end of the solve.

        Raises:
            ArgumentError: if the method does not exist, or the time limit is not positive.
        """
        if method not in ("choose", "simplex", *_SIMPLEX, "ipm"):
            raise ArgumentError(f'method must be "choose", "simplex", "primal", "dual" or "ipm", not {method!r}')
        if not time_limit > 0:
            raise ArgumentError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
        import highspy

        self._option("solver", "simplex" if method in _SIMPLEX else method)
        self._option("simplex_strategy", _SIMPLEX.get(method, 1))
        self._option("presolve", "choose" if presolve else "off")
        self._option("run_crossover", "on" if crossover else "off")
        self._option("time_limit", self._solver.getRunTime() + time_limit)  # the solver's clock runs on between solves
        if basis is not None:
            self._start_from(basis)
        run = self._run_interruptibly if interruptible else self._run
        run()
        if self._solver.getModelStatus() == highspy.HighsModelStatus.kUnboundedOrInfeasible:
            self._option("presolve", "off")  # which of the two, presolve does not say
            run()
        return self._solution(keep_basis)

    def _run(self) -> None:
        """Run with one thread; where the process first used the solver with more, take that number (written as 0)."""
        import highspy

        if self._solver.run() == highspy.HighsStatus.kError and not self._told_to_stop:
            self._option("threads", 0)
            self._solver.run()

    def _run_interruptibly(self) -> None:
        """Run in another thread; a KeyboardInterrupt here stops the solver, or leaves it behind where it does not stop.

        The solver looks neither at its callbacks nor at its time limit in some phases. Then its thread goes on until
        its end, without any effect, and the program cannot be used again.
        """
        if self._stopping is None:
            self._stopping = threading.Event()
            for callbacks in (self._solver.cbSimplexInterrupt, self._solver.cbIpmInterrupt):
                callbacks.subscribe(self._stop_if_told)
        self._stopping.clear()
        failures: list[Exception] = []
        ended = threading.Event()

        def run() -> None:
            try:
                self._run()
            except Exception as error:  # raised below, by whoever waits
                failures.append(error)
            finally:
                ended.set()

        threading.Thread(target=run, daemon=True).start()
        try:
            while not ended.wait(_LOOK):  # in steps: a signal that another thread took does not end a long wait
                pass
        except KeyboardInterrupt:
            self._stopping.set()
            ended.wait(_PATIENCE)
            raise
        if failures:
            raise failures[0]

    @property
    def _told_to_stop(self) -> bool:
        return self._stopping is not None and self._stopping.is_set()

    def _stop_if_told(self, event: Any) -> None:
        if self._told_to_stop:
            event.interrupt()

    def _start_from(self, basis: Basis) -> None:
        if len(basis.columns) != self.columns or len(basis.rows) != self.rows:
            raise ArgumentError(
                f"a basis of {len(basis.columns)} columns and {len(basis.rows)} rows does not fit a program "
                f"of {self.columns} and {self.rows}"
            )
        import highspy

        start = highspy.HighsBasis()
        start.col_status = [highspy.HighsBasisStatus(code) for code in basis.columns]
        start.row_status = [highspy.HighsBasisStatus(code) for code in basis.rows]
        _check(self._solver.setBasis(start), "the basis")

    def _solution(self, keep_basis: bool) -> Solution:
        status = _STATUSES.get(self._solver.getModelStatus().name, Status.UNKNOWN)
        point, info = self._solver.getSolution(), self._solver.getInfo()
        held = self._solver.getBasis() if keep_basis else None
        ray = None
        if status is Status.INFEASIBLE:
            _, exists, multipliers = self._solver.getDualRay()
            ray = np.array(multipliers) if exists else None
        return Solution(
            status,
            float(info.objective_function_value) if point.value_valid else math.nan,
            np.array(point.col_value),
            np.array(point.row_dual),
            np.array(point.col_dual),
            _basis(held) if held is not None and held.valid else None,
            max(int(info.simplex_iteration_count), 0) + max(int(info.ipm_iteration_count), 0),
            ray,
        )

    def _option(self, name: str, value: Any) -> None:
        _check(self._solver.setOptionValue(name, value), f"the option {name}")


_STATUSES = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.TIME_LIMIT,
    "kInterrupt": Status.TIME_LIMIT,
}
"""The solver's names of how a solve ended."""


def _basis(held: Any) -> Basis:
    return Basis(tuple(map(int, held.col_status)), tuple(map(int, held.row_status)))


def _check(status: Any, what: str) -> None:
    if status.name == "kError":
        raise ArgumentError(f"the solver refuses {what}")


def _vector(values: ArrayLike, length: int | None, what: str, finite: bool = False) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(1 if length is None else length, array)
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise ArgumentError(f"{what} is needed for each of {length}; an array of shape {array.shape} was given")
    bad = ~np.isfinite(array) if finite else np.isnan(array)
    if bad.any():
        raise ArgumentError(f"{what} is not a finite number, at place {int(bad.argmax())}")
    return np.ascontiguousarray(array)


def _places(values: ArrayLike, count: int, what: str) -> Indices:
    array = np.atleast_1d(np.asarray(values, dtype=np.int64))
    outside = (array < 0) | (array >= count)
    if outside.any():
        raise ArgumentError(f"there is no {what} {array[outside][0]}: they are numbered 0 to {count - 1}")
    return array.astype(np.int32)


def _fitting(entries: Sparse | None, count: int, across: int, what: str) -> Sparse:
    if entries is None:
        return Sparse(np.zeros(count, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0))
    if len(entries) != count:
        raise ArgumentError(f"{count} {what}s need {count} rows of entries, not {len(entries)}")
    _places(entries.places, across, "row" if what == "column" else "column")
    _vector(entries.values, len(entries.places), "an entry", finite=True)
    return entries


def _parts(sparse: Sparse) -> tuple[Indices, Indices, Floats]:
    return sparse.starts, sparse.places, sparse.values
