"""Requests that are drawn together get their own values, and none has a say in another's."""

import math
from types import SimpleNamespace

import pytest

import metricdp as mdp
from metricdp.errors import MetricDPError
from metricdp.service.drawing import drawn_together

PLACE = mdp.laplace(mdp.metrics.great_circle().within(200, factor=2))
NUMBER = mdp.laplace(mdp.metrics.absolute() * 1000)


class Counting:
    """A mechanism that notes what it is given."""

    def __init__(self, mechanism):
        self.mechanism, self.calls = mechanism, []

    def release(self, rows):
        self.calls.append(len(rows))
        return self.mechanism.release(rows)


def drawn(mechanism, *requests):
    return drawn_together([SimpleNamespace(mechanism=mechanism, rows=list(rows)) for rows in requests])


def test_each_gets_as_many_as_it_gave_near_its_own():
    requests = [[[10.0, 20.0]], [[30.0, 40.0], [50.0, 60.0]], [[-10.0, -20.0]] * 3]
    counting = Counting(PLACE)
    found = drawn(counting, *requests)
    assert counting.calls == [6]
    for rows, released in zip(requests, found, strict=True):
        assert len(rows) == len(released)
        assert all(math.dist(row, place) < 1 for row, place in zip(rows, released, strict=True))


def test_one_that_is_refused_does_not_touch_the_others():
    found = drawn(PLACE, [[10.0, 20.0]], [[95.0, 20.0]], [[30.0, 40.0]])
    assert isinstance(found[1], MetricDPError)
    assert [len(one) for one in (found[0], found[2])] == [1, 1]


@pytest.mark.parametrize("odd", [[3], [True], [2**70], ["x"], [None], [3.0, 4], [[1.0]]])
def test_secrets_of_other_types_are_drawn_by_themselves(odd):
    counting = Counting(NUMBER)
    found = drawn(counting, [1.0], odd, [2.0])
    assert counting.calls[0] == 2
    assert len(counting.calls) == 2
    assert [round(found[0][0]), round(found[2][0])] == [1, 2]


def test_large_integers_stay_exact_beside_floats():
    step = mdp.geometric(mdp.metrics.absolute() * 1000)
    large = 2**53 + 1
    assert drawn(step, [large], [7], [large]) == [[large], [7], [large]]


def test_two_mechanisms_are_not_mixed():
    places, numbers = Counting(PLACE), Counting(NUMBER)
    wanted = [
        SimpleNamespace(mechanism=one, rows=rows)
        for one, rows in ((places, [[1.0, 2.0]]), (numbers, [5.0]), (places, [[3.0, 4.0]]), (numbers, [6.0]))
    ]
    found = drawn_together(wanted)
    assert (places.calls, numbers.calls) == ([2], [2])
    assert [round(found[1][0]), round(found[3][0])] == [5, 6]
