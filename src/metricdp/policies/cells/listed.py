"""Columns of a universe whose cells have no order: categories and booleans; and what every column has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from metricdp.errors import PolicyError
from metricdp.metrics.coordinates import frozen

__all__ = ["BooleanCells", "CategoryCells", "Cells"]


@dataclass(frozen=True)
class Cells(ABC):
    """A column cut into finitely many cells, which are declared and never taken from the data.

    Every column has its declared cells, in order; then, where it was asked for, a cell for values that lie outside of
    them, and one for missing values. Without such a cell, a value outside or a missing one is refused.

    Attributes:
        name: the column's name in the table.
        missing: what the cell for missing values is called. None: a missing value is refused.
        other: what the cell for values outside is called. None: a value outside is refused. If it has the name of
            another cell, it is that cell, which then is as far from others as the nearest of its values.
    """

    name: str
    missing: str | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise PolicyError(["a column has a name, which is text"])
        for key in ("missing", "other"):
            label = getattr(self, key)
            if label is not None and (not isinstance(label, str) or not label):
                raise self.refusal(f"{key} is the name of a cell, which is text")
        self._check()
        if len(set(self.labels)) < len(self.labels):
            raise self.refusal("two cells have one name")

    @property
    def mixes_missing(self) -> bool:
        """Whether missing values share their cell with others, so that nobody can tell them from those."""
        code = self.missing_code
        return code is not None and (code < len(self.declared) or code == self.other_code)

    @abstractmethod
    def _check(self) -> None:
        """Raise a PolicyError where the declaration cannot be."""

    @property
    @abstractmethod
    def csv_type(self) -> str:
        """What it is read as from a CSV file, whatever its values look like."""

    @property
    @abstractmethod
    def declared(self) -> tuple[Any, ...]:
        """The points of the declared cells, which are what a metric compares."""

    @property
    @abstractmethod
    def declared_labels(self) -> tuple[str, ...]:
        """What people call the declared cells."""

    @property
    def single(self) -> bool:
        """Whether each declared cell holds one value only."""
        return True

    @property
    def crowded(self) -> bool:
        """Whether there are too many values for a cell each, so that all are in one that questions may cut."""
        return False

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What people call the cells, all of them."""
        extra = dict.fromkeys(name for name in (self.other, self.missing) if name is not None)
        return (*self.declared_labels, *(name for name in extra if name not in self.declared_labels))

    @cached_property
    def points(self) -> tuple[Any, ...]:
        """What a metric compares, for all cells: None stands for missing, and a name for values outside."""
        extra = self.labels[len(self.declared) :]
        return (*self.declared, *(None if name == self.missing else name for name in extra))

    @cached_property
    def missing_code(self) -> int | None:
        """The place of the cell for missing values."""
        return None if self.missing is None else self.labels.index(self.missing)

    @cached_property
    def other_code(self) -> int | None:
        """The place of the cell for values outside."""
        return None if self.other is None else self.labels.index(self.other)

    def __len__(self) -> int:
        return len(self.labels)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}  # what is cached stays behind

    def refusal(self, problem: str) -> PolicyError:
        """The error for a mistake in this column's declaration."""
        return PolicyError([f"column {self.name!r}: {problem}"])


@dataclass(frozen=True)
class CategoryCells(Cells):
    """One cell for each value of a list of text or of integers.

    Text is compared byte by byte: capitals, accents and trailing spaces count, whatever the engine's collation.

    Attributes:
        values: the values.
        at: where each value is, for metrics on places; None where the metric compares the values themselves.

    >>> sex = CategoryCells("sex", ["F", "M"], other="other", missing="unknown")
    >>> sex.labels, sex.points
    (('F', 'M', 'other', 'unknown'), ('F', 'M', 'other', None))
    """

    values: tuple[Any, ...] = ()
    at: tuple[Any, ...] | None = None

    def __init__(
        self,
        name: str,
        values: Iterable[Any],
        *,
        missing: str | None = None,
        other: str | None = None,
        at: Mapping[Any, Any] | None = None,
    ) -> None:
        listed = tuple(values) if not isinstance(values, str) else ()
        places = None if at is None else tuple(frozen(at[value]) if value in at else None for value in listed)
        for key, value in {"name": name, "missing": missing, "other": other, "values": listed, "at": places}.items():
            object.__setattr__(self, key, value)
        if at is not None and (places is None or None in places or len(at) != len(listed)):
            raise self.refusal("at gives a place for each of the values, and for no other")
        self.__post_init__()

    @property
    def csv_type(self) -> str:
        """Text or integers, as the values are."""
        return "string" if isinstance(self.values[0], str) else "int64"

    def _check(self) -> None:
        if not self.values or {type(value) for value in self.values} not in ({str}, {int}):
            raise self.refusal("values = [..] lists what there can be, all text or all integers")
        if len(set(self.values)) < len(self.values):
            raise self.refusal("a value is listed twice")
        if isinstance(self.values[0], int) and max(map(abs, self.values)) >= 1 << 63:
            raise self.refusal("integers have 64 bits")
        if isinstance(self.values[0], int) and self.missing in self.declared_labels:
            raise self.refusal("missing has a name of its own: a missing value is no number, not even the one it names")
        if any(isinstance(value, str) and "\0" in value for value in self.values):
            raise self.refusal("a value holds the character NUL, which not every engine can")
        if self.at is not None and len(set(self.at)) < len(self.at):
            raise self.refusal("two values are at one place, so that no metric tells them apart: make them one")

    @property
    def declared(self) -> tuple[Any, ...]:
        """The values, or where they are."""
        return self.values if self.at is None else self.at

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """The values as text."""
        return tuple(map(str, self.values))


@dataclass(frozen=True)
class BooleanCells(Cells):
    """Two cells, false and true.

    >>> BooleanCells("native").labels
    ('false', 'true')
    """

    @property
    def csv_type(self) -> str:
        """Booleans."""
        return "bool"

    def _check(self) -> None:
        if self.other is not None:
            raise self.refusal("a boolean has no values outside false and true")

    @property
    def declared(self) -> tuple[Any, ...]:
        """False and True."""
        return (False, True)

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """The words of TOML."""
        return ("false", "true")
