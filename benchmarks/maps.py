"""Optimal mechanisms on maps: thousands of places, skewed priors, no symmetry.

    python benchmarks/maps.py                        # every instance at its own limit (two hours)
    python benchmarks/maps.py --quick                # the small ones, and 30 seconds for each peer
    python benchmarks/maps.py --only "skew 400"      # one instance
    python benchmarks/maps.py --peers                # HiGHS, Clarabel and PDLP beside it (see requirements.txt)
    python benchmarks/maps.py --stopped              # stopped after 1, 2, 5, 10 and 20 seconds: overrun, certification
    python benchmarks/maps.py --plot growth.svg      # time and memory against the number of places

Long runs can be made one by one: `--figures FILE` adds what was measured to a file, and the plot is of all in it.

The instances are made here, from fixed seeds. In all of them the level is 1 for the median distance of a place to its
nearest neighbour; the loss is the distance in the unit of the places themselves (a side of the town, minutes, metres):

    city N     places drawn from a mixture of Gaussians, the prior its density
    skew N     the same with the density times draws from a Pareto law of exponent 1.1
    roads N    crossings of a random geometric graph, the distance along streets of different speed, a Pareto prior
    cities     907 cities of the United States with their inhabitants and great-circle distances, from the file that
               ships with the package (GeoNames, CC BY 4.0; see src/metricdp/cli/demo/data/README.md)
    few N      the places of skew N, with the 100 likeliest as the only outputs

Each is solved in a process of its own. Times are seconds of processor time, certification included, and in brackets
seconds that passed. "gap" is what is proved: (loss - bound) / loss. Below it are the mechanisms in closed form, with
every output read as the best guess: those need no search, and no answer may be worse. Peers solve the plain program,
n^2 variables and n^3 constraints, and are stopped at the limit.

With ``--stopped`` each line is one limit. "over" is by how many seconds of the clock the search ended after it, reading
of distances and losses and closed forms included; "certified in" is what followed; "processor" are the seconds of both.
No loss may be above the best in closed form, and no search end more than two seconds late.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import resource
import subprocess
import sys
import time
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal

CITIES = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "cli" / "demo" / "data" / "us_cities.csv"
OUTPUTS = 100
SOLVED = 6000
"""Of so many places the tight form is computed as it stands, by a system of equations."""

OURS = "metricdp"
PEERS = ("highs-interior", "highs-pdlp", "clarabel")


class Wanted(NamedTuple):
    """The gap that is asked for, and the seconds it may take."""

    gap: float
    limit: float


INSTANCES = {
    "skew 100": Wanted(0.01, 10),
    "skew 200": Wanted(0.01, 10),
    "skew 400": Wanted(0.01, 40),
    "skew 1000": Wanted(0.03, 180),
    "skew 1600": Wanted(0.05, 600),
    "city 1000": Wanted(0.03, 180),
    "city 2000": Wanted(0.03, 300),
    "city 5000": Wanted(0.03, 600),
    "city 10000": Wanted(0.03, 1800),
    "few 5000": Wanted(0.01, 600),
    "roads 300": Wanted(0.01, 60),
    "roads 1000": Wanted(0.03, 180),
    "cities": Wanted(0.03, 180),
}
QUICK = ("skew 100", "skew 200", "roads 300")
STOPPED = tuple(f"{kind} {count}" for count in (200, 400, 1000, 1600, 2000, 5000) for kind in ("skew", "city"))
LIMITS = [1.0, 2.0, 5.0, 10.0, 20.0]
NAMED = re.compile("cities|(skew|city|roads|few) [1-9][0-9]*")
WITH_PEERS = ("skew 100", "skew 200")


def wanted(name: str) -> Wanted:
    """What is asked of an instance; of another size, 3% in ten minutes."""
    return INSTANCES.get(name, Wanted(0.03, 600))


# The instances


def mixture(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Places from eight Gaussians, no two of them equal, and the density there."""
    generator = np.random.default_rng(seed)
    centres, widths = generator.random((8, 2)), generator.uniform(0.04, 0.15, 8)
    shares = generator.dirichlet(np.full(8, 3.0))
    places = np.empty((0, 2))
    while len(places) < count:
        which = generator.choice(8, size=2 * count, p=shares)
        drawn = np.round(centres[which] + widths[which, None] * generator.normal(size=(2 * count, 2)), 5)
        places = np.unique(np.concatenate([places, drawn]), axis=0)
    places = places[generator.permutation(len(places))[:count]]
    away = ((places[:, None] - centres) ** 2).sum(axis=-1)
    return places, (shares / widths**2 * np.exp(-away / (2 * widths**2))).sum(axis=1)


