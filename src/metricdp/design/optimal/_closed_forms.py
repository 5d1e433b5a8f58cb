"""Channels and bounds in closed form, for where the floats of a solver end: at high levels, and for tiny losses.

At high levels the best mechanism loses ``exp(-60)`` or less, which no solver of floats can see. There the
tight-constraints mechanism, with every output read as the best guess, is the best or nearly so, and its prices

    μ = Φ⁻¹ min over z of Φ c(., z),    Φ = exp(-d),

solved in balls of as many digits as it takes, prove it: what is computed from them is computed in Fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.channels.certified import Certified
from metricdp.channels.certify import certify
from metricdp.channels.verify import verify
from metricdp.design.optimal._problem import Problem
from metricdp.design.tight import TightConstraints, tight_constraints
from metricdp.errors import MetricDPError
from metricdp.exact.balls import Enclosure, ball, precision
from metricdp.exact.weights import Weights
from metricdp.metrics import Guarantee

__all__ = ["constant_channel", "tight_bound", "tight_with_remap"]

_MOST_POINTS = 48
_MOST_FLOATS = 400
_MOST_DIGITS = 2_000_000
_FARTHEST = 3000.0
_BITS = 128
_WORTH = 1e-9
"""By what share a loss, in floats, has to be less for a channel to be certified."""


def constant_channel(problem: Problem) -> Certified:
    """One output for all points at finite distances of each other, the best of them: exact, and always private.

    Where any channel loses nothing at all, this one does: with an output at one point, it is possible at all of them.
    """
    weights: Weights = np.zeros(problem.losses.shape, dtype=object)
    for near in problem.components:
        weights[near, problem.best_output(near)] = 1
    points, outputs = problem.space.points, problem.outputs
    return Certified(points, outputs, weights, 1, Guarantee(problem.space.metric))


def tight_with_remap(problem: Problem, loss: float) -> Certified | None:
    """The tight-constraints mechanism, with every output remapped in the best way, if it promises less than a loss."""
    tight = _tight(problem) or _tight_in_floats(problem, loss)
    if tight is None:
        return None
    weights: Weights = np.zeros(problem.losses.shape, dtype=object)
    for column, guess in enumerate(_best_guesses(problem, tight)):
        weights[:, guess] += tight.weights[:, column]
    promise = Guarantee(problem.space.metric)
    channel = Certified(problem.space.points, problem.outputs, weights, tight.total, promise, tight.moved)
    return channel if verify(channel, problem.space) else None


def _best_guesses(problem: Problem, channel: Certified) -> list[int]:
    """What to read each output as; of many in floats, for any choice is private."""
    if len(problem.losses) <= _MOST_POINTS:
        return problem.best_guesses(channel.weights)
    return [int(guess) for guess in (channel.matrix.T @ problem.costs).argmin(axis=1)]


def _tight(problem: Problem) -> Certified | None:
    """To all its digits, where these are not too many."""
    count = len(problem.losses)
    if count > _MOST_POINTS or _farthest(problem) * count**2 > _MOST_DIGITS:
        return None
    try:
        found = tight_constraints(problem.space)
        return found.channel if isinstance(found, TightConstraints) and found else None
    except MetricDPError:
        return None


def _tight_in_floats(problem: Problem, loss: float) -> Certified | None:
    """For the shorter distances of a problem, which floats can hold; clipped and scaled where it does not exist."""
    if len(problem.losses) > _MOST_FLOATS:
        return None
    falls = np.exp(-problem.shorter)
    diagonal = np.linalg.lstsq(falls, np.ones(len(falls)), rcond=None)[0]
    matrix = falls * np.maximum(diagonal, 0.0)
    if not (np.isfinite(matrix).all() and (matrix.sum(axis=1) > 0).all()):
        return None
    matrix /= matrix.sum(axis=1, keepdims=True)
    if problem.about(matrix) > loss * (1 - _WORTH):
        return None
    try:
        with np.errstate(over="ignore"):
            return certify(matrix, problem.space)
    except MetricDPError:
        return None


def tight_bound(problem: Problem) -> Fraction | None:
    """A lower bound on the expected loss of every private channel, by the prices above; None where there is none."""
    if max(problem.losses.shape) > _MOST_POINTS:
        return None
    phi = constraints_matrix(problem.space)
    places = [place for place, first in enumerate(phi.representatives) if place == first]
    shares, count = problem.belief.fractions, len(places)
    least = [Fraction(value) for value in problem.least_losses.tolist()]
    whole = [[Fraction(value) for value in row] for row in problem.losses.tolist()]
    costs = [[Fraction(0)] * len(problem.outputs) for _ in places]
    for place, first in enumerate(phi.representatives):  # points at distance zero have one row in every channel
        row = costs[places.index(first)]
        for z, value in enumerate(whole[place]):
            row[z] += shares[place] * (value - least[place])
    far = problem.pairs.distances > _FARTHEST  # there nothing is asked, which only lowers the bound
    bits = _BITS + 2 * math.ceil(min(_farthest(problem), _FARTHEST) * math.log2(math.e)) + 64
    with precision(bits):
        rows = [[arb(0) if far[i, j] else phi.ball(i, j) for j in places] for i in places]
        matrix = arb_mat(rows)
        wanted = matrix * arb_mat([[ball(value) for value in row] for row in costs])
        goals = [min((wanted[k, z] for z in range(len(problem.outputs))), key=_middle) for k in range(count)]
        try:
            prices = matrix.solve(arb_mat(count, 1, goals)).entries()
        except ZeroDivisionError:
            return None
        if not all(price.is_finite() for price in prices):
            return None
        with precision(_BITS):
            floors = [Fraction(Enclosure.of(price + 0).lower) for price in prices]
            decays = [[Fraction(max(Enclosure.of(value + 0).lower, 0)) for value in row] for row in rows]
    lacking = [Fraction(0)] * count
    for z in range(len(problem.outputs)):
        left = _covered([costs[x][z] - floors[x] for x in range(count)], decays)
        lacking = [max(here, -value) for here, value in zip(lacking, left, strict=True)]
    offset = sum((share * value for share, value in zip(shares, least, strict=True)), Fraction(0))
    return sum(floors, Fraction(0)) - sum(lacking, Fraction(0)) + offset


def _covered(residuals: list[Fraction], decays: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """What is left of the residuals when those below zero are helped by the others, the nearest first.

    What j can spare, y, helps i with ``exp(-d_ij) y``; see `dual_bound`.
    """
    left = list(residuals)
    for i in sorted((x for x, value in enumerate(left) if value < 0), key=left.__getitem__):
        for j in sorted(range(len(left)), key=lambda place: -decays[i][place]):
            if left[i] >= 0:
                break
            if j != i and left[j] > 0 and decays[i][j] > 0:
                given = min(left[j], -left[i] / decays[i][j])
                left[j] -= given
                left[i] += given * decays[i][j]
    return left


def _middle(value: arb) -> Fraction:
    return Fraction(Enclosure.of(value.mid()).lower)


def _farthest(problem: Problem) -> float:
    distances = problem.pairs.distances
    return float(distances[np.isfinite(distances)].max())
