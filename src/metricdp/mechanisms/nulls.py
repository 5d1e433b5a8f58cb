"""A secret that may be missing, where that too is secret."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ImpossibleError, KindError, LevelError, NotAMetricError, UnsupportedMetricError
from metricdp.exact.balls import ball, decide_sign, enclose
from metricdp.exact.choice import Thresholds
from metricdp.exact.level import LevelLike
from metricdp.mechanisms.containers import is_series, series_like, unpack_labels, unpack_numbers
from metricdp.mechanisms.continuous import Bounds, LineLaplace, line_laplace, parse_bounds
from metricdp.mechanisms.mechanism import Mechanism, at_distance, in_blocks, probability_below
from metricdp.mechanisms.noise_metric import noise_metric
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.dates import Dates
from metricdp.metrics.nulls import Nullable
from metricdp.metrics.vectors import Absolute

__all__ = ["NullableLaplace", "nullable_laplace"]


@dataclass(frozen=True)
class NullableLaplace(Mechanism):
    """Numbers within bounds, or null, where null lies at one distance D from every number.

    A number is released as null with probability p and otherwise through ``numbers``; null as null with
    probability q, and otherwise as the middle of the bounds would be. With h = e (upper - lower) / 2 the distance from
    the middle to a bound, e the level, ``p = (exp(D - h) - 1) / (exp(2 D - h) - 1)`` and ``q = exp(D) p``: the largest
    q - p for which

    - ``q <= exp(D) p``, when null is released, and
    - ``(1 - p) exp(h) <= exp(D) (1 - q)``, when a number is.

    Attributes:
        metric: a level times ``nullable(absolute(), ..)``, or of a multiple of it.
        numbers: the Laplace mechanism for the numbers.

    Guarantee:
        ``metric`` on null and the numbers within the bounds; tight.

    References:
        Paper 1, section 5, for null-extended universes.
    """

    metric: Metric
    numbers: LineLaplace

    @property
    def guarantee(self) -> Guarantee:
        """``metric``, with no delta."""
        return Guarantee(self.metric)

    @property
    def resolution(self) -> Fraction:
        """Of the numbers."""
        return self.numbers.resolution

    def false_null(self) -> arb:
        """p: the probability that a number is released as null."""
        far, half = self._null_distance(), self._half_width()
        return (far - half).expm1() / (2 * far - half).expm1()

    def true_null(self) -> arb:
        """q: the probability that null is released as null."""
        return self._null_distance().exp() * self.false_null()

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`. Null is None, in arrays and Series of floats NaN, of dates NaT.

        What type a result has never depends on which secrets are null: numbers come back as integers where the
        resolution is whole and as floats otherwise, or in the type of an array or a Series; dates as dates where the
        resolution is whole days, and otherwise as datetimes.
        """
        typed = secrets.to_numpy() if is_series(secrets) else secrets
        if isinstance(typed, np.ndarray) and typed.dtype.kind in "fM" and typed.ndim:
            batch = unpack_numbers(secrets)
            return batch.pack(in_blocks(batch.rows, self._draw))
        listed = typed.tolist() if isinstance(typed, np.ndarray) and typed.ndim else typed
        alone = not isinstance(listed, list | tuple)
        released = in_blocks(self._column([listed] if alone else listed), self._draw)
        results = [self._plain(value) for value in released.tolist()]
        if is_series(secrets):
            return series_like(secrets)(results)
        if isinstance(secrets, np.ndarray) and secrets.ndim:
            return unpack_labels(np.empty(1, dtype=object), ()).pack(results)
        return results[0] if alone else results

    def _column(self, secrets: Sequence[Any]) -> NDArray[Any]:
        """Secrets of a list, with nulls among them, as an array that holds them exactly."""
        if not self._has_dates:
            return np.asarray(unpack_numbers([*secrets, None]).rows[:-1]) if len(secrets) else unpack_numbers([]).rows
        present = [secret for secret in secrets if secret is not None]
        moments = unpack_numbers(present).rows if present else np.empty(0, dtype="datetime64[D]")
        if moments.dtype.kind != "M":
            raise KindError("dates or datetimes are wanted, or None")
        step = "D" if self.resolution.denominator == 1 else "us"
        column = np.full(
            len(secrets), np.datetime64("NaT", "D"), dtype=np.promote_types(moments.dtype, f"datetime64[{step}]")
        )
        column[[secret is not None for secret in secrets]] = moments
        return column

    def _plain(self, value: Any) -> Any:
        """A result as Python's own value, of one type for this mechanism."""
        if value is None or value != value:
            return None
        if self._has_dates:
            return value if self.resolution.denominator != 1 or not isinstance(value, dt.datetime) else value.date()
        return int(value) if self.resolution.denominator == 1 else float(value)

    @property
    def _has_dates(self) -> bool:
        return isinstance(self.numbers.metric.unit, Dates)

    def _draw(self, secrets: NDArray[Any]) -> NDArray[Any]:
        is_null = _nulls(secrets)
        filled = secrets.copy()
        filled[is_null] = np.datetime64(int(self._centre), "D") if self._has_dates else float(self._centre)
        released = self.numbers._draw(filled)
        becomes_null = np.empty(len(secrets), dtype=bool)
        for chosen, thresholds in ((~is_null, self._number_thresholds), (is_null, self._null_thresholds)):
            # Category 0 is U below the threshold: released as null.
            becomes_null[chosen] = thresholds.draw(int(chosen.sum())) == 0
        released[becomes_null] = {"f": np.nan, "M": np.datetime64("NaT", "D")}.get(released.dtype.kind)
        return released

    @at_distance
    def probability_within(self, distance: Fraction) -> float:
        """For a number: not released as null and within ``distance``. For null see `true_null`."""
        stays = probability_below(lambda: 1 - self.false_null())
        return self.numbers.probability_within(distance) * stays * (1 - 2.0**-50)

    def explain(self, distances: Sequence[float] | None = None) -> str:
        """See `Mechanism.explain`; and the odds between null and a number."""
        factor = enclose(lambda: self._null_distance().exp()).outward[1]
        first, *rest = super().explain(distances).splitlines()
        null = f"Null and any number: an adversary's odds between them can move by at most a factor {factor:.4g}."
        return "\n".join([first, null, *rest])

    def _explain_error(self) -> str:
        kept, made_up = (probability_below(p) for p in (self.true_null, self.false_null))
        return (
            f"A null is released as null with probability {kept:.3g}, a number with probability {made_up:.3g}.\n"
            f"For a number released as one: {self.numbers._explain_error()}"
        )

    @cached_property
    def _centre(self) -> Fraction:
        """The middle of the bounds, or a number next to it that every type of column holds exactly.

        For numbers that is a float, for dates a whole day.
        """
        middle = sum(self._bounds) / 2
        return Fraction(math.floor(middle) if self._has_dates else float(middle))

    @property
    def _bounds(self) -> Bounds:
        assert self.numbers.bounds is not None
        return self.numbers.bounds

    def _half_width(self) -> arb:
        lower, upper = self._bounds
        return self.numbers.rate() * ball(max(upper - self._centre, self._centre - lower))

    def _null_distance(self) -> arb:
        return self.metric.ball(None, self._bounds[0])

    @cached_property
    def _number_thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.false_null()])

    @cached_property
    def _null_thresholds(self) -> Thresholds:
        return Thresholds(lambda: [self.true_null()])


