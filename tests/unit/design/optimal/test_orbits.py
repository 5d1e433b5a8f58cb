"""Symmetries are found, not assumed."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.design.optimal._orbits import Orbits


def orbits_of(space, costs=None):
    distances = space.distances
    return Orbits.of(distances, distances if costs is None else costs)


@pytest.mark.parametrize(
    ("space", "points"),
    [
        (mdp.Space.grid(4, 4), 3),
        (mdp.Space.grid(3, 5), 6),
        (mdp.Space.grid(5, 5, mdp.metrics.manhattan()), 6),
        (mdp.Space.line(7), 4),
        (mdp.Space.bits(4), 1),
        (mdp.Space("abcdefgh", mdp.metrics.discrete()), 1),
        (mdp.Space([0, 1, 3], mdp.metrics.absolute()), 3),
    ],
)
def test_orbits_of_known_spaces(space, points):
    orbits = orbits_of(space)
    assert len(orbits.sizes) == len(orbits.representatives) == points
    assert orbits.sizes.sum() == len(space)
    assert orbits.trivial == (points == len(space))


def test_carriers_are_symmetries():
    space = mdp.Space.grid(4, 4)
    orbits = orbits_of(space)
    for z in range(len(space)):
        carrier = orbits.carriers[z]
        assert np.array_equal(space.distances[np.ix_(carrier, carrier)], space.distances)
        assert carrier[orbits.representatives[orbits.outputs[z]]] == z


def test_stabilised_points_are_alike_for_the_representative():
    space = mdp.Space.grid(5, 5)
    orbits = orbits_of(space)
    centre = orbits.outputs[12]
    assert orbits.representatives[centre] == 12
    assert len(set(orbits.stabilised[centre].tolist())) == 6
    corner = orbits.outputs[0]
    assert len(set(orbits.stabilised[corner].tolist())) == 15  # the mirror through the corner alone
    values = np.arange(25.0)
    settled = orbits.settled(corner, values)
    assert settled.sum() == pytest.approx(values.sum())
    assert settled[1] == settled[5] == 3.0


def test_costs_break_symmetry():
    space = mdp.Space.grid(4, 4)
    prior = np.arange(1.0, 17.0)
    assert orbits_of(space, prior[:, None] * space.distances).trivial
    halves = np.where(np.arange(16) % 4 < 2, 1.0, 2.0)
    assert len(orbits_of(space, halves[:, None] * space.distances).sizes) == 8  # one mirror is left


def test_outputs_that_are_not_points():
    space = mdp.Space.line(4)
    costs = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    orbits = orbits_of(space, costs)
    assert orbits.outputs.tolist() == [0, 0]
    assert orbits.points.tolist() == [0, 1, 1, 0]
