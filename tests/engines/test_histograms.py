"""The same histogram from DuckDB, PostgreSQL and Spark, cell by cell, and all as counted one by one in Python."""

import datetime as dt
import itertools
import math
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ColumnError, DataError
from metricdp.policies import Policy
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.policies.sql.public_tables import public_tables
from metricdp.queries.select.asking import Asking
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.summing import totals
from metricdp.queries.universes.universe import Universe

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of the sockets that Spark answers through
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

BERLIN = ZoneInfo("Europe/Berlin")
TEXTS = ["F", "M", "f", "F ", " F", "", "\u00e9", "e\u0301", "O'Brien \\x41", "日本", "😀", "ß", "ss", None]
INTEGERS = [0, 17, 18, 64, 65, 120, -1, 121, 2**63 - 1, -(2**63), None]
FLOATS = [0.0, -0.0, 0.1, 0.3, math.nextafter(0.3, 0), 0.5, 1.0, math.nextafter(1, 2), -5e-324, 5e-324]
FLOATS += [math.nan, math.inf, -math.inf, 1e300, -1e300, None]
WHOLE = [0.0, -0.0, 39.0, 40.0, 119.0, 120.0, 121.0, -1.0, 2.0**53, -(2.0**63), 1e300, math.inf, -math.inf, None]
DECIMALS = [Decimal(x) for x in ("0", "0.10", "0.29", "0.30", "0.99", "1.00", "1.01", "-0.01", "9999999999999999.99")]
DECIMALS += [None]
DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 31), dt.date(2024, 4, 1)]
DAYS += [dt.date(2023, 12, 31), dt.date(1, 1, 1), None]
MOMENTS = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 31, 23, 59, 59, 999999), dt.datetime(2024, 2, 1)]
MOMENTS += [
    dt.datetime(2024, 3, 31, 23, 59, 59, 999999),
    dt.datetime(2024, 4, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    None,
]
INSTANTS = [dt.datetime(2024, 3, 30, 23, 0, tzinfo=dt.UTC), dt.datetime(2024, 3, 31, 22, 0, tzinfo=dt.UTC)]
INSTANTS += [dt.datetime(2024, 3, 30, 22, 59, 59, 999999, tzinfo=dt.UTC), dt.datetime(2023, 12, 31, 23, tzinfo=dt.UTC)]
INSTANTS += [dt.datetime(2024, 3, 31, 21, 59, 59, 999999, tzinfo=dt.UTC), dt.datetime(2024, 1, 31, 23, tzinfo=dt.UTC)]
INSTANTS += [None]
TRUTHS = [True, False, None]

VALUES = {
    "sex": TEXTS,
    "age": INTEGERS,
    "score": FLOATS,
    "hours": WHOLE,
    "pay": DECIMALS,
    "born": DAYS,
    "seen": MOMENTS,
    "sent": INSTANTS,
    "native": TRUTHS,
    "ward": [1, 2, 3, 7, -4, None],
    "level": [value for value in FLOATS if value is None or value == value],
    "width": [0.0, -0.0, 39.0, 40.0, 119.0, 120.0, 121.0, -1.0, 1e300, math.inf, -math.inf, None],
    "half": [39.0, 39.5, -1.0, None],
    "beyond": [39.0, 120.5, 1e300, None],
    "nothing": [39.0, math.nan, None],
    "cents": [Decimal("39.00"), Decimal("39.50"), Decimal("-9999999999999999.50"), None],
}
TYPES = {
    "sex": pa.string(),
    "age": pa.int64(),
    "score": pa.float64(),
    "hours": pa.float64(),
    "pay": pa.decimal128(18, 2),
    "born": pa.date32(),
    "seen": pa.timestamp("us"),
    "sent": pa.timestamp("us", "UTC"),
    "native": pa.bool_(),
    "ward": pa.int32(),
    "level": pa.float64(),
    "width": pa.float64(),
    "half": pa.float64(),
    "beyond": pa.float64(),
    "nothing": pa.float64(),
    "cents": pa.decimal128(18, 2),
}
IN_POSTGRES = {
    "sex": "text",
    "age": "bigint",
    "score": "double precision",
    "hours": "double precision",
    "pay": "numeric(18,2)",
    "born": "date",
    "seen": "timestamp",
    "sent": "timestamptz",
    "native": "boolean",
    "ward": "integer",
    "level": "double precision",
    "width": "double precision",
    "half": "double precision",
    "beyond": "double precision",
    "nothing": "double precision",
    "cents": "numeric(18,2)",
}
EXTRA = {"missing": "missing", "other": "other"}
COLUMNS = {
    "sex": CategoryCells("sex", ["M", "F", "\u00e9", "O'Brien \\x41", "日本", "😀", "ß"], **EXTRA),
    "age": IntegerCells("age", (0, 120), edges=(18, 65), **EXTRA),
    "score": NumberCells("score", (0, 1), edges=("0.1", "0.3"), **EXTRA),
    "hours": IntegerCells("hours", (0, 120), width=40, **EXTRA),
    "pay": NumberCells("pay", (0, 1), edges=("0.1", "0.295", "0.3"), **EXTRA),
    "born": DateCells("born", ("2024-01-01", "2024-03-31"), by="month", **EXTRA),
    "seen": DateCells("seen", ("2024-01-01", "2024-03-31"), by="month", **EXTRA),
    "sent": DateCells(
        "sent", ("2024-01-01", "2024-03-31"), edges=("2024-02-01", "2024-03-31"), zone="Europe/Berlin", **EXTRA
    ),
    "native": BooleanCells("native", missing="missing"),
    "ward": CategoryCells("ward", [7, 1, 3], **EXTRA),
}
CLAMPED = [
    IntegerCells("age", (18, 64), outside="clamp", missing="missing"),
    NumberCells("level", ("0.1", "0.5"), edges=("0.3",), outside="clamp", missing="missing"),
    IntegerCells("width", (1, 119), edges=(40,), outside="clamp", missing="missing"),
    NumberCells("pay", ("0.1", "0.99"), edges=("0.3",), outside="clamp", missing="missing"),
    DateCells("seen", ("2024-01-02", "2024-02-01"), outside="clamp", missing="missing"),
]
FINE = [
    DateCells("seen", ("1969-12-01", "2024-03-31"), **EXTRA),
    IntegerCells("width", (-3, 120), width=7, outside="clamp", missing="missing"),
]
LONG = [
    CategoryCells("sex", ["M", "F", "\u00e9", "O'Brien \\x41", "日本", "😀", "ß", *"abcdefghijklmnop"], **EXTRA),
    CategoryCells("ward", [7, 1, 3, *range(100, 130)], **EXTRA),
    DateCells("born", ("2024-01-01", "2024-02-29"), outside="clamp", missing="missing"),
]
OF_INTEGERS = [
    lambda name: IntegerCells(name, (0, 120), **EXTRA),
    lambda name: IntegerCells(name, (0, 120), edges=(39, 41), **EXTRA),
    lambda name: IntegerCells(name, (0, 120), outside="clamp", missing="missing"),
    lambda name: CategoryCells(name, [39, 40], **EXTRA),
    lambda name: CategoryCells(name, range(100), **EXTRA),
]
"""Columns that have a place for every integer, and for nothing in between."""

JOINT = Universe([COLUMNS[name] for name in ("sex", "age", "pay", "native", "born")])


def rows_of_table():
    """Every value of every column, and each in several combinations."""
    length = max(map(len, VALUES.values()))
    return {
        name: [values[(row * (k + 1) + row // length) % len(values)] for row in range(6 * length)]
        for k, (name, values) in enumerate(VALUES.items())
    }


ROWS = rows_of_table()


def arrow():
    return pa.table({name: pa.array(values, TYPES[name], from_pandas=False) for name, values in ROWS.items()})


def place(column, value):
    """The cell of one value, as a person would find it; None where there is none."""
    if value is None:
        return column.missing_code
    if isinstance(column, BooleanCells):
        return int(value)
    if isinstance(column, CategoryCells):
        return next((k for k, listed in enumerate(column.values) if listed == value), column.other_code)
    if isinstance(value, float) and math.isnan(value):
        return column.other_code
    if isinstance(column, DateCells):
        value = value.astimezone(BERLIN) if getattr(value, "tzinfo", None) else value
        value = value.date() if isinstance(value, dt.datetime) else value
    elif isinstance(value, float) and math.isinf(value):
        value = Fraction(10) ** 400 * (1 if value > 0 else -1)
    elif isinstance(value, float):
        value = Fraction(repr(value))  # these floats are short decimals, or far from every edge's decimal
    low, high = column.bounds
    if column.outside == "clamp" and not low <= value <= high:
        return 0 if value < low else len(column.intervals) - 1
    for k, cell in enumerate(column.intervals):
        if cell.first <= value < cell.last or (cell.closed and value == cell.last):
            return k
    return column.other_code


def expected(universe, rows=None):
    rows = ROWS if rows is None else rows
    found = Counter(
        tuple(place(column, rows[column.name][k]) for column in universe.columns)
        for k in range(len(rows[universe.columns[0].name]))
    )
    return [found[cell] for cell in itertools.product(*map(range, universe.shape))]


@pytest.fixture(scope="module")
def postgres():
    pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a lock is kept
        pgserver = pytest.importorskip("pgserver")
    import psycopg

    # As root it opens the folders above its data to another user: not those of other tests.
    folder = Path(tempfile.mkdtemp(prefix="metricdp-postgres-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        columns = ", ".join(f"{name} {kind}" for name, kind in IN_POSTGRES.items())
        with psycopg.connect(server.get_uri(), autocommit=True) as direct, direct.cursor() as cursor:
            cursor.execute("set time zone 'America/New_York'")
            cursor.execute(f"create table people ({columns}, code char(3), anything numeric, small real)")
            wanted = ", ".join(["%s"] * (len(ROWS) + 3))
            extra = [("F", Decimal("NaN"), 0.5), ("FF", Decimal("0.3"), 0.1), (None, None, None)]
            table = zip(*ROWS.values(), strict=True)
            cursor.executemany(
                f"insert into people values ({wanted})",
                [(*row, *more) for row, more in zip(table, itertools.cycle(extra), strict=False)],
            )
        connection = ibis.connect(server.get_uri())
        yield connection
        connection.disconnect()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def spark():
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java")
    pytest.importorskip("pyspark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "America/New_York")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .getOrCreate()
    )
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people [1].parquet"  # a name that is a pattern too
    pq.write_table(arrow(), path)
    return path


@pytest.fixture(scope="module", params=["arrow", "parquet", "duckdb", "postgres", "spark"])
def people(request, file):
    """The table in each engine; the last three as tables of ibis."""
    if request.param == "arrow":
        return arrow()
    if request.param == "parquet":
        return file
    if request.param == "duckdb":
        connection = ibis.duckdb.connect()
        connection.con.register("rows", arrow())
        connection.con.execute("set timezone = 'America/New_York'")
        connection.con.execute("create table people as select * replace (sex collate nocase as sex) from rows")
        return connection.table("people")
    if request.param == "postgres":
        return request.getfixturevalue("postgres").table("people")
    frame = request.getfixturevalue("spark").read.parquet(str(file).replace("[", "\\[").replace("]", "\\]"))
    return frame.selectExpr("collate(sex, 'UTF8_LCASE') as sex", *(name for name in ROWS if name != "sex"))


@pytest.mark.long
def test_every_column_as_counted_one_by_one(people):
    columns = list(COLUMNS.values())
    for group in (columns[:4], columns[4:8], columns[8:], CLAMPED[:2], CLAMPED[2:], FINE, LONG):
        universe = Universe(group)
        assert histogram(people, universe).counts.tolist() == expected(universe), universe


def test_nan_is_seen_where_statistics_are_silent_about_it(tmp_path):
    """A Parquet file's least and greatest value leave NaN out; DuckDB believed them, and counted it with the greatest.

    So where it was counted hung on the values of others.
    """
    pq.write_table(pa.table({"v": pa.array([0.1, math.nan, 0.3], from_pandas=False)}), tmp_path / "v.parquet")
    other = Universe([NumberCells("v", (0, 1), edges=["0.2"], other="other")])
    assert histogram(tmp_path / "v.parquet", other).counts.tolist() == [1, 1, 1]
    strict = [NumberCells("v", (0, 1), edges=["0.2"]), NumberCells("v", (0, 1), outside="clamp")]
    for column in strict:
        with pytest.raises(ColumnError, match="NaN"):
            histogram(tmp_path / "v.parquet", Universe([column]))


def test_the_joint_histogram_cell_by_cell(people):
    wanted = expected(JOINT)
    assert histogram(people, JOINT).counts.tolist() == wanted
    assert sum(wanted) == len(ROWS["sex"])
    assert 0 in wanted  # empty cells are cells like any other
    assert any(wanted[k] for k, name in enumerate(JOINT.names) if "other" in name and "missing" in name)


def test_what_is_in_no_cell_is_refused_without_its_value(people):
    for strict, rule in [
        (IntegerCells("age", (0, 120), missing="missing"), "a value lies outside the declared values or bounds"),
        (IntegerCells("age", (0, 120), other="other"), "a value is missing"),
        (CategoryCells("sex", ["F"], missing="missing"), "a value lies outside"),
        (NumberCells("score", (-1e50, 1e50), outside="clamp", missing="missing"), "a value is NaN"),
        (BooleanCells("native"), "a value is missing"),
        *((column("half"), "not a whole number") for column in OF_INTEGERS),
        *((column("cents"), "not a whole number") for column in OF_INTEGERS),
        *((column("nothing"), "a value is NaN") for column in OF_INTEGERS),
        (IntegerCells("beyond", (0, 100), outside="clamp", missing="missing"), "not a whole number"),
        (IntegerCells("beyond", (0, 100), **EXTRA), "not a whole number"),
    ]:
        with pytest.raises(ColumnError, match=rule) as caught:
            histogram(people, Universe([strict]))
        assert caught.value.column == strict.name
        assert isinstance(people, pa.Table) == (caught.value.row is not None)
        told = "".join(traceback.format_exception(caught.value))
        assert "9223372036854775807" not in told
        assert "日本" not in told


def test_a_column_of_another_type_is_refused(people):
    for wrong, rule in [
        (IntegerCells("sex", (0, 1)), "declares integers"),
        (CategoryCells("age", ["0"]), "declares text"),
        (BooleanCells("age"), "declares booleans"),
        (DateCells("age", ("2024-01-01", "2024-01-02")), "declares dates or moments"),
        (NumberCells("native", (0, 1)), "declares numbers"),
        (IntegerCells("nobody", (0, 1)), "the table has no such column"),
        (DateCells("sent", ("2024-01-01", "2024-01-02")), "declare zone"),
    ]:
        with pytest.raises(ColumnError, match=rule) as caught:
            histogram(people, Universe([wrong]))
        assert caught.value.column == wrong.name


def test_moments_without_a_zone_are_taken_as_they_stand(people):
    for zone in (None, "Europe/Berlin", "UTC"):
        seen = DateCells("seen", ("2024-01-01", "2024-03-31"), by="month", zone=zone, **EXTRA)
        assert histogram(people, Universe([seen])).counts.tolist() == expected(Universe([seen]))


def test_sums_are_exact(people):
    """Integers near 2^63, decimals, and floats that are whole: added up as Fractions are, whatever the engine."""
    universe = Universe([COLUMNS["native"]])
    big = 2**62
    for column, bounds in [("age", (-big, big)), ("pay", ("-0.01", "1.00")), ("width", (-1, 119)), ("ward", (0, 7))]:
        low, high = (Fraction(bound) for bound in bounds)
        wanted = [Fraction(0)] * 3
        for truth, value in zip(ROWS["native"], ROWS[column], strict=True):
            if value is not None:
                clamped = min(max(value, low), high)  # Python compares infinities with Fractions
                wanted[2 if truth is None else int(truth)] += Fraction(clamped)
        found = totals(people, universe, column, bounds, outside="clamp", missing="skip")
        assert list(found.sums) == wanted, column
    with pytest.raises(ColumnError, match="a value to sum is missing"):
        totals(people, universe, "pay", ("-0.01", "1.00"), outside="clamp")
    for column, rule in [("half", "a float with a fraction"), ("nothing", "is NaN"), ("beyond", "a fraction")]:
        with pytest.raises(ColumnError, match=rule):
            totals(people, universe, column, (-1, 100), missing="skip", outside="clamp")


STEPPED = f"""
format = 2
records = {len(ROWS["level"])}
[columns]
level = {{type = "number", bounds = [0, 1], resolution = 0.1, outside = "clamp", missing = "secret", %s}}
native = {{type = "boolean", missing = "secret", epsilon = 1}}
"""


@pytest.mark.parametrize("metric", ['metric = "1 absolute", missing_distance = 4', 'metric = "1 discrete"'])
def test_floats_in_steps_have_the_same_sums_and_percentiles(people, metric):
    """Counted in tenths, clamped and with missing ones left out, as is done here with Fractions."""
    wanted = [[], [], []]
    for truth, value in zip(ROWS["native"], ROWS["level"], strict=True):
        if value is not None:
            wanted[2 if truth is None else int(truth)].append(round(min(max(value, 0), 1) * 10))
    question = "select sum(level), median(level) from t group by native"
    asking = Asking.of(question, Policy.parse(STEPPED % metric).askable)
    sums = [Fraction(sum(tenths), 10) for tenths in wanted]
    assert asking.linear.truth(people, None) == sums
    (part,) = asking.percentiles.values()
    found = [np.repeat(tally.values, tally.counts).tolist() for tally in part.tallies(people, None)]
    assert found == [sorted(tenths) for tenths in wanted]


SQUARED = f"""
format = 2
records = {len(ROWS["level"])}
[columns]
level = {{type = "number", bounds = [0, 1], resolution = 0.1, outside = "clamp", metric = "1 discrete"}}
pay = {{type = "number", bounds = [-0.01, 1], outside = "clamp", metric = "1 discrete"}}
age = {{type = "integer", bounds = [-7, 130], outside = "clamp", metric = "1 discrete"}}
native = {{type = "boolean", missing = "secret", epsilon = 1}}
"""


def test_squares_products_and_distinct_values_are_the_same(people):
    """As computed here with Fractions, record by record; only those count that have both values."""
    steps = {"level": (0, 1, 10), "pay": (Fraction(-1, 100), 1, 100), "age": (-7, 130, 1)}
    values = {
        name: [None if v is None else Fraction(round(min(max(v, low), high) * unit), unit) for v in ROWS[name]]
        for name, (low, high, unit) in steps.items()
    }
    question = "select covar_pop(level, pay), var_pop(age), corr(age, pay), count(distinct age) from t group by native"
    asking = Asking.of(question, Policy.parse(SQUARED).askable)
    wanted = []
    for amount in asking.amounts:
        (label,) = asking.division.labels[amount.group]
        total = Fraction(0)
        for row, truth in enumerate(ROWS["native"]):
            known = [values[name][row] for name in amount.known]
            if str(truth).lower().replace("none", "missing") != label or None in known:
                continue
            one = 0 if amount.column is None else values[amount.column][row] - amount.centre
            two = 0 if amount.second is None else values[amount.second][row] - amount.second_centre
            total += 1 if amount.kind == "count" else one if amount.kind == "sum" else one * two - amount.shift
        wanted.append(total)
    assert len({amount.kind for amount in asking.amounts}) == 3
    assert asking.linear.truth(people, None) == wanted
    (part,) = asking.distinct.values()
    cells = part.cells.labels
    for label, found in zip(asking.division.labels, part.truth(people, None), strict=True):
        there = {
            int(age)
            for age, truth in zip(values["age"], ROWS["native"], strict=True)
            if age is not None and str(truth).lower().replace("none", "missing") == label[0]
        }
        assert found == len(there) <= len(cells)


def test_functions_and_public_tables_are_the_same(people):
    """What is computed from a value is computed here, for each cell; only cells come from an engine."""
    policy = Policy.parse(
        "format = 2\ncapacity = 1000000\nabsent = 1\n[columns]\n"
        'native = {type = "boolean", epsilon = 1, missing = "secret"}\n'
        'age = {type = "integer", bounds = [0, 120], outside = "clamp", epsilon = 1, missing = "secret"}\n'
        'born = {type = "date", bounds = [2024-01-01, 2024-03-31], outside = "clamp", epsilon = 1, missing = "secret"'
        "}\n"
    ).askable
    public = public_tables(
        {"r": {"k": [0, 17, 18, 64, 120], "n": [1, 2.5, None, 4, 5], "g": ["a", "b", "a", None, "c"]}}
    )
    questions = [
        "select r.g, count(*), sum(r.n), avg(r.n) from t left join r on t.age = r.k group by r.g",
        "select sum(t.age * r.n) from t join r on t.age = r.k where r.n > 1",
        "select month(born) as m, count(*), sum(2 * age + 1), count_if(native) from t group by m",
        "select floor(age / 10) * 10 as decade, count(*) from t where year(born) = 2024 group by decade",
    ]
    for question in questions:
        asking = Asking.of(question, policy, public=public)
        assert asking.linear is not None
        wanted = asking.linear.truth(arrow(), None)
        assert any(wanted)
        assert asking.linear.truth(people, None) == wanted, question


def test_postgres_types_of_its_own(postgres):
    """Padded text is its text without the padding, a number without bounds may be NaN, a real is its exact value."""
    extra = list(
        itertools.islice(itertools.cycle([("F", None, 0.5), ("FF", 1, 0.1), (None, None, None)]), len(ROWS["sex"]))
    )
    code, anything, small = (Counter(row[k] for row in extra) for k in range(3))
    people, missing = postgres.table("people"), {"missing": "missing"}
    found = histogram(people, Universe([CategoryCells("code", ["F", "F  ", "FF"], **missing)])).counts.tolist()
    assert found == [code["F"], 0, code["FF"], code[None]]
    found = histogram(people, Universe([NumberCells("anything", (0, 1), edges=["0.3"], **EXTRA)])).counts.tolist()
    assert found == [0, anything[1], code["F"], code[None]]  # NaN is outside
    for strict in (
        NumberCells("anything", (0, 1), outside="clamp", **missing),
        IntegerCells("anything", (0, 1), **EXTRA),
    ):
        with pytest.raises(ColumnError, match=r"NaN|not a whole number"):
            histogram(people, Universe([strict]))
    found = histogram(people, Universe([NumberCells("small", (0, 1), edges=["0.1", "0.5"], **missing)])).counts.tolist()
    assert found == [0, small[0.1], small[0.5], small[None]]  # the nearest real to 0.1 is above it


def test_a_connection_and_the_name_of_a_table(postgres):
    assert histogram("people", JOINT, engine=postgres).counts.tolist() == expected(JOINT)
    with pytest.raises(DataError, match="could not read the table"):
        histogram("nobody", JOINT, engine=postgres)


def test_only_counts_by_cell_leave_the_engine(postgres):
    """What PostgreSQL sends is a row for each cell that is not empty, of small integers."""
    import psycopg

    sent = []
    people = postgres.table("people")
    fetched = psycopg.Cursor.fetchall

    def watched(self):
        rows = fetched(self)
        sent.append(([column.name for column in self.description], rows))
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "fetchall", watched)
        for other in ("fetchone", "fetchmany", "__iter__", "stream", "copy"):
            patch.setattr(psycopg.Cursor, other, None)
        found = histogram(people, JOINT)
    ((names, rows),) = sent
    assert len(rows) == np.count_nonzero(found.counts)
    assert names == [*(f"c{k}" for k in range(len(JOINT.columns))), "records"]
    assert all(type(value) is int for row in rows for value in row)


def test_spark_reads_files_and_keeps_its_time_zone(spark, file, tmp_path):
    path = tmp_path / "people.parquet"
    shutil.copy(file, path)
    assert histogram(path, JOINT, engine="spark").counts.tolist() == expected(JOINT)
    assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York"
    assert not [view for view in spark.catalog.listTables() if view.isTemporary]
    source = tmp_path / "people.csv"
    source.write_text('age,sex\n17,F\n18,"M"\n,F\n', encoding="utf-8")
    universe = Universe([COLUMNS["age"], COLUMNS["sex"]])
    here, there = histogram(source, universe), histogram(source, universe, engine="spark")
    assert here == there
    assert here.records == 3
