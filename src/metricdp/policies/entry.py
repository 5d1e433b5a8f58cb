"""What a policy says of one column: every key in it is used by its type, or is a mistake with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal, get_args

from metricdp.errors import ArgumentError
from metricdp.policies.quantities import quantity
from metricdp.policies.standard import Standard

__all__ = ["OPEN", "ColumnEntry", "Missing", "Mistake", "Outside", "Release"]

Missing = Literal["secret", "public", "refuse"]
Outside = Literal["refuse", "clamp"]
Release = Literal["noise", "keep", "drop"]

OPEN = "?"
"""What a draft writes where somebody has to decide."""

_ENDLESS = re.compile(r"[eE][-+]?[0-9]{4,}")
"""An exponent that no exact number should have: it would fill the memory."""

_NAMES = ("type", "columns", "values", "parents", "at", "metric")
"""Keys whose values hold names."""


class Mistake(ValueError):
    """Something in an entry that cannot be followed.

    Attributes:
        key: where it stands; empty for the entry as a whole.
        problem: what is wrong, and what to write instead.
    """

    def __init__(self, key: str, problem: str) -> None:
        self.key, self.problem = key, problem
        super().__init__(problem)


class ColumnEntry:
    """The entry of one column, as it was written.

    Attributes:
        name: what the policy calls the column.
        line: where the entry begins.
        columns: the columns of the table that it is about.
        standard: the level of all columns, where the policy says it in one line; None where each says its own.
    """

    def __init__(
        self,
        name: str,
        tree: Mapping[str, Any],
        line_of: Callable[[tuple[str, ...]], int],
        standard: Standard | None = None,
    ) -> None:
        self.name, self.standard = name, standard
        self.tree = tree
        self.line = line_of(())
        self.line_of = line_of
        self._taken: set[str] = set()
        self.columns = self._columns()

    def __contains__(self, key: str) -> bool:
        return key in self.tree

    def take(self, key: str, default: Any = None) -> Any:
        """The value of a key, which counts as used from now on."""
        self._taken.add(key)
        return self.tree.get(key, default)

    def untaken(self) -> list[str]:
        """The keys that nobody used."""
        return [key for key in self.tree if key not in self._taken]

    def endless(self) -> str | None:
        """A key whose number is too large or too small to be worked with; None where there is none."""
        return next((key for key in self.tree if key not in _NAMES and _ENDLESS.search(str(self.tree[key]))), None)

    def open_questions(self) -> list[tuple[str, ...]]:
        """Where the entry still has the question mark of a draft."""
        return list(_open(self.tree, ()))

    def one_of(self, key: str, allowed: tuple[str, ...]) -> Any:
        """One of a few words, the first of them where nothing is written."""
        value = self.take(key, allowed[0])
        if value not in allowed:
            raise Mistake(key, f"{key} is one of {', '.join(map(repr, allowed))}")
        return value

    def quantity(self, key: str, unit: str) -> Fraction | None:
        """A positive quantity such as ``"5 days"``, in a unit; None where nothing is written."""
        if key not in self:
            return None
        amount = self.amount(key, unit)
        if amount <= 0:
            raise Mistake(key, f"{key} is positive")
        return amount

    def amount(self, key: str, unit: str) -> Fraction:
        """A quantity that is written, whatever its sign."""
        try:
            return quantity(self.take(key), unit)
        except ArgumentError as error:
            raise Mistake(key, f"{key}: {error}") from None

    def release(self) -> Release:
        """What a sanitized table does with the column."""
        release: Release = self.one_of("release", get_args(Release))
        return release

    def missing(self, enumerable: bool) -> Missing:
        """What a missing value is; a secret one needs bounds or a list of values."""
        allowed = ("secret", "public", "refuse") if enumerable else ("refuse", "public")
        if self.tree.get("missing") == "secret" and not enumerable:
            raise Mistake(
                "missing",
                "a missing value can be secret only where the column has bounds or a list of values: declare them, or "
                'missing = "public" or "refuse"',
            )
        missing: Missing = self.one_of("missing", allowed)
        return missing

    def bounds(self, read: Callable[[Any], Fraction]) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest value there can be; None where nothing is written."""
        if "bounds" not in self:
            return None
        bounds = self.take("bounds")
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise Mistake("bounds", "bounds = [least, greatest]")
        try:
            lower, upper = (read(bound) for bound in bounds)
        except Mistake as mistake:
            raise Mistake("bounds", mistake.problem) from None
        if not lower < upper:
            raise Mistake("bounds", "bounds = [least, greatest], in that order")
        return lower, upper

    def outside(self, bounded: bool) -> Outside:
        """What is done with a value beyond the bounds."""
        if "outside" in self and not bounded:
            raise Mistake("outside", "outside goes with bounds")
        outside: Outside = self.one_of("outside", get_args(Outside))
        return outside

    def values(self, key: str = "values") -> tuple[Any, ...]:
        """A list of what there can be: text or integers."""
        values = self.take(key)
        if not isinstance(values, list) or len({type(value) for value in values}) != 1:
            raise Mistake(key, f"{key} = [..] lists what there can be, all text or all integers")
        if type(values[0]) not in (str, int):
            raise Mistake(key, f"{key} are text or integers")
        if len(set(values)) < len(values):
            raise Mistake(key, "a value is listed twice")
        if type(values[0]) is int and not all(-(2**63) <= value < 2**64 for value in values):
            raise Mistake(key, f"{key} are integers of 64 bits at most; write longer ones as text")
        return tuple(values)

    def _columns(self) -> tuple[str, ...]:
        if "columns" not in self.tree:
            return (self.name,)
        columns = self.take("columns")
        if not isinstance(columns, list) or not columns or not all(isinstance(column, str) for column in columns):
            raise Mistake("columns", "columns = [..] lists names of columns")
        return tuple(columns)


def _open(tree: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        return [found for key, value in tree.items() for found in _open(value, (*path, str(key)))]
    if isinstance(tree, list):
        return [path] if any(value == OPEN for value in tree) else []
    return [path] if isinstance(tree, str) and tree == OPEN else []
