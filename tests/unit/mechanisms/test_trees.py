"""The exponential mechanism on a tree, beside the one that lists all pairs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.exact.balls import precision
from metricdp.exact.bits import seeded
from metricdp.exact.level import ln
from metricdp.exact.refine import decide_all_by_balls
from metricdp.mechanisms import exponential
from metricdp.mechanisms.exponential import _SHARES, Exponential, _proved, _weights
from metricdp.mechanisms.trees import TreeDraws, TreeSpread, TreeSums
from metricdp.metrics import Space, nullable, taxonomy

HALF, MOST = Fraction(1, 2), Fraction(1023, 1024)
LENGTHS = (1, 1, 2, Fraction(1, 3), 0, 5)


def tree_space(seed):
    """A few nodes of a random tree, or of two; often with None, or with inner nodes among them."""
    generator = np.random.default_rng(seed)
    count, roots = int(generator.integers(4, 13)), 2 if seed % 4 == 3 else 1
    parents = {node: int(generator.integers(0, node)) for node in range(roots, count)}
    tree = taxonomy(parents, {child: LENGTHS[int(generator.integers(len(LENGTHS)))] for child in parents})
    points = [node for node in tree.nodes if generator.random() < 0.7] or list(tree.nodes)
    points = points if len(points) > 1 else list(tree.nodes)
    level = [1, ln(2), Fraction(1, 10), 5][seed % 4]
    if seed % 3 == 1 and tree.greatest != math.inf:
        return Space([*points[:1], None, *points[1:]], level * nullable(tree, tree.greatest))
    return Space(points, level * tree)


def law_of(space, share):
    return TreeSums(space.metric.hierarchy(space.points), share)


@pytest.mark.parametrize("seed", range(40))
def test_sums_and_shares_are_those_of_all_pairs(seed):
    space = tree_space(seed)
    for share in _SHARES:
        law = law_of(space, share)
        assert (law.plausible() and law.proved()) == _proved(space, share)
    with precision(96):
        for place, node in enumerate(law.hierarchy.places):
            assert law.constant(node).overlaps(sum(_weights(space, place, law.share), start=0))
    assert law.constants == pytest.approx(Exponential(space, law.share)._constants, rel=1e-12)


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
@pytest.mark.parametrize("seed", range(24))
def test_draws_are_the_same_in_floats_and_in_balls(seed):
    space = tree_space(seed)
    draws = TreeDraws(law_of(space, MOST if seed % 2 else HALF))
    rows = np.repeat(np.arange(len(space)), 40)
    with seeded(seed):
        quick = draws.draw(rows)
    with seeded(seed), decide_all_by_balls():
        slow = draws.draw(rows)
    assert np.array_equal(quick, slow)


@pytest.mark.parametrize("seed", range(12))
def test_draws_follow_the_law(seed):
    space = tree_space(seed)
    mechanism = Exponential(space, HALF)
    draws, count = TreeDraws(law_of(space, HALF)), 20_000
    for place in range(len(space)):
        seen = np.bincount(draws.draw(np.full(count, place)), minlength=len(space))
        with precision(96):
            wanted = np.array([float(share) for share in mechanism.probabilities(place)]) * count
        often = wanted > 30
        statistic = float((((seen - wanted) ** 2)[often] / wanted[often]).sum())
        assert statistic < often.sum() + 8 * math.sqrt(2 * often.sum()) + 40  # far beyond p = 1e-9 for every count
        assert (seen[wanted < 1e-9] == 0).all()


def test_floats_that_cannot_decide_leave_it_to_balls():
    """Depths of 10^17 leave no digit of a length of 1: every draw is decided in balls, and right."""
    parents = {"a": "l", "b": "l", "c": "r", "l": "t", "r": "t"}
    space = Space("abc", ln(2) * taxonomy(parents, {"l": 10**17, "r": 10**17, "a": 1, "b": 2, "c": 1}))
    drawn = TreeDraws(law_of(space, HALF)).draw(np.zeros(400, dtype=np.int64))
    assert set(drawn.tolist()) == {0, 1}
    share = 1 / (1 + 2**-1.5)
    assert abs((drawn == 0).mean() - share) < 6 * math.sqrt(share * (1 - share) / 400)


@pytest.mark.parametrize("shape", ["star", "chain", "binary"])
def test_many_leaves(shape):
    count = 2000
    leaves = [f"leaf {place}" for place in range(count)]
    if shape == "star":
        parents = dict.fromkeys(leaves, "root")
    elif shape == "chain":
        parents = {leaf: place for place, leaf in enumerate(leaves)} | {place: place - 1 for place in range(1, count)}
    else:
        parents = {leaf: count + place for place, leaf in enumerate(leaves)}
        parents |= {node: node // 2 for node in range(2, 2 * count)}
    space = Space(leaves, ln(2) * taxonomy(parents))
    mechanism = exponential(space)
    assert mechanism.guarantee.metric == space.metric
    assert HALF <= mechanism.share <= MOST
    released = mechanism.release(leaves)
    assert set(released) <= set(leaves)
    drawn = mechanism.release_places(np.full(4000, 7))
    near = mechanism.released_as(leaves[7])[7]
    assert abs((drawn == 7).mean() - near) < 6 * math.sqrt(near / 4000)
    assert 0 < mechanism.probability_within(0) <= mechanism.probability_within(4) <= 1
    radius = mechanism.radius(0.5)
    assert mechanism.probability_within(radius) >= 0.5
    assert min(mechanism.examples()) == {"star": 2, "chain": 3, "binary": 4}[shape]


@pytest.mark.parametrize("seed", range(12))
def test_how_near_draws_are(seed):
    """Beside the sums over all points, one by one."""
    space = tree_space(seed)
    spread, mechanism, unit = TreeSpread(law_of(space, HALF)), Exponential(space, HALF), space.metric.unit
    with precision(96):
        laws = [[float(share) for share in mechanism.probabilities(place)] for place in range(len(space))]
    for distance in (0, 0.5, 1, 2, 3.5, 100):
        near = [[unit.exactly(x, z) <= distance for z in space.points] for x in space.points]
        true = min(sum(p for p, inside in zip(*pair, strict=True) if inside) for pair in zip(laws, near, strict=True))
        assert spread.probability_within(distance) <= true
        assert spread.probability_within(distance) == pytest.approx(true, rel=1e-8)