def neighbour_distance(apart: np.ndarray) -> float:
    """The median distance of a place to its nearest neighbour."""
    return float(np.median(np.where(np.eye(len(apart), dtype=bool), np.inf, apart).min(axis=1)))


def plane(points: np.ndarray) -> np.ndarray:
    return np.hypot(points[:, None, 0] - points[:, 0], points[:, None, 1] - points[:, 1])


def roads(count: int) -> Any:
    """A random geometric graph; its streets are driven at one of three speeds. The pieces are joined."""
    import networkx

    generator = np.random.default_rng(count + 7)
    places = generator.random((count, 2))
    apart = plane(places)
    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    for x, y in np.argwhere(np.triu(apart < 1.6 / math.sqrt(count), 1)).tolist():
        graph.add_edge(
            x, y, minutes=Fraction(round(100 * math.sqrt(count) * apart[x, y] * generator.choice([1, 1.5, 3])) + 1, 100)
        )
    pieces = [sorted(piece) for piece in networkx.connected_components(graph)]
    for piece in pieces[1:]:
        others = [x for x in range(count) if x not in set(piece)]
        x, y = divmod(int(apart[np.ix_(piece, others)].argmin()), len(others))
        graph.add_edge(
            piece[x], others[y], minutes=Fraction(round(300 * math.sqrt(count) * apart[piece[x], others[y]]) + 1, 100)
        )
    return graph


@cache
def instance(name: str) -> tuple[mdp.Space, np.ndarray, dict[str, Any]]:
    """The space, the prior, and what else `optimal` is asked."""
    kind, _, size = name.partition(" ")
    if kind == "cities":
        with CITIES.open(newline="") as file:
            rows = [(float(r["latitude"]), float(r["longitude"]), float(r["population"])) for r in csv.DictReader(file)]
        points = [row[:2] for row in rows]
        metric, weights = mdp.metrics.great_circle(), np.array([row[2] for row in rows])
        apart = mdp.Space(points, metric).distances
    elif kind == "roads":
        graph = roads(int(size))
        points, metric = list(graph.nodes), mdp.metrics.graph(graph, weight="minutes")
        weights = np.random.default_rng(1).pareto(1.1, len(points)) + 1
        apart = mdp.Space(points, metric).distances
    else:
        places, weights = mixture(int(size), int(size))
        if kind != "city":
            weights = weights * (np.random.default_rng(int(size) + 1).pareto(1.1, len(places)) + 1)
        points, metric = [tuple(place) for place in places.tolist()], mdp.metrics.euclidean()
        apart = plane(places)
    level = Fraction(1 / neighbour_distance(apart)).limit_denominator(10**6)
    space, prior = mdp.Space(points, level * metric), weights / weights.sum()
    asked: dict[str, Any] = {}
    if kind == "few":
        asked["outputs"] = [points[x] for x in np.sort(np.argsort(-prior, kind="stable")[:OUTPUTS]).tolist()]
    return space, prior, asked


