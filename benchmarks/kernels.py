"""Vertices and kernels of privacy types: every cell of the tables 4a, 5a, 6a and 7a of paper 5, peers beside us.

    python benchmarks/kernels.py                                         # all cells, ten minutes for each at most
    python benchmarks/kernels.py --minutes 1                             # one minute for each
    python benchmarks/kernels.py --only 6a:4x4 --what kernels            # one cell; spaces do not matter
    python benchmarks/kernels.py --only 4a 7a:3bits --what kernels       # some cells
    python benchmarks/kernels.py --json

The peers are the Parma Polyhedra Library (pip install pplpy) and cddlib (pip install pycddlib, with GMP), which
enumerate by double description in exact integers; both are GPL, and without them their place stays empty. Irrational
numbers are replaced for them by rationals: square roots for the vertices, which are handed over in logarithms, and
powers of 2 with such roots for the kernels; a number by the same rational everywhere, so that ties stay ties. All cells
are at ln 2. Where time runs out, "more than N after T s" says how far our stream had come; a peer has no stream, and
says "-". Peers are asked for kernels where there are at most 100 vertices: they end nowhere near with more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import platform
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import metricdp as mdp
from metricdp.design import kernels, vertices
from metricdp.design.kernels._unit_lengths import UnitLengths
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming

try:
    import ppl
except ImportError:
    ppl = None
try:
    import cdd
    import cdd.gmp
except ImportError:
    cdd = None

LN2 = mdp.ln(2)
MOST_VERTICES_FOR_PEERS = 100
DIGITS = 12  # of the rationals that stand for square roots


@dataclass(frozen=True)
class Cell:
    """A row of a table: a space, what is printed there, and "-" or None where nothing is."""

    name: str
    space: Callable[[], Space]
    vertices: str | None
    kernels: str | None


@dataclass(frozen=True)
class Result:
    cell: str
    what: str
    printed: str
    ours: str
    seconds: float
    peers: dict[str, str]


def line(n: int) -> Space:
    return Space.line(n, LN2 * absolute())


def complete(n: int) -> Space:
    return Space(range(n), LN2 * discrete())


def grid(n: int) -> Space:
    return Space.grid(n, n, LN2 * euclidean())


def cube(n: int) -> Space:
    return Space.bits(n, LN2 * hamming())


CELLS = [
    Cell("4a: line of 2", lambda: line(2), "2", "1"),
    Cell("4a: line of 3", lambda: line(3), "4", "2"),
    Cell("4a: line of 4", lambda: line(4), "8", "11"),
    Cell("4a: line of 5", lambda: line(5), "16", "187"),
    Cell("4a: line of 6", lambda: line(6), "32", "15346"),
    Cell("(4a): line of 7", lambda: line(7), None, None),
    Cell("5a: discrete 2", lambda: complete(2), "2", "1"),
    Cell("5a: discrete 3", lambda: complete(3), "6", "5"),
    Cell("5a: discrete 4", lambda: complete(4), "14", "41"),
    Cell("5a: discrete 5", lambda: complete(5), "30", "1291"),
    Cell("(5a): discrete 6", lambda: complete(6), None, None),
    Cell("6a: 2x2 points", lambda: grid(2), "18", "403"),
    Cell("6a: 3x3 points", lambda: grid(3), "4798", "> 10000"),
    Cell("6a: 4x4 points", lambda: grid(4), "-", "-"),
    Cell("7a: 2 bits", lambda: cube(2), "6", "4"),
    Cell("7a: 3 bits", lambda: cube(3), "38", "29275"),
    Cell("7a: 4 bits", lambda: cube(4), "-", "-"),
]


# Ours


class OutOfTimeError(Exception):
    pass


def counted(stream: Callable[[Callable[[int], None]], int], seconds: float) -> tuple[str, float]:
    """How many there are, or more than how many, and after how long."""
    begin, found = time.perf_counter(), 0

    def tell(number: int) -> None:
        nonlocal found
        found = number
        if time.perf_counter() - begin > seconds:
            raise OutOfTimeError

    def late(*_: object) -> None:
        raise OutOfTimeError

    signal.signal(signal.SIGALRM, late)  # a stream tells of itself only now and then
    signal.setitimer(signal.ITIMER_REAL, seconds + 5)
    try:
        return f"{stream(tell)}", time.perf_counter() - begin
    except OutOfTimeError:
        return f"more than {found}", time.perf_counter() - begin
    except mdp.errors.LevelError as error:
        return f"more than {found} ({error})", time.perf_counter() - begin
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def our_vertices(space: Space, seconds: float) -> tuple[str, float]:
    return counted(lambda tell: vertices(space, tell).count(), seconds)


def our_kernels(space: Space, seconds: float) -> tuple[str, float]:
    return counted(lambda tell: sum(map(len, kernels(space, tell).chunks())), seconds)


# The peers: a polytope as rows (b, A) of b + A x >= 0, and how many first rows are equations


def vertex_rows(space: Space) -> tuple[list[list[int]], int]:
    """1-Lipschitz functions that are zero at the first point."""
    lengths = UnitLengths.of(space)
    stand_in = [Fraction(round(math.sqrt(root) * 10**DIGITS), 10**DIGITS) for _, root in lengths.generators]
    rows = []
    for (i, j), coefficients in lengths.table.items():
        distance = sum((c * s for c, s in zip(coefficients, stand_in, strict=True)), Fraction(0)) / lengths.denominator
        row = [distance, *(Fraction((place == j) - (place == i)) for place in range(1, len(space)))]
        rows.append(whole(row))
    return rows, 0


def kernel_rows(space: Space) -> tuple[list[list[int]], int]:
    """Nonnegative weights of the vertices that sum to one in every row."""
    lengths = UnitLengths.of(space)
    bases = []
    for place in range(len(lengths.generators)):
        one = [int(other == place) for other in range(len(lengths.generators))]
        near = Fraction(round(lengths.enclose(one, 200).lower * 10**DIGITS), 10**DIGITS)
        bases.append(lengths.exactly(one) or near)
    columns = [
        [
            math.prod((base**c for base, c in zip(bases, row, strict=True)), start=Fraction(1))
            for row in vertex.coefficients
        ]
        for vertex in vertices(space)
    ]
    equations = [whole([Fraction(-1), *values]) for values in zip(*columns, strict=True)]
    size = len(columns)
    return equations + [[0, *(int(place == other) for other in range(size))] for place in range(size)], len(equations)


def whole(row: list[Fraction]) -> list[int]:
    common = math.lcm(*(value.denominator for value in row))
    return [int(value * common) for value in row]


def count_ppl(rows: list[list[int]], equations: int) -> int:
    system = ppl.Constraint_System()
    variables = [ppl.Variable(place) for place in range(len(rows[0]) - 1)]
    for number, (first, *others) in enumerate(rows):
        value = sum((c * x for c, x in zip(others, variables, strict=True) if c), ppl.Linear_Expression(first))
        system.insert(value == 0 if number < equations else value >= 0)
    return sum(one.is_point() for one in ppl.C_Polyhedron(system).minimized_generators())


def count_cdd(rows: list[list[int]], equations: int) -> int:
    matrix = cdd.gmp.matrix_from_array(rows, lin_set=set(range(equations)), rep_type=cdd.RepType.INEQUALITY)
    found = cdd.gmp.copy_generators(cdd.gmp.polyhedron_from_matrix(matrix))
    return len(found.array)


def peers(problem: tuple[list[list[int]], int], seconds: float) -> dict[str, str]:
    """What the peers count, each in a process of its own that is ended when time is up."""
    told = {}
    for name, library, count in (("ppl", ppl, count_ppl), ("cdd", cdd, count_cdd)):
        if library is None:
            continue
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=_send, args=(theirs, count, problem))
        begin = time.perf_counter()
        process.start()
        if ours.poll(seconds):
            told[name] = f"{ours.recv()} in {time.perf_counter() - begin:.3g} s"
        else:
            told[name] = f"- after {seconds:.3g} s"
            process.terminate()
        process.join()
    return told


def _send(pipe: Any, count: Callable[..., int], problem: tuple[list[list[int]], int]) -> None:
    pipe.send(count(*problem))


# The run


def run(cell: Cell, what: list[str], seconds: float) -> Iterator[Result]:
    space = cell.space()
    few = sum(1 for _ in itertools.islice(vertices(space), MOST_VERTICES_FOR_PEERS + 1)) <= MOST_VERTICES_FOR_PEERS
    if "vertices" in what:
        number, took = our_vertices(space, seconds)
        yield Result(cell.name, "vertices", cell.vertices or "", number, took, peers(vertex_rows(space), seconds))
    if "kernels" in what:
        number, took = our_kernels(space, seconds)
        others = peers(kernel_rows(space), seconds) if few else {}
        yield Result(cell.name, "kernels", cell.kernels or "", number, took, others)


def chosen(cell: Cell, names: list[str]) -> bool:
    def plain(text: str) -> str:
        return text.replace(" ", "").replace("(", "").replace(")", "")

    return not names or any(plain(name) in plain(cell.name) for name in names)


def shown(result: Result) -> str:
    others = "; ".join(f"{name} {answer}" for name, answer in result.peers.items())
    differs = result.printed not in ("", "-", result.ours) and not result.printed.startswith(">")
    mark = "  <- differs from the printed one" if differs and result.ours.isdigit() else ""
    took = "in" if result.ours.isdigit() else "after"
    return (
        f"{result.cell:<18} {result.what:<9} printed {result.printed or 'nothing':<8} "
        f"ours {result.ours} {took} {result.seconds:.3g} s; {others}{mark}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="for each cell and each counter")
    parser.add_argument("--only", nargs="*", default=[], metavar="CELL", help="cells whose names have one of these")
    parser.add_argument("--what", nargs="*", choices=["vertices", "kernels"], default=["vertices", "kernels"])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cells = [cell for cell in CELLS if chosen(cell, arguments.only)]
    if not cells:
        parser.error(f"no such cell; there are {', '.join(cell.name for cell in CELLS)}")
    found = []
    if not arguments.json:
        print(f"Python {platform.python_version()}, {platform.machine()}; peers: {bool(ppl)=}, {bool(cdd)=}")
    for cell in cells:
        for result in run(cell, arguments.what, 60 * arguments.minutes):
            found.append(result)
            if not arguments.json:
                print(shown(result), flush=True)
    if arguments.json:
        print(json.dumps([asdict(result) for result in found], indent=2))


if __name__ == "__main__":
    main()
