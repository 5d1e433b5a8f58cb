"""The bound on how fast logarithms change, beside brute force."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels.extended._mesh import Mesh
from metricdp.channels.extended._steepness import Steepness, chart_factor

METRICS = [mdp.metrics.euclidean(), mdp.metrics.manhattan(), mdp.metrics.chebyshev()]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_it_is_the_largest_gradient_over_the_least_corner(metric):
    generator = np.random.default_rng(4)
    points = [tuple(Fraction(float(v)) for v in row) for row in generator.normal(size=(9, 2)).round(3)]
    weights = generator.integers(1, 50, size=(9, 5)).astype(object)
    mesh = Mesh.of(points)
    largest = 0.0
    for corners in mesh.simplices:
        a, b, c = (np.array([float(v) for v in points[k]]) for k in corners)
        for values in weights[list(corners)].T.astype(float):
            gradient = np.linalg.solve(np.array([b - a, c - a]), [values[1] - values[0], values[2] - values[0]])
            size = {1: np.abs(gradient).max(), 2: np.linalg.norm(gradient)}.get(metric.norm, np.abs(gradient).sum())
            largest = max(largest, size / values.min())
    found = Steepness(mesh, metric).above(weights, range(len(mesh.simplices)))
    assert largest * (1 - 1e-9) <= float(found) <= largest * (1 + 1e-8)


def test_straight_lines_in_degrees_are_hardly_longer_than_great_circles():
    metric = mdp.metrics.great_circle()
    generator = np.random.default_rng(8)
    for size in (0.1, 5, 40):
        corners = [(Fraction(30), Fraction(0)), (30 + Fraction(size), Fraction(0)), (Fraction(30), Fraction(size))]
        per_metre = float(chart_factor(corners, metric))
        for _ in range(50):
            (a, b), (c, d) = generator.uniform(0, size, size=(2, 2)) + np.array([30, 0])
            middles = np.radians(a + (c - a) * (np.arange(2000) + 0.5) / 2000)
            degrees = np.sqrt((c - a) ** 2 + (np.cos(middles) * (d - b)) ** 2).mean()
            metres = metric((a, b), (c, d))
            assert degrees <= per_metre * metres * (1 + 1e-7)
            assert degrees >= per_metre * metres * 0.8
