"""Metrics as TOML, as JSON and as Python: one tree of plain values, three ways to write it."""

from __future__ import annotations

import datetime
import inspect
import json
import tomllib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.exact.level import Level
from metricdp.exact.lists import as_a
from metricdp.metrics.algebra import add, maximum
from metricdp.metrics.amounts import code, plain
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.metric import Metric, operations
from metricdp.metrics.registry import METRICS

__all__ = ["from_tree", "in_code", "read_toml", "to_tree", "write_toml"]

# What is not made by a constructor of its name.
_METHODS: dict[str, Callable[..., Metric]] = {
    "scaled": lambda level, unit: unit * level,
    "sum": lambda terms: add(*terms),
    "maximum": lambda metrics: maximum(*metrics),
    "closure": lambda base, points: base.closure(points),
    "normalized": lambda base, ends: base.normalized(ends),
}

_POINTS = ("points", "nodes", "ends", "parents")  # arguments that are secrets, not amounts


def to_tree(metric: Metric) -> dict[str, Any]:
    """A metric as dicts, lists and plain values: its constructor's name under "metric", then the arguments."""
    arguments = metric.arguments.items()
    return {"metric": metric.kind} | {name: (_point if name in _POINTS else _plain)(value) for name, value in arguments}


def from_tree(tree: Mapping[str, Any]) -> Metric:
    """The metric that `to_tree` took apart."""
    constructor = _constructor(tree.get("metric"))
    arguments = {name: _built(value) for name, value in tree.items() if name != "metric"}
    try:
        inspect.signature(constructor).bind(**arguments)
    except TypeError as problem:
        raise ArgumentError(f"metric {tree['metric']!r}: {problem}") from None
    return constructor(**arguments)


def write_toml(metric: Metric) -> str:
    """See `Metric.to_toml`."""
    return "\n".join(_table(to_tree(metric), ())) + "\n"


def read_toml(text: str) -> Metric:
    """See `Metric.from_toml`."""
    try:
        return from_tree(tomllib.loads(as_a(str, text, "what metric.to_toml() gives")))
    except tomllib.TOMLDecodeError as problem:
        raise ArgumentError(f"this is not TOML: {problem}") from None


def in_code(value: Any) -> str:
    """A constructor's argument as Python."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{in_code(key)}: {in_code(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(in_code, value))}{',' if len(value) == 1 else ''})"
    return code(value)


def _constructor(kind: Any) -> Callable[..., Metric]:
    made = _METHODS.get(kind) if isinstance(kind, str) else None
    found = METRICS.find(kind) if made is None and isinstance(kind, str) else made
    if found is None:
        raise ArgumentError(f"a metric is one of: {', '.join(sorted([*METRICS, *_METHODS]))}")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Metric):
        return to_tree(value)
    if isinstance(value, Mapping):
        return _entries({_point(key): _plain(entry) for key, entry in value.items()})
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if not isinstance(value, (str, bool, int, float, Fraction, Level)):
        raise ArgumentError(f"a metric with a {type(value).__name__} in it has no form in TOML")
    return value if isinstance(value, (str, bool)) else plain(value)


def _point(value: Any) -> Any:
    """A secret, or several, as plain values; unlike amounts, numbers that are none in TOML cannot become text."""
    if isinstance(value, Mapping):
        return _entries({_point(key): _point(entry) for key, entry in value.items()})
    if isinstance(value, tuple):
        return tuple(_point(entry) for entry in value)
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        number = plain(value)
        if not isinstance(number, str):
            return number
    elif isinstance(value, (str, bool, datetime.date, datetime.time)):  # a datetime is a date
        return value
    raise ArgumentError(f"a point of type {type(value).__name__} has no TOML form")


def _entries(entries: dict[Any, Any]) -> Any:
    """A table, or pairs: a table's keys are text, and one named "metric" would be taken for a metric."""
    as_table = all(isinstance(key, str) for key in entries) and "metric" not in entries
    return entries if as_table else [[key, entry] for key, entry in entries.items()]


def _built(value: Any) -> Any:
    if isinstance(value, Mapping):
        if isinstance(value.get("metric"), str):
            return from_tree(value)
        return {key: _built(entry) for key, entry in value.items()}
    return frozen([_built(entry) for entry in value]) if isinstance(value, list) else value


def _table(tree: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """The lines of a table: its plain entries first, then the tables in it."""
    lines = [f"{_key(name)} = {_value(entry)}" for name, entry in tree.items() if not isinstance(entry, Mapping)]
    for name, entry in tree.items():
        if isinstance(entry, Mapping):
            inner = (*path, _key(name))
            body = _table(entry, inner)
            lines += body if body and not body[0] else ["", f"[{'.'.join(inner)}]", *body]
    return lines


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_value(entry)}' for name, entry in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else repr(value)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML escapes it, JSON does not


operations.in_code = in_code
operations.write_toml = write_toml
operations.read_toml = read_toml
