"""Treatments of numbers: places, amounts, counts, moments and series."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metricdp.errors import NotFiniteError, OutOfDomainError, ShapeError
from metricdp.mechanisms.continuous import LineLaplace, VectorLaplace
from metricdp.mechanisms.nulls import NullableLaplace
from metricdp.mechanisms.sphere import SphereLaplace
from metricdp.mechanisms.stepped import Geometric
from metricdp.tables.treatments.treatment import Arrays, Outside, Treatment, like, to_numpy

__all__ = ["Integer", "Location", "Number", "Series", "Time"]

_PER_DAY = {"D": 1, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}


@dataclass(frozen=True)
class Location(Treatment):
    """Latitude and longitude in degrees, by the Laplace mechanism on the globe."""

    sphere: SphereLaplace = field(kw_only=True)
    kind: ClassVar[str] = "location"
    wants: ClassVar[str] = "floating-point degrees"

    @property
    def mechanism(self) -> SphereLaplace:
        """``sphere``."""
        return self.sphere

    @property
    def csv_type(self) -> pa.DataType:
        """Floats."""
        return pa.float64()

    @property
    def is_noise(self) -> bool:
        """It is."""
        return True

    def accepts(self, arrow: pa.DataType) -> bool:
        """Floats."""
        return bool(pa.types.is_floating(arrow))

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        points = np.stack([to_numpy(array).astype(np.float64, copy=False) for array in arrays], axis=1)
        released = np.asarray(self.sphere.release(points))
        return [like(pa.array(column), array) for column, array in zip(released.T, arrays, strict=True)]


@dataclass(frozen=True)
class Numeric(Treatment):
    """A column of numbers, or of moments, on a line.

    Attributes:
        bounds: the declared least and greatest, in the metric's unit.
        outside: whether a value beyond them is refused or taken for the bound.
    """

    bounds: tuple[Fraction, Fraction] | None = field(default=None, kw_only=True)
    outside: Outside = field(default="refuse", kw_only=True)

    def _within(self, values: NDArray[Any], bounds: tuple[Any, Any] | None) -> NDArray[Any]:
        """The values, clamped to the bounds where the policy says so; otherwise refused by the mechanism."""
        if bounds is None or self.outside == "refuse":
            return values
        return np.asarray(np.clip(values, *bounds))  # NaN and NaT, which are missing values, stay


@dataclass(frozen=True)
class Number(Numeric):
    """A number by the Laplace mechanism; floats and decimals."""

    line_mechanism: LineLaplace | NullableLaplace = field(kw_only=True)
    kind: ClassVar[str] = "number"
    wants: ClassVar[str] = "a floating-point or decimal column"

    @property
    def mechanism(self) -> LineLaplace | NullableLaplace:
        """``line_mechanism``."""
        return self.line_mechanism

    @property
    def csv_type(self) -> pa.DataType:
        """Floats."""
        return pa.float64()

    @property
    def is_noise(self) -> bool:
        """It is."""
        return True

    def accepts(self, arrow: pa.DataType) -> bool:
        """Floats and decimals."""
        return bool(pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        if pa.types.is_decimal(array.type):
            return [self._release_decimals(array)]
        values = to_numpy(array)
        bounds = None if self.bounds is None else _floats_inside(self.bounds, values.dtype)
        released = np.asarray(self.line_mechanism.release(self._within(values, bounds)))
        return [like(pa.array(released, from_pandas=True), array)]

    def _release_decimals(self, array: pa.Array) -> pa.Array:
        """Decimals one by one, exactly; a release between two steps of the column's type goes to the nearest."""
        secrets = np.array(array.to_pylist(), dtype=object)
        if self.bounds is not None and self.outside == "clamp":
            low, high = (_decimal(bound) for bound in self.bounds)
            secrets = np.array([None if x is None else min(max(x, low), high) for x in secrets], dtype=object)
        precision, scale = array.type.precision, array.type.scale
        exact = Context(prec=max(precision, 28) + 48)
        step = Decimal(1).scaleb(-scale)
        most = Decimal(10**precision - 1).scaleb(-scale, exact)
        released = [
            None if x is None else max(-most, min(most, Decimal(x))).quantize(step, context=exact)
            for x in self.line_mechanism.release(secrets)
        ]
        return pa.array(released, array.type)


@dataclass(frozen=True)
class Integer(Numeric):
    """A whole number by the geometric mechanism, truncated where there are bounds; with secret nulls by Laplace."""

    stepped: Geometric | NullableLaplace = field(kw_only=True)
    kind: ClassVar[str] = "integer"
    wants: ClassVar[str] = "an integer column"

    @property
    def mechanism(self) -> Geometric | NullableLaplace:
        """``stepped``."""
        return self.stepped

    @property
    def csv_type(self) -> pa.DataType:
        """Integers."""
        return pa.int64()

    def accepts(self, arrow: pa.DataType) -> bool:
        """Integers."""
        return bool(pa.types.is_integer(arrow))

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        bounds = None if self.bounds is None else (int(self.bounds[0]), int(self.bounds[1]))
        if isinstance(self.stepped, NullableLaplace):
            # Bounds that floats hold exactly, so the integers between them too (see metricdp.tables.entries).
            values = self._within(to_numpy(array.cast(pa.float64(), safe=False)), bounds)
            return [like(pa.array(np.asarray(self.stepped.release(values)), from_pandas=True), array)]
        beyond = np.asarray(pc.greater(array, pa.scalar(2**63 - 1, array.type))) if array.type == pa.uint64() else None
        if beyond is not None and beyond.any():
            raise OutOfDomainError("beyond 2^63 - 1, the greatest integer that is released", int(np.argmax(beyond)))
        values = self._within(to_numpy(array).astype(np.int64), bounds)
        low = 0 if bounds is None else bounds[0]
        released = np.asarray(self.stepped.release(values - low)) + low
        return [like(pa.array(released), array)]


