"""The Laplace mechanisms of paper 1, Definition 6: density proportional to exp(-d(x, z)), rounded exactly to a grid.

On the line, in R^n for the three norms, on the globe, and for numbers that may be missing.
`metricdp.mechanisms.laplace` picks the one for a metric.
"""

from metricdp.mechanisms.continuous.line import ApproximateLaplace, LineLaplace, LineMechanism, approximate_laplace
from metricdp.mechanisms.continuous.nulls import NullableLaplace
from metricdp.mechanisms.continuous.sphere import SphereLaplace
from metricdp.mechanisms.continuous.vectors import VectorLaplace

__all__ = [
    "ApproximateLaplace",
    "LineLaplace",
    "LineMechanism",
    "NullableLaplace",
    "SphereLaplace",
    "VectorLaplace",
    "approximate_laplace",
]
