"""Mechanisms by their names, also those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.extensions import Registry
from metricdp.mechanisms.mechanism import Mechanism, is_mechanism

__all__ = ["MECHANISMS", "named_mechanism"]


def _problem(constructor: Any) -> str:
    return "" if callable(constructor) else "a function that returns a Mechanism is wanted"


MECHANISMS: Registry[Callable[..., Mechanism]] = Registry(
    "mechanisms",
    "mechanism",
    {
        "approximate_laplace": "metricdp.mechanisms.continuous.line:approximate_laplace",
        "compose": "metricdp.mechanisms.product:compose",
        "exponential": "metricdp.mechanisms.exponential:exponential",
        "function_expansion": "metricdp.mechanisms.functions:function_expansion",
        "function_samples": "metricdp.mechanisms.functions:function_samples",
        "geometric": "metricdp.mechanisms.geometric:geometric",
        "independent": "metricdp.mechanisms.product:independent",
        "laplace": "metricdp.mechanisms.laplace:laplace",
        "postprocess": "metricdp.mechanisms.product:postprocess",
        "randomized_response": "metricdp.mechanisms.response:randomized_response",
        "set_response": "metricdp.mechanisms.set_response:set_response",
        "truncated_geometric": "metricdp.mechanisms.geometric:truncated_geometric",
    },
    _problem,
)
"""Constructors of mechanisms."""


def named_mechanism(name: str, *arguments: Any, **options: Any) -> Mechanism:
    """The mechanism of that name, made with these arguments; ``-`` and ``_`` mean the same.

    Raises:
        ArgumentError: there is none of that name, two packages claim it, or it makes no mechanism.

    >>> named_mechanism("randomized-response", ["yes", "no"], 1).words()
    'randomized response among 2 values'
    """
    made = MECHANISMS[name.replace("-", "_")](*arguments, **options)
    if not is_mechanism(made):
        raise ArgumentError(f"the mechanism {name!r} is registered, but returns a {type(made).__name__}, no Mechanism")
    return made
