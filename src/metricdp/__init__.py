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

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp import adversaries, channels, design, errors, exact, mechanisms, metrics, plots, queries, tables
    from metricdp.channels import Channel
    from metricdp.exact.bits import seeded
    from metricdp.exact.level import ln
    from metricdp.mechanisms import (
        approximate_laplace,
        compose,
        exponential,
        function_expansion,
        function_samples,
        geometric,
        independent,
        laplace,
        postprocess,
        randomized_response,
        set_response,
        truncated_geometric,
    )
    from metricdp.metrics import Guarantee, Metric, Space, Verdict

__version__ = "0.1.0"

_HOME = {
    "ln": "exact.level",
    "seeded": "exact.bits",
    "Channel": "channels",
    "Guarantee": "metrics",
    "Metric": "metrics",
    "Space": "metrics",
    "Verdict": "metrics",
    "approximate_laplace": "mechanisms",
    "compose": "mechanisms",
    "exponential": "mechanisms",
    "function_expansion": "mechanisms",
    "function_samples": "mechanisms",
    "geometric": "mechanisms",
    "independent": "mechanisms",
    "laplace": "mechanisms",
    "postprocess": "mechanisms",
    "randomized_response": "mechanisms",
    "set_response": "mechanisms",
    "truncated_geometric": "mechanisms",
}
_FOLDERS = (
    "adversaries",
    "channels",
    "design",
    "errors",
    "exact",
    "mechanisms",
    "metrics",
    "plots",
    "queries",
    "tables",
)

__all__ = [
    "Channel",
    "Guarantee",
    "Metric",
    "Space",
    "Verdict",
    "adversaries",
    "approximate_laplace",
    "channels",
    "compose",
    "design",
    "errors",
    "exact",
    "exponential",
    "function_expansion",
    "function_samples",
    "geometric",
    "independent",
    "laplace",
    "ln",
    "mechanisms",
    "metrics",
    "plots",
    "postprocess",
    "queries",
    "randomized_response",
    "seeded",
    "set_response",
    "tables",
    "truncated_geometric",
]


def __getattr__(name: str) -> Any:
    """Import folders and names when they are first used, so that importing metricdp is quick."""
    if name in _FOLDERS:
        return importlib.import_module(f"metricdp.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"metricdp.{_HOME[name]}"), name)
    raise AttributeError(f"module 'metricdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
