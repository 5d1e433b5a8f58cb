"""Private answers: one number at a time, workloads of linear queries over a universe, and synthetic data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.queries.select.asking import Asking, ask
    from metricdp.queries.select.table_answers import TableAnswers
    from metricdp.queries.single.aggregates import Average, Percentile, Sum, maximum, median, minimum
    from metricdp.queries.single.answer import Answer, answer
    from metricdp.queries.single.counts import CellCounts, Count
    from metricdp.queries.single.finite_functions import FiniteFunction, Uniformity, uniformity
    from metricdp.queries.single.plan import AnswerPlan, plan
    from metricdp.queries.single.query import AnswerGrid, Query
    from metricdp.queries.single.sensitivity import Sensitivity, sensitivity
    from metricdp.queries.single.value_changes import FollowsValues, follows_values
    from metricdp.queries.synthetic_data.choose import Chosen, ExponentialChoice, choose
    from metricdp.queries.synthetic_data.mwem import Weighted, mwem, mwem_bound
    from metricdp.queries.synthetic_data.preprocessing import Preprocessed, best_rounds, best_size, preprocess
    from metricdp.queries.synthetic_data.small_database import SmallDatabase, small_database, small_database_size
    from metricdp.queries.synthetic_data.synthesize import synthesize
    from metricdp.queries.synthetic_data.synthetic import MeasuredError, Synthetic, measured_error
    from metricdp.queries.synthetic_data.synthetic_table import SyntheticTable
    from metricdp.queries.universes.counting import histogram
    from metricdp.queries.universes.histograms import Histogram
    from metricdp.queries.universes.questions import count, marginal, marginals, prefixes, ranges, total
    from metricdp.queries.universes.summing import Totals, totals
    from metricdp.queries.universes.universe import Universe
    from metricdp.queries.workloads.allocate import allocate
    from metricdp.queries.workloads.allocate_biased import allocate_biased
    from metricdp.queries.workloads.allocation import Allocation
    from metricdp.queries.workloads.answers import Answers
    from metricdp.queries.workloads.consistent import Consistent, consistent
    from metricdp.queries.workloads.improvement import improvement_factor
    from metricdp.queries.workloads.statistical import attribute_averages, statistical
    from metricdp.queries.workloads.workload import Workload
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Allocation": "workloads.allocation",
            "Answer": "single.answer",
            "AnswerGrid": "single.query",
            "Answers": "workloads.answers",
            "Asking": "select.asking",
            "Average": "single.aggregates",
            "CellCounts": "single.counts",
            "Chosen": "synthetic_data.choose",
            "Consistent": "workloads.consistent",
            "Count": "single.counts",
            "ExponentialChoice": "synthetic_data.choose",
            "FiniteFunction": "single.finite_functions",
            "FollowsValues": "single.value_changes",
            "Preprocessed": "synthetic_data.preprocessing",
            "best_rounds": "synthetic_data.preprocessing",
            "best_size": "synthetic_data.preprocessing",
            "follows_values": "single.value_changes",
            "improvement_factor": "workloads.improvement",
            "preprocess": "synthetic_data.preprocessing",
            "Histogram": "universes.histograms",
            "MeasuredError": "synthetic_data.synthetic",
            "Percentile": "single.aggregates",
            "AnswerPlan": "single.plan",
            "Query": "single.query",
            "Sensitivity": "single.sensitivity",
            "SmallDatabase": "synthetic_data.small_database",
            "Sum": "single.aggregates",
            "Synthetic": "synthetic_data.synthetic",
            "SyntheticTable": "synthetic_data.synthetic_table",
            "TableAnswers": "select.table_answers",
            "Totals": "universes.summing",
            "Uniformity": "single.finite_functions",
            "Universe": "universes.universe",
            "Weighted": "synthetic_data.mwem",
            "Workload": "workloads.workload",
            "allocate": "workloads.allocate",
            "allocate_biased": "workloads.allocate_biased",
            "answer": "single.answer",
            "ask": "select.asking",
            "attribute_averages": "workloads.statistical",
            "choose": "synthetic_data.choose",
            "consistent": "workloads.consistent",
            "count": "universes.questions",
            "histogram": "universes.counting",
            "marginal": "universes.questions",
            "marginals": "universes.questions",
            "maximum": "single.aggregates",
            "measured_error": "synthetic_data.synthetic",
            "median": "single.aggregates",
            "minimum": "single.aggregates",
            "mwem": "synthetic_data.mwem",
            "mwem_bound": "synthetic_data.mwem",
            "plan": "single.plan",
            "prefixes": "universes.questions",
            "ranges": "universes.questions",
            "sensitivity": "single.sensitivity",
            "small_database": "synthetic_data.small_database",
            "small_database_size": "synthetic_data.small_database",
            "statistical": "workloads.statistical",
            "synthesize": "synthetic_data.synthesize",
            "total": "universes.questions",
            "totals": "universes.summing",
            "uniformity": "single.finite_functions",
        },
    )

__all__ = [
    "Allocation",
    "Answer",
    "AnswerGrid",
    "AnswerPlan",
    "Answers",
    "Asking",
    "Average",
    "CellCounts",
    "Chosen",
    "Consistent",
    "Count",
    "ExponentialChoice",
    "FiniteFunction",
    "FollowsValues",
    "Histogram",
    "MeasuredError",
    "Percentile",
    "Preprocessed",
    "Query",
    "Sensitivity",
    "SmallDatabase",
    "Sum",
    "Synthetic",
    "SyntheticTable",
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
    "best_rounds",
    "best_size",
    "choose",
    "consistent",
    "count",
    "follows_values",
    "histogram",
    "improvement_factor",
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
    "preprocess",
    "ranges",
    "sensitivity",
    "small_database",
    "small_database_size",
    "statistical",
    "synthesize",
    "total",
    "totals",
    "uniformity",
]
