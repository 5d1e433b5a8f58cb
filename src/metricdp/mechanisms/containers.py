"""What comes back has the form of what went in.

A scalar gives a scalar, a list a list, an array an array, a Series a Series with its index and name, a frame a
frame. Numbers are never rounded on the way in: a list that mixes integers and floats stays a list of both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError, ShapeError
from metricdp.exact.bits import source

__all__ = [
    "Batch",
    "NotPrivate",
    "is_series",
    "label_array_type",
    "marked",
    "series_like",
    "unpack_labels",
    "unpack_numbers",
    "unpack_vectors",
]

Pack = Callable[[Any], Any]


class NotPrivate(np.ndarray[Any, np.dtype[Any]]):
    """An array whose noise came from a seeded source. Slices and results of arithmetic keep the mark."""

    def __repr__(self) -> str:
        return f"not private: {np.asarray(self)!r}"


@dataclass(frozen=True)
class Batch:
    """Secrets as rows of one array, and the way back.

    Attributes:
        rows: one secret a row.
        pack: turns an array or list of results, one a row, into the form the secrets came in.
    """

    rows: Any
    pack: Pack


def unpack_numbers(secrets: Any) -> Batch:
    """Secrets that are one number (or date) each."""
    if is_series(secrets):
        return Batch(_one_axis(secrets.to_numpy()), series_like(secrets))
    if isinstance(secrets, np.ndarray) and secrets.ndim:
        return Batch(_one_axis(secrets), marked)
    if isinstance(secrets, (list, tuple)):
        return Batch(_one_axis(_exact_array(secrets)), _to_list)
    if isinstance(secrets, np.ndarray):
        secrets = secrets[()]
    return Batch(_exact_array([secrets]), lambda results: _to_list(results)[0])


def unpack_vectors(secrets: Any, dim: int | None = None) -> Batch:
    """Secrets that are points of R^n: rows of an array, of a list of lists, of a frame; or one point alone.

    ``dim`` tells which of several rows of different lengths is the wrong one; by default the rarer.
    """
    if hasattr(secrets, "to_numpy") and hasattr(secrets, "columns"):
        columns = [_native(secrets[name].to_numpy()) for name in secrets.columns]
        return Batch(_two_axes(_side_by_side(columns)), _frame_like(secrets))
    if isinstance(secrets, np.ndarray):
        if secrets.ndim == 1 and secrets.size:
            return Batch(_native(secrets)[np.newaxis], lambda results: marked(results[0]))
        return Batch(_two_axes(_native(secrets)), marked)
    if not isinstance(secrets, (list, tuple)):
        raise ShapeError("a point is wanted, such as [48.85, 2.35], or rows of points")
    if not secrets:
        raise ShapeError(_EMPTY)
    points = [isinstance(point, (list, tuple, np.ndarray)) for point in secrets]
    if not any(points):
        return Batch(_exact_array(secrets)[np.newaxis], lambda results: results.tolist()[0])
    if not all(points):
        raise ShapeError("rows of points are wanted, and this row is none", points.index(False))
    lengths = [len(point) for point in secrets]
    if len(set(lengths)) > 1:
        wanted = max(lengths, key=lengths.count) if dim is None else dim
        odd = next(row for row, length in enumerate(lengths) if length != wanted)
        raise ShapeError("points of one length are wanted; this row is longer or shorter than the others", odd)
    flat = _exact_array([number for point in secrets for number in point])
    return Batch(_two_axes(flat.reshape(len(secrets), -1)), lambda results: results.tolist())


def unpack_labels(secrets: Any, declared: Sequence[Any]) -> Batch:
    """Secrets that are labels or other objects; a list (not a tuple, which may be a label) holds several.

    The type of an array of results is that of the secrets only where it holds every declared label, so that it never
    depends on what was drawn.
    """
    if is_series(secrets):
        return Batch(_filled(secrets.tolist()), series_like(secrets))
    if isinstance(secrets, np.ndarray) and secrets.ndim:
        dtype = label_array_type(declared, secrets.dtype)
        return Batch(_filled(secrets.tolist()), lambda results: marked(_objects(results).astype(dtype)))
    if isinstance(secrets, list):
        return Batch(_filled(secrets), list)
    return Batch([secrets], lambda results: results[0])


def is_series(secrets: Any) -> bool:
    """Whether it is a pandas or Polars Series."""
    return hasattr(secrets, "to_numpy") and hasattr(secrets, "name")


def series_like(series: Any) -> Pack:
    """Makes results a Series with the same name and, in pandas, the same index."""
    kind = type(series)
    if hasattr(series, "index") and not callable(series.index):  # pandas
        return lambda results: _mark_frame(kind(results, index=series.index, name=series.name))
    return lambda results: kind(series.name, results)  # polars


def _frame_like(frame: Any) -> Pack:
    kind, columns = type(frame), list(frame.columns)
    if hasattr(frame, "index"):
        return lambda results: _mark_frame(kind(results, index=frame.index, columns=columns))
    return lambda results: kind(results, schema=columns)


def _mark_frame(made: Any) -> Any:
    if not source().private:
        made.attrs["private"] = False
    return made


def marked(results: NDArray[Any]) -> NDArray[Any]:
    """The array, marked as not private where its noise came from a seeded source."""
    return results if source().private else results.view(NotPrivate)


def _to_list(results: NDArray[Any]) -> list[Any]:
    """Results as Python's own values; moments beyond the calendar saturate at its ends."""
    if results.dtype.kind == "M":
        step = "D" if results.dtype == np.dtype("datetime64[D]") else "us"
        ends = [np.datetime64(end).astype(f"datetime64[{step}]") for end in (dt.datetime.min, dt.datetime.max)]
        results = np.clip(results.astype(f"datetime64[{step}]"), *ends)
    listed: list[Any] = results.tolist()
    return listed


