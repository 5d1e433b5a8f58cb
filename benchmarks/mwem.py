"""Synthetic histograms: MWEM on 10,000 cells and 1,000 queries, beside Laplace noise and the textbook's algorithm.

    python benchmarks/mwem.py                 # all tables, about a minute
    python benchmarks/mwem.py --only bounds   # what the theorems promise beside what was measured
    python benchmarks/mwem.py --json

Data are made by a seeded script and public, so errors may be measured. The noise of ours is exact; that of the
textbook's algorithm, written out below after Hardt, Ligett and McSherry, is numpy's. "Naive" is Laplace noise on all
queries: an equal part of the metric for each ("equal"), or one scale for all, from what they change together
("shared", here from below: the largest over all neighbouring and 20,000 random pairs of cells, so that it may look
better than it is). Errors are in records.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.metrics import Guarantee, attributes, discrete, manhattan, records
from metricdp.queries.synthetic_data.mwem import mwem
from metricdp.queries.synthetic_data.small_database import small_database
from metricdp.queries.synthetic_data.steepness import sensitivities
from metricdp.queries.synthetic_data.synthetic import measured_error
from metricdp.queries.workloads.consistent import consistent
from metricdp.queries.workloads.workload import Workload

SIDE, QUERIES, PEOPLE, ROUNDS = 100, 1000, 100_000, 20
Row = dict[str, Any]


def rectangles(cells: np.ndarray, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of random rectangles."""
    low, high = np.sort(rng.integers(0, SIDE + 1, (2, 2, queries)), axis=0)
    inside = (cells[:, :, np.newaxis] >= low) & (cells[:, :, np.newaxis] < high)
    return inside.all(axis=1).T.astype(float)


def people(rng: np.random.Generator) -> np.ndarray:
    """Three towns on a square, as counts of its cells."""
    centres, widths = rng.uniform(20, 80, (3, 2)), rng.uniform(3, 12, (3, 1))
    town = rng.integers(0, 3, PEOPLE)
    places = np.clip(rng.normal(centres[town], widths[town]), 0, SIDE - 1).astype(int)
    return np.bincount(places[:, 0] * SIDE + places[:, 1], minlength=SIDE * SIDE)


def textbook(
    matrix: np.ndarray,
    counts: np.ndarray,
    rounds: int,
    epsilon: float,
    rng: np.random.Generator,
    centred: bool = False,
) -> np.ndarray:
    """MWEM as Hardt, Ligett and McSherry print it: one update for each measurement, the mean of the iterates.

    Its theorem is for queries with values in [-1, 1]. Counts have 0 and 1; ``centred`` updates by them as -1 and 1, as
    ours does, which is four times the step.
    """
    total, truth = counts.sum(), matrix @ counts
    weights, mean = np.full(len(counts), total / len(counts)), np.zeros(len(counts))
    for _ in range(rounds):
        mean += weights / rounds
        scores = np.abs(matrix @ weights - truth) * epsilon / (2 * rounds) / 2
        chances = np.exp(scores - scores.max())
        query = matrix[rng.choice(len(matrix), p=chances / chances.sum())]
        measured = query @ counts + rng.laplace(scale=2 * rounds / epsilon)
        step = np.clip(measured, 0, total) - query @ weights if centred else measured - query @ weights
        weights = weights * np.exp(query * step * (4 if centred else 1) / (2 * total))
        weights *= total / weights.sum()
    return mean


def shared_from_below(matrix: np.ndarray, space: mdp.Space, rng: np.random.Generator) -> float:
    one, two = rng.integers(0, matrix.shape[1], (2, 20_000))
    cells = np.arange(matrix.shape[1]).reshape(SIDE, SIDE)
    one = np.concatenate([one, cells[:-1].ravel(), cells[:, :-1].ravel()])
    two = np.concatenate([two, cells[1:].ravel(), cells[:, 1:].ravel()])
    apart = space.distances[one, two]
    held = (apart > 0) & np.isfinite(apart)
    loads = np.abs(matrix[:, one[held]] - matrix[:, two[held]]).sum(axis=0)
    return float((loads / apart[held]).max())


