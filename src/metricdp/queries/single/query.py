"""What every query has: a public number of records or none, and where its answers lie."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError, KindError, ShapeError
from metricdp.mechanisms.containers import python_values
from metricdp.metrics import Metric, Space
from metricdp.metrics.amounts import code

__all__ = ["AnswerGrid", "Query", "check_count", "is_missing", "rows_of"]


@dataclass(frozen=True)
class AnswerGrid:
    """Where the answers to a query lie: on the points ``start + step * i``, from ``least`` to ``greatest``.

    Attributes:
        start: one point of the grid; the least, where there is a least.
        step: the distance between two neighbouring points.
        least: the least answer; None where there is none.
        greatest: the greatest answer; None where there is none.
        contiguous: whether every point between the two is the answer to some database.

    >>> AnswerGrid(Fraction(0), Fraction(5), Fraction(0), Fraction(20)).steps
    4
    """

    start: Fraction
    step: Fraction
    least: Fraction | None
    greatest: Fraction | None
    contiguous: bool = True

    @property
    def steps(self) -> int | None:
        """The number of steps from the least to the greatest answer; None where one of them is missing."""
        if self.least is None or self.greatest is None:
            return None
        return int((self.greatest - self.least) / self.step)

    @property
    def whole(self) -> bool:
        """Whether all points are integers."""
        return self.start.denominator == 1 and self.step.denominator == 1


class Query(ABC):
    """A question to a database: a tuple with one value for each record, None for a record that is absent.

    A query is a frozen value. Everything it holds is public: bounds, steps and the number of records come from a
    policy, never from the data.

    Attributes:
        records: how many there are, where that is public; None where it is not.
        nulls: whether a record may be absent. Where their number is not public, one always may.
    """

    records: int | None
    nulls: bool

    @property
    @abstractmethod
    def grid(self) -> AnswerGrid | None:
        """Where the answers lie; None where they are on no grid."""

    @property
    @abstractmethod
    def universe(self) -> Sequence[Any] | None:
        """All values that one record may have, None for absence included; None where they cannot be listed."""

    @abstractmethod
    def evaluate(self, data: Any) -> Any:
        """The true answer, exactly. It is for the curator's eyes: `answer` is what may be told."""

    def __call__(self, database: Any) -> Any:
        """The same as `evaluate`, so that a query is a function of databases."""
        return self.evaluate(database)

    def databases(self, limit: int) -> Iterator[tuple[Any, ...]] | None:
        """All databases; None where they cannot be listed, or are more than ``limit``."""
        values = self.universe
        if self.records is None or values is None or self.records * math.log(len(values)) > math.log(limit) + 1e-9:
            return None
        return itertools.product(values, repeat=self.records)

    def answer_space(self, metric: Metric) -> Space:
        """The answers, with the largest metric for which noise on them is private; see `design.answer_space`."""
        from metricdp.queries.single.answer_space import space_of_answers

        return space_of_answers(self, metric)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self._shown().items())
        return f"{type(self).__name__}({inside})"

    def _shown(self) -> dict[str, str]:
        shown = {}
        for field in fields(self):  # type: ignore[arg-type]  # every query is a dataclass
            value = getattr(self, field.name)
            if (value is not None or field.name == "step") and field.name not in ("nulls", "outside"):
                shown[field.name] = _in_code(value)
        if self.records is not None and self.nulls:
            shown["nulls"] = "True"
        if getattr(self, "outside", "refuse") != "refuse":
            shown["outside"] = repr(self.outside)  # type: ignore[attr-defined]
        return shown


def _in_code(value: Any) -> str:
    if isinstance(value, tuple) and all(isinstance(part, Fraction) for part in value):
        return f"({', '.join(map(code, value))})"
    return code(value) if isinstance(value, Fraction) else repr(value)


def check_count(records: Any, nulls: bool | None) -> tuple[int | None, bool]:
    """The public number of records and whether one may be absent, as a user gave them."""
    if records is not None and (isinstance(records, bool) or not isinstance(records, int) or records < 1):
        raise ArgumentError("records, their public number, is 1 or more; leave it out where it is not public")
    if records is None and nulls is False:
        raise ArgumentError(
            "where the number of records is not public, one may be absent: give records=, or leave nulls"
        )
    return records, records is None if nulls is None else bool(nulls)


def rows_of(data: Any, query: Query) -> list[Any]:
    """The records of a column, a list or an array, refused where they are not as many as the query says."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; Polars and pandas; numpy
        if hasattr(data, method):
            rows = python_values(getattr(data, method))
            break
    else:
        rows = data
    if isinstance(rows, (str, bytes)) or not isinstance(rows, (list, tuple, range)):
        raise KindError(f"a column of records is wanted, such as a list or a Series, not {type(data).__name__}")
    if query.records is not None and (len(rows) > query.records or (len(rows) < query.records and not query.nulls)):
        allowed = f"at most {query.records}" if query.nulls else f"exactly {query.records}"
        raise ShapeError(f"the query is about {allowed} records, and the data have another number")
    return list(rows)


def is_missing(value: Any) -> bool:
    """Whether a record has no value: None, NaN, NaT or pandas' NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except ArithmeticError:  # a signalling NaN
        return True
    except (TypeError, ValueError):
        return False
