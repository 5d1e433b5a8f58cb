"""Rows per second of a table that Spark sanitizes, beside a copy by `mapInArrow` in the same session.

    python benchmarks/tables_spark.py                  # 2 * 10^6 rows
    python benchmarks/tables_spark.py --rows 10000000  # another size
    python benchmarks/tables_spark.py --json           # the same as JSON

The trips are those of `tables.py`: moments, places, a fare, a category, an integer. One session with two cores
(local[2]) does both: the copy reads the Parquet file, passes every batch through Python untouched and writes a folder
of Parquet files; ours reads the same file and writes a folder too. Both have worked once, on a smaller file, before the
clock runs. Repeats take turns, and the best of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))
from tables import POLICY, make

ROWS = 2 * 10**6
TURNS = 3


def session(folder: Path) -> Any:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "4g")
    builder = builder.config("spark.local.dir", str(folder)).config("spark.ui.showConsoleProgress", "false")
    made = builder.config("spark.io.encryption.enabled", "true").getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def untouched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def copy(spark: Any, source: Path, out: Path) -> None:
    frame = spark.read.parquet(str(source))
    frame.mapInArrow(untouched, frame.schema).write.parquet(str(out))


def ours(order: str) -> Callable[[Any, Path, Path], None]:
    from metricdp.policies import Policy
    from metricdp.tables import sanitize

    policy = Policy.parse(POLICY.format(order=order))

    def run(spark: Any, source: Path, out: Path) -> None:
        sanitize(source, policy, out, engine="spark")

    return run


def measure(rows: int, folder: Path) -> dict[str, Any]:
    spark = session(folder / "spark")
    small, source = folder / "small.parquet", folder / "trips.parquet"
    make(small, 10**5)
    make(source, rows)
    tasks = {"copy by mapInArrow": copy, "metricdp": ours("public"), "metricdp, shuffled": ours("secret")}
    best: dict[str, float] = {}
    for turn in range(TURNS + 1):
        for name, task in tasks.items():
            out = folder / "out"
            start = time.perf_counter()
            task(spark, source if turn else small, out)
            seconds = time.perf_counter() - start
            shutil.rmtree(out)
            if turn:
                best[name] = min(seconds, best.get(name, seconds))
    spark.stop()
    copied = best["copy by mapInArrow"]
    return {
        name: {"seconds": seconds, "rows_per_second": rows / seconds, "ratio": copied / seconds}
        for name, seconds in best.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--folder", type=Path, help="where the files are made")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = measure(options.rows, Path(folder))
    if options.json:
        print(json.dumps({"machine": platform.platform(), "cores": os.cpu_count(), "results": results}, indent=1))
        return
    print(f"{platform.platform()}, {os.cpu_count()} cores, {options.rows:,} trips, Spark local[2], one session")
    print(f"{'':22}{'seconds':>9}{'rows/s':>13}{'of the copy':>13}")
    for name, line in results.items():
        print(f"{name:22}{line['seconds']:9.2f}{line['rows_per_second']:13,.0f}{line['ratio']:13.2f}")


if __name__ == "__main__":
    main()
