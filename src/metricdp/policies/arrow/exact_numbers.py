"""Columns of numbers as the exact numbers they are, and released cells back in the type that was declared.

The forms of `metricdp.mechanisms` do it for every Arrow type; what is added here are the texts of columns that declare
no type, and bounds that values are clamped to.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metricdp.exact.refine import Integers
from metricdp.mechanisms.forms.arrow import from_arrow
from metricdp.mechanisms.forms.column import Column, Missing, objects
from metricdp.sources.texts import fractions

__all__ = ["clamped", "counted", "given_as", "numbers_in", "whole_numbers"]


def numbers_in(array: pa.Array, dates: bool = False) -> Column:
    """The numbers or moments of an Arrow array, or of the text of Python's numbers, exactly."""
    if not pa.types.is_string(array.type):
        return from_arrow(array, dates)
    listed = objects([Fraction(0) if number is None else number for number in fractions(array)])
    return Column(listed, from_arrow(pa.array([], pa.float64()), False).given, missing=np.asarray(array.is_null()))


def counted(column: Column, floats: bool = True) -> Column:
    """The same numbers as floats, if they are and may be, or as integers of one unit."""
    if column.numbers.dtype.kind in "iu" or (floats and column.numbers.dtype.kind == "f"):
        return column
    ratios = [number.as_integer_ratio() for number in column.numbers.tolist()]
    bottom = math.lcm(*{below for _, below in ratios})
    return replace(
        column, numbers=objects([top * (bottom // below) for top, below in ratios]), unit=column.unit / bottom
    )


def given_as(cells: Integers, width: Fraction, missing: Missing | None, arrow: pa.DataType) -> pa.Array:
    """The released numbers ``width * cells`` in a type, saturating at its ends."""
    dates = bool(pa.types.is_date(arrow) or pa.types.is_timestamp(arrow))
    given: pa.Array = from_arrow(pa.array([], arrow), dates).given.give(cells, width, missing)
    return given


def clamped(column: Column, bounds: tuple[Fraction, Fraction]) -> Column:
    """The column with values beyond the bounds at the outermost values of its type that are not."""
    values, (low, high) = column.numbers, (bound / column.unit for bound in bounds)
    if values.dtype.kind == "f":
        return replace(column, numbers=np.clip(values, *_floats_inside((low, high), values.dtype)))
    least, greatest = math.ceil(low), math.floor(high)
    if values.dtype == object or least > greatest:
        ends = (low, high) if least > greatest else (least, greatest)
        return replace(column, numbers=objects([max(ends[0], min(ends[1], value)) for value in values.tolist()]))
    info = np.iinfo(values.dtype)
    least, greatest = (max(int(info.min), min(int(info.max), end)) for end in (least, greatest))
    return replace(column, numbers=np.clip(values, least, greatest))


def _floats_inside(bounds: tuple[Fraction, Fraction], dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The outermost floats that are not beyond the bounds; NaN, which is a missing value, passes between them."""
    most = float(np.finfo(dtype).max)
    low, high = (dtype.type(max(-most, min(most, float(bound)))) for bound in bounds)
    if Fraction(float(low)) < bounds[0]:
        low = np.nextafter(low, dtype.type(math.inf))
    if Fraction(float(high)) > bounds[1]:
        high = np.nextafter(high, dtype.type(-math.inf))
    return low, high


def whole_numbers(values: NDArray[Any], first: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Integers of 64 bits, counted from ``first``, as integers of a type that holds them."""
    if -(2**62) < first < 2**62:
        return (values + first).astype(dtype)
    return objects([value + first for value in values.tolist()]).astype(dtype)
