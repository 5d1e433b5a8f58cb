"""Every way in gives the same rows, again and again, and knows its schema before a value is read."""

import datetime as dt
import gzip
import io
import sys
import traceback

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError, ColumnError, DataError, FileError, MetricDPError
from metricdp.sources import DatabaseTable, Declared, Dialect, count_rows, open_sql, open_table

SECRET = "TOPSECRET"
COLUMNS = {"age": [31, None, 47], "sex": ["F", "M", None]}
ARROW = pa.table({"age": pa.array(COLUMNS["age"], pa.int64()), "sex": pa.array(COLUMNS["sex"], pa.string())})
TEXT = "age,sex\n31,F\n,M\n47,\n"
DECLARED = Declared({"age": pa.int64(), "sex": pa.string()})


def csv(folder):
    (folder / "t.csv").write_text(TEXT)
    return folder / "t.csv"


def packed(folder):
    (folder / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    return folder / "t.csv.gz"


def parquet(folder):
    pq.write_table(ARROW, folder / "t.parquet")
    return folder / "t.parquet"


def parts(folder):
    (folder / "parts").mkdir()
    pq.write_table(ARROW.slice(0, 2), folder / "parts" / "a.parquet")
    pq.write_table(ARROW.slice(2), folder / "parts" / "b.parquet")
    return folder / "parts"


def arrow_file(folder):
    pa_feather.write_feather(ARROW, folder / "t.arrow")
    return folder / "t.arrow"


def database(folder):
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("rows", ARROW)
        connection.execute("create table people as select * from rows")
    return DatabaseTable(str(folder / "t.duckdb"), "people")


WAYS = {
    "csv": csv,
    "csv.gz": packed,
    "text of a path": lambda folder: str(csv(folder)),
    "parquet": parquet,
    "folder": parts,
    "arrow file": arrow_file,
    "arrow": lambda folder: ARROW,
    "batch": lambda folder: ARROW.to_batches()[0],
    "pandas": lambda folder: pd.DataFrame({"age": pd.array(COLUMNS["age"], "Int64"), "sex": COLUMNS["sex"]}),
    "polars": lambda folder: pl.DataFrame(COLUMNS),
    "lazy": lambda folder: pl.DataFrame(COLUMNS).lazy(),
    "relation": lambda folder: duckdb.connect().sql("select * from ARROW"),
    "duckdb file": database,
    "address": lambda folder: f"duckdb://{database(folder).database}#people",
}


def rows_of(table):
    """All rows as Python has them, in the types that are declared."""
    found = [row for batch in table.batches() for row in batch.to_pylist()]
    read = {"age": int, "sex": str}
    return [{name: value if value is None else read[name](value) for name, value in row.items()} for row in found]


@pytest.mark.parametrize("way", WAYS)
def test_the_same_rows_each_time(way, tmp_path):
    with open_table(WAYS[way](tmp_path), DECLARED) as table:
        assert table.schema.names == ["age", "sex"]
        assert table.rows in (3, None)
        assert not table.once
        wanted = ARROW.to_pylist()
        assert rows_of(table) == rows_of(table) == wanted
        only = table.only(["sex"])
        assert [row for batch in only.batches() for row in batch.to_pylist()] == [{"sex": row["sex"]} for row in wanted]
        kept = table.spooled(tmp_path)
        assert rows_of(kept) == rows_of(kept) == wanted


@pytest.mark.parametrize("way", WAYS)
def test_the_same_answers_in_sql(way, tmp_path):
    source = WAYS[way](tmp_path)
    assert count_rows(source) == 3
    with open_sql(source, DECLARED) as table:
        assert dict(table.columns)["age"].kind == "integer"
        read = table.read(f"select count(*) as n, max(age) as oldest, count(sex) as known from {table.relation}")
    assert {name: list(values) for name, values in read.items()} == {"n": [3], "oldest": [47], "known": [2]}
    with (
        pytest.raises(ColumnError, match="column 'Age': the table has no such column"),
        open_sql(source, Declared({"Age": pa.int64()})),
    ):
        pass


def test_a_reader_comes_once_and_can_be_kept(tmp_path):
    with open_table(pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches())) as table:
        assert table.once
        kept = table.spooled(tmp_path)
        assert rows_of(kept) == rows_of(kept) == ARROW.to_pylist()
        assert not kept.once


