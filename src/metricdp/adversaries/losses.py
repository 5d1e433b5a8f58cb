"""Gains and losses: what an action is worth to an adversary, or costs a user, for each secret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from metricdp.errors import InputError, KindError, NotFiniteError, ShapeError, UnknownCategoryError
from metricdp.exact.refine import Floats
from metricdp.exact.weights import Weights
from metricdp.metrics.coordinates import distinct, label
from metricdp.metrics.space import Space

__all__ = ["Gain", "Loss", "as_gain", "as_loss", "distance", "lifted", "restricted"]


@dataclass(frozen=True, eq=False, repr=False)
class _Payoff:
    """A number for each action and secret, exact where it is rational.

    Attributes:
        name: what to call it.
        actions: labels of the rows, each once; what can be done, often the guesses of the secret.
        secrets: labels of the columns, each once.
        entries: the numbers as Fractions, a row for each action; None where some are irrational and only their floats
            are known.
        matrix: the numbers as floats, each the nearest where it is rational; a view that cannot be written to.
    """

    name: str
    actions: tuple[Any, ...]
    secrets: tuple[Any, ...]
    entries: tuple[tuple[Fraction, ...], ...] | None
    matrix: Floats

    @classmethod
    def from_matrix(cls, actions: Iterable[Any], secrets: Iterable[Any], table: Any, name: str = "matrix") -> Self:
        """The table ``table[w][x]`` for action w and secret x: any finite numbers, taken as the rationals they are.

        >>> Loss.from_matrix(["stay", "go"], "ab", [["1/3", 0], [0, 2]]).value("go", "b")
        Fraction(2, 1)
        """
        rows, columns = distinct(actions, "action"), distinct(secrets, "secret")
        listed = [list(row) for row in (table.tolist() if isinstance(table, np.ndarray) else table)]
        if len(listed) != len(rows) or any(len(row) != len(columns) for row in listed):
            raise ShapeError(f"a table of {len(rows)} rows and {len(columns)} columns is wanted: actions by secrets")
        entries = tuple(tuple(_number(value, row) for value in values) for row, values in enumerate(listed))
        return cls(name, rows, columns, entries, _view(entries))

    @property
    def exact(self) -> bool:
        """Whether the entries are known as Fractions."""
        return self.entries is not None

    def rounded(self) -> Self:
        """The payoff whose entries are exactly the floats of this one; itself, where it is exact already."""
        if self.entries is not None:
            return self
        return type(self).from_matrix(self.actions, self.secrets, self.matrix, f"{self.name}, rounded to floats")

    def value(self, action: Any, secret: Any) -> Fraction | float:
        """The number for one action and one secret; a float only where it is irrational."""
        row, column = _place(self.actions, action, "action"), _place(self.secrets, secret, "secret")
        return float(self.matrix[row, column]) if self.entries is None else self.entries[row][column]

    @cached_property
    def whole(self) -> tuple[Weights, int]:
        """The entries as integers over one common denominator.

        Raises:
            InputError: some entry is irrational.
        """
        if self.entries is None:
            raise InputError(f"the entries of {self.name!r} are not rational; its rounded() has exactly their floats")
        common = math.lcm(*(value.denominator for row in self.entries for value in row))
        numbers = np.empty((len(self.actions), len(self.secrets)), dtype=object)
        numbers[:] = [[value.numerator * (common // value.denominator) for value in row] for row in self.entries]
        numbers.setflags(write=False)
        return numbers, common

    def over(self, secrets: Sequence[Any]) -> Self:
        """The same payoff with its columns in this order.

        Raises:
            UnknownCategoryError: a secret that it has no column for, or a column for none of the secrets.
        """
        wanted = tuple(secrets)
        if wanted == self.secrets:
            return self
        order = [_place(self.secrets, secret, "secret") for secret in wanted]
        if len(order) != len(self.secrets):
            raise UnknownCategoryError(f"{self.name!r} has {len(self.secrets)} secrets and {len(wanted)} are given")
        return self._columns(order)

    def __add__(self, other: Self) -> Self:
        """The sum of two, whose actions are pairs of actions (paper 5, Eq. 13).

        >>> both = as_loss("bin", "ab") + as_loss("nib", "ab")
        >>> both.actions[1], both.value(("a", "b"), "a")
        (('a', 'b'), Fraction(0, 1))
        """
        if type(other) is not type(self):
            return NotImplemented
        other = other.over(self.secrets)
        actions = [(one, two) for one in self.actions for two in other.actions]
        name = f"{self.name} + {other.name}"
        if self.entries is not None and other.entries is not None:
            sums = [[a + b for a, b in zip(one, two, strict=True)] for one in self.entries for two in other.entries]
            return type(self).from_matrix(actions, self.secrets, sums, name)
        matrix = (self.matrix[:, None, :] + other.matrix[None, :, :]).reshape(len(actions), -1)
        return type(self)(name, distinct(actions, "action"), self.secrets, None, _read_only(matrix))

    def weighted(self, factors: Mapping[Any, Any] | Sequence[Any]) -> Self:
        """The generalised scalar product ``v(x) * l(w, x)`` with factors v of the secrets (paper 5, Eq. 14).

        Raises:
            InputError: a negative factor.

        >>> as_loss("bin", "ab").weighted({"a": 3, "b": 1}).value("b", "a")
        Fraction(3, 1)
        """
        listed = [factors[x] for x in self.secrets] if isinstance(factors, Mapping) else list(factors)
        if len(listed) != len(self.secrets):
            raise ShapeError(f"{len(listed)} factors for {len(self.secrets)} secrets: give one for each")
        exact = [_number(factor, row) for row, factor in enumerate(listed)]
        if min(exact) < 0:
            raise InputError("a factor of a generalised scalar product is not negative", exact.index(min(exact)))
        name = f"v × {self.name}"
        if self.entries is not None:
            table = [[factor * value for factor, value in zip(exact, row, strict=True)] for row in self.entries]
            return type(self).from_matrix(self.actions, self.secrets, table, name)
        matrix = self.matrix * np.array([float(factor) for factor in exact])
        return type(self)(name, self.actions, self.secrets, None, _read_only(matrix))

    def _columns(self, order: Sequence[int]) -> Self:
        entries = None if self.entries is None else tuple(tuple(row[i] for i in order) for row in self.entries)
        secrets = tuple(self.secrets[place] for place in order)
        return type(self)(self.name, self.actions, secrets, entries, _read_only(self.matrix[:, list(order)]))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, _Payoff):
            return NotImplemented
        same = self.actions == other.actions and self.secrets == other.secrets and self.entries == other.entries
        return same and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((type(self), self.actions, self.secrets, self.entries))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.actions)} actions, {len(self.secrets)} secrets)"


class Gain(_Payoff):
    """What each action is worth for each secret, ``g(w, x)``: an adversary takes the action that gains most.

    Attributes:
        name: what to call it.
        actions: labels of the rows.
        secrets: labels of the columns.
        entries: the gains as Fractions, or None where some are irrational.
        matrix: the gains as floats.

    References:
        Paper 5, Eq. 3.

    >>> as_gain("identity", "ab").matrix.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """


class Loss(_Payoff):
    """What each action costs for each secret, ``l(w, x)``: a user takes the action that costs least.

    Attributes:
        name: what to call it.
        actions: labels of the rows.
        secrets: labels of the columns.
        entries: the losses as Fractions, or None where some are irrational.
        matrix: the losses as floats.

    References:
        Paper 5, Eq. 4 and 5.

    >>> as_loss("bin", "ab").matrix.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """


_Kind = TypeVar("_Kind", Gain, Loss)


def as_gain(value: Any, inputs: Sequence[Any], space: Space | None = None) -> Gain:
    """The gain that was meant: a `Gain`, a matrix of actions by secrets, or a name.

    ``"identity"`` gains 1 for the right guess (so does its other name, ``"nib"``), ``"bin"`` for a wrong one, and
    ``"distance"`` the distance between guess and secret. A matrix has the inputs as its secrets; its actions are the
    inputs too where there are as many, else they are counted from 0.

    >>> as_gain([[1, 0, 0], [0, 1, 1]], "abc").actions
    (0, 1)
    """
    return _meant(Gain, value, inputs, space)


def as_loss(value: Any, inputs: Sequence[Any], space: Space | None = None) -> Loss:
    """The loss that was meant: a `Loss`, a matrix of actions by secrets, or a name.

    ``"bin"`` costs 1 for a wrong guess (paper 5, Eq. 10), ``"nib"`` for the right one (Eq. 11), ``"identity"`` is
    another name of ``"nib"``, and ``"distance"`` costs the distance between guess and secret (Eq. 12). A matrix is read
    as in `as_gain`.

    >>> from metricdp.metrics import Space
    >>> as_loss("distance", range(3), Space.line(3)).value(0, 2)
    Fraction(2, 1)
    """
    return _meant(Loss, value, inputs, space)


def distance(space: Space, actions: Iterable[Any] | None = None) -> Loss:
    """The loss ``d(w, x)``, in the unit of the space's metric, whatever its level.

    Args:
        space: its points are the secrets.
        actions: points of the metric to guess from; those of the space unless given.

    Raises:
        InputError: a distance is infinite.

    References:
        Paper 5, Eq. 12.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import Space, absolute
    >>> distance(Space.line(3, ln(2) * absolute())).matrix[0].tolist()
    [0.0, 1.0, 2.0]
    """
    guesses = space.points if actions is None else distinct(actions, "action")
    unit = space.metric.unit
    exact = [[unit.exactly(w, x) for x in space.points] for w in guesses]
    for w, row in zip(guesses, exact, strict=True):
        for x, value in zip(space.points, row, strict=True):
            if value == math.inf:
                raise InputError(f"the distance between {w!r} and {x!r} is infinite, and a loss is finite")
    known = [[value for value in row if isinstance(value, Fraction)] for row in exact]
    if all(len(row) == len(space.points) for row in known):
        return Loss.from_matrix(guesses, space.points, known, "distance")
    return Loss("distance", guesses, space.points, None, _read_only(unit.pairwise(list(guesses), list(space.points))))


def lifted(loss: Loss, points: Iterable[Any]) -> Loss:
    """The loss on more secrets, zero on the new ones.

    References:
        Paper 5, Section IV.C and Theorem 6(5).

    >>> lifted(as_loss("bin", "ab"), "abc").matrix.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    secrets = distinct(points, "secret")
    places = {label(secret): place for place, secret in enumerate(loss.secrets)}
    columns = [places.get(label(secret)) for secret in secrets]
    for secret, place in ((secret, places[label(secret)]) for secret in loss.secrets):
        if place not in columns:
            raise UnknownCategoryError(f"the secret {secret!r} of the loss is not among the points to lift it to")
    name = f"{loss.name}, lifted"
    matrix = np.zeros((len(loss.actions), len(secrets)))
    for new, old in enumerate(columns):
        if old is not None:
            matrix[:, new] = loss.matrix[:, old]
    entries = loss.entries and tuple(
        tuple(Fraction(0) if old is None else row[old] for old in columns) for row in loss.entries
    )
    return Loss(name, loss.actions, secrets, entries, _read_only(matrix))


