"""What columns of values on a line have in common: numbers, whole numbers, days, moments, durations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from metricdp.errors import ArgumentError, OffGridError, OutOfDomainError, PolicyError, UnsupportedMetricError
from metricdp.exact.level import rational
from metricdp.mechanisms.continuous.line import approximate_laplace, line_laplace
from metricdp.mechanisms.continuous.nulls import nullable_laplace
from metricdp.metrics import Metric, nullable
from metricdp.metrics.finite import Discrete
from metricdp.policies.column_type import ColumnType
from metricdp.policies.count_by import CountBy
from metricdp.policies.entry import ColumnEntry, Mistake, Outside
from metricdp.policies.levels import level_by_distance, missing_distance, wanted_distance
from metricdp.policies.open_questions import BOUNDS, MISSING, OpenQuestion, within

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.exact.arrays import Floats
    from metricdp.exact.refine import Integers
    from metricdp.mechanisms.forms.column import Column
    from metricdp.mechanisms.forms.column import Missing as Absent
    from metricdp.mechanisms.mechanism import Mechanism

__all__ = ["BEYOND", "LEVEL_KEYS", "OnALine"]

LEVEL_KEYS = ("within", "factor", "epsilon", "per", "metric")
"""What a level with distances is written with."""

BEYOND = 'outside the declared bounds; declare outside = "clamp", or wider bounds'
"""What is said of a value beyond the bounds."""
OFF_STEPS = "not a multiple of the declared step; declare a smaller step, or round the values before"

Bounds = tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True)
class OnALine(ColumnType):
    """A column of values on a line.

    Attributes:
        bounds: the declared least and greatest, in the metric's unit; None where there are none.
        outside: whether a value beyond them is refused or taken for the bound.
        resolution: the width of the grid that releases are rounded to; None for one that follows from the level.
        delta: the probability outside the promise, where the mechanism has one.
    """

    bounds: Bounds | None = None
    outside: Outside = "refuse"
    resolution: Fraction | None = None
    delta: Fraction = Fraction(0)

    unit: ClassVar[str] = ""
    """What distances are counted in."""

    cuts: ClassVar[tuple[str, ...]] = ()
    """What ``count_by`` may hold besides the names of cells; nothing where questions are not answered."""

    keys: ClassVar[tuple[str, ...]] = (
        *LEVEL_KEYS,
        "missing",
        "missing_distance",
        "bounds",
        "outside",
        "resolution",
        "delta",
        "count_by",
    )

    questions: ClassVar[tuple[OpenQuestion, ...]] = (within(""), BOUNDS, MISSING)

    @classmethod
    @abstractmethod
    def _distance(cls) -> Metric:
        """The distance of the type."""

    @classmethod
    @abstractmethod
    def _bound(cls, written: Any) -> Fraction:
        """A bound as it is written, in the metric's unit; raises a Mistake."""

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        bounds = entry.bounds(cls._bound) or cls._natural_bounds()
        missing = entry.missing(bounds is not None)
        written = level_by_distance(entry, cls._distance(), cls.unit)
        distance = missing_distance(entry, missing, cls.unit, written)
        if missing == "secret" and distance is None and written is not None:
            assert bounds is not None
            distance = None if isinstance(written.metric.unit, Discrete) else bounds[1] - bounds[0]
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=missing,
            written=written,
            missing_distance=distance,
            bounds=bounds,
            outside=entry.outside(bounds is not None),
            delta=cls._delta(entry),
            count_by=CountBy.read(entry, (*cls.cuts, "missing") if cls.cuts else ()),
            **cls._own(entry),
        )

    @classmethod
    def _natural_bounds(cls) -> Bounds | None:
        """The bounds that every value of the type has."""
        return None

    @classmethod
    def _own(cls, entry: ColumnEntry) -> dict[str, Any]:
        """What this type alone reads."""
        return {"resolution": entry.quantity("resolution", cls.unit)}

    @classmethod
    def _delta(cls, entry: ColumnEntry) -> Fraction:
        delta = rational(entry.take("delta", 0), "delta")
        if not 0 <= delta < 1:
            raise Mistake("delta", "delta is a probability, from 0 to below 1")
        return delta

    @property
    def level_wanted(self) -> str:
        """What to write where a level is wanted."""
        return wanted_distance(self.unit)

    # A sanitized table

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        width = self._width
        if self.delta:
            return self._approximate(width)
        metric = self._noise_metric(self.written.metric)
        if self.missing != "secret":
            return line_laplace(metric, width, self.bounds)
        return nullable_laplace(self._with_null(metric), self.bounds, width)

    @property
    def _width(self) -> Fraction | None:
        """The resolution that was declared; None for one that the mechanism chooses."""
        return self.resolution

    def _noise_metric(self, metric: Metric) -> Metric:
        """A metric on the line that is nowhere above the given one, among values within the bounds.

        What is private for the smaller is private for the larger (paper 1, Proposition 1). Where any two values lie
        equally far apart, the smaller one reaches that distance at the bounds. Noise on the line keeps no other
        metric, whatever number stands before it.
        """
        own = self._distance()
        if metric.on_line and metric.moments == own.moments:
            return metric
        if not isinstance(metric.unit, Discrete):
            raise UnsupportedMetricError(f"noise on the line is for {own} or any two values alike, not for {metric}")
        if self.bounds is None:
            raise UnsupportedMetricError(f"{metric} needs bounds = [least, greatest]")
        return own * (metric.level / (self.bounds[1] - self.bounds[0]))

    def _with_null(self, metric: Metric) -> Metric:
        """The same with null at its distance (paper 1, section 5), which bounds the others without a cap."""
        assert self.bounds is not None
        assert self.written is not None
        widest = self.bounds[1] - self.bounds[0]
        distance = widest if self.missing_distance is None else self.missing_distance
        if self.missing_distance is not None and isinstance(self.written.metric.unit, Discrete):
            distance *= widest  # the distance of any two values, which is 1, is that of the bounds here
        if 2 * distance <= widest:
            told = self.measure.say(distance if self.missing_distance is None else self.missing_distance)
            raise UnsupportedMetricError(
                f"a missing value {told} from others is not farther than half the width of the bounds"
            )
        return metric.level * nullable(metric.unit, distance)

    def _approximate(self, width: Fraction | None) -> Mechanism:
        """Paper 2, Example 5: any two values within bounds, with a delta."""
        assert self.written is not None
        metric = self.written.metric
        if not isinstance(metric.unit, Discrete) or self.bounds is None or self.missing == "secret":
            raise ArgumentError(
                'delta goes with metric = "0.5 discrete", bounds, and missing = "public" or "refuse": the mechanism '
                "that has one is for any two values within bounds"
            )
        if metric.level.log_of is not None:
            raise ArgumentError("with a delta, the level is a number and no logarithm")
        return approximate_laplace(*self.bounds, metric.level.coefficient, self.delta, width)

    @property
    def is_noise(self) -> bool:
        """It is, unless it is kept."""
        return self.release == "noise"

    def _cells_of(self, secrets: Column) -> tuple[Integers, Absent | None]:
        """The released cells, and the rows released as missing; values beyond the bounds clamped where declared."""
        from metricdp.policies.arrow.exact_numbers import clamped

        if self.bounds is not None and self.outside == "clamp":
            secrets = clamped(secrets, self.bounds)
        return self._drawn(secrets.numbers, secrets)

    def _drawn(self, numbers: Any, secrets: Column) -> tuple[Integers, Absent | None]:
        """What the mechanism draws for these numbers; what it refuses is told in the words of the policy."""
        mechanism: Any = self.mechanism
        cells: Integers
        absent: Absent | None
        try:
            cells, absent = mechanism.release_cells(numbers, secrets.unit, secrets.missing)
        except OffGridError as error:
            raise OffGridError(OFF_STEPS, error.row) from None
        except OutOfDomainError as error:
            raise OutOfDomainError(BEYOND if self.bounds is not None else error.rule, error.row) from None
        return cells, absent

    @property
    def released_resolution(self) -> Fraction:
        """The width of the grid that releases are rounded to."""
        mechanism: Any = self.mechanism
        resolution: Fraction = mechanism.resolution
        return resolution

    @property
    def _moments(self) -> bool:
        return False

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        from metricdp.policies.arrow.exact_numbers import given_as, numbers_in

        cells, absent = self._cells_of(numbers_in(arrays[0], dates=self._moments))
        return [given_as(cells, self.released_resolution, absent, types[0])]

    # What a released table says

    @property
    def secret_step(self) -> Fraction | None:
        """What secrets are whole multiples of, counted from `origin`; None where they are any numbers."""
        return None

    @property
    def origin(self) -> Fraction:
        """What the mechanism counts from."""
        return Fraction(0)

    def released_ends(self, arrow: pa.DataType) -> Bounds | None:
        """The outermost values that a type can hold, in the metric's unit, where releases saturate; None if far off."""
        import pyarrow as pa

        if pa.types.is_integer(arrow):
            whole = np.iinfo(arrow.to_pandas_dtype())
            return Fraction(int(whole.min)), Fraction(int(whole.max))
        if pa.types.is_decimal(arrow):
            most = Fraction(10**arrow.precision - 1) / Fraction(10) ** arrow.scale
            return -most, most
        return None

    def measured(self, array: pa.Array) -> tuple[Floats, Absent]:
        """Released values as floats in the metric's unit, and which of them are missing; for estimates."""
        from metricdp.policies.arrow.exact_numbers import numbers_in

        column = numbers_in(array, dates=self._moments)
        absent = np.zeros(len(array), dtype=bool) if column.missing is None else np.array(column.missing)
        numbers = column.numbers
        if numbers.dtype == object:
            numbers = np.array([0 if null else number for number, null in zip(numbers, absent, strict=True)])
        values = numbers.astype(np.float64) * float(column.unit)
        absent |= np.isnan(values)
        values[absent] = 0.0
        return values, absent

    # Questions

    def _declared_bounds(self) -> Bounds:
        if self.bounds is None:
            raise PolicyError(["to be asked about, it needs bounds = [least, greatest]"])
        return self.bounds

    def _cell_options(self) -> dict[str, Any]:
        missing = self.count_by.missing_name(self.missing, [self.count_by.other or ""])
        return {"outside": self.outside, "missing": missing, "other": self.count_by.other}

    # Words

    @property
    def outside_words(self) -> str | None:
        """The bounds, and what is done with a value beyond."""
        if self.bounds is None:
            return None
        low, high = map(self._say_bound, self.bounds)
        done = "is taken for the nearer bound" if self.outside == "clamp" else "makes the table refused"
        return f"bounds {low} to {high}; a value beyond {done}"

    def _say_bound(self, bound: Fraction) -> str:
        return f"{int(bound):,}" if bound.denominator == 1 else f"{float(bound):,g}"
