"""The guide to the service, followed to the letter."""

import contextlib
import os
import signal

import pytest

from tests.guides import GUIDES, follow


@pytest.mark.long
def test_every_block_of_the_guide_works(tmp_path):
    pytest.importorskip("fastapi")
    try:
        assert follow(GUIDES / "serve-private-values-over-http.md", tmp_path) == 2
    finally:
        if (tmp_path / "service.pid").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int((tmp_path / "service.pid").read_text()), signal.SIGKILL)
