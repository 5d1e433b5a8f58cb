"""What reaches the disk: the layout of a file, what a killed run leaves behind, and two runs in one folder."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import ColumnError
from metricdp.policies import Policy
from metricdp.queries.select.people import check_people
from metricdp.tables import sanitize
from tests.attacks.effort import attack, tries

POLICY = """
format = 2
[columns]
note = "drop"
kept = "keep"
word = "keep"
[columns.pay]
type = "number"
within = 1
[person]
column = "who"
rows = 2
excess = "cut"
[rows]
order = "{order}"
"""
WORDS = [f"w{k:02}" for k in range(40)]


def people(rows, cut):
    """A table of which ``rows`` are released: everybody has two rows, and the first ``cut`` people three."""
    who = np.repeat(np.arange(rows // 2 + 1), 2)[:rows]
    who = np.concatenate([who, np.arange(cut)])
    words = pa.array([WORDS[k % len(WORDS)] for k in range(len(who))])
    return pa.table(
        {
            "note": pa.array(["x"] * len(who)),
            "kept": pa.array(np.zeros(len(who), dtype=np.int64)),
            "word": words.dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
            "pay": np.ones(len(who)),
            "who": pa.array(who).cast(pa.string()),
        }
    )


def divided(table, sizes):
    """The same rows in pieces of these sizes, each with the words of its own."""
    parts, start = [], 0
    for size in [*sizes, table.num_rows]:
        part = table.slice(start, size)
        words = part["word"].cast(pa.string()).combine_chunks().dictionary_encode()
        place = part.schema.get_field_index("word")
        parts.append(part.set_column(place, "word", words.cast(table.schema.field("word").type)))
        start += size
    return pa.concat_tables(parts)


def layout(path):
    """The sizes of the pieces that a file is made of."""
    if path.suffix == ".parquet":
        metadata = pq.read_metadata(path)
        return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    with pa.ipc.open_file(path) as file:
        return [file.get_batch(number).num_rows for number in range(file.num_record_batches)]


@attack(6)
@given(
    rows=st.sampled_from([0, 1, 131_071, 131_072, 131_073, 200_000, 262_144]),
    cut=st.sampled_from([0, 1, 77, 40_000]),
    sizes=st.lists(st.sampled_from([0, 1, 999, 50_000, 131_072]), max_size=4),
    order=st.sampled_from(["public", "secret"]),
    ending=st.sampled_from(["parquet", "arrow"]),
)
def test_the_layout_tells_neither_the_division_nor_the_cut(rows, cut, sizes, order, ending):
    """Of two sources with as many released rows, one whole and one divided and cut, the files are laid out alike."""
    policy = Policy.parse(POLICY.format(order=order))
    cut = min(cut, rows // 2)
    plain, other = people(rows, 0), divided(people(rows, cut), sizes)
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for number, source in enumerate((plain, other)):
            out = Path(folder) / f"{number}.{ending}"
            sanitize(source, policy, out)
            found.append(layout(out))
    assert found[0] == found[1]
    assert sum(found[0]) == rows
    for source in (plain, other):
        released = sanitize(source, policy).table
        assert released.num_rows == rows
        assert all(column.num_chunks <= 1 for column in released.columns)


@pytest.mark.parametrize("order", ["public", "secret"])
@pytest.mark.parametrize("ending", [None, "arrow", "parquet"])
def test_dictionaries_tell_neither_the_order_nor_the_division(tmp_path, order, ending):
    """The words of a kept column come in one order, whichever came first in the source and however it was divided."""
    text = 'format=2\n[columns]\nword="keep"\n[columns.x]\ntype="boolean"\nepsilon=1\n[rows]\norder="' + order + '"'
    words = [word for word in WORDS for _ in range(50)]
    found = set()
    for source, sizes in ((words, []), (words[::-1], []), (words[1000:] + words[:1000], [700, 1, 900])):
        table = divided(pa.table({"word": pa.array(source).dictionary_encode(), "x": [True] * len(source)}), sizes)
        out = None if ending is None else tmp_path / f"out.{ending}"
        released = sanitize(table, Policy.parse(text), out, overwrite=True).table
        if ending == "arrow":
            with pa.ipc.open_file(out) as file:
                released = file.read_all()
        elif ending == "parquet":
            released = pq.read_table(out)
        assert sorted(released["word"].to_pylist()) == sorted(words)
        assert released["word"].num_chunks == 1
        found.add(tuple(released["word"].chunk(0).dictionary.to_pylist()))
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["boolean", "integer", "number", "category"])
@pytest.mark.parametrize("null", [False, True])
def test_the_division_shows_in_no_mask(kind, null):
    """Where null is a secret and none is released, a column in memory has no mask, however the source was divided."""
    entry = {"category": "values = ['a']", "boolean": ""}.get(kind, "bounds = [0, 3]")
    policy = Policy.parse(f"format = 2\n[columns.x]\ntype = '{kind}'\nepsilon = 1e6\n{entry}\n[rows]\norder = 'public'")
    value = {"boolean": True, "integer": 1, "number": 1.0, "category": "a"}[kind]
    whole = pa.array([value] * 8 + [None if null else value])
    found = set()
    for sizes in ([9], [0, 9], [4, 0, 5], [8, 1], [1, 8, 0, 0]):
        ends = np.cumsum([0, *sizes])
        pieces = [whole.slice(start, end - start) for start, end in itertools.pairwise(ends.tolist())]
        (piece,) = sanitize(pa.table({"x": pa.chunked_array(pieces)}), policy).table["x"].chunks
        assert piece.is_null().equals(whole.is_null())
        found.add(tuple(buffer is not None for buffer in piece.buffers()))
    assert len(found) == 1


def test_more_words_than_a_dictionary_can_number_are_named(tmp_path):
    """Two batches with 100 words each, numbered by bytes: together they do not fit, and the error says which column."""
    text = 'format=2\n[columns]\nword="keep"\n[columns.x]\ntype="boolean"\nepsilon=1\n'
    small = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch({"word": pa.array([f"TOPSECRET{k}{n}" for n in range(100)]).cast(small), "x": [True] * 100})
        for k in range(2)
    ]
    for out in (tmp_path / "out.parquet", tmp_path / "out.arrow", None):
        with pytest.raises(ColumnError, match="column 'word'") as caught:
            sanitize(pa.Table.from_batches(batches), Policy.parse(text), out)
        assert "TOPSECRET" not in str(caught.value)
    assert not list(tmp_path.iterdir())


WORK = """
import sys, time
import duckdb, numpy as np, pyarrow as pa
from metricdp.policies import Policy
from metricdp.tables import sanitize, shuffle, units
shuffle.shuffled.__defaults__ = (1 << 16,)  # so that rows are dealt to the disk
folder, text = sys.argv[1:]
if units.rows_within_bound.__defaults__:
    units.rows_within_bound.__defaults__ = (5000,)  # so that owners wait on the disk
