"""Paper 3: its figures and examples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.adversaries import corner_priors, hamming_leakage_bound, leakage_bound, regular
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.design import least_scale, tight_constraints
from metricdp.exact.balls import exp_bounds
from metricdp.exact.results import short
from metricdp.metrics import Space, absolute, blowfish, chebyshev, discrete, hamming, matrix
from metricdp.papers.item import Found, Size, claim, register
from metricdp.plots import curves, graph, simplex

_SHARES = [Fraction(30, 100), Fraction(27, 100), Fraction(23, 100), Fraction(20, 100)]


@register(3, "fig1", "The graphs of three queries", "Fig. 1, Definition 3")
def fig1(size: Size) -> Found:
    """A count, a query with a cycle of answers, and two counts; the metric on answers is the distance in the graph."""
    path, cycle = Space.line(5), mdp.metrics.graph([(i, (i + 1) % 5) for i in range(5)])
    counts = Space.grid(3, 3, chebyshev())
    ring = Space(range(5), cycle)
    return Found(
        (
            claim("f1, a count: answers 0 and n are apart by", "n", str(int(path.distances[0, 4])), True),
            claim("f2, a cycle of 5: answers 0 and 3 are apart by", None, int(ring.distances[0, 3])),
            claim("f3, two counts: (0, 0) and (2, 2) are apart by", None, int(counts.distances[0, 8])),
        ),
        {
            "fig1a": lambda: graph(path, title="Fig. 1: f₁, a count"),
            "fig1b": lambda: graph(ring, title="Fig. 1: f₂, a cycle"),
            "fig1c": lambda: graph(counts, title="Fig. 1: f₃, two counts"),
        },
    )


def _corners(space: Space) -> list[list[Fraction]]:
    return [corner.fractions for corner in corner_priors(space)]


@register(3, "fig2", "Regions of regular priors of two queries with three results", "Fig. 2, Example 1, Definition 6")
def fig2(size: Size) -> Found:
    """The corners of the regions at e^-eps = 0.5 and 0.2; the region grows with eps."""
    makes: dict[str, Callable[[Any], Space]] = {
        "f1, a sequence": lambda base: Space.line(3, mdp.ln(base) * absolute()),
        "f2, a cycle": lambda base: Space(range(3), mdp.ln(base) * discrete()),
    }
    claims = []
    for name, make in makes.items():
        for base in (2, 5):
            first = _corners(make(base))[0]
            by_hand = [Fraction(1, base) ** int(make(base).metric.unit(0, j)) for j in range(3)]
            total = sum(by_hand, Fraction(0))
            claims.append(
                claim(f"{name}, e^-eps = 1/{base}: corner c1", None, ", ".join(map(str, first)),
                      ways={"row of Phi over its sum, by hand": ", ".join(str(v / total) for v in by_hand)},
                      value=first)
            )  # fmt: skip
        grows = all(regular(corner, make(5)) for corner in corner_priors(make(2)))
        claims.append(claim(f"{name}: the region grows with eps", True, grows))
    return Found(
        tuple(claims),
        {
            "fig2a": lambda: _regions(makes["f1, a sequence"], "Fig. 2: f₁, a sequence"),
            "fig2b": lambda: _regions(makes["f2, a cycle"], "Fig. 2: f₂, a cycle"),
        },
    )


def _regions(make: Callable[[Any], Space], title: str) -> Any:
    return simplex({"e⁻ᵋ = 0.2": corner_priors(make(5)), "e⁻ᵋ = 0.5": corner_priors(make(2))}, title=title)


@register(3, "fig3", "The region of regular priors of two counts, four results", "Fig. 3, Example 2")
def fig3(size: Size) -> Found:
    """The printed corners are those of the complete graph on four results, not of the square of Fig. 1."""

    def complete(base: int) -> Space:
        return Space(range(4), mdp.ln(base) * discrete())

    square = Space.bits(2, mdp.ln(2) * hamming())
    claims = []
    for base, printed in ((2, "0.4, 0.2, 0.2"), (5, "0.6, 0.1, 0.1")):
        ours = _corners(complete(base))[0]
        by_hand = [Fraction(base, base + 3), Fraction(1, base + 3), Fraction(1, base + 3)]
        close = all(abs(float(p) - float(v)) < 0.05 for p, v in zip(printed.split(", "), ours, strict=False))
        claims.append(
            claim(f"corner c1 at e^-eps = 1/{base}", printed, ", ".join(map(str, ours[:3])), close,
                  {"e^eps / (e^eps + 3), by hand": ", ".join(map(str, by_hand))}, value=ours[:3])
        )  # fmt: skip
    rows = [[Fraction(1, 2) ** int(hamming()(x, y)) for y in square.points] for x in square.points]
    totals = [sum(row, Fraction(0)) for row in rows]
    claims.append(
        claim("the graph of Fig. 1 with n = 1, a square, has these corners", "0.4, 0.2, 0.2",
              ", ".join(map(str, _corners(square)[1])), False,
              {"corner_priors": ", ".join(map(str, _corners(square)[1])),
               "Phi by hand": ", ".join(str(v / totals[1]) for v in rows[1])}, value=_corners(square)[1])
    )  # fmt: skip

    def draw() -> Any:
        names = ["(0,0)", "(1,0)", "(0,1)", "(1,1)"]
        named = {"e⁻ᵋ = 0.2": corner_priors(complete(5)), "e⁻ᵋ = 0.5": corner_priors(complete(2))}
        return simplex(named, secrets=names, title="Fig. 3: four results")

    return Found(tuple(claims), {"fig3": draw})


def _individual(eps: float) -> float:
    """The least entry of y for one individual, in closed form: a product of priors is regular where each factor is."""
    a = math.exp(-eps)
    return (0.2 - a / (1 + 3 * a)) / (1 - a)


@register(3, "fig4", "Leakage bounds for a prior and for all priors", "Fig. 4, Example 3, Theorem 2, Proposition 6")
def fig4(size: Size) -> Found:
    """Five people with four values: where the prior is regular, and what is leaked at most."""
    people = size.pick(5, 3)
    databases = tuple(itertools.product((1, 2, 3, 4), repeat=people))
    prior = [math.prod(shares) for shares in itertools.product(_SHARES, repeat=people)]

    def space(eps: Any) -> Space:
        return Space(databases, eps * hamming())

    steps = [Fraction(k, 100) for k in size.pick(range(48, 101), range(48, 101, 4))]
    holds = []
    for done, eps in enumerate(steps):
        size.tell(f"paper 3, fig4: {done} of {len(steps)} steps")
        holds.append(bool(regular(prior, space(eps))))
    first = next(eps for eps, told in zip(steps, holds, strict=True) if told)
    last = max(eps for eps, told in zip(steps, holds, strict=True) if not told)
    closed = [bool(_individual(float(eps)) >= 0) for eps in steps]
    phi = {eps: np.exp(-eps * hamming().pairwise(databases)) for eps in (0.69, 0.70)}
    shares = np.array([float(share) for share in prior])
    solved = {eps: float(np.linalg.solve(table, shares).min()) for eps, table in phi.items()}
    half = Fraction(1, 2)
    ours, for_all = float(leakage_bound(prior, space(half))), float(leakage_bound(None, space(half)))
    formula = people * math.log2(1 / (1 + 3 * math.exp(-0.5)) / 0.3)
    leaked = people * _leaked_by_three_outputs()
    whole = Found(
        (
            claim(f"the prior is regular, of steps of {size.pick(0.01, 0.04)}", "from 0.48", f"from {float(first)}",
                  False,
                  {"ball arithmetic at every step": f"not at {float(last)}, from {float(first)} on",
                   "one individual in closed form agrees": holds == closed,
                   "the least share, 1/5, is a / (1 + 3 a) at a = 1/2, by hand": "from eps = ln 2 = 0.6931 on",
                   "numpy, all equations: least entry at 0.69 and 0.70":
                       f"{solved[0.69]:.2e} and {solved[0.70]:.2e}"}, value=first),
            claim(f"{people} people, eps = 0.5: leakage at most, for all priors", "2.5" if people == 5 else None,
                  for_all, ways={"Theorem 2": hamming_leakage_bound(4, people, half)}, value=for_all),
            claim(f"{people} people, eps = 0.5: leakage at most, for this prior",
                  "1.2 (Proposition 6, which needs a regular prior)" if people == 5 else
                  f"{formula:.4f} by Proposition 6, which needs a regular prior", ours, False,
                  {"a private channel of three outputs leaks": f"{leaked:.4f}",
                   "the formula of Proposition 6": f"{formula:.4f}",
                   "leakage_bound, for any prior": f"{ours:.4f}"}, value=ours),
        ),
        {"fig4": lambda: _bounds(people)},
        size.reduced("3 people in place of 5, every fourth step"),
    )  # fmt: skip
    return whole


def _leaked_by_three_outputs() -> float:
    """One individual: three outputs, value 4 answered evenly; private at eps = 0.5, in Fractions."""
    a = Fraction(61, 100)
    assert 1 / a < exp_bounds(Fraction(1, 2))[0]
    x = 1 / (1 + 2 * a)
    rows = [[x if i == z else a * x for z in range(3)] for i in range(3)] + [[Fraction(1, 3)] * 3]
    assert all(one[z] <= other[z] / a for one in rows for other in rows for z in range(3))
    guessed = sum(max(share * row[z] for share, row in zip(_SHARES, rows, strict=True)) for z in range(3))
    return math.log2(guessed / max(_SHARES))


def _bounds(people: int) -> Any:
    levels = np.linspace(0.48, 1, 53)
    a = np.exp(-levels)
    lines: dict[str, Any] = {
        "all priors (Theorem 2)": people * np.log2(4 / (1 + 3 * a)),
        "this prior (Proposition 6)": np.where(levels >= math.log(2), people * np.log2(1 / (1 + 3 * a) / 0.3), np.nan),
        "this prior, where it is not regular": np.where(
            levels <= math.log(2), people * np.log2(0.8 / (1 + 2 * a) / 0.3), np.nan
        ),
    }
    spans = {"not regular": (0.48, math.log(2))}
    return curves(
        lines, levels, x="ε", y="min-entropy leakage at most, bits", spans=spans, title="Fig. 4: leakage bounds"
    )


@register(3, "fig5", "The graphs of the sum and of two counts", "Fig. 5, section 6")
def fig5(size: Size) -> Found:
    """Adjacency of sums of values 0 to 3, and of two counts."""
    sums = Space(range(10), blowfish(absolute(), 3, 1))
    counts = Space.grid(4, 4, chebyshev())
    return Found(
        (
            claim("sums are adjacent where |i - j| <= v, v = 3: distance of 0 and 7", None, int(sums.distances[0, 7]),
                  ways={"ceil(7 / 3)": 3}),
            claim("two counts: distance of (0, 0) and (1, 3)", None, int(counts.distances[0, 7]),
                  ways={"max(1, 3)": 3}),
        ),
        {
            "fig5a": lambda: graph(sums, title="Fig. 5(a): the sum, v = 3"),
            "fig5b": lambda: graph(counts, title="Fig. 5(b): two counts"),
        },
    )  # fmt: skip


def _geometric_utility(count: int, eps: float) -> tuple[float, float]:
    """The utility of the truncated geometric mechanism on 0 .. count - 1: by formula, and by its matrix."""
    alpha = math.exp(-eps)
    places = np.arange(count)
    table = (1 - alpha) / (1 + alpha) * alpha ** np.abs(places[:, None] - places)
    table[:, [0, -1]] = alpha ** np.abs(places[:, None] - places[[0, -1]]) / (1 + alpha)
    return (count * (1 - alpha) + 2 * alpha) / (1 + alpha) / count, float(table.max(axis=0).sum()) / count


def _solved(distances: Any, scale: float) -> Any:
    return np.linalg.solve(np.exp(-scale * distances), np.ones(len(distances)))


def _change(distances: Any, start: float = 1.5, step: float = 0.02) -> float:
    """The first scale, from above, at which an entry of the whole system's solution is zero; in floats."""
    high = start
    while _solved(distances, high - step).min() > 0:
        high -= step
    low = high - step
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if _solved(distances, middle).min() > 0 else (middle, high)
    return high


