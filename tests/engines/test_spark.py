"""Spark: the same function and the same promise, drawn once, by workers that never repeat one another."""

import gzip
import os
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ColumnError, DataError, FileError, PolicyError
from metricdp.policies import Policy
from metricdp.sources import Declared, count_rows, open_sql, open_table
from metricdp.tables import sanitize, validate
from tests.engines.columns import check_laws, policy, table
from tests.statistical.harness import hardly_alike, unrelated

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="Spark needs Java"),
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of the sockets that Spark answers through
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECRET = "TOPSECRET"
SIMPLE = """
format = 2
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
def scratch(tmp_path_factory):
    """Where Spark stores what does not stay in memory, and what passes from one stage to the next."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(scratch):
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,3]")  # two at a time, and a task that fails is tried again
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.local.dir", str(scratch))
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
    here, there = (
        replace(sanitize(tmp_path / "in.parquet", policy(), engine=engine).report, origin=None)
        for engine in ("local", "spark")
    )
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
    assert hardly_alike([row.pay for row in first], [row.pay for row in second])


def test_workers_never_repeat_one_another(spark):
    """Eight parts with the same secrets, in workers forked from one daemon: no two draws are alike."""
    from pyspark.sql import functions as sql

    frame = frame_of(spark, 40_000, 8).withColumn("row", sql.spark_partition_id().cast("bigint"))
    released = sanitize(frame, simple()).table.toArrow()
    parts = [np.asarray(released.filter(pa.compute.equal(released["row"], n))["pay"])[:4000] for n in range(8)]
    assert all(len(part) == 4000 for part in parts)
    for one in range(8):
        for two in range(one):
            assert hardly_alike(parts[one], parts[two])
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


UNIT = '\n[person]\ncolumn = "who"\nrows = 3\nexcess = "{excess}"\nrelease = "rekey"\n'


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
    with pytest.raises(ColumnError, match="the row belongs to no person"):
        sanitize(frame_of(spark, who=[None] + ["x"] * 999), simple(UNIT.format(excess="cut")))


