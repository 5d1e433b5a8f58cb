"""Channels in closed form, for where the floats of a solver end: at high levels, and for tiny losses.

At high levels the best mechanism loses ``exp(-60)`` or less, which no solver of floats can see. There the
tight-constraints mechanism, with every output read as the best guess, is the best or nearly so; `_exact_bound` has what
proves it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from metricdp.channels.certified import Certified
from metricdp.channels.certify import certify
from metricdp.channels.verify import verify
from metricdp.design.optimal._problem import Problem
from metricdp.design.tight import TightConstraints, tight_constraints
from metricdp.errors import MetricDPError
from metricdp.exact.arrays import Floats
from metricdp.exact.weights import Weights
from metricdp.metrics import Guarantee

__all__ = ["constant_channel", "improved", "tight_with_remap"]

_MOST_POINTS = 48
_MOST_FLOATS = 400
_MOST_DIGITS = 2_000_000
_DIGITS_A_SECOND = 300_000
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


def tight_with_remap(problem: Problem, loss: float, seconds: float = math.inf) -> Certified | None:
    """The tight-constraints mechanism, with every output remapped in the best way, if it promises less than a loss.

    Args:
        problem: what is asked.
        loss: of the best channel so far.
        seconds: that are left; one is always taken.
    """
    tight = _tight(problem, max(seconds, 1.0)) or _tight_in_floats(problem, loss)
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


def _tight(problem: Problem, seconds: float) -> Certified | None:
    """To all its digits, where these are not too many for the time there is."""
    count = len(problem.losses)
    if count > _MOST_POINTS or _farthest(problem) * count**2 > min(_MOST_DIGITS, seconds * _DIGITS_A_SECOND):
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
    return _certified(problem, matrix, problem.space.points) if problem.about(matrix) <= loss * (1 - _WORTH) else None


def improved(problem: Problem, matrix: Floats, loss: float) -> Certified | None:
    """A matrix of points by outputs as a channel that is private, if it promises less than a loss."""
    if not (np.isfinite(matrix).all() and (matrix.sum(axis=1) > 0).all()):
        return None
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    promised = float((matrix * problem.costs).sum()) + problem.offset
    return _certified(problem, matrix, problem.outputs) if promised <= loss * (1 - _WORTH) else None


def _certified(problem: Problem, matrix: Floats, outputs: tuple[Any, ...]) -> Certified | None:
    try:
        with np.errstate(over="ignore"):
            return certify(matrix, problem.space, outputs)
    except MetricDPError:
        return None


def _farthest(problem: Problem) -> float:
    distances = problem.pairs.distances
    return float(distances[np.isfinite(distances)].max())
