"""Draws by permute and flip follow their law, by floats and by balls, and decide the same of the same bits."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, NotPrivateWarning
from metricdp.exact import seeded
from metricdp.exact.permute_and_flip import permute_and_flip
from metricdp.exact.refine import decide_all_by_balls


def law(coins):
    """By the definition, over all sets of coins that come up: the first in random order is any of them."""
    found = np.zeros(len(coins))
    for heads in range(1, 1 << len(coins)):
        up = [heads >> j & 1 for j in range(len(coins))]
        chance = math.prod(coin if one else 1 - coin for coin, one in zip(coins, up, strict=True))
        found += chance * np.array(up) / sum(up)
    return found


def test_the_law():
    losses, counts, rate = [3, 4, 6, 9], [1, 2, 4, 3], Fraction(1, 3)
    each = law(
        [math.exp(-float(rate) * (loss - 3)) for loss, count in zip(losses, counts, strict=True) for _ in range(count)]
    )
    wanted = np.array([each[:1].sum(), each[1:3].sum(), each[3:7].sum(), each[7:].sum()])
    with pytest.warns(NotPrivateWarning), seeded(5):
        drawn = np.bincount([permute_and_flip(losses, counts, rate) for _ in range(6_000)], minlength=4) / 6_000
    assert np.abs(drawn - wanted).max() < 6.2 * math.sqrt(0.25 / 6_000)  # 1e-9 for all four


def test_floats_and_balls_agree():
    losses, counts = np.array([0, 1, 5, 40]), np.array([1, 3, 100, 10**15])
    with pytest.warns(NotPrivateWarning), seeded(6):
        floats = [permute_and_flip(losses, counts, Fraction(9, 10)) for _ in range(200)]
    with pytest.warns(NotPrivateWarning), seeded(6), decide_all_by_balls():
        balls = [permute_and_flip(losses, counts, Fraction(9, 10)) for _ in range(200)]
    assert len(set(floats)) > 1
    assert floats == balls


def test_what_cannot_be():
    with pytest.raises(ArgumentError):
        permute_and_flip([0, 1], [1], Fraction(1))
    with pytest.raises(ArgumentError):
        permute_and_flip([0], [0], Fraction(1))
