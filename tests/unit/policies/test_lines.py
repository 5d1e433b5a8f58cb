"""Where a key stands in a policy, found without parsing the text again."""

import json
import tomllib

import pytest

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
