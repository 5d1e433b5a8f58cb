"""Answers to a query as a space of their own: what an oblivious mechanism has to keep private."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from metricdp.errors import KindError, UnsupportedMetricError
from metricdp.metrics import Space, matrix
from metricdp.metrics.coordinates import frozen, label

__all__ = ["answer_space"]


def answer_space(query: Callable[[Any], Any], databases: Space) -> Space:
    """The answers of a query, with the largest metric for which noise on the answers is private for the databases.

    An oblivious mechanism H ∘ f adds noise H to the answer f(x) alone. It is d-private iff H is private for

        d_f(y, y') = the shortest chain of steps from y to y', a step from f(x) to f(x') being d(x, x') long.

    For, each step is a constraint on H by itself, and constraints along a chain multiply. So the mechanisms that can
    answer the query privately are the privacy type of this space. A query is uniformly Δ-sensitive for a metric on its
    answers iff that metric is Δ times this one, where it is finite.

    Args:
        query: f, from a point of ``databases`` to a label.
        databases: the databases x and d; all distances rational before they are scaled.

    Raises:
        UnsupportedMetricError: a distance is irrational before it is scaled.

    References:
        Paper 1, Definition 5, Theorem 6 and Proposition 6; for the Hamming metric it is the distance in the induced
        graph of Section 4.2.

    >>> import metricdp as mdp
    >>> people = mdp.Space.bits(3, mdp.ln(2) * mdp.metrics.hamming())
    >>> counts = answer_space(sum, people)
    >>> counts.points, counts.metric.unit(0, 3), counts.metric.level == mdp.ln(2)
    ((0, 1, 2, 3), 3.0, True)
    """
    if not isinstance(databases, Space):
        raise KindError(f"a Space of databases is wanted here, not {type(databases).__name__}")
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
                    raise UnsupportedMetricError("the distances of the databases are irrational before they are scaled")
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
