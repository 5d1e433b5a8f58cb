"""The twenty mechanisms that DP-Sniper reports on, with their inputs' domains.

Written anew from the papers they come from, to release many rows at a time. Each claims epsilon = 0.1 (truncated
geometric and RAPPOR: what their papers say) between neighbours; some keep it, others do not.

References:
    Bichsel, Steffen, Bogunovic, Vechev: DP-Sniper, IEEE S&P 2021. Ding et al.: Detecting violations of differential
    privacy, CCS 2018. Lyu, Su, Li: Understanding the sparse vector technique, VLDB 2017. Erlingsson, Pihur, Korolova:
    RAPPOR, CCS 2014. Balcer, Vadhan: Differential privacy on finite computers, 2018. Wang et al.: Proving differential
    privacy with shadow execution, PLDI 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.gallery.exhibit import Exhibit
from metricdp.audit.gallery.noise import compared, exponential, laplace, uniform
from metricdp.exact.arrays import Booleans, Floats
from metricdp.metrics import Guarantee, discrete

__all__ = ["DP_SNIPER"]


EPSILON = 0.1


def neighbours(size: int, every: bool, low: int = -10, high: int = 10) -> tuple[tuple[Any, Any], ...]:
    """Databases that differ by 1 in one count, or by 1 at most in every count.

    The patterns of Ding et al.; where every count may differ, also the last counts against the first, and the first
    against all others at the edges of the domain.
    """
    if size == 1:
        return ((1, 0), (1, 2))
    ones = [1] * size
    found = [(ones, [0, *ones[1:]]), (ones, [2, *ones[1:]])]
    if every:
        half = size // 2
        rest = size - half
        found += [
            (ones, [2] + [0] * (size - 1)),
            (ones, [0] + [2] * (size - 1)),
            (ones, [2] * half + [0] * rest),
            (ones, [2] * size),
            (ones, [0] * size),
            ([1] * half + [0] * rest, [0] * half + [1] * rest),
            ([1] * (size - 1) + [0], [0] * (size - 1) + [1]),
            (
                [1] * (3 * size // 4) + [0] * (size - 3 * size // 4),
                [0] * (3 * size // 4) + [1] * (size - 3 * size // 4),
            ),
            ([2] * (size - 1) + [0], ones),
            ([low + 1] + [high - 1] * (size - 1), [low] + [high] * (size - 1)),
        ]
    return tuple((tuple(map(float, one)), tuple(map(float, two))) for one, two in found)


def laplace_mechanism(rows: Floats) -> Floats:
    """A number with Laplace noise, in floats."""
    return np.asarray(rows + laplace(1 / EPSILON, rows.shape))


def truncated_geometric(rows: Any) -> NDArray[np.int64]:
    """Algorithm 4.8 of Balcer and Vadhan, for a count of 5 at most: a table of integers and one uniform integer."""
    most, k = 5, math.ceil(math.log(2 / EPSILON))
    total = (2 ** (k + 1) + 1) * (2**k + 1) ** (most - 1)
    table = np.empty((most + 1, most + 1), dtype=np.int64)
    for count in range(most + 1):
        for z in range(most):
            if z < count:
                table[count, z] = 2 ** (k * (count - z)) * (2**k + 1) ** (most - (count - z))
            else:
                table[count, z] = total - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (most - 1 - (z - count))
        table[count, most] = total
    drawn = np.minimum((uniform(len(rows)) * total).astype(np.int64) + 1, total)
    released = np.zeros(len(rows), dtype=np.int64)
    for column in table[:, :most].T:
        released += column[np.asarray(rows, dtype=np.int64)] < drawn
    return released


def noisy_histogram_1(rows: Floats) -> Floats:
    """Noise of scale 1/epsilon on every count."""
    return np.asarray(rows + laplace(1 / EPSILON, rows.shape))


def noisy_histogram_2(rows: Floats) -> Floats:
    """Noise of scale epsilon, where 1/epsilon was meant."""
    return np.asarray(rows + laplace(EPSILON, rows.shape))


def _first_largest(noisy: NDArray[np.float32]) -> NDArray[np.int8]:
    """The place of the largest number, one row of numbers after the other: there are few of them."""
    found, place = noisy[0], np.zeros(noisy.shape[1], dtype=np.int8)
    for number in range(1, len(noisy)):
        place[noisy[number] > found] = number
        found = np.maximum(found, noisy[number])
    return place


def noisy_max_1(rows: Floats) -> NDArray[np.int8]:
    """The place of the largest count, after Laplace noise."""
    noise = compared(2 / EPSILON, rows.shape[::-1])
    noise += rows.T
    return _first_largest(noise)


def noisy_max_2(rows: Floats) -> NDArray[np.int8]:
    """The place of the largest count, after exponential noise."""
    noise = compared(2 / EPSILON, rows.shape[::-1], signed=False)
    noise += rows.T
    return _first_largest(noise)


def noisy_max_3(rows: Floats) -> Floats:
    """The largest noisy count itself, instead of its place."""
    return np.asarray(np.max(rows.T + laplace(2 / EPSILON, rows.shape[::-1]), axis=0))


def noisy_max_4(rows: Floats) -> Floats:
    """The same with exponential noise."""
    return np.asarray(np.max(rows.T + exponential(2 / EPSILON, rows.shape[::-1]), axis=0))


def _answers(
    rows: Floats,
    limits: NDArray[Any],
    most: int,
    noise: Callable[[int], NDArray[Any]],
    answer: Callable[[Floats, NDArray[Any]], Any],
    below: float,
    ended: float,
) -> Floats:
    """Counts against a noisy threshold, until so many were above; a row of the result for each count.

    Counts after the end have no noise, since nothing of them is released.

    Args:
        rows: the counts.
        limits: the thresholds.
        most: how many may be above.
        noise: as many draws of it as are asked for.
        answer: what is released of counts that were above, from them and from their noisy twins.
        below: what is released of a count that was not above.
        ended: what is released of a count after the end.
    """
    size = rows.shape[1]
    released = np.full((size, len(rows)), ended)
    left, seen = np.arange(len(rows)), np.zeros(len(rows), dtype=np.int8)
    for column in range(size):
        if column and column % 2 == 0:  # many have ended
            kept = np.flatnonzero(seen < most)
            left, seen, limits = left[kept], seen[kept], limits[kept]
        counts = rows[left, column]
        noisy = counts + noise(len(left))
        above = (noisy >= limits) & (seen < most)
        found = np.where(seen < most, below, ended)
        places = np.flatnonzero(above)
        found[places] = answer(counts[places], noisy[places])
        released[column, left] = found
        seen += above
    return released


_ONE_ABOVE = np.array([[(-1 if j > k else int(j == k)) for j in range(10)] for k in range(11)], dtype=np.int8)
"""What is released of ten counts if the k-th is the first above: 0 before it, 1, and -1 after it."""


def _first_above(rows: Floats, limits: NDArray[np.float32], scale: float) -> NDArray[np.int8]:
    """What is released if the first count above the threshold ends it."""
    first = np.zeros(len(rows), dtype=np.int8)
    left = np.arange(len(rows))
    for column in range(rows.shape[1]):
        noisy = compared(scale, len(left))
        noisy += rows[:, column].take(left) if column else rows[:, 0]
        below = np.flatnonzero(noisy < limits)
        left, limits = left.take(below), limits.take(below)
        first[left] = column + 1
    return _ONE_ABOVE.take(first, axis=0)


def _threshold(scale: float, count: int, level: float) -> NDArray[np.float32]:
    noise = compared(scale, count)
    noise += np.float32(level)
    return noise


def sparse_vector_1(rows: Floats) -> NDArray[np.int8]:
    """Algorithm 1 of Lyu et al., c = 1."""
    return _first_above(rows, _threshold(2 / EPSILON, len(rows), 0.5), 4 / EPSILON)


def sparse_vector_2(rows: Floats) -> NDArray[np.int8]:
    """Algorithm 2: the threshold's noise is drawn anew after each answer above it; c = 1."""
    return _first_above(rows, _threshold(2 / EPSILON, len(rows), 1), 4 / EPSILON)


