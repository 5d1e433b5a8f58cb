"""Paper 5: what it says of kernels and of capacities beside its tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

from metricdp.adversaries import Hyper, Prior, as_loss, hyper, lifted
from metricdp.adversaries import capacity as capacity_of
from metricdp.channels import Channel, choice, equivalent, refines, restrict, verify
from metricdp.design import capacity, is_kernel, kernels, universally_optimal
from metricdp.papers.item import Found, Size, claim, register
from metricdp.papers.paper_5.figures import responses
from metricdp.papers.paper_5.tables import complete, cube, grid, line
from metricdp.papers.paper_5.theorems import geometric_on


@register(5, "sec6b", "Two kernels, and who is served best by both", "Section VI.B, Theorem 6(4) and (5)")
def section_6b(size: Size) -> Found:
    """K_A and K_B, typed in as their hypers: T on two secrets, and so optimal for what is about these two."""
    space = complete(3)
    ends = (0, 2)
    outers = ("4/9", "5/9")
    printed = {
        "K_A": (("1/4", "1/4", "1/2"), ("2/5", "2/5", "1/5")),
        "K_B": (("1/2", "1/4", "1/4"), ("1/5", "2/5", "2/5")),
    }
    hypers = {name: Hyper.of(space.points, list(zip(outers, inners, strict=True))) for name, inners in printed.items()}
    made = {name: typed.channel for name, typed in hypers.items()}
    best = Channel.from_matrix(ends, "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    loss = lifted(as_loss("nib", ends), space.points)
    mixed = choice("1/3", made["K_A"], made["K_B"])
    served = {name: bool(universally_optimal(channel, space, loss)) for name, channel in made.items()}
    return Found(
        (
            claim("both hypers average to the uniform prior", True,
                  all(typed.prior == Prior.uniform(space.points) for typed in hypers.values())),
            claim("both are ln 2-private, with scale", "1", max(verify(c, space).scale for c in made.values())),
            claim("both are kernels", True, all(bool(is_kernel(channel, space)) for channel in made.values())),
            claim("on the first and the last secret both are T", True,
                  all(bool(equivalent(restrict(channel, ends), best)) for channel in made.values())),
            claim("both are optimal for a loss about these two", True, all(served.values())),
            claim("and so is K_A with 1/3, else K_B", True, bool(universally_optimal(mixed, space, loss))),
            claim("K_A is for bin on all three", None, bool(universally_optimal(made["K_A"], space, "bin"))),
        )
    )  # fmt: skip


@register(5, "properties", "Kernels by themselves: no part of another, and no refinement", "Properties 1 to 3")
def properties(size: Size) -> Found:
    """Every two kernels of a line and of a few categories."""
    claims = []
    for space in (line(size.pick(4, 3)), complete(3)):
        found = list(kernels(space))
        pairs = list(itertools.permutations(found, 2))
        inners = {kernel: _inners(kernel) for kernel in found}
        halves = choice("1/2", found[0], found[-1])
        both = inners[found[0]] | inners[found[-1]]
        among = sum(inners[a] < inners[b] for a, b in pairs)
        claims += [
            claim(f"{space.metric}, {len(found)} kernels: posteriors among another's", "never",
                  f"in {among} of {len(pairs)} pairs", among == 0, value=among),
            claim(f"{space.metric}: one refines another", False, any(bool(refines(a, b)) for a, b in pairs)),
            claim(f"{space.metric}: a mixture of two has the posteriors of both", True,
                  _inners(halves) == both),
        ]  # fmt: skip
    return Found(tuple(claims), size=size.reduced("a line of 3 in place of 4"))


def _inners(channel: Channel) -> frozenset[tuple[Fraction, ...]]:
    return frozenset(tuple(one.fractions) for one in hyper("uniform", channel).inners)


@register(5, "thm15", "Who reaches the capacity", "Theorems 14 and 15, Lemma 16, sections VI.A and VI.B")
def theorem_15(size: Size) -> Found:
    """The geometric mechanism on lines, random response and its dual, and channels with few outputs."""
    claims = []
    for count in size.pick((3, 4, 5, 6), (3, 4)):
        space, own = line(count), capacity_of(geometric_on(line(count)))
        least = capacity(space)
        claims.append(
            claim(f"line of {count}: the geometric mechanism reaches both capacities", True,
                  own.multiplicative == least.multiplicative.exact and own.additive == least.additive.exact,
                  ways={"of the mechanism": f"{own.multiplicative}, {own.additive}",
                        "of the type": f"{least.multiplicative.exact}, {least.additive.exact}"})
        )  # fmt: skip
    space = line(4)
    most = [capacity_of(kernel) for kernel in kernels(space)]
    own = capacity_of(geometric_on(space))
    response, dual = responses(4)
    categories = capacity(complete(4))
    few = []
    for other in (grid(2), cube(2), complete(4)):
        known = capacity(other)
        few += [(channel.shape, len(other)) for channel in (known.multiplicative_channel, known.additive_channel)]
    claims += [
        claim("Theorem 15: it is optimal for bin, so no kernel has a larger multiplicative one", True,
              bool(universally_optimal(geometric_on(space), space, "bin"))
              and own.multiplicative == max(one.multiplicative for one in most)),
        claim("random response reaches the multiplicative one, its dual the additive one", True,
              capacity_of(response).multiplicative == categories.multiplicative.exact
              and capacity_of(dual).additive == categories.additive.exact),
        claim("the other way round", None,
              f"{capacity_of(dual).multiplicative} of {categories.multiplicative.exact}, "
              f"{capacity_of(response).additive} of {categories.additive.exact}",
              value=[Fraction(capacity_of(dual).multiplicative), Fraction(capacity_of(response).additive)]),
        claim("Lemma 16: outputs of a channel that reaches it", "at most |X|",
              ", ".join(f"{shape[1]} of {points}" for shape, points in few),
              all(shape[1] <= points for shape, points in few)),
    ]  # fmt: skip
    return Found(tuple(claims), size=size.reduced("lines of 3 and 4 in place of 3 to 6"))
