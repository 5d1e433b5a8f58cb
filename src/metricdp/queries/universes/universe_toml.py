"""Universes as TOML: a table for each column, under ``[universe]``."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from metricdp.errors import MetricDPError, PolicyError
from metricdp.queries.universes.columns import Boolean, Category, Column
from metricdp.queries.universes.intervals import Date, Integer, Number
from metricdp.queries.universes.universe import Universe

__all__ = ["KINDS", "read_universe", "universe_of", "write_universe"]

KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Category, Boolean, Integer, Number, Date)}
"""What ``type`` may be."""


def read_universe(text: str) -> Universe:
    """The universe of a TOML document; see `Universe.from_toml`.

    >>> read_universe('''
    ... [universe]
    ... native = "boolean"
    ... age = { type = "integer", bounds = [0, 120], width = 40, outside = "clamp" }
    ...
    ... [universe.visit]
    ... type = "date"
    ... bounds = [2024-01-01, 2024-12-31]
    ... by = "month"
    ... missing = "never"
    ... ''')
    Universe(native: 2 cells, age: 4 cells, visit: 13 cells; 104 in all)
    """
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        raise PolicyError([f"not TOML: {problem}"]) from None
    problems = [f"{key!r} is not known here; one of capacity, universe" for key in tree if key not in _TOP]
    if problems:
        raise PolicyError(problems)
    return universe_of(tree.get("universe"), tree.get("capacity"))


_TOP = ("capacity", "universe")


def universe_of(tree: Any, capacity: int | None = None) -> Universe:
    """The universe of the ``[universe]`` table of a document; raises a PolicyError with every mistake."""
    if not isinstance(tree, Mapping) or not tree:
        raise PolicyError(["no universe: write [universe.NAME] for each column"])
    columns: list[Column] = []
    problems: list[str] = []
    for name, entry in tree.items():
        try:
            columns.append(_column(name, entry))
        except PolicyError as problem:
            problems += problem.problems
        except (MetricDPError, ArithmeticError, TypeError, ValueError):
            problems.append(f"column {name!r}: an entry is not of the form that it needs")
    if problems:
        raise PolicyError(problems)
    return Universe(columns, capacity)


def _column(name: str, entry: Any) -> Column:
    entry = {"type": entry} if isinstance(entry, str) else entry
    written = entry.get("type") if isinstance(entry, Mapping) else None
    kind = KINDS.get(written) if isinstance(written, str) else None
    if kind is None:
        raise PolicyError([f"column {name!r}: a type is wanted, one of {', '.join(KINDS)}"])
    arguments = {key: value for key, value in entry.items() if key != "type"}
    if kind is Category:
        arguments = _places(name, arguments)
    known = [key for key in inspect.signature(kind).parameters if key != "name"]
    unknown = [key for key in arguments if key not in known]
    if unknown:
        raise PolicyError([f"column {name!r}: {key!r} is not known here; one of {', '.join(known)}" for key in unknown])
    needed = {Category: ("values",), Boolean: ()}.get(kind, ("bounds",))
    if not set(needed) <= set(arguments):
        raise PolicyError([f"column {name!r}: {needed[0]} = [..] is wanted"])
    return kind(name, **arguments)


def _places(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Places by value, from which the list of values follows."""
    at = arguments.get("at")
    if at is None:
        return arguments
    if isinstance(at, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in at):
        at = dict(at)
    if not isinstance(at, dict):
        raise PolicyError([f"column {name!r}: at = {{value = place, ..}} is a table"])
    return {"values": list(at)} | arguments | {"at": {value: _floats(place) for value, place in at.items()}}


def _floats(place: Any) -> Any:
    """Coordinates are floats, as they are where a place is given in Python."""
    if isinstance(place, list):
        return tuple(_floats(part) for part in place)
    return float(place) if isinstance(place, Decimal) else place


def write_universe(universe: Universe) -> str:
    """See `Universe.to_toml`."""
    lines = [] if universe.capacity is None else [f"capacity = {universe.capacity}", ""]
    for column in universe.columns:
        lines.append(f"[universe.{_key(column.name)}]")
        lines += [f"{key} = {_value(entry)}" for key, entry in column.to_tree().items()]
        lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML escapes it, JSON does not
