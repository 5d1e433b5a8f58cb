"""Mechanisms that are best for every prior at once, and comparisons of two mechanisms over all priors."""

from metricdp.design.universal._compare import Comparison, compare
from metricdp.design.universal._every_loss import EveryLoss, optimal_for_every_loss
from metricdp.design.universal._existence import (
    UniversalExample,
    UniversalMechanism,
    universal_example,
    universal_mechanism,
)
from metricdp.design.universal._universally_optimal import Universality, universally_optimal

__all__ = [
    "Comparison",
    "EveryLoss",
    "UniversalExample",
    "UniversalMechanism",
    "Universality",
    "compare",
    "optimal_for_every_loss",
    "universal_example",
    "universal_mechanism",
    "universally_optimal",
]


def __dir__() -> list[str]:
    return __all__
