"""Private answers: sensitivity, and one number about a column at a time."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.queries.aggregates import Average, Percentile, Sum, maximum, median, minimum
    from metricdp.queries.answer_plans import Plan, plan
    from metricdp.queries.answer_spaces import induced_space
    from metricdp.queries.answering import Answer, answer
    from metricdp.queries.counts import CellCounts, Count
    from metricdp.queries.finite_functions import FiniteFunction, Uniformity, uniformity
    from metricdp.queries.query import AnswerGrid, Query
    from metricdp.queries.sensitivities import Sensitivity, sensitivity

_HOME = {
    "Answer": "answering",
    "AnswerGrid": "query",
    "Average": "aggregates",
    "CellCounts": "counts",
    "Count": "counts",
    "FiniteFunction": "finite_functions",
    "Percentile": "aggregates",
    "Plan": "answer_plans",
    "Query": "query",
    "Sensitivity": "sensitivities",
    "Sum": "aggregates",
    "Uniformity": "finite_functions",
    "answer": "answering",
    "induced_space": "answer_spaces",
    "maximum": "aggregates",
    "median": "aggregates",
    "minimum": "aggregates",
    "plan": "answer_plans",
    "sensitivity": "sensitivities",
    "uniformity": "finite_functions",
}

__all__ = [
    "Answer",
    "AnswerGrid",
    "Average",
    "CellCounts",
    "Count",
    "FiniteFunction",
    "Percentile",
    "Plan",
    "Query",
    "Sensitivity",
    "Sum",
    "Uniformity",
    "answer",
    "induced_space",
    "maximum",
    "median",
    "minimum",
    "plan",
    "sensitivity",
    "uniformity",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: not every one of them needs the libraries of the others."""
    if name in _HOME:
        return getattr(importlib.import_module(f"metricdp.queries.{_HOME[name]}"), name)
    raise AttributeError(f"module 'metricdp.queries' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
