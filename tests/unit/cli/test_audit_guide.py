"""The guide to audits, followed to the letter."""

import pytest

from tests.guides import GUIDES, follow

GUIDE = GUIDES / "audit-a-mechanism-you-did-not-write.md"


def shows(output, text):
    """Every line of the block is part of the output; numbers that are drawn are left out of the guide."""
    return all(line in output for line in text.strip().splitlines())


@pytest.mark.long
def test_every_block_of_the_guide_works(tmp_path):
    assert follow(GUIDE, tmp_path, fails="accused", shows=shows) == 6
