"""Distances between records: tuples of one length, compared position by position."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from flint import arb

from metricdp.errors import ArgumentError, ShapeError
from metricdp.exact.arrays import Floats
from metricdp.exact.level import LevelLike
from metricdp.metrics.amounts import Budget, Exact, budget, sum_of_budgets
from metricdp.metrics.coordinates import mapping, same_length, tuples
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.finite import discrete, individuals, unprotected
from metricdp.metrics.metric import Metric, as_metric
from metricdp.metrics.norms import COMBINE, Root, ball_norm, exact_norm, root_norm
from metricdp.metrics.nullable import nullable
from metricdp.visible import visible_name

__all__ = [
    "AddRemove",
    "Attributes",
    "Hamming",
    "Records",
    "add_remove",
    "attributes",
    "hamming",
    "records",
    "value_budgets",
]


@dataclass(frozen=True, repr=False)
class Positions(Metric):
    """A metric on records that combines one distance for each position."""

    sound: ClassVar[bool] = True

    @abstractmethod
    def _metrics(self, length: int) -> Sequence[Metric]:
        """The metric of each position."""

    def _read(self, points: Any) -> list[tuple[Any, ...]]:
        return tuples(points)

    def _norm(self) -> float:
        return 1

    @property
    def adds_up(self) -> bool:
        """Where the norm is 1."""
        return self._norm() == 1

    def _pairwise(self, points: Any, others: Any) -> Floats:
        left, right = self._read(points), self._read(others)
        same_length(left[0], right[0])
        combine, total = COMBINE[self._norm()], np.zeros((len(left), len(right)))
        columns = zip(zip(*left, strict=True), zip(*right, strict=True), strict=True)
        with np.errstate(over="ignore"):
            for metric, (column, other) in zip(self._metrics(len(left[0])), columns, strict=True):
                total = combine(total, metric.pairwise(column, other))
        return total

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        left, right = self._read(points), self._read(others)
        same_length(left[0], right[0])
        total = Enclosures.exact(np.zeros((len(left), len(right))))
        columns = zip(zip(*left, strict=True), zip(*right, strict=True), strict=True)
        for metric, (column, other) in zip(self._metrics(len(left[0])), columns, strict=True):
            total = total.combined(metric._enclosures(column, other), self._norm())
        return total

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        distances = [metric.exactly(a, b) for metric, a, b in self._by_position(x, y)]
        return exact_norm(distances, self._norm())

    def _irrational(self, x: Any, y: Any) -> arb:
        return ball_norm([metric.ball(a, b) for metric, a, b in self._by_position(x, y)], self._norm())

    def _exponential(self, x: Any, y: Any) -> Root | None:
        return root_norm([metric.exponential(a, b) for metric, a, b in self._by_position(x, y)], self._norm())

    def _by_position(self, x: Any, y: Any) -> list[tuple[Metric, Any, Any]]:
        (left,), (right,) = self._read([x]), self._read([y])
        same_length(left, right)
        return list(zip(self._metrics(len(left)), left, right, strict=True))


@dataclass(frozen=True, repr=False)
class Hamming(Positions):
    """See `hamming`."""

    kind: ClassVar[str] = "hamming"
    symbol: ClassVar[str] = "dₕ"
    typical: ClassVar[tuple[int, ...]] = (1, 2, 10)
    _unit_name: ClassVar[str | None] = "records"

    def _metrics(self, length: int) -> Sequence[Metric]:
        return [discrete()] * length


@dataclass(frozen=True, repr=False)
class AddRemove(Positions):
    """See `add_remove`."""

    kind: ClassVar[str] = "add_remove"
    symbol: ClassVar[str] = "dᵣ"
    typical: ClassVar[tuple[int, ...]] = (1, 2, 10)
    _unit_name: ClassVar[str | None] = "individuals"

    def _metrics(self, length: int) -> Sequence[Metric]:
        return [nullable(2 * discrete(), 1)] * length


@dataclass(frozen=True, repr=False)
class Records(Positions):
    """See `records`.

    Attributes:
        base: the distance at one position.
        p: the norm that combines them, 1, 2 or infinity.
    """

    base: Metric
    p: float
    kind: ClassVar[str] = "records"
    _keeps_geodesics: ClassVar[bool] = True

    @property
    def norm(self) -> float | None:
        """``p``, where a position holds a number."""
        return self.p if self.base.unit.on_line and not self.base.unit.moments else None

    def _metrics(self, length: int) -> Sequence[Metric]:
        return [self.base] * length

    def _norm(self) -> float:
        return self.p

    def _formula(self) -> str:
        return f"ℓ{'₁' if self.p == 1 else '₂' if self.p == 2 else '∞'}({self.base})"


@dataclass(frozen=True, repr=False)
class Attributes(Positions):
    """See `attributes`.

    Attributes:
        metrics: pairs of a name and the metric of that attribute.
    """

    metrics: tuple[tuple[str, Metric], ...]
    kind: ClassVar[str] = "attributes"
    _compound: ClassVar[bool] = True
    _keeps_geodesics: ClassVar[bool] = True
    _unit_name: ClassVar[str | None] = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, in order."""
        return tuple(name for name, _ in self.metrics)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """``names``."""
        return self.names

    @property
    def dimension(self) -> int:
        """How many attributes there are."""
        return len(self.metrics)

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics of the attributes."""
        return tuple(metric for _, metric in self.metrics)

    def _metrics(self, length: int) -> Sequence[Metric]:
        del length
        return self.parts

    @property
    def greatest(self) -> Budget:
        """The sum of the attributes' greatest distances."""
        return sum_of_budgets(metric.greatest for metric in self.parts)

    def _read(self, points: Any) -> list[tuple[Any, ...]]:
        rows = tuples(self._in_order(point, row) for row, point in enumerate(points))
        if len(rows[0]) != len(self.metrics):
            raise ShapeError(f"a record has the attributes {', '.join(map(str, self.names))}", 0)
        return rows

    def _in_order(self, point: Any, row: int) -> Any:
        if not isinstance(point, Mapping):
            return point
        if set(point) != set(self.names):
            raise ShapeError(f"a record has the attributes {', '.join(map(str, self.names))}", row)
        return tuple(point[name] for name in self.names)

    def _formula(self) -> str:
        return " + ".join(f"{metric.bracketed} ({visible_name(str(name))})" for name, metric in self.metrics)

    def _arguments(self) -> dict[str, Any]:
        return {"metrics": dict(self.metrics)}


