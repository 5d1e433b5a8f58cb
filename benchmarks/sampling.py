"""Samples per second: exact mechanisms beside naive numpy, OpenDP, diffprivlib and qif, in one process.

    make bench                                   # in an environment with all of them
    python benchmarks/sampling.py --json         # the same as JSON
    python benchmarks/sampling.py --seconds 0.2  # quicker and rougher

Every contestant adds noise of the same law, with epsilon = 1, to secrets it is handed. "naive" is numpy's generator in
floats: neither secure bits nor exact, the speed that anybody would get without caring. Each is given the batch sizes
that suit it, is warmed up, and repeated for about `--seconds` at each size, in three turns with the others; the best
repeat counts. The column "noise" is the mean size of the noise that came out: it shows that they do the same task.

The allocator of the C library learns from large arrays that are freed how much memory to keep; until it has, every
temporary array costs page faults. So ours and naive numpy are also measured on one large array in new processes, and
there the median process counts, because luck is part of what a user gets.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import math
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from contest import processor, say

import metricdp as mdp
from metricdp.exact import tally

OURS = "metricdp"
SAMPLES_IN_CONSTANT_MEMORY = 10**8
CHUNK = 10**6
LARGE = 10**7
TURNS = 3
PROCESSES = 7


Prepare = Callable[[int], tuple[Any, Callable[[], Any]]]


@dataclass(frozen=True)
class Contestant:
    """Somebody who can do a task.

    ``prepare(count)`` gives the secrets and a call that releases them. Only the call is timed.
    """

    name: str
    how: str
    sizes: tuple[int, ...]
    prepare: Prepare


@dataclass(frozen=True)
class Result:
    task: str
    name: str
    how: str
    per_second: float
    ours_is: float | None  # times as fast
    noise: float | None
    refined: float | None  # share of the draws that needed balls


# The tasks. Secrets are drawn outside the clock.

DISCRETE = "discrete Laplace (integers)"
LINE = "Laplace on the line"
PLANE = "planar Laplace"
ALONE = "ours alone"


def discrete() -> list[Contestant]:
    generator = np.random.default_rng()
    mechanism = mdp.geometric(1 * mdp.metrics.absolute())
    stop = 1 - math.exp(-1)

    def secrets(count: int) -> Any:
        return generator.integers(0, 1000, count)

    def ours(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: mechanism.release(x)

    def geometric(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: x + (generator.geometric(stop, count) - generator.geometric(stop, count))

    def rounded(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: x + np.rint(generator.laplace(0, 1, count)).astype(np.int64)

    return [
        Contestant(OURS, "geometric(absolute())", (10**6, 10**7), ours),
        Contestant("naive numpy", "difference of two Generator.geometric", (10**5, 10**6, 10**7), geometric),
        Contestant("naive numpy", "rint(Generator.laplace), another law", (10**5, 10**6, 10**7), rounded),
        *peer("opendp", "make_laplace, list of int", (10**3, 10**4), lambda dp: opendp(dp, int)),
        *peer(
            "diffprivlib",
            "Geometric.randomise, in a loop",
            (10**3, 10**4),
            lambda lib: diffprivlib(lib, "Geometric", 0),
        ),
    ]


def line() -> list[Contestant]:
    generator = np.random.default_rng()
    mechanism = mdp.laplace(1 * mdp.metrics.absolute())

    def secrets(count: int) -> Any:
        return generator.normal(0, 100, count)

    def ours(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: mechanism.release(x)

    def naive(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: x + generator.laplace(0, 1, count)

    return [
        Contestant(OURS, "laplace(absolute())", (10**6, 10**7), ours),
        Contestant("naive numpy", "x + Generator.laplace", (10**5, 10**6, 10**7), naive),
        *peer("opendp", "make_laplace, list of float", (10**3, 10**4), lambda dp: opendp(dp, float)),
        *peer(
            "diffprivlib", "Laplace.randomise, in a loop", (10**3, 10**4), lambda lib: diffprivlib(lib, "Laplace", 0.0)
        ),
    ]


def plane() -> list[Contestant]:
    generator = np.random.default_rng()
    mechanism = mdp.laplace(1 * mdp.metrics.euclidean(), dim=2)

    def secrets(count: int) -> Any:
        return generator.normal(0, 100, (count, 2))

    def ours(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)
        return x, lambda: mechanism.release(x)

    def naive(count: int) -> tuple[Any, Callable[[], Any]]:
        x = secrets(count)

        def sample() -> Any:
            radius, angle = generator.gamma(2, 1, count), generator.uniform(0, 2 * np.pi, count)
            return x + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)

        return x, sample

    def qif(library: Any) -> Prepare:
        draw = library.mechanism.geo_ind.planar_laplace_sample

        def prepare(count: int) -> tuple[Any, Callable[[], Any]]:
            x = secrets(count).tolist()

            def sample() -> Any:
                return [(first + (point := draw(1.0)).x, second + point.y) for first, second in x]

            return x, sample

        return prepare

    return [
        Contestant(OURS, "laplace(euclidean(), dim=2)", (10**5, 10**6, 5 * 10**6), ours),
        Contestant("naive numpy", "x + Generator.gamma(2) * (cos, sin)", (10**5, 10**6, 5 * 10**6), naive),
        *peer("qif", "planar_laplace_sample, in a loop", (10**4, 10**5), qif),
    ]


def alone() -> list[Contestant]:
    generator = np.random.default_rng()
    metrics = mdp.metrics

    def releasing(mechanism: Any, secrets: Callable[[int], Any]) -> Prepare:
        def prepare(count: int) -> tuple[Any, Callable[[], Any]]:
            x = secrets(count)
            return x, lambda: mechanism.release(x)

        return prepare

    def threads(count: int) -> tuple[Any, Callable[[], Any]]:
        mechanism, halves = mdp.laplace(1 * metrics.absolute()), np.array_split(generator.normal(0, 100, count), 2)
        pool = ThreadPoolExecutor(2)
        return halves, lambda: list(pool.map(mechanism.release, halves))

    def places(count: int) -> Any:
        return np.stack([generator.uniform(-85, 85, count), generator.uniform(-180, 180, count)], axis=1)

    sphere = mdp.laplace(metrics.great_circle().within(200))
    cube = mdp.laplace(1 * metrics.chebyshev(), dim=10)
    ball = mdp.laplace(1 * metrics.euclidean(), dim=10)
    response = mdp.randomized_response("abcd", 1)
    truncated = mdp.truncated_geometric(1 * metrics.absolute(), steps=100)
    cents = mdp.laplace(1 * metrics.absolute(), resolution="0.01")
    null = mdp.laplace(mdp.ln(2) / 10 * metrics.nullable(metrics.absolute(), 100), bounds=(0, 100))
    return [
        Contestant(OURS, "Laplace on the line, 2 threads", (4 * 10**6,), threads),
        Contestant(
            OURS, "Laplace on the line, in cents", (10**6,), releasing(cents, lambda n: generator.normal(0, 100, n))
        ),
        Contestant(
            OURS,
            "truncated geometric, k = 100",
            (10**6,),
            releasing(truncated, lambda n: generator.integers(0, 100, n)),
        ),
        Contestant(OURS, "sphere, within(200 m)", (10**6,), releasing(sphere, places)),
        Contestant(
            OURS, "L2 in 10 dimensions, points", (10**5,), releasing(ball, lambda n: generator.normal(size=(n, 10)))
        ),
        Contestant(
            OURS,
            "L-infinity in 10 dimensions, points",
            (10**5,),
            releasing(cube, lambda n: generator.normal(size=(n, 10))),
        ),
        Contestant(
            OURS,
            "randomized response, 4 values, list",
            (10**5,),
            releasing(response, lambda n: generator.choice(list("abcd"), n).tolist()),
        ),
        Contestant(
            OURS,
            "numbers or null, a third null",
            (10**5,),
            releasing(null, lambda n: np.where(np.arange(n) % 3, generator.uniform(0, 100, n), np.nan)),
        ),
    ]


TASKS = {DISCRETE: discrete, LINE: line, PLANE: plane}


# The peers.

missing: list[str] = []


def peer(module: str, how: str, sizes: tuple[int, ...], prepare: Callable[[Any], Prepare]) -> list[Contestant]:
    """A contestant from an optional library, or nobody."""
    try:
        library = importlib.import_module({"opendp": "opendp.prelude"}.get(module, module))
    except ImportError:
        if module not in missing:
            missing.append(module)
        return []
    return [Contestant(module, how, sizes, prepare(library))]


def opendp(dp: Any, kind: type) -> Prepare:
    dp.enable_features("contrib")
    atoms = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
    measurement = dp.m.make_laplace(dp.vector_domain(atoms), dp.l1_distance(T=kind), 1.0)

    def prepare(count: int) -> tuple[Any, Callable[[], Any]]:
        x = [kind(0)] * count
        return x, lambda: measurement(x)

    return prepare


def diffprivlib(library: Any, name: str, zero: Any) -> Prepare:
    mechanism = getattr(importlib.import_module("diffprivlib.mechanisms"), name)(epsilon=1, sensitivity=1)

    def prepare(count: int) -> tuple[Any, Callable[[], Any]]:
        return [zero] * count, lambda: [mechanism.randomise(zero) for _ in range(count)]

    return prepare


# Measuring.


def rate(contestant: Contestant, seconds: float) -> tuple[float, Any, Any]:
    """The best samples per second over all sizes and repeats, and one batch of secrets and releases."""
    best, secrets, released = 0.0, None, None
    for count in contestant.sizes:
        secrets, sample = contestant.prepare(count)
        released = sample()  # warm-up
        until = time.perf_counter() + seconds
        repeats = 0
        while repeats < 3 or time.perf_counter() < until:
            begin = time.perf_counter()
            sample()
            best = max(best, count / (time.perf_counter() - begin))
            repeats += 1
    return best, secrets, released


def mean_size(secrets: Any, released: Any) -> float:
    """The mean size of the noise, to see that all contestants add the same."""
    noise = np.asarray(released, dtype=np.float64) - np.asarray(secrets, dtype=np.float64)
    return float(np.abs(noise).mean() if noise.ndim == 1 else np.hypot(*noise.T).mean())


def run_task(task: str, contestants: list[Contestant], seconds: float) -> list[Result]:
    """All contestants, in turns, so that whatever else the machine does falls on all alike."""
    best = [0.0] * len(contestants)
    noise: list[float | None] = [None] * len(contestants)
    refined: list[float | None] = [None] * len(contestants)
    for turn in range(TURNS):
        for number, contestant in enumerate(contestants):
            say(f"{task}: {contestant.name}, {contestant.how} ({turn + 1} of {TURNS})")
            with tally() as count:
                per_second, secrets, released = rate(contestant, seconds / TURNS)
            best[number] = max(best[number], per_second)
            if task != ALONE:
                noise[number] = mean_size(secrets, released)
            if count.draws:
                refined[number] = count.refined / count.draws
    ours = best[0]
    return [
        Result(task, one.name, one.how, best[n], None if one.name == OURS else ours / best[n], noise[n], refined[n])
        for n, one in enumerate(contestants)
    ]


def stream() -> dict[str, float]:
    """Make 10^8 samples, a million at a time, and say how the peak of the memory grew after the first."""
    mechanism = mdp.laplace(1 * mdp.metrics.absolute())
    secrets = np.linspace(-1000, 1000, CHUNK)
    total = float(np.abs(mechanism.release(secrets) - secrets).sum())
    before = peak_megabytes()
    begin = time.perf_counter()
    for _ in range(SAMPLES_IN_CONSTANT_MEMORY // CHUNK - 1):
        total += float(np.abs(mechanism.release(secrets) - secrets).sum())
    seconds = time.perf_counter() - begin
    return {
        "samples": SAMPLES_IN_CONSTANT_MEMORY,
        "seconds": seconds,
        "peak_megabytes_before": before,
        "peak_megabytes_after": peak_megabytes(),
        "mean_noise": total / SAMPLES_IN_CONSTANT_MEMORY,
    }


def peak_megabytes() -> float:
    """The greatest memory that this program has held so far.

    Linux's own figure, because that of getrusage begins with the peak of whoever started the process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for row in status.read_text().splitlines():
            if row.startswith("VmHWM:"):
                return int(row.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def fresh(task: str, number: int) -> float:
    """One contestant on one large array, and nothing before it: what a script gets that does nothing else."""
    contestant = TASKS[task]()[number]
    return rate(replace(contestant, sizes=(LARGE,)), seconds=0)[0]


def run_fresh(task: str) -> list[Result]:
    """Ours and the first naive one, each in processes of their own: the median process counts, not the luckiest."""
    rates: tuple[list[float], list[float]] = ([], [])
    for turn in range(PROCESSES):
        for number in (0, 1):
            say(f"{task}: 10^7 at once in a new process ({turn + 1} of {PROCESSES})")
            rates[number].append(elsewhere(task, str(number)))
    medians = [statistics.median(one) for one in rates]
    results = []
    for number, contestant in enumerate(TASKS[task]()[:2]):
        how = f"slowest {min(rates[number]) / 1e6:.1f}, fastest {max(rates[number]) / 1e6:.1f}"
        times = None if number == 0 else medians[0] / medians[1]
        title = f"{task}, 10^7 at once, new process"
        results.append(Result(title, contestant.name, how, medians[number], times, None, None))
    return results


def elsewhere(*part: str) -> Any:
    """Run a part of this in a process of its own, which nothing else has warmed up or filled."""
    command = [sys.executable, __file__, "--part", *part]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def machine() -> dict[str, str]:
    names = ("metricdp", "numpy", "cryptography", "python-flint", "opendp", "diffprivlib", "qif")
    versions = {name: importlib.metadata.version(name) for name in names if installed(name)}
    return {"cpu": processor(), "python": platform.python_version(), **versions}


def installed(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


# Showing.


def show(facts: dict[str, Any], results: list[Result]) -> None:
    print(f"\nSamples per second on {facts['machine']['cpu']}")
    print(", ".join(f"{name} {version}" for name, version in facts["machine"].items() if name != "cpu"))
    if missing:
        print(f"not installed, so not measured: {', '.join(missing)}")
    for task in dict.fromkeys(result.task for result in results):
        heads = f"{'M/s':>9}{'ours is':>11}{'noise':>8}{'refined':>10}"
        print(f"\n{task:<56}{heads}\n{'-' * (56 + len(heads))}")
        for result in (one for one in results if one.task == task):
            who = result.how if task == ALONE else f"{result.name:<13} {result.how}"
            times = (
                ""
                if result.ours_is is None
                else f"{result.ours_is:,.2f}x"
                if result.ours_is < 10
                else f"{result.ours_is:,.0f}x"
            )
            noise = "" if result.noise is None else f"{result.noise:.3f}"
            refined = "" if result.refined is None else f"{result.refined:.1e}"
            print(f"{who:<56}{result.per_second / 1e6:>9.3f}{times:>11}{noise:>8}{refined:>10}")
    if "stream" in facts:
        figures = facts["stream"]
        print(
            f"\n{figures['samples']:,} exact samples of Laplace on the line, {CHUNK:,} at a time, in "
            f"{figures['seconds']:.1f} s:\npeak memory {figures['peak_megabytes_before']:.1f} MB after the first "
            f"chunk, {figures['peak_megabytes_after']:.1f} MB after the last"
        )
    print("\nours is: how many times as fast ours is. refined: the share of draws that float64 could not decide.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Samples per second, ours beside the peers.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant and size (default 1)")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        part, *number = arguments.part
        print(json.dumps(fresh(part, int(number[0])) if number else stream()))
        return
    results: list[Result] = []
    for task, contestants in TASKS.items():
        results += run_task(task, contestants(), arguments.seconds)
    results += run_task(ALONE, alone(), arguments.seconds)
    for task in TASKS:
        results += run_fresh(task)
    say(f"{SAMPLES_IN_CONSTANT_MEMORY:,} samples, {CHUNK:,} at a time")
    facts = {"machine": machine(), "missing": missing, "stream": elsewhere("stream")}
    if arguments.json:
        print(json.dumps({**facts, "results": [asdict(result) for result in results]}, indent=2))
    else:
        show(facts, results)


if __name__ == "__main__":
    main()
