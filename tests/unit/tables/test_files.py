"""Files and frames in, files and frames out: whole or not at all, and nothing of the source beside the release."""

import contextlib
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ColumnError, DataError, FileError, MetricDPError, PolicyError
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.sanitizer import Sanitizer
from metricdp.tables.shuffle import shuffled
from tests.statistical.harness import hardly_alike

SECRET = "TOPSECRET"
POLICY = """
format = 2
[columns]
name = "drop"
site = "keep"
[columns.pay]
type = "number"
within = 1000
[columns.visits]
type = "integer"
within = 2
bounds = [0, 1000000]
[columns.day]
type = "time"
within = "5 days"
[columns.health]
type = "category"
values = ["good", "fair", "poor"]
epsilon = 1
"""
PUBLIC = POLICY + '[rows]\norder = "public"\n'
ROWS = 1000


def table(rows=ROWS, **more):
    """Sites number the rows, so that a row can be told apart after a shuffle."""
    columns = {
        "site": np.arange(rows),
        "name": [f"{SECRET}{row}" for row in range(rows)],
        "pay": np.linspace(1e6, 2e6, rows),
        "visits": pa.array(np.arange(rows), pa.int32()),
        "day": pa.array([dt.date(2024, 1, 1)] * rows, pa.date32()),
        "health": pa.array(["good"] * rows, pa.string()),
    }
    return pa.table(columns | more)


@pytest.fixture
def policy():
    return Policy.parse(POLICY)


@pytest.fixture
def public():
    return Policy.parse(PUBLIC)


def write(whole, path):
    if path.suffix == ".parquet":
        pq.write_table(whole, path)
    elif path.suffix == ".csv":
        pa_csv.write_csv(whole, path)
    else:
        pa_feather.write_feather(whole, path, compression="uncompressed")
    return path


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".csv":
        return pa_csv.read_csv(path, convert_options=pa_csv.ConvertOptions(strings_can_be_null=True))
    return pa_feather.read_table(path)


