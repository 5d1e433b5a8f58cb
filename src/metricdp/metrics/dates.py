"""Distances between moments in time."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from metricdp.errors import KindError, NotFiniteError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.metrics.amounts import Exact, positive
from metricdp.metrics.enclosures import Enclosures, amount_bounds
from metricdp.metrics.metric import Metric
from metricdp.metrics.vectors import absolute

__all__ = ["Dates", "dates", "day_number"]

_EPOCH = datetime.datetime(1970, 1, 1)
_PER_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}
_PER_DAY |= {"ps": 86400 * 10**12, "fs": 86400 * 10**15, "as": 86400 * 10**18}


@dataclass(frozen=True, repr=False)
class Dates(Metric):
    """See `dates`."""

    kind: ClassVar[str] = "dates"
    symbol: ClassVar[str] = "|x − y|(days)"
    sound: ClassVar[bool] = True
    _geodesic: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = "days"

    @property
    def on_line(self) -> bool:
        """It is."""
        return True

    @property
    def moments(self) -> bool:
        """They are."""
        return True

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    def on_numbers(self) -> Metric:
        """The distance between days counted as numbers."""
        return absolute()

    def _pairwise(self, points: Any, others: Any) -> Floats:
        steps, steps_, scale = _steps(points, others)
        return absolute().pairwise(steps, steps_) / scale

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        steps, steps_, scale = _steps(points, others)
        counted = absolute()._enclosures(steps, steps_)
        return counted if scale == 1 else counted.times(amount_bounds(Fraction(1, scale)))

    def _exactly(self, x: Any, y: Any) -> Exact:
        (one,), (two,) = _days([x], [y])
        return abs(one - two)


def dates(days: int | float | Fraction = 1) -> Metric:
    """The time between two moments, in days or in periods of so many ``days``.

    Moments are dates, datetimes, numpy's datetime64 or pandas' Timestamps, taken exactly to the nanosecond and below.
    All of them have a time zone or none has. ``dates().within(5)`` protects within five days.

    References:
        Paper 1, Example 1. Paper 4, Section 5 (data generalization).

    >>> from datetime import date, datetime
    >>> dates()(date(2024, 2, 28), date(2024, 3, 1)), dates(7)(date(2024, 1, 1), date(2024, 1, 15))
    (2.0, 2.0)
    """
    return Dates() / positive(days, "number of days")


def day_number(moment: Any) -> Fraction:
    """Days since the beginning of 1970, exactly.

    >>> from datetime import datetime
    >>> day_number(datetime(1970, 1, 2, 12))
    Fraction(3, 2)
    """
    return _moment(moment, 0)[0]


def _steps(points: Any, others: Any) -> tuple[list[int], list[int], int]:
    """Whole numbers since the first moment, small enough for floats or exact beyond them, and how many make a day."""
    left, right = _days(points, others)
    scale, first = math.lcm(*(day.denominator for day in left + right)), min(left + right)
    steps, steps_ = ([int((day - first) * scale) for day in side] for side in (left, right))
    return steps, steps_, scale


def _days(points: Iterable[Any], others: Iterable[Any]) -> tuple[list[Fraction], list[Fraction]]:
    """Days since 1970, exactly."""
    sides = [[_moment(moment, row) for row, moment in enumerate(side)] for side in (points, others)]
    zoned = [is_zoned for side in sides for _, is_zoned in side]
    if not sides[0] or not sides[1]:
        raise ShapeError("there are no points")
    if any(zoned) and not all(zoned):
        raise KindError("some moments have a time zone and some have none", zoned.index(not zoned[0]) % len(sides[0]))
    left, right = ([day for day, _ in side] for side in sides)
    return left, right


def _moment(moment: Any, row: int) -> tuple[Fraction, bool]:
    """Days since 1970, and whether the moment has a time zone."""
    is_zoned = getattr(moment, "tzinfo", None) is not None
    if isinstance(moment, datetime.datetime) and hasattr(moment, "to_datetime64"):  # pandas keeps nanoseconds
        moment = moment.to_datetime64()
    if isinstance(moment, np.datetime64):
        if np.isnat(moment):
            raise NotFiniteError("NaT where a moment belongs", row)
        name, count = np.datetime_data(moment.dtype)
        if name not in _PER_DAY:  # years, months and weeks, which start with a day
            moment, name, count = moment.astype("datetime64[D]"), "D", 1
        return Fraction(int(moment.astype(np.int64)) * count, _PER_DAY[name]), is_zoned
    if isinstance(moment, datetime.datetime):
        elapsed = moment - (_EPOCH.replace(tzinfo=datetime.UTC) if is_zoned else _EPOCH)
        return Fraction(elapsed // datetime.timedelta(microseconds=1), _PER_DAY["us"]), is_zoned
    if isinstance(moment, datetime.date):
        return Fraction(moment.toordinal() - _EPOCH.toordinal()), False
    raise KindError(f"a date or a time is expected, not {type(moment).__name__}", row)
