"""A function of DuckDB that releases a column: ``select metricdp(salary, 'income') from staff``."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metricdp.errors import ArgumentError, KindError, NotFiniteError, PolicyError
from metricdp.integrations.in_place import InPlace, PolicyLike, required
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee
from metricdp.policies.policy import Policy

__all__ = ["register_duckdb"]

_TYPES = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("FLOAT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIME"),
    *("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
)
"""What values may be; each has a function of its own, so that a release has the type that its secret had."""

_ROUNDED = ("HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL")
"""What DuckDB would round before a function sees it: to floats, or to the digits that the function declares."""


def register_duckdb(
    connection: Any,
    policy: PolicyLike,
    ledger: Ledger | str | Path | None = None,
    account: str | None = None,
    *,
    name: str = "metricdp",
    who: str = "",
) -> None:
    """Give a connection the function ``metricdp(value, 'column')``, which releases values as a policy says.

    ``column`` is an entry of the policy. The result has the type of the value. It is declared to have side effects, so
    DuckDB calls it for every row: equal values get noise of their own. A place is given as
    ``metricdp({'lat': lat, 'lon': lon}, 'home')``, with the names of the policy's columns. Decimals and
    integers of 128 bits are refused, since DuckDB would round them before the function sees them: cast them yourself.

    With a ledger, every call is charged before its values are handed out. SQL does not say which rows are about one
    person, so each value is charged as a further release about the same record. ``metricdp(value, 'column', key)`` says
    it: ``key`` is the number of the record, or of the person, and what is charged is how often any one key has been
    released. Reading a table once costs then what a sanitized table of that column costs.

    Args:
        connection: of DuckDB, 1.4 or newer.
        policy: a Policy, the path of one, or a dict of what its file would hold.
        ledger: a `Ledger` or its address.
        account: which account of the ledger; the only one, where there is one.
        name: what the function is called.
        who: asks, for the record.

    Raises:
        PolicyError: the policy requires a ledger, or declares a person, and none was given.
        ArgumentError: DuckDB is too old.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> rules = {"format": 2, "columns": {"income": {"type": "number", "within": "1000 dollars"}}}
    >>> register_duckdb(connection, rules)
    >>> rows = connection.sql("select metricdp(30000.0::double, 'income') from range(1000)").fetchall()
    >>> len(set(rows)) > 900
    True
    """
    duckdb = required("duckdb", "duckdb", "tables")
    if not re.fullmatch(r"[A-Za-z_]\w{0,60}", name):
        raise ArgumentError(f"a function has a name of letters, digits and underscores, not {name!r}")
    if not isinstance(connection, duckdb.DuckDBPyConnection):
        raise ArgumentError(f"a DuckDB connection is wanted, such as duckdb.connect(), not {type(connection).__name__}")
    rules = Policy.of(policy)
    if rules.person is not None and ledger is None:
        raise PolicyError(["where one person has several rows, their values are counted by a ledger: give one"])
    private = InPlace.by_key(rules, ledger, account, who)
    calls = _Calls(private)
    places = [column for column in private.policy.columns if column.release == "noise" and len(column.columns) > 1]
    structs = dict.fromkeys(
        f"STRUCT({', '.join(f'{_quoted(part)} DOUBLE' for part in column.columns)})" for column in places
    )
    overloads, kinds = [], (*_TYPES, *structs)
    prefix = _free_prefix(connection, duckdb, name)
    for number, kind in enumerate(kinds):
        inner = f"{prefix}_{number}"
        connection.create_function(
            inner, calls.release, [kind, "VARCHAR", "VARCHAR"], kind, type="arrow", null_handling="special",
            exception_handling="default", side_effects=True,
        )  # fmt: skip
        overloads.append(f"(value {kind}, part) as {inner}(value, part, null::varchar)")
        overloads.append(f"(value {kind}, part, key) as {inner}(value, part, coalesce(key::varchar, ''))")
    known = {row[0] for row in connection.execute("select upper(type_name) from duckdb_types()").fetchall()}
    for kind in (kind for kind in _ROUNDED if kind in known):
        words = f"error('{name}: values of {kind} would be rounded on the way: cast them to BIGINT or DOUBLE')"
        overloads += [f"(value {kind}, part) as {words}", f"(value {kind}, part, key) as {words}"]
    try:
        connection.execute(f"create or replace temp macro {name}{', '.join(overloads)}")
    except duckdb.Error as error:
        raise ArgumentError(f"DuckDB 1.4 or newer is needed for functions of many types: {error}") from None


class _Calls:
    """All calls of one function: how often each key was released, and at what price.

    Args:
        private: the policy and its account.
    """

    def __init__(self, private: InPlace) -> None:
        self._private = private
        self._only: dict[str, InPlace] = {}
        self._seen: dict[str, Counter[str]] = defaultdict(Counter)
        self._most: Counter[str] = Counter()
        self._lock = threading.Lock()

    def release(self, values: Any, parts: Any, keys: Any) -> Any:
        """What DuckDB calls, with some rows at a time."""
        if not len(values):
            return values
        found = pc.unique(parts).to_pylist()
        if len(found) != 1 or found[0] is None:
            raise ArgumentError("the column's name is one text, the same for all rows: metricdp(salary, 'income')")
        with self._lock:
            return self._release(str(found[0]), values, keys)

    def _release(self, name: str, values: Any, keys: Any) -> Any:
        if name not in self._only:
            try:
                self._only[name] = self._private.only(name)
            except ArgumentError:  # without the name: it may be a value of a column that was given by mistake
                names = ", ".join(column.name for column in self._private.policy.columns if column.release == "noise")
                raise ArgumentError(
                    f"the policy releases no column of that name with noise; it does: {names or 'none'}. Write the "
                    "name in single quotes: metricdp(salary, 'income')"
                ) from None
        private = self._only[name]
        columns = private.policy.columns[0].columns
        array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if pa.types.is_struct(array.type):
            if array.null_count:
                raise NotFiniteError("a value is missing", int(pc.index(array.is_null(), True).as_py()))
            parts = array.flatten()
        elif len(columns) > 1:
            raise KindError(f"{name!r} is made of {', '.join(columns)}: give them as a struct with these names")
        else:
            parts = [array]
        counted, times = self._times(name, len(array), keys)
        price = private.price if times == 1 else Guarantee(private.price.metric * max(times, 1), _delta(private, times))
        table = pa.table(dict(zip(columns, parts, strict=True)))
        what = f"{len(array)} values of {name} by DuckDB"
        charging = private if times else InPlace(private.policy)  # what was paid for already
        released = charging.table(table, price, what)
        self._seen[name].update(counted)
        self._most[name] += times if counted else 0
        arrays = [column.combine_chunks() for column in released.columns]
        return arrays[0] if len(columns) == 1 else pa.StructArray.from_arrays(arrays, list(columns))

    def _times(self, name: str, rows: int, keys: Any) -> tuple[Counter[str], int]:
        """How often each key comes, and how many further releases of one record are to be charged."""
        if self._private.ledger is None:
            return Counter(), 0
        if keys.null_count == rows:
            return Counter(), rows
        counted: Counter[str] = Counter(keys.to_pylist())
        if "" in counted:
            raise NotFiniteError("a key is missing: it says which record or person a value belongs to")
        seen = self._seen[name]
        return counted, max(0, max(seen[key] + count for key, count in counted.items()) - self._most[name])


def _delta(private: InPlace, times: int) -> Fraction:
    return min(private.price.delta * times, Fraction(1))


def _free_prefix(connection: Any, duckdb: Any, name: str) -> str:
    """What the functions behind the name are called: other connections to a database, and cursors, see them too.

    Those that this connection had before are removed.
    """
    for number in itertools.count(1):
        prefix = f"_{name}_{number}"
        with contextlib.suppress(duckdb.Error):  # those that are not there, or another connection's
            for kind in itertools.count():
                connection.remove_function(f"{prefix}_{kind}")
        taken = "select count(*) from duckdb_functions() where function_name = ?"
        if not connection.execute(taken, [f"{prefix}_0"]).fetchone()[0]:
            return prefix
    raise AssertionError  # there is a free one


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
