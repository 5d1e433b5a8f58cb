"""Channels whose extension keeps the level that was asked for."""

from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.errors import ImpossibleError
from metricdp.metrics import Space

NEAR = mdp.metrics.great_circle().within(2000)
CASES = {
    "line": Space.line(8, mdp.ln(2) * mdp.metrics.absolute()),
    "grid": Space.grid(4, 4, mdp.ln(2) * mdp.metrics.euclidean()),
    "globe": Space([(48.8 + i / 64, 2.3 + j / 64) for i in range(4) for j in range(4)], NEAR),
}


@pytest.mark.parametrize("space", CASES.values(), ids=CASES)
def test_the_extension_keeps_the_level(space):
    found = optimal(space, gap=1e-3, between=True)
    kept = found.extended().guarantee.metric
    assert kept.level <= space.metric.level
    assert float(kept.level) > 0.5 * float(space.metric.level)
    assert verify(found, space)
    assert found.bound <= optimal(space, gap=1e-3).loss <= found.loss * (1 + 1e-6)
    assert not found.finished
    assert "between" in found.reason


def test_a_channel_that_keeps_it_anyway_is_the_answer():
    space = Space.line(3, mdp.ln("1001/1000") * mdp.metrics.absolute())
    found = optimal(space, between=True)
    assert found.finished
    assert found.extended().level <= space.metric.level


def test_points_between_which_no_level_serves_are_refused_with_advice():
    thin = Space([(0, 0), (10, 0), (5, Fraction(1, 10**9)), (5, 7)], Fraction(1, 10) * mdp.metrics.euclidean())
    with pytest.raises(ImpossibleError, match="too thin"):
        optimal(thin, between=True)
