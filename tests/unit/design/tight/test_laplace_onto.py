"""Laplace mechanisms onto a set of outputs: weights that exist, that do not, and what they promise."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import laplace_onto, tight_constraints
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError

m = mdp.metrics


def is_laplace(channel, space):
    """``K(x)(z) / exp(-d(x, z))`` does not depend on x."""
    far = np.array([[space.metric(x, z) for z in channel.outputs] for x in channel.inputs])
    weights = channel.matrix * np.exp(far)
    return np.allclose(weights, weights[0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("level", [mdp.ln(2), 1])
def test_on_the_points_it_is_the_tight_constraints_mechanism(level):
    space = mdp.Space.line(4, level * m.absolute())
    found, tight = laplace_onto(space, space.points), tight_constraints(space).channel
    assert found.matrix == pytest.approx(tight.matrix, abs=1e-15)
    assert verify(found, space)
    assert not verify(found, mdp.Space(space.points, Fraction(9, 10) * space.metric))
    assert is_laplace(found, space)


def test_more_outputs_admit_one_where_the_points_do_not():
    space = mdp.Space.grid(3, 3, mdp.ln(2) * m.chebyshev())
    assert not tight_constraints(space)
    with pytest.raises(ImpossibleError, match="negative sum"):
        laplace_onto(space, space.points)
    wider = [(i, j) for i in range(-1, 4) for j in range(-1, 4)]
    found = laplace_onto(space, wider)
    assert found.shape == (9, 25)
    assert is_laplace(found, space)
    assert found.guarantee.metric == space.metric


def test_outputs_beside_the_points():
    space = mdp.Space([0, 2], mdp.ln(3) * m.absolute())
    found = laplace_onto(space, [-1, 3])
    assert [[found.probability(x, z) for z in (-1, 3)] for x in (0, 2)] == [
        [Fraction(9, 10), Fraction(1, 10)],
        [Fraction(1, 10), Fraction(9, 10)],
    ]
    irrational = mdp.Space.grid(2, 2, m.euclidean())
    assert is_laplace(laplace_onto(irrational, [*irrational.points, (5, 5)]), irrational)


def test_what_is_refused():
    line = mdp.Space.line(3, mdp.ln(2) * m.absolute())
    with pytest.raises(ImpossibleError, match="no Laplace mechanism"):
        laplace_onto(line, [0, 1])
    with pytest.raises(ArgumentError, match="at least one output"):
        laplace_onto(line, [])
    with pytest.raises(TooLargeError, match="250,000"):
        laplace_onto(mdp.Space.line(600), range(600))
    with pytest.raises(ArgumentError):
        laplace_onto("no space", [0])


@pytest.mark.parametrize("lengths", [(Fraction(3, 2), 2), (1, 3000)])
def test_points_in_two_pieces_and_far_apart(lengths):
    edges = [("a", "b", lengths[0]), ("c", "d", lengths[1])]
    space = mdp.Space("abcd", mdp.ln(2) * m.graph(edges))
    found = laplace_onto(space, space.points)
    assert found.probability("a", "c") == 0
    assert verify(found, space)
