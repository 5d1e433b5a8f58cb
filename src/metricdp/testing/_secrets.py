"""Secrets that would be recognised in a message, in rows and containers of every form."""

from __future__ import annotations

import itertools
import math
import numbers
import traceback
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import DataError, KindError, MetricDPError, NotFiniteError, ShapeError, UnknownCategoryError

__all__ = [
    "ROWS",
    "SECRET_NUMBER",
    "SECRET_TEXT",
    "TRACES",
    "as_array",
    "bad_secrets",
    "comparable",
    "is_null",
    "kind_of",
    "like_a_secret",
    "repeated",
    "telling",
    "traces",
]

ROWS = 64
SECRET_NUMBER = 123456 + 0.789
SECRET_TEXT = "-".join(("TOP", "SECRET"))
TRACES = ("123456.7", "123456,7", SECRET_TEXT)


def kind_of(secrets: list[Any]) -> str:
    """Number, date, label, point, set or record."""
    first = next(secret for secret in secrets if not is_null(secret))
    if isinstance(first, (numbers.Real, Decimal)):
        return "number"
    kinds = {list: "point", set: "set", frozenset: "set", tuple: "record", np.datetime64: "date"}
    return kinds.get(type(first), "label")


def is_null(secret: Any) -> bool:
    """None or NaN."""
    return secret is None or (isinstance(secret, float) and math.isnan(secret))


def repeated(secrets: list[Any], count: int = ROWS) -> list[Any]:
    """The secrets over and over, as a list."""
    return list(itertools.islice(itertools.cycle(secrets), count))


def as_array(rows: list[Any]) -> NDArray[Any]:
    """Rows as the array that a user would make of them."""
    return np.array(rows)


def comparable(rows: Any) -> list[Any]:
    """Rows as a list that can be compared, where one null equals another."""
    listed = rows.tolist() if hasattr(rows, "tolist") else list(rows)
    return [None if is_null(row) else row for row in listed]


def traces(error: BaseException) -> list[str]:
    """Where an error, or one behind it, holds a private value: its words, its arguments, or its traceback."""
    held = ["".join(traceback.format_exception(error))]
    chain: list[BaseException | None] = [error]
    while chain:
        link = chain.pop()
        if link is not None:
            held += [str(link), repr(link), repr(link.args), repr(vars(link))]
            chain += [link.__cause__, link.__context__]
    return [text for text in held if any(trace in text for trace in TRACES)]


def bad_secrets(kind: str, secrets: list[Any]) -> list[tuple[Any, type[DataError]]]:
    """Secrets of the wrong form, and the errors that say so."""
    nullable = any(is_null(secret) for secret in secrets)
    wrong: list[tuple[Any, type[DataError]]] = [
        (SECRET_TEXT, KindError),
        (True, KindError),
        (SECRET_NUMBER + 1j, KindError),
        ({}, KindError),
    ]
    missing: list[tuple[Any, type[DataError]]] = [] if nullable else [(None, KindError), (math.nan, NotFiniteError)]
    if kind == "number":
        infinite: list[tuple[Any, type[DataError]]] = [(math.inf, NotFiniteError), (-math.inf, NotFiniteError)]
        if not nullable:
            infinite += [(Decimal("inf"), NotFiniteError), (Decimal("nan"), NotFiniteError)]
        return [*wrong, *missing, *infinite, ([SECRET_NUMBER], DataError)]
    if kind == "date":
        return [*wrong, (None, KindError), (np.datetime64("NaT", "D"), NotFiniteError), (SECRET_NUMBER, KindError)]
    if kind == "point":
        rest = list(secrets[0][1:])
        infinity: tuple[Any, type[DataError]] = (math.inf, NotFiniteError)
        inside = [([bad, *rest], error) for bad, error in [*wrong, *missing, infinity]]
        return [*inside, ([*secrets[0], SECRET_NUMBER], ShapeError), ([[SECRET_NUMBER]] * len(secrets[0]), DataError)]
    if kind == "set":
        unknown = ({SECRET_TEXT}, UnknownCategoryError)
        return [unknown, (SECRET_TEXT, KindError), (None, KindError), (SECRET_NUMBER, KindError)]
    if kind == "record":
        return [((*secrets[0], SECRET_NUMBER), ShapeError), ((SECRET_NUMBER,), ShapeError)]
    return [(bad, UnknownCategoryError) for bad in (SECRET_TEXT, SECRET_NUMBER, None, {SECRET_TEXT}, (SECRET_TEXT,))]


def telling(secret: Any, mechanism: Any) -> Any:
    """A good secret that would be recognised in a message, where the mechanism takes such a one."""
    telling = SECRET_NUMBER if isinstance(secret, float) and not is_null(secret) else secret
    try:
        mechanism.release(telling)
    except MetricDPError:
        return secret
    return telling


def like_a_secret(released: Any, kind: str) -> bool:
    """Whether what was released for one secret has its form."""
    types: dict[str, tuple[type, ...]] = {
        "number": (int, float, type(None)),
        "point": (list,),
        "set": (set, frozenset),
        "record": (tuple,),
    }
    return isinstance(released, types.get(kind, (object,))) and not isinstance(released, (np.generic, np.ndarray))
