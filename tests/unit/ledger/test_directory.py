"""Accounts are read one by one, when they are asked for: a ledger may have very many."""

import pytest

from metricdp.errors import ArgumentError
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, attributes, discrete, great_circle

ONE = Guarantee(discrete())


@pytest.fixture
def path(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("all", Guarantee(discrete() * 2))
        for number in range(30):
            ledger.open_account(f"a{number}", ONE, parent="all" if number % 2 else f"a{number - 1}" if number else None)
        ledger.charge("a7", Guarantee(discrete() / 3), "x")
    return tmp_path / "l.db"


def test_one_account_is_read_without_the_others(path):
    with Ledger(path) as ledger:
        assert ledger.balance("a3").charges == 0
        assert set(ledger._directory.accounts) == {"a3"}
        ledger.charge("a4", Guarantee(discrete() / 3), "x")
        assert set(ledger._directory.accounts) == {"a3", "a4", "all"}
        assert ledger.account("a5").opened == 8, "the entry that opened it"
        assert len(ledger.accounts()) == 31
        assert ledger.account_names()[:3] == ("all", "a0", "a1")
        assert ledger.check()


def test_names_are_taken_whoever_opened_them(path):
    with Ledger(path) as one, Ledger(path) as two:
        one.open_account("new", ONE)
        with pytest.raises(ArgumentError, match="already"):
            two.open_account("new", ONE)
        assert two.open_account("newer", ONE).number == one.account("new").number + 1
        with pytest.raises(ArgumentError, match=r"there is no account 'nobody'; there are: a0, a1, .* and 13 more"):
            two.charge("nobody", ONE, "x")
        with pytest.raises(ArgumentError, match="there is no account"):
            two.balance("half a \ud800 pair")


def test_metrics_are_read_with_their_account(tmp_path):
    cap = Guarantee(attributes({"place": great_circle().within(200), "sex": discrete()}))
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", cap)
        ledger.open_account("b", ONE)
    with Ledger(tmp_path / "l.db") as ledger:
        ledger.account("b")
        assert len(ledger._directory.units) == 1
        assert ledger.account("a").cap.guarantee == cap
