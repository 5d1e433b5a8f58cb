"""Private answers: one number at a time, workloads of linear queries over a universe, and synthetic data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.queries.select.asking import Asking, ask
    from metricdp.queries.select.query_policy import QueryPolicy
    from metricdp.queries.select.select_statements import read_select
    from metricdp.queries.select.table_answers import TableAnswers
    from metricdp.queries.single.aggregates import Average, Percentile, Sum, maximum, median, minimum
    from metricdp.queries.single.answer_plans import Plan, plan
    from metricdp.queries.single.answer_spaces import induced_space
    from metricdp.queries.single.answering import Answer, answer
    from metricdp.queries.single.counts import CellCounts, Count
    from metricdp.queries.single.finite_functions import FiniteFunction, Uniformity, uniformity
    from metricdp.queries.single.query import AnswerGrid, Query
    from metricdp.queries.single.sensitivities import Sensitivity, sensitivity
    from metricdp.queries.synthetic_data.choosing import Chosen, ExponentialChoice, choose
    from metricdp.queries.synthetic_data.multiplicative_weights import Weighted, mwem, mwem_bound
    from metricdp.queries.synthetic_data.small_databases import SmallDatabase, small_database, small_database_size
    from metricdp.queries.synthetic_data.synthetic import MeasuredError, Synthetic, measured_error
    from metricdp.queries.universes.columns import Boolean, Category
    from metricdp.queries.universes.counting import histogram
    from metricdp.queries.universes.histograms import Histogram
    from metricdp.queries.universes.intervals import Date, Integer, Number
    from metricdp.queries.universes.predicates import col
    from metricdp.queries.universes.questions import count, marginal, marginals, prefixes, ranges, total
    from metricdp.queries.universes.summing import Totals, totals
    from metricdp.queries.universes.universe import Universe
    from metricdp.queries.workloads.allocating import allocate
    from metricdp.queries.workloads.allocating_answers import Answers
    from metricdp.queries.workloads.allocation import Allocation
    from metricdp.queries.workloads.biased import allocate_biased
    from metricdp.queries.workloads.consistency import Consistent, consistent
    from metricdp.queries.workloads.statistical import attribute_averages, statistical
    from metricdp.queries.workloads.workload import Workload

_HOME = {
    "Allocation": "workloads.allocation",
    "Answer": "single.answering",
    "AnswerGrid": "single.query",
    "Answers": "workloads.allocating_answers",
    "Asking": "select.asking",
    "Average": "single.aggregates",
    "Boolean": "universes.columns",
    "Category": "universes.columns",
    "CellCounts": "single.counts",
    "Chosen": "synthetic_data.choosing",
    "Consistent": "workloads.consistency",
    "Count": "single.counts",
    "Date": "universes.intervals",
    "ExponentialChoice": "synthetic_data.choosing",
    "FiniteFunction": "single.finite_functions",
    "Histogram": "universes.histograms",
    "Integer": "universes.intervals",
    "MeasuredError": "synthetic_data.synthetic",
    "Number": "universes.intervals",
    "Percentile": "single.aggregates",
    "Plan": "single.answer_plans",
    "Query": "single.query",
    "QueryPolicy": "select.query_policy",
    "Sensitivity": "single.sensitivities",
    "SmallDatabase": "synthetic_data.small_databases",
    "Sum": "single.aggregates",
    "Synthetic": "synthetic_data.synthetic",
    "TableAnswers": "select.table_answers",
    "Totals": "universes.summing",
    "Uniformity": "single.finite_functions",
    "Universe": "universes.universe",
    "Weighted": "synthetic_data.multiplicative_weights",
    "Workload": "workloads.workload",
    "allocate": "workloads.allocating",
    "allocate_biased": "workloads.biased",
    "answer": "single.answering",
    "ask": "select.asking",
    "attribute_averages": "workloads.statistical",
    "choose": "synthetic_data.choosing",
    "col": "universes.predicates",
    "consistent": "workloads.consistency",
    "count": "universes.questions",
    "histogram": "universes.counting",
    "induced_space": "single.answer_spaces",
    "marginal": "universes.questions",
    "marginals": "universes.questions",
    "maximum": "single.aggregates",
    "measured_error": "synthetic_data.synthetic",
    "median": "single.aggregates",
    "minimum": "single.aggregates",
    "mwem": "synthetic_data.multiplicative_weights",
    "mwem_bound": "synthetic_data.multiplicative_weights",
    "plan": "single.answer_plans",
    "prefixes": "universes.questions",
    "ranges": "universes.questions",
    "read_select": "select.select_statements",
    "sensitivity": "single.sensitivities",
    "small_database": "synthetic_data.small_databases",
    "small_database_size": "synthetic_data.small_databases",
    "statistical": "workloads.statistical",
    "total": "universes.questions",
    "totals": "universes.summing",
    "uniformity": "single.finite_functions",
}

__all__ = [
    "Allocation",
    "Answer",
    "AnswerGrid",
    "Answers",
    "Asking",
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
    "QueryPolicy",
    "Sensitivity",
    "SmallDatabase",
    "Sum",
    "Synthetic",
    "TableAnswers",
    "Totals",
    "Uniformity",
    "Universe",
    "Weighted",
    "Workload",
    "allocate",
    "allocate_biased",
    "answer",
    "ask",
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
    "read_select",
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
