"""Transport with gains: what is lacking in some places, sent from where there is some to spare; in floats.

    minimise  Σ_i lacking_i   with   Σ_j gain_ij y_ij + lacking_i >= need_i,   Σ_i y_ij <= spare_j,   y, lacking >= 0

over some pairs (i, j). Its duals are ``0 <= v_i <= 1`` for the needs and ``w_j >= gain_ij v_i`` for what is to spare.
Thousands of these, each of a millisecond, are solved by one solver, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats, Places

__all__ = ["Shipped", "Transport"]

_MOST_STEPS = 4000
_TOLERANCE = 1e-9
_OPTIONS = (
    ("output_flag", False),
    ("threads", 1),
    ("parallel", "off"),
    ("presolve", "off"),
    ("random_seed", 1),
    ("small_matrix_value", 1e-12),
    ("simplex_iteration_limit", _MOST_STEPS),
    ("primal_feasibility_tolerance", _TOLERANCE),
    ("dual_feasibility_tolerance", _TOLERANCE),
)


@dataclass(frozen=True, eq=False)
class Shipped:
    """What a solver found; nothing of it is proved.

    Attributes:
        lacking: what is missing still at each need.
        flow: y for each pair.
        values: v, one for each need.
        worth: w, one for each place that can spare some.
    """

    lacking: Floats
    flow: Floats
    values: Floats
    worth: Floats


class Transport:
    """A solver for one transport problem after the other.

    >>> found = Transport().solve(np.array([1.0]), np.array([1.0]), np.array([0]), np.array([0]), np.array([0.5]))
    >>> found.lacking.tolist(), found.flow.tolist(), found.values.tolist(), found.worth.tolist()
    ([0.5], [1.0], [1.0], [0.5])
    """

    def __init__(self) -> None:
        import highspy

        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS:
            self._solver.setOptionValue(name, value)

    def solve(self, needs: Floats, spare: Floats, first: Places, second: Places, gains: Floats) -> Shipped:
        """The least that is lacking, over the pairs (first, second) with their gains."""
        import highspy

        count, places, pairs = len(needs), len(spare), len(first)
        entries: NDArray[np.int32] = np.empty(count + 2 * pairs, np.int32)
        values = np.ones(count + 2 * pairs)
        entries[:count], entries[count::2], entries[count + 1 :: 2] = np.arange(count), first, count + second
        values[count::2] = gains
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = count + pairs, count + places
        program.col_cost_ = np.concatenate([np.ones(count), np.zeros(pairs)])
        program.col_lower_ = np.zeros(count + pairs)
        program.col_upper_ = np.full(count + pairs, highspy.kHighsInf)
        program.row_lower_ = np.concatenate([needs, np.full(places, -highspy.kHighsInf)])
        program.row_upper_ = np.concatenate([np.full(count, highspy.kHighsInf), spare])
        starts = np.concatenate([np.arange(count), count + 2 * np.arange(pairs + 1)])
        program.a_matrix_.start_ = starts.astype(np.int32)
        program.a_matrix_.index_, program.a_matrix_.value_ = entries, values
        self._solver.passModel(program)
        self._solver.run()
        point = self._solver.getSolution()
        primal, duals = np.array(point.col_value), np.abs(np.array(point.row_dual))
        if len(primal) != count + pairs or len(duals) != count + places or not np.isfinite(primal).all():
            return Shipped(needs.copy(), np.zeros(pairs), np.zeros(count), np.zeros(places))
        return Shipped(np.maximum(primal[:count], 0.0), np.maximum(primal[count:], 0.0), duals[:count], duals[count:])
