"""Paper 4: its figures, which are the experiments of section 4."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.metrics import Space, euclidean, matrix, smooth, value_budgets
from metricdp.papers.item import Found, Size, claim, register
from metricdp.papers.made_data import bits, people, square, uniform, us_cities
from metricdp.plots import curves, histogram
from metricdp.plots.canvas import COLOURS, canvas, dress, noted
from metricdp.queries import Workload, allocate, improvement_factor
from metricdp.queries.workloads._pairs import PairBudgets

_CELLS = list(itertools.product("MF", "YN", "AB"))  # the order of Fig. 1
_STRATEGIES = ("equal", "shared", "proportional")
_RECORDS = 10_000


def _counts_of(place: int, value: str) -> list[int]:
    return [int(cell[place] == value) for cell in _CELLS]


def _budgets(low: Any, high: Any) -> Space:
    each = {"gender": {"M": high, "F": high}, "native": {"Y": low, "N": high}, "age": {"A": high, "B": high}}
    return Space(_CELLS, value_budgets(each, form="minimum"))


@register(4, "fig1", "Attributes that are not equal: a histogram, distances, noise", "Fig. 1, Example 1, Eq. 3")
def fig1(size: Size) -> Found:
    """eps0 for natives and eps1 for all other values; noise for one query and for both together."""
    low, high = Fraction(1, 4), Fraction(1)
    space = _budgets(low, high)
    apart = [space.metric.exactly(_CELLS[0], _CELLS[k]) for k in (1, 2, 7)]
    workload = Workload([_counts_of(1, "N"), _counts_of(0, "M")], space, names=["not native", "male"])
    both = allocate(workload).scales
    alone = [allocate(Workload([query], space)).scales[0] for query in (_counts_of(1, "N"), _counts_of(0, "M"))]
    records = people(11, 8, 60)
    return Found(
        (
            claim("d(1, 2), d(1, 3), d(1, 8)", "eps1, eps0, eps0 + 2 eps1", ", ".join(map(str, apart)),
                  apart == [high, low, low + 2 * high], value=apart),
            claim("noise of Native, alone and together", "1 / eps0 = 4", f"{alone[0]} and {both[0]}",
                  alone[0] == both[0] == 4, value=both[0]),
            claim("noise of Male, alone and together", "1 / eps1 = 1", f"{alone[1]} and {both[1]}",
                  alone[1] == both[1] == 1, value=both[1]),
        ),
        {"fig1": lambda: _bars(["".join(cell) for cell in _CELLS], records, "Fig. 1: a histogram, of seeded counts")},
    )  # fmt: skip


def _bars(names: Sequence[str], counts: Sequence[int], title: str) -> Any:
    figure, axes = canvas(None, 2.1)
    axes.bar(range(len(counts)), counts, color=COLOURS[0], alpha=0.6)
    axes.set_xticks(range(len(names)), names)
    dress(axes, "cell of the universe", "records", title)
    data = {"plot": "bars", "names": list(names), "counts": list(counts)}
    return noted(figure, axes, f"{title}. Bars of {len(counts)} counts, from {min(counts)} to {max(counts)}.", data)


def _map(places: Floats, title: str, x: str = "", y: str = "") -> Any:
    figure, axes = canvas(None, 2.6)
    axes.scatter(places[:, 0], places[:, 1], s=7, color=COLOURS[0], linewidths=0)
    dress(axes, x, y, title)
    data = {"plot": "places", "places": places.tolist()}
    return noted(figure, axes, f"{title}. A map of {len(places)} places.", data)


@register(4, "fig2a", "The places of the synthetic experiments", "Fig. 2a, section 4.1")
def fig2a(size: Size) -> Found:
    """50 places, uniform in a square of side 100, made from a seed."""
    space = square()
    apart = space.distances[~np.eye(len(space), dtype=bool)]
    return Found(
        (
            claim("places", 50, len(space)),
            claim("their distances", None, f"from {apart.min():.3g} to {apart.max():.3g}", value=float(apart.min())),
        ),
        {"fig2a": lambda: _map(np.array(space.points), "Fig. 2a: 50 places", "east", "north")},
    )


@functools.cache
def _single(queries: int, seed: int, space: Space) -> tuple[Floats, Floats]:
    """Improvement factors of random queries, each alone: by the closed form, and the first of them by `allocate`."""
    table = uniform(seed, queries, len(space))
    scales = PairBudgets(Workload(table, space)).own_scales()[0]
    least = float(space.distances[~np.eye(len(space), dtype=bool)].min())
    factors = np.ptp(table, axis=1) / least / scales
    some = [improvement_factor(allocate(Workload(table[k], space))) for k in range(0, queries, max(1, queries // 5))]
    return factors, np.array(some)


def _summary(factors: Floats) -> str:
    return f"mean {factors.mean():.3f}, from {factors.min():.3f} to {factors.max():.3f}"


@register(4, "fig2b", "Improvement factors of single queries", "Fig. 2b, section 4.1")
def fig2b(size: Size) -> Found:
    """Random coefficients from [0, 1] over 50 places; proved scales agree with the closed form."""
    queries = size.pick(1000, 100)
    factors, some = _single(queries, 41, square())
    every = factors[:: max(1, queries // 5)][: len(some)]
    table = uniform(41, queries, 50)
    rmse = math.sqrt(2) * float((np.ptp(table, axis=1) / factors).mean())
    return Found(
        (
            claim(f"improvement of {queries:,} queries", "significant (a histogram without numbers)",
                  _summary(factors), float(factors.mean()) > 1.5,
                  {"max |q_i - q_j| / d(i, j)": f"{float(every[0]):.9f} for the first query",
                   "allocate, proved": f"{float(some[0]):.9f}"}, value=float(factors.mean())),
            claim("it does not depend on eps", True, _same_for_all_levels(), value=True),
            claim("mean root squared error, in units of 1 / min d", None, rmse, value=rmse),
        ),
        {"fig2b": lambda: histogram(factors, x="improvement factor", title="Fig. 2b: single queries, 50 places")},
        size.reduced("100 queries in place of 1,000"),
    )  # fmt: skip


def _same_for_all_levels() -> bool:
    table = uniform(41, 1, 50)
    found = [
        improvement_factor(allocate(Workload(table, Space(square().points, Fraction(level) * euclidean()))))
        for level in ("0.01", "1", "7")
    ]
    return max(found) - min(found) < 1e-9 * found[0]


def _strategies(size: Size, binary: bool, name: str) -> tuple[dict[str, list[float]], list[float], list[int]]:
    """Mean improvement factors of three strategies and the optimum for K queries, and how much lower the error is."""
    space = square()
    most, each = size.pick(10, 4), size.pick(100, 3)
    means: dict[str, list[float]] = {method: [] for method in (*_STRATEGIES, "exact")}
    gains: list[float] = []
    sizes = list(range(1, most + 1))
    for queries in sizes:
        size.tell(f"paper 4, {name}: workloads of {queries} queries")
        found: dict[str, list[float]] = {method: [] for method in means}
        for number in range(each):
            seed = 42_000 + 1000 * queries + number
            table = bits(seed, queries, len(space)) if binary else uniform(seed, queries, len(space))
            workload = Workload(table, space)
            for method, factors in found.items():
                factors.append(improvement_factor(allocate(workload, method, objective="geometric")))  # type: ignore[arg-type]
            gains.append(1 - allocate(workload).value / allocate(workload, "proportional").value)
        for method, factors in found.items():
            means[method].append(float(np.mean(factors)))
    return means, gains, sizes


def _several(size: Size, binary: bool, name: str) -> Found:
    means, gains, sizes = _strategies(size, binary, name)
    last = {method: values[-1] for method, values in means.items()}
    order = last["equal"] <= last["shared"] <= last["proportional"] <= last["exact"] * (1 + 1e-9)
    kind = "binary" if binary else "real"
    claims = [
        claim(f"{kind} coefficients, {sizes[-1]} queries: strategies 1, 2, 3", "3 above 2 above 1",
              ", ".join(f"{last[m]:.3f}" for m in _STRATEGIES), order, value=list(last.values())),
        claim("the optimum of the convex problem", "not known: 'non-convex'", f"{last['exact']:.3f}", False,
              {"allocate(method='exact'), with a proved gap": f"{last['exact']:.6f}",
               "Algorithm 3": f"{last['proportional']:.6f}",
               "less mean squared error than Algorithm 3, least and most": f"{min(gains):.2%} to {max(gains):.2%}"},
              value=float(np.mean(gains))),
    ]  # fmt: skip
    if binary:
        marginal = means["equal"]
        claims.append(
            claim("strategy 1 is below 1.5", "yes", ", ".join(f"{value:.2f}" for value in marginal[1:]),
                  max(marginal[1:]) < 1.5 or None, value=marginal)
        )  # fmt: skip

    def draw() -> Any:
        names = {"equal": "strategy 1", "shared": "strategy 2", "proportional": "strategy 3", "exact": "optimum"}
        lines = {names[method]: values for method, values in means.items()}
        letter = "d" if binary else "c"
        title = f"Fig. 2{letter}: {kind} coefficients"
        return curves(lines, sizes, x="queries", y="improvement factor", title=title)

    words = "up to 4 queries, 3 workloads each, in place of 10 and 100"
    return Found(tuple(claims), {name: draw}, size.reduced(words))


@register(4, "fig2c", "Improvement factors of several queries, real coefficients", "Fig. 2c, section 4.2, Algorithm 3")
def fig2c(size: Size) -> Found:
    """Three strategies and the optimum."""
    return _several(size, False, "fig2c")


@register(
    4, "fig2d", "Improvement factors of several queries, binary coefficients", "Fig. 2d, section 4.2, Algorithm 3"
)
def fig2d(size: Size) -> Found:
    """The same for queries that count."""
    return _several(size, True, "fig2d")


def _cities(count: int) -> tuple[list[dict[str, str]], Space]:
    rows = us_cities()[:count]
    places = [(float(row["longitude"]), float(row["latitude"])) for row in rows]
    return rows, Space(places, euclidean())


@register(4, "fig3a", "Cities of the United States", "Fig. 3a, section 4.3")
def fig3a(size: Size) -> Found:
    """The largest cities that ship with the package; the paper's list is of another year."""
    rows, space = _cities(741)
    return Found(
        (claim("cities", 741, len(rows)),),
        {"fig3a": lambda: _map(np.array(space.points), "Fig. 3a: 741 cities", "longitude", "latitude")},
        note="The paper's list had 741 above 50,000 inhabitants; the largest of ours are taken.",
    )


