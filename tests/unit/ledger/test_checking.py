"""What `check` finds: changes, gaps and wrong orders by itself; cuts, restored copies and rewrites with receipts."""

import json
import os
import shutil
import sqlite3

import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.ledger import Ledger, Receipt
from metricdp.ledger.directory import BELOW
from metricdp.metrics import Guarantee, attributes, discrete

HALF = Guarantee(discrete() / 2)


@pytest.fixture
def filled(tmp_path):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("all", Guarantee(discrete() * 10))
        ledger.open_account("a", Guarantee(discrete() * 10), parent="all")
        for number in range(5):
            ledger.answer(ledger.charge("a", HALF, f"question {number}", key=str(number)), number)
        yield ledger


def edit(ledger, statement, *values):
    ledger.close()
    connection = sqlite3.connect(ledger.address)
    with connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def test_a_sound_ledger_and_what_cannot_be_known(filled):
    result = filled.check()
    assert result
    assert result.holds
    assert result.entries == 13
    assert result.witness is None
    assert "cut from the end" in result.unknown
    assert "rewritten" in result.reason
    assert json.dumps(result.to_json())


EDITS = {
    "body": ("update ledger_entries set body = replace(body, 'question 1', 'question 9') where sequence = 6", 6),
    "level": ("update ledger_entries set body = replace(body, '0.5', '0.25') where sequence = 6", 6),
    "answer": ("update ledger_entries set body = '{\"answer\":7}' where sequence = 7", 7),
    "time": ("update ledger_entries set at = '2020-01-01T00:00:00.000000+00:00' where sequence = 6", 6),
    "key": ("update ledger_entries set key = 'x' where sequence = 6", 6),
    "missing": ("delete from ledger_entries where sequence = 6", 7),
    "moved": ("update ledger_entries set sequence = 99 where sequence = 6", 7),
    "another account": ("update ledger_entries set account = 1 where sequence = 6", 6),
    "head": ("update ledger_entries set head = 'x' where sequence = 13", 13),
    "cap": ("update ledger_accounts set body = replace(body, ':10,', ':1000,')", 2),
    "totals": ("update ledger_accounts set totals = replace(totals, '\"charges\":5', '\"charges\":1')", None),
    "metric": ("update ledger_metrics set written = written || ' '", None),
    "accounts": ("delete from ledger_accounts where number = 2", None),
    "parent": ("update ledger_accounts set parent = null where number = 2", 3),
    "first account": ("update ledger_entries set account = 1 where sequence = 1", 1),
    "no delta": (
        'update ledger_entries set body = replace(body, \'"delta":"0"\', \'"delta":"1/0"\') where sequence = 6',
        6,
    ),
    "nested": ("update ledger_entries set body = replace(hex(zeroblob(50000)), '0', '[') where sequence = 6", 6),
    "kind": ("update ledger_entries set kind = 'forgiven' where sequence = 6", 6),
}


@pytest.mark.parametrize("name", EDITS)
def test_every_change_is_found_without_receipts(filled, name):
    statement, first = EDITS[name]
    edit(filled, statement)
    result = Ledger(filled.address).check()
    assert not result
    assert result.problems
    assert first is None or result.witness == first


def test_two_entries_that_changed_places(filled):
    filled.close()
    connection = sqlite3.connect(filled.address)
    with connection:
        connection.execute("update ledger_entries set sequence = -1 where sequence = 6")
        connection.execute("update ledger_entries set sequence = 6 where sequence = 7")
        connection.execute("update ledger_entries set sequence = 7 where sequence = -1")
    connection.close()
    assert filled.check().witness == 6


def test_a_cut_tail_needs_a_receipt(filled):
    receipts = [Receipt(filled.id, entry.sequence, entry.head) for entry in filled.history()]
    before = [Receipt.from_json(json.loads(json.dumps(receipt.to_json()))) for receipt in receipts]
    filled.close()
    connection = sqlite3.connect(filled.address)
    with connection:  # the last charge and its answer, and the sums as they were before
        connection.execute("delete from ledger_entries where sequence > 11")
    connection.close()
    repaired = _sums_repaired(filled)
    assert repaired.check(), "without receipts nobody can know"
    found = repaired.check(before)
    assert not found
    assert found.witness == 12
    assert "the end was cut" in found.reason


def test_a_restored_backup_needs_a_receipt(filled, tmp_path):
    filled.close()
    copy = tmp_path / "backup.db"
    shutil.copy(filled.address, copy)
    receipt = filled.charge("a", HALF, "after the backup")
    filled.close()
    shutil.copy(copy, filled.address)
    with Ledger(filled.address) as restored:
        assert restored.check()
        assert "older copy was restored" in restored.check([receipt]).reason
        restored.charge("a", HALF, "something else")  # and then goes on
        assert restored.check()
        assert restored.check([receipt]).witness == receipt.sequence