def sparse_vector_3(rows: Floats) -> Floats:
    """Algorithm 3: releases the noisy count that was compared."""
    limits = laplace(2 / EPSILON, len(rows)) + 1
    return _answers(rows, limits, 1, lambda n: laplace(2 / EPSILON, n), lambda _, noisy: noisy, -1000.0, -2000.0).T


def sparse_vector_4(rows: Floats) -> NDArray[np.int8]:
    """Algorithm 4: the noise of the counts does not grow with c."""
    return _first_above(rows, _threshold(4 / EPSILON, len(rows), 1), 1 / (0.75 * EPSILON))


def sparse_vector_5(rows: Floats) -> NDArray[np.bool_]:
    """Algorithm 5: no noise on the counts at all."""
    return np.asarray(rows >= _threshold(2 / EPSILON, len(rows), 1)[:, None])


def sparse_vector_6(rows: Floats) -> NDArray[np.bool_]:
    """Algorithm 6: answers without an end."""
    noisy = compared(2 / EPSILON, rows.shape[::-1])
    noisy += rows.T
    return np.asarray((noisy >= _threshold(2 / EPSILON, len(rows), 1)).T)


def murmur(text: str, seed: int) -> int:
    """MurmurHash3 of 32 bits, which the Bloom filter of the published experiments uses."""
    mask = 0xFFFFFFFF
    data = text.encode()
    state = seed

    def mixed(block: int) -> int:
        block = block * 0xCC9E2D51 & mask
        return ((block << 15 | block >> 17) & mask) * 0x1B873593 & mask

    for start in range(0, len(data) // 4 * 4, 4):
        state ^= mixed(int.from_bytes(data[start : start + 4], "little"))
        state = ((state << 13 | state >> 19) & mask) * 5 + 0xE6546B64 & mask
    if len(data) % 4:
        state ^= mixed(int.from_bytes(data[len(data) // 4 * 4 :], "little"))
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & mask
    state = (state ^ state >> 13) * 0xC2B2AE35 & mask
    return state ^ state >> 16


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value


def bloom(value: int) -> Booleans:
    """Four of twenty places, by four hashes."""
    places = np.zeros(20, dtype=bool)
    for seed in range(4):
        places[_signed(murmur(str(value), seed)) % 20] = True
    return places


_FILTERS = np.array([bloom(value) for value in range(-10, 11)])


def _coins(rows: Any, if_set: float, if_not: float) -> NDArray[np.uint8]:
    """A coin for each place of the filter, of one weight where it is set and of another where it is not."""
    from metricdp.exact.bits import source

    words = source().words(len(rows) * 10).view(np.uint32).reshape(len(rows), 20)
    limits = np.where(_FILTERS, np.uint32(if_set * 2**32), np.uint32(if_not * 2**32))
    return np.asarray((words < limits[np.asarray(rows, dtype=np.int64) + 10]).view(np.uint8))


def rappor(rows: Any) -> NDArray[np.uint8]:
    """Both steps of RAPPOR, f = 0.75, p = 0.45, q = 0.55, as one coin for each place."""
    f, p, q = 0.75, 0.45, 0.55
    return _coins(rows, f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p)


def one_time_rappor(rows: Any) -> NDArray[np.uint8]:
    """The first step of RAPPOR alone, f = 0.95."""
    f = 0.95
    return _coins(rows, 1 - f / 2, f / 2)


def parallel_laplace(rows: Floats) -> Floats:
    """Twenty releases of one number, with epsilon = 0.005 each."""
    return np.asarray(np.asarray(rows) + laplace(1 / 0.005, (20, len(rows)))).T


def parallel_sparse_vector(rows: Floats) -> Floats:
    """Algorithms 3 and 4 side by side, c = 2."""
    size = len(rows)
    limits = laplace(2 / EPSILON, size) + 1
    third = _answers(rows, limits, 2, lambda n: laplace(4 / EPSILON, n), lambda _, noisy: noisy, -1000.0, -2000.0)
    scale = 1 / (0.75 * EPSILON)
    others = _threshold(4 / EPSILON, size, 1)
    fourth = _answers(rows, others, 2, lambda n: compared(scale, n), lambda *_: 1.0, 0.0, -1.0)
    return np.concatenate([third, fourth]).T


def prefix_sums(rows: Floats) -> Floats:
    """Sums of the first, the first two, ... noisy counts."""
    return np.cumsum(rows.T + laplace(1 / EPSILON, rows.shape[::-1]), axis=0).T


def numerical_sparse_vector(rows: Floats) -> Floats:
    """Answers above the threshold with noise of their own, c = 2."""
    limits = _threshold(3 / EPSILON, len(rows), 1)
    return _answers(
        rows,
        limits,
        2,
        lambda n: compared(12 / EPSILON, n),
        lambda counts, _: counts + laplace(6 / EPSILON, len(counts)),
        0.0,
        -1000.0,
    ).T


def _exhibit(
    name: str,
    release: Callable[[Any], Any],
    pairs: Sequence[tuple[Any, Any]],
    fault: str = "",
    epsilon: float = EPSILON,
) -> Exhibit:
    claim = Guarantee(epsilon * discrete())
    return Exhibit(name, fault, "Bichsel et al. 2021", claim, tuple(pairs), release, samples=6_000_000)


_VALUES = tuple((value, value + 1) for value in range(-10, 10))
_ONE = ((1.0, 0.0), (1.0, 2.0))
_FIVE = neighbours(5, False)
_EVERY_FIVE = neighbours(5, True)
_EVERY_TEN = neighbours(10, True)
_RAPPOR = sum(bool(one) != bool(two) for one, two in zip(bloom(1), bloom(0), strict=True))
_STEP = math.log((0.375 + 0.25 * 0.55) / (0.375 + 0.25 * 0.45))

DP_SNIPER = (
    _exhibit("LaplaceMechanism", laplace_mechanism, _ONE),  # sound on paper; its floats are not
    _exhibit("TruncatedGeometricMechanism", truncated_geometric, ((1, 0), (1, 2)), epsilon=math.log1p(2**-3)),
    _exhibit("NoisyHist1", noisy_histogram_1, _FIVE),
    _exhibit("NoisyHist2", noisy_histogram_2, _FIVE, "the scale of the noise is epsilon instead of 1/epsilon"),
    _exhibit("ReportNoisyMax1", noisy_max_1, _EVERY_FIVE),
    _exhibit("ReportNoisyMax2", noisy_max_2, _EVERY_FIVE),
    _exhibit("ReportNoisyMax3", noisy_max_3, _EVERY_FIVE, "the noisy maximum is released, not its place"),
    _exhibit("ReportNoisyMax4", noisy_max_4, _EVERY_FIVE, "the noisy maximum is released, and noise has an end"),
    _exhibit("SparseVectorTechnique1", sparse_vector_1, _EVERY_TEN),
    _exhibit("SparseVectorTechnique2", sparse_vector_2, _EVERY_TEN),
    _exhibit("SparseVectorTechnique3", sparse_vector_3, _EVERY_TEN, "the noisy answer is the one that was compared"),
    _exhibit("SparseVectorTechnique4", sparse_vector_4, _EVERY_TEN, "the noise of the answers is too small"),
    _exhibit("SparseVectorTechnique5", sparse_vector_5, _EVERY_TEN, "no noise on the answers"),
    _exhibit("SparseVectorTechnique6", sparse_vector_6, _EVERY_TEN, "answers above the threshold without an end"),
    _exhibit("Rappor", rappor, _VALUES, epsilon=8 * _STEP),
    _exhibit("OneTimeRappor", one_time_rappor, _VALUES, epsilon=8 * math.log(0.525 / 0.475)),
    _exhibit("LaplaceParallel", parallel_laplace, _ONE),
    _exhibit("SVT34Parallel", parallel_sparse_vector, _EVERY_TEN, "two broken sparse vectors at once"),
    _exhibit("PrefixSum", prefix_sums, _EVERY_TEN, "all counts may change, one noise each"),
    _exhibit("NumericalSVT", numerical_sparse_vector, _EVERY_TEN),
)
"""In the order of the published table."""
