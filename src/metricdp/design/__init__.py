"""The best mechanism for a purpose: optimal, capacity, tight constraints, kernels, universal optimality.

>>> import metricdp as mdp
>>> K = optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), prior="uniform", loss="distance")
>>> mdp.channels.verify(K, mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())).holds
True
"""

from metricdp.design.answer_space import answer_space
from metricdp.design.capacity import SpaceCapacity, capacity
from metricdp.design.continuous import Continuous, continuous
from metricdp.design.kernels import (
    Decomposition,
    KernelCheck,
    Kernels,
    Vertex,
    Vertices,
    decompose,
    is_kernel,
    kernels,
    vertices,
)
from metricdp.design.loss_and_leakage import LossAndLeakage, least_loss, least_vulnerability
from metricdp.design.most_entropy import MostEntropy, most_entropy
from metricdp.design.optimal import Optimal, optimal
from metricdp.design.tight import (
    Line,
    Product,
    StructuredTight,
    TightConstraints,
    TightScales,
    laplace_onto,
    least_scale,
    tight_constraints,
)
from metricdp.design.trade_off import TradeOff, trade_off
from metricdp.design.universal import (
    Comparison,
    EveryLoss,
    UniversalExample,
    Universality,
    UniversalMechanism,
    compare,
    optimal_for_every_loss,
    universal_example,
    universal_mechanism,
    universally_optimal,
)
from metricdp.lazy import listing

__all__ = [
    "Comparison",
    "Continuous",
    "Decomposition",
    "EveryLoss",
    "KernelCheck",
    "Kernels",
    "Line",
    "LossAndLeakage",
    "MostEntropy",
    "Optimal",
    "Product",
    "SpaceCapacity",
    "StructuredTight",
    "TightConstraints",
    "TightScales",
    "TradeOff",
    "UniversalExample",
    "UniversalMechanism",
    "Universality",
    "Vertex",
    "Vertices",
    "answer_space",
    "capacity",
    "compare",
    "continuous",
    "decompose",
    "is_kernel",
    "kernels",
    "laplace_onto",
    "least_loss",
    "least_scale",
    "least_vulnerability",
    "most_entropy",
    "optimal",
    "optimal_for_every_loss",
    "tight_constraints",
    "trade_off",
    "universal_example",
    "universal_mechanism",
    "universally_optimal",
    "vertices",
]

__dir__ = listing(__all__)