def test_a_full_rewrite_needs_a_receipt(filled, tmp_path):
    receipts = [Receipt(filled.id, entry.sequence, entry.head) for entry in filled.history()][-3:]
    filled.close()
    forged = tmp_path / "forged.db"
    with Ledger.create(forged) as other:
        edit(other, "update ledger set id = ?", filled.id)
    connection = sqlite3.connect(forged)
    with connection:
        connection.execute("delete from ledger_entries")
    connection.close()
    with Ledger(forged) as other:  # a history that never was, well chained
        with other._writing() as transaction:
            transaction.append(None, "created", json.dumps({"ledger": filled.id}))
        other.open_account("all", Guarantee(discrete() * 10))
        other.open_account("a", Guarantee(discrete() * 10), parent="all")
        for number in range(5):
            other.answer(other.charge("a", Guarantee(discrete() / 100), f"question {number}"), number)
        assert other.check(), "without receipts nobody can know"
        found = other.check(receipts)
        assert not found
        assert "rewritten" in found.reason


def test_receipts_of_another_ledger_are_told_apart(filled, tmp_path):
    with Ledger.create(tmp_path / "other.db") as other:
        other.open_account("a", Guarantee(discrete()))
        receipt = other.charge("a", HALF, "x")
    assert "another ledger" in filled.check([receipt]).reason
    later = Receipt(other.id, 10**6, receipt.head)
    assert "another ledger" in filled.check([later]).reason


def test_a_witness_beside_the_ledger(tmp_path):
    witness = tmp_path / "elsewhere.txt"
    path = tmp_path / "l.db"
    with Ledger.create(path, witness=witness) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10))
        ledger.charge("a", HALF, "x")
        ledger.close()
        shutil.copy(path, tmp_path / "backup.db")
        ledger.charge("a", HALF, "y")
        assert ledger.check().receipts == 4
        assert "no receipt here is later" in ledger.check().unknown
    with Ledger(path, witness=witness) as ledger:
        ledger.charge("a", HALF, "z")
    shutil.copy(tmp_path / "backup.db", path)
    with pytest.raises(FileError, match="cut, rewritten or restored"):
        Ledger(path, witness=witness)
    with Ledger(path) as restored:
        assert not restored.check(witness=witness)
    with Ledger.create(tmp_path / "other.db") as other, pytest.raises(FileError, match="another ledger"):
        Ledger(other.address, witness=witness)


def test_a_witness_is_of_one_ledger(tmp_path, filled):
    """A new ledger wrote into the witness of another one, which then seemed to be rewritten."""
    witness = tmp_path / "w.txt"
    with Ledger.create(tmp_path / "first.db", witness=witness) as first:
        before = witness.read_text()
        with pytest.raises(FileError, match="exists already"):
            Ledger.create(tmp_path / "second.db", witness=witness)
        assert not (tmp_path / "second.db").exists()
        assert witness.read_text() == before
        assert first.check()
        witness.write_text(before.splitlines(keepends=True)[0])  # the power failed before its first entry
        with pytest.raises(FileError, match="another ledger"):
            Ledger(filled.address, witness=witness)
        witness.unlink()
        with pytest.raises(FileError, match="could not be written"):
            first.open_account("a", Guarantee(discrete()))
        assert not witness.exists(), "a new one would not say which ledger it is about"


def test_a_witness_that_is_none(tmp_path, filled):
    path = tmp_path / "w.txt"
    path.write_text("hello\n")
    with pytest.raises(FileError, match="no witness"):
        filled.check(witness=path)
    with pytest.raises(FileError, match="cannot be read"):
        filled.check(witness=tmp_path / "nowhere.txt")
    path.write_text(f"metricdp ledger witness {filled.id}\nthree x\n")
    with pytest.raises(FileError, match="cannot be read"):
        filled.check(witness=path)
    good = list(filled.history())[3]
    path.write_text(f"metricdp ledger witness {filled.id}\n{good.sequence} {good.head}\n99 abc")
    assert filled.check(witness=path), "a torn last line says nothing"
    with pytest.raises(FileError, match="could not be written"):
        Ledger(filled.address, witness=tmp_path / "no folder" / "w.txt")


def test_a_cap_that_was_passed_is_found(tmp_path):
    """By somebody who writes well-chained entries past the cap, and totals that agree."""
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(attributes({"age": 1})))
        charge = Guarantee(attributes({"age": 1}))
        ledger.charge("a", charge, "x")
        with ledger._writing() as transaction:
            ready = ledger._ready("a", charge, "y", None, None)
            account = ledger.account("a")
            transaction.append(account, "charged", ready.body)
            transaction.state.totals[1] = transaction.totals(account).plus(ready.price, account.cap)
            transaction._changed.add(1)
            transaction.finish()
        result = ledger.check()
        assert "beyond its cap" in result.reason