def test_standard_input_is_read_again_and_again(monkeypatch):
    for content in (TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with open_table("-", DECLARED) as table:
            assert rows_of(table) == rows_of(table) == ARROW.to_pylist()


def test_no_value_is_read_for_the_schema():
    class Trap(dict):
        """A value that nobody may look at."""

        def __getattribute__(self, name):
            raise AssertionError("looked at")

    frame = pd.DataFrame({"a": pd.Series([Trap()], dtype=object), "b": [1.5]})
    with open_table(frame, Declared({"a": pa.float64()})) as table:
        assert table.schema == pa.schema([("a", pa.string()), ("b", pa.float64())])
        assert table.untyped.columns == {"a"}
        assert [batch.column(0).to_pylist() for batch in table.batches(["b"])] == [[1.5]]


def test_a_column_that_cannot_be_read_is_refused_when_it_is():
    frame = pd.DataFrame({"z": np.array([1j, 2j]), "b": [1, 2]})
    with open_table(frame) as table:
        assert sum(batch.num_rows for batch in table.batches(["b"])) == 2
        with pytest.raises(ColumnError, match="columns of complex128 cannot be taken"):
            list(table.batches())


@pytest.mark.parametrize(("sign", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_a_file_of_another_delimiter_is_recognised(sign, words, tmp_path):
    (tmp_path / "t.csv").write_text(TEXT.replace(",", sign))
    with pytest.raises(FileError, match=rf"its fields stand between {words}; .*\[csv\] delimiter = ") as caught:
        open_table(tmp_path / "t.csv")
    assert "sex" not in str(caught.value)
    with open_table(tmp_path / "t.csv", Declared(dialect=Dialect(delimiter=sign))) as table:
        assert rows_of(table) == ARROW.to_pylist()
    (tmp_path / "one.csv").write_text(f"a{sign}b\nx\n")
    with open_table(tmp_path / "one.csv", Declared(dialect=Dialect(delimiter=","))) as table:
        assert table.schema.names == [f"a{sign}b"]


def test_the_delimiter_is_seen_before_any_row_is_checked(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n1;2\n")
    with pytest.raises(FileError, match="its fields stand between semicolons"):
        open_table(tmp_path / "t.csv")
    (tmp_path / "one.csv").write_text('"a;b"\n1\n')
    with open_table(tmp_path / "one.csv") as table:
        assert table.schema.names == ["a;b"], "a name in quotes is one name"


def test_what_cannot_be_opened(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TEXT.encode() * 9)[:-9])
    (tmp_path / "no.csv.gz").write_bytes(TEXT.encode())
    (tmp_path / "no.duckdb").write_bytes(SECRET.encode() * 100)
    damaged = bytearray(gzip.compress(TEXT.encode()))
    damaged[10:16] = b"\xff" * 6  # the first bytes after gzip's own
    (tmp_path / "bits.csv.gz").write_bytes(damaged)
    with pytest.raises(FileError, match=r"cannot be read as csv\.gz"):
        open_table(tmp_path / "bits.csv.gz")
    with pytest.raises(MetricDPError, match="damaged"):
        list(open_table(tmp_path / "t.csv.gz").batches())
    for name, rule in [("no.csv.gz", "cannot be read as csv.gz"), ("no.duckdb#t", "no DuckDB file"), ("x.csv", "no")]:
        with pytest.raises(FileError, match=rule):
            open_table(str(tmp_path / name))
    for source, rule in [
        ("mysql://host/base#people", "no engine reads databases at mysql://"),
        ("postgresql://host/base", "after a #"),
        (str(tmp_path / "no.duckdb"), "after a #"),
        (5, "not int"),
    ]:
        with pytest.raises(ArgumentError, match=rule):
            open_table(source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="empty holds no Parquet parts"):
        open_table(tmp_path / "empty")
    with pytest.raises(ArgumentError, match="no engine 'oracle'; the engine is one of auto, local, duckdb, postgres"):
        open_table(ARROW, engine="oracle")


def test_values_stay_out_of_errors(tmp_path):
    relation = duckdb.connect().sql(f"select cast('{SECRET}' || range as integer) as age from range(3)")
    frame = pd.DataFrame({"age": [1, SECRET]})
    (tmp_path / "t.csv").write_text(f"age\n1\n{SECRET}\n")
    for source in (relation, frame, tmp_path / "t.csv", pl.DataFrame({"age": [1, SECRET]}, strict=False)):
        with pytest.raises(DataError) as caught:
            asked(source)
        assert SECRET not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)


def asked(source):
    """Let the engine turn a value into what it is not."""
    with open_sql(source, Declared({"age": pa.int64()})) as table:
        return table.read(f"select max(cast(cast(age as varchar) as date)) as day from {table.relation}")


def test_columns_in_the_names_of_folders_are_text_of_no_type(tmp_path):
    for ward in ("1", "01", "x y"):
        (tmp_path / f"ward={ward}").mkdir()
        pq.write_table(pa.table({"age": [1]}), tmp_path / f"ward={ward}" / "a.parquet")
    with open_table(tmp_path) as table:
        assert table.schema.field("ward").type == pa.string()
        assert table.untyped.columns == {"ward"}
        assert sorted(row["ward"] for batch in table.batches() for row in batch.to_pylist()) == ["01", "1", "x y"]


def test_types_that_engines_do_not_have():
    odd = pa.table(
        {
            "word": pa.array(["a", "b"]).dictionary_encode(),
            "moment": pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 999999)] * 2, pa.timestamp("ns")),
            "wide": pa.array([1, 2], pa.decimal256(40, 1)),
            "view": pa.array(["x", None], pa.string_view()),
        }
    )
    with open_sql(odd, Declared({name: pa.string() for name in odd.column_names})) as table:
        kinds = {name: kind.kind for name, kind in table.columns}
        read = table.read(
            f"select max(word) as w, max(moment) as m, sum(wide) as s, max(view) as v from {table.relation}"
        )
    assert [kinds[name] for name in odd.column_names] == ["text", "moment", "decimal", "text"]
    assert [read[name][0] for name in "wv"] == ["b", "x"]
    assert read["m"][0] == dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert read["s"][0] == 3


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"x": pa.array([0.1], pa.float64())}),
        pa.table({"x": ["0.1"]}),
        pa.table({"x": pa.array([0.5], pa.float32()), "more": [1]}),
        pa.table({"more": [1]}),
    ],
)
def test_parts_of_another_schema_are_refused(other, tmp_path):
    """pyarrow would round the values of one part to the type of another, read text as numbers, and fill in nulls."""
    pq.write_table(pa.table({"x": pa.array([0.5], pa.float32())}), tmp_path / "a.parquet")
    pq.write_table(other, tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"b.parquet others than a.parquet"), open_table(tmp_path):
        pass


