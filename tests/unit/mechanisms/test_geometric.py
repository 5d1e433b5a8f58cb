"""Geometric noise: a tight guarantee, exact steps, and what lies between two of them."""

from decimal import Decimal
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    OffGridError,
)
from metricdp.exact.balls import ball, precision
from metricdp.mechanisms.geometric import Geometric
from metricdp.metrics import Guarantee
from tests.refused_secrets import STEPS, refused
from tests.tight_guarantees import BITS, TINY, assert_tight, check_sums, metric_of, spent

m = mdp.metrics


def geometric_table(mechanism, x, ends):
    """P(z | x) from P(|noise| >= j) = 2 a^j / (1 + a), with the tails put to the ends, where there are ends."""
    a = (-mechanism.metric.level.ball() * ball(mechanism.step)).exp()

    def beyond(j):  # P(noise >= j)
        return a**j / (1 + a) if j > 0 else 1 - a ** (1 - j) / (1 + a)

    low, high = ends
    table = {z: beyond(z - x) - beyond(z - x + 1) for z in range(low, high + 1)}
    table[low], table[high] = 1 - beyond(low - x + 1), beyond(high - x)
    return table


@pytest.mark.parametrize("level", [Fraction(1, 10), mdp.ln(2)])
@pytest.mark.parametrize("step", [1, Fraction(1, 4)])
def test_truncated_geometric(level, step):
    mechanism = mdp.truncated_geometric(level * m.absolute(), steps=6, step=step)
    assert isinstance(mechanism, Geometric)
    with precision(BITS):
        tables = {x: geometric_table(mechanism, x, (0, 6)) for x in range(7)}
        check_sums(tables)
        assert_tight(tables, lambda x, y: mechanism.metric.ball(x * step, y * step))


@pytest.mark.parametrize("level", [Fraction(1, 3), mdp.ln(2)])
def test_geometric(level):
    """On all integers; cells beyond -12 .. 12 have the ratios of the ends, which hold their tails."""
    mechanism = mdp.geometric(level * m.absolute())
    with precision(BITS):
        tables = {x: geometric_table(mechanism, x, (-12, 12)) for x in range(-3, 4)}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def test_geometric_noise_is_what_the_formula_says():
    """The sampler's own threshold, floor(scale * E + shift + 1/2) >= j, has probability 2 a^j / (1 + a)."""
    mechanism = mdp.geometric(mdp.ln(3) / 2 * m.absolute(), step=Fraction(1, 3))
    with precision(BITS):
        a = mechanism._decay()
        for j in range(1, 30):
            # scale * E + shift >= j - 1/2
            chance = (-(ball(Fraction(2 * j - 1, 2)) - mechanism._shift()) / mechanism._scale()).exp()
            assert abs(chance - 2 * a**j / (1 + a)) < ball(TINY)


@pytest.mark.parametrize("step", [1, Fraction(1, 2)])
def test_snapping_costs_a_step_and_no_more(step):
    """Two secrets a hair apart may be snapped a step apart: the guarantee with snap is reached in the limit."""
    mechanism = mdp.geometric(mdp.ln(2) * m.absolute(), step=step, snap=True)
    hair = Fraction(1, 2**100)
    near, far = step / Fraction(2) - hair, step / Fraction(2)  # snapped to 0 and to one step
    with precision(BITS):
        cells = {near: 0, far: 1}
        tables = {x: geometric_table(mechanism, cell, (-9, 9)) for x, cell in cells.items()}
        share, _, _ = spent(tables, metric_of(mechanism))
        assert share < 1
        assert share > ball(Fraction(9, 10))
        without, _, _ = spent(tables, mechanism.metric.ball)
        assert without > 1, "without the cost of snapping the guarantee would be false"


def test_between_two_steps():
    refused(STEPS, [0.25, 0.3], OffGridError, 1, "snap=True")
    refused(STEPS, [Decimal("0.25"), Decimal("0.26")], OffGridError, 1, "snap=True")
    refused(mdp.geometric(m.absolute(), step="0.1"), 0.1, OffGridError, 0, "multiple of the declared step 1/10")
    assert isinstance(mdp.geometric(m.absolute(), step="0.1").release(Decimal("0.1")), float)
    refused(mdp.geometric(m.absolute(), step=2), [2, 3], OffGridError, 1, "snap=True")
    refused(mdp.geometric(m.absolute(), step=2), 5e-324, OffGridError, 0, "snap=True")
    refused(mdp.geometric(m.absolute(), step=2**70), [0, 1], OffGridError, 1, "snap=True")


def test_snapping_is_paid_for():
    metric = mdp.ln(2) * m.absolute()
    plain, snapping = mdp.geometric(metric), mdp.geometric(metric, snap=True)
    assert plain.guarantee == Guarantee(metric)
    assert snapping.guarantee == Guarantee(metric + mdp.ln(2) * m.discrete())
    assert plain.guarantee < snapping.guarantee
    assert isinstance(snapping.release([0.3, 2.5])[0], int)
    half = mdp.truncated_geometric(metric, steps=10, step="0.5", snap=True)
    assert half.guarantee == Guarantee(metric + mdp.ln(2) / 2 * m.discrete())


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_dimension_and_steps(bad):
    with pytest.raises(ArgumentError, match="dimension"):
        mdp.laplace(m.euclidean(), dim=bad)
    with pytest.raises(ArgumentError, match="positive integer"):
        mdp.truncated_geometric(m.absolute(), steps=bad)
