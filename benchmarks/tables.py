"""Rows per second of a sanitized table of taxi trips, beside copying the file untouched.

    python benchmarks/tables.py                  # 10^6 and 10^7 rows
    python benchmarks/tables.py --large          # and 5 * 10^7, and Spark at 10^7
    python benchmarks/tables.py --json           # the same as JSON
    python benchmarks/tables.py --rows 1000000   # one size
    python benchmarks/tables.py --columns        # a row for each type of column, 10^6 rows each

The trips are made by this script, a batch at a time, in a temporary folder (--folder says where): two moments, two
places, the fare, how it was paid, how many rode. Each measurement is a process of its own that reads the file, does its
work and writes a file of the same format; the clock runs without imports, and the memory is the peak of the whole
process. Repeats take turns, and the best counts. The ratio is to the faster of DuckDB and pyarrow copying the file,
which decode it and encode it again and do nothing else. "naive" adds noise of numpy's generator in floats on one
thread: neither secure nor exact, the speed that anybody would get without caring. The shuffle is timed apart: reading
the trips, dealing them to disk and taking them up in a random order.

With --columns every type of column has a table of one column (a place has two), Parquet to Parquet, beside
an untouched copy of the same file by pyarrow. What Spark does beside an identity copy is in benchmarks/tables_spark.py.
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
format = 2
[columns.pickup_at]
type = "time"
within = "10 min"
[columns.dropoff_at]
type = "time"
within = "10 min"
[columns.pickup]
type = "place"
columns = ["pickup_lat", "pickup_lon"]
within = "200 m"
[columns.dropoff]
type = "place"
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
        from metricdp.policies import Policy
        from metricdp.tables import sanitize

        policy = Policy.parse(POLICY.format(order=order))
        return lambda: sanitize(source, policy, out)

    return prepare


def on_spark(source: Path, out: Path) -> Callable[[], Any]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from metricdp.policies import Policy
    from metricdp.tables import sanitize

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
    from metricdp.sources import open_table
    from metricdp.tables.shuffle import shuffled

    opened = open_table(source)

    def run() -> None:
        with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
            for _ in shuffled(opened.batches(), opened.schema, Path(scratch)):
                pass

    return run


NAMES = [f"v{number}" for number in range(16)]
TREE = ", ".join(f'{name} = "g{number % 4}"' for number, name in enumerate(NAMES))
TREE += ", " + ", ".join(f'g{number} = "all"' for number in range(4))


def _wide(random: np.random.Generator, rows: int) -> pa.Array:
    """Decimals of more than 64 bits: unscaled integers of two words."""
    words = np.stack([random.integers(-(2**63), 2**63 - 1, rows), random.integers(-(2**20), 2**20, rows)], axis=1)
    return pa.Array.from_buffers(pa.decimal128(38, 2), rows, [None, pa.py_buffer(np.ascontiguousarray(words))])


def _narrow(random: np.random.Generator, rows: int) -> pa.Array:
    """Decimals of 18 digits."""
    low = random.integers(-(10**9), 10**9, rows)
    words = np.ascontiguousarray(np.stack([low, low >> 63], axis=1))
    return pa.Array.from_buffers(pa.decimal128(18, 2), rows, [None, pa.py_buffer(words)])


def _lists(values: pa.Array, lengths: np.ndarray[Any, Any]) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32()), values)


COLUMNS: dict[str, tuple[str, Callable[[np.random.Generator, int], list[pa.Array]]]] = {
    "kept text": ('type = "keep"', lambda r, n: [pa.array(NAMES).take(pa.array(r.integers(0, 16, n)))]),
    "number": ('type = "number"\nwithin = 5', lambda r, n: [pa.array(r.normal(0, 1000, n))]),
    "decimal, 18 digits": ('type = "number"\nwithin = 5\nresolution = "0.01"', lambda r, n: [_narrow(r, n)]),
    "decimal, 38 digits": ('type = "number"\nwithin = "1e20"\nresolution = "1e10"', lambda r, n: [_wide(r, n)]),
    "integer": ('type = "integer"\nwithin = 5', lambda r, n: [pa.array(r.integers(0, 1000, n))]),
    "integer, bounded": (
        'type = "integer"\nwithin = 5\nbounds = [0, 1000]\nmissing = "refuse"',
        lambda r, n: [pa.array(r.integers(0, 1000, n))],
    ),
    "integer, secret null": (
        'type = "integer"\nwithin = 5\nbounds = [0, 1000]',
        lambda r, n: [pa.array(r.integers(0, 1000, n), mask=r.random(n) < 0.1)],
    ),
    "time": (
        'type = "time"\nwithin = "10 min"',
        lambda r, n: [pa.array(r.integers(0, 2 * 10**15, n), pa.timestamp("us"))],
    ),
    "date": (
        'type = "time"\nwithin = "5 days"',
        lambda r, n: [pa.array(r.integers(0, 20000, n), pa.int32()).view(pa.date32())],
    ),
    "place": (
        'type = "place"\ncolumns = ["x", "y"]\nwithin = "200 m"',
        lambda r, n: [pa.array(r.normal(40, 1, n)), pa.array(r.normal(-73, 1, n))],
    ),
    "category": (
        f'type = "category"\nvalues = {NAMES}\nepsilon = 1',
        lambda r, n: [pa.array(NAMES).take(pa.array(r.integers(0, 16, n)))],
    ),
    "taxonomy": (
        f'type = "category"\nparents = {{{TREE}}}\nepsilon = 1',
        lambda r, n: [pa.array(NAMES).take(pa.array(r.integers(0, 16, n)))],
    ),
    "boolean": ('type = "boolean"\nepsilon = 1', lambda r, n: [pa.array(r.random(n) < 0.5)]),
    "set of 16": (
        f'type = "set"\nvalues = {NAMES}\nepsilon = 2',
        lambda r, n: [_lists(pa.array(NAMES).take(pa.array(r.integers(0, 16, 2 * n))), np.full(n, 2))],
    ),
    "series of 24": (
        'type = "series"\nlength = 24\nwithin = 1',
        lambda r, n: [_lists(pa.array(r.normal(0, 1, 24 * n)), np.full(n, 24))],
    ),
}
"""For each type of column: its entry in a policy, and what makes a batch of it."""


def one_column(name: str, rows: int, folder: Path) -> dict[str, Any]:
    """A table of one column, sanitized and copied in turns in this process; the best of three counts."""
    from metricdp.policies import Policy
    from metricdp.tables import sanitize

    entry, column = COLUMNS[name]
    random = np.random.default_rng(1)
    source, out = folder / "in.parquet", folder / "out.parquet"
    writer = None
    for start in range(0, rows, BATCH):
        batch = pa.record_batch(column(random, min(BATCH, rows - start)), names=["x", "y"][: 1 + (name == "place")])
        writer = writer or pq.ParquetWriter(source, batch.schema, compression="snappy")
        writer.write_batch(batch)
    assert writer is not None
    writer.close()
    private = "" if "keep" not in entry else '[columns.b]\ntype = "boolean"\nepsilon = 1\ncolumns = ["b"]\n'
    if private:  # a policy protects something
        table = pq.read_table(source)
        pq.write_table(table.append_column("b", pa.array(np.zeros(rows, dtype=bool))), source, row_group_size=BATCH)
    policy = Policy.parse(f'format = 2\n[columns.x]\n{entry}\n{private}[rows]\norder = "public"\n')

    def copy() -> None:
        with pq.ParquetFile(source) as file, pq.ParquetWriter(out, file.schema_arrow, compression="snappy") as writer:
            for batch in file.iter_batches(BATCH):
                writer.write_batch(batch)

    best: dict[str, tuple[float, float]] = {}
    for _ in range(3):
        for task, run in (("ours", lambda: sanitize(source, policy, out, overwrite=True)), ("copy", copy)):
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            took = time.perf_counter() - wall, time.process_time() - cpu
            best[task] = min(best.get(task, took), took)
    return {
        "column": name,
        "rows_per_second": rows / best["ours"][0],
        "rows_per_processor_second": rows / best["ours"][1],
        "ratio": best["copy"][0] / best["ours"][0],
    }


def show_columns(rows: int, folder: Path) -> list[dict[str, Any]]:
    """Print a row for each type of column."""
    print(f"{rows:,} rows of one column, Parquet to Parquet")
    print(f"{'':22}{'rows/s':>14}{'of a copy':>11}{'rows/cpu-s':>14}")
    results = []
    for name in COLUMNS:
        line = one_column(name, rows, folder)
        results.append(line)
        print(
            f"{name:22}{line['rows_per_second']:14,.0f}{line['ratio']:11.2f}{line['rows_per_processor_second']:14,.0f}",
            flush=True,
        )
    return results


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
    parser.add_argument("--columns", action="store_true", help="a row for each type of column instead")
    parser.add_argument("--task", choices=list(TASKS), help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(measure(options.task, options.source)))
        return
    if options.columns:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            show_columns((options.rows or [10**6])[0], Path(folder))
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
