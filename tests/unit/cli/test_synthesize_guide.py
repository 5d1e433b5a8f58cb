"""The guide "Synthetic data from a sensitive table", block by block: what no noise is in is what it shows."""

import shutil

import pytest

from tests.guides import GUIDES, SOURCE, follow

GUIDE = GUIDES / "synthetic-data-from-a-sensitive-table.md"


def shows(output, text):
    return all(line in output for line in text.splitlines())


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    shutil.copy(SOURCE / "cli" / "demo" / "data" / "health_insurance.csv", tmp_path / "people.csv")
    assert follow(GUIDE, tmp_path, shows=shows) == 2
    assert (tmp_path / "made.parquet").exists()
    assert "sex, health" in (tmp_path / "made.txt").read_text()