rows = 60000
whole = pa.table({
    "note": [f"DROPPED-NOTE-{n}" for n in range(rows)],
    "kept": [f"KEPT-VALUE-{n}" for n in range(rows)],
    "word": ["w"] * rows,
    "pay": np.ones(rows),
    "who": [f"RAW-PERSON-{n // 3}" for n in range(rows)],
})
policy = Policy.parse(text)
print("ready", flush=True)
for number in range(10**9):
    for source in (duckdb.from_arrow(whole), whole):
        sanitize(source, policy, f"{folder}/{number}.parquet" if number % 2 == 0 else None, overwrite=True,
                 progress=lambda done, total: time.sleep(0.05))
"""


@pytest.mark.long
def test_no_identifier_is_left_behind_by_kill(tmp_path):
    """Killed at random moments: nothing that is left holds an identifier, a dropped value, or rows in their order."""
    kills = min(50, tries(5))
    moments = np.random.default_rng().uniform(0.05, 1.5, kills)
    seen = 0
    for number, moment in enumerate(moments):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = POLICY.format(order="secret").replace("[rows]", 'release = "rekey"\n[rows]')
        worker = subprocess.Popen(
            [sys.executable, "-c", WORK, str(folder), text],
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(folder)},
        )
        assert worker.stdout.readline() == b"ready\n"
        time.sleep(moment)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        for path in folder.rglob("*"):
            if path.is_file():
                held = path.read_bytes()
                seen += bool(held) and any(part.startswith(".") for part in path.relative_to(folder).parts)
                assert b"RAW-PERSON" not in held, path
                assert b"DROPPED-NOTE" not in held, path
                if path.suffix != ".parquet":
                    assert b"KEPT-VALUE" not in held, path
        shutil.rmtree(folder)
    assert seen, "no moment fell into the work: the test is blind"


def held_under(folder, stop):
    """What the scratch files held, ours and DuckDB's, as long as nobody says stop."""
    seen = set()
    while not stop.is_set():
        with contextlib.suppress(OSError):  # folders go while they are looked through
            for path in folder.rglob("*"):
                held = path.read_bytes() if path.is_file() else b""
                if held:
                    seen.add(b"RAW-PERSON" in held)
        time.sleep(0.02)
    return seen


