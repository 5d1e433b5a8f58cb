"""Arguments that are lists, or of one class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from metricdp.errors import ArgumentError

__all__ = ["as_a", "as_list"]

_Kind = TypeVar("_Kind")


def as_list(values: Iterable[Any], what: str, example: str = "") -> list[Any]:
    """The values as a list.

    Args:
        values: a list, or anything else that can be gone through.
        what: what the values are, for the error: "points".
        example: how such a list is written; empty where that is clear.

    Raises:
        ArgumentError: it cannot be gone through.

    >>> as_list("ab", "points")
    ['a', 'b']
    >>> as_list(3, "points", "[0, 1]")
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: a list of points is needed here, such as [0, 1], not int
    """
    if isinstance(values, Iterable) and getattr(values, "ndim", True):
        return list(values)
    such = f", such as {example}," if example else ","
    raise ArgumentError(f"a list of {what} is needed here{such} not {type(values).__name__}")


def as_a(kind: type[_Kind], value: Any, example: str) -> _Kind:
    """The value, where it is of the class.

    Args:
        kind: the class.
        value: what was given.
        example: how one is made.

    Raises:
        ArgumentError: it is of another.

    >>> as_a(str, 3, "'select count(*)'")
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: a str is wanted here, such as 'select count(*)', not int
    """
    if isinstance(value, kind):
        return value
    raise ArgumentError(f"a {kind.__name__} is wanted here, such as {example}, not {type(value).__name__}")
