"""Kernels: all of them, once, against a brute force over all sets of vertices."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels import Certified, verify
from metricdp.design import kernels, vertices
from metricdp.design.kernels._columns import EnclosedColumns, IntegerColumns, columns_of
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming, manhattan, matrix

LN2 = mdp.ln(2)


def brute(columns: Sequence[Sequence[Fraction]]) -> set[tuple[int, ...]]:
    """Every independent set of columns with positive weights that sum to ones, by elimination in rationals."""
    size = len(columns[0])
    found = set()
    for count in range(1, size + 1):
        for chosen in itertools.combinations(range(len(columns)), count):
            entries = [[fmpq(v.numerator, v.denominator) for v in columns[place]] for place in chosen]
            table = fmpq_mat([[*(column[row] for column in entries), fmpq(1)] for row in range(size)])
            reduced, rank = table.rref()
            if rank != count or reduced[count - 1, count - 1] == 0:  # dependent, or ones are not in the span
                continue
            if all(reduced[row, row] == 1 and reduced[row, count] > 0 for row in range(count)):
                found.add(chosen)
    return found


def stand_in(space: Space, digits: int = 30) -> list[list[Fraction]]:
    """The vertices with each irrational exponential replaced by one rational near to it, to the same powers.

    An identity between powers of a transcendental number holds for any other number too, and the signs of all else are
    those of the number itself where the rational is near enough.
    """
    held = kernels(space)
    columns = []
    for number in range(vertices(space).count()):
        vertex = held.vertex(number)
        lengths = vertex.lengths
        bases = []
        for place in range(len(lengths.generators)):
            one = tuple(int(other == place) for other in range(len(lengths.generators)))
            exact = lengths.exactly(one)
            bases.append(exact or Fraction(round(lengths.enclose(one, 200).lower * 10**digits), 10**digits))
        rows = [math.prod(base**c for base, c in zip(bases, row, strict=True)) for row in vertex.coefficients]
        columns.append(rows)
    return columns


EXACT = {
    "line of 2": Space.line(2, LN2 * absolute()),
    "line of 4": Space.line(4, LN2 * absolute()),
    "line of 5": Space.line(5, LN2 * absolute()),
    "line of 5, ln 3": Space.line(5, mdp.ln(3) * absolute()),
    "line of 4, ln 3/2": Space.line(4, mdp.ln(Fraction(3, 2)) * absolute()),
    "uneven line": Space([0, 1, 3, 4], LN2 * absolute()),
    "discrete 4": Space(range(4), LN2 * discrete()),
    "square": Space.bits(2, LN2 * hamming()),
    "manhattan": Space([(0, 0), (1, 0), (2, 1), (0, 2)], LN2 * manhattan()),
}


@pytest.mark.parametrize("name", EXACT)
def test_all_are_found_once(name):
    space = EXACT[name]
    held = kernels(space)
    found = list(held.supports())
    assert len(found) == len(set(found)) == held.count()
    assert set(found) == brute([held.vertex(number).direction for number in range(vertices(space).count())])


@pytest.mark.parametrize(
    "space",
    [
        Space.line(4, absolute()),
        Space.line(4, Fraction(1, 3) * absolute()),
        Space(range(4), 2 * discrete()),
        Space.grid(2, 2, LN2 * euclidean()),
        Space([(0, 0), (1, 0), (0, 1), (3, 1)], LN2 * euclidean()),
    ],
    ids=repr,
)
def test_irrational_ones_too(space):
    assert isinstance(columns_of(list(vertices(space))), EnclosedColumns)
    assert set(kernels(space).supports()) == brute(stand_in(space))


def test_roots_of_two_are_reduced():
    # exp(-d) is a power of √2: irrational, but √2^2 = 2 makes ties that powers of a free number would not have.
    space = Space.line(4, LN2 / 2 * absolute())
    same = Space([0, 2, 4, 6], LN2 / 4 * absolute())
    assert isinstance(columns_of(list(vertices(space))), EnclosedColumns)
    assert kernels(space).count() == kernels(same).count()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=4, unique=True),
    st.sampled_from([LN2, mdp.ln(3), mdp.ln(Fraction(5, 4))]),
)
def test_random_spaces(points, level):
    space = Space(points, level * manhattan())
    held = kernels(space)
    found = list(held.supports())
    assert len(found) == len(set(found))
    assert set(found) == brute([held.vertex(number).direction for number in range(vertices(space).count())])


def test_kernels_are_channels():
    space = Space(range(4), LN2 * discrete())
    held = kernels(space)
    found = list(held)
    assert len(set(found)) == 41
    for kernel in found:
        assert kernel.inputs == space.points
        assert verify(kernel, space)
        assert kernel.guarantee.metric == space.metric
        for number in kernel.outputs:
            column = [Fraction(weight) for weight in kernel.weights[:, kernel.column(number)].tolist()]
            assert tuple(value / sum(column) for value in column) == held.vertex(number).exact
        assert np.linalg.matrix_rank(kernel.matrix) == len(kernel.outputs)


def test_irrational_kernels_are_rounded_and_verified():
    space = Space.grid(2, 2, LN2 * euclidean())
    held = kernels(space)
    for kernel in itertools.islice(held, 20):
        assert isinstance(kernel, Certified)
        assert 0 < kernel.moved < 1e-14
        assert verify(kernel, space)
        posteriors = kernel.matrix / kernel.matrix.sum(axis=0)
        wanted = np.array([held.vertex(number).posterior for number in kernel.outputs]).T
        assert np.abs(posteriors - wanted).max() < 1e-14


def test_parts_multiply_and_twins_do_not_count():
    far = math.inf
    D = [[0, 1, 2, far, far], [1, 0, 1, far, far], [2, 1, 0, far, far], [far, far, far, 0, 0], [far, far, far, 0, 0]]
    space = Space("abcde", LN2 * matrix("abcde", D))
    found = list(kernels(space))
    assert len(found) == 2  # those of a line of 3, times the one of a point
    for kernel in found:
        assert kernel.probability("d", 4) == kernel.probability("e", 4) == 1
        assert kernel.probability("a", 4) == 0
    two_lines = [[abs(i - j) if i // 3 == j // 3 else far for j in range(6)] for i in range(6)]
    assert kernels(Space(range(6), LN2 * matrix(range(6), two_lines))).count() == 4


def test_one_point():
    (only,) = kernels(Space(["x"], discrete()))
    assert only.shape == (1, 1)


def test_too_many_are_refused_but_stream():
    space = Space.grid(3, 3, LN2 * euclidean())
    held = kernels(space)
    with pytest.raises(TooLargeError, match=r"about .* sets of up to 9 of the first \d+ vertices"):
        held.count()
    found = list(itertools.islice(held.supports(), 300))
    assert len(set(found)) == 300
    assert verify(held.channel(found[-1]), space)


def test_streams_that_memory_does_not_hold_go_on(monkeypatch):
    from metricdp.design.kernels import _kernels

    space = Space.line(6, LN2 * absolute())
    every = set(kernels(space).supports())
    monkeypatch.setattr(_kernels, "_AT_ONCE", 100)
    monkeypatch.setattr(_kernels, "_FIRST_PASS", 100)
    monkeypatch.setattr(_kernels, "_MOST_HELD", 2000)
    found = []

    def take():
        for support in kernels(space).supports():
            found.append(support)

    with pytest.raises(TooLargeError, match="of memory"):
        take()
    assert len(found) == len(set(found))
    assert set(found) <= every
    assert max(max(support) for support in found) == 31  # the last vertex has its turn


def test_streams_of_several_passes_repeat_nothing(monkeypatch):
    from metricdp.design.kernels import _kernels

    space = Space.line(5, LN2 * absolute())
    at_once = set(kernels(space).supports())
    monkeypatch.setattr(_kernels, "_AT_ONCE", 10)
    monkeypatch.setattr(_kernels, "_FIRST_PASS", 10)
    monkeypatch.setattr(_kernels, "_GROWTH", 2)
    in_passes = list(kernels(space).supports())
    assert len(in_passes) == len(set(in_passes))
    assert set(in_passes) == at_once


def test_progress_counts_up():
    told = []
    assert kernels(Space.line(5, LN2 * absolute()), progress=told.append).count() == 187
    assert [update.done for update in told] == sorted(update.done for update in told)
    assert str(told[-1]).startswith("187 kernels, ")


def test_vertices_that_make_no_kernel():
    held = kernels(Space.line(3, LN2 * absolute()))
    with pytest.raises(ImpossibleError):
        held.channel([0, 1])
    with pytest.raises(ImpossibleError):
        kernels(Space.line(3, absolute())).channel([0, 1])


def test_long_integers_where_short_ones_overflow():
    space = Space.line(4, mdp.ln(10**6 + 3) * absolute())
    held = kernels(space)
    columns = columns_of([held.vertex(number) for number in range(8)])
    assert isinstance(columns, IntegerColumns)
    assert set(held.supports()) == brute([held.vertex(number).direction for number in range(8)])


def test_only_spaces():
    with pytest.raises(ArgumentError, match="kernels takes a Space"):
        kernels("line")


def test_a_stream_has_a_length_and_says_what_it_is():
    held = kernels(Space.line(4, LN2 * absolute()))
    assert repr(held) == "Kernels(4 points, ln 2·|x − y|)"
    assert held, "nothing is counted to tell that it is there"
    assert len(held) == held.count() == len(list(held))
    assert held.finished
    assert repr(held).endswith(f"{len(held):,} of them)")
    assert held.to_json()["count"] == len(held)


def test_a_time_limit_that_comes_while_it_is_asked_about_is_the_reason():
    class Watch:
        asked = 0

        @property
        def over(self):
            self.asked += 1
            return self.asked > 1

    stream, watch = kernels(Space.grid(3, 3, LN2 * euclidean()), time_limit=3.0), Watch()
    for _ in range(2):
        assert stream._late(watch) == ("time limit" in stream.reason)


def test_a_time_limit_ends_an_iteration_and_refuses_a_count():
    space = Space.grid(3, 3, LN2 * euclidean())
    held = kernels(space, time_limit=3.0)
    found = list(held.supports())
    assert found
    assert not held.finished
    assert "time limit of 3 seconds" in held.reason
    cube = kernels(Space.bits(4), time_limit=0.2)
    with pytest.raises(TooLargeError):
        cube.count()
    with pytest.raises(ArgumentError, match="time_limit"):
        kernels(space, time_limit=0)
