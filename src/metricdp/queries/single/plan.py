"""Which mechanism answers a query, and whether any other could do better: decided before any data are seen."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError, UnsupportedMetricError
from metricdp.exact.balls import Real, float_above
from metricdp.exact.grid import FLOAT_CELLS, SECRET_CELLS
from metricdp.mechanisms import Mechanism, exponential, geometric, laplace, truncated_geometric
from metricdp.mechanisms.mechanism import resolution_for
from metricdp.metrics import Guarantee, Metric, absolute, manhattan
from metricdp.metrics.metric import as_metric
from metricdp.metrics.records import Hamming
from metricdp.queries.single.aggregates import NumberQuery
from metricdp.queries.single.answer_space import space_of_answers
from metricdp.queries.single.counts import CellCounts
from metricdp.queries.single.finite_functions import FiniteFunction
from metricdp.queries.single.query import AnswerGrid, Query
from metricdp.queries.single.record_metrics import record_metric, shape_of
from metricdp.queries.single.sensitivity import Sensitivity, levelled, sensitivity

__all__ = ["AnswerPlan", "plan"]


@dataclass(frozen=True)
class AnswerPlan:
    """How a query will be answered; nothing in it comes from data.

    Attributes:
        query: what is asked.
        guarantee: what the answer promises: the metric between databases.
        mechanism: the noise on the true answer (on each count, for `CellCounts`); None where none is needed.
        sensitivity: that of the query, for the metric without the number before it; None for answers that are not
            numbers.
        optimal: whether no other noise on the true answer that keeps the promise is better for anybody, whatever they
            know before and whatever loss they have that grows with the error.
        why: the theorem that proves it, or what is missing.

    References:
        Paper 1, Fact 5 and Theorems 8 to 13.
    """

    query: Query
    guarantee: Guarantee
    mechanism: Mechanism | None = field(repr=False)
    sensitivity: Sensitivity | None = field(repr=False)
    optimal: bool
    why: str = field(repr=False)

    @property
    def noise(self) -> str:
        """The noise on the true answer in words."""
        return "no noise" if self.mechanism is None else self.mechanism.name

    def __str__(self) -> str:
        bar = self.error_bar()
        away = "" if bar is None else f", within {bar:g} of the truth with 95%"
        return f"{self.query}: {self.noise}{away}; {self.guarantee}. {self.why}"

    def to_json(self) -> dict[str, Any]:
        """The plan as plain values for JSON."""
        return {
            "query": repr(self.query),
            "guarantee": self.guarantee.to_json(),
            "mechanism": None if self.mechanism is None else self.mechanism.to_json(),
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_json(),
            "error_bar": self.error_bar(),
            "optimal": self.optimal,
            "why": self.why,
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"

    def error_bar(self, confidence: float = 0.95) -> float | None:
        """How far the answer is from the truth at most, with this probability; rounded up. None without numbers.

        For `CellCounts` it is that of each count by itself.
        """
        if not 0 < confidence < 1:
            raise ArgumentError("a confidence lies between 0 and 1")
        if self.mechanism is None:
            return 0.0
        if self.sensitivity is None:
            return None
        reach = self.mechanism.radius(confidence)
        grid = self.query.grid
        if grid is not None and grid.least is not None and grid.greatest is not None:
            return min(reach, float_above(grid.greatest - grid.least))
        return reach

    def draw(self, truth: Any) -> Any:
        """A private answer where this is the true one."""
        grid = self.query.grid
        if self.mechanism is None:
            return truth.numerator if isinstance(truth, Fraction) and truth.denominator == 1 else truth
        if self.sensitivity is None:
            return self.mechanism.release(truth)
        if grid is None:
            return float(self.mechanism.release(Fraction(truth)))
        if isinstance(truth, tuple):
            return tuple(max(0, count) for count in self.mechanism.release(list(truth)))
        assert self.mechanism.cells is not None
        cells, _ = self.mechanism.cells.release_cells(np.array([Fraction(truth) - grid.start], dtype=object))
        released = grid.start + grid.step * int(cells[0])
        if grid.least is not None:
            released = max(released, grid.least)
        if grid.greatest is not None:
            released = min(released, grid.greatest)
        return int(released) if grid.whole else float(released)


def plan(query: Query, metric: Metric) -> AnswerPlan:
    """How `answer` will answer a query: see there.

    >>> import metricdp as mdp
    >>> from metricdp.queries import Sum
    >>> plan(Sum((0, 10), records=50), 0.5 * mdp.metrics.manhattan()).error_bar()
    6.0
    """
    if not isinstance(query, Query):
        raise ArgumentError(f"a query is wanted here, such as Sum or Count, not {type(query).__name__}")
    inside = levelled(as_metric(metric))
    _check_clamping(query, inside)
    guarantee, grid = Guarantee(metric), query.grid
    if isinstance(query, FiniteFunction) and grid is None:
        return _labels(query, guarantee)
    several = isinstance(query, CellCounts)
    found = sensitivity(query, inside.unit, manhattan() if several else absolute())
    if found.value == math.inf:
        raise ImpossibleError(f"{found} Noise of no finite size answers it privately.")
    if found.value == 0:
        why = "no noise is needed: databases with different answers may be told apart freely"
        return AnswerPlan(query, guarantee, None, found, True, why)
    noise = inside.level / found.above * absolute()
    mechanism = _on_line(query, noise) if grid is None else _on_grid(grid, noise)
    optimal, why = _optimality(query, grid, found, several, metric)
    return AnswerPlan(query, guarantee, mechanism, found, optimal, why)


def _labels(query: FiniteFunction, guarantee: Guarantee) -> AnswerPlan:
    if len(query.image) < 2:
        return AnswerPlan(query, guarantee, None, None, True, "no noise is needed: there is one answer")
    space = space_of_answers(query, guarantee.metric)
    why = "the answers are not numbers: they are drawn by their induced distances, which is not known to be the best"
    return AnswerPlan(query, guarantee, exponential(space), None, False, why)


def _on_grid(grid: AnswerGrid, noise: Metric) -> Mechanism:
    if grid.steps is None:
        return geometric(noise, grid.step)
    if grid.steps > (SECRET_CELLS if grid.step.denominator == 1 else FLOAT_CELLS):
        raise TooLargeError("the answers have more steps than can be counted; declare a coarser step")
    return truncated_geometric(noise, grid.steps, grid.step)


def _on_line(query: Query, noise: Metric) -> Mechanism:
    """Laplace noise, rounded as finely as the greatest answer leaves room for."""
    bounds = query.answer_bounds if isinstance(query, NumberQuery) else None
    width = resolution_for(Real(lambda: 1 / noise.level.ball()), None)
    if bounds is None:
        return laplace(noise, resolution=width)
    largest = max(abs(bounds[0]), abs(bounds[1]))
    while largest > width * FLOAT_CELLS // 4:
        width *= 2
    while width > (bounds[1] - bounds[0]) / 4:
        width /= 2
    return laplace(noise, resolution=width, bounds=bounds)


def _optimality(
    query: Query, grid: AnswerGrid | None, found: Sensitivity, several: bool, metric: Metric
) -> tuple[bool, str]:
    if several:
        return False, "several counts at once: geometric noise on each, which is not known to be the best"
    if grid is None:
        return False, "the answers lie on no grid: Laplace noise, of which no theorem says that it is the best"
    if grid.steps is None:
        return False, (
            "the number of records is not public, so the answers have no end, and no theorem speaks of that; give a "
            "public limit records= with nulls=True"
        )
    if found.uniform and grid.contiguous:
        return True, (
            f"universally optimal (paper 1, Theorem 10; {found.theorem}): no other noise on the true answer that keeps "
            "this promise is better, whatever is known before and for every loss that grows with the error"
        )
    if found.uniform is False and isinstance(query, NumberQuery) and isinstance(metric.unit, Hamming):
        return False, (
            "one record can move the answer by several steps, and then no mechanism is the best for everybody below "
            "ln 2 (paper 1, Theorem 9)"
        )
    if found.uniform is None:
        return False, "whether all answers need this much noise was not decided, so other noise may be better"
    return False, "the noise hides some answers better than the metric asks for, so other noise may be better"


def _check_clamping(query: Query, metric: Metric) -> None:
    """Values that are clamped must not be farther apart than they were."""
    if getattr(query, "outside", "refuse") != "clamp":
        return
    parts = record_metric(metric)
    if parts is None or shape_of(parts.base)[0] == "listed":
        raise UnsupportedMetricError(
            f'under {metric.unit} clamped values may be farther apart than the values themselves; use outside="refuse"'
        )
