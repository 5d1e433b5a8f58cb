import datetime
import json
import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError, UnsupportedMetricError
from metricdp.exact.level import ln
from metricdp.metrics import (
    Guarantee,
    absolute,
    attributes,
    discrete,
    euclidean,
    great_circle,
    hamming,
    manhattan,
    matrix,
    symmetric_difference,
)
from metricdp.metrics.toml import from_tree


def test_composition_adds_metrics_and_deltas():
    g = Guarantee(0.5 * hamming(), 1e-6) + Guarantee(hamming() / 4, "0.000001")
    assert g.metric == 0.75 * hamming()
    assert g.delta == Fraction(1e-6) + Fraction(1, 10**6)
    both = Guarantee(ln(2) * absolute()) + Guarantee(discrete())
    assert both.metric == ln(2) * absolute() + discrete()
    assert hash(Guarantee(discrete())) == hash(Guarantee(discrete(), 0))


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, math.inf, None, True])
def test_deltas_that_cannot_be(delta):
    with pytest.raises(LevelError):
        Guarantee(discrete(), delta)


def test_composition_that_promises_nothing_is_refused():
    with pytest.raises(LevelError):
        Guarantee(discrete(), 0.5) + Guarantee(discrete(), 0.5)
    with pytest.raises(ArgumentError):
        Guarantee(3)


def test_order():
    strong, weak = Guarantee(0.5 * hamming()), Guarantee(hamming(), 1e-9)
    assert strong <= weak
    assert strong < weak
    assert weak >= strong
    assert weak > strong
    assert not weak <= strong
    assert strong <= strong
    assert not strong < strong
    assert not Guarantee(hamming(), 1e-9) <= Guarantee(2 * hamming())
    assert not Guarantee(discrete()) <= Guarantee(absolute())  # true on integers, but not for all numbers


def test_odds():
    g = Guarantee(great_circle().within(200))
    assert [g.odds(distance) for distance in (0, 200, 400, 20000)] == [1, 2, 4, 2.0**100]
    assert Fraction(g.odds(100)) ** 2 > 2 > Fraction(math.nextafter(g.odds(100), 0)) ** 2
    assert g.odds(math.inf) == math.inf
    assert g.odds(1e9) == math.inf
    assert Guarantee(absolute()).odds(1) == math.nextafter(math.e, 3)  # e itself is above the nearest float
    assert Guarantee(ln(3) * absolute()).odds(Fraction(1, 2)) ** 2 >= 3
    for bad in (-1, math.nan):
        with pytest.raises(ArgumentError):
            g.odds(bad)


def test_groups():
    g = Guarantee(ln(2) * hamming())
    assert g.group(3) == Guarantee(3 * ln(2) * hamming())
    assert Guarantee(euclidean()).group(2).metric == 2 * euclidean()
    with_delta = Guarantee(ln(2) * hamming(), Fraction(1, 100))
    assert with_delta.group(1) == with_delta
    family = with_delta.group(3)  # 1/100 · (2³ − 1)/(2 − 1)
    assert Fraction(7, 100) <= family.delta < Fraction(7, 100) + Fraction(1, 10**15)
    assert family.metric == ln(8) * hamming()
    with pytest.raises(UnsupportedMetricError):
        Guarantee(euclidean(), 0.1).group(2)
    with pytest.raises(LevelError):
        Guarantee(5 * discrete(), 0.1).group(3)
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ArgumentError):
            g.group(bad)


def test_implies_on_a_universe():
    assert Guarantee(discrete()).implies(Guarantee(absolute()), range(4))
    assert not Guarantee(discrete()).implies(Guarantee(absolute()), [0, 0.5])
    assert not Guarantee(absolute()).implies(Guarantee(discrete()), range(3))
    assert Guarantee(absolute()).implies(Guarantee(2 * discrete()), range(3))
    assert Guarantee(ln(2) * euclidean()).implies(Guarantee(ln(2) * manhattan()), [(0, 0), (1, 1), (2, 0)])
    assert not Guarantee(manhattan()).implies(Guarantee(euclidean()), [(0, 0), (1, 1)])
    assert not Guarantee(discrete(), 0.1).implies(Guarantee(2 * discrete()), "ab")


def test_what_is_implied_by_chains_counts_without_delta_only():
    broken = matrix("abc", [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False)
    target = Guarantee(2 * discrete(), 0.1)
    assert Guarantee(broken).implies(target, "abc")
    assert not Guarantee(broken, 0.1).implies(target, "abc")


def test_a_hair_decides():
    hair = Fraction(1, 10**40)
    one, more = Guarantee(discrete()), Guarantee((1 + hair) * discrete())
    assert one.implies(more, "ab")
    assert not more.implies(one, "ab")


def test_words():
    assert str(Guarantee(ln(2) * euclidean())) == "ln 2·d₂-private"
    assert str(Guarantee(ln(2) * euclidean(), 1e-6)) == "(ln 2·d₂, 1e-06)-private"
    assert str(Guarantee(euclidean() + discrete())) == "(d₂ + [x ≠ y])-private"


def test_json():
    g = Guarantee(attributes({"age": absolute() / 3, "sex": ln(2)}), "1/3")
    data = json.loads(json.dumps(g.to_json()))
    assert data["delta"] == "1/3"
    assert from_tree(data["metric"]) == g.metric
    day = matrix([datetime.date(2024, 1, 1)], [[0]])
    assert json.dumps(Guarantee(day).to_json()["metric"]["points"]) == '["2024-01-01"]'
    assert Guarantee(matrix([None], [[0]])).to_json() == {"metric": None, "delta": 0, "formula": "D(1 points)-private"}


def test_explain_says_what_is_true():
    text = Guarantee(great_circle().within(200)).explain()
    assert "Two secrets 200 m apart: an adversary's odds between them can move by at most a factor 2.00" in text
    assert "from even odds, to between 33.3% and 66.7%" in text
    assert "Two secrets 100 m apart" in text
    assert "a factor 1.42" in text  # √2, rounded up
    assert "at most 200 m away" in text
    assert "by a factor 4.00 at most" in text


def test_explain_at_other_distances_and_metrics():
    assert "0.05 m apart" in Guarantee(great_circle().within(200)).explain([0.05])
    assert "tell them apart freely" in Guarantee(discrete()).explain([math.inf])
    assert "Two different secrets" in Guarantee(ln(3) * discrete()).explain()
    assert "1 record apart" in Guarantee(hamming()).explain()
    assert "2 elements apart" in Guarantee(symmetric_difference()).explain()
    assert "additive δ = 1e-06" in Guarantee(hamming(), 1e-6).explain()
    assert "δ" not in Guarantee(hamming()).explain()
    assert "a factor 22100 " in Guarantee(hamming()).explain([10])  # e^10 is 22026.47
    assert "a distance of 5 apart" in Guarantee(0.1 * absolute()).explain()
    assert "0.0% and 100.0%" in Guarantee(hamming()).explain([50])
