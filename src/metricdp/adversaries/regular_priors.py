"""Regular priors: those that the rows of the privacy-constraints matrix add up to, with the proof either way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import arb

from metricdp.adversaries._arguments import known_secrets
from metricdp.adversaries.constraints_matrix import (
    ConstraintsMatrix,
    MatrixBlock,
    constraints_matrix,
)
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.exact.balls import Enclosure, ball, float_above, precision
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.rationals import flint_rational, fraction
from metricdp.exact.results import Result, enclosure_json, number_json
from metricdp.metrics import Space
from metricdp.programs.nonnegative import least_solution

__all__ = ["Regularity", "regular"]

_EXACT_POINTS = 64
_FEWEST_BITS, _MOST_BITS = 128, 4096
_ZERO = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True, repr=False)
class Regularity(Result):
    """Whether a prior is regular, with the proof; true as a condition where it is.

    Attributes:
        holds: whether ``y >= 0`` with ``y Φ = prior`` exists. None where neither could be proved: an entry of y cannot
            be told from zero in 4096 bits, which takes irrational entries of Φ and a prior made for them.
        prior: the prior.
        space: the points and the metric d of ``Φ = exp(-d)``.
        solution: y, each entry enclosed, exactly where Φ is rational and small; of all solutions, one with the least
            sum. None where there is none.
        refutation: where there is none, w with ``Φ w >= 0`` and ``prior · w < 0``.

    References:
        Paper 3, Definition 5 and Appendix B.
    """

    holds: bool | None
    prior: Prior
    space: Space
    solution: tuple[Enclosure, ...] | None = field(default=None, repr=False)
    refutation: tuple[Fraction, ...] | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def witness(self) -> tuple[Enclosure, ...] | tuple[Fraction, ...] | None:
        """What proves the answer: `solution` where it holds, `refutation` where it does not."""
        return self.refutation if self.solution is None else self.solution

    @property
    def reason(self) -> str:
        """The answer in words."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """The answer with its proof as plain values for JSON."""
        solution = None if self.solution is None else [enclosure_json(entry) for entry in self.solution]
        refutation = None if self.refutation is None else [number_json(entry) for entry in self.refutation]
        return {"holds": self.holds, "prior": self.prior.to_json(), "solution": solution, "refutation": refutation}

    def __repr__(self) -> str:
        total = "" if self.total is None else f", total={float(self.total):.6g}"
        return f"Regularity(holds={self.holds}, {self.prior!r}{total})"

    @property
    def exact(self) -> tuple[Fraction | float, ...] | None:
        """The vector y, where every entry is known exactly."""
        if self.solution is None or any(entry.width for entry in self.solution):
            return None
        return tuple(entry.lower for entry in self.solution)

    @property
    def interior(self) -> bool:
        """Whether every entry of y is positive: only then is ``Φ diag = 1`` needed for equality in Theorem 1."""
        return self.solution is not None and all(entry.lower > 0 for entry in self.solution)

    @property
    def total(self) -> Enclosure | None:
        """``Σ y``, the bound of Theorem 1."""
        if self.solution is None:
            return None
        lower = sum((Fraction(entry.lower) for entry in self.solution), Fraction(0))
        upper = sum((Fraction(entry.upper) for entry in self.solution), Fraction(0))
        return Enclosure(lower, upper)

    def check(self, bits: int = 256) -> bool:
        """Whether the proof is right, checked again from nothing but Φ, the prior, and y or w.

        For y, that ``y Φ`` encloses the prior with no entry of y below zero, exactly where y and Φ are; for w, the two
        inequalities of Farkas.
        """
        phi = constraints_matrix(self.space)
        shares, places = self.prior.fractions, range(len(self.space))
        if self.refutation is not None:
            if sum((a * b for a, b in zip(self.refutation, shares, strict=True)), Fraction(0)) >= 0:
                return False
            return all(_nonnegative(phi, i, self.refutation, bits) for i in places)
        if self.solution is None or any(entry.lower < 0 for entry in self.solution):
            return False
        exact, rows = self.exact, phi.exact
        if exact is not None and rows is not None:
            sums = (sum((Fraction(y) * a for y, a in zip(exact, row, strict=True)), Fraction(0)) for row in rows)
            return all(total == share for total, share in zip(sums, shares, strict=True))
        with precision(bits):
            balls = [_ball_of(entry) for entry in self.solution]
            return all(
                sum((y * phi.ball(k, j) for k, y in enumerate(balls)), arb(0)).contains(ball(shares[j])) for j in places
            )

    def __str__(self) -> str:
        if self.holds is None:
            return "undecided: the prior is on the border of the region, or too near to it to tell"
        if self.solution is not None and self.total is not None:
            least = min(range(len(self.solution)), key=lambda place: float(self.solution[place]))  # type: ignore[index]
            return (
                f"regular: utility is at most {float_above(self.total.upper):.6g}; nearest to the border at "
                f"{self.space.points[least]!r}, where y is {float(self.solution[least]):.3g}"
            )
        return "not regular: there is w with Φ w >= 0 and prior · w < 0"


def regular(
    prior: Any,
    space: SpaceLike,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Regularity:
    """Whether a prior is regular: ``prior = y Φ`` with ``y >= 0``, for ``Φ = exp(-d)``.

    Solved exactly where Φ is rational and small, in ever more precise balls elsewhere, along the axes where the space
    is a product; where Φ is singular, by the simplex method in rationals. The answer carries y, or Farkas' w.

    Args:
        prior: over the points of the space, in any form that `as_prior` takes.
        space: the points and their metric d; or d alone, on the secrets of a `Prior`.
        time_limit: seconds; None for no limit.
        progress: told how far it has come.

    Raises:
        TooLargeError: the time limit is reached before it is decided.

    References:
        Paper 3, Definition 5; Appendix B for singular Φ.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import discrete
    >>> space = Space("abc", ln(2) * discrete())
    >>> found = regular("uniform", space)
    >>> bool(found), found.exact
    (True, (Fraction(1, 6), Fraction(1, 6), Fraction(1, 6)))
    >>> refused = regular(["0.2", "0.2", "0.6"], space)
    >>> bool(refused), refused.check()
    (False, True)
    """
    watch = Stopwatch(time_limit, progress)
    space = as_space(space, "regular", known_secrets(prior))
    believed = as_prior(prior, space.points)
    phi = constraints_matrix(space)
    shares = believed.fractions
    for place, first in enumerate(phi.representatives):
        if shares[place] != shares[first]:  # equal columns of Φ, unequal entries: w is their difference
            low, high = sorted((place, first), key=shares.__getitem__)
            signs = {low: Fraction(1), high: Fraction(-1)}
            return Regularity(False, believed, space, None, _spread(signs, len(space), Fraction(0)))
    solution: dict[int, Enclosure] = {}
    decided = True
    for done, block in enumerate(phi.blocks):
        watch.check("to decide whether the prior is regular", done, len(phi.blocks), "parts of the space")
        part = _solve(block, [shares[place] for place in block.places], watch)
        if part.refutation is not None:
            return Regularity(
                False,
                believed,
                space,
                None,
                _spread(dict(zip(block.places, part.refutation, strict=True)), len(space), Fraction(0)),
            )
        if part.solution is None:
            decided = False
        else:
            solution.update(zip(block.places, part.solution, strict=True))
    if not decided:
        return Regularity(None, believed, space)
    return Regularity(True, believed, space, _spread(solution, len(space), _ZERO))


@dataclass(frozen=True)
class _Part:
    solution: Sequence[Enclosure] | None = None
    refutation: Sequence[Fraction] | None = None


def _solve(block: MatrixBlock, shares: Sequence[Fraction], watch: Stopwatch) -> _Part:
    if not any(shares):  # a part of its own that the prior excludes
        return _Part([_ZERO] * len(shares))
    if block.largest_factor <= _EXACT_POINTS and block.rational:
        return _solve_exactly(block, shares)
    bits = _FEWEST_BITS
    while bits <= _MOST_BITS:
        watch.check("to decide whether the prior is regular")
        watch.tell(bits, _MOST_BITS, unit="bits of precision")
        with precision(bits):
            part = _solve_in_balls(block, shares)
        if part is not None:
            return part
        bits *= 2
    return _solve_exactly(block, shares) if block.rational else _Part()


def _solve_exactly(block: MatrixBlock, shares: Sequence[Fraction]) -> _Part:
    factors = block.factors(exact=True)
    try:
        solved = block.solve(factors, [flint_rational(share) for share in shares])
    except ZeroDivisionError:
        rows = [[block.phi.exactly(i, h) for h in block.places] for i in block.places]
        least = least_solution([[value for value in row if value is not None] for row in rows], shares)
        if least.solution is None:
            return _Part(refutation=least.refutation)
        return _Part([Enclosure(value, value) for value in least.solution])
    worst = min(range(len(solved)), key=solved.__getitem__)
    if solved[worst] < 0:  # Φ w = e >= 0 and prior · w = y Φ w = y(worst) < 0
        unit = [flint_rational(Fraction(int(place == worst))) for place in range(len(shares))]
        return _Part(refutation=[fraction(value) for value in block.solve(factors, unit)])
    return _Part([Enclosure(value, value) for value in map(fraction, solved)])


def _solve_in_balls(block: MatrixBlock, shares: Sequence[Fraction]) -> _Part | None:
    """The y with every sign decided, or w, or None where this precision does not tell."""
    factors = block.factors(exact=False)
    try:
        solved = block.solve(factors, [ball(share) for share in shares])
    except ZeroDivisionError:
        return None
    if all(entry >= 0 for entry in solved):
        return _Part([Enclosure.of(entry) for entry in solved])
    enclosed = [Enclosure.of(entry) for entry in solved]
    worst = min(range(len(solved)), key=lambda place: enclosed[place].upper)
    if not enclosed[worst].upper < 0:
        return None
    # w = Φ⁻¹(e + η·1) has Φ w >= η > 0, with room for rounding it; prior · w = y(worst) + η Σ y is below 0 for small η.
    total = abs(sum((Fraction(entry.upper) for entry in enclosed), Fraction(0)))
    room = Fraction(-enclosed[worst].upper) / (2 * (total + 1))
    goal = [ball(room + int(place == worst)) for place in range(len(shares))]
    refutation = [Fraction(Enclosure.of(entry.mid()).lower) for entry in block.solve(factors, goal)]
    below = sum((a * b for a, b in zip(refutation, shares, strict=True)), Fraction(0))
    if below < 0 and all(entry > 0 for entry in block.times(factors, [ball(value) for value in refutation])):
        return _Part(refutation=refutation)
    return None


def _spread(values: dict[int, Any], count: int, otherwise: Any) -> tuple[Any, ...]:
    return tuple(values.get(place, otherwise) for place in range(count))


def _nonnegative(phi: ConstraintsMatrix, row: int, vector: Sequence[Fraction], bits: int) -> bool:
    """Whether a row of Φ times a vector is at least zero, exactly where the row is rational.

    Columns of points at distance zero are equal, so they are one with the sum of their entries.
    """
    together = [Fraction(0)] * len(vector)
    for first, value in zip(phi.representatives, vector, strict=True):
        together[first] += value
    used = [column for column, value in enumerate(together) if value]
    entries = [phi.exactly(row, column) for column in used]
    if None not in entries:
        exact = [value for value in entries if value is not None]
        return sum((a * together[column] for a, column in zip(exact, used, strict=True)), Fraction(0)) >= 0
    with precision(bits):
        return bool(sum((phi.ball(row, column) * ball(together[column]) for column in used), arb(0)) >= 0)


def _ball_of(entry: Enclosure) -> arb:
    middle = (Fraction(entry.lower) + Fraction(entry.upper)) / 2
    return ball(middle) + arb(0, float_above((Fraction(entry.upper) - Fraction(entry.lower)) / 2))
