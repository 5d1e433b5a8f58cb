"""Answers to a query as a space of their own: what an oblivious mechanism has to keep private."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from metricdp.design.arguments import check_space
from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.metrics import Metric, Space, matrix
from metricdp.metrics.coordinates import frozen, label

__all__ = ["answer_space"]


def answer_space(query: Callable[[Any], Any], databases: Space | Metric) -> Space:
    """The answers of a query, with the largest metric for which noise on the answers keeps the databases private.

    An oblivious mechanism H ∘ f adds noise H to the answer f(x) alone. It is d-private iff H is private for

        d_f(y, y') = the shortest chain of steps from y to y', a step from f(x) to f(x') being d(x, x') long.

    For, each step is a constraint on H by itself, and constraints along a chain multiply. So the mechanisms that can
    answer the query privately are the privacy type of this space. A query is uniformly Δ-sensitive for a metric on its
    answers iff that metric is Δ times this one, where it is finite.

    Args:
        query: f, from a point of ``databases`` to a label; or a query of `metricdp.queries`.
        databases: the databases x and d; all distances rational before they are scaled. For a query that knows its
            databases, d alone is enough, and where its answers have a closed form, none of them is listed.

    Raises:
        ArgumentError: if ``query`` is no function, or ``databases`` is no Space.
        UnsupportedMetricError: if a distance is irrational before it is scaled.

    References:
        Paper 1, Definition 5, Theorem 6 and Proposition 6; for the Hamming metric it is the distance in the induced
        graph of Section 4.2.

    >>> import metricdp as mdp
    >>> people = mdp.Space.bits(3, mdp.ln(2) * mdp.metrics.hamming())
    >>> counts = answer_space(sum, people)
    >>> counts.points, counts.metric.unit(0, 3), counts.metric.level == mdp.ln(2)
    ((0, 1, 2, 3), 3.0, True)
    """
    if not callable(query):
        raise ArgumentError(f"query must be a function from a database to its answer, not {type(query).__name__!r}")
    if isinstance(databases, Metric):
        of_its_own = getattr(query, "answer_space", None)
        if of_its_own is None:
            raise ArgumentError("a function does not know its databases: give Space(databases, metric)")
        space: Space = of_its_own(databases)
        return space
    check_space(databases, "answer_space")
    unit = databases.metric.unit
    answers = [frozen(query(x)) for x in databases.points]
    places: dict[Any, int] = {}
    names: list[Any] = []
    for row, answer in enumerate(answers):
        if places.setdefault(label(answer, row), len(places)) == len(names):
            names.append(answer)
    size = len(names)
    steps: list[list[Fraction | float]] = [
        [Fraction(0) if i == j else math.inf for j in range(size)] for i in range(size)
    ]
    rows = [places[label(answer)] for answer in answers]
    for a, x in enumerate(databases.points):
        for b in range(a):
            i, j = rows[a], rows[b]
            if i != j:
                step = unit.exactly(x, databases.points[b])
                if step is None:
                    raise UnsupportedMetricError(
                        "a distance between databases is irrational before its level; only rational ones are possible"
                    )
                steps[i][j] = steps[j][i] = min(steps[i][j], step)
    for k in range(size):
        for i in range(size):
            for j in range(size):
                steps[i][j] = min(steps[i][j], steps[i][k] + steps[k][j])
    try:  # numbers read better in order
        order = sorted(range(size), key=names.__getitem__)
    except TypeError:
        order = list(range(size))
    points = [names[i] for i in order]
    return Space(points, databases.metric.level * matrix(points, [[steps[i][j] for j in order] for i in order]))
