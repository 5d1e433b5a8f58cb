"""Whose rows they are, against counting one by one; and rows that wait sealed."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import ColumnError, DataError, FileError
from metricdp.policies import Person
from metricdp.sources.owned_rows import Owned
from metricdp.sources.sealed_rows import SealedRows
from metricdp.sources.table import OpenTable
from metricdp.tables.units import rows_within_bound


def source_of(who, arrow, sizes, stable=True):
    table = pa.table({"who": pa.array(who, arrow), "row": np.arange(len(who))})
    batches, start = [], 0
    for size in [*sizes, len(who)]:
        batches += table.slice(start, size).to_batches()
        start += size

    def read(columns):
        return iter([batch if columns is None else batch.select(columns) for batch in batches])

    return OpenTable(table.schema, len(who), read, stable=stable)


def kept(source, unit, folder, most_rows):
    rows = [row for batch in rows_within_bound(source, unit, folder, most_rows) for row in batch["row"].to_pylist()]
    left = [path for path in folder.rglob("*") if path.name != "read.rows"]
    assert not left
    return rows


@pytest.mark.long
@pytest.mark.parametrize("most_rows", [40, 300, 10**6])
@pytest.mark.parametrize("arrow", [pa.string(), pa.int64(), pa.uint8(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_everybody_keeps_as_many_as_allowed(tmp_path, arrow, most_rows):
    """In memory and dealt to files alike, as long as one person has one row and another most of the table."""
    random = np.random.default_rng(5)
    numbers = np.concatenate([random.integers(0, 60, 500), np.zeros(700, dtype=int), [61]])
    random.shuffle(numbers)
    who = numbers.tolist() if pa.types.is_integer(arrow) else ["p" * int(n) + str(n) for n in numbers]
    for most in (1, 4, 600):
        for stable in (True, False):
            folder = tmp_path / f"{most}{stable}"
            folder.mkdir()
            source = source_of(who, arrow, [100, 0, 3, 250], stable)
            rows = kept(source, Person("who", most, "cut"), folder, most_rows)
            assert rows == sorted(rows)
            assert Counter(who[row] for row in rows) == {name: min(n, most) for name, n in Counter(who).items()}
    with pytest.raises(ColumnError, match="somebody has more than 4 rows"):
        list(rows_within_bound(source_of(who, arrow, [100]), Person("who", 4), tmp_path, most_rows))


def test_collisions_of_a_word_are_told_apart():
    """Two people whose digests share the first word are two people."""
    digests = np.array([[7, 1], [7, 2], [7, 1], [7, 2], [7, 2], [8, 1]], dtype=np.uint64)
    owned = Owned(digests, np.array([5, 1, 4, 3, 2, 0], dtype=np.uint64), np.arange(6))
    assert sorted(owned.over(1)) == [0, 3, 4]
    assert sorted(owned.over(2)) == [3]
    assert sorted(owned.over(3)) == []


@pytest.mark.parametrize("arrow", [pa.int64(), pa.string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_batches_without_rows(tmp_path, arrow, missing):
    """As an Arrow table has whose chunks are empty; or of rows that are all nobody's."""
    unit = Person("who", rows=1, excess="cut", missing=missing)
    column = pa.chunked_array([pa.array([], pa.string()).cast(arrow), pa.array(["1", "1", "2"]).cast(arrow)])
    batches = [pa.record_batch([chunk, pa.array(range(len(chunk)))], ["who", "row"]) for chunk in column.chunks]
    if missing == "drop":
        batches.append(pa.record_batch([pa.nulls(2, arrow), pa.array([3, 4])], ["who", "row"]))

    def read(columns):
        return iter([batch if columns is None else batch.select(columns) for batch in batches])

    source = OpenTable(batches[0].schema, None, read)
    assert len(kept(source, unit, tmp_path, 100)) == 2


def test_a_word_of_a_dictionary_that_is_missing(tmp_path):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    table = pa.table({"who": words})
    source = OpenTable(table.schema, 3, lambda columns: iter(table.to_batches()))
    with pytest.raises(ColumnError, match="row 1: the row belongs to no person"):
        list(rows_within_bound(source, Person("who", 9), tmp_path))


def test_a_source_that_changed_while_it_was_read(tmp_path):
    tables = [pa.table({"who": ["a", "b"]}), pa.table({"who": ["a"]})]
    source = OpenTable(tables[0].schema, 2, lambda columns: iter(tables.pop(0).to_batches()))
    with pytest.raises(DataError, match="changed while it was read"):
        list(rows_within_bound(source, Person("who", 9), tmp_path))


@given(
    st.lists(st.integers(0, 40_000), max_size=5),
    st.lists(st.text("TOPSECRET", min_size=9, max_size=30), min_size=1, max_size=3),
)
def test_sealed_rows_come_back(tmp_path_factory, sizes, words):
    path = tmp_path_factory.mktemp("sealed") / "x.rows"
    schema = pa.schema([("text", pa.string()), ("number", pa.int64())])
    batches = [pa.record_batch([[words[0]] * size, np.arange(size)], schema=schema) for size in sizes]
    rows = SealedRows(path, schema)
    with rows:
        for batch in batches:
            rows.write(batch)
    assert [batch for batch in rows.read() if batch.num_rows] == [batch for batch in batches if batch.num_rows]
    assert [batch.num_columns for batch in rows.read(["number"])] == [1] * len(list(rows.read()))
    assert words[0].encode() not in path.read_bytes()
    assert rows.size == path.stat().st_size
    rows.remove()
    assert not path.exists()


@pytest.mark.parametrize("change", ["cut", "flip", "swap"])
def test_sealed_rows_that_were_changed(tmp_path, change):
    schema = pa.schema([("number", pa.int64())])
    rows = SealedRows(tmp_path / "x.rows", schema)
    with rows:
        rows.write(pa.record_batch([np.arange(100_000)], schema=schema))
    held = bytearray(rows.path.read_bytes())
    chunk = (1 << 17) + 16
    if change == "cut":
        del held[2 * chunk :]
    elif change == "flip":
        held[-50] ^= 1
    else:
        held[:chunk], held[chunk : 2 * chunk] = held[chunk : 2 * chunk], held[:chunk]
    rows.path.write_bytes(held)
    with pytest.raises(FileError, match="was changed"):
        list(rows.read())
