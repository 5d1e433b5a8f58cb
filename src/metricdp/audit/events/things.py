"""Releases that are no numbers: what they are made of, the text in them, and what stands for one to be counted.

Each function takes one release, so that the code of an event runs on it.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Failure
from metricdp.audit.boxes.samples import WrittenNumber
from metricdp.audit.events.machine import fields

__all__ = ["character", "form", "key", "message", "texts", "written_numbers"]

_MOST_PARTS = 16
_DEEPEST = 4
_LONGEST = 200
_LONGEST_END = 1 << 14
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_AS_THEY_ARE = (str, bytes, int, float, complex, type(None), dt.date, dt.time, dt.timedelta, Decimal, Fraction)


def key(z: Any) -> Any:
    """Something that can be counted and written down, in place of a release.

    >>> key(["a", {"b"}]), key({"a": 1}), key(float("nan"))
    (('a', frozenset({'b'})), "{'a': 1}", 'NaN')
    """
    if isinstance(z, (np.ndarray, np.generic)) and not isinstance(z, (np.datetime64, np.timedelta64)):
        z = z.tolist()
    if isinstance(z, float) and math.isnan(z):
        return "NaN"
    if isinstance(z, Failure):
        return z.words
    if isinstance(z, memoryview):
        return bytes(z)
    if isinstance(z, (set, frozenset)):
        return frozenset(map(key, z))
    if isinstance(z, (tuple, list)):
        return tuple(map(key, z))
    if type(z) in _AS_THEY_ARE or type(z) is bool:
        return z
    if not _says_itself(z) and (parts := fields(z)):
        return (type(z).__name__, *map(key, parts.items()))
    return _said(z, repr)


def _says_itself(z: Any) -> bool:
    """Whether a thing has words of its own, and not only its type and its place in memory."""
    return any("__repr__" in vars(kind) or "__str__" in vars(kind) for kind in type(z).__mro__[:-1])


def _said(z: Any, how: Callable[[Any], str]) -> str:
    try:
        return how(z)
    except Exception as error:  # somebody's own class, which may do anything
        return f"raises {type(error).__name__}"


def form(z: Any) -> str:
    """What a release is made of: types, keys in their order, names and types of columns.

    >>> form({"b": 1.5, "a": [1, "x"]}), form(np.zeros((2, 3)))
    ('{b: float, a: [int, str]}', 'float64 (2, 3)')
    """
    return _form(z, 0)[:_LONGEST]


def _form(z: Any, depth: int) -> str:
    if depth > _DEEPEST:
        return "..."
    if isinstance(z, Failure):
        return z.words
    if isinstance(z, np.ndarray):
        order = "" if z.ndim < 2 or z.flags.c_contiguous else ", by columns"
        mask = getattr(z, "mask", None)
        hidden = "" if mask is None else f", mask {np.asarray(mask).ravel()[:_MOST_PARTS].tolist()}"
        return f"{z.dtype} {z.shape}{order}{'' if z.flags.writeable else ', read-only'}{hidden}"
    if isinstance(z, Decimal):
        return f"Decimal with exponent {z.as_tuple().exponent}"
    if hasattr(type(z), "to_numpy") and hasattr(type(z), "columns"):
        return f"columns {_listed(zip(z.columns, z.dtypes, strict=True))}, rows {_rows(z)}"
    if hasattr(type(z), "to_numpy") and hasattr(z, "dtype"):
        return f"{getattr(z, 'name', None)!r}: {z.dtype}, rows {_rows(z)}"
    if isinstance(z, dict):
        return "{" + ", ".join(f"{k}: {_form(z[k], depth + 1)}" for k in list(z)[:_MOST_PARTS]) + "}"
    if isinstance(z, (tuple, list)):
        inside = ", ".join(_form(part, depth + 1) for part in z[:_MOST_PARTS])
        named = "" if type(z) in (tuple, list) else type(z).__name__
        return f"{named}({inside})" if isinstance(z, tuple) else f"{named}[{inside}]"
    if (parts := fields(z)) is not None:
        return f"{type(z).__name__} {_form(parts, depth + 1)}"
    return type(z).__name__


def _listed(pairs: Any) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in list(pairs)[:_MOST_PARTS])


def _rows(z: Any) -> str:
    """The labels of a few rows, where there are labels."""
    index = getattr(z, "index", None)
    return str(len(z)) if index is None or callable(index) else repr(index[:_MOST_PARTS].tolist())


def texts(z: Any) -> tuple[str, ...]:
    """All texts in a release, in their order; bytes are read as Latin-1.

    >>> texts(("a", 1.5, [b"b"])), texts("word")
    (('a', 'b'), ('word',))
    """
    found: list[str] = []
    _gather(z, found, 0)
    return tuple(found)


def _both_ends(text: str) -> str:
    """A text that is very long, without its middle: to read all of it for every event would take hours."""
    return text if len(text) <= 2 * _LONGEST_END else text[:_LONGEST_END] + text[-_LONGEST_END:]


def _gather(z: Any, found: list[str], depth: int) -> None:
    if depth > _DEEPEST or len(found) >= _MOST_PARTS:
        return
    if isinstance(z, (str, WrittenNumber)):
        found.append(_both_ends(z.text if isinstance(z, WrittenNumber) else str(z)))
    elif isinstance(z, (bytes, bytearray, memoryview)):
        found.append(_both_ends(bytes(z).decode("latin-1")))
    elif isinstance(z, (np.ndarray, np.generic)):
        if z.dtype.kind in "USO":
            _gather(z.tolist(), found, depth)
    elif hasattr(type(z), "to_numpy"):
        _gather(z.to_numpy(), found, depth + 1)
    elif isinstance(z, dict):
        for part in z.values():
            _gather(part, found, depth + 1)
    elif isinstance(z, (tuple, list)):
        for part in z[: 4 * _MOST_PARTS]:
            _gather(part, found, depth + 1)
    elif not isinstance(z, (*_AS_THEY_ARE, Failure)):
        if _says_itself(z):
            found.append(_said(z, str))
        elif (parts := fields(z)) is not None:
            _gather(parts, found, depth + 1)


def character(z: Any, place: int) -> str | None:
    """A character of the texts in a release, one after the other; counted from the end where negative.

    >>> character("word", -1), character(("ab", "c"), 2), character("word", 9)
    ('d', 'c', None)
    """
    text = "".join(texts(z))
    return text[place] if -len(text) <= place < len(text) else None


def written_numbers(z: Any) -> tuple[float, ...]:
    """All numbers that are written in the texts of a release.

    >>> written_numbers("from 1.5 to -2e3 kg")
    (1.5, -2000.0)
    """
    return tuple(float(found) for text in texts(z) for found in _NUMBER.findall(text))


def message(z: Any) -> str | None:
    """What an error said instead of a release; None where there was a release."""
    return z.message if isinstance(z, Failure) else None
