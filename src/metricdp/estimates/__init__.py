"""What a released table says: corrected statistics with intervals, at no cost in privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.estimates.asking import estimate
    from metricdp.estimates.deconvolution import FittedShares, iterative_bayesian_update
    from metricdp.estimates.results import Estimate, Estimates
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Estimate": "results",
            "Estimates": "results",
            "FittedShares": "deconvolution",
            "estimate": "asking",
            "iterative_bayesian_update": "deconvolution",
        },
    )

__all__ = ["Estimate", "Estimates", "FittedShares", "estimate", "iterative_bayesian_update"]
