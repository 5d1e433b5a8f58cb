"""A policy bound to a schema: what does not fit is said before any row, and all of it at once."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metricdp.errors import ColumnError, FileError, PolicyError
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.sanitizer import Sanitizer


def policy(*entries, rest=""):
    return Policy.parse("format = 2\n" + "\n".join(f"[columns.{entry}" for entry in entries) + "\n" + rest)


def schema(**types):
    return pa.schema(list(types.items()))


def bound(made, **types):
    with pytest.raises(PolicyError) as caught:
        Sanitizer.of(made, schema(**types))
    return caught.value.problems


def test_bind_reports_everything_at_once():
    made = policy('pay]\ntype="number"\nwithin=1', 'sick]\ntype="boolean"\nepsilon=1', 'gone]\ntype="keep"')
    found = bound(made, pay=pa.string(), sick=pa.bool_(), other=pa.int8(), more=pa.int8())
    assert len(found) == 4
    assert found[0].startswith("line 2, column 'pay': type 'number' wants a floating-point or decimal column")
    assert found[0].endswith('and the table has text: type = "category" would fit')
    assert "line 8, column 'gone': the table has no such column" in found[1]
    assert "'other'" in found[2]
    assert 'write other = "drop" or "keep"' in found[2]
    assert "'more'" in found[3]


@pytest.mark.parametrize(
    ("arrow", "words"),
    [
        (pa.date32(), 'dates: type = "date" would fit'),
        (pa.timestamp("us"), 'dates with times: type = "time" would fit'),
        (pa.time32("s"), 'times of day: type = "time_of_day" would fit'),
        (pa.duration("s"), 'durations: type = "duration" would fit'),
        (pa.bool_(), 'true and false: type = "boolean" would fit'),
        (pa.list_(pa.string()), 'a list: type = "set" would fit'),
        (pa.list_(pa.float64()), 'a list: type = "series" would fit'),
        (pa.struct([("lat", pa.float64())]), "a struct; name its fields, each as a column of its own"),
    ],
)
def test_a_refused_type_names_the_type_that_would_fit(arrow, words):
    (found,) = bound(policy('pay]\ntype="number"\nwithin=1'), pay=arrow)
    assert f"and the table has {words}" in found


def test_bind_refuses_two_columns_of_one_name():
    made = policy('pay]\ntype="number"\nwithin=1')
    with pytest.raises(PolicyError, match="two columns called 'pay'"):
        Sanitizer.of(made, pa.schema([("pay", pa.float64()), ("pay", pa.float64())]))


def test_bind_drops_metadata_and_columns():
    made = policy('pay]\ntype="number"\nwithin=1', 'name]\ntype="drop"', rest='[person]\ncolumn="who"\nrows=2')
    whole = pa.schema([("name", "string"), ("pay", "float32"), ("who", "string")], metadata={"pandas": "{}"})
    plan = Sanitizer.of(made, whole)
    assert plan.schema_out == pa.schema([("pay", pa.float32())])
    assert plan.schema_out.metadata is None
    assert plan.schema.metadata is None


def test_bind_checks_the_person():
    entry = 'pay]\ntype="number"\nwithin=1'
    dropped = policy(entry, rest='[person]\ncolumn="who"\nrows=2')
    assert bound(dropped, pay=pa.float64()) == ("line 5, person: the table has no column 'who'",)
    assert bound(dropped, pay=pa.float64(), who=pa.list_(pa.int8())) == (
        "line 5, person, column 'who': text or integers are wanted",
    )
    Sanitizer.of(dropped, schema(pay=pa.float64(), who=pa.int8()))
    rekeyed = policy(entry, rest='[person]\ncolumn="who"\nrows=2\nrelease="rekey"')
    assert "integers of 64 bits" in bound(rekeyed, pay=pa.float64(), who=pa.int32())[0]
    assert Sanitizer.of(rekeyed, schema(pay=pa.float64(), who=pa.int64())).schema_out.names == ["pay", "who"]


@pytest.mark.parametrize(
    ("entry", "accepted", "refused"),
    [
        ('type="number"\nwithin=1', ["float", "double", "decimal"], ["int64", "string", "bool"]),
        ('type="integer"\nwithin=1', ["int8", "uint64", "int64"], ["double", "string"]),
        ('type="time"\nwithin="5 days"', ["date32", "date64", "s", "ns"], ["int64", "string", "time"]),
        ('type="time"\nwithin="1 hour"', ["s", "us", "ns"], ["date32", "date64"]),
        ('type="time"\nwithin="1 s"', ["ms", "us", "ns"], ["s", "date32"]),
        (
            'type="category"\nvalues=["a", "b"]\nepsilon=1',
            ["string", "large", "dictionary"],
            ["int8", "double", "bool"],
        ),
        ('type="category"\nvalues=[1, 300]\nepsilon=1', ["int64", "uint64"], ["int8", "string", "double"]),
        ('type="boolean"\nepsilon=1', ["bool"], ["int8", "string"]),
        ('type="set"\nvalues=["a"]\nepsilon=1', ["strings"], ["string", "doubles"]),
        ('type="series"\nlength=2\nwithin=1', ["doubles", "pairs"], ["double", "strings", "triples"]),
    ],
)
def test_types_are_checked_before_any_row(entry, accepted, refused):
    types = {
        **{name: pa.type_for_alias(name) for name in ("float", "double", "int8", "int64", "uint64", "string", "bool")},
        **{unit: pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
        "decimal": pa.decimal128(10, 2),
        "date32": pa.date32(),
        "date64": pa.date64(),
        "time": pa.time32("s"),
        "large": pa.large_string(),
        "dictionary": pa.dictionary(pa.int8(), pa.string()),
        "strings": pa.list_(pa.string()),
        "doubles": pa.large_list(pa.float64()),
        "pairs": pa.list_(pa.float32(), 2),
        "triples": pa.list_(pa.float32(), 3),
    }
    made = policy(f"x]\n{entry}")
    for name in accepted:
        Sanitizer.of(made, schema(x=types[name]))
    for name in refused:
        (problem,) = bound(made, x=types[name])
        assert problem.startswith("line 2, column 'x': type ")


def test_a_dictionary_too_narrow_for_the_list_is_refused():
    many = ", ".join(f'"v{number}"' for number in range(200))
    made = policy(f'x]\ntype="category"\nvalues=[{many}]\nepsilon=1')
    assert len(bound(made, x=pa.dictionary(pa.int8(), pa.string()))) == 1
    Sanitizer.of(made, schema(x=pa.dictionary(pa.int16(), pa.string())))


@pytest.mark.parametrize(
    ("entry", "arrow", "words"),
    [
        ('a]\ntype="number"\nwithin=5\nresolution="1e25"', pa.decimal64(18, 2), "holds multiples of 1e+25"),
        ('a]\ntype="time_of_day"\nwithin="1 hour"\nresolution="1e-9 s"', pa.null(), "multiples of 1e-09 s"),
        ('a]\ntype="time"\nwithin="1 hour"\nresolution="1e-9 s"', pa.null(), "multiples of 1e-09 s"),
        (f'a]\ntype="category"\nvalues=[1, {2**63}]\nepsilon=1', pa.null(), f"wide enough for 1 to {2**63}"),
        ('a]\ntype="category"\nvalues=[1, 300]\nepsilon=1', pa.int8(), "wide enough for 1 to 300"),
        ('a]\ntype="set"\nvalues=[1, 300]\nepsilon=1', pa.list_(pa.int8()), "wide enough for 1 to 300"),
    ],
)
def test_a_type_that_no_release_fits_is_refused_before_any_row(entry, arrow, words):
    (found,) = bound(policy(entry), a=arrow)
    assert words in found


def test_values_of_more_than_64_bits():
    with pytest.raises(PolicyError, match=r"line 4.*64 bits at most"):
        policy(f'a]\ntype="category"\nvalues=[1, {2**64}]\nepsilon=1')


def test_a_type_that_parquet_does_not_have(tmp_path):
    made = policy('a]\ntype="number"\nwithin=5')
    table = pa.table({"a": pa.array([Decimal(1200)], pa.decimal128(5, -2))})
    for dry_run in (True, False):
        with pytest.raises(PolicyError, match="cannot hold decimal numbers"):
            sanitize(table, made, tmp_path / "out.parquet", dry_run=dry_run)
    assert sanitize(table, made, tmp_path / "out.arrow").path is not None


def test_a_kept_value_that_a_file_cannot_hold(tmp_path):
    """Parquet counts milliseconds where Arrow counts seconds; Arrow's own message would name the value."""
    made = policy('a]\ntype="number"\nwithin=5', rest='[columns.kept]\ntype="keep"')
    table = pa.table({"a": [1.0], "kept": pa.array([2**63 - 1]).view(pa.timestamp("s"))})
    with pytest.raises(FileError, match=r"has no place in a file of this kind.*\.arrow") as caught:
        sanitize(table, made, tmp_path / "out.parquet")
    assert str(2**63 - 1) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "column",
    [
        np.array([1j]),
        pd.arrays.SparseArray([1.0]),
        pd.period_range("2020", periods=1, freq="M"),
        pd.interval_range(0, 1),
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_frame_that_cannot_be_read_is_refused_by_the_dry_run(column):
    frame = pd.DataFrame({"a": column, "b": [1.5]})
    keeping = policy('a]\ntype="number"\nwithin=5', rest='[columns.b]\ntype="number"\nwithin=5')
    for dry_run in (True, False):
        with pytest.raises(ColumnError, match=r"column 'a'.* cannot be taken"):
            sanitize(frame, keeping, dry_run=dry_run)
    dropping = policy('a]\ntype="drop"', rest='[columns.b]\ntype="number"\nwithin=5')
    assert list(sanitize(frame, dropping).table.columns) == ["b"]


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("year", [1, 1677, 2262, 9999])
def test_frames_of_moments_with_a_zone(year, arrow):
    """They are not printed on the way, and released moments end where pandas shows them: it breaks down beyond."""
    moments = pa.array([dt.datetime(year, 6, 1)] * 3, pa.timestamp("us")).view(pa.int64())
    typed = moments.view(pa.timestamp("us", "Asia/Tokyo"))
    column = pd.Series(pd.arrays.ArrowExtensionArray(typed)) if arrow else pd.Series(typed.to_pandas())
    frame = pd.DataFrame({"a": column, "kept": column})
    made = policy('a]\ntype="time"\nwithin="1 hour"', rest='[rows]\norder="public"\n[columns.kept]\ntype="keep"')
    released = sanitize(frame, made).table
    assert released.dtypes.tolist() == frame.dtypes.tolist()
    assert set(released["a"].dt.tz_convert("UTC").dt.year) == {1678 if year < 2000 else 2261}
    assert pa.array(released["kept"]).cast(pa.int64()).to_pylist() == moments.to_pylist()