def _filled(labels: list[Any]) -> list[Any]:
    if not labels:
        raise ShapeError(_EMPTY)
    return labels


def label_array_type(declared: Sequence[Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the secrets, if it holds each declared label as it is; otherwise that of objects."""
    if dtype.kind == "U" and all(isinstance(label, str) for label in declared):
        return np.dtype(f"<U{max(1, *(len(label) for label in declared))}")
    if dtype.kind not in "iufb":
        return np.dtype(object)
    python = {"i": int, "u": int, "f": float, "b": bool}[dtype.kind]
    if any(type(label) is not python for label in declared):
        return np.dtype(object)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        fits = all(info.min <= label <= info.max for label in declared)
    else:
        fits = all(dtype.type(label) == label for label in declared)
    return dtype if fits else np.dtype(object)


_EMPTY = "nothing to release: the input is empty"


def _one_axis(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.ndim != 1:
        raise ShapeError("one number a row is wanted; for points of several numbers use a metric on R^n")
    return _some(_native(rows))


def _two_axes(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.size and rows.ndim != 2:
        raise ShapeError("points are wanted: one row for each, one column for each coordinate")
    return _some(rows)


def _some(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.size == 0:
        raise ShapeError(_EMPTY)
    return rows


def _native(rows: NDArray[Any]) -> NDArray[Any]:
    """The same values in this machine's byte order."""
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def _side_by_side(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns as one array; of different types only where floats hold them all, and otherwise as objects."""
    if not columns:
        raise ShapeError(_EMPTY)
    if len({column.dtype for column in columns}) == 1:
        return np.stack(columns, axis=1)
    if all(_float_holds(column) for column in columns):
        return np.stack([column.astype(np.float64) for column in columns], axis=1)
    return np.stack([_objects(column.tolist()) for column in columns], axis=1)


def _float_holds(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "f":
        return column.dtype.itemsize <= 8
    return column.dtype.kind in "iu" and bool(((column >= -(2**53)) & (column <= 2**53)).all())


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _exact_array(values: Sequence[Any]) -> NDArray[Any]:
    """Python numbers or dates as an array that holds each exactly; whatever does not fit stays an object."""
    kinds = {type(value) for value in values}
    if any(issubclass(kind, np.generic) for kind in kinds):
        if len(kinds) == 1:
            return np.array(values)
        values = [value.item() if isinstance(value, np.number | np.bool_) else value for value in values]
        kinds = {type(value) for value in values}
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds and all(issubclass(kind, dt.date) for kind in kinds):
        return _moments(values, kinds)
    return _objects(values)


def _moments(values: Sequence[Any], kinds: set[type]) -> NDArray[Any]:
    for row, value in enumerate(values):
        if getattr(value, "tzinfo", None) is not None:
            raise KindError("moments without a time zone are wanted; convert to UTC first", row)
    if kinds == {dt.date}:
        return np.array(values, dtype="datetime64[D]")
    if any(hasattr(value, "to_datetime64") for value in values):  # pandas' Timestamps keep nanoseconds
        return np.array([np.datetime64(value, "ns") for value in values])
    return np.array(values, dtype="datetime64[us]")
