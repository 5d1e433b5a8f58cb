"""Laplace noise on the line: its density and its grid keep the promise, and no less would; bad numbers and bounds."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from flint import arb

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    DataError,
    KindError,
    LevelError,
    NotFiniteError,
    OutOfDomainError,
    ShapeError,
)
from metricdp.exact.balls import ball, precision
from tests.refused_secrets import BOUNDED, LINE, NULLS, PLANE, STEPS, refused
from tests.tight_guarantees import BITS, TINY, assert_tight, check_sums, metric_of

m = mdp.metrics


@pytest.mark.parametrize("metric", [m.absolute().within(5), "0.25" * m.absolute()], ids=str)
def test_laplace_density(metric):
    """e |x' - z| - e |x - z| <= e |x - x'|, with equality beyond the two."""
    mechanism = mdp.laplace(metric)
    secrets = [Fraction(n, 7) for n in range(-3, 4)]
    outputs = [Fraction(n, 5) for n in range(-10, 11)]
    with precision(BITS):
        rate = mechanism.rate()
        tables = {x: {z: rate / 2 * (-rate * ball(abs(x - z))).exp() for z in outputs} for x in secrets}
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("resolution", [1, Fraction(1, 3)])
@pytest.mark.parametrize("bounds", [None, (0, 4)])
def test_laplace_rounded_to_a_grid(resolution, bounds):
    """The cells' own probabilities, tails at the ends: rounding spends nothing, and nothing is left over there."""
    mechanism = mdp.laplace(mdp.ln(2) * m.absolute(), resolution=resolution, bounds=bounds)
    first, last = (0, int(4 / resolution)) if bounds else (-30, 30)
    secrets = [Fraction(n, 7) for n in range(29)]
    with precision(BITS):
        rate = mechanism.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def table(x):
            edges = [below((cell + Fraction(1, 2)) * resolution - x) for cell in range(first, last)]
            edges = [arb(0), *edges, arb(1)]
            return {cell: high - low for cell, (low, high) in enumerate(itertools.pairwise(edges))}

        tables = {x: table(x) for x in secrets}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 10)])
def test_approximate_laplace(epsilon, delta):
    """The hockey-stick divergence of the two ends, summed over fine cells, is delta; 10% less of either is refused."""
    mechanism = mdp.approximate_laplace(0, 1, epsilon, delta)
    with precision(96):
        rate = mechanism.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def beyond(allowed, cells=400):
            """Of the secrets 0 and 1: the sum of (P(Z | 0) - exp(allowed) P(Z | 1))+ over cells and clamped ends."""
            edges = [Fraction(cell, cells) for cell in range(1, cells)]
            total = arb(0)
            for low, high in itertools.pairwise([None, *edges, None]):
                one = (below(high) if high is not None else arb(1)) - (below(low) if low is not None else arb(0))
                two = (below(high - 1) if high is not None else arb(1)) - (
                    below(low - 1) if low is not None else arb(0)
                )
                excess = one - ball(allowed).exp() * two
                total += excess if excess > 0 else arb(0)
            return total

        assert beyond(epsilon) <= ball(delta) + ball(TINY * 2**40)
        assert beyond(epsilon) > ball(delta * Fraction(9, 10))
        assert beyond(epsilon * Fraction(9, 10)) > ball(delta)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, Decimal("nan"), Decimal("-inf"), np.float32("nan")])
def test_not_finite(bad):
    for mechanism in (LINE, BOUNDED, STEPS):
        refused(mechanism, bad, NotFiniteError, 0, "finite number is wanted")
        refused(mechanism, [0.5, 0.25, float(bad)], NotFiniteError, 2, "finite number is wanted")
        refused(mechanism, np.array([0.5, float(bad)]), NotFiniteError, 1, "finite number is wanted")
        refused(mechanism, pd.Series([0.5, float(bad)]), NotFiniteError, 1, "finite number is wanted")