@dataclass(frozen=True)
class Time(Numeric):
    """A date or a timestamp by the Laplace mechanism on the line, counted in days."""

    line_mechanism: LineLaplace | NullableLaplace = field(kw_only=True)
    kind: ClassVar[str] = "time"

    @property
    def wants(self) -> str:
        """Dates or timestamps that can hold multiples of the resolution."""
        width = self.line_mechanism.resolution
        if width.denominator == 1:
            return "a date or timestamp column"
        return f"timestamps that hold multiples of {float(width * 86400):g} s (or declare a coarser resolution)"

    @property
    def mechanism(self) -> LineLaplace | NullableLaplace:
        """``line_mechanism``."""
        return self.line_mechanism

    @property
    def csv_type(self) -> pa.DataType:
        """Dates where the release is rounded to whole days, otherwise timestamps."""
        return pa.date32() if self.line_mechanism.resolution.denominator == 1 else pa.timestamp("us")

    @property
    def is_noise(self) -> bool:
        """It is."""
        return True

    def accepts(self, arrow: pa.DataType) -> bool:
        """Dates and timestamps, with or without a time zone, whose steps the resolution is a multiple of."""
        if not (pa.types.is_date(arrow) or pa.types.is_timestamp(arrow)):
            return False
        return (self.line_mechanism.resolution * _PER_DAY[_step(arrow)]).denominator == 1

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        unit = _step(array.type)
        values = _moments(array, unit)
        bounds = None
        if self.bounds is not None:
            ticks = [math.ceil(self.bounds[0] * _PER_DAY[unit]), math.floor(self.bounds[1] * _PER_DAY[unit])]
            first, last = np.array(ticks).view(values.dtype)
            bounds = first, last
        released = np.asarray(self.line_mechanism.release(self._within(values, bounds)))
        plain = pa.array(released.view(np.int64), mask=np.isnat(released))
        if pa.types.is_date32(array.type):
            return [plain.cast(pa.int32()).view(pa.date32())]
        if pa.types.is_date64(array.type):
            return [pc.multiply(plain, 86_400_000).view(pa.date64())]
        return [plain.view(array.type)]


@dataclass(frozen=True)
class Series(Treatment):
    """A time series of a declared length, as a list column: all readings at once, by the maximum norm."""

    noise: VectorLaplace = field(kw_only=True)
    kind: ClassVar[str] = "series"
    wants: ClassVar[str] = "a list column of floating-point numbers"

    @property
    def mechanism(self) -> VectorLaplace:
        """``noise``."""
        return self.noise

    def accepts(self, arrow: pa.DataType) -> bool:
        """Lists of floats."""
        is_list = pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow)
        if pa.types.is_fixed_size_list(arrow) and arrow.list_size != self.noise.dim:
            return False
        return bool(is_list and pa.types.is_floating(arrow.value_type))

    def _release(self, arrays: Arrays) -> list[pa.Array]:
        (array,) = arrays
        length = self.noise.dim or 1
        wrong = np.asarray(pc.not_equal(pc.list_value_length(array), length))
        if wrong.any():
            raise ShapeError(f"a series of {length} readings is wanted", int(np.argmax(wrong)))
        flat = pc.list_flatten(array)
        if flat.null_count:
            raise NotFiniteError("a reading is missing", int(np.argmax(np.asarray(flat.is_null()))) // length)
        released = np.asarray(self.noise.release(to_numpy(flat).reshape(len(array), -1)))
        readings = pa.array(released.ravel()).cast(array.type.value_type)
        if pa.types.is_fixed_size_list(array.type):
            return [pa.FixedSizeListArray.from_arrays(readings, length).cast(array.type)]
        kind = pa.LargeListArray if pa.types.is_large_list(array.type) else pa.ListArray
        offsets = np.arange(len(array) + 1) * length
        return [kind.from_arrays(pa.array(offsets, pa.int64()).cast(pa.int32()), readings).cast(array.type)]


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _step(arrow: pa.DataType) -> str:
    """What a date or timestamp type counts in."""
    return arrow.unit if pa.types.is_timestamp(arrow) else "D"


def _moments(array: pa.Array, unit: str) -> NDArray[Any]:
    """Dates or timestamps as numpy's, with NaT for null."""
    if pa.types.is_date64(array.type):
        array = array.cast(pa.date32())
    width = pa.int32() if pa.types.is_date32(array.type) else pa.int64()
    ticks = to_numpy(array.view(width).fill_null(0)).astype(np.int64)
    moments = ticks.view(f"datetime64[{unit}]").copy()
    if array.null_count:
        moments[np.asarray(array.is_null())] = np.datetime64("NaT", "D")
    return moments


def _floats_inside(bounds: tuple[Fraction, Fraction], dtype: np.dtype[Any]) -> tuple[float, float]:
    """The outermost floats that are not beyond the bounds."""
    low, high = dtype.type(float(bounds[0])), dtype.type(float(bounds[1]))
    if Fraction(float(low)) < bounds[0]:
        low = np.nextafter(low, dtype.type(math.inf))
    if Fraction(float(high)) > bounds[1]:
        high = np.nextafter(high, dtype.type(-math.inf))
    return float(low), float(high)
