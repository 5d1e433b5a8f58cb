"""Channels: finite mechanisms as matrices of integers."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from metricdp.channels.proved import Proved, refuse_unless_kept
from metricdp.channels.whole_rows import whole_rows
from metricdp.errors import ArgumentError, MetricDPError, UnknownCategoryError
from metricdp.exact.arrays import Floats, Places, row_blocks
from metricdp.exact.balls import float_below
from metricdp.exact.lists import as_a
from metricdp.exact.weights import IntegerRows, Stored, Weights
from metricdp.mechanisms.labels import DeclaredLabels
from metricdp.mechanisms.law import Law, as_inputs
from metricdp.mechanisms.mechanism import Mechanism, at_distance
from metricdp.metrics import Guarantee
from metricdp.metrics.coordinates import distinct, label

if TYPE_CHECKING:
    from metricdp.channels.arguments import ChannelLike
    from metricdp.channels.extended import Extended
    from metricdp.metrics import Metric

__all__ = ["Channel"]

_SHORT = 1 << 62
"""Rows of machine integers with a smaller total can be added up as such."""

_HELD = 1000
"""Integers of fewer bits are rounded to floats, and those divided by a power of two, without more loss."""


@dataclass(frozen=True, eq=False, repr=False)
class Channel(Mechanism):
    """A finite mechanism: output z of input x has the probability ``weights[x, z] / total``, exactly.

    Channels are equal where their inputs, outputs and probabilities are; weights and total are in lowest terms.

    Attributes:
        inputs: labels of the rows, each once.
        outputs: labels of the columns, each once.
        weights: a matrix of integers, as large as it takes; cannot be written to.
        total: what every row sums to.
        promise: the guarantee it is proved to keep, if any; verified here, and refused where it does not hold.

    Guarantee:
        ``promise``; without one, the distance that the channel itself puts between its inputs (see `guarantee`).

    Raises:
        ArgumentError: rows that are no probabilities, or a promise that the channel is not proved to keep.

    References:
        Paper 5, Section II.

    >>> C = Channel.from_matrix("ab", "yz", [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]])
    >>> print(C)
    channel of 2 inputs and 2 outputs, weights out of 3
         y    z
    a  2/3  1/3
    b  1/3  2/3
    >>> C.release("a") in ("y", "z")
    True
    """

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    weights: Weights
    total: int
    promise: Guarantee | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", distinct(self.inputs, "input"))
        object.__setattr__(self, "outputs", distinct(self.outputs, "output"))
        if type(self.total) is not int or self.total < 1:
            raise ArgumentError("the total is a positive integer")
        short = isinstance(self.weights, np.ndarray) and self.weights.dtype == np.int64 and self.total < _SHORT
        given = np.asarray(self.weights) if short else np.asarray(self.weights, dtype=object)
        if given.shape != (len(self.inputs), len(self.outputs)):
            raise ArgumentError(
                f"a matrix of {len(self.inputs)} inputs by {len(self.outputs)} outputs is wanted, not {given.shape}"
            )
        weights = given.copy() if given.flags.writeable or not given.flags.owndata else given  # another channel's
        if short:
            _check_short(weights, self.total, self.inputs)
        for row in range(0 if short else len(weights)):
            values = weights[row].tolist()
            if set(map(type, values)) != {int}:
                raise ArgumentError(f"row {row}: weights are integers")
            if min(values) < 0:
                raise ArgumentError(f"row {row}: input {self.inputs[row]!r}: a negative probability")
            if sum(values) != self.total:
                raise ArgumentError(f"row {row}: input {self.inputs[row]!r}: the weights do not sum to the total")
        common = _common_divisor(weights, self.total)
        if common > 1:
            weights = weights // common
            object.__setattr__(self, "total", self.total // common)
        self._keep(weights)
        if isinstance(self.promise, Proved):
            object.__setattr__(self, "promise", self.promise.plain)
        elif self.promise is not None:
            refuse_unless_kept(self, as_a(Guarantee, self.promise, "mdp.Guarantee(metric)"))

    @classmethod
    def from_matrix(cls, inputs: Iterable[Any], outputs: Iterable[Any], probabilities: Any) -> Channel:
        """The channel of a matrix of probabilities, one row for each input.

        Fractions, integers, decimals and text such as "2/3" are what they say, and a row of them sums to exactly one.
        Floats are the rationals they are; a row with floats may miss one by rounding (up to 1e-6), and then its largest
        entry takes the difference.

        Raises:
            ArgumentError: a negative entry, or a row that does not sum to one; names the row.

        >>> Channel.from_matrix([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]]).total
        4
        """
        names, columns = distinct(inputs, "input"), distinct(outputs, "output")
        weights, total = whole_rows(probabilities, names, len(columns))
        return cls(names, columns, weights, total)

    # What it says

    @property
    def stored(self) -> Stored:
        """The weights in the type they are kept in, which cannot be written to: to compare them, not to multiply.

        Machine integers where they were given so, which take a fifth of the memory of `weights`; these are made of
        them when they are first asked for.

        >>> Channel("ab", "yz", np.array([[1, 2], [2, 1]]), 3).stored.dtype
        dtype('int64')
        """
        short: Stored | None = self.__dict__.get("_short")
        return self.weights if short is None else short

    def _keep(self, weights: Stored) -> None:
        weights.setflags(write=False)
        if weights.dtype == object:
            object.__setattr__(self, "weights", weights)
        else:
            self.__dict__.pop("weights", None)
            object.__setattr__(self, "_short", weights)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name != "weights" or "_short" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._keep(self._short.astype(object))
            return self.weights

    @property
    def shape(self) -> tuple[int, int]:
        """How many inputs and outputs there are."""
        return len(self.inputs), len(self.outputs)

    @cached_property
    def matrix(self) -> Floats:
        """The probabilities as floats, each the nearest; a view that cannot be written to."""
        if self.total & (self.total - 1) == 0 and self.total.bit_length() < _HELD:
            view = self.stored.astype(np.float64)
            np.ldexp(view, 1 - self.total.bit_length(), out=view)  # exact after one rounding
        else:
            view = np.array([[weight / self.total for weight in row] for row in self.weights.tolist()])
        view.setflags(write=False)
        return view

    @cached_property
    def transposed(self) -> Floats:
        """The same with a row for each output, next to each other in memory."""
        view = np.ascontiguousarray(self.matrix.T)
        view.setflags(write=False)
        return view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def probability(self, secret: Any, output: Any) -> Fraction:
        """The probability of an output for a secret, which is one of the inputs."""
        return Fraction(self.weights[self.row(secret), self.column(output)], self.total)

    def row(self, secret: Any) -> int:
        """The row of an input."""
        return _place(secret, self._labels.places, "an input")

    def column(self, output: Any) -> int:
        """The column of an output."""
        return _place(output, self._columns, "an output")

    @property
    def guarantee(self) -> Guarantee:
        """``promise``, or else what the channel does by itself.

        That is the metric ``max over z of |ln K(x)(z) - ln K(x')(z)|`` between its inputs: the least for which it is
        private, infinite where one input alone can give an output.
        """
        return self.promise if self.promise is not None else Guarantee(self._own_metric)

    @cached_property
    def _own_metric(self) -> Any:
        from metricdp.channels.own_metric import OwnMetric

        return OwnMetric.of(self)

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`: its own probabilities, which are rational."""
        rows = as_inputs(inputs)
        weights, total = self.weights[[self.row(point) for point in rows]], self.total
        least = min(value for value in weights.ravel().tolist() if value)

        def fixed(bits: int) -> Weights:
            return np.array([[-(-(value << bits) // total) for value in row] for row in weights.tolist()], dtype=object)

        def rational() -> list[list[Fraction]]:
            return [[Fraction(value, total) for value in row] for row in weights.tolist()]

        return Law(rows, self.outputs, fixed, least.bit_length() - total.bit_length() - 2, rational)

    def promising(self, guarantee: Guarantee | None) -> Self:
        """The same channel with another promise, which is verified.

        Raises:
            ArgumentError: it does not hold, or cannot be proved.
        """
        return replace(self, weights=self.stored, promise=guarantee)

    @property
    def resolution(self) -> None:
        """Labels have none."""

    # Releases

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`; a tuple is one label, a list holds several."""
        return self._labels.release(secrets, self.release_places)

    def release_places(self, places: Places) -> Places:
        """The same for secrets given by their rows, released as columns; for whole columns of a table."""
        return self._sampler.draw(places)

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """The least probability, over all inputs, of an output within ``distance``, both taken as points of the metric.

        Raises:
            ArgumentError: the outputs are not points of the metric.
        """
        unit = self.guarantee.metric.unit
        apart = unit.enclosures(list(self.inputs), list(self.outputs))
        reach = float_below(distance)
        near = apart.upper <= reach
        for x, z in np.argwhere(~near & (apart.lower <= reach)).tolist():  # equal to it, perhaps
            near[x, z] = unit.enclose(self.inputs[x], self.outputs[z]).upper <= distance
        return float_below(
            min(Fraction(sum(row[inside].tolist()), self.total) for row, inside in zip(self.weights, near, strict=True))
        )

    def _explain_error(self) -> str:
        try:
            return super()._explain_error()
        except MetricDPError:
            return f"Its {len(self.outputs)} outputs are not points of the metric, so no error is measured."

    def extended(self, region: Sequence[Any] | None = None, *, metric: Metric | None = None) -> Extended:
        """A mechanism for every point between the inputs; see `metricdp.channels.extended.extended`."""
        from metricdp.channels.extended import extended

        return extended(self, region, metric=metric)

    # As a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        if self._key != other._key:
            return False
        mine, others = self.stored, other.stored
        return all(bool((mine[rows] == others[rows]).all()) for rows in row_blocks(mine.shape))

    def __hash__(self) -> int:
        return hash((self._key, tuple(self.stored[:, 0].tolist())))

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in fields(self) if field.name != "weights"]
        return {name: getattr(self, name) for name in names} | {"weights": self.stored}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._keep(self.weights)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.inputs, self.outputs, self.total

    def __matmul__(self, after: ChannelLike) -> Channel:
        """Post-processing: ``A @ B`` puts what A releases through B."""
        from metricdp.channels.algebra import cascade

        return cascade(self, after)

    def __repr__(self) -> str:
        size = f"{len(self.inputs)} inputs, {len(self.outputs)} outputs, total {_short(self.total)}"
        return f"{type(self).__name__}({size}{self._shown()})"

    def _shown(self) -> str:
        """What else its repr says."""
        return "" if self.promise is None else f", {self.promise}"

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines()
        return f"<b>{html.escape(first)}</b><pre>{html.escape(chr(10).join(rest))}</pre>"

    def __str__(self) -> str:
        from metricdp.channels._words import table

        return table(self)

    @cached_property
    def _labels(self) -> DeclaredLabels:
        return DeclaredLabels(self.inputs, self.outputs)

    @cached_property
    def _columns(self) -> dict[Any, int]:
        return {label(value): column for column, value in enumerate(self.outputs)}

    @cached_property
    def _sampler(self) -> IntegerRows:
        return IntegerRows(self.stored, self.total)

    # To and from JSON

    def to_json(self) -> dict[str, Any]:
        """The channel with its promise as plain values; see `metricdp.channels.serialize`."""
        from metricdp.channels.serialize import to_json

        return to_json(self)

    @staticmethod
    def from_json(document: dict[str, Any]) -> Channel:
        """The channel that `to_json` wrote, checked."""
        from metricdp.channels.serialize import from_json

        return from_json(document)


def _check_short(weights: Stored, total: int, inputs: tuple[Any, ...]) -> None:
    """The same for machine integers, whose sums are taken of their upper and lower halves."""
    for rows in row_blocks(weights.shape):
        some = weights[rows]
        upper, lower = (some >> 32).sum(axis=1), (some & 0xFFFFFFFF).sum(axis=1)
        sums = [(high << 32) + low for high, low in zip(upper.tolist(), lower.tolist(), strict=True)]
        for row, (least, whole) in enumerate(zip(some.min(axis=1).tolist(), sums, strict=True), rows.start):
            if least < 0:
                raise ArgumentError(f"row {row}: input {inputs[row]!r}: a negative probability")
            if whole != total:
                raise ArgumentError(f"row {row}: input {inputs[row]!r}: the weights do not sum to the total")


def _common_divisor(weights: Stored, total: int) -> int:
    common = total
    for row in weights:
        if common == 1:
            break
        common = math.gcd(common, *row.tolist())
    return common


def _place(value: Any, places: dict[Any, int], what: str) -> int:
    place = places.get(label(value))
    if place is None:
        raise UnknownCategoryError(f"the label is not {what} of this channel")
    return place


def _short(number: int) -> str:
    bits = number.bit_length() - 1
    return str(number) if number < 10**6 else f"2^{bits}" if number == 1 << bits else f"about 2^{bits}"
