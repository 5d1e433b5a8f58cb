"""Paper 5: tables 4a, 5a, 6a and 7a with counts and capacities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

import metricdp as mdp
from metricdp.adversaries import capacity as capacity_of
from metricdp.design import capacity, kernels, vertices
from metricdp.exact.results import short
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming
from metricdp.papers.item import Found, PaperClaim, Size, claim, register
from metricdp.programs import LinearProgram, Sparse
from metricdp.programs.double_description import extreme_rays
from metricdp.programs.exact import Echelon, integers

LN2 = mdp.ln(2)


def line(count: int) -> Space:
    """So many numbers in a row."""
    return Space.line(count, LN2 * absolute())


def complete(count: int) -> Space:
    """So many categories."""
    return Space(range(count), LN2 * discrete())


def grid(side: int) -> Space:
    """A square of points."""
    return Space.grid(side, side, LN2 * euclidean())


def cube(count: int) -> Space:
    """All tuples of so many bits."""
    return Space.bits(count, LN2 * hamming())


def _program(space: Space, largest: bool) -> float:
    """Corollaries 17 and 18 as they are written: an unknown for each entry of the channel."""
    count, falls, apart = len(space), np.exp(-space.distances), space.distances
    program = LinearProgram(maximize=largest)
    program.add_columns([float(i == j) for i in range(count) for j in range(count)])
    program.add_rows(1, 1, Sparse.of([{i * count + j: 1.0 for j in range(count)} for i in range(count)]))
    pairs = [
        (i, k)
        for i in range(count)
        for k in range(count)
        if i != k and sum(math.isclose(apart[i, m] + apart[m, k], apart[i, k]) for m in range(count)) == 2
    ]
    program.add_rows(
        -math.inf,
        0,
        Sparse.of([{i * count + j: falls[i, k], k * count + j: -1.0} for i, k in pairs for j in range(count)]),
    )
    value = float(program.solve().objective)
    return value if largest else 1 - value


def _capacities(name: str, space: Space, printed: tuple[str, str] | None, by_program: bool = True) -> list[PaperClaim]:
    found = capacity(space)
    reached = (
        capacity_of(found.multiplicative_channel).multiplicative,
        capacity_of(found.additive_channel).additive,
    )
    claims = []
    for place, (what, value) in enumerate((("multiplicative", found.multiplicative), ("additive", found.additive))):
        ways = {"reached by a channel": short(float(reached[place]))}
        if by_program:
            ways["linear program of Corollaries 17, 18"] = f"{_program(space, place == 0):.9f}"
        ours = value.exact if value.exact is not None else float(value)
        claims.append(
            claim(f"{name}: {what} capacity", printed[place] if printed else None, ours, None, ways, value=ours)
        )
    return claims


def _counts(
    name: str, space: Space, corners: str | None, mechanisms: str | None, size: Size, most: int
) -> list[PaperClaim]:
    """Numbers of vertices and kernels; kernels are counted up to so many, by chunks."""
    size.tell(f"paper 5, {name}: vertices and kernels")
    number = vertices(space).count()
    claims = [_count(f"{name}: vertices", corners, number, _other_vertices(space))]
    found = 0
    for chunk in kernels(space).chunks():
        found += len(chunk)
        if found > most:
            claims.append(
                claim(f"{name}: kernel mechanisms", mechanisms, f"more than {most:,}",
                      None if mechanisms is None else mechanisms.startswith(">") and found > 10_000, value=found)
            )  # fmt: skip
            return claims
    claims.append(
        _count(f"{name}: kernel mechanisms", mechanisms, found, _other_kernels(space, size.pick(60_000_000, 60_000)))
    )
    return claims


def _count(what: str, printed: str | None, ours: int, ways: dict[str, int | str]) -> PaperClaim:
    agrees = None if printed is None else printed.replace(",", "") == str(ours)
    return claim(what, printed, ours, agrees, {"our enumeration": ours} | ways if ways else None, value=ours)


def _other_vertices(space: Space) -> dict[str, int | str]:
    """Vertices counted once more where another way can: colourings of a cube, double description of a grid."""
    unit = space.metric.unit
    if unit == hamming():
        return {"proper 3-colourings of the cube, over 3": _colourings(space) // 3}
    if unit == euclidean():
        return {"double description, in integers": _by_double_description(space)}
    return {}


def _by_double_description(space: Space) -> int:
    """1-Lipschitz functions that are zero at the first point, moved into the orthant: rays of a cone of integers.

    Square roots are replaced by rationals, a root by the same rational everywhere, so that ties stay ties.
    """
    count = len(space)
    far = [[_length(p, q) for q in space.points] for p in space.points]
    rows = []
    for i, j in itertools.permutations(range(count), 2):
        row = [0] * count
        if i:
            row[i - 1] -= 1
        if j:
            row[j - 1] += 1
        row[count - 1] = far[i][j] + far[0][i] - far[0][j]
        rows.append(row)
    return sum(ray[-1] > 0 for ray in extreme_rays(count, rows, most=1_000_000))


def _length(one: tuple[int, int], two: tuple[int, int]) -> int:
    square = (one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2
    whole = max((k for k in range(1, square + 1) if square % (k * k) == 0), default=0)
    return whole * round(math.sqrt(square // (whole * whole)) * 10**9) if whole else 0


def _colourings(space: Space) -> int:
    points = space.points
    found: list[tuple[int, ...]] = [()]
    for place in range(len(points)):
        before = [i for i in range(place) if hamming()(points[i], points[place]) == 1]
        found = [(*c, k) for c in found for k in range(3) if all(c[i] != k for i in before)]
    return len(found)


def _other_kernels(space: Space, most: int) -> dict[str, int | str]:
    """Kernels counted once more, by trying all sets of as many vertices as points, in floats; {} if too many.

    Where that would take minutes, as for three bits with 48,903,492 sets, by double description in integers.
    """
    exact = [vertex.exact for vertex in vertices(space)]
    corners = [[float(v) for v in corner] for corner in exact if corner]
    rows = len(space)
    if len(corners) < rows or len(corners) != vertices(space).count() or math.comb(len(corners), rows) > most:
        return {}
    if math.comb(len(corners), rows) > _MOST_SETS:
        return {"double description of all mixtures, in integers": _mixtures([c for c in exact if c])}
    columns = np.array(corners)
    sets = itertools.combinations(range(len(corners)), rows)
    found: set[tuple[int, ...]] = set()
    while len(block := np.array(list(itertools.islice(sets, _BLOCK)), dtype=np.int64).reshape(-1, rows)):
        tables = columns[block].transpose(0, 2, 1)
        block, tables = (part[np.abs(np.linalg.det(tables)) > _SINGULAR] for part in (block, tables))
        weights = np.linalg.solve(tables, np.full((len(tables), rows, 1), 1 / rows))[..., 0]
        inside = (weights > -_NEAR).all(axis=1)
        for chosen, shares in zip(block[inside], weights[inside], strict=True):
            found.add(tuple(chosen[shares > _NEAR].tolist()))
    return {"all sets of as many vertices as points, in floats": len(found)}


_BLOCK, _SINGULAR, _NEAR, _MOST_SETS = 50_000, 1e-13, 1e-9, 2_000_000


def _mixtures(corners: Sequence[Sequence[Fraction]]) -> int:
    """The extreme rays of all weights w >= 0 whose mixture of the vertices is constant: each is a kernel.

    The equations are solved for some of the weights; that these are not negative is what the method adds one by one.
    """
    rows = [[corner[x] - corner[0] for corner in corners] for x in range(1, len(corners[0]))]
    held = Echelon.of(integers(rows)[0], fmpz_mat(len(rows), 1))
    basis = [held.null_vector(free) for free in held.free]
    wanted, _ = integers([[vector[place] for vector in basis] for place in held.pivots])
    return len(extreme_rays(len(basis), [[int(v) for v in row] for row in wanted.table()], most=1_000_000))


Cells = tuple[tuple[int, str, str, tuple[str, str]], ...]


def _table(
    name: str, make: Callable[[int], Space], label: str, cells: Cells, size: Size, most: int, few: int
) -> list[PaperClaim]:
    claims: list[PaperClaim] = []
    for count, corners, mechanisms, capacities in cells:
        space = make(count)
        told = f"{label} {count}" if "x" not in label else f"{count} x {count} points"
        if corners != "-" and (not size.quick or count <= few):
            claims += _counts(told, space, corners, mechanisms, size, most)
        claims += _capacities(told, space, capacities, by_program=len(space) <= size.pick(16, 9))
    return claims


@register(5, "table4a", "Kernels and capacities on a line", "Table 4a, Corollary 20")
def table_4a(size: Size) -> Found:
    """Counts by enumeration, capacities exactly."""
    cells: Cells = (
        (2, "2", "1", ("1.33", "0.33")), (3, "4", "2", ("1.67", "0.5")), (4, "8", "11", ("2", "0.67")),
        (5, "16", "187", ("2.33", "0.75")), (6, "32", "15346", ("2.67", "0.83")),
    )  # fmt: skip
    claims = _table("4a", line, "line of", cells, size, 10**7, 5)
    alpha = Fraction(1, 2)
    for count in (2, 3, 6, 11):
        formula = (count * (1 - alpha) + 2 * alpha) / (1 + alpha)
        ours = capacity(line(count)).multiplicative.exact
        claims.append(claim(f"Corollary 20, N = {count}", formula, ours, ours == formula))
    return Found(tuple(claims), size=size.reduced("kernels of the line of 6 are not counted"))


@register(5, "table5a", "Kernels and capacities of the discrete type", "Table 5a, Corollary 22")
def table_5a(size: Size) -> Found:
    """And the factor that Corollary 22 lacks."""
    cells: Cells = (
        (2, "2", "1", ("1.33", "0.33")), (3, "6", "5", ("1.5", "0.4")), (4, "14", "41", ("1.6", "0.43")),
        (5, "30", "1291", ("1.67", "0.44")),
    )  # fmt: skip
    claims = _table("5a", complete, "discrete", cells, size, 10**7, 4)
    for count in (3, 5):
        m = 1 + (count - 1) * 2
        ours = capacity(complete(count), method="program").additive.exact
        claims.append(
            claim(f"Corollary 22, n = {count}: additive capacity", f"at most {1 - Fraction(1, m)}", ours, False,
                  {"exact linear program": ours, "1 - n / (1 + (n - 1) e^eps)": 1 - Fraction(count, m)}, value=ours)
        )  # fmt: skip
    return Found(tuple(claims), size=size.reduced("counts up to 4 categories in place of 5"))


@register(5, "table6a", "Kernels and capacities on grids", "Table 6a")
def table_6a(size: Size) -> Found:
    """The dimensions printed count cells: the points are 2 x 2, 3 x 3 and 4 x 4."""
    cells: Cells = (
        (2, "18", "403", ("1.68", "0.48")), (3, "4798", "> 10000", ("2.5", "0.62")), (4, "-", "-", ("3.53", "0.79")),
    )  # fmt: skip
    return Found(
        tuple(_table("6a", grid, "x", cells, size, size.pick(20_000, 10_000), 2)),
        size=size.reduced("3 x 3 points are not counted"),
        note="On 3 x 3 points ppl counts 4,346 vertices too (benchmarks/kernels.py). Logarithms keep sqrt 8 = 2 sqrt 2 "
        "and such ties exactly; rounding each exp(d) by itself breaks them.",
    )


@register(5, "table7a", "Kernels and capacities of bits", "Table 7a")
def table_7a(size: Size) -> Found:
    """The Hamming cube of two, three and four bits."""
    cells: Cells = (
        (2, "6", "4", ("1.78", "0.56")), (3, "38", "29275", ("2.37", "0.70")), (4, "-", "-", ("3.16", "0.80")),
    )  # fmt: skip
    claims = _table("7a", cube, "bits:", cells, size, 10**7, 2)
    if not size.quick:
        four = cube(4)
        ways = {"proper 3-colourings of the cube, over 3": _colourings(four) // 3}
        claims.append(claim("bits: 4: vertices", None, vertices(four).count(), ways=ways))
    return Found(
        tuple(claims),
        size=size.reduced("kernels of three bits and vertices of four are not counted"),
        note="benchmarks/kernels.py counts the kernels of three bits by ppl, too.",
    )
