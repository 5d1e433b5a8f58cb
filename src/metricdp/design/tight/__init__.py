"""Tight-constraints mechanisms, and the scales of a metric at which they exist."""

from metricdp.design.tight._laplace_onto import laplace_onto
from metricdp.design.tight._least_scale import TightScales, least_scale
from metricdp.design.tight._structured import Line, Product, StructuredTight
from metricdp.design.tight._tight_constraints import TightConstraints, tight_constraints

__all__ = [
    "Line",
    "Product",
    "StructuredTight",
    "TightConstraints",
    "TightScales",
    "laplace_onto",
    "least_scale",
    "tight_constraints",
]


def __dir__() -> list[str]:
    return __all__
