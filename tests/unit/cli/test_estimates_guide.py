"""The guide "Use a sanitized table", block by block. Noise is new each time, so numbers may be any."""

import re
import shutil

import pytest

from tests.guides import GUIDES, SOURCE, follow

DATA = SOURCE / "cli" / "demo" / "data"


def plain(text):
    return [" ".join(re.sub(r"-?[\d,.]*\d", "#", line).split()) for line in text.splitlines()]


def shows(output, text):
    """Whether these lines are in the output, one after the other, but for numbers and spaces."""
    wanted, lines = plain(text), plain(output)
    return any(lines[start : start + len(wanted)] == wanted for start in range(len(lines)))


def test_lines_that_differ_are_seen():
    assert shows("a\nfemale  count(*)  2,904 2,801\n", "female count(*) 7 8\n")
    assert not shows("a\nmale  count(*)  2,904 2,801\n", "female count(*) 7 8\n")


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    for ending in ("csv", "toml"):
        shutil.copy(DATA / f"health_insurance.{ending}", tmp_path / f"people.{ending}")
    assert follow(GUIDES / "use-a-sanitized-table.md", tmp_path, shows=shows) == 2
