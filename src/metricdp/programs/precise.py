"""Linear programs solved to many more digits than the solver has.

The problem: over all x >= 0 with ``M x = b``, minimise ``c . x``, for integers M, b and c (and one divisor of M and b);
find x and duals y with errors as small as you ask for.

Iterative refinement: what an answer misses, in its equations, its signs and its reduced costs, is computed exactly,
multiplied by a large power of two, and given to the solver as the next program. It has the same matrix and starts from
the last basis; its answer, divided by that power, mends the one before.

References:
    Gleixner, Steffy and Wolter 2016, *Iterative refinement for linear programming*, Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.programs.linear import LinearProgram, Sparse

__all__ = ["PreciseProgram", "PreciseSolution"]

_FLOAT_BITS = 52
_GAIN = 30
"""How many bits a round may add: the solver's tolerance is about 2^-30."""

_BEYOND = 1e9
"""A bound that is farther than this from zero, or a cost that is larger, is out of the picture in a scaled program."""


@dataclass(frozen=True, eq=False)
class PreciseSolution:
    """One round's answer.

    Attributes:
        primal: x times ``2**primal_bits``, in integers; signs and equations are missed by less each round.
        primal_bits: see ``primal``.
        duals: y times ``2**dual_bits``, in integers.
        dual_bits: see ``duals``.
        basic: the columns whose values the basis determines; the others are exactly zero.
    """

    primal: list[int]
    primal_bits: int
    duals: list[int]
    dual_bits: int
    basic: frozenset[int]


@dataclass(frozen=True, eq=False)
class PreciseProgram:
    """The problem (see the module); rows are given by their entries that are not zero.

    Attributes:
        costs: c.
        rows: for each row, the places of its entries and the entries.
        right: b.
        divisor: what M and b are to be divided by.

    >>> program = PreciseProgram([1, 1, 2], [([0, 1, 2], [1, 3, 4])], [1], 1)  # x + 3 y + 4 z = 1
    >>> *_, answer = program.rounds(3)
    >>> error = 3 * answer.primal[1] - 2**answer.primal_bits  # of y = 1/3
    >>> answer.primal[0], answer.primal[2], abs(error) * 2**80 < 2**answer.primal_bits
    (0, 0, True)
    """

    costs: Sequence[int]
    rows: Sequence[tuple[Sequence[int], Sequence[int]]]
    right: Sequence[int]
    divisor: int = 1

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.right):
            raise ArgumentError(f"{len(self.rows)} rows need as many right-hand sides, not {len(self.right)}")

    def rounds(self, most: int = 8) -> Iterator[PreciseSolution]:
        """Ever more precise answers; ends where the solver finds no optimum, or the answer is exact."""
        primal, duals = [0] * len(self.costs), [0] * len(self.rows)
        primal_bits = dual_bits = 0
        primal_scale = dual_scale = 0  # of the program at hand, as powers of two
        program = self._program
        for _ in range(most):
            missed = self._missed(primal, primal_bits)
            reduced = self._reduced(duals, dual_bits)
            _give(program, self, missed, reduced, primal, (primal_bits, dual_bits, primal_scale, dual_scale))
            solution = program.solve(method="simplex")
            if not solution.optimal:  # lost its way from the last basis
                solution = program.solve(method="ipm")
            if not solution.optimal or solution.basis is None:
                return
            basic = frozenset(solution.basis.basic_columns)
            primal = _mended(primal, primal_bits, solution.primal.tolist(), primal_scale)
            duals = _mended(duals, dual_bits, solution.duals.tolist(), dual_scale)
            primal_bits, dual_bits = primal_scale + _FLOAT_BITS, dual_scale + _FLOAT_BITS
            primal = [value if place in basic else 0 for place, value in enumerate(primal)]
            yield PreciseSolution(primal, primal_bits, duals, dual_bits, basic)
            wrong = max(max(map(abs, self._missed(primal, primal_bits))), -min(0, *primal) * self.divisor)
            worth = self._reduced(duals, dual_bits)
            tilted = max(max((abs(worth[place]) for place in basic), default=0), -min(0, *worth))
            if wrong == 0 and tilted == 0:
                return
            primal_scale = _next_scale(primal_scale, wrong, self.divisor, primal_bits)
            dual_scale = _next_scale(dual_scale, tilted, self.divisor, dual_bits)

    def _missed(self, primal: list[int], bits: int) -> list[int]:
        """``b - M x``, times divisor and ``2**bits``."""
        return [
            (side << bits) - sum(entry * primal[place] for place, entry in zip(places, entries, strict=True))
            for (places, entries), side in zip(self.rows, self.right, strict=True)
        ]

    def _reduced(self, duals: list[int], bits: int) -> list[int]:
        """``c - M^T y``, times divisor and ``2**bits``."""
        values = [(cost * self.divisor) << bits for cost in self.costs]
        for (places, entries), dual in zip(self.rows, duals, strict=True):
            if dual:
                for place, entry in zip(places, entries, strict=True):
                    values[place] -= entry * dual
        return values

    @cached_property
    def _program(self) -> LinearProgram:
        program = LinearProgram()
        program.add_columns(np.zeros(len(self.costs)))
        entries = Sparse.of(
            dict(zip(places, (entry / self.divisor for entry in entries), strict=True)) for places, entries in self.rows
        )
        program.add_rows(0, 0, entries)
        return program


def _give(
    program: LinearProgram,
    exact: PreciseProgram,
    missed: list[int],
    reduced: list[int],
    primal: list[int],
    scales: tuple[int, int, int, int],
) -> None:
    """Make the solver's program the one for what is missing."""
    primal_bits, dual_bits, primal_scale, dual_scale = scales
    costs = np.array([_scaled(value, exact.divisor, dual_scale - dual_bits) for value in reduced])
    right = np.array([_scaled(value, exact.divisor, primal_scale - primal_bits) for value in missed])
    lower = np.array([_scaled(-value, 1, primal_scale - primal_bits) for value in primal])
    program.change_costs(np.arange(len(costs)), np.clip(costs, -_BEYOND, _BEYOND))
    program.change_row_bounds(np.arange(len(right)), right, right)
    program.change_column_bounds(
        np.arange(len(lower)), np.where(lower < -_BEYOND, -math.inf, lower), np.full(len(lower), math.inf)
    )


def _scaled(value: int, divisor: int, bits: int) -> float:
    """``value / divisor * 2**bits`` as a float, saturated."""
    over, under = (value << bits, divisor) if bits >= 0 else (value, divisor << -bits)
    try:
        return over / under
    except OverflowError:
        return math.copysign(1e300, over)


def _mended(values: list[int], bits: int, floats: list[float], scale: int) -> list[int]:
    """``values / 2**bits + floats / 2**scale``, in steps of ``2**-(scale + 52)``."""
    target = scale + _FLOAT_BITS
    shift = target - bits
    return [
        (value << shift if shift >= 0 else value >> -shift) + round(math.ldexp(more, _FLOAT_BITS))
        for value, more in zip(values, floats, strict=True)
    ]


def _next_scale(scale: int, error: int, divisor: int, bits: int) -> int:
    """The power of two that brings an error, over divisor and ``2**bits``, to about one; the same for no error."""
    if error == 0:
        return scale
    return max(0, min(scale + _GAIN, bits + divisor.bit_length() - error.bit_length() - 1))
