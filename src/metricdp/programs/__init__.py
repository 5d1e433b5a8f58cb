"""Linear programs with duals, and exact certificates for what a solver says.

The only folder that knows the solver, HiGHS. A solver's numbers are floats and prove nothing: `exact` turns them into
rational points that are proved to be feasible, and a caller that needs a bound evaluates the duals exactly.
"""

from metricdp.programs.exact import Echelon, point_on_support
from metricdp.programs.linear import LinearProgram, Sparse
from metricdp.programs.precise import PreciseProgram, PreciseSolution
from metricdp.programs.solution import Basis, Solution, Status

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


def __dir__() -> list[str]:
    return __all__
