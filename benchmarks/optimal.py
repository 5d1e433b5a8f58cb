"""The optimal mechanism beside its peers, and how far it scales.

    python benchmarks/optimal.py                     # in an environment with the peers, see requirements.txt
    python benchmarks/optimal.py --quick             # short: the small problems, and a minute for each peer
    python benchmarks/optimal.py --limit 600         # seconds that a peer may take
    python benchmarks/optimal.py --plot growth.png   # time against the number of points, where matplotlib is there

Uniform prior, Euclidean metric and loss on a grid, unless said. Peers solve the plain program (see
`solver_channels.py`, which writes it as a user of each would), each in a process of its own that is stopped at the
limit; ours too. Then `verify` judges everybody's answer: "scale" is the multiple of the metric for which it is private
in truth, and everything above 1 breaks the promise. Times are seconds of processor time, certification included, and
seconds that passed; ours uses all cores. Ratios are of processor time.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import solver_channels

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.design import optimal

CITIES = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data" / "us_cities.csv"
OURS = "metricdp"
PEERS = ("clarabel", "highs-interior", "qif", "qif-highs", "qif-glop")
SHARED = {"grid-8x8-one": 1.0, "grid-10x10-ln2": mdp.ln(2), "grid-13x13-ln2": mdp.ln(2)}
LARGEST = "grid-13x13-ln2"
"""Here only the fastest peer of the smaller ones is asked."""

for _side in (10, 13):
    solver_channels.SPACES[f"grid-{_side}x{_side}"] = (_side, _side)
    solver_channels.PROBLEMS[f"grid-{_side}x{_side}-ln2"] = (f"grid-{_side}x{_side}", "ln2")


# Our problems


def grid(side: int, metric: str = "euclidean", epsilon: Any = None) -> mdp.Space:
    return mdp.Space.grid(side, side, (epsilon or mdp.ln(2)) * getattr(mdp.metrics, metric)())


def euclidean_loss(space: mdp.Space) -> np.ndarray:
    places = np.array(space.points, dtype=float)
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))


def populations(side: int) -> np.ndarray:
    """The inhabitants of the cities of the contiguous United States, counted in the cells of a grid."""
    with CITIES.open(newline="") as file:
        rows = [(float(r["latitude"]), float(r["longitude"]), float(r["population"])) for r in csv.DictReader(file)]
    kept = np.array([row for row in rows if 24 < row[0] < 50 and -125 < row[1] < -66])
    cells = [
        np.minimum((values - values.min()) / (values.max() - values.min()) * side, side - 1).astype(int)
        for values in (kept[:, 0], kept[:, 1])
    ]
    counts = np.bincount(cells[0] * side + cells[1], kept[:, 2], minlength=side * side)
    return counts / counts.sum()


def roads(nodes: int) -> mdp.Space:
    """Streets with lengths of 1 to 2 in a random plane network, the distance along them."""
    import networkx

    generator = np.random.default_rng(5)
    places = generator.random((nodes, 2)) * math.sqrt(nodes)
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
    graph = networkx.Graph()
    graph.add_nodes_from(range(nodes))
    for x in range(nodes):
        for y in np.argsort(apart[x])[1:4].tolist():
            graph.add_edge(x, y, weight=round(float(apart[x, y]), 3) + 0.25)
    parts = [sorted(part) for part in networkx.connected_components(graph)]
    for one, two in pairwise(parts):
        graph.add_edge(one[0], two[0], weight=3.0)
    return mdp.Space(range(nodes), mdp.ln(2) * mdp.metrics.graph(graph, weight="weight"))


def ours(problem: str) -> tuple[mdp.Space, dict[str, Any]]:
    """The space of a problem, and what `optimal` is asked."""
    kind, _, size = problem.partition(" ")
    if problem in SHARED:
        return grid(int(problem.split("x")[1].split("-")[0]), epsilon=SHARED[problem]), {"gap": 1e-5}
    side = int(size)
    if kind == "euclidean":
        return grid(side), {} if side < 40 else {"time_limit": 1700.0}
    if kind == "manhattan":
        space = grid(side, "manhattan")
        return space, {"loss": euclidean_loss(space)}
    if kind == "cities":
        return grid(side), {"prior": populations(side), "gap": 1e-4 if side <= 10 else 1e-2, "time_limit": 600.0}
    return roads(side), {"gap": 1e-3, "time_limit": 600.0}


# Running one


def run_one(solver: str, problem: str, file: Path) -> dict[str, Any]:
    """Solve in this process and write the matrix or the channel."""
    begin, clock = time.process_time(), time.monotonic()
    if solver == OURS:
        space, asked = ours(problem)
        channel = optimal(space, **asked)
        facts = {"loss": channel.loss, "gap": channel.gap, "rounds": channel.rounds, "finished": channel.finished}
        seconds, passed = time.process_time() - begin, time.monotonic() - clock
        begin = time.process_time()
        verdict = verify(channel, space)
        facts |= {"scale": verdict.scale, "holds": verdict.holds, "verify": time.process_time() - begin}
    else:
        space_name, epsilon = solver_channels.PROBLEMS[problem]
        matrix, _ = solver_channels.SOLVERS[solver][2](space_name, epsilon)
        seconds, passed = time.process_time() - begin, time.monotonic() - clock
        facts = {"loss": float((matrix * solver_channels.distances(space_name)).sum() / len(matrix))}
        np.savez_compressed(file, matrix=matrix)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "passed": passed, "memory": memory, **facts}


def elsewhere(solver: str, problem: str, limit: float) -> dict[str, Any]:
    """The same in a process of its own that is stopped at the limit; peers' answers are verified here."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.npz"
        command = [sys.executable, __file__, "--one", solver, problem, str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return {"status": f"not within {limit:g} s"}
        if done.returncode:
            return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1][:60]}
        facts: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        if solver != OURS:
            space, _ = ours(problem)
            facts |= judged(np.load(file)["matrix"], space)
        return facts


