"""How an audit spends its calls and its confidence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Plan", "spent"]


@dataclass(frozen=True)
class Plan:
    """How an audit spends its calls and its confidence.

    Attributes:
        search: the share of calls for the search; with many pairs it is more.
        most_search: calls that one pair's search has at most, in one round.
        refine: the share of calls for the choice of the threshold.
        teach: the most of them for it where the event is a weighted sum, whose weights are learned again.
        rounds: how many events may be tested, one after the other.
        looks: how many moments of a test its bound is planned for, each after twice as many calls as the one before
            it: several where the audit is to end as soon as it has shown enough.
        even: whether every round has the same number of calls; otherwise the first has all, unless it disappoints.
        machine: whether bits, digits and types of releases are looked at.
    """

    search: float = 0.15
    most_search: int = 1_500_000
    refine: float = 0.06
    teach: float = 0.25
    rounds: int = 5
    looks: int = 1
    even: bool = False
    machine: bool = True


def spent(number: int, rounds: int, standby: bool = False) -> float:
    """The part of 1 - confidence that test ``number`` has, counted from 0: they sum to 1 at most.

    Args:
        number: of the round that the test belongs to.
        rounds: how many there may be.
        standby: whether it is the second event of a round, tested on the same releases in case the first disappoints.

    >>> sum(spent(number, 5, standby) for number in range(5) for standby in (False, True)) <= 1
    True
    """
    if standby:
        return 0.04 / rounds
    if rounds == 1:
        return 0.96
    return 0.92 if number == 0 else 0.04 / (rounds - 1)
