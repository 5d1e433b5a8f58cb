"""Channels with planted faults: `verify` names the place, and accepts the twin without the fault.

The channels are tight: every output z is as likely as the promise allows to tell its nearer inputs from its farther
ones, K(x)(z) = y_z 3^-D(x, z) at the distance ln 3 times D, with y such that rows sum to one (the tight-constraints
mechanism of paper 3, section 5). So the smallest fault breaks them. Where the tightest case is, and by how much it
exceeds the promise, is found here again by trying every triple in fractions.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import networkx
import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.exact.balls import precision

m = mdp.metrics
OFF = Fraction(1, 10**12)
BASE = 3  # in base 2, a copy in floats would keep every ratio
LEVEL = mdp.ln(BASE)


@dataclass(frozen=True)
class Tight:
    """A channel with fractions, its space, and the distances in units of ln 3 as this file computes them."""

    space: mdp.Space
    apart: list[list[int]]
    rows: list[list[Fraction]]

    @property
    def points(self):
        return self.space.points

    def channel(self, rows=None):
        return Channel.from_matrix(self.points, self.points, rows or self.rows)


def tight(points, metric, distance):
    points = list(points)
    apart = [[distance(x, y) for y in points] for x in points]
    phi = fmpq_mat([[fmpq(1, BASE**steps) for steps in row] for row in apart])
    solved = phi.solve(fmpq_mat([[1]] * len(points)))
    y = [Fraction(int(solved[i, 0].p), int(solved[i, 0].q)) for i in range(len(points))]
    assert min(y) > 0, "no tight channel on this space"
    rows = [[y[z] / BASE**steps for z, steps in enumerate(row)] for row in apart]
    return Tight(mdp.Space(points, LEVEL * metric), apart, rows)


def on_graph(network):
    lengths = dict(networkx.all_pairs_shortest_path_length(network))
    return tight(sorted(network), m.graph(network), lambda x, y: lengths[x][y])


def uneven():
    places = [0, 1, 3, 4, 9]
    return tight(places, m.matrix(places, [[abs(x - y) for y in places] for x in places]), lambda x, y: abs(x - y))


def manhattan(rows, columns):
    return tight(
        itertools.product(range(rows), range(columns)),
        m.manhattan(),
        lambda x, y: abs(x[0] - y[0]) + abs(x[1] - y[1]),
    )


CASES = {
    "line of 5": lambda: tight(range(5), m.absolute(), lambda x, y: abs(x - y)),
    "line of 24": lambda: tight(range(24), m.absolute(), lambda x, y: abs(x - y)),
    "uneven line, as a matrix": uneven,
    "3x5 grid, Manhattan": lambda: manhattan(3, 5),
    "8 tuples of bits, Hamming": lambda: tight(
        itertools.product((0, 1), repeat=3), m.hamming(), lambda x, y: sum(a != b for a, b in zip(x, y, strict=True))
    ),
    "6 values, discrete": lambda: tight("abcdef", m.discrete(), lambda x, y: int(x != y)),
    "cycle of 7": lambda: on_graph(networkx.cycle_graph(7)),
    "Petersen's graph": lambda: on_graph(networkx.petersen_graph()),
    "a tree": lambda: on_graph(networkx.balanced_tree(2, 2)),
}


ALL_ALIKE = "6 values, discrete"  # rows exchanged, or their metric permuted, are as good as before


@pytest.fixture(params=CASES, scope="module")
def case(request):
    return CASES[request.param]()


@pytest.fixture(params=[name for name in CASES if name != ALL_ALIKE], scope="module")
def wide(request):
    return CASES[request.param]()


def tightest(rows, apart):
    """By how much the largest scale exceeds 1, and all triples that reach it; every triple is tried."""
    best, triples = -math.inf, set()
    for x, other in itertools.permutations(range(len(rows)), 2):
        for z in range(len(rows[0])):
            here, there = rows[x][z], rows[other][z]
            if here == 0:
                continue
            if there == 0:
                value = math.inf
            else:
                beyond = float(here / there / BASE ** apart[x][other] - 1)
                excess = math.log1p(beyond) if beyond > -0.5 else math.log1p(-0.5)  # far from tight is all alike
                value = excess / (apart[x][other] * math.log(BASE))
            blur = 1e-9 * abs(best) + 1e-25 if math.isfinite(best) else 0.0
            if value > best + blur:
                best, triples = value, {(x, other, z)}
            elif value >= best - blur:
                triples.add((x, other, z))
    return best, triples


def judged(case, rows, channel=None):
    """The verdict on rows, after it was found to be the one that trying every triple gives; its witness as places."""
    excess, triples = tightest(rows, case.apart)
    verdict = verify(channel or case.channel(rows), case.space)
    x, other, z = verdict.witness
    witness = case.points.index(x), case.points.index(other), case.points.index(z)
    assert witness in triples
    assert verdict.holds == (excess <= 0)
    if math.isinf(excess):
        assert verdict.scale == verdict.scale_below == math.inf
    else:
        blur = 1e-9 * abs(excess) + 1e-25  # of the search in this file
        assert Fraction(verdict.scale_below) - 1 <= Fraction(excess + blur)
        assert Fraction(verdict.scale) - 1 >= Fraction(excess - blur)
        assert verdict.scale - verdict.scale_below <= 1e-15 * verdict.scale
    return verdict, witness


def copied(rows):
    return [list(row) for row in rows]


def farthest_output(case, x):
    return max(range(len(case.points)), key=lambda z: (case.apart[x][z], z))


# The twins


def test_the_unbroken_twin_is_exactly_private(case):
    verdict, _ = judged(case, case.rows)
    assert verdict.holds
    assert verdict.scale == verdict.scale_below == 1


# The faults


@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_zero_against_a_positive(case, place):
    x = range(len(case.points))[place]
    z = farthest_output(case, x)
    rows = copied(case.rows)
    rows[x][x] += rows[x][z]
    rows[x][z] = Fraction(0)
    verdict, witness = judged(case, rows)
    assert not verdict.holds
    assert verdict.scale == math.inf
    assert witness[1:] == (x, z)


def test_a_positive_against_zeros(case):
    """An output that one input alone can give."""
    x = len(case.points) // 2
    z = farthest_output(case, x)
    rows = copied(case.rows)
    for other, row in enumerate(rows):
        if other != x:
            row[x] += row[z]
            row[z] = Fraction(0)
    verdict, witness = judged(case, rows)
    assert not verdict.holds
    assert verdict.scale == math.inf
    assert (witness[0], witness[2]) == (x, z)


@pytest.mark.parametrize("place", [0, 1, -2, -1])
@pytest.mark.parametrize("off", [OFF, OFF / 10**30], ids=["1e-12", "1e-42"])
def test_one_entry_too_small(case, place, off):
    x = range(len(case.points))[place]
    z = farthest_output(case, x)
    rows = copied(case.rows)
    rows[x][z] -= off * case.rows[x][z]
    rows[x][x] += off * case.rows[x][z]
    assert case.rows[x][z] < case.rows[x][x]  # so that what is paid back is the smaller fault
    if off == OFF:
        verdict, witness = judged(case, rows)
        assert 0 < verdict.scale - 1 < 2e-12
        assert witness[1:] == (x, z)
    else:
        verdict = verify(case.channel(rows), case.space)  # floats cannot say by how much
        assert verdict.witness[1:] == (case.points[x], case.points[z])
        assert 1 <= verdict.scale_below <= verdict.scale <= math.nextafter(1, 2)
    assert not verdict.holds


def test_one_entry_too_large(wide):
    """Raised at x, for an output z from which another input lies straight behind x."""
    z, x, behind = next(
        (z, x, y)
        for z, x, y in itertools.permutations(range(len(wide.points)), 3)
        if wide.apart[z][y] == wide.apart[z][x] + wide.apart[x][y] and wide.rows[x][z] < wide.rows[x][x]
    )
    rows = copied(wide.rows)
    rows[x][z] += OFF * wide.rows[x][z]
    rows[x][x] -= OFF * wide.rows[x][z]
    verdict, witness = judged(wide, rows)
    assert not verdict.holds
    assert 0 < verdict.scale - 1 < 2e-12
    assert (witness[0], witness[2]) == (x, z)
    assert wide.apart[z][witness[1]] == wide.apart[z][x] + wide.apart[x][witness[1]]
    assert wide.apart[x][witness[1]] <= wide.apart[x][behind]


def test_a_wrong_row(wide):
    """The row of another input in place of one's own."""
    x = 0
    rows = copied(wide.rows)
    rows[x] = list(wide.rows[farthest_output(wide, x)])
    verdict, witness = judged(wide, rows)
    assert not verdict.holds
    assert x in witness[:2]


