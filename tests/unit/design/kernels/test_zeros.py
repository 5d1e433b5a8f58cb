"""Proofs that a sign is zero: what they prove is so, by expansion in polynomials, and what is not zero is not."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.design import kernels, vertices
from metricdp.design.kernels import _zeros
from metricdp.design.kernels._zeros import IdenticalZeros, _determinant
from metricdp.errors import ArgumentError
from metricdp.metrics import Space, absolute, discrete, euclidean, matrix

GRID = Space.grid(2, 3, mdp.ln(2) * euclidean())
WHOLE = range(5), range(4)
SPACES = [
    GRID,
    Space.line(5, absolute()),
    Space(range(5), 2 * discrete()),
    Space.line(4, mdp.ln(2) / 2 * absolute()),  # powers of a root, which are reduced
    Space("abcd", matrix("abcd", [[0, 1, 2, "inf"], [1, 0, 1, "inf"], [2, 1, 0, "inf"], ["inf"] * 3 + [0]])),
]


def expanded(ties: IdenticalZeros, subset: list[int]) -> bool:
    """Whether the determinant is zero, all of it written out."""
    columns = [ties._polynomials(number, len(subset) + 1) for number in subset]
    table = [[column[row + 1] - column[row] for column in columns] for row in range(len(subset))]
    return ties._zero(_determinant(table, ties.ring.constant(0)))


def ties_of(space: Space) -> IdenticalZeros:
    found = list(vertices(space))
    return IdenticalZeros(found, [place for place, twin in enumerate(found[0].lengths.twins) if place == twin])


@given(st.data())
@settings(max_examples=60)
def test_any_columns_against_the_whole_determinant(data):
    ties = ties_of(data.draw(st.sampled_from(SPACES)))
    numbers = st.integers(0, len(ties.vertices) - 1)
    size = data.draw(st.integers(1, min(4, len(ties.places) - 1)))
    subset = data.draw(st.lists(numbers, min_size=size, max_size=size, unique=True))
    assert ties.vanishes(subset) is expanded(ties, subset)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_all_sets_of_three(space):
    """Both answers occur, and every one is right."""
    ties = ties_of(space)
    few = range(min(12, len(ties.vertices)))
    answers = set()
    for subset in itertools.combinations(few, 3):
        answer = ties.vanishes(subset)
        assert answer is expanded(ties, list(subset))
        answers.add(answer)
    assert answers == {True, False}


def test_each_way_to_a_proof_is_used(monkeypatch):
    """Pairs, classes and minors: each alone decides some zeros of a grid that the others leave open."""
    ties = ties_of(GRID)
    ways = {"pairs": 0, "classes": 0, "minors": 0}
    by_pairs, deficient = IdenticalZeros._by_pairs, IdenticalZeros._deficient
    reached = []
    monkeypatch.setattr(IdenticalZeros, "_deficient", lambda self, *a: reached.append(a) or deficient(self, *a))
    monkeypatch.setattr(IdenticalZeros, "_by_pairs", lambda self, *a: self.paired)
    for subset in itertools.islice(itertools.combinations(range(0, len(ties.vertices), 7), 4), 4000):
        matrix_ = ties._modular(subset)
        if int(matrix_.det()):
            continue
        rows = [int(matrix_.transpose().nullspace()[0][row, 0]) for row in range(4)]
        ties.paired = by_pairs(ties, subset, rows)
        if ties.paired:
            assert expanded(ties, list(subset))
            ways["pairs"] += 1
            continue
        reached.clear()
        assert ties.vanishes(subset)
        assert expanded(ties, list(subset))
        ways["minors" if reached else "classes"] += 1
    assert all(ways.values()), ways


def test_a_proof_that_is_out_of_reach_is_not_claimed(monkeypatch):
    """A zero that no symmetry shows, and a determinant too large to expand: refused, not believed."""
    ties = ties_of(Space.line(5, absolute()))
    zeros = [s for s in itertools.combinations(range(16), 4) if ties.vanishes(s)]
    zeros = [s for s in zeros if all(int(ties._modular(s).nullspace()[0][row, 0]) for row in range(4))]
    assert zeros
    monkeypatch.setattr(_zeros, "_MOST_ROWS", 1)
    monkeypatch.setattr(IdenticalZeros, "_by_pairs", lambda *_: False)
    monkeypatch.setattr(IdenticalZeros, "_by_classes", lambda self, kept, count: self._deficient(kept, *WHOLE))
    for subset in zeros:
        with pytest.raises(ArgumentError, match="nor proved to be zero"):
            ties.vanishes(subset)


def test_sixteen_points_begin():
    """Kernels of 4x4 points: 16 equations with irrational numbers; each found is one, as a rank says."""
    space = Space.grid(4, 4, mdp.ln(2) * euclidean())
    held = kernels(space)
    found = list(itertools.islice(held.supports(), 40))
    assert len(set(found)) == 40
    for support in found:
        columns = np.array([held.vertex(number).posterior for number in support]).T
        weights, _, rank, _ = np.linalg.lstsq(columns, np.ones(16), rcond=None)
        assert rank == len(support)
        assert weights.min() > 1e-12
        assert np.abs(columns @ weights - 1).max() < 1e-9
    assert sum(Fraction(w) for w in held.channel(found[0]).weights[0].tolist()) == held.channel(found[0]).total