def summary(name: str, errors: np.ndarray, seconds: float | None = None, **more: Any) -> Row:
    row: Row = {"mechanism": name, "worst": float(np.abs(errors).max()), "mean": float(np.abs(errors).mean())}
    return row | ({} if seconds is None else {"seconds": seconds}) | more


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = make()
    return made, time.perf_counter() - start


def large(metric: str, seed: int, epsilon: float = 1.0) -> list[Row]:
    """10,000 cells and 1,000 queries under one metric."""
    rng = np.random.default_rng(seed)
    points = list(itertools.product(range(SIDE), range(SIDE)))
    counts, matrix = people(rng), rectangles(np.array(points), QUERIES, rng)
    d = {
        "uniform": discrete(),
        "attributes": attributes({"row": 1, "column": "1/4"}),
        "manhattan": manhattan(),
    }[metric]
    d = epsilon * d
    space, making = timed(lambda: mdp.Space(points, d))
    workload, truth = Workload(matrix, space), matrix @ counts
    steep, proving = timed(lambda: np.array([float(value) for value in sensitivities(workload.matrix, space)]))
    steep /= float(d.level)
    rows = [
        summary("naive, equal", rng.laplace(size=QUERIES) * QUERIES * steep),
        summary("naive, shared", rng.laplace(size=QUERIES) * shared_from_below(matrix, space, rng)),
    ]
    if metric == "uniform":
        made, seconds = timed(lambda: textbook(matrix, counts, ROUNDS, epsilon, rng))
        rows.append(summary("textbook", matrix @ made - truth, seconds))
    for rounds, passes in ((ROUNDS, 0), (ROUNDS, 10), (3 * ROUNDS, 10)):
        made, seconds = timed(lambda: mwem(workload, counts, rounds, passes=passes))  # noqa: B023
        name = f"mwem, {rounds} rounds, {passes or 'no'} passes"
        rows.append(summary(name, made.answers - truth, seconds, bound=made.bound()))
    return [
        {"metric": metric, "epsilon": epsilon, "space s": making, "sensitivities s": proving, **row} for row in rows
    ]


