"""The bound assumed of numpy's functions holds here, and a machine that breaks it takes the slow path."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import SlowPathWarning
from metricdp.exact import assumed, refine
from metricdp.exact.balls import Real, ball
from metricdp.exact.bits import seeded
from metricdp.mechanisms.continuous._noise import LineNoise


@pytest.fixture
def forget():
    assumed.trusted.cache_clear()
    yield
    assumed.trusted.cache_clear()


def test_numpy_keeps_the_bound_with_room_to_spare():
    worst = assumed.measure(20_001)
    assert set(worst) == {"log", "exp", "log1p", "expm1", "tan", "arctan2"}
    assert max(worst.values()) < 0.25, worst


def test_a_sloppy_logarithm_is_noticed_and_costs_nothing_but_time(monkeypatch, forget):
    formula = LineNoise(Real(lambda: ball(2**20)))
    with seeded(1):
        honest = refine.nearest_integers(formula, 300)
    assumed.trusted.cache_clear()

    accurate = np.log

    def sloppy(x, out=None):
        return np.multiply(accurate(x), 1 + 2.0**-40, out=out)

    monkeypatch.setitem(assumed._CASES, "log", (sloppy, *assumed._CASES["log"][1:]))
    monkeypatch.setattr("metricdp.mechanisms.continuous._noise.np.log", sloppy)
    with pytest.warns(SlowPathWarning, match="log"), seeded(1), refine.tally() as count:
        slow = refine.nearest_integers(formula, 300)
    assert count.refined == 300
    assert (slow == honest).all()


def test_log_error_follows_from_the_bound():
    """The sum written in refine.LOG_ERROR's note, in exact arithmetic."""
    unread = Fraction(2) ** -63 / Fraction(refine.TAIL)
    numpy_error = Fraction(assumed.ERROR) * Fraction(math.log(1 / refine.TAIL) + 1)
    assert unread / (1 - unread) + Fraction(2) ** -52 + numpy_error < Fraction(refine.LOG_ERROR)
