"""Threads that wait write together: one trip to the disk, each with its own result, and nobody's charge is lost."""

import threading
import time

import pytest

from metricdp.errors import ArgumentError, BudgetError, FileError
from metricdp.ledger import Ledger
from metricdp.ledger.grouping import Together
from metricdp.metrics import Guarantee, discrete


class Transactions:
    """Counts transactions; the first one waits until it is let go."""

    def __init__(self, error=None):
        self.sizes, self.error = [], error
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, work):
        done = []
        first = not self.sizes
        self.sizes.append(0)
        place = len(self.sizes) - 1
        if first:
            self.begun.set()
            assert self.go.wait(30)
        work(done)
        self.sizes[place] = len(done)
        if not first and self.error is not None:
            raise self.error


def all_at_once(transactions, works):
    """The first work is being written while the others arrive; their results, or their errors."""
    together = Together(transactions)
    found = {}

    def one(number, work):
        try:
            found[number] = together.run(work)
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=one, args=(0, lambda done: done.append(0)))]
    threads[0].start()
    assert transactions.begun.wait(30)
    for number, work in enumerate(works, 1):
        threads.append(threading.Thread(target=one, args=(number, work)))
        threads[-1].start()
    while len(together._waiting) < len(works):
        time.sleep(0.001)
    transactions.go.set()
    for thread in threads:
        thread.join(30)
    return found


def refuse(done):
    raise ArgumentError("not this one")


def test_those_who_wait_share_one_transaction_and_a_refusal_is_ones_own():
    transactions = Transactions()
    works = [lambda done, number=number: done.append(number) or number for number in range(1, 8)]
    found = all_at_once(transactions, [*works, refuse])
    assert [found[number] for number in range(1, 8)] == list(range(1, 8))
    assert isinstance(found[8], ArgumentError)
    assert transactions.sizes == [1, 7]


def test_where_the_transaction_fails_nobody_is_told_that_it_went_well():
    found = all_at_once(Transactions(FileError("the disk is full")), [lambda done: done.append(1)] * 5)
    assert found[0] is None
    assert all(isinstance(found[number], FileError) for number in range(1, 6))
    assert "disk is full" in str(found[3])
    found = all_at_once(Transactions(KeyboardInterrupt()), [lambda done: done.append(1)] * 3)
    kinds = sorted(type(found[number]).__name__ for number in range(1, 4))
    assert kinds == ["FileError", "FileError", "KeyboardInterrupt"]


def test_an_error_that_is_no_refusal_ends_the_transaction():
    def broken(done):
        raise ZeroDivisionError

    found = all_at_once(Transactions(), [lambda done: done.append(1), broken])
    assert any(isinstance(found[number], ZeroDivisionError) for number in (1, 2))
    assert all(isinstance(found[number], Exception) for number in (1, 2))


def test_charges_of_many_threads_up_to_the_cap(tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("all", Guarantee(discrete() * 5))
        ledger.open_account("a", Guarantee(discrete() * 5), parent="all")
        receipts, refused, start = [], [], threading.Barrier(16)

        def work(number):
            start.wait()
            for step in range(5):
                try:
                    receipt = ledger.charge("a", Guarantee(discrete() / 10), f"{number}", key=f"{number} {step}")
                    assert ledger.answer(receipt, [number, step]).answer == [number, step]
                    receipts.append(receipt)
                except BudgetError as error:
                    refused.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(receipts) == len({receipt.sequence for receipt in receipts}) == 50
        assert len(refused) == 30
        assert ledger.balance("all").charges == ledger.balance("a").charges == 50
        assert ledger.check(receipts)


@pytest.mark.parametrize("bad", ["", 3, None])
def test_a_bad_charge_in_a_group_is_refused_before_it_waits(tmp_path, bad):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", Guarantee(discrete()))
        with pytest.raises(ArgumentError):
            ledger.charge("a", Guarantee(discrete() / 2), bad)
        assert ledger.check()
