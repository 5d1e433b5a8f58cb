"""Sensitivities with respect to a metric, against brute force over all pairs."""

from __future__ import annotations

import itertools
from datetime import date
from fractions import Fraction

import networkx
import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ImpossibleError
from metricdp.metrics import (
    absolute,
    attributes,
    blowfish,
    dates,
    discrete,
    euclidean,
    graph,
    great_circle,
    hamming,
    individuals,
    manhattan,
    matrix,
    maximum,
    records,
    symmetric_difference,
    taxonomy,
    unprotected,
)
from metricdp.queries.synthetic_data import steepness
from metricdp.queries.synthetic_data.steepness import sensitivities, spread
from metricdp.queries.synthetic_data.steps import steps_of

RNG = np.random.default_rng(11)
GRID = list(itertools.product(range(4), range(3)))
NETWORK = networkx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)])
nodes = list(NETWORK.nodes)
for one, two in NETWORK.edges:
    NETWORK.edges[one, two]["weight"] = (one + two) % 3 + 1
NETWORK.edges[0, 1]["weight"] = 50  # longer than the way around
FAR = [[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]]

SPACES = {
    "discrete": mdp.Space(range(9), Fraction(1, 3) * discrete()),
    "line": mdp.Space([0, 10, 3, 4.5, -2, 7], mdp.ln(2) * absolute()),
    "days": mdp.Space([date(2020, 1, 1), date(2020, 3, 1), date(2020, 1, 5)], dates() / 30),
    "network": mdp.Space(nodes, graph(NETWORK, weight="weight")),
    "part of a network": mdp.Space(nodes[::2], graph(NETWORK, weight="weight")),
    "manhattan": mdp.Space(GRID, 0.1 * manhattan()),
    "hamming": mdp.Space(GRID, hamming()),
    "records": mdp.Space(GRID, records(maximum(discrete(), absolute() / 2))),
    "attributes": mdp.Space(GRID, attributes({"a": mdp.ln(3) * absolute(), "b": 0.5})),
    "an attribute for free": mdp.Space(GRID, attributes({"a": unprotected(), "b": 0.5})),
    "not all combinations": mdp.Space(GRID[1:], attributes({"a": absolute(), "b": 0.5})),
    "euclidean": mdp.Space(GRID, 2 * euclidean()),
    "globe": mdp.Space([(48.85, 2.35), (51.5, -0.12), (48.9, 2.36), (-33.9, 151.2)], great_circle().within(200)),
    "individuals": mdp.Space("abcd", individuals({"a": 0.1, "b": 1, "c": 2, "d": mdp.ln(2)})),
    "hops": mdp.Space(range(9), blowfish(absolute(), 3, 0.5)),
    "sum": mdp.Space(range(6), absolute() / 3 + mdp.ln(2) * discrete()),
    "infinite": mdp.Space("abc", matrix("abc", FAR)),
    "sets": mdp.Space([frozenset(s) for s in ("", "x", "y", "z", "xy", "xz", "yz", "xyz")], symmetric_difference()),
    "tree": mdp.Space(["flu", "cold", "gout"], taxonomy({"flu": "lung", "cold": "lung", "lung": "all", "gout": "all"})),
}  # fmt: skip


