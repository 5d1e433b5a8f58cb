"""Losses and gains by their names, also those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metricdp.extensions import Registry

__all__ = ["LOSSES"]


def _problem(constructor: Any) -> str:
    return "" if callable(constructor) else "a function of the secrets and the space that returns a Loss is wanted"


LOSSES: Registry[Callable[..., Any]] = Registry(
    "losses",
    "loss",
    {
        "binary": "metricdp.adversaries._named_losses:for_a_wrong_guess",
        "bin": "metricdp.adversaries._named_losses:for_a_wrong_guess",
        "nib": "metricdp.adversaries._named_losses:for_the_right_guess",
        "identity": "metricdp.adversaries._named_losses:for_the_right_guess",
        "distance": "metricdp.adversaries._named_losses:by_distance",
        "squared": "metricdp.adversaries._named_losses:by_squared_distance",
    },
    _problem,
)
"""Functions of the secrets (a tuple) and of the space (or None, where nobody gave one) that return a `Loss`."""
