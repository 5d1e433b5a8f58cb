"""What sanitize takes and gives beside files: streams, lazy frames, pipes, frames that carry a guarantee; a check."""

import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.errors import ColumnError, FileError, PolicyError
from metricdp.policies import Policy
from metricdp.tables import sanitize, validate

POLICY = """
format = 2
[columns]
row = "keep"
[columns.pay]
type = "number"
within = 0.001
[columns.health]
type = "category"
values = ["good", "poor"]
epsilon = 30
missing = "refuse"
[rows]
order = "public"
"""
UNIT = '\n[person]\ncolumn = "who"\nrows = 2\nexcess = "{}"\n'


def table(rows=5, **columns):
    made = {
        "row": np.arange(rows),
        "pay": np.linspace(0, 1000, rows),
        "health": ["good", "poor"] * (rows // 2) + ["good"] * (rows % 2),
    }
    return pa.table(made | columns)


def policy(more=""):
    return Policy.parse(POLICY + more)


def close(released, rows=5):
    released = released if isinstance(released, pa.Table) else pa.Table.from_pandas(released)
    assert released["row"].to_pylist() == list(range(rows))
    assert np.abs(np.asarray(released["pay"]) - np.linspace(0, 1000, rows)).max() < 1


def test_a_reader_is_sanitized_also_by_person_and_after_a_check():
    whole = table(300, who=[str(row // 2) for row in range(300)])
    for check in (False, True):
        for rules in (policy(UNIT.format("refuse")), policy(UNIT.format("cut"))):
            reader = pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=70))
            close(sanitize(reader, rules, check_first=check).table, 300)
    plain = table(300)
    reader = pa.RecordBatchReader.from_batches(plain.schema, plain.to_batches())
    close(sanitize(reader, policy(), check_first=True).table, 300)


def test_a_lazy_frame_comes_back_lazy():
    released = sanitize(pl.from_arrow(table()).lazy(), policy()).table
    assert isinstance(released, pl.LazyFrame)
    close(released.collect().to_arrow())


def test_frames_carry_their_guarantee():
    release = sanitize(table().to_pandas(), policy())
    carried = release.table.attrs["metricdp"]
    assert carried["guarantee"] == release.report.formula
    assert carried["private"] is True
    assert json.loads(json.dumps(carried)) == carried
    kept = json.loads(sanitize(table(), policy()).table.schema.metadata[b"metricdp.report"])
    for claim in (carried["report"], kept):
        assert claim["origin"]["when"].startswith("20")
        assert claim["origin"]["source"] is None
        assert claim | {"origin": None} == release.report.claim() | {"origin": None}
    with mdp.seeded(1):
        assert sanitize(table().to_pandas(), policy()).table.attrs["metricdp"]["private"] is False


def test_in_a_pipe(tmp_path, monkeypatch, capsysbinary):
    text = table().to_pandas().to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    sanitize("-", policy(), "-")
    first = pd.read_csv(io.BytesIO(capsysbinary.readouterr().out))
    close(first)
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(text))
    sanitize(tmp_path / "in.csv.gz", policy(), tmp_path / "out.csv.gz")
    content = (tmp_path / "out.csv.gz").read_bytes()
    close(pd.read_csv(io.BytesIO(gzip.decompress(content))))
    assert content[4:8] == bytes(4), "a gzip file says when it was made"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.replace(b"good", b"bad"))))
    with pytest.raises(ColumnError):
        sanitize("-", policy(), "-")
    assert capsysbinary.readouterr().out == b"", "a table that was refused was half printed"


def test_a_check_refuses_what_a_release_would_and_draws_nothing_that_stays(tmp_path):
    validate(table(), policy())
    bad = table(300, health=["good"] * 299 + ["TOPSECRET"])
    for source in (bad, bad.to_pandas(), pl.from_arrow(bad).lazy()):
        with pytest.raises(ColumnError, match="column 'health', row 299: not one of the declared values") as caught:
            validate(source, policy())
        assert "TOPSECRET" not in str(caught.value)
    with pytest.raises(ColumnError, match="somebody has more than 2 rows"):
        validate(table(3, who=["a", "a", "a"]), policy(UNIT.format("refuse")))
    validate(table(3, who=["a", "a", "a"]), policy(UNIT.format("cut")))
    with pytest.raises(PolicyError, match="no such column"):
        validate(pa.table({"row": [1]}), policy())
    with mdp.seeded(7):
        alone = sanitize(table(), policy()).table
    with mdp.seeded(7):
        checked = sanitize(table(), policy(), check_first=True).table
    assert alone.equals(checked), "the check took noise from the seed"
    pq.write_table(bad, tmp_path / "in.parquet")
    with pytest.raises(ColumnError):
        sanitize(tmp_path / "in.parquet", policy(), tmp_path / "out.parquet", check_first=True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_both_passes_tell_their_progress():
    told = []
    sanitize(table(300), policy(), check_first=True, progress=lambda done, total: told.append((done, total)))
    assert told == [(300, 300), (300, 300)]
    validate(table(300), policy(), progress=lambda done, total: told.append((done, total)))
    assert len(told) == 3


def test_a_ledger_that_is_not_there_is_never_made(tmp_path):
    with pytest.raises(FileError, match="there is no ledger"):
        sanitize(table(), policy(), ledger=f"sqlite:///{tmp_path}/ledger.db")
    assert not list(tmp_path.iterdir())
