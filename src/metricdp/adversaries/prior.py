"""Priors: what somebody believes of the secret before anything is released."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.channels.cells import number_text
from metricdp.channels.drawn import random_shares
from metricdp.channels.serialize import label_document, read_label_document
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import distinct, label
from metricdp.visible import visible

__all__ = ["ROUNDING", "Prior", "as_prior", "check_name"]

_SHOWN, _PRINTED = 6, 40
_LARGEST_FRACTION = 10**7

ROUNDING = 1e-6
"""How far from one the floats of a prior may sum; beyond it they are no probabilities, and refused."""


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
        weights = tuple(as_list(self.weights, "weights"))
        if len(weights) != len(self.points):
            raise ArgumentError(f"{len(self.points)} secrets and {len(weights)} weights: a prior has one for each")
        for row, weight in enumerate(weights):
            if type(weight) is not int:
                raise ArgumentError(f"secret {self.points[row]!r}: weights are integers")
            if weight < 0:
                raise ArgumentError(f"secret {self.points[row]!r}: a negative probability")
        if sum(weights) != self.total or self.total <= 0:
            raise ArgumentError("the weights of a prior sum to its total, and that is positive")
        common = math.gcd(*weights)
        object.__setattr__(self, "weights", tuple(weight // common for weight in weights))
        object.__setattr__(self, "total", self.total // common)

    @classmethod
    def uniform(cls, points: Iterable[Any]) -> Prior:
        """Every secret alike.

        >>> print(Prior.uniform("ab"))
        a 1/2, b 1/2
        """
        labels = distinct(points, "secret")
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
        listed = list(amounts)
        if len(listed) != len(labels):
            raise ArgumentError(f"{len(listed)} amounts for {len(labels)} secrets: give one for each")
        exact = [_amount(value, name) for value, name in zip(listed, labels, strict=True)]
        if not any(exact):
            raise ArgumentError("a prior needs a secret of positive probability")
        return cls(labels, *_over_common_total(exact))

    @classmethod
    def random(cls, points: Iterable[Any]) -> Prior:
        """A prior uniform over all priors, up to 2^-30; to try things out. Within ``mdp.seeded(..)`` always the same.

        >>> len(Prior.random("abc"))
        3
        """
        labels = distinct(points, "secret")
        return cls._over(labels, random_shares(len(labels)))

    @classmethod
    def product(cls, *priors: Prior) -> Prior:
        """The prior over tuples of secrets that are independent, each with a prior of its own.

        >>> print(Prior.product(Prior("ab", (1, 2), 3), Prior.uniform([0, 1])))
        ('a', 0) 1/6, ('a', 1) 1/6, ('b', 0) 1/3, ('b', 1) 1/3
        """
        if not priors:
            raise ArgumentError("a product has at least one prior")
        for prior in priors:
            if not isinstance(prior, Prior):
                raise ArgumentError(
                    f"a product is of Priors, not {type(prior).__name__}: Prior.uniform(points) or "
                    "as_prior(probabilities, points) makes one"
                )
        points = tuple(itertools.product(*(prior.points for prior in priors)))
        weights = map(math.prod, itertools.product(*(prior.weights for prior in priors)))
        return cls._over(points, weights)

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
            ArgumentError: none of them has a positive probability.

        >>> print(Prior.uniform("abc").conditioned("ab"))
        a 1/2, b 1/2, c 0
        """
        rows = {_row(self.points, point) for point in points}
        weights = tuple(weight if row in rows else 0 for row, weight in enumerate(self.weights))
        if not any(weights):
            raise ArgumentError("the prior gives these points no probability, so it cannot be conditioned on them")
        return Prior._over(self.points, weights)

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "weights": self.weights, "total": self.total}

    def __len__(self) -> int:
        return len(self.points)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.floats, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        shown = [f"{point!r}: {_share(share)}" for point, share in zip(self.points, self.fractions, strict=True)]
        if len(shown) > _SHOWN:
            shown = [*shown[: _SHOWN - 1], f"... ({len(self.points)} secrets)"]
        return f"Prior({{{', '.join(shown)}}})"

    def __str__(self) -> str:
        shares = [
            f"{visible(str(point))} {_share(share)}" for point, share in zip(self.points, self.fractions, strict=True)
        ]
        if len(shares) > _PRINTED:
            shares = [*shares[: _PRINTED - 1], f"... ({len(self.points)} secrets, {len(self.support)} possible)"]
        return ", ".join(shares)

    def to_json(self) -> dict[str, Any]:
        """The prior as plain values for JSON: labels as in a channel's document, and probabilities as text."""
        return {
            "points": [label_document(point) for point in self.points],
            "probabilities": [number_text(share) for share in self.fractions],
        }

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Prior:
        """The prior that `to_json` wrote, checked.

        >>> prior = Prior("ab", (1, 2), 3)
        >>> Prior.from_json(prior.to_json()) == prior
        True
        """
        if not isinstance(document, Mapping) or not {"points", "probabilities"} <= set(document):
            raise ArgumentError("the document of a prior is an object with 'points' and 'probabilities'")
        return as_prior(list(document["probabilities"]), [read_label_document(point) for point in document["points"]])

    def _repr_html_(self) -> str:
        rows = list(zip(self.points, self.fractions, strict=True))
        largest = max(self.floats)
        lines = [
            f"<tr><td>{html.escape(visible(str(point)))}</td><td>{_share(share)}</td><td>"
            f'<div style="background:#4477aa;height:.8em;width:{100 * float(share) / largest:.1f}px"></div></td></tr>'
            for point, share in rows[:_PRINTED]
        ]
        rest = f"<p>and {len(rows) - _PRINTED} more</p>" if len(rows) > _PRINTED else ""
        return f"<table>{''.join(lines)}</table>{rest}"


