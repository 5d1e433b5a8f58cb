"""Our answers beside those of OpenDP, diffprivlib, SmartNoise and Tumult: the same promise, the same questions.

    python benchmarks/answers.py --peers /tmp/peers --fair fair.csv  # /tmp/peers/opendp/bin/python and so on
    python benchmarks/answers.py --questions                         # 60 questions of an analyst, answered or refused
    python benchmarks/answers.py --coverage 1000                     # how often their error bars hold the truth

The tables: 5,630 people of the RAND Health Insurance Experiment, which ships with this package, and the 6,366 women of
Fair's survey of 1978, which ships with statsmodels (`statsmodels/datasets/fair/fair.csv`). Promise A is add or remove
one person, epsilon = 1 (OpenDP, SmartNoise, Tumult); promise B is replace one person, epsilon = 1, their number being
public (diffprivlib). Root mean squared errors over `RUNS` draws, `SUMS` for counts, sums and averages. "ours / best" is
our error by that of the best peer, with its standard error; above 1.1 by more than twice that, it is marked.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from answer_peers import PEERS, RUNS, SUMS, exact_percentile, root

DATA = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data"
TABLES = {
    "health": {"number": "age", "bounds": [0, 100], "step": 1, "group": "sex", "groups": ["female", "male"]},
    "fair": {"number": "affairs", "bounds": [0, 60], "step": 0.01, "group": "educ", "groups": [9, 12, 14, 16, 17, 20]},
}
QUESTIONS = ("count", "counts", "sum", "average", "averages", "median", "p90", "min", "max", "medians")


PROMISES = {
    "A": ("add or remove one person", ("opendp", "smartnoise", "tumult")),
    "B": ("replace one person", ("diffprivlib",)),
}


def read_tables(fair: str | None) -> dict[str, object]:
    """The shipped table, and the one of statsmodels where it is given."""
    import pandas as pd

    health = pd.read_csv(DATA / "health_insurance.csv")
    if fair is None:
        return {"health": health}
    affairs = pd.read_csv(fair)
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


def beside(folder: str | None, path: str) -> dict[str, subprocess.Popen[str]]:
    """The peers that are installed, each at work in its own process."""
    if folder is None:
        return {}
    script, begun = str(Path(__file__).with_name("answer_peers.py")), {}
    for name in PEERS:
        python = Path(folder) / name / "bin" / "python"
        if python.exists():
            command = [str(python), script, name, path]
            begun[name] = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        else:
            print(f"{name}: there is no {python}")
    return begun


def collected(begun: dict[str, subprocess.Popen[str]]) -> dict[str, dict]:
    """The errors of the peers by their names; of one that fails, what it printed goes to the screen."""
    found: dict[str, dict] = {}
    for name, process in begun.items():
        out, said = process.communicate()
        if process.returncode:
            print(f"{name}: {said.strip().splitlines()[-1]}")
        else:
            found[name] = json.loads(out.splitlines()[-1])
    return found


def compare(folder: str | None, fair: str | None) -> None:
    frames = read_tables(fair)
    given = {}
    for name, frame in frames.items():
        table = TABLES[name]
        codes = [table["groups"].index(one) for one in frame[table["group"]].tolist()]
        given[name] = table | {"values": frame[table["number"]].tolist(), "groups": codes, "labels": table["groups"]}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "tables.json"
        path.write_text(json.dumps(given))
        begun = beside(folder, str(path))
        ours = {
            (name, promise): our_errors(frame, TABLES[name], promise)
            for name, frame in frames.items()
            for promise in PROMISES
        }
        found = collected(begun)
    for (name, promise), errors in ours.items():
        table, (words, names) = TABLES[name], PROMISES[promise]
        here = [peer for peer in names if peer in found]
        print(f"{name}, {len(frames[name]):,} people, {table['number']} in {table['bounds']}; {words}, epsilon = 1")
        print(f"    {'question':10} {'ours':>11}" + "".join(f"{peer:>12}" for peer in here) + "     ours / best   bars")
        for question, ((error, unsure), held) in errors.items():
            others = {peer: found[peer][name][question] for peer in here if question in found[peer][name]}
            row = "".join(f"{others[peer][0]:12.4g}" if peer in others else " " * 12 for peer in here)
            print(f"    {question:10} {error:11.4g}{row}{ratio(error, unsure, others):>16}{held:7.1%}")


def ratio(error: float, unsure: float, others: dict[str, tuple[float, float]]) -> str:
    """Our error by the best peer's."""
    if not others:
        return ""
    best, off = min(others.values())
    if not best:
        return "both 0" if not error else "peer 0"
    found = error / best
    sure = found * math.hypot(unsure, off)
    return f"{found:.2f} ± {sure:.2f}{'  !' if found - 2 * sure > 1.1 else '   '}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="a folder with an environment for each peer: opendp, diffprivlib, ..")
    parser.add_argument("--fair", help="fair.csv of statsmodels")
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--coverage", type=int, metavar="REPEATS", help="how often the error bars of the 60 hold")
    arguments = parser.parse_args()
    if arguments.questions:
        from analyst_questions import ask_all

        ask_all()
    elif arguments.coverage:
        from answer_coverage import print_coverage

        print_coverage(arguments.coverage)
    else:
        compare(arguments.peers, arguments.fair)


if __name__ == "__main__":
    main()
