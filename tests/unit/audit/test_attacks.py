"""Named attacks: each succeeds on its own fault, none on ours."""

import pytest

import metricdp as mdp
from metricdp.audit.attacks import ATTACKS, attack
from metricdp.audit.boxes.box import Rows
from metricdp.audit.gallery import broken

m = mdp.metrics
SHOWN = {each.name: each for each in broken()}

SUCCEEDS = {
    "low bits": "Laplace in floats",
    "precision": "precision of the secret",
    "repeated seed": "sixteen noises",
    "cut off or drawn again": "uniform noise",
    "rounded before noise": "rounded before noise",
    "an epsilon of the secret's own": "epsilon from the secret",
    "north-south shrinkage": "planar noise on equatorial degrees",
    "averaging": "seed 42",
}


@pytest.mark.parametrize(("name", "exhibit"), SUCCEEDS.items())
def test_an_attack_succeeds_on_its_fault(name, exhibit):
    shown = SHOWN[exhibit]
    found = {each.name: each for each in attack(shown.box(), shown.pairs[0])}
    assert found[name].succeeded, found[name].words
    assert found[name].paper == ATTACKS[name][0]


def test_noise_reused_between_rows():
    noise = mdp.laplace(m.absolute(), resolution="0.01")
    box = Rows(lambda secrets: secrets + noise.release(0.0))
    assert {each.name: each.succeeded for each in attack(box, (0.0, 1.0))}["noise reused between rows"]


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (mdp.laplace(m.absolute()), (0.0, 1.0)),
        (mdp.laplace(m.euclidean(), dim=2), ((0.0, 0.0), (1.0, 0.0))),
        (mdp.laplace(m.great_circle().within(200)), ((60.0, 10.0), (60.001, 10.0))),
        (mdp.geometric(m.absolute()), (0, 1)),
    ],
    ids=str,
)
def test_no_attack_succeeds_on_ours(mechanism, pair):
    assert [each.name for each in attack(Rows(mechanism.release), pair) if each.succeeded] == []
