"""The part of a question that is a percentile of a column, for each group: minimum, median, maximum and others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import LevelError, TooLargeError, UnsupportedMetricError
from metricdp.exact.level import Level
from metricdp.metrics import Metric, Space, absolute, attributes, nullable, records
from metricdp.policies.askable import Askable
from metricdp.policies.cells.ordered import OrderedCells
from metricdp.queries.select.averages import CONFIDENCE
from metricdp.queries.select.division import Division, Shares, metric_of_cells
from metricdp.queries.select.rank_plan import RankPlan, rank_plan
from metricdp.queries.select.rank_scores import ValueTally
from metricdp.queries.select.table_answers import TableAnswer
from metricdp.queries.select.totals import check_records
from metricdp.queries.select.value_line import LineTally, ValueLine
from metricdp.queries.single.aggregates import Percentile
from metricdp.queries.single.plan import AnswerPlan, plan
from metricdp.queries.single.sensitivity import sensitivity
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.workload import Workload

__all__ = ["GroupPercentiles", "percentile_of_counts"]


@dataclass(frozen=True, eq=False)
class GroupPercentiles:
    """A percentile of one column, for each group, by the mechanism with the lesser error to expect.

    Noise on the answer: where all records are in one group for certain, and all have values, it is `Percentile` under
    the policy's metric (paper 1, Theorems 11 to 13). Else a record can also leave its group, and with it the percentile
    moves from one end to the other at worst. One record that changes moves the percentile of its group by no more than
    Δ for each unit of distance, or it moves to another group, and then both by ``hi - lo``.

    A draw by rank: see `RankPlan`. What one record does to ranks does not depend on how far the answer moves, so with
    more than a few records it is far better.

    Attributes:
        policy: the universe and its metric.
        division: the groups.
        name: the column.
        p: which percentile, from 0 to 100.
        shares: what of the metric may be spent.

    References:
        Paper 1, Section 5 and Lemma 3; paper 4, section 2.3.
    """

    policy: Askable
    division: Division
    name: str
    p: Fraction
    shares: Shares

    @cached_property
    def line(self) -> ValueLine:
        """Its values one by one, whatever cells the policy has them counted in."""
        return ValueLine.of(self.policy, self.name)

    @cached_property
    def query(self) -> Percentile:
        """The percentile of records none of which is absent, of places on the line."""
        line = self.line
        bounds = (line.low, line.number(line.places - 1))
        return Percentile(self.p, bounds, step=line.step, records=self.policy.most, nulls=False)

    # Which mechanism

    @cached_property
    def ranks(self) -> RankPlan | None:
        """The draw by rank; None where noise on the answer is better, or no draw is known."""
        ranks, noise = self.by_rank, self.by_noise
        if ranks is None or noise is None:
            return ranks
        bar = noise.error_bar(float(CONFIDENCE))
        return ranks if bar is None or ranks.error_to_expect < bar else None

    @cached_property
    def plan(self) -> AnswerPlan | None:
        """The noise on the answer, decided before any data are seen; None where it is drawn by rank."""
        return None if self.ranks is not None else self._noise

    @cached_property
    def by_noise(self) -> AnswerPlan | None:
        """The noise on the answer; None where none is known."""
        try:
            return self._noise
        except (UnsupportedMetricError, TooLargeError, LevelError):
            return None

    @cached_property
    def by_rank(self) -> RankPlan | None:
        """The draw by rank; None where none is known, or where nothing is secret."""
        own = self.shares.metric(self.policy, self.name).on_numbers()
        group = max(1, self.policy.most // len(self.division.labels))
        try:
            return rank_plan(self.line, own, self.p, self.leaving, group)
        except UnsupportedMetricError:
            return None

    # Noise on the answer

    @cached_property
    def of_all(self) -> AnswerPlan | None:
        """The noise where no record can leave the one group there is; None where one can."""
        certain = len(self.division.labels) == 1 and not bool((self.division.group < 0).any())
        if not certain or self.policy.absent is not None or self.line.cells.missing is not None:
            return None
        own = _between_values(self.shares.metric(self.policy, self.name).on_numbers(), self.query)
        if own.capped_at is not None:
            return None  # it is no metric that paper 1 has a closed form for
        return plan(self.query, records(own))

    @cached_property
    def _noise(self) -> AnswerPlan:
        if self.of_all is not None:
            return self.of_all
        own = self.shares.metric(self.policy, self.name).on_numbers()
        low, high = self.query.bounds
        slope = max(_steepest(self.query, own), (high - low) * max(self._leaving, self._missing(own)))
        return plan(
            Percentile(self.p, (low, high), step=self.line.step, records=self.policy.most, nulls=True),
            records(nullable(absolute(), high - low)) * (1 / slope),
        )

    @property
    def leaving(self) -> Fraction:
        """The most groups that a record can leave, enter or drop out of, for each unit of distance."""
        return max(self._leaving, self._missing(self.shares.metric(self.policy, self.name).on_numbers()))

    @property
    def step_apart(self) -> Fraction | None:
        """The least distance of two values; None where nothing limits it."""
        return self.line.least_distance(self.shares.metric(self.policy, self.name).on_numbers(), 1)

    @cached_property
    def _leaving(self) -> Fraction:
        """The most groups that a record can leave or enter, for each unit of distance; rounded up."""
        columns = self.division.columns
        cells = [self.division.told_apart(column.name, self.policy.metric(column.name)) for column in columns]
        points: list[Any] = list(
            itertools.product(
                *([column.points[cell] for cell in own] for column, own in zip(columns, cells, strict=True))
            )
        )
        parts = {
            column.name: metric_of_cells(column, self.shares.metric(self.policy, column.name)) for column in columns
        }
        metric: Metric | None = attributes(parts) if parts else None
        group = (
            self.division.group.reshape(self.division.shape)[np.ix_(*cells)].ravel() if columns else self.division.group
        )
        if self.policy.absent is not None:
            points, group = [*points, None], np.append(group, -1)
        metric = self.policy.together(metric, self.shares.absent)
        if metric is None:
            return Fraction(0)
        rows = [(group == place).astype(np.int64) for place in range(len(self.division.labels))]
        return max(map(Fraction, allocate(Workload(np.array(rows), Space(points, metric)), "shared").scales))

    def _missing(self, own: Metric) -> Fraction:
        """The same for a value that becomes missing."""
        if self.line.cells.missing is None:
            return Fraction(0)
        if own.distance_to_null is None and not own.all_alike:
            raise UnsupportedMetricError(f"column {self.name!r}: no percentile is known under {own}")
        distance = own.enclose(self.line.number(0), None)
        return Fraction(0) if distance.lower == math.inf else 1 / Fraction(distance.lower)

    # Answers

    def tallies(self, source: Any, engine: Any) -> list[ValueTally]:
        """The values of each group, which are private."""
        others = [column for column in self.division.columns if column.name != self.name]
        found = LineTally.read(source, self.line, others, self.policy, engine)
        check_records(found.records, self.policy)
        group = self.division.group.reshape(self.division.shape)
        names = self.division.names
        if self.name in names:
            divided = self.division.columns[names.index(self.name)]
            group = np.moveaxis(group, names.index(self.name), -1)
            group = group.reshape(-1, group.shape[-1])[found.cells, self._cells_of(divided, found.places)]
        else:
            group = group.reshape(-1)[found.cells]
        return [_tally(found, group == place) for place in range(len(self.division.labels))]

    def _cells_of(self, divided: Any, places: Any) -> Any:
        """The cell of each value, in the column as it divides the records."""
        return np.searchsorted(self._first_places(divided), places, side="right") - 1

    def _first_places(self, divided: Any) -> NDArray[np.int64]:
        """The first place of each cell of the column as it divides the records."""
        assert isinstance(divided, OrderedCells)
        first = divided.bounds[0]
        starts = [(start - first).days if hasattr(start, "year") else start for start in divided.starts]
        return np.array([math.ceil((Fraction(start) - self.line.low) / self.line.step) for start in starts])

    @cached_property
    def reach(self) -> list[tuple[int, int]]:
        """For each group the first and the last place that its records can have: what the question says of them."""
        groups, last = len(self.division.labels), self.line.places - 1
        if self.name not in self.division.names:
            return [(0, last)] * groups
        axis = self.division.names.index(self.name)
        starts = self._first_places(self.division.columns[axis])
        ends = np.append(starts[1:] - 1, last)
        cells = np.moveaxis(self.division.group.reshape(self.division.shape), axis, 0)[: len(starts)]
        inside = [np.flatnonzero((cells == group).reshape(len(starts), -1).any(axis=1)) for group in range(groups)]
        return [(max(0, int(starts[of[0]])), int(ends[of[-1]])) if len(of) else (0, last) for of in inside]

    def truth(self, source: Any, engine: Any) -> list[Fraction]:
        """The true percentile of each group, which is private."""
        return [self.exact(tally, group) for group, tally in enumerate(self.tallies(source, engine))]

    def exact(self, tally: ValueTally, group: int) -> Fraction:
        """The percentile of a group; of one without records, the middle of where they could lie."""
        place = percentile_of_counts(self.query, tally)
        return self.line.number(sum(self.reach[group]) // 2 if place is None else place)

    def answers(
        self, source: Any, engine: Any, places: Sequence[int] | None = None, read: Sequence[ValueTally] | None = None
    ) -> list[TableAnswer]:
        """Private answers, one for each group, with their error bars.

        Args:
            source: the table.
            engine: what reads it.
            places: the answers, where they were drawn together with others; then only error bars are drawn.
            read: the values of each group, where they were read.
        """
        tallies = self.tallies(source, engine) if read is None else read
        if self.ranks is not None:
            known = [None] * len(tallies) if places is None else places
            found = [self.ranks.draw(tally, place) for tally, place in zip(tallies, known, strict=True)]
            return [
                self._shown(group, place, self.line.shown_width(width)) for group, (place, width) in enumerate(found)
            ]
        planned = self.plan
        assert planned is not None
        bar = planned.error_bar(float(CONFIDENCE))
        assert bar is not None  # its answers are numbers
        drawn = [
            round((Fraction(planned.draw(self.exact(tally, group))) - self.line.low) / self.line.step)
            for group, tally in enumerate(tallies)
        ]
        return [self._shown(group, place, bar) for group, place in enumerate(drawn)]

    def _shown(self, group: int, place: int, bar: float) -> TableAnswer:
        """An answer, moved to the nearest value that records of the group can have; the bar holds as before."""
        first, last = self.reach[group]
        inside = min(max(place, first), last)
        bar = min(bar, self.line.shown_width(max(inside - first, last - inside)))
        return TableAnswer(self.line.shown(inside), bar, 2 * bar < self.line.shown_width(last - first) or first == last)

    @property
    def error_bar(self) -> float:
        """The error bar to expect; for a draw by rank where values are spread evenly between the bounds."""
        if self.ranks is not None:
            return self.ranks.bar_to_expect
        assert self.plan is not None
        return self.plan.error_bar(float(CONFIDENCE)) or 0.0


def _tally(found: LineTally, inside: Any) -> ValueTally:
    values, places = np.unique(found.places[inside], return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, places, found.counts[inside])
    return ValueTally(values.astype(np.int64), counts)


def percentile_of_counts(query: Percentile, tally: ValueTally) -> int | None:
    """The place of the percentile where each of these values occurs so many times; None where there are none.

    >>> percentile_of_counts(Percentile(50, (0, 3)), ValueTally(np.array([0, 1, 2]), np.array([1, 1, 1])))
    1
    """
    total = tally.records
    if not total:
        return None
    before = min(math.floor(query.percent * total / 100), total - 1)
    return int(tally.values[int(np.searchsorted(tally.upto[1:], before, side="right"))])


def _between_values(metric: Metric, query: Percentile) -> Metric:
    """The same metric where no value is missing, and without a cap that none of them reaches."""
    between = metric.without_null()
    cap, base = between.unit.capped_at, between.unit.without_cap()
    if isinstance(cap, Level) and base.on_line and base.level * (query.high - query.low) <= cap:
        return base * between.level
    return between


def _steepest(query: Percentile, metric: Metric) -> Fraction:
    """The most that it moves for each unit of distance while no record comes or goes; rounded up."""
    unit = metric.unit
    if unit.distance_to_null is None and unit.capped_at is None:
        return sensitivity(query, records(metric), absolute()).above
    (base,) = unit.parts
    within = _steepest(query, base)
    if isinstance(unit.capped_at, Level):
        within = max(within, (query.high - query.low) / Fraction(unit.capped_at.enclose().lower))
    return within / Fraction(metric.level.enclose().lower)
