"""Channels as solvers return them, kept as fixtures: what `verify` is asked to judge and `certify` to mend.

    python benchmarks/solver_channels.py                       # all of them, into tests/fixtures/solvers
    python benchmarks/solver_channels.py --limit 60            # seconds that a solver may take
    python benchmarks/solver_channels.py --only grid-7x7-ln2   # one problem, the others stay as they are

The problem is the optimal d-private mechanism, with a uniform prior, the distance as loss, and outputs that are the
inputs:

    minimise    sum over x, z of  K[x, z] * distance(x, z) / n
    subject to  exp(-d(x, y)) * K[x, z] <= K[y, z],    sum over z of K[x, z] = 1,    K >= 0

on a line of 25 points and on grids of 7x7 and 8x8 with the Euclidean distance, at d = ln 2 times the distance and at
d = the distance. It is written as a user of each solver would write it: exp(-d) and not exp(d), which grows without
bound, and only the pairs (x, y) with no third point on the way between them, since those imply the rest. qif is given
the same problem by `qif.mechanism.d_privacy.min_loss_given_d`, which writes its own program over the same pairs.

Every solver runs in a process of its own, with its default tolerances. A fixture is what it returned, bit for bit: no
clipping, no dividing of rows. `index.json` says for each where it came from, and which solvers did not finish.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "solvers"
EPSILONS = {"ln2": math.log(2), "one": 1.0}  # for one step of the line or the grid
SPACES = {"line-25": (25,), "grid-7x7": (7, 7), "grid-8x8": (8, 8)}
PROBLEMS = {f"{space}-{epsilon}": (space, epsilon) for space in SPACES for epsilon in EPSILONS}


# The problem


def points(space: str) -> np.ndarray:
    """The points in the order of `Space.line` and `Space.grid`."""
    sides = SPACES[space]
    return np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), axis=-1).reshape(-1, len(sides))


def distances(space: str) -> np.ndarray:
    places = points(space).astype(np.float64)
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))


def unimplied(space: str) -> np.ndarray:
    """Which pairs have no third point on the straight way between them: their steps have no common divisor."""
    places = points(space)
    steps = np.abs(places[:, None] - places[None])
    return np.gcd.reduce(steps, axis=-1) == 1


def program(space: str, epsilon: str) -> tuple[np.ndarray, Any, Any]:
    """Costs, the rows that stay below zero and the rows that equal one, over K row by row."""
    from scipy import sparse

    apart = distances(space)
    count = len(apart)
    first, second = np.nonzero(unimplied(space))
    shrink = np.exp(-EPSILONS[epsilon] * apart[first, second])
    rows = np.arange(first.size)
    shape = (first.size, count)
    one_output = sparse.csr_matrix((shrink, (rows, first)), shape) - sparse.csr_matrix(
        (np.ones(first.size), (rows, second)), shape
    )
    below = sparse.kron(one_output, sparse.identity(count), format="csc")
    sums = sparse.kron(sparse.identity(count), np.ones((1, count)), format="csc")
    return apart.ravel() / count, below, sums


# The solvers: each returns the matrix as it stands, and what it says of itself


def highs(solver: str, crossover: str = "on") -> Callable[[str, str], tuple[np.ndarray, str]]:
    def solve(space: str, epsilon: str) -> tuple[np.ndarray, str]:
        import highspy
        from scipy import sparse

        costs, below, sums = program(space, epsilon)
        rows = sparse.vstack([below, sums], format="csr")
        count = sums.shape[0]
        problem = highspy.HighsLp()
        problem.num_col_, problem.num_row_ = rows.shape[1], rows.shape[0]
        problem.col_cost_ = costs
        problem.col_lower_ = np.zeros(costs.size)
        problem.col_upper_ = np.full(costs.size, highspy.kHighsInf)
        problem.row_lower_ = np.concatenate([np.full(below.shape[0], -highspy.kHighsInf), np.ones(count)])
        problem.row_upper_ = np.concatenate([np.zeros(below.shape[0]), np.ones(count)])
        problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        problem.a_matrix_.start_ = rows.indptr
        problem.a_matrix_.index_ = rows.indices
        problem.a_matrix_.value_ = rows.data
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("solver", solver)
        model.setOptionValue("run_crossover", crossover)
        model.passModel(problem)
        model.run()
        status = model.modelStatusToString(model.getModelStatus())
        return np.array(model.getSolution().col_value).reshape(count, count), status

    return solve


def clarabel(space: str, epsilon: str) -> tuple[np.ndarray, str]:
    import clarabel
    from scipy import sparse

    costs, below, sums = program(space, epsilon)
    count = sums.shape[0]
    rows = sparse.vstack([sums, below, -sparse.identity(costs.size)], format="csc")
    right = np.concatenate([np.ones(count), np.zeros(below.shape[0] + costs.size)])
    cones = [clarabel.ZeroConeT(count), clarabel.NonnegativeConeT(below.shape[0] + costs.size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((costs.size, costs.size))
    answer = clarabel.DefaultSolver(nothing, costs, rows, right, cones, settings).solve()
    return np.array(answer.x).reshape(count, count), str(answer.status)


def qif(solver: str) -> Callable[[str, str], tuple[np.ndarray, str]]:
    def solve(space: str, epsilon: str) -> tuple[np.ndarray, str]:
        import qif

        qif.lp.defaults.solver = solver
        apart, implied = distances(space), ~unimplied(space)
        count, scale = len(apart), EPSILONS[epsilon]
        matrix = qif.mechanism.d_privacy.min_loss_given_d(
            qif.probab.uniform(count),
            count,
            lambda x, y: scale * float(apart[x, y]),
            lambda z, x: float(apart[z, x]),
            d_priv_ch=lambda x, y: bool(implied[x, y]),  # which pairs a chain of others implies
        )
        if matrix.size == 0:
            raise RuntimeError("an empty matrix: it found no solution")
        return np.array(matrix), "returned"

    return solve


SOLVERS: dict[str, tuple[str, str, Callable[[str, str], tuple[np.ndarray, str]]]] = {
    "highs-simplex": ("highspy", "solver=simplex", highs("simplex")),
    "highs-interior": ("highspy", "solver=ipm, with crossover", highs("ipm")),
    "highs-interior-only": ("highspy", "solver=ipm, run_crossover=off", highs("ipm", "off")),
    "clarabel": ("clarabel", "defaults", clarabel),
    "qif": ("qif", "defaults", qif("AUTO")),
    "qif-highs": ("qif", "solver=HIGHS", qif("HIGHS")),
    "qif-glop": ("qif", "solver=GLOP", qif("GLOP")),
}


# Writing


def describe(problem: str, solver: str) -> dict[str, Any]:
    space, epsilon = PROBLEMS[problem]
    package, options, _ = SOLVERS[solver]
    distance = "absolute" if len(SPACES[space]) == 1 else "euclidean"
    return {
        "problem": problem,
        "shape": list(SPACES[space]),
        "metric": f"ln(2) * {distance}" if epsilon == "ln2" else distance,
        "loss": distance,
        "prior": "uniform",
        "solver": solver,
        "package": package,
        "version": importlib.metadata.version(package),
        "options": options,
    }


def one(problem: str, solver: str, file: Path) -> None:
    """Solve and write, in this process."""
    space, epsilon = PROBLEMS[problem]
    begin = time.perf_counter()
    matrix, status = SOLVERS[solver][2](space, epsilon)
    seconds = time.perf_counter() - begin
    objective = float((matrix * distances(space)).sum() / len(matrix))
    np.savez_compressed(file, matrix=matrix)
    print(json.dumps({"status": status, "objective": objective, "seconds": round(seconds, 2)}))


def elsewhere(problem: str, solver: str, limit: float) -> dict[str, Any]:
    """Solve in a process of its own, that is stopped at the limit, and keep what it returned."""
    name = f"{problem}-{solver}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.npz"
        command = [sys.executable, __file__, "--one", problem, solver, str(file)]
        facts = describe(problem, solver)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return {**facts, "file": None, "status": f"not finished within {limit:g} s"}
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no word"])[-1]
            return {**facts, "file": None, "status": f"failed: {reason}"}
        kept = FOLDER / file.name
        kept.write_bytes(file.read_bytes())
        return {**facts, "file": kept.name, **json.loads(done.stdout.strip().splitlines()[-1])}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the solvers' channels that the tests judge and mend.")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each (default 300)")
    parser.add_argument("--only", help="one problem")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        problem, solver, file = arguments.one
        one(problem, solver, Path(file))
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    index = FOLDER / "index.json"
    kept = json.loads(index.read_text()) if index.exists() else []
    for problem in [arguments.only] if arguments.only else list(PROBLEMS):
        kept = [entry for entry in kept if entry["problem"] != problem]
        for solver in SOLVERS:
            entry = elsewhere(problem, solver, arguments.limit)
            print(f"{problem:<14} {solver:<20} {entry['status']:<28} {entry.get('seconds', '')}", flush=True)
            kept.append(entry)
            index.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