def test_errors_are_named_and_hold_no_value(spark, tmp_path):
    with pytest.raises(ColumnError) as caught:
        sanitize(frame_of(spark, health=["good"] * 999 + [SECRET], parts=1), simple(), tmp_path / "out")
    assert quiet(caught.value).startswith("column 'health', row ")
    assert "not one of the declared values" in str(caught.value)
    source = tmp_path / "in.csv"
    source.write_text(f"row,pay,health\n1,1.5,good\n2,{SECRET},good\n")
    with pytest.raises(DataError) as caught:
        sanitize(source, simple(), tmp_path / "out", engine="spark")
    quiet(caught.value)
    (tmp_path / "broken.parquet").write_bytes(SECRET.encode() * 100)
    with pytest.raises(DataError) as caught:
        sanitize(tmp_path / "broken.parquet", simple(), tmp_path / "out", engine="spark")
    quiet(caught.value)
    with pytest.raises(PolicyError, match="the policy does not name it"):
        sanitize(frame_of(spark, other=[1] * 1000), simple(), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.parquet", "in.csv"]


def test_outputs(spark, tmp_path):
    frame, out = frame_of(spark), tmp_path / "out"
    sanitize(frame, simple(), out)
    with pytest.raises(FileError, match="exists already"):
        sanitize(frame, simple(), out)
    before = pq.read_table(out)["pay"].to_pylist()
    sanitize(frame, simple(), out, overwrite=True)
    assert pq.read_table(out)["pay"].to_pylist() != before
    for where in (out, out / "inner"):
        with pytest.raises(FileError, match="the input"):
            sanitize(out, simple(), where, engine="spark", overwrite=True)
    assert sanitize(frame, simple(), tmp_path / "dry", dry_run=True).table is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_zero_rows(spark):
    released = sanitize(frame_of(spark, 10).filter("row < 0"), simple())
    assert released.report.rows == 0
    assert released.table.collect() == []
    assert released.table.columns == ["row", "pay", "health"]


def in_order(spark, rows, parts=1, **more):
    """Rows that Spark has in this order, in so many parts."""
    columns = {"row": np.arange(rows), "pay": np.full(rows, 5.5), "health": ["good"] * rows} | more
    frame = spark.createDataFrame(pa.table(columns))
    return frame.repartitionByRange(parts, "row").sortWithinPartitions("row") if parts > 1 else frame.coalesce(1)


def sizes_of(folder):
    return [pq.read_metadata(path).num_rows for path in sorted(folder.glob("*.parquet"))]


@pytest.mark.long
@pytest.mark.parametrize("order", ["public", "secret"])
def test_parts_tell_neither_the_division_nor_the_cut(spark, tmp_path, monkeypatch, order):
    """As many released rows from one part, from seven, and from a table that was cut: the same parts."""
    monkeypatch.setattr("metricdp.tables.engines.spark.PART_ROWS", 100, raising=False)
    unit = UNIT.format(excess="cut").replace("rekey", "drop")
    nobody = [f"{row}" for row in range(330)]
    crowd = [f"{row // 4}" for row in range(440)]
    sources = [
        (in_order(spark, 330, who=nobody), 330),
        (in_order(spark, 330, 7, who=nobody), 330),
        (in_order(spark, 440, 3, who=crowd), 330),
    ]
    found = []
    for number, (frame, rows) in enumerate(sources if order == "public" else sources[1:]):
        out = tmp_path / f"{order}{number}"
        sanitize(frame, simple(unit, order), out)
        released = sanitize(frame, simple(unit, order)).table
        assert released.count() == rows
        inside = [len(part) for part in released.rdd.glom().collect()]
        found.append((len(sizes_of(out)), len(inside)))
        assert sum(sizes_of(out)) == sum(inside) == rows
        if order == "public":
            assert sizes_of(out) == inside == [100, 100, 100, 30]
            kept = [row.row for row in released.collect()]
            assert kept == sorted(kept)
            assert pq.read_table(out)["row"].to_pylist() == sorted(pq.read_table(out)["row"].to_pylist())
        for path in out.glob("*.parquet"):
            metadata = pq.read_metadata(path)
            assert set(metadata.metadata) == {b"ARROW:schema", b"metricdp.version"}
    assert set(found) == {(4, 4)}


@pytest.mark.long
def test_the_order_of_many_parts_is_random(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("metricdp.tables.engines.spark.PART_ROWS", 1000, raising=False)
    frame = in_order(spark, 5000, 3)
    sanitize(frame, simple(order="secret"), tmp_path / "out")
    assert len(sizes_of(tmp_path / "out")) == 5
    rows = pq.read_table(tmp_path / "out")["row"].to_pylist()
    assert sorted(rows) == list(range(5000))
    assert abs(np.corrcoef(rows, range(5000))[0, 1]) < 0.1
    assert (np.diff(rows) == 1).mean() < 0.01


@pytest.mark.parametrize("excess", ["cut", "refuse"])
def test_nothing_that_spark_stores_can_be_read(spark, scratch, tmp_path, excess):
    """Not in a session of the user's that stores everything as it is."""
    assert spark.conf.get("spark.io.encryption.enabled", "false") == "false"
    names = [f"RAWPERSON{n}" for n in np.random.default_rng(3).permutation(4000) // 3]
    pq.write_table(
        pa.table({"row": np.arange(4000), "pay": np.ones(4000), "health": ["good"] * 4000, "who": names}),
        tmp_path / "in.parquet",
    )
    before = stored(scratch)
    rules = simple(UNIT.format(excess=excess).replace("rows = 3", "rows = 2" if excess == "cut" else "rows = 3"))
    sanitize(tmp_path / "in.parquet", rules, tmp_path / "out", engine="spark")
    new = stored(scratch) - before
    assert new, "Spark stored nothing: the test is blind"
    assert not [path for path in new if b"RAWPERSON" in path.read_bytes()]


def stored(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def test_moments_are_stored_as_64_bits(spark, tmp_path):
    pq.write_table(table(100), tmp_path / "in.parquet")
    sanitize(tmp_path / "in.parquet", policy(), tmp_path / "out", engine="spark")
    part = next((tmp_path / "out").glob("*.parquet"))
    columns = pq.ParquetFile(part).schema
    kinds = {columns.column(k).name: columns.column(k).physical_type for k in range(len(columns.names))}
    assert kinds["at"] == "INT64"
    assert pq.read_schema(part).field("at").type == pa.timestamp("us", "UTC")
    assert spark.read.parquet(str(tmp_path / "out")).count() == 100


def test_csv_is_read_as_without_spark(spark, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out"
    source.write_text('row,pay,health\n"1\n2",1.5,good\n3,0.30000000000000004,poor\n')
    rows = sanitize(source, simple(), engine="spark").table.collect()
    assert [row.row for row in rows] == ["1\n2", "3"]
    source.write_text(f'row,pay,health\n1,1.5,good\n"2,1.5,good\n{SECRET},1.5,good\n')
    with pytest.raises(DataError) as caught:
        sanitize(source, simple(), out, engine="spark")
    with pytest.raises(DataError) as here:
        sanitize(source, simple())
    assert quiet(caught.value) == str(here.value)
    assert not out.exists()


def test_a_large_plan_travels_without_keys(spark, monkeypatch):
    monkeypatch.setattr("metricdp.tables.engines.spark._LARGE", 0)
    assert sanitize(frame_of(spark), simple()).table.count() == 1000


def test_settings_of_the_session_stay(spark):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    for value in ("10000", "777"):
        spark.conf.set(name, value)
        assert sanitize(frame_of(spark), simple()).report.rows == 1000
        assert spark.conf.get(name) == value
    spark.conf.unset(name)


def test_a_later_step_that_is_tried_again_gives_the_same():
    """Only the first step draws: the others are functions of what it left."""
    from metricdp.exact.sealing import Seal
    from metricdp.tables.engines import spark_steps as steps

    seal, random = Seal(), np.random.default_rng(1)
    words = [pa.array(random.integers(0, 2**64, 1000, dtype=np.uint64)) for _ in range(3)]
    columns = [pa.array(np.arange(1000)), words[0], pa.array(np.arange(1000)), *words[1:]]
    rows = pa.record_batch(columns, schema=pa.schema([pa.field("x", pa.int64()), *steps.EXTRAS]))
    parcels = list(steps._parcels([(0, 0, rows.slice(0, 600)), (0, 600, rows.slice(600))], seal))
    for by in ("key", "owner", "number"):
        deal = steps.DealRows(seal, np.arange(4), by, {0: 0}, 250)
        runs = [
            [(hand, first, part.to_pydict()) for hand, first, part in steps._opened(deal(iter(parcels)), seal)]
            for _ in range(2)
        ]
        assert runs[0] == runs[1]
        assert sorted(x for _, _, part in runs[0] for x in part["x"]) == list(range(1000))
        assert len({hand for hand, _, _ in runs[0]}) == 4


def test_a_check_of_the_whole_table_on_spark(spark, tmp_path):
    rules = simple()
    validate(frame_of(spark), rules)
    bad = frame_of(spark, health=["good"] * 999 + [SECRET])
    for refuse in (lambda: validate(bad, rules), lambda: sanitize(bad, rules, tmp_path / "out", check_first=True)):
        with pytest.raises(ColumnError, match="not one of the declared values") as caught:
            refuse()
        quiet(caught.value)
    assert not list(tmp_path.iterdir())
    people = simple('[person]\ncolumn = "who"\nrows = 2\n')
    with pytest.raises(ColumnError, match="somebody has more than 2 rows"):
        validate(frame_of(spark, who=["a"] * 1000), people)
    pairs = frame_of(spark, who=[str(row // 2) for row in range(1000)])
    assert sanitize(pairs, people, check_first=True).table.count() == 1000


def test_spark_opens_its_frames_and_any_file(spark, tmp_path):
    with open_table(frame_of(spark, 1000, 3)) as opened:
        for _ in range(2):
            rows = [row for batch in opened.batches(["row", "pay"]) for row in batch.to_pylist()]
            assert sorted(row["row"] for row in rows) == list(range(1000))
    text = "row,pay,health\n1,1.5,good\n2,0,poor\n"
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(text.encode()))
    pa_feather.write_feather(table(50).select(["row", "pay", "health"]), tmp_path / "in.arrow")
    for name, rows in (("in.csv.gz", 2), ("in.arrow", 50)):
        assert sanitize(tmp_path / name, simple(), engine="spark").table.count() == rows
        assert count_rows(tmp_path / name, engine="spark") == rows
    wanted = Declared({"pay": pa.float64(), "health": pa.string()})
    with open_sql(tmp_path / "in.csv.gz", wanted, "spark") as found:
        assert found.read(f"select sum(pay) as total from {found.relation}") == {"total": [1.5]}
    (tmp_path / "in.csv").write_text(text.replace("1.5", SECRET))
    with pytest.raises(ColumnError, match=r"column 'pay', row 0: .*a number is wanted") as caught:  # noqa: SIM117
        with open_sql(tmp_path / "in.csv", wanted, "spark") as found:
            found.read(f"select sum(pay) as total from {found.relation}")
    quiet(caught.value)


OWN = """
import sys
from metricdp.policies import Policy
from metricdp.sources.engines.spark import session
from metricdp.tables import sanitize
sanitize(sys.argv[1], Policy.parse(sys.argv[2]), sys.argv[3], engine="spark")
settings = session().conf
print(settings.get("spark.io.encryption.enabled"), settings.get("spark.sql.parquet.outputTimestampType"))
"""


@pytest.mark.long
def test_a_session_of_our_own_is_encrypted(tmp_path):
    (tmp_path / "in.csv").write_text("row,pay,health\n1,1.5,good\n")
    command = [sys.executable, "-c", OWN, str(tmp_path / "in.csv"), SIMPLE, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["true", "TIMESTAMP_MICROS"], done.stderr
    assert sizes_of(tmp_path / "out") == [1]


def test_a_release_by_spark_is_charged_and_on_record_before_it_appears(spark, tmp_path, monkeypatch):
    from metricdp.errors import BudgetError
    from metricdp.ledger import Ledger
    from metricdp.ledger.charging import policy_cap

    rules = Policy.parse(SIMPLE + '\n[rows]\norder = "public"\n')
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("a", policy_cap(rules, 2))
        bad = frame_of(spark, 10, health=["no such thing"] * 10)
        with pytest.raises(DataError):
            sanitize(bad, rules, ledger=ledger)
        assert ledger.balance("a").charges == 0, "bad data cost nothing"
        release = sanitize(frame_of(spark, 50), rules, tmp_path / "out", ledger=ledger, key="first")
        assert release.path == tmp_path / "out"
        charged, answered = [entry for entry in ledger.history("a") if entry.kind != "opened"]
        assert (charged.kind, answered.kind, answered.charge) == ("charged", "answered", charged.sequence)
        assert len(answered.body["answer"]["sha256"]) == 64

        def gone(*_):
            raise FileError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "answer", gone)
            with pytest.raises(FileError):
                sanitize(frame_of(spark, 50), rules, tmp_path / "never", ledger=ledger)
        assert not (tmp_path / "never").exists()
        with pytest.raises(BudgetError):
            sanitize(frame_of(spark, 50), rules, tmp_path / "third", ledger=ledger)
        assert not (tmp_path / "third").exists()
        assert ledger.check()