class Watch:
    """A progress callback that keeps when it was last called: the search is over then, and certification begins."""

    def __init__(self) -> None:
        self.begun, self.last, self.seconds = time.process_time(), 0.0, 0.0

    def __call__(self, update: Any) -> None:
        self.last, self.seconds = update.seconds, time.process_time() - self.begun


def unit_losses(space: mdp.Space, outputs: list[Any] | None) -> tuple[np.ndarray, np.ndarray]:
    """The distances d, and losses of points by outputs, in the space's metric."""
    level = float(space.metric.level)
    kept = [space.index(z) for z in outputs] if outputs else range(len(space))
    return space.distances, space.distances[:, list(kept)] / level


# What needs no search


def closed_forms(name: str) -> dict[str, float]:
    """The losses of mechanisms in closed form, remapped; each at the highest level at which it is private in floats."""
    space, prior, asked = instance(name)
    distances, losses = unit_losses(space, asked.get("outputs"))
    costs = prior[:, None] * losses

    def remapped(matrix: np.ndarray) -> float:
        return float((matrix.T @ costs).min(axis=1).sum())

    found = {"constant": float(costs.sum(axis=0).min())}
    half = np.exp(-distances / 2)
    found["exponential"] = remapped(half / half.sum(axis=1, keepdims=True))
    share = 1.0
    while share > 0.05 and len(space) <= SOLVED:  # where weights are negative, a lower level has none
        falls = np.exp(-share * distances)
        weights = np.linalg.solve(falls, np.ones(len(falls)))
        if weights.min() >= 0:
            found["tight"] = remapped(falls * weights)
            break
        clipped = falls * np.maximum(weights, 0)
        sums = clipped.sum(axis=1)
        spread = np.abs(np.log(sums)[:, None] - np.log(sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            if (share * distances + spread <= distances + 1e-12).all():
                found["tight, clipped"] = remapped(clipped / sums[:, None])
                break
        share *= 0.9
    if isinstance(space.points[0], tuple) and "cities" not in name and len(space) <= SOLVED:
        found["planar noise, snapped (about)"] = remapped(snapped(np.array(space.points), float(space.metric.level)))
    return found


def snapped(places: np.ndarray, level: float) -> np.ndarray:
    """Planar Laplace noise, snapped to the nearest place: from 1,000 spread-out draws for each."""
    from scipy.spatial import cKDTree

    generator, count = np.random.default_rng(3), 1000
    angles = 2 * np.pi * ((np.arange(count) * 0.6180339887498949) % 1)
    noise = generator.gamma(2.0, 1 / level, count)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    tree, matrix = cKDTree(places), np.zeros((len(places), len(places)))
    for x, place in enumerate(places):
        np.add.at(matrix[x], tree.query(place + noise)[1], 1 / count)
    return matrix


# The peers


def plain_program(name: str) -> tuple[np.ndarray, Any, Any]:
    """Costs, the rows that stay below zero and the rows that equal one, over K row by row."""
    from scipy import sparse

    space, prior, asked = instance(name)
    distances, losses = unit_losses(space, asked.get("outputs"))
    count, outputs = losses.shape
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    rows, shape = np.arange(first.size), (first.size, count)
    one_output = sparse.csr_matrix((np.exp(-distances[first, second]), (rows, first)), shape) - sparse.csr_matrix(
        (np.ones(first.size), (rows, second)), shape
    )
    below = sparse.kron(one_output, sparse.identity(outputs), format="csc")
    sums = sparse.kron(sparse.identity(count), np.ones((1, outputs)), format="csc")
    return (prior[:, None] * losses).ravel(), below, sums


def peer(solver: str, name: str) -> dict[str, Any]:
    import solver_channels

    solver_channels.program = lambda *_: plain_program(name)
    solve = {
        "highs-interior": solver_channels.highs("ipm", "off"),
        "highs-pdlp": solver_channels.highs("pdlp", "off"),
        "clarabel": solver_channels.clarabel,
    }[solver]
    matrix, status = solve("", "")
    costs = plain_program(name)[0]
    return {"loss": float(costs @ matrix.ravel()), "says": status}


# Running


def mine(name: str, limit: float) -> dict[str, Any]:
    space, prior, asked = instance(name)
    space = mdp.Space(space.points, space.metric)  # of which nothing is known yet
    begin, clock = time.process_time(), time.monotonic()
    watch = Watch()
    channel = optimal(space, prior, gap=wanted(name).gap, time_limit=limit, progress=watch, **asked)
    seconds, passed = time.process_time() - begin, time.monotonic() - clock
    memory, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, time.process_time()
    verdict = verify(channel, space)
    return {
        "seconds": seconds,
        "passed": passed,
        "searched": watch.last,
        "search": watch.seconds,
        "memory": memory,
        "loss": channel.loss,
        "bound": channel.bound,
        "gap": channel.gap,
        "finished": channel.finished,
        "reason": channel.reason,
        "rounds": channel.rounds,
        "holds": verdict.holds,
        "verify": time.process_time() - begin,
    }


def run_one(what: str, name: str, limit: float) -> dict[str, Any]:
    begin = time.process_time()
    if what == OURS:
        return mine(name, limit)
    facts: dict[str, Any] = {"losses": closed_forms(name)} if what == "closed" else peer(what, name)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": time.process_time() - begin, "memory": memory, **facts}


def elsewhere(what: str, name: str, limit: float, patience: float) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", what, name, str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return {"status": f"not within {patience:g} s"}
    if done.returncode:
        return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1][:100]}
    facts: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return facts


