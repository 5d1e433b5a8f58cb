"""Every estimator on every treatment of a policy, with the truth that its interval should hold.

``python -m tests.statistical.coverage_cases SECONDS [FILE]`` makes docs/coverage.md: it repeats each of them as often
as fits. FILE keeps the counts, to go on with them another time.
"""

import datetime as dt
import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa

import metricdp as mdp
from metricdp.estimates import Correlation, LogisticRegression, MeanCurve, Regression, TopElements, estimate
from metricdp.tables import sanitize

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
SIZES = (1_000, 10_000, 100_000)
DEAR = 8
"""Questions that take longer are asked of each table of so many."""
HEALTH = ["good", "fair", "poor"]
HOBBIES = ["chess", "golf", "jazz", "opera", "sailing"]
HABITS = [0.5, 0.3, 0.15, 0.1, 0.02]
READINGS = 4
POLICY = {
    "format": 2,
    "columns": {
        "site": "keep",
        "income": {"type": "number", "within": 500, "bounds": [0, 20000], "outside": "clamp", "missing": "refuse"},
        "delay": {"type": "number", "within": 10},
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "missing": "refuse"},
        "visits": {"type": "integer", "within": 2},
        "born": {"type": "date", "within": "30 days"},
        "took": {"type": "duration", "within": "5 min"},
        "shift": {"type": "time_of_day", "within": "20 min", "missing": "refuse"},
        "score": {"type": "number", "within": 10, "bounds": [0, 100], "resolution": 0.1, "missing": "secret"},
        "paid": {"type": "number", "within": 5, "missing": "public"},
        "risk": {"type": "number", "metric": "2 discrete", "bounds": [0, 1], "delta": 0.01, "missing": "refuse"},
        "health": {"type": "category", "values": HEALTH, "factor": 4, "missing": "refuse"},
        "job": {"type": "category", "values": ["a", "b"], "epsilon": 1, "delta": 0.01, "missing": "refuse"},
        "area": {
            "type": "category",
            "parents": {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "north": "all", "south": "all"},
            "within": 1,
            "missing": "secret",
        },
        "smokes": {"type": "boolean", "factor": 3, "missing": "refuse"},
        "hobbies": {"type": "set", "values": HOBBIES, "factor": 9},
        "load": {"type": "series", "length": READINGS, "within": 2, "resolution": 0.001},
    },
}


def secrets(random, rows):
    """The secrets of one table, as plain arrays."""
    age = np.minimum(random.gamma(4, 9, rows), 90).astype(np.int64)
    score = np.round(random.beta(5, 2, rows) * 100, 1)
    score[random.random(rows) < 0.2] = np.nan
    paid = random.exponential(40, rows)
    paid[random.random(rows) < 0.1] = np.nan
    delay = random.exponential(20, rows) - 15 + 0.3 * age
    areas = np.array(["n1", "n2", "s1", "s2", ""])
    return {
        "site": np.where(random.random(rows) < 0.3, "x", "y"),
        "income": random.lognormal(8.5, 0.8, rows) + 40 * delay,
        "delay": delay,
        "age": age,
        "visits": random.poisson(3, rows),
        "born": (7000 + random.integers(0, 3000, rows)).astype("datetime64[D]"),
        "took": (random.exponential(1800, rows) * 1e6).astype("timedelta64[us]"),
        "shift": random.integers(6, 20, rows) * 3600 + 1800,
        "score": score,
        "paid": paid,
        "risk": random.beta(2, 5, rows),
        "health": random.choice(HEALTH, rows, p=[0.6, 0.3, 0.1]),
        "job": random.choice(["a", "b"], rows, p=[0.7, 0.3]),
        "area": random.choice(areas, rows, p=[0.4, 0.2, 0.2, 0.1, 0.1]),
        "smokes": random.random(rows) < 1 / (1 + np.exp(2 - 0.03 * age)),
        "hobbies": random.random((rows, len(HOBBIES))) < HABITS,
        "load": random.gamma(2, 1.5, (rows, READINGS)),
    }


