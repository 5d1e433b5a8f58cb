"""What a released table says: corrected statistics with intervals, at no cost in privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.estimates.asking import estimate
    from metricdp.estimates.collections import MeanCurve, TopElements
    from metricdp.estimates.comparison import ComparedAnswer, MovedColumn, ReleaseComparison, compare
    from metricdp.estimates.covariances import Correlation, Regression
    from metricdp.estimates.deconvolution import FittedShares, iterative_bayesian_update
    from metricdp.estimates.foresight import Foresight, foresee
    from metricdp.estimates.logistic import LogisticRegression
    from metricdp.estimates.place_questions import Flows, HeatMap
    from metricdp.estimates.results import Estimate, Estimates
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "ComparedAnswer": "comparison",
            "Correlation": "covariances",
            "Estimate": "results",
            "Estimates": "results",
            "FittedShares": "deconvolution",
            "Flows": "place_questions",
            "Foresight": "foresight",
            "HeatMap": "place_questions",
            "LogisticRegression": "logistic",
            "MeanCurve": "collections",
            "MovedColumn": "comparison",
            "Regression": "covariances",
            "ReleaseComparison": "comparison",
            "TopElements": "collections",
            "compare": "comparison",
            "estimate": "asking",
            "foresee": "foresight",
            "iterative_bayesian_update": "deconvolution",
        },
    )

__all__ = [
    "ComparedAnswer",
    "Correlation",
    "Estimate",
    "Estimates",
    "FittedShares",
    "Flows",
    "Foresight",
    "HeatMap",
    "LogisticRegression",
    "MeanCurve",
    "MovedColumn",
    "Regression",
    "ReleaseComparison",
    "TopElements",
    "compare",
    "estimate",
    "foresee",
    "iterative_bayesian_update",
]