def _sums_repaired(ledger):
    """What somebody who cuts a tail does to the sums."""
    again = Ledger(ledger.address)
    with again._writing() as transaction:
        for name in ("all", "a"):
            account = again._directory.account(transaction.run, name)
            totals = transaction.totals(account)
            kept = [
                json.loads(row[0])["guarantee"]
                for row in transaction.run(
                    "select body from ledger_entries where kind = 'charged' order by sequence", {}
                )
            ]
            totals = type(totals)()
            for tree in kept:
                totals = totals.plus(transaction._price(tree), account.cap)
            transaction.state.totals[account.number] = totals
            transaction._changed.add(account.number)
        transaction.finish()
    return again


def test_progress(filled):
    seen = []
    filled.check(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(13, 13)]


def test_a_ledger_without_its_beginning_is_none(filled):
    for name in ("ledger_entries", "ledger_accounts", "ledger_metrics"):
        edit(filled, f"delete from {name}")
    result = filled.check()
    assert not result
    assert "not even the one" in result.reason


DAMAGE = {
    "totals": "update ledger_accounts set totals = '{'",
    "totals of another kind": "update ledger_accounts set totals = '{}'",
    "account": "update ledger_accounts set body = '[]'",
    "metrics": "delete from ledger_metrics",
    "metric": "update ledger_metrics set written = 'x'",
    "entry": "update ledger_entries set body = '[]' where sequence = 4",
    "bytes": "update ledger_entries set body = x'ff' where sequence = 4",
    "version": "update ledger set version = 'new'",
    "identity": "delete from ledger",
    "two identities": "insert into ledger values ('x', 1)",
}


def read_all(address):
    with Ledger(address) as ledger:
        list(ledger.history())
        ledger.balance("a")


@pytest.mark.parametrize("name", DAMAGE)
def test_what_cannot_be_read_is_said_to_be_damaged(filled, tmp_path, name):
    edit(filled, DAMAGE[name])
    with pytest.raises(FileError, match="damaged"):
        read_all(filled.address)
    if "entit" not in name and name != "version":
        with Ledger(filled.address) as ledger:
            assert not ledger.check()


def test_a_line_of_a_witness_that_the_power_tore(tmp_path):
    witness, path = tmp_path / "w.txt", tmp_path / "l.db"
    with Ledger.create(path, witness=witness) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10))
        ledger.charge("a", HALF, "x")
    for torn in (witness.read_text()[:-20], witness.read_text()[:-65], witness.read_text()[:-1]):
        witness.write_text(torn)
        with Ledger(path, witness=witness) as ledger:
            ledger.charge("a", HALF, "y")
            assert ledger.check()
            last = ledger.check().entries
        with Ledger(path, witness=witness) as ledger:
            assert f"after number {last}" in ledger.check().unknown, "the next line is one of its own"


def test_receipts_that_are_none(filled):
    for bad in (
        lambda: Receipt.from_json({"ledger": "x", "sequence": float("inf"), "head": "y"}),
        lambda: filled.check([5]),
        lambda: filled.answer(Receipt(filled.id, 10**30, "x"), 1),
        lambda: filled.answer_of(Receipt(filled.id, 10**30, "x")),
        lambda: list(filled.history(after=10**30)),
    ):
        with pytest.raises(ArgumentError):
            bad()


def test_a_witness_on_a_full_disk(tmp_path, monkeypatch):
    """Half a line was written and a receipt given out; then the witness could not be read any more."""
    witness, path = tmp_path / "w.txt", tmp_path / "l.db"
    write = os.write
    with Ledger.create(path, witness=witness) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10))
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda handle, text: write(handle, text[:10]))
            with pytest.raises(FileError, match=r"witness .* the disk is full.*same request key"):
                ledger.charge("a", HALF, "x", key="k")
        assert ledger.charge("a", HALF, "x", key="k").repeated
        ledger.charge("a", HALF, "y")
        assert ledger.check()
    with Ledger(path, witness=witness) as ledger:
        assert "after number 4" in ledger.check().unknown


@pytest.mark.parametrize("above", ["a", "all"])
def test_an_account_above_itself_is_not_followed_for_ever(filled, above):
    edit(
        filled,
        "update ledger_accounts set body = replace(body, '\"parent\":null', ?), parent = ? where name = 'all'",
        f'"parent":"{above}"',
        1 if above == "all" else 2,
    )
    with Ledger(filled.address) as ledger:
        with pytest.raises(FileError, match="above itself"):
            ledger.charge("a", HALF, "x")
        assert not ledger.check()
        ((count,),) = ledger._store.reading().__enter__()(f"select count(*) from ({BELOW})", {"account": 1})
        assert count == 2


def test_a_history_that_somebody_wrote_with_an_account_above_itself(filled):
    change = "update ledger_entries set body = replace(body, ?, ?) where sequence = 3"
    edit(filled, change, '"parent":"all"', '"parent":"a"')
    assert not Ledger(filled.address).check()


def test_a_database_that_is_no_ledger(tmp_path):
    """It was written to: from then on its own program found another journal."""
    sqlite3.connect(tmp_path / "other.db").execute("create table x (y)").connection.close()
    (tmp_path / "empty.db").touch()
    for name in ("other.db", "empty.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(FileError, match="no ledger"):
            Ledger(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
