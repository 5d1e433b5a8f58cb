"""Text from outside: nothing steers a terminal, nothing hides, and plain text stays as it is."""

import sys
import unicodedata

import pytest

from metricdp.visible import LONGEST_NAME, visible, visible_name


@pytest.mark.parametrize("text", ["age", "größe", "日本", "a b", "x\\n", "😀", "[red]", "<b>"])
def test_plain_text_stays(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\r\t", "a\\nb\\r\\t"),
        ("\u202eabc\u200b", "\\u202eabc\\u200b"),
        ("\udcff", "\\udcff"),
        ("\u3164", "\\u3164"),
        ("\U000e0041", "\\U000e0041"),
        ("\u2028", "\\u2028"),
    ],
)
def test_what_steers_or_hides_is_written_out(text, shown):
    assert visible(text) == shown


def test_no_control_or_format_character_is_left():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(sign) for sign in visible(every)}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def test_long_names_are_shortened():
    name = "\x1b" * 500
    assert visible_name(name) == "\\x1b" * LONGEST_NAME + "... (500 characters)"
    assert visible_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME
