"""Fields of structs: each is a column of its own, and a released struct tells nothing but its fields."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import PolicyError
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.sanitizer import Sanitizer

ADDRESS = pa.struct(
    [
        ("street", pa.string()),
        ("lat", pa.float64()),
        ("lon", pa.float64()),
        ("in", pa.struct([("floor", pa.int64()), ("door", pa.string())])),
    ]
)
POLICY = """
format = 2
[rows]
order = "public"
[columns]
id = "keep"
"address.street" = "drop"
"address.in.door" = "keep"
[columns."address.place"]
type = "place"
columns = ["address.lat", "address.lon"]
within = "200 m"
missing = "public"
[columns.floor]
type = "integer"
columns = ["address.in.floor"]
within = 1
bounds = [0, 3]
missing = "secret"
"""
ROWS = [
    {"street": "Elm", "lat": 48.86, "lon": 2.35, "in": {"floor": 2, "door": "left"}},
    {"street": "Oak", "lat": 48.8, "lon": 2.13, "in": None},
    None,
]


def table(times=1):
    return pa.table({"id": list(range(3 * times)), "address": pa.array(ROWS * times, ADDRESS)})


def test_fields_are_released_each_by_its_own_rule():
    released = sanitize(table(), Policy.parse(POLICY)).table
    wanted = pa.struct(
        [
            ("lat", pa.float64()),
            ("lon", pa.float64()),
            ("in", pa.struct([("floor", pa.int64()), ("door", pa.string())])),
        ]
    )
    assert released.schema == pa.schema([("id", pa.int64()), ("address", wanted)])
    first, _, last = released["address"].to_pylist()
    assert abs(first["lat"] - 48.86) < 1
    assert first["lat"] != 48.86
    assert first["in"]["door"] == "left"
    assert last["lat"] is None
    assert last["in"]["door"] is None


def test_whether_a_struct_is_null_is_told_by_its_fields_alone():
    """A struct that is null and one whose fields all are must look the same: their fields have the last word."""
    released = sanitize(table(200), Policy.parse(POLICY)).table["address"].combine_chunks()
    assert released.null_count == 0
    inner = released.field("in")
    assert inner.null_count == 0
    floors = inner.field("floor")
    missing = [floor is None for floor in floors.to_pylist()]
    assert any(missing[0::3]), "a present one turns missing"
    assert not all(missing[2::3]), "a missing one turns present"


def test_through_files(tmp_path):
    pq.write_table(table(), tmp_path / "t.parquet")
    sanitize(tmp_path / "t.parquet", Policy.parse(POLICY), tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet")["address"].type.get_field_index("street") == -1


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (POLICY.replace('"address.street" = "drop"\n', ""), "column 'address.street': the policy does not name it"),
        (POLICY.replace('id = "keep"', 'id = "keep"\naddress = "keep"'), "names it, and also fields of it"),
        (
            POLICY.replace("address.in.floor", "address.in.flor"),
            "'address.in.flor': the table has no such column",
        ),
        (POLICY.replace("address.in.floor", "address.in.door.x"), "the table has no such column"),
    ],
)
def test_every_field_is_named_once(policy, words):
    with pytest.raises(PolicyError) as caught:
        Sanitizer.of(Policy.parse(policy), table().schema)
    assert words in str(caught.value)


def test_a_struct_as_a_whole_is_kept_or_dropped():
    kept = Sanitizer.of(
        Policy.parse('format = 2\n[columns]\naddress = "keep"\nid = {type = "integer", within = 1}'), table().schema
    )
    assert kept.schema_out.field("address").type == ADDRESS
    dropped = Sanitizer.of(
        Policy.parse('format = 2\n[columns]\naddress = "drop"\nid = {type = "integer", within = 1}'), table().schema
    )
    assert dropped.needed == ["id"]


def test_a_column_with_a_dot_in_its_name_comes_first():
    schema = pa.schema([("a.b", pa.float64()), ("a", pa.struct([("b", pa.float64()), ("c.d", pa.float64())]))])
    policy = Policy.parse('format = 2\n[columns]\n"a.b" = {type = "number", within = 1}\na = "drop"')
    assert Sanitizer.of(policy, schema).schema_out.names == ["a.b"]
    inner = Policy.parse('format = 2\n[columns]\n"a.c.d" = {type = "number", within = 1}\n"a.b" = "drop"')
    with pytest.raises(PolicyError, match=r"column 'a\.b': the policy does not name it"):
        Sanitizer.of(inner, schema)  # the field b of a, which the column a.b hides


def test_a_bare_dotted_key_is_told_how_to_be_written():
    with pytest.raises(PolicyError, match=r'write \[columns\."address\.lat"\]'):
        Policy.parse('format = 2\n[columns.address.lat]\ntype = "number"\nwithin = 1')


def test_structs_that_are_dropped_altogether_are_not_read():
    text = 'format = 2\n[columns]\n"address.street" = "drop"\n"address.lat" = "drop"\n"address.lon" = "drop"\n'
    text += '"address.in" = "drop"\nid = {type = "integer", within = 1}'
    made = Sanitizer.of(Policy.parse(text), table().schema)
    assert made.needed == ["id"]
    assert made.schema_out.names == ["id"]


def test_runs_beneath_a_null_struct_are_missing():
    """Arrow gives a field the nulls of its struct, but for runs, which have none of their own."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["TOPSECRET", "b"]))
    struct = pa.StructArray.from_arrays([runs, runs], ["k", "c"], mask=pa.array([True, True, False]))
    text = 'format = 2\n[columns]\n"s.k" = "keep"\n[columns."s.c"]\ntype = "category"\nepsilon = 100\n'
    text += 'values = ["TOPSECRET", "b"]\nmissing = "public"\n[rows]\norder = "public"'
    for source in (pa.table({"s": struct}), pa.table({"s": pa.StructArray.from_arrays([struct], ["t"])})):
        nested = "t" in source["s"].type.names
        rules = Policy.parse(text.replace('"s.', '"s.t.') if nested else text)
        released = sanitize(source, rules).table["s"].combine_chunks()
        inner = released.field("t") if nested else released
        assert inner.to_pylist() == [{"k": None, "c": None}] * 2 + [{"k": "b", "c": "b"}]
    whole = sanitize(
        pa.table({"s": struct, "x": [True] * 3}),
        Policy.parse(
            'format = 2\n[columns]\ns = "keep"\nx = {type = "boolean", epsilon = 1}\n[rows]\norder = "public"'
        ),
    ).table["s"]
    assert whole.to_pylist() == [None, None, {"k": "b", "c": "b"}]
    assert not any(part is not None and b"TOPSECRET" in bytes(part) for part in whole.chunk(0).buffers())