def _study(
    size: Size, name: str, letter: str, make: Callable[[Any], Space], published: Fraction, levels: tuple[str, ...],
    geometric: Callable[[float], tuple[float, float]], reduced: str, extra: Callable[[float], float] | None = None,
) -> Found:  # fmt: skip
    """A case study of section 6: the least eps, and utilities with curves."""
    plain = make(1)
    size.tell(f"paper 3, fig6{letter}: the least eps of {len(plain)} results")
    found = least_scale(plain)
    in_floats = _change(plain.distances)
    refuted: Any = tight_constraints(make(published))
    claims = [
        claim("the least eps with a tight-constraints mechanism", str(float(published)), f"{float(found):.9f}", False,
              {"proved: exists above, and none at": short(float(found.least.enclosure.lower), 12),
               "whole system in floats changes sign at": f"{in_floats:.9f}",
               f"refuted at {float(published)}, and checked": refuted.holds is False and refuted.check()},
              value=float(found))
    ]  # fmt: skip
    proved = []
    for text in levels:
        size.tell(f"paper 3, fig6{letter}: utility at eps = {text}")
        eps = Fraction(text)
        known = tight_constraints(make(eps))
        formula, table = geometric(float(eps))
        if known.utility is None:
            continue
        whole = float(_solved(plain.distances, float(eps)).mean())
        proved.append((float(eps), float(known.utility)))
        claims.append(
            claim(f"eps = {text}: utility", "significantly higher than the geometric mechanism's",
                  f"{float(known.utility):.6f} against {formula:.6f}", float(known.utility) > 1.2 * formula,
                  {"whole system in floats": f"{whole:.9f}", "geometric by its matrix": f"{table:.6f}"},
                  value=[float(known.utility), formula])
        )  # fmt: skip
    if extra is not None:
        last = float(levels[-1])
        each = extra(last)
        claims.append(
            claim(f"remark: the geometric mechanism with eps = {last} for each count", None,
                  f"{each:.6f}, above the tight-constraints mechanism: {each > proved[-1][1]}",
                  ways={"but its promise is 2 eps for one individual": f"2 x {last}"}, value=each)
        )  # fmt: skip
    start = float(found)

    def draw() -> Any:
        low, high = float(published), 1.3
        scales = np.linspace(start, high, 10)
        tight = (scales, [float(_solved(plain.distances, s).mean()) for s in scales])
        wide = np.linspace(low, high, 30)
        lines: dict[str, Any] = {"tight-constraints": tight, "geometric": (wide, [geometric(s)[0] for s in wide])}
        if extra is not None:
            lines["geometric, ε for each count (promise: 2 ε)"] = (wide, [extra(s) for s in wide])
        return curves(
            lines, x="ε", y="utility, uniform prior", points={"tight-constraints": proved},
            spans={f"none exists below {start:.4f}": (low, start)}, title=f"Fig. 6({letter}): {name}",
        )  # fmt: skip

    return Found(tuple(claims), {f"fig6{letter}": draw}, size.reduced(reduced))