@pytest.mark.parametrize("form", ["parquet", "table", "relation"])
def test_a_question_counts_people_with_no_identifier_on_the_disk(tmp_path, monkeypatch, form):
    """More people than memory should hold: what waits on the disk, where a kill leaves it, is sealed.

    DuckDB would write digests as they are, and beside them whatever its memory held before: raw identifiers too.
    """
    rows = 400_000
    whole = pa.table({"who": [f"RAW-PERSON-{n * 7919 % rows}" for n in range(rows)], "ill": [True] * rows})
    (tmp_path / "in").mkdir()
    pq.write_table(whole, tmp_path / "in" / "people.parquet")
    source = {"parquet": tmp_path / "in" / "people.parquet", "table": whole, "relation": duckdb.from_arrow(whole)}[form]
    policy = Policy.parse(
        f'format = 2\nrecords = {rows}\n[person]\ncolumn = "who"\nrows = 1\n'
        '[columns]\nill = {type = "boolean", factor = 2, missing = "refuse"}'
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    limits = {"memory_limit": "32MB", "temp_directory": str(scratch), "threads": 2, "preserve_insertion_order": False}
    monkeypatch.setattr("metricdp.sources.engines.duckdb._connected", lambda **ignored: duckdb.connect(config=limits))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr("metricdp.sources.owners.MOST_ROWS", rows // 8)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as watcher:
        watched = watcher.submit(held_under, scratch, stop)
        try:
            check_people(source, policy)
        finally:
            stop.set()
    assert watched.result() == {False}, "an identifier was on the disk, or nothing was and the test is blind"


CONTAINER = """
import sys, time
from pathlib import Path
import pyarrow as pa
from metricdp.policies import Policy
from metricdp.tables import sanitize
folder, name, text = sys.argv[1:]
folder = Path(folder)
table = pa.table({"note": ["x"] * 100, "kept": ["k"] * 100, "word": ["w"] * 100, "pay": [1.5] * 100,
                  "who": [str(n) for n in range(100)]})
def wait(done, total):
    print("working", flush=True)
    while name == "slow" and not (folder / "go").exists():
        time.sleep(0.02)
sanitize(table, Policy.parse(text), folder / f"{name}.parquet", progress=wait)
print("done", flush=True)
"""
APART = ["unshare", "--pid", "--fork", "--mount-proc"]


def _namespaces():
    try:
        return subprocess.run([*APART, "true"], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@pytest.mark.long
@pytest.mark.skipif(not _namespaces(), reason="no process may be given numbers of its own here (unshare --pid)")
@pytest.mark.parametrize("order", ["secret", "public"])
def test_two_runs_in_two_containers_into_one_folder(tmp_path, order):
    """Neither sees the other's processes, and both have number 1: still both finish."""

    def start(name):
        command = [*APART, sys.executable, "-c", CONTAINER, str(tmp_path), name, POLICY.format(order=order)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    slow = start("slow")
    assert slow.stdout.readline() == "working\n"
    quick = start("quick")
    said, complaint = quick.communicate(timeout=300)
    assert said.endswith("done\n"), complaint
    (tmp_path / "go").touch()
    said, complaint = slow.communicate(timeout=300)
    assert said.endswith("done\n"), complaint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["go", "quick.parquet", "slow.parquet"]
    for name in ("quick", "slow"):
        assert pq.read_metadata(tmp_path / f"{name}.parquet").num_rows == 100
