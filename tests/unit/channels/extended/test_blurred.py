"""Channels on cells, extended by quadratic splines: private at every point, and not much more than that."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.channels.extended import blurred
from metricdp.channels.extended._spline import spline_level
from metricdp.errors import ArgumentError, DataError, ImpossibleError, OutOfDomainError, UnsupportedMetricError
from metricdp.exact.refine import decide_all_by_balls
from metricdp.metrics import Space

CASES = {
    "line": ((0, 6), (6,), mdp.ln(2) * mdp.metrics.absolute()),
    "euclidean": (((0, 4), (0, 3)), (4, 3), mdp.ln(2) * mdp.metrics.euclidean()),
    "manhattan": (((0, 3), (0, 3)), (3, 3), 1 * mdp.metrics.manhattan()),
    "chebyshev": (((0, 3), (0, 3)), (3, 3), 1 * mdp.metrics.chebyshev()),
}


def on_cells(bounds, shape, metric):
    points = [p if len(p) > 1 else p[0] for p in np.ndindex(*shape)]
    return blurred(mdp.design.optimal(Space(points, metric), gap=1e-2), bounds, shape, metric)


@pytest.fixture(scope="module", params=list(CASES))
def between(request):
    return on_cells(*CASES[request.param])


def some_points(mechanism, count, seed):
    shares = np.random.default_rng(seed).integers(0, 97, size=(count, mechanism.dimension)).tolist()
    return [
        tuple(low + (high - low) * Fraction(s, 96) for s, (low, high) in zip(row, mechanism.bounds, strict=True))
        for row in shares
    ]


def as_secrets(points):
    distinct = list(dict.fromkeys(points))
    return [point[0] for point in distinct] if len(distinct[0]) == 1 else distinct


def test_it_is_private_at_every_point(between):
    some = as_secrets(some_points(between, 40, seed=3))
    assert verify(mdp.channels.of(between, some), Space(some, between.guarantee.metric))


def test_a_tenth_less_would_be_refused(between):
    """Two points close together show it somewhere."""
    metric = Fraction(9, 10) * between.guarantee.metric

    def refused():
        for point in some_points(between, 150, seed=11):
            for k in range(8 if between.dimension > 1 else 1):
                turn = (Fraction(math.cos(k * math.pi / 8)), Fraction(math.sin(k * math.pi / 8)))
                near = tuple(x + t / 1000 for x, t in zip(point, turn, strict=False))
                if between._holds(near):
                    pair = as_secrets([point, near])
                    yield not verify(mdp.channels.of(between, pair), Space(pair, metric))

    assert any(refused())


def test_the_level_is_close_to_that_of_the_channel(between):
    """For an exponential column the price is of second order in the width of a cell."""
    assert float(between.level) < 1.25 * float(
        verify(between.channel, Space(between.channel.inputs, between.base)).scale
    )


def test_the_level_is_above_all_slopes_of_a_known_spline():
    """Columns exp(t x): ``sinh t / (3/4 + cosh t / 4)`` is the largest slope of the logarithm."""
    t, cells = 0.5, 9
    column = [Fraction(math.exp(t * k)) for k in range(cells)]
    most = sum(column)
    rows = [[value / most, 1 - value / most] for value in column]
    channel = Channel.from_matrix(range(cells), "ab", rows)
    level = float(spline_level(channel.weights[:, :1], (cells,), (Fraction(1),), 1.0))
    truth = math.sinh(t) / (0.75 + math.cosh(t) / 4)
    assert truth <= level <= 1.01 * truth


def test_the_shares_are_those_of_two_uniform_moves():
    rows = [[Fraction(98, 100) if k == z else Fraction(1, 100) for z in range(3)] for k in range(3)]
    between = blurred(Channel.from_matrix(range(3), "abc", rows), (0, 3), (3,), mdp.metrics.absolute())
    assert between._shares((Fraction(5, 4),)) == [(0, Fraction(9, 32)), (1, Fraction(11, 16)), (2, Fraction(1, 32))]
    assert sum(share for _, share in between._shares((Fraction(3),))) == 1
    with mdp.seeded(1):
        released = between.release([1.25] * 40_000)
    assert abs(released.count("a") / 40_000 - (0.97 * 9 / 32 + 0.01)) < 0.014  # six standard deviations


def test_floats_and_exact_arithmetic_agree(between):
    points = np.array([[float(v) for v in point] for point in some_points(between, 200, seed=5)])
    points = points[:, 0] if points.shape[1] == 1 else points
    with mdp.seeded(7):
        quick = between.release(points)
    with mdp.seeded(7), decide_all_by_balls():
        slow = between.release(points)
    assert quick.tolist() == slow.tolist()


def test_the_error_is_bounded_from_above():
    between = on_cells(((0, 4), (0, 4)), (4, 4), 2 * mdp.metrics.euclidean())
    x = np.random.default_rng(2).uniform(0, 4, size=(20_000, 2))
    with mdp.seeded(2):
        away = np.linalg.norm(between.release(x) + 0.5 - x, axis=1)  # outputs are named by their cell's corner
    assert (away <= between.radius(0.9) + 0.71).mean() > 0.9


def test_containers_and_what_comes_back():
    between = on_cells(*CASES["euclidean"])
    points = between.channel.outputs
    assert between.release([1.5, 0.5]) in points
    assert between.release((4, 3)) in points
    assert between.release(np.array([1.5, 0.5])) in points
    assert all(point in points for point in between.release([[1.5, 0.5], (0, 0)]))
    assert between.release(np.array([[1.5, 0.5], [0, 0]])).shape == (2, 2)
    assert between.release([[Fraction(1, 3), Fraction(2, 3)]])[0] in points
    line = on_cells(*CASES["line"])
    assert line.release(2.5) in range(6)
    assert line.release(6) in range(6)
    assert line.release(np.array([0.5, 6.0])).shape == (2,)
    frame = pytest.importorskip("pandas").DataFrame({"x": [0.5, 1.5], "y": [0.25, 1.0]})
    assert all(point in points for point in between.release(frame))


@pytest.mark.parametrize("secret", [[-0.01, 1], [1, 3.5], [math.nan, 0], [None, 1], [1, 2, 3], ["a", 1]])
def test_secrets_elsewhere_are_refused_without_their_value(secret):
    between = on_cells(*CASES["euclidean"])
    with pytest.raises(DataError) as error:
        between.release([[1.0, 1.0], secret] if len(secret) == 2 else secret)
    assert "0.01" not in str(error.value)
    assert "3.5" not in str(error.value)


def test_points_that_are_barely_outside_are_refused():
    line = on_cells(*CASES["line"])
    with pytest.raises(OutOfDomainError):
        line.release(math.nextafter(6, 7))
    with pytest.raises(OutOfDomainError):
        line.law([-Fraction(1, 10**30)])


def test_what_cannot_be_extended_is_refused():
    absolute = mdp.metrics.absolute()
    even = Channel.from_matrix([0, 1], "ab", [["1/3", "2/3"], ["1/2", "1/2"]])
    with pytest.raises(ImpossibleError, match="impossible"):
        blurred(Channel.from_matrix([0, 1], "ab", [[1, 0], ["1/2", "1/2"]]), (0, 2), (2,), absolute)
    with pytest.raises(UnsupportedMetricError):
        blurred(even, (0, 2), (2,), mdp.metrics.great_circle())
    with pytest.raises(UnsupportedMetricError):
        blurred(even, (0, 2), (2,), mdp.metrics.discrete())
    for bounds in ((2, 0), (0, math.nan), (0,), 5, ((0, 1),) * 3, (0, 1, 2), ((0, 1), (1, 1))):
        with pytest.raises(ArgumentError, match="bounds"):
            blurred(even, bounds, (2,), absolute)
    with pytest.raises(ArgumentError, match="cells"):
        blurred(even, (0, 2), (3,), absolute)


def test_a_channel_that_tells_nothing_keeps_every_level():
    constant = Channel.from_matrix([0, 1, 5], "ab", [["1/3", "2/3"]] * 3)
    assert blurred(constant, (0, 1), (3,), mdp.metrics.absolute()).level == Fraction(1, 2**64)


def test_it_is_a_value():
    channel = Channel.from_matrix([0, 2], "ab", [["1/3", "2/3"], ["2/3", "1/3"]])
    one, two = (
        blurred(channel, (0, 4), (2,), metric) for metric in (mdp.metrics.absolute(), 5 * mdp.metrics.absolute())
    )
    assert one == two
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.to_json()["guarantee"]
    assert "2 cells" in one._repr_html_()
