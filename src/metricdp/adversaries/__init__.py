"""What somebody can learn: priors, gains and losses, leakage, capacities and bounds."""

from metricdp.adversaries.adversary_bound import AdversaryBound, Truth, greatest_ratio
from metricdp.adversaries.capacities import Capacity, ShannonCapacity, capacity, shannon_capacity
from metricdp.adversaries.characterisations import hidden, hiding_bound, informed_bound
from metricdp.adversaries.constraints_matrix import ConstraintsMatrix, constraints_matrix
from metricdp.adversaries.error_bounds import ErrorBound, error_bound, reached_error
from metricdp.adversaries.hypers import (
    Hyper,
    hyper,
    posterior,
    posterior_floats,
    posterior_given,
    posteriors,
)
from metricdp.adversaries.leakage_table import LeakageRow, LeakageTable, leakages
from metricdp.adversaries.leaking import leakage, min_entropy_leakage, shannon_leakage
from metricdp.adversaries.loss_classes import is_monotone, is_strictly_monotone, is_trivial, monotone
from metricdp.adversaries.losses import Gain, Loss, as_gain, as_loss, distance, lifted, restricted
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.regions import (
    PriorBounds,
    convex_coordinates,
    corner_priors,
    hamming_leakage_bound,
    leakage_bound,
    prior_bounds,
    utility_bound,
)
from metricdp.adversaries.regularity import Regularity, regular
from metricdp.adversaries.tight_families import (
    Tightness,
    knowing_others,
    knowing_others_within,
    maximally_tight,
    replacing_value,
    substituting_values,
    tight,
)
from metricdp.adversaries.vulnerabilities import Remap, remap, uncertainty, vulnerability

__all__ = [
    "AdversaryBound",
    "Capacity",
    "ConstraintsMatrix",
    "ErrorBound",
    "Gain",
    "Hyper",
    "LeakageRow",
    "LeakageTable",
    "Loss",
    "Prior",
    "PriorBounds",
    "Regularity",
    "Remap",
    "ShannonCapacity",
    "Tightness",
    "Truth",
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
    "hamming_leakage_bound",
    "hidden",
    "hiding_bound",
    "hyper",
    "informed_bound",
    "is_monotone",
    "is_strictly_monotone",
    "is_trivial",
    "knowing_others",
    "knowing_others_within",
    "leakage",
    "leakage_bound",
    "leakages",
    "lifted",
    "maximally_tight",
    "min_entropy_leakage",
    "monotone",
    "posterior",
    "posterior_floats",
    "posterior_given",
    "posteriors",
    "prior_bounds",
    "reached_error",
    "regular",
    "remap",
    "replacing_value",
    "restricted",
    "shannon_capacity",
    "shannon_leakage",
    "substituting_values",
    "tight",
    "uncertainty",
    "utility_bound",
    "vulnerability",
]