def as_table(made, columns):
    """The same as a table to sanitize."""
    found = {}
    for name in columns:
        values = made[name]
        if name == "area":
            found[name] = pa.array([value or None for value in values.tolist()], pa.string())
        elif name == "hobbies":
            flat, ends = np.array(HOBBIES)[np.nonzero(values)[1]], np.cumsum([0, *values.sum(axis=1)])
            found[name] = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(flat))
        elif name == "load":
            ends = np.arange(0, values.size + 1, READINGS)
            found[name] = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values.ravel()))
        elif name == "shift":
            found[name] = pa.array(values.astype(np.int32)).cast(pa.time32("s"))
        else:
            found[name] = pa.array(values, from_pandas=True)
    return pa.table(found)


def _clamped(made):
    return np.clip(made["income"], 0, 20000)


def _days(made):
    return made["born"].astype(np.int64).astype(float)


def _lower(values, share):
    """The least value that at least the share is at or below."""
    return np.sort(values)[max(0, math.ceil(share * len(values) - 1e-9) - 1)]


def _slope(found):
    return [found["slope of age"][0]]


def _logistic_slope(age, yes):
    """By Newton's method, of the secrets."""
    rows, found = np.stack([np.ones(len(age)), age.astype(float)], axis=1), np.zeros(2)
    for _ in range(30):
        share = 1 / (1 + np.exp(-rows @ found))
        found = found + np.linalg.solve((rows * (share * (1 - share))[:, None]).T @ rows, rows.T @ (yes - share))
    return found[1]


