"""Our answers beside those of OpenDP and diffprivlib: the same promise, the same questions, two real tables.

    python benchmarks/answers.py --peers /tmp/peers/bin/python      # an environment with opendp and diffprivlib
    python benchmarks/answers.py --questions                        # 60 questions of an analyst, answered or refused

The tables: 5,630 people of the RAND Health Insurance Experiment, which ships with this package, and the 6,366 women of
Fair's survey of 1978, which ships with statsmodels (`statsmodels.datasets.fair`). Promise A is add or remove one
person, epsilon = 1 (OpenDP); promise B is replace one person, epsilon = 1, their number being public (diffprivlib).
Root mean squared errors over `RUNS` draws, `SUMS` for counts, sums and averages; a ratio above 1 is a peer with a
larger error than ours, and stands with its own standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 100
SUMS = 2_000
"""Draws of counts, sums and averages, which are quick: at 100 draws of Laplace noise a ratio of 1 is often 1.3."""

DATA = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data"
TABLES = {
    "health": {"number": "age", "bounds": [0, 100], "step": 1, "group": "sex", "groups": ["female", "male"]},
    "fair": {"number": "affairs", "bounds": [0, 60], "step": 0.01, "group": "educ", "groups": [9, 12, 14, 16, 17, 20]},
}
QUESTIONS = ("count", "counts", "sum", "average", "averages", "median", "p90", "min", "max", "medians")


# The peers, in an environment of their own


def peers(path: str) -> None:
    """Print the errors of OpenDP and diffprivlib as JSON; run by the python that has them."""
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    given = json.loads(Path(path).read_text())
    found = {}
    for name, table in given.items():
        values, groups = np.array(table["values"]), np.array(table["groups"])
        found[name] = {"OpenDP": opendp_errors(values, groups, table), "diffprivlib": diffprivlib_errors(values, table)}
    print(json.dumps(found))


def root(errors) -> tuple[float, float]:
    """The root of the mean squared error, and its standard error as a part of it."""
    squares = [error**2 for error in errors]
    mean = sum(squares) / len(squares)
    if not mean:
        return 0.0, 0.0
    spread = sum((square - mean) ** 2 for square in squares) / len(squares)
    return math.sqrt(mean), math.sqrt(spread / len(squares)) / mean / 2


def exact_percentile(values, share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def opendp_errors(values, groups, table) -> dict[str, tuple[float, float]]:
    """Promise A. Means are a noisy sum, from the middle of the bounds, by a noisy count, half of epsilon each."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    low, high = table["bounds"]
    middle, half = (low + high) / 2, (high - low) / 2
    vector = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    noise = {
        scale: dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=scale)
        for scale in (1.0, 2.0, float(max(abs(low), abs(high))), 2.0 * half)
    }
    steps = min(2000, round((high - low) / table["step"]))
    candidates = [low + (high - low) * k / steps for k in range(steps + 1)]

    def by_rank(share):
        scores = vector >> dp.t.then_quantile_score_candidates(candidates, share)
        return dp.binary_search_chain(
            lambda s: scores >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True), 1, 1.0
        )

    parts = [values[groups == k] for k in range(len(table["labels"]))]
    count = root([noise[1.0](0.0) for _ in range(SUMS)])

    def mean(part):
        return middle + noise[2.0 * half](float((part - middle).sum())) / max(1.0, noise[2.0](float(len(part))))

    found = {
        "count": count,
        "counts": count,
        "sum": root([noise[float(max(abs(low), abs(high)))](0.0) for _ in range(SUMS)]),
        "average": root([mean(values) - values.mean() for _ in range(SUMS)]),
        "averages": root([mean(part) - part.mean() for part in parts for _ in range(SUMS)]),
    }
    for name, share in (("median", 0.5), ("p90", 0.9), ("min", 0.0), ("max", 1.0)):
        draw = by_rank(share)
        truth = exact_percentile(values, share)
        found[name] = root([candidates[draw(values.tolist())] - truth for _ in range(RUNS)])
    draw = by_rank(0.5)
    found["medians"] = root(
        [candidates[draw(part.tolist())] - exact_percentile(part, 0.5) for part in parts for _ in range(RUNS)]
    )
    return found


def diffprivlib_errors(values, table) -> dict[str, tuple[float, float]]:
    """Promise B, for what it has."""
    from diffprivlib import tools

    bounds = tuple(map(float, table["bounds"]))
    found = {
        "sum": root([tools.sum(values, epsilon=1, bounds=bounds) - values.sum() for _ in range(SUMS)]),
        "average": root([tools.mean(values, epsilon=1, bounds=bounds) - values.mean() for _ in range(SUMS)]),
    }
    for name, share in (("median", 0.5), ("p90", 0.9), ("min", 0.0), ("max", 1.0)):
        truth = exact_percentile(values, share)
        try:
            drawn = [float(tools.quantile(values, share, epsilon=1, bounds=bounds)) for _ in range(RUNS)]
        except RuntimeError:  # with many equal values it finds no candidate
            continue
        found[name] = root([one - truth for one in drawn])
    return found


# Ours


def read_tables(python: str | None) -> dict[str, object]:
    """The shipped table, and the one of statsmodels, where the peers' environment has it."""
    import pandas as pd

    health = pd.read_csv(DATA / "health_insurance.csv")
    if python is None:
        return {"health": health}
    where = "import statsmodels.datasets.fair as fair; print(fair.__path__[0])"
    folder = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    affairs = pd.read_csv(Path(folder) / "fair.csv")
    affairs["affairs"] = affairs["affairs"].round(2).clip(0, 60)
    affairs["educ"] = affairs["educ"].astype(int)
    return {"health": health, "fair": affairs}


