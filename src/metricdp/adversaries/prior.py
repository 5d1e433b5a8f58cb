"""Priors: what somebody believes of the secret before anything is released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import InputError, KindError, NotFiniteError, ShapeError, UnknownCategoryError
from metricdp.exact.refine import Floats
from metricdp.metrics.coordinates import distinct, label

__all__ = ["ROUNDING", "Prior", "Priors", "are_many", "as_prior", "float_prior", "float_priors", "float_shares"]

ROUNDING = 1e-6
"""How far from one the floats of a prior may sum; beyond it they are no probabilities, and refused."""

Priors = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""Many priors at once: an array of floats, one prior a row."""


@dataclass(frozen=True, repr=False)
class Prior:
    """A distribution over labelled secrets: secret x has the probability ``weights[x] / total``, exactly.

    Attributes:
        points: the secrets, each once.
        weights: an integer for each, in lowest terms.
        total: what they sum to.

    References:
        Paper 5, Section II.

    >>> prior = Prior("abc", (2, 4, 0), 6)
    >>> print(prior)
    a 1/3, b 2/3, c 0
    >>> prior.support, prior.probability("b")
    (('a', 'b'), Fraction(2, 3))
    """

    points: tuple[Any, ...]
    weights: tuple[int, ...]
    total: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", distinct(self.points, "secret"))
        weights = tuple(self.weights)
        if len(weights) != len(self.points):
            raise ShapeError(f"{len(self.points)} secrets and {len(weights)} weights: a prior has one for each")
        for row, weight in enumerate(weights):
            if type(weight) is not int:
                raise KindError(f"secret {self.points[row]!r}: weights are integers", row)
            if weight < 0:
                raise InputError(f"secret {self.points[row]!r}: a negative probability", row)
        if sum(weights) != self.total or self.total <= 0:
            raise InputError("the weights of a prior sum to its total, and that is positive")
        common = math.gcd(*weights)
        object.__setattr__(self, "weights", tuple(weight // common for weight in weights))
        object.__setattr__(self, "total", self.total // common)

    @classmethod
    def uniform(cls, points: Iterable[Any]) -> Prior:
        """Every secret alike.

        >>> print(Prior.uniform("ab"))
        a 1/2, b 1/2
        """
        labels = tuple(points)
        return cls(labels, (1,) * len(labels), len(labels))

    @classmethod
    def point(cls, points: Iterable[Any], secret: Any) -> Prior:
        """All on one secret."""
        labels = distinct(points, "secret")
        return cls(labels, tuple(int(row == _row(labels, secret)) for row in range(len(labels))), 1)

    @classmethod
    def proportional(cls, points: Iterable[Any], amounts: Iterable[Any]) -> Prior:
        """Probabilities proportional to numbers that need not sum to one.

        >>> print(Prior.proportional("ab", [1, Fraction(1, 2)]))
        a 2/3, b 1/3
        """
        labels = distinct(points, "secret")
        exact = [_amount(value, row) for row, value in enumerate(amounts)]
        for row, value in enumerate(exact):
            if value < 0:
                raise InputError("a negative probability", row)
        if not any(exact):
            raise InputError("a prior needs a secret of positive probability")
        return cls(labels, *_over_common_total(exact))

    @classmethod
    def _over(cls, points: tuple[Any, ...], weights: Iterable[int]) -> Prior:
        """Over labels that were checked before, with weights that are not negative, one of them positive."""
        listed = tuple(weights)
        common = math.gcd(*listed)
        prior = object.__new__(cls)
        object.__setattr__(prior, "points", points)
        object.__setattr__(prior, "weights", tuple(weight // common for weight in listed))
        object.__setattr__(prior, "total", sum(listed) // common)
        return prior

    @property
    def fractions(self) -> list[Fraction]:
        """The probabilities in the order of the points."""
        return [Fraction(weight, self.total) for weight in self.weights]

    @cached_property
    def floats(self) -> Floats:
        """The probabilities as floats, each the nearest; a view that cannot be written to."""
        view = np.array([weight / self.total for weight in self.weights], dtype=np.float64)
        view.setflags(write=False)
        return view

    @property
    def support(self) -> tuple[Any, ...]:
        """The secrets of positive probability."""
        return tuple(point for point, weight in zip(self.points, self.weights, strict=True) if weight)

    def probability(self, point: Any) -> Fraction:
        """The probability of one secret."""
        return Fraction(self.weights[_row(self.points, point)], self.total)

    def conditioned(self, points: Iterable[Any]) -> Prior:
        """The prior of somebody who also knows that the secret is among ``points``: zero elsewhere.

        Raises:
            InputError: none of them has a positive probability.

        >>> print(Prior.uniform("abc").conditioned("ab"))
        a 1/2, b 1/2, c 0
        """
        rows = {_row(self.points, point) for point in points}
        weights = tuple(weight if row in rows else 0 for row, weight in enumerate(self.weights))
        if not any(weights):
            raise InputError("the prior gives these points no probability, so it cannot be conditioned on them")
        return Prior._over(self.points, weights)

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "weights": self.weights, "total": self.total}

    def __repr__(self) -> str:
        return f"Prior({len(self.points)} secrets, {len(self.support)} of them possible)"

    def __str__(self) -> str:
        return ", ".join(f"{point} {share}" for point, share in zip(self.points, self.fractions, strict=True))


PriorLike = Prior | str | Mapping[Any, Any] | Sequence[Any]


def as_prior(value: Any, points: Sequence[Any]) -> Prior:
    """The prior that was meant, over ``points`` in their order.

    It may be a `Prior`, "uniform", a mapping from labels to probabilities (labels left out have none), or a sequence of
    probabilities in the order of the points. Fractions, integers, decimals and text such as "2/3" are what they say and
    sum to exactly one. Floats are the rationals they are; a prior with floats may miss one by up to 1e-6, and is
    divided by its exact sum.

    Raises:
        ShapeError: not as many probabilities as points.
        UnknownCategoryError: a label that is none of the points.
        InputError: a negative probability, or a sum other than one.

    >>> as_prior({"tea": "2/3", "water": "1/3"}, ("tea", "coffee", "water")).weights
    (2, 0, 1)
    """
    if isinstance(value, str):
        _known_name(value)
        return Prior.uniform(points)
    if isinstance(value, Prior):
        return value if value.points == tuple(points) else _reordered(value, points)
    labels = distinct(points, "secret")
    if isinstance(value, Mapping):
        listed: list[Any] = [0] * len(labels)
        places = {label(point): row for row, point in enumerate(labels)}
        for name, probability in value.items():
            row = places.get(label(name))
            if row is None:
                raise UnknownCategoryError(f"the prior names {name!r}, which is not among the secrets")
            listed[row] = probability
    else:
        listed = _listed(value)
        if len(listed) != len(labels):
            raise ShapeError(f"a prior of {len(listed)} probabilities for {len(labels)} secrets: give one for each")
    exact = [_amount(probability, row) for row, probability in enumerate(listed)]
    for row, probability in enumerate(exact):
        if probability < 0:
            raise InputError(f"secret {labels[row]!r}: a negative probability in the prior", row)
    total = sum(exact, Fraction(0))
    rounded = any(isinstance(probability, (float, np.floating)) for probability in listed)
    if total != 1 and (not rounded or abs(total - 1) > ROUNDING):
        raise InputError(f"the prior sums to {float(total):.12g}, not to one")
    return Prior(labels, *_over_common_total(exact))


def float_prior(value: Any, points: Sequence[Any]) -> Floats:
    """The same as floats, without the detour through integers where floats were given; for the fast paths.

    >>> float_prior([0.25, 0.75], "ab").tolist()
    [0.25, 0.75]
    """
    shares, total = float_shares(value, points)
    return shares if total == 1 else shares / total


def float_shares(value: Any, points: Sequence[Any]) -> tuple[Floats, float]:
    """The same before the division: floats in proportion, and their sum, to divide a single result by instead.

    >>> shares, total = float_shares([0.25, 0.75], "ab")
    >>> shares.tolist(), total
    ([0.25, 0.75], 1.0)
    """
    whole = type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (len(points),)
    # The methods below do not go through a ufunc of numpy's, which takes longer than short sums do.
    if whole and value.item(value.argmin()) >= 0:  # no NaN, then; what is refused here gets its error further on
        total = float(value.dot(_ones(len(value))))
        if abs(total - 1) <= ROUNDING:
            return value, total
    if isinstance(value, str):
        _known_name(value)
        return _ones(len(points)), float(len(points))
    return as_prior(value, points).floats, 1.0


def are_many(prior: Any) -> TypeGuard[NDArray[Any]]:
    """Whether these are many priors, one a row of an array, rather than one."""
    return isinstance(prior, np.ndarray) and prior.ndim == 2


def float_priors(values: NDArray[Any], points: Sequence[Any]) -> tuple[Priors, Floats]:
    """Many priors at once, one a row: floats in proportion, and the sum of each row.

    Raises:
        InputError: a row is no distribution over the points; names the row.

    >>> shares, totals = float_priors(np.array([[0.25, 0.75], [1.0, 0.0]]), "ab")
    >>> shares.tolist(), totals.tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [1.0, 1.0])
    """
    if values.dtype.kind not in "fiu":
        raise KindError(f"many priors at once are an array of floats, one prior a row, not of {values.dtype}")
    if values.shape[1] != len(points):
        raise ShapeError(f"priors of {values.shape[1]} probabilities for {len(points)} secrets: give a column for each")
    rows: Priors = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        totals: Floats = rows.dot(_ones(len(points)))
    good = np.abs(totals - 1) <= ROUNDING
    if rows.size and not rows.item(rows.argmin()) >= 0:
        good &= (rows >= 0).all(axis=1)
    for row in np.flatnonzero(~good).tolist():
        try:
            as_prior(rows[row], points)
        except InputError as error:
            raise type(error)(error.rule, row) from None
    return rows, totals


@lru_cache(maxsize=64)
def _ones(length: int) -> Floats:
    ones = np.ones(length)
    ones.setflags(write=False)
    return ones


def _known_name(name: str) -> None:
    if name != "uniform":
        raise UnknownCategoryError(f"the only prior with a name is 'uniform', not {name!r}")


def _row(labels: tuple[Any, ...], point: Any) -> int:
    wanted = label(point)
    for row, known in enumerate(labels):
        if known == wanted:
            return row
    raise UnknownCategoryError(f"{point!r} is not among the secrets of the prior")


def _reordered(prior: Prior, points: Sequence[Any]) -> Prior:
    labels = distinct(points, "secret")
    known = {label(point): weight for point, weight in zip(prior.points, prior.weights, strict=True)}
    wanted = {label(point) for point in labels}
    for point, weight in zip(prior.points, prior.weights, strict=True):
        if weight and label(point) not in wanted:
            raise UnknownCategoryError(f"the prior gives {point!r} a probability, and it is not among the secrets")
    return Prior(labels, tuple(known.get(label(point), 0) for point in labels), prior.total)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise ShapeError(f"a prior is one row of probabilities, not of shape {value.shape}")
        return list(value.tolist())
    try:
        return list(value)
    except TypeError:
        raise KindError(
            f"a prior is 'uniform', a mapping, or a sequence of probabilities, not {type(value).__name__}"
        ) from None


def _amount(value: Any, row: int) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal, str)):
        raise KindError(f"a probability is a number, not {type(value).__name__}", row)
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise NotFiniteError("a probability is a finite number", row) from None


def _over_common_total(exact: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    common = math.lcm(*(value.denominator for value in exact))
    weights = tuple(value.numerator * (common // value.denominator) for value in exact)
    return weights, sum(weights)
