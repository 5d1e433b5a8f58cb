"""Paper 4: its theorems, algorithms and equations on examples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.exact.balls import precision
from metricdp.metrics import Space, absolute, attributes, blowfish, discrete, euclidean, hamming, spanning_tree
from metricdp.papers.item import Found, Size, claim, register
from metricdp.papers.made_data import people, square, uniform
from metricdp.plots import curves, graph
from metricdp.queries import (
    Workload,
    allocate,
    allocate_biased,
    attribute_averages,
    best_rounds,
    best_size,
    measured_error,
    mwem,
    mwem_bound,
    preprocess,
    small_database,
    statistical,
)
from metricdp.queries.synthetic_data.choose import ExponentialChoice
from metricdp.queries.synthetic_data.preprocessing import Maker


@register(4, "thm2", "Squared and absolute error, and their best allocations", "Theorem 2, Eq. 4 and 6")
def theorem_2(size: Size) -> Found:
    """The optimum for absolute error by `allocate(objective="absolute")`, and the bound on bias sharpened."""
    workload = Workload([[0, 1, 2], [0, 0, 3]], Space.line(3))
    exact = allocate(workload, objective="absolute")
    # Limits r <= 1 and r + 3 s <= 1: minimise 1/r + 1/s, so that s = r / sqrt 3 and r = 1 / (1 + sqrt 3).
    by_hand = (1 + math.sqrt(3)) * (1 + math.sqrt(3)) / 2
    grid = min((1 / r + 3 / (1 - r)) / 2 for r in np.linspace(0.001, 0.999, 9981))
    plain = allocate(Workload([[0, 3], [4, 0]], Space.line(2)))
    noise = sum(Fraction(scale) ** 2 for scale in plain.scales)
    pair = Workload([[1, 0]], Space(["ill", "well"], Fraction(1, 8) * discrete()))
    biased, unbiased = allocate_biased(pair, 16).squared_error(16), allocate(pair).squared_error(16)
    return Found(
        (
            claim("absolute error of two queries on a line", None, exact.value,
                  ways={"by calculus, (1 + sqrt 3)^2 / 2": by_hand, "by a grid of rates": float(grid),
                        "proved gap": exact.gap}, value=exact.value),
            claim("squared error without bias", "at most 4 |c|^2", "2 |c|^2", False,
                  {"squared_error": plain.squared_error(), "2 |c|^2, by hand": float(2 * noise)},
                  value=plain.squared_error()),
            claim("with bias, two cells at d = 1/8 and n = 16: the error falls by", None, f"{biased / unbiased:.6f}",
                  ways={"n^2 d^2 / (8 + n^2 d^2)": 4 / 12}, value=biased / unbiased),
        ),
        note="The published bound on the squared error holds: it is twice what there is.",
    )  # fmt: skip


@register(4, "alg3", "Algorithm 3 does not reach the optimum, which is convex", "Section 4.2, Algorithm 3")
def algorithm_3(size: Size) -> Found:
    """Two queries on a line, by hand and by both methods."""
    workload = Workload([[0, 1, 2], [0, 0, 3]], Space.line(3))
    third, exact = allocate(workload, "proportional"), allocate(workload)
    first = 1 + 3 ** (2 / 3)
    return Found(
        (
            claim("scales by Algorithm 3", "2, 6", ", ".join(f"{c:g}" for c in third.scales),
                  third.scales == (2.0, 6.0)),
            claim("its mean squared error is the least", "yes", f"no: {third.value:.6g} against {exact.value:.6g}",
                  False,
                  {"allocate, with gap": f"{exact.value:.9g}, {exact.gap:.1e}",
                   "by calculus": f"{first**2 * (1 + 3 ** (2 / 3)):.9g}"}, value=exact.value),
        )
    )  # fmt: skip


@register(4, "thm3-4", "The exponential mechanism, and the sign of its slack", "Theorems 3 and 4")
def theorems_3_and_4(size: Size) -> Found:
    """With u' = u + 5 the printed bound exceeds every score; with the slack subtracted it holds."""
    score, slack = [Fraction(0), Fraction(10)], Fraction(5)
    other = [value + slack for value in score]
    choice = ExponentialChoice("ab", 100 * hamming(), Fraction(2))
    short = Fraction(choice.shortfall(Fraction(1, 100)))
    printed, corrected = slack + max(other) - short, -slack + max(other) - short
    with precision(128):
        chances = [float(p) for p in choice.probabilities(other)]
    fails = math.fsum(p for p, value in zip(chances, score, strict=True) if value <= corrected)
    return Found(
        (
            claim("the score chosen exceeds delta + max u' - ..", "with 99%",
                  f"never: that is {float(printed):.3f}, and the best score is {max(score)}", False,
                  {"largest score, by hand": max(score), "printed bound": float(printed),
                   "with the slack subtracted it fails with": fails}),
        )
    )  # fmt: skip


