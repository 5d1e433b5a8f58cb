"""Containers that are understood, and labels in them: what comes back has the form of what went in.

Numbers have a folder of their own, `metricdp.mechanisms.forms`. Whatever is not understood is refused: an array that
only looks like numpy's may hold something beside its values, as a masked array does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, MappingView, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import KindError, OutOfDomainError, ShapeError
from metricdp.exact.bits import source
from metricdp.mechanisms.forms.arrow import is_arrow
from metricdp.mechanisms.forms.column import objects
from metricdp.mechanisms.forms.pandas import is_series, series_like
from metricdp.mechanisms.forms.plain import is_null
from metricdp.mechanisms.forms.polars import is_polars

__all__ = [
    "EMPTY",
    "LabelRows",
    "NotPrivate",
    "is_array",
    "label_array_type",
    "marked",
    "python_values",
    "refuse_unknown",
    "unpack_labels",
    "unpack_sets",
]

EMPTY = "nothing to release: the input is empty"


class NotPrivate(np.ndarray[Any, np.dtype[Any]]):
    """An array whose noise came from a seeded source.

    Slices, results of arithmetic and of numpy's functions keep the mark, and print it; so does whatever they are put
    together with. A number taken out of it, ``tolist()`` and ``np.asarray`` give the bare values.
    """

    def __repr__(self) -> str:
        return f"not private: {np.asarray(self)!r}"

    def __str__(self) -> str:
        return f"not private: {np.asarray(self)!s}"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Mark what a function of numpy makes of it."""
        return _mark(super().__array_function__(func, types, args, kwargs))

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """As of any array, and marked, which numpy leaves out where there are decimals."""
        return _mark(super().round(decimals, out))


def _mark(made: Any) -> Any:
    if type(made) is np.ndarray:
        return made.view(NotPrivate)
    if isinstance(made, tuple) and hasattr(made, "_make"):  # such as what np.linalg.svd gives
        return made._make(map(_mark, made))
    if type(made) in (list, tuple):
        return type(made)(_mark(part) for part in made)
    return made


@dataclass(frozen=True)
class LabelRows:
    """Labels as a list, and the way back.

    Attributes:
        rows: one secret a row.
        pack: turns a list of results, one a row, into the form the secrets came in.
    """

    rows: list[Any]
    pack: Callable[[list[Any]], Any]


def unpack_labels(secrets: Any, declared: Sequence[Any]) -> LabelRows:
    """Secrets that are labels or other objects; a list (not a tuple, which may be a label) holds several.

    The type of the results is that of the secrets only where it holds every declared label, so that it never depends on
    what was drawn; a type that lists its own labels becomes one that lists the declared ones.
    """
    if is_series(secrets):
        return LabelRows(_filled(_nulls_as_none(secrets)), _pandas_labels(secrets, declared))
    if is_polars(secrets):
        return LabelRows(_filled(python_values(secrets.to_list)), _polars_labels(secrets, declared))
    if is_arrow(secrets):
        return LabelRows(_filled(python_values(secrets.to_pylist)), _arrow_labels(secrets, declared))
    if is_array(secrets):
        if secrets.ndim > 1:
            raise ShapeError("one label a row is wanted: an array of one axis")
        dtype = label_array_type(declared, secrets.dtype)
        return LabelRows(_filled(secrets.tolist()), lambda results: marked(objects(results).astype(dtype)))
    if isinstance(secrets, list):
        return LabelRows(_filled(secrets), list)
    refuse_unknown(secrets)
    alone = secrets[()] if isinstance(secrets, np.ndarray) else secrets
    return LabelRows([alone], lambda results: results[0])


def unpack_sets(secrets: Any, universe: Sequence[Any]) -> LabelRows:
    """Secrets that are sets of declared elements; a list holds several.

    As with labels, the type of the secrets comes back only where it holds every subset: the empty one and the whole
    universe stand for them all.
    """
    if is_series(secrets) and isinstance(secrets.dtype, sys.modules["pandas"].CategoricalDtype):
        raise KindError("sets are wanted, not categories, which list those that were seen: give series.astype(object)")
    return unpack_labels(secrets, ([], list(universe)))


def python_values(read: Callable[[], list[Any]]) -> list[Any]:
    """The values of a column as Python's own, by a method of its library.

    Raises:
        OutOfDomainError: one of them cannot be. The library's error, which may name the value, is not passed on.

    >>> python_values(lambda: [1, None])
    [1, None]
    """
    try:
        return read()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # Polars panics, which is no Exception
        raise OutOfDomainError(
            "a value is none that Python can hold: a date or time beyond the years 1 to 9999, a duration of more than "
            "999999999 days, or text that is not UTF-8"
        ) from None


def is_array(secrets: Any) -> bool:
    """Whether it is a plain array with an axis; one of another kind is refused."""
    if not isinstance(secrets, np.ndarray):
        return False
    if type(secrets) not in (np.ndarray, NotPrivate, np.memmap):
        raise KindError(
            f"a plain array is wanted, not {type(secrets).__name__}, which may hold more than its values: give "
            "np.array(..) of what is to be released"
        )
    return secrets.ndim > 0


