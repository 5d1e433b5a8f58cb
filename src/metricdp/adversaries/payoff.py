"""Gains and losses as tables: what an action is worth to an adversary, or costs a user, for each secret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from metricdp.adversaries.pictures import SurfacePicture, lattice
from metricdp.channels.cells import number_text
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.exact.results import Result
from metricdp.exact.weights import Weights
from metricdp.metrics.coordinates import distinct, label
from metricdp.visible import visible

__all__ = ["Gain", "Loss", "Payoff", "place_of", "read_only"]


_PRINTED = 12

_MOST_PRIORS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Payoff(Result):
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
            raise ArgumentError(f"a table of {len(rows)} rows and {len(columns)} columns is wanted: actions by secrets")
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
        row, column = place_of(self.actions, action, "action"), place_of(self.secrets, secret, "secret")
        return float(self.matrix[row, column]) if self.entries is None else self.entries[row][column]

    @cached_property
    def whole(self) -> tuple[Weights, int]:
        """The entries as integers over one common denominator.

        Raises:
            ArgumentError: some entry is irrational.
        """
        if self.entries is None:
            raise ArgumentError(
                f"the entries of {self.name!r} are not rational; its rounded() has exactly their floats"
            )
        common = math.lcm(*(value.denominator for row in self.entries for value in row))
        numbers = np.empty((len(self.actions), len(self.secrets)), dtype=object)
        numbers[:] = [[value.numerator * (common // value.denominator) for value in row] for row in self.entries]
        numbers.setflags(write=False)
        return numbers, common

    def over(self, secrets: Sequence[Any]) -> Self:
        """The same payoff with its columns in this order.

        Raises:
            ArgumentError: a secret that it has no column for, or a column for none of the secrets.
        """
        wanted = tuple(secrets)
        if wanted == self.secrets:
            return self
        order = [place_of(self.secrets, secret, "secret") for secret in wanted]
        if len(order) != len(self.secrets):
            raise ArgumentError(f"{self.name!r} has {len(self.secrets)} secrets and {len(wanted)} are given")
        return self._columns(order)

    def __add__(self, other: Self) -> Self:
        """The sum of two, whose actions are pairs of actions (paper 5, Eq. 13).

        >>> from metricdp.adversaries import as_loss
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
        return type(self)(name, distinct(actions, "action"), self.secrets, None, read_only(matrix))

    def weighted(self, factors: Mapping[Any, Any] | Sequence[Any]) -> Self:
        """The generalised scalar product ``v(x) * l(w, x)`` with factors v of the secrets (paper 5, Eq. 14).

        Raises:
            ArgumentError: a negative factor.

        >>> from metricdp.adversaries import as_loss
        >>> as_loss("bin", "ab").weighted({"a": 3, "b": 1}).value("b", "a")
        Fraction(3, 1)
        """
        listed = [factors[x] for x in self.secrets] if isinstance(factors, Mapping) else list(factors)
        if len(listed) != len(self.secrets):
            raise ArgumentError(f"{len(listed)} factors for {len(self.secrets)} secrets: give one for each")
        exact = [_number(factor, row) for row, factor in enumerate(listed)]
        if min(exact) < 0:
            raise ArgumentError(f"row {exact.index(min(exact))}: factors of the secrets are not negative")
        name = f"v × {self.name}"
        if self.entries is not None:
            table = [[factor * value for factor, value in zip(exact, row, strict=True)] for row in self.entries]
            return type(self).from_matrix(self.actions, self.secrets, table, name)
        matrix = self.matrix * np.array([float(factor) for factor in exact])
        return type(self)(name, self.actions, self.secrets, None, read_only(matrix))

    def _columns(self, order: Sequence[int]) -> Self:
        entries = None if self.entries is None else tuple(tuple(row[i] for i in order) for row in self.entries)
        secrets = tuple(self.secrets[place] for place in order)
        return type(self)(self.name, self.actions, secrets, entries, read_only(self.matrix[:, list(order)]))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, Payoff):
            return NotImplemented
        same = self.actions == other.actions and self.secrets == other.secrets and self.entries == other.entries
        return same and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((type(self), self.actions, self.secrets, self.entries))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def to_json(self) -> dict[str, Any]:
        """The table as plain values for JSON: exact numbers as text where they are known, else floats."""
        exact = None if self.entries is None else [[number_text(value) for value in row] for row in self.entries]
        return {
            "name": self.name,
            "actions": [label_document(action) for action in self.actions],
            "secrets": [label_document(secret) for secret in self.secrets],
            "table": self.matrix.tolist() if exact is None else exact,
        }

    def picture(self, steps: int = 48) -> SurfacePicture:
        """What the best action gives under every prior of a lattice, as data; `metricdp.plots.surface` draws it.

        Args:
            steps: probabilities are multiples of 1 / steps.

        Raises:
            TooLargeError: the lattice has more than a million priors.

        >>> from metricdp.adversaries import as_loss
        >>> as_loss("bin", "ab").picture(2).values.tolist()
        [0.0, 0.5, 0.0]
        """
        count = math.comb(steps + len(self.secrets) - 1, steps)
        if count > _MOST_PRIORS:
            raise TooLargeError(
                f"a picture over the priors of {len(self.secrets)} secrets would have {float(count):.0e} of them: "
                "adversaries.restricted(loss, points) with two or three secrets has few",
                f"{float(count):.0e} priors",
            )
        priors = lattice(len(self.secrets), steps)
        names = tuple(visible(str(secret)) for secret in self.secrets)
        return SurfacePicture(names, priors, self._best(priors @ self.matrix.T), f"{self._measures}, {self.name}")

    _measures = "value"

    @staticmethod
    def _best(expected: Floats) -> Floats:
        """For each row, what the best of the actions in its columns gives."""
        return np.asarray(expected.max(axis=1))

    def __repr__(self) -> str:
        kind, size = type(self).__name__, f"{len(self.actions)} actions, {len(self.secrets)} secrets"
        return f"{kind}({self.name!r}, {size}, from {self.matrix.min():.6g} to {self.matrix.max():.6g})"

    def __str__(self) -> str:
        kind, (rows, columns) = type(self).__name__.lower(), self.matrix.shape
        shown = min(rows, _PRINTED), min(columns, _PRINTED)
        cells = [["", *(visible(str(secret)) for secret in self.secrets[: shown[1]])]]
        for action, row in zip(self.actions[: shown[0]], self.matrix, strict=False):
            cells.append([visible(str(action)), *(f"{value:.6g}" for value in row[: shown[1]])])
        widths = [max(len(line[place]) for line in cells) for place in range(shown[1] + 1)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        more = "" if shown == (rows, columns) else f", of which {shown[0]} and {shown[1]} are shown"
        return "\n".join([f"{kind} {self.name!r}: {rows} actions by {columns} secrets{more}", *lines])


class Gain(Payoff):
    """What each action is worth for each secret, ``g(w, x)``: an adversary takes the action that gains most.

    Attributes:
        name: what to call it.
        actions: labels of the rows.
        secrets: labels of the columns.
        entries: the gains as Fractions, or None where some are irrational.
        matrix: the gains as floats.

    References:
        Paper 5, Eq. 3.

    >>> from metricdp.adversaries import as_gain
    >>> as_gain("identity", "ab").matrix.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    _measures = "vulnerability"


class Loss(Payoff):
    """What each action costs for each secret, ``l(w, x)``: a user takes the action that costs least.

    Attributes:
        name: what to call it.
        actions: labels of the rows.
        secrets: labels of the columns.
        entries: the losses as Fractions, or None where some are irrational.
        matrix: the losses as floats.

    References:
        Paper 5, Eq. 4 and 5.

    >>> from metricdp.adversaries import as_loss
    >>> as_loss("bin", "ab").matrix.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    _measures = "uncertainty"

    @staticmethod
    def _best(expected: Floats) -> Floats:
        return np.asarray(expected.min(axis=1))


def place_of(names: tuple[Any, ...], value: Any, what: str) -> int:
    """Where a label stands among others, refused where it does not."""
    wanted = label(value)
    for place, name in enumerate(names):
        if name == wanted:
            return place
    raise ArgumentError(f"there is no {what} {value!r} here")


def _number(value: Any, row: int) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, (int, float, Fraction, Decimal, str)):
        raise ArgumentError(f"row {row}: a gain or loss is a number, not {type(value).__name__}")
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ArgumentError(f"row {row}: a gain or loss is a finite number") from None


def _view(entries: Sequence[Sequence[Fraction]]) -> Floats:
    try:
        return read_only(np.array([[float(value) for value in row] for row in entries], dtype=np.float64))
    except OverflowError:
        raise ArgumentError("a gain or loss is within the range of floats") from None


def read_only(matrix: Floats) -> Floats:
    """The matrix, which cannot be written to from now on."""
    matrix.setflags(write=False)
    return matrix
