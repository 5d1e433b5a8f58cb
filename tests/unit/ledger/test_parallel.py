"""Parallel composition, against all moves of one and two people."""

import itertools

import pytest

from metricdp.errors import ArgumentError, UnsupportedMetricError
from metricdp.exact.level import ln
from metricdp.ledger import parallel_guarantee
from metricdp.metrics import (
    Guarantee,
    absolute,
    add_remove,
    attributes,
    capped,
    discrete,
    euclidean,
    hamming,
    nullable,
    records,
)


def test_public_membership_takes_the_largest():
    groups = {"a": Guarantee(0.5 * hamming(), "1e-6"), "b": Guarantee(0.2 * hamming(), "1e-6")}
    together = parallel_guarantee(groups, "public")
    assert together == Guarantee(0.5 * hamming(), "2e-6"), "two tables can differ in both groups"
    mixed = {"a": Guarantee(records(absolute())), "b": Guarantee(hamming() * ln(2))}
    combined = parallel_guarantee(mixed, "public").metric
    for people in itertools.product([0, 1, 5], repeat=2):
        for others in itertools.product([0, 1, 5], repeat=2):
            true = absolute()(people[0], others[0]) + (ln(2) * discrete())(people[1], others[1])
            assert true <= combined(people, others) + 1e-12


def test_a_record_that_moves_pays_in_both_groups():
    """The secret is a town and a value, and a release is made for each town."""
    within = [attributes({"town": discrete() / 1000, "value": capped(absolute(), bound)}) for bound in (4, 2)]
    north, south = nullable(within[0], 3), nullable(within[1], 1)
    groups = {"north": Guarantee(records(north)), "south": Guarantee(records(south))}
    combined = parallel_guarantee(groups, "secret").metric
    states = [(town, value) for town in ("north", "south") for value in (0, 1, 9)] + [None]

    def true(x, y):
        """What both releases together tell: in each of them a person of the other town is absent."""
        seen = [[state if state is not None and state[0] == town else None for state in (x, y)] for town in groups]
        return north(*seen[0]) + south(*seen[1])

    moves = 0
    for x, y in itertools.product(states, repeat=2):
        assert true(x, y) <= combined((x,), (y,))
        moves += true(x, y) > max(north(x, y), south(x, y))
    assert moves, "a move costs more than either release alone says"
    assert combined.violation([(state,) for state in states]) is None


def test_adding_and_removing():
    groups = {"a": Guarantee(0.5 * add_remove()), "b": Guarantee(0.2 * add_remove())}
    assert parallel_guarantee(groups, "secret") == Guarantee(0.5 * add_remove())
    assert parallel_guarantee({"a": Guarantee(records(nullable(discrete(), 1)))}, "secret").metric == records(
        nullable(discrete(), 1)
    )


def test_what_is_refused():
    with pytest.raises(UnsupportedMetricError, match="absent"):
        parallel_guarantee({"a": Guarantee(hamming()), "b": Guarantee(hamming())}, "secret")
    with pytest.raises(UnsupportedMetricError, match="add up over people"):
        parallel_guarantee({"a": Guarantee(euclidean())}, "public")
    free = Guarantee(records(nullable(absolute(), 1)))
    with pytest.raises(ArgumentError, match="not known to be a metric"):
        parallel_guarantee({"a": free, "b": free}, "secret")
    with pytest.raises(ArgumentError, match="no groups"):
        parallel_guarantee({}, "public")
    with pytest.raises(ArgumentError, match="public"):
        parallel_guarantee({"a": Guarantee(hamming())}, "who knows")
