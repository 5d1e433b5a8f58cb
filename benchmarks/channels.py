"""Channels and adversaries beside qif, in one process: verify, vulnerabilities, posteriors, refinement, releases.

    python benchmarks/channels.py                    # in an environment with both, see requirements.txt
    python benchmarks/channels.py --json             # the same as JSON
    python benchmarks/channels.py --only release     # one group of tasks

qif computes in floats, or in rationals where it is handed fractions; each row says which. Ours in floats is the float
view, ours exactly is integers. Both are handed the same channels, are warmed up, and are repeated in turns for about
`--seconds` each; the best repeat counts, and "ours is" tells how many times as fast the first row of a task is. The
answers are printed, so that one sees what the time was spent on.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.adversaries import hyper, posterior, posterior_floats, posteriors, vulnerability
from metricdp.channels import Channel, of, refines, verify

try:
    import qif
except ImportError:
    qif = None

OURS = "metricdp"
SLOW = 0.5  # seconds after which a call is not repeated more than once
TURNS = 3
GENERATOR = np.random.default_rng(20260707)


@dataclass(frozen=True)
class Contestant:
    """Somebody who can do a task; ``count`` is how many times over one call does it."""

    name: str
    how: str
    call: Callable[[], Any]
    answer: Callable[[Any], str] = lambda result: ""
    count: int = 1


@dataclass(frozen=True)
class Result:
    task: str
    name: str
    how: str
    seconds: float  # for one
    ours_is: float | None  # times as fast
    answer: str


Task = tuple[str, list[Contestant]]


# Verification


def verification() -> list[Task]:
    return [_geometric(epsilon) for epsilon in (0.1, 1)]


def _geometric(epsilon: float) -> Task:
    metric = epsilon * mdp.metrics.absolute()
    mechanism, space = mdp.truncated_geometric(metric, k=999), mdp.Space.line(1000, metric)
    say(f"verify: building the channel of 1,000 points at epsilon {epsilon}")
    begin = time.perf_counter()
    channel = of(mechanism, range(1000))
    built = time.perf_counter() - begin
    matrix = channel.matrix
    title = f"verify a truncated geometric, 1,000 points, epsilon = {epsilon} (built in {built:.1f} s)"
    contestants = [
        Contestant(OURS, "verify, exactly", lambda: verify(channel, space), lambda verdict: _words(verdict, epsilon))
    ]
    if qif:
        distance = qif.metric.euclidean(qif.uint)  # its own, in C++; a Python function takes far longer
        contestants.append(
            Contestant(
                "qif",
                "smallest_epsilon, floats",
                lambda: qif.measure.d_privacy.smallest_epsilon(matrix, distance),
                repr,
            )
        )
    return title, contestants


def _words(verdict: Any, epsilon: float) -> str:
    below, above = verdict.scale_below * epsilon, verdict.scale * epsilon
    return f"{'proved' if verdict else 'refuted'}, epsilon in [{below!r}, {above!r}]"


# What is learned


def adversaries() -> list[Task]:
    tasks = []
    for size in (10, 100, 400):
        channel, prior, gain = _random(size)
        matrix = channel.matrix
        name = f"{size}x{size}"
        tasks += [
            (
                f"g-vulnerability, {name}, {size} actions",
                [
                    Contestant(OURS, "vulnerability, floats", lambda a=(prior, channel, gain): vulnerability(*a), repr),
                    *peer(
                        "g_vuln.posterior, floats",
                        lambda a=(gain, prior, matrix): qif.measure.g_vuln.posterior(*a),
                        repr,
                    ),
                ],
            ),
            (
                f"the best guess, {name}",
                [
                    Contestant(OURS, "vulnerability, floats", lambda a=(prior, channel): vulnerability(*a), repr),
                    *peer(
                        "bayes_vuln.posterior, floats",
                        lambda a=(prior, matrix): qif.measure.bayes_vuln.posterior(*a),
                        repr,
                    ),
                ],
            ),
            (
                f"posteriors of all outputs, {name}",
                [
                    Contestant(OURS, "posterior_floats", lambda a=(prior, channel): posterior_floats(*a), _corner),
                    *peer("posteriors, floats", lambda a=(matrix, prior): qif.channel.posteriors(*a), _corner),
                ],
            ),
        ]
    return tasks + _exactly(30)


def _exactly(size: int) -> list[Task]:
    """The same in exact numbers on both sides, with probabilities of 1/10^4."""
    channel, gains = _coarse(size, size), GENERATOR.integers(0, 100, (size, size))
    rows = np.array([[Fraction(weight, channel.total) for weight in row] for row in channel.weights.tolist()])
    whole = np.array([[Fraction(gain) for gain in row] for row in gains.tolist()])
    uniform, rounded = np.array([Fraction(1, size)] * size), np.full(size, 1 / size)
    name = f"{size}x{size}, exactly"
    return [
        (
            f"g-vulnerability, {name}",
            [
                Contestant(OURS, "exact=True", lambda: vulnerability("uniform", channel, gains, exact=True), _short),
                *peer(
                    "g_vuln.posterior, rationals", lambda: qif.measure.g_vuln.posterior(whole, uniform, rows), _short
                ),
            ],
        ),
        (
            f"one posterior, {name}",
            [
                Contestant(
                    OURS,
                    "posterior",
                    lambda: posterior("uniform", channel, 3),
                    lambda belief: _short(belief.fractions[0]),
                ),
                *peer(
                    "posterior, rationals",
                    lambda: qif.channel.posterior(rows, uniform, 3),
                    lambda belief: _short(np.ravel(belief)[0]),
                ),
            ],
        ),
        (
            f"posteriors of all outputs, {name}",
            [
                Contestant(
                    OURS, "posteriors", lambda: posteriors("uniform", channel), lambda made: f"{len(made)} of them"
                ),
                *peer(
                    "posteriors, rationals",
                    lambda: qif.channel.posteriors(rows, uniform),
                    lambda made: f"{len(made)} of them",
                ),
            ],
        ),
        (
            f"the hyper, {name}",
            [
                Contestant(OURS, "hyper", lambda: hyper("uniform", channel), lambda made: f"{len(made)} posteriors"),
                *peer(
                    "hyper, rationals",
                    lambda: qif.channel.hyper(rows, uniform),
                    lambda made: f"{np.size(made[0])} posteriors",
                ),
                *peer(
                    "hyper, floats",
                    lambda: qif.channel.hyper(channel.matrix, rounded),
                    lambda made: f"{np.size(made[0])} posteriors",
                ),
            ],
        ),
    ]


# Refinement


def refinement() -> list[Task]:
    tasks = []
    for size, outputs in ((10, 10), (10, 20), (20, 20), (20, 40)):
        before, after, other = _coarse(size, outputs), _coarse(outputs, size), _coarse(size, size)
        made = before @ after
        for title, candidate in (("a post-processing", made), ("not a post-processing", other)):
            matrices = before.matrix, candidate.matrix
            tasks.append(
                (
                    f"refinement of {size}x{outputs} by {size}x{size}: {title}",
                    [
                        Contestant(
                            OURS,
                            "refines, with an exact proof",
                            lambda a=(candidate, before): refines(*a),
                            lambda found: str(bool(found)),
                        ),
                        *peer("refined_by, floats", lambda a=matrices: qif.refinement.refined_by(*a), str),
                        *peer(
                            "refined_by_witness, floats",
                            lambda a=matrices: qif.refinement.refined_by_witness(*a),
                            lambda found: str(found[0]),
                        ),
                    ],
                )
            )
    small, more = _coarse(5, 8), _coarse(8, 5)
    made = small @ more
    fractions = [
        np.array([[Fraction(weight, one.total) for weight in row] for row in one.weights.tolist()])
        for one in (small, made)
    ]
    tasks.append(
        (
            "refinement of 5x8 by 5x5: a post-processing, exactly",
            [
                Contestant(OURS, "refines", lambda: refines(made, small), lambda found: str(bool(found))),
                *peer("refined_by, rationals", lambda: qif.refinement.refined_by(*fractions), str),
            ],
        )
    )
    return tasks


# Releases


def releases() -> list[Task]:
    size, many, few = 100, 10**6, 10**4
    channel, _, _ = _random(size)
    matrix = channel.matrix
    words = tuple(f"place {number}" for number in range(size))
    named = Channel(words, words, channel.weights, channel.total)
    secrets = GENERATOR.integers(0, size, many)
    listed, text = secrets.tolist(), [words[place] for place in secrets.tolist()]
    some = listed[:few]
    uniform = np.full(size, 1 / size)
    return [
        (
            "release from a 100x100 channel, for one secret",
            [
                Contestant(OURS, "release, an array of 10^6", lambda: channel.release(secrets), count=many),
                Contestant(OURS, "release, a list of 10^6", lambda: channel.release(listed), count=many),
                Contestant(OURS, "release, a list of 10^6 words", lambda: named.release(text), count=many),
                Contestant(OURS, "release_places, 10^6 rows", lambda: channel.release_places(secrets), count=many),
                *peer(
                    "probab.sample(C[x]), in a loop", lambda: [qif.probab.sample(matrix[x]) for x in some], count=few
                ),
                *peer(
                    "probab.sample(C[x], count), row by row",
                    lambda: _row_by_row(matrix, secrets),
                    count=many,
                ),
                *peer(
                    "channel.sample, which picks secrets too",
                    lambda: qif.channel.sample(matrix, uniform, many),
                    count=many,
                ),
                Contestant(
                    "naive numpy",
                    "Generator.choice(p=C[x]), in a loop",
                    lambda: [GENERATOR.choice(size, p=matrix[x]) for x in some],
                    count=few,
                ),
                Contestant(
                    "naive numpy", "uniforms among cumulative sums", lambda: _by_sums(matrix, secrets), count=many
                ),
            ],
        )
    ]


def _row_by_row(matrix: Any, secrets: Any) -> Any:
    order = np.argsort(secrets, kind="stable")
    drawn = np.empty(len(secrets), dtype=np.int64)
    start = 0
    for row, count in enumerate(np.bincount(secrets, minlength=len(matrix)).tolist()):
        drawn[order[start : start + count]] = qif.probab.sample(matrix[row], count)
        start += count
    return drawn


def _by_sums(matrix: Any, secrets: Any) -> Any:
    sums = np.cumsum(matrix, axis=1)
    drawn = np.empty(len(secrets), dtype=np.int64)
    for start in range(0, len(secrets), 10**4):
        rows = secrets[start : start + 10**4]
        drawn[start : start + len(rows)] = (sums[rows] < GENERATOR.random(len(rows))[:, None]).sum(axis=1)
    return drawn


TASKS: dict[str, Callable[[], list[Task]]] = {
    "verify": verification,
    "adversaries": adversaries,
    "refinement": refinement,
    "release": releases,
}


# Channels at random, the same for all


def _random(size: int) -> tuple[Channel, Any, Any]:
    """A channel of floats, a prior and gains."""
    matrix = GENERATOR.dirichlet(np.ones(size), size)
    channel = Channel.from_matrix(range(size), range(size), matrix)
    return channel, GENERATOR.dirichlet(np.ones(size)), GENERATOR.random((size, size))


def _coarse(inputs: int, outputs: int) -> Channel:
    """A channel of multiples of 1/10^4."""
    weights = GENERATOR.multinomial(10**4, GENERATOR.dirichlet(np.ones(outputs), inputs))
    return Channel(range(inputs), range(outputs), weights.tolist(), 10**4)


def peer(how: str, call: Callable[[], Any], answer: Any = lambda result: "", count: int = 1) -> list[Contestant]:
    """qif, if it is there."""
    return [Contestant("qif", how, call, answer, count)] if qif else []


def _corner(posteriors: Any) -> str:
    return f"first {np.asarray(posteriors)[0, 0]:.6g}"


def _short(number: Any) -> str:
    return f"{float(number):.12g}"


# Measuring


def run_task(title: str, contestants: list[Contestant], seconds: float) -> list[Result]:
    """All contestants, in turns, so that whatever else the machine does falls on all alike."""
    best = [math.inf] * len(contestants)
    answers = [""] * len(contestants)
    for turn in range(TURNS):
        for number, one in enumerate(contestants):
            say(f"{title}: {one.name}, {one.how} ({turn + 1} of {TURNS})")
            if turn and best[number] * one.count > SLOW * TURNS:
                continue
            until = time.perf_counter() + seconds / TURNS
            repeats = 0
            while repeats < 2 or time.perf_counter() < until:
                begin = time.perf_counter()
                result = one.call()
                best[number] = min(best[number], (time.perf_counter() - begin) / one.count)
                repeats += 1
                if best[number] * one.count > SLOW:
                    break
            answers[number] = one.answer(result)
    ours = best[0]
    return [
        Result(title, one.name, one.how, best[n], None if one.name == OURS else best[n] / ours, answers[n])
        for n, one in enumerate(contestants)
    ]


def machine() -> dict[str, str]:
    facts = {"cpu": processor(), "python": platform.python_version()}
    for name in ("metricdp", "numpy", "python-flint", "highspy", "qif"):
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = "not installed"
    return facts


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for row in info.read_text().splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def say(words: str) -> None:
    print(f"  .. {words}", file=sys.stderr, flush=True)


# Showing


def show(facts: dict[str, str], results: list[Result]) -> None:
    print(f"\nChannels and adversaries on {facts['cpu']}")
    print(", ".join(f"{name} {version}" for name, version in facts.items() if name != "cpu"))
    for task in dict.fromkeys(result.task for result in results):
        print(f"\n{task:<70}{'time':>10}{'ours is':>10}   answer\n{'-' * 120}")
        for result in (one for one in results if one.task == task):
            times = "" if result.ours_is is None else f"{result.ours_is:,.2f}x"
            who = f"{result.name:<13} {result.how}"
            print(f"{who:<70}{duration(result.seconds):>10}{times:>10}   {result.answer}".rstrip())
    print("\nours is: how many times as fast the first row of the task is. time: for one, the best repeat.")


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description="Channels and adversaries, ours beside qif.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant (default 1)")
    parser.add_argument("--only", choices=tuple(TASKS), help="one group of tasks")
    arguments = parser.parse_args()
    results: list[Result] = []
    for group in [arguments.only] if arguments.only else TASKS:
        for title, contestants in TASKS[group]():
            results += run_task(title, contestants, arguments.seconds)
    if arguments.json:
        print(json.dumps({"machine": machine(), "results": [asdict(result) for result in results]}, indent=2))
    else:
        show(machine(), results)


if __name__ == "__main__":
    main()
