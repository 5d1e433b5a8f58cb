"""Every point of a square a secret: the loss of our mechanism beside a lower bound for every private one.

    python benchmarks/between.py             # eight levels, a uniform and a skewed prior
    python benchmarks/between.py --pairs 0   # without the cross-check

The square has side 1; a level of 4 means that two opposite sides are 4 apart. The loss is the Euclidean distance. The
skewed prior has a density that is constant on 15 x 15 cells: four Gaussian towns on a plain, times factors drawn from a
Pareto law of index 1.1 for each of 5 x 5 blocks; made by a fixed seed. "ratio" is loss over bound, both proved; "level"
is the proved one over the one asked for. As a cross-check, pairs of points off the middles: some in exact arithmetic,
more in floats, whose largest change of a logarithm over the distance, less what floats can add to it, is shown as a
share of the level proved; it must not exceed 1. Seconds are of processor time, for all of mechanism, proof and bound.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

import metricdp as mdp
from metricdp.design import Continuous, continuous
from metricdp.exact.balls import ball, enclose

LEVELS = (1, 2, 3, 4, 5, 6, 8, 10)
SIDE = 15
LIMIT = 16  # seconds
BLOCK = 5000
FINE = 1 << 24


def skewed() -> np.ndarray:
    draws = np.random.default_rng(1)
    middles = (np.arange(SIDE) + 0.5) / SIDE
    x, y = np.meshgrid(middles, middles, indexing="ij")
    density = np.full((SIDE, SIDE), 0.05)
    for _ in range(4):
        a, b = draws.uniform(0.1, 0.9, 2)
        width = draws.uniform(0.06, 0.2)
        density += draws.uniform(0.5, 2) * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * width**2)) / width
    factors = np.random.default_rng(101).pareto(1.1, (5, 5)) + 1
    density *= np.kron(factors, np.ones((SIDE // 5, SIDE // 5)))
    return density / density.sum()


def weights(mechanism: Continuous, values: np.ndarray, axis: int) -> np.ndarray:
    """Probability of each cell along a coordinate, for values of it."""
    count = mechanism.shape[axis]
    along = values * count
    own = np.minimum(along.astype(int), count - 1)
    t = along - own
    rows, table = np.arange(len(values)), np.zeros((len(values), count))
    for step, share in ((-1, (1 - t) ** 2 / 2), (0, 0.5 + t - t * t), (1, t * t / 2)):
        np.add.at(table, (rows, np.clip(own + step, 0, count - 1)), share)
    return table


def probabilities(mechanism: Continuous, points: np.ndarray) -> np.ndarray:
    first, second = (weights(mechanism, points[:, axis], axis) for axis in (0, 1))
    cells = (first[:, :, None] * second[:, None, :]).reshape(len(points), -1)
    matrix = mechanism.channel.matrix
    return cells @ matrix[:, matrix.max(axis=0) > 0]  # outputs that are never released tell nothing


def partners(draws: np.random.Generator, points: np.ndarray, level: float) -> np.ndarray:
    """Others, half of them nearby."""
    far = draws.uniform(0, 1, points.shape)
    angle, length = draws.uniform(0, 2 * np.pi, len(points)), draws.uniform(0.01, 0.2, len(points)) / level
    near = points + length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    near = np.clip(near, 0, 1)
    return np.where((np.arange(len(points)) % 2)[:, None] == 1, near, far)


def worst_in_floats(mechanism: Continuous, count: int) -> float:
    """The largest change of a logarithm over the distance, less what floats may add to it, over the level."""
    draws, level, worst = np.random.default_rng(7), float(mechanism.level), 0.0
    error = 2.0**-40  # of a logarithm: each probability is a sum of some hundred positive terms
    for start in range(0, count, BLOCK):
        points = draws.uniform(0, 1, (min(BLOCK, count - start), 2))
        others = partners(draws, points, level)
        apart = np.linalg.norm(points - others, axis=1)
        ratios = probabilities(mechanism, points) / probabilities(mechanism, others)
        changes = np.log(np.maximum(ratios.max(axis=1), 1 / ratios.min(axis=1))) - error
        some = apart > 1e-6
        worst = np.maximum(worst, float((changes[some] / (apart[some] * (1 + error))).max()) / level)
    return float(worst)


def broken_exactly(mechanism: Continuous, count: int) -> int:
    """How many of some pairs of points break the promise, in exact arithmetic."""
    draws, level = np.random.default_rng(8), mechanism.level
    points = np.round(draws.uniform(0, 1, (count, 2)) * FINE) / FINE
    others = np.round(partners(draws, points, float(level)) * FINE) / FINE
    rows, broken, scale = mechanism.channel.weights, 0, 1 << 80
    for one, two in zip(points.tolist(), others.tolist(), strict=True):
        first, second = (
            sum(int(share * 4 * FINE**4) * rows[place] for place, share in mechanism._shares(exact(point)))
            for point in (one, two)
        )
        squared = sum((a - b) ** 2 for a, b in zip(exact(one), exact(two), strict=True))
        least = enclose(lambda squared=squared: (ball(level) * ball(squared).sqrt()).exp(), 128).lower
        allowed = int(least * scale)
        broken += bool((first * scale > second * allowed).any() or (second * scale > first * allowed).any())
    return broken


def exact(point: list[float]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, point))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--priors", nargs="+", default=["uniform", "skewed"], choices=["uniform", "skewed"])
    parser.add_argument("--levels", nargs="+", type=int, default=LEVELS)
    parser.add_argument("--pairs", type=int, default=10**6, help="pairs of points in floats; a hundredth of it exactly")
    chosen = parser.parse_args()
    print("prior    level  cells  seconds  loss x level  bound x level  ratio  level kept", end="")
    print("  floats: worst  exactly: broken" if chosen.pairs else "")
    for name in chosen.priors:
        prior = "uniform" if name == "uniform" else skewed()
        for level in chosen.levels:
            start = time.process_time()
            found = continuous(level * mdp.metrics.euclidean(), ((0, 1), (0, 1)), prior, time_limit=LIMIT)
            seconds = time.process_time() - start
            print(
                f"{name:8} {level:5}  {found.shape[0]:2}x{found.shape[1]:<2}  {seconds:7.1f}"
                f"  {found.loss * level:12.4f}  {found.bound * level:13.4f}"
                f"  {found.loss / found.bound:5.3f}  {float(found.level) / level:10.4f}",
                end="",
                flush=True,
            )
            if chosen.pairs:
                worst, broken = worst_in_floats(found, chosen.pairs), broken_exactly(found, chosen.pairs // 100)
                print(f"  {worst:13.4f}  {broken} of {chosen.pairs // 100}", end="")
            print(flush=True)


if __name__ == "__main__":
    main()
