"""What a release looks like from outside, and containers to look at it in.

A look is all that can be told of a release without its noise: container, type, grid, ends, error. It must be the same
for two secrets of one declared type.
"""

from __future__ import annotations

import datetime as dt
import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from metricdp.errors import MetricDPError
from metricdp.exact.refine import CELLS

ROWS = 64
"""Copies of a secret to release: enough to see a null and a number, where both can come out."""

FAR = (CELLS, -CELLS)
"""Draws that end beyond every grid."""

DRAWING = tuple(f"metricdp.mechanisms.{name}" for name in ("continuous.line", "continuous.vectors", "geometric"))
"""The modules that draw cells."""


@contextmanager
def draws(cells: int) -> Iterator[None]:
    """Every draw on a line or in space is this many cells."""

    def chosen(formula: Any, count: int) -> Any:
        return np.full((formula.outputs, count), cells, dtype=np.int64)

    with ExitStack() as stack:
        for name in DRAWING:
            stack.enter_context(mock.patch.object(importlib.import_module(name), "nearest_integers", chosen))
        yield


def listed(released: Any) -> list[Any]:
    """The values of any container, with points apart."""
    if isinstance(released, pd.DataFrame):
        return [value for name in released.columns for value in listed(released[name])]
    if isinstance(released, pl.DataFrame):
        return [value for column in released.get_columns() for value in listed(column)]
    if isinstance(released, np.ndarray) and released.dtype.kind == "M":
        return list(released)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(released, method):
            released = getattr(released, method)()
            break
    if not isinstance(released, list | tuple):
        return [released]
    return [value for entry in released for value in (entry if isinstance(entry, list | tuple) else [entry])]


def form(released: Any) -> tuple[Any, ...]:
    """Container and type."""
    if isinstance(released, pd.DataFrame):
        return ("frame", *(str(dtype) for dtype in released.dtypes))
    if isinstance(released, pl.DataFrame):
        return ("frame", *(str(dtype) for dtype in released.dtypes))
    return type(released).__name__, str(getattr(released, "dtype", getattr(released, "type", "")))


