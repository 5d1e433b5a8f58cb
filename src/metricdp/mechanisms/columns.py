"""Releases of columns and of points, whatever container they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import NotFiniteError, ShapeError
from metricdp.exact.refine import Integers
from metricdp.mechanisms.blocks import in_blocks
from metricdp.mechanisms.cells import CellMechanism, refuse_missing
from metricdp.mechanisms.containers import EMPTY, is_array, marked, refuse_unknown
from metricdp.mechanisms.forms.arrow import from_arrow, is_arrow
from metricdp.mechanisms.forms.column import Column, Floating, Missing, Moments, ResultType, WholeNumbers, objects
from metricdp.mechanisms.forms.pandas import frame_of, from_series, is_frame, is_series
from metricdp.mechanisms.forms.plain import from_array, from_values
from metricdp.mechanisms.forms.polars import from_polars, is_polars, is_polars_frame

__all__ = ["PointRows", "release_column", "release_points", "take_column", "take_points"]


def release_column(mechanism: CellMechanism, secrets: Any) -> Any:
    """Release secrets that are one number, or moment, each; what comes back has the form of what went in."""
    with np.errstate(all="ignore"):
        column = take_column(secrets, mechanism.takes_dates, mechanism.takes_null)
        if not len(column.numbers):
            raise ShapeError(EMPTY)
        width, nothing = mechanism.resolution, np.zeros(0, dtype=np.int64)
        # A type that cannot show the results is refused before there are any.
        column.given.give(nothing, width, nothing.astype(bool) if mechanism.takes_null else None)
        if not mechanism.takes_null:
            refuse_missing(column.missing, mechanism.takes_dates)
        cells, missing = mechanism.release_cells(column.numbers, column.unit, column.missing)
        return column.pack(_given(column.given, cells, width, missing))


def _given(given: ResultType, cells: Integers, width: Fraction, missing: Missing | None) -> Any:
    """What the type gives, a block at a time where it gives an array of numbers."""
    if not isinstance(given, Floating | Moments) and not (type(given) is WholeNumbers and missing is None):
        return given.give(cells, width, missing)

    def part(rows: slice) -> NDArray[Any]:
        return np.asarray(given.give(cells[rows], width, None if missing is None else missing[rows]))

    return in_blocks(len(cells), part)


def take_column(secrets: Any, dates: bool, null: bool) -> Column:
    """Secrets as a column, by the declared type that they came in."""
    if is_series(secrets):
        return from_series(secrets, dates, null)
    if is_polars(secrets):
        return from_polars(secrets, dates, null)
    if is_arrow(secrets):
        return from_arrow(secrets, dates)
    if is_frame(secrets) or is_polars_frame(secrets):
        raise ShapeError("one number a row is wanted, not a frame: give one of its columns")
    if is_array(secrets):
        if secrets.ndim != 1:
            raise ShapeError("one number a row is wanted; for points of several numbers use a metric on R^n")
        if not len(secrets):
            raise ShapeError(EMPTY)
        column = from_array(secrets, dates, null)
        as_array = objects if secrets.dtype == object else lambda made: made
        return replace(column, pack=lambda made: marked(as_array(made)))
    if isinstance(secrets, list | tuple):
        return from_values(secrets, dates, null)
    refuse_unknown(secrets)
    alone = from_values([secrets[()] if isinstance(secrets, np.ndarray) else secrets], dates, null)
    return replace(alone, pack=lambda made: made[0])


@dataclass(frozen=True)
class PointRows:
    """Points of R^n as exact numbers, and the way back.

    Attributes:
        columns: for each coordinate, or one for the whole, row after row, where all coordinates have one type.
        dimension: how many coordinates there are.
        pack: turns what the columns' types give into the form the points came in.
    """

    columns: list[Column]
    dimension: int
    pack: Callable[[list[Any]], Any]

    @property
    def numbers(self) -> NDArray[Any] | list[NDArray[Any]]:
        """The coordinates: a matrix, or a list of columns."""
        if len(self.columns) == 1:
            return self.columns[0].numbers.reshape(-1, self.dimension)
        return [column.numbers for column in self.columns]

    @property
    def units(self) -> list[Fraction]:
        """What each coordinate is counted in."""
        units = [column.unit for column in self.columns]
        return units * self.dimension if len(units) == 1 else units

    def refuse_missing(self) -> None:
        """Refuse a point one of whose coordinates is missing, with its row."""
        for column in self.columns:
            if column.missing is not None and column.missing.any():
                row = int(np.argmax(column.missing)) // (self.dimension if len(self.columns) == 1 else 1)
                raise NotFiniteError("a finite number is wanted, and this one is missing", row)

    def give(self, cells: Integers, width: Fraction) -> Any:
        """The points at cells, of which there is a row for each."""
        parts = [cells.ravel()] if len(self.columns) == 1 else cells.T
        given = [_given(column.given, part, width, None) for column, part in zip(self.columns, parts, strict=True)]
        return self.pack(given)


def release_points(mechanism: Any, secrets: Any, dim: int | None) -> Any:
    """Release points through ``mechanism.release_cells``, which takes a matrix or columns."""
    with np.errstate(all="ignore"):
        points = take_points(secrets, dim)
        for column in points.columns:
            column.given.give(np.zeros(0, dtype=np.int64), mechanism.resolution, None)
        points.refuse_missing()
        return points.give(mechanism.release_cells(points.numbers, points.units), mechanism.resolution)


def take_points(secrets: Any, dim: int | None = None) -> PointRows:
    """Secrets that are points of R^n: rows of an array, of a list of lists, of a frame; or one point alone.

    ``dim`` tells which of several rows of different lengths is the wrong one; by default the rarer.
    """
    if is_frame(secrets):
        return _pandas_points(secrets)
    if is_polars_frame(secrets):
        return _polars_points(secrets)
    if is_series(secrets) or is_polars(secrets) or is_arrow(secrets):
        raise ShapeError(_POINT)
    if is_array(secrets):
        return _array_points(secrets)
    if not isinstance(secrets, list | tuple):
        refuse_unknown(secrets)
        raise ShapeError(_POINT)
    if not secrets:
        raise ShapeError(EMPTY)
    points = [isinstance(point, list | tuple) or is_array(point) for point in secrets]
    if not any(points):
        return PointRows([from_values(secrets, False, False)], len(secrets), lambda given: given[0])
    if not all(points):
        raise ShapeError("rows of points are wanted, and this row is none", points.index(False))
    return _listed_points(secrets, dim)


_POINT = "a point is wanted, such as [48.85, 2.35], or rows of points"


def _pandas_points(frame: Any) -> PointRows:
    series = [frame.iloc[:, place] for place in range(len(frame.columns))]
    if not series or not len(frame):
        raise ShapeError(EMPTY)
    columns = [from_series(column, False, False) for column in series]

    def pack(given: list[Any]) -> Any:
        return frame_of(frame, [column.pack(made) for column, made in zip(columns, given, strict=True)])

    return PointRows(columns, len(columns), pack)


def _polars_points(frame: Any) -> PointRows:
    series = frame.get_columns()
    if not series or not len(frame):
        raise ShapeError(EMPTY)
    columns = [from_polars(column, False, False) for column in series]

    def pack(given: list[Any]) -> Any:
        return type(frame)([column.pack(made) for column, made in zip(columns, given, strict=True)])

    return PointRows(columns, len(columns), pack)


def _array_points(array: NDArray[Any]) -> PointRows:
    alone = array.ndim == 1
    rows = array[np.newaxis] if alone else array
    if not array.size:
        raise ShapeError(EMPTY)
    if rows.ndim != 2:
        raise ShapeError("points are wanted: one row for each, one column for each coordinate")
    column = from_array(rows.ravel(), False, False)

    def pack(given: list[Any]) -> Any:
        made = (objects(given[0]) if array.dtype == object else given[0]).reshape(rows.shape)
        return marked(made[0] if alone else made)

    return PointRows([column], rows.shape[1], pack)


def _listed_points(points: Sequence[Any], dim: int | None) -> PointRows:
    lengths = [len(point) for point in points]
    if len(set(lengths)) > 1:
        wanted = max(lengths, key=lengths.count) if dim is None else dim
        odd = next(row for row, length in enumerate(lengths) if length != wanted)
        raise ShapeError("points of one length are wanted; this row is longer or shorter than the others", odd)
    size = lengths[0]
    if not size:
        raise ShapeError(EMPTY)
    column = from_values([number for point in points for number in point], False, False)

    def pack(given: list[Any]) -> list[list[Any]]:
        return [given[0][start : start + size] for start in range(0, len(given[0]), size)]

    return PointRows([column], size, pack)
