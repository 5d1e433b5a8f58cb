"""Claims, and what they have to carry."""

from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError
from metricdp.papers import PaperClaim, items_of
from metricdp.papers.item import claim, in_words, lookup, plain, rounds_to


def test_printed_numbers_are_compared_to_their_digits():
    assert claim("capacity", "1.33", Fraction(4, 3)).agrees is True
    assert claim("capacity", "1.34", Fraction(4, 3), ways={"a": 1, "b": 2}).agrees is False
    assert claim("a count", 4, 4).agrees is True
    assert claim("a word", "significant", 2.5).agrees is None
    assert claim("nothing printed", None, 2.5).agrees is None
    assert rounds_to(0.4749, "0.47")
    assert not rounds_to(0.476, "0.47")


def test_to_say_that_a_paper_errs_takes_two_computations():
    with pytest.raises(ArgumentError, match="two independent computations"):
        PaperClaim("eps", "0.8", "0.97", False, (("floats", "0.97"),))
    with pytest.raises(ArgumentError, match="two independent computations"):
        claim("eps", "0.8", 0.97)


def test_words_and_plain_values():
    assert in_words([True, 1000, Fraction(1, 3)]) == "yes, 1,000, 1/3"
    assert plain({"a": [Fraction(1, 2), float("inf")]}) == {"a": ["1/2", "inf"]}


def test_every_item_of_the_issue_is_there():
    names = {paper: {item.name for item in items_of(paper)} for paper in range(1, 6)}
    assert {"fig1", "fig2", "fig3", "fig4", "location", "families", "prop3-5"} <= names[1]
    assert {"thm3", "thm5", "thm6-7", *(f"example{n}" for n in range(1, 6)), "example6-7"} <= names[2]
    assert {"fig1", "fig2", "fig3", "fig4", "fig5", "fig6a", "fig6b", "fig7"} <= names[3]
    assert {"fig1", "fig2a", "fig2b", "fig2c", "fig2d", "fig3a", "fig3b", "fig4", "fig5"} <= names[4]
    assert {"thm2", "eq8", "eq13", "networks", "thm6", "thm8"} <= names[4]
    assert {"fig1", "fig2", "fig3", "fig4b", "fig5b", "fig6b", "fig7b", "fig8", "def2", "thm3"} <= names[5]
    assert {"table4a", "table5a", "table6a", "table7a"} <= names[5]


def test_what_is_not_there():
    with pytest.raises(ArgumentError, match="paper 3 has no item 'fig9'; it has: fig1"):
        lookup(3, "fig9")
    with pytest.raises(ArgumentError, match="the papers 1 to 5"):
        items_of(6)
