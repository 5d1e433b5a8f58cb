"""Noise for workloads of queries: paper 4's experiments re-run, and how quickly the best allocation is found.

    python benchmarks/queries.py                # sections 4.1 to 4.4, bias, and times: some minutes
    python benchmarks/queries.py --quick        # a tenth of the workloads
    python benchmarks/queries.py --only times   # one part: 4.1, 4.2, 4.3, 4.4, bias or times
    python benchmarks/queries.py --peers FOLDER --fair fair.csv     # answers beside other libraries: see answers.py

The data of sections 4.1, 4.2 and 4.4 are made here from a seed: 50 places, uniform in a square of side 100, with the
Euclidean metric. Those of section 4.3 are the cities of the United States that ship with the package, the 741 largest,
as in the paper (its list had 741 above 50,000 inhabitants; ours, of another year, has 907).

"Improvement" is the paper's factor: the scale of the standard Laplace mechanism with epsilon = min d(i, j), divided by
ours; for several queries the geometric mean. Noise goes with the promise, never with the data, so no histogram of
people is needed. "exact" is judged in the objective that it was asked for, workload by workload.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import metricdp as mdp
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocate_biased import allocate_biased
from metricdp.queries.workloads.workload import Workload

DATA = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data"
STRATEGIES = ("equal", "shared", "proportional")
BAR = 40


# Data


def square(cells: int = 50, seed: int = 2020) -> mdp.Space:
    places = np.random.default_rng(seed).random((cells, 2)) * 100
    return mdp.Space(places.tolist(), mdp.metrics.euclidean())


def us_cities() -> list[dict[str, str]]:
    with (DATA / "us_cities.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def cities_of_both_lists(count: int) -> list[tuple[float, float]]:
    """Latitude and longitude of the United States' cities, and then of the largest others in the world."""
    with (DATA / "world_cities.csv").open(newline="") as file:
        world = list(csv.DictReader(file))
    places = {(float(row["latitude"]), float(row["longitude"])): None for row in us_cities() + world}
    return list(places)[:count]


# What is printed


def histogram(values: Sequence[float], edges: Sequence[float]) -> None:
    """Shares of the values between edges, as bars."""
    counts, _ = np.histogram(values, [*edges, math.inf])
    for low, high, count in zip(edges, [*edges[1:], math.inf], counts, strict=True):
        span = f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} and more"
        print(f"    {span:>14}  {count / len(values):6.1%}  {'#' * round(BAR * count / max(counts.max(), 1))}")


def summary(values: Sequence[float]) -> str:
    return (
        f"mean {np.mean(values):.3f}, median {np.median(values):.3f}, least {min(values):.3f}, most {max(values):.3f}"
    )


def paper(text: str) -> None:
    print(f"    paper: {text}")


# Sections 4.1 and 4.3: single queries