def told(facts: dict[str, Any]) -> str:
    if "status" in facts:
        return str(facts["status"])
    parts = [f"{facts['seconds']:8.1f} s", f"({facts['passed']:.1f} s)" if "passed" in facts else ""]
    parts += [f"{facts['memory']:5.2f} GB", f"loss {facts['loss']:.6g}"]
    if "gap" in facts:
        private = "private" if facts["holds"] else "NOT private"
        parts += [f"bound {facts['bound']:.6g}", f"gap {100 * facts['gap']:.2f}%", f"{facts['rounds']} rounds", private]
        parts += [f"(verify {facts['verify']:.1f} s)", "" if facts["finished"] else f"not finished: {facts['reason']}"]
    return "  ".join(part for part in [*parts, facts.get("says", "")] if part)


def show(name: str, limit: float | None, peers: float) -> dict[str, Any]:
    allowed = limit or wanted(name).limit
    print(f"\n{name}: {100 * wanted(name).gap:g}% within {allowed:g} s", flush=True)
    facts = elsewhere(OURS, name, allowed, 2 * allowed + 900)
    print(f"  {OURS:<16} {told(facts)}", flush=True)
    free = elsewhere("closed", name, allowed, 600)
    for form, loss in sorted(free.get("losses", {}).items(), key=lambda pair: pair[1]):
        print(f"    in closed form: loss {loss:.6g}  {form}")
    if "losses" in free and "loss" in facts:
        ratio = facts["loss"] / min(free["losses"].values())
        print(f"    our loss is {ratio:.4f} of the best of them ({free['seconds']:.1f} s for all)", flush=True)
    for solver in PEERS if peers and name in WITH_PEERS else ():
        print(f"  {solver:<16} {told(elsewhere(solver, name, peers, peers))}", flush=True)
    return facts


def stopped(names: tuple[str, ...], limits: list[float]) -> None:
    """What a time limit leaves, for each of some limits."""
    heads = f"{'limit':>6}{'over':>8}{'certified in':>14}{'processor':>17}{'memory':>11}{'gap':>9}"
    print(f"{'':<12}{heads}  of the best form")
    for name in names:
        best = min(elsewhere("closed", name, 0.0, 900).get("losses", {}).values(), default=math.nan)
        for limit in limits:
            facts = elsewhere(OURS, name, limit, 900)
            print(f"{name:<12}{limit:6g}{facts.get('status') or left(facts, limit, best)}", flush=True)


