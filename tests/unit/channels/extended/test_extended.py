"""Mechanisms between the points of a channel: exactly private off the points, and not more than that."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.errors import (
    ArgumentError,
    DataError,
    ImpossibleError,
    OutOfDomainError,
    UnsupportedMetricError,
)
from metricdp.exact.refine import decide_all_by_balls
from metricdp.metrics import Space

PARIS = [(48.80, 2.30), (48.80, 2.40), (48.90, 2.30), (48.91, 2.41), (48.85, 2.36), (48.84, 2.33)]
METRICS = {
    "line": (list(range(6)), mdp.ln(2) * mdp.metrics.absolute()),
    "euclidean": ([(x, y) for x in range(4) for y in range(3)], mdp.ln(2) * mdp.metrics.euclidean()),
    "manhattan": ([(x, y) for x in range(3) for y in range(3)], 1 * mdp.metrics.manhattan()),
    "chebyshev": ([(x, y) for x in range(3) for y in range(3)], 2 * mdp.metrics.chebyshev()),
    "globe": (PARIS, mdp.metrics.great_circle().within(3000, 2)),
}


@pytest.fixture(scope="module", params=list(METRICS))
def between(request):
    points, metric = METRICS[request.param]
    return mdp.design.optimal(Space(points, metric), gap=1e-2).extended()


def off_the_points(mechanism, count, seed):
    """Random points of the region, as exact means of its corners."""
    shares = np.random.default_rng(seed).integers(1, 100, size=(count, len(mechanism.region)))
    dimension = len(mechanism.region[0])
    for row in shares.tolist():
        yield tuple(
            sum(s * corner[axis] for s, corner in zip(row, mechanism.region, strict=True)) / Fraction(sum(row))
            for axis in range(dimension)
        )


def test_it_is_private_between_the_points(between):
    some = list(off_the_points(between, 40, seed=3))
    some = [point[0] for point in some] if len(some[0]) == 1 else some
    assert verify(mdp.channels.of(between, some), Space(some, between.guarantee.metric))


def test_a_tenth_less_would_be_refused(between):
    """Two points close together at the steepest corner show it; on the globe within the stretch of its triangles."""
    metric = Fraction(9, 10) * between.guarantee.metric
    assert any(not verify(mdp.channels.of(between, pair), Space(pair, metric)) for pair in steep_pairs(between))


def steep_pairs(mechanism):
    """At each corner of each triangle, towards its other corners and along each coordinate."""
    mesh = mechanism._mesh
    for simplex in range(len(mesh.simplices)):
        corners = mesh.corners(simplex)
        centre = tuple(sum(corner[k] for corner in corners) / len(corners) for k in range(mesh.dimension))
        for corner in corners:
            start = tuple(c + (m - c) / 1000 for c, m in zip(corner, centre, strict=True))
            for angle in range(1 if mesh.dimension == 1 else 16):
                turn = (math.cos(angle * math.pi / 16), math.sin(angle * math.pi / 16))
                small = Fraction(1, 10**5) * max(abs(c - m) for c, m in zip(corner, centre, strict=True))
                end = tuple(x + small * Fraction(t) for x, t in zip(start, turn, strict=False))
                yield [start[0], end[0]] if mesh.dimension == 1 else [start, end]


def test_at_the_points_it_is_the_channel(between):
    channel = between.channel
    law = between.law(channel.inputs).rational()
    assert [[value * channel.total for value in row] for row in law] == channel.weights.tolist()


def test_floats_and_exact_arithmetic_agree(between):
    points = np.array([[float(v) for v in point] for point in off_the_points(between, 200, seed=5)])
    points = points[:, 0] if points.shape[1] == 1 else points
    with mdp.seeded(7):
        quick = between.release(points)
    with mdp.seeded(7), decide_all_by_balls():
        slow = between.release(points)
    assert quick.tolist() == slow.tolist()


def test_the_shares_of_the_corners_are_drawn():
    identity = Channel.from_matrix([0, 4], ["a", "b"], [["99/100", "1/100"], ["1/100", "99/100"]])
    between = identity.extended(metric=mdp.metrics.absolute())
    with mdp.seeded(1):
        released = between.release([1.0] * 40_000)
    share = released.count("b") / 40_000
    expected = 0.75 * 0.01 + 0.25 * 0.99
    assert abs(share - expected) < 0.013  # six standard deviations


def test_the_error_is_bounded_from_above():
    points = [(x, y) for x in range(4) for y in range(4)]
    between = mdp.design.optimal(Space(points, 2 * mdp.metrics.euclidean()), gap=1e-2).extended()
    radius = between.radius(0.9)
    x = np.random.default_rng(2).uniform(0, 3, size=(20_000, 2))
    with mdp.seeded(2):
        away = np.linalg.norm(between.release(x) - x, axis=1)
    assert (away <= radius).mean() > 0.9


def test_containers_and_what_comes_back():
    points, metric = METRICS["euclidean"]
    between = mdp.design.optimal(Space(points, metric), gap=1e-1).extended()
    assert between.release([1.5, 0.5]) in points
    assert between.release((1, 0)) in points
    assert all(point in points for point in between.release([[1.5, 0.5], (0, 0)]))
    assert between.release(np.array([[1.5, 0.5], [0, 0]])).shape == (2, 2)
    assert between.release(np.array([1.5, 0.5])) in points
    frame = pytest.importorskip("pandas").DataFrame({"x": [0.5, 1.5], "y": [0.25, 1.0]})
    assert all(point in points for point in between.release(frame))


@pytest.mark.parametrize("secret", [[-0.01, 1], [1, 2.5], [math.nan, 0], [None, 1], [1, 2, 3], ["a", 1]])
def test_secrets_elsewhere_are_refused_without_their_value(secret):
    points, metric = METRICS["euclidean"]
    between = mdp.design.optimal(Space(points, metric), gap=1e-1).extended()
    with pytest.raises(DataError) as error:
        between.release([[1.0, 1.0], secret] if len(secret) == 2 else secret)
    assert "0.01" not in str(error.value)
    assert "2.5" not in str(error.value)


def test_longitudes_are_counted_around_the_globe():
    between = mdp.design.optimal(Space(PARIS, METRICS["globe"][1]), gap=1e-1).extended()
    assert between.release([48.85, 362.35]) in PARIS
    with pytest.raises(OutOfDomainError):
        between.release([48.85, 182.35])


def test_a_region_of_its_own():
    points, metric = METRICS["euclidean"]
    channel = mdp.design.optimal(Space(points, metric), gap=1e-1)
    corner = [(2, 0), (3, 0), (3, 1)]
    inside = channel.extended(corner)
    assert inside.level <= channel.extended().level
    assert inside.release([2.75, 0.25]) in points
    with pytest.raises(OutOfDomainError):
        inside.release([1.5, 1.5])
    with pytest.raises(ArgumentError, match="beyond"):
        channel.extended([(0, 0), (9, 0), (0, 1)])
    with pytest.raises(ArgumentError, match="convex"):
        channel.extended([(0, 0), (2, 0), (1, 0)])


def test_what_cannot_be_extended_is_refused():
    absolute = mdp.metrics.absolute()
    with pytest.raises(ImpossibleError, match="zero"):
        Channel.from_matrix([0, 1], "ab", [[1, 0], ["1/2", "1/2"]]).extended(metric=absolute)
    with pytest.raises(ArgumentError, match="metric"):
        Channel.from_matrix([0, 1], "ab", [["1/3", "2/3"], ["1/2", "1/2"]]).extended()
    with pytest.raises(ArgumentError, match="not points"):
        Channel.from_matrix("xy", "ab", [["1/3", "2/3"], ["1/2", "1/2"]]).extended(metric=absolute)
    with pytest.raises(UnsupportedMetricError):
        mdp.channels.of(mdp.randomized_response([0, 1], 1), [0, 1]).extended()
    poles = [(89, 0), (90, 10), (88, 20)]
    with pytest.raises(ArgumentError, match="pole"):
        Channel.from_matrix(poles, "a", [[1]] * 3).extended(metric=mdp.metrics.great_circle())
    with pytest.raises(ArgumentError, match="180th"):
        Channel.from_matrix([(0, 179), (1, -179), (2, 178)], "a", [[1]] * 3).extended(metric=mdp.metrics.great_circle())


def test_tiny_probabilities_are_computed_exactly():
    rows = [[Fraction(1, 10**400), 1 - Fraction(1, 10**400)], [Fraction(3, 10**400), 1 - Fraction(3, 10**400)]]
    assert Channel.from_matrix([0, 2], "ab", rows).extended(metric=mdp.metrics.absolute()).level == 1


def test_a_channel_that_tells_nothing_keeps_every_level():
    constant = Channel.from_matrix([0, 1, 5], "ab", [["1/3", "2/3"]] * 3).extended(metric=mdp.metrics.absolute())
    assert constant.level == Fraction(1, 2**64)
    assert constant.release(2.5) in ("a", "b")


def test_it_is_a_value():
    channel = Channel.from_matrix([0, 2], "ab", [["1/3", "2/3"], ["2/3", "1/3"]])
    one, two = (
        channel.extended(metric=metric) for metric in (mdp.metrics.absolute(), mdp.ln(5) * mdp.metrics.absolute())
    )
    assert one == two
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.to_json()["guarantee"]
    assert "2 points" in one._repr_html_()


def test_a_region_is_a_list_of_corners():
    same = Channel.from_matrix([(0, 0), (1, 0), (0, 1)], "ab", [["1/2", "1/2"]] * 3)
    with pytest.raises(ArgumentError, match="list of corners"):
        same.extended(5, metric=mdp.metrics.euclidean())
