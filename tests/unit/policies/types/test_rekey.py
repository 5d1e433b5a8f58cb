"""New keys for identifiers: the same in all rows of one, another in each run, and a secret for each column."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ColumnError, PolicyError
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.sanitizer import Sanitizer

POLICY = """
format = 2
[rows]
order = "public"
[columns]
doctor = "rekey"
nurse = "rekey"
[columns.pay]
type = "number"
within = 1
"""
TYPES = [pa.string(), pa.large_string(), pa.int64(), pa.dictionary(pa.int8(), pa.string())]


def people(arrow=None):
    names = pa.array([1, 2, None, 1, 2] if arrow == pa.int64() else ["ann", "bob", None, "ann", "bob"])
    kept = names if arrow is None else names.cast(arrow)
    return pa.table({"doctor": kept, "nurse": kept, "pay": [1.0] * 5})


@pytest.mark.parametrize("arrow", TYPES, ids=str)
def test_rows_that_shared_a_value_share_a_key(arrow):
    released = sanitize(people(arrow), Policy.parse(POLICY)).table
    assert released.schema.field("doctor").type == arrow
    doctors, nurses = released["doctor"].to_pylist(), released["nurse"].to_pylist()
    assert doctors[0] == doctors[3] != doctors[1] == doctors[4]
    assert doctors[2] is None
    assert set(doctors) & set(nurses) == {None}, "keys of two columns do not tell who is in both"
    again = sanitize(people(arrow), Policy.parse(POLICY)).table["doctor"].to_pylist()
    assert set(again) & set(doctors) == {None}
    assert not {"ann", "bob", 1, 2} & set(doctors)


def test_beside_a_person_whose_key_is_new_too(tmp_path):
    source = tmp_path / "t.parquet"
    pq.write_table(people().append_column("who", pa.array(["x", "y", "z", "x", "y"])), source)
    text = POLICY + '[person]\ncolumn = "who"\nrows = 2\nrelease = "rekey"\n'
    released = sanitize(source, Policy.parse(text), tmp_path / "o.parquet")
    table = pq.read_table(tmp_path / "o.parquet")
    assert table["who"].to_pylist()[0] == table["who"].to_pylist()[3]
    assert set(table["who"].to_pylist()) & {"x", "y", "z"} == set()
    assert "every value has a new key" in " ".join(released.report.text().split())
    assert released.report.kept == ("doctor", "nurse")


def test_what_cannot_have_new_keys():
    policy = Policy.parse(POLICY)
    for arrow in (pa.int32(), pa.float64(), pa.list_(pa.string())):
        with pytest.raises(PolicyError, match="type 'rekey' wants text, or integers of 64 bits"):
            Sanitizer.of(policy, pa.schema([("doctor", arrow), ("nurse", pa.string()), ("pay", pa.float64())]))
    field = Policy.parse('format = 2\n[columns]\n"a.id" = "rekey"\n"a.x" = {type = "number", within = 1}')
    with pytest.raises(PolicyError, match="a field of a struct is not given new keys"):
        Sanitizer.of(field, pa.schema([("a", pa.struct([("id", pa.string()), ("x", pa.float64())]))]))


MISSING = 'format = 2\n[columns.pay]\ntype = "number"\nwithin = 1\n[person]\ncolumn = "who"\nrows = 1\n'


@pytest.mark.parametrize("form", ["table", "parquet"])
def test_rows_without_a_person_are_refused_or_dropped(form, tmp_path):
    table = pa.table({"who": ["a", None, "b", None], "pay": [1.0, 2.0, 3.0, 4.0]})
    source = table
    if form == "parquet":
        source = tmp_path / "t.parquet"
        pq.write_table(table, source)
    with pytest.raises(ColumnError, match=r"column 'who', row 1: the row belongs to no person"):
        sanitize(source, Policy.parse(MISSING))
    released = sanitize(source, Policy.parse(MISSING + 'missing = "drop"\n'))
    assert released.table.num_rows == 2
    assert released.report.rows == 2
