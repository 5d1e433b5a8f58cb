import math
import pickle

import numpy as np
import pytest

from metricdp.errors import ArgumentError, DataError, NotAMetricError, NotFiniteError, UnknownCategoryError
from metricdp.exact.balls import precision
from metricdp.exact.level import ln
from metricdp.metrics import Space, absolute, attributes, discrete, euclidean, manhattan, matrix, nullable


def test_ready_made_spaces():
    assert Space.line(4, 2 * absolute()).distances[0].tolist() == [0, 2, 4, 6]
    assert Space.grid(2, 3).points == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))
    assert Space.grid(2, 3, manhattan()).distances[0, 5] == 3
    assert Space.bits(3).distances[0, 7] == 3
    assert len(Space.bits(3)) == 8


def test_points_become_tuples_and_are_found():
    space = Space(np.array([[0.0, 0.0], [3.0, 4.0]]), euclidean())
    assert space.points == ((0, 0), (3, 4))
    assert space.index([3, 4]) == space.index(np.array([3, 4])) == 1
    with precision(64):
        assert space.ball(0, 1) == 5
    with pytest.raises(UnknownCategoryError):
        space.index((9, 9))


def test_records_as_dicts():
    space = Space([{"a": 1, "b": 2}, {"a": 1, "b": 3}], attributes({"a": 1, "b": 1}))
    assert space.index({"b": 3, "a": 1}) == 1


def test_a_space_is_gone_through_point_by_point():
    space = Space.grid(2, 2)
    assert list(space) == list(space.points)
    assert len(space) == 4
    assert (0, 1) in space


def test_distances_cannot_be_written_to():
    space = Space.line(3)
    with pytest.raises(ValueError, match="read-only"):
        space.distances[0, 1] = 5
    assert space.distances is space.distances


def test_pickles_leave_behind_what_is_cached():
    space = Space.line(50)
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert not again.distances.flags.writeable
    assert len(pickle.dumps(space)) < 1000


def test_spaces_are_values():
    assert Space.line(3) == Space(range(3), absolute())
    assert hash(Space.line(3)) == hash(Space(range(3), absolute()))
    assert repr(Space.line(3, ln(2) * absolute())) == "Space([0, 1, 2], ln(2) * absolute())"
    assert repr(Space.line(5000)).endswith("7, .. 5,000 points], absolute())")
    assert "5,000 points" in Space.line(5000)._repr_html_()


def test_bad_spaces():
    with pytest.raises(DataError) as twice:
        Space(["a", "b", "a"], discrete())
    assert twice.value.row == 2
    with pytest.raises(ArgumentError):
        Space([], discrete())
    with pytest.raises(ArgumentError):
        Space([1, 2], "absolute")
    with pytest.raises(NotFiniteError):
        Space([1, math.nan], absolute())


def test_axioms_are_searched_where_they_are_no_theorem():
    broken = matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False)
    for metric in (broken, 2 * broken, broken + discrete(), ln(2) * broken):
        with pytest.raises(NotAMetricError) as error:
            Space("abc", metric)
        assert error.value.violation.axiom == "triangle"
    assert len(Space("ab", broken)) == 2
    with pytest.raises(NotAMetricError):
        Space([None, 0, 5], nullable(absolute(), 2))
    assert len(Space([None, 0, 4], nullable(absolute(), 2))) == 3