def only(folder, *names):
    """The folder holds these and nothing else, hidden or not."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def check(released, whole):
    """The shape of the release, and the truth of what was kept."""
    assert released.column_names == [name for name in whole.column_names if name != "name"]
    assert released.num_rows == whole.num_rows
    assert Counter(released["site"].to_pylist()) == Counter(whole["site"].to_pylist())
    order = np.argsort(np.asarray(released["site"]))
    pay = np.asarray(released["pay"])[order]
    assert hardly_alike(pay, whole["pay"])
    assert np.abs(pay - np.asarray(whole["pay"])).max() < 1000 / np.log(2) * 60
    assert set(released["health"].to_pylist()) <= {"good", "fair", "poor", None}


def quiet(error):
    """What an error prints, searched for secrets."""
    text = "".join(traceback.format_exception(error)) + repr(error)
    assert SECRET not in text, text
    return str(error)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("beginning", [".parquet", ".csv", ".arrow"])
def test_every_format_to_every_format(tmp_path, policy, beginning, ending):
    whole = table()
    source, out = write(whole, tmp_path / f"in{beginning}"), tmp_path / f"out{ending}"
    release = sanitize(source, policy, out)
    assert release.path == out
    assert release.table is None
    assert release.report.rows == ROWS
    released = read(out)
    check(released.set_column(0, "site", released["site"].cast(pa.int64())), whole)
    if ".csv" not in (beginning, ending):
        assert released.schema.remove_metadata() == whole.drop_columns("name").schema
    assert SECRET.encode() not in out.read_bytes()
    only(tmp_path, source.name, out.name)


def test_frames_come_back_as_they_were(policy):
    whole = table()
    for source, back in (
        (whole, lambda frame: frame),
        (whole.to_pandas(), pa.Table.from_pandas),
        (pl.from_arrow(whole), lambda frame: frame.to_arrow()),
        (duckdb.from_arrow(whole), lambda frame: frame),
    ):
        released = sanitize(source, policy).table
        if not isinstance(source, duckdb.DuckDBPyRelation):
            assert type(released) is type(source)
        check(back(released), whole)


def test_types_of_frames():
    text = 'format=2\n[columns]\na="keep"\nb="keep"\nc="keep"\nd="keep"\ne="keep"\nf="keep"\n'
    policy = Policy.parse(text + '[columns.x]\ntype="integer"\nwithin=1\nmissing="public"\n[rows]\norder="public"')
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None], "Int16"),
            "b": pd.array(["x", None], "string"),
            "c": pd.array([True, None], "boolean"),
            "d": pd.to_datetime(["2024-01-01", None]).astype("datetime64[s]"),
            "e": pd.Categorical(["x", None]),
            "f": [1.5, None],
            "x": pd.array([5, None], "Int64"),
        },
        index=[SECRET, "other"],
    )
    released = sanitize(frame, policy).table
    pd.testing.assert_frame_equal(released.drop(columns="x"), frame.drop(columns="x").reset_index(drop=True))
    assert released.dtypes["x"] == frame.dtypes["x"]
    assert SECRET not in released.to_csv()
    many = pl.DataFrame(
        {"a": ["x"], "b": [1], "c": [[1]], "d": [dt.datetime(2024, 1, 1)], "e": [1.5], "f": [True], "x": [3]},
        schema_overrides={"a": pl.Categorical, "b": pl.UInt8, "e": pl.Float32, "x": pl.Int8},
    )
    assert sanitize(many, policy).table.schema == many.schema


def test_wide_types_survive_a_shuffle(tmp_path):
    """Kept columns of every type come out of a shuffled file as they went in."""
    columns = {
        "A": pa.array([1, 2], pa.timestamp("ns", "UTC")),
        "a": pa.array([[1.5], None], pa.large_list(pa.float32())),
        'q"x': pa.array([b"1", b"2"], pa.large_binary()),
        "__metricdp_key": pa.array([1, 2], pa.uint64()),
        "t": pa.array([5, 6], pa.time64("ns")),
        "s": pa.array([{"u": 1}, None]),
        "f": pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
        "n": pa.nulls(2),
        "c": pa.array(["x", "y"]).dictionary_encode(),
    }
    text = "format=2\n[columns]\n" + "\n".join(f"{json.dumps(name)} = 'keep'" for name in columns)
    policy = Policy.parse(text + '\n[columns.pay]\ntype="number"\nwithin=1')
    whole = pa.table(columns | {"pay": [1.0, 2.0]})
    for out in (tmp_path / "out.parquet", tmp_path / "it's [a] *.arrow"):
        sanitize(whole, policy, out)
        released = read(out).sort_by("A")
        assert released.schema.remove_metadata().names == whole.schema.names
        for name, column in columns.items():
            assert released[name].to_pylist() == column.to_pylist(), name


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_nothing_of_the_source_but_the_release(tmp_path, policy, ending):
    """Metadata of pandas and of maps, keys of one's own, dictionaries and statistics stay behind."""
    words = pa.DictionaryArray.from_arrays(pa.array([1] * ROWS, pa.int8()), pa.array([SECRET, "good"]))
    whole = table(health=words)
    field = whole.schema.field("pay").with_metadata({"note": SECRET})
    whole = whole.set_column(2, field, whole["pay"]).replace_schema_metadata(
        {"pandas": f'{{"index": "{SECRET}"}}', "geo": f'{{"bbox": [1, 2, 3, 4], "{SECRET}": 1}}', SECRET: SECRET}
    )
    source, out = write(whole, tmp_path / f"in{ending}"), tmp_path / f"out{ending}"
    assert SECRET.encode() in source.read_bytes()
    sanitize(source, policy, out)
    held = out.read_bytes()
    assert SECRET.encode() not in held
    assert b"bbox" not in held
    assert b"name" not in set(read(out).schema.names)
    metadata = read(out).schema.metadata
    assert set(metadata) == {b"metricdp.version", b"metricdp.report"}
    assert all(not field.metadata or set(field.metadata) <= {b"PARQUET:field_id"} for field in read(out).schema)
    released = read(out)["health"]
    assert released.type == words.type
    for chunk in released.chunks:
        assert set(chunk.dictionary.to_pylist()) <= {"good", "fair", "poor"}


def test_the_guarantee_is_in_the_file(tmp_path, policy):
    out = tmp_path / "out.parquet"
    sanitize(table(), policy, out)
    metadata = pq.read_metadata(out).metadata
    claim = json.loads(metadata[b"metricdp.report"])
    assert metadata[b"metricdp.version"].decode() == mdp.__version__
    text = json.dumps(claim)
    assert "pay" in text
    assert "health" in text
    assert SECRET not in text


def test_many_batches_of_dictionaries_to_one_arrow_file(tmp_path):
    """Each batch with other words: an Arrow file can hold but one dictionary, which then has to grow."""
    policy = Policy.parse(
        'format=2\n[columns]\nword="keep"\n[columns.x]\ntype="boolean"\nepsilon=1\n[rows]\norder="public"'
    )
    parts = [
        pa.record_batch({"word": pa.array(words).dictionary_encode(), "x": pa.array([True] * len(words))})
        for words in (["a", "b"], ["c", None], ["b", "d", "a"])
    ]
    sanitize(pa.Table.from_batches(parts), policy, tmp_path / "out.arrow")
    assert read(tmp_path / "out.arrow")["word"].to_pylist() == ["a", "b", "c", None, "b", "d", "a"]


