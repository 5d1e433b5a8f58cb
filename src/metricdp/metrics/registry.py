"""Metrics by the names that TOML, policies and commands call them, also those of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.extensions import Registry
from metricdp.metrics.metric import Metric

__all__ = ["METRICS", "NAMED", "named_metric"]

NAMED = (
    "absolute",
    "euclidean",
    "manhattan",
    "chebyshev",
    "great_circle",
    "dates",
    "discrete",
    "hamming",
    "symmetric_difference",
)
"""Metrics of the package that need no more than their name."""


def _problem(constructor: Any) -> str:
    return "" if callable(constructor) else "a function that returns a Metric is wanted"


METRICS: Registry[Callable[..., Metric]] = Registry(
    "metrics",
    "metric",
    {
        "absolute": "metricdp.metrics.vectors:absolute",
        "add_remove": "metricdp.metrics.records:add_remove",
        "attributes": "metricdp.metrics.records:attributes",
        "blowfish": "metricdp.metrics.blowfish:blowfish",
        "capped": "metricdp.metrics.algebra:capped",
        "chebyshev": "metricdp.metrics.vectors:chebyshev",
        "dates": "metricdp.metrics.dates:dates",
        "discrete": "metricdp.metrics.finite:discrete",
        "euclidean": "metricdp.metrics.vectors:euclidean",
        "graph_of": "metricdp.metrics.graph:graph_of",
        "great_circle": "metricdp.metrics.sphere:great_circle",
        "hamming": "metricdp.metrics.records:hamming",
        "individuals": "metricdp.metrics.finite:individuals",
        "manhattan": "metricdp.metrics.vectors:manhattan",
        "matrix": "metricdp.metrics.finite:matrix",
        "normalized_manhattan": "metricdp.metrics.vectors:normalized_manhattan",
        "nullable": "metricdp.metrics.nullable:nullable",
        "records": "metricdp.metrics.records:records",
        "smooth": "metricdp.metrics.blowfish:smooth",
        "square_integrable": "metricdp.metrics.functions:square_integrable",
        "supremum": "metricdp.metrics.functions:supremum",
        "symmetric_difference": "metricdp.metrics.sets:symmetric_difference",
        "taxonomy": "metricdp.metrics.taxonomies:taxonomy",
        "unprotected": "metricdp.metrics.finite:unprotected",
        "value_budgets": "metricdp.metrics.records:value_budgets",
    },
    _problem,
)
"""Constructors of metrics; a metric's ``kind`` is the name of its own."""


def named_metric(name: str) -> Metric | None:
    """The metric of a name that needs no more than that; None where there is none.

    >>> named_metric("great-circle")
    great_circle()
    """
    constructor = METRICS.find(name.replace("-", "_").lower())
    if constructor is None:
        return None
    try:
        inspect.signature(constructor).bind()
    except TypeError:  # it needs arguments
        return None
    metric = constructor()
    if not isinstance(metric, Metric):
        raise ArgumentError(f"the metric {name!r} is registered, but {constructor!r} returns no Metric")
    return metric
