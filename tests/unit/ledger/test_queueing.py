"""The queue of writers: one at a time, in order, nobody waits for the dead, and what happens without locks."""

import errno
import multiprocessing
import os
import threading
import time

import pytest

from metricdp.ledger import Ledger
from metricdp.ledger.stores import queueing
from metricdp.ledger.stores.queueing import FairLock, fair_lock
from metricdp.metrics import Guarantee, discrete

FORK = multiprocessing.get_context("fork")


def add_one(path, counter, times):
    lock = FairLock(path)
    for _ in range(times):
        with lock.held():
            value = int(counter.read_text())
            time.sleep(0.0002)
            counter.write_text(str(value + 1))


def test_one_process_at_a_time(tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    workers = [FORK.Process(target=add_one, args=(tmp_path / "queue", counter, 25)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert counter.read_text() == "200"


def stand(path, number, order, ready, hold):
    lock = FairLock(path)
    ready.set()
    with lock.held():
        with order.open("a") as file:
            file.write(f"{number}\n")
        time.sleep(hold)


def test_first_come_first_served(tmp_path):
    order, path = tmp_path / "order", tmp_path / "queue"
    workers = []
    with FairLock(path).held():
        for number in range(8):
            ready = FORK.Event()
            worker = FORK.Process(target=stand, args=(path, number, order, ready, 0))
            worker.start()
            ready.wait(10)
            time.sleep(0.05)  # in the line by now
            workers.append(worker)
    for worker in workers:
        worker.join(30)
    assert order.read_text().split() == [str(number) for number in range(8)]


def test_nobody_waits_for_the_dead(tmp_path):
    """Neither for one who held the lock, nor for one who died in the line; and who comes later does not overtake."""
    order, path = tmp_path / "order", tmp_path / "queue"
    workers = []
    for number in range(4):
        ready = FORK.Event()
        worker = FORK.Process(target=stand, args=(path, number, order, ready, 30 if number == 0 else 0))
        worker.start()
        ready.wait(10)
        time.sleep(0.1)
        workers.append(worker)
    workers[2].kill()  # in the line
    time.sleep(0.1)
    assert order.read_text().split() == ["0"], "the one behind it still waits for the holder"
    workers[0].kill()  # the holder
    for worker in workers:
        worker.join(10)
    assert order.read_text().split() == ["0", "1", "3"]


def test_threads_stand_in_line_too(tmp_path):
    lock, order = fair_lock(tmp_path / "queue"), []
    assert fair_lock(tmp_path / "queue") is lock, "one for each file in a process"
    threads = []
    with lock.held():
        for number in range(6):
            thread = threading.Thread(target=lambda number=number: _note(lock, order, number))
            thread.start()
            time.sleep(0.02)
            threads.append(thread)
    for thread in threads:
        thread.join(10)
    assert order == list(range(6))


def _note(lock, order, number):
    with lock.held():
        order.append(number)


def test_an_error_inside_lets_the_next_one_in(tmp_path):
    lock = FairLock(tmp_path / "queue")
    with pytest.raises(RuntimeError), lock.held():
        raise RuntimeError
    with lock.held():
        pass


def test_a_child_after_a_fork_stands_by_itself(tmp_path):
    lock = FairLock(tmp_path / "queue")
    with lock.held():
        pass
    child = FORK.Process(target=_note, args=(lock, [], 1))
    with lock.held():
        child.start()
        time.sleep(0.1)
        assert child.is_alive(), "the child waits for its parent"
    child.join(10)
    assert child.exitcode == 0


def charge_many(path, times):
    queueing.fcntl = None
    with Ledger(path) as ledger:
        for _ in range(times):
            ledger.charge("a", Guarantee(discrete() / 10), "x")


def test_without_fcntl_the_database_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(queueing, "fcntl", None)
    with Ledger.create(tmp_path / "l.db") as ledger:
        assert not ledger._store._lock.fair
        ledger.open_account("a", Guarantee(discrete() * 100))
        ledger.close()
        workers = [FORK.Process(target=charge_many, args=(tmp_path / "l.db", 20)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0] * 4
        assert not (tmp_path / "l.db-queue").exists()
        assert ledger.balance("a").charges == 80
        assert ledger.check()


def test_a_disk_without_locks(tmp_path, monkeypatch):
    lock = FairLock(tmp_path / "queue")

    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(queueing.fcntl, "lockf", refuse)
    with lock.held():
        assert not lock.fair


def test_a_supposed_deadlock_is_tried_again(tmp_path, monkeypatch):
    lock, real, calls = FairLock(tmp_path / "queue"), queueing.fcntl.lockf, []

    def sometimes(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise OSError(errno.EDEADLK, "seems to be one")
        return real(*arguments)

    monkeypatch.setattr(queueing.fcntl, "lockf", sometimes)
    with lock.held():
        pass
    assert len(calls) > 2


def test_another_error_is_told(tmp_path):
    lock = FairLock(tmp_path / "no folder" / "queue")
    with pytest.raises(OSError, match=os.strerror(errno.ENOENT)), lock.held():
        pass
