"""Leakage, capacities and the table of both."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.adversaries import (
    capacity,
    leakage,
    leakages,
    min_entropy_leakage,
    shannon_capacity,
    shannon_leakage,
    vulnerability,
)
from metricdp.channels import Channel
from metricdp.errors import InputError, LevelError, ShapeError
from metricdp.metrics import Space, absolute

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
    with pytest.raises(InputError, match="additive"):
        leakage("uniform", C, [[0, 0, 0]])
    with pytest.raises(InputError, match="additive"):
        leakage("uniform", C, capacity(C).additive_gain)
    assert leakage("uniform", C, [[0, 0, 0]], "additive") == 0
    with pytest.raises(LevelError, match="'relative'"):
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


def test_capacities_are_reached_by_the_prior_and_gains_given():
    found = capacity(C)
    assert (found.multiplicative, found.additive) == (Fraction(5, 3), Fraction(1, 2))
    assert leakage(found.prior, C, found.multiplicative_gain, exact=True) == found.multiplicative
    assert leakage(found.prior, C, found.additive_gain, "additive", exact=True) == found.additive
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
    with pytest.raises(LevelError):
        shannon_capacity(dull, gap=0)


def test_stopping_early_still_proves_its_bounds():
    z_channel = Channel.from_matrix("ab", "ab", [[1, 0], ["1/2", "1/2"]])
    found = shannon_capacity(z_channel, most_steps=1)
    assert found.lower < math.log2(1.25) < found.upper
    assert found.gap > 1e-3


def test_the_table():
    line = Space.line(3, absolute())
    channel = Channel.from_matrix(
        range(3), "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
    )
    table = leakages("uniform", channel, space=line)
    guess = table.rows[0]
    assert (guess.before, guess.after, guess.multiplicative, guess.additive) == (
        Fraction(1, 3),
        Fraction(5, 9),
        Fraction(5, 3),
        Fraction(2, 9),
    )
    assert table.error == pytest.approx((2 / 3, 5 / 9))  # 2 * 7/18 * 4/7 + 2/9 * 1/2
    document = table.to_json()
    assert json.loads(json.dumps(document)) == document
    assert document["rows"][0]["multiplicative"] == {"exact": "5/3", "float": 5 / 3}
    assert document["capacity"]["additive"]["exact"] == "1/2"
    assert "expected error of the best guess: 0.666667 before, 0.555556 after" in str(table)
    assert "expected error" not in str(leakages("uniform", channel))


def test_the_table_of_a_gain_that_is_worth_nothing_before():
    row = leakages("uniform", C, gains=[capacity(C).additive_gain]).rows[0]
    assert (row.before, row.multiplicative, row.additive) == (0, None, Fraction(1, 2))
    assert " - " in str(leakages("uniform", C, gains=[capacity(C).additive_gain]))


def test_many_priors_at_once():
    priors = np.array([[0.5, 0.25, 0.25], [0, 0, 1], [0.2, 0.4, 0.4]])
    for kind in ("multiplicative", "additive"):
        expected = [leakage(prior, C, kind=kind) for prior in priors]
        assert leakage(priors, C, kind=kind) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert min_entropy_leakage(priors, C) == pytest.approx([min_entropy_leakage(prior, C) for prior in priors])
    assert (min_entropy_leakage(priors, SILENT) == 0).all()
    with pytest.raises(InputError, match="row 1: before the channel"):
        leakage(priors, C, [[1, 1, 0]])
    for answer in (lambda: min_entropy_leakage(priors, C, enclosed=True), lambda: shannon_leakage(priors, C)):
        with pytest.raises(ShapeError):
            answer()
