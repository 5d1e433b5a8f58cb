"""Histograms and sums of frames and files: every way in gives the same cells, and errors tell no value."""

import datetime as dt
import sys
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import (
    ArgumentError,
    ColumnError,
    DataError,
    FileError,
    MissingExtraError,
    OutOfDomainError,
    PolicyError,
)
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.summing import totals
from metricdp.queries.universes.universe import Universe

SECRET = "TOPSECRET"
UNIVERSE = Universe(
    [
        CategoryCells("sex", ["F", "M"], missing="unknown"),
        IntegerCells("age", (0, 119), width=40, missing="unknown"),
        NumberCells("pay", (0, 10), edges=["0.3"], missing="unknown"),
        DateCells("day", ("2024-01-01", "2024-12-31"), by="month", missing="unknown"),
        BooleanCells("native", missing="unknown"),
    ]
)
COLUMNS = {
    "sex": ["F", "M", None, "F", "F"],
    "age": [0, 40, 39, None, 0],
    "pay": [0.3, 0.29, 10.0, None, 0.3],
    "day": [dt.date(2024, 1, 31), dt.date(2024, 2, 1), None, dt.date(2024, 12, 31), dt.date(2024, 1, 1)],
    "native": [True, False, True, None, True],
    "note": ["a", "b", "c", "d", "e"],
}
ARROW = pa.table(COLUMNS)
WANTED = {
    "sex=F, age=0..39, pay=[0.3, 10], day=2024-01, native=true": 2,
    "sex=M, age=40..79, pay=[0, 0.3), day=2024-02, native=false": 1,
    "sex=unknown, age=0..39, pay=[0.3, 10], day=unknown, native=true": 1,
    "sex=F, age=unknown, pay=unknown, day=2024-12, native=unknown": 1,
}


def cells(source, **options):
    found = histogram(source, UNIVERSE, **options)
    return {UNIVERSE.names[k]: int(found.counts[k]) for k in np.flatnonzero(found.counts)}


def pandas():
    frame = pd.DataFrame(COLUMNS)
    frame["sex"] = frame["sex"].astype("category")
    frame["day"] = pd.to_datetime(frame["day"])
    return frame  # ages are floats with NaN, as pandas has it


def polars():
    return pl.DataFrame(COLUMNS).with_columns(pl.col("sex").cast(pl.Categorical), pl.col("pay").cast(pl.Float32))


def arrow_of_other_types():
    return ARROW.set_column(0, "sex", ARROW["sex"].dictionary_encode()).cast(
        pa.schema(
            [
                ("sex", pa.large_string()),
                ("age", pa.uint8()),
                ("pay", pa.float64()),
                ("day", pa.timestamp("ns")),
                ("native", pa.bool_()),
                ("note", pa.string()),
            ]
        )
    )


