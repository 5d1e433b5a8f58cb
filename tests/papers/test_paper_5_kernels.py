"""Paper 5, Sections III and VI: the counts of tables 4a, 5a, 6a and 7a, and the kernels that the text names.

Where a count differs from the printed one, both stand here: the printed ones were computed in floating point.
"""

from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.channels import Channel, of
from metricdp.design import decompose, kernels, vertices
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming

LN2 = mdp.ln(2)


def line(n: int) -> Space:
    return Space.line(n, LN2 * absolute())


def complete(n: int) -> Space:
    return Space(range(n), LN2 * discrete())


def grid(n: int) -> Space:
    return Space.grid(n, n, LN2 * euclidean())


def cube(n: int) -> Space:
    return Space.bits(n, LN2 * hamming())


def posteriors(channel: Channel) -> set[tuple[Fraction, ...]]:
    columns = [[Fraction(weight) for weight in column] for column in channel.weights.T.tolist()]
    return {tuple(value / sum(column) for value in column) for column in columns}


def is_kernel(channel: Channel, space: Space) -> bool:
    """Whether it is one of the enumerated kernels, up to the names of outputs."""
    wanted = posteriors(channel)
    held = kernels(space)
    known = {held.vertex(number).exact: number for number in range(vertices(space).count())}
    if not all(posterior in known for posterior in wanted):
        return False
    return tuple(sorted(known[posterior] for posterior in wanted)) in set(held.supports())


@pytest.mark.parametrize(
    ("n", "corners", "mechanisms"), [(2, 2, 1), (3, 4, 2), (4, 8, 11), (5, 16, 187), (6, 32, 15346)]
)
def test_table_4a(n, corners, mechanisms):
    assert vertices(line(n)).count() == corners == 2 ** (n - 1)
    assert kernels(line(n)).count() == mechanisms


@pytest.mark.parametrize(("n", "corners", "mechanisms"), [(2, 2, 1), (3, 6, 5), (4, 14, 41), (5, 30, 1291)])
def test_table_5a(n, corners, mechanisms):
    assert vertices(complete(n)).count() == corners == 2**n - 2
    assert kernels(complete(n)).count() == mechanisms


def test_table_6a():
    # The dimensions printed count cells; the points are 2x2, 3x3 and 4x4.
    assert vertices(grid(2)).count() == 18
    assert kernels(grid(2)).count() == 403
    assert vertices(grid(3)).count() == 4346 != 4798  # printed; in logarithms, √8 = 2√2 and such ties are exact
    more = 0
    for chunk in kernels(grid(3)).chunks():
        more += len(chunk)
        if more > 10_000:
            break
    assert more > 10_000


def test_table_7a():
    assert vertices(cube(2)).count() == 6
    assert kernels(cube(2)).count() == 4
    assert vertices(cube(3)).count() == 38
    assert kernels(cube(3)).count() == 29_213 != 29_275  # printed
    assert vertices(cube(4)).count() == 990  # printed as "-"


def test_vertices_of_the_cube_are_its_three_colourings():
    """Steps of one along every edge, up to a shift, are proper colourings with 3 colours, up to a rotation."""
    for n in (2, 3, 4):
        points = cube(n).points
        edges = [(i, j) for i, x in enumerate(points) for j, y in enumerate(points) if i < j and hamming()(x, y) == 1]
        colourings = [()]
        for point in range(len(points)):
            before = [i for i, j in edges if j == point]
            colourings = [(*c, k) for c in colourings for k in range(3) if all(c[i] != k for i in before)]
        assert vertices(cube(n)).count() * 3 == len(colourings)


def test_lemma_19_the_truncated_geometric_is_a_kernel():
    for n in (3, 4, 5):
        geometric = of(mdp.truncated_geometric(LN2 * absolute(), n - 1), range(n))
        assert is_kernel(geometric, line(n))


def test_lemma_21_random_response_and_its_dual_are_kernels():
    for n in (3, 4):
        total, dual = n + 1, 2 * n - 1
        response = [[Fraction(2 if i == j else 1, total) for j in range(n)] for i in range(n)]
        opposite = [[Fraction(1 if i == j else 2, dual) for j in range(n)] for i in range(n)]
        assert is_kernel(Channel.from_matrix(range(n), range(n), response), complete(n))
        assert is_kernel(Channel.from_matrix(range(n), range(n), opposite), complete(n))


def test_section_6b_the_kernels_of_two_columns():
    # The text's hypers K_A and K_B for n = 3 inputs, with outers 4/9 and 5/9.
    low, high = Fraction(4, 9) * 3, Fraction(5, 9) * 3
    rows = [[low / 4, high * Fraction(2, 5)], [low / 4, high * Fraction(2, 5)], [low / 2, high / 5]]
    assert is_kernel(Channel.from_matrix(range(3), "ab", rows), complete(3))
    assert is_kernel(Channel.from_matrix(range(3), "ab", rows[::-1]), complete(3))


def test_figure_8():
    """The kernel on 3 bits whose restriction to 000, 100, 110, 111 is the geometric mechanism on 4 points.

    The scan has lost the order of the last four rows of the figure; the sums 27 and 21 and the rows leave this one.
    """
    numerators = {
        (0, 0, 0): (8, 2, 1, 1),
        (1, 0, 0): (4, 4, 2, 2),
        (1, 1, 0): (2, 2, 4, 4),
        (1, 1, 1): (1, 1, 2, 8),
        (0, 1, 0): (4, 4, 2, 2),
        (0, 0, 1): (4, 4, 2, 2),
        (1, 0, 1): (2, 2, 4, 4),
        (0, 1, 1): (2, 2, 4, 4),
    }
    outer = [Fraction(9, 32), Fraction(7, 32), Fraction(7, 32), Fraction(9, 32)]
    sums = (27, 21, 21, 27)
    points = cube(3).points
    rows = [[8 * p * Fraction(v, s) for p, v, s in zip(outer, numerators[x], sums, strict=True)] for x in points]
    kernel = Channel.from_matrix(points, ["y1", "y2", "y3", "y4"], rows)
    assert is_kernel(kernel, cube(3))
    path = list(numerators)[:4]
    geometric = of(mdp.truncated_geometric(LN2 * absolute(), 3), range(4))
    assert [[kernel.probability(x, z) for z in kernel.outputs] for x in path] == _fractions(geometric)


def test_theorem_3_on_the_geometric_restricted_to_fewer_outputs():
    geometric = of(mdp.truncated_geometric(LN2 * absolute(), 3), range(4))
    merged = Channel.from_matrix(range(4), "ab", [[sum(row[:2]), sum(row[2:])] for row in _fractions(geometric)])
    found = decompose(merged, line(4))
    assert found.mixture @ found.post == merged
    assert found.check()


def _fractions(channel: Channel) -> list[list[Fraction]]:
    return [[Fraction(weight, channel.total) for weight in row] for row in channel.weights.tolist()]