@register(4, "fig3b", "Improvement factors over cities, and of the average elevation", "Fig. 3b, section 4.3")
def fig3b(size: Size) -> Found:
    """With all cities, and without the one that is all but at the same place as another."""
    count, queries = size.pick(741, 200), size.pick(1000, 100)
    rows, space = _cities(count)
    factors, _ = _single(queries, 43, space)
    apart = space.distances + np.diag(np.full(count, np.inf))
    twin = max(divmod(int(apart.argmin()), count))
    fewer = Space([p for k, p in enumerate(space.points) if k != twin], euclidean())
    without, _ = _single(queries, 43, fewer)
    heights = np.array([[float(row["elevation"]) for row in rows]])
    lift = improvement_factor(allocate(Workload(heights, space)))
    lower = improvement_factor(allocate(Workload(np.delete(heights, twin, axis=1), fewer)))
    by_hand = float(np.ptp(heights)) / float(apart.min()) / _steepest(heights[0], apart)
    return Found(
        (
            claim("mean improvement of random queries", "between 2 and 3", f"{factors.mean():.2f}", None,
                  value=float(factors.mean())),
            claim("the same without the nearer of the two nearest cities", "between 2 and 3", f"{without.mean():.2f}",
                  1.5 < float(without.mean()) < 4 or None, value=float(without.mean())),
            claim("average elevation of a resident's house", "202, with its own list of cities",
                  f"{lift:.1f}, and {lower:.1f} without that city", None,
                  {"allocate": f"{lift:.6f}", "max |q_i - q_j| / d(i, j)": f"{by_hand:.6f}"}, value=lift),
        ),
        {"fig3b": lambda: histogram(without, x="improvement factor", title="Fig. 3b: cities, without a twin")},
        size.reduced("200 cities and 100 queries in place of 741 and 1,000"),
        note=f"Another list of cities, so the numbers are not the paper's: two of ours are {apart.min():.5f} degrees "
        "apart, and the baseline goes by the nearest two.",
    )  # fmt: skip