def test_shuffled_unless_order_is_public(tmp_path, policy, public):
    whole = table(20_000)
    for source in (whole, write(whole, tmp_path / "in.parquet")):
        out = tmp_path / "out.parquet"
        sanitize(source, public, out, overwrite=True)
        assert read(out)["site"].to_pylist() == list(range(20_000))
        orders = []
        for _ in range(2):
            sanitize(source, policy, out, overwrite=True)
            orders.append(np.asarray(read(out)["site"]))
        kept = sanitize(source, policy).table
        orders.append(np.asarray(kept["site"]))
        for order in orders:
            assert sorted(order) == list(range(20_000))
            assert abs(np.corrcoef(order, np.arange(20_000))[0, 1]) < 0.05
            assert (np.diff(order) == 1).mean() < 0.01
        assert not (orders[0] == orders[1]).mean() > 0.01


def test_rows_stay_together_in_a_shuffle(tmp_path):
    """A shuffle moves rows, not values: kept columns of one row stay with one another."""
    policy = Policy.parse('format=2\n[columns]\na="keep"\nb="keep"\n[columns.x]\ntype="boolean"\nepsilon=1')
    whole = pa.table({"a": np.arange(5000), "b": np.arange(5000) * 7, "x": [True] * 5000})
    sanitize(whole, policy, tmp_path / "out.parquet")
    released = read(tmp_path / "out.parquet")
    assert (np.asarray(released["a"]) * 7 == np.asarray(released["b"])).all()


def test_every_order_comes_as_often():
    """Of three rows, six orders; also where they are dealt to files, and again because those are too large."""
    scratch = Path(tempfile.mkdtemp())
    try:
        for most in (1 << 20, 16):
            seen = Counter()
            for _ in range(150 if most > 16 else 3):
                rows = shuffled(
                    iter(pa.table({"x": [1, 2, 3]}).to_batches()), pa.schema([("x", pa.int64())]), scratch, most
                )
                seen[tuple(value for batch in rows for value in batch["x"].to_pylist())] += 1
                assert not list(scratch.iterdir())
            assert all(sorted(order) == [1, 2, 3] for order in seen)
            if most > 16:
                assert len(seen) == 6
                assert all(4 <= count <= 70 for count in seen.values())
    finally:
        shutil.rmtree(scratch)


def test_large_hands_are_dealt_again(tmp_path):
    whole = pa.table({"x": np.arange(100_000)})
    rows = shuffled(iter(whole.to_batches(10_000)), whole.schema, tmp_path, most_bytes=16_000)
    released = np.concatenate([np.asarray(batch["x"]) for batch in rows])
    assert sorted(released) == list(range(100_000))
    assert abs(np.corrcoef(released, np.arange(100_000))[0, 1]) < 0.03
    only(tmp_path)


def test_a_folder_of_parts(tmp_path, policy):
    """What the names of folders say is a column like any other."""
    whole = table(2000)
    parts = tmp_path / "parts"
    pa_dataset.write_dataset(
        whole.append_column("year", pa.array([2023, 2024] * 1000, pa.int32())),
        parts,
        format="parquet",
        partitioning=pa_dataset.partitioning(pa.schema([("year", pa.int32())]), flavor="hive"),
    )
    with pytest.raises(PolicyError, match="'year': the policy does not name it"):
        sanitize(parts, policy, tmp_path / "out.parquet")
    sanitize(parts, Policy.parse(POLICY.replace("[columns]", '[columns]\nyear = "drop"')), tmp_path / "dropped.parquet")
    check(read(tmp_path / "dropped.parquet"), whole)
    years = POLICY + '[columns.year]\ntype = "integer"\nwithin = 5\n'
    sanitize(parts, Policy.parse(years), tmp_path / "years.parquet")
    assert len(set(read(tmp_path / "years.parquet")["year"].to_pylist())) > 5
    with pytest.raises(FileError, match="lies in the folder that is the input"):
        sanitize(parts, Policy.parse(years), parts / "out.parquet")
    only(tmp_path, "parts", "dropped.parquet", "years.parquet")


def test_a_relation_with_difficult_names(tmp_path):
    policy = Policy.parse(
        'format=2\n[columns]\n"a b"="keep"\n[columns.x]\ntype="boolean"\nepsilon=1\n[person]\ncolumn="who is"\nrows=1'
    )
    relation = duckdb.sql('select range as "a b", true as x, range::varchar as "who is" from range(10)')
    sanitize(relation, policy, tmp_path / "out.parquet")
    assert sorted(read(tmp_path / "out.parquet")["a b"].to_pylist()) == list(range(10))


