"""The best mechanism for a purpose: optimal, capacity, tight constraints, kernels, universal optimality.

>>> import metricdp as mdp
>>> K = optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), prior="uniform", loss="distance")
>>> mdp.channels.verify(K, mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())).holds
True
"""

from metricdp.design.comparing import Comparison, compare
from metricdp.design.decomposing import Decomposition, decompose
from metricdp.design.existence import Existence, UniversalExample, universal_example, universal_mechanism
from metricdp.design.kernel_search import Kernels, kernels
from metricdp.design.oblivious import answer_space
from metricdp.design.optimal_channel import Optimal
from metricdp.design.structured import Line, Product, StructuredTight
from metricdp.design.synthesis import optimal
from metricdp.design.tight import TightConstraints, tight_constraints
from metricdp.design.tight_intervals import TightScales, least_scale
from metricdp.design.type_capacity import TypeCapacity, capacity
from metricdp.design.universality import Universality, universally_optimal
from metricdp.design.vertex_search import Vertex, Vertices, vertices

__all__ = [
    "Comparison",
    "Decomposition",
    "Existence",
    "Kernels",
    "Line",
    "Optimal",
    "Product",
    "StructuredTight",
    "TightConstraints",
    "TightScales",
    "TypeCapacity",
    "UniversalExample",
    "Universality",
    "Vertex",
    "Vertices",
    "answer_space",
    "capacity",
    "compare",
    "decompose",
    "kernels",
    "least_scale",
    "optimal",
    "tight_constraints",
    "universal_example",
    "universal_mechanism",
    "universally_optimal",
    "vertices",
]