@register(3, "fig6a", "The sum query, u = 150 and v = 5", "Fig. 6(a), section 6")
def fig6a(size: Size) -> Found:
    """Utility of the tight-constraints mechanism beside the geometric one; the least eps is proved."""
    people = size.pick(150, 12)
    count = 5 * people + 1
    return _study(
        size, "the sum query", "a", lambda eps: Space(range(count), eps * blowfish(absolute(), 5, 1)), Fraction("0.8"),
        size.pick(("0.97", "1", "1.1", "1.2", "1.3"), ("1", "1.3")), lambda eps: _geometric_utility(count, eps / 5),
        "u = 12 in place of 150",
    )  # fmt: skip


@register(3, "fig6b", "Two counting queries, u = 30", "Fig. 6(b), section 6")
def fig6b(size: Size) -> Found:
    """The same for two counts; one individual moves both, so each gets half of eps for the geometric mechanism."""
    people = size.pick(30, 8)

    def geometric(eps: float) -> tuple[float, float]:
        formula, table = _geometric_utility(people + 1, eps / 2)
        return formula**2, table**2

    return _study(
        size, "two counting queries", "b", lambda eps: Space.grid(people + 1, people + 1, eps * chebyshev()),
        Fraction("0.9"), size.pick(("1.14", "1.2", "1.3"), ("1.2", "1.3")), geometric, "u = 8 in place of 30",
        lambda eps: _geometric_utility(people + 1, eps)[0] ** 2,
    )  # fmt: skip


