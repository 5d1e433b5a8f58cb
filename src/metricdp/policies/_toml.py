"""TOML as policies are written in it: names with quotes where they need them, and numbers as they are."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricdp.errors import ArgumentError

__all__ = ["key", "text", "value", "written"]


def written(tree: Mapping[str, Any]) -> str:
    """A policy that is given as a dict, as its file would hold it: a line for each key of a column."""
    lines = [f"{key(name)} = {value(entry)}" for name, entry in tree.items() if not isinstance(entry, Mapping)]
    for name, table in tree.items():
        if not isinstance(table, Mapping):
            continue
        lines += ["", f"[{key(name)}]"]
        lines += [f"{key(inner)} = {value(entry)}" for inner, entry in table.items() if not isinstance(entry, Mapping)]
        for inner, entry in table.items():
            if isinstance(entry, Mapping):
                lines += ["", f"[{key(name)}.{key(inner)}]"]
                lines += [f"{key(part)} = {value(part_value)}" for part, part_value in entry.items()]
    return "\n".join(lines) + "\n"


def value(entry: Any) -> str:
    """A value.

    >>> value({"a b": [1, 0.5, True, "x"]}), value(Fraction(1, 3))
    ('{"a b" = [1, 0.5, true, "x"]}', '"1/3"')
    """
    if isinstance(entry, Mapping):
        return f"{{{', '.join(f'{key(name)} = {value(part)}' for name, part in entry.items())}}}"
    if isinstance(entry, list | tuple):
        return f"[{', '.join(map(value, entry))}]"
    if isinstance(entry, bool):
        return str(entry).lower()
    if isinstance(entry, str):
        return text(entry)
    if isinstance(entry, int | float | Decimal):
        return str(entry).lower()
    if isinstance(entry, dt.date | dt.time):
        return entry.isoformat()
    if isinstance(entry, Fraction) or type(entry).__name__ == "Level":
        return text(str(entry))
    raise ArgumentError(f"a policy holds text, numbers, dates, lists and dicts, not {type(entry).__name__}")


def key(name: Any) -> str:
    r"""A name, in quotes where it needs them.

    >>> key("age"), key("größe"), key('a "b".c'), key("")
    ('age', '"größe"', '"a \\"b\\".c"', '""')
    """
    if not isinstance(name, str):
        raise ArgumentError(f"a name in a policy is text, not {type(name).__name__}")
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else text(name)


def text(words: str) -> str:
    r"""Text in quotes, on one line, with nothing in it that cannot be seen.

    >>> text("a\tb\u202e"), text("größe 𝒳")
    ('"a\\tb\\u202e"', '"größe 𝒳"')
    """
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in json.dumps(words, ensure_ascii=False))


def _escaped(sign: str) -> str:
    """TOML's own way to write a sign by its number; JSON has none for those beyond 16 bits."""
    return f"\\u{ord(sign):04x}" if ord(sign) < 1 << 16 else f"\\U{ord(sign):08x}"
