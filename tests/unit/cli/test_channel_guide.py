"""The guide "Verify a channel", block by block: commands run, and what is printed is what it shows."""

import re

import pytest

from metricdp.cli.options.metric import read_metric
from tests.guides import GUIDES, follow

GUIDE = GUIDES / "verify-a-channel.md"


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    assert follow(GUIDE, tmp_path, fails="broken") == 5
    assert (tmp_path / "mended.parquet").exists()


def test_every_metric_of_the_table():
    rows = re.findall(r"^\| (`.*?) \| ", GUIDE.read_text(), re.MULTILINE)[1:]
    written = [text.strip("'").split(" --")[0] for row in rows for text in re.findall(r"`([^`]*)`", row)]
    metrics = [text for text in written if not text.endswith((".toml", ".csv"))]
    assert len(metrics) == 9
    assert all(read_metric(text) for text in metrics)
