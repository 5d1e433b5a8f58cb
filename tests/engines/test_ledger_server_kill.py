"""The PostgreSQL server itself killed in the middle of charges: what was reported is there when it is back.

Twice here; as often as METRICDP_LEDGER_SERVER_KILLS says in `make ledger-kill`.
"""

import multiprocessing
import os
import time
from contextlib import suppress

import numpy as np
import pytest

from metricdp.errors import FileError
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, discrete
from tests.engines.postgres_server import new_database, running_server

FORK = multiprocessing.get_context("fork")
KILLS = int(os.environ.get("METRICDP_LEDGER_SERVER_KILLS", "2"))
CHARGE = Guarantee(discrete() / 1000)
pytestmark = pytest.mark.xdist_group("ledger")


def work(address, outside):
    """Charge, store, and let the answer out into a file; where the server is gone, try the same key again."""
    handle = os.open(outside, os.O_WRONLY | os.O_APPEND)
    with Ledger(address) as ledger:
        number = 0
        while True:
            try:
                done = ledger.release("a", CHARGE, "x", time.time_ns, key=str(number))
            except FileError:
                os.write(handle, b"away\n")
                time.sleep(0.05)
            else:
                os.write(handle, f"{number} {done.answer}\n".encode())
                number += 1


def killed(server):
    """The server and all its processes, at once and without a word."""
    import psutil

    head = psutil.Process(server.get_pid())
    family = [head, *head.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family, timeout=30)


def brought_back(server):
    for _ in range(12):  # its start has a time limit of its own, which a busy machine can pass
        with suppress(Exception):
            server.ensure_postgres_running()
            return
        time.sleep(1)
    server.ensure_postgres_running()


def released(outside):
    lines = outside.read_text().splitlines(keepends=True)
    return [line.split() for line in lines if line.endswith("\n") and line != "away\n"]


def until(found, words):
    deadline = time.monotonic() + 120
    while not found():
        assert time.monotonic() < deadline, words
        time.sleep(0.02)


def test_the_server_is_killed_in_the_middle_of_charges(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.touch()
    with running_server() as server:
        address = new_database(server)
        with Ledger.create(address) as ledger:
            ledger.open_account("a", Guarantee(discrete() * 10**6))
        worker = FORK.Process(target=work, args=(address, outside))
        worker.start()
        try:
            for moment in np.random.default_rng().uniform(0, 0.3, KILLS):
                before = len(released(outside))
                until(lambda before=before: len(released(outside)) > before + 2, "it does not go on")
                time.sleep(moment)
                killed(server)
                brought_back(server)
        finally:
            before = len(released(outside))
            with suppress(AssertionError):
                until(lambda: len(released(outside)) > before + 2, "")
            worker.kill()
            worker.join(60)
        with Ledger(address) as ledger:
            result = ledger.check()
            assert result, result.reason
            keys = {entry.sequence: entry.key for entry in ledger.history("a") if entry.kind == "charged"}
            answers = {keys[entry.charge]: entry.body["answer"] for entry in ledger.history("a") if entry.charge}
            assert len(keys) == len(set(keys.values())) == ledger.balance("a").charges, "a request was charged twice"
            for key, answer in released(outside):
                assert answers.get(key) == int(answer), "an answer without its entry"
        away = outside.read_text().count("away\n")
        assert away, "the worker never saw the server gone: the test is blind"
        print(f"{KILLS} kills of the server: {len(answers):,} answers, {away} attempts while it was away")
