"""Capacities of channels, and the priors and gains that reach them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.adversaries import (
    capacity,
    leakage,
    shannon_capacity,
    vulnerability,
)
from metricdp.channels import Channel
from metricdp.errors import ArgumentError

C = Channel.from_matrix("abc", "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
SILENT = Channel.from_matrix("abc", "z", [[1]] * 3)
COPY = Channel.from_matrix("abc", "abc", np.eye(3))


def test_capacities_are_reached_by_the_prior_and_gains_given():
    found = capacity(C)
    assert (found.multiplicative, found.additive) == (Fraction(5, 3), Fraction(1, 2))
    assert leakage(found.prior, C, found.multiplicative_gain, exact=True) == found.multiplicative
    assert leakage(found.prior, C, found.additive_gain, kind="additive", exact=True) == found.additive
    assert vulnerability(found.prior, None, found.additive_gain, exact=True) == 0
    assert found.bits == pytest.approx(math.log2(5 / 3))
    assert (capacity(SILENT).multiplicative, capacity(SILENT).additive) == (1, 0)
    assert (capacity(COPY).multiplicative, capacity(COPY).additive) == (3, 1)


def test_shannon_capacity_of_channels_whose_capacity_is_known():
    noise = Fraction(1, 10)
    flip = Channel.from_matrix("ab", "ab", [[1 - noise, noise], [noise, 1 - noise]])
    binary = 1 + 0.1 * math.log2(0.1) + 0.9 * math.log2(0.9)
    found = shannon_capacity(flip)
    assert found.lower <= binary * (1 + 1e-14)
    assert binary * (1 - 1e-14) <= found.upper
    assert found.gap < 1e-9
    erasing = Channel.from_matrix("ab", "abe", [["3/4", 0, "1/4"], [0, "3/4", "1/4"]])
    assert float(shannon_capacity(erasing)) == pytest.approx(0.75, abs=1e-9)
    z_channel = Channel.from_matrix("ab", "ab", [[1, 0], ["1/2", "1/2"]])  # log2(5/4), not at the uniform prior
    found = shannon_capacity(z_channel)
    assert found.lower <= math.log2(1.25) <= found.upper
    assert found.gap < 1e-9
    assert found.prior.floats == pytest.approx([0.6, 0.4], abs=1e-4)
    assert shannon_capacity(SILENT).upper < 1e-9


def test_shannon_capacity_where_an_input_is_of_no_use():
    dull = Channel.from_matrix("abc", "ab", [[1, 0], [0, 1], ["1/2", "1/2"]])
    found = shannon_capacity(dull)
    assert found.lower <= 1 <= found.upper
    assert found.gap < 1e-6
    with pytest.raises(ArgumentError):
        shannon_capacity(dull, gap=0)