@register(4, "eq8", "What to answer instead: bias for synthetic data", "Eq. 8, Theorems 6 and 8")
def equation_8(size: Size) -> Found:
    """(Q', c) for SmallDB and MWEM, beside a search over a fine grid of c."""
    space = Space(square(20).points, Fraction(1, 500) * euclidean())
    workload = Workload(uniform(81, 6, 20), space)
    claims = []
    makers: tuple[Maker, ...] = ("small_database", "mwem")
    for maker in makers:
        for total in (100, 10_000):
            found = preprocess(workload, total, maker)
            grid = _by_grid(workload, total, maker)
            private = np.abs(found.workload.matrix[:, :, None] - found.workload.matrix[:, None, :]).max(axis=0)
            room = float((private - found.scale * space.distances).max())
            claims.append(
                claim(f"{maker}, n = {total:,}: bound", f"{found.unbiased:.6g} without bias", f"{found.bound:.6g}",
                      found.bound <= found.unbiased * (1 + 1e-12),
                      {"least on a grid of 4,000 scales": f"{grid:.6g}",
                       "coefficients keep |q'_i - q'_j| <= d, over by": f"{max(room, 0.0):.1e}"}, value=found.bound)
            )  # fmt: skip
    return Found(tuple(claims))


def _by_grid(workload: Workload, total: int, maker: str) -> float:
    """The same bound by trying many scales, each with the least bias that shortest paths allow."""
    changes = np.abs(workload.matrix[:, :, None] - workload.matrix[:, None, :]).max(axis=0)
    apart = workload.space.distances + np.diag(np.full(len(changes), np.inf))
    logs = math.log(workload.matrix.shape[1]) * math.log(len(workload.matrix))
    gamma = 16 * logs + 4 * math.log(20)
    top = float((changes / apart).max())
    best = math.inf
    for scale in np.linspace(0, top, 4001).tolist():
        bias = max(0.0, float((changes - scale * workload.space.distances).max()) / 2)
        noise = (scale * total**2 * gamma) ** (1 / 3)
        if maker == "mwem":
            noise = 20 / 5 ** (2 / 3) * (total**2 * logs * scale) ** (1 / 3)
        best = min(best, total * bias + noise)
    return best


@register(4, "thm6", "The small database, and its best size", "Algorithm 1, Theorems 5, 6 and 9, Proposition 1")
def theorem_6(size: Size) -> Found:
    """Its size by minimising the bound, beside all sizes; the paper's y has to be scaled to n."""
    workload = Workload(np.tril(np.ones((4, 4))), Space(range(4), discrete()))
    counts = people(91, 4, 2_000)
    chosen = best_size(workload, sum(counts))
    with mdp.seeded(6):
        made = {m: small_database(workload, counts, size=m) for m in sorted({4, 12, chosen})}
    bounds = {m: one.bound() for m, one in made.items()}
    errors = {m: measured_error(one, counts).worst for m, one in made.items()}
    queries, n, m = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1]]), 12, 3
    small = [np.bincount(cells, minlength=3) for cells in itertools.combinations_with_replacement(range(3), m)]
    full = [np.bincount(cells, minlength=3) for cells in itertools.combinations_with_replacement(range(3), n)]
    scaled = max(min(float(np.abs(queries @ (x - y * n / m)).max()) for y in small) for x in full)
    printed = max(min(float(np.abs(queries @ (x - y)).max()) for y in small) for x in full)
    return Found(
        (
            claim("answers of y beside those of x", "as they are", "times n / m", False,
                  {"worst error, y scaled to n": scaled, "worst error, as printed": printed}, value=[scaled, printed]),
            claim("best size by the bound", None, chosen,
                  ways={f"bound at {m}": f"{b:.1f}" for m, b in bounds.items()}, value=chosen),
            claim("measured error within the bound", True, all(errors[m] <= bounds[m] for m in bounds)),
        )
    )  # fmt: skip


