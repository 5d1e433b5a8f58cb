"""Estimates from released tables: errors of naive and corrected values beside peers, iterative updates, bounds, speed.

python benchmarks/estimates.py [--repeats 200]

Five tables are released again and again, and asked: root mean squared errors of the naive and of the corrected value,
and for categories and sets of multi-freq-ldpy on the same released rows. Peers that are not installed are left out,
with a hint. Times are processor time; the table of flights, which takes longest, runs beside the others.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import time
import warnings
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

import metricdp as mdp
from metricdp.estimates import HeatMap, TopElements, estimate, iterative_bayesian_update
from metricdp.policies import Policy
from metricdp.tables import sanitize

try:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU, GRR_Aggregator_MI
except ImportError:
    GRR_Aggregator_IBU = GRR_Aggregator_MI = None
try:
    import qif
except ImportError:
    qif = None

DATA = files("metricdp.cli.demo").joinpath("data")


def rmse(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def rows_of(repeats, name, secret, policy, questions, peer=None):
    """Print errors for each question, how many answers are better as released, and how often the notes said so.

    ``questions`` gives for each the truth, or a function of the group's label. ``peer`` takes the released table and
    gives, for each name of a method, a value for each label.
    """
    began = time.process_time()
    found = {question: {} for question in questions}
    beside = {}
    for seed in range(repeats):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mdp.errors.NotPrivateWarning)
            with mdp.seeded(seed):
                released = sanitize(secret, policy).table
        for question, truth in questions.items():
            answers = estimate(released, question)
            for label, (one,) in zip(answers.groups, answers.found, strict=True):
                wanted = truth(label) if callable(truth) else truth
                good = one.naive_is_as_good
                inside = one.interval[0] <= wanted <= one.interval[1]
                found[question].setdefault(label, []).append((one.naive - wanted, one.value - wanted, good, inside))
        if peer is not None:
            (truth,) = questions.values()
            for method, values in peer(released).items():
                off = [value - truth(label) for label, value in values.items()]
                beside.setdefault(method, []).extend(off)
    for question, labels in found.items():
        said = getattr(question, "text", question)
        runs = {label: np.array(rows, dtype=float) for label, rows in labels.items()}
        every = np.concatenate(list(runs.values()))
        line = f"{name:10} {said:45} naive {rmse(every[:, 0]):9.4g}  corrected {rmse(every[:, 1]):9.4g}"
        line += "".join(f"  {method} {rmse(off):.4g}" for method, off in beside.items())
        print(f"{line}  intervals hold {every[:, 3].mean():.1%}")
        wins = {label: rows for label, rows in runs.items() if rmse(rows[:, 0]) < rmse(rows[:, 1])}
        if wins:
            told = np.mean([rows[:, 2].mean() for rows in wins.values()])
            other = [rows[:, 2].mean() for label, rows in runs.items() if label not in wins]
            rest = f", of the others {np.mean(other):.0%}" if other else ""
            print(f"{'':10} naive wins in {len(wins)} of {len(runs)} answers; estimate said so of {told:.0%}{rest}")
            followed = rmse(np.where(every[:, 2] > 0, every[:, 0], every[:, 1]))
            print(f"{'':10} the naive value where estimate calls it as good, else the corrected one: {followed:.4g}")
    print(f"{'':10} {repeats} repeats, {time.process_time() - began:.0f} s")


def health(repeats):
    convert = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    raw = pa_csv.read_csv(str(DATA.joinpath("health_insurance.csv")), convert_options=convert)
    policy = Policy.load(str(DATA.joinpath("health_insurance.toml")))
    table = raw.set_column(raw.schema.get_field_index("income"), "income", raw["income"].cast(pa.float64()))
    frame = table.to_pandas()
    questions = {
        "select avg(income)": frame.income.clip(0, 50000).mean(),
        "select avg(doctor_visits)": frame.doctor_visits.clip(0, 100).mean(),
        "select avg(general_health)": frame.general_health.mean(),
        "select count(*) where health = 'poor'": (frame.health == "poor").sum(),
        "select avg(medical_expenses)": frame.medical_expenses.mean(),
    }
    rows_of(repeats, "health", table, policy, questions)


def flights(repeats):
    """Delays with a long tail, most of them a little early."""
    delay = np.round(np.random.default_rng(1).lognormal(3.0, 0.9, 30_000) - 25)
    policy = {"format": 2, "columns": {"delay": {"type": "number", "within": 10}}}
    questions = {"select count(*) where delay > 15": (delay > 15).sum(), "select median(delay)": np.median(delay)}
    rows_of(repeats, "flights", pa.table({"delay": delay}), policy, questions)


def places(repeats):
    """A town with two centres and a thin spread of homes around them, on a map of four cells."""
    random, rows = np.random.default_rng(6), 20_000
    centres = np.array([[48.825, 2.29], [48.875, 2.41]])
    homes = centres[random.integers(0, 2, rows)] + random.normal(size=(rows, 2)) * 0.012
    away = random.random(rows) < 0.2
    homes[away] = [48.85, 2.35] + (random.random((int(away.sum()), 2)) - 0.5) * [0.12, 0.24]
    place = {"type": "place", "within": "200 m", "columns": ["lat", "lon"], "missing": "refuse"}
    asked = HeatMap("home", 2, 2, (48.80, 2.25, 48.90, 2.45))

    def truth(label):
        if label[0] == "elsewhere":
            return rows - sum(map(truth, cells))
        (south, north), (west, east) = ([float(part) for part in span.split(" to ")] for span in label)
        inside = (homes[:, 0] >= south) & (homes[:, 0] < north) & (homes[:, 1] >= west) & (homes[:, 1] < east)
        return int(inside.sum())

    downs, acrosses = ("48.8000 to 48.8500", "48.8500 to 48.9000"), ("2.2500 to 2.3500", "2.3500 to 2.4500")
    cells = [(down, across) for down in downs for across in acrosses]
    table = pa.table({"lat": homes[:, 0], "lon": homes[:, 1]})
    rows_of(repeats, "places", table, {"format": 2, "columns": {"home": place}}, {asked: truth})


def categories(repeats):
    """300 values with shares as in Zipf's law."""
    random = np.random.default_rng(2)
    names = [f"v{place}" for place in range(300)]
    shares = 1 / np.arange(1, 301)
    drawn = random.choice(names, 20_000, p=shares / shares.sum())
    column = {"type": "category", "values": names, "epsilon": 4, "missing": "refuse"}
    counts = {(name,): int((drawn == name).sum()) for name in names}
    position = {name: place for place, name in enumerate(names)}

    def peer(released):
        reports = np.array([position[value] for value in released["kind"].to_pylist()])
        parts = {"multi-freq-ldpy MI": GRR_Aggregator_MI, "IBU": GRR_Aggregator_IBU}
        return {
            method: {(name,): value * len(reports) for name, value in zip(names, ask(reports, 300, 4.0), strict=True)}
            for method, ask in parts.items()
        }

    asked = {"select count(*) group by kind": counts.__getitem__}
    policy = {"format": 2, "columns": {"kind": column}}
    rows_of(repeats, "categories", pa.table({"kind": drawn}), policy, asked, peer if GRR_Aggregator_MI else None)


