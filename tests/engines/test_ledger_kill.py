"""Killed at random moments, on both engines: never an answer without its entry, never a broken chain, and it goes on.

Twenty-five times here; a thousand times on each engine in `make ledger-kill`.
"""

import multiprocessing
import os
import time

import numpy as np
import pytest

from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, discrete
from tests.engines.postgres_server import new_database, running_server

FORK = multiprocessing.get_context("fork")
KILLS = int(os.environ.get("METRICDP_LEDGER_KILLS", "25"))
CHARGE = Guarantee(discrete() / 1000)
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


def work(address, outside, first, ready):
    """Charge, compute, store, and let the answer out into a file; over and over until killed."""
    handle = os.open(outside, os.O_WRONLY | os.O_APPEND)
    with Ledger(address) as ledger:
        ledger.balance("a")
        ready.set()
        number = first
        while True:
            done = ledger.release("a", CHARGE, "x", lambda: time.time_ns(), key=str(number))
            os.write(handle, f"{number} {done.answer}\n".encode())
            number += 1


def released(outside):
    """What got out, without a torn last line."""
    lines = outside.read_text().splitlines(keepends=True)
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return [(key, int(answer)) for key, answer in pairs]


def test_killed_at_random_moments(address, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.touch()
    with Ledger.create(address) as ledger:
        ledger.open_account("a", Guarantee(discrete() * 10**6))
    moments = np.random.default_rng().uniform(0, 0.15, KILLS)
    first = unanswered = seen = 0
    answers: dict[str, int] = {}
    for number, moment in enumerate(moments, 1):
        ready = FORK.Event()
        worker = FORK.Process(target=work, args=(address, outside, first, ready))
        worker.start()
        assert ready.wait(60), "it does not start again after a kill"
        time.sleep(moment)
        worker.kill()
        worker.join(60)
        worker.close()
        with Ledger(address) as ledger:
            stored = {}
            open_charges = {}
            for entry in ledger.history("a", after=seen):
                if entry.kind == "charged":
                    open_charges[entry.sequence] = entry.key
                elif entry.kind == "answered":
                    key = open_charges.pop(entry.charge, None) or answers_key(ledger, entry.charge)
                    stored[key] = entry.body["answer"]
            answers |= stored
            for key, answer in released(outside):
                assert answers.get(key) == answer, f"an answer without its entry, after kill {number}"
            assert len(open_charges) <= 1, "one process has at most one charge that waits for its answer"
            unanswered += len(open_charges)
            first = max((int(key) for key in answers), default=-1) + 1  # a charge without an answer is taken up again
            seen = min([*open_charges, ledger_end(ledger) + 1]) - 1
            if number % 100 == 0 or number == KILLS:
                result = ledger.check()
                assert result, result.reason
                keys = [entry.key for entry in ledger.history("a") if entry.kind == "charged"]
                assert len(keys) == len(set(keys)), "a request was charged twice"
    print(f"{KILLS} kills: {len(answers):,} answers, {unanswered} of the kills between a charge and its answer")
    assert len(answers) > KILLS / 20, "hardly a process came to an answer: the test is blind"
    assert unanswered, "no moment fell between a charge and its answer: the test is blind"


def answers_key(ledger, charge):
    (entry,) = ledger.history(after=charge - 1, most=1)
    return entry.key


def ledger_end(ledger):
    with ledger._store.reading() as run:
        ((last,),) = run("select max(sequence) from ledger_entries", {})
    return last
