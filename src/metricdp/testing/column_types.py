"""The laws of a column type."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metricdp.audit import rows
from metricdp.errors import ArgumentError, DataError, MetricDPError, PolicyError
from metricdp.mechanisms.mechanism import is_mechanism
from metricdp.metrics import Guarantee
from metricdp.testing._evidence import near_pairs, no_evidence
from metricdp.testing._secrets import SECRET_NUMBER, SECRET_TEXT, traces
from metricdp.testing.checked import Broken, Checked, Law, require, run_laws

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.policies import ColumnType, Policy

__all__ = ["check_column_type"]

_NAME = "column"
_SAMPLES = 4000


def _seconds(value: Any) -> float:
    """Of a duration, or since midnight."""
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date.min, value) - dt.datetime.min
    return float(value.total_seconds())


_FORMS: tuple[Callable[[Any], Any], ...] = (
    lambda value: tuple(value) if isinstance(value, list) else value,
    frozenset,
    _seconds,
)


def check_column_type(
    column_type: type[ColumnType],
    entry: Mapping[str, Any],
    values: Sequence[Any] | pa.Array,
    *,
    only: Iterable[str] | None = None,
) -> Checked:
    """Check a type of columns by one entry of a policy, and some values of such a column.

    - registered: a policy finds it by its ``type_name``;
    - policy: the entry is read, and a key that the type does not know is refused with its line;
    - mechanism: there is one, with a guarantee no weaker than the column's metric, unless the entry keeps or drops it;
    - release: as many rows come back, in the type of the source, and the source is left alone;
    - noise: releases of the column give no evidence against its metric;
    - missing: a missing value is refused with its row, where it is neither public nor secret;
    - refusals: a column of another type is refused, and no value is shown;
    - report: a sanitized table's report says its level, its mechanism and its error;
    - questions: its cells are counted, where questions about it are answered.

    Args:
        column_type: the class.
        entry: what a policy says of such a column, without ``type``: ``{"within": 5}``.
        values: a few values that such a column holds, at least two; an Arrow array where its type matters.
        only: the names of the laws to check; all where it is not given.

    Raises:
        ConformanceError: a law is broken; it says which.

    >>> from metricdp.policies.types.integer import Integer
    >>> print(check_column_type(Integer, {"within": "5 years", "bounds": [0, 120]}, [3, 40, 41]))
    type 'integer' keeps 9 laws: registered, policy, mechanism, release, noise, missing, refusals, report, questions
    """
    import pyarrow as pa

    from metricdp.policies import ColumnType

    if not isinstance(column_type, type) or not issubclass(column_type, ColumnType):
        raise ArgumentError(
            "a subclass of metricdp.policies.ColumnType is wanted, such as policies.types.integer.Integer"
        )
    array = values if isinstance(values, pa.Array) else pa.array(values)
    if len(array) < 2:
        raise ArgumentError("at least two values are wanted, different from each other")
    suite = _Suite(column_type, dict(entry), array)
    laws: dict[str, Law] = {
        "registered": suite.registered,
        "policy": suite.policy,
        "mechanism": suite.mechanism,
        "release": suite.release,
        "noise": suite.noise,
        "missing": suite.missing,
        "refusals": suite.refusals,
        "report": suite.report,
        "questions": suite.questions,
    }
    return run_laws(suite, laws, only)


class _Suite:
    def __init__(self, column_type: type[ColumnType], entry: dict[str, Any], array: pa.Array) -> None:
        self.column_type, self.entry, self.array = column_type, entry, array

    def __repr__(self) -> str:
        return f"type {self.column_type.type_name!r}"

    def _read(self, **more: Any) -> Policy:
        from metricdp.policies import Policy

        written = {"type": self.column_type.type_name, **self.entry, **more}
        return Policy.of({"format": 2, "records": 100, "columns": {_NAME: written}})

    def _column(self, **more: Any) -> ColumnType:
        return self._read(**more).columns[0]

    def registered(self) -> None:
        from metricdp.policies.types import TYPES

        name = self.column_type.type_name
        require(
            TYPES.find(name) is self.column_type,
            f"no policy finds it by {name!r}: add an entry point in the group metricdp.column_types",
        )

    def policy(self) -> None:
        column = self._column()
        require(type(column) is self.column_type, f"the entry is read as a {type(column).__name__}")
        require(column.width == len(column.columns), f"it takes {column.width} columns, and read {len(column.columns)}")
        try:
            self._column(no_such_key=1)
        except PolicyError as error:
            require("no_such_key" in str(error), "the error for a key that it does not know does not name the key")
            require("line" in str(error), "the error for a key that it does not know names no line")
        else:
            require(False, "a key that it does not know is ignored")

    def mechanism(self) -> str | None:
        column = self._column()
        if column.mechanism is None:
            return "the entry keeps or drops the column"
        require(is_mechanism(column.mechanism), f"its mechanism is a {type(column.mechanism).__name__}")
        require(isinstance(column.mechanism.guarantee, Guarantee), "its mechanism has no guarantee")
        promised, metric = column.mechanism.guarantee.metric, column.metric
        if metric is None:
            raise Broken("it releases with noise, and has no metric")
        for (x, one), (y, other) in itertools.combinations(self._secrets(column), 2):
            try:
                kept = promised.enclose(one, other).lower <= metric.enclose(one, other).upper
            except (MetricDPError, TypeError, ValueError):  # the mechanism has other secrets, such as days counted
                continue
            require(kept, f"its mechanism promises less than the column's metric, for {x!r} and {y!r}")
        return None

    def release(self) -> None:
        column = self._column()
        require(column.accepts(self.array.type), f"it does not accept its own values, of type {self.array.type}")
        before = self.array.to_pylist()
        (released,) = column.apply([self.array], [self.array.type])
        require(len(released) == len(self.array), f"{len(self.array)} rows gave {len(released)}")
        require(released.type == self.array.type, f"a column of {self.array.type} gave {released.type}")
        require(self.array.to_pylist() == before, "the source was written to")
        (none,) = column.apply([self.array[:0]], [self.array.type])
        require(len(none) == 0 and none.type == self.array.type, "no rows gave some, or of another type")

    def noise(self) -> str | None:
        import pyarrow as pa

        column, arrow = self._column(), self.array.type
        if column.mechanism is None or column.metric is None:
            return "the entry keeps or drops the column"
        given = {secret: value for value, secret in self._secrets(column)}
        if not given:
            return f"{column.metric} measures something else than the values"

        def release(secrets: Any) -> list[Any]:
            listed = secrets.tolist() if hasattr(secrets, "tolist") else secrets
            values = [given[tuple(each) if isinstance(each, list) else each] for each in listed]
            return list(column.apply([pa.array(values, arrow)], [arrow])[0].to_pylist())

        claim = Guarantee(column.metric, column.mechanism.guarantee.delta)
        box = rows(release, name=repr(self), guarantee=claim)
        return no_evidence(box, near_pairs(column.metric, list(given)), _SAMPLES)

    def _secrets(self, column: ColumnType) -> list[tuple[Any, Any]]:
        """The values, each with the form of it that the column's metric measures; none where no form is known."""
        values = self.array.to_pylist() + ([None] if column.missing == "secret" else [])
        for form in _FORMS:
            try:
                secrets = [None if value is None else form(value) for value in values]
                column.metric.pairwise(secrets)  # type: ignore[union-attr]
                return list(zip(values, secrets, strict=True))
            except (MetricDPError, TypeError, ValueError, AttributeError):
                continue
        return []

    def missing(self) -> str | None:
        import pyarrow as pa

        column = self._column()
        with_null = pa.array([*self.array.to_pylist(), None], self.array.type)
        if column.missing != "refuse" or column.mechanism is None:
            (released,) = column.apply([with_null], [self.array.type])
            require(len(released) == len(with_null), "a missing value changes the number of rows")
            require(column.missing != "public" or not released[-1].is_valid, "a public missing value is gone")
            return None
        try:
            column.apply([with_null], [self.array.type])
        except DataError as error:
            require(error.row == len(self.array), f"the error names the row {error.row}, not {len(self.array)}")
            return None
        require(False, "a missing value was released, although it is to be refused")
        return None

    def refusals(self) -> None:
        import pyarrow as pa

        column = self._column()
        require(not column.accepts(pa.list_(pa.binary())), "it accepts lists of bytes")
        for secrets in (pa.array([SECRET_TEXT] * 2), pa.array([SECRET_NUMBER] * 2), pa.array([10**15 + 123456] * 2)):
            if not column.accepts(secrets.type):
                continue
            try:
                column.apply([secrets], [secrets.type])
            except DataError as error:
                require(not traces(error), f"an error shows a value: {error}")

    def report(self) -> str | None:
        import pyarrow as pa

        from metricdp.tables import sanitize

        policy = self._read()
        if policy.columns[0].mechanism is None:
            return "the entry keeps or drops the column"
        made = sanitize(pa.table({_NAME: self.array}), policy)
        require(made.table.num_rows == len(self.array), "a sanitized table has another number of rows")
        (column,) = made.report.columns
        for what, said in (("level", column.level), ("mechanism", column.mechanism), ("error", " ".join(column.error))):
            require(bool(said.strip()), f"the report does not say its {what}")
        return None

    def questions(self) -> str | None:
        try:
            cells = self._column().cells
        except PolicyError as error:
            return str(error)
        require(len(cells.labels) > 0, "its cells have no names")
        return None
