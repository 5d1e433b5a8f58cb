"""Paper 2: its theorems on examples."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import metricdp as mdp
from metricdp.adversaries import error_bound, reached_error
from metricdp.channels import Channel, of, verify
from metricdp.exact.results import short
from metricdp.metrics import Space, absolute, discrete, hamming, matrix
from metricdp.papers.item import Found, Size, claim, register
from metricdp.plots import curves


@register(2, "thm3", "A generating algebra is enough: tested on finite partitions", "Theorem 3")
def theorem_3(size: Size) -> Found:
    """The audit looks at partitions of the outputs: sound mechanisms pass, a broken one is found with its set."""
    from metricdp.audit import audit

    calls = size.pick(60_000, 6_000)
    true = mdp.laplace(absolute())
    with mdp.seeded(31):
        fair = audit(true, [(0.0, 1.0)], samples=calls)
        unfair = audit(true, [(0.0, 1.0)], metric=absolute() / 2, samples=calls)
    return Found(
        (
            claim("Laplace noise: scale at least", "at most 1", fair.scale_at_least, fair.scale_at_least <= 1,
                  value=fair.scale_at_least),
            claim("the same noise, promised for half the metric", "above 1", unfair.scale_at_least,
                  unfair.scale_at_least > 1, {"set that tells": str(unfair.event)}, value=unfair.scale_at_least),
        ),
        size=size.reduced("6,000 releases in place of 60,000"),
    )  # fmt: skip


@register(2, "thm4", "What holds for the sanitised database holds for every query", "Theorem 4, Corollary 1")
def theorem_4(size: Size) -> Found:
    """Randomized response on two rows, then every function of the released pair to two answers."""
    rows = list(itertools.product("ab", repeat=2))
    delta = Fraction(1, 20)
    space = Space(rows, mdp.ln(2) * hamming())
    row = mdp.randomized_response("ab", mdp.ln(2), delta=delta)
    channel = of(mdp.independent(row, row), rows)
    worst = max(
        _least_delta(channel @ Channel.from_matrix(rows, "yn", [[int(v), 1 - int(v)] for v in values]), space, 2)
        for values in itertools.product((0, 1), repeat=4)
    )
    own = _least_delta(channel, space, 2)
    return Found(
        (
            claim("delta between neighbours for the identity query", "0.05", own, value=own),
            claim("the largest over all 16 queries", "at most that", worst, worst <= own, value=worst),
        )
    )


def _least_delta(channel: Channel, space: Space, odds: int) -> Fraction:
    """The hockey-stick sum over all neighbouring rows, in Fractions: the least delta at eps = ln odds."""
    worst = Fraction(0)
    for x, y in itertools.permutations(space.points, 2):
        if hamming().exactly(x, y) == 1:
            gap = sum(
                (
                    max(Fraction(0), channel.probability(x, z) - odds * channel.probability(y, z))
                    for z in channel.outputs
                ),
                Fraction(0),
            )
            worst = max(worst, gap)
    return worst


@register(2, "thm5", "The delta of a product, for neighbours and for others", "Theorem 5")
def theorem_5(size: Size) -> Found:
    """Two rows with randomized response of delta 0.05 each: neighbours pay 0.05, rows that differ twice more."""
    delta = Fraction(1, 20)
    row = mdp.randomized_response("ab", mdp.ln(2), delta=delta)
    both = mdp.independent(row, row)
    rows = list(itertools.product("ab", repeat=2))
    space = Space(rows, mdp.ln(2) * hamming())
    channel = of(both, rows)
    near = verify(channel, space, delta, within=1)
    tighter = verify(channel, space, delta * Fraction(99, 100), within=1)
    far = verify(channel, space, delta)
    summed = _least_delta(channel, space, 2)
    return Found(
        (
            claim("delta between neighbours", "0.05", both.neighbours.delta,
                  ways={"verify(.., within=1) holds": near.holds, "and not with 1% less": not tighter.holds,
                        "hockey-stick sum over neighbours": summed}, value=both.neighbours.delta),
            claim("delta of the promise for all rows", None, both.guarantee.delta,
                  ways={"with 0.05 for all rows": "holds" if far.holds else "does not hold"},
                  value=both.guarantee.delta),
            claim("a group of 3 pays, for eps = 1 and delta = 0.01", None,
                  f"{float(mdp.Guarantee(discrete(), '0.01').group(3).delta):.5f}, not 0.03",
                  ways={"delta (e^(3 eps) - 1) / (e^eps - 1)": f"{0.01 * (2.718281828**3 - 1) / 1.718281828:.5f}"}),
        )
    )  # fmt: skip


@register(2, "thm6-7", "Lower bounds on the error, beside what is reached", "Theorems 6 and 7")
def theorems_6_and_7(size: Size) -> Found:
    """On a line of n points at ln 2: both theorems, their sharper forms, and the truncated geometric mechanism."""
    sizes = size.pick((2, 3, 5, 9), (2, 3, 5))
    claims, table = [], []
    for n in sizes:
        space = Space.line(n, mdp.ln(2) * absolute())
        bound = error_bound(space)
        reached: Any = reached_error(of(mdp.truncated_geometric(space.metric, steps=n - 1), range(n)), space).exact
        row: list[Any] = [value.exact for value in (bound.theorem_6, bound.theorem_7, bound.sharper, bound.sharper_7)]
        table.append((n, *map(float, row), float(reached)))
        claims.append(
            claim(f"n = {n}: Theorem 6, 7, sharper, sharper 7, reached", None, ", ".join(map(short, [*row, reached])),
                  value=[*row, reached])
        )  # fmt: skip
    two = Space((0, 10), mdp.ln(2) / 10 * absolute())
    pair = Channel.from_matrix((0, 10), (0, 10), [["2/3", "1/3"], ["1/3", "2/3"]])
    sharp = error_bound(two)
    claims.append(
        claim("two points 10 apart: the error is at least", f"{sharp.theorem_6.exact} (Theorem 6)",
              f"{sharp.sharper.exact}", False,
              {"error that is reached": reached_error(pair, two).exact,
               "(1 - delta) rho / (1 + e^d)": Fraction(10, 3)}, value=sharp.sharper.exact)
    )  # fmt: skip
    leaves, points = ("a", "b", "c"), ("a", "b", "c", "hub")
    error = matrix(points, [[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]])
    space = Space(leaves, mdp.ln(Fraction(3, 2)) * discrete())
    hub = reached_error(Channel.from_matrix(leaves, ["hub"], [[1], [1], [1]]), space, error).exact
    claims.append(
        claim("Theorem 7 for outputs outside of D", "holds", f"a hub of three leaves errs by {hub}, below it", False,
              {"Theorem 7 would say at least": error_bound(space, error).theorem_7.exact,
               "distance of every leaf to the hub, by hand": Fraction(1),
               "what holds anywhere": error_bound(space, error).anywhere.exact}, value=hub)
    )  # fmt: skip

    def draw() -> Any:
        names = ("Theorem 6", "Theorem 7", "sharper", "sharper 7", "truncated geometric")
        lines = {name: [row[place + 1] for row in table] for place, name in enumerate(names)}
        return curves(
            lines, sizes, x="points on a line", y="largest expected error", title="Theorems 6 and 7, ε = ln 2"
        )

    note = "Theorem 6 holds, and is sharpened; Theorem 7 does not hold for outputs outside of D."
    return Found(tuple(claims), {"thm6-7": draw}, size.reduced("up to 5 points in place of 9"), note)
