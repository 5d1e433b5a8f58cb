"""Leakage: by vulnerability, min-entropy and Shannon."""

import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.adversaries import (
    capacity,
    leakage,
    min_entropy_leakage,
    shannon_capacity,
    shannon_leakage,
)
from metricdp.channels import Channel
from metricdp.errors import ArgumentError

C = Channel.from_matrix("abc", "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])
SILENT = Channel.from_matrix("abc", "z", [[1]] * 3)
COPY = Channel.from_matrix("abc", "abc", np.eye(3))


def test_leakage():
    assert leakage("uniform", C, exact=True) == Fraction(5, 3)
    assert leakage("uniform", C, kind="additive", exact=True) == Fraction(2, 9)
    assert leakage("uniform", C) == pytest.approx(5 / 3)
    assert leakage("uniform", SILENT, exact=True) == 1
    assert leakage({"a": 1}, COPY, exact=True) == 1


def test_a_ratio_to_nothing_is_refused():
    with pytest.raises(ArgumentError, match="additive"):
        leakage("uniform", C, [[0, 0, 0]])
    with pytest.raises(ArgumentError, match="additive"):
        leakage("uniform", C, capacity(C).additive_gain)
    assert leakage("uniform", C, [[0, 0, 0]], kind="additive") == 0
    with pytest.raises(ArgumentError, match="'relative'"):
        leakage("uniform", C, kind="relative")


def test_min_entropy_leakage():
    assert min_entropy_leakage("uniform", C) == pytest.approx(math.log2(5 / 3))
    assert min_entropy_leakage("uniform", COPY) == pytest.approx(math.log2(3))
    exact = min_entropy_leakage("uniform", C, enclosed=True)
    assert exact.width < Fraction(1, 2**50)
    assert float(exact) == pytest.approx(math.log2(5 / 3), rel=1e-15)


def test_shannon_leakage():
    def entropy(*shares):
        return -sum(share * math.log2(share) for share in shares if share)

    expected = entropy(7 / 18, 2 / 9, 7 / 18) - (2 * entropy(2 / 3, 1 / 6, 1 / 6) + entropy(1 / 3, 1 / 3, 1 / 3)) / 3
    assert shannon_leakage("uniform", C) == pytest.approx(expected, rel=1e-12)
    exact = shannon_leakage("uniform", C, enclosed=True)
    assert exact.lower <= exact.upper
    assert float(exact) == pytest.approx(expected, rel=1e-12)
    assert shannon_leakage("uniform", COPY) == pytest.approx(math.log2(3))
    assert shannon_leakage({"a": 1}, COPY) == 0
    assert shannon_leakage("uniform", SILENT, enclosed=True).upper < Fraction(1, 2**50)


def test_stopping_early_still_proves_its_bounds():
    z_channel = Channel.from_matrix("ab", "ab", [[1, 0], ["1/2", "1/2"]])
    found = shannon_capacity(z_channel, time_limit=1e-9)
    assert found.lower < math.log2(1.25) < found.upper
    assert found.gap > 1e-3


def test_many_priors_at_once():
    priors = np.array([[0.5, 0.25, 0.25], [0, 0, 1], [0.2, 0.4, 0.4]])
    for kind in ("multiplicative", "additive"):
        expected = [leakage(prior, C, kind=kind) for prior in priors]
        assert leakage(priors, C, kind=kind) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert min_entropy_leakage(priors, C) == pytest.approx([min_entropy_leakage(prior, C) for prior in priors])
    assert (min_entropy_leakage(priors, SILENT) == 0).all()
    with pytest.raises(ArgumentError, match="row 1: before the channel"):
        leakage(priors, C, [[1, 1, 0]])
    for answer in (lambda: min_entropy_leakage(priors, C, enclosed=True), lambda: shannon_leakage(priors, C)):
        with pytest.raises(ArgumentError):
            answer()