_PROOF = 1e-8
"""What it may cost to prove that a closed form, which is computed in floats here, is private: a billionth or two."""


def left(facts: dict[str, Any], limit: float, best: float) -> str:
    """One line of it, and which of the bars it misses."""
    over, rest = max(facts["searched"] - limit, 0.0), facts["passed"] - facts["searched"]
    work = f"{facts['search']:.1f} + {facts['seconds'] - facts['search']:.1f} s"
    shown = f"{over:6.2f} s{rest:12.2f} s{work:>17}{facts['memory']:8.2f} GB{100 * facts['gap']:8.2f}%"
    missed = {
        "LATE": over > 2,
        "WORSE": facts["loss"] > best * (1 + _PROOF),
        "NO BOUND": facts["bound"] <= 0,
        "NOT PRIVATE": not facts["holds"],
    }
    return "  ".join([shown, f"{facts['loss'] / best:.4f}", *(bar for bar, true in missed.items() if true)])


def plot(grown: dict[str, dict[str, Any]], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    for kind in ("skew", "city", "roads"):
        some = sorted((int(n.split()[1]), f) for n, f in grown.items() if n.startswith(kind + " ") and "seconds" in f)
        if some:
            left.loglog([n for n, _ in some], [f["seconds"] for _, f in some], "o-", label=kind)
            right.loglog([n for n, _ in some], [f["memory"] for _, f in some], "o-", label=kind)
            for n, f in some:
                place = {"textcoords": "offset points", "xytext": (5, -9), "fontsize": 7}
                left.annotate(f"{100 * f['gap']:.1f}%", (n, f["seconds"]), **place)
    left.set(xlabel="places", ylabel="seconds of processor time, with the gap proved")
    right.set(xlabel="places", ylabel="memory at most, GB")
    for axes in (left, right):
        shown = [n for n in (100, 200, 500, 1000, 2000, 5000, 10_000) if axes.get_xlim()[0] <= n <= axes.get_xlim()[1]]
        axes.set_xticks(shown, [f"{n:,}" for n in shown])
        axes.set_xticks([], minor=True)
        axes.margins(x=0.12)
    left.legend()
    figure.tight_layout()
    figure.savefig(file)
    print(f"\nplotted in {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Optimal mechanisms on maps.")
    parser.add_argument("--quick", action="store_true", help="the small instances only")
    parser.add_argument("--only", nargs="*", help="these instances; none of them where no name follows")
    parser.add_argument("--limit", type=float, help="seconds for `optimal`, instead of each instance's own")
    parser.add_argument("--peers", nargs="?", type=float, const=300.0, default=0.0, help="seconds for each (300)")
    parser.add_argument("--stopped", nargs="*", type=float, help="what these limits leave (1, 2, 5, 10, 20 seconds)")
    parser.add_argument("--figures", type=Path, help="a file of what was measured before, to which this is added")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        what, name, limit = arguments.one
        print(json.dumps(run_one(what, name, float(limit))))
        return
    if arguments.stopped is not None:
        stopped(tuple(arguments.only or STOPPED), arguments.stopped or LIMITS)
        return
    names = (QUICK if arguments.quick else tuple(INSTANCES)) if arguments.only is None else tuple(arguments.only)
    for name in names:
        if not NAMED.fullmatch(name):
            parser.error(f"there is no instance {name!r}; there are {', '.join(INSTANCES)}, and other sizes of these")
    peers = min(arguments.peers or 30.0, 30.0) if arguments.quick else arguments.peers
    kept = arguments.figures
    grown = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for name in names:
        grown[name] = show(name, arguments.limit, peers)
        if kept:
            kept.write_text(json.dumps(grown, indent=1))
    if arguments.plot:
        plot(grown, arguments.plot)


if __name__ == "__main__":
    main()
