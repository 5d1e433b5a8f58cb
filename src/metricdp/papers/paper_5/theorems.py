"""Paper 5: its theorems on examples."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import metricdp as mdp
from metricdp.adversaries import (
    Loss,
    as_loss,
    capacity,
    is_monotone,
    is_strictly_monotone,
    leakage,
    lifted,
    uncertainty,
    vulnerability,
)
from metricdp.channels import Channel, of, refines, restrict, verify
from metricdp.design import (
    decompose,
    is_kernel,
    optimal_for_every_loss,
    universal_example,
    universal_mechanism,
    universally_optimal,
)
from metricdp.metrics import Space, absolute, discrete, hamming
from metricdp.papers.item import Found, Size, claim, register
from metricdp.papers.paper_5.figures import responses

LN2 = mdp.ln(2)
_LINE = Space.line(3, LN2 * absolute())


def geometric_on(space: Space) -> Channel:
    """The truncated geometric mechanism of the numbers of a line."""
    return of(mdp.truncated_geometric(space.metric, steps=len(space) - 1), range(len(space)))


@register(5, "eq6-7", "Refinement, and one prior that decides it", "Eq. 6 and 7, section II.C")
def equations_6_and_7(size: Size) -> Found:
    """A channel with merged outputs refines the other; the text of II.C reads the arrow the other way."""
    fine = geometric_on(_LINE)
    coarse = fine @ Channel.from_matrix(range(3), "ab", [[1, 0], [1, 0], [0, 1]])
    back = refines(fine, coarse)
    gains = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    worth = [vulnerability("uniform", channel, gains, exact=True) for channel in (coarse, fine)]
    return Found(
        (
            claim("merged outputs refine: no gain is worth more", True, bool(refines(coarse, fine))),
            claim("and not the other way round", False, bool(back), ways={"gain more, checked": back.advantage}),
            claim("section II.C: A refined has 'always more gain'", "yes", "no, never more", False,
                  {"guessing through the refinement, and before": ", ".join(map(str, worth)),
                   "Eq. 6": "V[A] <= V[B] where A refines B"}),
        )
    )  # fmt: skip


@register(5, "def2", "The best mechanism for all losses at once", "Definition 2, Corollary 9, Theorem 11")
def definition_2(size: Size) -> Found:
    """Two secrets have one; three have none, by comparing with every kernel."""
    two = Space.line(2, LN2 * absolute())
    best = Channel.from_matrix([0, 1], "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    none = optimal_for_every_loss(geometric_on(_LINE), _LINE)
    others = [optimal_for_every_loss(channel, Space(range(3), LN2 * discrete())) for channel in responses(3)]
    return Found(
        (
            claim("two secrets: T is optimal for all losses", True, bool(optimal_for_every_loss(best, two))),
            claim("three in a row: the geometric mechanism is", False, bool(none),
                  ways={"a kernel that is worth more by": none.proof.advantage if none.proof else "none"}),
            claim("three categories: random response or its dual is", False, any(map(bool, others))),
        )
    )  # fmt: skip


@register(5, "thm3", "Every private mechanism is a refinement of kernels", "Theorem 3, Definitions 4 and 5")
def theorem_3(size: Size) -> Found:
    """The geometric mechanism on four points with merged outputs, taken apart and put together again."""
    space = Space.line(4, LN2 * absolute())
    merged = geometric_on(space) @ Channel.from_matrix(range(4), "ab", [[1, 0], [1, 0], [0, 1], [0, 1]])
    found = decompose(merged, space)
    return Found(
        (
            claim("mixture of kernels, then post-processing, is the channel", True,
                  found.mixture @ found.post == merged),
            claim("each part is a kernel", True, all(bool(is_kernel(kernel, space)) for kernel in found.kernels)),
            claim("is the merged channel itself one?", None, str(is_kernel(merged, space))),
        )
    )  # fmt: skip


@register(5, "thm4-5", "The miracle theorems", "Theorems 4 and 5")
def theorems_4_and_5(size: Size) -> Found:
    """Capacities of Fig. 1's channel, beside what random gains and priors leak."""
    channel = Channel.from_matrix(range(3), "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
    found = capacity(channel)
    worst: float = 1.0
    with mdp.seeded(45):
        for _ in range(size.pick(300, 60)):
            prior = mdp.adversaries.Prior.random(range(3))
            gain = [
                [Fraction(w, 1 << 30) for w in row] for row in mdp.channels.random_channel(range(4), range(3)).weights
            ]
            worst = max(worst, float(leakage(prior, channel, gain)))
    nib, guess = (uncertainty("uniform", channel, loss, exact=True) for loss in ("nib", "bin"))
    return Found(
        (
            claim("multiplicative capacity is |X| V", f"{3 * (1 - guess)}", found.multiplicative,
                  found.multiplicative == 3 * (1 - guess), {"most of random priors and gains": worst}),
            claim("additive capacity is 1 - |X| U_nib", f"{1 - 3 * nib}", found.additive,
                  found.additive == 1 - 3 * nib),
            claim("no random prior and gain leaks more", True, worst <= float(found.multiplicative)),
        ),
        size=size.reduced("60 random priors and gains in place of 300"),
    )  # fmt: skip


@register(5, "def6", "Classes of losses", "Definition 6, sections IV.A and IV.B")
def definition_6(size: Size) -> Found:
    """Where bin, nib and the average are monotone; two sentences of the text do not hold."""
    line, letters, cube = Space.line(4), Space(range(4), discrete()), Space.bits(2)
    nib = as_loss("nib", cube.points)
    opposite = all(
        nib.value(w, x) == int(hamming()(x, tuple(1 - bit for bit in w)) == 2)
        for w, x in itertools.product(cube.points, repeat=2)
    )
    constant = Loss.from_matrix(range(3), range(3), [[1, 1, 1]] * 3)
    return Found(
        (
            claim("bin is monotone on a line, not strictly", True,
                  is_monotone(line, as_loss("bin", range(4)))
                  and not is_strictly_monotone(line, as_loss("bin", range(4)))),
            claim("bin is strictly monotone for the discrete metric", True,
                  is_strictly_monotone(letters, as_loss("bin", range(4)))),
            claim("nib is monotone in some metric", "no", "yes, in the Hamming metric", False,
                  {"is_monotone on two bits": is_monotone(cube, nib),
                   "nib(w, x) = [d_H(x, complement of w) = 2], by hand": opposite}),
            claim("trivial losses are strictly monotone", "yes", "no: a constant is not", False,
                  {"is_strictly_monotone": is_strictly_monotone(Space.line(3), constant),
                   "m(0) = m(1) = 1, by hand": "m does not increase strictly"}),
        )
    )  # fmt: skip


@register(5, "thm6", "Utility sets, and what does not go back", "Theorem 6, Corollary 7")
def theorem_6(size: Size) -> Found:
    """A refinement serves no more losses; lifting a loss, one way only."""
    geometric = geometric_on(_LINE)
    coarse = geometric @ Channel.from_matrix(range(3), "ab", [[1, 0], [1, 0], [0, 1]])
    losses: list[Any] = ["bin", "nib", [[0, 1, 1], [1, 0, 0]]]
    one, two = ([bool(universally_optimal(c, _LINE, loss)) for loss in losses] for c in (geometric, coarse))
    ends = Space([0, 2], _LINE.metric)
    alone = universally_optimal(restrict(geometric, ends.points), ends, "bin")
    together = universally_optimal(geometric, _LINE, lifted(as_loss("bin", ends.points), _LINE.points))
    by_hand = Fraction(1, 5)  # T with e^d = 4 on the two ends
    return Found(
        (
            claim("(2) who tells more serves more", True, all(a or not b for a, b in zip(one, two, strict=True))),
            claim("(5) lifted loss optimal only if the restriction is", "if and only if", "only one way", False,
                  {"lifted loss, on three points": bool(together),
                   "restriction to the ends: costs, and could cost": f"{alone.loss}, {alone.better_loss}",
                   "Corollary 9 on the ends, by hand": by_hand}),
        )
    )  # fmt: skip


@register(5, "cor9", "Two secrets have one best mechanism", "Theorem 8, Corollary 9")
def corollary_9(size: Size) -> Found:
    """For several levels and losses, negative ones among them."""
    losses: list[Any] = ["bin", "nib", [[0, 7], [1, 0]], [[-1, 4], [2, "-3/7"]]]
    claims = []
    for factor in (Fraction(11, 10), Fraction(2), Fraction(9)):
        space = Space.line(2, mdp.ln(factor) * absolute())
        k = 1 / (1 + factor)
        best = Channel.from_matrix([0, 1], "yz", [[1 - k, k], [k, 1 - k]])
        claims.append(
            claim(f"e^eps = {factor}: optimal for {len(losses)} losses", True,
                  all(bool(universally_optimal(best, space, loss)) for loss in losses))
        )  # fmt: skip
    return Found(tuple(claims))


@register(5, "thm10-13", "Where optimal mechanisms exist, and where none does", "Theorems 10 to 12, Corollary 13")
def theorems_10_to_13(size: Size) -> Found:
    """A monotone loss that has one always exists; bin has none in the discrete type."""
    spaces = [Space(range(4), LN2 * discrete()), Space.line(4, mdp.ln(3) * absolute()), Space.bits(2, LN2 * hamming())]
    claims = []
    for space in spaces[: size.pick(3, 2)]:
        example = universal_example(space)
        claims.append(
            claim(f"{space.metric} on {len(space)} points: a loss that has one", True,
                  bool(verify(example.channel, space)) and is_monotone(space, example.loss)
                  and bool(universally_optimal(example.channel, space, example.loss)))
        )  # fmt: skip
    refuted = universal_mechanism(Space(range(3), LN2 * discrete()), "bin")
    claims.append(claim("bin in the discrete type on 3 points", False, bool(refuted),
                        ways={"priors that refute all mechanisms": len(refuted.witness)}))  # fmt: skip
    return Found(tuple(claims), size=size.reduced("two spaces in place of three"))
