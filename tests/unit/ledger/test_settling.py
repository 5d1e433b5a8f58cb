"""Releases that are charged and stored in one transaction."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, BudgetError, FileError
from metricdp.ledger import Account, Answered, Ledger, Settlement
from metricdp.ledger.caps import Cap

ONCE = mdp.Guarantee(mdp.metrics.absolute())
CAP = Cap(mdp.Guarantee(mdp.metrics.absolute() * 3))


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "spent.db") as made:
        yield made


def of(name, answer, key=None, cap=CAP):
    return Settlement(name, ONCE, "a number", answer, key=key, request={"of": name}, opening=Account(0, name, cap))


def kinds(ledger):
    return [entry.kind for entry in ledger.history()]


def test_accounts_charges_and_answers_of_many_are_one_trip_to_the_disk(ledger, monkeypatch):
    commits = []
    writing = ledger._store.writing

    def counted(**given):
        commits.append(1)
        return writing(**given)

    monkeypatch.setattr(ledger._store, "writing", counted)
    done = ledger.settle([of(f"subject {number % 5}", number) for number in range(10)])
    assert len(commits) == 1
    assert [one.answer for one in done] == list(range(10))
    assert not any(one.repeated for one in done)
    assert kinds(ledger).count("opened") == 5
    assert kinds(ledger).count("charged") == kinds(ledger).count("answered") == 10
    assert ledger.balance("subject 0").charges == 2
    assert ledger.check([receipt for one in done for receipt in (one.charge, one.receipt)])


def test_each_is_refused_by_itself(ledger):
    done = ledger.settle([*(of("ann", number) for number in range(5)), of("bob", 5)])
    assert [type(one) for one in done] == [Answered] * 3 + [BudgetError] * 2 + [Answered]
    assert kinds(ledger).count("answered") == 4
    assert ledger.check()


def test_a_key_is_answered_once_also_within_one_transaction(ledger):
    first, again = ledger.settle([of("ann", 1, key="k"), of("ann", 2, key="k")])
    later = ledger.settle([of("ann", 3, key="k")])[0]
    assert [one.answer for one in (first, again, later)] == [1, 1, 1]
    assert [one.repeated for one in (first, again, later)] == [False, True, True]
    assert ledger.balance("ann").charges == 1
    other = Settlement("ann", ONCE, "a number", 4, key="k", request={"of": "something else"})
    assert isinstance(ledger.settle([other])[0], ArgumentError)


def test_a_charge_that_was_not_answered_gets_its_answer_and_costs_nothing_more(ledger):
    ledger.open_account("ann", CAP.guarantee)
    ledger.charge("ann", ONCE, "a number", key="k", request={"of": "ann"})
    done = ledger.settle([of("ann", 7, key="k")])[0]
    assert (done.answer, ledger.balance("ann").charges) == (7, 1)


def test_accounts_below_others_and_of_other_caps(ledger):
    ledger.open_account("all", mdp.Guarantee(mdp.metrics.absolute() * 2))
    below = [
        Settlement(name, ONCE, "a number", 1, opening=Account(0, name, CAP, parent="all")) for name in ("a", "b", "c")
    ]
    assert [type(one) for one in ledger.settle(below)] == [Answered, Answered, BudgetError]
    assert ledger.balance("all").charges == 2
    wider = Cap(mdp.Guarantee(mdp.metrics.absolute() * 9))
    assert isinstance(ledger.settle([of("a", 1, cap=wider)])[0], ArgumentError)
    assert isinstance(ledger.settle([of("", 1)])[0], ArgumentError)
    assert isinstance(ledger.settle([Settlement("nobody", ONCE, "a number", 1)])[0], ArgumentError)
    assert ledger.check()


def test_nothing_is_known_of_a_transaction_that_failed(ledger, monkeypatch):
    from metricdp.ledger.transactions import Transaction

    def fails(self):
        raise OSError("the disk")

    with monkeypatch.context() as broken:
        broken.setattr(Transaction, "finish", fails)
        with pytest.raises(FileError):
            ledger.settle([of("ann", 1)])
    assert kinds(ledger) == ["created"]
    assert ledger.account_names() == ()
    assert ledger.settle([of("ann", 2)])[0].answer == 2
    assert ledger.check()


def test_threads_and_two_ledgers_on_one_file_open_one_account(ledger, tmp_path):
    with Ledger(tmp_path / "spent.db") as other, ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda place: [ledger, other][place % 2].settle([of("ann", place)])[0], range(8)))
    assert sorted(type(one).__name__ for one in done) == ["Answered"] * 3 + ["BudgetError"] * 5
    assert kinds(ledger).count("opened") == 1
    assert ledger.check()
