"""Numbers to trust: secure bits, float-then-ball refinement, outward rounding.

The one source of noise in the package. Nothing else may draw random numbers.
"""

from metricdp.exact.balls import Enclosure, exp_bounds, log_bounds
from metricdp.exact.bits import secure, seeded
from metricdp.exact.level import Level, ln
from metricdp.exact.refine import decide_all_by_balls, tally
from metricdp.lazy import listing

__all__ = [
    "Enclosure",
    "Level",
    "decide_all_by_balls",
    "exp_bounds",
    "ln",
    "log_bounds",
    "secure",
    "seeded",
    "tally",
]

__dir__ = listing(__all__)
