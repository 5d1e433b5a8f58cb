"""Numbers and vectors as their users hand them over, read without rounding.

Arithmetic on the exact values needs Fractions; pictures and pairwise distances need float arrays. Both start here, with
the same checks, so that a bad point gives the same error from either.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, DataError, KindError, NotFiniteError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list

__all__ = [
    "all_different",
    "codes",
    "coordinates",
    "distinct",
    "frozen",
    "is_float",
    "label",
    "mapping",
    "number",
    "same_length",
    "to_floats",
    "tuples",
    "vector",
]


_EXACT_IN_FLOAT = 1 << 53
_NUMBERS = frozenset({int, float})
_PLAIN = frozenset({int, float, str, bool, Fraction, Decimal, type(None)})
"""Types whose values are frozen already."""


def number(value: Any, row: int | None = None) -> Fraction:
    """The rational a number is.

    >>> number(0.5), number(Decimal("0.1"))
    (Fraction(1, 2), Fraction(1, 10))
    """
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal, np.floating)):
        raise KindError(f"a coordinate is a number, not {type(value).__name__}", row)
    if not isinstance(value, (int, Fraction)) and not math.isfinite(value):
        raise NotFiniteError("NaN or infinity where a number belongs", row)
    return Fraction(*value.as_integer_ratio())


def vector(value: Any, row: int | None = None) -> tuple[Fraction, ...]:
    """A point of R^n as rationals; a single number is a point of R."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list)):
        return (number(value, row),)
    if not value:
        raise ShapeError("a point has at least one coordinate", row)
    return tuple(number(coordinate, row) for coordinate in value)


def coordinates(points: Any) -> NDArray[Any]:
    """Points of R^n as a matrix, one a row: of float64 where that loses nothing, else of exact numbers."""
    if isinstance(points, np.ndarray) and points.dtype.kind in "fiu":
        return _numeric(points)
    plain = _plain_floats(points)
    if plain is not None:
        return plain
    rows = [vector(point, row) for row, point in enumerate(points)]
    if not rows:
        raise ShapeError("there are no points")
    for row, point in enumerate(rows):
        if len(point) != len(rows[0]):
            raise ShapeError(f"this point has {len(point)} coordinates, the first has {len(rows[0])}", row)
    if all(is_float(coordinate) for point in rows for coordinate in point):
        return np.array([[float(coordinate) for coordinate in point] for point in rows])
    return _objects(rows)


def to_floats(array: NDArray[Any]) -> Floats:
    """The float view of an array of floats or Fractions; what is beyond the largest float is infinite in it."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        return np.array([_saturated(value) for value in array.ravel()]).reshape(array.shape)


def tuples(points: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Records as tuples of one length."""
    rows: list[tuple[Any, ...]] = []
    for row, point in enumerate(points):
        record = frozen(point)
        if not isinstance(record, tuple):
            raise KindError(f"a record is a tuple, not {type(point).__name__}", row)
        if not record or (rows and len(record) != len(rows[0])):
            raise ShapeError("records are tuples of one length, at least 1", row)
        rows.append(record)
    if not rows:
        raise ShapeError("there are no points")
    return rows


def same_length(x: Sequence[Any], y: Sequence[Any]) -> None:
    """Refuse two points of different dimension."""
    if len(x) != len(y):
        raise ShapeError(f"one point has {len(x)} coordinates, the other {len(y)}")


def frozen(value: Any) -> Any:
    """The value with its lists and arrays as tuples and its sets frozen, so that it can be looked up."""
    kind = type(value)
    if kind in _PLAIN or (kind is tuple and _PLAIN.issuperset(map(type, value))):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return tuple(frozen(part) for part in value)
    return frozenset(value) if isinstance(value, set) else value


def all_different(values: Sequence[Any]) -> dict[Any, int] | None:
    """The place of each value, where all are tuples of ordinary numbers and no two are equal; None where they are not.

    Many at once: what is slow to say which row is at fault is left to `label`.

    >>> all_different(((0, 1), (1, 0))), all_different(((0, 1), (0, 1.0)))
    ({(0, 1): 0, (1, 0): 1}, None)
    """
    if set(map(type, values)) != {tuple}:
        return None
    flat = list(chain.from_iterable(values))
    if not _NUMBERS.issuperset(map(type, flat)) or any(map(ne, flat, flat)):
        return None
    places = dict(zip(values, range(len(values)), strict=True))
    return places if len(places) == len(values) else None


