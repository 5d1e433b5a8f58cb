"""Estimates from released tables: error of the naive and of the corrected value, iterative Bayesian update, and speed.

python benchmarks/estimates.py [--repeats 200]

Times are processor time.
"""

from __future__ import annotations

import argparse
import time
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

import metricdp as mdp
from metricdp.estimates import TopElements, estimate, iterative_bayesian_update
from metricdp.policies import Policy
from metricdp.tables import sanitize

DATA = files("metricdp.cli.demo").joinpath("data")


def rows_of(repeats, name, secret, policy, questions):
    """Print root mean squared errors of the naive and of the corrected value, and whether the notes foretold it."""
    errors = {question: ([], [], []) for question in questions}
    for seed in range(repeats):
        with mdp.seeded(seed):
            released = sanitize(secret, policy).table
        for question, truth in questions.items():
            for label, one in pick(estimate(released, question)):
                wanted = truth(label) if callable(truth) else truth
                errors[question][0].append(one.naive - wanted)
                errors[question][1].append(one.value - wanted)
                errors[question][2].append(any("as good" in note for note in one.notes))
    for question, (naive, corrected, told) in errors.items():
        one, two = (float(np.sqrt(np.mean(np.square(part)))) for part in (naive, corrected))
        mark = f"  naive wins; said so in {np.mean(told):.0%}" if one < two else ""
        said = getattr(question, "text", question)
        print(f"{name:10} {said[:58]:58} naive {one:10.4g}  corrected {two:10.4g}{mark}")


def pick(found):
    return [(labels, one) for labels, row in zip(found.groups, found.found, strict=True) for one in row]


def health(repeats):
    convert = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    raw = pa_csv.read_csv(str(DATA.joinpath("health_insurance.csv")), convert_options=convert)
    policy = Policy.load(str(DATA.joinpath("health_insurance.toml")))
    table = raw.set_column(raw.schema.get_field_index("income"), "income", raw["income"].cast(pa.float64()))
    frame = table.to_pandas()
    income = frame.income.clip(0, 50000)
    rows_of(
        repeats,
        "health",
        table,
        policy,
        {
            "select avg(income)": income.mean(),
            "select avg(doctor_visits)": frame.doctor_visits.clip(0, 100).mean(),
            "select avg(general_health)": frame.general_health.mean(),
            "select count(*) where health = 'poor'": (frame.health == "poor").sum(),
            "select avg(medical_expenses)": frame.medical_expenses.mean(),
        },
    )


def flights(repeats):
    random = np.random.default_rng(1)
    delay = np.round(random.lognormal(3.0, 0.9, 30_000) - 25)
    policy = {"format": 2, "columns": {"delay": {"type": "number", "within": 10}}}
    rows_of(
        max(5, repeats // 10),
        "flights",
        pa.table({"delay": delay}),
        policy,
        {"select count(*) where delay > 15": (delay > 15).sum(), "select median(delay)": np.median(delay)},
    )


def categories(repeats):
    random = np.random.default_rng(2)
    names = [f"v{place}" for place in range(300)]
    shares = 1 / np.arange(1, 301)
    drawn = random.choice(names, 20_000, p=shares / shares.sum())
    policy = {
        "format": 2,
        "columns": {"kind": {"type": "category", "values": names, "epsilon": 4, "missing": "refuse"}},
    }
    counts = {name: int((drawn == name).sum()) for name in names}
    question = "select count(*) group by kind"
    rows_of(repeats, "categories", pa.table({"kind": drawn}), policy, {question: lambda label: counts[label[0]]})


def sets(repeats):
    random = np.random.default_rng(3)
    names = [f"h{place}" for place in range(20)]
    present = random.random((10_000, 20)) < 0.5 / np.arange(1, 21)
    lists = pa.array([[names[place] for place in np.flatnonzero(row)] for row in present], pa.list_(pa.string()))
    policy = {"format": 2, "columns": {"hobbies": {"type": "set", "values": names, "factor": 3}}}
    counts = dict(zip(names, present.sum(axis=0).tolist(), strict=True))
    question = TopElements("hobbies", 20)
    rows_of(repeats, "sets", pa.table({"hobbies": lists}), policy, {question: lambda label: counts[label[0]]})


def updates():
    """Ours beside as many plain updates."""
    random = np.random.default_rng(4)
    for cells in (100, 300, 1000):
        at = np.arange(cells) / cells
        truth = np.exp(-((at - 0.3) ** 2) / 0.01) + 0.5 * np.exp(-((at - 0.7) ** 2) / 0.004) + 0.02
        truth /= truth.sum()
        noise = mdp.truncated_geometric(mdp.metrics.absolute().within(cells / 50), cells - 1)
        law = np.diff(noise.cells_below(np.arange(float(cells)), np.arange(cells + 1.0)), axis=1)
        counts = random.multinomial(100_000, truth @ law).astype(float)
        began = time.process_time()
        stopped = iterative_bayesian_update(counts, law)
        middle = time.process_time()
        climbed = iterative_bayesian_update(counts, law, stop="likelihood", rounds=3000)
        ended = time.process_time()
        shares = np.full(cells, 1 / cells)
        for _ in range(climbed.rounds):
            shares = shares * (law @ (counts / counts.sum() / (shares @ law)))
        plain = time.process_time()
        apart = [np.abs(one - truth).sum() / 2 for one in (stopped.shares, climbed.shares, shares)]
        print(
            f"{cells:5} cells: total variation by the rule {apart[0]:.4f}, {stopped.rounds} rounds, "
            f"{middle - began:.2f} s; at the likelihood {apart[1]:.4f}, {ended - middle:.2f} s; {climbed.rounds} plain "
            f"rounds {apart[2]:.4f}, {plain - ended:.2f} s; "
            f"log-likelihood {climbed.log_likelihood:.2f} and {float(counts @ np.log(shares @ law)):.2f}"
        )


def speed():
    random = np.random.default_rng(5)
    values = [f"v{place}" for place in range(1000)]
    table = pa.table({"kind": pa.array(values).take(pa.array(random.integers(0, 1000, 10**7)))})
    policy = {
        "format": 2,
        "columns": {"kind": {"type": "category", "values": values, "epsilon": 5, "missing": "refuse"}},
    }
    began = time.process_time()
    estimate(table, "select count(*) group by kind", policy=policy)
    print(f"10^7 rows, 1,000 cells, all counts with intervals: {time.process_time() - began:.1f} s of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    updates()
    speed()
    categories(max(3, repeats // 10))
    sets(repeats)
    flights(repeats)
    health(repeats)


if __name__ == "__main__":
    main()