def test_a_row_of_a_sharper_channel(case):
    """One row made with twice the epsilon: private by itself, and not beside the others."""
    x = len(case.points) // 2
    rows = copied(case.rows)
    sharp = [entry * Fraction(1, BASE**steps) for entry, steps in zip(rows[x], case.apart[x], strict=True)]
    rows[x] = [entry / sum(sharp) for entry in sharp]
    verdict, witness = judged(case, rows)
    assert not verdict.holds
    assert x in witness[:2]


def test_two_rows_exchanged(wide):
    first, second = 0, farthest_output(wide, 0)
    rows = copied(wide.rows)
    rows[first], rows[second] = rows[second], rows[first]
    verdict, witness = judged(wide, rows)
    assert not verdict.holds
    assert {first, second} & set(witness[:2])


def test_a_permuted_metric(wide):
    """The right channel beside a metric whose points were listed in another order."""
    order = [1, 0, *range(2, len(wide.points))]
    apart = [[wide.apart[i][j] for j in order] for i in order]
    assert apart != wide.apart
    space = mdp.Space(wide.points, LEVEL * m.matrix(wide.points, apart))
    verdict, witness = judged(Tight(space, apart, wide.rows), wide.rows)
    assert not verdict.holds
    assert apart[witness[0]][witness[1]] < wide.apart[witness[0]][witness[1]]