def refuse_unknown(secrets: Any) -> None:
    """Say what to give instead of a container that is not understood."""
    if isinstance(secrets, Iterator | MappingView | range):
        raise KindError(f"{type(secrets).__name__} is not taken: give a list of what is to be released")
    libraries = [base.__module__.split(".")[0] for base in type(secrets).__mro__]
    library = next((name for name in libraries if name in _LIBRARIES), None)
    if library is None or isinstance(secrets, str | tuple):
        return
    if library in _WITHOUT_SCALARS or hasattr(secrets, "__len__"):
        raise KindError(
            f"{type(secrets).__name__} of {library} is not taken: give a Series, an array or a list of what is to be "
            "released"
        )


_LIBRARIES = ("pandas", "polars", "pyarrow", "geopandas", "dask", "xarray", "scipy", "cupy", "torch", "jax")
_WITHOUT_SCALARS = ("polars", "pyarrow")
"""Libraries whose every object holds secrets rather than being one."""


def marked(results: NDArray[Any]) -> NDArray[Any]:
    """The array, marked as not private where its noise came from a seeded source."""
    return results if source().private else results.view(NotPrivate)


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
        with np.errstate(all="ignore"):
            fits = all(dtype.type(label) == label for label in declared)
    return dtype.newbyteorder("=") if fits else np.dtype(object)


def _filled(labels: list[Any]) -> list[Any]:
    if not labels:
        raise ShapeError(EMPTY)
    return labels


def _nulls_as_none(series: Any) -> list[Any]:
    values = python_values(series.tolist)
    return values if isinstance(series.dtype, np.dtype) else [None if is_null(value) else value for value in values]


def _pandas_labels(series: Any, declared: Sequence[Any]) -> Callable[[list[Any]], Any]:
    pandas, put = sys.modules["pandas"], series_like(series)
    dtype: Any = np.dtype(object)
    if isinstance(series.dtype, np.dtype):
        dtype = label_array_type(declared, series.dtype)
        if dtype.kind == "U":
            dtype = np.dtype(object)
    elif isinstance(series.dtype, pandas.SparseDtype):
        raise KindError("a sparse Series is not taken: give series.sparse.to_dense()")
    elif isinstance(series.dtype, pandas.CategoricalDtype):
        dtype = pandas.CategoricalDtype([label for label in declared if label is not None])
    elif _holds(declared, lambda: _nulls_as_none(pandas.Series(list(declared), dtype=series.dtype))):
        dtype = series.dtype
    return lambda results: put(objects(results), dtype=dtype)


def _polars_labels(series: Any, declared: Sequence[Any]) -> Callable[[list[Any]], Any]:
    polars, dtype = sys.modules["polars"], series.dtype
    if dtype in (polars.Categorical, polars.Enum) and all(isinstance(label, str | None) for label in declared):
        dtype = polars.Enum([label for label in declared if label is not None])
    if not _holds(declared, lambda: polars.Series(list(declared), dtype=dtype, strict=True).to_list()):
        dtype = polars.Object
    return lambda results: polars.Series(series.name, results, dtype=dtype)


def _arrow_labels(array: Any, declared: Sequence[Any]) -> Callable[[list[Any]], Any]:
    arrow, kind = sys.modules["pyarrow"], array.type
    plain = kind.value_type if arrow.types.is_dictionary(kind) else kind
    known = [label for label in declared if label is not None]
    if not _holds(known, lambda: arrow.array(known, plain).to_pylist()) or not _numbers_all(known, kind):
        raise KindError(f"an Arrow array of {kind} does not hold every declared value: convert it first")

    def pack(results: list[Any]) -> Any:
        made = arrow.array(results, plain)
        if arrow.types.is_dictionary(kind):
            places = {label: place for place, label in enumerate(known)}
            indices = arrow.array([places.get(label) for label in results], kind.index_type)
            made = arrow.DictionaryArray.from_arrays(indices, arrow.array(known, plain), ordered=kind.ordered)
        return arrow.chunked_array([made]) if isinstance(array, arrow.ChunkedArray) else made

    return pack


def _numbers_all(known: list[Any], kind: Any) -> bool:
    """Whether a dictionary's indices are wide enough for every declared label."""
    arrow = sys.modules["pyarrow"]
    return not arrow.types.is_dictionary(kind) or len(known) <= np.iinfo(kind.index_type.to_pandas_dtype()).max + 1


def _holds(declared: Sequence[Any], read_back: Callable[[], list[Any]]) -> bool:
    """Whether declared labels, which are public, survive a type unchanged."""
    try:
        held = read_back()
    except Exception:
        return False
    return len(held) == len(declared) and all(
        type(one) is type(two) and one == two for one, two in zip(held, declared, strict=True)
    )