def test_an_existing_output(tmp_path, policy):
    out = tmp_path / "out.parquet"
    out.write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        sanitize(table(), policy, out)
    assert out.read_text() == "mine"
    sanitize(table(), policy, out, overwrite=True)
    check(read(out), table())
    only(tmp_path, "out.parquet")


def test_an_output_that_appears_meanwhile(tmp_path, policy):
    out = tmp_path / "out.parquet"
    with pytest.raises(FileError, match="exists already"):
        sanitize(table(), policy, out, progress=lambda done, total: out.write_text("mine"))
    assert out.read_text() == "mine"
    only(tmp_path, "out.parquet")


def test_output_equal_to_its_input(tmp_path, policy, monkeypatch):
    source = write(table(), tmp_path / "in.parquet")
    before = source.read_bytes()
    (tmp_path / "link.parquet").symlink_to(source)
    monkeypatch.chdir(tmp_path)
    for out in (source, tmp_path / "link.parquet", Path("in.parquet"), tmp_path / "x" / ".." / "in.parquet"):
        with pytest.raises(FileError, match="is the input"):
            sanitize(source, policy, out, overwrite=True)
    assert source.read_bytes() == before


def test_outputs_that_cannot_be(tmp_path, policy):
    with pytest.raises(ArgumentError, match="ends in one of"):
        sanitize(table(), policy, tmp_path / "out.xlsx")
    with pytest.raises(FileError, match="there is no folder"):
        sanitize(table(), policy, tmp_path / "nowhere" / "out.parquet")
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileError):
        sanitize(table(), policy, tmp_path / "folder.parquet", overwrite=True)
    only(tmp_path, "folder.parquet")


@pytest.mark.parametrize("order", ["secret", "public"])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_an_error_in_the_last_batch_leaves_nothing(tmp_path, order, ending):
    whole = table(300_000, health=["good"] * 299_999 + [SECRET])
    policy = Policy.parse(POLICY + f'[rows]\norder = "{order}"')
    with pytest.raises(ColumnError) as caught:
        sanitize(whole, policy, tmp_path / f"out{ending}")
    assert quiet(caught.value) == "column 'health', row 299999: not one of the declared values"
    only(tmp_path)


@pytest.mark.parametrize("order", ["secret", "public"])
def test_an_interrupt_leaves_nothing(tmp_path, order):
    policy = Policy.parse(POLICY + f'[rows]\norder = "{order}"')
    out = tmp_path / "out.parquet"
    out.write_text("mine")

    def interrupt(done, total):
        if done > 200_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sanitize(table(400_000), policy, out, overwrite=True, progress=interrupt)
    assert out.read_text() == "mine"
    only(tmp_path, "out.parquet")


FULL = """
import resource, signal, sys
import pyarrow as pa
from metricdp.errors import FileError
from metricdp.policies import Policy
from metricdp.tables import sanitize
source, policy, out = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    sanitize(source, policy, out)
except FileError as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.long
@pytest.mark.parametrize("order", ["secret", "public"])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_a_full_disk_leaves_nothing(tmp_path, order, ending):
    """The system refuses to let any file grow beyond 100 kB."""
    (tmp_path / "p.toml").write_text(POLICY + f'[rows]\norder = "{order}"')
    write(table(200_000), tmp_path / "in.parquet")
    arguments = [str(tmp_path / name) for name in ("in.parquet", "p.toml", f"out{ending}")]
    done = subprocess.run([sys.executable, "-c", FULL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert f"out{ending} could not be written: " in done.stdout
    only(tmp_path, "in.parquet", "p.toml")


def test_an_output_on_a_full_disk_by_any_writer(tmp_path, policy, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(FileError, match=r"out\.parquet could not be written: No space left on device"):
        sanitize(table(), policy, tmp_path / "out.parquet")
    only(tmp_path)


def test_two_runs_at_once_in_one_folder(tmp_path, policy):
    """A run inside a run does not take the other's temporary files for leftovers."""

    def inner(done, total):
        with contextlib.suppress(FileError):
            sanitize(table(), policy, tmp_path / "inner.parquet")

    sanitize(table(), policy, tmp_path / "out.parquet", progress=inner)
    check(read(tmp_path / "out.parquet"), table())
    check(read(tmp_path / "inner.parquet"), table())
    only(tmp_path, "inner.parquet", "out.parquet")


