"""Lower bounds on the error of private mechanisms, beside the error that a channel reaches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.adversaries.constraints_matrix import decay
from metricdp.channels.arguments import ChannelLike, SpaceLike, as_channel, as_space
from metricdp.errors import ArgumentError, LevelError, MetricDPError
from metricdp.exact.balls import Enclosure, enclose
from metricdp.exact.level import LevelLike, rational
from metricdp.exact.outward import Bound
from metricdp.exact.results import Result, enclosure_json, number_json
from metricdp.metrics import Metric, Space, matrix
from metricdp.metrics.enclosures import VIEW_ERROR, Enclosures

__all__ = ["ErrorBound", "error_bound", "reached_error"]

_BITS = 192
_TRIED = 64
_ZERO = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class ErrorBound(Result):
    """Lower bounds on the worst expected error ``E = max over x of E ρ(K(x), x)`` of every private mechanism K.

    Attributes:
        space: the secrets D and the privacy metric d.
        error: the metric ρ in which errors are measured.
        delta: the δ of the promise.
        theorem_6: ``(1 - δ) diam / (2 (1 + e^ε))``, with the ρ-diameter of D and ε the largest d.
        theorem_7: ``(1 - δ) κ m / (m + e^ε)``, with m + 1 points and κ the least ρ between two.
        sharper: ``(1 - δ) max over u, v of ρ(u, v) / (1 + e^{d(u, v)})``, at least twice theorem_6.
        sharper_7: theorem_7 for a metric, at least as large; see `error_bound`.
        pair: the u, v of ``sharper``; None where there is but one point.
        point: the u of ``sharper_7``.

    Guarantee:
        all are rounded down; ``.exact`` of each is the number itself where it is rational.

    References:
        Paper 2, Theorems 6 and 7; ``papers/README.md``.
    """

    space: Space = field(repr=False)
    error: Metric
    delta: Fraction
    theorem_6: Bound
    theorem_7: Bound
    sharper: Bound
    sharper_7: Bound
    pair: tuple[Any, Any] | None
    point: Any

    @property
    def anywhere(self) -> Bound:
        """The best bound for mechanisms whose outputs need not be points of the space."""
        return max(self.theorem_6, self.sharper)

    @property
    def best(self) -> Bound:
        """The best bound for mechanisms whose outputs are points of the space."""
        return max(self.anywhere, self.theorem_7, self.sharper_7)

    def __float__(self) -> float:
        return float(self.best)

    def __str__(self) -> str:
        unit = f" {self.error.unit_name}" if self.error.unit_name else ""
        text = f"the worst expected error of a private mechanism is at least {float(self.anywhere):.6g}{unit}"
        if self.needs_outputs_in_space:
            text += f", and at least {float(self.best):.6g}{unit} if its outputs are points of the space"
        return text

    def to_json(self) -> dict[str, Any]:
        """The bounds as plain values for JSON, each rounded down, with the number itself where it is rational."""
        names = ("theorem_6", "theorem_7", "sharper", "sharper_7", "anywhere", "best")
        return {"error": str(self.error), "delta": number_json(self.delta)} | {
            name: enclosure_json(getattr(self, name).enclosure) for name in names
        }

    @property
    def needs_outputs_in_space(self) -> bool:
        """Whether `best` holds only for outputs in the space: a centroid outside it may do better (see `anywhere`)."""
        return self.best > self.anywhere


def error_bound(space: Space, error: Any = None, delta: LevelLike = 0) -> ErrorBound:
    """How far from the secret, at worst over secrets and on average over noise, every private mechanism must be.

    Two points u, v: with R = ρ(u, v), f = min(ρ(·, u), R) and g = min(ρ(·, v), R) we have f + g >= R. Privacy for the
    function 0 <= R - g <= R says ``E (R - g)(K(v)) <= e^d E (R - g)(K(u)) + δ R``. The left side is at least R - E, and
    R - g <= f has at most the expectation E at u, so ``R - E <= e^d E + δ R``, which is `ErrorBound.sharper`. Outputs
    may be anything at a distance ρ that keeps the triangle inequality.

    One point u against all v, with outputs in D: let κ(v) be the least ρ from v to another point. K(v) misses v with
    probability at most E / κ(v), so ``P(K(u) = v) >= e^{-d(u, v)} (1 - E / κ(v) - δ)``, and, for every set S of
    other points, ``E >= Σ over v in S of ρ(u, v) P(K(u) = v)``. With ``a(v) = ρ(u, v) e^{-d(u, v)}`` that is
    ``E >= (1 - δ) Σ a(v) / (1 + Σ a(v) / κ(v))``: `ErrorBound.sharper_7` is the maximum over u and S. With all
    a(v) >= κ e^{-ε}, it is at least Theorem 7.

    Args:
        space: the secrets and the privacy metric d.
        error: ρ, a metric, or a matrix of it over the points of the space; by default the metric of the space without
            the level before it.
        delta: the δ of (d, δ)-privacy, at least 0 and below 1.

    References:
        Paper 2, Section 6, Theorems 6 and 7.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import absolute
    >>> bound = error_bound(Space.line(5, ln(2) * absolute()))
    >>> bound.theorem_6.exact, bound.theorem_7.exact, bound.sharper.exact, bound.sharper_7.exact
    (Fraction(2, 17), Fraction(1, 5), Fraction(2, 5), Fraction(2, 3))
    """
    space = as_space(space, "error_bound")
    rho, loss = _error_metric(error, space), _delta(delta)
    size, points, keep = len(space), space.points, 1 - loss
    if size == 1:
        nothing = Bound.below(Fraction(0))
        return ErrorBound(space, rho, loss, nothing, nothing, nothing, nothing, None, points[0])
    numbers = _Numbers(space, rho)
    pair, sharper = numbers.best_pair()
    point, sharper_7 = numbers.best_point()
    decays = numbers.decays(numbers.farthest())
    spread = max((numbers.error(i, j) for i, j in numbers.widest()), key=lambda error: error.lower)
    closest = min((numbers.error(i, j) for i, j in numbers.closest()), key=lambda error: error.lower)
    theorem_6 = _scaled(Fraction(1, 2), _of_two(spread, decays))
    theorem_7 = _of_many([(closest, decays, closest)] * (size - 1))
    return ErrorBound(
        space,
        rho,
        loss,
        theorem_6=Bound.below(_scaled(keep, theorem_6)),
        theorem_7=Bound.below(_scaled(keep, theorem_7)),
        sharper=Bound.below(_scaled(keep, sharper)),
        sharper_7=Bound.below(_scaled(keep, sharper_7)),
        pair=(points[pair[0]], points[pair[1]]),
        point=points[point],
    )


def reached_error(channel: ChannelLike, space: SpaceLike, error: Any = None) -> Bound:
    """The worst expected error of a channel: ``max over x of Σ_z K(x)(z) ρ(x, z)``, rounded up.

    Never below `error_bound` of the same space, if the channel is private for it and its outputs are points.

    Args:
        channel: with the points of the space as inputs; its outputs are points of the error metric.
        space: the secrets and the privacy metric.
        error: ρ, as in `error_bound`.

    Raises:
        ArgumentError: the channel lacks a point of the space, or an output is none of the error metric.

    References:
        Paper 2, Equation 13.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.channels.channel import Channel
    >>> from metricdp.metrics import discrete
    >>> response = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> space = Space("ab", ln(2) * discrete())
    >>> reached_error(response, space).exact, error_bound(space).theorem_7.exact
    (Fraction(1, 3), Fraction(1, 3))
    """
    channel = as_channel(channel, "reached_error", space.points if isinstance(space, Space) else None)
    space = as_space(space, "reached_error", channel.inputs)
    rho = _error_metric(error, space)
    worst = _ZERO
    for place, x in enumerate(space.points):
        try:
            row = channel.row(x)
        except MetricDPError:
            raise ArgumentError(f"row {place}: the channel has no input {x!r}, which is a point of the space") from None
        lower = upper = Fraction(0)
        for weight, z in zip(channel.weights[row].tolist(), channel.outputs, strict=True):
            if weight:
                try:
                    apart = rho.enclose(x, z, _BITS)
                except MetricDPError:
                    raise ArgumentError(f"the output {z!r} of the channel is no point of the error metric") from None
                if apart.upper == math.inf:
                    return Bound.above(math.inf)
                lower, upper = lower + weight * Fraction(apart.lower), upper + weight * Fraction(apart.upper)
        worst = Enclosure(max(worst.lower, lower / channel.total), max(worst.upper, upper / channel.total))
    return Bound.above(worst)


Pair = tuple[int, int]
Triple = tuple[Enclosure, Enclosure, Enclosure]


@dataclass(frozen=True)
class _Numbers:
    """Errors ρ and decays e^-d of pairs: close enclosures to find the extreme ones, and finer ones to evaluate them."""

    space: Space
    rho: Metric

    def error(self, i: int, j: int) -> Enclosure:
        return self.rho.enclose(self.space.points[i], self.space.points[j], _BITS)

    def decay(self, i: int, j: int) -> Enclosure:
        exact = decay(self.space.metric, self.space.points[i], self.space.points[j])
        if exact is not None:
            return Enclosure(exact, exact)
        value = enclose(lambda: (-self.space.ball(i, j)).exp(), _BITS)
        return Enclosure(max(Fraction(0), Fraction(value.lower)), value.upper)

    def decays(self, pairs: Iterable[Pair]) -> Enclosure:
        """The least of some decays."""
        found = [self.decay(i, j) for i, j in pairs]
        return Enclosure(min(value.lower for value in found), min(value.upper for value in found))

    def widest(self) -> list[Pair]:
        """Pairs among which the largest error is; any of them serves for a lower bound."""
        return _greatest(self._errors)[:_TRIED]

    def closest(self) -> list[Pair]:
        """Pairs among which the least error between different points is."""
        return _least(self._errors)

    def farthest(self) -> list[Pair]:
        """Pairs among which the largest privacy distance is."""
        return _greatest(self.space.enclosures)

    def best_pair(self) -> tuple[Pair, Enclosure]:
        """The u, v with the largest ρ / (1 + e^d), and that number."""
        errors, decays = self._errors.nearest, np.exp(-self.space.enclosures.nearest)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.nan_to_num(errors * decays / (1 + decays), nan=0.0, posinf=math.inf)
        near = _greatest(Enclosures(scores * (1 - VIEW_ERROR), scores))[:_TRIED]  # any pair proves a bound
        tried = {(i, j): _of_two(self.error(i, j), self.decay(i, j)) for i, j in near}
        best = max(tried, key=lambda pair: tried[pair].lower)
        return best, tried[best]

    def best_point(self) -> tuple[int, Enclosure]:
        """The u for which the bound of one point against a set S of others is largest, and that number.

        A v raises the bound where κ(v) is above it, so the best S are the points of the largest κ.
        """
        errors = self._errors.nearest  # a guess at u and S: whichever they are, the bound is proved for them
        nearest = np.where(np.eye(len(errors), dtype=bool), math.inf, errors).min(axis=1)
        order = [int(v) for v in np.argsort(-nearest, kind="stable") if 0 < nearest[v] < math.inf]
        if not order:
            return 0, _ZERO
        with np.errstate(invalid="ignore", over="ignore"):
            amounts = (errors * np.exp(-self.space.enclosures.nearest))[:, order]
        amounts = np.where(np.isfinite(amounts), amounts, 0.0)  # an infinite error is the business of two points
        with np.errstate(invalid="ignore", over="ignore"):
            sums, shares = np.cumsum(amounts, axis=1), np.cumsum(amounts / nearest[order], axis=1)
            scores = np.nan_to_num(sums / (1 + shares), nan=0.0)
        u, last = (int(place) for place in np.unravel_index(int(np.argmax(scores)), scores.shape))
        chosen = [v for v in order[: last + 1] if v != u and math.isfinite(errors[u, v])]
        return u, _of_many([(self.error(u, v), self.decay(u, v), self._least_from(v)) for v in chosen])

    def _least_from(self, v: int) -> Enclosure:
        others = [w for w in range(len(self.space)) if w != v]
        lower, upper = self._errors.lower[v, others], self._errors.upper[v, others]
        found = [self.error(v, others[place]) for place in np.flatnonzero(lower <= upper.min()).tolist()]
        return Enclosure(min(value.lower for value in found), min(value.upper for value in found))

    @cached_property
    def _errors(self) -> Enclosures:
        return self.rho.enclosures(self.space.points)


def _of_two(error: Enclosure, decays: Enclosure) -> Enclosure:
    """``ρ / (1 + e^d)``, which is ``ρ φ / (1 + φ)`` for ``φ = e^-d``."""
    ends = [Fraction(decay) / (1 + Fraction(decay)) for decay in (decays.lower, decays.upper)]
    lower, upper = (share * end if share else Fraction(0) for share, end in zip(ends, _ends(error), strict=True))
    return Enclosure(lower, upper)


def _of_many(terms: Sequence[Triple]) -> Enclosure:
    """``Σ a / (1 + Σ a / κ)`` with ``a = ρ φ``, for triples ρ, φ, κ; a smaller a or κ keeps the bound valid."""
    low = high = low_share = high_share = Fraction(0)
    for error, decays, nearest in terms:
        if not nearest.lower > 0 or math.inf in (error.upper, nearest.upper):
            continue
        lower = Fraction(error.lower) * Fraction(decays.lower)
        upper = Fraction(error.upper) * Fraction(decays.upper)
        low, high = low + lower, high + upper
        low_share += lower / Fraction(nearest.lower)
        high_share += lower / Fraction(nearest.upper)
    return Enclosure(low / (1 + low_share), high / (1 + high_share))


def _scaled(factor: Fraction, value: Enclosure) -> Enclosure:
    lower, upper = (factor * end if factor else Fraction(0) for end in _ends(value))
    return Enclosure(lower, upper)


def _ends(value: Enclosure) -> tuple[Fraction | float, Fraction | float]:
    return value.lower, value.upper


def _greatest(known: Enclosures) -> list[Pair]:
    """The pairs that may have the largest number."""
    above = ~np.tri(len(known.lower), dtype=bool)
    return _pairs(above & (known.upper >= known.lower[above].max()))


def _least(known: Enclosures) -> list[Pair]:
    """The pairs that may have the least."""
    above = ~np.tri(len(known.lower), dtype=bool)
    return _pairs(above & (known.lower <= known.upper[above].min()))


def _pairs(chosen: Any) -> list[Pair]:
    return [(i, j) for i, j in np.argwhere(chosen).tolist()]


def _error_metric(error: Any, space: Space) -> Metric:
    if error is None:
        return space.metric.unit
    if isinstance(error, Metric):
        return error
    rows = error.tolist() if isinstance(error, np.ndarray) else [list(row) for row in error]
    if len(rows) != len(space) or any(len(row) != len(space) for row in rows):
        raise ArgumentError(f"a matrix of errors has {len(space)} rows and columns, one for each point of the space")
    return matrix(space.points, rows)


def _delta(delta: Any) -> Fraction:
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise LevelError("a delta is at least 0 and below 1: at 1 nothing is promised, and nothing is impossible")
    return exact
