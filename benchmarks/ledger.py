"""What keeping account costs: charges a second, flat from the first to the last, beside OpenDP's privacy filter.

    python benchmarks/ledger.py                  # 10^6 charges into one account (minutes)
    python benchmarks/ledger.py --charges 50000  # fewer
    python benchmarks/ledger.py --json           # the same as JSON

Six questions. **Flat**: charges go into one account in batches; the processor time of a charge in the first and in
the last tenth is compared, for levels that are floats and for levels 1/1, 1/2, 1/3, ..., whose exact sum grows by a
digit or two with every charge. **In batches** and **one by one**: charges by the clock, synced to the disk, beside bare
commits of SQLite with as many rows and the same settings in the same file system, taking turns with it; **by threads**,
one by one as well, 16 threads of one process share commits. **Balance** of the account with all charges, at once and
by a process that has just opened the ledger. **Accounts**: what opening, charging and asking for the balance of one
cost when there are very many. **OpenDP**: the privacy filter of OpenDP 0.16 around fully adaptive composition is asked
for 250, 500, 1,000 and 2,000 spends of one epsilon, in one process run with ours, if it is installed; it keeps its sums
in memory.

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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
    began = time.perf_counter()
    with Ledger(folder / f"{levels}.db") as again:
        assert again.balance("a").charges == made
    opened = time.perf_counter() - began
    return {
        "levels": levels,
        "charges": made,
        "processor us, first tenth": tenths[0][0] / (made / 10) * 1e6,
        "processor us, last tenth": tenths[-1][0] / (made / 10) * 1e6,
        "last / first": tenths[-1][0] / tenths[0][0],
        "charges a second, by the clock": made / sum(clock for _, clock in tenths),
        "charges a second, of processor time": made / sum(processor for processor, _ in tenths),
        "balance ms": sorted(times)[len(times) // 2] * 1e3,
        "open the ledger and balance, ms": opened * 1e3,
    }


def level(levels: str, k: int) -> Fraction:
    return Fraction(k % 997 + 1, 1024) if levels == "floats" else Fraction(1, k + 1)


def bare_database(path: Path) -> sqlite3.Connection:
    bare = sqlite3.connect(path, isolation_level=None)
    bare.execute("pragma journal_mode=wal")
    bare.execute("pragma synchronous=full")
    bare.execute("create table t (a integer primary key, b text)")
    return bare


def beside_bare_commits(
    folder: Path, name: str, rows: int, turns: int, charge: Callable[[Ledger, int], None]
) -> dict[str, Any]:
    """So many charges in each turn, and as many rows in bare commits of so many rows."""
    ledger = Ledger.create(folder / f"{name}.db")
    ledger.open_account("a", Guarantee(discrete() * 10**9))
    bare = bare_database(folder / f"bare-{name}.db")
    each = max(rows, 200)
    ours: list[tuple[float, float]] = []
    theirs: list[float] = []
    for turn in range(turns):
        began = time.perf_counter()
        for _ in range(each // rows):
            bare.execute("begin immediate")
            bare.executemany("insert into t (b) values (?)", [("x" * 500,)] * rows)
            bare.execute("commit")
        theirs.append(time.perf_counter() - began)
        clock, processor = time.perf_counter(), time.process_time()
        charge(ledger, turn * each)
        ours.append((time.perf_counter() - clock, time.process_time() - processor))
    assert ledger.balance("a").charges == each * turns
    bare.close()
    ledger.close()
    by_clock, bare_clock = sorted(clock for clock, _ in ours), sorted(theirs)
    return {
        "charges a second": each * turns / sum(by_clock),
        "charges a second, best turn": each / by_clock[0],
        "charges a second, middle turn": each / by_clock[turns // 2],
        "bare rows a second": each * turns / sum(theirs),
        "bare rows a second, middle turn": each / bare_clock[turns // 2],
        "charges by bare rows, middle turns": bare_clock[turns // 2] / by_clock[turns // 2],
        "charges a second, of processor time": each * turns / sum(processor for _, processor in ours),
    }


def one_by_one(folder: Path) -> dict[str, Any]:
    """Single charges, each synced."""
    guarantee = Guarantee(discrete() / 1024)

    def charge(ledger: Ledger, _: int) -> None:
        for _ in range(200):
            ledger.charge("a", guarantee, "x")

    return beside_bare_commits(folder, "single", 1, 15, charge)


def in_batches(folder: Path, levels: str) -> dict[str, Any]:
    """Charges by the clock, so many in one commit."""

    def charge(ledger: Ledger, first: int) -> None:
        guarantees = [Guarantee(discrete() * level(levels, k)) for k in range(first, first + BATCH)]
        ledger.charge_together(("a", guarantee, "x") for guarantee in guarantees)

    return beside_bare_commits(folder, f"batches-{levels}", BATCH, 15, charge)


def by_threads(folder: Path, threads: int = 16) -> dict[str, Any]:
    """Single charges of several threads at once, which share commits."""
    guarantee = Guarantee(discrete() / 1024)

    def charge(ledger: Ledger, _: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: ledger.charge("a", guarantee, "x"), range(200)))

    return beside_bare_commits(folder, "threads", 1, 15, charge)


def many_accounts(folder: Path, accounts: int) -> dict[str, Any]:
    """Milliseconds of processor time when there are few accounts, and when there are many."""
    path = folder / "accounts.db"
    found: dict[str, Any] = {"accounts": accounts}
    cap, charge = Guarantee(discrete() * 10), Guarantee(discrete() / 1024)
    with Ledger.create(path) as ledger:
        ledger.open_account("parent", Guarantee(discrete() * 10**6))
        for number in range(accounts):
            if number in (0, 100, accounts - 100, accounts):
                began = time.process_time()
            ledger.open_account(f"account {number}", cap, parent="parent")
            if number in (99, accounts - 1):
                words = "the first" if number == 99 else "the last"
                found[f"open one of {words} 100, ms"] = (time.process_time() - began) / 100 * 1e3
    began = time.process_time()
    with Ledger(path) as ledger:
        ledger.balance(f"account {accounts // 2}")
        found["open the ledger and balance, ms"] = (time.process_time() - began) * 1e3
        began = time.process_time()
        for number in range(0, accounts, accounts // 100):
            ledger.charge(f"account {number}", charge, "x")
        found["charge one after another account, ms"] = (time.process_time() - began) / 100 * 1e3
    return found


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
        limited = dp.c.make_privacy_filter(composed, d_in=1.0, d_out=float(spends))
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
    parser.add_argument("--accounts", type=int, default=10**5)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        results = {
            "machine": {"processors": os.cpu_count(), "load": os.getloadavg()[0], "python": sys.version.split()[0]},
            "one by one": one_by_one(folder),
            "one by one, 16 threads": by_threads(folder),
            "in batches, levels k/1024": in_batches(folder, "floats"),
            "in batches, levels 1/k": in_batches(folder, "harmonic"),
            "spends, ours, seconds": ours_in_turn(folder),
            "spends, OpenDP's filter, seconds": opendp_filter(),
            "flat, floats": flat(folder, arguments.charges, "floats"),
            "flat, 1/k": flat(folder, arguments.charges, "harmonic"),
            "many accounts": many_accounts(folder, arguments.accounts),
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
