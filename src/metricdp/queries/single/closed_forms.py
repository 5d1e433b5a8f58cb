"""The sensitivity of each query in closed form, between a norm of record distances and the distance of its answers.

Databases are compared by ``‖(d(x_1, y_1), .., d(x_n, y_n))‖_p``. For p = 1 it is enough to change one record at a time
(paper 1, Lemma 3): the sensitivity is the most that such a change moves the answer, for each unit of d. For p infinite
all records may change at once. What lies between, p = 2, is known where these two agree, and for sums.

Answers of numbers lie on a line. A query is uniformly Δ-sensitive iff any two neighbouring answers are Δ-expansive: a
tight chain between them has no other step. So each form also says whether one step of the answer can cost as little as
the sensitivity allows.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import UnsupportedMetricError
from metricdp.exact.balls import ball, enclose
from metricdp.exact.outward import Bound
from metricdp.metrics.amounts import Exact
from metricdp.queries.single.aggregates import Average, NumberQuery, Percentile, Sum
from metricdp.queries.single.counts import CellCounts, Count
from metricdp.queries.single.query import Query
from metricdp.queries.single.record_metrics import (
    MOST_LISTED,
    NumberDistances,
    RecordMetric,
    exact_distance,
    ratio,
    shape_of,
)

__all__ = ["Form", "closed_form"]

_ONE_RECORD = "paper 1, Lemma 3: one record at a time"


@dataclass(frozen=True)
class Form:
    """A sensitivity in closed form, for metrics without a number before them.

    Attributes:
        value: the number; a `Bound` rounded up where it is irrational, infinite where there is none.
        uniform: whether it is uniform; None where that is not decided in closed form.
        theorem: what proves it.
    """

    value: Exact | Bound
    uniform: bool | None
    theorem: str


def closed_form(query: Query, metric: RecordMetric, norm: float) -> Form | None:
    """The form for a query, where one is known.

    Args:
        query: one of numbers, `Count` or `CellCounts`.
        metric: between databases.
        norm: between answers; any norm is |y - y'| where an answer is one number.
    """
    if isinstance(query, CellCounts):
        return _of_cells(query, metric, norm)
    if isinstance(query, Count):
        return _of_count(query, metric)
    if not isinstance(query, NumberQuery):
        return None
    distances = NumberDistances(query, metric.base)
    if isinstance(query, Sum):
        return _of_sum(query, metric.p, distances)
    if isinstance(query, Percentile):
        return _of_percentile(query, metric.p, distances)
    return _of_average(query, metric.p, distances) if isinstance(query, Average) else None


def _same(difference: Fraction) -> Fraction:
    return difference


def _of_sum(query: Sum, p: float, distances: NumberDistances) -> Form:
    """A record that changes from v to w moves the sum by |v - w|, one that leaves by |v|, whatever the others are."""
    present = distances.steepest(_same)
    absent = distances.steepest_null(abs) if query.nulls else Fraction(0)
    one = max(present, absent)
    if p != 1 and query.records != 1:
        return _of_all_at_once(one, query, p, _sum_moves_together(query, distances, present >= absent))
    return Form(one, _sum_uniform(query, distances, present, one), _sum_theorem(distances, present, absent))


def _sum_uniform(query: Sum, distances: NumberDistances, present: Exact, one: Exact) -> bool | None:
    grid, step = query.grid, query.step
    if grid is None or step is None:
        return distances.shape == "absolute" and present == one
    if not grid.contiguous:  # 0, and beside it lo, which an absent record cannot give at the price of hi
        return False if distances.ordered and not query.low <= 0 <= query.high else None
    if _costs_least(step, distances.one_step, one):
        return True
    if query.nulls and max(-query.low, query.high) == step and _costs_least(step, distances.null_distance, one):
        return True  # -1, 0 and 1 are all steps a value has, and a record that comes or goes is what costs least
    return False if distances.ordered else None


def _sum_moves_together(query: Sum, distances: NumberDistances, by_values: bool) -> bool | None:
    """Whether all records together can move the sum by its least step at the least price: only without a grid."""
    if query.grid is None:
        return distances.shape == "absolute" and by_values
    return False if query.grid.contiguous else None


def _sum_theorem(distances: NumberDistances, present: Exact, absent: Exact) -> str:
    if absent > present:
        return "paper 1, Proposition 4 with footnote 10" if distances.shape == "discrete" else _ONE_RECORD
    return _theorem(distances)


def _of_percentile(query: Percentile, p: float, distances: NumberDistances) -> Form:
    """One value, or all, can move it by as much as they move; a record that comes or goes, from one end to the other.

    With m = 2 values lo and hi, one of them is the percentile, and the other is when it has left.
    """
    present = distances.steepest(_same)
    absent: Exact = Fraction(0)
    if query.nulls:
        farthest = query.high - query.low if query.records != 1 else _from_middle(query)
        absent = ratio(farthest, distances.null_distance)
    value = max(present, absent)
    uniform = _uniform(query, distances, value, present)
    if uniform is None and query.steps == 1 and query.records != 1 and distances.ordered:
        uniform = True  # a record that comes or goes moves it by the only step there is
    theorem = _theorem(distances) if p == 1 else "paper 1, Theorem 13"
    return Form(value, uniform, theorem if present >= absent else _ONE_RECORD)


def _of_average(query: Average, p: float, distances: NumberDistances) -> Form | None:
    if query.records == 1:
        return _average_one_by_one(query, distances)  # and all norms are one
    if query.rounding == "exact" and not query.nulls and p == 2 and query.records is not None:
        one = distances.steepest(_same)  # the sum's, divided by n
        value_at_once = _times_root(one, Fraction(1, query.records))
        return Form(value_at_once, query.step is None and distances.shape == "absolute", _ONE_RECORD)
    one_by_one, at_once = _average_one_by_one(query, distances), _average_at_once(query, distances)
    if p == 1:
        return one_by_one
    if p == math.inf:
        return at_once
    # The norm 2 lies between the two others, and so does the sensitivity.
    return at_once if at_once is not None and at_once.value == one_by_one.value else None


def _average_one_by_one(query: Average, distances: NumberDistances) -> Form:
    """Of m values, one moves the average by |v - w| / m, which rounding may bring up to the next whole step.

    Where values may be absent, m = 1 is the worst for a value that changes, and m = 2 for one that leaves: from
    (lo + hi) / 2, rounded, to hi or lo. The answer of no values, the middle, is as far as that from either end.
    """
    n, step = query.records, query.step
    if not query.nulls and n is not None:

        def change(difference: Fraction) -> Fraction:
            if query.rounding == "exact" or step is None:
                return difference / n
            return math.ceil(difference / (n * step)) * step

        value = distances.steepest(change)
        theorem = _theorem(distances) if distances.shape == "absolute" else _ONE_RECORD
        return Form(value, _uniform(query, distances, value, value), theorem)
    present = distances.steepest(_same)
    absent = ratio(_from_middle(query), distances.null_distance)
    value = max(present, absent)
    uniform = _uniform(query, distances, value, present)
    return Form(value, uniform, _theorem(distances) if present >= absent else _ONE_RECORD)


def _average_at_once(query: Average, distances: NumberDistances) -> Form | None:
    """All values move the average by at most the most that one of them moves; a record that leaves costs more.

    That it costs more is so where None is as far from every value as any two values are from each other.
    """
    if query.nulls and distances.null_distance < distances.diameter:
        return None
    value = distances.steepest(_same)
    if query.grid is not None and query.rounding == "exact":  # values move by whole steps, the answer by an n-th
        return Form(value, False, "paper 1, Theorem 13")
    return Form(value, _uniform(query, distances, value, value), "paper 1, Theorem 13")


def _uniform(query: NumberQuery, distances: NumberDistances, value: Exact, present: Exact) -> bool | None:
    """Whether neighbouring answers cost as little as the sensitivity allows, by a value that moves one step."""
    grid = query.grid
    if query.step is None:
        return distances.shape == "absolute" and present == value
    if grid is None:
        return None
    if _costs_least(grid.step, distances.one_step, value):
        return True
    if query.nulls and _costs_least(grid.step, distances.null_distance, value):
        return None  # a record that comes or goes may do it
    return False if distances.ordered else None


def _costs_least(step: Fraction, distance: Exact | None, value: Exact) -> bool:
    return distance is not None and ratio(step, distance) == value


def _from_middle(query: NumberQuery) -> Fraction:
    return max(query.high - query.middle, query.middle - query.low)


def _theorem(distances: NumberDistances) -> str:
    if distances.shape == "absolute":
        return "paper 1, Theorems 11 and 12"
    return "paper 1, Propositions 4 and 5" if distances.shape == "discrete" else _ONE_RECORD


def _of_count(query: Count, metric: RecordMetric) -> Form:
    """A record that begins or ceases to be counted moves the answer by 1."""
    base = metric.base
    one = ratio(Fraction(1), min(_between_counted(query, base), _to_absent(query, base)))
    if metric.p != 1 and query.records != 1:
        return _of_all_at_once(one, query, metric.p, False)
    theorem = "paper 1, Theorem 8" if shape_of(base)[0] == "discrete" else _ONE_RECORD
    return Form(one, True if one else None, theorem)


def _between_counted(query: Count, base: Any) -> Exact:
    """The least distance between a value that is counted and one that is not."""
    if query.where is None:
        return math.inf
    if query.values is None:
        shape, factor = shape_of(base)
        if shape != "discrete":
            raise UnsupportedMetricError(
                f"{base} tells values apart by more than equality: give Count values=, all values that a record may "
                "have"
            )
        return factor
    counted = [value for value in query.values if query.counts(value)]
    others = [value for value in query.values if not query.counts(value)]
    return _least_between(base, counted, others)


def _to_absent(query: Count, base: Any) -> Exact:
    if not query.nulls:
        return math.inf
    if query.values is None:
        return exact_distance(base, None, 0)  # the same from every value, or it has refused already
    return min((exact_distance(base, None, value) for value in query.values if query.counts(value)), default=math.inf)


def _of_cells(query: CellCounts, metric: RecordMetric, norm: float) -> Form | None:
    """A record that changes its cell moves two counts by 1, one that comes or goes moves one of them."""
    if norm not in (1, math.inf):
        return None
    base = metric.base
    apart = min(_least_between(base, one, two) for one, two in itertools.combinations(query.cells, 2))
    absent = (
        min(exact_distance(base, None, value) for cell in query.cells for value in cell) if query.nulls else math.inf
    )
    both = Fraction(2 if norm == 1 else 1)
    one = max(ratio(both, apart), ratio(Fraction(1), absent))
    if metric.p != 1 and query.records != 1:
        return _of_all_at_once(one, query, metric.p, None)
    uniform = None
    if norm == 1 and shape_of(base)[0] == "discrete":
        uniform = ratio(Fraction(1), absent) == one if query.nulls else True
    return Form(one, uniform, _ONE_RECORD)


def _least_between(base: Any, left: Any, right: Any) -> Exact:
    """The least distance between a value of one list and one of another."""
    shape, factor = shape_of(base)
    if not left or not right:
        return math.inf
    if shape == "discrete":
        return factor
    if len(left) * len(right) > MOST_LISTED**2:
        raise UnsupportedMetricError(f"there are too many values to compare them all by {base}; declare fewer")
    return min(exact_distance(base, v, w) for v in left for w in right)


def _of_all_at_once(one: Exact, query: Query, p: float, uniform: bool | None) -> Form:
    """Each of the n records may do what one can do alone, all in the same direction: n, or √n, times as much."""
    if not one:
        return Form(one, None, _ONE_RECORD)
    if query.records is None:
        return Form(math.inf, False, "it grows with the number of records, which is not public")
    value = one * query.records if p == math.inf else _times_root(one, Fraction(query.records))
    return Form(value, uniform, f"{_ONE_RECORD}, times {'n' if p == math.inf else '√n'}")


def _times_root(one: Exact, square: Fraction) -> Exact | Bound:
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if one == math.inf or (top**2 == square.numerator and bottom**2 == square.denominator):
        return one * Fraction(top, bottom)
    return Bound.above(enclose(lambda: ball(one) * ball(square).sqrt(), 128))
