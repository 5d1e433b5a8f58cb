"""Spark: the same function and the same promise, drawn once, by workers that never repeat one another."""

import os
import shutil
import sys
import traceback
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ColumnError, InputError, OutputError, PolicyError
from metricdp.tables import Policy, sanitize
from tests.engines.columns import check_laws, policy, table
from tests.statistical.harness import unrelated

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="Spark needs Java"),
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of the sockets that Spark answers through
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECRET = "TOPSECRET"
SIMPLE = """
format = 1
[columns]
row = "keep"
[columns.pay]
type = "number"
within = 1000
[columns.health]
type = "category"
values = ["good", "poor"]
epsilon = 1
"""


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,3]")  # two at a time, and a task that fails is tried again
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def simple(rest="", order="public"):
    return Policy.parse(SIMPLE + rest + f'\n[rows]\norder = "{order}"\n')


def frame_of(spark, rows=1000, parts=2, **more):
    columns = {"row": np.arange(rows), "pay": np.full(rows, 5.5), "health": ["good"] * rows} | more
    return spark.createDataFrame(pa.table(columns)).repartition(parts)


def quiet(error):
    text = "".join(traceback.format_exception(error)) + repr(error)
    assert SECRET not in text, text
    return str(error)


def test_every_column_has_its_law(spark, tmp_path):
    pq.write_table(table(), tmp_path / "in.parquet")
    release = sanitize(tmp_path / "in.parquet", policy(), tmp_path / "out", engine="spark")
    assert release.path == tmp_path / "out"
    assert release.report.rows == table().num_rows
    check_laws(pq.read_table(tmp_path / "out"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out"]
    held = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"SECRET" not in held


def test_the_same_guarantee_and_report(spark, tmp_path):
    pq.write_table(table(100), tmp_path / "in.parquet")
    here = sanitize(tmp_path / "in.parquet", policy()).report
    there = sanitize(tmp_path / "in.parquet", policy(), engine="spark").report
    assert there.to_json() == here.to_json()
    assert there.text() == here.text()


def test_collected_twice_it_is_the_same_and_two_runs_differ(spark):
    frame = frame_of(spark)
    one, other = sanitize(frame, simple()).table, sanitize(frame, simple()).table
    first = sorted(one.collect())
    assert sorted(one.collect()) == first
    assert one.agg({"pay": "sum"}).collect() == one.agg({"pay": "sum"}).collect()
    assert one.filter("row < 10").count() == 10
    second = sorted(other.collect())
    assert [row.row for row in first] == [row.row for row in second] == list(range(1000))
    assert not any(a.pay == b.pay for a, b in zip(first, second, strict=True))


def test_workers_never_repeat_one_another(spark):
    """Eight parts with the same secrets, in workers forked from one daemon: no two draws are alike."""
    from pyspark.sql import functions as sql

    frame = frame_of(spark, 40_000, 8)
    released = sanitize(frame, simple()).table.withColumn("part", sql.spark_partition_id()).toArrow()
    parts = [np.asarray(released.filter(pa.compute.equal(released["part"], n))["pay"])[:4000] for n in range(8)]
    assert all(len(part) == 4000 for part in parts)
    for one in range(8):
        for two in range(one):
            assert not (parts[one] == parts[two]).any()
    assert unrelated(parts[0], parts[1])


def test_a_task_that_is_tried_again_shows_one_draw(spark):
    """Every task fails the first time, after its first rows were released."""

    def flaky(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            if TaskContext.get().attemptNumber() == 0 and number == 0:
                raise OSError("the machine is gone")
            yield batch.slice(half)

    frame = frame_of(spark)
    released = sanitize(frame.mapInArrow(flaky, frame.schema), simple()).table
    first = sorted(released.collect())
    assert [row.row for row in first] == list(range(1000))
    assert sorted(released.collect()) == first


def test_shuffled_unless_order_is_public(spark):
    frame = spark.createDataFrame(
        pa.table({"row": np.arange(5000), "pay": np.full(5000, 5.5), "health": ["good"] * 5000})
    )
    kept = [row.row for row in sanitize(frame, simple()).table.collect()]
    assert kept == list(range(5000))
    shuffled = [row.row for row in sanitize(frame, simple(order="secret")).table.collect()]
    assert sorted(shuffled) == kept
    assert abs(np.corrcoef(shuffled, kept)[0, 1]) < 0.1


UNIT = '\n[unit]\ncolumn = "who"\nrows = 3\nexcess = "{excess}"\nrelease = "rekey"\n'


def test_rows_of_a_person(spark):
    frame = frame_of(spark, who=[f"{SECRET}{row % 100}" for row in range(1000)])
    with pytest.raises(ColumnError) as caught:
        sanitize(frame, simple(UNIT.format(excess="refuse")))
    assert quiet(caught.value) == """column 'who': somebody has more than 3 rows; declare more, or excess = "cut\""""
    runs = [sanitize(frame, simple(UNIT.format(excess="cut"))).table.collect() for _ in range(2)]
    for rows in runs:
        assert set(Counter(row.who for row in rows).values()) == {3}
        assert Counter(row.row % 100 for row in rows) == dict.fromkeys(range(100), 3)
        assert len({(row.row % 100, row.who) for row in rows}) == 100
        assert not any(SECRET in row.who for row in rows)
    assert not {row.who for row in runs[0]} & {row.who for row in runs[1]}
    assert {row.row for row in runs[0]} != {row.row for row in runs[1]}
    with pytest.raises(ColumnError, match="nobody's row"):
        sanitize(frame_of(spark, who=[None] + ["x"] * 999), simple(UNIT.format(excess="cut")))


def test_errors_are_named_and_hold_no_value(spark, tmp_path):
    with pytest.raises(ColumnError) as caught:
        sanitize(frame_of(spark, health=["good"] * 999 + [SECRET], parts=1), simple(), tmp_path / "out")
    assert quiet(caught.value).startswith("column 'health', row ")
    assert "not one of the declared values" in str(caught.value)
    source = tmp_path / "in.csv"
    source.write_text(f"row,pay,health\n1,1.5,good\n2,{SECRET},good\n")
    with pytest.raises(InputError) as caught:
        sanitize(source, simple(), tmp_path / "out", engine="spark")
    quiet(caught.value)
    (tmp_path / "broken.parquet").write_bytes(SECRET.encode() * 100)
    with pytest.raises(InputError) as caught:
        sanitize(tmp_path / "broken.parquet", simple(), tmp_path / "out", engine="spark")
    quiet(caught.value)
    with pytest.raises(PolicyError, match="the policy does not name it"):
        sanitize(frame_of(spark, other=[1] * 1000), simple(), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.parquet", "in.csv"]


def test_outputs(spark, tmp_path):
    frame, out = frame_of(spark), tmp_path / "out"
    sanitize(frame, simple(), out)
    with pytest.raises(OutputError, match="exists already"):
        sanitize(frame, simple(), out)
    before = pq.read_table(out)["pay"].to_pylist()
    sanitize(frame, simple(), out, overwrite=True)
    assert pq.read_table(out)["pay"].to_pylist() != before
    for where in (out, out / "inner"):
        with pytest.raises(OutputError, match="the input"):
            sanitize(out, simple(), where, engine="spark", overwrite=True)
    assert sanitize(frame, simple(), tmp_path / "dry", dry_run=True).table is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_zero_rows(spark):
    released = sanitize(frame_of(spark, 10).filter("row < 0"), simple())
    assert released.report.rows == 0
    assert released.table.collect() == []
    assert released.table.columns == ["row", "pay", "health"]
