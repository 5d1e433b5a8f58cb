"""Channels and adversaries beside qif, in one process: verify, vulnerabilities, posteriors, refinement, releases.

    python benchmarks/channels.py                    # in an environment with both, see requirements.txt
    python benchmarks/channels.py --json             # the same as JSON
    python benchmarks/channels.py --only release     # one group of tasks

qif computes in floats, or in rationals where it is handed fractions; each row says which. Ours in floats is the float
view, ours exactly is integers. Both are handed the same channels, are warmed up, and are repeated in turns for about
`--seconds` each; the best repeat counts, and "ours is" tells how many times as fast the first row of a task is. The
answers are printed, so that one sees what the time was spent on. A summary follows: every comparison in one line, and
why ours is the slower one where it is.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np
from contest import OURS, Contestant, Result, Task, machine, run_task, say, show

import metricdp as mdp
from metricdp.adversaries import hyper, posterior, posterior_floats, posteriors, vulnerability
from metricdp.channels import Channel, of, refines, verify

try:
    import qif
except ImportError:
    qif = None

GENERATOR = np.random.default_rng(20260707)
MANY = 1000  # priors at once

SMALL = "a call of numpy costs more than the few numbers do, and there are several; give many priors at once"
PRODUCT = "the product by BLAS is most of our time; what is left to lose is the checks of the prior and the gains"
PASSES = "numpy writes all products and then reads them again; ours also checks the prior"
NO_PROOF = "it says yes or no in floats, and proves nothing"
ROUNDED = "floats, where ours is exact"

# Verification


def verification() -> list[Task]:
    return [_geometric(epsilon) for epsilon in (0.1, 1)]


def _geometric(epsilon: float) -> Task:
    metric = epsilon * mdp.metrics.absolute()
    mechanism, space = mdp.truncated_geometric(metric, steps=999), mdp.Space.line(1000, metric)
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
                why="floats underflow to zero at this epsilon, and its answer is infinity, which is wrong",
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
        tasks += _in_floats(f"{size}x{size}", channel, prior, gain)
        if size <= 100:
            tasks += _of_many(f"{size}x{size}", channel, GENERATOR.dirichlet(np.ones(size), MANY), gain)
    return tasks + _exactly(30)


def _in_floats(name: str, channel: Channel, prior: Any, gain: Any) -> list[Task]:
    matrix, small = channel.matrix, len(prior) < 100
    return [
        pair(
            f"g-vulnerability, {name}, {len(gain)} actions",
            ("vulnerability, floats", lambda: vulnerability(prior, channel, gain), repr),
            ("g_vuln.posterior, floats", lambda: qif.measure.g_vuln.posterior(gain, prior, matrix), repr),
            SMALL if small else PRODUCT,
        ),
        pair(
            f"the best guess, {name}",
            ("vulnerability, floats", lambda: vulnerability(prior, channel), repr),
            ("bayes_vuln.posterior, floats", lambda: qif.measure.bayes_vuln.posterior(prior, matrix), repr),
            SMALL if small else PASSES,
        ),
        pair(
            f"posteriors of all outputs, {name}",
            ("posterior_floats", lambda: posterior_floats(prior, channel), _corner),
            ("posteriors, floats", lambda: qif.channel.posteriors(matrix, prior), _corner),
            SMALL if small else PASSES,
        ),
    ]


def _of_many(name: str, channel: Channel, priors: Any, gain: Any) -> list[Task]:
    """For a thousand priors, as for a surface over the simplex; the time is for one."""
    matrix = channel.matrix
    return [
        pair(
            f"g-vulnerability, {name}, {len(gain)} actions, {MANY:,} priors",
            ("vulnerability of the array", lambda: vulnerability(priors, channel, gain), _last),
            (
                "g_vuln.posterior, in a loop",
                lambda: [qif.measure.g_vuln.posterior(gain, prior, matrix) for prior in priors],
                _last,
            ),
            PRODUCT,
            len(priors),
        ),
        pair(
            f"the best guess, {name}, {MANY:,} priors",
            ("vulnerability of the array", lambda: vulnerability(priors, channel), _last),
            (
                "bayes_vuln.posterior, in a loop",
                lambda: [qif.measure.bayes_vuln.posterior(prior, matrix) for prior in priors],
                _last,
            ),
            PASSES,
            len(priors),
        ),
        pair(
            f"posteriors of all outputs, {name}, {MANY:,} priors",
            ("posterior_floats of the array", lambda: posterior_floats(priors, channel), lambda made: _corner(made[0])),
            (
                "posteriors, in a loop",
                lambda: [qif.channel.posteriors(matrix, prior) for prior in priors],
                lambda made: _corner(made[0]),
            ),
            "most of our time goes into fresh memory for the results",
            len(priors),
        ),
    ]


def _exactly(size: int) -> list[Task]:
    """The same in exact numbers on both sides, with probabilities of 1/10^4."""
    channel, gains = _coarse(size, size), GENERATOR.integers(0, 100, (size, size))
    rows = np.array([[Fraction(weight, channel.total) for weight in row] for row in channel.weights.tolist()])
    whole = np.array([[Fraction(gain) for gain in row] for row in gains.tolist()])
    uniform, rounded = np.array([Fraction(1, size)] * size), np.full(size, 1 / size)
    name = f"{size}x{size}, exactly"
    title, hypers = pair(
        f"the hyper, {name}",
        ("hyper", lambda: hyper("uniform", channel), lambda made: f"{len(made)} posteriors"),
        (
            "hyper, rationals",
            lambda: qif.channel.hyper(rows, uniform),
            lambda made: f"{np.size(made[0])} posteriors",
        ),
    )
    in_floats = peer(
        "hyper, floats",
        lambda: qif.channel.hyper(channel.matrix, rounded),
        lambda made: f"{np.size(made[0])} posteriors",
        why=ROUNDED,
    )
    return [
        pair(
            f"g-vulnerability, {name}",
            ("exact=True", lambda: vulnerability("uniform", channel, gains, exact=True), _short),
            ("g_vuln.posterior, rationals", lambda: qif.measure.g_vuln.posterior(whole, uniform, rows), _short),
        ),
        pair(
            f"one posterior, {name}",
            ("posterior", lambda: posterior("uniform", channel, 3), lambda belief: _short(belief.fractions[0])),
            (
                "posterior, rationals",
                lambda: qif.channel.posterior(rows, uniform, 3),
                lambda belief: _short(np.ravel(belief)[0]),
            ),
        ),
        pair(
            f"posteriors of all outputs, {name}",
            ("posteriors", lambda: posteriors("uniform", channel), lambda made: f"{len(made)} of them"),
            (
                "posteriors, rationals",
                lambda: qif.channel.posteriors(rows, uniform),
                lambda made: f"{len(made)} of them",
            ),
        ),
        (title, [*hypers, *in_floats]),
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
                        *peer(
                            "refined_by, floats", lambda a=matrices: qif.refinement.refined_by(*a), str, why=NO_PROOF
                        ),
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


def peer(
    how: str, call: Callable[[], Any], answer: Any = lambda result: "", count: int = 1, why: str = ""
) -> list[Contestant]:
    """qif, if it is there."""
    return [Contestant("qif", how, call, answer, count, why)] if qif else []


Way = tuple[str, Callable[[], Any], Callable[[Any], str]]
"""How, the call, and what to print of its result."""


def pair(title: str, ours: Way, theirs: Way, why: str = "", count: int = 1) -> Task:
    """One task, done by both; ``why`` ours may be the slower."""
    return title, [Contestant(OURS, *ours, count), *peer(*theirs, count, why)]


def _corner(posteriors: Any) -> str:
    return f"first {np.asarray(posteriors)[0, 0]:.6g}"


def _last(values: Any) -> str:
    return f"last {values[-1]:.12g}"


def _short(number: Any) -> str:
    return f"{float(number):.12g}"


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
        show("Channels and adversaries", "qif", machine(), results)


if __name__ == "__main__":
    main()
