"""What releases about a table cost: the guarantees that a policy's releases are charged with.

The secret of such an account is the whole table. Two tables are as far apart as their records together, so that all
releases about it, tables and answers, add up in one metric: that of a record, or of a person with several.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from metricdp.errors import ArgumentError
from metricdp.exact.bits import source as noise_source
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.by_name import factor_by_name
from metricdp.ledger.directory import some_of
from metricdp.ledger.ledger import Ledger
from metricdp.ledger.terms import MetricTerm, metric_of, terms_of
from metricdp.metrics import Guarantee, Metric, nullable, records
from metricdp.metrics.nullable import Nullable
from metricdp.policies.policy import Policy

__all__ = ["as_ledger", "policy_cap", "question_charge", "refuse_seeds", "table_charge", "which_account"]

_NOTHING = Fraction(1, 10**60)
"""As little as can be written: a level is positive."""


def table_charge(policy: Policy) -> Guarantee:
    """What a sanitized table costs: the policy's metric for one person, added up over all.

    A sanitized table tells how many rows there are. Where the policy calls that secret, it is charged with telling it.

    >>> policy = Policy.of({"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}}})
    >>> print(table_charge(policy))
    ℓ₁(ln 2/5·|x − y| (age))-private
    """
    guarantee = policy.person_guarantee
    metric = guarantee.metric if policy.absent is None else nullable(guarantee.metric, math.inf)
    return Guarantee(records(metric), _delta_of_all(policy, guarantee.delta))


def question_charge(policy: Policy, columns: Iterable[str]) -> Guarantee | None:
    """What the answers to one question cost that depends on these columns; None where they tell nothing secret."""
    askable, chosen = policy.askable, tuple(columns)
    guarantee = askable.guarantee(chosen)
    if guarantee is None:
        return None
    if not chosen and policy.absent is not None and askable.names:  # whether a record is there, and nothing else of it
        whole = askable.record_metric(askable.names)
        assert isinstance(whole, Nullable)
        guarantee = Guarantee(records(nullable(whole.base * _NOTHING, policy.absent)))
    rows = 1 if policy.person is None else policy.person.rows
    return Guarantee(guarantee.metric * rows)  # a person can change as many records


def policy_cap(policy: Policy, times: int | float | str | Fraction) -> Guarantee:
    """A cap that takes so many releases under a policy, of each column.

    >>> policy = Policy.of({"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}}})
    >>> print(policy_cap(policy, 3))
    3·ℓ₁(ln 2/5·|x − y| (age))-private

    Where the policy's tables have a delta, and it says how many records there are, so has the cap. A table tells how
    many there are: where that is secret, the cap is for questions alone.
    """
    try:
        exact = Fraction(times)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise ArgumentError(f"how many times? {times!r} is no number") from None
    if exact <= 0:
        raise ArgumentError("a cap takes more than none of the policy's metric")
    asked = None
    if policy.records is not None or policy.capacity is not None:
        asked = question_charge(policy, policy.askable.names)
    if asked is not None and policy.absent is not None:
        return Guarantee(asked.metric * exact)
    table = table_charge(policy)
    delta = table.delta * exact
    if delta >= 1:
        raise ArgumentError(f"{times} releases have a delta of {float(delta):.3g} together, which promises nothing")
    metric = table.metric if asked is None else _greater(table.metric, asked.metric, policy.askable.names)
    return Guarantee(metric * exact, delta)


def _greater(one: Metric, two: Metric, names: Iterable[str]) -> Metric:
    """A metric that is nowhere below the two: part by part the greater one, or both where nobody knows which it is."""
    terms, found = terms_of(one), terms_of(two)
    for term, level in found.items():
        if term in terms:
            terms[term] = max(terms[term], level)
            continue
        here = [(own, own_level) for own, own_level in terms.items() if own.path == term.path]
        if any(_at_most(term, level, *own) for own in here):
            continue
        for own, own_level in here:
            if _at_most(own, own_level, term, level):
                del terms[own]
        terms[term] = level
    made = metric_of(terms, tuple(names))
    return one + two if made is None else made


def _at_most(term: MetricTerm, level: LevelSum, other: MetricTerm, other_level: LevelSum) -> bool:
    one, two = level.level, other_level.level
    factor = None if one is None or two is None else factor_by_name(term.unit * one, other.unit * two)
    return factor is not None and factor <= 1


def as_ledger(ledger: Ledger | str | Path) -> Ledger:
    """A ledger, or the one at an address."""
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def refuse_seeds() -> None:
    """Refuse to charge where noise comes from a seed: the entry would promise what the release does not keep.

    Raises:
        ArgumentError: the source of noise that is in force here is seeded.
    """
    if not noise_source().private:
        raise ArgumentError("what a seed has touched is not private, and charged to nobody: leave out the ledger")


def which_account(account: str | None, ledger: Ledger) -> str:
    """The account that was named; or the only one that there is."""
    if account is not None:
        return ledger.account(account).name
    names = ledger.account_names()
    if len(names) != 1:
        raise ArgumentError(f"which account of the ledger? There are: {some_of(names)}")
    return names[0]


def _delta_of_all(policy: Policy, delta: Fraction) -> Fraction:
    """Tables can differ in every record, and each adds its delta."""
    if not delta:
        return delta
    if policy.records is None:
        raise ArgumentError(
            "a release with a delta is charged for a stated number of records: write records = .. in the policy"
        )
    return delta * policy.records
