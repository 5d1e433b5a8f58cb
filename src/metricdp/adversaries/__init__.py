"""What somebody can learn: priors, gains and losses, leakage, capacities and bounds."""

from metricdp.adversaries.adversary_bound import AdversaryBound, LargestChange, greatest_ratio
from metricdp.adversaries.capacity import Capacity, ShannonCapacity, capacity, shannon_capacity
from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.distances import hyper_distance, kantorovich, total_variation
from metricdp.adversaries.error_bounds import ErrorBound, error_bound, reached_error
from metricdp.adversaries.guessing import guessing_entropy, predicate_gain, predicate_vulnerability
from metricdp.adversaries.hiding_bound import hidden, hiding_bound
from metricdp.adversaries.hyper import (
    Hyper,
    hyper,
    posterior,
    posterior_floats,
    posterior_given,
    posteriors,
)
from metricdp.adversaries.informed_bound import informed_bound
from metricdp.adversaries.leakage import leakage, min_entropy_leakage, shannon_leakage
from metricdp.adversaries.leakage_table import LeakageRow, LeakageTable, leakages
from metricdp.adversaries.losses import as_gain, as_loss, distance, lifted, restricted
from metricdp.adversaries.monotone_losses import is_monotone, is_strictly_monotone, is_trivial, monotone
from metricdp.adversaries.multiplicative_distances import multiplicative_kantorovich, multiplicative_total_variation
from metricdp.adversaries.payoff import Gain, Loss
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.prior_region import PriorBounds, convex_coordinates, corner_priors, prior_bounds
from metricdp.adversaries.refinement_distance import RefinementDistance, refinement_distance
from metricdp.adversaries.regular_priors import Regularity, regular
from metricdp.adversaries.tight_families import (
    Tightness,
    knowing_others,
    knowing_others_within,
    knowing_within,
    maximally_tight,
    replacing_value,
    substituting_all_values,
    substituting_values,
    tight,
)
from metricdp.adversaries.utility_bounds import hamming_leakage_bound, leakage_bound, utility_bound
from metricdp.adversaries.vulnerability import Remap, remap, uncertainty, vulnerability
from metricdp.lazy import listing

__all__ = [
    "AdversaryBound",
    "Capacity",
    "ConstraintsMatrix",
    "ErrorBound",
    "Gain",
    "Hyper",
    "LargestChange",
    "LeakageRow",
    "LeakageTable",
    "Loss",
    "Prior",
    "PriorBounds",
    "RefinementDistance",
    "Regularity",
    "Remap",
    "ShannonCapacity",
    "Tightness",
    "as_gain",
    "as_loss",
    "as_prior",
    "capacity",
    "constraints_matrix",
    "convex_coordinates",
    "corner_priors",
    "distance",
    "error_bound",
    "greatest_ratio",
    "guessing_entropy",
    "hamming_leakage_bound",
    "hidden",
    "hiding_bound",
    "hyper",
    "hyper_distance",
    "informed_bound",
    "is_monotone",
    "is_strictly_monotone",
    "is_trivial",
    "kantorovich",
    "knowing_others",
    "knowing_others_within",
    "knowing_within",
    "leakage",
    "leakage_bound",
    "leakages",
    "lifted",
    "maximally_tight",
    "min_entropy_leakage",
    "monotone",
    "multiplicative_kantorovich",
    "multiplicative_total_variation",
    "posterior",
    "posterior_floats",
    "posterior_given",
    "posteriors",
    "predicate_gain",
    "predicate_vulnerability",
    "prior_bounds",
    "reached_error",
    "refinement_distance",
    "regular",
    "remap",
    "replacing_value",
    "restricted",
    "shannon_capacity",
    "shannon_leakage",
    "substituting_all_values",
    "substituting_values",
    "tight",
    "total_variation",
    "uncertainty",
    "utility_bound",
    "vulnerability",
]

__dir__ = listing(__all__)
