"""Paper 2, Section 6: lower bounds on error, and what reaches them."""

from fractions import Fraction

import pytest

import metricdp.metrics as metrics
from metricdp.adversaries.error_bounds import error_bound, reached_error
from metricdp.channels.channel import Channel
from metricdp.exact.level import ln
from metricdp.metrics import Space


def response(values, odds, delta=Fraction(0)):
    """Example 6: every other value with the probability p = (1 - δ) / (m + e^ε)."""
    other = (1 - delta) / (values - 1 + odds)
    rows = [[1 - (values - 1) * other if i == j else other for j in range(values)] for i in range(values)]
    return Channel.from_matrix(range(values), range(values), rows)


def tight(space, decays):
    """Half of it the columns of exp(-d), the other half spread evenly, so that every row sums to one."""
    rows = [[decays(x, z) for z in space.points] for x in space.points]
    most = max(sum(row) for row in rows)
    scaled = [[value / (2 * most) for value in row] for row in rows]
    left = [(1 - sum(row)) / len(row) for row in scaled]
    return [[value + rest for value in row] for row, rest in zip(scaled, left, strict=True)]


def keeps(channel, space, odds, delta=Fraction(0)):
    """(ε, δ) by the hockey-stick sum over every pair, in Fractions."""
    rows = [[channel.probability(x, z) for z in channel.outputs] for x in space.points]
    unit = space.metric.unit
    return all(
        sum(max(0, p - odds ** unit.exactly(x, y).numerator * q) for p, q in zip(one, other, strict=True)) <= delta
        for x, one in zip(space.points, rows, strict=True)
        for y, other in zip(space.points, rows, strict=True)
        if x != y
    )


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10)])
@pytest.mark.parametrize("odds", [2, 5])
@pytest.mark.parametrize("others", [1, 2, 3, 6])
def test_example_7_randomized_response_reaches_theorem_7(others, odds, delta):
    space = Space(range(others + 1), ln(odds) * metrics.discrete())
    channel = response(others + 1, odds, delta)
    assert keeps(channel, space, odds, delta)
    assert not keeps(channel, space, odds, delta * Fraction(99, 100) - Fraction(1, 10**9))
    bound, reached = error_bound(space, delta=delta), reached_error(channel, space)
    assert reached.exact == bound.theorem_7.exact == (1 - delta) * Fraction(others, others + odds)
    assert bound.sharper_7.exact == bound.best.exact == bound.theorem_7.exact


@pytest.mark.parametrize("others", [2, 3, 6])
def test_example_7_theorem_6_is_not_reached(others):
    bound = error_bound(Space(range(others + 1), ln(2) * metrics.discrete()))
    assert bound.theorem_6.exact == Fraction(1, 6)
    assert bound.sharper.exact == Fraction(1, 3)
    assert bound.theorem_7.exact == Fraction(others, others + 2)


def test_theorem_7_needs_outputs_in_the_space():
    """Three leaves two apart and a hub at one from each: to answer "hub" always is perfectly private, with error 1."""
    leaves, points = ("a", "b", "c"), ("a", "b", "c", "hub")
    error = metrics.matrix(points, [[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]])
    space = Space(leaves, ln(Fraction(3, 2)) * metrics.discrete())
    hub = Channel.from_matrix(leaves, ["hub"], [[1], [1], [1]])
    bound, reached = error_bound(space, error), reached_error(hub, space, error)
    assert reached.exact == 1
    assert bound.theorem_7.exact == Fraction(8, 7)
    assert reached < bound.theorem_7
    assert bound.needs_outputs_in_space
    assert bound.anywhere.exact == Fraction(4, 5) <= reached


def test_the_sharper_form_is_reached_by_two_points():
    space = Space((0, 10), ln(2) / 10 * metrics.absolute())
    channel = Channel.from_matrix((0, 10), (0, 10), [["2/3", "1/3"], ["1/3", "2/3"]])
    bound = error_bound(space)
    assert reached_error(channel, space).exact == bound.sharper.exact == Fraction(10, 3)
    assert bound.theorem_6.exact == Fraction(5, 3)


def truncated_geometric(n, odds):
    """The geometric mechanism at ε = ln(odds), beyond the ends put on them."""
    a = Fraction(1, odds)
    rows = []
    for x in range(n):
        row = [(1 - a) / (1 + a) * a ** abs(x - z) for z in range(n)]
        row[0], row[-1] = a**x / (1 + a), a ** (n - 1 - x) / (1 + a)
        rows.append(row)
    return Channel.from_matrix(range(n), range(n), rows)


@pytest.mark.parametrize("odds", [2, 4])
@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_the_bounds_beside_what_channels_on_a_line_reach(n, odds):
    space = Space.line(n, ln(odds) * metrics.absolute())
    bound = error_bound(space)
    geometric = truncated_geometric(n, odds)
    closed = Channel.from_matrix(range(n), range(n), tight(space, lambda x, z: Fraction(1, odds ** abs(x - z))))
    constant = Channel.from_matrix(range(n), range(n), [[int(z == n // 2) for z in range(n)]] * n)
    for channel in (geometric, closed, constant):
        assert keeps(channel, space, odds)
        assert reached_error(channel, space).exact >= bound.best.exact
    assert 2 * bound.theorem_6.exact <= bound.sharper.exact
    assert bound.theorem_7.exact <= bound.sharper_7.exact
    if n == 2:
        assert reached_error(geometric, space).exact == bound.best.exact


def test_a_table_of_bounds_and_errors():
    """At ε = ln 2 on a line of n points, from the loosest bound to the error of the truncated geometric."""
    table = []
    for n in (2, 3, 5, 9):
        bound = error_bound(Space.line(n, ln(2) * metrics.absolute()))
        reached = reached_error(truncated_geometric(n, 2), Space.line(n))
        table.append(
            [str(value.exact) for value in (bound.theorem_6, bound.theorem_7, bound.sharper, bound.sharper_7, reached)]
        )
    assert table == [
        ["1/6", "1/3", "1/3", "1/3", "1/3"],
        ["1/5", "1/3", "2/5", "1/2", "2/3"],
        ["2/17", "1/5", "2/5", "2/3", "1"],
        ["4/257", "1/33", "2/5", "13/17", "5/4"],
    ]
