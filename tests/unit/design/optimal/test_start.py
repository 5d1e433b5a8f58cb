"""Where the search begins: channels and prices in closed form, which nothing later may be worse than."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.design.optimal._coarsening import Instance
from metricdp.design.optimal._orbits import Orbits
from metricdp.design.optimal._start import closed_channels, start


def city(count, seed):
    """Points in clusters with a skewed prior, a typical neighbour one unit away."""
    generator = np.random.default_rng(seed)
    centres, widths = generator.random((5, 2)), generator.uniform(0.03, 0.12, 5)
    which = generator.integers(5, size=count)
    points = centres[which] + widths[which, None] * generator.normal(size=(count, 2))
    apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))
    np.fill_diagonal(apart, np.inf)
    points /= np.median(apart.min(axis=1))
    prior = generator.pareto(1.1, count) + 1
    return mdp.Space([tuple(point) for point in points.tolist()], mdp.metrics.euclidean()), prior / prior.sum()


def free_losses(space, prior):
    """What the mechanisms in closed form lose, with every output remapped in the best way."""
    distances = space.distances
    costs = prior[:, None] * distances
    falls = np.exp(-distances)
    half = np.sqrt(falls)
    yield (half / half.sum(axis=1, keepdims=True)).T @ costs
    diagonal = np.linalg.solve(falls, np.ones(len(falls)))
    if diagonal.min() >= 0:
        yield (falls * diagonal).T @ costs
    yield costs.sum(axis=0)[None, :]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_never_worse_than_what_is_free_and_a_bound_from_the_start(seed):
    space, prior = city(30 + 10 * seed, seed)
    early = optimal(space, prior, time_limit=1e-3)
    assert verify(early, space)
    free = min(float(costs.min(axis=1).sum()) for costs in free_losses(space, prior))
    assert early.loss <= free * (1 + 1e-6)
    assert 0 < early.bound <= early.loss
    whole = optimal(space, prior, gap=1e-3)
    assert whole.finished
    assert early.bound <= whole.loss
    assert whole.bound <= early.loss


@pytest.mark.parametrize("symmetric", [False, True])
def test_prices_are_covered_by_their_flows(symmetric):
    """For every output, what is negative in costs less prices is covered: the definition, term by term."""
    if symmetric:
        space = mdp.Space.grid(5, 5, mdp.metrics.euclidean())
        prior = np.full(25, 1 / 25)
    else:
        space, prior = city(40, 9)
    distances = space.distances
    costs = prior[:, None] * distances
    instance = Instance(distances, costs, np.arange(len(costs)), prior)
    orbits = Orbits.of(distances, costs) if symmetric else Orbits.none(*costs.shape)
    assert orbits.trivial is not symmetric
    first = np.full(int(orbits.points.max()) + 1, 1e-6)
    found = start(instance, orbits, np.exp(-distances), first)
    assert found.bound == pytest.approx(found.prices.sum())
    assert found.bound > 0
    for place, z in enumerate(orbits.representatives.tolist()):
        left = costs[:, z] - found.prices
        for i, j, amount in zip(*found.flows[place], strict=True):
            assert amount >= 0
            left[j] -= amount
            left[i] += np.exp(-distances[i, j]) * amount
        assert left.min() >= -1e-12


def test_closed_channels_are_private_channels():
    space, _ = city(25, 3)
    decay = np.exp(-space.distances)
    kinds = []
    for tight, matrix in closed_channels(decay):
        kinds.append(tight)
        assert matrix.sum(axis=1) == pytest.approx(np.ones(25))
        assert (matrix[:, None, :] * decay[:, :, None] <= matrix[None, :, :] * (1 + 1e-9)).all()
    assert kinds == [True, False]
