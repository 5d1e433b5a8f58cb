"""Random maps with a guarantee: Laplace, geometric, response, exponential, and their products."""

from metricdp.lazy import listing
from metricdp.mechanisms.continuous import approximate_laplace
from metricdp.mechanisms.exponential import exponential
from metricdp.mechanisms.functions import function_expansion, function_samples
from metricdp.mechanisms.geometric import geometric, truncated_geometric
from metricdp.mechanisms.laplace import laplace
from metricdp.mechanisms.law import Law
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.product import compose, independent, postprocess
from metricdp.mechanisms.response import randomized_response, set_response

__all__ = [
    "Law",
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

__dir__ = listing(__all__)
