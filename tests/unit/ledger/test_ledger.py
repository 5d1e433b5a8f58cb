"""The ledger: accounts, charges, answers, request keys, what is refused, and what is never lost."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

import metricdp
from metricdp.errors import ArgumentError, BudgetError, FileError, LevelError
from metricdp.exact.level import ln
from metricdp.ledger import Ledger, Receipt, What
from metricdp.ledger import opening as opening_module
from metricdp.ledger.stores import schema
from metricdp.metrics import (
    Guarantee,
    absolute,
    attributes,
    discrete,
    euclidean,
    great_circle,
    hamming,
    manhattan,
    matrix,
)

HALF = Guarantee(discrete() / 2)
ONE = Guarantee(discrete())


def test_charge_until_it_is_spent(ledger):
    ledger.open_account("a", ONE, dataset="people", receiver="the press", privacy_unit="a person")
    first = ledger.charge("a", HALF, "one")
    second = ledger.charge("a", HALF, What("two", mechanism="response", purpose="news", who="ann"))
    assert second.sequence == first.sequence + 1
    assert second.head != first.head
    with pytest.raises(BudgetError, match=r"together 1\.25, and the cap is 1\. Left: .*used up") as caught:
        ledger.charge("a", Guarantee(discrete() / 4), "three")
    assert caught.value.account == "a"
    assert caught.value.left == "[x ≠ y]: used up"
    balance = ledger.balance("a")
    assert balance.charges == 2
    assert balance.spent == discrete()
    assert balance.left is None
    assert ledger.check([first, second])


def test_a_charge_goes_to_all_parents_or_to_none(ledger):
    ledger.open_account("all", Guarantee(3 * discrete() / 2))
    ledger.open_account("press", ONE, parent="all")
    ledger.open_account("city", ONE, parent="all")
    ledger.open_account("mayor", ONE, parent="city")
    ledger.charge("press", ONE, "x")
    with pytest.raises(BudgetError, match="account 'all'") as caught:
        ledger.charge("mayor", Guarantee(discrete() * Fraction(3, 5)), "x")
    assert caught.value.account == "all"
    assert [ledger.balance(name).charges for name in ("all", "press", "city", "mayor")] == [1, 1, 0, 0]
    ledger.charge("mayor", HALF, "x")
    assert [ledger.balance(name).charges for name in ("all", "press", "city", "mayor")] == [2, 1, 1, 1]
    assert ledger.check()


def test_a_batch_is_all_or_nothing(ledger):
    ledger.open_account("a", ONE)
    with pytest.raises(BudgetError):
        ledger.charge_together([("a", HALF, "x")] * 3)
    assert ledger.balance("a").charges == 0
    receipts = ledger.charge_together([("a", HALF, "x"), ("a", HALF, "y")])
    assert [receipt.sequence for receipt in receipts] == [3, 4]
    assert ledger.charge_together([]) == []
    with pytest.raises(ArgumentError, match="one charge"):
        ledger.charge_together([("a", HALF, "x")] * 2, key="k")


def test_request_keys(ledger):
    ledger.open_account("a", ONE)
    ledger.open_account("b", ONE)
    calls = []

    def compute():
        calls.append(1)
        return {"count": len(calls)}

    first = ledger.release("a", HALF, "how many?", compute, key="q1")
    again = ledger.release("a", HALF, "how many?", compute, key="q1")
    assert first.answer == again.answer == {"count": 1}
    assert (first.repeated, again.repeated) == (False, True)
    assert first.receipt == again.receipt
    assert ledger.balance("a").charges == 1
    with pytest.raises(ArgumentError, match="another request"):
        ledger.release("a", HALF, "how old?", compute, key="q1")
    with pytest.raises(ArgumentError, match="another request"):
        ledger.release("a", Guarantee(discrete() / 4), "how many?", compute, key="q1")
    with pytest.raises(ArgumentError, match="another request"):
        ledger.release("a", HALF, "how many?", compute, key="q1", request={"sql": "select 1"})
    assert ledger.release("b", HALF, "how old?", compute, key="q1").answer == {"count": 2}, "bound to the account"
    assert len(calls) == 2


def test_a_charge_without_an_answer_is_computed_again_under_the_same_charge(ledger):
    ledger.open_account("a", ONE)
    charge = ledger.charge("a", HALF, "how many?", key="q1")

    def dies():
        raise RuntimeError("the process died")

    with pytest.raises(RuntimeError):
        ledger.release("a", HALF, "how many?", dies, key="q1")
    assert ledger.answer_of(charge) is None
    done = ledger.release("a", HALF, "how many?", lambda: 7, key="q1")
    assert done.answer == 7
    assert done.charge.sequence == charge.sequence
    assert ledger.balance("a").charges == 1


def test_the_first_answer_stands(ledger):
    ledger.open_account("a", ONE)
    charge = ledger.charge("a", HALF, "x")
    assert ledger.answer(charge, [1]).answer == [1]
    late = ledger.answer(charge, [2])
    assert late.answer == [1]
    assert late.repeated
    assert ledger.answer_of(charge).answer == [1]
    with pytest.raises(ArgumentError, match="another ledger"):
        ledger.answer(Receipt("0" * 32, charge.sequence, charge.head), 1)
    with pytest.raises(ArgumentError, match="no such charge"):
        ledger.answer(Receipt(ledger.id, 1, charge.head), 1)
    with pytest.raises(ArgumentError, match="text, numbers, lists"):
        ledger.answer(ledger.charge("a", HALF, "y"), object())
    assert ledger.check()


def test_many_threads_share_a_ledger(ledger):
    ledger.open_account("a", Guarantee(discrete() * 20))
    refused, done = [], []

    def work(number):
        for _ in range(10):
            try:
                done.append(ledger.charge("a", HALF, f"thread {number}"))
            except BudgetError:
                refused.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(done), len(refused)) == (40, 20)
    assert len({receipt.sequence for receipt in done}) == 40
    assert ledger.balance("a").spent == discrete() * 20
    assert ledger.check(done)


def test_another_process_sees_it_and_goes_on(ledger, tmp_path):
    ledger.open_account("a", ONE)
    ledger.charge("a", HALF, "here")
    program = (
        "from metricdp.ledger import Ledger\nfrom metricdp.metrics import Guarantee, discrete\n"
        "print(Ledger().charge('a', Guarantee(discrete() / 4), 'there').sequence)"
    )
    environment = os.environ | {
        "METRICDP_LEDGER": f"sqlite:///{tmp_path}/spent.db",
        "PYTHONPATH": str(Path(metricdp.__file__).parent.parent),
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "4\n"
    with pytest.raises(BudgetError):
        ledger.charge("a", HALF, "here")
    assert ledger.charge("a", Guarantee(discrete() / 4), "here").sequence == 5
    assert ledger.check()


def test_an_exact_sum_counts_accounts_that_another_process_opened(tmp_path):
    """The sum is too long to keep, meets the cap, and a part of it was charged below by somebody else."""
    levels = [Fraction(1, k) for k in range(1, 1300)]
    with Ledger.create(tmp_path / "l.db") as ledger, Ledger(tmp_path / "l.db") as other:
        total = sum(levels, Fraction(0))
        ledger.open_account("top", Guarantee(discrete() * (total + 1)))
        ledger.charge_together([("top", Guarantee(discrete() * level), "x") for level in levels])
        other.open_account("below", ONE, parent="top")
        other.charge("below", HALF, "x")
        ledger.charge("top", HALF, "exactly the cap")
        with pytest.raises(BudgetError):
            ledger.charge("top", Guarantee(discrete() * Fraction(1, 10**200)), "more")
        assert ledger.check()


def test_the_clock_may_run_backwards(tmp_path):
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours) for hours in (0, 1, 2, -24, 3)]
    clock = iter(times)
    with Ledger.create(tmp_path / "l.db", now=lambda: next(clock)) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10))
        for _ in range(3):
            ledger.charge("a", HALF, "x")
        entries = list(ledger.history())
        assert [entry.sequence for entry in entries] == [1, 2, 3, 4, 5]
        assert [entry.at[:13] for entry in entries[2:]] == ["2026-01-01T02", "2025-12-31T00", "2026-01-01T03"]
        assert "ran backwards" in entries[3].body["clock"]
        assert "clock" not in entries[4].body
        assert ledger.check()


def test_a_charge_while_the_history_is_read(ledger):
    ledger.open_account("a", Guarantee(discrete() * 10))
    seen = []
    for entry in ledger.history():
        seen.append(entry.sequence)
        ledger.charge("a", HALF, "x")
    assert seen == [1, 2], "a reader sees one state"
    assert ledger.balance("a").charges == 2


def test_history(ledger):
    ledger.open_account("a", ONE, dataset="people")
    ledger.open_account("b", ONE)
    ledger.charge("a", HALF, "one")
    charge = ledger.charge("b", HALF, What("two", purpose="news"))
    ledger.answer(charge, 3)
    assert [entry.kind for entry in ledger.history()] == [
        "created",
        "opened",
        "opened",
        "charged",
        "charged",
        "answered",
    ]
    assert [entry.sequence for entry in ledger.history("a")] == [2, 4]
    assert [entry.sequence for entry in ledger.history(after=3, most=2)] == [4, 5]
    told = list(ledger.history("b"))[1].body
    assert told["what"]["purpose"] == "news"
    assert told["what"]["versions"]["metricdp"] == metricdp.__version__
    assert told["guarantee"]["formula"] == "0.5·[x ≠ y]-private"
    assert json.loads(json.dumps(next(iter(ledger.history())).to_json()))["kind"] == "created"


# What is refused, with nothing lost


def test_bad_accounts(ledger):
    ledger.open_account("a", ONE)
    for bad, match in [
        (lambda: ledger.open_account("a", ONE), "already"),
        (lambda: ledger.open_account("", ONE), "name"),
        (lambda: ledger.open_account("b", discrete()), "a cap is a Guarantee"),
        (lambda: ledger.open_account("b", ONE, parent="nobody"), "no account 'nobody'"),
        (lambda: ledger.open_account("b", Guarantee(great_circle()), parent="a"), "another metric"),
        (lambda: ledger.open_account("b", ONE, advanced="1e-6"), "part of the cap's delta"),
        (lambda: ledger.open_account("b", Guarantee(discrete(), 0.5), advanced=0), "between 0 and 1"),
        (lambda: ledger.charge("b", ONE, "x"), "there are: a"),
        (lambda: ledger.charge("a", ONE, ""), "what it is for"),
        (lambda: ledger.charge("a", ONE, 3), "as text or as What"),
        (lambda: ledger.charge("a", -1, "x"), "a charge is a Guarantee"),
        (lambda: ledger.charge("a", ONE, "x", key=""), "request key"),
        (lambda: ledger.charge("a", Guarantee(matrix([None, 1], [[0, 1], [1, 0]])), "x"), "no written form"),
    ]:
        with pytest.raises(ArgumentError, match=match):
            bad()
    with pytest.raises(LevelError):
        ledger.charge("a", Guarantee(discrete() * -1), "x")
    assert [account.name for account in ledger.accounts()] == ["a"]
    assert ledger.balance("a").charges == 0
    assert ledger.check()


def test_an_account_below_one_in_a_metric_that_pays_for_its(ledger):
    ledger.open_account("top", Guarantee(manhattan()))
    ledger.open_account("below", Guarantee(euclidean() * 3), parent="top")
    ledger.charge("below", Guarantee(euclidean() / 2), "x")
    with pytest.raises(BudgetError, match="account 'top'"):
        ledger.charge("below", Guarantee(euclidean()), "x")


def test_a_charge_in_another_metric(ledger):
    ledger.open_account("a", Guarantee(absolute()))
    with pytest.raises(BudgetError, match="no theorem bounds"):
        ledger.charge("a", Guarantee(great_circle() / 10**9), "x")
    ledger.open_account("b", Guarantee(attributes({"age": absolute()})))
    with pytest.raises(BudgetError, match="says nothing about sex"):
        ledger.charge("b", Guarantee(attributes({"sex": 1})), "x")


def test_no_ledger_a_second_one_and_one_that_is_none(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with pytest.raises(FileError, match="metricdp ledger create"):
        Ledger(path)
    assert not path.exists(), "a ledger is never made by mistake"
    monkeypatch.delenv("METRICDP_LEDGER", raising=False)
    with pytest.raises(ArgumentError, match="METRICDP_LEDGER"):
        Ledger()
    Ledger.create(path).close()
    with pytest.raises(FileError, match="exists already"):
        Ledger.create(path)
    with pytest.raises(ArgumentError, match="not in mysql"):
        Ledger("mysql://host/x")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("create table mine (x)")
    connection.close()
    with pytest.raises(FileError):
        Ledger(other)
    with sqlite3.connect(other) as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("mine",)], "nothing was made in it"
    connection.close()


def test_a_damaged_file(tmp_path):
    path = tmp_path / "l.db"
    ledger = Ledger.create(path)
    ledger.open_account("a", ONE)
    ledger.close()
    whole = path.read_bytes()
    for broken in (b"not a database" * 100, whole[:100] + os.urandom(len(whole) - 100)):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=r"damaged|no ledger|cannot"):
            Ledger(path).check()
    path.write_bytes(whole)
    with Ledger(path) as again:
        assert again.check()


def test_a_later_version_is_refused_and_an_older_one_brought_up_to_date(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with Ledger.create(path) as ledger:
        ledger.open_account("a", ONE)
        ledger.charge("a", HALF, "x")
    later = schema.VERSION + 1
    monkeypatch.setattr(opening_module, "VERSION", later)
    monkeypatch.setattr(opening_module, "STEPS", [*schema.STEPS, ("create table ledger_notes (text text)",)])
    with Ledger(path) as newer:
        assert newer.charge("a", HALF, "y").sequence == 4
        assert newer.check()
    monkeypatch.undo()
    before = path.read_bytes()
    with pytest.raises(FileError, match=f"version {later}"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_full_disk_loses_nothing(ledger, tmp_path):
    ledger.open_account("a", Guarantee(discrete() * 10**6))
    receipt = ledger.charge("a", HALF, "x")
    connection = ledger._store._connections._free[0]
    connection.execute(f"pragma max_page_count={connection.execute('pragma page_count').fetchone()[0]}")
    with pytest.raises(FileError, match="disk is full; nothing was written"):
        ledger.charge_together([("a", HALF, "x" * 1000)] * 500)
    spent = ledger.balance("a").charges
    connection.execute("pragma max_page_count=1000000")
    ledger.charge("a", HALF, "x")
    assert ledger.balance("a").charges == spent + 1
    assert ledger.check([receipt])


def test_a_read_only_file(ledger, tmp_path):
    connection = ledger._store._connections._free[0]
    connection.execute("pragma query_only=on")
    with pytest.raises(FileError):
        ledger.open_account("a", ONE)
    connection.execute("pragma query_only=off")
    ledger.open_account("a", ONE)


def test_points_and_advanced_composition_survive_a_restart(tmp_path):
    path = tmp_path / "l.db"
    with Ledger.create(path) as ledger:
        ledger.open_account("a", Guarantee(4 * discrete(), "1e-5"), points=range(5), advanced="1e-6")
    with Ledger(path) as again:
        account = again.account("a")
        assert account.cap.points == (0, 1, 2, 3, 4)
        assert account.cap.composed_delta == Fraction(1, 10**6)
        again.charge("a", Guarantee(absolute() / 2), "x")
        assert again.check()


def test_logarithms_are_kept_exactly(ledger):
    ledger.open_account("a", Guarantee(hamming() * ln(6)))
    ledger.charge("a", Guarantee(hamming() * ln(2)), "x")
    ledger.charge("a", Guarantee(hamming() * ln(3)), "x")
    with pytest.raises(BudgetError):
        ledger.charge("a", Guarantee(hamming() * Fraction(1, 10**50)), "x")
    assert ledger.check()


def test_the_address_shows_no_password():
    from metricdp.ledger.stores.store import open_store

    assert "secret" not in open_store("postgresql://ann:secret@nowhere.invalid/x").shown
    with pytest.raises(FileError) as caught:
        Ledger("postgresql://ann:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
    for wrong in ("ann:sec@ret:secret@nowhere/x", "ann:secret@nowhere:secret/x", "ann:secret@[::1/x"):
        with pytest.raises(ArgumentError, match="write postgresql://") as caught:
            Ledger(f"postgresql://{wrong}")
        assert "secret" not in str(caught.value)


HALF_A_PAIR = "\ud800"


def test_text_that_no_database_holds(ledger):
    ledger.open_account("a", ONE)
    receipt = ledger.charge("a", HALF, "x")
    for bad in (
        lambda: ledger.open_account(HALF_A_PAIR, ONE),
        lambda: ledger.open_account("b\0", ONE),
        lambda: ledger.open_account("b", ONE, dataset=HALF_A_PAIR),
        lambda: ledger.open_account("b", ONE, receiver=5),
        lambda: ledger.charge(["a"], HALF, "x"),
        lambda: ledger.charge("a", HALF, HALF_A_PAIR),
        lambda: ledger.charge("a", HALF, What("x", versions=5)),
        lambda: ledger.charge("a", HALF, "x", key=HALF_A_PAIR),
        lambda: ledger.charge("a", HALF, "x", key="k", request=HALF_A_PAIR),
        lambda: ledger.charge("a", Guarantee(attributes({HALF_A_PAIR: 1})), "x"),
        lambda: ledger.answer(receipt, HALF_A_PAIR),
        lambda: ledger.balance(["a"]),
        lambda: Ledger("a\0b"),
        lambda: Ledger("~nobody-of-this-name/x.db"),
    ):
        with pytest.raises(ArgumentError):
            bad()
    assert len(list(ledger.history())) == 3
    assert ledger.check()


def test_levels_beyond_what_can_be_written(ledger):
    large = Guarantee(discrete() * 10**260)
    ledger.open_account("a", large)
    ledger.charge("a", Guarantee(discrete() * 10**259), "x")
    assert "a factor inf left" in str(ledger.balance("a"))
    assert ledger.balance("a").to_json()
    for bad in (
        lambda: ledger.charge("a", Guarantee(discrete() * 10**400), "x"),
        lambda: ledger.charge("a", Guarantee(discrete(), Fraction(1, 10**5000)), "x"),
        lambda: ledger.open_account("b", Guarantee(discrete() * 10**400)),
        lambda: ledger.open_account("b", Guarantee(discrete(), Fraction(1, 10**5000))),
        lambda: ledger.open_account("b", Guarantee(discrete(), 0.5), advanced=Fraction(1, 10**5000)),
    ):
        with pytest.raises(LevelError):
            bad()
    ledger.open_account("tiny", Guarantee(discrete() * Fraction(1, 10**300)))
    assert "a factor 1 left" in str(ledger.balance("tiny"))


def test_an_error_names_some_accounts(ledger):
    for number in range(25):
        ledger.open_account(f"account {number:02}", ONE)
    with pytest.raises(ArgumentError, match=r"account 19 and 5 more$"):
        ledger.charge("nobody", HALF, "x")


@pytest.mark.parametrize("junk", [None, 3, "receipt", {"sequence": 1}])
def test_what_is_no_receipt_and_no_charge_is_refused_in_our_words(tmp_path, junk):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        for call in (lambda: ledger.answer(junk, 1), lambda: ledger.answer_of(junk), lambda: ledger.check([junk])):
            with pytest.raises(ArgumentError, match="a receipt is needed here"):
                call()
        with pytest.raises(ArgumentError, match="charge"):
            ledger.charge_together([junk])
        with pytest.raises(ArgumentError, match="a list of"):
            ledger.check(3)


def test_points_that_are_no_list_and_addresses_that_are_no_file(ledger, tmp_path, monkeypatch):
    with pytest.raises(ArgumentError, match="points"):
        ledger.open_account("a", ONE, points=5)
    monkeypatch.chdir(tmp_path)
    for address in (":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:x.db://"):
        with pytest.raises(ArgumentError, match=r"is a file|not in sqlite"):
            Ledger.create(address)
    assert not list(tmp_path.glob("*sqlite*")) + list(tmp_path.glob("*memory*"))


def test_the_answer_of_a_receipt_is_of_its_own_ledger(ledger, tmp_path):
    """The receipt of another ledger got the answer that stands at the same number in this one."""
    ledger.open_account("a", ONE)
    charge = ledger.charge("a", HALF, "x")
    answer = ledger.answer(charge, "private")
    assert ledger.answer_of(charge).answer == "private"
    with Ledger.create(tmp_path / "other.db") as other:
        other.open_account("a", ONE)
        with pytest.raises(ArgumentError, match="another ledger"):
            ledger.answer_of(other.charge("a", HALF, "x"))
    for forged in (replace(charge, head="0" * 64), replace(charge, sequence=99), answer.receipt):
        with pytest.raises(ArgumentError, match="no such charge"):
            ledger.answer_of(forged)
