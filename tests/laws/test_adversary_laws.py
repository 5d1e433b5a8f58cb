"""Adversaries, every law: data processing, the miracle theorems, and paper 1's characterisations in both directions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.adversaries import (
    Prior,
    capacity,
    greatest_ratio,
    hidden,
    hiding_bound,
    hyper,
    informed_bound,
    leakage,
    maximally_tight,
    min_entropy_leakage,
    posterior_floats,
    posterior_given,
    posteriors,
    remap,
    shannon_capacity,
    shannon_leakage,
    uncertainty,
    vulnerability,
)
from metricdp.adversaries.distance_order import log_at_most
from metricdp.channels import Channel, verify
from metricdp.metrics import Space, absolute

FEW = settings(max_examples=40)
LN2 = mdp.ln(2) * absolute()
ENTRIES = st.fractions(-3, 3, max_denominator=12)
SHARES = st.fractions(0, 1, max_denominator=12)


@st.composite
def channels(draw, inputs, most_outputs=4, least=0):
    outputs = draw(st.integers(2, most_outputs))
    rows = []
    for _ in range(inputs):
        weights = draw(st.lists(st.integers(least, 20), min_size=outputs, max_size=outputs).filter(any))
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return Channel.from_matrix(range(inputs), range(outputs), rows)


@st.composite
def priors(draw, points, least=0):
    return Prior.proportional(
        range(points), draw(st.lists(st.integers(least, 50), min_size=points, max_size=points).filter(any))
    )


@st.composite
def tables(draw, secrets, entries=ENTRIES):
    actions = draw(st.integers(1, 4))
    return [draw(st.lists(entries, min_size=secrets, max_size=secrets)) for _ in range(actions)]


def geometric(n):
    """The truncated geometric mechanism at ln 2 on n points, exactly."""
    ends = (0, n - 1)
    table = [[Fraction(2 if z in ends else 1, 3) / 2 ** abs(x - z) for z in range(n)] for x in range(n)]
    return Channel.from_matrix(range(n), range(n), table)


@st.composite
def private_channels(draw, n):
    """Post-processings of the geometric mechanism: all ln 2 * |x - y|-private."""
    return geometric(n) @ draw(channels(n))


# Many priors at once


@FEW
@given(channels(3), st.lists(priors(3), min_size=1, max_size=6), tables(3))
def test_many_priors_are_each_by_itself(channel, several, table):
    rows = np.array([prior.floats for prior in several])
    wide = (2 * 3 + len(channel.outputs) + 8 + 4) * 3 * Fraction(1, 2**53)  # 4 for the rounding of the priors
    for measure, payoffs in ((vulnerability, (table, "identity")), (uncertainty, (table, "bin"))):
        for payoff in payoffs:
            for prior, found in zip(several, measure(rows, channel, payoff).tolist(), strict=True):
                assert abs(Fraction(found) - measure(prior, channel, payoff, exact=True)) <= wide
    for prior, view in zip(several, posterior_floats(rows, channel), strict=True):
        for z, belief in posteriors(prior, channel).items():
            assert view[:, z] == pytest.approx(belief.floats, rel=1e-14)
        assert np.isnan(view).any(axis=0).sum() == len(channel.outputs) - len(posteriors(prior, channel))


# Data processing


@FEW
@given(channels(3), channels(4), priors(3), tables(3))
def test_nobody_gains_by_post_processing(first, second, prior, gain):
    second = Channel.from_matrix(first.outputs, second.outputs, second.matrix[: len(first.outputs)].tolist())
    both = first @ second
    assert vulnerability(prior, both, gain, exact=True) <= vulnerability(prior, first, gain, exact=True)
    assert uncertainty(prior, both, gain, exact=True) >= uncertainty(prior, first, gain, exact=True)
    assert capacity(both).multiplicative <= capacity(first).multiplicative
    assert capacity(both).additive <= capacity(first).additive
    assert shannon_leakage(prior, both, enclosed=True).lower <= shannon_leakage(prior, first, enclosed=True).upper
    assert min_entropy_leakage(prior, both) <= min_entropy_leakage(prior, first) + 1e-12


@FEW
@given(channels(3), priors(3), tables(3))
def test_nobody_loses_by_looking(channel, prior, gain):
    before, after = vulnerability(prior, None, gain, exact=True), vulnerability(prior, channel, gain, exact=True)
    assert after >= before
    assert leakage(prior, channel, gain, kind="additive", exact=True) == after - before
    assert vulnerability(prior, channel, gain) == pytest.approx(float(after), abs=1e-13)


@FEW
@given(channels(3), priors(3))
def test_a_hyper_averages_to_its_prior_and_tells_every_vulnerability(channel, prior):
    found = hyper(prior, channel)
    assert found.prior == prior  # Lemma 1 of paper 5
    assert sum(found.outers) == 1
    assert len(set(found.inners)) == len(found.inners)
    told = sum(
        outer * vulnerability(inner, exact=True) for outer, inner in zip(found.outers, found.inners, strict=True)
    )
    assert told == vulnerability(prior, channel, exact=True)


@FEW
@given(channels(3), priors(3), tables(3), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_no_remap_is_better_than_the_best(channel, prior, loss, guesses):
    def cost(actions):
        return sum(
            share * channel.probability(x, z) * loss[action][x]
            for x, share in enumerate(prior.fractions)
            for z, action in zip(channel.outputs, actions, strict=True)
        )

    best = remap(prior, channel, loss)
    order = {action: row for row, action in enumerate(best.available)}
    least = uncertainty(prior, channel, loss, exact=True)
    assert cost([order[action] for action in best.actions]) == least
    assert cost([guess % len(loss) for guess in guesses[: len(channel.outputs)]]) >= least


# The miracle theorems (paper 5, Theorems 4 and 5)


@FEW
@given(channels(3), priors(3), tables(3, SHARES))
def test_capacities_bound_every_gain_and_prior(channel, prior, gain):
    most = capacity(channel)
    before, after = vulnerability(prior, None, gain, exact=True), vulnerability(prior, channel, gain, exact=True)
    assert after <= most.multiplicative * before
    assert after - before <= most.additive


@FEW
@given(channels(3))
def test_capacities_are_reached(channel):
    most = capacity(channel)
    assert leakage(most.prior, channel, most.multiplicative_gain, exact=True) == most.multiplicative
    assert leakage(most.prior, channel, most.additive_gain, kind="additive", exact=True) == most.additive


@settings(max_examples=15)
@given(channels(3), priors(3))
def test_shannon_capacity_bounds_every_prior(channel, prior):
    most = shannon_capacity(channel, gap=1e-4)
    assert shannon_leakage(prior, channel, enclosed=True).lower <= most.upper
    assert shannon_leakage(most.prior, channel, enclosed=True).upper >= most.lower
    assert most.upper <= capacity(channel).bits + 1e-9 + most.gap


# Theorem 4 of paper 1: what an informed adversary learns


@FEW
@given(private_channels(4), priors(4, 1), st.sets(st.integers(0, 3), min_size=1), st.data())
def test_informed_adversaries_of_private_channels_learn_no_more_than_the_bound(channel, prior, members, data):
    outputs = data.draw(st.sets(st.sampled_from(channel.outputs), min_size=1))
    assume(any(channel.weights[:, sorted(outputs)].sum(axis=1)[sorted(members)]))
    space = Space.line(4, LN2)
    found = informed_bound(space, members, channel)
    assert found.holds is True
    moved = greatest_ratio(prior.conditioned(members), posterior_given(prior, channel, outputs).conditioned(members))
    assert moved <= found.truth.ratio.upper <= 2 ** (max(members) - min(members))


@FEW
@given(channels(3), priors(3, 1), st.sets(st.integers(0, 2), min_size=1), st.data())
def test_the_supremum_is_one_for_every_channel(channel, prior, members, data):
    outputs = data.draw(st.sets(st.sampled_from(channel.outputs), min_size=1))
    found = informed_bound(Space.line(3, LN2), members, channel, within="1/1000")
    seen = channel.weights[:, sorted(outputs)].sum(axis=1)[sorted(members)]
    if any(seen):
        after = posterior_given(prior, channel, outputs).conditioned(members)
        assert greatest_ratio(prior.conditioned(members), after) <= found.truth.ratio.upper
    assert found.supremum - found.reached <= 0.001 + 1e-12 or found.reached == math.inf


@FEW
@given(channels(3))
def test_a_channel_is_private_iff_it_keeps_the_bound_on_a_maximally_tight_family_of_neighbourhoods(channel):
    space, family = Space.line(3, LN2), [(0, 1), (1, 2)]
    assert maximally_tight(space, neighbourhoods=family)
    found = [informed_bound(space, members, channel) for members in family]
    private = verify(channel, space).holds
    assert private == all(bound.holds for bound in found)
    if not private:
        assert _broken(lambda within: [informed_bound(space, members, channel, within=within) for members in family], 1)


# Theorem 3 of paper 1: what hiding changes


@FEW
@given(private_channels(4), priors(4, 1), st.lists(st.integers(0, 3), min_size=4, max_size=4), st.data())
def test_hiding_from_private_channels_changes_no_more_than_the_bound(channel, prior, images, data):
    outputs = data.draw(st.sets(st.sampled_from(channel.outputs), min_size=1))
    assume(any(channel.weights[:, sorted(outputs)].sum(axis=1)))
    found = hiding_bound(Space.line(4, LN2), images, channel)
    assert found.holds is True
    behind = hidden(channel, dict(enumerate(images)))
    moved = greatest_ratio(posterior_given(prior, channel, outputs), posterior_given(prior, behind, outputs))
    assert moved <= found.truth.ratio.upper <= 4 ** max(abs(x - image) for x, image in enumerate(images))


@FEW
@given(channels(3), priors(3), st.lists(st.integers(0, 2), min_size=3, max_size=3), st.data())
def test_the_supremum_of_hiding_is_one_for_every_channel(channel, prior, images, data):
    outputs = sorted(data.draw(st.sets(st.sampled_from(channel.outputs), min_size=1)))
    found = hiding_bound(Space.line(3, LN2), images, channel, within="1/1000")
    behind = hidden(channel, dict(enumerate(images)))
    possible = [
        any(w * p for w, p in zip(K.weights[:, outputs].sum(axis=1), prior.weights, strict=True))
        for K in (channel, behind)
    ]
    if all(possible):
        one, two = (posterior_given(prior, K, outputs) for K in (channel, behind))
        assert greatest_ratio(one, two) <= found.truth.ratio.upper
    assert found.supremum - found.reached <= 0.001 + 1e-12 or found.reached == math.inf


@FEW
@given(channels(3))
def test_a_channel_is_private_iff_it_keeps_the_bound_on_a_maximally_tight_family_of_hiding_functions(channel):
    space, family = Space.line(3, LN2), [[1, 0, 2], [0, 2, 1]]
    assert maximally_tight(space, hidings=family)
    found = [hiding_bound(space, hide, channel) for hide in family]
    private = verify(channel, space).holds
    assert private == all(bound.holds for bound in found)
    if not private:
        assert _broken(lambda within: [hiding_bound(space, hide, channel, within=within) for hide in family], 2)


def _broken(bounds, times):
    """Whether some member of the family has a prior that breaks its bound, shown exactly."""
    metric = Space.line(3, LN2).metric
    for digits in (2, 4, 8, 16, 32, 64):
        for found in bounds(Fraction(1, 10**digits)):
            if log_at_most(found.truth.reached, metric, (0, 1), times) is False:
                return True
    return False