def hamming() -> Hamming:
    """The number of positions at which two records differ: ``ε·hamming`` is differential privacy.

    References:
        Paper 1, Section 2.

    >>> hamming()(("ann", 3), ("ann", 4))
    1.0
    """
    return Hamming()


def add_remove() -> AddRemove:
    """The number of individuals to remove or add, one by one, to turn one database into the other.

    A database is a tuple with one value for each individual, None for the absent. To change a value is to remove it and
    to add the new one, so that d_h <= d_r <= 2 d_h: privacy for d_h gives privacy for d_r, not the reverse.

    References:
        Paper 1, Section 3.

    >>> add_remove()((5, None), (6, None)), add_remove()((5, None), (5, 7))
    (2.0, 1.0)
    """
    return AddRemove()


def records(base: Metric, p: float = 1) -> Records:
    """The distances of all positions together, by the norm ``p``: 1, 2 or infinity.

    >>> from metricdp.metrics import absolute
    >>> records(absolute(), p=2)((0, 0), (3, 4))
    5.0
    """
    norm = float(p)
    if norm not in COMBINE:
        raise ArgumentError(f"records are combined by the norm 1, 2 or infinity, not {p!r}")
    return Records(as_metric(base), norm)


def attributes(metrics: Mapping[str, Metric | LevelLike]) -> Attributes:
    """The sum of the attributes' distances, each with a metric of its own.

    Args:
        metrics: a metric for each attribute. A number ε stands for ``ε * discrete()``, and infinity for
            ``unprotected()``. Records are dicts with these names or tuples in this order.

    References:
        Paper 4, Section 1 and Section 5.

    >>> from metricdp.metrics import absolute
    >>> d = attributes({"age": absolute() / 10, "diagnosis": 0.5})
    >>> d({"age": 30, "diagnosis": "flu"}, {"age": 40, "diagnosis": "gout"})
    1.5
    """
    given = mapping(metrics, "attributes", '{"age": absolute() / 10, "diagnosis": 0.5}')
    named = tuple((name, _of_attribute(metric)) for name, metric in given.items())
    if not named:
        raise ArgumentError("a record has at least one attribute")
    return Attributes(named)


def value_budgets(
    budgets: Mapping[str, Mapping[Any, LevelLike]], form: Literal["sum", "minimum"] = "sum"
) -> Attributes:
    """The sum over attributes of (ε(x) + ε(y))·[x ≠ y], with a budget for every value: rare values need lower ones.

    Args:
        budgets: for each attribute, the ε of each of its values, which may be infinite.
        form: "minimum" for min(ε(x), ε(y)) in place of the sum, which is a metric exactly when, for each attribute, the
            second-largest budget is at most twice the smallest. For attributes of two values it always is.

    Raises:
        NotAMetricError: the minimum is no metric.

    References:
        Paper 4, Equation 3 and Section 5.

    >>> d = value_budgets({"native": {"yes": 0.1, "no": 1}, "age": {"<18": 1, "18+": 1}}, form="minimum")
    >>> d(("yes", "<18"), ("no", "18+"))
    1.1
    """
    named = mapping(budgets, "budgets", '{"age": {"<18": 0.5, "18+": 1}}')
    return attributes({name: individuals(values, form) for name, values in named.items()})


def _of_attribute(metric: Metric | LevelLike) -> Metric:
    if isinstance(metric, Metric):
        return metric
    epsilon = budget(metric)
    return unprotected() if epsilon == math.inf else discrete() * epsilon
