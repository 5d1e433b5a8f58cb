"""Tables that want to tell: every Arrow type, frames that declare nothing, and what hides beneath kept columns.

A release must look the same whatever the secret. So neighbouring secrets go through `sanitize` side by side, and what
comes out is compared: the container, the types, the set of values, the errors.
"""

import datetime as dt
import decimal
import io
import traceback
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import ColumnError, MetricDPError, PolicyError
from metricdp.policies import Policy
from metricdp.policies.types import TYPES as TYPES_OF_COLUMNS
from metricdp.tables import sanitize
from tests.attacks.effort import attack, tries

SECRET = "TOPSECRET"
PUBLIC = '\n[rows]\norder = "public"\n'


def policy(entry, rest=PUBLIC):
    return Policy.parse(f"format = 2\n[columns.x]\n{entry}\n{rest}")


def released(entry, array, rest=PUBLIC):
    return sanitize(pa.table({"x": array}), policy(entry, rest)).table["x"].combine_chunks()


def quiet(error):
    text = "".join(traceback.format_exception(error)) + repr(error)
    assert SECRET not in text, text


# Types come from the policy or the schema.

NUMBER = 'type = "number"\nwithin = 50'
OBJECTS = {
    NUMBER: [Decimal(9), Decimal("10.5"), 9, 10.25, "9.5", Decimal("1e9"), 2**40],
    NUMBER + '\nbounds = [0, 100]\nmissing = "secret"': [Decimal(9), None, 7, 7.5, float("nan"), pd.NA],
    'type = "integer"\nwithin = 5': [9, 2**40, "12", np.int8(4)],
    'type = "integer"\nwithin = 50\nbounds = [0, 100]': [9, None, pd.NA, 100],
    'type = "time"\nwithin = "5 days"': [dt.date(2020, 1, 1), dt.date(1, 1, 1), "2020-05-05"],
    'type = "time"\nwithin = "1 hour"': [dt.datetime(2020, 1, 1), dt.datetime(9999, 1, 1, 3), pd.Timestamp(0)],
    'type = "date"\nwithin = "5 days"': [dt.date(2020, 1, 1), dt.date(9999, 12, 31), "2020-05-05"],
    'type = "time_of_day"\nwithin = "20 hours"': [dt.time(0), dt.time(23, 59, 59, 999999), "08:30", None],
    'type = "boolean"\nepsilon = 1': [True, None, False, np.bool_(True)],
    'type = "category"\nvalues = [1, 2]\nepsilon = 1': [1, 2, None],
    'type = "category"\nvalues = ["a", "b"]\nepsilon = 1': ["a", None],
    'type = "set"\nvalues = ["a", "b"]\nepsilon = 1': [["a"], [], ("b",), {"a"}],
    'type = "series"\nlength = 2\nwithin = 1': [[1.0, 2.0], [1, 2], np.array([1, 2])],
}


def test_no_column_type_of_objects_is_forgotten():
    """All but those that no column of objects can be, of two columns, or released without noise."""
    others = {name for name in TYPES_OF_COLUMNS.names if not TYPES_OF_COLUMNS.find(name).keys}
    assert {entry.split('"')[1] for entry in OBJECTS} == set(TYPES_OF_COLUMNS.names) - others - {"duration", "place"}


