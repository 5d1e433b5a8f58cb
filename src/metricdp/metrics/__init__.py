"""How far apart two secrets are: distances, their algebra, spaces, and the guarantees they make.

>>> d = great_circle().within(200)
>>> print(d)
ln 2/200·great-circle(m)
>>> round(d((48.8566, 2.3522), (48.8566, 2.3549)), 2)
0.68
"""

from metricdp.lazy import listing
from metricdp.metrics.algebra import Added, Capped, Maximum, capped, maximum
from metricdp.metrics.axioms import Violation
from metricdp.metrics.blowfish import Hops, Smooth, blowfish, smooth
from metricdp.metrics.closure import Closed, Normalized
from metricdp.metrics.dates import Dates, dates
from metricdp.metrics.finite import (
    Budgets,
    Discrete,
    Matrix,
    Unprotected,
    discrete,
    individuals,
    matrix,
    unprotected,
)
from metricdp.metrics.functions import SquareIntegrable, Supremum, square_integrable, supremum
from metricdp.metrics.graph import Graph, graph, graph_of
from metricdp.metrics.guarantee import Guarantee
from metricdp.metrics.metric import Metric
from metricdp.metrics.nullable import Nullable, nullable
from metricdp.metrics.records import (
    AddRemove,
    Attributes,
    Hamming,
    Records,
    add_remove,
    attributes,
    hamming,
    records,
    value_budgets,
)
from metricdp.metrics.released import Released
from metricdp.metrics.scaled import Scaled
from metricdp.metrics.sets import SymmetricDifference, symmetric_difference
from metricdp.metrics.space import Space
from metricdp.metrics.spanning import spanning_tree
from metricdp.metrics.sphere import EARTH_RADIUS, GreatCircle, great_circle
from metricdp.metrics.taxonomies import Taxonomy, taxonomy
from metricdp.metrics.vectors import (
    Absolute,
    Chebyshev,
    Euclidean,
    Manhattan,
    Norm,
    absolute,
    chebyshev,
    euclidean,
    manhattan,
    normalized_manhattan,
)
from metricdp.metrics.verdict import Verdict

__all__ = [
    "EARTH_RADIUS",
    "Absolute",
    "AddRemove",
    "Added",
    "Attributes",
    "Budgets",
    "Capped",
    "Chebyshev",
    "Closed",
    "Dates",
    "Discrete",
    "Euclidean",
    "Graph",
    "GreatCircle",
    "Guarantee",
    "Hamming",
    "Hops",
    "Manhattan",
    "Matrix",
    "Maximum",
    "Metric",
    "Norm",
    "Normalized",
    "Nullable",
    "Records",
    "Released",
    "Scaled",
    "Smooth",
    "Space",
    "SquareIntegrable",
    "Supremum",
    "SymmetricDifference",
    "Taxonomy",
    "Unprotected",
    "Verdict",
    "Violation",
    "absolute",
    "add_remove",
    "attributes",
    "blowfish",
    "capped",
    "chebyshev",
    "dates",
    "discrete",
    "euclidean",
    "graph",
    "graph_of",
    "great_circle",
    "hamming",
    "individuals",
    "manhattan",
    "matrix",
    "maximum",
    "normalized_manhattan",
    "nullable",
    "records",
    "smooth",
    "spanning_tree",
    "square_integrable",
    "supremum",
    "symmetric_difference",
    "taxonomy",
    "unprotected",
    "value_budgets",
]

__dir__ = listing(__all__)