def test_a_dry_run_touches_nothing(tmp_path, policy):
    source = write(table(), tmp_path / "in.parquet")
    read_at = source.stat().st_mtime_ns
    release = sanitize(source, policy, tmp_path / "out.parquet", dry_run=True)
    assert (release.table, release.path) == (None, None)
    assert "pay" in release.report.text()
    assert source.stat().st_mtime_ns == read_at
    only(tmp_path, "in.parquet")
    with pytest.raises(PolicyError, match="the policy does not name it"):
        sanitize(table(extra=[1] * ROWS), policy, tmp_path / "out.parquet", dry_run=True)
    bad = write(table(health=[SECRET] * ROWS), tmp_path / "bad.parquet")
    sanitize(bad, policy, dry_run=True)


def test_progress_counts_to_the_end(policy, public):
    for rules in (policy, public):
        seen = []
        sanitize(table(300_000), rules, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1] == (300_000, 300_000)


@pytest.mark.parametrize("order", ["secret", "public"])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_zero_rows(tmp_path, order, ending):
    policy = Policy.parse(POLICY + f'[rows]\norder = "{order}"')
    source = write(table(0), tmp_path / f"in{ending}")
    release = sanitize(source, policy, tmp_path / f"out{ending}")
    assert release.report.rows == 0
    released = read(tmp_path / f"out{ending}")
    assert released.num_rows == 0
    assert released.column_names == ["site", "pay", "visits", "day", "health"]
    assert sanitize(source, policy).table.num_rows == 0
    for frame in (table(0).to_pandas(), pl.from_arrow(table(0))):
        assert len(sanitize(frame, policy).table) == 0