def _day_number(value):
    return (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else value


# What is asked, how dear it is (1: asked of each table, DEAR: of one in so many), and the truth, or one for each answer
# in turn.
QUESTIONS = {
    "mean of clamped numbers": ("select avg(income)", 1, lambda t: _clamped(t).mean()),
    "mean of unbounded numbers": ("select avg(delay)", 1, lambda t: t["delay"].mean()),
    "mean of bounded integers": ("select avg(age)", 1, lambda t: t["age"].mean()),
    "mean of unbounded integers": ("select avg(visits)", 1, lambda t: t["visits"].mean()),
    "mean of dates": ("select avg(born)", 1, lambda t: _days(t).mean()),
    "mean of durations": ("select avg(took)", 1, lambda t: t["took"].astype(float).mean() / 1e6),
    "mean of times of day": ("select avg(shift)", 1, lambda t: t["shift"].mean()),
    "mean, nulls secret": ("select avg(score)", 1, lambda t: np.nanmean(t["score"])),
    "mean, nulls public": ("select avg(paid)", 1, lambda t: np.nanmean(t["paid"])),
    "mean, (epsilon, delta)": ("select avg(risk)", 1, lambda t: t["risk"].mean()),
    "mean of booleans": ("select avg(smokes)", 1, lambda t: t["smokes"].mean()),
    "sum of clamped numbers": ("select sum(income)", 1, lambda t: _clamped(t).sum()),
    "count of secret nulls": ("select count(*) where score is null", 1, lambda t: np.isnan(t["score"]).sum()),
    "count of a category": ("select count(*) where health = 'fair'", 1, lambda t: (t["health"] == "fair").sum()),
    "histogram of categories": (
        "select count(*) group by health",
        1,
        lambda t: [(t["health"] == name).sum() for name in HEALTH],
    ),
    "count, (epsilon, delta)": ("select count(*) where job = 'b'", 1, lambda t: (t["job"] == "b").sum()),
    "count in a taxonomy": ("select count(*) where area = 's2'", 1, lambda t: (t["area"] == "s2").sum()),
    "count of a branch": (
        "select count(*) where area in ('n1', 'n2')",
        1,
        lambda t: np.isin(t["area"], ["n1", "n2"]).sum(),
    ),
    "count of a boolean": ("select count(*) where smokes = true", 1, lambda t: t["smokes"].sum()),
    "count by two noisy columns": (
        "select count(*) where health = 'good' and smokes = true",
        1,
        lambda t: ((t["health"] == "good") & t["smokes"]).sum(),
    ),
    "count by three noisy columns": (
        "select count(*) where health = 'good' and smokes = true and job = 'a'",
        1,
        lambda t: ((t["health"] == "good") & t["smokes"] & (t["job"] == "a")).sum(),
    ),
    "count by a kept and a noisy column": (
        "select count(*) where site = 'x' and health = 'good'",
        1,
        lambda t: ((t["site"] == "x") & (t["health"] == "good")).sum(),
    ),
    "mean of a noisy group": (
        "select avg(income) where smokes = true",
        1,
        lambda t: _clamped(t)[t["smokes"]].mean(),
    ),
    "means by noisy groups": (
        "select avg(delay) group by health",
        1,
        lambda t: [t["delay"][t["health"] == name].mean() for name in HEALTH],
    ),
    "mean of a kept group": (
        "select avg(score) where site = 'x'",
        1,
        lambda t: np.nanmean(t["score"][t["site"] == "x"]),
    ),
    "correlation": (
        Correlation("delay", "income"),
        1,
        lambda t: np.corrcoef(t["delay"], _clamped(t))[0, 1],
    ),
    "slope": (Regression("delay", ["age"]), 1, lambda t: np.polyfit(t["age"], t["delay"], 1)[0]),
    "slope, logistic": (
        LogisticRegression("smokes", ["age"]),
        1,
        lambda t: _logistic_slope(t["age"], t["smokes"]),
    ),
    "elements of sets": (
        TopElements("hobbies", len(HOBBIES)),
        1,
        lambda t: dict(zip(HOBBIES, t["hobbies"].sum(axis=0).tolist(), strict=True)),
    ),
    "mean curve of series": (MeanCurve("load"), 1, lambda t: t["load"].mean(axis=0).tolist()),
    "mean, of the population": ("select avg(visits)", 1, lambda t: 3.0),
    "count, of the population": (
        "select count(*) where health = 'fair'",
        1,
        lambda t: 0.3 * len(t["health"]),
    ),
    "slope, of the population": (Regression("delay", ["age"]), 1, lambda t: 0.3),
    "numbers above a threshold": ("select count(*) where delay > 15", DEAR, lambda t: (t["delay"] > 15).sum()),
    "clamped numbers in a range": (
        "select count(*) where income between 3000 and 8000",
        DEAR,
        lambda t: ((_clamped(t) >= 3000) & (_clamped(t) <= 8000)).sum(),
    ),
    "integers above a threshold": ("select count(*) where age >= 40", DEAR, lambda t: (t["age"] >= 40).sum()),
    "dates before a day": (
        "select count(*) where born < date '1992-01-01'",
        DEAR,
        lambda t: (t["born"] < np.datetime64("1992-01-01")).sum(),
    ),
    "count by a threshold and a category": (
        "select count(*) where age >= 40 and health = 'good'",
        DEAR,
        lambda t: ((t["age"] >= 40) & (t["health"] == "good")).sum(),
    ),
    "mean above a threshold": (
        "select avg(income) where age >= 40",
        DEAR,
        lambda t: _clamped(t)[t["age"] >= 40].mean(),
    ),
    "median of integers": ("select median(age)", DEAR, lambda t: _lower(t["age"], 0.5)),
    "median of numbers": ("select median(delay)", DEAR, lambda t: _lower(t["delay"], 0.5)),
    "percentile of clamped numbers": (
        "select percentile(income, 0.9)",
        DEAR,
        lambda t: _lower(_clamped(t), 0.9),
    ),
    "median of dates": ("select median(born)", DEAR, lambda t: _lower(_days(t), 0.5)),
}


def outcomes(found, truth, name):
    """For each answer, whether its interval holds the truth."""
    answers = _slope(found) if isinstance(found.question, str) and name.startswith("slope") else list(found)
    if isinstance(truth, dict):
        truths = [truth[label] for (label,) in found.groups]
    else:
        truths = truth if isinstance(truth, list) else [truth]
    return [_holds(one, wanted) for one, wanted in zip(answers, truths, strict=True)]


def _holds(one, truth):
    low, high = (_day_number(end) for end in one.interval)
    room = 1e-9 * max(1.0, abs(float(truth)))
    return bool(low <= truth + room and truth - room <= high)


def repeat(seed, rows, names, columns=None):
    """Release one table and ask it everything: for each question, the share of its intervals that hold."""
    made = secrets(np.random.default_rng(seed), rows)
    chosen = list(POLICY["columns"]) if columns is None else columns
    policy = {"format": 2, "columns": {name: POLICY["columns"][name] for name in chosen}}
    with mdp.seeded(seed):
        released = sanitize(as_table(made, chosen), policy).table
    found = {}
    for name in names:
        question, _, truth = QUESTIONS[name]
        about = "population" if "population" in name else "table"
        answers = estimate(released, question, truth=about)
        found[name] = outcomes(answers, truth(made), name), [one.conservative for one in answers]
    return found


def least_hits(repeats, cells):
    """The fewest hits that 95% intervals may have: three standard errors below, corrected for how many are looked at.

    Three standard errors leave a chance of 0.00135 to a single one; of many, each has as much of it as its share.

    >>> least_hits(400, 1), least_hits(400, 100)
    (367, 362)
    """
    reach = NormalDist().inv_cdf(1 - (1 - NormalDist().cdf(3)) / cells)
    return math.ceil(repeats * 0.95 - reach * math.sqrt(repeats * 0.95 * 0.05))


def _task(given):
    seed, rows, names = given
    return repeat(10_000 + seed, rows, names)


def measure(seconds, kept=None, workers=None):
    """For each size and question: how many intervals, how many held, and whether all are conservative.

    With a file, what it holds is gone on with, and kept in it after each few tables. A question that is not in the file
    yet is asked of the tables that the others were asked of before.
    """
    workers = workers or os.cpu_count() or 1
    known = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for rows, share in zip(SIZES, (0.25, 0.3, 0.45), strict=True):
        hits = known.setdefault(str(rows), {})
        began = time.monotonic()
        with ProcessPoolExecutor(workers) as pool:
            while not hits or time.monotonic() - began < share * seconds:
                first = min((hits.get(name, {"next": 0})["next"] for name in QUESTIONS), default=0)
                later = [one["next"] for one in hits.values() if one["next"] > first]
                stop = min([first + DEAR if rows < 100_000 else first + 4, *later])
                due = [name for name in QUESTIONS if hits.get(name, {"next": 0})["next"] <= first]
                tasks = []
                for seed in range(first, stop):
                    asked = [name for name in due if seed % QUESTIONS[name][1] == 0]
                    tasks += [(seed, rows, asked)] if asked else []
                for found in pool.map(_task, tasks):
                    for name, (inside, conservative) in found.items():
                        one = hits.setdefault(name, {"tried": 0, "held": 0, "conservative": True, "next": 0})
                        one["tried"] += len(inside)
                        one["held"] += sum(inside)
                        one["conservative"] &= all(conservative)
                for name in due:
                    hits[name]["next"] = stop
                if kept is not None:
                    beside = kept.with_suffix(".part")
                    beside.write_text(json.dumps(known))
                    beside.replace(kept)
        yield rows, hits


def page(seconds, kept=None):
    """The page of docs, and the lines that held too rarely."""
    found = dict(measure(seconds, kept))
    missed, lines = [], []
    cells = len(QUESTIONS) * len(SIZES)
    for name in QUESTIONS:
        parts = []
        for rows in SIZES:
            tried, held = found[rows][name]["tried"], found[rows][name]["held"]
            parts.append(f"{held / tried:.1%} of {tried:,}")
            if held < least_hits(tried, cells):
                missed.append(f"{name}, {rows:,} rows: {parts[-1]}")
        kind = "conservative" if all(found[rows][name]["conservative"] for rows in SIZES) else ""
        asked = QUESTIONS[name][0]
        said = f"`{asked}`" if isinstance(asked, str) else asked.text
        lines.append(f"| {name} | {said} | {' | '.join(parts)} | {kind} |")
    head = " | ".join(f"{rows:,} rows" for rows in SIZES)
    text = f"""# How often intervals of estimates hold the truth

Made by `make coverage`: tables are made, released and asked again and again, each time with new secrets and new noise,
for ten minutes, or for longer with a file that keeps the counts. How often that is depends on the machine; few repeats
tell little. In each cell: how many of the 95% intervals held the truth, of how many. A question with several answers
counts each of them; one that takes longer is asked of each {DEAR}th table only. At least 95% less three
standard errors is wanted, corrected
for the {cells} cells of this table; more than 97% is to be expected where the method is conservative, that is, where
the interval covers what the counts cannot tell, too. See [the guide](guides/use-a-sanitized-table.md) and
[decision 0030](decisions/0030-what-estimates-say-of-few-rows.md).

| what | asked | {head} | |
| --- | --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    return text, missed


def main():
    """Write the page; exit with status 1 where intervals held too rarely."""
    text, missed = page(float(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    if missed:
        sys.exit("Held too rarely:\n" + "\n".join(missed))


if __name__ == "__main__":
    main()
