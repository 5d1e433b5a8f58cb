"""An engine of another package: one file and one line, and its tables are sanitized and asked."""

import sqlite3
import types

import pyarrow as pa
import pytest

from metricdp import extensions
from metricdp.errors import ArgumentError
from metricdp.policies import Policy
from metricdp.policies.cells.listed import BooleanCells
from metricdp.queries import Universe, histogram
from metricdp.sources import OpenTable, open_table
from metricdp.tables import sanitize

POLICY = 'format = 2\n[columns.smoker]\ntype = "boolean"\nepsilon = 9\n[rows]\norder = "public"\n'


class Sqlite:
    """Tables of SQLite, as a package outside would read them."""

    def owns(self, source):
        return isinstance(source, sqlite3.Connection)

    def open(self, source, declared):
        schema = pa.schema([("smoker", pa.bool_())])

        def read(columns):
            rows = source.execute("select smoker from people").fetchall()
            yield pa.record_batch([pa.array([bool(row[0]) for row in rows])], schema=schema)

        return OpenTable(schema, None, read)


@pytest.fixture
def registered(monkeypatch):
    def outside(group):
        found = {
            "sqlite": ("tests_outside:ENGINE", Sqlite()),
            "halfway": ("tests_outside:HALF", types.SimpleNamespace(owns=lambda source: False)),
        }
        module = types.SimpleNamespace(ENGINE=found["sqlite"][1], HALF=found["halfway"][1])
        monkeypatch.setitem(__import__("sys").modules, "tests_outside", module)
        if group != "metricdp.engines":
            return ()
        return tuple(extensions.Extension(name, where, "outside") for name, (where, _) in found.items())

    monkeypatch.setattr(extensions, "_outside", outside)


def test_its_tables_are_sanitized_and_asked(registered):
    people = sqlite3.connect(":memory:", check_same_thread=False)  # DuckDB reads batches in a thread of its own
    people.execute("create table people (smoker boolean)")
    people.executemany("insert into people values (?)", [(True,)] * 30 + [(False,)] * 10)
    released = sanitize(people, Policy.parse(POLICY), engine="sqlite").table
    assert released.num_rows == 40
    assert sum(released["smoker"].to_pylist()) in range(20, 40)
    counts = histogram(people, Universe([BooleanCells("smoker")]), engine="sqlite").counts
    assert counts.tolist() == [10, 30]
    people.close()


def test_an_engine_that_is_not_one_is_refused(registered):
    with pytest.raises(ArgumentError, match=r"'halfway' of the package outside .* it has no method open"):
        open_table("people", engine="halfway")
