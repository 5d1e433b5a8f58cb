"""The guide "Keep account of what you release", block by block: what runs, and what is printed is what it shows."""

import sqlite3

import pytest

from tests.guides import GUIDES, blocks, follow

GUIDE = GUIDES / "keep-account-of-what-you-release.md"


def shows(output, text):
    """Whether the lines that the guide shows are in the output; a line may be shown without its end."""
    return text.rstrip("\n") in output


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    ((_, _, policy),) = blocks(GUIDE, "toml")
    (tmp_path / "people.toml").write_text(policy)
    assert follow(GUIDE, tmp_path, shows=shows) == 11
    connection = sqlite3.connect(tmp_path / "spent.db")
    assert connection.execute("select count(*) from ledger_entries where kind = 'charged'").fetchone() == (5,)
    connection.close()


def test_lines_that_differ_are_seen():
    assert shows("a\nb c\n", "b\n")
    assert not shows("a\nb c\n", "b d\n")
