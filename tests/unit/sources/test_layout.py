"""How many rows come at once, and how they are laid out."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from metricdp.sources.layout import BATCH_ROWS, batch_rows
from metricdp.sources.opening import open_table
from metricdp.sources.table import Declared


@pytest.mark.parametrize("width", [0, 1, 100, 128, 129, 1000, 10**6, 10**9])
def test_a_batch_has_few_values_and_at_least_a_row(width):
    rows = batch_rows(width)
    assert 1 <= rows <= BATCH_ROWS
    assert rows == 1 or rows * width <= 1 << 24
    assert rows == BATCH_ROWS or 2 * rows * width > 1 << 24


@pytest.mark.parametrize(
    "kind", ["parquet", "arrow", "csv", "folder", "table", "reader", "pandas", "polars", "lazy", "duckdb"]
)
def test_every_source_gives_as_many_rows_at_once_as_are_declared(tmp_path, kind):
    table = pa.table({"x": [str(number) for number in range(95)]})
    if kind == "parquet":
        pa.parquet.write_table(table, source := tmp_path / "t.parquet")
    elif kind == "arrow":
        source = tmp_path / "t.arrow"
        with pa.ipc.new_file(source, table.schema) as writer:
            writer.write(table)
    elif kind == "csv":
        pa.csv.write_csv(table, source := tmp_path / "t.csv")
    elif kind == "folder":
        (source := tmp_path / "parts").mkdir()
        pa.parquet.write_table(table, source / "a.parquet")
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        source = duckdb.from_arrow(table)
    elif kind in ("polars", "lazy"):
        frame = pytest.importorskip("polars").from_arrow(table)
        source = frame.lazy() if kind == "lazy" else frame
    else:
        source = {"table": table, "reader": table.to_reader(), "pandas": table.to_pandas()}[kind]
    with open_table(source, Declared({"x": pa.string()}, batch_rows=10)) as opened:
        sizes = [batch.num_rows for batch in opened.batches()]
    assert sum(sizes) == 95
    assert max(sizes) <= (2048 if kind == "duckdb" else 10)  # whose own vectors have that many