@pytest.mark.parametrize("entry", OBJECTS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_objects_come_back_in_the_policys_type(entry, library):
    """A column of Python objects declares nothing; what stands in it shows in no dtype, class of value or range."""
    looks = set()
    for secret in OBJECTS[entry]:
        if library == "pandas":
            frame = pd.DataFrame({"x": pd.Series([secret] * 40, dtype=object)})
            column = sanitize(frame, policy(entry)).table["x"]
            kinds = frozenset(type(value) for value in column if not pd.api.types.is_scalar(value) or pd.notna(value))
        else:
            frame = pl.DataFrame({"x": pl.Series([secret] * 40, dtype=pl.Object)})
            column = sanitize(frame, policy(entry)).table["x"]
            kinds = frozenset(type(value) for value in column.to_list() if value is not None)
        looks.add((str(column.dtype), kinds))
    assert len(looks) == 1, looks


def test_decimals_of_a_frame_are_not_cut_at_a_power_of_ten():
    """From 9 as from 10, noise of 50 goes beyond 10 as often."""
    for secret in (Decimal(9), Decimal(10)):
        column = sanitize(pd.DataFrame({"x": [secret] * 400}), policy(NUMBER)).table["x"].astype(float)
        assert (column > 11).mean() > 0.2
        assert (column < -11).mean() > 0.2


def test_a_column_without_values_has_the_policys_type():
    for entry in (NUMBER + '\nmissing = "public"', 'type = "integer"\nwithin = 5\nmissing = "public"'):
        for frame in (pd.DataFrame({"x": [None] * 3}), pl.DataFrame({"x": [None] * 3}), pa.table({"x": pa.nulls(3)})):
            given = sanitize(frame, policy(entry)).table["x"]
            assert len(given) == 3
            full = sanitize(pa.table({"x": pa.array([1.0] if "number" in entry else [1])}), policy(entry)).table["x"]
            kind = given.type if isinstance(given, pa.ChunkedArray) else pa.array(given).type
            assert kind == full.type or pa.types.is_null(kind), kind


@pytest.mark.parametrize("dtype", ["int64", "int8", "bool", "Int64", "boolean", "int64[pyarrow]", "uint8"])
def test_dtypes_with_secret_nulls_do_not_depend_on_the_draw(dtype):
    kind = "boolean" if "bool" in dtype else "integer"
    entry = f'type = "{kind}"\n' + ("epsilon = 1" if kind == "boolean" else "within = 5\nbounds = [0, 100]")
    frame = pd.DataFrame({"x": pd.array([1] * 3, dtype=dtype)})
    assert len({sanitize(frame, policy(entry)).table["x"].dtype for _ in range(tries(12))}) == 1


@pytest.mark.parametrize(
    "values",
    [
        [{SECRET: 1}, {"b": 2}],
        [SECRET, 1],
        [b"TOPSECRET", None],
        [Decimal("1"), SECRET],
        [object(), SECRET],
        [[SECRET]],
    ],
    ids=["dicts", "mixed", "bytes", "decimals", "objects", "lists"],
)
@pytest.mark.parametrize("entry", ['type = "keep"', NUMBER, 'type = "set"\nvalues = ["a"]\nepsilon = 1'])
def test_no_error_of_a_frame_tells_a_value(values, entry):
    text = f'format = 2\n[columns.x]\n{entry}\n[columns.y]\ntype = "boolean"\nepsilon = 1'
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "y": [True] * len(values)})
    with pytest.raises(MetricDPError, match="column 'x'") as caught:
        sanitize(frame, Policy.parse(text))
    quiet(caught.value)
    assert str(caught.value).startswith("column 'x', row")


def test_no_error_tells_the_names_inside_a_type():
    table = pa.table({"x": pa.array([{SECRET: 1}])})
    with pytest.raises(PolicyError, match="wants a floating-point or decimal column, and the table has a struct"):
        sanitize(table, policy(NUMBER))


# Ends of types: nothing wraps, and no error names what was drawn.