PriorLike = Prior | str | Mapping[Any, Any] | Sequence[Any]


def as_prior(value: Any, points: Sequence[Any]) -> Prior:
    """The prior that was meant, over ``points`` in their order.

    It may be a `Prior`, "uniform", a mapping from labels to probabilities (labels left out have none), a Series with
    labels as its index, or a sequence of probabilities in the order of the points. Fractions, integers, decimals and
    text such as "2/3" are what they say and sum to exactly one. Floats are the rationals they are; a prior with floats
    may miss one by up to 1e-6, and is divided by its exact sum.

    Raises:
        ArgumentError: not as many probabilities as points, a label that is none of the points, a negative probability,
            or a sum other than one.

    >>> as_prior({"tea": "2/3", "water": "1/3"}, ("tea", "coffee", "water")).weights
    (2, 0, 1)
    """
    if isinstance(value, str):
        check_name(value)
        return Prior.uniform(points)
    if isinstance(value, Prior):
        return value if value.points == tuple(points) else _reordered(value, points)
    labels = distinct(points, "secret")
    if hasattr(value, "index") and hasattr(value, "to_dict"):
        if not getattr(value.index, "is_unique", True):
            raise ArgumentError("the prior lists a secret twice; give each its probability once")
        value = value.to_dict()
    if isinstance(value, Mapping):
        listed: list[Any] = [0] * len(labels)
        places = {label(point): row for row, point in enumerate(labels)}
        for name, probability in value.items():
            row = places.get(label(name))
            if row is None:
                raise ArgumentError(f"the prior names {name!r}, which is not among the secrets")
            listed[row] = probability
    else:
        listed = _listed(value)
        if len(listed) != len(labels):
            raise ArgumentError(f"a prior of {len(listed)} probabilities for {len(labels)} secrets: give one for each")
    exact = [_amount(probability, name) for probability, name in zip(listed, labels, strict=True)]
    total = sum(exact, Fraction(0))
    rounded = any(isinstance(probability, (float, np.floating)) for probability in listed)
    if total != 1 and (not rounded or abs(total - 1) > ROUNDING):
        raise ArgumentError(f"the prior sums to {float(total):.12g}, not to one")
    return Prior(labels, *_over_common_total(exact))


def check_name(name: str) -> None:
    """Refuse a name of a prior that is none."""
    if name != "uniform":
        raise ArgumentError(f"the only prior with a name is 'uniform', not {name!r}")


def _share(share: Fraction) -> str:
    """A probability as a short fraction, or with six digits."""
    return str(share) if share.denominator <= _LARGEST_FRACTION else f"{float(share):.6g}"


def _row(labels: tuple[Any, ...], point: Any) -> int:
    wanted = label(point)
    for row, known in enumerate(labels):
        if known == wanted:
            return row
    raise ArgumentError(f"{point!r} is not among the secrets of the prior")


def _reordered(prior: Prior, points: Sequence[Any]) -> Prior:
    labels = distinct(points, "secret")
    known = {label(point): weight for point, weight in zip(prior.points, prior.weights, strict=True)}
    wanted = {label(point) for point in labels}
    for point, weight in zip(prior.points, prior.weights, strict=True):
        if weight and label(point) not in wanted:
            raise ArgumentError(f"the prior gives {point!r} a probability, and it is not among the secrets")
    return Prior(labels, tuple(known.get(label(point), 0) for point in labels), prior.total)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise ArgumentError(f"a prior is one row of probabilities, not of shape {value.shape}")
        return list(value.tolist())
    try:
        return list(value)
    except TypeError:
        raise ArgumentError(
            f"a prior is 'uniform', a mapping, or a sequence of probabilities, not {type(value).__name__}"
        ) from None


def _amount(value: Any, name: Any) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal, str)):
        raise ArgumentError(f"secret {name!r}: a probability is a number, not {type(value).__name__}")
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ArgumentError(f"secret {name!r}: a probability is a finite number") from None
    if exact < 0:
        raise ArgumentError(f"secret {name!r}: a negative probability")
    return exact


def _over_common_total(exact: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    common = math.lcm(*(value.denominator for value in exact))
    weights = tuple(value.numerator * (common // value.denominator) for value in exact)
    return weights, sum(weights)
