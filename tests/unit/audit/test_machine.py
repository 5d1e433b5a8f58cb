"""Bits, digits and kinds of releases."""

import math

import numpy as np
import pytest

from metricdp.audit.boxes.box import Failure
from metricdp.audit.events import machine


@pytest.mark.parametrize(
    ("value", "bit"), [(1.0, 0), (0.75, -2), (3.0, 0), (-6.0, 1), (2.0**-60, -60), (5e-324, -1074)]
)
def test_the_lowest_bit(value, bit):
    assert machine.lowest_bit(value) == bit
    assert machine.lowest_bit(np.array([value]))[0] == bit


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
def test_numbers_without_a_lowest_bit(value):
    assert machine.lowest_bit(value) == 9999


def test_low_bits_and_single_precision():
    assert machine.low_bits(0.1) == 0x3FB999999999999A & 15
    assert machine.is_single(0.5)
    assert not machine.is_single(0.1)
    assert machine.is_single(np.array([0.5, 0.1])).tolist() == [1.0, 0.0]


def test_decimals():
    assert [machine.decimals(value) for value in (3.0, 0.5, 0.25, 1 / 3)] == [0, 1, 2, 9]


def test_points():
    assert machine.distinct([1.0, 1.0, 2.0]) == 2
    assert machine.first_largest([1.0, 3.0, 3.0]) == 1


@pytest.mark.parametrize(
    ("release", "words"),
    [
        (Failure("raised ValueError"), "raised ValueError"),
        (math.nan, "NaN"),
        (None, "NoneType"),
        ((1, 2), "tuple of 2"),
        (np.zeros(3, dtype=np.float32), "array of float32 (3,)"),
        (True, "bool"),
    ],
)
def test_outcomes(release, words):
    assert machine.outcome(release) == words
