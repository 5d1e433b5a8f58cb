"""Metric differential privacy.

A mechanism K is d-private when ``K(x)(Z) <= exp(d(x, x')) * K(x')(Z)`` for all secrets x, x' and every set Z of
outputs. You say how far apart two secrets are; metricdp releases them, exactly as private as it says.

>>> import metricdp as mdp
>>> d = mdp.metrics.great_circle().within(200, factor=2)
>>> K = mdp.laplace(d)
>>> K.guarantee.odds(200)
2.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp import (
        adversaries,
        audit,
        channels,
        design,
        errors,
        estimates,
        exact,
        integrations,
        ledger,
        mechanisms,
        metrics,
        papers,
        plots,
        policies,
        queries,
        sessions,
        sources,
        tables,
        testing,
    )
    from metricdp.channels import Channel
    from metricdp.exact.bits import seeded
    from metricdp.exact.level import ln
    from metricdp.mechanisms.continuous import approximate_laplace
    from metricdp.mechanisms.exponential import exponential
    from metricdp.mechanisms.functions import function_expansion, function_samples
    from metricdp.mechanisms.geometric import geometric, truncated_geometric
    from metricdp.mechanisms.laplace import laplace
    from metricdp.mechanisms.product import compose, independent, postprocess
    from metricdp.mechanisms.response import randomized_response
    from metricdp.mechanisms.set_response import set_response
    from metricdp.metrics import Guarantee, Metric, Space, Verdict
    from metricdp.sessions import Session
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Channel": "channels",
            "Guarantee": "metrics",
            "Metric": "metrics",
            "Session": "sessions",
            "Space": "metrics",
            "Verdict": "metrics",
            "adversaries": "",
            "approximate_laplace": "mechanisms",
            "audit": "",
            "channels": "",
            "compose": "mechanisms",
            "design": "",
            "errors": "",
            "estimates": "",
            "exact": "",
            "exponential": "mechanisms",
            "function_expansion": "mechanisms",
            "function_samples": "mechanisms",
            "geometric": "mechanisms",
            "independent": "mechanisms",
            "integrations": "",
            "laplace": "mechanisms",
            "ledger": "",
            "ln": "exact.level",
            "mechanisms": "",
            "metrics": "",
            "papers": "",
            "plots": "",
            "policies": "",
            "postprocess": "mechanisms",
            "queries": "",
            "randomized_response": "mechanisms",
            "seeded": "exact.bits",
            "sessions": "",
            "set_response": "mechanisms",
            "sources": "",
            "tables": "",
            "testing": "",
            "truncated_geometric": "mechanisms",
        },
        also=["__version__"],
    )

__version__ = "0.1.0"

__all__ = [
    "Channel",
    "Guarantee",
    "Metric",
    "Session",
    "Space",
    "Verdict",
    "adversaries",
    "approximate_laplace",
    "audit",
    "channels",
    "compose",
    "design",
    "errors",
    "estimates",
    "exact",
    "exponential",
    "function_expansion",
    "function_samples",
    "geometric",
    "independent",
    "integrations",
    "laplace",
    "ledger",
    "ln",
    "mechanisms",
    "metrics",
    "papers",
    "plots",
    "policies",
    "postprocess",
    "queries",
    "randomized_response",
    "seeded",
    "sessions",
    "set_response",
    "sources",
    "tables",
    "testing",
    "truncated_geometric",
]