FRAMES = {
    "arrow": lambda: ARROW,
    "batch": lambda: ARROW.to_batches()[0],
    "other types": arrow_of_other_types,
    "pandas": pandas,
    "pandas with masks": lambda: pandas().astype({"age": "Int64", "sex": "string", "native": "boolean"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "lazy": lambda: pl.DataFrame(COLUMNS).lazy(),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames(frame):
    assert cells(frame()) == WANTED


def test_a_float_is_in_the_cell_that_begins_at_it_whatever_its_width():
    assert cells(polars()) == WANTED
    universe = Universe([NumberCells("v", (0, 1), edges=["0.1", "0.3", "0.7"])])
    for values in (
        np.array([0.1, 0.3, 0.7]),
        np.float32([0.1, 0.3, 0.7]),
        [Decimal("0.1"), Decimal("0.3"), Decimal("0.7")],
    ):
        assert histogram(pa.table({"v": values}), universe).counts.tolist() == [0, 1, 1, 1]
    with pytest.raises(ColumnError, match="16 bits"):
        histogram(pa.table({"v": np.float16([0.1])}), universe)
    with pytest.raises(ColumnError, match=r"beyond 2\^24"):
        histogram(pa.table({"v": np.float32([1])}), Universe([IntegerCells("v", (0, 2**25), width=2**20)]))


def test_files(tmp_path):
    pq.write_table(ARROW, tmp_path / "a [b]*.parquet")
    assert cells(tmp_path / "a [b]*.parquet") == cells(str(tmp_path / "a [b]*.parquet")) == WANTED
    written = [",".join(COLUMNS)]
    for row in zip(*COLUMNS.values(), strict=True):
        written.append(",".join("" if value is None else str(value) for value in row))
    text = "\n".join(written).replace("True", "true").replace("False", "0") + "\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (tmp_path / "a.tsv").write_text(text.replace(",", "\t"), encoding="utf-8")
    assert cells(tmp_path / "a.csv") == cells(tmp_path / "a.tsv") == WANTED


def test_a_folder_of_parts(tmp_path):
    for sex in ("F", "M"):
        (tmp_path / "people" / f"sex={sex}").mkdir(parents=True)
        part = pa.table({"age": [1, 2, 3]})
        pq.write_table(part, tmp_path / "people" / f"sex={sex}" / "part.parquet")
    universe = Universe([CategoryCells("sex", ["F", "M", "X"]), IntegerCells("age", (0, 5), width=2)])
    assert histogram(tmp_path / "people", universe).counts.tolist() == [1, 2, 0, 1, 2, 0, 0, 0, 0]


def test_numbers_as_text_in_csv_are_text_where_they_are_categories(tmp_path):
    """What a column is comes from the universe, never from how its values look."""
    (tmp_path / "a.csv").write_text('zip,note\n01234,"a,\nb"\n1234,\n', encoding="utf-8")
    universe = Universe([CategoryCells("zip", ["01234", "1234"])])
    assert histogram(tmp_path / "a.csv", universe).counts.tolist() == [1, 1]


def test_an_empty_table_has_empty_cells():
    for empty in (
        ARROW.slice(0, 0),
        pd.DataFrame(COLUMNS).iloc[:0].astype({"age": float}),
        pl.DataFrame(COLUMNS).clear(),
    ):
        found = histogram(empty, UNIVERSE)
        assert found.counts.tolist() == [0] * len(UNIVERSE)


def test_columns_without_a_value():
    nothing = pa.table({name: pa.nulls(2) for name in COLUMNS})
    assert cells(nothing) == {"sex=unknown, age=unknown, pay=unknown, day=unknown, native=unknown": 2}
    assert cells(pd.DataFrame({name: [None, None] for name in COLUMNS})) == cells(nothing)


def test_those_absent_are_counted():
    universe = Universe([BooleanCells("native")], capacity=10)
    found = histogram(pa.table({"native": [True, True, False]}), universe)
    assert found.counts.tolist() == [1, 2, 7]
    with pytest.raises(OutOfDomainError, match="more records than the universe's capacity") as caught:
        histogram(pa.table({"native": [True] * 11}), universe)
    assert "11" not in str(caught.value)


def quiet(caught):
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET not in told
    assert "31415" not in told
    return caught.value


@pytest.mark.parametrize(
    ("column", "values", "row"),
    [
        (CategoryCells("v", ["F"]), ["F", SECRET, "F"], 1),
        (CategoryCells("v", [1, 2]), [1, 2, 31415], 2),
        (IntegerCells("v", (0, 9)), [31415, 1, 2], 0),
        (IntegerCells("v", (0, 9)), [1.0, 2.0, 2.5], 2),
        (NumberCells("v", (0, 9)), pa.array([1.0, float("nan"), 2.0], from_pandas=False), 1),
        (NumberCells("v", (0, 9), outside="clamp"), pa.array([1.0, float("nan"), 2.0], from_pandas=False), 1),
        (DateCells("v", ("2024-01-01", "2024-01-09")), [dt.date(2024, 1, 1), dt.date(2024, 1, 10)], 1),
        (BooleanCells("v"), [True, None], 1),
        (IntegerCells("v", (0, 9), other="other"), [1, None], 1),
    ],
)
def test_a_value_in_no_cell_is_refused_with_its_row(column, values, row):
    with pytest.raises(ColumnError) as caught:
        histogram(pa.table({"v": values}), Universe([column]))
    error = quiet(caught)
    assert (error.column, error.row) == ("v", row)
    assert str(error).startswith(f"column 'v', row {row}: a value ")


def test_what_cannot_be_read_is_told_without_values(tmp_path):
    universe = Universe([IntegerCells("age", (0, 9)), CategoryCells("sex", ["F"])])
    (tmp_path / "a.csv").write_text(f"sex,age\nF,1\nF,{SECRET}\n", encoding="utf-8")
    with pytest.raises(
        ColumnError, match=r"column 'age'.*row 1: a value is not of the type that the policy declares"
    ) as caught:
        histogram(tmp_path / "a.csv", universe)
    quiet(caught)
    (tmp_path / "ragged.csv").write_text(f"sex,age\nF,1\nF,1,{SECRET}\n", encoding="utf-8")
    (tmp_path / "damaged.parquet").write_bytes(SECRET.encode() * 100)
    (tmp_path / "latin.csv").write_bytes(b"sex,age\nF,1\n\xe9,2\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    for name in ("ragged.csv", "damaged.parquet", "latin.csv", "empty.csv"):
        with pytest.raises(FileError if name in ("damaged.parquet", "empty.csv") else DataError) as caught:
            histogram(tmp_path / name, universe)
        quiet(caught)
    (tmp_path / "twice.csv").write_text("sex,sex,age\nF,F,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="two columns have one name"):
        histogram(tmp_path / "twice.csv", universe)
    with pytest.raises(FileError, match="there is no"):
        histogram(tmp_path / "nothing.parquet", universe)
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"a \.parquet, \.csv, \.csv\.gz or \.arrow file"):
        histogram(tmp_path / "a.txt", universe)
    with pytest.raises(ColumnError, match=r"column 'age', row 1: .*a whole number is wanted") as caught:
        histogram(pd.DataFrame({"age": [1, SECRET], "sex": ["F", "F"]}), universe)
    quiet(caught)
    with pytest.raises(ColumnError, match=r"column 'age', row 1: .*more than 64 bits"):
        histogram(pd.DataFrame({"age": pd.Series([1, 2**70], dtype=object), "sex": ["F", "F"]}), universe)
    with pytest.raises(ColumnError, match=r"column 'age'.*cast it"):
        histogram(pl.DataFrame({"age": pl.Series([1, 2], dtype=pl.Int128), "sex": ["F", "F"]}), universe)
    with pytest.raises(ArgumentError, match="not list"):
        histogram([1, 2], universe)
    with pytest.raises(ColumnError, match="no such column"):
        histogram(pd.DataFrame({"Age": [1], "sex": ["F"]}), universe)
    with pytest.raises(ArgumentError, match="there is no engine 'sqlite'"):
        histogram(ARROW, universe, engine="sqlite")
    with pytest.raises(ArgumentError, match="the engine is"):
        histogram(ARROW, universe, engine=5)
    with pytest.raises(ArgumentError, match="a Universe"):
        histogram(ARROW, "universe")
    with pytest.raises(ColumnError, match=r"beyond 2\^53"):
        histogram(pa.table({"v": [1.0]}), Universe([IntegerCells("v", (0, 2**60), width=2**50)]))


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"metricdp\[queries\]"):
        histogram(ARROW, UNIVERSE)


# Sums


def test_sums_by_cell(tmp_path):
    universe = Universe([CategoryCells("sex", ["F", "M", "X"])])
    cents = pa.table({"sex": ["F", "F", "M"], "pay": [Decimal("0.10"), Decimal("0.20"), Decimal("-1.05")]})
    found = totals(cents, universe, "pay", (-2, 1))
    assert found.sums == (Fraction(3, 10), Fraction(-105, 100), 0)
    assert "0.3" not in repr(found)
    (tmp_path / "a.csv").write_text("sex,pay\nF,0.10\nF,0.20\nM,-1.05\n", encoding="utf-8")
    assert totals(tmp_path / "a.csv", universe, "pay", (-2, 1), places=2).sums == found.sums
    with pytest.raises(ColumnError, match="not of the type"):
        totals(tmp_path / "a.csv", universe, "pay", (-2, 1))
    clamped = totals(cents, universe, "pay", ("-0.5", "0.15"), outside="clamp")
    assert clamped.sums == (Fraction(25, 100), Fraction(-1, 2), 0)
    whole = pd.DataFrame({"sex": ["F", "F", "M"], "pay": [1.0, None, 7.0]})
    assert totals(whole, universe, "pay", (0, 5), outside="clamp", missing="skip").sums == (1, 5, 0)
    same = totals(pa.table({"sex": ["F", "M"], "v": [1, 2]}), Universe([IntegerCells("v", (0, 3))]), "v", (0, 3))
    assert same.sums == (0, 1, 2, 0)


@pytest.mark.parametrize(
    ("values", "options", "error", "rule"),
    [
        ([0.5], {}, ColumnError, "row 0: a value to sum is a float with a fraction"),
        ([1, 31415], {}, ColumnError, "row 1: a value to sum lies outside"),
        ([1, None], {}, ColumnError, "row 1: a value to sum is missing"),
        ([SECRET], {}, ColumnError, "declares integers or decimals"),
        ([1], {"bounds": (5, 1)}, PolicyError, "in that order"),
        ([1], {"missing": "zero"}, PolicyError, "'refuse' or 'skip'"),
        ([1], {"outside": "drop"}, PolicyError, "'refuse' or 'clamp'"),
        ([1], {"bounds": (0, "0.5"), "outside": "clamp"}, ColumnError, "a bound to clamp to has more"),
        ([1], {"bounds": (0, 10**30)}, ColumnError, "more than 28 digits"),
        ([1.0], {"bounds": (0, 2**60)}, ColumnError, "do not hold all integers"),
        ([1], {"places": -1}, PolicyError, "decimal places"),
    ],
)
def test_sums_that_are_refused(values, options, error, rule):
    universe = Universe([CategoryCells("sex", ["F"])])
    with pytest.raises(error, match=rule) as caught:
        totals(pa.table({"sex": ["F"] * len(values), "v": values}), universe, "v", **({"bounds": (0, 100)} | options))
    quiet(caught)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int16(), pa.decimal128(22, 3)])
@pytest.mark.parametrize("values", [[3, 1, 2], range(40, 0, -1)], ids=len)
def test_lists_of_integers_short_and_long(values, kind):
    column = CategoryCells("v", values, missing="unknown", other="other")
    data = [1, 2, 2, 3, 0, 41, None, 2] + ([-0.0, float("inf")] if pa.types.is_floating(kind) else [])
    found = histogram(pa.table({"v": pa.array(data, from_pandas=False).cast(kind)}), Universe([column])).counts
    outside = 4 if pa.types.is_floating(kind) else 2
    assert {label: n for label, n in zip(column.labels, found.tolist(), strict=True) if n} == {
        "1": 1,
        "2": 3,
        "3": 1,
        "other": outside,
        "unknown": 1,
    }


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_belong_to_their_day_before_1970_too(unit, tmp_path):
    """The last nanosecond of a day is of that day, where a count from 1970 rounds towards it."""
    days = DateCells("day", ("1969-12-30", "1970-01-02"))
    last = {"s": "59", "ms": "59.999", "us": "59.999999", "ns": "59.999999999"}[unit]
    moments = [f"{day}T{time}" for day in ("1969-12-31", "1970-01-01") for time in ("00:00:00", f"23:59:{last}")]
    table = pa.table({"day": pa.array(np.array(moments, dtype=f"datetime64[{unit}]"))})
    by_day, by_edge = (
        Universe([days]),
        Universe([DateCells("day", ("1969-12-30", "1970-01-02"), edges=["1969-12-31", "1970-01-01"])]),
    )
    assert histogram(table, by_day).counts.tolist() == [0, 2, 2, 0]
    assert histogram(table, by_edge).counts.tolist() == [0, 2, 2]
    frame = pd.DataFrame({"day": pd.to_datetime(moments, format="ISO8601").as_unit(unit).tz_localize("UTC")})
    zoned = Universe([DateCells("day", ("1969-12-30", "1970-01-02"), zone="Asia/Tokyo")])
    assert histogram(frame, zoned).counts.tolist() == [0, 1, 2, 1]
    assert histogram(frame, Universe([DateCells("day", days.bounds, zone="UTC")])).counts.tolist() == [0, 2, 2, 0]
    pq.write_table(table, tmp_path / "a.parquet")
    assert histogram(tmp_path / "a.parquet", by_day).counts.tolist() == [0, 2, 2, 0]


def test_wide_integers_are_divided_exactly():
    width = 2**45 + 1
    column = IntegerCells("v", (-(2**52), 2**52 - 10), width=width)
    low = column.bounds[0]
    values = [low + k * width + shift for k in (0, 1, 77, len(column) - 1) for shift in (-1, 0, 1, width // 2)]
    values = [value for value in values if low <= value <= column.bounds[1]]
    wanted = np.zeros(len(column), dtype=int)
    for value in values:
        wanted[(value - low) // width] += 1
    assert histogram(pa.table({"v": values}), Universe([column])).counts.tolist() == wanted.tolist()
    assert (
        histogram(pa.table({"v": pa.array(values, pa.decimal128(20, 2))}), Universe([column])).counts.tolist()
        == wanted.tolist()
    )
    far = IntegerCells("v", (-(2**63) + 1, 2**63 - 1), width=2**60 + 3)
    ends = [far.bounds[0], far.starts[3] - 1, far.starts[3], far.bounds[1]]
    found = histogram(pa.table({"v": ends}), Universe([far])).counts
    assert [k for k in range(len(far)) for _ in range(found[k])] == [0, 2, 3, len(far) - 1]


@pytest.mark.parametrize("folders", [("1", "2"), ("1", "x"), ("01", "1")])
def test_columns_in_the_names_of_folders_have_the_declared_type(folders, tmp_path):
    """Their type was guessed from all of them: digits alone made numbers, and 01 the same as 1."""
    for count, folder in enumerate(folders, 1):
        (tmp_path / f"ward={folder}").mkdir()
        pq.write_table(pa.table({"age": range(count)}), tmp_path / f"ward={folder}" / "part 'a'.parquet")
    found = histogram(
        tmp_path, Universe([CategoryCells("ward", ["1", "01"], other="other"), IntegerCells("age", (0, 9))])
    )
    by_ward = found.counts.reshape(3, 10).sum(axis=1).tolist()
    wanted = [(folders.index(ward) + 1) if ward in folders else 0 for ward in ("1", "01")]
    assert by_ward == [*wanted, 3 - sum(wanted)]
    if "x" in folders:
        with pytest.raises(DataError):
            histogram(tmp_path, Universe([IntegerCells("ward", (0, 9))]))
    else:
        numbers = histogram(tmp_path, Universe([IntegerCells("ward", (0, 9))])).counts.tolist()
        assert sum(numbers) == 3
        assert numbers[1] == (3 if "01" in folders else 1)
