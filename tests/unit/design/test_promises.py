"""What `design` promises is kept, and nothing a tenth stronger would be."""

from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.channels import parallel, restrict, sequential, verify
from metricdp.design import capacity, decompose, kernels, optimal, tight_constraints, universal_example
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming, maximum

SPACES = [
    Space.line(4, mdp.ln(2) * absolute()),
    Space.grid(2, 3, Fraction(7, 10) * euclidean()),
    Space.bits(2, mdp.ln(3) * hamming()),
    Space("abc", 1 * discrete()),
]
MADE = {
    "optimal": optimal,
    "optimal, worst case": lambda space: optimal(space, "worst"),
    "tight constraints": lambda space: tight_constraints(space).channel,
    "multiplicative capacity": lambda space: capacity(space).multiplicative_channel,
    "additive capacity": lambda space: capacity(space).additive_channel,
    "Theorem 10": lambda space: universal_example(space).channel,
}


def weaker_and_stronger(channel, space):
    """The verdict for the metric, and for one a tenth smaller."""
    return verify(channel, space), verify(channel, Space(space.points, Fraction(9, 10) * space.metric))


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("made", MADE)
def test_a_tenth_stronger_is_refused(made, space):
    if made == "tight constraints" and not tight_constraints(space):
        pytest.fail("these spaces have one")
    channel = MADE[made](space)
    assert channel.guarantee == mdp.Guarantee(space.metric)
    kept, stronger = weaker_and_stronger(channel, space)
    assert kept.holds
    assert not stronger.holds


@pytest.mark.parametrize("space", [SPACES[0], SPACES[2], Space("abc", mdp.ln(2) * discrete())], ids=str)
def test_kernels(space):
    for channel in kernels(space):
        kept, stronger = weaker_and_stronger(channel, space)
        assert kept.holds
        assert kept.scale == 1
        assert not stronger.holds
    assert decompose(optimal(space), space).check()


def test_the_algebra_of_channels():
    """Two tight channels of one secret cost the sum, of two secrets each its own; on fewer inputs it stays tight."""
    line = Space.line(3, mdp.ln(2) * absolute())
    one = mdp.channels.of(mdp.truncated_geometric(line.metric, steps=2), line.points)
    two = mdp.channels.of(mdp.truncated_geometric(mdp.ln(3) * absolute(), steps=2), line.points)
    both, pairs, fewer = sequential(one, two), parallel(one, two), restrict(one, [0, 2])
    chosen = mdp.channels.choice(Fraction(1, 2), one, two)
    assert chosen.guarantee.metric == maximum(one.guarantee.metric, two.guarantee.metric)
    for channel in (both, pairs, fewer, chosen):
        kept, stronger = weaker_and_stronger(channel, Space(channel.inputs, channel.guarantee.metric))
        assert kept.holds
        assert not stronger.holds
