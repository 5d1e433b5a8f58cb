"""A metric as it is written on a command line: ``ln 2 euclidean``, ``0.5 metric.toml``, ``distances.csv``."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, DataError, FileError, LevelError, MetricDPError
from metricdp.exact.level import Level
from metricdp.metrics.reading import is_level, split_level
from metricdp.metrics.registry import NAMED, named_metric

if TYPE_CHECKING:
    from metricdp.metrics import Guarantee, Metric

__all__ = ["read_guarantee", "read_metric", "split_metric"]


def read_metric(text: str) -> Metric:
    """The metric that was meant: perhaps a level, then a name, a .toml file with a metric, or a .csv of distances.

    A file of distances is laid out as that of a channel: with the labels of the points in the first row and column and
    an empty first cell, or without labels for the points 0, 1, 2, ... Entries are numbers, read exactly, or ``inf``.

    >>> print(read_metric("ln 2/200 great_circle"))
    ln 2/200·great-circle(m)
    """
    if is_level(text):
        raise ArgumentError(
            f"{text.strip()} is a level alone; the metric stands after it, as in '{text.strip()} euclidean'"
        )
    before, name = split_metric(text)
    metric = _unit(name)
    return metric if before is None else metric * Level.parse(before)


def read_guarantee(metric: str, epsilon: str | None, delta: str | None) -> Guarantee:
    """The promise that ``--metric``, ``--epsilon`` and ``--delta`` state together."""
    from metricdp.channels.cells import read_number
    from metricdp.metrics import Guarantee

    found = read_metric(metric)
    if epsilon is not None:
        if split_metric(metric)[0] is not None:
            raise ArgumentError(f"{metric!r} has its level already: leave out that level, or --epsilon")
        found = found * Level.parse(epsilon)
    try:
        share = read_number(delta or "0")
    except MetricDPError as error:
        raise LevelError(f"--delta: {error}") from None
    return Guarantee(found, share)


def split_metric(text: str) -> tuple[str | None, str]:
    """What stands before the metric, if anything does, and the metric's name or path."""
    return (None, text.strip()) if _is_file(text) else split_level(text)


def _unit(name: str) -> Metric:
    from metricdp import metrics

    named = named_metric(name)
    if named is not None:
        return named
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".csv"):
        names = list(NAMED)
        raise ArgumentError(
            f"{name!r} is no metric: write {', '.join(names[:-1])} or {names[-1]}, or a .toml or .csv file"
        )
    if not path.is_file():
        raise FileError(f"there is no file {name}")
    try:
        return metrics.Metric.from_toml(path.read_text(encoding="utf-8")) if suffix == ".toml" else _distances(path)
    except UnicodeDecodeError:
        raise FileError(f"{name} is not text in UTF-8") from None
    except MetricDPError as error:
        raise ArgumentError(f"{name}: {error}") from None


def _distances(path: Path) -> Metric:
    from metricdp.channels.cells import read_number
    from metricdp.channels.serialize import read_table
    from metricdp.errors import ColumnError
    from metricdp.metrics import matrix
    from metricdp.sources.channel_files import read_csv

    def entry(cell: str, column: Any, row: int) -> Fraction | float:
        if cell.lower() in ("inf", "infinity", "∞"):
            return math.inf
        try:
            return read_number(cell, row)
        except DataError as error:
            raise ColumnError(str(column), error) from None

    points, columns, rows = read_table(read_csv(path), "point", "a distance")
    if points != columns:
        raise ArgumentError("the rows and the columns of distances name the same points, in the same order")
    distances = [
        [entry(cell, column, row) for column, cell in zip(columns, cells, strict=True)]
        for row, cells in enumerate(rows)
    ]
    return matrix(points, distances)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
