"""The tight-constraints mechanism: best for every regular prior, where it exists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz_mat

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.regular_priors import Regularity
from metricdp.channels.certified import Certified
from metricdp.channels.serialize import label_document
from metricdp.design.distance_classes import DistanceClasses
from metricdp.design.tight._solving import Solved, proved_invertible, refine, solve
from metricdp.design.tight._structured import Line, Product, StructuredTight, check_tight_space, structured_tight
from metricdp.design.tight.channel import tight_channel
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import Enclosure
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, enclosure_json, number_json
from metricdp.metrics import Space
from metricdp.programs.exact import Echelon, integers

__all__ = ["TightConstraints", "tight_constraints"]

_MOST_POINTS = 4096
_MOST_DENSE = 1024
_EXACT_POINTS = 64
_MOST_CORNERS = 50_000
_ZERO = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True, repr=False)
class TightConstraints(Result):
    """Whether a space has a tight-constraints mechanism, with the proof; true as a condition if it has.

    Such a mechanism X has ``X(i, k) = exp(-d(i, k)) X(k, k)`` for all points, so it is given by its diagonal a, which
    is any solution of ``Φ a = 1`` with ``a >= 0``. It is optimal, with the gain 1 for the right guess, for every
    regular prior.

    Attributes:
        holds: whether it exists; None if neither could be proved: Φ is irrational and singular, or an entry cannot be
            told from zero in 4096 bits.
        space: the points and the metric d of ``Φ = exp(-d)``.
        diagonal: a, each entry enclosed, exactly where Φ is rational and small; None if it does not exist.
        directions: vectors v with ``Φ v = 0``; the diagonals are all the ``a + v >= 0`` with v in their span.
        unique: whether there is only one such mechanism; None if that was not decided (Φ is large and nearly singular).
        witness: if it does not exist, Farkas' w with ``Φ w >= 0`` and ``1 · w < 0``, which proves that.

    References:
        Paper 3, Definition 7, Lemmas 3 and 4, Theorem 3.
    """

    holds: bool | None
    space: Space
    diagonal: tuple[Enclosure, ...] | None = None
    directions: tuple[tuple[Fraction, ...], ...] = ()
    unique: bool | None = None
    witness: tuple[Fraction, ...] | None = None

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def exact(self) -> tuple[Fraction, ...] | None:
        """The diagonal, where every entry is known exactly."""
        if self.diagonal is None or any(entry.width for entry in self.diagonal):
            return None
        return tuple(Fraction(entry.lower) for entry in self.diagonal)

    @property
    def total(self) -> Enclosure | None:
        """``Σ a``, the same for all solutions: the multiplicative capacity of the space."""
        if self.diagonal is None:
            return None
        lower = sum((Fraction(entry.lower) for entry in self.diagonal), Fraction(0))
        upper = sum((Fraction(entry.upper) for entry in self.diagonal), Fraction(0))
        return Enclosure(lower, upper)

    @property
    def utility(self) -> Bound | None:
        """The probability of the right guess under the uniform prior, ``Σ a / n``: no private mechanism has more."""
        if (total := self.total) is None:
            return None
        return Bound.below(Enclosure(total.lower / len(self.space), total.upper / len(self.space)))

    @cached_property
    def channel(self) -> Certified:
        """The mechanism, verified: exact where Φ and the diagonal are rational, else moved by about 2^-64.

        Raises:
            ImpossibleError: there is none.
            TooLargeError: if there are more than 1024 points; `row` gives one input's probabilities.
        """
        if self.diagonal is None:
            raise ImpossibleError(f"no channel: {self}")
        if len(self.space) > _MOST_DENSE:
            memory = f"about {len(self.space) ** 2 * 100 / 1e9:,.1f} GB"
            raise TooLargeError(
                f"a channel of {len(self.space):,} inputs and outputs would take {memory}; row(point) gives the "
                "probabilities of one input",
                memory,
            )
        diagonal = self.diagonal
        if self.exact is None or not self._phi.rational:
            return tight_channel(self._phi, lambda bits: refine(self.space, bits))
        return tight_channel(self._phi, lambda bits: diagonal)

    def row(self, point: Any) -> Floats:
        """The probabilities of all outputs for one input, as floats; a view."""
        if self.diagonal is None:
            raise ImpossibleError(f"no probabilities: {self}")
        falls = np.exp(-self.space.distances[self.space.index(point)])
        return np.asarray(falls * np.array([float(entry) for entry in self.diagonal]))

    @cached_property
    def corners(self) -> tuple[tuple[Enclosure, ...], ...]:
        """The corners of the set of all diagonals: every mechanism of this kind is a mixture of theirs.

        Raises:
            TooLargeError: if there are too many to try.
            ArgumentError: if Φ is not rational.
        """
        if self.diagonal is None:
            return ()
        first = self._phi.representatives
        inner = [vector for vector in self.directions if not _between_twins(vector, first)]
        bases = [self.diagonal] if not inner else _corners(self.exact, inner)
        twins = [[place for place, one in enumerate(first) if one == leader] for leader in sorted(set(first))]
        if math.prod(map(len, twins)) * len(bases) > _MOST_CORNERS:
            raise TooLargeError(f"more than {_MOST_CORNERS:,} corners: too many points are at distance zero")
        found: dict[tuple[Enclosure, ...], None] = {}
        for base in bases:
            for chosen in itertools.product(*twins):
                corner = [_ZERO] * len(first)
                for place in chosen:
                    corner[place] = base[first[place]]
                found[tuple(corner)] = None
        return tuple(found)

    def channel_of(self, diagonal: Sequence[Enclosure]) -> Certified:
        """The mechanism of another exact diagonal, such as one of `corners`."""
        if any(entry.width for entry in diagonal):
            raise ArgumentError("this diagonal is not known exactly; `channel` has the mechanism that was found")
        return tight_channel(self._phi, lambda bits: tuple(diagonal))

    def check(self) -> bool:
        """Whether the proof is one, verified anew from Φ and the diagonal or w: the uniform prior is regular or not."""
        from metricdp.adversaries.prior import Prior

        count = len(self.space)
        solution = None
        if self.diagonal is not None:
            solution = tuple(Enclosure(entry.lower / count, entry.upper / count) for entry in self.diagonal)
        return Regularity(self.holds, Prior.uniform(self.space.points), self.space, solution, self.witness).check()

    @property
    def _phi(self) -> ConstraintsMatrix:
        return constraints_matrix(self.space)

    @property
    def reason(self) -> str:
        """Why there is none, or why that is not known; empty if it exists."""
        if self.holds is None:
            return "the matrix Φ is singular, or an entry of the diagonal is too near to zero to tell its sign"
        return "" if self.holds else "there is w with Φ w >= 0 and 1 · w < 0"

    def to_json(self) -> dict[str, Any]:
        """Whether it exists, the diagonal between bounds, or the witness."""
        return {
            "points": [label_document(point) for point in self.space.points],
            "metric": str(self.space.metric),
            "holds": self.holds,
            "unique": self.unique,
            "utility": None if self.utility is None else enclosure_json(self.utility.enclosure),
            "diagonal": None if self.diagonal is None else [enclosure_json(entry) for entry in self.diagonal],
            "witness": None if self.witness is None else [number_json(entry) for entry in self.witness],
            "reason": self.reason,
        }

    def __str__(self) -> str:
        if self.holds is None:
            return f"undecided: {self.reason}"
        if self.holds and self.utility is not None:
            many = {True: "one", False: "several", None: "at least one"}[self.unique]
            return f"exists ({many}), right with probability {self.utility:.6g} under the uniform prior"
        return f"does not exist: {self.reason}"

    def __repr__(self) -> str:
        return f"TightConstraints({len(self.space)} points, {self})"


def tight_constraints(
    space: Space | Line | Product, *, time_limit: float | None = None, progress: Progress | None = None
) -> TightConstraints | StructuredTight:
    """The tight-constraints mechanism of a space, or the proof that there is none.

    Solves ``Φ a = 1`` for ``Φ = exp(-d)``: exactly where Φ is rational and small, in ever more precise balls elsewhere,
    along the axes of a product, and with one unknown for each class of points that see the same distances; where Φ is
    singular and rational, by the simplex method in rationals. A `Line`, and a `Product` of lines and spaces, are solved
    without any matrix.

    Args:
        space: the points and their metric d.
        time_limit: seconds after which it is given up. A system of equations that is being solved is not interrupted.
        progress: is given an `Update` before each attempt, with its precision in bits.

    Returns:
        The answer with its proof. Where there are several mechanisms, it describes them all.

    Guarantee:
        ``space.metric``, verified, for the channel it gives.

    Raises:
        ArgumentError: if ``space`` is none of the three.
        TooLargeError: if a Space has more than 4096 points (a `Line` or `Product` may have many more), or the time
            limit is reached.

    References:
        Paper 3, Definition 7, Lemmas 3 and 4; Appendix B for singular Φ.

    >>> import metricdp as mdp
    >>> found = tight_constraints(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
    >>> bool(found), found.exact
    (True, (Fraction(2, 3), Fraction(1, 3), Fraction(2, 3)))
    >>> print(found.channel)
    channel of 3 inputs and 3 outputs, weights out of 6
    ln 2·|x − y|-private
         0    1    2
    0  2/3  1/6  1/6
    1  1/3  1/3  1/3
    2  1/6  1/6  2/3
    """
    watch = Stopwatch(time_limit, progress)
    if isinstance(space, (Line, Product)):
        return structured_tight(space, watch)
    check_tight_space(space, "tight_constraints", _MOST_POINTS)
    solved = solve(space, watch)
    if solved.refutation is not None:
        return TightConstraints(False, space, witness=solved.refutation)
    if solved.diagonal is None:
        return TightConstraints(None, space)
    watch.check("to find whether there is one mechanism alone")
    directions, complete = _directions(space, solved)
    unique = False if directions else (True if complete else None)
    return TightConstraints(True, space, solved.diagonal, directions, unique)


def _directions(space: Space, solved: Solved) -> tuple[tuple[tuple[Fraction, ...], ...], bool]:
    """The null space of Φ as far as it is known, and whether that is all of it."""
    phi = constraints_matrix(space)
    count, first = len(space), phi.representatives
    found = [
        tuple(Fraction((place == here) - (place == one)) for place in range(count))
        for here, one in enumerate(first)
        if here != one
    ]
    leaders = [place for place in range(count) if first[place] == place]
    if solved.invertible:
        return tuple(found), True
    if phi.rational and len(leaders) <= _EXACT_POINTS:
        rows = [[phi.exactly(i, h) or Fraction(0) for h in leaders] for i in leaders]
        whole, _ = integers(rows)
        held = Echelon.of(whole, fmpz_mat(len(leaders), 1))
        for column in held.free:
            inside = dict(zip(leaders, held.null_vector(column), strict=True))
            found.append(tuple(inside.get(place, Fraction(0)) for place in range(count)))
        return tuple(found), True
    return tuple(found), proved_invertible(DistanceClasses.of(space))


def _between_twins(vector: Sequence[Fraction], first: Sequence[int]) -> bool:
    moved = [first[place] for place, value in enumerate(vector) if value]
    return len(set(moved)) == 1


def _corners(
    start: tuple[Fraction, ...] | None, directions: Sequence[Sequence[Fraction]]
) -> list[tuple[Enclosure, ...]]:
    """The corners of ``{start + span >= 0}``: those with as many independent zeros as there are directions."""
    if start is None:
        raise ArgumentError("corners are found only if every exp(-d) is rational, as at the level ln 2")
    places = [place for place in range(len(start)) if any(vector[place] for vector in directions)]
    if math.comb(len(places), len(directions)) > _MOST_CORNERS:
        raise TooLargeError(f"more than {_MOST_CORNERS:,} candidates for corners: the matrix is too singular")
    found: dict[tuple[Enclosure, ...], None] = {}
    for zeros in itertools.combinations(places, len(directions)):
        whole, _ = integers([*(vector[place] for vector in directions), -start[place]] for place in zeros)
        table = whole.table()
        held = Echelon.of(fmpz_mat([row[:-1] for row in table]), fmpz_mat([row[-1:] for row in table]))
        if len(held.pivots) < len(directions):
            continue
        steps = held.solution(0)
        corner = [
            value + sum((step * vector[place] for step, vector in zip(steps, directions, strict=True)), Fraction(0))
            for place, value in enumerate(start)
        ]
        if min(corner) >= 0:
            found[tuple(Enclosure(value, value) for value in corner)] = None
    return list(found)
