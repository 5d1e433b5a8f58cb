"""Durability seen, not assumed: syncs counted under strace, and a file system that forgets what was not synced.

``kill -9`` alone proves little, for the system keeps what a killed process wrote. Here the power fails.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metricdp
from metricdp.ledger import Ledger
from metricdp.ledger.stores import sqlite as sqlite_store
from metricdp.metrics import Guarantee, discrete

HALF = Guarantee(discrete() / 2)
CHARGES = 20

PROGRAM = """
import os, sys
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, discrete
ledger = Ledger(sys.argv[1], witness=sys.argv[2] if len(sys.argv) > 2 else None)
half = Guarantee(discrete() / 2)
ledger.balance("a")
for number in range(20):
    os.write(1, b"charging\\n")
    receipt = ledger.charge("a", half, "x")
    os.write(1, b"charged\\n")
    ledger.answer(receipt, number)
    os.write(1, b"answered\\n")
"""


def traced(path, *more):
    """The system calls between our own words."""
    out = path.parent / "trace"
    subprocess.run(
        [
            "strace",
            "-f",
            "-o",
            out,
            "-e",
            "trace=fsync,fdatasync,write,pwrite64",
            sys.executable,
            "-c",
            PROGRAM,
            path,
            *more,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(metricdp.__file__).parent.parent)},
    )
    return out.read_text()


def syncs_between(text, first, second):
    """How many syncs stand between each two of our words."""
    found = []
    for part in text.split(f'"{first}\\n"')[1:]:
        before = part.split(f'"{second}\\n"')[0]
        found.append(len(re.findall(r"\bf(?:data)?sync\(\d+\)\s+= 0", before)))
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_every_charge_and_every_answer_is_synced_before_it_is_reported(tmp_path):
    path = tmp_path / "l.db"
    with Ledger.create(path) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 100))
    text = traced(path)
    charged, answered = syncs_between(text, "charging", "charged"), syncs_between(text, "charged", "answered")
    assert len(charged) == len(answered) == CHARGES
    assert min(charged) >= 1, "a charge was reported that was not on the disk"
    assert min(answered) >= 1, "an answer left that was not on the disk"
    assert sum(charged) + sum(answered) <= 3 * CHARGES, "more than the commits and a few checkpoints"
    # With a witness its line is synced too.
    text = traced(path, tmp_path / "witness")
    assert min(syncs_between(text, "charging", "charged")) >= 2


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_count_sees_a_ledger_that_does_not_sync(tmp_path):
    path = tmp_path / "l.db"
    with Ledger.create(path) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 100))
    broken = PROGRAM.replace(
        "ledger = Ledger(",
        "from metricdp.ledger.stores import sqlite\nreal = sqlite.prepare\n"
        "def prepare(connection):\n    real(connection)\n    connection.execute('pragma synchronous=off')\n"
        "sqlite.prepare = prepare\nledger = Ledger(",
    )
    out = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-o", out, "-e", "trace=fsync,fdatasync,write,pwrite64", sys.executable, "-c", broken, path],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(metricdp.__file__).parent.parent)},
    )
    assert min(syncs_between(out.read_text(), "charging", "charged")) == 0


# A disk that keeps only what was synced


class Disk:
    """Files, and what of them would be there after a power failure: what was synced, and any part of the rest."""

    def __init__(self, files=()):
        self.written = {name: bytearray(content) for name, content in dict(files).items()}
        self.synced = {name: bytes(content) for name, content in self.written.items()}
        self.pending = {}

    def write(self, path, offset, data):
        put(self.written[path], offset, data)
        self.pending.setdefault(path, []).append((offset, bytes(data)))

    def sync(self, path):
        self.synced[path] = bytes(self.written[path])
        self.pending[path] = []

    def after_power_failure(self, random):
        """Another disk: each write that was not synced arrived or not, by chance."""
        files = {name: bytearray(content) for name, content in self.synced.items()}
        for path, writes in self.pending.items():
            for offset, data in writes:
                if random.random() < 0.5:
                    put(files.setdefault(path, bytearray()), offset, data)
        return Disk(files)


def put(content, offset, data):
    if len(content) < offset + len(data):
        content.extend(b"\0" * (offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


def forgetful(apsw, disk, name):
    """A file system of SQLite's on that disk."""

    class File:
        def __init__(self, path):
            self.path = path
            disk.written.setdefault(path, bytearray())

        def content(self):
            return disk.written[self.path]

        def xRead(self, amount, offset):
            return bytes(self.content()[offset : offset + amount])

        def xWrite(self, data, offset):
            disk.write(self.path, offset, data)

        def xTruncate(self, size):
            del self.content()[size:]

        def xSync(self, flags):
            disk.sync(self.path)

        def xFileSize(self):
            return len(self.content())

        def xClose(self):
            pass

        def xLock(self, level):
            pass

        def xUnlock(self, level):
            pass

        def xCheckReservedLock(self):
            return False

        def xFileControl(self, op, pointer):
            return False

        def xSectorSize(self):
            return 512

        def xDeviceCharacteristics(self):
            return 0

    class FileSystem(apsw.VFS):
        def __init__(self):
            super().__init__(name, "")

        def xOpen(self, path, flags):
            flags[1] = flags[0]
            return File(path.filename() if isinstance(path, apsw.URIFilename) else path)

        def xAccess(self, path, flags):
            return path in disk.written

        def xDelete(self, path, sync_folder):
            disk.written.pop(path, None)
            disk.synced.pop(path, None)

        def xFullPathname(self, path):
            return path

    return FileSystem()