def _steepest(values: Floats, apart: Floats) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.abs(np.subtract.outer(values, values)) / apart))


def _thresholds(size: Size) -> dict[int, tuple[Floats, Floats, Floats]]:
    """For each threshold the scales of random queries under Blowfish and smooth metrics, and their ranges; eps = 1."""
    space = square()
    apart = space.distances
    table = uniform(44, size.pick(1000, 100), len(space))
    found = {}
    for threshold in (2, 4, 8, 16):
        policy = np.where(apart <= threshold, 1.0, math.inf)
        np.fill_diagonal(policy, 0)
        closed = matrix(space.points, policy.tolist(), check=False).closure(space.points)
        blowfish = PairBudgets(Workload(table, Space(space.points, closed))).own_scales()[0]
        smoothed = Space(space.points, smooth(euclidean(), threshold, 1))
        found[threshold] = (blowfish, PairBudgets(Workload(table, smoothed)).own_scales()[0], np.ptp(table, axis=1))
    return found


@register(4, "fig4", "The error under Blowfish and smooth metrics", "Fig. 4, section 4.4")
def fig4(size: Size) -> Found:
    """Mean root squared errors for T = 2, 4, 8, 16, over all eps: they go with 1 / eps."""
    found = _thresholds(size)
    rmse = {t: tuple(math.sqrt(2) * float(scale.mean()) for scale in scales[:2]) for t, scales in found.items()}
    rising = all(rmse[a][k] <= rmse[b][k] for a, b in ((2, 4), (4, 8), (8, 16)) for k in (0, 1))
    raw = {t: float(np.mean(_raw(t, size))) for t in found}
    same = max(abs(raw[t] - float(found[t][0].mean())) for t in found)
    levels = np.array([0.1, 0.2, 0.5, 1.0, 2.0])

    def draw() -> Any:
        lines = {f"{name}, T = {t}": [rmse[t][k] / eps for eps in levels]
                 for t in (2, 16) for k, name in enumerate(("Blowfish", "smooth"))}  # fmt: skip
        return curves(
            lines, levels, x="ε", y="root mean squared error", log=True, title="Fig. 4: errors for thresholds"
        )

    return Found(
        (
            claim("the error rises with T", True, rising, value=[list(v) for v in rmse.values()]),
            claim("smooth is above Blowfish, by little", True,
                  all(one <= other * (1 + 1e-12) for one, other in rmse.values())),
            *(claim(f"T = {t}, eps = 1: Blowfish, smooth", None, f"{one:.4f}, {other:.4f}", value=[one, other])
              for t, (one, other) in rmse.items()),
            claim("largest |q_i - q_j| within T, beside the closed metric", None, f"the same within {same:.1e}",
                  value=same),
        ),
        {"fig4": draw},
        size.reduced("100 queries in place of 1,000"),
    )  # fmt: skip


