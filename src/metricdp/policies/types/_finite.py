"""What categories and booleans have in common: a declared list of values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError, UnknownCategoryError, UnsupportedMetricError
from metricdp.mechanisms.exponential import exponential
from metricdp.mechanisms.response import randomized_response
from metricdp.metrics import Metric, Space, capped, nullable
from metricdp.metrics.finite import Discrete
from metricdp.policies.column_type import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.exact.refine import Integers
    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.sources.dialect import Dialect

__all__ = ["OneOf", "arrow_of", "can_hold", "words_for"]

_MOST_DISTANCES = 4
_FEW = 20


def arrow_of(value: Any) -> pa.DataType:
    """The Arrow type of a declared value."""
    import pyarrow as pa

    return {bool: pa.bool_(), int: pa.int64(), str: pa.string()}[type(value)]


def can_hold(arrow: pa.DataType, values: Sequence[Any]) -> bool:
    """Whether an Arrow type of text or of integers can hold all of these."""
    import pyarrow as pa

    if not all(isinstance(value, int) for value in values):
        return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))
    if not pa.types.is_integer(arrow):
        return False
    range_ = np.iinfo(arrow.to_pandas_dtype())
    return all(range_.min <= value <= range_.max for value in values)


def words_for(values: Sequence[Any]) -> str:
    """What a column is that can hold all of these, in words.

    >>> words_for(["yes", "no"]), words_for([1, 300])
    ('text', 'integers wide enough for 1 to 300')
    """
    if not all(isinstance(value, int) for value in values):
        return "text"
    return f"integers wide enough for {min(values)} to {max(values)}"


@dataclass(frozen=True, kw_only=True)
class OneOf(ColumnType):
    """One of a declared list of values: by randomized response, or where they have distances, in proportion to these.

    Attributes:
        delta: the probability outside the promise, for randomized response.
    """

    delta: Fraction = Fraction(0)

    @property
    @abstractmethod
    def listed(self) -> tuple[Any, ...]:
        """The declared values, in order."""

    @property
    def _points(self) -> tuple[Any, ...]:
        """What the metric compares, in the same order."""
        return self.listed

    # A sanitized table

    def _make_mechanism(self) -> Mechanism:
        assert self.written is not None
        metric = self.written.metric
        options: list[Any] = [*self._points, None] if self.missing == "secret" else list(self._points)
        if len(options) < 2:
            raise UnsupportedMetricError("there is one value only, and nothing to hide it among")
        if isinstance(metric.unit, Discrete) and self.missing_distance is None:
            return randomized_response(options, metric.level, self.delta)
        if self.delta:
            raise ArgumentError("delta goes with epsilon or factor between any two values")
        return exponential(Space(options, self._with_null(metric)))

    def _with_null(self, metric: Metric) -> Metric:
        """The metric with null at its distance; capped only where two values lie farther apart than twice that."""
        distance = self.missing_distance
        if self.missing != "secret" or distance is None:
            return metric
        widest = metric.unit.enclose(*metric.unit.farthest(self._points)).upper
        return metric.level * nullable(
            metric.unit if widest <= 2 * distance else capped(metric.unit, 2 * distance), distance
        )

    @property
    def _options(self) -> tuple[Any, ...]:
        """What is released: the declared values, and None, last, where a missing value is secret."""
        return (*self.listed, None) if self.missing == "secret" else self.listed

    def accepts(self, arrow: pa.DataType) -> bool:
        """Text, integers and booleans of the kind of the declared values, also as dictionaries."""
        import pyarrow as pa

        inner = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
        if isinstance(self.listed[0], bool):
            return bool(pa.types.is_boolean(inner))
        if pa.types.is_dictionary(arrow) and len(self._options) > np.iinfo(arrow.index_type.to_pandas_dtype()).max:
            return False
        return can_hold(inner, self.listed)

    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """That of the declared values."""
        return arrow_of(self.listed[0])

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """Text as it is, or the integers or booleans that it stands for."""
        import pyarrow as pa

        from metricdp.sources.texts import booleans, integers

        kind = arrow_of(self.listed[0])
        if pa.types.is_boolean(kind):
            return booleans(text, dialect)
        return integers(text) if pa.types.is_integer(kind) else text

    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        (array,) = arrays
        plain = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
        declared = pa.array(self._options, plain.type)  # None, if it is one of them, comes last
        places = pc.index_in(plain, value_set=declared, skip_nulls=False)
        if places.null_count:
            unknown = int(np.argmax(np.asarray(places.is_null())))
            raise UnknownCategoryError("not one of the declared values", unknown)
        response: Any = self.mechanism
        drawn = response.release_places(places.to_numpy(zero_copy_only=False).astype(np.int64))
        if not pa.types.is_dictionary(array.type):
            return [declared.take(pa.array(drawn))]
        known = declared.drop_null()
        indices = pa.array(drawn, mask=drawn >= len(known)).cast(array.type.index_type)
        return [pa.DictionaryArray.from_arrays(indices, known, ordered=array.type.ordered)]

    def released_places(self, array: pa.Array) -> Integers:
        """Where each released value stands among the declared ones, the missing value after them.

        Raises:
            UnknownCategoryError: a value that no release can have; names the row.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
        listed: Sequence[Any] = self.listed
        if pa.types.is_string(plain.type) and not isinstance(listed[0], str):  # of a CSV file, kept as it was
            plain, listed = pc.utf8_lower(plain), [str(value).lower() for value in listed]
        places = pc.index_in(plain, value_set=pa.array(listed, plain.type)).fill_null(len(listed))
        found = np.asarray(places, dtype=np.int64)
        absent = np.array(plain.is_null())
        wrong = (found == len(self.listed)) & (~absent | (self.missing == "refuse"))
        if wrong.any():
            raise UnknownCategoryError("not one of the declared values", int(np.argmax(wrong)))
        return found

    # Words

    @property
    def outside_words(self) -> str:
        """A list has no outside."""
        return "a value that is not in the policy's list makes the table refused"