def policy_text(table: dict, frame, promise: str) -> str:
    kind = '"integer"' if table["step"] == 1 else f'"number", resolution = {table["step"]}'
    rows = len(frame)
    size, neighbours = (
        (f"capacity = {2 * rows}", "add or remove") if promise == "A" else (f"records = {rows}", "replace")
    )
    return (
        f'format = 2\n{size}\nstandard = {{epsilon = 1, neighbours = "{neighbours}"}}\n[columns]\n'
        f'{table["number"]} = {{type = {kind}, bounds = {table["bounds"]}, missing = "refuse"}}\n'
        f'{table["group"]} = {{type = "category", values = {json.dumps(table["groups"])}, missing = "refuse"}}\n'
    )


def sql(table: dict) -> dict[str, str]:
    x, g, first = table["number"], table["group"], json.dumps(table["groups"][0]).replace('"', "'")
    return {
        "count": f"select count(*) from t where {g} = {first}",
        "counts": f"select count(*) from t group by {g}",
        "sum": f"select sum({x}) from t",
        "average": f"select avg({x}) from t",
        "averages": f"select avg({x}) from t group by {g}",
        "median": f"select median({x}) from t",
        "p90": f"select percentile({x}, 0.9) from t",
        "min": f"select min({x}) from t",
        "max": f"select max({x}) from t",
        "medians": f"select median({x}) from t group by {g}",
    }


def our_errors(frame, table: dict, promise: str) -> dict[str, tuple[tuple[float, float], float]]:
    """Root mean squared errors with their standard errors, and how often the error bars held."""
    from metricdp.exact.progress import Stopwatch
    from metricdp.policies import Policy
    from metricdp.queries.select.asking import Asking

    policy = Policy.parse(policy_text(table, frame, promise)).askable
    found = {}
    for name, question in sql(table).items():
        asking = Asking.of(question, policy)
        kept(asking, frame)
        truths = true_answers(frame, table, name)
        errors, held = [], 0
        for _ in range(SUMS if asking.linear is not None else RUNS):
            answers = asking._answer(frame, None, Stopwatch(None, None))
            for row, truth in zip(answers.found, truths, strict=True):
                errors.append(float(row[0].value) - truth)
                held += abs(errors[-1]) <= row[0].error_bar * (1 + 1e-9) + 1e-9
        found[name] = root(errors), held / len(errors)
    return found


def kept(asking, frame) -> None:
    """Read the table once and share out the noise once: only the draws are repeated."""
    if asking.linear is not None:
        truth, allocation = asking.linear.truth(frame, None), asking.linear.allocate()
        vars(asking.linear).update(truth=lambda *_: truth, allocate=lambda *_: allocation)
    for part in asking.percentiles.values():
        tallies = part.tallies(frame, None)
        vars(part).update(tallies=lambda *_, tallies=tallies: tallies)


def true_answers(frame, table: dict, name: str) -> list[float]:
    values, group = frame[table["number"]], frame[table["group"]]
    parts = [values[group == one] for one in table["groups"]]
    if name in ("count", "counts"):
        return [float(len(part)) for part in parts][: 1 if name == "count" else None]
    if name in ("averages", "medians"):
        return [float(part.mean()) if name == "averages" else float(exact_percentile(part, 0.5)) for part in parts]
    shares = {"median": 0.5, "p90": 0.9, "min": 0.0, "max": 1.0}
    if name in shares:
        return [float(exact_percentile(values, shares[name]))]
    return [float(values.sum() if name == "sum" else values.mean())]


def compare(python: str | None) -> None:
    frames = read_tables(python)
    given = {}
    for name, frame in frames.items():
        table = TABLES[name]
        codes = [table["groups"].index(one) for one in frame[table["group"]].tolist()]
        given[name] = table | {"values": frame[table["number"]].tolist(), "groups": codes, "labels": table["groups"]}
    beside: dict[str, dict] = {}
    if python is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tables.json"
            path.write_text(json.dumps(given))
            done = subprocess.run(
                [python, __file__, "--run-peers", str(path)], capture_output=True, text=True, check=True
            )
            beside = json.loads(done.stdout.splitlines()[-1])
    for name, frame in frames.items():
        table = TABLES[name]
        for promise, peer in (("A", "OpenDP"), ("B", "diffprivlib")):
            ours = our_errors(frame, table, promise)
            words = {"A": "add or remove one person", "B": "replace one person"}[promise]
            print(f"{name}, {len(frame):,} people, {table['number']} in {table['bounds']}; {words}, epsilon = 1")
            print(f"    {'question':10} {'ours':>12} {peer:>14} {'peer / ours':>14} {'bars held':>10}")
            for question, ((error, unsure), held) in ours.items():
                other, off = beside.get(name, {}).get(peer, {}).get(question, (None, 0.0))
                ratio = ""
                if other is not None:
                    ratio = "both 0" if error == other == 0 else "inf" if not error else f"{other / error:.2f}"
                    ratio += f" ± {other / error * math.hypot(unsure, off):.2f}" if error and other else ""
                told = "" if other is None else f"{other:.4g}"
                print(f"    {question:10} {error:12.4g} {told:>14} {ratio:>14} {held:10.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="a python with opendp and diffprivlib")
    parser.add_argument("--run-peers", help=argparse.SUPPRESS)
    parser.add_argument("--questions", action="store_true")
    arguments = parser.parse_args()
    if arguments.run_peers:
        peers(arguments.run_peers)
    elif arguments.questions:
        sys.path.insert(0, str(Path(__file__).parent))
        from analyst_questions import ask_all

        ask_all()
    else:
        compare(arguments.peers)


if __name__ == "__main__":
    main()
