"""Rows per second of a sanitized table of taxi trips, beside copying the file untouched.

    python benchmarks/tables.py                  # 10^6 and 10^7 rows
    python benchmarks/tables.py --large          # and 5 * 10^7, and Spark at 10^7
    python benchmarks/tables.py --json           # the same as JSON
    python benchmarks/tables.py --rows 1000000   # one size

The trips are made by this script, a batch at a time, in a temporary folder (--folder says where): two moments, two
places, the fare, how it was paid, how many rode. Each measurement is a process of its own that reads the file, does its
work and writes a file of the same format; the clock runs without imports, and the memory is the peak of the whole
process. Repeats take turns, and the best counts. The ratio is to the faster of DuckDB and pyarrow copying the file,
which decode it and encode it again and do nothing else. "naive" adds noise of numpy's generator in floats on one
thread: neither secure nor exact, the speed that anybody would get without caring. The shuffle is timed apart: reading
the trips, dealing them to disk and taking them up in a random order.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

POLICY = """
format = 1
[columns.pickup_at]
type = "time"
within = "10 min"
[columns.dropoff_at]
type = "time"
within = "10 min"
[columns.pickup]
type = "location"
columns = ["pickup_lat", "pickup_lon"]
within = "200 m"
[columns.dropoff]
type = "location"
columns = ["dropoff_lat", "dropoff_lon"]
within = "200 m"
[columns.fare]
type = "number"
within = "5 dollars"
[columns.payment]
type = "category"
values = ["card", "cash", "none", "dispute", "unknown"]
epsilon = 1
[columns.passengers]
type = "integer"
within = 2
bounds = [0, 9]
[rows]
order = "{order}"
"""
SIZES = (10**6, 10**7)
LARGE = 5 * 10**7
BATCH = 1 << 17
PAYMENTS = pa.array(["card", "cash", "none", "dispute", "unknown"])


def trips(rows: int) -> Iterator[pa.RecordBatch]:
    """Trips in a city, made up."""
    random = np.random.default_rng(rows)
    for start in range(0, rows, BATCH):
        count = min(BATCH, rows - start)
        begin = 1_700_000_000_000_000 + random.integers(0, 365 * 86_400 * 10**6, count)
        yield pa.record_batch(
            {
                "pickup_at": pa.array(begin, pa.timestamp("us")),
                "dropoff_at": pa.array(begin + random.integers(60, 5400, count) * 10**6, pa.timestamp("us")),
                "pickup_lat": random.normal(40.75, 0.03, count),
                "pickup_lon": random.normal(-73.97, 0.03, count),
                "dropoff_lat": random.normal(40.75, 0.04, count),
                "dropoff_lon": random.normal(-73.97, 0.04, count),
                "fare": np.round(3 + random.gamma(2, 6, count), 2),
                "payment": PAYMENTS.take(pa.array(random.choice(5, count, p=[0.6, 0.3, 0.05, 0.03, 0.02]))),
                "passengers": pa.array(random.integers(1, 7, count), pa.int64()),
            }
        )


def make(path: Path, rows: int) -> None:
    """Write the trips, a batch at a time."""
    writer = None
    for batch in trips(rows):
        writer = writer or pq.ParquetWriter(path, batch.schema, compression="snappy")
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def ours(order: str) -> Callable[[Path, Path], Callable[[], Any]]:
    def prepare(source: Path, out: Path) -> Callable[[], Any]:
        from metricdp.tables import Policy, sanitize

        policy = Policy.parse(POLICY.format(order=order))
        return lambda: sanitize(source, policy, out)

    return prepare


def on_spark(source: Path, out: Path) -> Callable[[], Any]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from metricdp.tables import Policy, sanitize

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.range(10).count()  # a session that has worked before
    policy = Policy.parse(POLICY.format(order="public"))
    return lambda: sanitize(source, policy, out.with_suffix(""), engine="spark")


def _writer(out: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """With dictionaries where they help, as ours has."""
    return pq.ParquetWriter(out, schema, compression="snappy", use_dictionary=["payment", "passengers"])


def copy_pyarrow(source: Path, out: Path) -> Callable[[], Any]:
    def run() -> None:
        with pq.ParquetFile(source) as file, _writer(out, file.schema_arrow) as writer:
            for batch in file.iter_batches(BATCH):
                writer.write_batch(batch)

    return run


def copy_duckdb(source: Path, out: Path) -> Callable[[], Any]:
    import duckdb

    database = duckdb.connect()
    return lambda: database.execute(
        f"copy (from read_parquet('{source}')) to '{out}' (format parquet, compression snappy)"
    )


def naive(source: Path, out: Path) -> Callable[[], Any]:
    random = np.random.default_rng()

    def noisy(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = {name: batch.column(name) for name in batch.schema.names}
        count = batch.num_rows
        for name in ("pickup_at", "dropoff_at"):
            ticks = np.asarray(columns[name].cast(pa.int64()))
            noise = random.laplace(0, 6e8 / math.log(2), count).astype(np.int64)
            columns[name] = pa.array(ticks + noise, pa.timestamp("us"))
        for place in ("pickup", "dropoff"):
            radius, angle = random.gamma(2, 200 / math.log(2), count) / 111_195, random.uniform(0, 2 * math.pi, count)
            latitude, longitude = (np.asarray(columns[f"{place}_{axis}"]) for axis in ("lat", "lon"))
            columns[f"{place}_lat"] = pa.array(latitude + radius * np.cos(angle))
            columns[f"{place}_lon"] = pa.array(longitude + radius * np.sin(angle) / np.cos(np.radians(latitude)))
        columns["fare"] = pa.array(np.asarray(columns["fare"]) + random.laplace(0, 5 / math.log(2), count))
        places = np.asarray(columns["payment"].dictionary_encode().indices)
        lies = random.random(count) > math.e / (4 + math.e)
        columns["payment"] = PAYMENTS.take(pa.array(np.where(lies, random.integers(0, 5, count), places)))
        riders = np.asarray(columns["passengers"]) + np.rint(random.laplace(0, 2 / math.log(2), count)).astype(np.int64)
        columns["passengers"] = pa.array(np.clip(riders, 0, 9))
        return pa.record_batch(columns)

    def run() -> None:
        with pq.ParquetFile(source) as file, _writer(out, file.schema_arrow) as writer:
            for batch in file.iter_batches(BATCH):
                writer.write_batch(noisy(batch))

    return run


def shuffle_alone(source: Path, out: Path) -> Callable[[], Any]:
    from metricdp.tables import Policy
    from metricdp.tables.shuffle import shuffled
    from metricdp.tables.sources import open_source

    opened = open_source(source, Policy.parse(POLICY.format(order="secret")))

    def run() -> None:
        with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
            for _ in shuffled(opened.batches(), opened.schema, Path(scratch)):
                pass

    return run


TASKS: dict[str, Callable[[Path, Path], Callable[[], Any]]] = {
    "metricdp": ours("public"),
    "metricdp, shuffled": ours("secret"),
    "the shuffle alone": shuffle_alone,
    "copy by DuckDB": copy_duckdb,
    "copy by pyarrow": copy_pyarrow,
    "naive numpy noise": naive,
    "metricdp on Spark local[2]": on_spark,
}


def measure(task: str, source: Path) -> dict[str, float]:
    """One run in this process: seconds, and the peak of its memory."""
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        run = TASKS[task](source, Path(folder) / "out.parquet")
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {"seconds": seconds, "megabytes": int(status.split("VmHWM:")[1].split()[0]) / 1024}


def in_new_process(task: str, source: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--task", task, "--source", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{task}: {done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(rows: int, folder: Path, spark: bool) -> list[dict[str, Any]]:
    """Every task at one size."""
    source = folder / f"trips{rows}.parquet"
    make(source, rows)
    names = [task for task in TASKS if spark or "Spark" not in task]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for turn in range(3 if rows <= 10**7 else 1):
        for name in names:
            if turn == 0 or "Spark" not in name:
                runs[name].append(in_new_process(name, source))
    size = source.stat().st_size
    source.unlink()
    best = {name: min(turns, key=lambda run: run["seconds"]) for name, turns in runs.items()}
    copied = min(best[name]["seconds"] for name in names if name.startswith("copy"))
    return [
        {
            "rows": rows,
            "task": name,
            "seconds": best[name]["seconds"],
            "rows_per_second": rows / best[name]["seconds"],
            "ratio": copied / best[name]["seconds"],
            "megabytes": max(run["megabytes"] for run in runs[name]),
            "file_megabytes": size / 2**20,
        }
        for name in names
    ]


def show(results: list[dict[str, Any]]) -> None:
    for rows in sorted({result["rows"] for result in results}):
        part = [result for result in results if result["rows"] == rows]
        print(f"\n{rows:,} trips, {part[0]['file_megabytes']:.0f} MB of Parquet")
        print(f"{'':28}{'seconds':>9}{'rows/s':>13}{'of a copy':>11}{'peak MB':>9}")
        for line in part:
            memory = "driver" if "Spark" in line["task"] else f"{line['megabytes']:.0f}"
            print(
                f"{line['task']:28}{line['seconds']:9.2f}{line['rows_per_second']:13,.0f}{line['ratio']:11.2f}{memory:>9}"
            )
    peaks = [result["megabytes"] for result in results if result["task"] == "metricdp"]
    if len(peaks) > 1:
        print(f"\nmetricdp's peak memory over all sizes: {min(peaks):.0f} to {max(peaks):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also 5 * 10^7 rows, and Spark at 10^7")
    parser.add_argument("--rows", type=int, action="append", help="this size instead; may be repeated")
    parser.add_argument("--no-spark", action="store_true", help="leave Spark out")
    parser.add_argument("--folder", type=Path, help="where the files are made")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--task", choices=list(TASKS), help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(measure(options.task, options.source)))
        return
    sizes = options.rows or [*SIZES, *([LARGE] if options.large else [])]
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for rows in sizes:
            spark = not options.no_spark and rows <= (10**7 if options.large else 10**6)
            results += compare(rows, Path(folder), spark)
    if options.json:
        print(json.dumps({"machine": platform.platform(), "cores": os.cpu_count(), "results": results}, indent=1))
    else:
        print(f"{platform.platform()}, {os.cpu_count()} cores")
        show(results)


if __name__ == "__main__":
    main()