UNITS = ["s", "ms", "us", "ns"]
LAST = {"s": 253402300799, "ms": 253402300799999, "us": 253402300799999999, "ns": 2**63 - 1}


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("unit", UNITS)
def test_timestamps_end_and_never_wrap(unit, zone):
    """A moment near the type's end with noise that reaches beyond: what is released lies near, or at the end."""
    arrow = pa.timestamp(unit, zone)
    ticks = LAST[unit] - 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] * 3
    if unit == "ns":
        ticks = 2**61 // 10**9 * 10**9 - 86_400 * 10**9  # the last moment that is taken
    for sign in (1, -1):
        secret = (
            ticks if sign == 1 or unit == "ns" else -62135596800 * (LAST[unit] // 253402300799) + (LAST[unit] - ticks)
        )
        secret *= sign if unit == "ns" else 1
        array = pa.array([secret] * 300, pa.int64()).view(arrow)
        out = np.asarray(released('type = "time"\nwithin = "20000 days"', array).view(pa.int64()))
        scale = 20000 / np.log(2) * 86_400.0 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
        assert (np.abs(out.astype(float) - float(secret)) < 60 * scale).all()
        if unit != "ns":
            assert np.abs(out.astype(float)).max() <= LAST[unit]
            assert out.max() > secret or out.min() < secret
        # At least the calendar of Python can tell them.
        if unit != "ns":
            assert all(1 <= moment.year <= 9999 for moment in pa.array(out).view(pa.timestamp(unit)).to_pylist())


@pytest.mark.parametrize("arrow", [pa.date32(), pa.date64()], ids=str)
@pytest.mark.parametrize("day", [dt.date(9999, 12, 30), dt.date(1, 1, 2), dt.date(1970, 1, 1)])
@pytest.mark.parametrize("within", ["20000 days", "2000000000 days"])
def test_dates_end_and_never_wrap(arrow, day, within):
    array = pa.array([day] * 300, pa.date32()).cast(arrow)
    out = released(f'type = "time"\nwithin = "{within}"', array)
    assert out.type == arrow
    out.validate(full=True)
    days = np.asarray(out.cast(pa.date32()).cast(pa.int32()))
    assert days.min() >= -719_162
    assert days.max() <= 2_932_896
    before = (days < (day - dt.date(1970, 1, 1)).days).mean()
    assert before == 0 if day.year == 1 and before == 0 else 0.2 < before < 0.8 or day.year in (1, 9999)
    assert len(out.to_pylist()) == 300


@pytest.mark.parametrize(
    "kind", ["decimal32(9, 2)", "decimal64(18, 2)", "decimal128(3, 2)", "decimal128(38, 2)", "decimal256(76, 10)"]
)
def test_decimals_end_where_their_declared_type_does(kind):
    name, arguments = kind[:-1].split("(")
    arrow = getattr(pa, name)(*map(int, arguments.split(", ")))
    most = Decimal(10**arrow.precision - 1).scaleb(-arrow.scale, decimal.Context(prec=99))
    size = arrow.precision - arrow.scale
    far = f'type = "number"\nepsilon = 1\nper = "1e{size}"\nresolution = "1e{size - 3}"'
    seen = set()
    for secret in (Decimal(9), Decimal("9.99"), Decimal(0)):
        values = released(far, pa.array([secret] * 500, arrow)).to_pylist()
        assert all(value.copy_abs() <= most for value in values)
        seen.add((max(values), min(values)))
    assert len(seen) == 1 or max(top for top, _ in seen) == most


def test_integers_with_secret_nulls_pass_through_no_float():
    """Odd numbers above 2^53, which floats do not hold, are released as often as even ones."""
    low = 2**53
    entry = f'type = "integer"\nepsilon = 1\nbounds = [{low}, {low + 8}]\nmissing = "secret"'
    for arrow in (pa.int64(), pa.uint64()):
        out = released(entry, pa.array([low + 5] * 400 + [None] * 10, arrow)).drop_null().to_pylist()
        assert all(low <= value <= low + 8 for value in out)
        assert out.count(low + 5) > 100


def test_integers_beyond_the_bounds_do_not_wrap_into_them():
    low = 2**63 - 40
    entry = f'type = "integer"\nepsilon = 1\nbounds = [{low}, {low + 20}]\nmissing = "refuse"'
    assert released(entry, pa.array([low + 3])).to_pylist()[0] >= low
    for outside in (-(2**63), -(2**63) + 5, 0):
        with pytest.raises(ColumnError, match="row 0: outside the declared bounds"):
            released(entry, pa.array([outside]))
    clamped = released(entry + '\noutside = "clamp"', pa.array([-(2**63)] * 50 + [2**63 - 1] * 50))
    assert all(low <= value <= low + 20 for value in clamped.to_pylist())
    high = 2**64 - 30
    top = f'type = "integer"\nepsilon = 1\nbounds = [{high}, {high + 20}]\nmissing = "refuse"'
    assert all(high <= value <= high + 20 for value in released(top, pa.array([high] * 50, pa.uint64())).to_pylist())


@pytest.mark.parametrize("missing", ["refuse", "secret"])
def test_bounds_as_wide_as_64_bits_take_every_secret_between_them(missing):
    """What lies between the bounds is more than 64 bits with a sign count: half of the secrets used to be refused."""
    for arrow, low, high in ((pa.int64(), -(2**63), 2**63 - 1), (pa.uint64(), 0, 2**64 - 1)):
        entry = f'type = "integer"\nepsilon = 1\nbounds = [{low}, {high}]\nstep = 15\nmissing = "{missing}"'
        for secret in (low, low + 15, low + 15 * 2**59, low + 15 * 2**60, high - 15, high):
            out = released(entry, pa.array([secret] * 200, arrow)).drop_null().to_pylist()
            assert all(low <= value <= high and (value - low) % 15 == 0 for value in out)
            assert all(abs(value - secret) < 15 * 60 for value in out)
            assert out.count(secret) > 50
    beyond = 'type = "integer"\nepsilon = 1\nbounds = [-9223372036854775818, -9223372036854775798]\nmissing = "refuse"'
    assert set(released(beyond, pa.array([-(2**63)] * 50)).to_pylist()) <= set(range(-(2**63), -(2**63) + 11))


@pytest.mark.parametrize("shape", ["{0}", "{{'n': {0}}}", "[{0}]"])
def test_integers_of_128_bits_without_a_sign_do_not_wrap(shape):
    """Beyond 2^127 DuckDB gives them to Arrow as negative numbers: two neighbours came out at either end."""
    column = shape.format(f"{2**127}::uhugeint")
    entry = 'type = "number"\nepsilon = 1\nper = "1e30"\nresolution = "1e28"' if shape == "{0}" else 'type = "keep"'
    rules = f'format = 2\n[columns.x]\n{entry}\n[columns.y]\ntype = "boolean"\nepsilon = 1'
    for dry_run in (True, False):
        with pytest.raises(ColumnError, match="column 'x': DuckDB gives out integers of 128 bits without a sign"):
            sanitize(duckdb.sql(f"select {column} as x, true as y"), Policy.parse(rules), dry_run=dry_run)
    dropped = Policy.parse('format = 2\n[columns]\nx = "drop"\n[columns.y]\ntype = "boolean"\nepsilon = 1')
    assert sanitize(duckdb.sql(f"select {column} as x, true as y"), dropped).table.num_rows == 1


# Every Arrow type, with missing and outside values.

TYPES = {
    "number": [
        *(pa.float16(), pa.float32(), pa.float64(), pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(9, 2)),
        *(pa.decimal128(38, 2), pa.decimal256(76, 2)),
    ],
    "integer": [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
    "time": [pa.date32(), pa.date64()] + [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC")],
}
INSIDE = {"number": 7, "integer": 7, "time": dt.date(2020, 1, 8)}
OUTSIDE = {"number": 77, "integer": 77, "time": dt.date(2020, 5, 5)}
BOUNDS = {"number": "[0, 10]", "integer": "[0, 10]", "time": "[2020-01-01, 2020-01-11]"}
OTHERS = [pa.string_view(), pa.binary_view(), pa.bool_(), pa.null(), pa.struct([("a", pa.int8())]), pa.list_(pa.int8())]
OTHERS += [pa.list_view(pa.int8()), pa.map_(pa.string(), pa.int8()), pa.duration("s"), pa.time32("s"), pa.uuid()]
OTHERS += [
    pa.sparse_union([pa.field("a", pa.int8())]),
    pa.month_day_nano_interval(),
    pa.dictionary(pa.int8(), pa.int8()),
]
OTHERS += [pa.run_end_encoded(pa.int32(), pa.string())]


def made(values, arrow, kind):
    if kind == "time":
        return pa.array(values, pa.date32()).cast(arrow)
    if pa.types.is_decimal(arrow):
        return pa.array([None if value is None else Decimal(value) for value in values], arrow)
    return pa.array(values, pa.float64() if kind == "number" else arrow).cast(arrow)


@pytest.mark.parametrize(
    ("kind", "arrow"), [(kind, arrow) for kind, types in TYPES.items() for arrow in types], ids=str
)
@pytest.mark.parametrize("missing", ["secret", "public", "refuse"])
@pytest.mark.parametrize("outside", ["refuse", "clamp"])
def test_every_type_with_missing_and_outside_values(kind, arrow, missing, outside):
    """The same support from an inner value, a value beyond the bounds, and null; or the same refusal for every type."""
    inner, far = INSIDE[kind], OUTSIDE[kind]
    width = 'resolution = "1 day"' if kind == "time" else "" if kind == "integer" else "resolution = 1"
    entry = f'type = "{kind}"\nepsilon = 0.2\n{width}\nbounds = {BOUNDS[kind]}\n'
    entry += f'missing = "{missing}"\noutside = "{outside}"'
    supports = []
    for secret in (inner, far, None):
        array = made([secret] * 800, arrow, kind)
        if (secret is far and outside == "refuse") or (secret is None and missing == "refuse"):
            with pytest.raises(ColumnError, match=r"column 'x', row 0: (outside|a value is missing)"):
                released(entry, array)
            continue
        out = released(entry, array)
        assert out.type == arrow
        out.validate(full=True)
        if secret is None and missing == "public":
            assert out.null_count == 800
            continue
        supports.append(frozenset(out.cast(pa.date32()).to_pylist() if kind == "time" else map(str, out.to_pylist())))
    assert len(set(supports)) == 1
    assert len(supports[0]) == 11 + (missing == "secret")


@pytest.mark.parametrize("arrow", OTHERS, ids=str)
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow", None])
def test_kept_columns_of_any_type_are_released_or_refused_before_any_row_is_read(tmp_path, arrow, ending):
    """What a file cannot hold is said on a dry run too, in the policy's words, and nothing is left behind."""
    rules = Policy.parse('format = 2\n[columns]\nk = "keep"\n[columns.x]\ntype = "boolean"\nepsilon = 1')
    table = pa.table({"k": pa.nulls(3, arrow), "x": [True] * 3})
    out = None if ending is None else tmp_path / f"out{ending}"
    problem = ""
    try:
        sanitize(table, rules, out, dry_run=True)
    except PolicyError as error:
        problem = str(error)
    if problem:
        assert problem.startswith("line 3, column 'k': ")
        with pytest.raises(PolicyError):
            sanitize(table, rules, out)
        assert not list(tmp_path.iterdir())
        return
    sanitize(table, rules, out)
    assert ending is None or out.exists()
    is_list = pa.types.is_nested(arrow) and not pa.types.is_run_end_encoded(arrow)
    assert not (ending == ".csv" and is_list)


@pytest.mark.parametrize(
    "entry", ['type = "set"\nvalues = ["a"]\nepsilon = 1', 'type = "series"\nlength = 1\nwithin = 1']
)
def test_lists_to_csv_are_refused_on_a_dry_run(tmp_path, entry):
    table = pa.table({"x": pa.array([["a"]] if "set" in entry else [[1.0]])})
    with pytest.raises(PolicyError, match=r"line 2, column 'x': a \.csv file cannot hold a list; write a \.parquet"):
        sanitize(table, policy(entry), tmp_path / "out.csv", dry_run=True)


@pytest.mark.parametrize("tiny", [5e-324, -1e-160, "1e-38", Decimal("1e-30"), -0.0])
def test_places_of_objects_are_taken_however_small_their_parts(tiny):
    """A longitude of 1e-160 is in its bounds like any other; only some of them used to end in an error."""
    rules = Policy.parse(
        'format = 2\n[columns.home]\ntype = "place"\ncolumns = ["lat", "lon"]\nepsilon = 100\nper = "1 m"' + PUBLIC
    )
    for north, east in ((tiny, 45.0), (45.0, tiny), (tiny, tiny)):
        given = {"lat": [north, 45.0], "lon": [east, 12.5]}
        made = sanitize(pd.DataFrame(given, dtype=object), rules).table
        assert made.round(3).to_numpy().tolist() == [[round(float(north)), round(float(east))], [45.0, 12.5]]


def test_a_word_of_a_dictionary_that_is_null_is_a_missing_value():
    """Public or refused as any other, though no index says that it is missing."""
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", None, "b"]))
    entry = 'type = "category"\nvalues = ["a", "b"]\nepsilon = 100\nmissing = '
    assert released(entry + '"public"', array).to_pylist() == ["a", None, "b", None]
    with pytest.raises(ColumnError, match="row 1: a value is missing"):
        released(entry + '"refuse"', array)


@pytest.mark.parametrize(
    "arrow", [pa.string_view(), pa.run_end_encoded(pa.int32(), pa.string()), pa.large_string()], ids=str
)
def test_categories_of_views_and_runs(arrow):
    plain = pa.array(["a", "a", "b", None] * 50)
    array = pa.compute.run_end_encode(plain) if pa.types.is_run_end_encoded(arrow) else plain.cast(arrow)
    out = released('type = "category"\nvalues = ["a", "b"]\nepsilon = 1', array)
    assert set(out.to_pylist()) == {"a", "b", None}


# What hides beneath kept columns.


def hiding():
    """Arrays that hold a secret which none of their rows shows."""
    words = pa.DictionaryArray.from_arrays(pa.array([1, None, 2, 1], pa.int8()), pa.array([SECRET, "a", "b"]))
    mask = pa.array([False, True, False, False])
    struct = pa.StructArray.from_arrays([pa.array(["a", SECRET, "c", "d"]), words], names=["u", "v"], mask=mask)
    yield "dictionary", words
    yield "struct", struct
    yield "list", pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), struct, mask=mask)
    yield "fixed list", pa.FixedSizeListArray.from_arrays(struct, 1, mask=mask)
    yield "map", pa.MapArray.from_arrays(pa.array([0, 1, 2, 3, 4]), pa.array(["a", "b", "c", "d"]), words)
    yield "deep", pa.StructArray.from_arrays([struct, pa.array([1, 2, 3, 4])], names=["p", "q"])
    yield "slice", pa.array(["a", "b", "c", "d", SECRET]).slice(0, 4)
    yield "slice of lists", pa.array([["a"], ["b"], [], None, [SECRET]]).slice(0, 4)
    number = int.from_bytes(SECRET[:8].encode(), "little")
    yield "masked", pa.array(np.array([1, number, 3, 4]), mask=np.array([False, True, False, False]))


@pytest.mark.parametrize(("name", "array"), list(hiding()), ids=[name for name, _ in hiding()])
@pytest.mark.parametrize("order", ["public", "secret"])
def test_a_kept_column_takes_nothing_along_that_its_rows_do_not_show(tmp_path, name, array, order):
    rules = 'format = 2\n[columns]\nk = "keep"\n[columns.x]\ntype = "boolean"\nepsilon = 1'
    table = pa.table({"k": array, "x": [True] * 4})
    assert SECRET[:8].encode() in everything(table)
    rules = Policy.parse(rules + f'\n[rows]\norder = "{order}"')
    kept = sanitize(table, rules).table
    assert sorted(map(str, kept["k"].to_pylist())) == sorted(map(str, array.to_pylist()))
    assert SECRET[:8].encode() not in everything(kept)
    for ending in (".arrow", ".parquet"):
        sanitize(table, rules, tmp_path / f"out{ending}")
        assert SECRET[:8].encode() not in (tmp_path / f"out{ending}").read_bytes()


def test_notes_on_the_fields_of_a_kept_type_are_left_out():
    """Equality of types does not look at them; Polars writes the words of an Enum there."""
    note = {"note": SECRET}
    kinds = {
        "list": pa.list_(pa.field("item", pa.string(), metadata=note)),
        "struct": pa.struct([pa.field("u", pa.struct([pa.field("v", pa.string(), metadata=note)]))]),
        "fixed": pa.list_(pa.field("item", pa.string(), metadata=note), 1),
    }
    values = {"list": ["a"], "struct": {"u": {"v": "a"}}, "fixed": ["a"]}
    kept = "".join(f"{name} = 'keep'\n" for name in kinds)
    rules = f"format = 2\n[columns]\n{kept}[columns.x]\ntype = 'boolean'\nepsilon = 1"
    table = pa.table({"x": [True]} | {name: pa.array([values[name]], kind) for name, kind in kinds.items()})
    kept = sanitize(table, Policy.parse(rules)).table
    for name in kinds:
        assert kept[name].to_pylist() == [values[name]]
        for kind in (kept.schema.field(name).type, kept[name].type, kept[name].chunk(0).type):
            assert SECRET not in notes(kind)
    frame = pl.DataFrame({"k": pl.Series([["a"]], dtype=pl.List(pl.Enum([SECRET, "a"]))), "x": [True]})
    rules = "format = 2\n[columns]\nk = 'keep'\n[columns.x]\ntype = 'boolean'\nepsilon = 1"
    kept = sanitize(frame, Policy.parse(rules)).table
    assert kept["k"].to_list() == [["a"]]
    assert SECRET not in str(kept.schema)


def notes(kind):
    """The notes on all fields of a type."""
    fields = [kind.field(place) for place in range(kind.num_fields)]
    return "".join(f"{field.metadata}{notes(field.type)}" for field in fields)


def test_lists_of_length_zero_are_refused():
    """Arrow divides by the length, which ends the process."""
    empty = pa.FixedSizeListArray.from_buffers(pa.list_(pa.int64(), 0), 2, [None], children=[pa.array([], pa.int64())])
    rules = "format = 2\n[columns]\nk = 'keep'\n[columns.x]\ntype = 'boolean'\nepsilon = 1"
    for array in (empty, pa.StructArray.from_arrays([empty], names=["f"])):
        with pytest.raises(PolicyError, match=r"column 'k': a .* can be neither kept nor protected"):
            sanitize(pa.table({"k": array, "x": [True] * 2}), Policy.parse(rules))


def everything(table):
    """All that the buffers of a table hold."""
    return b"".join(held_bytes(chunk) for column in table.columns for chunk in column.chunks)


def held_bytes(array):
    found = b"".join(bytes(buffer) for buffer in array.buffers() if buffer is not None)
    if pa.types.is_dictionary(array.type):
        found += held_bytes(array.dictionary)
    elif pa.types.is_struct(array.type):
        found += b"".join(held_bytes(array.field(place)) for place in range(array.type.num_fields))
    elif pa.types.is_map(array.type):
        found += held_bytes(array.keys) + held_bytes(array.items)
    elif pa.types.is_list(array.type) or pa.types.is_fixed_size_list(array.type):
        found += held_bytes(array.values)
    return found


def test_dictionaries_do_not_tell_which_row_came_first(tmp_path):
    """With a secret order, two tables of the same rows in another order have the same dictionary."""
    rules = Policy.parse('format = 2\n[columns]\nk = "keep"\n[columns.x]\ntype = "boolean"\nepsilon = 1')
    words = ["b", "a", "d", "c"]
    for out in (None, tmp_path / "out.arrow"):
        seen = set()
        for order in (words, words[::-1]):
            batches = [pa.record_batch({"k": pa.array([word]).dictionary_encode(), "x": [True]}) for word in order]
            release = sanitize(pa.Table.from_batches(batches), rules, out, overwrite=True)
            table = release.table if out is None else pa.ipc.open_file(str(out)).read_all()
            seen |= {tuple(chunk.dictionary.to_pylist()) for chunk in table["k"].chunks}
        assert seen == {("a", "b", "c", "d")}


# Neighbouring secrets, side by side.

PAIRS = {
    "number": [(0.0, -0.0), (0.0, 5e-324), (2.0**24, 2.0**24 + 1), (2.0**53, 2.0**53 + 2), (9.0, 10.0), (99.0, 100.0)],
    "integer": [(2**24, 2**24 + 1), (2**31 - 1, 2**31), (2**53, 2**53 + 1), (9, 10), (-1, 0), (2**60, 2**60 + 1)],
    "time": [
        *(("1969-12-31", "1970-01-01"), ("2262-04-11", "2262-04-12"), ("0001-01-01", "0001-01-02")),
        *(("9999-12-30", "9999-12-31"), ("1999-12-31", "2000-01-01")),
    ],
}


@attack(40)
@given(st.data())
def test_neighbours_look_alike(data):
    """Two near secrets in the same declared type: equal schema, container and kinds of text, or equal refusals."""
    kind = data.draw(st.sampled_from(list(PAIRS)))
    one, two = data.draw(st.sampled_from(PAIRS[kind]))
    form = data.draw(st.sampled_from(["arrow", "pandas", "polars", "object", "csv", "parquet"]))
    entry = f'type = "{kind}"\nwithin = {chr(34)}5 days{chr(34)}' if kind == "time" else f'type = "{kind}"\nwithin = 5'
    if data.draw(st.booleans()):
        entry += '\nmissing = "public"'
    if form == "csv" and two == 5e-324:
        two = 1e-38  # the least number that text is read as: more digits are outside the declared domain
    looks = [look(entry, kind, secret, form) for secret in (one, two)]
    assert looks[0] == looks[1]


def look(entry, kind, secret, form):
    """What a release shows without its values: container, types, signs of the error."""
    value = dt.date.fromisoformat(secret) if kind == "time" else secret
    column = pa.array([value] * 30)
    rules = policy(entry)
    try:
        if form == "csv":
            import tempfile
            from pathlib import Path

            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "in.csv").write_text("x\n" + f"{secret}\n" * 30)
                return str(sanitize(Path(folder, "in.csv"), rules).table.schema)
        if form == "parquet":
            buffer = io.BytesIO()
            pq.write_table(sanitize(pa.table({"x": column}), rules).table, buffer)
            return str(pq.read_schema(buffer))
        source = {
            "arrow": lambda: pa.table({"x": column}),
            "pandas": lambda: pa.table({"x": column}).to_pandas(),
            "polars": lambda: pl.from_arrow(pa.table({"x": column})),
            "object": lambda: pd.DataFrame({"x": pd.Series([value] * 30, dtype=object)}),
        }[form]()
        made = sanitize(source, rules).table
    except MetricDPError as error:
        return (type(error).__name__, str(error))
    return (type(made).__name__, str(made["x"].dtype if form != "arrow" else made["x"].type))


