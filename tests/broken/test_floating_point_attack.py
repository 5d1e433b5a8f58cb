"""The floating-point attack of Mironov (2012) breaks a naive sampler and not ours.

A naive sampler returns ``x + b * log(u)`` in floats. There are at most 2^53 uniforms u, so most floats are never
returned, and which ones are depends on x: an output that x cannot give proves that the secret was not x. What we
release lies on one grid, a function of the scale alone, and every point of it can come from every secret.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from tests.mechanisms_to_test import CASES

m = mdp.metrics
UGLY = [
    0.0,
    0.1,
    1 / 3,
    0.1 + 0.2,
    math.pi,
    math.nextafter(1, 2),
    -math.nextafter(2, 1),
    5e-324,
    -2.2250738585072014e-308,
    1e-300,
    1e6 + 2.0**-30,
    12345.678901234567,
]


# The attack


def off_grid(values, width):
    """The numbers that are not a multiple of the width, or the float next to one; null is no number."""
    numbers = [value for value in values if value == value]
    return [value for value in numbers if value != type(value)(round(Fraction(value) / width) * width)]


def naive(secret, scale, count, seed):
    """The textbook's sampler: a float u = k / 2^53, its logarithm, a sign, a sum."""
    generator = np.random.default_rng(seed)
    uniforms = generator.integers(1, 2**53, count, endpoint=True) * 2.0**-53
    signs = generator.choice([-1.0, 1.0], count)
    return secret + signs * (-scale * np.log(uniforms))


def possible(outputs, secret, scale):
    """Which outputs the naive sampler can return for a secret: it tries all uniforms near the one that would do."""
    magnitudes = np.abs(outputs - secret)
    signs = np.sign(outputs - secret)
    nearest = np.rint(np.exp(-magnitudes / scale) * 2.0**53)
    # One step of k moves the logarithm by 1 / k; a rounding of the sum moves it by an ulp of the output or the noise.
    blur = (np.spacing(np.abs(outputs)) + np.spacing(magnitudes)) / scale
    steps = np.ceil(nearest * blur).max() + 4
    assert steps < 1000
    found = np.zeros(outputs.size, dtype=bool)
    for step in range(-int(steps), int(steps) + 1):
        candidates = np.clip(nearest + step, 1, 2**53) * 2.0**-53
        found |= secret + signs * (-scale * np.log(candidates)) == outputs
    return found


@pytest.mark.parametrize(("secret", "other"), [(0.0, 1.0), (0.0, 0.1), (0.1, math.nextafter(0.1, 1))])
def test_the_naive_sampler_is_broken(secret, other):
    """An adversary who wonders whether the secret is ``secret`` or ``other`` is often certain, and never wrong."""
    scale, count = 1.0, 20_000
    own, others = naive(secret, scale, count, seed=1), naive(other, scale, count, seed=2)
    assert possible(own, secret, scale).all(), "the attack is sound: what can be returned is never excluded"
    assert possible(others, other, scale).all()
    certain = ~possible(others, secret, scale)
    assert certain.mean() > 0.25, "draws that prove that the secret is not the one"


def test_a_guarantee_broken_by_low_bits():
    """A guarantee of exp(d) with d = 2^-56 would let nobody tell two neighbouring floats apart."""
    near = math.nextafter(0.1, 1)
    certain = ~possible(naive(near, 1.0, 20_000, seed=3), 0.1, 1.0)
    assert certain.mean() > 100 * (math.exp(near - 0.1) - 1)


@pytest.mark.parametrize("secret", UGLY)
def test_our_outputs_lie_on_one_grid(secret):
    mechanism = mdp.laplace(m.absolute())
    released = mechanism.release(np.full(20_000, secret))
    cells = released / float(mechanism.resolution)  # a power of two: the division is exact
    assert (cells == np.rint(cells)).all()
    assert len(np.unique(released)) > 19_000, "a fine grid, not a few points"


def test_the_attack_learns_nothing_from_ours():
    """Our outputs that the naive image excludes are as many from one secret as from the other."""
    mechanism = mdp.laplace(m.absolute())
    count = 100_000
    shares = [possible(mechanism.release(np.full(count, secret)), 0.0, 1.0).mean() for secret in (0.0, 0.1)]
    assert abs(shares[0] - shares[1]) < 0.1, "not more than the privacy that exp(0.1) allows"


