"""What is left, in the units that readers think in."""

import json
import math
from fractions import Fraction

import pytest

from metricdp.errors import BudgetError
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, absolute, attributes, dates, discrete, great_circle, hamming, unprotected

CAP = attributes(
    {
        "place": great_circle().within(200),
        "age": absolute().within(5),
        "sex": 0.5,
        "day": dates().within(7),
        "town": unprotected(),
    }
)


def test_words(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(CAP, "1e-6"), dataset="people", receiver="the press")
        whole = ledger.balance("a")
        assert "place, 200 m apart: a factor 2 left" in whole.words()
        ledger.charge("a", Guarantee(attributes({"place": great_circle().within(400)}), "1e-7"), "x")
        ledger.charge("a", Guarantee(attributes({"age": absolute().within(5)})), "x")
        balance = ledger.balance("a")
        assert "place, 200 m apart: a factor 1.41 left; age: used up; sex: a factor 1.64 left" in balance.words()
        assert "day, 7 days apart: a factor 2 left" in balance.words()
        assert "delta: 9e-07 left" in balance.words()
        place, age, *_ = balance.parts
        assert (round(place.share, 3), age.share) == (0.5, 1.0)
        assert place.spent + place.left >= Fraction(place.cap.enclose().lower)
        assert str(balance.spent).startswith("ln 2/400·great-circle(m) (place) + ln 2/5·|x − y| (age)")
        assert json.dumps(balance.to_json())
        page = balance._repr_html_()
        assert "<meter" in page
        assert "used up" in page


def test_factors_are_rounded_down(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(discrete()))
        for spend, told in [("0.9999", 1.0001), ("0.00005", 1.00005), ("0.0000499", 1.0000001)]:
            ledger.charge("a", Guarantee(discrete() * Fraction(spend)), "x")
            factor = ledger.balance("a").parts[0].factor
            assert factor == pytest.approx(told, rel=1e-9)
            assert 1 < factor <= math.exp(float(ledger.balance("a").parts[0].left))
        ledger.open_account("b", Guarantee(discrete() * 10**6))
        assert "a factor inf left" in ledger.balance("b").words()


def test_a_name_that_steers_a_screen_is_shown_as_text(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("<b>\x1b[31m", Guarantee(attributes({"<i>\x1b": 1})))
        balance = ledger.balance("<b>\x1b[31m")
        assert "\x1b" not in str(balance) + balance._repr_html_()
        assert "<i>" not in balance._repr_html_()


def test_left_is_a_metric_that_can_be_charged(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(hamming() * 2))
        ledger.charge("a", Guarantee(hamming() / 3), "x")
        rest = ledger.balance("a").left
        assert rest == hamming() * Fraction(5, 3)
        ledger.charge("a", Guarantee(rest), "the rest")
        assert ledger.balance("a").left is None


def test_advanced_composition_leaves_more(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("plain", Guarantee(discrete() * 2, "1e-6"))
        ledger.open_account("advanced", Guarantee(discrete() * 2, "1e-6"), advanced="1e-6")
        for name in ("plain", "advanced"):
            ledger.charge_together([(name, Guarantee(discrete() / 100), "x")] * 190)
        left = [ledger.balance(name).parts[0].left for name in ("plain", "advanced")]
        assert left[0] == Fraction(1, 10)
        assert left[1] > 3 * left[0]
        ledger.charge("advanced", Guarantee(ledger.balance("advanced").left), "the rest, in one")
        with pytest.raises(BudgetError):  # the cap less what was spent, 1.27, cannot be had by one charge
            ledger.charge("advanced", Guarantee(discrete() / 100), "more")


def test_nothing_is_nothing(tmp_path):
    """What was spent of a part with a logarithm was 7e-78 before the first charge of it."""
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(CAP))
        ledger.charge("a", Guarantee(attributes({"sex": 0.5})), "x")
        parts = {part["name"]: part["spent"] for part in ledger.balance("a").to_json()["parts"]}
        assert {name for name, spent in parts.items() if spent == 0} >= {"place", "age", "day"}
        assert parts["sex"] == 0.5
