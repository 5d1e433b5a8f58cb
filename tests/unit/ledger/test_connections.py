"""Connections to the file of a ledger: nothing that was promised is lost with them."""

import multiprocessing
import subprocess
import sys
import threading

import pytest

from metricdp.errors import FileError
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, discrete

FORK = multiprocessing.get_context("fork")
LITTLE = Guarantee(discrete() / 1000)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "l.db") as made:
        made.open_account("a", Guarantee(discrete()))
        made.charge("a", LITTLE, "before")
        yield made


def charge(ledger, times, begun=None, go=None):
    for _ in range(times):
        ledger.charge("a", LITTLE, "in the child")
        if begun is not None:
            begun.set()
            assert go.wait(10)


def test_what_a_child_was_promised_stays_when_its_parent_ends_its_connections(ledger, tmp_path):
    """The child thought that it had the parent's locks, and its parent removed the file with its commits."""
    begun, go = FORK.Event(), FORK.Event()
    child = FORK.Process(target=charge, args=(ledger, 3, begun, go))
    child.start()
    assert begun.wait(10)
    ledger.close()
    go.set()
    child.join(10)
    assert child.exitcode == 0
    with Ledger(tmp_path / "l.db") as again:
        assert again.balance("a").charges == 4
        assert again.check()


def test_children_of_a_process_whose_threads_charge(ledger):
    done, enough = [], threading.Event()

    def go_on():
        while not enough.is_set():
            ledger.charge("a", LITTLE, "in a thread")
            done.append(1)

    threads = [threading.Thread(target=go_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = [FORK.Process(target=charge, args=(ledger, 5)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(20)
    enough.set()
    for thread in threads:
        thread.join(10)
    assert [child.exitcode for child in children] == [0] * 4
    assert ledger.balance("a").charges == 1 + len(done) + 20


def test_a_fork_in_the_middle_of_a_history_charges_nothing_in_the_child(ledger, tmp_path):
    def try_to(pipe):
        for one in (ledger, other):
            try:
                one.charge("a", LITTLE, "x")
            except FileError as error:
                pipe.send(str(error))
        pipe.close()

    with Ledger(tmp_path / "l.db") as other:
        history = ledger.history()
        next(history)
        here, there = FORK.Pipe()
        child = FORK.Process(target=try_to, args=(there,))
        child.start()
        assert all("was forked while" in here.recv() for _ in range(2))
        child.join(10)
        assert len(list(history)) == 2
        assert ledger.charge("a", LITTLE, "x").sequence == 4, "the parent goes on"


@pytest.mark.parametrize("gone", ["-wal", "-shm"])
def test_files_beside_it_that_were_removed_while_it_was_open(ledger, tmp_path, gone):
    (tmp_path / f"l.db{gone}").unlink()
    for _ in range(2):
        with pytest.raises(FileError, match="removed or replaced"):
            ledger.charge("a", LITTLE, "x")
    with pytest.raises(FileError, match="removed or replaced"):
        ledger.balance("a")


def test_a_copy_of_the_file_made_in_the_process_that_has_it_open(ledger, tmp_path):
    """To close a copied file ends the process's locks: the next program then removes files that are in use."""
    path = tmp_path / "l.db"
    path.read_bytes()
    look = f"import sqlite3; c = sqlite3.connect({str(path)!r}); print(c.execute('select 1').fetchall()); c.close()"
    subprocess.run([sys.executable, "-c", look.replace("select 1", "select id from ledger")], check=True)
    with pytest.raises(FileError, match="copied or read by other means"):
        ledger.charge("a", LITTLE, "x")
    ledger.close()
    assert ledger.charge("a", LITTLE, "x").sequence == 4, "opened anew, it goes on where it was"


def test_a_commit_into_files_that_are_gone_is_not_reported(ledger, tmp_path, monkeypatch):
    from metricdp.ledger.transactions import Transaction

    finish = Transaction.finish

    def removed(transaction):
        finish(transaction)
        (tmp_path / "l.db-wal").unlink()

    monkeypatch.setattr(Transaction, "finish", removed)
    with pytest.raises(FileError, match="removed or replaced"):
        ledger.charge("a", LITTLE, "x")
