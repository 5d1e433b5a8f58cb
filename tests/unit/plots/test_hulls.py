"""Hulls, beside scipy's."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from metricdp.plots.hulls import faces_in_space, ring_in_plane


@pytest.mark.parametrize("seed", range(5))
def test_the_ring_is_scipy_s(seed):
    points = np.random.default_rng(seed).random((30, 2))
    assert set(ring_in_plane(points)) == set(ConvexHull(points).vertices.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_the_faces_are_scipy_s(seed):
    points = np.random.default_rng(seed).random((14, 3))
    ours = {frozenset(face) for face in faces_in_space(points)}
    assert ours == {frozenset(face) for face in ConvexHull(points).simplices.tolist()}


def test_little():
    assert ring_in_plane(np.zeros((1, 2))) == [0]
    assert faces_in_space(np.zeros((2, 3))) == []
    flat = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    assert [set(face) for face in faces_in_space(flat)] == [{0, 1, 2, 3}]