def single_queries(space: mdp.Space, queries: int, seed: int) -> np.ndarray:
    """Improvement factors of random queries, each asked alone."""
    matrix = np.random.default_rng(seed).random((queries, len(space)))
    scales = PairBudgets(Workload(matrix, space)).own_scales()[0]
    for query in range(0, queries, max(1, queries // 10)):
        proved = allocate(Workload(matrix[query], space)).scales[0]
        assert abs(proved / scales[query] - 1) < 1e-9, "the proved scale is the closed form"
    return baseline(matrix, space) / scales


def baseline(matrix: np.ndarray, space: mdp.Space) -> np.ndarray:
    """The scale of the standard mechanism for each query alone: sensitivity by the least distance."""
    return np.ptp(matrix, axis=1) / least_distance(space)


def least_distance(space: mdp.Space) -> float:
    return float(space.distances[~np.eye(len(space), dtype=bool)].min())


def section_1(quick: bool) -> None:
    print("Section 4.1: one query with coefficients from [0, 1], 50 places")
    factors = single_queries(square(), 100 if quick else 1000, 41)
    print(f"    improvement: {summary(factors)}")
    histogram(factors, [1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8])
    paper("Figure 2b, a histogram without numbers; 'significant improvement'")


def section_3(quick: bool) -> None:
    rows = us_cities()[:742]
    distances = places_of(rows[:741]).distances + np.diag(np.full(741, math.inf))
    one, other = sorted(np.unravel_index(int(distances.argmin()), distances.shape))
    names = f"{rows[one]['name']} and {rows[other]['name']}"
    print("Section 4.3: one query over 741 cities of the United States")
    city_queries(rows[:741], quick)
    paper("Figure 3b: the average 'lies between 2 to 3', some above 7.5; elevation 202, with its own list of cities")
    print(f"    The baseline goes by the closest two: {names}, {distances.min():.5f} degrees apart.")
    print(f"Section 4.3, with the next city on the list in place of {rows[other]['name']}")
    city_queries(rows[:other] + rows[other + 1 :], quick)


def places_of(rows: list[dict[str, str]]) -> mdp.Space:
    return mdp.Space([(float(row["longitude"]), float(row["latitude"])) for row in rows], mdp.metrics.euclidean())


def city_queries(rows: list[dict[str, str]], quick: bool) -> None:
    space = places_of(rows)
    factors = single_queries(space, 100 if quick else 1000, 43)
    print(f"    improvement: {summary(factors)}")
    histogram(factors, [1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7.5])
    elevation = np.array([[float(row["elevation"]) for row in rows]])
    scale = allocate(Workload(elevation, space)).scales[0]
    print(f"    average elevation of a resident's house: improvement {baseline(elevation, space)[0] / scale:.1f}")


# Section 4.2: several queries


def section_2(quick: bool) -> None:
    space = square()
    least = least_distance(space)
    workloads = 10 if quick else 100
    broken = 0
    for kind in ("real", "binary"):
        print(f"Section 4.2: workloads with {kind} coefficients, 50 places, {workloads} workloads for each K")
        print("     K   improvement: strategy 1, 2, 3, exact      less mean squared error than strategy 3")
        for queries in range(1, 11):
            generator = np.random.default_rng((42, queries, kind == "binary"))
            factors = {method: [] for method in (*STRATEGIES, "exact")}
            gains = []
            for _ in range(workloads):
                shape = (queries, len(space))
                matrix = generator.random(shape) if kind == "real" else generator.integers(0, 2, shape)
                workload = Workload(matrix, space)
                columns = workload.matrix.T
                standard = max(float(np.abs(columns - column).sum(axis=1).max()) for column in columns) / least
                for method, found in factors.items():
                    found.append(standard / allocate(workload, method, objective="geometric").value)
                mean, third = allocate(workload), allocate(workload, "proportional")
                gains.append(1 - mean.value / third.value)
                broken += mean.value > third.value or factors["exact"][-1] < factors["proportional"][-1]
            means = "  ".join(f"{np.mean(found):7.3f}" for found in factors.values())
            print(
                f"    {queries:2}  {means}      {np.mean(gains):6.1%} on average, {min(gains):.1%} to {max(gains):.1%}"
            )
        if kind == "real":
            paper("Figure 2c: strategy 3 above the others")
        else:
            paper("Figure 2d: strategy 3 'much better'; strategy 1 below 1.5")
    print(f"    workloads where exact was worse than strategy 3, in either objective: {broken}")


# Section 4.4: thresholds


def section_4(quick: bool) -> None:
    print("Section 4.4: one query, epsilon = 1; within T of each other places share one budget")
    space = square()
    apart = space.distances
    matrix = np.random.default_rng(44).random((100 if quick else 1000, len(space)))
    print("     T   error (RMSE), Blowfish and smooth    improvement (median), Blowfish and smooth    standard error")
    bars = {}
    for threshold in (2, 4, 8, 16):
        policy = np.where(apart <= threshold, 1.0, math.inf)
        np.fill_diagonal(policy, 0)
        listed = mdp.metrics.matrix(space.points, policy.tolist(), check=False)
        blowfish = mdp.Space(space.points, listed.closure(space.points))
        smooth = mdp.Space(space.points, mdp.metrics.smooth(mdp.metrics.euclidean(), threshold, 1))
        scales = [PairBudgets(Workload(matrix, found)).own_scales()[0] for found in (blowfish, smooth)]
        spans = np.ptp(matrix, axis=1)
        with np.errstate(divide="ignore"):
            factors = [spans / found for found in scales]
        errors = "  ".join(f"{math.sqrt(2) * found.mean():8.4f}" for found in scales)
        medians = "  ".join(f"{np.median(found):8.3f}" for found in factors)
        print(f"    {threshold:2}   {errors}                   {medians}      {math.sqrt(2) * spans.mean():20.4f}")
        bars[threshold] = factors
    for place, name in enumerate(("Blowfish", "smooth")):
        for threshold in (2, 16):
            print(f"    improvement under {name}, T = {threshold}")
            histogram(bars[threshold][place], [1, 1.25, 1.5, 2, 3, 5, 10, 100])
    paper("Figures 4 and 5: errors rise with T; smooth a little above Blowfish; distributions alike for large T,")
    paper("for T = 2 Blowfish better. (Errors go with 1/epsilon.)")


# Bias


def bias(quick: bool) -> None:
    print("Section 3.1: bias allowed (Q', c), 3 real queries over 20 places; squared error, of the best without bias")
    space = square(20)
    matrix = np.random.default_rng(31).random((3, 20))
    for level in (0.001, 0.01, 0.1):
        workload = Workload(matrix, mdp.Space(space.points, level * mdp.metrics.euclidean()))
        plain = allocate(workload).squared_error()
        parts = [
            f"n = {total:,}: {allocate_biased(workload, total).squared_error(total) / plain:7.2%}"
            for total in ((100, 10_000) if quick else (10, 100, 1000, 10_000))
        ]
        print(f"    {level:g} · distance   " + "   ".join(parts))
    paper("'since n is very large', without bias throughout")


# Times


def times(quick: bool) -> None:
    print("Times of allocate(method='exact'), wall clock, proof included")
    generator = np.random.default_rng(7)
    cities = mdp.Space(cities_of_both_lists(975), mdp.metrics.great_circle().within(100_000))
    places = mdp.Space((generator.random((1000, 2)) * 100).tolist(), mdp.metrics.euclidean())
    network = mdp.Space(generator.integers(0, 40, (1000, 4)).tolist(), mdp.metrics.manhattan() / 10)
    cases = [
        ("975 cities, 10 real queries", Workload(generator.random((10, 975)), cities)),
        ("975 cities, 10 counts", Workload(generator.integers(0, 2, (10, 975)), cities)),
        ("1,000 places, 50 real queries", Workload(generator.random((50, 1000)), places)),
        ("1,000 places, 50 counts", Workload(generator.integers(0, 2, (50, 1000)), places)),
        ("1,000 places, 50 ranges", Workload(ranges(places, 50, generator), places)),
        ("1,000 records of 4 numbers, 50 ranges", Workload(ranges(network, 50, generator), network)),
    ]
    for name, workload in cases[:3] if quick else cases:
        for objective in ("mean", "geometric", "worst"):
            start = time.perf_counter()
            found = allocate(workload, objective=objective)
            spent = time.perf_counter() - start
            third = allocate(workload, "proportional", objective=objective)
            print(
                f"    {name:38} {objective:9}  {spent:6.2f} s   gap {found.gap:.1e}   "
                f"{1 - found.value / third.value:6.1%} below strategy 3"
            )


def ranges(space: mdp.Space, queries: int, generator: np.random.Generator) -> np.ndarray:
    """Counts in random boxes."""
    points = np.array(space.points, dtype=float)
    low, high = points.min(axis=0), points.max(axis=0)
    rows = []
    while len(rows) < queries:
        ends = np.sort(low + generator.random((2, points.shape[1])) * (high - low), axis=0)
        inside = ((points >= ends[0]) & (points <= ends[1])).all(axis=1)
        if inside.any():
            rows.append(inside)
    return np.array(rows)


PARTS = {"4.1": section_1, "4.2": section_2, "4.3": section_3, "4.4": section_4, "bias": bias, "times": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the workloads")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--peers", help="answers beside other libraries: a folder with an environment for each of them")
    parser.add_argument("--fair", help="fair.csv of statsmodels, the second table of that")
    options = parser.parse_args()
    if options.peers is not None:
        sys.path.insert(0, str(Path(__file__).parent))
        from answers import compare

        compare(options.peers, options.fair)
        return
    for name, part in PARTS.items():
        if options.only in (None, name):
            start = time.perf_counter()
            part(options.quick)
            print(f"    ({time.perf_counter() - start:.1f} s)\n")


if __name__ == "__main__":
    main()
