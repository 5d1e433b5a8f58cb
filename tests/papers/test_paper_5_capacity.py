"""Paper 5, sections V and VI: every capacity of tables 4a, 5a, 6a and 7a, and Corollaries 17, 18, 20 and 22.

Each cell two ways: what `capacity` chooses (a tight-constraints mechanism or a formula, with its proof) and the linear
program of Corollaries 17 and 18 as the paper writes it, one unknown for each entry of the channel.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.adversaries import capacity as capacity_of
from metricdp.design import capacity
from metricdp.exact.level import ln
from metricdp.metrics import Space
from metricdp.programs import LinearProgram, Sparse

LN2 = ln(2)
HALF = Fraction(1, 2)


def line(count):
    return Space.line(count, LN2 * metrics.absolute())


def discrete(count):
    return Space(range(count), LN2 * metrics.discrete())


def grid(side):
    return Space.grid(side, side, LN2 * metrics.euclidean())


def cube(bits):
    return Space.bits(bits, LN2 * metrics.hamming())


# space, as printed, as it is (exactly where it is rational)
CELLS = [
    ("4a", line, 2, (1.33, 0.33), ("4/3", "1/3")),
    ("4a", line, 3, (1.67, 0.5), ("5/3", "1/2")),
    ("4a", line, 4, (2, 0.67), ("2", "2/3")),
    ("4a", line, 5, (2.33, 0.75), ("7/3", "3/4")),
    ("4a", line, 6, (2.67, 0.83), ("8/3", "5/6")),
    ("5a", discrete, 2, (1.33, 0.33), ("4/3", "1/3")),
    ("5a", discrete, 3, (1.5, 0.4), ("3/2", "2/5")),
    ("5a", discrete, 4, (1.6, 0.43), ("8/5", "3/7")),
    ("5a", discrete, 5, (1.67, 0.44), ("5/3", "4/9")),
    ("6a", grid, 2, (1.68, 0.48), (1.684058623, 0.478157237)),
    ("6a", grid, 3, (2.5, 0.62), (2.502366600, 0.624785773)),
    ("6a", grid, 4, (3.53, 0.79), (3.534014968, 0.791562054)),
    ("7a", cube, 2, (1.78, 0.56), ("16/9", "5/9")),
    ("7a", cube, 3, (2.37, 0.70), ("64/27", "19/27")),
    ("7a", cube, 4, (3.16, 0.80), ("256/81", "65/81")),
]


def as_written(space, largest):
    """Corollaries 17 and 18; only constraints between neighbours of a line are left out, which others imply."""
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
    value = program.solve().objective
    return value if largest else 1 - value


@pytest.mark.parametrize(("table", "make", "size", "printed", "exact"), CELLS)
def test_capacities_of_the_tables(table, make, size, printed, exact):
    space = make(size)
    found = capacity(space)
    for value, shown, ours, largest in zip(
        (found.multiplicative, found.additive), printed, exact, (True, False), strict=True
    ):
        assert abs(value - shown) <= 0.005, table
        if isinstance(ours, str):
            assert value.exact == Fraction(ours)
        else:
            assert value.enclosure.width < 1e-9
            assert abs(value - ours) < 1e-9
        assert as_written(space, largest) == pytest.approx(float(value), abs=1e-7)
    reached = capacity_of(found.multiplicative_channel).multiplicative, capacity_of(found.additive_channel).additive
    assert reached == pytest.approx((float(found.multiplicative), float(found.additive)), abs=1e-9)


@pytest.mark.parametrize("count", [2, 3, 6, 11])
def test_corollary_20(count):
    """(N (1 - a) + 2 a) / (1 + a), at any level; reached by the truncated geometric mechanism."""
    for factor in (Fraction(3, 2), 2, 10):
        alpha = 1 / Fraction(factor)
        found = capacity(Space.line(count, ln(factor) * metrics.absolute()))
        assert found.multiplicative.exact == (count * (1 - alpha) + 2 * alpha) / (1 + alpha)
        geometric = found.multiplicative_channel
        assert geometric.probability(0, 0) == 1 / (1 + alpha)


def test_the_geometric_mechanism_reaches_the_additive_capacity_of_a_line_too():
    """The paper observes it for the sizes of table 4a; the dual y on the middle of the line proves it for all."""
    for count in range(2, 12):
        space = line(count)
        by_program = capacity(space, method="program").additive.exact
        assert capacity_of(capacity(space).multiplicative_channel).additive == by_program


def test_corollary_22_needs_a_factor():
    """The additive bound as printed, 1 - 1/m, is not reached: 1 - n/m is the capacity, as table 5a has it."""
    for count in range(2, 7):
        m = 1 + (count - 1) * 2
        found = capacity(discrete(count), method="program")
        assert found.multiplicative.exact == Fraction(count) / (1 + (count - 1) * HALF)
        assert found.additive.exact == 1 - Fraction(count, m)
        assert found.additive.exact < 1 - Fraction(1, m)
        if count == 2:
            continue  # a line too
        dual = capacity(discrete(count)).additive_channel
        assert dual.probability(0, 0) == Fraction(1, m)
        assert dual.probability(0, 1) == Fraction(2, m)


def test_cells_beyond_the_tables():
    """Larger spaces of each kind, exactly where rational."""
    assert capacity(line(7)).multiplicative.exact == 3
    assert capacity(line(7)).additive.exact == Fraction(7, 8)
    assert capacity(discrete(6)).multiplicative.exact == Fraction(12, 7)
    assert capacity(discrete(6)).additive.exact == Fraction(5, 11)
    five = capacity(cube(5))
    assert (five.multiplicative.exact, five.additive.exact) == (Fraction(4, 3) ** 5, 1 - Fraction(2, 3) ** 5)
    assert capacity(grid(5)).multiplicative == pytest.approx(4.688094288, abs=1e-9)
    assert capacity(grid(5)).additive == pytest.approx(0.859214284, abs=1e-9)
