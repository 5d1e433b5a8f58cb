"""Ledgers that may be read and not written to: checked, listed and exported, and left as they are."""

import os
import shutil
from contextlib import contextmanager

import pytest

from metricdp.errors import FileError
from metricdp.ledger import Ledger
from metricdp.ledger.stores.read_only import may_write
from metricdp.metrics import Guarantee, discrete

LITTLE = Guarantee(discrete() / 1000)


@contextmanager
def without_rights():
    """Root may write everywhere: be somebody else for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if before == 0:
            os.seteuid(before)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "of somebody else"
    made.mkdir()
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid == os.geteuid() and str(above) != "/":
            above.chmod(above.stat().st_mode | 0o055)
    yield made
    made.chmod(0o755)


def fill(path):
    ledger = Ledger.create(path)
    ledger.open_account("a", Guarantee(discrete()))
    receipt = ledger.charge("a", LITTLE, "before")
    ledger.answer(receipt, 1)
    return ledger, receipt


def close_to_all(folder, *, file=True, of=True):
    for path in folder.iterdir():
        path.chmod(0o444 if file else 0o666)
    folder.chmod(0o555 if of else 0o777)


def refused(ledger):
    with pytest.raises(FileError, match=r"written to|denied"):
        ledger.charge("a", LITTLE, "after")


@pytest.mark.parametrize(("file", "of"), [(True, True), (True, False), (False, True)])
def test_a_ledger_that_may_only_be_read_is_checked_and_told_of(folder, tmp_path, file, of):
    ledger, receipt = fill(folder / "l.db")
    ledger.close()
    (folder / "l.db-queue").unlink()
    close_to_all(folder, file=file, of=of)
    with without_rights():
        with Ledger(folder / "l.db") as seen:
            assert seen.check([receipt])
            assert seen.balance("a").charges == 1
            assert [entry.kind for entry in seen.history()] == ["created", "opened", "charged", "answered"]
            assert seen.answer_of(receipt).answer == 1
            assert seen.refusal("a", LITTLE) is None
            refused(seen)
        assert {path.name for path in folder.iterdir()} <= {"l.db", "l.db-queue"}
    folder.chmod(0o755)
    (folder / "l.db").chmod(0o644)
    with Ledger(folder / "l.db") as again:
        again.charge("a", LITTLE, "after")
        assert again.check([receipt])


def test_one_that_somebody_has_open_is_read_with_what_was_written_last(folder):
    ledger, receipt = fill(folder / "l.db")
    close_to_all(folder)
    with without_rights(), Ledger(folder / "l.db") as seen:
        assert seen.check([receipt])
        assert seen.balance("a").charges == 1
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    ledger.charge("a", LITTLE, "after")
    close_to_all(folder)
    with without_rights(), Ledger(folder / "l.db") as seen:
        assert seen.balance("a").charges == 2
    ledger.close()


def test_a_copy_without_the_index_is_not_read_as_less_than_it_is(folder, tmp_path):
    ledger, _ = fill(tmp_path / "l.db")
    for end in ("", "-wal"):
        shutil.copy(f"{tmp_path / 'l.db'}{end}", folder)
    ledger.close()
    close_to_all(folder)
    with without_rights(), pytest.raises(FileError, match=r"l\.db-wal"):
        Ledger(folder / "l.db")


def test_a_ledger_that_is_written_to_while_it_is_read_is_read_again(folder):
    ledger, _ = fill(folder / "l.db")
    ledger.close()
    (folder / "l.db").chmod(0o444)
    with without_rights():
        assert not may_write(folder / "l.db")
        with Ledger(folder / "l.db") as seen, pytest.raises(FileError, match="read it again"):
            read_while_it_is_written(seen, folder / "l.db")


def read_while_it_is_written(seen, path):
    """As if somebody else, who may, had charged meanwhile."""
    with seen._store.reading() as run:
        assert run("select count(*) from ledger_entries", {}) == [(4,)]
        before = os.geteuid()
        if os.getuid() == 0:
            os.seteuid(0)
        os.utime(path, ns=(1, 1))
        os.seteuid(before)
