"""The table of what a channel leaks."""

import json
from fractions import Fraction

import pytest

from metricdp.adversaries import (
    capacity,
    leakages,
)
from metricdp.channels import Channel
from metricdp.metrics import Space, absolute

C = Channel.from_matrix("abc", "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]])


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
