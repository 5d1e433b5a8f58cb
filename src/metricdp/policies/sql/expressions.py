"""What is computed from noisy answers, which costs nothing: arithmetic, rounding, comparisons."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

__all__ = ["Applied", "Asked", "Combined", "Constant", "Expression", "Kept", "Overall", "Shown"]

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": np.divide,
    "power": np.float_power,
    "least": np.minimum,
    "greatest": np.maximum,
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "and": np.logical_and,
    "or": np.logical_or,
}
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "ln": np.log,
    "floor": np.floor,
    "ceil": np.ceil,
    "not": np.logical_not,
}


class Expression(ABC):
    """A number, or whether something holds, of the noisy answers of a group."""

    @abstractmethod
    def of(self, answers: Sequence[Any]) -> Any:
        """What it comes to where these are the answers: numbers, or arrays of them; NaN where it is undefined."""

    @abstractmethod
    def asked(self) -> frozenset[int]:
        """The places of the answers that it depends on."""


@dataclass(frozen=True)
class Constant(Expression):
    """A number."""

    value: float

    def of(self, answers: Sequence[Any]) -> Any:
        """The number."""
        return self.value

    def asked(self) -> frozenset[int]:
        """None."""
        return frozenset()


@dataclass(frozen=True)
class Asked(Expression):
    """An answer, by its place among the aggregates."""

    place: int

    def of(self, answers: Sequence[Any]) -> Any:
        """The answer."""
        return answers[self.place]

    def asked(self) -> frozenset[int]:
        """Its own."""
        return frozenset({self.place})


@dataclass(frozen=True)
class Overall(Expression):
    """A total of groups, which stands after the answers of a group, the last total first; see `Kept`."""

    place: int

    def of(self, answers: Sequence[Any]) -> Any:
        """The total."""
        return answers[-1 - self.place]

    def asked(self) -> frozenset[int]:
        """Its own, from the end."""
        return frozenset({-1 - self.place})


@dataclass(frozen=True)
class Combined(Expression):
    """Two expressions with a sign between them."""

    sign: str
    left: Expression
    right: Expression

    def of(self, answers: Sequence[Any]) -> Any:
        """The sum, difference, product or quotient; or how they compare."""
        with np.errstate(all="ignore"):
            return _SIGNS[self.sign](self.left.of(answers), self.right.of(answers))

    def asked(self) -> frozenset[int]:
        """Those of both."""
        return self.left.asked() | self.right.asked()


@dataclass(frozen=True)
class Applied(Expression):
    """A function of one expression: rounded to ``places``, or what its name says."""

    name: Literal["round", "-", "abs", "sqrt", "exp", "ln", "floor", "ceil", "not"]
    inner: Expression
    places: int = 0

    def of(self, answers: Sequence[Any]) -> Any:
        """The value of the function."""
        inner = self.inner.of(answers)
        with np.errstate(all="ignore"):
            return np.round(inner, self.places) if self.name == "round" else _FUNCTIONS[self.name](inner)

    def asked(self) -> frozenset[int]:
        """Those of the expression."""
        return self.inner.asked()


@dataclass(frozen=True)
class Shown(Expression):
    """One column of the answers: its name, and what it shows.

    Attributes:
        name: what it is called.
        inner: what it is.

    >>> half = Combined("/", Asked(0), Constant(2.0))
    >>> Shown("half", half).of([5.0])
    np.float64(2.5)
    """

    name: str
    inner: Expression

    def of(self, answers: Sequence[Any]) -> Any:
        """What it comes to."""
        return self.inner.of(answers)

    def asked(self) -> frozenset[int]:
        """Those of the expression."""
        return self.inner.asked()


@dataclass(frozen=True)
class Kept:
    """Which groups are shown and in which order, judged by their noisy answers alone.

    Attributes:
        having: whether a group is shown; None for all.
        order: what groups are sorted by: an expression, or the place of a column of the groups; and whether downward.
        limit: how many are shown at most; None for all.
        offset: how many are passed over first.
        totals: whether the totals of groups that begin alike are shown, too.
        windows: of ``sum(count(*)) over (partition by x)`` the place of the answer that is added up, and of the columns
            of the groups by which: over all groups that ``having`` leaves, before any limit.
    """

    having: Expression | None = None
    order: tuple[tuple[Expression | int, bool], ...] = ()
    limit: int | None = None
    offset: int = 0
    totals: bool = False
    windows: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def left(self, answers: Sequence[Sequence[float]]) -> list[int]:
        """The places of the groups that ``having`` leaves."""
        return [k for k, row in enumerate(answers) if self.having is None or bool(self.having.of(row))]

    def places(self, labels: Sequence[tuple[str, ...]], answers: Sequence[Sequence[float]]) -> list[int]:
        """The places of the groups that are shown, in order.

        >>> Kept(order=((Asked(0), True),), limit=2).places([("a",), ("b",), ("c",)], [[1.0], [3.0], [2.0]])
        [1, 2]
        """
        found = self.left(answers)
        for key, downward in reversed(self.order):
            if isinstance(key, int):  # the cells of a column have the order of the policy, in which groups come
                ranks = {label: rank for rank, label in enumerate(dict.fromkeys(group[key] for group in labels))}
                keys: list[Any] = [ranks[group[key]] for group in labels]
            else:
                values = [float(key.of(row)) for row in answers]
                keys = [(bool(np.isnan(value)), value) for value in values]
            found.sort(key=keys.__getitem__, reverse=downward)
        return found[self.offset :][: self.limit]
