"""The law of a mechanism with finitely many outputs: how probable each output is for each of some inputs.

`Mechanism.law` gives it. From it `metricdp.channels.of` makes a channel of integers, and estimates correct what was
released. A mechanism outside of this package is a channel, too, as soon as it has a method ``law``.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ShapeError, TooLargeError, UnknownCategoryError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.level import Level
from metricdp.exact.lists import as_list
from metricdp.exact.results import Result
from metricdp.exact.weights import Weights
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.norms import Root

__all__ = [
    "MOST_OUTPUTS",
    "FixedPoint",
    "Law",
    "as_inputs",
    "beside",
    "exact_point",
    "fixed_point",
    "log2_below",
    "mapped",
    "mixed",
    "place_in",
    "rational_exponential",
    "refuse_many",
]

FixedPoint = Callable[[int], Weights]
"""For a number of bits, probabilities times 2^bits as integers, each off by less than 1; 0 only for exact zeros."""

MOST_OUTPUTS = 1 << 14
"""A law of more outputs is refused, before anything is computed."""

_GUARD_BITS = 32
_FLOAT_BITS = 1140  # enough for the least positive float, and 64 more


@dataclass(frozen=True, repr=False, eq=False)
class Law(Result):
    """The probabilities of all outputs of a mechanism, for some of its inputs.

    Attributes:
        inputs: the rows.
        outputs: the columns.
        fixed: the probabilities as fixed-point numbers with as many bits as one asks for.
        least: the logarithm to base 2 of the least positive probability, or a number below it.
        rational: the probabilities themselves as rows of Fractions, where all of them are rational; else None.

    >>> from metricdp.mechanisms import randomized_response
    >>> law = randomized_response(["yes", "no"], 1).law(["yes"])
    >>> law, law.matrix.round(3).tolist()
    (Law(1 inputs, 2 outputs), [[0.731, 0.269]])
    """

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    fixed: FixedPoint
    least: float
    rational: Callable[[], Sequence[Sequence[Fraction]] | NDArray[Any]] | None = None

    @cached_property
    def matrix(self) -> Floats:
        """The probabilities as floats, inputs by outputs; a view that cannot be written to, and no proof."""
        bits = min(64 + math.ceil(max(0.0, -self.least)), _FLOAT_BITS)
        whole = 1 << bits
        view = np.array([[value / whole for value in row] for row in self.fixed(bits).tolist()], dtype=np.float64)
        view.setflags(write=False)
        return view

    def __repr__(self) -> str:
        return f"Law({len(self.inputs)} inputs, {len(self.outputs)} outputs)"

    def to_json(self) -> dict[str, Any]:
        """The law as plain values for JSON: labels as text, and probabilities as floats, which are a view."""
        labels = {"inputs": [str(point) for point in self.inputs], "outputs": [str(point) for point in self.outputs]}
        return labels | {"probabilities": self.matrix.tolist()}


def as_inputs(inputs: Iterable[Any]) -> tuple[Any, ...]:
    """The rows of a law.

    Raises:
        ShapeError: there is none.
    """
    rows = tuple(frozen(point) for point in as_list(inputs, "inputs"))
    if not rows:
        raise ShapeError("a channel has at least one input")
    return rows


# Laws out of laws


def beside(inputs: Sequence[Any], parts: Sequence[Law]) -> Law:
    """The law of several mechanisms with independent noise, whose outputs are tuples of theirs."""
    refuse_many(math.prod(len(part.outputs) for part in parts), "together these mechanisms")

    def fixed(bits: int) -> Weights:
        finer = bits + _GUARD_BITS
        product, *others = (part.fixed(finer) for part in parts)
        for other in others:
            pairs = product[:, :, None] * other[:, None, :]
            product = _coarser(pairs.reshape(len(pairs), -1), finer)
        return _coarser(product, _GUARD_BITS)

    def rational() -> NDArray[Any]:
        product, *others = (np.asarray(part.rational(), dtype=object) for part in parts if part.rational is not None)
        for other in others:
            product = (product[:, :, None] * other[:, None, :]).reshape(len(product), -1)
        return product

    outputs = tuple(itertools.product(*(part.outputs for part in parts)))
    exact = all(part.rational is not None for part in parts)
    return Law(tuple(inputs), outputs, fixed, sum(part.least for part in parts), rational if exact else None)


def mapped(law: Law, function: Callable[[Any], Any]) -> Law:
    """The law of a function of the outputs: those with one image become one."""
    images = [frozen(function(output)) for output in law.outputs]
    outputs = tuple(dict.fromkeys(images))
    columns = [[place for place, image in enumerate(images) if image == output] for output in outputs]

    def fixed(bits: int) -> Weights:
        finer = law.fixed(bits + _GUARD_BITS)
        sums = [[sum(values[place] for place in some) for some in columns] for values in finer.tolist()]
        return _coarser(np.array(sums, dtype=object), _GUARD_BITS)

    def rational() -> list[list[Fraction]]:
        assert law.rational is not None
        rows = law.rational()
        return [[sum((values[place] for place in some), Fraction(0)) for some in columns] for values in rows]

    return Law(law.inputs, outputs, fixed, law.least, rational if law.rational is not None else None)


def mixed(
    law: Law,
    output: Any,
    kinds: Sequence[int],
    shares: Sequence[Callable[[], arb]],
    exact: Sequence[Fraction] | None = None,
) -> Law:
    """The law that gives one more output with some probability for each input, and otherwise follows ``law``.

    Args:
        law: of the other outputs.
        output: the new one, which becomes the last.
        kinds: for each input, which of the shares is its own.
        shares: probabilities of the new output, neither 0 nor 1, as balls at the working precision.
        exact: the same as Fractions where all are rational, else None.
    """

    def fixed(bits: int) -> Weights:
        finer = bits + _GUARD_BITS
        with precision(finer + 64):
            added = [fixed_point(share(), finer) for share in shares]
            kept = [fixed_point(1 - share(), finer) for share in shares]
        last, factors = (np.array([part[kind] for kind in kinds], dtype=object)[:, None] for part in (added, kept))
        rest = _coarser(law.fixed(finer) * factors, finer)
        return _coarser(np.concatenate([rest, last], axis=1), _GUARD_BITS)

    def rational() -> list[list[Fraction]]:
        assert law.rational is not None
        assert exact is not None
        rows = zip(law.rational(), (exact[kind] for kind in kinds), strict=True)
        return [[*(value * (1 - share) for value in row), share] for row, share in rows]

    added = min(log2_below(share) for share in shares)
    kept = min(log2_below(functools.partial(_complement, share)) for share in shares)
    known = law.rational is not None and exact is not None
    outputs = (*law.outputs, output)
    return Law(law.inputs, outputs, fixed, min(added, kept + law.least), rational if known else None)


# Numbers for laws


def fixed_point(probability: arb, bits: int) -> int:
    """``probability * 2^bits`` rounded up, off by less than 1 as long as the ball is far finer than that."""
    if probability.is_zero():
        return 0
    whole = (probability * arb((1, bits))).upper().ceil().unique_fmpz()
    assert whole is not None  # the upper end of a finite ball, rounded up
    return max(1, int(whole))


def rational_exponential(level: Level, distance: Fraction = Fraction(1)) -> Fraction | None:
    """exp(level · distance), where it is rational and known to be.

    >>> from metricdp.exact.level import ln
    >>> rational_exponential(ln(4), Fraction(1, 2)), rational_exponential(ln(2), Fraction(1, 2))
    (Fraction(2, 1), None)
    """
    if distance == 0:
        return Fraction(1)
    root = Root.of(level * distance)
    return None if root is None else root.rational


def log2_below(value: Callable[[], arb]) -> float:
    """A float not above the logarithm to base 2 of a positive real number.

    >>> from metricdp.exact.balls import ball
    >>> log2_below(lambda: (-ball(1000)).exp())
    -1442.69504088...
    """
    bits = 64
    while True:  # ends, since the number is positive
        with precision(bits):
            logarithm = value().log() / arb(2).log()
            if logarithm.is_finite() and logarithm.rad() < 1:
                return Enclosure.of(logarithm).outward[0]
        bits *= 2


def exact_point(value: Fraction) -> int | float | Fraction:
    """A rational as an integer or a float, where it is one exactly.

    >>> exact_point(Fraction(4, 2)), exact_point(Fraction(1, 2)), exact_point(Fraction(1, 3))
    (2, 0.5, Fraction(1, 3))
    """
    if value.denominator == 1:
        return value.numerator
    return float(value) if Fraction(float(value)) == value else value


def place_in(point: Any, places: dict[Any, int], row: int) -> int:
    """The place of a declared value.

    Raises:
        UnknownCategoryError: it is not declared; names the row.
    """
    try:
        place = places.get(point)
    except Exception:  # it cannot be hashed
        place = None
    if place is None:
        raise UnknownCategoryError("not one of the declared values", row)
    return place


def refuse_many(outputs: int, whose: str, advice: str = "") -> None:
    """Refuse a law of too many outputs.

    Raises:
        TooLargeError: there are more than `MOST_OUTPUTS`.
    """
    if outputs > MOST_OUTPUTS:
        count = f"{outputs:,}" if outputs < 10**9 else f"2^{outputs.bit_length() - 1} or more"
        raise TooLargeError(
            f"{whose} would have {count} outputs, and a channel has at most {MOST_OUTPUTS:,}{advice}",
            f"{count} outputs",
        )


def _complement(share: Callable[[], arb]) -> arb:
    return 1 - share()


def _coarser(weights: Weights, bits: int) -> Weights:
    """Fixed-point numbers with fewer bits, rounded up so that only zero is zero."""
    coarser: Weights = -((-weights) >> bits)
    return coarser