def sets(repeats):
    """Twenty hobbies; each is put in or out by a coin of its own, which is randomized response with two values."""
    random = np.random.default_rng(3)
    names = [f"h{place}" for place in range(20)]
    present = random.random((10_000, 20)) < 0.5 / np.arange(1, 21)
    lists = pa.array([[names[place] for place in np.flatnonzero(row)] for row in present], pa.list_(pa.string()))
    policy = {"format": 2, "columns": {"hobbies": {"type": "set", "values": names, "factor": 3}}}
    counts = {(name,): count for name, count in zip(names, present.sum(axis=0).tolist(), strict=True)}

    def peer(released):
        rows, found = released.num_rows, {}
        seen = dict.fromkeys(names, 0)
        for item in pa.compute.value_counts(pa.compute.list_flatten(released["hobbies"])).to_pylist():
            seen[item["values"]] = item["counts"]
        for name in names:
            reports = np.repeat([0, 1], [rows - seen[name], seen[name]])
            found[name,] = GRR_Aggregator_MI(reports, 2, math.log(3))[1] * rows
        return {"multi-freq-ldpy MI": found}

    asked = {TopElements("hobbies", 20): counts.__getitem__}
    rows_of(repeats, "sets", pa.table({"hobbies": lists}), policy, asked, peer if GRR_Aggregator_MI else None)


def timed(ask, *args, **options):
    began = time.process_time()
    found = ask(*args, **options)
    return found, time.process_time() - began


def climbed_to(height, counts, law):
    """The shortest of several climbs, each a third longer than the last, that is as high; and its time alone."""
    rounds = 200
    while True:
        climbed, took = timed(iterative_bayesian_update, counts, law, stop="likelihood", rounds=rounds)
        if climbed.log_likelihood >= height or climbed.converged:
            return climbed, took
        rounds = math.ceil(4 / 3 * rounds)


def updates():
    """Ours by default, and as far as qif climbs, beside qif."""
    random = np.random.default_rng(4)
    for cells in (100, 300, 1000):
        at = np.arange(cells) / cells
        truth = np.exp(-((at - 0.3) ** 2) / 0.01) + 0.5 * np.exp(-((at - 0.7) ** 2) / 0.004) + 0.02
        truth /= truth.sum()
        noise = mdp.truncated_geometric(mdp.metrics.absolute().within(cells / 50), cells - 1)
        law = np.diff(noise.cells_below(np.arange(float(cells)), np.arange(cells + 1.0)), axis=1)
        counts = random.multinomial(100_000, truth @ law).astype(float)
        ruled, short = timed(iterative_bayesian_update, counts, law)
        line = f"{cells:5} cells: by the rule {np.abs(ruled.shares - truth).sum() / 2:.4f} in {short:.4f} s"
        if qif is None:
            climbed, long = timed(iterative_bayesian_update, counts, law, stop="likelihood")
            print(f"{line}; likelihood {climbed.log_likelihood:.2f} in {long:.3f} s")
            continue
        (theirs, _), took = timed(qif.channel.iterative_bayesian_update, law, counts / counts.sum())
        wanted = float(counts @ np.log(theirs @ law))
        climbed, long = climbed_to(wanted, counts, law)
        apart = [np.abs(one - truth).sum() / 2 for one in (climbed.shares, theirs)]
        print(
            f"{line}; as far as qif {apart[0]:.4f} in {long:.3f} s, qif {apart[1]:.4f} in {took:.3f} s "
            f"({took / long:.1f} times as long); log-likelihood {climbed.log_likelihood:.3f} and {wanted:.3f}"
        )