def _raw(threshold: int, size: Size) -> Floats:
    """By the policy itself: the largest change of a query between places within the threshold."""
    space = square()
    table = uniform(44, size.pick(1000, 100), len(space))
    near = space.distances <= threshold
    return np.array([np.abs(np.subtract.outer(q, q))[near].max() for q in table])


@register(4, "fig5", "Improvement factors under Blowfish and smooth metrics", "Fig. 5, section 4.4")
def fig5(size: Size) -> Found:
    """Distributions for T = 2, 4, 8, 16 at eps = 1."""
    found = _thresholds(size)
    with np.errstate(divide="ignore"):
        factors = {t: (spans / one, spans / other) for t, (one, other, spans) in found.items()}
    medians = {t: [float(np.median(part)) for part in both] for t, both in factors.items()}
    alike = [one / other for one, other in medians.values()]

    def panel(place: int, name: str) -> Any:
        lists = {f"T = {t}": np.minimum(both[place], 1e3) for t, both in factors.items()}
        edges = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10]
        letter = "ab"[place]
        return histogram(lists, bins=edges, x="improvement factor", mark_means=False, title=f"Fig. 5{letter}: {name}")

    return Found(
        (
            claim("Blowfish is better, and less so for large T", True,
                  alike[0] >= alike[-1] >= 1 - 1e-9, value=alike),
            *(claim(f"T = {t}: medians, Blowfish and smooth", None, f"{one:.3f}, {other:.3f}", value=[one, other])
              for t, (one, other) in medians.items()),
        ),
        {"fig5a": lambda: panel(0, "Blowfish"), "fig5b": lambda: panel(1, "smooth")},
        size.reduced("100 queries in place of 1,000"),
        note=f"Records, n = {_RECORDS:,} in the paper, do not enter: noise goes with the promise alone.",
    )  # fmt: skip
