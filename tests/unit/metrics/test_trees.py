"""Rooted trees by their nodes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.exact.level import Level, ln
from metricdp.metrics import Space, nullable, taxonomy
from metricdp.metrics.trees import RootedTree


def forest(seed, count=30, roots=1, lengths=(1, 2, Fraction(1, 3), 0)):
    generator = np.random.default_rng(seed)
    parents = [-1] * roots + [int(generator.integers(0, node)) for node in range(roots, count)]
    steps = [Fraction(0)] * roots + [Fraction(lengths[int(generator.integers(len(lengths)))]) for _ in parents[roots:]]
    return RootedTree(tuple(parents), tuple(steps))


def way(tree, node):
    line = [node]
    while tree.parents[line[-1]] >= 0:
        line.append(tree.parents[line[-1]])
    return line


@pytest.mark.parametrize("roots", [1, 3])
@pytest.mark.parametrize("lengths", [(1,), (1, 2, Fraction(1, 3), 0), (10**30, 1)])
def test_distances_are_those_of_the_way_up_and_down(roots, lengths):
    tree = forest(roots, roots=roots, lengths=lengths)
    nodes = range(len(tree.parents))
    steps, shared = tree.steps(nodes, nodes), tree.shared(np.array(nodes), np.array(nodes))
    for one, other in itertools.product(nodes, repeat=2):
        there = way(tree, other)
        common = next((node for node in way(tree, one) if node in there), -1)
        assert shared[one, other] == common
        if common < 0:
            assert steps[one, other] == tree.step(one, other) == -1
            continue
        length = sum((tree.lengths[node] for node in {*way(tree, one)} ^ {*there}), Fraction(0))
        assert Fraction(int(steps[one, other]), tree.scale) == length
        assert tree.step(one, other) == steps[one, other]


def test_the_farthest_nodes():
    for seed in range(20):
        tree = forest(seed)
        places = list(range(5, 25))
        one, other = tree.farthest(places)
        assert tree.step(places[one], places[other]) == tree.steps(places, places).max()
    apart = forest(0, roots=2)
    one, other = apart.farthest([0, 1])
    assert {one, other} == {0, 1}


def test_a_long_chain():
    count = 20_000
    tree = RootedTree((-1, *range(count - 1)), (Fraction(0), *[Fraction(1)] * (count - 1)))
    assert tree.step(0, count - 1) == tree.steps([0], [count - 1])[0, 0] == count - 1
    assert tree.farthest(range(0, count, 7)) == (0, (count - 1) // 7)


def test_hierarchies_of_metrics():
    tree = taxonomy({"b": "a", "c": "a"})
    found = (ln(2) * nullable(tree, 4)).hierarchy(["b", None, "c"])
    assert found.places == (1, -1, 2)
    assert found.level == ln(2)
    assert found.null_distance == Level(Fraction(4))
    assert nullable(tree, 4).hierarchy(["b", "c"]).null_distance is None
    assert nullable(2 * tree, 4).hierarchy(["b", None]) is None
    assert Space.line(3).metric.hierarchy(range(3)) is None
    assert tree.greatest == Level(Fraction(2))
    assert taxonomy({"b": "a", "d": "c"}).greatest == math.inf
