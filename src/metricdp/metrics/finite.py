"""Distances between the values of a list: all alike, each with its own budget, or given one by one."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError, NotAMetricError, ShapeError, UnknownCategoryError
from metricdp.exact.arrays import Floats
from metricdp.exact.level import Level, LevelLike
from metricdp.exact.lists import as_list
from metricdp.metrics.amounts import Budget, Exact, budget, exact_ball, exact_value, matrix_entry
from metricdp.metrics.axioms import Violation, find_violation
from metricdp.metrics.coordinates import codes, frozen, label, mapping, to_floats
from metricdp.metrics.enclosures import Enclosures, amount_bounds
from metricdp.metrics.metric import Metric
from metricdp.metrics.norms import Root, exact_sum, root_norm

__all__ = ["Budgets", "Discrete", "Matrix", "Unprotected", "discrete", "individuals", "matrix", "unprotected"]


@dataclass(frozen=True, repr=False)
class Discrete(Metric):
    """See `discrete`."""

    kind: ClassVar[str] = "discrete"
    symbol: ClassVar[str] = "[x ≠ y]"
    typical: ClassVar[tuple[int, ...]] = (1,)
    sound: ClassVar[bool] = True

    @property
    def all_alike(self) -> bool:
        """They are."""
        return True

    @property
    def grows(self) -> bool:
        """It is constant where two numbers differ."""
        return True

    @property
    def concave(self) -> bool:
        """It is constant where two numbers differ."""
        return True

    @property
    def pair_words(self) -> str:
        """Any two."""
        return "between any two values"

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return different(points, others).astype(np.float64)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return Enclosures.exact(self._pairwise(points, others))

    def _exactly(self, x: Any, y: Any) -> Exact:
        return Fraction(int(label(x) != label(y)))

    @property
    def greatest(self) -> Budget:
        """One."""
        return Level(Fraction(1))


@dataclass(frozen=True, repr=False)
class Unprotected(Metric):
    """See `unprotected`."""

    kind: ClassVar[str] = "unprotected"
    symbol: ClassVar[str] = "∞·[x ≠ y]"
    sound: ClassVar[bool] = True

    @property
    def all_alike(self) -> bool:
        """They are: infinitely far apart."""
        return True

    @property
    def grows(self) -> bool:
        """It is constant where two numbers differ."""
        return True

    @property
    def concave(self) -> bool:
        """It is constant where two numbers differ."""
        return True

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return np.where(different(points, others), math.inf, 0.0)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return Enclosures.exact(self._pairwise(points, others))

    def _exactly(self, x: Any, y: Any) -> Exact:
        return math.inf if label(x) != label(y) else Fraction(0)


@dataclass(frozen=True, repr=False)
class Listed(Metric):
    """A metric on the values of a list; any other value is refused."""

    @property
    @abstractmethod
    def listed(self) -> Sequence[Any]:
        """The values, in order."""

    @property
    def listed_values(self) -> tuple[Any, ...]:
        """The values, in order."""
        return tuple(self.listed)

    @cached_property
    def _places(self) -> dict[Any, int]:
        places = {label(value, row): row for row, value in enumerate(self.listed)}
        if len(places) < len(self.listed):
            raise ArgumentError("a value is listed twice")
        return places

    def _place(self, point: Any, row: int | None = None) -> int:
        place = self._places.get(label(point, row))  # an error of the look-up would carry the value with it
        if place is None:
            raise UnknownCategoryError("the value is not in the declared list", row)
        return place

    def _read(self, points: Any) -> list[int]:
        places = [self._place(point, row) for row, point in enumerate(points)]
        if not places:
            raise ShapeError("there are no points")
        return places

    def _pairwise(self, points: Any, others: Any) -> Floats:
        return self._between(self._read(points), self._read(others))

    @abstractmethod
    def _between(self, left: list[int], right: list[int]) -> Floats:
        """The distances between values at these places."""

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        return self._enclosed_between(self._read(points), self._read(others))

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        """The distances between values at these places, enclosed."""
        return Enclosures.unknown((len(left), len(right)))


@dataclass(frozen=True, repr=False)
class Budgets(Listed):
    """See `individuals` and `metricdp.metrics.value_budgets`.

    Attributes:
        budgets: pairs of a value and its ε(value).
        form: "sum" for (ε(x) + ε(y))·[x ≠ y], "minimum" for min(ε(x), ε(y))·[x ≠ y].
    """

    budgets: tuple[tuple[Any, Budget], ...]
    form: Literal["sum", "minimum"] = "sum"
    kind: ClassVar[str] = "individuals"
    sound: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.budgets:
            raise ArgumentError("there are no budgets")
        _ = self._places  # refuses a value that is listed twice
        if self.form == "minimum":
            self._refuse_unless_metric()

    def _refuse_unless_metric(self) -> None:
        """Raise unless the second-largest budget is at most twice the smallest.

        min(a, c) <= min(a, b) + min(b, c) can only fail where b is below both a and c, and then says min(a, c) <= 2b.
        It is hardest for the smallest b and the two largest others.
        """
        ordered = sorted(self.budgets, key=lambda pair: (pair[1] == math.inf, pair[1]))
        (low, smallest), (middle, second) = ordered[0], ordered[-2:][0]
        if smallest != math.inf and (second == math.inf or second > smallest * 2):
            amounts = float(second), float(smallest), float(smallest)
            broken = Violation("triangle", (middle, low, ordered[-1][0]), amounts)
            raise NotAMetricError(f"{broken}; use form='sum', or a second-largest at most twice the least", broken)

    @property
    def listed(self) -> Sequence[Any]:
        """The values that have a budget."""
        return [value for value, _ in self.budgets]

    def _between(self, left: list[int], right: list[int]) -> Floats:
        floats = np.array([float(epsilon) for _, epsilon in self.budgets])
        combine = np.add if self.form == "sum" else np.minimum
        return np.where(np.not_equal.outer(left, right), combine.outer(floats[left], floats[right]), 0.0)

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        bounds = np.array([amount_bounds(epsilon) for _, epsilon in self.budgets])
        shape = (len(left), len(right))
        one, two = (
            Enclosures(np.broadcast_to(ends[..., 0], shape), np.broadcast_to(ends[..., 1], shape))
            for ends in (bounds[left][:, None], bounds[right][None, :])
        )
        apart, same = one + two if self.form == "sum" else one.minimum(two), np.equal.outer(left, right)
        return Enclosures(np.where(same, 0.0, apart.lower), np.where(same, 0.0, apart.upper))

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        left, right = self._place(x), self._place(y)
        if left == right:
            return Fraction(0)
        pair = [exact_value(self.budgets[place][1]) for place in (left, right)]
        if self.form == "sum":
            return exact_sum(pair)
        return None if None in pair else min(value for value in pair if value is not None)

    def _irrational(self, x: Any, y: Any) -> arb:
        one, two = (exact_ball(self.budgets[self._place(point)][1]) for point in (x, y))
        return one + two if self.form == "sum" else one.min(two)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        pair = [self.budgets[self._place(point)][1] for point in (x, y)]
        roots = [Root.of(epsilon) if isinstance(epsilon, Level) else None for epsilon in pair]
        if self.form == "sum":
            return root_norm(roots, 1)
        return None if roots[0] is None or roots[1] is None else min(roots[0], roots[1])

    def _formula(self) -> str:
        both = "(ε(x) + ε(y))" if self.form == "sum" else "min(ε(x), ε(y))"
        return f"{both}·[x ≠ y]"

    def _arguments(self) -> dict[str, Any]:
        return {"budgets": dict(self.budgets)} | ({} if self.form == "sum" else {"form": self.form})


@dataclass(frozen=True, repr=False)
class Matrix(Listed):
    """See `matrix`.

    Attributes:
        points: the secrets.
        distances: one row for each, of rationals and infinities.
    """

    points: tuple[Any, ...]
    distances: tuple[tuple[Exact, ...], ...]
    kind: ClassVar[str] = "matrix"
    symmetric: ClassVar[bool] = False

    @property
    def listed(self) -> Sequence[Any]:
        """The points."""
        return self.points

    @cached_property
    def proven(self) -> bool:
        """Whether no axiom is broken; searched once."""
        return find_violation(self, self.points) is None

    @cached_property
    def _floats(self) -> Floats:
        exact = np.empty((len(self.points), len(self.points)), dtype=object)
        exact[:] = self.distances
        return to_floats(exact)

    def _between(self, left: list[int], right: list[int]) -> Floats:
        return self._floats[np.ix_(left, right)]

    @cached_property
    def _bounds(self) -> Enclosures:
        bounds = np.array([[amount_bounds(distance) for distance in row] for row in self.distances])
        return Enclosures(bounds[..., 0], bounds[..., 1])

    def _enclosed_between(self, left: list[int], right: list[int]) -> Enclosures:
        return self._bounds[np.ix_(left, right)]

    def _exactly(self, x: Any, y: Any) -> Exact:
        return self.distances[self._place(x)][self._place(y)]

    def _formula(self) -> str:
        return f"D({len(self.points)} points)"

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | ({} if self.proven else {"check": False})


def discrete() -> Discrete:
    """The distance 1 between any two different values: ``ε·discrete`` is local differential privacy.

    >>> discrete()("tea", "coffee"), discrete()("tea", "tea")
    (1.0, 0.0)
    """
    return Discrete()


def unprotected() -> Unprotected:
    """The infinite distance between any two different values, which may be told apart freely.

    >>> unprotected()("tea", "coffee")
    inf
    """
    return Unprotected()


def individuals(budgets: Mapping[Any, LevelLike], form: Literal["sum", "minimum"] = "sum") -> Budgets:
    """The distance (ε(x) + ε(y))·[x ≠ y]: lower budgets for those who need more protection.

    Args:
        budgets: the ε of each individual, which may be infinite.
        form: "minimum" for min(ε(x), ε(y)) in place of the sum; refused where it is no metric.

    References:
        Paper 4, Section 5.

    >>> individuals({"ann": 0.1, "bob": 1, "eve": 2})("ann", "bob")
    1.1
    """
    if form not in ("sum", "minimum"):
        raise ArgumentError(f"the form of a budget is 'sum' or 'minimum', not {form!r}")
    given = mapping(budgets, "budgets", '{"ann": 0.1, "bob": 1}')
    return Budgets(tuple((frozen(value), budget(epsilon)) for value, epsilon in given.items()), form)


def matrix(points: Iterable[Any], distances: Any, *, check: bool = True) -> Matrix:
    """Distances given one by one, as exact numbers: ``distances[i][j]`` from ``points[i]`` to ``points[j]``.

    Floats are the rationals they are, so that distances computed in floats may break an axiom in the last digit. Then
    ``matrix(points, distances, check=False).closure(points)`` mends them.

    Raises:
        NotAMetricError: an axiom is broken, and ``check`` was not switched off; the error's ``violation`` says where.

    >>> matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])("a", "c")
    2.0
    """
    names = tuple(frozen(point) for point in as_list(points, "points"))
    given = distances.tolist() if isinstance(distances, np.ndarray) else distances
    rows = [as_list(row, "distances") for row in as_list(given, "rows of distances", "[[0, 1], [1, 0]]")]
    if not names or len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        raise ArgumentError("a distance matrix has one row and one column for each point")
    metric = Matrix(names, tuple(tuple(matrix_entry(value) for value in row) for row in rows))
    _ = metric._places  # refuses a point that is listed twice
    if check:
        broken = metric.violation(names)
        if broken is not None:
            advice = "; matrix(..., check=False).closure(points) mends it" if broken.mendable else ""
            raise NotAMetricError(f"{broken}{advice}", broken)
    return metric


def different(points: Any, others: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where values differ, for all pairs."""
    left, right = codes(points, others)
    if not left.size or not right.size:
        raise ShapeError("there are no points")
    return np.not_equal.outer(left, right)