NUMERIC = [case for case in CASES if not case.label and case.name != "dates"]


@pytest.mark.long
@pytest.mark.parametrize("case", NUMERIC, ids=lambda case: case.name)
def test_every_mechanism_on_numbers_and_points_has_one_grid(case):
    """Whatever the low bits of x: the grid is that of the mechanism, from every secret."""
    mechanism = case.make()
    for secret in [*case.secrets, *ugly_secrets(case)]:
        released = mechanism.release(np.array([secret] * 1500))
        assert off_grid(set(np.asarray(released).ravel().tolist()), mechanism.resolution) == []


def ugly_secrets(case):
    """Secrets with ugly low bits that the mechanism takes."""
    if case.name.startswith(("geometric", "truncated")):
        return []  # these take the points of their grid alone
    if case.name == "laplace integers":
        return [1, 2, 2**53 + 1, -(2**60) - 1]
    numbers = [abs(number) for number in UGLY if abs(number) <= 90]
    if not case.vector:
        return numbers
    dimension = len(case.secrets[0])
    return [[number * (-1) ** axis for axis in range(dimension)] for number in numbers]


@pytest.mark.parametrize(
    "secret", [Fraction(1, 3), Fraction(10**40 + 1, 10**40), 2**53 + 1], ids=["third", "long", "beyond floats"]
)
def test_exact_secrets_share_the_grid(secret):
    mechanism = mdp.laplace(m.absolute(), resolution=Fraction(1, 64))
    released = mechanism.release([Fraction(secret)] * 2000) if secret < 2**50 else None
    if released is None:
        mechanism = mdp.laplace(m.absolute(), resolution=2)
        released = mechanism.release([secret] * 2000)
    assert off_grid(set(released), mechanism.resolution) == []


# Every cell near by, from every secret


@pytest.mark.parametrize("scale", [1, 16])
def test_every_cell_is_reached_from_every_secret(scale):
    """Coarse cells, so that all of them within some scales of the secrets can be seen; none is missing."""
    mechanism = mdp.laplace(Fraction(1, scale) * m.absolute(), resolution=1)
    near = set(range(-5 * scale, 5 * scale + 1))
    for secret in (0.0, 0.1, 1 / 3, 0.5, math.nextafter(0.5, 0), 1 - 2.0**-53, 5e-324, -0.7):
        released = mechanism.release(np.full(200_000, secret))
        assert near <= set(released.tolist())
        assert (released == np.rint(released)).all()


@pytest.mark.parametrize("metric", [m.euclidean(), m.manhattan(), m.chebyshev()], ids=str)
def test_every_cell_of_the_plane_is_reached(metric):
    mechanism = mdp.laplace(metric, dim=2, resolution=1)
    near = {(a, b) for a in range(-2, 3) for b in range(-2, 3)}
    for secret in ([0.0, 0.0], [0.1, 1 / 3], [0.5, 5e-324], [-0.4999999999999999, 0.3]):
        released = mechanism.release(np.tile(secret, (100_000, 1)))
        assert near <= set(map(tuple, released.astype(int).tolist()))


def test_every_cell_of_the_globe_is_reached():
    """Cells of 30 degrees at a weak level; at a pole the longitude is 0."""
    mechanism = mdp.laplace(m.great_circle().within(5e6), resolution=30)
    everywhere = {(latitude, longitude) for latitude in range(-60, 90, 30) for longitude in range(-180, 180, 30)}
    everywhere |= {(90, 0), (-90, 0)}
    for secret in ([0.0, 0.0], [48.8566, 2.3522], [90.0, 10.0], [-89.99999, 179.99999]):
        released = mechanism.release(np.tile(secret, (200_000, 1)))
        assert set(map(tuple, released.astype(int).tolist())) == everywhere


def test_the_naive_sampler_misses_cells_that_ours_does_not():
    """The same question asked of the naive sampler, on the finest cells that floats have near 1."""
    width = 2.0**-52
    secret, count = 0.0, 4000
    cells = 1.0 + width * np.arange(count)
    assert 0.2 < (~possible(cells, secret, 1.0)).mean() < 0.8, "many floats just above 1 are never returned"
