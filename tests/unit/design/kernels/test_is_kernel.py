"""Is this a kernel? Beside the list of all kernels."""

import itertools

import pytest

import metricdp as mdp
from metricdp.channels import Channel, choice, of
from metricdp.design import is_kernel, kernels, optimal_for_every_loss
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming

LN2 = mdp.ln(2)
SPACES = [Space.line(4, LN2 * absolute()), Space(range(3), LN2 * discrete()), Space.bits(2, LN2 * hamming())]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_kernel_is_one_and_mixtures_are_not(space):
    listed = list(kernels(space))
    assert all(is_kernel(kernel, space) for kernel in listed)
    for one, two in itertools.islice(itertools.combinations(listed, 2), 3):
        renamed = [
            Channel(c.inputs, range(k, k + len(c.outputs)), c.weights, c.total) for k, c in ((0, one), (50, two))
        ]
        mixed = is_kernel(choice("1/2", *renamed), space)
        assert mixed.vertex
        assert not mixed or len(one.outputs) + len(two.outputs) <= len(space)


def test_why_not():
    line = SPACES[0]
    flat = is_kernel(Channel.from_matrix(range(4), "z", [[1]] * 4), line)
    assert (flat.holds, flat.vertex, flat.witness) == (False, False, ("z",))
    loose = Channel.from_matrix(range(4), range(4), [[int(i == j) for j in range(4)] for i in range(4)])
    assert "private" in is_kernel(loose, line).reason


def test_irrational_kernels_are_known_up_to_rounding():
    grid = Space.grid(2, 2, LN2 * euclidean())
    found = is_kernel(next(iter(kernels(grid))), grid)
    assert found.holds
    assert not found.exact


def test_the_best_for_every_loss():
    two = Space.line(2, LN2 * absolute())
    best = of(mdp.truncated_geometric(two.metric, steps=1), range(2))
    assert optimal_for_every_loss(best, two)
    three = Space.line(3, LN2 * absolute())
    refuted = optimal_for_every_loss(of(mdp.truncated_geometric(three.metric, steps=2), range(3)), three)
    assert not refuted
    assert refuted.proof.advantage > 0
    weaker = Channel.from_matrix(range(2), "yz", [["3/5", "2/5"], ["2/5", "3/5"]])
    assert not optimal_for_every_loss(weaker, two)
    with pytest.raises(ArgumentError, match="only a private channel"):
        optimal_for_every_loss(Channel.from_matrix(range(2), "yz", [[1, 0], [0, 1]]), two)
