import tomllib

import pytest

from metricdp.studio.policy_edits import read_tree, with_keys
from metricdp.studio.policy_text import PolicyText

DRAFT = """# A policy.
format = 2

# How many?
records = "?"
# Several rows?
[person]
column = "?"
rows = "?"
# Types.

[columns]
name = "drop"  # not needed

[columns.age]
# A remark on it.
type = "?"  # what is it?

# Above sex.
[columns."sex & more"]
type = "category"
values = [
  "F",
  "M",
]
"""


def test_one_entry_changes_and_all_remarks_stay():
    text = with_keys(DRAFT, ("columns", "age"), {"type": "integer", "within": "5 years"})
    for remark in ("# A policy.", "# A remark on it.", "# Above sex.", "# not needed"):
        assert remark in text
    assert tomllib.loads(text)["columns"]["age"] == {"type": "integer", "within": "5 years"}
    assert text.index("# A remark on it.") < text.index('within = "5 years"') < text.index("# Above sex.")


def test_what_is_the_same_keeps_its_line():
    text = with_keys("[a]\nx = 0.50  # half\ny = 1\n", ("a",), read_tree("x = 0.50\ny = 2"))
    assert text == "[a]\nx = 0.50  # half\ny = 2\n"


def test_what_is_removed_goes_with_the_remark_above_it():
    text = with_keys(DRAFT, ("person",), None)
    assert "person" not in tomllib.loads(text)
    assert "# Several rows?" not in text
    assert "# Types." in text


def test_keys_before_all_tables():
    text = PolicyText(DRAFT).with_records(70).text
    assert tomllib.loads(text)["records"] == 70
    assert "# How many?\nrecords = 70\n" in text
    gone = PolicyText(DRAFT).with_records(None).text
    assert "records" not in tomllib.loads(gone)
    assert "# How many?" not in gone
    assert PolicyText('[columns]\na = "drop"\n').with_records(3).tree == {"records": 3, "columns": {"a": "drop"}}


def test_an_entry_in_one_line_becomes_a_table():
    text = with_keys(DRAFT, ("columns", "name"), {"type": "keep"})
    assert tomllib.loads(text)["columns"]["name"] == {"type": "keep"}
    assert "# A remark on it." in text


def test_lists_over_several_lines_are_written_anew_and_mean_the_same():
    text = with_keys(DRAFT, ("columns", "sex & more"), {"type": "category", "values": ["F"]})
    found = tomllib.loads(text)
    assert found["columns"]["sex & more"] == {"type": "category", "values": ["F"]}
    assert found["columns"]["name"] == "drop"
    assert found["person"] == {"column": "?", "rows": "?"}


@pytest.mark.parametrize("value", ["a\nb", 'quote " and #', "[columns.x]", "\\", "größe"])
def test_any_text_is_kept_as_it_is(value):
    text = with_keys(DRAFT, ("columns", "age"), {"type": value, value: 1})
    assert tomllib.loads(text)["columns"]["age"] == {"type": value, value: 1}


def test_the_column_that_says_whose_row_it_is_has_no_entry():
    policy = PolicyText(DRAFT).with_person({"column": "age", "rows": 5})
    assert "age" not in policy.entries
    assert policy.tree["person"] == {"column": "age", "rows": 5}
    other = policy.with_person({"column": "name", "rows": 5})
    assert other.entries["age"] == {"type": "?"}
    assert "name" not in other.entries
    alone = other.with_person(None)
    assert "person" not in alone.tree
    assert alone.entries["name"] == {"type": "?"}


def test_many_open_questions_are_one_line():
    many = PolicyText("format = 2\n" + "".join(f'[columns.c{row}]\ntype = "?"\n' for row in range(300)))
    assert many.summary.startswith("300 questions are still open: 'c0': what it is; 'c1': what it is; ")
    assert len(many.summary) < 200
    assert many.words("c0") == "Choose above what it is."
    wrong = PolicyText('format = 2\n[columns.a]\ntype = "number"\nwithin = "?"\nmissing = "refuse"\n')
    assert "line" not in wrong.words("a"), "the lines of a policy of one column are not those of the text"
