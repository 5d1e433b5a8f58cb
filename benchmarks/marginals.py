"""All pairs of columns of 720 cells: noisy counts, made consistent, synthesized, by MWEM, and by mbi beside us.

    python benchmarks/marginals.py                                 # ours
    python benchmarks/marginals.py --mbi /tmp/mbi/bin/python       # with mbi, in an environment of its own

The table is made from a seed and public: 5 columns of 2, 3, 4, 5 and 6 values that go with one another, 5,000 people,
epsilon = 1 for each column. All but MWEM and "synthesize" start from the same noisy counts; "synthesize" measures anew.
Errors are the mean absolute error of a count, and its root mean square; seconds are processor time (mbi's without its
imports; its first run compiles).
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import metricdp as mdp
from metricdp.metrics import Guarantee, attributes, discrete, records
from metricdp.policies.policy import Policy
from metricdp.queries import synthesize
from metricdp.queries.synthetic_data.fitting import fit_marginals
from metricdp.queries.synthetic_data.mwem import mwem
from metricdp.queries.workloads.allocation import released
from metricdp.queries.workloads.consistent import consistent
from metricdp.queries.workloads.group_totals import Axis
from metricdp.queries.workloads.marginal_noise import allocate_marginals
from metricdp.queries.workloads.workload import Workload

SHAPE, PEOPLE, RUNS = (2, 3, 4, 5, 6), 5000, 10
PAIRS = list(itertools.combinations(range(len(SHAPE)), 2))
MBI = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
from mbi import Domain, LinearMeasurement, estimation
found = []
for task in json.load(sys.stdin):
    names = [str(place) for place in range(len(task["shape"]))]
    sets = [tuple(names[axis] for axis in one) for one in task["sets"]]
    measured = [LinearMeasurement(np.array(a), one, s) for one, a, s in zip(sets, task["noisy"], task["deviations"])]
    start = time.process_time()
    model = estimation.MirrorDescent().estimate(Domain(names, task["shape"]), measured, known_total=task["total"])
    counts = [np.asarray(model.project(one).datavector()).tolist() for one in sets]
    found.append({"counts": counts, "seconds": time.process_time() - start})
print(json.dumps(found))
"""


def people(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=PEOPLE)
    columns = []
    for size in SHAPE:
        mixed = common * rng.uniform(0.4, 1) + rng.normal(size=PEOPLE)
        columns.append(np.clip(np.floor(mixed * size / 5 + size / 2), 0, size - 1).astype(int))
    return columns


def marginal(columns: list[np.ndarray], chosen: tuple[int, ...]) -> np.ndarray:
    sizes = [SHAPE[axis] for axis in chosen]
    flat = np.ravel_multi_index([columns[axis] for axis in chosen], sizes)
    return np.bincount(flat, minlength=int(np.prod(sizes))).reshape(sizes)


def timed(make: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    start = time.process_time()
    made = make(*arguments, **options)
    return made, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mbi", metavar="PYTHON", help="the Python of an environment that has mbi")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    columns = people(options.seed)
    truth = [marginal(columns, pair) for pair in PAIRS]
    flat_truth = np.concatenate([one.ravel() for one in truth])
    axes = [Axis(range(size), discrete()) for size in SHAPE]
    noise = allocate_marginals(axes, PAIRS)
    points = list(itertools.product(*map(range, SHAPE)))
    space = mdp.Space(points, attributes({f"c{place}": discrete() for place in range(len(SHAPE))}))
    rows = [
        [int((point[i], point[j]) == cell) for point in points]
        for i, j in PAIRS
        for cell in itertools.product(range(SHAPE[i]), range(SHAPE[j]))
    ]
    workload = Workload(rows, space)
    table = pa.table({f"c{place}": column for place, column in enumerate(columns)})
    text = "".join(
        f'c{place} = {{type = "category", values = {list(range(size))}, epsilon = 1, missing = "refuse"}}\n'
        for place, size in enumerate(SHAPE)
    )
    policy = Policy.parse(f"format = 2\nrecords = {PEOPLE}\n[columns]\n{text}")
    counts = np.zeros(SHAPE, dtype=np.int64)
    np.add.at(counts, tuple(columns), 1)
    errors: dict[str, list[np.ndarray]] = {}
    seconds: dict[str, list[float]] = {}
    tasks = []

    def note(name: str, answers: np.ndarray, spent: float) -> None:
        errors.setdefault(name, []).append(np.asarray(answers).ravel() - flat_truth)
        seconds.setdefault(name, []).append(spent)

    for _ in range(options.runs):
        noisy = []
        for place, one in enumerate(truth):
            flat = [Fraction(int(value)) for value in one.ravel()]
            drawn = released([noise.mechanism(place, PEOPLE)] * len(flat), flat)
            noisy.append(np.array([value for value, _ in drawn]).reshape(one.shape))
        flat_noisy = np.concatenate([one.ravel() for one in noisy])
        scales = [scale for one, scale in zip(noisy, noise.scales, strict=True) for _ in range(one.size)]
        note("noisy counts", flat_noisy, 0.0)
        made, spent = timed(
            consistent, workload, flat_noisy, scales, PEOPLE, guarantee=Guarantee(records(space.metric))
        )
        note("consistent", made.answers, spent)
        fitted, spent = timed(fit_marginals, SHAPE, PAIRS, noisy, noise.scales, PEOPLE)
        note("fit on the junction tree", np.concatenate([fitted.counts(pair).ravel() for pair in PAIRS]), spent)
        rows_made, spent = timed(synthesize, table, policy)
        drawn_columns = [rows_made.table[f"c{place}"].to_numpy() for place in range(len(SHAPE))]
        note("synthesize, whole rows", np.concatenate([marginal(drawn_columns, p).ravel() for p in PAIRS]), spent)
        weighted, spent = timed(mwem, workload, counts.ravel())
        note("mwem", weighted.answers, spent)
        deviations = [2**0.5 * scale for scale in noise.scales]
        tasks.append({
            "shape": SHAPE, "sets": PAIRS, "noisy": [one.ravel().tolist() for one in noisy],
            "deviations": deviations, "total": PEOPLE,
        })  # fmt: skip
    if options.mbi:
        done = subprocess.run(
            [options.mbi, "-c", MBI], input=json.dumps(tasks), capture_output=True, text=True, check=True
        )
        for found in json.loads(done.stdout):
            note("mbi, mirror descent", np.concatenate([np.ravel(one) for one in found["counts"]]), found["seconds"])
    print(
        f"{len(PAIRS)} marginals of {np.prod(SHAPE)} cells, {PEOPLE:,} people, epsilon 1 a column, {options.runs} runs"
    )
    print(f"{'':26} {'mean error':>10} {'rms error':>10} {'seconds':>8}")
    for name, found in errors.items():
        each = np.array(found)
        print(
            f"{name:26} {np.abs(each).mean():10.2f} {np.sqrt((each**2).mean()):10.2f} {np.median(seconds[name]):8.2f}"
        )


if __name__ == "__main__":
    main()
