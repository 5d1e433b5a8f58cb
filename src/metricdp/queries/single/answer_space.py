"""The answers to a query as a space, for `design` to search: what noise on them has to keep private."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from metricdp.errors import UnsupportedMetricError
from metricdp.metrics import Metric, Space, absolute
from metricdp.metrics.metric import as_metric
from metricdp.queries.single.counts import CellCounts
from metricdp.queries.single.finite_functions import FiniteFunction
from metricdp.queries.single.query import Query
from metricdp.queries.single.sensitivity import MOST_DATABASES, levelled, sensitivity

__all__ = ["space_of_answers"]

_MOST_ANSWERS = 2048


def space_of_answers(query: Query, metric: Metric) -> Space:
    """See `Query.answer_space`.

    ``d_f(y, y')`` is the shortest chain from y to y', a step from f(x) to f(x') being d(x, x') long. Where the query is
    uniformly Δ-sensitive, it is ``|y - y'| / Δ``, and no database is looked at; otherwise all are.

    Args:
        query: f.
        metric: d, between databases, with its level.

    Raises:
        UnsupportedMetricError: there are too many answers or databases to list.

    References:
        Paper 1, Propositions 6 and 7; paper 3, Definition 3.

    >>> import metricdp as mdp
    >>> from metricdp.queries import Count
    >>> space = mdp.design.answer_space(Count({"yes"}, records=3), mdp.ln(2) * mdp.metrics.hamming())
    >>> space.points, round(mdp.design.optimal(space, prior="uniform", loss="distance").loss, 6)
    ((0, 1, 2, 3), 0.708333)
    """
    if isinstance(query, FiniteFunction):
        return _answer_space(query.evaluate, Space(query.points, as_metric(metric)))
    inside, grid = levelled(as_metric(metric)), query.grid
    if isinstance(query, CellCounts):
        grid = None  # a tuple of counts is no point of a line
    if grid is not None and grid.contiguous and grid.steps is not None and grid.steps < _MOST_ANSWERS:
        found = _sensitivity(query, inside)
        if found is not None:
            points = [_plain(grid.start + i * grid.step) for i in range(grid.steps + 1)]
            return Space(points, inside.level / found * absolute())
    databases = query.databases(MOST_DATABASES)
    if databases is None:
        raise UnsupportedMetricError(
            f"the answers to {query} have no closed form for {metric}, or are too many to list (more than "
            f"{_MOST_ANSWERS}), and so are the databases (more than {MOST_DATABASES}, or without end)"
        )
    return _answer_space(lambda x: _plain(query.evaluate(x)), Space(databases, inside))


def _sensitivity(query: Query, metric: Metric) -> Fraction | None:
    """The sensitivity for the metric without its level, where it is uniform."""
    try:
        found = sensitivity(query, metric.unit, absolute())
    except UnsupportedMetricError:
        return None
    return Fraction(found.value) if found.uniform else None


def _plain(answer: Any) -> Any:
    return answer.numerator if isinstance(answer, Fraction) and answer.denominator == 1 else answer


def _answer_space(query: Callable[[Any], Any], space: Space) -> Space:
    """See `metricdp.design.answer_space`, which is imported when it is needed: few questions need it."""
    from metricdp.design import answer_space

    return answer_space(query, space)