def spelled(value: Any) -> str:
    """The type of a value, or which null it is."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return repr(value)
    return type(value).__name__


def look(mechanism: Any, secrets: Any) -> list[Any]:
    """All that must be the same for another secret: forms, kinds of values, whether they lie on the grid, ends."""
    seen: list[Any] = []
    for cells in (None, *FAR):
        try:
            if cells is None:
                released = mechanism.release(secrets)
            else:
                with draws(cells):
                    released = mechanism.release(secrets)
        except MetricDPError as error:
            seen.append((type(error).__name__, str(error)))
            continue
        values = listed(released)
        seen.append(form(released))
        seen.append(frozenset(spelled(value) for value in values))
        if cells is None:
            seen.append(all(on_grid(value, mechanism.resolution, released) for value in values))
        else:
            seen.append(frozenset(repr(value) for value in values))
    return seen


def on_grid(value: Any, width: Fraction, released: Any) -> bool:
    """Whether a value is a multiple of the resolution, or what its type has next to one."""
    if spelled(value) in ("None", "<NA>", "NaT", "nan"):
        return True
    if isinstance(value, dt.date | np.datetime64):
        days = _days(value)
        return (days / width).denominator == 1
    exact = Fraction(value)
    nearest = round(exact / width) * width
    if isinstance(value, float):
        return abs(exact - nearest) <= abs(nearest) * Fraction(1, 2**52) or _narrow(released, value, nearest)
    return exact == nearest or not isinstance(value, int)


def _narrow(released: Any, value: float, nearest: Fraction) -> bool:
    text = " ".join(form(released)).lower()
    bits = (
        11
        if "16" in text or "half" in text
        else 24
        if "32" in text or "float" in text.split() or "float[" in text
        else 0
    )
    return bool(bits) and abs(Fraction(value) - nearest) <= abs(nearest) * Fraction(1, 2**bits)


def _days(moment: Any) -> Fraction:
    if isinstance(moment, np.datetime64):
        day = np.timedelta64(1, "D").astype(f"m8[{np.datetime_data(moment.dtype)[0]}]").astype(np.int64)
        return Fraction(int(moment.astype(np.int64)), int(day))
    if isinstance(moment, pd.Timestamp):
        naive = moment.tz_convert("UTC").tz_localize(None) if moment.tzinfo else moment
        return _days(naive.to_datetime64())
    if isinstance(moment, dt.datetime):
        utc = moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
        return Fraction((utc - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1), 86_400 * 10**6)
    return Fraction(moment.toordinal() - dt.date(1970, 1, 1).toordinal())


# Containers: what they are called, and how secrets are put into them; a maker that raises does not hold them.

Make = Callable[[list[Any]], Any]


def _array(dtype: Any) -> Make:
    def make(rows: list[Any]) -> Any:
        array = np.array(rows, dtype=dtype)
        if dtype is not object and [Fraction(x) for x in array.tolist()] != [Fraction(x) for x in rows]:
            raise ValueError("not held")
        return array

    return make


def _exactly(make: Make) -> Make:
    def made(rows: list[Any]) -> Any:
        container = make(rows)
        held = [None if spelled(x) in ("None", "<NA>", "nan") else Fraction(x) for x in listed(container)]
        if held != [None if x is None else Fraction(x) for x in rows]:
            raise ValueError("not held")
        return container

    return made


def _objects(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def _arrow(kind: Any) -> Make:
    def make(rows: list[Any]) -> Any:
        if pa.types.is_decimal(kind):
            from decimal import Decimal

            rows = [None if x is None else Decimal(x) for x in rows]
        return pa.array(rows, kind)

    return make


NUMBERS: dict[str, Make] = {
    "scalar": lambda rows: rows[0],
    "list": list,
    "tuple": tuple,
    "objects": _objects,
    "series of objects": lambda rows: pd.Series(rows, dtype=object),
    **{f"array {name}": _array(name) for name in ("i1", "i4", "i8", "u8", "f2", "f4", "f8", ">i8", ">f4")},
    **{
        f"pandas {name}": _exactly(lambda rows, name=name: pd.Series(rows, dtype=name))
        for name in (
            "int64",
            "float64",
            "float32",
            "Int64",
            "Int8",
            "UInt64",
            "Float64",
            "Float32",
            "int64[pyarrow]",
            "double[pyarrow]",
            "uint8[pyarrow]",
        )
    },
    **{
        f"polars {kind}": _exactly(lambda rows, kind=kind: pl.Series("x", rows, dtype=kind))
        for kind in (pl.Int64, pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(30, 2))
    },
    **{
        f"arrow {kind}": _exactly(_arrow(kind))
        for kind in (
            pa.int64(),
            pa.int8(),
            pa.uint64(),
            pa.float16(),
            pa.float32(),
            pa.float64(),
            pa.decimal128(12, 2),
            pa.decimal128(38, 4),
            pa.decimal256(60, 3),
        )
    },
    "arrow in pieces": _exactly(
        lambda rows: pa.chunked_array([pa.array(rows[:1], pa.int64()), pa.array(rows[1:], pa.int64())])
    ),
}


def _moments(rows: list[Any]) -> list[Any]:
    return [None if x is None else dt.datetime(x.year, x.month, x.day) for x in rows]


def _fits(rows: list[Any], unit: str) -> None:
    if unit == "ns" and any(x is not None and not 1678 <= x.year <= 2261 for x in rows):
        raise ValueError("not held")


def _numpy_moments(unit: str) -> Make:
    def make(rows: list[Any]) -> Any:
        _fits(rows, unit)
        return np.array(rows, dtype="M8[D]").astype(f"M8[{unit}]")

    return make


def _pandas_moments(unit: str, zone: str | None = None) -> Make:
    def make(rows: list[Any]) -> Any:
        series = pd.Series(_numpy_moments(unit)(rows))
        return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)

    return make


def _arrow_moments(kind: Any) -> Make:
    def make(rows: list[Any]) -> Any:
        _fits(rows, getattr(kind, "unit", "s"))
        return (
            pa.array(rows, pa.date32()).cast(pa.timestamp("s")).cast(kind)
            if kind != pa.date32()
            else pa.array(rows, kind)
        )

    return make


DATES: dict[str, Make] = {
    "date": lambda rows: rows[0],
    "list of dates": list,
    "list of datetimes": _moments,
    "list of both": lambda rows: [*_moments(rows[:1]), *rows[1:]],
    "list of timestamps": lambda rows: [None if x is None else pd.Timestamp(x) for x in rows],
    "objects": _objects,
    **{f"array {unit}": _numpy_moments(unit) for unit in ("D", "h", "s", "ms", "us", "ns")},
    **{f"pandas {unit}": _pandas_moments(unit) for unit in ("s", "ms", "us", "ns")},
    "pandas ns, zoned": _pandas_moments("ns", "Asia/Tokyo"),
    "pandas us, zoned": _pandas_moments("us", "America/Lima"),
    **{
        f"arrow {kind}": _arrow_moments(kind)
        for kind in (
            pa.date32(),
            pa.date64(),
            pa.timestamp("s"),
            pa.timestamp("us"),
            pa.timestamp("ns"),
            pa.timestamp("ms", "Asia/Tokyo"),
        )
    },
    "pandas us[pyarrow], zoned": lambda rows: pd.Series(
        pd.arrays.ArrowExtensionArray(_arrow_moments(pa.timestamp("us", "Asia/Tokyo"))(rows))
    ),
    "pandas date32[pyarrow]": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.date32())),
    "polars date": lambda rows: pl.Series("x", rows, dtype=pl.Date),
    "polars ns": lambda rows: pl.Series("x", _numpy_moments("ns")(rows)),
    "polars us, zoned": lambda rows: pl.Series("x", rows, dtype=pl.Date).cast(pl.Datetime("us", "Asia/Tokyo")),
}

POINTS: dict[str, Make] = {
    "list": lambda rows: [[x, 0.5] for x in rows],
    "tuples": lambda rows: [(x, 3) for x in rows],
    "array f8": lambda rows: np.stack([_array("f8")(rows), np.full(len(rows), 0.5)], axis=1),
    "array i8": lambda rows: np.stack([_array("i8")(rows), np.full(len(rows), 5)], axis=1),
    "objects": lambda rows: np.stack([_objects(rows), _objects([0.5] * len(rows))], axis=1),
    **{
        f"frame of {name} and floats": lambda rows, name=name: pd.DataFrame(
            {"n": NUMBERS[f"pandas {name}"](rows), "x": 0.5}
        )
        for name in ("int64", "float64", "Int64", "int64[pyarrow]", "float32")
    },
    "polars frame": lambda rows: pl.DataFrame({"n": NUMBERS["polars Int64"](rows), "x": [0.5] * len(rows)}),
}


def _listing(rows: list[Any]) -> Any:
    """A categorical type lists what it saw."""
    return pd.Series(rows, dtype="category")


LABELS: dict[str, Make] = {
    "label": lambda rows: rows[0],
    "list": list,
    "array": np.array,
    "objects": _objects,
    "series": pd.Series,
    "series of categories": _listing,
    "series of text": lambda rows: pd.Series(rows, dtype="string"),
    "series of arrow": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.string())),
    "polars": pl.Series,
    "polars categories": lambda rows: pl.Series(rows, dtype=pl.Categorical),
    "polars enum": lambda rows: pl.Series(rows, dtype=pl.Enum(sorted(set(rows)))),
    "arrow": pa.array,
    "arrow dictionary": lambda rows: pa.array(rows).dictionary_encode(),
    "arrow view": lambda rows: pa.array(rows, pa.string_view()),
}


def label_look(released: Any) -> tuple[Any, ...]:
    """Container, type, and the labels that the type itself lists."""
    if isinstance(released, pd.Series) and isinstance(released.dtype, pd.CategoricalDtype):
        return (*form(released), *released.cat.categories)
    if isinstance(released, pa.DictionaryArray):
        return (*form(released), *released.dictionary.to_pylist())
    return form(released)


EDGES = [2**24, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64, *(10**power for power in range(0, 20))]


def integer_pairs() -> list[tuple[Any, Any]]:
    """Neighbours either side of where some type ends or rounds."""
    pairs = [(edge - 1, edge) for edge in EDGES] + [(edge, edge + 1) for edge in EDGES]
    return [*pairs, *((-one, -two) for one, two in pairs), (-1, 1), (99, 100), (0, 1)]


def float_pairs() -> list[tuple[Any, Any]]:
    """The same for floats, with their smallest and their zeros."""
    pairs = [(math.nextafter(float(edge), 0), float(edge)) for edge in EDGES if edge < 2**54]
    small = [(-0.0, 0.0), (0.0, 5e-324), (2.2250738585072014e-308, 5e-324), (0.1, 0.125), (0.5, 1.0), (99.5, 100.0)]
    return [*pairs, *small, *((-one, -two) for one, two in pairs)]


def date_pairs() -> list[tuple[Any, Any]]:
    """Neighbours around 1970, around the ends of nanoseconds and of the calendar."""
    days = [
        (1969, 12, 31),
        (1970, 1, 1),
        (2262, 4, 10),
        (2262, 4, 11),
        (2262, 4, 12),
        (1677, 9, 20),
        (1677, 9, 21),
        (1, 1, 1),
        (1, 1, 2),
        (9999, 12, 30),
        (1900, 2, 28),
        (2024, 2, 28),
        (2038, 1, 18),
        (1582, 10, 4),
        (1678, 1, 1),
        (2261, 12, 30),
    ]
    return [(dt.date(*day), dt.date(*day) + dt.timedelta(1)) for day in days]
