"""Error radii: the formula that is tried first finds what halving finds, and asks for few probabilities."""

from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.mechanisms.continuous.line import LineMechanism, line_laplace
from metricdp.mechanisms.geometric import Geometric
from metricdp.mechanisms.mechanism import Mechanism

LINE = mdp.metrics.absolute()
MECHANISMS = [
    mdp.laplace(LINE.within(5)),
    mdp.laplace(LINE.within(1e-9)),
    mdp.laplace(LINE.within(1000), resolution=1),
    line_laplace(LINE.within(5), None, (Fraction(0), Fraction(3))),
    line_laplace(LINE.within(5), None, (Fraction(0), Fraction(300))),
    mdp.geometric(mdp.ln(2) * LINE),
    mdp.geometric(Fraction(1, 10) * LINE, 3),
    mdp.geometric(50 * LINE),
    mdp.truncated_geometric(mdp.ln(2) / 40 * LINE, 20, 5),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("confidence", [0.001, 0.5, 0.95, 0.999999])
def test_the_formula_finds_what_halving_finds(mechanism, confidence, monkeypatch):
    asked = []
    kind = Geometric if isinstance(mechanism, Geometric) else LineMechanism
    plain = kind.probability_within

    def counted(self, distance):
        asked.append(distance)
        return plain(self, distance)

    monkeypatch.setattr(kind, "probability_within", counted)
    radius = mechanism.radius(confidence)
    assert len(asked) <= 6
    assert mechanism.probability_within(radius) >= confidence
    monkeypatch.setattr(kind, "_likely_radius", Mechanism._likely_radius)
    assert radius == pytest.approx(mechanism.radius(confidence), rel=2.0**-39, abs=0)


def test_a_formula_that_is_wrong_is_not_believed(monkeypatch):
    mechanism = mdp.laplace(LINE.within(5))
    radius = mechanism.radius(0.95)
    for wrong in (0.9, 1.1, 0.0, float("inf"), float("nan")):
        monkeypatch.setattr(LineMechanism, "_likely_radius", lambda self, confidence, wrong=wrong: wrong * radius)
        assert mechanism.radius(0.95) == radius
