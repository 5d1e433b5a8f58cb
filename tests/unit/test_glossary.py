"""docs/glossary.md fixes the words, and the code keeps to them."""

import re
from pathlib import Path

import pytest

import metricdp

SOURCE = Path(metricdp.__file__).parent
GLOSSARY = (SOURCE.parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8")


def rows(table):
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ") and "---" not in line]


WORDS, AVOIDED = (rows(part)[1:] for part in GLOSSARY.split("Words that are not used"))
NOT = [word for row in AVOIDED for word in row[0].split(", ")]


def test_each_word_is_explained_once_and_in_a_sentence():
    words = [word for row in WORDS for word in row[0].split(", ")]
    assert len(words) == len(set(words))
    for word in ("level", "guarantee", "secret", "release", "channel", "resolution", "person"):
        assert word in words
    assert all(len(row) == 2 and len(row[1].split()) >= 3 for row in WORDS)


@pytest.mark.parametrize("word", NOT)
def test_words_that_are_not_used(word):
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    found = [
        path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
