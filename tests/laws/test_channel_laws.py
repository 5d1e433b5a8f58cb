"""Laws of channels: post-processing, refinement and the algebra, in exact integers."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.channels import Channel
from metricdp.channels.algebra import choice, equivalent, merged, parallel, restrict, sequential
from metricdp.channels.refine.refinement import refines

few = settings(max_examples=40, deadline=None)
sizes = st.integers(1, 5)


@st.composite
def channels(draw, inputs=None, outputs=None, largest=6):
    """Small integers, zeros among them, over the common total that makes them rows."""
    inputs = draw(sizes) if inputs is None else inputs
    outputs = draw(sizes) if outputs is None else outputs
    row = st.lists(st.integers(0, largest), min_size=outputs, max_size=outputs).filter(any)
    rows = draw(st.lists(row, min_size=inputs, max_size=inputs))
    return Channel.from_matrix(range(inputs), range(outputs), [[Fraction(w, sum(row)) for w in row] for row in rows])


@st.composite
def chains(draw, length):
    """Channels that can be put one after the other."""
    counts = [draw(sizes) for _ in range(length + 1)]
    return [draw(channels(counts[place], counts[place + 1])) for place in range(length)]


@st.composite
def pairs(draw, most=4):
    """Two channels on the same inputs."""
    inputs = draw(st.integers(1, most))
    return draw(channels(inputs)), draw(channels(inputs))


def worth(channel, prior, gain):
    """``sum over z of max over w of sum over x of prior(x) C(x)(z) g(w, x)``, with integers for prior and gain."""
    scaled = np.array(gain, dtype=object) * np.array(prior, dtype=object)
    return Fraction(int((scaled @ channel.weights).max(axis=0).sum()), channel.total)


def gains(data, inputs):
    row = st.lists(st.integers(-5, 5), min_size=inputs, max_size=inputs)
    return data.draw(st.lists(row, min_size=1, max_size=4)), data.draw(
        st.lists(st.integers(0, 5), min_size=inputs, max_size=inputs)
    )


@few
@given(chains(2), st.data())
def test_data_processing(chain, data):
    """No prior and no gain function gain by post-processing."""
    A, R = chain
    gain, prior = gains(data, len(A.inputs))
    assert worth(A @ R, prior, gain) <= worth(A, prior, gain)


@few
@given(chains(2))
def test_a_post_processing_refines(chain):
    A, R = chain
    answer = refines(A @ R, A)
    assert answer
    assert A @ answer.post == A @ R


@few
@given(channels())
def test_refinement_is_reflexive(A):
    assert refines(A, A)


@few
@given(chains(3))
def test_refinement_is_transitive_by_composition(chain):
    A, R, S = chain
    first, second = refines(A @ R, A), refines(A @ R @ S, A @ R)
    assert A @ (first.post @ second.post) == A @ R @ S
    assert refines(A @ R @ S, A)


@few
@given(pairs(), st.data())
def test_refinement_is_what_its_definition_says(pair, data):
    """Where it holds no gain function objects; where it does not, the one returned does."""
    A, B = pair
    answer = refines(A, B)
    assert answer.holds is not None
    if answer:
        gain, prior = gains(data, len(A.inputs))
        assert worth(A, prior, gain) <= worth(B, prior, gain)
    else:
        scale = 1
        for row in answer.gain:
            for entry in row:
                scale = np.lcm.reduce(np.array([scale, entry.denominator], dtype=object))
        whole = [[int(entry * scale) for entry in row] for row in answer.gain]
        ones = [1] * len(A.inputs)
        assert worth(A, ones, whole) - worth(B, ones, whole) == answer.advantage * scale * len(A.inputs) > 0


@few
@given(pairs())
def test_refinement_both_ways_is_equivalence(pair):
    A, B = pair
    assert (bool(refines(A, B)) and bool(refines(B, A))) == equivalent(A, B)


@few
@given(channels())
def test_merging_loses_nothing(A):
    whole = merged(A)
    assert refines(A, whole)
    assert refines(whole, A)
    assert merged(whole) == whole
    assert equivalent(A, whole)


@few
@given(pairs(), st.fractions(0, 1, max_denominator=9), st.data())
def test_choice_is_worth_the_mean(pair, p, data):
    A, B = pair
    gain, prior = gains(data, len(A.inputs))
    either = choice(p, A, B)
    assert worth(either, prior, gain) == p * worth(A, prior, gain) + (1 - p) * worth(B, prior, gain)
    assert equivalent(choice(p, A, A), A)
    assert equivalent(choice(p, A, B), choice(1 - p, B, A))


@few
@given(pairs())
def test_each_release_refines_both_releases(pair):
    A, B = pair
    both = sequential(A, B)
    assert refines(A, both)
    assert refines(B, both)
    assert equivalent(both, sequential(B, A))


@few
@given(chains(2), st.data())
def test_restriction_commutes_with_post_processing(chain, data):
    A, R = chain
    points = data.draw(st.lists(st.sampled_from(A.inputs), min_size=1, unique=True))
    assert equivalent(restrict(A @ R, points), restrict(A, points) @ restrict(R, restrict(A, points).outputs))
    assert refines(restrict(A @ R, points), restrict(A, points))


@settings(max_examples=25, deadline=None)
@given(channels(2), channels(2), channels(2))
def test_parallel_on_the_diagonal_is_sequential(A, B, C):
    both = parallel(A, B)
    diagonal = restrict(both, [(x, x) for x in A.inputs])
    renamed = Channel(A.inputs, diagonal.outputs, diagonal.weights, diagonal.total)
    assert equivalent(renamed, sequential(A, B))
    assert (parallel(A, C).weights.sum(axis=1) == parallel(A, C).total).all()
