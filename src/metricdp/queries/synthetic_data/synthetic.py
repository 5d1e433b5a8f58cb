"""Synthetic histograms: data that were never anybody's, to answer a workload from."""

from __future__ import annotations

import html
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.mechanisms.containers import NotPrivate
from metricdp.metrics import Guarantee, Released
from metricdp.queries.workloads.linear_queries import LinearQueries, exact_answers, query_names, read_counts

__all__ = ["MeasuredError", "ReleaseStep", "Synthetic", "measured_error"]


@dataclass(frozen=True)
class ReleaseStep:
    """One release that a synthetic histogram was made from.

    Attributes:
        what: in words, such as "choose a query".
        share: of the metric d.
        guarantee: what it promises by itself.
    """

    what: str
    share: Fraction
    guarantee: Guarantee


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Released):
    """A histogram over the universe that stands in for the private one.

    Attributes:
        workload: the queries it was made for.
        counts: a weight for each cell, not negative, that sum to the number of records; cannot be written to.
        guarantee: what is promised of the private histogram, on databases of equally many records.
        steps: the releases it was made from; their guarantees sum to `guarantee`.
        method: how it was made.
        private: False where noise came from a seeded source; counts and answers are then marked too.

    Guarantee:
        ``guarantee``. What is computed from a synthetic histogram, such as `answers`, costs nothing more.
    """

    workload: LinearQueries
    counts: Floats
    guarantee: Guarantee
    steps: tuple[ReleaseStep, ...]
    method: str
    private: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self._shown(self.counts))

    @cached_property
    def answers(self) -> Floats:
        """The answers of the synthetic histogram to all queries, in their order."""
        return self._shown(self.workload.matrix @ np.asarray(self.counts))

    def _shown(self, numbers: Floats) -> Floats:
        """Numbers that cannot be written to, and say so where they are not private."""
        shown = numbers if self.private else numbers.view(NotPrivate)
        shown.setflags(write=False)
        return shown

    @property
    def total(self) -> int:
        """How many records it stands for."""
        return round(float(self.counts.sum()))

    def answer(self, name: Any) -> float:
        """The answer to one query, by its name."""
        return float(self.answers[query_names(self.workload).index(name)])

    def __repr__(self) -> str:
        queries, cells = self.workload.matrix.shape
        return f"Synthetic({self.method}, {queries} queries over {cells} cells, {self.promise})"

    def to_json(self) -> dict[str, Any]:
        """The histogram and its promise as plain values for JSON."""
        return {
            "method": self.method,
            "counts": self.counts.tolist(),
            "queries": [str(name) for name in query_names(self.workload)],
            "answers": self.answers.tolist(),
            "guarantee": self.guarantee.to_json(),
            "steps": [{"what": step.what, "share": str(step.share)} for step in self.steps],
            "private": self.private,
        }


@dataclass(frozen=True)
class MeasuredError:
    """How far synthetic answers are from the true ones. Not private: see `measured_error`.

    Attributes:
        worst: the largest error of a query.
        mean: the mean of the errors' absolute values.
        root_mean_square: the root of the mean squared error.
    """

    worst: float
    mean: float
    root_mean_square: float

    def to_json(self) -> dict[str, Any]:
        """The errors as plain values for JSON."""
        return {"worst": self.worst, "mean": self.mean, "root_mean_square": self.root_mean_square, "private": False}

    def _repr_html_(self) -> str:
        return f"<p>NOT private: {html.escape(repr(self))}</p>"


def measured_error(answers: Synthetic | Any, counts: Any, workload: LinearQueries | None = None) -> MeasuredError:
    """The true error of answers on data that are public. NOT PRIVATE: what it returns depends on the data directly.

    Use it on test data that anybody may see, to learn how a mechanism does; never on the data to be protected.

    Args:
        answers: a synthetic histogram, or the answers to all queries.
        counts: the public data.
        workload: the queries, where answers are not synthetic.

    >>> from metricdp.metrics import Space, discrete
    >>> from metricdp.queries.workloads.workload import Workload
    >>> measured_error([5, 2], [3, 2], Workload([[1, 0], [0, 1]], Space("ab", discrete()))).worst
    2.0
    """
    queries = answers.workload if isinstance(answers, Synthetic) else workload
    if queries is None:
        raise ArgumentError("measured_error needs the workload that the answers are for")
    given = answers.answers if isinstance(answers, Synthetic) else np.asarray(answers, dtype=np.float64)
    truth = exact_answers(queries.matrix, read_counts(queries, counts))
    errors = np.abs(given - np.array([float(value) for value in truth]))
    return MeasuredError(float(errors.max()), float(errors.mean()), float(np.sqrt((errors**2).mean())))