def store_on(apsw, disk, path, synchronous):
    """A store whose SQLite writes to that disk. One process at a time: what others share is kept in memory."""
    name = f"forgetful-{id(disk)}"
    system = forgetful(apsw, disk, name)

    class Connected:
        def __init__(self):
            self.system = system  # lives for as long as the connection
            self.inner = apsw.Connection(str(path), vfs=name)

        def execute(self, statement, values=None):
            return self.inner.execute(statement, values)

        def executemany(self, statement, values):
            return self.inner.executemany(statement, values)

        def close(self):
            self.inner.close()

    def connect(_):
        connection = Connected()
        list(connection.execute("pragma locking_mode=exclusive"))
        sqlite_store.prepare(connection)
        if synchronous is not None:
            connection.execute(f"pragma synchronous={synchronous}")
        return connection

    return sqlite_store.SQLiteStore(path, connect)


def story(tmp_path, monkeypatch, synchronous, number):
    """Charges and answers until the power fails; the ledger after it, and what was reported before."""
    apsw = pytest.importorskip("apsw")
    import metricdp.ledger.reader as module

    path, disks = tmp_path / "l.db", [Disk()]
    monkeypatch.setattr(module, "open_store", lambda address: store_on(apsw, disks[-1], path, synchronous))
    before = Ledger.create(path)
    before.open_account("a", Guarantee(discrete() * 100))
    reported, answers = [], {}
    for step in range(number):
        receipt = before.charge("a", HALF, f"question {step}", key=str(step))
        reported.append(receipt)
        if step % 3:
            answers[receipt.sequence] = before.answer(receipt, step).answer
    disks.append(disks[0].after_power_failure(np.random.default_rng(number)))
    before.close()  # too late: what it still writes goes to the disk that is gone
    return Ledger(path), reported, answers


@pytest.mark.parametrize("number", [1, 2, 7, 40, 90])
def test_what_was_reported_survives_a_power_failure(tmp_path, monkeypatch, number):
    again, reported, answers = story(tmp_path, monkeypatch, None, number)
    assert again.check(reported), "a charge was reported and is gone"
    assert again.balance("a").charges == number
    for receipt in reported:
        stored = again.answer_of(receipt)
        assert (stored.answer if stored else None) == answers.get(receipt.sequence)
    again.charge("a", HALF, "and it goes on")
    assert again.check()
    again.close()


@pytest.mark.parametrize("number", [7, 40])
def test_the_test_sees_a_ledger_that_does_not_sync(tmp_path, monkeypatch, number):
    """With ``synchronous=off`` the same story loses charges, or the whole ledger."""
    import apsw

    try:
        again, reported, _ = story(tmp_path, monkeypatch, "off", number)
    except apsw.Error:
        return  # not even a ledger is left
    try:
        assert not again.check(reported)
    except apsw.Error:
        return
    finally:
        again.close()
