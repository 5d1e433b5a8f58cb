"""Exact draws by permute and flip: the place with the least loss, each less an exponential variable.

With weights ``p_j = exp(-rate (losses[j] - least))``, the candidates are gone through in random order, and the first
whose coin of chance p_j comes up is taken. That is the candidate with the greatest ``E_j - rate losses[j]``, where E_j
are independent exponential variables. Of m candidates with one loss, the greatest of their variables is
``-ln(1 - U^(1/m))`` for a uniform U, so each loss takes one uniform, however many candidates have it.

64 bits of each uniform and floats decide where one loss leads by a margin far beyond the error of floats; elsewhere
those that may lead are compared as balls, with as many more bits of the same uniforms as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.assumed import trusted
from metricdp.exact.balls import ball, precision
from metricdp.exact.bits import Source, source
from metricdp.exact.refine import _balls_only

__all__ = ["permute_and_flip"]

_MARGIN = 2.0**-28
"""The functions have relative errors of 2^-48 and less, and scores that can lead are below 2^10: 2^-36 is enough."""

_Whole = Sequence[int] | NDArray[Any]


def permute_and_flip(losses: _Whole, counts: _Whole, rate: Fraction) -> int:
    """A place j of the losses, by permute and flip among ``counts[j]`` candidates of each loss, exactly.

    Args:
        losses: increasing integers.
        counts: positive integers.
        rate: not negative.

    References:
        McKenna, Sheldon 2020, *Permute-and-Flip: A New Mechanism for Differentially Private Selection*; Ding and others
        2021 for the exponential variables.

    >>> sorted({permute_and_flip([0, 1], [1, 1], Fraction(1)) for _ in range(200)})
    [0, 1]
    >>> {permute_and_flip([0, 10**6], [1, 5], Fraction(1)) for _ in range(20)}
    {0}
    """
    if len(losses) != len(counts) or not len(losses) or min(counts) < 1 or rate < 0:
        raise ArgumentError("losses come with as many positive counts, and a rate that is not negative")
    bits = source()
    words = bits.words(len(losses))
    if trusted() and not _balls_only.get():
        contenders = _contenders(words, losses, counts, rate)
    else:
        contenders = np.arange(len(losses))
    if len(contenders) == 1:
        return int(contenders[0])
    drawn = {int(place): int(words[place]) for place in contenders}
    return _by_balls(bits, drawn, losses, counts, rate)


def _contenders(words: Any, losses: _Whole, counts: _Whole, rate: Fraction) -> NDArray[np.int64]:
    """The places that may lead, by floats: V = 1 - U lies between two neighbouring multiples of 2^-64."""
    depths = (np.asarray(losses) - losses[0]).astype(np.float64) * float(rate)
    many = np.asarray(counts).astype(np.float64)
    low = words.astype(np.float64) * 2.0**-64
    with np.errstate(divide="ignore"):
        least = _greatest(np.minimum(low * (1 + 2.0**-50) + 2.0**-64, 1.0), many) - depths
        most = _greatest(low * (1 - 2.0**-50), many) - depths
    margin = _MARGIN + depths * 2.0**-40
    return np.flatnonzero(most + margin >= (least - margin).max())


def _greatest(v: NDArray[np.float64], many: NDArray[np.float64]) -> NDArray[np.float64]:
    """The greatest of so many exponential variables, ``-ln(1 - (1 - V)^(1/m))``."""
    found: NDArray[np.float64] = -np.log(-np.expm1(np.log1p(-v) / many))
    return found


def _by_balls(bits: Source, drawn: dict[int, int], losses: _Whole, counts: _Whole, rate: Fraction) -> int:
    """The place that leads, in ball arithmetic, with as many bits of the uniforms as it takes."""
    read = 64
    while True:
        if all(drawn.values()):  # of a V that may be 0 the score has no bound
            with precision(2 * read + 64):
                scores = {
                    place: _score(word, read, int(counts[place])) - ball(rate * (int(losses[place]) - int(losses[0])))
                    for place, word in drawn.items()
                }
                leader = max(scores, key=lambda place: float(scores[place].lower()))
                drawn = {place: word for place, word in drawn.items() if not scores[place] < scores[leader]}
            if len(drawn) == 1:
                return leader
        drawn = {place: (word << 64) | bits.integer(64) for place, word in drawn.items()}
        read += 64


def _score(word: int, read: int, many: int) -> arb:
    """The greatest of so many exponential variables, where V has these bits."""
    unit = arb((1, -read))
    ends = [arb(fmpz(word)) * unit, arb(fmpz(word + 1)) * unit]
    found = [-(-((-end).log1p() / many).expm1()).log() if end < 1 else arb(0) for end in ends]
    return found[0].union(found[1])
