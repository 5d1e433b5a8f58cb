"""Consistent answers: the histogram without negative counts that is nearest to noisy answers, by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.bits import source
from metricdp.mechanisms.containers import NotPrivate
from metricdp.metrics import Guarantee
from metricdp.queries.synthetic_data.synthetic import ReleaseStep, Synthetic
from metricdp.queries.workloads.linear_queries import LinearQueries, read_queries

__all__ = ["Consistent", "consistent"]

_MOST_CELLS_AT_ONCE = 400
_STEPS_BETWEEN_CHECKS = 25
_CHECKS_BETWEEN_ENDS = 8
_MOST_ENDS = 1000
_NONE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Consistent(Synthetic):
    """What `consistent` makes.

    Attributes:
        distance: the sum of the squared differences between its answers and the given ones, each over its scale.
        gap: what it exceeds the least such sum by, at most.
    """

    distance: float = 0.0
    gap: float = 0.0


def consistent(
    workload: LinearQueries,
    answers: Any,
    scales: Any,
    total: int,
    *,
    guarantee: Guarantee,
    gap: float = 1e-6,
    most_steps: int = 20_000,
) -> Consistent:
    """The histogram h with ``h >= 0`` and ``sum h = n`` that minimises ``sum_k ((q_k(h) - a_k) / c_k)^2``.

    Its answers agree with one another, and are no further from the true ones than the noisy answers, each over its
    scale: the true histogram is one of those h, and projections onto a convex set come nearer to all its points.
    It is computed from the answers alone, and the same answers give the same histogram.

    Accelerated gradient steps, projected onto the simplex, find which cells are empty; least squares over the others
    then end it. The gap is Frank and Wolfe's: ``f(h) - f* <= sum_i g_i h_i - n min_i g_i`` with g the gradient.

    Args:
        workload: the K queries; its metric is not used.
        answers: a, noisy; what came from a seed and says so makes a result that says so too.
        scales: c of the noise of each; 0 for an answer without noise, which is then met closely.
        total: n, public.
        guarantee: that of the answers, which the result keeps.
        gap: stop when the distance is proved to be within this share of the least, or within this of it.
        most_steps: stop after this many steps; the result then tells the gap that is left.

    Guarantee:
        That of the answers: this is post-processing (paper 4, Fact 1).

    >>> import metricdp as mdp
    >>> from metricdp.queries.workloads.workload import Workload
    >>> workload = Workload(np.eye(3), mdp.Space("abc", mdp.metrics.discrete()))
    >>> made = consistent(workload, [7, -3, 2], [1, 1, 1], 8, guarantee=mdp.metrics.Guarantee(mdp.metrics.hamming()))
    >>> made.counts.round(6).tolist()
    [6.5, 0.0, 1.5]
    """
    matrix = read_queries(workload)
    noisy, spreads = _read(answers, "answers", len(matrix)), _read(scales, "scales", len(matrix))
    if (spreads < 0).any():
        raise ArgumentError("a scale is not negative")
    if isinstance(total, bool) or not isinstance(total, int | np.integer) or total < 0:
        raise ArgumentError("the total is a whole number of records, and public")
    least = spreads[spreads > 0].min(initial=1.0) if spreads.any() else 1.0
    weights = 1 / np.where(spreads > 0, spreads, least / 1024)
    problem = _Problem(matrix * weights[:, np.newaxis], noisy * weights, float(total))
    counts = problem.solve(gap, most_steps)
    return Consistent(
        workload, counts, guarantee, (ReleaseStep("given answers", Fraction(1), guarantee),),
        "consistent least squares",
        _private(answers), problem.value(counts), max(0.0, problem.gap(counts)),
    )  # fmt: skip


def _private(answers: Any) -> bool:
    """Whether the noise in the answers came from a secure source, as far as they say."""
    return source().private and bool(getattr(answers, "private", not isinstance(answers, NotPrivate)))


def _read(numbers: Any, what: str, count: int) -> Floats:
    values = np.asarray([float(value) for value in numbers])
    if len(values) != count:
        raise ArgumentError(f"one of the {what} for each of the {count} queries is wanted")
    if not np.isfinite(values).all():
        raise ArgumentError(f"NaN or infinity among the {what}, at place {int(np.argmin(np.isfinite(values)))}")
    return values


class _Problem:
    """Minimise ``|A p - b|^2`` over the shares ``p >= 0, sum p = 1``; counts are n times those."""

    def __init__(self, matrix: Floats, target: Floats, total: float) -> None:
        self._total = total
        # A constant added to a row adds the same to its answer whatever p: without it, steps may be longer.
        shifts = matrix.mean(axis=1)
        self._a = (matrix - shifts[:, np.newaxis]) * total
        self._b = target - shifts * total

    def value(self, counts: Floats) -> float:
        """The distance of a histogram's answers from those given."""
        return self._value(self._shares(counts))

    def gap(self, counts: Floats) -> float:
        """What that exceeds the least by, at most."""
        return self._gap(self._shares(counts))

    def solve(self, gap: float, most_steps: int) -> Floats:
        """The counts of the nearest histogram."""
        cells = self._a.shape[1]
        shares = np.full(cells, 1 / cells)
        if not self._total:
            return shares * 0.0
        for check in range(max(1, most_steps // _STEPS_BETWEEN_CHECKS)):
            shares = self._descend(shares, _STEPS_BETWEEN_CHECKS * (1 + check // 4))
            if check % _CHECKS_BETWEEN_ENDS == 0:
                ended = self._end(shares, gap)
                shares = ended if self._value(ended) < self._value(shares) else shares
            if self._gap(shares) <= gap * max(1.0, self._value(shares)):
                break
        return shares * self._total

    def _shares(self, counts: Floats) -> Floats:
        return counts / (self._total or 1.0)

    def _value(self, shares: Floats) -> float:
        rest = self._a @ shares - self._b
        return float(rest @ rest)

    def _slope(self, shares: Floats) -> Floats:
        slope: Floats = 2 * (self._a.T @ (self._a @ shares - self._b))
        return slope

    def _gap(self, shares: Floats) -> float:
        slope = self._slope(shares)
        return float(slope @ shares - slope.min() * shares.sum())

    def _descend(self, shares: Floats, steps: int) -> Floats:
        """Some of Nesterov's accelerated steps, begun anew wherever they lead uphill."""
        steepest = self._curvature()
        ahead, pace = shares, 1.0
        for _ in range(steps):
            slope = self._slope(ahead)
            after = _onto_simplex(ahead - slope / steepest)
            if slope @ (after - shares) > 0:
                ahead, pace = after, 1.0
            else:
                quicker = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
                ahead, pace = after + (pace - 1) / quicker * (after - shares), quicker
            shares = after
        return shares

    def _curvature(self) -> float:
        """The largest eigenvalue of the second derivative, from above: by the power method, with room."""
        if not hasattr(self, "_largest"):
            vector = np.ones(self._a.shape[0])
            vector += np.linspace(0, 0.5, len(vector))
            for _ in range(50):
                vector = self._a @ (self._a.T @ vector)
                length = float(np.linalg.norm(vector))
                if not length:
                    break
                vector /= length
            self._largest = 2.2 * length or 1.0
        return self._largest

    def _end(self, shares: Floats, gap: float) -> Floats:
        """Least squares over the cells that are not empty: emptying what turns negative, filling the best other."""
        held = np.where(shares > _NONE, shares, 0.0)
        held /= held.sum()
        for _ in range(_MOST_ENDS):
            cells = np.flatnonzero(held)
            if len(cells) > _MOST_CELLS_AT_ONCE:
                break
            part = self._a[:, cells]
            centred = part - part.mean(axis=1, keepdims=True)  # moves keep the sum
            move = np.linalg.lstsq(centred, self._b - self._a @ held, rcond=None)[0]
            move -= move.mean()
            falling = move < 0
            reach = np.full(len(cells), np.inf)
            reach[falling] = held[cells][falling] / -move[falling]
            step = min(1.0, float(reach.min()))
            held[cells] = np.maximum(held[cells] + step * move, 0.0)
            held[cells[reach <= step]] = 0.0
            held /= held.sum()
            if step < 1.0:
                continue
            slope = self._slope(held)
            if float(slope @ held - slope.min()) <= gap * max(1.0, self._value(held)):
                break
            best = int(np.argmin(slope))
            if held[best]:
                break
            held[best] = _NONE
        return held


def _onto_simplex(point: Floats) -> Floats:
    """The nearest point with nonnegative entries that sum to one."""
    falling = np.sort(point)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    nearest: Floats = np.maximum(point - over[last], 0.0)
    return nearest
