"""Verdicts in words and as plain values."""

import json
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.metrics import Verdict, absolute, discrete

WITNESS = ("yes", "no", "maybe")


def verdict(holds, scale, below=None, witness=WITNESS, delta=Fraction(0)):
    return Verdict(holds, scale, scale if below is None else below, witness, discrete(), delta)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (verdict(True, 1.0), "holds: [x ≠ y]-private, and exactly so"),
        (verdict(True, 1.0, 1 - 1e-12), "with hardly any room"),
        (verdict(True, 0.25), "even at 0.25 times that distance"),
        (verdict(False, 2.5), "does NOT hold: [x ≠ y]-private: it takes 2.5 times that distance"),
        (verdict(False, 1 + 1e-12), "it takes 1 + 1e-12 times that distance"),
        (verdict(False, math.inf), "nor at any multiple of that distance"),
        (verdict(True, 0.5, delta=Fraction(1, 3)), "([x ≠ y], 1/3)-private"),
    ],
)
def test_words(made, expected):
    assert expected in str(made)
    assert "'yes' and 'no' at the output 'maybe'" in str(made)


def test_words_never_say_exactly_where_it_is_broken():
    for scale in (1 + 1e-15, 1.5, math.inf):
        assert "exactly" not in str(verdict(False, scale))
        assert str(verdict(False, scale)).startswith("does NOT hold")


def test_truth_is_holds():
    assert verdict(True, 1.0)
    assert not verdict(False, 1.1)


def test_no_witness():
    assert "nothing is constrained" in str(verdict(True, 0.0, witness=None))


def test_a_compound_metric_is_bracketed():
    metric = mdp.ln(2) * absolute() + discrete()
    assert f"holds: ({metric})-private" in str(Verdict(True, 1.0, 1.0, WITNESS, metric))


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, 2.0, math.inf])
def test_json(scale):
    made = verdict(scale <= 1, scale, witness=((1, 2), frozenset("ab"), Fraction(1, 3)), delta=Fraction(1, 3))
    document = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert document["holds"] is (scale <= 1)
    assert document["scale"] == ("infinite" if math.isinf(scale) else scale)
    assert document["witness"] == [[1, 2], ["a", "b"], "1/3"]
    assert document["delta"] == "1/3"
    assert document["metric"] == "[x ≠ y]"
    assert verdict(True, 0.0, witness=None).to_json()["witness"] is None
