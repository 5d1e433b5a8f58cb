"""Where a key stands in a policy, found without parsing the text again."""

import json
import tomllib

import pytest

from metricdp.errors import PolicyError
from metricdp.policies import Policy
from metricdp.policies._lines import Lines

ODD = ["pay roll", 'say "hi"', "it's", "a.b", "é#=", "tab\there", "[x]", "back\\slash", "\u202eturned"]


def written(name):
    """A name as TOML writes it, in each of the ways that hold it."""
    yield json.dumps(name)
    yield json.dumps(name, ensure_ascii=False)
    yield '"' + "".join(f"\\U{ord(letter):08X}" for letter in name) + '"'
    if "'" not in name:
        yield f"'{name}'"


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_found_however_they_are_written(name):
    for key in written(name):
        text = f"format = 2\n[ columns . {key} ] # what it holds\ntype = 'drop'\n[columns]\n{key}.type = 'keep'\n"
        assert list(tomllib.loads(f"[columns.{key}]")["columns"]) == [name]
        lines = Lines(text)
        assert lines.of(("columns", name)) == 2
        assert lines.of(("columns", name, "type")) == 3
        assert lines.of(("columns", name, "nothing")) == 2
    assert Lines(f"{key}.type = 'keep'").of((name, "type")) == 1


def test_lines_inside_an_array_open_no_table():
    lines = Lines('[columns.tea]\nvalues = [\n  ["mint"],\n  "black",\n]\nepsilon = 1\n')
    assert lines.of(("columns", "tea", "epsilon")) == 6
    assert lines.of(("nowhere",)) == 0


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('within = "abc"', 'line 5, column .a.: within: a quantity is wanted, such as "5 days"'),
        ('within = "5 days"\nfactor = "abc"', "line 6, column .a.: factor: a number is wanted, such as 2"),
        ('within = "5 days"\nresolution = "5 5"', "line 6, column .a.: resolution: '5' is no unit here"),
    ],
)
def test_a_quantity_that_is_none_is_told_with_its_key_and_its_line(written, words):
    """It was told with the line of its column alone, and not which of several keys it was."""
    with pytest.raises(PolicyError, match=words):
        Policy.parse(f'format = 2\n[columns]\n[columns.a]\ntype = "date"\n{written}\n')
