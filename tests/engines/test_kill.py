"""Killed at random moments: never a partial file, and the next run sweeps up. Fifty times in `make attack`."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from metricdp.policies import Policy
from metricdp.tables import sanitize
from tests.attacks.effort import tries

POLICY = """
format = 2
[columns]
row = "keep"
[columns.pay]
type = "number"
within = 1
[person]
column = "who"
rows = 2
excess = "cut"
release = "rekey"
[rows]
order = "{order}"
"""
ROWS = 3000
WORK = """
import sys, time
import pyarrow as pa
from metricdp.policies import Policy
from metricdp.tables import sanitize
folder, text = sys.argv[1:]
part = pa.record_batch({"row": list(range(500)), "pay": [1.5] * 500, "who": [str(n) for n in range(500)]})
parts = [part.set_column(2, "who", pa.array([f"{k}-{n}" for n in range(500)])) for k in range(6)]
policy = Policy.parse(text)
for number in range(10**9):
    for ending in ("parquet", "arrow", "csv"):
        sanitize(pa.Table.from_batches(parts), policy, f"{folder}/{number % 3}.{ending}", overwrite=number > 2,
                 progress=lambda done, total: time.sleep(0.002))
    if number == 0:
        print("ready", flush=True)
"""


def rows_of(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).num_rows
    if path.suffix == ".csv":
        return len(path.read_text().splitlines()) - 1
    import pyarrow.feather as pa_feather

    return pa_feather.read_table(path).num_rows


@pytest.mark.long
@pytest.mark.parametrize("order", ["secret", "public"])
def test_killed_at_random_moments(tmp_path, order):
    text = POLICY.format(order=order)
    moments = np.random.default_rng().uniform(0, 0.4, min(25, tries(8)))
    leftovers = whole = 0
    for number, moment in enumerate(moments):
        folder = tmp_path / str(number)
        folder.mkdir()
        worker = subprocess.Popen([sys.executable, "-c", WORK, str(folder), text], stdout=subprocess.PIPE)
        assert worker.stdout.readline() == b"ready\n"
        time.sleep(moment)
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL
        worker.stdout.close()
        for path in folder.iterdir():
            if path.name.startswith("."):
                leftovers += 1
            else:
                assert rows_of(path) == ROWS, path
                whole += 1
        next_run = Policy.parse('format=2\n[columns.x]\ntype="boolean"\nepsilon=1')
        sanitize(_one_row(), next_run, folder / "next.parquet")
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]
        assert pq.read_table(folder / "next.parquet").num_rows == 1
    assert leftovers >= len(moments) // 5, "hardly a moment fell into the work: the test is blind"
    assert whole >= 3 * len(moments), "each worker finishes three files before it is killed, and they stay whole"


def _one_row():
    import pyarrow as pa

    return pa.table({"x": [True]})
