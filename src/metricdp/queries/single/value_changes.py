"""Queries whose answer never changes by more than one value does, and by as much where that is the most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result
from metricdp.metrics import Metric
from metricdp.metrics.coordinates import frozen
from metricdp.queries.single.query import Query
from metricdp.queries.single.sensitivity import MOST_DATABASES

__all__ = ["FollowsValues", "follows_values"]


@dataclass(frozen=True)
class FollowsValues(Result):
    """Whether the answer to a query follows the values of its records; see `follows_values`.

    Attributes:
        holds: whether it does.
        witness: two databases: where the answer moves by more than the value, if it does so anywhere; otherwise where
            it moves most.
        reason: the answer in words.
    """

    holds: bool
    witness: tuple[Any, Any] | None
    reason: str

    def __bool__(self) -> bool:
        return self.holds

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON."""
        witness = None if self.witness is None else [repr(one) for one in self.witness]
        return {"holds": self.holds, "witness": witness, "reason": self.reason}

    def __str__(self) -> str:
        return self.reason


def follows_values(
    query: Query | Callable[[Any], Any],
    value_metric: Metric,
    *,
    databases: Iterable[Any] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> FollowsValues:
    """Whether a query is in the paper's family C, for which the same noise keeps a stronger promise.

    Where one value v becomes v', the answer moves by at most d(v, v'); and somewhere it moves by the largest distance
    between two values. Then its sensitivity is that largest distance both for `hamming` and for the normalised metric
    ``records(d) / largest``: what is private for the one is, with the same noise, private for the other.

    Args:
        query: a `Query`, or a function from a database to a number.
        value_metric: d, between values of single records, with rational distances.
        databases: all of them, each a tuple of values; those of the query where not given.
        time_limit: seconds; then it is given up.
        progress: told how many databases are done.

    Raises:
        ArgumentError: a function without its databases.
        UnsupportedMetricError: the query does not list its databases, or a distance is irrational.

    References:
        Paper 1, Definition 8 and Propositions 4 and 5.

    >>> import itertools
    >>> from metricdp.metrics import absolute
    >>> people = list(itertools.product(range(3), repeat=2))
    >>> follows_values(max, absolute(), databases=people).holds
    True
    >>> print(follows_values(lambda x: 2 * sum(x), absolute(), databases=people))
    from (0, 0) to (1, 0) the answer moves by 2 and the value by 1
    """
    listed = _listed(query, databases)
    evaluate = query.evaluate if isinstance(query, Query) else query
    answers = {x: Fraction(evaluate(x)) for x in listed}
    watch = Stopwatch(time_limit, progress)
    groups: dict[Any, list[Any]] = {}
    for x in listed:
        for place in range(len(x)):
            groups.setdefault((place, x[:place], x[place + 1 :]), []).append(x)
    widest = max((_apart(value_metric, v, w) for v, w in _pairs(sorted({v for x in listed for v in x}, key=repr))))
    most, where = Fraction(-1), None
    for done, ((place, *_), members) in enumerate(groups.items()):
        watch.check("to compare all databases", done, len(groups), "groups")
        watch.tell(done, len(groups), unit="groups")
        for x, y in _pairs(members):
            moved, allowed = abs(answers[x] - answers[y]), _apart(value_metric, x[place], y[place])
            if moved > allowed:
                words = f"from {x!r} to {y!r} the answer moves by {moved} and the value by {allowed}"
                return FollowsValues(False, (x, y), words)
            if moved > most:
                most, where = moved, (x, y)
    if most < widest:
        words = f"the answer never moves by {widest}, the largest distance between values, but by {most} at most"
        return FollowsValues(False, where, words)
    words = (
        f"the answer moves by no more than the value, and from {where[0]!r} to {where[1]!r} by {most}" if where else ""
    )
    return FollowsValues(True, where, words)


def _listed(query: Any, databases: Iterable[Any] | None) -> list[Any]:
    if databases is not None:
        return [tuple(frozen(x)) for x in databases]
    if not isinstance(query, Query):
        raise ArgumentError("a function does not say which databases there are: give databases=")
    own = query.databases(MOST_DATABASES)
    if own is None:
        raise UnsupportedMetricError(f"{query} has too many databases to list: give some of them as databases=")
    return [tuple(frozen(x)) for x in own]


def _pairs(members: list[Any]) -> Iterable[tuple[Any, Any]]:
    return ((one, two) for place, one in enumerate(members) for two in members[place + 1 :])


def _apart(metric: Metric, one: Any, two: Any) -> Fraction:
    distance = metric.exactly(one, two)
    if not isinstance(distance, Fraction):
        raise UnsupportedMetricError("only rational, finite distances between values can be compared with answers")
    return distance
