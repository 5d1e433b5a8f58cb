"""Linear programs with duals, and exact certificates for what a solver says.

The only folder that knows the solver. A solver's numbers are floats and prove nothing: `exact` turns them into rational
points that are feasible beyond doubt, and whoever asks for a bound evaluates the duals exactly.
"""

from metricdp.programs.exact import Echelon, point_on_support
from metricdp.programs.linear import Basis, LinearProgram, Solution, Sparse, Status
from metricdp.programs.precise import PreciseProgram, PreciseSolution

__all__ = [
    "Basis",
    "Echelon",
    "LinearProgram",
    "PreciseProgram",
    "PreciseSolution",
    "Solution",
    "Sparse",
    "Status",
    "point_on_support",
]
