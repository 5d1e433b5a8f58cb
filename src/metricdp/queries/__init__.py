"""Private answers: one number at a time, workloads of linear queries over a universe, and synthetic data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.queries.aggregates import Average, Percentile, Sum, maximum, median, minimum
    from metricdp.queries.allocating import allocate
    from metricdp.queries.allocating_answers import Answers
    from metricdp.queries.allocation import Allocation
    from metricdp.queries.answer_plans import Plan, plan
    from metricdp.queries.answer_spaces import induced_space
    from metricdp.queries.answering import Answer, answer
    from metricdp.queries.biased import allocate_biased
    from metricdp.queries.choosing import Chosen, ExponentialChoice, choose
    from metricdp.queries.columns import Boolean, Category
    from metricdp.queries.consistency import Consistent, consistent
    from metricdp.queries.counting import histogram
    from metricdp.queries.counts import CellCounts, Count
    from metricdp.queries.finite_functions import FiniteFunction, Uniformity, uniformity
    from metricdp.queries.histograms import Histogram
    from metricdp.queries.intervals import Date, Integer, Number
    from metricdp.queries.multiplicative_weights import Weighted, mwem, mwem_bound
    from metricdp.queries.predicates import col
    from metricdp.queries.query import AnswerGrid, Query
    from metricdp.queries.questions import count, marginal, marginals, prefixes, ranges, total
    from metricdp.queries.sensitivities import Sensitivity, sensitivity
    from metricdp.queries.small_databases import SmallDatabase, small_database, small_database_size
    from metricdp.queries.statistical import attribute_averages, statistical
    from metricdp.queries.summing import Totals, totals
    from metricdp.queries.synthetic import MeasuredError, Synthetic, measured_error
    from metricdp.queries.universe import Universe
    from metricdp.queries.workload import Workload

_HOME = {
    "Allocation": "allocation",
    "Answer": "answering",
    "AnswerGrid": "query",
    "Answers": "allocating_answers",
    "Average": "aggregates",
    "Boolean": "columns",
    "Category": "columns",
    "CellCounts": "counts",
    "Chosen": "choosing",
    "Consistent": "consistency",
    "Count": "counts",
    "Date": "intervals",
    "ExponentialChoice": "choosing",
    "FiniteFunction": "finite_functions",
    "Histogram": "histograms",
    "Integer": "intervals",
    "MeasuredError": "synthetic",
    "Number": "intervals",
    "Percentile": "aggregates",
    "Plan": "answer_plans",
    "Query": "query",
    "Sensitivity": "sensitivities",
    "SmallDatabase": "small_databases",
    "Sum": "aggregates",
    "Synthetic": "synthetic",
    "Totals": "summing",
    "Uniformity": "finite_functions",
    "Universe": "universe",
    "Weighted": "multiplicative_weights",
    "Workload": "workload",
    "allocate": "allocating",
    "allocate_biased": "biased",
    "answer": "answering",
    "attribute_averages": "statistical",
    "choose": "choosing",
    "col": "predicates",
    "consistent": "consistency",
    "count": "questions",
    "histogram": "counting",
    "induced_space": "answer_spaces",
    "marginal": "questions",
    "marginals": "questions",
    "maximum": "aggregates",
    "measured_error": "synthetic",
    "median": "aggregates",
    "minimum": "aggregates",
    "mwem": "multiplicative_weights",
    "mwem_bound": "multiplicative_weights",
    "plan": "answer_plans",
    "prefixes": "questions",
    "ranges": "questions",
    "sensitivity": "sensitivities",
    "small_database": "small_databases",
    "small_database_size": "small_databases",
    "statistical": "statistical",
    "total": "questions",
    "totals": "summing",
    "uniformity": "finite_functions",
}

__all__ = [
    "Allocation",
    "Answer",
    "AnswerGrid",
    "Answers",
    "Average",
    "Boolean",
    "Category",
    "CellCounts",
    "Chosen",
    "Consistent",
    "Count",
    "Date",
    "ExponentialChoice",
    "FiniteFunction",
    "Histogram",
    "Integer",
    "MeasuredError",
    "Number",
    "Percentile",
    "Plan",
    "Query",
    "Sensitivity",
    "SmallDatabase",
    "Sum",
    "Synthetic",
    "Totals",
    "Uniformity",
    "Universe",
    "Weighted",
    "Workload",
    "allocate",
    "allocate_biased",
    "answer",
    "attribute_averages",
    "choose",
    "col",
    "consistent",
    "count",
    "histogram",
    "induced_space",
    "marginal",
    "marginals",
    "maximum",
    "measured_error",
    "median",
    "minimum",
    "mwem",
    "mwem_bound",
    "plan",
    "prefixes",
    "ranges",
    "sensitivity",
    "small_database",
    "small_database_size",
    "statistical",
    "total",
    "totals",
    "uniformity",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: not every one of them needs the libraries of the others."""
    if name in _HOME:
        return getattr(importlib.import_module(f"metricdp.queries.{_HOME[name]}"), name)
    raise AttributeError(f"module 'metricdp.queries' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
