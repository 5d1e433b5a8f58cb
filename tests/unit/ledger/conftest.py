import pytest

from metricdp.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "spent.db") as made:
        yield made
