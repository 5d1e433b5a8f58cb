"""Paper 3: its propositions and theorems on examples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.adversaries import (
    corner_priors,
    hamming_leakage_bound,
    leakage_bound,
    prior_bounds,
    regular,
    utility_bound,
    vulnerability,
)
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.channels import of, verify
from metricdp.design import least_scale, tight_constraints
from metricdp.metrics import Space, absolute, blowfish, discrete, graph, hamming
from metricdp.papers.item import Found, Size, claim, register

_SHARES = [Fraction(30, 100), Fraction(27, 100), Fraction(23, 100), Fraction(20, 100)]
_SEVEN = [(0, 2), (0, 4), (0, 6), (1, 2), (1, 3), (1, 5), (2, 3), (3, 4), (3, 6), (4, 5), (5, 6)]


@register(3, "prop2-4", "Bounds on regular priors, which are not enough, and their corners", "Propositions 2 to 4")
def propositions_2_to_4(size: Size) -> Found:
    """The prior of Example 3 for one individual at e^eps = 5/3, within the bounds and not regular."""
    space = Space((1, 2, 3, 4), mdp.ln(Fraction(5, 3)) * discrete())
    found = regular(_SHARES, space)
    line = Space.line(3, mdp.ln(2) * absolute())
    bounds, corners = prior_bounds(line), corner_priors(line)
    reached = all(corner.fractions[i] == bounds.shares[i].upper for i, corner in enumerate(corners))
    return Found(
        (
            claim("Proposition 2 is sufficient", "no", "no: ratios are within e^eps, and it is not regular",
                  prior_bounds(space).violation(_SHARES) is None and found.holds is False and found.check()),
            claim("Proposition 3: corners reach the bound", True, reached),
        )
    )  # fmt: skip


@register(3, "thm1", "The bound on utility, and when it is an equality", "Theorem 1")
def theorem_1(size: Size) -> Found:
    """At a corner a constant guess reaches the bound, though Phi diag is not 1."""
    space = Space.line(2, mdp.ln(2) * absolute())
    corner = corner_priors(space)[0]
    bound = utility_bound(corner, space).exact
    rows = constraints_matrix(space).exact
    assert rows is not None
    diagonal = [row[0] for row in rows]
    return Found(
        (
            claim("the bound at the corner (2/3, 1/3)", "2/3", bound, bound == Fraction(2, 3), value=bound),
            claim("equality only where Phi diag = 1", "yes", "no: where y has a zero, not", False,
                  {"utility of always guessing the first": corner.fractions[0],
                   "Phi diag of that mechanism": ", ".join(map(str, diagonal))}),
        )
    )  # fmt: skip


@register(3, "thm2", "A closed form of the leakage bound on databases", "Theorem 2")
def theorem_2(size: Size) -> Found:
    """Beside the bound computed from the space, on small databases."""
    claims = []
    for values, people, base in ((2, 3, 2), (3, 2, 5), (4, 2, Fraction(3, 2)), (2, 6, 3))[: size.pick(4, 3)]:
        space = Space(itertools.product(range(values), repeat=people), mdp.ln(base) * hamming())
        closed, found = hamming_leakage_bound(values, people, mdp.ln(base)), leakage_bound(None, space)
        claims.append(
            claim(f"{values}^{people} databases, e^eps = {base}", f"{float(closed):.9f}", float(found),
                  math.isclose(closed, found, rel_tol=1e-12), value=float(found))
        )  # fmt: skip
    return Found(tuple(claims), size=size.reduced("without 2^6 databases"))


@register(
    3, "thm3", "The tight-constraints mechanism is optimal for regular priors", "Theorem 3, Definition 7, Lemma 4"
)
def theorem_3(size: Size) -> Found:
    """For sums of values up to 3: privacy, existence, and the bound that is reached."""
    space = Space(range(13), mdp.ln(3) * blowfish(absolute(), 3, 1))
    found: Any = tight_constraints(space)
    assert found.channel is not None
    weights = [
        sum((place % 3 + 1) * Fraction(1, 3) ** -(-abs(place - k) // 3) for place in range(13)) for k in range(13)
    ]
    prior = [weight / sum(weights, Fraction(0)) for weight in weights]
    reached = float(vulnerability(prior, found.channel, gain="identity"))
    line = Space.line(6, mdp.ln(2) * absolute())
    tight: Any = tight_constraints(line)
    geometric = of(mdp.truncated_geometric(line.metric, steps=5), range(6))
    return Found(
        (
            claim("it is private, with every constraint tight", "1", verify(found.channel, space).scale),
            claim("a regular prior reaches the bound", f"{float(utility_bound(prior, space)):.9f}", reached,
                  bool(regular(prior, space)) and abs(reached - float(utility_bound(prior, space))) < 1e-9),
            claim("for a count it is the truncated geometric mechanism", True,
                  tight.channel == geometric),
            claim("Lemma 4: it exists where the uniform prior is regular", True,
                  bool(found) is bool(regular("uniform", space))),
            claim("where all results look alike, it exists at every eps", True,
                  all(bool(tight_constraints(Space(same.points, mdp.ln(base) * same.metric)))
                      for same in _alike() for base in (Fraction(101, 100), Fraction(3, 2), 9)),
                  ways={"graphs": "a cycle of 5, 4 categories, 3 bits", "e^eps": "1.01, 1.5 and 9",
                        "the diagonal is one number, 1 / sum_k e^(-eps d(0, k)), by hand": _alike_by_hand()}),
        )
    )  # fmt: skip


def _alike() -> list[Space]:
    """Spaces whose points all see the same distances."""
    cycle = graph([(place, (place + 1) % 5) for place in range(5)])
    return [Space(range(5), cycle), Space(range(4), discrete()), Space.bits(3, hamming())]


def _alike_by_hand() -> bool:
    """Whether every row of Phi has the same sum there, so that its inverse is the diagonal."""
    return all(len({tuple(sorted(row)) for row in space.distances.tolist()}) == 1 for space in _alike())


@register(3, "existence", "Whether it exists above a threshold", "Section 5.1")
def existence(size: Size) -> Found:
    """A graph of 7 nodes where it exists, does not, and exists again as eps grows."""
    space = Space(range(7), graph(_SEVEN))
    found = least_scale(space)
    ends = [math.exp(-float(end)) for pair in found.intervals for end in pair]
    signs = {
        alpha: bool((np.linalg.solve(alpha**space.distances, np.ones(7)) >= 0).all()) for alpha in (0.7, 0.55, 0.4)
    }
    return Found(
        (
            claim("existence is monotone in eps", "yes", "no", False,
                  {"intervals of e^-eps, proved": ", ".join(f"{end:.6f}" for end in ends),
                   "numpy at e^-eps = 0.7, 0.55, 0.4": ", ".join("yes" if v else "no" for v in signs.values())},
                  value=ends),
        )
    )  # fmt: skip