def uniform_beside_textbook(seed: int, runs: int = 10) -> list[Row]:
    """The plain algorithm and the textbook's on the same data, over several runs: the same distribution of errors."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((200, 256)) < 0.5).astype(float)
    counts = rng.multinomial(20_000, rng.dirichlet(np.full(256, 0.1)))
    rows = []
    for epsilon in (0.5, 2.0):
        workload = Workload(matrix, mdp.Space(range(256), epsilon * discrete()))
        books = [np.abs(matrix @ (textbook(matrix, counts, 10, epsilon, rng) - counts)).max() for _ in range(runs)]
        row: Row = {"epsilon": epsilon, "textbook": np.mean(books), "textbook +-": np.std(books) / math.sqrt(runs)}
        books = [
            np.abs(matrix @ (textbook(matrix, counts, 10, epsilon, rng, True) - counts)).max() for _ in range(runs)
        ]
        row |= {"centred": np.mean(books), "centred +-": np.std(books) / math.sqrt(runs)}
        for name, passes in (("plain", 0), ("10 passes", 10)):
            ours = [measured_error(mwem(workload, counts, 10, passes=passes), counts).worst for _ in range(runs)]
            row |= {name: np.mean(ours), f"{name} +-": np.std(ours) / math.sqrt(runs)}
        rows.append({key: float(value) for key, value in row.items()})
    return rows


def bounds(seed: int) -> list[Row]:
    """What the theorems promise (beta = 1/20), beside the largest error of 20 runs on public data."""
    rng = np.random.default_rng(seed)
    rows = []
    for people_count, cells in ((10_000, 64), (1_000_000, 64)):
        counts = rng.multinomial(people_count, rng.dirichlet(np.full(cells, 0.2)))
        matrix = (rng.random((100, cells)) < 0.5).astype(float)
        workload = Workload(matrix, mdp.Space(range(cells), discrete()))
        for rounds in (5, 20, 80):
            plain = [mwem(workload, counts, rounds, passes=0) for _ in range(20)]
            passed = [mwem(workload, counts, rounds, passes=10) for _ in range(20)]
            rows.append({
                "mechanism": f"mwem, n = {people_count}, T = {rounds}", "theorem": "8", "bound": plain[0].bound(),
                "measured": max(measured_error(made, counts).worst for made in plain),
                "with passes": max(measured_error(made, counts).worst for made in passed),
            })  # fmt: skip
    for size in (4, 16, 64):
        matrix, counts = np.tril(np.ones((4, 4))), np.array([5_000, 1_000, 0, 4_000])
        workload = Workload(matrix, mdp.Space(range(4), discrete()))
        made = [small_database(workload, counts, size=size) for _ in range(20)]
        worst = max(measured_error(one, counts).worst for one in made)
        rows.append(
            {
                "mechanism": f"small database of {size}",
                "theorem": "Prop. 1",
                "bound": made[0].bound(),
                "measured": worst,
            }
        )
    scale, queries = 50.0, 100
    noise = np.abs(rng.laplace(size=(20, queries)) * scale).max()
    promised = scale * math.log(queries * 20)
    rows.append({"mechanism": "laplace, 100 queries", "theorem": "2.3", "bound": promised, "measured": float(noise)})
    return rows


def consistency(seed: int) -> list[Row]:
    """Noisy answers made consistent: errors before and after."""
    rng = np.random.default_rng(seed)
    rows = []
    for cells, queries in ((64, 200), (1000, 500), (10_000, 1000)):
        matrix = (rng.random((queries, cells)) < 0.5).astype(float)
        counts = rng.multinomial(20_000, rng.dirichlet(np.full(cells, 0.1)))
        scales = np.full(queries, float(queries))
        noisy = matrix @ counts + rng.laplace(size=queries) * scales
        workload = Workload(matrix, mdp.Space(range(cells), discrete()))
        made, seconds = timed(
            lambda: consistent(workload, noisy, scales, 20_000, guarantee=Guarantee(records(discrete())))  # noqa: B023
        )
        before = measured_error(noisy, counts, workload)
        after = measured_error(made, counts)
        rows.append({
            "cells": cells, "queries": queries, "mean before": before.mean, "mean after": after.mean,
            "worst before": before.worst, "worst after": after.worst, "gap": made.gap, "seconds": seconds,
        })  # fmt: skip
    return rows


def show(title: str, rows: list[Row]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[place]) for line in cells)) for place, column in enumerate(columns)]
    print(f"\n{title}")
    for line in [columns, *cells]:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["large", "textbook", "bounds", "consistency"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    tables: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "large": (
            f"{SIDE * SIDE} cells, {QUERIES} queries, {PEOPLE} records",
            lambda: [
                row
                for metric, epsilon in (("uniform", 1.0), ("uniform", 0.1), ("attributes", 0.5), ("manhattan", 0.1))
                for row in large(metric, chosen.seed, epsilon)
            ],
        ),
        "textbook": (
            "uniform metric, 256 cells, 200 queries: the largest error, mean of 10 runs",
            lambda: uniform_beside_textbook(chosen.seed),
        ),
        "bounds": ("bounds at 95% beside the largest error of 20 runs", lambda: bounds(chosen.seed)),
        "consistency": ("noisy answers made consistent", lambda: consistency(chosen.seed)),
    }
    results = {name: make() for name, (_, make) in tables.items() if chosen.only in (None, name)}
    if chosen.json:
        print(json.dumps(results, indent=1, default=float))
        return
    for name, rows in results.items():
        show(tables[name][0], rows)


if __name__ == "__main__":
    main()