# Rows that are the same few numbers in another order: rounding happens to keep or shrink their ratios.
STILL_PRIVATE = {"8 tuples of bits, Hamming", ALL_ALIKE, "cycle of 7", "Petersen's graph"}


@pytest.mark.parametrize("name", CASES)
def test_a_float32_copy(name):
    case = CASES[name]()
    copy = np.array([[float(entry) for entry in row] for row in case.rows]).astype(np.float32)
    channel = Channel.from_matrix(case.points, case.points, copy.astype(np.float64))
    rows = [[channel.probability(x, z) for z in case.points] for x in case.points]
    verdict, _ = judged(case, rows, channel)
    assert verdict.holds == (name in STILL_PRIVATE)
    assert abs(verdict.scale - 1) < 1e-6


# A transposed metric


def attributed(first, second):
    return LEVEL * m.attributes({"row": first * m.absolute(), "column": second * m.absolute()})


@pytest.mark.parametrize(("count", "wide"), [(3, 3), (3, 5), (4, 4)])
def test_a_transposed_metric(count, wide):
    """Rows are worth one step and columns two; with the metric of the transposed grid, rows are too far apart."""
    points = list(itertools.product(range(count), range(wide)))
    space = mdp.Space(points, attributed(1, 2))
    made = tight(
        points, m.attributes({"row": m.absolute(), "column": 2 * m.absolute()}), lambda x, y: steps(x, y, 1, 2)
    )
    assert verify(made.channel(), space).scale == 1
    verdict = verify(made.channel(), mdp.Space(points, attributed(2, 1)))
    assert not verdict.holds
    assert verdict.scale == verdict.scale_below == 2
    x, other, z = verdict.witness
    assert x[0] == other[0]  # columns alone are told apart too well
    assert x[1] != other[1]
    ratio = made.channel().probability(x, z) / made.channel().probability(other, z)
    assert ratio == Fraction(BASE**2) ** abs(x[1] - other[1])


