"""Maximal tightness, decided."""

import itertools
import math

import networkx
import pytest

import metricdp as mdp
from metricdp.adversaries import (
    knowing_others,
    knowing_others_within,
    knowing_within,
    maximally_tight,
    replacing_value,
    substituting_all_values,
    substituting_values,
    tight,
)
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.metrics import Space, absolute, chebyshev, discrete, euclidean

NEIGHBOURS = [(0, 1), (1, 2), (2, 3)]


def swap(points, x, y):
    return {point: y if point == x else x if point == y else point for point in points}


def test_neighbours_on_a_line():
    line = Space.line(4, mdp.ln(2) * absolute())
    assert maximally_tight(line, neighbourhoods=NEIGHBOURS)
    assert maximally_tight(line, hidings=[swap(range(4), *pair) for pair in NEIGHBOURS])
    broken = maximally_tight(line, neighbourhoods=[(0, 1), (2, 3)])
    assert not broken
    assert broken.missing == (0, 2)
    assert not broken.characterises
    assert "from 0 to 2" in str(broken)


def test_a_neighbourhood_that_is_too_large_allows_only_its_diameter():
    line = Space.line(3)
    whole = maximally_tight(line, neighbourhoods=[(0, 1, 2)])
    assert whole.missing == (0, 1)
    assert tight(line, [(0, 1, 2)])


def test_a_hiding_function_must_swap_and_be_as_long_as_the_step():
    line = Space.line(4)
    assert not maximally_tight(line, hidings=[lambda x: min(x + 1, 3)])
    both = {0: 1, 1: 0, 2: 3, 3: 2}
    longer = {0: 2, 2: 0, 1: 1, 3: 3}
    found = maximally_tight(line, hidings=[both, longer])
    assert found.missing == (1, 2)  # 0-2-3 is tight, 1-0-2 is not
    with_it = {**both, 1: 2, 2: 1, 0: 0, 3: 3}
    assert maximally_tight(line, hidings=[both, with_it])
    assert not maximally_tight(line, hidings=[both, {**with_it, 0: 3}])  # moves 0 farther than it swaps 1 and 2


def test_a_detour_is_no_tight_chain():
    cycle = networkx.cycle_graph(4)
    space = Space(range(4), mdp.metrics.graph(cycle))
    assert maximally_tight(space, neighbourhoods=cycle.edges)
    path = [(0, 1), (1, 2), (2, 3)]
    assert maximally_tight(space, neighbourhoods=path).missing == (0, 3)


def test_irrational_distances():
    on_a_ray = Space([(0, 0), (1, 1), (3, 3)], euclidean())
    assert maximally_tight(on_a_ray, neighbourhoods=[[(0, 0), (1, 1)], [(1, 1), (3, 3)]])
    bent = Space([(0, 0), (1, 1), (3, 2)], euclidean())
    found = maximally_tight(bent, neighbourhoods=[[(0, 0), (1, 1)], [(1, 1), (3, 2)]])
    assert found.missing == ((0, 0), (3, 2))


def test_infinite_distances():
    far = Space("abc", mdp.metrics.matrix("abc", [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]))
    near_only = maximally_tight(far, neighbourhoods=["ab"])
    assert near_only.missing == ("a", "c")
    assert near_only.characterises  # who may be told apart freely needs no chain
    assert maximally_tight(far, neighbourhoods=["ab", "bc"])
    assert not maximally_tight(far, neighbourhoods=["bc"]).characterises


def test_the_families_of_databases():
    assert len(replacing_value("ab", 2)) == 4
    assert len(substituting_values("ab", 2)) == 8
    assert len(knowing_others("ab", 2)) == 4
    assert len(knowing_others_within("ab", 2)) == 4 + 4
    with pytest.raises(ArgumentError):
        replacing_value((), 2)
    for family in (substituting_values, knowing_others_within, knowing_others):
        with pytest.raises(TooLargeError, match="there are more than 1,048,576"):
            family(range(40), 8)


def test_bad_arguments():
    line = Space.line(2)
    with pytest.raises(ArgumentError, match="either"):
        maximally_tight(line)
    with pytest.raises(ArgumentError, match="either"):
        maximally_tight(line, hidings=[], neighbourhoods=[])
    with pytest.raises(ArgumentError):
        maximally_tight(line, neighbourhoods=[(0, 5)])


def test_one_point_and_the_discrete_metric():
    assert maximally_tight(Space([7], discrete()), neighbourhoods=[])
    letters = Space("abc", discrete())
    assert maximally_tight(letters, neighbourhoods=["abc"])
    assert not maximally_tight(letters, neighbourhoods=["ab", "bc"])


def test_families_of_all_values_at_once():
    """Maximally tight for the largest difference, as section 6.1 of paper 1 says; those of one value are not."""
    values = (0, 1, 3)
    space = Space(itertools.product(values, repeat=2), chebyshev())
    assert len(substituting_all_values(values, 2)) == 27**2
    assert len(knowing_within(values, 2)) == 49
    assert maximally_tight(space, hidings=substituting_all_values(values, 2))
    assert maximally_tight(space, neighbourhoods=knowing_within(values, 2))
    assert not maximally_tight(space, neighbourhoods=knowing_others_within(values, 2))
    for family in (substituting_all_values, knowing_within):
        with pytest.raises(TooLargeError):
            family(range(9), 5)
