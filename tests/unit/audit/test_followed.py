"""Two calls as one: what a box remembers of a secret counts; one that remembers nothing is as private as before."""

import numpy as np
import pytest

import metricdp as mdp
from metricdp.audit import audit, followed
from metricdp.audit.attacks import attack
from metricdp.audit.boxes.box import Batch, Box, Calls
from metricdp.audit.gallery import broken
from metricdp.errors import ArgumentError

m = mdp.metrics
SURE = 1 - 1e-9


def smoothed():
    """A new one, since it remembers."""
    return type(next(each for each in broken() if each.name == "tells the secret before").release)()


def test_a_box_that_tells_the_secret_before_is_caught_by_two_calls_and_not_by_one():
    assert not audit(followed(smoothed()), [(0.0, 1.0)], m.absolute(), samples=60_000, confidence=SURE).holds
    assert audit(smoothed(), [(0.0, 1.0)], m.absolute(), samples=60_000, confidence=SURE).holds


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (mdp.laplace(m.absolute()), (0.0, 1.0)),
        (mdp.laplace(m.euclidean(), dim=2), ((0.0, 0.0), (1.0, 0.0))),
        (mdp.randomized_response("ab", 1), ("a", "b")),
    ],
    ids=str,
)
def test_a_box_that_remembers_nothing_keeps_its_promise(mechanism, pair):
    evidence = audit(followed(mechanism), [pair], samples=200_000, confidence=SURE)
    assert evidence.holds
    assert evidence.scale_at_least > 0.75


def test_the_attack_sees_it_as_well():
    found = {each.name: each for each in attack(Calls(smoothed()), (0.0, 1.0))}
    assert found["told by the next release"].succeeded


class Script(Box):
    """Gives its own secrets back, a few at most."""

    def __init__(self, kind, most=100):
        self.kind, self.most, self.block = kind, most, 8

    def draw(self, pair, labels):
        said = [pair[0] if label else pair[1] for label in labels[: self.most].tolist()]
        return Batch(np.array(said) if self.kind == "array" else said)


@pytest.mark.parametrize("pair", [(1.0, 0.0), (0.0, 1.0)])
def test_the_secret_between_is_the_same_whichever_way_round_the_pair_is(pair):
    labels = np.array([True, False, True])
    batch = followed(Script("array")).draw(pair, labels)
    assert batch.releases.tolist() == [[pair[0] if label else pair[1], 0.0] for label in labels]


def test_points_become_wider_and_other_releases_tuples():
    labels = np.array([True, False])
    points = followed(Script("array")).draw(((1.0, 2.0), (0.0, 3.0)), labels)
    assert points.releases.tolist() == [[1.0, 2.0, 0.0, 3.0], [0.0, 3.0, 0.0, 3.0]]
    assert followed(Script("list")).draw(("b", "a"), labels).releases == [("b", "a"), ("a", "a")]


def test_half_a_pair_of_releases_is_left_out():
    batch = followed(Script("list", most=5)).draw(("b", "a"), np.ones(4, dtype=bool))
    assert batch.releases == [("b", "a"), ("b", "a")]


def test_samples_cannot_be_asked_again():
    with pytest.raises(ArgumentError, match="asked again"):
        followed(([1.0, 2.0], [3.0, 4.0]))
