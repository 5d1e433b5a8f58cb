"""Triangles between points, beside another library's and by their areas."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import Delaunay

from metricdp.channels.extended._mesh import Mesh, cross
from metricdp.errors import ArgumentError


def points(array):
    return [tuple(Fraction(float(value)) for value in row) for row in array]


@pytest.mark.parametrize("count", [3, 4, 7, 40, 200])
def test_the_triangulation_is_delaunays(count):
    cloud = np.random.default_rng(count).normal(size=(count, 2)).round(6)
    ours = {tuple(sorted(corners)) for corners in Mesh.of(points(cloud)).simplices}
    assert ours == {tuple(sorted(corners)) for corners in Delaunay(cloud).simplices.tolist()}


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (7, 7)])
def test_a_grid_is_filled_without_overlap(rows, columns):
    mesh = Mesh.of([(Fraction(i), Fraction(j)) for i in range(rows) for j in range(columns)])
    areas = [cross(*mesh.corners(k)) for k in range(len(mesh.simplices))]
    assert min(areas) > 0
    assert sum(areas) == 2 * (rows - 1) * (columns - 1)
    assert {corner for corners in mesh.simplices for corner in corners} == set(range(rows * columns))


def test_every_point_of_the_hull_has_shares_that_give_it_back():
    mesh = Mesh.of(points(np.random.default_rng(1).normal(size=(20, 2))))
    x = (Fraction(1, 10), Fraction(-1, 7))
    simplex = mesh.holding(x)
    shares = mesh.shares(simplex, x)
    assert min(shares) >= 0
    assert sum(shares) == 1
    for axis in (0, 1):
        assert sum(s * corner[axis] for s, corner in zip(shares, mesh.corners(simplex), strict=True)) == x[axis]
    assert mesh.holding((Fraction(99), Fraction(0))) is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([(0, 0), (1, 1), (2, 2)], "on one line"),
        ([(0, 0), (1, 0), (0, 0.0), (0, 1)], "the same place"),
        ([(3,)], "at least two"),
    ],
)
def test_what_has_nothing_between_is_refused(given, problem):
    with pytest.raises(ArgumentError, match=problem):
        Mesh.of([tuple(map(Fraction, point)) for point in given])
