"""Solving ``Φ a = 1`` for the privacy-constraints matrix of a space, with the proof either way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.regular_priors import regular
from metricdp.design.distance_classes import DistanceClasses
from metricdp.exact.balls import Enclosure, ball, precision
from metricdp.exact.progress import Stopwatch
from metricdp.exact.rationals import flint_rational, fraction
from metricdp.metrics import Space

__all__ = ["Solved", "decay_ball", "proved_invertible", "refine", "solve"]

_TASK = "to solve the equations"
_EXACT_CLASSES = 64
_FEW_POINTS = 32
_FEWEST_BITS, _MOST_BITS = 128, 4096
_UNIT = 2.0**-53
_ZERO = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Solved:
    """A nonnegative solution a, or w with ``Φ w >= 0`` and ``1 · w < 0``, or neither.

    Attributes:
        diagonal: a.
        refutation: w.
        invertible: whether Φ, on one point for each class at distance zero, was proved to be invertible on the way.
    """

    diagonal: tuple[Enclosure, ...] | None = None
    refutation: tuple[Fraction, ...] | None = None
    invertible: bool = False


def solve(space: Space, watch: Stopwatch | None = None) -> Solved:
    """Solve ``Φ a = 1`` with ``a >= 0``, by the axes of a product, by classes of points, or as a whole."""
    clock = watch or Stopwatch()
    clock.check(_TASK)
    phi = constraints_matrix(space)
    product = any(len(block.axes) > 1 for block in phi.blocks)
    if product or len(space) <= _FEW_POINTS:
        return _as_regular(phi)
    classes = DistanceClasses.of(space)
    clock.check(_TASK)
    if not classes.reduced:
        return _as_regular(phi)
    few = len(classes.leaders) <= _EXACT_CLASSES
    if few and all(phi.exactly(i, j) is not None for i, j in classes.pairs):  # one pair for each different distance
        return _solve_exactly(phi, classes) or _as_regular(phi)
    bits = _FEWEST_BITS
    while bits <= _MOST_BITS:
        clock.check(_TASK)
        clock.tell(bits, _MOST_BITS, unit="bits")
        with precision(bits):
            solved = _solve_in_balls(phi, classes)
        if solved is not None:
            return solved
        bits *= 2
    return Solved()


def refine(space: Space, bits: int) -> tuple[Enclosure, ...]:
    """The solution that `solve` found in balls, enclosed to about 2^-bits: Φ is known to be invertible."""
    phi = constraints_matrix(space)
    classes = DistanceClasses.of(space) if len(space) > _FEW_POINTS and len(phi.blocks[0].axes) == 1 else None
    working = bits + 64
    while True:
        try:
            with precision(working):
                diagonal = _in_balls(phi, classes if classes is not None and classes.reduced else None)
        except ZeroDivisionError:  # too nearly singular for these balls
            diagonal = None
        if diagonal is not None and max(entry.width for entry in diagonal) < Fraction(1, 1 << bits):
            return tuple(diagonal)
        working *= 2


def _in_balls(phi: ConstraintsMatrix, classes: DistanceClasses | None) -> list[Enclosure]:
    """The solution at the working precision, by classes of points where they are given."""
    if classes is not None:
        count = len(classes.leaders)
        matrix = arb_mat(classes.quotient(lambda code: phi.ball(*classes.pairs[code]), arb(0)))
        solved = matrix.solve(arb_mat(count, 1, [1] * count)).entries()
        return list(classes.spread([Enclosure.of(value) for value in solved], _ZERO))
    diagonal = [_ZERO] * len(phi)
    for block in phi.blocks:
        values = block.solve(block.factors(exact=False), [arb(1)] * len(block.places))
        for place, value in zip(block.places, values, strict=True):
            diagonal[place] = Enclosure.of(value)
    return diagonal


def decay_ball(classes: DistanceClasses, code: int) -> arb:
    """``exp(-d)`` of one of the different distances, as a ball at the working precision."""
    return constraints_matrix(classes.space).ball(*classes.pairs[code])


def proved_invertible(classes: DistanceClasses) -> bool:
    """Whether Φ has an approximate inverse R with ``|I - R Φ| < 1`` in every row, beyond all rounding.

    Entries are off by 4 units of rounding at most, and a product of m terms, in any order, by m units of the sum of
    the magnitudes.
    """
    with precision(96):
        entries = np.array([float(decay_ball(classes, code)) for code in range(len(classes.pairs))])
    matrix = entries[classes.codes]
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return False
    errors = (len(matrix) + 8) * _UNIT * (np.abs(inverse) @ matrix)
    rest = np.abs(np.eye(len(matrix)) - inverse @ matrix) + 2 * errors
    return bool(np.isfinite(rest).all() and rest.sum(axis=1).max() < 0.5)


def _as_regular(phi: ConstraintsMatrix) -> Solved:
    """By Lemma 4: the uniform prior is regular, ``y Φ = 1/n``, if and only if a = n y solves the equations."""
    found = regular("uniform", phi.space)
    if found.refutation is not None:
        return Solved(refutation=found.refutation)
    if found.solution is None:
        return Solved()
    count = len(phi)
    diagonal = tuple(Enclosure(entry.lower * count, entry.upper * count) for entry in found.solution)
    exact = all(not entry.width for entry in diagonal)
    return Solved(diagonal, invertible=not exact or _regular_factors(phi))  # balls are solved by inversion alone


def _regular_factors(phi: ConstraintsMatrix) -> bool:
    if not phi.rational or max(block.largest_factor for block in phi.blocks) > _EXACT_CLASSES:
        return False
    return all(factor.det() != 0 for block in phi.blocks for factor in block.factors(exact=True))


def _solve_exactly(phi: ConstraintsMatrix, classes: DistanceClasses) -> Solved | None:
    count = len(classes.leaders)
    rows = classes.quotient(lambda code: flint_rational(phi.exactly(*classes.pairs[code]) or Fraction(0)), fmpq(0))
    matrix = fmpq_mat(count, count, [value for row in rows for value in row])
    try:
        solved = [fraction(value) for value in matrix.solve(fmpq_mat(count, 1, [1] * count)).entries()]
        worst = min(range(count), key=solved.__getitem__)
        if solved[worst] >= 0:
            return Solved(tuple(classes.spread([Enclosure(value, value) for value in solved], _ZERO)))
        unit = fmpq_mat(count, 1, [int(place == worst) for place in range(count)])
        weights = [fraction(value) for value in matrix.solve(unit).entries()]
    except ZeroDivisionError:
        return None
    return Solved(refutation=_on_leaders(classes, weights))


def _solve_in_balls(phi: ConstraintsMatrix, classes: DistanceClasses) -> Solved | None:
    """With every sign decided, or None where this precision does not tell."""
    count = len(classes.leaders)
    matrix = arb_mat(classes.quotient(lambda code: phi.ball(*classes.pairs[code]), arb(0)))
    try:
        solved = matrix.solve(arb_mat(count, 1, [1] * count)).entries()
        enclosed = [Enclosure.of(value) for value in solved]
        if all(entry.lower >= 0 for entry in enclosed):
            return Solved(tuple(classes.spread(enclosed, _ZERO)))
        worst = min(range(count), key=lambda place: enclosed[place].upper)
        if not enclosed[worst].upper < 0:
            return None
        # Q w = e + η has Q w > 0 with room for rounding; Σ sizes·w = sizes(worst)·a(worst) + η Σ sizes·a stays below 0.
        sizes = classes.sizes.tolist()
        total = abs(sum((s * Fraction(entry.upper) for s, entry in zip(sizes, enclosed, strict=True)), Fraction(0)))
        room = Fraction(-enclosed[worst].upper) * sizes[worst] / (2 * (total + 1))
        goal = arb_mat(count, 1, [ball(room + int(place == worst)) for place in range(count)])
        weights = [Fraction(Enclosure.of(value.mid()).lower) for value in matrix.solve(goal).entries()]
    except ZeroDivisionError:
        return None
    below = sum((s * w for s, w in zip(sizes, weights, strict=True)), Fraction(0))
    images = (matrix * arb_mat(count, 1, [ball(value) for value in weights])).entries()
    if below < 0 and all(image > 0 for image in images):
        return Solved(refutation=_on_leaders(classes, weights))
    return None


def _on_leaders(classes: DistanceClasses, weights: Sequence[Any]) -> tuple[Fraction, ...]:
    return tuple(classes.spread(weights, Fraction(0)))
