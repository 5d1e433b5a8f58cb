"""The guide to other libraries, block by block."""

import pytest

from tests.guides import GUIDES, follow


@pytest.mark.long
def test_every_block_of_the_guide_works(tmp_path):
    assert follow(GUIDES / "work-in-pandas-polars-duckdb.md", tmp_path) == 7
