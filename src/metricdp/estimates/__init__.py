"""What a released table says: corrected statistics with intervals, at no cost in privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.estimates.asking import estimate
    from metricdp.estimates.collections import MeanCurve, TopElements
    from metricdp.estimates.covariances import Correlation, Regression
    from metricdp.estimates.deconvolution import FittedShares, iterative_bayesian_update
    from metricdp.estimates.results import Estimate, Estimates
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Correlation": "covariances",
            "Estimate": "results",
            "Estimates": "results",
            "FittedShares": "deconvolution",
            "MeanCurve": "collections",
            "Regression": "covariances",
            "TopElements": "collections",
            "estimate": "asking",
            "iterative_bayesian_update": "deconvolution",
        },
    )

__all__ = [
    "Correlation",
    "Estimate",
    "Estimates",
    "FittedShares",
    "MeanCurve",
    "Regression",
    "TopElements",
    "estimate",
    "iterative_bayesian_update",
]
