"""Numbers and results as people and programs read them."""

import json
import math
from fractions import Fraction

from metricdp.exact.balls import Enclosure
from metricdp.exact.results import Result, enclosure_json, number_json, short


def test_numbers_survive_json():
    for value in (Fraction(1, 3), Fraction(1, 2), 0.1, 7, Fraction(10) ** 400, Fraction(1, 10**400)):
        written = json.loads(json.dumps(number_json(value), allow_nan=False))
        assert Fraction(written) == Fraction(value)
    assert [number_json(value) for value in (math.inf, -math.inf, math.nan, None)] == [
        "infinite",
        "-infinite",
        None,
        None,
    ]


def test_enclosures_are_rounded_outward():
    third = Fraction(1, 3)
    written = enclosure_json(Enclosure(third, third))
    assert Fraction(written["lower"]) <= third <= Fraction(written["upper"])
    assert written["exact"] == "1/3"
    assert "exact" not in enclosure_json(Enclosure(third, Fraction(1, 2)))


def test_short_words_for_numbers():
    assert short(Fraction(2, 7)) == "2/7"
    assert short(Fraction(10**40 + 1, 3 * 10**40), 4) == "0.3333"
    assert short(Enclosure(Fraction(1, 2), Fraction(1, 2))) == "1/2"


def test_a_notebook_shows_the_words_and_no_markup_of_theirs():
    class Two(Result):
        def to_json(self):
            return {}

        def __str__(self):
            return "a < b\nand more"

    assert Two()._repr_html_() == "<b>a &lt; b</b><pre>and more</pre>"
