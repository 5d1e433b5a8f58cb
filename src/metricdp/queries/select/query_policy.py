"""The policy for queries: what a record can be, how many there are, and how far apart two of them are."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from metricdp.errors import MetricDPError, PolicyError, UnknownCategoryError
from metricdp.exact.level import Level
from metricdp.metrics import Guarantee, Metric, attributes, capped, discrete, nullable, records
from metricdp.metrics.reading import read_level
from metricdp.queries.select.metric_words import metric_of_entry
from metricdp.queries.universes.columns import Column
from metricdp.queries.universes.universe_toml import universe_of

__all__ = ["QueryPolicy", "absent_at"]

FORMAT = 1
_TOP = ("format", "records", "capacity", "absent", "universe", "metric")


@dataclass(frozen=True)
class QueryPolicy:
    """What may be asked of a table, and what all answers to one question together may tell.

    Attributes:
        columns: each with its cells. Columns of the table that are not here cannot be asked about, and are not read.
        metrics: how far apart two values of each column are; two records are apart by the sum over the columns.
        records: how many there are, where that is public.
        capacity: the greatest number there can be, where the number is secret.
        absent: how far an absent record is from any other, where the number is secret.
        text: the policy as it was written.

    >>> policy = QueryPolicy.parse('''
    ... format = 1
    ... records = 1000
    ... [universe]
    ... native = "boolean"
    ... age = { type = "integer", bounds = [0, 120] }
    ... [metric]
    ... native = 0.5
    ... age = "ln 2/5 absolute"
    ... ''')
    >>> print(policy.guarantee(["age"]))
    ℓ₁(ln 2/5·|x − y| (age))-private
    """

    columns: tuple[Column, ...]
    metrics: tuple[Metric, ...]
    records: int | None
    capacity: int | None
    absent: Level | None
    text: str

    @classmethod
    def load(cls, path: str | Path) -> QueryPolicy:
        """Read a policy from a file; raises a PolicyError with every mistake that was found."""
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise PolicyError(["not text in UTF-8"]) from None

    @classmethod
    def parse(cls, text: str) -> QueryPolicy:
        """Read a policy from its text; raises a PolicyError with every mistake that was found."""
        try:
            tree = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError([f"not TOML: {error}"]) from None
        problems = [f"{key!r} is not known here; one of {', '.join(_TOP)}" for key in tree if key not in _TOP]
        if tree.get("format") != FORMAT or type(tree.get("format")) is not int:
            problems.append(f"format = {FORMAT} is wanted, the version this program reads")
        count, capacity, absent = _size(tree, problems)
        columns = _columns(tree.get("universe"), problems)
        metrics = _metrics(tree.get("metric"), columns, tree.get("universe"), problems)
        if problems:
            raise PolicyError(problems)
        return cls(tuple(columns), tuple(metrics[column.name] for column in columns), count, capacity, absent, text)

    @property
    def most(self) -> int:
        """The greatest number of records there can be."""
        most = self.records if self.capacity is None else self.capacity
        assert most is not None  # one of the two is there
        return most

    def column(self, name: str) -> Column:
        """The column of that name; capitals count only where it has none of exactly that name."""
        folded = {column.name.casefold(): column for column in self.columns}
        exact = {column.name: column for column in self.columns}
        found = exact.get(name) or folded.get(name.casefold())
        if found is None:
            raise UnknownCategoryError(f"the policy has no column {name!r}; it has {', '.join(exact)}")
        return found

    def metric(self, name: str) -> Metric:
        """How far apart two values of a column are."""
        return dict(zip((column.name for column in self.columns), self.metrics, strict=True))[name]

    def record_metric(self, names: Iterable[str]) -> Metric | None:
        """How far apart two records are that differ in these columns only; None where nothing tells them apart."""
        chosen = {name: self.metric(name) for name in names}
        metric = attributes(chosen) if chosen else None
        return metric if self.absent is None else absent_at(metric, self.absent)

    def guarantee(self, names: Iterable[str]) -> Guarantee | None:
        """What answers promise that depend on these columns only; None where they tell nothing secret."""
        metric = self.record_metric(names)
        return None if metric is None else Guarantee(records(metric))


def absent_at(metric: Metric | None, absent: Level) -> Metric:
    """The metric with absent records at that distance, by way of which all others come within twice of it.

    >>> from metricdp.metrics import absolute
    >>> print(absent_at(absolute(), Level.of(3)))
    min(|x − y|, 6) with ∅ at 3
    """
    if metric is None:  # all that is asked is whether a record is there
        return discrete() * absent
    return nullable(capped(metric, absent * 2), absent)


def _size(tree: Mapping[str, Any], problems: list[str]) -> tuple[int | None, int | None, Level | None]:
    count, capacity, written = tree.get("records"), tree.get("capacity"), tree.get("absent")
    for key, value in (("records", count), ("capacity", capacity)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 62):
            problems.append(f"{key} is a whole number of records, 1 or more")
            return None, None, None
    if (count is None) == (capacity is None):
        problems.append(
            "records = .. says how many records there are, where that is public; capacity = .. the most there can be, "
            "where it is not: one of the two"
        )
        return None, None, None
    if (capacity is None) != (written is None):
        problems.append("absent = .., how far an absent record is from any other, goes with capacity = ..")
        return count, capacity, None
    if written is None:
        return count, None, None
    try:
        level = read_level(written) if isinstance(written, str) else Level.of(written)
    except MetricDPError as error:
        problems.append(f"absent: {error}")
        return None, capacity, None
    return None, capacity, level


def _columns(tree: Any, problems: list[str]) -> list[Column]:
    """The columns, each for itself: only those that a question names make up a universe."""
    if not isinstance(tree, Mapping) or not tree:
        problems.append("no universe: write [universe.NAME] for each column")
        return []
    columns: list[Column] = []
    for name, entry in tree.items():
        try:
            columns += universe_of({name: entry}).columns
        except PolicyError as error:
            problems += error.problems
    folded = [column.name.casefold() for column in columns]
    twice = sorted({name for name in folded if folded.count(name) > 1})
    problems += [f"column {name!r} stands twice; capitals do not count" for name in twice]
    return columns


def _metrics(tree: Any, columns: list[Column], universe: Any, problems: list[str]) -> dict[str, Metric]:
    if not isinstance(tree, Mapping) or not tree:
        problems.append('no metric: write [metric] with NAME = 0.5 or NAME = "ln 2/5 absolute" for each column')
        return {}
    known = set(universe) if isinstance(universe, Mapping) else set()
    problems += [f"metric: {name!r} is no column of the universe" for name in tree if name not in known]
    metrics: dict[str, Metric] = {}
    for column in columns:
        if column.name not in tree:
            problems.append(f"column {column.name!r} has no metric: write [metric] {column.name} = 0.5, or another one")
            continue
        try:
            metrics[column.name] = metric_of_entry(tree[column.name])
            _check(column, metrics[column.name])
        except MetricDPError as error:
            problems.append(f"metric of {column.name!r}: {error}")
        except (ArithmeticError, TypeError, ValueError):
            problems.append(f"metric of {column.name!r}: it is not of the form that it needs")
    return metrics


def _check(column: Column, metric: Metric) -> None:
    """Whether the metric measures this column's values, and missing ones."""
    declared = column.declared
    try:
        metric.pairwise([declared[0]], [declared[-1]])
    except MetricDPError:
        raise PolicyError([f"{metric} does not measure values such as {column.declared_labels[0]}"]) from None
    if column.missing is None:
        return
    try:
        metric.pairwise([declared[0]], [None])
    except MetricDPError:
        raise PolicyError(
            [
                f"{metric} does not say how far a missing value is from others: write "
                "{ distance = .., missing = 10 }, as far as values that are 10 apart; or an ε"
            ]
        ) from None
