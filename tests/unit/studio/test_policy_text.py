import pytest

from metricdp.errors import ArgumentError, PolicyError
from metricdp.policies import Policy
from metricdp.studio.policy_text import PolicyText

TEXT = """
format = 2
records = 70
[columns]
name = "drop"
[columns.income]
type = "number"
within = "1000 dollars"
bounds = [0, 50000]
resolution = 0.1
missing = "refuse"
[columns.visits]
type = "integer"
within = "2 visits"
missing = "refuse"
[columns.health]
type = "category"
values = ["good", "fair", "poor"]
factor = 4
missing = "refuse"
[columns.open]
type = "?"
"""


def test_what_else_is_written_stays():
    changed = PolicyText(TEXT).with_entry("open", {"type": "drop"})
    policy = Policy.parse(changed.text)
    assert policy.records == 70
    assert changed.entries["income"] == PolicyText(TEXT).entries["income"]
    assert "resolution = 0.1\n" in changed.text
    assert changed.problems == []


def test_open_questions_are_told_and_do_not_hide_what_others_mean():
    draft = PolicyText(TEXT)
    assert any("open" in problem for problem in draft.problems)
    assert "odds within a factor 2 at 1,000 dollars" in draft.consequence("income")
    assert draft.consequence("name") == "it is left out"
    with pytest.raises(PolicyError):
        draft.consequence("open")
    assert draft.error("open") is None
    assert draft.error("name") is None


@pytest.mark.parametrize(("column", "wanted"), [("income", 2000), ("income", 31.4), ("visits", 3), ("visits", 200)])
def test_the_error_that_is_wanted_is_had_with_about_the_strongest_promise(column, wanted):
    found = PolicyText(TEXT).with_error(column, wanted)
    error = found.error(column)[1]
    assert error <= wanted
    unit = found.entries[column]["within"].partition(" ")
    stronger = found.entries[column] | {"within": f"{1.02 * float(unit[0]):g} {unit[2]}"}
    more = found.with_entry(column, stronger).error(column)[1]
    assert more > wanted or more == error, "two percent more noise would be too much"


def test_a_share_that_is_wanted_is_had():
    found = PolicyText(TEXT).with_error("health", 90)
    assert 90 <= found.error("health")[1] < 90.1
    for share in (20, 100, 101):
        with pytest.raises(ArgumentError):
            PolicyText(TEXT).with_error("health", share)


@pytest.mark.parametrize(
    ("column", "wanted"), [("name", 5), ("open", 5), ("income", 0), ("income", -1), ("nothing", 1)]
)
def test_what_cannot_be_had_is_refused(column, wanted):
    with pytest.raises(ArgumentError):
        PolicyText(TEXT).with_error(column, wanted)


def test_text_that_is_no_toml_is_told():
    broken = PolicyText("columns = [")
    assert broken.tree is None
    assert broken.entries == {}
    assert broken.problems
    with pytest.raises(ArgumentError):
        broken.with_entry("age", {"type": "drop"})


def test_what_is_undecided_is_left_out_in_one_go():
    text = 'format = 2\n[columns]\nname = "?"  # who?\n[columns.age]\n# of it\ntype = "?"  # what is it?\n'
    text += '[columns.pay]\ntype = "number"\nwithin = "?"\n'
    draft = PolicyText(text)
    assert draft.undecided == ["name", "age"]
    changed = draft.with_undecided_dropped()
    assert changed.text == text.replace('"?"  # who?', '"drop"').replace('"?"  # what is it?', '"drop"')
    assert changed.undecided == []
    inline = PolicyText('format = 2\ncolumns = {age = {type = "?"}, sex = "keep"}\n').with_undecided_dropped()
    assert inline.entries == {"age": {"type": "drop"}, "sex": {"type": "keep"}}


def test_open_questions_of_a_column_are_one_line():
    entry = {"type": "integer", "within": "?", "bounds": [9, 1], "missing": "?"}
    assert PolicyText("format = 2\n").with_entry("age", entry).words("age") == "Still open: within, missing."