@pytest.mark.parametrize("bad", [Decimal("nan"), Decimal("sNaN"), Decimal("inf"), math.inf])
def test_not_finite_among_exact_numbers(bad):
    for good in (Decimal(1), Fraction(1, 3), 10**20 // 10**20):
        refused(LINE, [good, bad], NotFiniteError, 1, "finite number is wanted")


def test_outside_the_bounds():
    for mechanism in (BOUNDED, mdp.approximate_laplace(0, 100, 1, "0.01")):
        for bad in (-1.0, 100.00000000000001, -5e-324, 1e9, Decimal("100.01"), Fraction(-1, 10**30)):
            refused(mechanism, [50.0, bad], OutOfDomainError, 1, "outside the declared bounds")
        assert 0 <= mechanism.release(100.0) <= 100
        assert 0 <= mechanism.release(-0.0) <= 100
    refused(NULLS, [None, 101.0], OutOfDomainError, 1, "outside the declared bounds")
    refused(mdp.truncated_geometric(m.absolute(), steps=10), [3, 11], OutOfDomainError, 1, r"outside 0 \.\. 10 steps")
    refused(mdp.truncated_geometric(m.absolute(), steps=10), [3, -1], OutOfDomainError, 1, r"outside 0 \.\. 10 steps")


def test_bounds_that_no_float_is():
    """Between 1/3 and its float lie secrets that only rationals tell apart."""
    mechanism = mdp.laplace(m.absolute(), bounds=(0, Fraction(1, 3)), resolution=Fraction(1, 3))
    assert mechanism.release(1 / 3) in (0.0, 1 / 3)  # the float lies below a third
    refused(mechanism, math.nextafter(1 / 3, 1), OutOfDomainError, 0, "outside the declared bounds")
    refused(mechanism, Fraction(1, 3) + Fraction(1, 10**40), OutOfDomainError, 0, "outside the declared bounds")


def test_beyond_what_the_resolution_holds():
    most = float(2**61 * LINE.resolution)
    assert LINE.release([most, -most, int(most)])
    for bad in (2 * most, -2 * most, 1e300, 10**30, Decimal(10) ** 40):
        refused(LINE, [0.0, bad], OutOfDomainError, 1, "give a coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), [0, 2**62], OutOfDomainError, 1, "give a coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), np.array([-(2**63)]), OutOfDomainError, 0, "coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), [2**1100], OutOfDomainError, 0, "give a coarser resolution")
    refused(PLANE, [[0.0, 0.0], [0.0, 1e300]], OutOfDomainError, 1, "give a coarser resolution")
    assert isinstance(mdp.laplace(m.absolute(), resolution=2**40).release(1e20), int)
    assert isinstance(mdp.laplace(m.absolute(), resolution=2**40).release(10**20), int)


@pytest.mark.parametrize("secrets", [[[1.0, 2.0], [3.0, 4.0]], [[1.0]], [0.5, [1.0]]])
def test_points_for_the_line(secrets):
    with pytest.raises(DataError) as caught:
        LINE.release(secrets)
    assert type(caught.value) in (ShapeError, KindError)


def test_epsilon_with_delta():
    for epsilon in (-1, math.nan, math.inf, None):
        with pytest.raises(LevelError):
            mdp.approximate_laplace(0, 1, epsilon, "0.1")
    with pytest.raises(LevelError):
        mdp.approximate_laplace(0, 1, 0, 0)
    try:
        mechanism = mdp.approximate_laplace(0, 1, 0, "0.1")
    except LevelError:
        return  # refused at construction, or else it works:
    assert mechanism.guarantee.delta == Fraction(1, 10)
    assert "odds" in mechanism.explain()


@pytest.mark.parametrize(
    "bounds", [(1, 0), (1, 1), (0, math.inf), (-math.inf, math.inf), (math.nan, 1), ("a", "b"), (None, 1)]
)
def test_bounds(bounds):
    for make in (
        lambda: mdp.laplace(m.absolute(), bounds=bounds),
        lambda: mdp.approximate_laplace(*bounds, 1, "0.1"),
        lambda: mdp.laplace(m.nullable(m.absolute(), 100), bounds=bounds),
    ):
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: mdp.laplace(m.absolute(), bounds=(0, 1), resolution=2),
        lambda: mdp.laplace(m.nullable(m.absolute(), 10), bounds=(0, 1), resolution=2),
        lambda: mdp.approximate_laplace("0.1", "0.2", 1, "0.01", resolution=1),
    ],
)
def test_resolution_wider_than_the_bounds(make):
    with pytest.raises(ArgumentError, match="wider than the bounds"):
        make()


def test_noise_beyond_the_grid_saturates():
    """A secret at the end of what the grid holds: noise may take it further, and nothing is raised."""
    most = float(2**61 * LINE.resolution)
    wide = mdp.laplace(m.absolute().within(2**40), resolution=LINE.resolution)
    released = wide.release(np.full(2000, most))
    assert np.isfinite(released).all()
    assert (released > most).any()
    whole = mdp.laplace(m.absolute().within(2**59), resolution=1)
    released = whole.release(np.full(2000, 2**59))
    assert released.dtype == np.int64
    assert (released > 0).mean() > 0.4, "saturated, not wrapped around"
    released = mdp.geometric(Fraction(1, 2**60) * m.absolute()).release(np.full(2000, -(2**59)))
    assert (released < 0).mean() > 0.4


@pytest.mark.parametrize(("dtype", "secret", "width"), [(np.float16, 65_000, 1000), (np.float32, 3.4e38, 1e37)])
def test_small_floats_saturate(dtype, secret, width):
    mechanism = mdp.laplace(m.absolute().within(width), resolution=width / 2**10)
    released = mechanism.release(np.full(2000, secret, dtype=dtype))
    assert released.dtype == dtype
    assert np.isfinite(released).all()
    assert (released >= dtype(secret)).any()
