"""How many standard deviations an interval reaches: more than the normal law says where rows are few."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["agresti_coull", "noise_reach", "normal_reach", "student_reach"]

_MANY = 300


def normal_reach(chance: float) -> float:
    """By the normal law: a number drawn from it lies farther than this from 0 with that chance.

    >>> round(normal_reach(0.05), 2)
    1.96
    """
    return NormalDist().inv_cdf(1 - chance / 2)


def noise_reach(chance: float, rows: float) -> float:
    """For the average of so many draws of Laplace noise, whose tails are heavier: by the expansion of Cornish-Fisher.

    >>> round(noise_reach(0.05, 1), 2), round(noise_reach(0.05, 1000), 2)
    (2.17, 1.96)
    """
    z = normal_reach(chance)
    return z + max(0.0, (z**3 - 3 * z) / (8 * max(rows, 1.0)))


def student_reach(chance: float, freedom: float) -> float:
    """By Student's law, for an average whose spread was estimated from ``freedom + 1`` values; infinite below two.

    >>> round(student_reach(0.05, 1), 2), round(student_reach(0.05, 9), 2), student_reach(0.05, 0)
    (12.71, 2.26, inf)
    """
    z = normal_reach(chance)
    if freedom > _MANY:
        return z + (z**3 + z) / (4 * freedom)
    whole = math.floor(freedom + 1e-9)
    if whole < 1:
        return math.inf
    low, high = 0.0, math.pi / 2  # of the angle whose tangent is t / sqrt(freedom)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, whole) >= 1 - chance else (middle, high)
    return math.sqrt(whole) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """The chance of Student's t to lie within ``sqrt(freedom) * tan(angle)`` of 0: a sum of powers of the cosine."""
    cosine, total, term = math.cos(angle), 0.0, 1.0
    for power in range(freedom % 2, freedom - 1, 2):
        term *= (power - 1) / power if power > 1 else 1.0
        total += term * cosine**power
    if freedom % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def agresti_coull(
    mean: float, square: float, rows: float, least: float, greatest: float, z: float
) -> tuple[float, float]:
    """The middle and half the width of an interval for the expectation of scores between two numbers.

    It is that of the normal law with ``z^2`` rows more, half of them at either number: so it is no point where all rows
    agree. For counts it is the interval of Agresti and Coull.

    Args:
        mean: of the scores.
        square: the mean of their squares.
        rows: how many.
        least: that a score can be.
        greatest: that a score can be.
        z: how many standard deviations it reaches.

    References:
        Agresti and Coull 1998, *Approximate is better than "exact" for interval estimation of binomial proportions*.

    >>> middle, half = agresti_coull(0.0, 0.0, 10, 0.0, 1.0, 2.0)
    >>> round(middle, 3), round(half, 3)
    (0.143, 0.187)
    """
    more = z**2
    whole = rows + more
    middle = (rows * mean + more * (least + greatest) / 2) / whole
    variance = (rows * square + more * (least**2 + greatest**2) / 2) / whole - middle**2
    return middle, z * math.sqrt(max(variance, 0.0) / whole)
