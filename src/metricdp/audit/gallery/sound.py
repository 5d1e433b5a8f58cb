"""Sound mechanisms: ours, one of each, and references in whole numbers. The audit must not accuse them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.gallery.exhibit import Exhibit
from metricdp.exact.bits import source
from metricdp.exact.level import ln
from metricdp.mechanisms import (
    Mechanism,
    approximate_laplace,
    compose,
    exponential,
    function_samples,
    geometric,
    independent,
    laplace,
    postprocess,
    randomized_response,
    set_response,
    truncated_geometric,
)
from metricdp.metrics import (
    Guarantee,
    Space,
    absolute,
    chebyshev,
    dates,
    discrete,
    euclidean,
    great_circle,
    manhattan,
    nullable,
    supremum,
)

__all__ = ["sound"]


def _ours(name: str, mechanism: Mechanism, *pairs: tuple[Any, Any]) -> Exhibit:
    return Exhibit(name, "", "metricdp", mechanism.guarantee, pairs, mechanism.release)


def coin_response(rows: Any) -> NDArray[np.int64]:
    """Randomized response on two values: the truth in 3 of 4 calls, from two bits."""
    told = np.asarray(rows, dtype=np.int64)
    bits = source().words(len(told)) & np.uint64(3)
    return np.asarray(np.where(bits == 0, 1 - told, told))


def halving(rows: Any) -> NDArray[np.int64]:
    """A geometric mechanism of base 2, from the bits of words: the number of zeros before the first one."""
    told = np.asarray(rows, dtype=np.int64)
    zeros = [_zeros(source().words(len(told))) for _ in range(2)]
    return np.asarray(told + zeros[0] - zeros[1])


def _zeros(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    lowest = words & (~words + np.uint64(1))
    return np.asarray(
        np.where(words == 0, 64, np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64))), dtype=np.int64
    )


def sound() -> tuple[Exhibit, ...]:
    """Every mechanism of the package, and references; made when asked for."""
    near = (0.0, 1.0)
    line = Space.line(6, absolute() * Fraction(1, 2))
    day = np.datetime64("2024-02-29T12:30:01"), np.datetime64("2024-03-04T12:30:01")
    paris, near_paris = (48.8566, 2.3522), (48.8576, 2.3542)
    return (
        _ours("laplace on the line", laplace(absolute()), near, (0.1, 1 / 3)),
        _ours("laplace on cents", laplace(absolute() * Fraction(1, 4), resolution="0.01"), (0.0, 4.0), (0.1, 1.1)),
        _ours("laplace within bounds", laplace(absolute(), bounds=(0, 10)), (0.0, 1.0), (9.0, 10.0)),
        _ours("laplace with a delta", approximate_laplace(0, 100, 1, "0.01"), (0.0, 100.0)),
        _ours("laplace in the plane", laplace(euclidean(), dim=2), ((0.0, 0.0), (1.0, 0.0)), ((0.1, 0.2), (0.8, 0.9))),
        _ours("laplace in space", laplace(euclidean(), dim=3), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
        _ours("laplace L1", laplace(manhattan(), dim=2), ((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.5, 0.5))),
        _ours("laplace L∞", laplace(chebyshev(), dim=4), ((0.0,) * 4, (1.0,) * 4)),
        _ours(
            "laplace on the globe",
            laplace(great_circle().within(200)),
            (paris, near_paris),
            ((90.0, 0.0), (89.999, 9.0)),
        ),
        _ours("geometric", geometric(ln(2) * absolute()), (0, 1), (0, 3)),
        _ours("geometric in steps", geometric(absolute(), step="0.25"), (0.0, 0.25), (0.0, 1.0)),
        _ours(
            "truncated geometric", truncated_geometric(absolute() * Fraction(1, 2), steps=10), (0, 1), (9, 10), (0, 10)
        ),
        _ours("randomized response", randomized_response("abcd", 1), ("a", "b")),
        _ours("randomized response with a delta", randomized_response("abcd", 1, "0.05"), ("a", "b")),
        _ours(
            "set response", set_response("abcde", 1), (frozenset("a"), frozenset("ab")), (frozenset(), frozenset("abc"))
        ),
        _ours("exponential", exponential(line), (0, 1), (2, 5)),
        _ours(
            "null among numbers",
            laplace(nullable(absolute(), 100) * Fraction(1, 20), bounds=(0, 100)),
            (None, 0.0),
            (0.0, 30.0),
        ),
        _ours("dates", laplace(dates().within(5), resolution=Fraction(1, 86_400)), day),
        _ours(
            "function at times", function_samples(supremum() * 1, times=[0, 1, 2]), ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
        ),
        _ours(
            "records",
            independent(laplace(absolute()), geometric(absolute())),
            ((0.0, 0), (1.0, 0)),
            ((0.0, 0), (0.5, 1)),
        ),
        _ours("composed", compose(laplace(absolute()), geometric(absolute())), (0.0, 1.0)),
        _ours("postprocessed", postprocess(laplace(absolute()), np.floor), near),
        Exhibit("reference: two bits", "", "a coin of 3/4", Guarantee(ln(3) * discrete()), ((0, 1),), coin_response),
        Exhibit(
            "reference: halving", "", "zeros before a one", Guarantee(ln(2) * absolute()), ((0, 1), (0, 4)), halving
        ),
    )