def judged(matrix: np.ndarray, space: mdp.Space) -> dict[str, Any]:
    """A solver's matrix as the channel nearest to it that is one: no negative entries, rows that sum to one."""
    positive = np.maximum(matrix, 0)
    channel = Channel.from_matrix(space.points, space.points, positive / positive.sum(axis=1, keepdims=True))
    verdict = verify(channel, space)
    return {"scale": verdict.scale, "holds": verdict.holds}


# Telling


def told(facts: dict[str, Any]) -> str:
    if "status" in facts:
        return facts["status"]
    gap = f"gap {facts['gap']:.1e}" if "gap" in facts else ""
    private = "private" if facts["holds"] else f"NOT private, scale {facts['scale']:.12g}"
    times = f"{facts['seconds']:9.2f} s ({facts['passed']:.2f} s)  {facts['memory']:5.2f} GB"
    after = f"  (verify {facts['verify']:.2f} s)" if "verify" in facts else ""
    return f"{times}  loss {facts['loss']:.7f}  {gap:<12} {private}{after}"


def compare(limit: float, largest: bool) -> None:
    for problem in SHARED:
        if problem == LARGEST and not largest:
            continue
        print(f"\n{problem}")
        mine = elsewhere(OURS, problem, limit)
        print(f"  {OURS:<20} {told(mine)}", flush=True)
        fastest = math.inf
        for peer in PEERS[:1] if problem == LARGEST else PEERS:
            facts = elsewhere(peer, problem, limit)
            fastest = min(fastest, facts.get("seconds", math.inf))
            print(f"  {peer:<20} {told(facts)}", flush=True)
        if "seconds" in mine and math.isfinite(fastest):
            print(f"  ours is {fastest / mine['seconds']:.0f} times as fast as the fastest of them")


def scale(problems: list[str], limit: float) -> list[tuple[int, float]]:
    print("\nhow it scales, at ln 2 for a cell or a unit of length")
    grown = []
    for problem in problems:
        facts = elsewhere(OURS, problem, limit)
        print(f"  {problem:<16} {told(facts)}", flush=True)
        if problem.startswith("euclidean") and "seconds" in facts:
            grown.append((int(problem.split()[1]) ** 2, facts["seconds"]))
    for (few, quick), (many, slow) in pairwise(grown):
        power = math.log(slow / quick) / math.log(many / few)
        print(f"  from {few} to {many} points the time grows as n^{power:.1f}")
    return grown


def plot(grown: list[tuple[int, float]], file: Path) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("  no plot: matplotlib is not installed")
        return
    figure, axes = plt.subplots()
    axes.loglog(*zip(*grown, strict=True), "o-")
    axes.set_xlabel("points")
    axes.set_ylabel("seconds of processor time, certified")
    figure.savefig(file)
    print(f"  plotted in {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description="The optimal mechanism: peers and scaling.")
    parser.add_argument("--quick", action="store_true", help="the small problems only")
    parser.add_argument("--limit", type=float, help="seconds for each problem (default 300, quick 60)")
    parser.add_argument("--only", choices=["peers", "scale"])
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(run_one(arguments.one[0], arguments.one[1], Path(arguments.one[2]))))
        return
    limit = arguments.limit or (60.0 if arguments.quick else 300.0)
    if arguments.only != "scale":
        compare(limit, not arguments.quick)
    if arguments.only != "peers":
        small = ["euclidean 6", "euclidean 8", "euclidean 10", "euclidean 13", "manhattan 10", "cities 8", "roads 60"]
        large = ["euclidean 20", "euclidean 30", "manhattan 20", "cities 10", "roads 300", "cities 20", "euclidean 40"]
        problems = small if arguments.quick else small[:4] + large
        grown = scale(problems, max(limit, 60 if arguments.quick else 1800))
        if arguments.plot and grown:
            plot(sorted(grown), arguments.plot)


if __name__ == "__main__":
    main()