def bounds(repeats):
    """The spread of estimates beside the Cramer-Rao bound of the mechanism, in a model with finitely many cells."""
    random, rows = np.random.default_rng(7), 20_000
    columns = {
        "share of a category": {"type": "category", "values": ["a", "b", "c", "d"], "factor": 4, "missing": "refuse"},
        "share of a boolean": {"type": "boolean", "factor": 3, "missing": "refuse"},
        "mean of an integer": {"type": "integer", "within": 2, "bounds": [0, 12], "missing": "refuse"},
    }
    for name, column in columns.items():
        policy = {"format": 2, "columns": {"x": column}}
        mechanism = Policy.of(policy).columns[0].mechanism
        values = column.get("values", list(range(13)) if "integer" in name else [False, True])
        if "integer" in name:
            cells = mechanism.cells.cells_below(np.arange(13.0), np.arange(1.0, 13.0))
            law = np.diff(np.hstack([np.zeros((13, 1)), cells, np.ones((13, 1))]), axis=1)
            question, asked = np.arange(13.0), "select avg(x)"
        else:
            law = mechanism.law(mechanism.declared).matrix
            question = np.eye(len(values))[1]
            asked = f"select count(*) where x = {'true' if 'boolean' in name else repr(values[1])}"
        shares = np.linspace(1, 2, len(values)) / np.linspace(1, 2, len(values)).sum()
        released = shares @ law
        weights = np.linalg.solve(law, question)
        bound = math.sqrt((released @ weights**2 - (released @ weights) ** 2) / rows)
        found = []
        for _ in range(repeats):
            seen = np.repeat(np.arange(len(values)), random.multinomial(rows, released))
            table = pa.table({"x": pa.array(values).take(pa.array(seen))})
            value = estimate(table, asked, policy=policy, truth="population").only.value
            found.append(value if "mean" in name else value / rows)
        print(f"{name:20} spread {np.std(found):.3g}, the bound {bound:.3g}: {np.std(found) / bound:.2f} of it")


def speed():
    random = np.random.default_rng(5)
    values = [f"v{place}" for place in range(1000)]
    column = {"type": "category", "values": values, "epsilon": 5, "missing": "refuse"}
    zipf = 1 / np.arange(1, 1001)
    for name, shares in {"even shares": None, "shares as in Zipf's law": zipf / zipf.sum()}.items():
        table = pa.table({"kind": pa.array(values).take(pa.array(random.choice(1000, 10**7, p=shares)))})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mdp.errors.NotPrivateWarning)
            with mdp.seeded(5):
                released = sanitize(table, {"format": 2, "columns": {"kind": column}}).table
        _, took = timed(estimate, released, "select count(*) group by kind")
        print(f"10^7 rows, 1,000 cells, {name}: all counts with intervals in {took:.1f} s")
    column = {"type": "integer", "within": 500, "bounds": [0, 99_999], "missing": "refuse"}
    secret = pa.table({name: random.integers(0, 10**5, 10**6) for name in ("from", "to")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mdp.errors.NotPrivateWarning)
        with mdp.seeded(5):
            released = sanitize(secret, {"format": 2, "columns": {"from": column, "to": column}}).table
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, took = timed(estimate, released, 'select count(*) where "from" >= 30000 and "to" < 50000')
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"10^5 x 10^5 cells with noise, 10^6 rows: {took:.1f} s; the peak of memory grew by {grown:,.0f} MB")


TABLES = {"health": health, "categories": categories, "sets": sets, "places": places, "flights": flights}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", choices=TABLES)
    given = parser.parse_args()
    repeats = given.repeats
    if given.only:
        TABLES[given.only](repeats)
        return
    for name, there in {"qif": qif, "multi-freq-ldpy": GRR_Aggregator_MI}.items():
        if there is None:
            print(f"{name} is not installed and left out; to have it beside: pip install {name}")
    updates()
    speed()
    beside = [sys.executable, __file__, "--only", "flights", "--repeats", str(repeats)]
    with subprocess.Popen(beside, stdout=subprocess.PIPE, text=True) as running:
        bounds(repeats)
        for name in ("health", "categories", "sets", "places"):
            TABLES[name](repeats)
        print(running.communicate()[0], end="")
    if running.returncode:
        sys.exit(f"the table of flights ended with status {running.returncode}")


if __name__ == "__main__":
    main()
