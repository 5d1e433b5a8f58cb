"""Text from outside: nothing steers a terminal, nothing hides, and plain text stays as it is."""

import sys
import unicodedata

import pyarrow as pa
import pytest

import metricdp as mdp
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


NASTY = "<script>\x1b[31m\u202e\n"


def of_labels():
    metrics = mdp.metrics
    space = mdp.Space([NASTY, "b"], metrics.matrix([NASTY, "b"], [[0, 1], [1, 0]]))
    channel = mdp.channels.Channel.from_matrix([NASTY, "b"], [NASTY, "b"], [["2/3", "1/3"], ["1/3", "2/3"]])
    prior = mdp.adversaries.as_prior("uniform", [NASTY, "b"])
    entry = {"type": "category", "values": [NASTY, "b"], "epsilon": 1}
    policy = mdp.policies.Policy.of({"format": 2, "columns": {NASTY: entry}})
    response = mdp.randomized_response([NASTY, "b"], 1)
    yield from (space, channel, prior, policy, response, metrics.attributes({NASTY: metrics.absolute()}))
    yield from (policy.guarantee, response.law([NASTY]), response.picture(), response.expected_error())
    yield mdp.adversaries.hyper(prior, channel)
    yield mdp.adversaries.remap(prior, channel, "bin")
    yield mdp.adversaries.as_loss("bin", [NASTY, "b"])
    yield mdp.tables.sanitize(pa.table({NASTY: [NASTY, "b"]}), policy).report
    yield mdp.function_expansion(metrics.square_integrable(), 2, 3).release([1, 2, 3])


@pytest.mark.parametrize("shown", list(of_labels()), ids=lambda thing: type(thing).__name__)
def test_labels_from_outside_do_not_steer_a_screen_or_a_page(shown):
    page = shown._repr_html_()
    assert "<script>" not in page
    for text in (repr(shown), str(shown), page):
        assert "\x1b" not in text
        assert "\u202e" not in text