def label(value: Any, row: int | None = None) -> Hashable:
    """A value that is only ever compared for equality; refuses NaN, which is not even equal to itself."""
    value = frozen(value)
    try:
        hash(value)
    except TypeError:
        raise KindError(f"a value of type {type(value).__name__} cannot be compared by equality", row) from None
    if _is_unequal_to_itself(value):
        raise NotFiniteError("NaN is not equal to itself", row)
    return value  # type: ignore[no-any-return]


def distinct(values: Iterable[Any], what: str) -> tuple[Any, ...]:
    """Labels, frozen, of which there is at least one and each stands once.

    >>> distinct(["tea", [0, 1]], "point")
    ('tea', (0, 1))
    """
    names = tuple(frozen(value) for value in as_list(values, f"{what}s"))
    if not names:
        raise ArgumentError(f"there is at least one {what}")
    seen: dict[Hashable, int] = {}
    for row, name in enumerate(names):
        try:
            first = seen.setdefault(label(name), row)
        except DataError as error:
            raise ArgumentError(f"row {row}: the {what} cannot be a label: {error.rule}") from None
        if first != row:
            raise ArgumentError(f"row {row}: the {what} {name!r} stands twice, at {first} and {row}")
    return names


def mapping(value: Any, what: str, example: str) -> dict[Any, Any]:
    """A public argument that is a dict, or makes one; anything else is refused with an example.

    >>> mapping([("a", 1)], "budgets", '{"a": 1}')
    {'a': 1}
    """
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} are given as a dict, such as {example}, not as {type(value).__name__}") from None


def codes(values: Sequence[Any], others: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers in place of values, the same for equal values in both lists."""
    seen: dict[Hashable, int] = {}
    left, right = (
        np.array([seen.setdefault(label(value, row), len(seen)) for row, value in enumerate(side)], dtype=np.int64)
        for side in (values, others)
    )
    return left, right


def is_float(value: Fraction) -> bool:
    """Whether a float is exactly this rational."""
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def _plain_floats(points: Any) -> Floats | None:
    """Tuples of ordinary numbers as floats, all at once; None where it is not sure that floats hold each of them."""
    if not isinstance(points, (list, tuple)) or set(map(type, points)) != {tuple}:
        return None
    lengths, flat = set(map(len, points)), list(chain.from_iterable(points))
    if len(lengths) != 1 or not flat or not _NUMBERS.issuperset(map(type, flat)):
        return None
    try:
        values = np.array(flat, dtype=np.float64)
    except OverflowError:
        return None
    exact = np.isfinite(values).all() if int not in set(map(type, flat)) else (np.abs(values) < _EXACT_IN_FLOAT).all()
    return values.reshape(len(points), -1) + 0.0 if exact else None  # and no zero has a sign


def _numeric(points: NDArray[Any]) -> NDArray[Any]:
    if points.ndim not in (1, 2) or points.size == 0:
        raise ShapeError("points are a non-empty list of numbers or of coordinates")
    matrix = points.reshape(len(points), -1)
    if matrix.dtype.kind == "f":
        bad = ~np.isfinite(matrix).all(axis=1)
        if bad.any():
            raise NotFiniteError("NaN or infinity where a number belongs", int(bad.argmax()))
        if matrix.dtype.itemsize <= 8:
            return matrix.astype(np.float64)
    elif int(matrix.min()) >= -_EXACT_IN_FLOAT and int(matrix.max()) <= _EXACT_IN_FLOAT:
        return matrix.astype(np.float64)
    return _objects([vector(list(point)) for point in matrix])


def _objects(rows: Sequence[tuple[Fraction, ...]]) -> NDArray[Any]:
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    array[:] = [[value.numerator if value.denominator == 1 else value for value in row] for row in rows]
    return array


def _saturated(value: Fraction | int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_unequal_to_itself(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_is_unequal_to_itself(part) for part in value)
    return bool(value != value)
