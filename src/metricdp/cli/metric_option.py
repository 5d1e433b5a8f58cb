"""A metric as it is written on a command line: ``ln 2 euclidean``, ``0.5 metric.toml``, ``distances.csv``."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.errors import InputError, KindError, LevelError, MetricDPError

if TYPE_CHECKING:
    from metricdp.exact import Level
    from metricdp.metrics import Metric

__all__ = ["NAMES", "read_level", "read_metric", "split_level"]

NAMES = (
    "absolute",
    "euclidean",
    "manhattan",
    "chebyshev",
    "great_circle",
    "dates",
    "discrete",
    "hamming",
    "symmetric_difference",
)
"""Metrics that need no more than their name."""

_NUMBER = r"(?:[0-9]+\s?/\s?[0-9]+|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]{1,3})?|\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?)"
_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_LEVEL = re.compile(
    rf"""
    (?:(?P<before>-?{_NUMBER})\s*[*·]?\s*)?
    ln\s*(?:\(\s*(?P<inside>{_NUMBER})\s*\)|(?P<of>{_DECIMAL}))
    (?:\s*/\s*(?P<divisor>{_DECIMAL}))?
    | (?P<number>-?{_NUMBER})
    """,
    re.VERBOSE,
)


def read_level(text: str) -> Level:
    """The level in ``0.5``, ``1/2``, ``ln 2``, ``ln 2/200`` (the logarithm, divided), ``1/200 ln 2`` or ``ln(5/3)``.

    >>> from metricdp.exact import ln
    >>> read_level("ln 2/200") == ln(2) / 200, read_level("ln(5/3)") == ln(Fraction(5, 3))
    (True, True)

    Raises:
        LevelError: no level, or one that could be read in two ways, as ``ln 5/3`` could.
    """
    from metricdp.exact import Level, ln

    found = _LEVEL.fullmatch(text.strip())
    if found is None:
        raise LevelError(
            f"{text.strip()!r} is no level; write a number or a logarithm: 0.5, 1/2, ln 2, ln 2/200, ln(5/3)"
        )
    if found["number"] is not None:
        return Level.of(_number(found["number"]))
    divisor = _number(found["divisor"] or "1")
    if not divisor:
        raise LevelError("a level is not divided by 0")
    argument = _number(found["inside"] or found["of"])
    if found["of"] is not None and found["divisor"] is not None and argument > divisor:
        of, by = found["of"], found["divisor"]
        raise LevelError(f"'ln {of}/{by}' could be two things: write ln({of}/{by}), or ln({of})/{by}")
    return Level.of(ln(argument) * (_number(found["before"] or "1") / divisor))


def split_level(text: str) -> tuple[str | None, str]:
    """What stands before the metric, if anything does, and the metric's name or path.

    >>> split_level("ln 2/200 great_circle"), split_level("2 * euclidean"), split_level("hamming")
    (('ln 2/200', 'great_circle'), ('2', 'euclidean'), (None, 'hamming'))
    """
    text = text.strip()
    found = _LEVEL.match(text)
    if found is None or found.end() == len(text) or _is_file(text):
        return None, text
    rest = re.compile(r"\s*[*·]\s*|\s+").match(text, found.end())
    return (found[0], text[rest.end() :]) if rest else (None, text)


def read_metric(text: str) -> Metric:
    """The metric that was meant: perhaps a level, then a name, a .toml file with a metric, or a .csv of distances.

    A file of distances is laid out as that of a channel: with the labels of the points in the first row and column and
    an empty first cell, or without labels for the points 0, 1, 2, ... Entries are numbers, read exactly, or ``inf``.

    >>> print(read_metric("ln 2/200 great_circle"))
    ln 2/200·great-circle(m)
    """
    if _LEVEL.fullmatch(text.strip()):
        raise KindError(
            f"{text.strip()} is a level alone; the metric stands after it, as in '{text.strip()} euclidean'"
        )
    before, name = split_level(text)
    metric = _unit(name)
    return metric if before is None else metric * read_level(before)


def _unit(name: str) -> Metric:
    from metricdp import metrics

    plain = name.replace("-", "_").lower()
    if plain in NAMES:
        metric: Metric = getattr(metrics, plain)()
        return metric
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".csv"):
        raise KindError(f"{name!r} is no metric: write {', '.join(NAMES[:-1])} or {NAMES[-1]}, or a .toml or .csv file")
    if not path.is_file():
        raise InputError(f"there is no file {name}")
    try:
        return metrics.Metric.from_toml(path.read_text(encoding="utf-8")) if suffix == ".toml" else _distances(path)
    except UnicodeDecodeError:
        raise InputError(f"{name} is not text in UTF-8") from None
    except MetricDPError as error:
        raise InputError(f"{name}: {error}") from None


def _distances(path: Path) -> Metric:
    from metricdp.channels.cells import read_number
    from metricdp.channels.forms import read_table
    from metricdp.errors import ColumnError
    from metricdp.metrics import matrix
    from metricdp.tables.channel_files import read_csv

    def entry(cell: str, column: Any, row: int) -> Fraction | float:
        if cell.lower() in ("inf", "infinity", "∞"):
            return math.inf
        try:
            return read_number(cell, row)
        except InputError as error:
            raise ColumnError(str(column), error) from None

    points, columns, rows = read_table(read_csv(path), "point", "a distance")
    if points != columns:
        raise InputError("the rows and the columns of distances name the same points, in the same order")
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


def _number(text: str) -> Fraction:
    from metricdp.channels.cells import read_number

    try:
        number = read_number(text)
    except InputError:
        raise LevelError(f"{text!r} is no number: a level is not divided by 0") from None
    if number and not Fraction(1, 10**100) < abs(number) < 10**100:
        raise LevelError("a level lies between 1e-100 and 1e100")
    return number