def restricted(loss: Loss, points: Iterable[Any]) -> Loss:
    """The loss on some of its secrets; all actions stay.

    References:
        Paper 5, Section IV.C.

    >>> restricted(as_loss("bin", "abc"), "ab").matrix.tolist()
    [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    order = [_place(loss.secrets, point, "secret") for point in distinct(points, "secret")]
    return loss._columns(order)


def _meant(kind: type[_Kind], value: Any, inputs: Sequence[Any], space: Space | None) -> _Kind:
    if isinstance(value, kind):
        return value.over(inputs)
    if isinstance(value, _Payoff):
        raise KindError(f"a {kind.__name__.lower()} is wanted here, not a {type(value).__name__.lower()}")
    if isinstance(value, str):
        return _named(kind, value, tuple(inputs), space)
    columns = tuple(inputs)
    rows = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in rows):
        raise KindError(f"a {kind.__name__.lower()} is a name or a matrix of actions by secrets")
    actions: Sequence[Any] = columns if len(rows) == len(columns) else range(len(rows))
    return kind.from_matrix(actions, columns, rows)


def _named(kind: type[_Kind], name: str, inputs: tuple[Any, ...], space: Space | None) -> _Kind:
    if name in ("identity", "nib", "bin"):
        right = int(name != "bin")
        table = [[right if w == x else 1 - right for x in range(len(inputs))] for w in range(len(inputs))]
        return kind.from_matrix(inputs, inputs, table, name)
    if name == "distance":
        if space is None:
            raise InputError("'distance' needs to know the distances: give a space")
        for secret in inputs:
            space.index(secret)
        far = distance(Space(inputs, space.metric), space.points)
        return kind(far.name, far.actions, far.secrets, far.entries, far.matrix)
    raise UnknownCategoryError(
        f"{name!r} is none of 'bin', 'nib', 'identity' and 'distance'; a matrix may be given too"
    )


def _place(names: tuple[Any, ...], value: Any, what: str) -> int:
    wanted = label(value)
    for place, name in enumerate(names):
        if name == wanted:
            return place
    raise UnknownCategoryError(f"there is no {what} {value!r} here")


def _number(value: Any, row: int) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, (int, float, Fraction, Decimal, str)):
        raise KindError(f"a gain or loss is a number, not {type(value).__name__}", row)
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise NotFiniteError("a gain or loss is a finite number", row) from None


def _view(entries: Sequence[Sequence[Fraction]]) -> Floats:
    try:
        return _read_only(np.array([[float(value) for value in row] for row in entries], dtype=np.float64))
    except OverflowError:
        raise NotFiniteError("a gain or loss is within the range of floats") from None


def _read_only(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
