"""The channel of a mechanism that has finitely many outputs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from metricdp.channels.algebra import restrict
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.pairs import Pairs
from metricdp.channels.proved import Proved
from metricdp.channels.rounding import round_inside
from metricdp.channels.verify import verify
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.balls import float_above
from metricdp.exact.weights import Weights
from metricdp.mechanisms.law import FixedPoint, Law, as_inputs
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.metrics import Guarantee, Space

__all__ = ["certified", "of"]

_GUARD_BITS = 32
_MOST_BITS = 1 << 16


def of(mechanism: Mechanism, inputs: Iterable[Any]) -> Channel:
    """The channel of a mechanism with finitely many outputs, on some of its inputs.

    Where its probabilities are rational, as at level ln 2, they stay what they are. Elsewhere, rounding a tight
    mechanism would break its tight constraints; so the channel is built a hair inside them, and verified, and
    `Certified.moved` says how far it moved, about 2^-64.

    Args:
        mechanism: `truncated_geometric`, `laplace` of numbers or dates within bounds, `randomized_response`,
            `set_response` on few elements, `exponential`, a Channel, any `independent`, `compose` or `postprocess` of
            these, and every other mechanism that has a `Mechanism.law`.
        inputs: the secrets that become the rows.

    Guarantee:
        That of the mechanism, verified for the channel.

    Raises:
        ArgumentError: the mechanism has no finite list of outputs.
        TooLargeError: it has too many, or some are too improbable to be written down.
        DataError: an input that the mechanism does not take; names the row.

    References:
        Paper 1, Fig. 2 (iv); paper 2, Examples 1 and 6.

    >>> import metricdp as mdp
    >>> C = of(mdp.truncated_geometric(mdp.ln(2) * mdp.metrics.absolute(), steps=2), range(3))
    >>> print(C)
    channel of 3 inputs and 3 outputs, weights out of 6
    ln 2·|x − y|-private
         0    1    2
    0  2/3  1/6  1/6
    1  1/3  1/3  1/3
    2  1/6  1/6  2/3
    """
    if not callable(getattr(mechanism, "law", None)):
        raise ArgumentError(
            'channels.of takes a mechanism, such as mdp.randomized_response(["yes", "no"], 1), not '
            f"{type(mechanism).__name__}; Channel.from_matrix makes a channel of probabilities"
        )
    rows = as_inputs(inputs)
    if isinstance(mechanism, Channel):
        return restrict(mechanism, rows)
    return certified(mechanism.law(rows), mechanism.guarantee)


def certified(law: Law, guarantee: Guarantee) -> Certified:
    """The channel of a law whose promise is known, verified.

    Raises:
        TooLargeError: some outputs are too improbable to be written down.
        ImpossibleError: the channel could not be proved to keep the promise.
    """
    space = Space(law.inputs, guarantee.metric)
    if law.rational is not None:
        plain, moved = Channel.from_matrix(law.inputs, law.outputs, law.rational()), 0.0
    else:
        if -law.least > _MOST_BITS:
            raise TooLargeError(
                f"some outputs of this mechanism have probabilities below 2^-{_MOST_BITS}, too small for a channel: "
                "take fewer points, or a smaller level",
                f"{-law.least:,.0f} bits for each probability",
            )
        weights, total = round_inside(law.fixed, law.least, Pairs.of(law.inputs, space))
        plain, moved = Channel(law.inputs, law.outputs, weights, total), _moved(law.fixed, weights, total)
    verdict = verify(plain, space, guarantee.delta)
    if not verdict:
        raise ImpossibleError(f"the rounded channel could not be proved private: {verdict}")
    return Certified(plain.inputs, plain.outputs, plain.weights, plain.total, Proved.of(guarantee), moved)


def _moved(fixed: FixedPoint, weights: Weights, total: int) -> float:
    """The largest total variation of a row, from above: fixed-point numbers of twice as many bits are off by 1 each."""
    bits = total.bit_length() - 1
    finer = fixed(bits + _GUARD_BITS)
    change = max(
        sum(abs((weight << _GUARD_BITS) - value) + 1 for weight, value in zip(row, ideal, strict=True))
        for row, ideal in zip(weights.tolist(), finer.tolist(), strict=True)
    )
    return float_above(Fraction(change, 2 << (bits + _GUARD_BITS)))
