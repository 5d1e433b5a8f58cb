"""What to answer and how large to be: bias, sizes and rounds that make the proved error of synthetic data least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.results import Result
from metricdp.queries.synthetic_data.choose import read_probability
from metricdp.queries.synthetic_data.mwem import mwem_bound
from metricdp.queries.synthetic_data.small_database import MOST_DATABASES
from metricdp.queries.synthetic_data.steepness import sensitivities
from metricdp.queries.workloads.linear_queries import LinearQueries, read_queries
from metricdp.queries.workloads.workload import Workload

__all__ = ["Preprocessed", "best_rounds", "best_size", "preprocess"]

_MOST_ROUNDS = 1 << 20
_MOST_SIZE = 1 << 16

Maker = Literal["small_database", "mwem"]


@dataclass(frozen=True, eq=False)
class Preprocessed(Result):
    """Queries near those that were asked, with a smaller sensitivity; see `preprocess`.

    Attributes:
        workload: what to answer instead: c q'.
        scale: c, the sensitivity of all of them.
        bias: the largest difference of a coefficient, the same for no query larger.
        bound: the paper's bound on the largest error, with both.
        unbiased: the same where nothing is changed.
    """

    workload: Workload
    scale: float
    bias: float
    bound: float
    unbiased: float

    def to_json(self) -> dict[str, Any]:
        """Scale, bias and bounds as plain values for JSON."""
        return {"scale": self.scale, "bias": self.bias, "bound": self.bound, "unbiased": self.unbiased}

    def __str__(self) -> str:
        moved = f"coefficients moved by up to {self.bias:.6g}, sensitivity {self.scale:.6g}"
        return f"{moved}; error at most {self.bound:.6g}, without it {self.unbiased:.6g}"


def preprocess(
    workload: Workload, total: int, maker: Maker = "mwem", *, beta: float | Fraction = Fraction(1, 20)
) -> Preprocessed:
    """The (Q', c) that minimise the paper's bound on the error of synthetic data, in floats.

    ``f(c) = n h(c) + g(c)`` with ``h(c) = max over queries and cells of (|q_i - q_j| - c d(i, j))⁺ / 2``: the least
    bias for which coefficients c q' with ``|q'_i - q'_j| <= d(i, j)`` exist, and the midpoints between the greatest and
    the least such coefficients reach it. g is ``(c n² γ)^(1/3)`` for the small database and ``20 / 5^(2/3) (c n² ln N
    ln K)^(1/3)`` for multiplicative weights. h is a maximum of lines and g is concave, so f is least where two of the
    lines meet, or at an end: all of these are tried. The problem is not convex, and this is its minimum all the same.

    The promise of a mechanism that is given the result is proved by that mechanism, not here.

    Args:
        workload: the queries and d.
        total: n, the number of records, which is public.
        maker: of the data, "small_database" or "mwem".
        beta: the probability with which the small database may miss its bound.

    References:
        Paper 4, Equation 8 and Theorems 6 and 8.

    >>> import metricdp as mdp
    >>> asked = Workload([[0, 1], [1, 0]], mdp.Space(["ill", "well"], mdp.metrics.discrete() / 4))
    >>> preprocess(asked, 10**6).bias
    0.0
    """
    if not isinstance(workload, Workload):
        raise ArgumentError(f"preprocess takes a Workload, not {type(workload).__name__}")
    noise = _noise(workload, total, maker, beta)
    matrix, distances = workload.matrix, np.array(workload.space.distances)
    lines = _envelope(matrix, distances)
    unbiased = max((height / slope for height, slope in lines if slope), default=0.0)
    candidates = [0.0, unbiased, *_meetings(lines, unbiased)]

    def bias_at(scale: float) -> float:
        return max([0.0, *((height - scale * slope) / 2 for height, slope in lines)])

    def value(scale: float) -> float:
        return total * bias_at(scale) + noise(scale)

    best = min(candidates, key=value)
    moved, bias = _moved(matrix, distances, best, bias_at(best)), bias_at(best)
    answered = workload if bias == 0 else Workload(moved, workload.space, workload.names)
    return Preprocessed(answered, best, bias, value(best), value(unbiased))


def best_rounds(workload: LinearQueries, total: int, *, beta: float | Fraction = Fraction(1, 20)) -> int:
    """The number of rounds for which the proved error of `mwem` is least.

    The bound falls and then rises with the rounds (see `mwem_bound`), so the first at which it rises is found by
    trisection.

    References:
        Paper 4, Theorem 8.

    >>> import metricdp as mdp
    >>> asked = Workload(np.eye(4), mdp.Space(range(4), mdp.metrics.discrete()))
    >>> best_rounds(asked, 10**6) > best_rounds(asked, 1000) >= 1
    True
    """
    steep = max(sensitivities(read_queries(workload), workload.space))

    def bound(rounds: int) -> float:
        return mwem_bound(workload, total, rounds, beta=beta, sensitivity=steep)

    return _lowest(bound, _MOST_ROUNDS)


def best_size(workload: LinearQueries, total: int, *, beta: float | Fraction = Fraction(1, 20)) -> int:
    """The number of records for which the proved error of `small_database` is least, of those that can be looked at.

    ``n W sqrt(ln(2 K) / (2 m)) + 2 D (ln C(N + m - 1, m) + ln(1 / beta))``, see `SmallDatabase.bound`; in floats.

    References:
        Paper 4, Theorem 6.

    >>> import metricdp as mdp
    >>> asked = Workload(np.eye(3), mdp.Space(range(3), mdp.metrics.discrete()))
    >>> best_size(asked, 100) > best_size(asked, 10) >= 1
    True
    """
    matrix = read_queries(workload)
    queries, cells = matrix.shape
    steep = float(max(sensitivities(matrix, workload.space))) / float(workload.space.metric.level)
    width, fails = float(np.ptp(matrix, axis=1).max()), float(read_probability(beta))

    def bound(size: int) -> float:
        many = math.lgamma(cells + size) - math.lgamma(size + 1) - math.lgamma(cells)
        off = total * width * math.sqrt(math.log(2 * queries) / (2 * size))
        return off + 2 * steep * (many + math.log(1 / fails))

    most = 1
    while most < _MOST_SIZE and math.comb(cells + most, most + 1) <= MOST_DATABASES:
        most += 1
    return _lowest(bound, most)


def _noise(workload: Workload, total: int, maker: str, beta: Any) -> Callable[[float], float]:
    queries, cells = workload.matrix.shape
    logs = math.log(cells) * math.log(max(queries, 2))
    if maker == "small_database":
        gamma = 16 * logs + 4 * math.log(1 / float(read_probability(beta)))
        return lambda scale: (scale * total**2 * gamma) ** (1 / 3)
    if maker == "mwem":
        return lambda scale: 20 / 5 ** (2 / 3) * (total**2 * logs * scale) ** (1 / 3)
    raise ArgumentError(f"the maker is 'small_database' or 'mwem', not {maker!r}")


def _envelope(matrix: Floats, distances: Floats) -> list[tuple[float, float]]:
    """For each distance the largest change of any query between cells that far apart: heights and slopes of lines."""
    rows, columns = np.triu_indices(len(distances), 1)
    apart = distances[rows, columns]
    near = np.isfinite(apart)
    changes = np.abs(matrix[:, rows[near]] - matrix[:, columns[near]]).max(axis=0)
    tallest: dict[float, float] = {}
    for length, change in zip(apart[near].tolist(), changes.tolist(), strict=True):
        tallest[length] = max(change, tallest.get(length, 0.0))
    lines: list[tuple[float, float]] = []
    for slope, height in sorted(tallest.items()):  # nearer pairs cut the rest off unless those change more
        if not lines or height > lines[-1][0]:
            lines.append((height, slope))
    return lines


def _meetings(lines: list[tuple[float, float]], most: float) -> list[float]:
    found = []
    for place, (height, slope) in enumerate(lines):
        for other_height, other_slope in lines[place + 1 :]:
            scale = (height - other_height) / (slope - other_slope)
            if 0 < scale < most:
                found.append(scale)
        if slope and 0 < height / slope < most:
            found.append(height / slope)
    return found


def _moved(matrix: Floats, distances: Floats, scale: float, bias: float) -> Floats:
    """Midpoints between the greatest and the least coefficients that are near enough and change slowly enough."""
    room = scale * distances
    upper = (matrix[:, None, :] + bias + room[None, :, :]).min(axis=2)
    lower = (matrix[:, None, :] - bias - room[None, :, :]).max(axis=2)
    return np.asarray((upper + lower) / 2)


def _lowest(bound: Callable[[int], float], most: int) -> int:
    low, high = 1, most
    while high - low > 2:
        third = (high - low) // 3
        if bound(low + third) <= bound(high - third):
            high -= third
        else:
            low += third
    return min(range(low, high + 1), key=bound)