def test_a_part_without_a_value_may_have_no_type(tmp_path):
    pq.write_table(pa.table({"x": [0.5]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": pa.nulls(1)}), tmp_path / "b.parquet")
    with open_table(tmp_path) as opened:
        assert pa.Table.from_batches(opened.batches())["x"].to_pylist() == [0.5, None]


def test_integers_of_128_bits_are_refused_by_their_type():
    """Not by their values, which are what they should be."""
    for values in ([1, 2], [2**100, None]):
        frame = pl.DataFrame({"age": pl.Series(values, dtype=pl.Int128)})
        with (
            open_table(frame, DECLARED) as table,
            pytest.raises(ColumnError, match="columns of Int128 cannot be taken"),
        ):
            table.check_readable(["age"])


@pytest.mark.parametrize("names", [["AGE", "age"], ["age", "AGE"]])
def test_columns_that_differ_in_capitals_alone_are_told_apart(tmp_path, names):
    """DuckDB calls the second of them by another name."""
    table = pa.table([pa.array([number] * 2) for number in (5, 7)], names=names)
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "parts").mkdir()
    pq.write_table(table, tmp_path / "parts" / "0.parquet")
    for path in (tmp_path / "t.parquet", tmp_path / "parts"):
        with open_sql(path, Declared({"age": pa.int64()})) as opened:
            assert opened.read(f"select max(age) as age from {opened.relation}") == {
                "age": [7 if names[1] == "age" else 5]
            }


@pytest.mark.parametrize("names", [("pay", "Pay"), ("Pay", "pay")])
def test_a_relation_whose_columns_differ_in_capitals_alone_is_refused(names):
    """DuckDB reads the first for either: a question about a public band was answered from the secret pay beside it."""
    relation = duckdb.sql(f'select 9 as "{names[0]}", 1 as "{names[1]}"')
    with pytest.raises(ColumnError, match=f"column '{names[1]}': DuckDB does not tell it from column '{names[0]}'"):
        open_table(relation)
    beyond = duckdb.sql('select 9 as "é", 1 as "É"')
    with open_sql(beyond, Declared({"É": pa.int64()})) as opened:
        assert opened.read(f'select max("É") as most from {opened.relation}') == {"most": [1]}


def test_a_relation_whose_connection_is_closed():
    connection = duckdb.connect()
    relation = connection.sql("select 1 as pay")
    connection.close()
    with pytest.raises(DataError, match="the engine could not read the table"):
        open_table(relation)


def test_words_that_are_views_are_asked_about():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["F", "M", None], pa.string_view()))
    with open_sql(pa.table({"sex": words}), Declared({"sex": pa.string()})) as table:
        assert table.read(f"select max(sex) as sex, count(sex) as known from {table.relation}") == {
            "sex": ["M"],
            "known": [2],
        }
