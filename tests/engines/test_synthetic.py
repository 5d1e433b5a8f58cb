"""The same true counts of marginals from DuckDB, PostgreSQL and Spark, and so the same synthetic table from a seed."""

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.exact.bits import seeded
from metricdp.policies.policy import Policy
from metricdp.queries import synthesize
from metricdp.sources import DatabaseTable

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROWS = 500
POLICY = Policy.parse(f"""
format = 2
records = {ROWS}
[columns]
sex = {{type = "category", values = ["F", "M", "é"], epsilon = 1, missing = "refuse"}}
age = {{type = "integer", bounds = [0, 99], epsilon = 1, missing = "refuse", count_by = 20}}
town = {{type = "category", values = {[f"t{n}" for n in range(20)]}, epsilon = 1, missing = "refuse"}}
""")
DRAW = np.random.default_rng(2)
TABLE = pa.table({
    "sex": np.array(["F", "M", "é"])[DRAW.integers(0, 3, ROWS)],
    "age": DRAW.integers(0, 100, ROWS).astype(np.int32),
    "town": np.array([f"t{n}" for n in range(20)])[DRAW.integers(0, 20, ROWS)],
})  # fmt: skip


def made(source, engine=None):
    with seeded(5):
        found = synthesize(source, POLICY, engine=engine)
    assert not found.private
    return found.table if isinstance(found.table, pa.Table) else pa.Table.from_pandas(found.table.toPandas())


def rows_of(table):
    return sorted(zip(*(table[name].to_pylist() for name in ("sex", "age", "town")), strict=True))


@pytest.fixture(scope="module")
def expected():
    return rows_of(made(TABLE))


def test_a_file_and_duckdb(expected, tmp_path):
    pq.write_table(TABLE, tmp_path / "people.parquet")
    assert rows_of(made(tmp_path / "people.parquet")) == expected
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", TABLE)
        connection.execute("create table people as select * from given")
    assert rows_of(made(DatabaseTable(str(path), "people"))) == expected


def test_postgres(expected):
    psycopg = pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver")
    folder = Path(tempfile.mkdtemp(prefix="metricdp-postgres-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as direct, direct.cursor() as cursor:
            cursor.execute("create table people (sex text, age integer, town text)")
            cursor.executemany("insert into people values (%(sex)s, %(age)s, %(town)s)", TABLE.to_pylist())
        assert rows_of(made(DatabaseTable(server.get_uri(), "people"))) == expected
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def test_spark(expected, tmp_path):
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java")
    pytest.importorskip("pyspark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        pq.write_table(TABLE, tmp_path / "people.parquet")
        assert rows_of(made(session.read.parquet(str(tmp_path / "people.parquet")))) == expected
    finally:
        session.stop()