def test_zero_bytes(tmp_path, policy):
    for name in ("in.parquet", "in.csv", "in.arrow"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(FileError, match="cannot be read"):
            sanitize(tmp_path / name, policy, tmp_path / "out.parquet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="holds no Parquet parts"):
        sanitize(tmp_path / "folder", policy, tmp_path / "out.parquet")
    with pytest.raises(FileError, match="there is no"):
        sanitize(tmp_path / "nowhere.parquet", policy)
    (tmp_path / "in.txt").write_text("x")
    with pytest.raises(ArgumentError, match="is wanted"):
        sanitize(tmp_path / "in.txt", policy)
    with pytest.raises(ArgumentError, match="is wanted"):
        sanitize(42, policy)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_damaged_files(tmp_path, policy, ending):
    """Cut off, or overwritten somewhere: refused by name, or released whole where nothing is amiss."""
    whole = table(5000)
    source = write(whole, tmp_path / f"in{ending}")
    held = source.read_bytes()
    damaged = [held[:100], held[: len(held) // 2], held[:-20], held[:-1], SECRET.encode() * 100]
    for place in range(4, len(held) - 64, max(1, len(held) // 40)):
        damaged.append(held[:place] + bytes(b ^ 0xFF for b in held[place : place + 64]) + held[place + 64 :])
    named = 0
    for number, content in enumerate(damaged):
        broken, out = tmp_path / f"broken{number}{ending}", tmp_path / f"out{number}.parquet"
        broken.write_bytes(content)
        try:
            sanitize(broken, policy, out)
        except (MetricDPError, PolicyError) as error:
            named += 1
            quiet(error)
            assert not out.exists()
    assert named >= 5
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_damaged_part_of_a_folder(tmp_path, policy):
    parts = tmp_path / "parts"
    parts.mkdir()
    write(table(), parts / "a.parquet")
    held = write(table(), parts / "b.parquet").read_bytes()
    (parts / "b.parquet").write_bytes(held[:4] + bytes(2000) + held[2004:])
    with pytest.raises(DataError) as caught:
        sanitize(parts, policy, tmp_path / "out.parquet")
    quiet(caught.value)
    only(tmp_path, "parts")


HEADER = "site,name,pay,visits,day,health\n"
GOOD = "1,ann,10.5,3,2024-01-01,good\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{GOOD}2,"{SECRET},10.5,3,2024-01-01,good\n', "a quote is not closed|cannot be read as csv"),
        (f"{GOOD}2,{SECRET},10.5,3,2024-01-01,good,more\n", "as many fields as the header|cannot be read as csv"),
        (f"{GOOD}2,{SECRET}\n", "as many fields as the header|cannot be read as csv"),
        (f"{GOOD}{GOOD}2,ann,{SECRET},3,2024-01-01,good\n", r"column 'pay', row 2: a value is not of the type"),
        (f"{GOOD}2,ann,1.5,{SECRET},2024-01-01,good\n", r"column 'visits', row 1: a value is not of the type"),
        (f"{GOOD}2,ann,1.5,3,{SECRET},good\n", r"column 'day', row 1: a value is not of the type"),
        (f"{GOOD}2,ann,1.5,3,2024-01-01,{SECRET}\n", r"column 'health', row 1: not one of the declared values"),
        (f"{GOOD}2,ann,1.5,-3,2024-01-01,good\n", r"column 'visits', row 1: .*outside"),
        (f"{GOOD}2,ann,,3,2024-01-01,good\n", r"column 'pay', row 1: a value is missing"),
    ],
)
def test_bad_csv(tmp_path, policy, content, message):
    source = tmp_path / "in.csv"
    source.write_text(HEADER + content)
    with pytest.raises(DataError, match=message) as caught:
        sanitize(source, policy, tmp_path / "out.csv")
    quiet(caught.value)
    only(tmp_path, "in.csv")


def test_csv_that_is_not_text(tmp_path, policy):
    source = tmp_path / "in.csv"
    for content in (b"2,\xff\xfe\xfa,1.5,3,2024-01-01,good\n", b"2,ann,1.5,3,2024-01-01,\xff\xfe\n"):
        source.write_bytes((HEADER + GOOD).encode() + content)
        with pytest.raises(DataError) as caught:
            sanitize(source, policy, tmp_path / "out.csv")
        assert (
            "UTF-8" in str(caught.value)
            or "cannot be read" in str(caught.value)
            or "not of the type" in str(caught.value)
        )
    source.write_bytes(os.urandom(5000))
    with pytest.raises(MetricDPError):
        sanitize(source, policy, tmp_path / "out.csv")
    only(tmp_path, "in.csv")


def test_csv_with_a_missing_or_a_double_column(tmp_path, policy):
    source = tmp_path / "in.csv"
    source.write_text("site,name,pay,visits,day\n1,a,1.5,3,2024-01-01\n")
    with pytest.raises(PolicyError, match="'health': the table has no such column"):
        sanitize(source, policy, tmp_path / "out.csv")
    source.write_text("site,site,name,pay,visits,day,health\n1,1,a,1.5,3,2024-01-01,good\n")
    with pytest.raises(MetricDPError, match="one name"):
        sanitize(source, policy, tmp_path / "out.csv")


@pytest.mark.parametrize("delimiter", [" ", ":", "-", "+", ";"])
def test_a_delimiter_that_stands_in_moments_and_numbers(tmp_path, delimiter):
    """What is written can be read again, and by the same policy."""
    fields = ['"2020-01-01T10:00:00"', '"-7"', f'"a{delimiter}b"']
    (tmp_path / "in.csv").write_text(delimiter.join("txk") + "\n" + delimiter.join(fields) + "\n")
    text = 'format = 2\n[columns]\nk = "keep"\nx = {type = "integer", within = 1}\n'
    text += f't = {{type = "time", within = "1 hour"}}\n[csv]\ndelimiter = "{delimiter}"'
    rules = Policy.parse(text)
    sanitize(tmp_path / "in.csv", rules, tmp_path / "out.csv")
    assert sanitize(tmp_path / "out.csv", rules).table["k"].to_pylist() == [f"a{delimiter}b"]


def test_a_csv_column_has_the_policys_type(tmp_path, public):
    """Digits in a kept column stay text: no type is guessed from the data."""
    source = tmp_path / "in.csv"
    source.write_text(HEADER + "007,ann,10,3,2024-01-01,good\n,ann,10,3,2024-01-01,\n")
    released = sanitize(source, public).table
    assert released["site"].to_pylist() == ["007", None]
    assert released.schema.types == [pa.string(), pa.float64(), pa.int64(), pa.date32(), pa.string()]


@contextlib.contextmanager
def nobody():
    """Without the rights of the superuser, if the tests have them; in a folder that all may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if before == 0:
            os.seteuid(0)
        for path in folder.rglob("*"):
            path.chmod(0o777)
        shutil.rmtree(folder)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow"])
def test_no_permission(policy, public, ending):
    sanitize(table(), policy)  # what is imported late is there before the rights go
    with nobody() as folder:
        source = write(table(), folder / f"in{ending}")
        source.chmod(0)
        with pytest.raises(FileError, match=r"no permission|cannot be read"):
            sanitize(source, policy, folder / "out.parquet")
        source.chmod(0o600)
        (folder / "closed").mkdir(mode=0o500)
        for rules in (policy, public):
            with pytest.raises(FileError, match=r"could not be written|no permission"):
                sanitize(source, rules, folder / "closed" / f"out{ending}")
        only(folder / "closed")


def test_values_of_other_libraries_errors_stay_inside(policy):
    """An expression that fails on a row, and a column of mixed types: both libraries quote the value."""
    relation = duckdb.connect().sql(
        "select range as site, 'a' as name, "
        f"case when range < 9 then 1.5 else cast('{SECRET}' || range as double) end as pay, "
        "1 as visits, date '2024-01-01' as day, 'good' as health from range(10)"
    )
    with pytest.raises(MetricDPError) as caught:
        sanitize(relation, policy)
    quiet(caught.value)
    with pytest.raises(ColumnError, match="column 'site', row 0: a column of Python objects") as caught:
        sanitize(table(2).to_pandas().assign(site=[1, SECRET]), policy)
    quiet(caught.value)


UNIT = '\n[person]\ncolumn = "name"\nrows = {rows}\nexcess = "{excess}"\nrelease = "{release}"\n'
PEOPLE = POLICY.replace('name = "drop"\n', "")


def people(rows=3, excess="refuse", release="drop", order="secret"):
    return Policy.parse(PEOPLE + UNIT.format(rows=rows, excess=excess, release=release) + f'[rows]\norder="{order}"')


def test_nobody_may_have_more_rows_counted_over_the_whole_table(tmp_path):
    """One row of somebody in each of two batches: too many for a bound of one, in no batch by itself."""
    names = [f"{SECRET}{row}" for row in range(300_000)]
    names[-1] = names[0]
    whole = table(300_000, name=names)
    with pytest.raises(ColumnError) as caught:
        sanitize(whole, people(1), tmp_path / "out.parquet")
    assert quiet(caught.value) == """column 'name': somebody has more than 1 rows; declare more, or excess = "cut\""""
    only(tmp_path)
    sanitize(whole, people(2), tmp_path / "out.parquet")
    released = read(tmp_path / "out.parquet")
    assert released.num_rows == 300_000
    assert "name" not in released.column_names
    sanitize(whole, people(1, "cut"), tmp_path / "cut.parquet")
    sites = set(read(tmp_path / "cut.parquet")["site"].to_pylist())
    assert len(sites) == 299_999
    assert len(sites & {0, 299_999}) == 1
    only(tmp_path, "out.parquet", "cut.parquet")


@pytest.mark.parametrize("kind", ["table", "parquet", "relation"])
def test_a_cut_keeps_exactly_so_many_and_is_blind(tmp_path, kind):
    """Of a hundred people with ten rows each, three of each, and each row as often as any other."""
    whole = table(1000, name=[f"p{row % 100}" for row in range(1000)])
    kept = Counter()
    for _ in range(30):
        source = {"table": whole, "parquet": tmp_path / "in.parquet", "relation": duckdb.from_arrow(whole)}[kind]
        if kind == "parquet":
            write(whole, source)
        released = sanitize(source, people(3, "cut", "rekey")).table
        assert set(Counter(released["name"].to_pylist()).values()) == {3}
        assert Counter(site % 100 for site in released["site"].to_pylist()) == dict.fromkeys(range(100), 3)
        kept.update(site // 100 for site in released["site"].to_pylist())
    assert all(700 <= kept[place] <= 1100 for place in range(10)), kept


def test_a_cut_of_rows_that_come_in_another_order_each_time(tmp_path):
    """A relation without an order may be read differently twice; still nobody has more."""
    database = duckdb.connect(config={"threads": 4})
    database.execute("create table t as select range % 50000 as who, range as site from range(400000)")
    relation = database.sql(
        "select site, 1.5 as pay, 3::int as visits, date '2024-01-01' as day, 'good' as health, "
        "who::varchar as name from t order by random()"
    )
    released = sanitize(relation, people(2, "cut", "rekey"), tmp_path / "out.parquet")
    assert released.report.rows == 100_000
    counts = Counter(read(tmp_path / "out.parquet")["name"].to_pylist())
    assert set(counts.values()) == {2}
    assert len(counts) == 50_000


@pytest.mark.parametrize(
    "arrow", [pa.string(), pa.large_string(), pa.int64(), pa.dictionary(pa.int16(), pa.string())], ids=str
)
def test_new_keys(tmp_path, arrow):
    """The same for all rows of a person in one run, other ones in the next."""
    text = not pa.types.is_integer(arrow)
    old = pa.array([f"{SECRET}{row % 50}" if text else 7_000_000 + row % 50 for row in range(ROWS)])
    whole = table(name=old.cast(arrow))
    runs = []
    for number in range(2):
        out = tmp_path / f"out{number}.parquet"
        sanitize(whole, people(20, release="rekey"), out)
        released = read(out)
        assert released.schema.field("name").type == arrow
        assert SECRET.encode() not in out.read_bytes()
        owners = {}
        for site, name in zip(released["site"].to_pylist(), released["name"].to_pylist(), strict=True):
            assert owners.setdefault(site % 50, name) == name
        assert len(set(owners.values())) == 50
        assert not set(owners.values()) & set(old.to_pylist())
        runs.append(owners)
    assert not set(runs[0].values()) & set(runs[1].values())


def test_a_row_of_nobody(tmp_path):
    with pytest.raises(ColumnError, match=r"column 'name', row 999: the row belongs to no person"):
        sanitize(table(name=["a"] * 999 + [None]), people(1000), tmp_path / "out.parquet")
    only(tmp_path)


def test_a_cut_is_not_counted_in_the_file(tmp_path):
    """How many rows were cut is told neither by the file nor by an error."""
    sanitize(table(1237, name=["one"] * 1237), people(3, "cut"), tmp_path / "out.parquet")
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == 3
    assert b"1237" not in (tmp_path / "out.parquet").read_bytes()


def test_two_runs_differ(tmp_path, public):
    runs = [np.asarray(sanitize(table(), public).table["pay"]) for _ in range(2)]
    assert hardly_alike(*runs)


def test_a_forked_worker_never_repeats_its_parent(public):
    """Parent and children go on from the same state; none of them draws what another drew."""
    sanitize(table(10), public)
    whole = table(200)
    draws = []
    for _ in range(2):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                plan = Sanitizer.of(public, whole.schema)
                pay = np.asarray(plan.apply(whole.to_batches()[0])["pay"])
                os.write(writer, pay.tobytes())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            draws.append(np.frombuffer(pipe.read()))
        os.waitpid(child, 0)
    draws.append(np.asarray(Sanitizer.of(public, whole.schema).apply(whole.to_batches()[0])["pay"]))
    assert [len(draw) for draw in draws] == [200] * 3
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert hardly_alike(draws[one], draws[other])


def test_threads_never_repeat_each_other(public):
    """Two batches on two threads with the same secrets."""
    half = 1 << 17
    whole = table(2 * half, pay=[1.5] * (2 * half))
    pay = np.asarray(sanitize(whole, public).table["pay"])
    assert not (pay[:half] == pay[half:]).mean() > 0.01


def test_seeded_runs_are_the_same_and_say_so(public):
    runs = []
    for _ in range(2):
        with mdp.seeded(7):
            runs.append(sanitize(table(), public))
    assert runs[0].table.equals(runs[1].table)
    assert "not private" in runs[0].report.text().lower()


@pytest.mark.long
def test_memory_does_not_grow_with_the_table():
    """Nothing is kept between batches: eight times the rows, not eight times the memory."""
    code = """
import resource, sys, numpy as np, pyarrow as pa, tempfile
from pathlib import Path
from metricdp.policies import Policy
from metricdp.tables import sanitize
import pyarrow.parquet as pq
text = 'format=2\\n[columns.x]\\ntype="number"\\nwithin=1\\n[columns.y]\\ntype="number"\\nwithin=1\\n'
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "in.parquet"
    batch = pa.record_batch({"x": np.arange(1 << 17) * 0.7, "y": np.arange(1 << 17) * 0.9})
    with pq.ParquetWriter(path, batch.schema) as writer:
        for _ in range(int(sys.argv[1])):
            writer.write_batch(batch)
    sanitize(path, Policy.parse(text), Path(folder) / "out.parquet")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    small, large = (
        int(subprocess.run([sys.executable, "-c", code, count], capture_output=True, text=True, check=True).stdout)
        for count in ("4", "32")
    )
    assert large < 1.5 * small


@pytest.mark.long
@pytest.mark.parametrize("kind", ["series", "columns"])
def test_memory_does_not_grow_with_the_width_of_a_row(kind):
    """As many values in rows of two thousand as in rows of twenty, not a hundred times the memory."""
    code = """
import resource, sys, numpy as np, pyarrow as pa, tempfile
from pathlib import Path
from metricdp.tables import sanitize
import pyarrow.parquet as pq
kind, width = sys.argv[1], int(sys.argv[2])
rows = (1 << 25) // width
if kind == "series":
    columns = {"x": {"type": "series", "length": width, "within": 1}}
    schema = pa.schema([("x", pa.list_(pa.float32(), width))])
else:
    columns = {f"x{place}": {"type": "number", "within": 1} for place in range(width)}
    schema = pa.schema([(name, pa.float32()) for name in columns])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "in.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 1 << 10):
            size = min(1 << 10, rows - start)
            values = pa.array(np.zeros(size * width, dtype=np.float32))
            if kind == "series":
                arrays = [pa.FixedSizeListArray.from_arrays(values, width)]
            else:
                arrays = [values[place * size : (place + 1) * size] for place in range(width)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
    policy = {"format": 2, "rows": {"order": "public"}, "columns": columns}
    sanitize(path, policy, Path(folder) / "out.parquet")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    narrow, wide = (
        int(
            subprocess.run([sys.executable, "-c", code, kind, width], capture_output=True, text=True, check=True).stdout
        )
        for width in ("20", "2000")
    )
    assert wide < 4 * narrow