def _cube(alpha: Fraction) -> Space:
    """The cube with its long diagonals: the distance of nodes that differ in three bits is 1."""
    apart = (0, 1, 2, 1)
    distances = [[apart[(i ^ j).bit_count()] for j in range(8)] for i in range(8)]
    return Space(range(8), mdp.ln(1 / alpha) * matrix(range(8), distances))


@register(3, "fig7", "A graph whose privacy-constraints matrix is singular at one level", "Fig. 7, Appendix B")
def fig7(size: Size) -> Found:
    """Determinants in exact arithmetic, and the sums of rows by hand."""
    from flint import fmpq, fmpq_mat

    def determinant(alpha: Fraction) -> Fraction:
        rows = constraints_matrix(_cube(alpha)).exact
        assert rows is not None
        found = fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in rows]).det()
        return Fraction(int(found.p), int(found.q))

    third = Fraction(1, 3)
    edges = [(i, j) for i in range(8) for j in range(i) if (i ^ j).bit_count() in (1, 3)]
    network = Space([format(i, "03b") for i in range(8)],
                    mdp.metrics.graph([(format(i, "03b"), format(j, "03b")) for i, j in edges]))  # fmt: skip
    places = {format(i, "03b"): ((i >> 2 & 1) + 0.45 * (i & 1), (i >> 1 & 1) + 0.3 * (i & 1)) for i in range(8)}
    return Found(
        (
            claim("determinant at alpha = 1/3", "0", determinant(third), determinant(third) == 0,
                  {"1 + 3 alpha^2 - 4 alpha": 1 + 3 * third**2 - 4 * third}, value=determinant(third)),
            claim("invertible for alpha <= 1/7", True,
                  all(determinant(Fraction(1, k)) != 0 for k in (7, 10, 20))),
            claim("and at 33/100, 1/4, 1/2", None,
                  all(determinant(Fraction(v)) != 0 for v in ("33/100", "1/4", "1/2"))),
        ),
        {"fig7": lambda: graph(network, places=places, title="Fig. 7: a cube with its diagonals")},
    )  # fmt: skip