def nullable_laplace(
    metric: Metric, bounds: tuple[LevelLike, LevelLike] | None, resolution: LevelLike | None = None
) -> NullableLaplace:
    """The Laplace mechanism for numbers within bounds that may be null.

    >>> import metricdp as mdp
    >>> d = mdp.metrics.nullable(mdp.metrics.absolute(), 100)
    >>> K = nullable_laplace(mdp.ln(2) / 10 * d, bounds=(0, 100))
    >>> K.release([None, 50.0]) is not None
    True
    """
    unit = metric.unit
    if not isinstance(unit, Nullable):
        raise LevelError("nullable_laplace takes a multiple of nullable(..)")
    if bounds is None:
        raise ImpossibleError(
            "no mechanism keeps a null secret among unbounded numbers: two numbers are at most twice the null's "
            "distance apart in what they can promise each other, so d would have to be capped there. Declare bounds, "
            "or keep nulls in a public column of their own"
        )
    if unit.null_distance == math.inf:
        raise LevelError("a null at infinite distance is public: keep it in a column of its own")
    noise = noise_metric(metric.level * unit.base)
    if not isinstance(noise.unit, (Absolute, Dates)):
        raise UnsupportedMetricError(f"a secret null is kept among numbers or dates, not {unit.base}")
    numbers = line_laplace(noise, resolution, parse_bounds(bounds))
    made = NullableLaplace(metric, numbers)
    if decide_sign(lambda: made._null_distance() - made._half_width()) <= 0:
        raise NotAMetricError(
            "null lies no further than half the width of the bounds: nearer would break the triangle inequality, "
            "and there null could never be released as null"
        )
    return made


def _nulls(secrets: NDArray[Any]) -> NDArray[np.bool_]:
    if secrets.dtype == object:
        return np.array([secret is None or secret != secret for secret in secrets], dtype=bool)
    if secrets.dtype.kind in "fM":
        return np.asarray(np.isnan(secrets))
    return np.zeros(len(secrets), dtype=bool)
