"""How columns are stored in the files that are written."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.sources.sinks import write_file

WORDS = pa.array(["a", None, "b"])
COLUMNS = {
    "word": WORDS,
    "number": pa.array([1.0, 2.0, 3.0]),
    "coarse": pa.array([1.0, 2.0, 3.0]),
    "list": pa.array([["a"], [], ["a", "b"]]),
    "series": pa.array([[1.0], [2.0], [3.0]], pa.list_(pa.float64(), 1)),
    "map": pa.array([[("a", "b")], [], [("b", "a")]], pa.map_(pa.string(), pa.string())),
    "struct": pa.StructArray.from_arrays([WORDS, pa.array([1.0, 2.0, 3.0])], names=["word", "number"]),
    "deep": pa.array([[{"a": ["x"]}]] * 3),
    "with.dot": WORDS,
}
NOISE = {"number": True, "coarse": False, "series": True, "struct.number": True}
IN_LISTS = {"list.list.element", "series.list.element", "deep.list.element.a.list.element"}


@pytest.fixture
def stored(tmp_path):
    """What a file says of each column that Parquet has."""
    table = pa.table(COLUMNS)
    path = tmp_path / "out.parquet"
    with write_file(path, table.schema, {}, NOISE) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    assert pq.read_table(path).equals(table)
    group = pq.read_metadata(path).row_group(0)
    return {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}


def test_what_repeats_has_a_dictionary_also_inside_of_lists_and_structs(stored):
    noise = {"number", "coarse", "series.list.element", "struct.number"}
    assert {path for path, column in stored.items() if not column.has_dictionary_page} == noise


def test_what_compresses_is_compressed(stored):
    fine = {"number", "series.list.element", "struct.number"}
    assert {path for path, column in stored.items() if column.compression == "UNCOMPRESSED"} == fine


def test_no_statistics_are_made_of_what_is_in_lists(stored):
    assert {path for path, column in stored.items() if not column.is_stats_set} == IN_LISTS
