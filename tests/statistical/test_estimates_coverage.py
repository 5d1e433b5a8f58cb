"""Intervals hold the truth as often as they say: few repeats here, and a table of many with ``make coverage``.

METRICDP_COVERAGE is the number of processor seconds that the table may take.
"""

import math
import os
import time

import numpy as np
import pyarrow as pa

import metricdp as mdp
from metricdp.estimates import Correlation, Regression, estimate
from metricdp.tables import sanitize

SECONDS = float(os.environ.get("METRICDP_COVERAGE", "0"))
POLICY = {
    "format": 2,
    "columns": {
        "income": {"type": "number", "within": 500, "bounds": [0, 20000], "outside": "clamp", "missing": "refuse"},
        "delay": {"type": "number", "within": 10},
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "missing": "refuse"},
        "score": {"type": "number", "within": 10, "bounds": [0, 100], "resolution": 0.1, "missing": "secret"},
        "health": {"type": "category", "values": ["good", "fair", "poor"], "factor": 4, "missing": "refuse"},
        "smokes": {"type": "boolean", "factor": 3, "missing": "refuse"},
    },
}
QUESTIONS = {
    "mean, clamped": ("select avg(income)", lambda t: np.clip(t["income"], 0, 20000).mean()),
    "mean, unbounded": ("select avg(delay)", lambda t: t["delay"].mean()),
    "mean, integers": ("select avg(age)", lambda t: t["age"].mean()),
    "mean, secret nulls": ("select avg(score)", lambda t: np.nanmean(t["score"])),
    "nulls": ("select count(*) where score is null", lambda t: np.isnan(t["score"]).sum()),
    "category": ("select count(*) where health = 'fair'", lambda t: (t["health"] == "fair").sum()),
    "two columns": (
        "select count(*) where health = 'good' and smokes = true",
        lambda t: ((t["health"] == "good") & t["smokes"]).sum(),
    ),
    "group mean": (
        "select avg(income) where smokes = true",
        lambda t: np.clip(t["income"], 0, 20000)[t["smokes"]].mean(),
    ),
    "threshold": ("select count(*) where delay > 15", lambda t: (t["delay"] > 15).sum()),
    "integer threshold": ("select count(*) where age >= 40", lambda t: (t["age"] >= 40).sum()),
    "median": ("select median(age)", lambda t: np.sort(t["age"])[(len(t["age"]) - 1) // 2]),
    "correlation": (
        Correlation("delay", "income"),
        lambda t: np.corrcoef(t["delay"], np.clip(t["income"], 0, 20000))[0, 1],
    ),
    "slope": (Regression("delay", ["age"]), lambda t: np.polyfit(t["age"], t["delay"], 1)[0]),
}
QUICK = ("mean, clamped", "mean, secret nulls", "category", "two columns", "slope")


def table(random, rows):
    age = np.minimum(random.gamma(4, 9, rows), 90).astype(np.int64)
    score = np.round(random.beta(5, 2, rows) * 100, 1)
    score[random.random(rows) < 0.2] = np.nan
    delay = random.exponential(20, rows) - 15 + 0.3 * age
    return {
        "income": random.lognormal(8.5, 0.8, rows) + 40 * delay,
        "delay": delay,
        "age": age,
        "score": score,
        "health": random.choice(["good", "fair", "poor"], rows, p=[0.6, 0.3, 0.1]),
        "smokes": random.random(rows) < 0.25,
    }


def held(found, truth, name):
    one = found["slope of age"][0] if name == "slope" else found.only
    return one.interval[0] <= truth + 1e-9 and truth - 1e-9 <= one.interval[1]


def repeat(seed, rows, names):
    secret = table(np.random.default_rng(seed), rows)
    arrow = pa.table({**secret, "score": pa.array(secret["score"], from_pandas=True)})
    with mdp.seeded(seed):
        released = sanitize(arrow, POLICY).table
    return {name: held(estimate(released, QUESTIONS[name][0]), QUESTIONS[name][1](secret), name) for name in names}


def enough(hits, repeats, cells):
    """At least 95% less three standard errors, and one more for each tenfold number of cells that are looked at."""
    return hits >= repeats * 0.95 - (3 + math.log10(cells)) * math.sqrt(repeats * 0.95 * 0.05)


def test_few_repeats_hold_the_truth_often_enough():
    repeats, hits = 20, dict.fromkeys(QUICK, 0)
    for seed in range(repeats):
        for name, inside in repeat(seed, 1000, QUICK).items():
            hits[name] += inside
    assert all(enough(found, repeats, len(QUICK)) for found in hits.values()), hits


if SECONDS:  # make coverage

    def test_the_table_of_coverage():
        lines, missed = ["| question | rows | repeats | held |", "| --- | --- | --- | --- |"], []
        for rows, share in ((1000, 0.35), (10_000, 0.3), (100_000, 0.35)):
            hits, repeats, began = dict.fromkeys(QUESTIONS, 0), 0, time.process_time()
            while time.process_time() - began < share * SECONDS:
                for name, inside in repeat(10_000 + repeats, rows, QUESTIONS).items():
                    hits[name] += inside
                repeats += 1
            for name, found in hits.items():
                lines.append(f"| {name} | {rows:,} | {repeats} | {found / repeats:.1%} |")
                if not enough(found, repeats, 3 * len(QUESTIONS)):
                    missed.append(lines[-1])
        print("\n" + "\n".join(lines))
        assert not missed, "\n".join(missed)
