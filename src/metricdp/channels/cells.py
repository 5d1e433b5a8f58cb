"""Labels and numbers as the cells of a table: text that reads back to the same value of the same type.

A cell is read as what it looks like: ``3`` is an integer, ``0.5`` a float, ``2/3`` a Fraction, ``2024-05-01`` a date
(with a time of day, a datetime), ``True``, ``False`` and ``None`` are what Python calls so, ``(0, 1)`` is a tuple,
``{a, b}`` a frozenset. Anything else is text, such as ``tea`` and, so that no zero is lost, ``007``. Text that looks
like something else stands in quotes: ``"3"``.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpz

from metricdp.errors import ArgumentError, DataError, KindError, NotFiniteError

__all__ = ["digits", "integer", "is_number", "label_text", "number_text", "read_label", "read_number"]

_LONG = 4000  # digits beyond which Python refuses, or is slow; flint does neither
_MOST_DECIMALS = 12

_NUMBER = re.compile(r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,5}))?", re.ASCII)
_RATIO = re.compile(r"([-+]?[0-9]+) ?/ ?([0-9]+)", re.ASCII)
_WORDS = {"True": True, "False": False, "None": None, "inf": math.inf, "-inf": -math.inf}


# Numbers


def integer(text: str) -> int:
    """The integer of decimal digits, however many."""
    return int(text) if len(text) <= _LONG else int(fmpz(text))


def digits(number: int) -> str:
    """The decimal digits of an integer, however many.

    >>> len(digits(3**20000)), integer(digits(3**20000)) == 3**20000
    (9543, True)
    """
    return str(fmpz(number)) if number.bit_length() > 3 * _LONG else str(number)


def is_number(text: str) -> bool:
    """Whether `read_number` can read it."""
    try:
        read_number(text)
    except DataError:
        return False
    return True


def read_number(text: str, row: int | None = None) -> Fraction:
    """The rational that a decimal, a fraction or scientific notation is, exactly.

    >>> read_number("0.1"), read_number("2/3"), read_number("1e-3")
    (Fraction(1, 10), Fraction(2, 3), Fraction(1, 1000))
    """
    text = text.strip()
    found = _RATIO.fullmatch(text)
    if found and integer(found[2]):
        return Fraction(integer(found[1]), integer(found[2]))
    found = _NUMBER.fullmatch(text)
    if found and (found[2] or found[3]):
        decimals = found[3] or ""
        whole = integer(found[2] + decimals) * (-1 if found[1] == "-" else 1)
        return whole * Fraction(10) ** (int(found[4] or 0) - len(decimals))
    if text.lower().lstrip("+-") in ("inf", "infinity", "nan"):
        raise NotFiniteError("NaN or infinity where a number belongs", row)
    what = "an empty cell" if not text else "a cell that is no number"
    raise KindError(f"{what}, where one such as 0.25, 2/3 or 1e-9 belongs", row)


def number_text(number: Fraction) -> str:
    """A rational as a short decimal where it is one, else as a fraction.

    >>> number_text(Fraction(1, 4)), number_text(Fraction(2, 3)), number_text(Fraction(1))
    ('0.25', '2/3', '1')
    """
    if number.denominator == 1:
        return digits(number.numerator)
    for places in range(1, _MOST_DECIMALS + 1):
        if 10**places % number.denominator == 0:
            shifted = str(abs(number.numerator) * (10**places // number.denominator)).zfill(places + 1)
            return f"{'-' if number < 0 else ''}{shifted[:-places]}.{shifted[-places:]}"
    return f"{digits(number.numerator)}/{digits(number.denominator)}"


# Labels


def label_text(label: Any) -> str:
    """A label as the text of a cell, from which `read_label` makes an equal one of the same type.

    >>> [label_text(label) for label in ("tea", "3", 3, 0.5, Fraction(2, 3), (0, "a"), None)]
    ['tea', '"3"', '3', '0.5', '2/3', '(0, a)', 'None']
    """
    kind = type(label)
    if kind is str:
        return label if _stands_for_itself(label) else json.dumps(label)
    if kind in (tuple, frozenset):
        parts = [_part_text(part) for part in label]
        if kind is frozenset:
            return f"{{{', '.join(sorted(parts))}}}"
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if kind is int:
        return digits(label)
    if kind is Fraction:
        return f"{digits(label.numerator)}/{digits(label.denominator)}"
    if label is None or kind in (bool, float):
        return repr(label)
    if kind in (datetime.date, datetime.datetime, datetime.time):
        return str(label.isoformat())
    raise ArgumentError(f"a label of type {kind.__name__} has no form in a file; text, numbers, dates and tuples have")


def read_label(text: str) -> Any:
    """The label that a cell stands for.

    >>> read_label("tea"), read_label("3"), read_label("007"), read_label("(0, (1, b))")
    ('tea', 3, '007', (0, (1, 'b')))
    """
    text = text.strip()
    if text[:1] in ("(", "{", '"', "'"):
        try:
            value, end = _parse(text, 0)
        except (_NoForm, RecursionError):
            return text
        return value if end == len(text) else text
    return _scalar(text)


class _NoForm(Exception):
    """The text is no tuple, set or quoted text after all."""


def _stands_for_itself(text: str) -> bool:
    read = read_label(text)
    return type(read) is str and read == text and text.isprintable() and text != ""


def _part_text(part: Any) -> str:
    text = label_text(part)
    return json.dumps(part) if text is part and re.search(r"""[,(){}"']""", text) else text


def _parse(text: str, start: int) -> tuple[Any, int]:
    """The label that begins at ``start``, and where it ends."""
    sign = text[start : start + 1]
    if sign in ("(", "{"):
        return _sequence(text, start)
    if sign == '"':
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            raise _NoForm from None
        return value, end
    found = re.compile(r"'([^'\\]*)'").match(text, start)
    if found:
        return found[1], found.end()
    found = re.compile(r"""[^,(){}"']+""").match(text, start)
    if not found or not found[0].strip():
        raise _NoForm
    return _scalar(found[0].strip()), found.end()


def _sequence(text: str, start: int) -> tuple[Any, int]:
    closing = ")" if text[start] == "(" else "}"
    parts: list[Any] = []
    commas, place = 0, _after_spaces(text, start + 1)
    while text[place : place + 1] != closing:
        if commas < len(parts):
            raise _NoForm
        part, place = _parse(text, place)
        parts.append(part)
        place = _after_spaces(text, place)
        if text[place : place + 1] == ",":
            commas, place = commas + 1, _after_spaces(text, place + 1)
    if closing == "}":
        return frozenset(parts), place + 1
    if len(parts) == 1 and not commas:  # brackets around one thing are no tuple
        raise _NoForm
    return tuple(parts), place + 1


def _after_spaces(text: str, place: int) -> int:
    while text[place : place + 1] == " ":
        place += 1
    return place


def _float(text: str) -> Any:
    value = float(text)
    return text if math.isinf(value) else value


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = tuple(
    (re.compile(pattern, re.ASCII), read)
    for pattern, read in (
        (r"0|-?[1-9][0-9]*", integer),
        (r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)", _float),
        (r"(0|-?[1-9][0-9]*)/[1-9][0-9]*", lambda text: Fraction(*map(integer, text.split("/")))),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", datetime.date.fromisoformat),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*", datetime.datetime.fromisoformat),
        (r"[0-9]{2}:[0-9]{2}:[0-9]{2}.*", datetime.time.fromisoformat),
    )
)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    for pattern, read in _FORMS:
        if pattern.fullmatch(text):
            try:
                return read(text)
            except ValueError:  # the 30th of February is text
                return text
    return text
