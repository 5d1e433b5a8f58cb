"""Laplace noise in R^n: its norm is a sum of n exponentials, its direction uniform on the norm's sphere."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import metricdp as mdp
from tests.statistical.harness import (
    DRAWS,
    OFF,
    check_law,
    check_scale,
    fits,
    fits_table,
    plausible,
    unrelated,
)

m = mdp.metrics
LEVEL = 0.5
SECRET = 0.1


def noise(metric, dim, count=DRAWS):
    secrets = np.full((count, dim), SECRET)
    return mdp.laplace(LEVEL * metric, dim=dim).release(secrets) - secrets


def length(dim):
    return lambda factor: stats.gamma(dim, scale=factor / LEVEL)


def direction(dim):
    """The law of one coordinate of a uniform point of the sphere in R^n."""
    return stats.beta((dim - 1) / 2, (dim - 1) / 2, loc=-1, scale=2)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 7, 11])
def test_euclidean_length(dim):
    drawn = noise(m.euclidean(), dim)
    check_scale(np.linalg.norm(drawn, axis=1), length(dim))


def test_plane_angle():
    drawn = noise(m.euclidean(), 2)
    angles = np.arctan2(drawn[:, 1], drawn[:, 0])
    uniform = stats.uniform(-math.pi, 2 * math.pi)
    cuts = np.linspace(-math.pi, math.pi, 17)[1:-1]
    assert fits(angles, uniform, cuts)
    for factor in OFF:
        squashed = np.arctan2(drawn[:, 1] * factor, drawn[:, 0])
        assert not fits(squashed, uniform, cuts)
    assert unrelated(angles, np.linalg.norm(drawn, axis=1))


@pytest.mark.parametrize("dim", [2, 3, 4, 7])
def test_euclidean_direction(dim):
    """Along the axes and along two diagonals, a coordinate of the direction has the law of any other."""
    drawn = noise(m.euclidean(), dim)
    norms = np.linalg.norm(drawn, axis=1)
    diagonals = np.zeros((2, dim))
    diagonals[0] = 1 / math.sqrt(dim)
    diagonals[1, 0], diagonals[1, -1] = math.sqrt(0.5), -math.sqrt(0.5)
    for along in np.concatenate([np.eye(dim), diagonals]):
        check_law(drawn @ along / norms, direction(dim), unlike=[direction(dim + 1)])
        assert unrelated(drawn @ along / norms, norms)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_manhattan(dim):
    drawn = noise(m.manhattan(), dim)
    check_scale(np.abs(drawn).sum(axis=1), length(dim))
    for axis in range(dim):
        check_scale(drawn[:, axis], lambda factor: stats.laplace(scale=factor / LEVEL))
        assert unrelated(drawn[:, axis], drawn[:, axis - 1]) or dim == 1


@pytest.mark.parametrize("dim", [1, 2, 4, 6, 24])
def test_chebyshev_length(dim):
    drawn = noise(m.chebyshev(), dim)
    check_scale(np.abs(drawn).max(axis=1), length(dim))


@pytest.mark.parametrize("dim", [2, 4])
def test_chebyshev_direction(dim):
    """A uniform point of the cube's surface: a uniform face, and on it uniform coordinates."""
    drawn = noise(m.chebyshev(), dim)
    norms = np.abs(drawn).max(axis=1)
    points = drawn / norms[:, np.newaxis]
    axes = np.abs(drawn).argmax(axis=1)
    signs = np.sign(points[np.arange(DRAWS), axes])
    faces = {(axis, sign): 1 / (2 * dim) for axis in range(dim) for sign in (-1, 1)}
    assert fits_table(zip(axes.tolist(), signs.astype(int).tolist(), strict=True), faces)
    for axis in range(dim):
        on_the_face = points[axes != axis, axis]
        check_law(on_the_face, stats.uniform(-1, 2), unlike=[direction(4), direction(2)])
        assert unrelated(on_the_face, norms[axes != axis])


def test_chebyshev_is_not_independent_noise():
    """Both coordinates within t of the truth: by the joint density, and not by the product of the marginals."""
    drawn = np.abs(noise(m.chebyshev(), 2))

    def marginal(t):
        # Density exp(-max(|a|, |b|)) / 8 in units of the scale; b from 0 to |a|, then from |a| on.
        return integrate.quad(lambda a: (a + 1) * math.exp(-a) / 2, 0, t)[0]

    for t in (0.5, 1.0, 2.0):
        near = drawn < t / LEVEL
        single, joint = marginal(t), stats.gamma(2).cdf(t)
        assert plausible(near.sum(axis=0), DRAWS, [single] * 2)
        assert plausible(near.all(axis=1).sum(), DRAWS, joint)
        assert not plausible(near.all(axis=1).sum(), DRAWS, single**2)
    assert not unrelated(drawn[:, 0], drawn[:, 1])


def test_euclidean_is_not_independent_noise():
    drawn = noise(m.euclidean(), 2)
    assert not unrelated(drawn[:, 0], drawn[:, 1])
    assert not fits(drawn[:, 0], stats.laplace(scale=1 / LEVEL), stats.laplace(scale=1 / LEVEL).ppf([0.25, 0.75, 0.9]))


def test_coarse_grid_in_the_plane():
    """Each coordinate of the release is the rounding of the ideal one: its law at the cells' edges."""
    released = mdp.laplace(LEVEL * m.euclidean(), dim=2, resolution=3).release(np.full((DRAWS, 2), 1.0))

    def beside(t):
        """The probability that a coordinate of the noise exceeds t >= 0, from the planar density."""
        tail = integrate.quad(lambda r: r * math.exp(-r) * math.acos(t * LEVEL / r) / math.pi, t * LEVEL, np.inf)
        return tail[0]

    above = [beside(0.5), beside(3.5)]  # the edges 1.5 and 4.5 lie 0.5 and 3.5 to the right of the secret
    for axis in range(2):
        assert plausible([(released[:, axis] > edge).sum() for edge in (1.5, 4.5)], DRAWS, above)


def test_functions_by_samples():
    """The largest error over all samples is Gamma(n), whatever the function."""
    times = [0, 0.5, 1, 2, 5]
    mechanism = mdp.function_samples(LEVEL * m.supremum(), times)
    secrets = np.tile(np.sin(times), (DRAWS, 1))
    drawn = mechanism.release(secrets) - secrets
    check_scale(np.abs(drawn).max(axis=1), length(5))
    one_by_one = np.array([mechanism.release(math.sin) - np.sin(times) for _ in range(4_000)])
    assert fits(np.abs(one_by_one).max(axis=1), length(5)(1), length(5)(1).ppf([0.25, 0.5, 0.75]))


def test_functions_by_coefficients():
    """The L2 error of the function itself, integrated over its interval, is Gamma(n)."""
    mechanism = mdp.function_expansion(LEVEL * m.square_integrable(), length=24, terms=4)
    coefficients = [1.0, 0.5, 0.0, 0.25]
    times = (np.arange(64) + 0.5) * 24 / 64
    truth = mechanism.basis(times).T @ coefficients
    released = mechanism.release([coefficients] * 50_000)
    errors = [math.sqrt(((function(times) - truth) ** 2).sum() * 24 / 64) for function in released]
    check_scale(errors, length(4))
