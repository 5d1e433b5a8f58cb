"""Laplace mechanisms of Definition 6: from points to any set of outputs, each with a weight of its own.

The problem: find ``a >= 0`` with ``sum over z of a(z) exp(-d(x, z)) = 1`` for every point x, of least expected
distance. A solver says in floats which outputs are in use; their weights are found exactly where all exp(-d) are
rational, and in balls elsewhere. That there are none is proved by a w with a negative sum, and with
``sum over x of w(x) exp(-d(x, z)) >= 0`` for every output z.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat

from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.channels.certified import Certified
from metricdp.channels.of import certified
from metricdp.errors import ImpossibleError, TooLargeError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, precision
from metricdp.exact.lists import as_list
from metricdp.exact.weights import Weights
from metricdp.mechanisms.law import Law, fixed_point, log2_below
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.coordinates import distinct
from metricdp.programs import LinearProgram, Sparse, Status
from metricdp.programs.exact import point_on_support

__all__ = ["laplace_onto"]

_MOST_ENTRIES = 250_000
_USED = 1e-11
_BITS = 256


def laplace_onto(space: SpaceLike, outputs: Iterable[Any]) -> Certified:
    """The Laplace mechanism from the points of a space to a set of outputs: ``K(x)(z) = a(z) exp(-d(x, z))``.

    The weights a >= 0 make every row a distribution. Where there are several, those of least expected distance under
    the uniform prior are taken. On the points themselves it is `tight_constraints`; with more outputs than points it
    can exist where that one does not.

    Args:
        space: the points x and the metric d.
        outputs: the set of z; the metric measures from each point to each of them.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        ImpossibleError: there are no such weights, with the proof in words; or it could not be decided.
        TooLargeError: points times outputs are more than 250,000.

    References:
        Paper 1, Definition 6, Fact 7 and Fig. 2 (iv).

    >>> import metricdp as mdp
    >>> print(laplace_onto(mdp.Space([1, 2], mdp.ln(2) * mdp.metrics.absolute()), range(4)))
    channel of 2 inputs and 4 outputs, weights out of 3
    ln 2·|x − y|-private
       0    1    2  3
    1  0  2/3  1/3  0
    2  0  1/3  2/3  0
    """
    space = as_space(space, "laplace_onto")
    chosen = distinct(as_list(outputs, "outputs"), "output")
    if len(space) * len(chosen) > _MOST_ENTRIES:
        raise TooLargeError(
            f"{len(space):,} points times {len(chosen):,} outputs, and at most {_MOST_ENTRIES:,} are taken",
            f"{len(space) * len(chosen):,} entries",
        )
    both = Space(dict.fromkeys([*space.points, *chosen]), space.metric)
    phi = constraints_matrix(both)
    rows, columns = list(range(len(space))), [both.index(z) for z in chosen]
    support = _support(phi, rows, columns)
    exact = [[value for z in columns if (value := phi.exactly(x, z)) is not None] for x in rows]
    if all(len(row) == len(columns) for row in exact):
        weights = point_on_support(exact, [Fraction(1)] * len(rows), support)
        if weights is None:
            raise ImpossibleError("the weights that a solver proposes do not hold in exact arithmetic")
        return _of_rationals(space, chosen, exact, weights)
    return _of_balls(space, chosen, phi, rows, [columns[z] for z in support], support)


def _support(phi: ConstraintsMatrix, rows: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Which outputs are in use, in the order of the columns."""
    falls = phi.matrix[np.ix_(rows, columns)]
    far = phi.space.distances[np.ix_(rows, columns)]
    program = LinearProgram()
    program.add_columns((falls * np.where(falls > 0, far, 0.0)).mean(axis=0))
    program.add_rows(1, 1, Sparse.of_dense(falls))
    solution = program.solve()
    if solution.status is Status.INFEASIBLE:
        _refute(phi, rows, columns, falls)
    if not solution.optimal:
        raise ImpossibleError(f"the solver found no weights: {solution.status.value}")
    return [z for z, value in enumerate(solution.primal.tolist()) if value > _USED]


def _refute(phi: ConstraintsMatrix, rows: Sequence[int], columns: Sequence[int], falls: Floats) -> None:
    """Raise, with the proof that there are no weights, or that it is not decided."""
    program = LinearProgram()
    program.add_columns(np.ones(len(rows)), -1, 1)
    program.add_rows(0, np.inf, Sparse.of_dense(falls.T))
    guess = program.solve().primal
    lifted = [Fraction(float(value)) + Fraction(1, 10**7) for value in guess]
    with precision(_BITS):
        sums = [sum((ball(w) * phi.ball(x, z) for w, x in zip(lifted, rows, strict=True)), arb(0)) for z in columns]
        proved = sum(lifted) < 0 and all(value >= 0 for value in sums)
    shown = ", ".join(f"{float(w):.4g}" for w in lifted[:6]) + (", .." if len(lifted) > 6 else "")
    if proved:
        raise ImpossibleError(
            f"no Laplace mechanism leads from these points onto these outputs: w = ({shown}) has a negative sum, yet "
            "none with the falls exp(-d) to any output. More outputs, or a higher level, may admit one"
        )
    raise ImpossibleError("the solver finds no weights, and that there are none could not be proved")


def _of_rationals(
    space: Space, outputs: Sequence[Any], falls: Sequence[Sequence[Fraction]], weights: Sequence[Fraction]
) -> Certified:
    table = [[a * fall for a, fall in zip(weights, row, strict=True)] for row in falls]
    least = min(value for row in table for value in row if value)
    exponent = least.numerator.bit_length() - least.denominator.bit_length() - 1

    def fixed(bits: int) -> Weights:
        return np.array(
            [[-((-value.numerator << bits) // value.denominator) for value in row] for row in table], object
        )

    law = Law(space.points, tuple(outputs), fixed, exponent, lambda: table)
    return certified(law, Guarantee(space.metric))


def _of_balls(
    space: Space,
    outputs: Sequence[Any],
    phi: ConstraintsMatrix,
    rows: Sequence[int],
    columns: Sequence[int],
    support: Sequence[int],
) -> Certified:
    """As many outputs as points are in use: their weights are the one solution of a square system."""
    if len(columns) != len(rows):
        raise ImpossibleError(
            f"not decided: {len(columns)} outputs would serve {len(rows)} points, which takes exact ties between "
            "distances that are not rational"
        )

    def shares() -> tuple[list[list[arb]], list[arb]]:
        falls = [[phi.ball(x, z) for z in columns] for x in rows]
        try:
            found = arb_mat(falls).solve(arb_mat([[1]] * len(rows)))
        except ZeroDivisionError:
            raise ImpossibleError("not decided: the distances are too nearly dependent") from None
        weights = [found[place, 0] for place in range(len(rows))]
        if not all(weight > 0 for weight in weights):
            raise ImpossibleError("not decided: some weight cannot be told from zero")
        return falls, weights

    def fixed(bits: int) -> Weights:
        table = np.zeros((len(rows), len(outputs)), dtype=object)
        with precision(bits + _BITS):
            falls, weights = shares()
            for x, row in enumerate(falls):
                for place, (a, fall) in enumerate(zip(weights, row, strict=True)):
                    table[x, support[place]] = fixed_point(a * fall, bits)
        return table

    def least() -> arb:
        falls, weights = shares()
        # Outputs at an infinite distance have the probability 0, which is not the least positive one.
        positive = [a * fall for row in falls for a, fall in zip(weights, row, strict=True) if not fall.is_zero()]
        return reduce(arb.min, positive)

    return certified(Law(space.points, tuple(outputs), fixed, log2_below(least)), Guarantee(space.metric))
