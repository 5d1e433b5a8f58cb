"""What a report says about one column: its mechanism, its level, the error to expect, and the adversary's view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metricdp.mechanisms.mechanism import Mechanism
from metricdp.metrics.words import factor_words, percent
from metricdp.policies.column_type import ColumnType
from metricdp.tables.report.views import MISSING_OR_NOT, OddsView, views_of
from metricdp.tables.report.whole import named_factor, widest_factor

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ColumnReport", "mechanism_in", "report_column"]

_TELLING = 100.0
"""A factor from which even odds end beyond 99%: what such secrets differ by is hardly hidden."""


@dataclass(frozen=True)
class ColumnReport:
    """What is promised for a column, or for columns that belong together, and what to expect of it.

    Attributes:
        name: what the policy calls it.
        columns: the columns of the table.
        kind: the type of its entry in the policy.
        formula: the metric, with its level, as mathematics.
        level: the level as the policy says it.
        mechanism: how it is released.
        error: the error to expect, in words.
        median: the distance from the secret within which half of all releases lie, rounded up; None for categories.
        radius_95: the same for 95%.
        unit: what these two are counted in.
        truth: the probability that the very secret is released, rounded down; None where there is a continuum.
        null_stays: the probability that a missing value is released as missing, where that is secret.
        null_appears: the probability that a present value is released as missing, where that is secret.
        named_factor: by how much the odds move at most, at the distance that the level names.
        widest_factor: the same between any two values that the policy allows; None where it sets no bounds.
        views: the adversary's, at a few distances.
        missing: what is done with a missing value.
        outside: what is done with a value outside its bounds or list; None where there are none.
        attention: what the level does not hide.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    formula: str
    level: str
    mechanism: str
    error: tuple[str, ...]
    median: float | None
    radius_95: float | None
    unit: str
    truth: float | None
    null_stays: float | None
    null_appears: float | None
    named_factor: float
    widest_factor: float | None
    views: tuple[OddsView, ...]
    missing: str
    outside: str | None
    attention: tuple[str, ...]


def report_column(column: ColumnType, schema: pa.Schema | None, rows: int | None) -> ColumnReport:
    """The facts about one column, from the policy and the schema alone.

    Args:
        column: of the policy; it is released with noise.
        schema: of the table, where that is known: a type's own steps can be coarser than the mechanism's.
        rows: how many rows a person may have; None where the policy names no person.
    """
    mechanism, measure = mechanism_in(column, schema), column.measure
    views = tuple(views_of(column, mechanism, rows))
    error = mechanism.expected_error(measure)
    return ColumnReport(
        name=column.name,
        columns=column.columns,
        kind=column.type_name,
        formula=mechanism.guarantee.metric.bracketed,
        level=column.level_words,
        mechanism=mechanism.words(measure),
        error=error.words,
        median=error.median,
        radius_95=error.radius_95,
        unit=measure.unit,
        truth=error.truth,
        null_stays=error.null_stays,
        null_appears=error.null_appears,
        named_factor=named_factor(column, mechanism),
        widest_factor=widest_factor(mechanism),
        views=views,
        missing=column.missing_words,
        outside=column.outside_words,
        attention=tuple(_attention(views, error.truth)),
    )


def mechanism_in(column: ColumnType, schema: pa.Schema | None) -> Mechanism:
    """The mechanism as it releases into the type of the column, whose steps may be coarser than its own."""
    place = -1 if schema is None else schema.get_field_index(column.columns[0])
    mechanism = column.mechanism if place < 0 or schema is None else column.mechanism_in(schema.field(place).type)
    assert mechanism is not None
    return mechanism


def _attention(views: tuple[OddsView, ...], truth: float | None) -> list[str]:
    notes = []
    null = next((view for view in views if view.secrets == MISSING_OR_NOT), None)
    if null is not None and null.factor >= _TELLING:
        notes.append(
            f"Whether a value is missing is hardly hidden (a factor {factor_words(null.factor)}). A larger distance in "
            "within, narrower bounds, or a smaller missing_distance hides it better."
        )
    if truth is not None and truth > 0.95:
        notes.append(f"The very truth is released with probability {percent(truth)}: this level hides little.")
    return notes
