"""Audits in tests draw the same each time."""

import pytest

from tests.draws import repeatable


@pytest.fixture(autouse=True)
def same_draws(request):
    """Seed what a test draws from, the ``generator`` of its file too."""
    generators = [request.module.generator] if hasattr(request.module, "generator") else []
    with repeatable(request.node.name, *generators):
        yield
