"""What keeping account costs: charges a second, flat from the first to the last, beside OpenDP's privacy filter.

    python benchmarks/ledger.py                  # 10^6 charges into one account (minutes)
    python benchmarks/ledger.py --charges 50000  # fewer
    python benchmarks/ledger.py --json           # the same as JSON

Four questions. **Flat**: charges go into one account in batches; the processor time of a charge in the first and in
the last tenth is compared, for levels that are floats and for levels 1/1, 1/2, 1/3, ..., whose exact sum grows by a
digit or two with every charge. **One by one**: every charge is a commit that is synced to the disk, beside a bare
commit of SQLite with the same settings in the same file system, taking turns with it. **Balance** of the account with
all charges. **OpenDP**: the privacy filter of OpenDP 0.16 around fully adaptive composition is asked for 250, 500,
1,000 and 2,000 spends of one epsilon, in one process run with ours, if it is installed; it keeps its sums in memory.

Processor time is what the charge costs; the clock beside it holds the disk, and whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, discrete

BATCH = 2_000
SPENDS = (250, 500, 1_000, 2_000)


def flat(folder: Path, charges: int, levels: str) -> dict[str, Any]:
    """Charges in batches; seconds for each tenth of them."""
    ledger = Ledger.create(folder / f"{levels}.db")
    ledger.open_account("a", Guarantee(discrete() * 10**9))
    tenths: list[tuple[float, float]] = []
    made = 0
    for _tenth in range(10):
        processor = clock = 0.0
        for start in range(made, made + charges // 10, BATCH):
            batch = [
                Guarantee(discrete() * level(levels, k)) for k in range(start, min(start + BATCH, made + charges // 10))
            ]
            began = time.process_time(), time.perf_counter()
            ledger.charge_together(("a", guarantee, "x") for guarantee in batch)
            processor += time.process_time() - began[0]
            clock += time.perf_counter() - began[1]
        tenths.append((processor, clock))
        made += charges // 10
    times = []
    for _ in range(20):
        began = time.perf_counter()
        balance = ledger.balance("a")
        times.append(time.perf_counter() - began)
    assert balance.charges == made
    ledger.close()
    return {
        "levels": levels,
        "charges": made,
        "processor us, first tenth": tenths[0][0] / (made / 10) * 1e6,
        "processor us, last tenth": tenths[-1][0] / (made / 10) * 1e6,
        "last / first": tenths[-1][0] / tenths[0][0],
        "charges a second, by the clock": made / sum(clock for _, clock in tenths),
        "charges a second, of processor time": made / sum(processor for processor, _ in tenths),
        "balance ms": sorted(times)[len(times) // 2] * 1e3,
    }


def level(levels: str, k: int) -> Fraction:
    return Fraction(k % 997 + 1, 1024) if levels == "floats" else Fraction(1, k + 1)


def one_by_one(folder: Path, times: int = 1_500) -> dict[str, Any]:
    """Single charges, each synced, in turns with bare commits."""
    ledger = Ledger.create(folder / "single.db")
    ledger.open_account("a", Guarantee(discrete() * 10**6))
    guarantee = Guarantee(discrete() / 1024)
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("pragma journal_mode=wal")
    bare.execute("pragma synchronous=full")
    bare.execute("create table t (a integer primary key, b text)")
    seconds = {"ours": 0.0, "bare": 0.0}
    processor = 0.0
    for _ in range(times // 100):
        began = time.perf_counter()
        for _ in range(100):
            bare.execute("begin immediate")
            bare.execute("insert into t (b) values (?)", ("x" * 500,))
            bare.execute("commit")
        seconds["bare"] += time.perf_counter() - began
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(100):
            ledger.charge("a", guarantee, "x")
        seconds["ours"] += time.perf_counter() - began
        processor += time.process_time() - cpu
    bare.close()
    ledger.close()
    done = times // 100 * 100
    return {
        "charges a second": done / seconds["ours"],
        "bare commits a second": done / seconds["bare"],
        "share of bare commits": seconds["bare"] / seconds["ours"],
        "charges a second, of processor time": done / processor,
    }


def ours_in_turn(folder: Path) -> dict[str, float]:
    """The same numbers of spends as the filter gets, one by one, each synced."""
    found: dict[str, float] = {}
    for spends in SPENDS:
        with Ledger.create(folder / f"spends-{spends}.db") as ledger:
            ledger.open_account("a", Guarantee(discrete() * spends))
            guarantee = Guarantee(discrete() / 2)
            began = time.process_time(), time.perf_counter()
            for _ in range(spends):
                ledger.charge("a", guarantee, "x")
            found[f"{spends}, processor"] = time.process_time() - began[0]
            found[f"{spends}, clock"] = time.perf_counter() - began[1]
    return found


def opendp_filter() -> dict[str, float] | str:
    """Seconds that OpenDP's filter takes for so many spends."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return "not installed"
    dp.enable_features("contrib", "honest-but-curious")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    found: dict[str, float] = {}
    for spends in SPENDS:
        composed = dp.c.make_fully_adaptive_composition(*space, dp.max_divergence())
        limited = dp.c.make_privacy_filter(composed, database_metric=1.0, answer_metric=float(spends))
        spend = dp.m.make_laplace(*space, scale=2.0)
        queryable = limited(0.0)
        began = time.process_time(), time.perf_counter()
        for _ in range(spends):
            queryable(spend)
        found[f"{spends}, processor"] = time.process_time() - began[0]
        found[f"{spends}, clock"] = time.perf_counter() - began[1]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--charges", type=int, default=10**6)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        results = {
            "machine": {"processors": os.cpu_count(), "load": os.getloadavg()[0], "python": sys.version.split()[0]},
            "one by one": one_by_one(folder),
            "spends, ours, seconds": ours_in_turn(folder),
            "spends, OpenDP's filter, seconds": opendp_filter(),
            "flat, floats": flat(folder, arguments.charges, "floats"),
            "flat, 1/k": flat(folder, arguments.charges, "harmonic"),
        }
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    for title, found in results.items():
        print(title)
        for key, value in found.items() if isinstance(found, dict) else [("", found)]:
            print(f"  {key}: {value:,.4g}" if isinstance(value, float) else f"  {key}: {value}")


if __name__ == "__main__":
    main()
