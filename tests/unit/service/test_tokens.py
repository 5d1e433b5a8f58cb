"""Tokens: random, stored as digests."""

import json
import sys

import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.service import Tokens


def test_a_token_is_found_by_itself_alone(tmp_path):
    tokens = Tokens(tmp_path / "tokens.json")
    ann, bob = tokens.add("ann", "analyst", "one"), tokens.add("bob", "auditor")
    assert len(ann) == 4 + 64
    again = Tokens(tmp_path / "tokens.json")
    assert again.find(ann).name == "ann"
    assert again.find(bob).role == "auditor"
    assert again.find(ann[:-1]) is None
    assert again.find("") is None
    text = (tmp_path / "tokens.json").read_text()
    assert ann not in text
    assert ann[4:] not in text
    assert (tmp_path / "tokens.json").stat().st_mode & 0o077 == 0
    again.remove("ann")
    assert Tokens(tmp_path / "tokens.json").find(ann) is None
    assert [one.name for one in Tokens(tmp_path / "tokens.json")] == ["bob"]


def test_mistakes(tmp_path):
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add("ann", "analyst")
    for arguments in (("ann", "analyst"), ("bob", "king"), ("", "analyst"), ("ann: x", "analyst"), ("a\nb", "analyst")):
        with pytest.raises(ArgumentError):
            tokens.add(*arguments)
    with pytest.raises(ArgumentError):
        tokens.remove("zoe")
    (tmp_path / "tokens.json").write_text(json.dumps({"format": 1, "tokens": [{"name": 1}]}))
    with pytest.raises(FileError):
        Tokens(tmp_path / "tokens.json")


def test_what_is_changed_holds_at_once_for_whoever_runs(tmp_path):
    """A token that was taken back let its holder in until the service was started again."""
    running = Tokens(tmp_path / "tokens.json")
    assert running.find("x") is None
    ann = Tokens(tmp_path / "tokens.json").add("ann", "analyst", "one")
    assert running.find(ann).account == "one"
    Tokens(tmp_path / "tokens.json").remove("ann")
    assert running.find(ann) is None
    (tmp_path / "tokens.json").write_text("{")
    with pytest.raises(FileError, match="damaged"):
        running.find(ann)
    (tmp_path / "tokens.json").unlink()
    assert running.find(ann) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"name": 5}, {"name": ""}, {"role": ["analyst"]}, {"account": None}, {"sha256": 7}, {"more": 1},
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, damage):
    good = {"name": "ann", "role": "analyst", "account": "one", "sha256": "0" * 64}
    (tmp_path / "tokens.json").write_text(json.dumps({"format": 1, "tokens": [good | damage]}))
    with pytest.raises(FileError, match="damaged"):
        Tokens(tmp_path / "tokens.json")


def steps(tokens, sent):
    """The lines of Python that a look at a token runs, in their order."""
    seen = []

    def note(frame, event, _):
        seen.append((frame.f_code.co_name, frame.f_lineno, event))
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        assert tokens.find(sent) is None
    finally:
        sys.settrace(before)
    return seen


def test_a_wrong_token_takes_the_same_steps_however_much_of_it_is_right(tmp_path):
    """What is looked up is a digest of the whole; no step looks at a part of a token."""
    tokens = Tokens(tmp_path / "tokens.json")
    right = tokens.add("ann", "analyst")
    wrong = [right[:length] + "g" * (len(right) - length) for length in (0, 5, 30, len(right) - 1)]
    assert len({tuple(steps(tokens, one)) for one in wrong}) == 1
