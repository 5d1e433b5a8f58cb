"""The second part of the tour: a table about people, column by column, and what the release is still good for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import metricdp as mdp
from metricdp.cli.demo.shipped import read_shipped
from metricdp.exact.balls import Real

if TYPE_CHECKING:
    from metricdp.estimates.comparison import ComparedAnswer

__all__ = ["Pair", "People", "TourColumn", "release_people"]

HEALTH = ("excellent", "good", "fair", "poor")
INCOMES = (0, 50_000)
SCORES = (0, 100)
NULL_DISTANCE = 70
SHOWN = (3, 1301, 4321)
"""Rows of the table that the tour prints."""

CALLS = {
    "income": f"laplace(absolute().within(1000), bounds={INCOMES}, resolution=1)",
    "doctor_visits": "geometric(absolute().within(2))",
    "health": f"randomized_response({list(HEALTH)}, ln(4))",
    "psychotherapy": "randomized_response(['yes', 'no'], ln(3))",
    "general_health": f"laplace(index, bounds={SCORES}, resolution='0.1')",
}
"""The mechanisms as Python; ``index`` is `INDEX_METRIC`."""
INDEX_METRIC = f"ln(2) / 10 * nullable(absolute(), {NULL_DISTANCE})"

Record = tuple[int, int, str, str, Decimal | None]


@dataclass(frozen=True)
class TourColumn:
    """A column, its mechanism, and what that promises.

    Attributes:
        call: the Python that makes the mechanism.
        promises: words about two secrets, and the factor by which odds between them move at most.
        errors: what to expect of one release, in words.
        radius_95: the distance from the secret within which 95% of all releases lie; None for categories.
    """

    name: str
    call: str
    guarantee: str
    promises: tuple[tuple[str, float], ...]
    errors: tuple[str, ...]
    radius_95: float | None


@dataclass(frozen=True)
class Pair:
    """Two people, by what they differ, and the factor for the whole record."""

    words: str
    one: Record
    other: Record
    factor: float


@dataclass(frozen=True)
class People:
    """What was released, with what promise, and what it is good for.

    Attributes:
        estimates: facts about the table: the truth, the corrected value with its interval, and the value as released;
            None where the libraries for tables are missing.
    """

    rows: int
    columns: tuple[TourColumn, ...]
    guarantee: str
    delta: float
    pairs: tuple[Pair, ...]
    sample: tuple[tuple[Record, Record], ...]
    estimates: tuple[ComparedAnswer, ...] | None


def release_people() -> People:
    """Release five columns of the health insurance table as one record for each person."""
    within = mdp.metrics.absolute().within
    income = mdp.laplace(within(1000), resolution=1, bounds=INCOMES)
    visits = mdp.geometric(within(2))
    health = mdp.randomized_response(HEALTH, mdp.ln(4))
    therapy = mdp.randomized_response(("yes", "no"), mdp.ln(3))
    score_metric = mdp.ln(2) / 10 * mdp.metrics.nullable(mdp.metrics.absolute(), NULL_DISTANCE)
    score = mdp.laplace(score_metric, resolution="0.1", bounds=SCORES)

    record = mdp.independent(income, visits, health, therapy, score)
    secrets = [_record(row) for row in read_shipped("health_insurance")]
    released: list[Record] = record.release(secrets)
    columns = (
        _column("income", income, [("$1,000 apart", 1000)], "95% within ${:,.0f}"),
        _column("doctor_visits", visits, [("2 visits apart", 2)], "95% within {:.0f}"),
        _column("health", health, [("any two", 1)]),
        _column("psychotherapy", therapy, [("yes and no", 1)]),
        _column(
            "general_health",
            score,
            [("10 points apart", 10), ("known and missing", NULL_DISTANCE)],
            "95% within {:.0f}",
        ),
    )
    names = [column.name for column in columns]
    parts = [part.guarantee.metric for part in record.mechanisms]
    whole = mdp.Guarantee(mdp.metrics.attributes(dict(zip(names, parts, strict=True))), record.guarantee.delta)
    return People(
        rows=len(secrets),
        columns=columns,
        guarantee=str(whole),
        delta=float(whole.delta),
        pairs=_pairs(record),
        sample=tuple((secrets[row], released[row]) for row in SHOWN),
        estimates=_estimates(secrets, released, names, record.mechanisms),
    )


def _record(row: dict[str, str]) -> Record:
    """The five columns of a row; the index as a Decimal, so that nothing is rounded on the way to the noise."""
    return (
        int(row["income"]),
        int(row["doctor_visits"]),
        row["health"],
        "yes" if int(row["psychotherapy_visits"]) else "no",
        Decimal(row["general_health"]) if row["general_health"] else None,
    )


def _column(name: str, mechanism: Any, distances: Sequence[tuple[str, int]], within: str | None = None) -> TourColumn:
    guarantee = mechanism.guarantee
    promises = tuple((words, guarantee.odds(distance)) for words, distance in distances)
    if within is None:
        radius, errors = None, [f"{mechanism.probability_within(0):.0%} true"]
    else:
        radius = mechanism.radius(0.95)
        errors = [within.format(radius)]
    if len(promises) > len(errors):
        errors.append(f"{_null_probabilities(mechanism)[0]:.0%} stay missing")
    return TourColumn(name, CALLS[name], str(guarantee), promises, tuple(errors), radius)


def _null_probabilities(mechanism: Any) -> tuple[float, float]:
    """The probabilities of null where it is the truth, and where it is not."""
    return float(Real(mechanism.true_null)), float(Real(mechanism.false_null))


def _pairs(mechanism: Any) -> tuple[Pair, ...]:
    """Pairs of people, from near to far; the metric of the whole record is the sum over its columns."""
    metric = mechanism.guarantee.metric
    someone: Record = (9_000, 2, "good", "no", Decimal("70.0"))
    others: list[tuple[str, Record]] = [
        ("$500 of income", (9_500, 2, "good", "no", Decimal("70.0"))),
        ("$500, one visit", (9_500, 3, "good", "no", Decimal("70.0"))),
        ("$500, one visit, health good or fair", (9_500, 3, "fair", "no", Decimal("70.0"))),
        ("all that, psychotherapy, index missing", (9_500, 3, "fair", "yes", None)),
    ]
    return tuple(Pair(words, someone, other, math.exp(metric(someone, other))) for words, other in others)


def _estimates(
    secrets: list[Record], released: list[Record], names: Sequence[str], mechanisms: Sequence[Any]
) -> tuple[ComparedAnswer, ...] | None:
    """What the release says about the whole table, beside what the secrets say."""
    try:
        from metricdp.estimates.asking import estimate
        from metricdp.estimates.comparison import ComparedAnswer
    except ModuleNotFoundError:
        return None
    before, after = (dict(zip(names, zip(*rows, strict=True), strict=True)) for rows in (secrets, released))
    columns = {name: (after[name], mechanism) for name, mechanism in zip(names, mechanisms, strict=True)}
    facts: list[tuple[str, str, str, float]] = [
        ("mean income", "income", "select avg(income)", _mean(before["income"])),
        ("mean doctor visits", "doctor_visits", "select avg(doctor_visits)", _mean(before["doctor_visits"])),
        *(
            (f"health {value}", "health", f"select count(*) where health = '{value}'", before["health"].count(value))
            for value in HEALTH
        ),
        (
            "any psychotherapy",
            "psychotherapy",
            "select count(*) where psychotherapy = 'yes'",
            before["psychotherapy"].count("yes"),
        ),
        (
            "index missing",
            "general_health",
            "select count(*) where general_health is null",
            before["general_health"].count(None),
        ),
    ]
    return tuple(
        ComparedAnswer(asked, label, truth, estimate({name: columns[name]}, asked).only)
        for label, name, asked, truth in facts
    )


def _mean(values: Sequence[Any]) -> float:
    return float(sum(values) / len(values))
