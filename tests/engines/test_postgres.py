"""Tables of PostgreSQL by their address: sanitized, asked, and read in one snapshot; no password in an error."""

import datetime as dt
import shutil
import tempfile
import traceback
import warnings
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from metricdp.errors import ColumnError, DataError, FileError, PolicyError
from metricdp.policies import Policy
from metricdp.policies.cells.listed import CategoryCells
from metricdp.policies.cells.ordered import IntegerCells
from metricdp.queries import Universe, histogram
from metricdp.sources import DatabaseTable, count_rows, open_table
from metricdp.tables import sanitize, validate

pytestmark = pytest.mark.xdist_group("spark")

ROWS = [
    (
        1,
        "F  ",
        Decimal("10.50"),
        Decimal("1.25"),
        dt.date(2024, 1, 31),
        0.5,
        True,
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    ),
    (2, "M", Decimal("-3.00"), Decimal("7"), dt.date(2024, 2, 1), 1.5, False, dt.datetime(2024, 1, 2, tzinfo=dt.UTC)),
    (3, None, None, None, None, None, None, None),
]
POLICY = """
format = 2
[columns]
id = "keep"
day = "drop"
score = "drop"
native = "drop"
sent = "drop"
[columns.code]
type = "category"
values = ["F", "M"]
epsilon = 30
[columns.pay]
type = "number"
within = 0.0001
missing = "public"
[columns.amount]
type = "number"
within = 0.0001
missing = "public"
[rows]
order = "public"
"""


@pytest.fixture(scope="module")
def address():
    psycopg = pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a lock is kept
        pgserver = pytest.importorskip("pgserver")
    folder = Path(tempfile.mkdtemp(prefix="metricdp-postgres-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("create schema clinic")
            cursor.execute(
                "create table clinic.people (id bigint, code char(3), pay numeric(9,2), amount numeric, day date, "
                "score float8, native bool, sent timestamptz)"
            )
            cursor.executemany(f"insert into clinic.people values ({', '.join(['%s'] * 8)})", ROWS)
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def test_its_rows_are_read_in_types_that_it_declares(address):
    with open_table(DatabaseTable(address, "clinic.people")) as table:
        kinds = dict(zip(table.schema.names, table.schema.types, strict=True))
        assert kinds["pay"] == pa.decimal128(9, 2)
        assert kinds["sent"] == pa.timestamp("us", "UTC")
        assert (kinds["amount"], table.untyped.columns) == (pa.string(), {"amount"}), "it declares no places"
        first, second = ([row for batch in table.batches() for row in batch.to_pylist()] for _ in range(2))
        assert first == second
        assert [row["code"] for row in first] == ["F", "M", None], "padding is no part of a text"
        assert [row["pay"] for row in first] == [Decimal("10.50"), Decimal("-3.00"), None]
        assert first[0]["sent"] == dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    assert count_rows(f"{address}#clinic.people") == 3


def test_what_others_write_meanwhile_is_not_seen(address):
    import psycopg

    with psycopg.connect(address, autocommit=True) as other:
        other.execute("create table growing as select 1 as v")
        with open_table(f"{address}#growing") as table:
            assert sum(batch.num_rows for batch in table.batches()) == 1
            other.execute("insert into growing values (2)")
            assert sum(batch.num_rows for batch in table.batches()) == 1
        assert count_rows(f"{address}#growing") == 2


def test_it_is_sanitized(address):
    source = f"{address}#clinic.people"
    validate(source, Policy.parse(POLICY))
    released = sanitize(source, Policy.parse(POLICY)).table
    assert released.column_names == ["id", "code", "pay", "amount"]
    assert released["id"].to_pylist() == [1, 2, 3]
    assert released["code"].to_pylist()[:2] == ["F", "M"]
    assert released.schema.field("pay").type == pa.decimal128(9, 2)
    assert [round(float(v)) for v in released["amount"].to_pylist()[:2]] == [1, 7]
    by_person = POLICY.replace('id = "keep"\n', "") + '[person]\ncolumn = "id"\nrows = 1\nrelease = "rekey"\n'
    assert len(set(sanitize(source, Policy.parse(by_person)).table["id"].to_pylist())) == 3
    with pytest.raises(ColumnError, match="not one of the declared values") as caught:
        sanitize(source, Policy.parse(POLICY.replace('"F", ', '"X", ')))
    assert "F" not in str(caught.value)
    with pytest.raises(PolicyError, match="the policy does not name it"):
        sanitize(source, Policy.parse(POLICY.replace('day = "drop"\n', "")), dry_run=True)


def test_it_is_asked_by_its_address(address):
    universe = Universe([CategoryCells("code", ["F", "M"], missing="none"), IntegerCells("id", (1, 3))])
    found = histogram(DatabaseTable(address, "clinic.people"), universe)
    assert found.counts.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_errors_hold_no_password_and_no_value(address):
    for source, kind, rule in [
        ("postgresql://ann:TOPSECRET@127.0.0.1:1/base#people", FileError, "could not be reached"),
        (f"{address}#nobody", DataError, "could not read the table"),
    ]:
        with pytest.raises(kind, match=rule) as caught:
            open_table(source)
        assert "TOPSECRET" not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "TOPSECRET" not in repr(DatabaseTable("postgresql://ann:TOPSECRET@host/base", "people"))