@pytest.mark.parametrize("pair", [(0.0, -0.0), (4.0, 4.5), (0.0, 10.0), (5e-324, 0.0), (4.0, None)], ids=str)
@pytest.mark.parametrize("arrow", [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(5, 1)], ids=str)
def test_neighbours_have_one_support(pair, arrow):
    """Numbers with few outcomes: from either secret every one of them, as text, and no other."""
    entry = 'type = "number"\nepsilon = 0.2\nresolution = 2\nbounds = [0, 10]\nmissing = "secret"'
    supports = []
    for secret in pair:
        if pa.types.is_decimal(arrow):
            array = pa.array([None if secret is None else Decimal(round(secret * 10)) / 10] * 1000, arrow)
        else:
            array = pa.array([secret] * 1000, pa.float64()).cast(arrow)
        supports.append(frozenset(map(str, released(entry, array).to_pylist())))
    assert supports[0] == supports[1]
    assert len(supports[0]) == 7


def test_bounds_beyond_the_end_of_a_type_do_not_wrap():
    """Nanoseconds end in 2262: bounds until 2300 are met at that end, and take nothing for outside."""
    entry = (
        'type = "time"\nwithin = "100 days"\nbounds = [2200-01-01, 2300-01-01]\noutside = "clamp"\nmissing = "refuse"'
    )
    out = released(entry, pa.array([dt.datetime(2262, 4, 1)] * 300, pa.timestamp("ns")))
    years = np.asarray(out.cast(pa.timestamp("s"), safe=False).cast(pa.date32(), safe=False).cast(pa.int32())) / 365.25
    assert years.min() > 230
    assert years.max() < 292.4
    assert len(set(out.cast(pa.int64()).to_pylist())) > 50


