"""The channel of a discrete mechanism."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from metricdp.channels.algebra import restrict
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.rounding import FixedPoint, round_inside
from metricdp.channels.verifying import verify
from metricdp.errors import ImpossibleError, KindError, OffGridError, OutOfDomainError, ShapeError, UnknownCategoryError
from metricdp.exact.balls import float_above, precision
from metricdp.exact.level import Level
from metricdp.exact.weights import Weights
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.product import Composed, Independent, Postprocessed
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.mechanisms.stepped import Geometric
from metricdp.metrics import Space
from metricdp.metrics.coordinates import frozen, number
from metricdp.metrics.norms import Root

__all__ = ["of"]

_GUARD_BITS = 32
_MOST_OUTPUTS = 1 << 14


def of(mechanism: Mechanism, inputs: Iterable[Any]) -> Channel:
    """The channel of a discrete mechanism on some of its inputs.

    Where its probabilities are rational, as at level ln 2, they stay what they are. Elsewhere, rounding a tight
    mechanism would break its tight constraints; so the channel is built a hair inside them, and verified, and
    `Certified.moved` says how far it moved, about 2^-64.

    Args:
        mechanism: `truncated_geometric`, `randomized_response`, `set_response`, `exponential`, a Channel, or any
            `independent`, `compose` or `postprocess` of these.
        inputs: the secrets that become the rows.

    Guarantee:
        That of the mechanism, verified for the channel.

    References:
        Paper 1, Fig. 2 (iv); paper 2, Examples 1 and 6.

    >>> import metricdp as mdp
    >>> C = of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), k=2), range(3))
    >>> print(C)
    channel of 3 inputs and 3 outputs, weights out of 6
    ln 2·|x − y|-private
         0    1    2
    0  2/3  1/6  1/6
    1  1/3  1/3  1/3
    2  1/6  1/6  2/3
    """
    rows = [frozen(point) for point in inputs]
    if not rows:
        raise ShapeError("a channel has at least one input")
    if isinstance(mechanism, Channel):
        return restrict(mechanism, rows)
    table = _table(mechanism, rows)
    guarantee = mechanism.guarantee
    space = Space(rows, guarantee.metric)
    if table.rational is not None:
        exact = Channel.from_matrix(rows, table.outputs, table.rational())
        channel = Certified(exact.inputs, exact.outputs, exact.weights, exact.total, guarantee)
    else:
        weights, total = round_inside(table.fixed, table.least, Pairs.of(rows, space))
        moved = _moved(table.fixed, weights, total)
        channel = Certified(tuple(rows), table.outputs, weights, total, guarantee, moved)
    verdict = verify(channel, space, guarantee.delta)
    if not verdict:
        raise ImpossibleError(f"the rounded channel could not be proved private: {verdict}")
    return channel


@dataclass(frozen=True)
class _Table:
    """A mechanism's probabilities.

    Attributes:
        outputs: the columns.
        fixed: the probabilities as fixed-point numbers.
        least: the logarithm to base 2 of the least of them, from below.
        rational: the probabilities themselves, where they are rational.
    """

    outputs: tuple[Any, ...]
    fixed: FixedPoint
    least: float
    rational: Callable[[], Any] | None = None


@functools.singledispatch
def _table(mechanism: Any, rows: Sequence[Any]) -> _Table:
    del rows
    if not isinstance(mechanism, Mechanism):
        raise KindError(f"a mechanism is wanted here, not {type(mechanism).__name__}")
    raise KindError(f"{type(mechanism).__name__} has no finite list of outputs, so it is no channel")


@_table.register
def _geometric(mechanism: Geometric, rows: Sequence[Any]) -> _Table:
    k, step = mechanism.k, mechanism.step
    if k is None:
        raise KindError("geometric noise has no last output; truncated_geometric(metric, k) tells exactly as much")
    cells = [_cell(point, mechanism, row) for row, point in enumerate(rows)]

    def spread(decay: Any, finish: Callable[[Any], Any]) -> Weights:
        inside, at_end = (1 - decay) / (1 + decay), 1 / (1 + decay)
        powers = [decay**steps for steps in range(k + 1)]
        middle = np.array([finish(power * inside) for power in powers], dtype=object)
        ends = np.array([finish(power * at_end) for power in powers], dtype=object)
        apart = np.abs(np.subtract.outer(cells, np.arange(k + 1)))
        weights = middle[apart]
        weights[:, 0], weights[:, k] = ends[apart[:, 0]], ends[apart[:, k]]
        return weights

    def fixed(bits: int) -> Weights:
        with precision(bits + 64):
            return spread(mechanism._decay(), lambda share: _fixed(share, bits))

    growth = _rational_exponential(mechanism.metric.level, step)
    rational = None if growth is None else lambda: spread(1 / growth, lambda share: share)
    rate = mechanism.metric.level * step
    # (1 - a) / (1 + a) is at least rate / 4 where that is below 1/2, and log2 of a rational is known to a bit or two.
    least = -_above(rate * k) / math.log(2) + min(0, _log2_below(rate)) - 4
    return _Table(tuple(_point(step * place) for place in range(k + 1)), fixed, least, rational)


@_table.register
def _response(mechanism: RandomizedResponse, rows: Sequence[Any]) -> _Table:
    places = [_listed(point, mechanism._labels.places, row) for row, point in enumerate(rows)]
    others = len(mechanism.values) - 1

    def spread(truth: Any, lie: Any) -> Weights:
        weights = np.full((len(rows), others + 1), lie, dtype=object)
        weights[np.arange(len(rows)), places] = truth
        return weights

    def fixed(bits: int) -> Weights:
        with precision(bits + 64):
            truth = mechanism.truth()
            return spread(_fixed(truth, bits), _fixed((1 - truth) / others, bits))

    growth = _rational_exponential(mechanism.epsilon)
    lie = None if growth is None else (1 - mechanism.delta) / (others + growth)
    rational = None if lie is None else lambda: spread(1 - others * lie, lie)
    least = math.log2(1 - mechanism.delta) - math.log2(others + 1) - _above(mechanism.epsilon) / math.log(2) - 2
    return _Table(mechanism.values, fixed, least, rational)


@_table.register
def _sets(mechanism: SetResponse, rows: Sequence[Any]) -> _Table:
    universe = mechanism.universe
    if 1 << len(universe) > _MOST_OUTPUTS:
        raise KindError(f"a universe of {len(universe)} elements has 2^{len(universe)} sets, too many for a channel")
    subsets = [frozenset(some) for size in range(len(universe) + 1) for some in itertools.combinations(universe, size)]
    places = {subset: place for place, subset in enumerate(subsets)}
    secrets = [subsets[_listed(frozenset(point), places, row)] for row, point in enumerate(rows)]
    flips = np.array([[len(secret ^ output) for output in subsets] for secret in secrets])

    def spread(flip: Any, finish: Callable[[Any], Any]) -> Weights:
        size = len(universe)
        terms = [finish(flip**count * (1 - flip) ** (size - count)) for count in range(size + 1)]
        weights: Weights = np.array(terms, dtype=object)[flips]
        return weights

    def fixed(bits: int) -> Weights:
        with precision(bits + 64):
            return spread(mechanism.flip(), lambda share: _fixed(share, bits))

    growth = _rational_exponential(mechanism.metric.level)
    rational = None if growth is None else lambda: spread(1 / (1 + growth), lambda share: share)
    least = -len(universe) * (_above(mechanism.metric.level) / math.log(2) + 1) - 1
    return _Table(tuple(subsets), fixed, least, rational)


@_table.register
def _exponential(mechanism: Exponential, rows: Sequence[Any]) -> _Table:
    places = [_listed(point, mechanism._labels.places, row) for row, point in enumerate(rows)]

    def fixed(bits: int) -> Weights:
        with precision(bits + 64):
            return np.array(
                [[_fixed(share, bits) for share in mechanism.probabilities(place)] for place in places], dtype=object
            )

    finite = mechanism.space.distances[np.isfinite(mechanism.space.distances)]
    least = -float(mechanism.share) * float(finite.max()) / math.log(2) - math.log2(len(mechanism.space)) - 1
    return _Table(mechanism.space.points, fixed, least)


@_table.register
def _composed(mechanism: Composed, rows: Sequence[Any]) -> _Table:
    return _side_by_side([_part(part, list(rows)) for part in mechanism.mechanisms])


@_table.register
def _independent(mechanism: Independent, rows: Sequence[Any]) -> _Table:
    count = len(mechanism.mechanisms)
    for row, point in enumerate(rows):
        if not isinstance(point, tuple) or len(point) != count:
            raise ShapeError(f"records of {count} attributes are wanted", row)
    columns = [[point[place] for point in rows] for place in range(count)]
    return _side_by_side([_part(part, column) for part, column in zip(mechanism.mechanisms, columns, strict=True)])


@_table.register
def _postprocessed(mechanism: Postprocessed, rows: Sequence[Any]) -> _Table:
    before = _part(mechanism.mechanism, list(rows))
    images = [frozen(mechanism.function(output)) for output in before.outputs]
    outputs = tuple(dict.fromkeys(images))
    columns = [[place for place, image in enumerate(images) if image == output] for output in outputs]

    def fixed(bits: int) -> Weights:
        finer = before.fixed(bits + _GUARD_BITS)
        sums = [[sum(values[place] for place in some) for some in columns] for values in finer.tolist()]
        return _coarser(np.array(sums, dtype=object), _GUARD_BITS)

    def rational() -> Any:
        assert before.rational is not None
        return [
            [sum((values[place] for place in some), Fraction(0)) for some in columns] for values in before.rational()
        ]

    return _Table(outputs, fixed, before.least, rational if before.rational is not None else None)


def _part(mechanism: Any, rows: list[Any]) -> _Table:
    """The table of a mechanism inside another, a Channel included."""
    if not isinstance(mechanism, Channel):
        return _table(mechanism, rows)
    weights = mechanism.weights[[mechanism.row(point) for point in rows]]
    total = mechanism.total
    least = min(value for value in weights.ravel().tolist() if value)

    def fixed(bits: int) -> Weights:
        return np.array([[-(-(value << bits) // total) for value in row] for row in weights.tolist()], dtype=object)

    def rational() -> Any:
        return np.array([[Fraction(value, total) for value in row] for row in weights.tolist()], dtype=object)

    return _Table(mechanism.outputs, fixed, least.bit_length() - total.bit_length() - 2, rational)


def _side_by_side(parts: Sequence[_Table]) -> _Table:
    if math.prod(len(part.outputs) for part in parts) > _MOST_OUTPUTS:
        raise KindError(f"together these mechanisms have more than {_MOST_OUTPUTS} outputs, too many for a channel")

    def fixed(bits: int) -> Weights:
        finer = bits + _GUARD_BITS
        product, *others = (part.fixed(finer) for part in parts)
        for other in others:
            pairs = product[:, :, None] * other[:, None, :]
            product = _coarser(pairs.reshape(len(pairs), -1), finer)
        return _coarser(product, _GUARD_BITS)

    def rational() -> Any:
        product, *others = (np.asarray(part.rational(), dtype=object) for part in parts if part.rational is not None)
        for other in others:
            product = (product[:, :, None] * other[:, None, :]).reshape(len(product), -1)
        return product

    outputs = tuple(itertools.product(*(part.outputs for part in parts)))
    exact = all(part.rational is not None for part in parts)
    return _Table(outputs, fixed, sum(part.least for part in parts), rational if exact else None)


def _coarser(weights: Weights, bits: int) -> Weights:
    """Fixed-point numbers with fewer bits, rounded up so that only zero is zero."""
    coarser: Weights = -((-weights) >> bits)
    return coarser


def _fixed(probability: arb, bits: int) -> int:
    """``probability * 2^bits`` rounded up, off by less than 1 since the ball is far finer than that."""
    if probability.is_zero():
        return 0
    whole = (probability * arb((1, bits))).upper().ceil().unique_fmpz()
    assert whole is not None  # the upper end of a finite ball, rounded up
    return max(1, int(whole))


def _moved(fixed: FixedPoint, weights: Weights, total: int) -> float:
    """The largest total variation of a row, from above: fixed-point numbers of twice as many bits are off by 1 each."""
    bits = total.bit_length() - 1
    finer = fixed(bits + _GUARD_BITS)
    change = max(
        sum(abs((weight << _GUARD_BITS) - value) + 1 for weight, value in zip(row, ideal, strict=True))
        for row, ideal in zip(weights.tolist(), finer.tolist(), strict=True)
    )
    return float_above(Fraction(change, 2 << (bits + _GUARD_BITS)))


def _above(level: Level) -> float:
    """A float that is not below a level."""
    return level.enclose().outward[1]


def _log2_below(level: Level) -> int:
    """An integer that is not above the logarithm to base 2 of a level."""
    low = Fraction(level.enclose().lower)
    return low.numerator.bit_length() - low.denominator.bit_length() - 1


def _rational_exponential(level: Level, distance: Fraction = Fraction(1)) -> Fraction | None:
    """exp(level · distance), where it is rational."""
    root = Root.of(level * distance)
    return None if root is None else root.rational


def _cell(point: Any, mechanism: Geometric, row: int) -> int:
    steps = number(point, row) / mechanism.step
    if mechanism.snap:
        steps = Fraction(math.floor(steps + Fraction(1, 2)))
    if steps.denominator != 1:
        raise OffGridError(f"between two steps of {mechanism.step}", row)
    if not 0 <= steps <= (mechanism.k or 0):
        raise OutOfDomainError(f"outside 0 .. {mechanism.k} steps of {mechanism.step}", row)
    return int(steps)


def _point(value: Fraction) -> int | float | Fraction:
    if value.denominator == 1:
        return value.numerator
    return float(value) if Fraction(float(value)) == value else value


def _listed(point: Any, places: dict[Any, int], row: int) -> int:
    place = places.get(point)
    if place is None:
        raise UnknownCategoryError("not one of the mechanism's declared values", row)
    return place