def largest(matrix: np.ndarray, space: mdp.Space, together: bool) -> list[Fraction]:
    """By every pair, in rationals: lower ends of the distances, so from above."""
    result = [Fraction(0)] * (1 if together else len(matrix))
    for i, j in itertools.combinations(range(len(space)), 2):
        apart = space.metric.unit.enclose(space.points[i], space.points[j], bits=100).lower
        if apart == float("inf"):
            continue
        changes = [Fraction(float(row[i])) - Fraction(float(row[j])) for row in matrix]
        found = [max(changes) - min(changes)] if together else [abs(change) for change in changes]
        result = [max(old, change / apart) for old, change in zip(result, found, strict=True)]
    return result


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("kind", ["whole", "real"])
def test_sensitivities_are_the_largest_ratios(name: str, kind: str) -> None:
    space = SPACES[name]
    entries = RNG.integers(-3, 4, (5, len(space))) if kind == "whole" else RNG.normal(size=(5, len(space)))
    queries = entries.astype(float)
    for mine, true in zip(sensitivities(queries, space), largest(queries, space, together=False), strict=True):
        assert true <= mine * (1 + Fraction(1, 1 << 60))
        assert mine <= true * (1 + Fraction(1, 10**15))
        if (
            kind == "whole"
            and steps_of(space) is not None
            and space.metric.level.log_of is None
            and name != "attributes"
        ):
            assert mine == true
    mine, (true,) = spread(queries, space), largest(queries, space, together=True)
    assert true <= mine * (1 + Fraction(1, 1 << 60))
    assert mine <= true * (1 + Fraction(1, 10**14))


def test_only_metrics_made_of_steps_have_steps() -> None:
    known = {name for name, space in SPACES.items() if steps_of(space) is not None}
    assert known == {
        "discrete", "line", "days", "network", "manhattan", "hamming", "records", "attributes", "an attribute for free",
    }  # fmt: skip


def test_a_query_that_is_the_same_everywhere_costs_nothing() -> None:
    for space in SPACES.values():
        assert sensitivities(np.full((1, len(space)), 0.1), space) == (0,)


def test_cells_at_distance_zero_must_have_one_entry() -> None:
    twins = mdp.Space("abc", matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]]))
    assert sensitivities(np.array([[1.0, 1.0, 3.0]]), twins) == (2,)
    with pytest.raises(ImpossibleError, match="query 1 tells apart 'a' and 'b'"):
        sensitivities(np.array([[1.0, 1.0, 3.0], [0.0, 1.0, 0.0]]), twins)
    nearby = mdp.Space(range(3), graph(networkx.path_graph(3)))
    assert sensitivities(np.array([[1.0, 1.0, 3.0]]), nearby) == (2,)
    network = networkx.path_graph(3)
    network.add_edge(0, 1, length=0)
    network.add_edge(1, 2, length=1)
    with pytest.raises(ImpossibleError, match="query 0"):
        sensitivities(np.array([[0.0, 1.0, 1.0]]), mdp.Space(range(3), graph(network, weight="length")))


def test_near_pairs_first_and_the_rest_left_out() -> None:
    points = list(itertools.product(range(12), range(12)))
    space = mdp.Space(points, euclidean())
    columns = np.array(points)
    halves = np.array([(columns[:, 0] < cut).astype(float) for cut in range(1, 12)])
    assert sensitivities(halves, space) == (1,) * 11
    smooth = np.array([columns @ [0.5, 0.25]])
    (steepest,) = sensitivities(smooth, space)
    true = largest(smooth, space, together=False)[0]
    assert true <= steepest * (1 + Fraction(1, 1 << 60))
    assert steepest <= true * (1 + Fraction(1, 10**15))


def test_too_many_ties_are_rounded_up_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steepness, "_MOST_DISTANCES", 3)
    space = mdp.Space(GRID, mdp.ln(2) * euclidean())
    (mine,) = sensitivities(np.array([[float(x) for x, _ in GRID]]), space)
    assert 1 <= mine <= 1 + Fraction(1, 10**6)


def test_distances_beyond_floats_are_decided_exactly() -> None:
    space = mdp.Space("abc", matrix("abc", [[0, "1/1" + "0" * 320, 1], ["1/1" + "0" * 320, 0, 1], [1, 1, 0]]))
    assert sensitivities(np.array([[1.0, 0.0, 0.0]]), space) == (10**320,)


def test_more_work_than_wanted_takes_twice_the_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    space = mdp.Space(range(4), discrete())
    queries = np.array([[1.0, 0, 0, 0], [2.0, 0, 0, 0]])
    assert spread(queries, space) == 1
    monkeypatch.setattr(steepness, "_SPREAD_WORK", 1)
    assert spread(queries, space) == 4
