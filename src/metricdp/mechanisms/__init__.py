"""Random maps with a guarantee: Laplace, geometric, response, exponential, and their products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.mechanisms.continuous import approximate_laplace
    from metricdp.mechanisms.exponential import exponential
    from metricdp.mechanisms.functions import function_expansion, function_samples
    from metricdp.mechanisms.geometric import geometric, truncated_geometric
    from metricdp.mechanisms.laplace import laplace
    from metricdp.mechanisms.law import Law
    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.mechanisms.product import compose, independent, postprocess
    from metricdp.mechanisms.response import randomized_response
    from metricdp.mechanisms.set_response import set_response
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Law": "law",
            "Mechanism": "mechanism",
            "approximate_laplace": "continuous",
            "compose": "product",
            "exponential": "exponential",
            "function_expansion": "functions",
            "function_samples": "functions",
            "geometric": "geometric",
            "independent": "product",
            "laplace": "laplace",
            "postprocess": "product",
            "randomized_response": "response",
            "set_response": "set_response",
            "truncated_geometric": "geometric",
        },
    )

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