@register(
    4, "thm8", "Multiplicative weights: bound, error, and the best number of rounds", "Algorithm 2, Theorems 7 and 8"
)
def theorem_8(size: Size) -> Found:
    """Rectangles over a grid of cells; rounds chosen by minimising the bound."""
    side, total = size.pick(24, 10), 50_000
    points = list(itertools.product(range(side), range(side)))
    space = Space(points, attributes({"row": 1, "column": "1/4"}))
    ends = np.sort(np.floor(uniform(71, 60, 2, 2) * (side + 1)), axis=1)
    cells = np.array(points)
    table = np.array([((cells >= low) & (cells < high)).all(axis=1) for low, high in ends], dtype=float)
    workload = Workload(table[table.any(axis=1)], space)
    counts = people(72, len(points), total)
    best = best_rounds(workload, total)
    tried = sorted({1, 5, best, 40, 100})
    bounds = {t: mwem_bound(workload, total, t) for t in tried}
    near = min(range(max(1, best - 2), best + 3), key=lambda t: mwem_bound(workload, total, t))
    with mdp.seeded(8):
        plain = mwem(workload, counts, best, passes=0)
        ours = mwem(workload, counts, best)
    truth = np.asarray(workload.matrix) @ np.array(counts)
    errors = [float(np.abs(made.answers - truth).max()) for made in (plain, ours)]

    def draw() -> Any:
        rounds = list(range(1, 101, 3))
        lines = {"bound (Theorem 8)": [mwem_bound(workload, total, t) for t in rounds]}
        return curves(lines, rounds, x="rounds", y="largest error, records", marks={"chosen": best},
                      title="Theorem 8: rounds by the bound")  # fmt: skip

    return Found(
        (
            claim("best number of rounds", None, best,
                  ways={"least among its neighbours": near} | {f"bound at {t}": f"{b:,.0f}" for t, b in bounds.items()},
                  value=best),
            claim("largest error, as published", f"at most {bounds[best]:,.0f}", errors[0], errors[0] <= bounds[best],
                  value=errors[0]),
            claim("largest error with passes over all measurements", None, errors[1], value=errors[1]),
        ),
        {"thm8": draw},
        size.reduced("10 x 10 cells in place of 24 x 24"),
        note="The paper measures c q' and subtracts q': one scale is used on both sides here.",
    )  # fmt: skip


@register(
    4, "eq13", "Statistical queries: averages of functions of records", "Appendix C, Eq. 11, 13 and 14, Theorem 11"
)
def equation_13(size: Size) -> Found:
    """Any function of a record by `statistical` and `allocate_biased`; attributes of +-1 exactly."""
    metric = attributes({"a": 0.5, "b": 0.125, "c": 1 / 64})
    space = Space(itertools.product((-1, 1), repeat=3), metric)
    found = attribute_averages(space, 20)
    plane = Space([(x, y) for x in range(4) for y in range(4)], Fraction(1, 4) * euclidean())
    asked = statistical(lambda u: [u[0] * u[1], (u[0] - u[1]) ** 2], plane, 50, names=["product", "squared difference"])
    plain, moved = allocate(asked), allocate_biased(asked, 50)
    return Found(
        (
            claim("averages of three attributes of +-1, n = 20", "0.2, 0.8, none",
                  ", ".join(f"{s:g}" for s in found.scales), found.scales == (0.2, 0.8, 0.0),
                  {"2 / (n eps) while n eps >= 2": "2/10, 2/2.5, and the middle without noise"},
                  value=list(found.scales)),
            claim("any function of a record (Eq. 13): squared error", f"{plain.squared_error(50):.6g} without bias",
                  f"{moved.squared_error(50):.6g}", moved.squared_error(50) <= plain.squared_error(50),
                  {"private": moved.verdict.holds, "changed coefficients": moved.biased},
                  value=[plain.squared_error(50), moved.squared_error(50)]),
        )
    )  # fmt: skip


@register(4, "networks", "A spanning tree of a network as a metric", "Section 5")
def networks(size: Size) -> Found:
    """Distances along the tree, never below those of the whole network; sensitive people get shorter edges."""
    friends = [("ann", "bob"), ("bob", "cid"), ("cid", "ann", 3), ("cid", "dee"), ("dee", "eve", 2), ("eve", "ann", 5)]
    people_ = ["ann", "bob", "cid", "dee", "eve"]
    tree, whole = spanning_tree(friends), mdp.metrics.graph(friends)
    shy = spanning_tree(friends, {"dee": "1/2"})
    longer = all(tree(a, b) >= whole(a, b) for a in people_ for b in people_)
    total = sum(length for *_, length in tree.edges)
    lengths: list[Any] = [(*edge, 1)[:3] for edge in friends]
    least = min(
        sum(int(length) for *_, length in some) for some in itertools.combinations(lengths, 4) if _joins(some, people_)
    )
    return Found(
        (
            claim("length of the tree", None, total, ways={"least over all trees, by brute force": least}, value=total),
            claim("never below the network's own distances", None, longer),
            claim("cid to dee, where dee is sensitive", None, shy("cid", "dee"), ways={"before": tree("cid", "dee")}),
        ),
        {"networks": lambda: graph(Space(people_, tree), title="Section 5: a spanning tree")},
    )


def _joins(edges: Any, nodes: list[str]) -> bool:
    reached = {nodes[0]}
    for _ in nodes:
        reached |= {b for a, b, _ in edges if a in reached} | {a for a, b, _ in edges if b in reached}
    return reached == set(nodes)


