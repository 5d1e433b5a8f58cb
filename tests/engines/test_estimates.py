"""The same estimates from a file, a frame, DuckDB and Spark: they count the same rows."""

import os
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.estimates import Correlation, estimate
from metricdp.tables import sanitize

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of the sockets that Spark answers through
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

POLICY = {
    "format": 2,
    "columns": {
        "site": "keep",
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "missing": "refuse"},
        "delay": {"type": "number", "within": 10, "missing": "public"},
        "health": {"type": "category", "values": ["good", "fair", "poor"], "factor": 4, "missing": "secret"},
        "born": {"type": "date", "within": "30 days"},
    },
}
QUESTIONS = (
    "select count(*) group by health",
    "select count(*), avg(age) where site = 'x'",
    "select count(*) where delay > 15",
    "select avg(delay), avg(born) group by site",
    "select median(age)",
    Correlation("age", "delay"),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    random = np.random.default_rng(2)
    rows = 2000
    health = [None if random.random() < 0.1 else str(random.choice(["good", "fair", "poor"])) for _ in range(rows)]
    table = pa.table(
        {
            "site": random.choice(["x", "y"], rows),
            "age": random.integers(0, 91, rows),
            "delay": [None if random.random() < 0.1 else float(value) for value in random.exponential(20, rows)],
            "health": pa.array(health, pa.string()),
            "born": (7000 + random.integers(0, 800, rows)).astype("datetime64[D]"),
        }
    )
    place = tmp_path_factory.mktemp("estimates") / "released.parquet"
    with mdp.seeded(3):
        sanitize(table, POLICY, out=place)
    return place


def answers(source, questions=QUESTIONS, **more):
    return [one for question in questions for one in estimate(source, question, policy=POLICY, **more)]


def alike(one, other):
    """The same but for the order in which floats were added up."""
    plain, same = one.to_json(), other.to_json()
    for key in ("value", "naive", "noise"):
        if isinstance(plain[key], float):
            assert same[key] == pytest.approx(plain[key], rel=1e-9)
        else:
            assert same[key] == plain[key]
    if isinstance(plain["interval"][0], float):
        assert same["interval"] == pytest.approx(plain["interval"], rel=1e-9)


@pytest.fixture(scope="module")
def from_file(file):
    return answers(file)


def test_duckdb_and_frames_say_the_same(file, from_file):
    connection = duckdb.connect()
    relation = connection.sql(f"select * from '{file}'")
    for source in (pq.read_table(file), relation):
        for one, other in zip(from_file, answers(source), strict=True):
            alike(one, other)


@pytest.mark.long
def test_spark_says_the_same(file):
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    frame = session.read.parquet(str(file))
    some = [QUESTIONS[place] for place in (0, 3)]
    for one, other in zip(answers(file, some), answers(frame, some), strict=True):
        alike(one, other)
