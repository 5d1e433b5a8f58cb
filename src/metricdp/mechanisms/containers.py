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

__all__ = ["Batch", "NotPrivate", "unpack_labels", "unpack_numbers", "unpack_vectors"]


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
    pack: Callable[[Any], Any]


def unpack_numbers(secrets: Any) -> Batch:
    """Secrets that are one number (or date) each."""
    if _is_series(secrets):
        return Batch(_one_axis(secrets.to_numpy()), _series_like(secrets))
    if isinstance(secrets, np.ndarray) and secrets.ndim:
        return Batch(_one_axis(secrets), _marked)
    if isinstance(secrets, (list, tuple)):
        return Batch(_one_axis(_exact_array(secrets)), lambda results: results.tolist())
    if isinstance(secrets, np.ndarray):
        secrets = secrets[()]
    return Batch(_exact_array([secrets]), lambda results: results.tolist()[0])


def unpack_vectors(secrets: Any) -> Batch:
    """Secrets that are points of R^n: rows of an array, of a list of lists, of a frame; or one point alone."""
    if hasattr(secrets, "to_numpy") and hasattr(secrets, "columns"):
        rows = _two_axes(secrets.to_numpy())
        return Batch(rows, _frame_like(secrets))
    if isinstance(secrets, np.ndarray):
        if secrets.ndim == 1 and secrets.size:
            return Batch(secrets[np.newaxis], lambda results: _marked(results[0]))
        return Batch(_two_axes(secrets), _marked)
    if not isinstance(secrets, (list, tuple)):
        raise ShapeError("a point is wanted, such as [48.85, 2.35], or rows of points")
    if secrets and not isinstance(secrets[0], (list, tuple, np.ndarray)):
        return Batch(_exact_array(secrets)[np.newaxis], lambda results: results.tolist()[0])
    lengths = {len(point) for point in secrets}
    if len(lengths) > 1:
        raise ShapeError("points of one dimension are wanted; these rows differ in length")
    flat = _exact_array([number for point in secrets for number in point])
    return Batch(_two_axes(flat.reshape(len(secrets), -1)), lambda results: results.tolist())


def unpack_labels(secrets: Any) -> Batch:
    """Secrets that are labels or other objects; a list (not a tuple, which may be a label) holds several."""
    if _is_series(secrets):
        return Batch(_filled(secrets.tolist()), _series_like(secrets))
    if isinstance(secrets, np.ndarray) and secrets.ndim:
        dtype = secrets.dtype
        return Batch(_filled(secrets.tolist()), lambda results: _marked(_labels(results, dtype)))
    if isinstance(secrets, list):
        return Batch(_filled(secrets), list)
    return Batch([secrets], lambda results: results[0])


def _is_series(secrets: Any) -> bool:
    return hasattr(secrets, "to_numpy") and hasattr(secrets, "name")


def _series_like(series: Any) -> Callable[[Any], Any]:
    kind = type(series)
    if hasattr(series, "index") and not callable(series.index):  # pandas

        def rebuild(results: Any) -> Any:
            made = kind(results, index=series.index, name=series.name)
            if not source().private:
                made.attrs["private"] = False
            return made

        return rebuild
    return lambda results: kind(series.name, results)  # polars


def _frame_like(frame: Any) -> Callable[[Any], Any]:
    kind, columns = type(frame), list(frame.columns)
    if hasattr(frame, "index"):
        return lambda results: kind(results, index=frame.index, columns=columns)
    return lambda results: kind(results, schema=columns)


def _marked(results: NDArray[Any]) -> NDArray[Any]:
    return results if source().private else results.view(NotPrivate)


def _filled(labels: list[Any]) -> list[Any]:
    if not labels:
        raise ShapeError("nothing to release: the input is empty")
    return labels


def _labels(results: Sequence[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind in "US":  # the label drawn may be longer than any that went in
        return np.array(results)
    array = np.empty(len(results), dtype=dtype if dtype.kind in "iufb" else object)
    array[:] = results
    return array


def _one_axis(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.ndim != 1:
        raise ShapeError("one number a row is wanted; for points of several numbers use a metric on R^n")
    return _some(rows)


def _two_axes(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.size and rows.ndim != 2:
        raise ShapeError("points are wanted: one row for each, one column for each coordinate")
    return _some(rows)


def _some(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.size == 0:
        raise ShapeError("nothing to release: the input is empty")
    return rows


def _exact_array(values: Sequence[Any]) -> NDArray[Any]:
    """Python numbers or dates as an array that holds each exactly; whatever does not fit stays an object."""
    kinds = {type(value) for value in values}
    if kinds <= {float, np.float64}:
        return np.array(values, dtype=np.float64)
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds <= {dt.date}:
        return np.array(values, dtype="datetime64[D]")
    if kinds <= {dt.datetime}:
        if any(value.tzinfo is not None for value in values):
            raise KindError("datetimes without a time zone are wanted; convert to UTC first")
        return np.array(values, dtype="datetime64[us]")
    if all(isinstance(value, np.generic) for value in values):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
