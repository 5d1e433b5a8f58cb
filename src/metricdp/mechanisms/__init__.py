"""Random maps with a guarantee: Laplace, geometric, response, exponential, and their products."""

from metricdp.mechanisms.continuous import approximate_laplace
from metricdp.mechanisms.finite import exponential
from metricdp.mechanisms.functions import function_expansion, function_samples
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.pick import laplace
from metricdp.mechanisms.product import compose, independent, postprocess
from metricdp.mechanisms.response import randomized_response, set_response
from metricdp.mechanisms.stepped import geometric, truncated_geometric

__all__ = [
    "Mechanism",
    "approximate_laplace",
    "compose",
    "exponential",
    "function_expansion",
    "function_samples",
    "geometric",
    "independent",
    "laplace",
    "postprocess",
    "randomized_response",
    "set_response",
    "truncated_geometric",
]
