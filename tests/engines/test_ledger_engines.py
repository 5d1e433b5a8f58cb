"""The ledger on both engines: the same story, and 64 processes that write at once."""

import multiprocessing
import os
import threading
import time

import pytest

from metricdp.errors import ArgumentError, BudgetError, FileError
from metricdp.exact.level import ln
from metricdp.ledger import Ledger, Receipt
from metricdp.metrics import Guarantee, attributes, discrete, great_circle, hamming
from tests.engines.postgres_server import new_database, running_server

FORK = multiprocessing.get_context("fork")
HALF = Guarantee(discrete() / 2)
pytestmark = pytest.mark.xdist_group("ledger")


@pytest.fixture(scope="module")
def server():
    with running_server() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "spent.db")
    return new_database(request.getfixturevalue("server"))


def test_the_same_story(address):
    with Ledger.create(address) as ledger:
        ledger.open_account("all", Guarantee(attributes({"age": hamming() * ln(6), "place": great_circle()}), "1e-5"))
        ledger.open_account("press", Guarantee(attributes({"age": hamming() * ln(6)}), "1e-5"), parent="all")
        receipts = ledger.charge_together(
            [("press", Guarantee(attributes({"age": hamming() * ln(k)}), "1e-6"), f"ln {k}") for k in (2, 3)]
        )
        with pytest.raises(BudgetError):
            ledger.charge("press", Guarantee(attributes({"age": hamming() / 10**30})), "more")
        ledger.charge("all", Guarantee(attributes({"place": great_circle() / 2})), "place")
        computed = []
        first = ledger.release(
            "all", Guarantee(attributes({"place": great_circle() / 4})), "q", lambda: computed.append(1) or 7, key="k"
        )
        again = ledger.release(
            "all", Guarantee(attributes({"place": great_circle() / 4})), "q", lambda: computed.append(1) or 8, key="k"
        )
        assert (first.answer, again.answer, computed) == (7, 7, [1])
        with pytest.raises(ArgumentError, match="another request"):
            ledger.charge("all", Guarantee(attributes({"place": great_circle() / 8})), "q", key="k")
        balance = ledger.balance("all")
        assert balance.charges == 4
        assert "age: used up" in balance.words()
        assert ledger.check([*receipts, first.receipt, again.charge])
        assert [entry.kind for entry in ledger.history("press")] == ["opened", "charged", "charged"]
    with Ledger(address) as again:
        assert again.balance("press").charges == 2
        assert again.check(receipts)
        assert not again.check([Receipt(again.id, 99, "x")])
        for sequence in (entry.sequence for entry in again.history()):
            again.charge("all", Guarantee(attributes({"place": great_circle() / 10**6})), f"while reading {sequence}")
        assert again.check()
    with pytest.raises(FileError, match="already"):
        Ledger.create(address)


def test_a_database_without_a_ledger(server):
    with pytest.raises(FileError):
        Ledger(new_database(server))


def test_a_server_that_forgets_is_refused(server):
    import psycopg

    address = new_database(server)
    with Ledger.create(address) as ledger:
        ledger.open_account("a", Guarantee(discrete()))
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        try:
            connection.execute("alter system set fsync = off")
            connection.execute("select pg_reload_conf()")
            time.sleep(1)
            with Ledger(address) as ledger, pytest.raises(FileError, match="fsync=off"):
                ledger.charge("a", HALF, "x")
        finally:
            connection.execute("alter system reset fsync")
            connection.execute("select pg_reload_conf()")
    time.sleep(1)
    with Ledger(address) as ledger:
        ledger.charge("a", HALF, "x")
        assert ledger.check()


# 64 writers

WRITERS, EACH = 64, 5
CHARGE = Guarantee(discrete() / 10)


def write(address, begin, results):
    waits, done, refused = [], [], 0
    with Ledger(address) as ledger:
        ledger.balance("a")
        begin.wait()
        for number in range(EACH):
            started = time.monotonic()
            try:
                done.append(ledger.charge("a", CHARGE, f"charge {number}").to_json())
            except BudgetError:
                refused += 1
            waits.append(time.monotonic() - started)
    results.put((max(waits), done, refused))


@pytest.mark.parametrize("isolation", ["serializable", r"repeatable\ read"])
def test_a_server_with_another_isolation(server, isolation):
    """Whoever waits for their turn has to see what was written meanwhile; they were refused."""
    address = new_database(server)
    address += ("&" if "?" in address else "?") + f"options=-c default_transaction_isolation={isolation}"
    with Ledger.create(address) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10))
    ledgers = [Ledger(address) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda one=one: [one.charge("a", CHARGE, "x") for _ in range(5)]) for one in ledgers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert ledgers[0].balance("a").charges == 20
    for one in ledgers:
        one.close()


@pytest.mark.long
def test_64_writers_on_one_account(address):
    room = WRITERS * EACH - 40  # so that the last ones are refused
    with Ledger.create(address) as ledger:
        ledger.open_account("a", Guarantee(discrete() * room / 10))
    ledger.close()
    begin, results = FORK.Barrier(WRITERS), FORK.Queue()
    workers = [FORK.Process(target=write, args=(address, begin, results)) for _ in range(WRITERS)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=240) for _ in workers]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    receipts = [Receipt.from_json(receipt) for _, done, _ in found for receipt in done]
    with Ledger(address) as ledger:
        assert len(receipts) == ledger.balance("a").charges == room, "no charge is lost"
        assert sum(refused for _, _, refused in found) == 40
        assert len({receipt.sequence for receipt in receipts}) == room
        assert ledger.balance("a").left is None
        assert ledger.check(receipts)
    longest = max(wait for wait, _, _ in found)
    print(f"the longest wait was {longest:.2f} s")
    assert longest < (5 if os.environ.get("METRICDP_LEDGER_KILLS") else 60)  # make ledger-kill, on a quiet machine