def steps(x, y, first, second):
    return first * abs(x[0] - y[0]) + second * abs(x[1] - y[1])


def test_a_transposed_channel():
    """Columns taken for rows, which nothing shows where columns sum to one as well."""
    points = list(range(4))
    rows = [[Fraction(27, 40), Fraction(9, 40), Fraction(3, 40), Fraction(1, 40)]]
    rows += [[rows[0][(z - x) % 4] for z in points] for x in points[1:]]
    columns = [list(column) for column in zip(*rows, strict=True)]
    space = mdp.Space.line(4, 2 * LEVEL * m.absolute())
    right, wrong = (verify(Channel.from_matrix(points, points, matrix), space) for matrix in (rows, columns))
    for verdict, matrix in ((right, rows), (wrong, columns)):
        apart = [[2 * abs(x - y) for y in points] for x in points]
        excess, triples = tightest(matrix, apart)
        assert verdict.holds == (excess <= 0)
        assert verdict.scale == pytest.approx(1 + excess, rel=1e-14)
        assert verdict.witness in triples


# Distances that are no fractions


def beacon(space, x0, bits=200):
    """One output as likely as the promise allows, by distance from x0, and the other one; a hair inside."""
    total = 1 << bits
    weights = []
    with precision(2 * bits):
        inside = 1 - arb(2) ** -100
        for place in range(len(space)):
            near = (-inside * space.ball(x0, place)).exp() * (total // 2)
            weights.append([int(near.floor().unique_fmpz()), 0])
    for row in weights:
        row[1] = total - row[0]
    return weights, total


IRRATIONAL = {
    "5x5 grid, Euclidean": (lambda: mdp.Space.grid(5, 5, mdp.ln(2) * m.euclidean()), 12),
    "4x6 grid, Euclidean": (lambda: mdp.Space.grid(4, 6, 1 * m.euclidean()), 0),
    "cities, great circle": (
        lambda: mdp.Space(
            [(48.86, 2.35), (51.51, -0.13), (52.52, 13.4), (40.42, -3.7), (41.9, 12.5)],
            m.great_circle().within(10**6),
        ),
        0,
    ),
}


@pytest.mark.parametrize("name", IRRATIONAL)
def test_one_entry_off_where_distances_are_no_fractions(name):
    make, x0 = IRRATIONAL[name]
    space = make()
    weights, total = beacon(space, x0)
    twin = Channel(space.points, ("near", "far"), weights, total)
    verdict = verify(twin, space)
    assert verdict.holds
    assert verdict.scale_below > 1 - 1e-15
    x = min((place for place in range(len(space)) if place != x0), key=lambda place: space.distances[x0, place])
    near = weights[x][0] - weights[x][0] // 10**12
    weights[x] = [near, total - near]
    verdict = verify(Channel(space.points, ("near", "far"), weights, total), space)
    assert not verdict.holds
    assert verdict.witness == (space.points[x0], space.points[x], "near")
    assert verdict.scale == pytest.approx(1 + 1e-12 / space.distances[x0, x], abs=1e-15)


@pytest.mark.parametrize("name", IRRATIONAL)
def test_a_zero_where_distances_are_no_fractions(name):
    make, x0 = IRRATIONAL[name]
    space = make()
    weights, total = beacon(space, x0)
    x = int(np.argmax(space.distances[x0]))
    weights[x] = [0, total]
    verdict = verify(Channel(space.points, ("near", "far"), weights, total), space)
    assert not verdict.holds
    assert verdict.scale == math.inf
    assert verdict.witness[1:] == (space.points[x], "near")