@register(4, "metrics", "Metrics of section 5, and which of them are metrics", "Sections 4.4 and 5, Eq. 3")
def metrics_of_section_5(size: Size) -> Found:
    """The minimum of two budgets, the sum of them, thresholds, and periods of dates."""
    hops = blowfish(absolute(), 10, 1)
    raw = mdp.metrics.matrix([0, 8, 16], [[0, 1, "inf"], [1, 0, 1], ["inf", 1, 0]], check=False)
    broken = raw.violation([0, 8, 16])
    three = {"a": {"x": Fraction(1), "y": Fraction(1), "z": Fraction(1, 4)}}
    try:
        mdp.metrics.value_budgets(three, form="minimum")
        refused = "accepted"
    except mdp.errors.MetricDPError as error:
        refused = str(error)
    summed = mdp.metrics.value_budgets({"a": {"x": Fraction(1), "y": Fraction(1)}}, form="sum")
    return Found(
        (
            claim("Blowfish: infinite beyond T is a metric", "yes, after 'some transformations'",
                  "only once it is closed", False,
                  {"violation": str(broken), "closed on the line: eps ceil(d / T) at d = 25, T = 10": hops(0, 25)},
                  value=hops(0, 25)),
            claim("the minimum of budgets is a metric", "only for binary attributes",
                  "where the second-largest budget is at most twice the smallest", False,
                  {"budgets 1, 1, 1/4": refused.split(";")[0],
                   "budgets 1, 1, 1/2 by brute force": _is_metric(Fraction(1, 2))}),
            claim("the sum form with equal budgets eps gives", "eps", f"{summed(('x',), ('y',)):g} eps", False,
                  {"eps + eps, by hand": 2, "value_budgets(form='sum')": summed(("x",), ("y",))},
                  value=summed(("x",), ("y",))),
        )
    )  # fmt: skip


def _is_metric(smallest: Fraction) -> bool:
    """min(eps(u), eps(v)) on three values with budgets 1, 1 and another: the triangle inequality, all ways round."""
    budgets = [Fraction(1), Fraction(1), smallest]
    far = [[Fraction(0) if i == j else min(budgets[i], budgets[j]) for j in range(3)] for i in range(3)]
    return all(far[i][j] <= far[i][k] + far[k][j] for i, j, k in itertools.product(range(3), repeat=3))


@register(4, "remarks", "A metric that protects nobody more, and what correlations tell", "Section 5")
def remarks_of_section_5(size: Size) -> Found:
    """The larger of two budgets in place of the smaller; and a count that tells one of the more sensitive kind."""
    low, high = Fraction(1, 4), Fraction(1)
    cells = list(itertools.product("MF", "YN", "AB"))  # as in Fig. 1
    each = {"gender": {"M": high, "F": high}, "native": {"Y": low, "N": high}, "age": {"A": high, "B": high}}
    smaller = Space(cells, mdp.metrics.value_budgets(each, form="minimum"))
    larger = Space(cells, attributes({name: max(budgets.values()) for name, budgets in each.items()}))

    def noise(space: Space, **values: str) -> float:
        wanted = [values.get(name) for name in each]
        asked = [int(all(v in (None, part) for v, part in zip(wanted, cell, strict=True))) for cell in cells]
        return allocate(Workload([asked], space)).scales[0]

    days = Space.line(30, Fraction(1, 7) * absolute())
    readings = mdp.metrics.chebyshev()
    return Found(
        (
            claim("noise of Native with the larger budget of two", "1 / eps1 = 1", noise(larger, native="N"),
                  noise(larger, native="N") == 1, {"with the smaller": noise(smaller, native="N")},
                  value=noise(larger, native="N")),
            claim("noise of males of age A", "1 / eps1 = 1", noise(smaller, gender="M", age="A"),
                  noise(smaller, gender="M", age="A") == 1, value=noise(smaller, gender="M", age="A")),
            claim("noise of native males of age A", "1 / eps0 = 4", noise(smaller, gender="M", native="Y", age="A"),
                  noise(smaller, gender="M", native="Y", age="A") == 4,
                  {"nine tenths of the count before, where 90% of them are native": "noise of 0.9 / eps1"},
                  value=noise(smaller, gender="M", native="Y", age="A")),
            claim("dates: eps |u - v| / T, for T = 7 days and two dates as far apart", "eps",
                  days.metric.exactly(3, 10), days.metric.exactly(3, 10) == 1, value=days.metric.exactly(3, 10)),
            claim("series: the largest of the distances of their readings", 3.0, readings((1, 2, 3), (1, 5, 2))),
        )
    )  # fmt: skip
