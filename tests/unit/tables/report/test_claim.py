"""Claims: what a file says of itself is read, held against the file, and never trusted."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.policies import Policy
from metricdp.tables.report import Report
from metricdp.tables.report.claim import read_claim

POLICY = Policy.parse(
    'format = 2\ncolumns.id = "drop"\ncolumns.site = "keep"\ncolumns.age = {type = "integer", within = 5}'
)
TABLE = pa.table({"site": ["a", "b"], "age": [30, 41]})


def claimed(table=TABLE, rows=2, claim=None):
    stored = json.dumps(Report.of(POLICY, rows).claim()) if claim is None else claim
    return table.replace_schema_metadata({"metricdp.report": stored, "metricdp.version": "0.1.0"})


def test_parquet_and_arrow_carry_the_claim(tmp_path):
    pq.write_table(claimed(), tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, claimed().schema) as writer:
        writer.write_table(claimed())
    for name in ("t.parquet", "t.arrow"):
        claim = read_claim(tmp_path / name)
        assert claim.report.columns == Report.of(POLICY).columns
        assert (claim.version, claim.columns, claim.rows, claim.doubts) == ("0.1.0", ("site", "age"), 2, ())


def test_no_claim(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("age\n3\n")
    for name in ("t.parquet", "t.csv"):
        claim = read_claim(tmp_path / name)
        assert claim.report is None
        assert claim.doubts == ()


def test_what_does_not_fit_is_named(tmp_path):
    more = TABLE.append_column("diagnosis", pa.array(["x", "y"])).drop(["site"])
    pq.write_table(claimed(more, rows=3), tmp_path / "t.parquet")
    assert read_claim(tmp_path / "t.parquet").doubts == (
        "The claim does not speak of these columns of the file: diagnosis.",
        "The claim speaks of columns that the file does not have: site.",
        "The claim speaks of 3 rows, and the file has 2.",
    )


@pytest.mark.parametrize("stored", ["", "{", "[]", '{"format": 1}', '{"format": 99}', "\xff\x00", '"' + "x" * 1000])
def test_a_damaged_claim_is_a_doubt(tmp_path, stored):
    pq.write_table(claimed(claim=stored), tmp_path / "t.parquet")
    claim = read_claim(tmp_path / "t.parquet")
    assert claim.report is None
    assert len(claim.doubts) == 1
    assert claim.doubts[0].startswith("What it claims cannot be read")


def test_a_folder_is_as_good_as_its_parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    with pytest.raises(FileError, match="no Parquet parts"):
        read_claim(folder)
    pq.write_table(claimed(rows=4), folder / "a.parquet")
    pq.write_table(claimed(rows=4), folder / "b.parquet")
    assert read_claim(folder).doubts == ()
    assert read_claim(folder).rows == 4
    pq.write_table(TABLE, folder / "c.parquet")
    assert "different things" in read_claim(folder).doubts[0]


def test_a_report_may_lie_beside_the_parts(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "_metricdp.json").write_text(json.dumps(Report.of(POLICY, 2).to_json()))
    assert read_claim(tmp_path).report is not None
    assert read_claim(tmp_path).doubts == ()


def test_files_that_are_something_else(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"not a table")
    (tmp_path / "t.arrow").write_bytes(b"not a table")
    (tmp_path / "t.doc").write_bytes(b"")
    for name in ("t.parquet", "t.arrow"):
        with pytest.raises(FileError, match="damaged"):
            read_claim(tmp_path / name)
    with pytest.raises(ArgumentError, match=r"t\.doc is no \.parquet"):
        read_claim(tmp_path / "t.doc")