@pytest.mark.parametrize("unit", UNITS)
def test_durations_end_and_never_wrap(unit):
    """From either end as from the middle: what is released can be told in Python, and nothing changes its sign."""
    most = min(999_999_999 * 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit], 2**63 - 1)
    for sign in (1, -1):
        secrets = pa.array([sign * min(most, 2**61)] * 50, pa.int64()).view(pa.duration(unit))
        out = released('type = "duration"\nwithin = "1 hour"', secrets)
        assert all(sign * ticks > most // 8 for ticks in out.view(pa.int64()).to_pylist())
        assert len(out.to_pylist()) == 50
    far = released(
        'type = "duration"\nwithin = "1e12 hours"\nresolution = "1 s"', pa.array([0] * 50, pa.duration(unit))
    )
    assert all(abs(ticks) <= most for ticks in far.view(pa.int64()).to_pylist())
    assert len(far.to_pylist()) == 50


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", "b", "b", None], pa.string_view()),
        pa.compute.run_end_encode(pa.array(["a", "b", "b", None])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 2]), pa.array(["a", "b", None])),
        pa.array(["a", "b", "b", None], pa.large_string()),
    ],
    ids=lambda array: str(array.type),
)
def test_second_identifiers_of_every_text_type_have_new_keys(array):
    text = 'format = 2\n[columns]\nk = "rekey"\n[columns.x]\ntype = "boolean"\nepsilon = 1'
    table = sanitize(pa.table({"k": array, "x": [True] * 4}), Policy.parse(text + PUBLIC)).table
    first, second, third, nobody = table["k"].to_pylist()
    assert second == third != first
    assert nobody is None
    assert {"a", "b"}.isdisjoint({first, second})


def test_second_identifiers_without_a_value():
    text = 'format = 2\n[columns]\nk = "rekey"\n[columns.x]\ntype = "boolean"\nepsilon = 1'
    assert sanitize(pa.table({"k": pa.nulls(2), "x": [True] * 2}), Policy.parse(text)).table["k"].null_count == 2
