"""Verify is never talked into a promise that is not kept, and misses none that is."""

import importlib
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import networkx
import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, pairs, verify
from metricdp.channels._logarithms import logarithms
from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.balls import ball

m = mdp.metrics
F = Fraction
INF = math.inf
VERIFYING = importlib.import_module("metricdp.channels.verify")


def two(top, bottom=None, points=(0, 1), outputs="ab"):
    """Two rows whose first output has these probabilities."""
    bottom = 1 - top if bottom is None else bottom
    return Channel.from_matrix(points, outputs, [[top, 1 - top], [bottom, 1 - bottom]])


def ratio_channel(ratio, points):
    """Two rows whose largest ratio is this one, both ways."""
    ratio = F(ratio)
    return two(ratio / (ratio + 1), points=points)


# Exact ties and their neighbours

TIES = {
    "ln 2": (mdp.ln(2) * m.absolute(), (0, 1), 2),
    "ln 2 at distance 3": (mdp.ln(2) * m.absolute(), (0, 3), 8),
    "ln 4 at half": (mdp.ln(4) * m.absolute(), (0, 0.5), 2),
    "ln 3/2": (mdp.ln("3/2") * m.hamming(), ((0, 0, 0), (1, 1, 0)), F(9, 4)),
    "a third of ln 8": (mdp.ln(8) / 3 * m.discrete(), "xy", 2),
    "ln 2 + ln 3": (mdp.ln(2) * m.absolute() + mdp.ln(3) * m.discrete(), (0, 1), 6),
    "ln 2 a + ln 3 b": (mdp.ln(2) * m.absolute() + mdp.ln(3) * m.discrete(), (0, 5), 96),
    "the largest": (m.maximum(mdp.ln(2) * m.absolute(), mdp.ln(7) * m.discrete()), (0, 2), 7),
    "the largest, by the other": (m.maximum(mdp.ln(2) * m.absolute(), mdp.ln(7) * m.discrete()), (0, 3), 8),
    "attributes": (m.attributes({"a": mdp.ln(2) * m.absolute(), "b": mdp.ln(5)}), ((0, "x"), (2, "y")), 20),
    "one attribute": (m.attributes({"a": m.absolute(), "b": mdp.ln(5)}), ((1, "x"), (1, "y")), 5),
    "records": (m.records(mdp.ln(2) * m.absolute()), ((0, 0), (1, 2)), 8),
    "a euclidean diagonal": (mdp.ln(2) * m.euclidean(), ((0, 0), (3, 4)), 32),
    "halves that make a whole": (
        m.attributes({"a": mdp.ln(2) * m.absolute(), "b": mdp.ln(2) * m.absolute()}),
        ((0, 0), (F(1, 2), F(1, 2))),
        2,
    ),
    "roots that make a whole": (
        m.attributes({"a": mdp.ln(2) * m.absolute(), "b": mdp.ln(18) * m.absolute()}),
        ((0, 0), (F(1, 2), F(1, 2))),
        6,
    ),
    "budgets": (m.individuals({"a": mdp.ln(2), "b": mdp.ln(3)}), "ab", 6),
    "a cap": (m.capped(m.absolute(), mdp.ln(6)), (0, 9), 6),
    "below a cap": (m.capped(mdp.ln(2) * m.absolute(), mdp.ln(6)), (0, 2), 4),
    "just at a cap": (m.capped(mdp.ln(2) * m.absolute(), mdp.ln(8)), (0, 3), 8),
    "null": (m.nullable(m.capped(m.absolute(), 1), mdp.ln(6)), (None, 9), 6),
    "closure": ((mdp.ln(2) * m.absolute() + mdp.ln(3) * m.discrete()).closure([0, 1]), (0, 1), 6),
}


@pytest.mark.parametrize("name", TIES)
def test_a_tie_holds_exactly_and_a_hair_more_does_not(name):
    metric, points, ratio = TIES[name]
    space = mdp.Space(points, metric)
    verdict = verify(ratio_channel(ratio, points), space)
    assert verdict.holds
    assert verdict.scale == verdict.scale_below == 1
    hair = F(1, 2**3000)
    assert not verify(ratio_channel(ratio + hair, points), space).holds
    inside = verify(ratio_channel(ratio - hair, points), space)
    assert inside.holds
    assert inside.scale_below <= 1
    assert "NOT" not in str(inside)


@pytest.mark.parametrize("name", TIES)
def test_the_exponential_is_never_wrong(name):
    """Where it is known, it is exp of the distance: enclosed, never a guess."""
    metric, points, ratio = TIES[name]
    known = metric.exponential(*points)
    assert known is not None
    assert known.base == F(ratio) ** known.degree
    assert metric.exponential(points[0], points[0]).base == 1
    assert metric.exponential(*points[::-1]) == known
    enclosure = metric.enclose(*points, bits=200)
    assert math.exp(enclosure.lower) <= ratio * (1 + 1e-13)
    assert math.exp(enclosure.upper) >= ratio * (1 - 1e-13)


@pytest.mark.parametrize(
    ("metric", "points"),
    [
        (m.absolute(), (0, 1)),
        (m.unprotected(), (0, 1)),
        (mdp.ln(2) * m.unprotected(), (0, 1)),
        (mdp.ln(2) * m.euclidean(), ((0, 0), (1, 1))),
        (mdp.ln(2) * m.absolute() + m.discrete(), (0, 1)),
        (m.maximum(m.absolute(), mdp.ln(2) * m.discrete()), (0, 1)),
        (m.individuals({"a": 1, "b": mdp.ln(3)}), "ab"),
        (m.individuals({"a": math.inf, "b": mdp.ln(3)}), "ab"),
        (m.records(mdp.ln(2) * m.absolute(), p=2), ((0, 0), (1, 1))),
        (m.capped(m.absolute(), mdp.ln(6)), (0, 1)),
        (m.great_circle(), ((0, 0), (0, 1))),
    ],
)
def test_no_exponential_where_it_is_transcendental_or_infinite(metric, points):
    assert metric.exponential(*points) is None


@pytest.mark.parametrize(
    ("metric", "points", "ratio", "degree"),
    [
        (mdp.ln(2) * m.absolute(), (0, F(1, 2)), 2, 2),
        (mdp.ln(2) * m.absolute() + mdp.ln(3) * m.absolute(), (0, F(1, 3)), 6, 3),
        (m.maximum(mdp.ln(2) * m.absolute(), mdp.ln(3) / 2 * m.discrete()), (0, F(1, 2)), 3, 2),
        (m.maximum(mdp.ln(2) * m.absolute(), mdp.ln(3) / 2 * m.discrete()), (0, F(4, 5)), 16, 5),
    ],
)
def test_roots(metric, points, ratio, degree):
    """Ratios either side of an irrational root are told apart at any precision."""
    known = metric.exponential(*points)
    assert known.base**degree == F(ratio) ** known.degree
    digits = 10**60
    low = F(math.isqrt(ratio * digits**2), digits) if degree == 2 else None
    if low is not None:
        space = mdp.Space(points, metric)
        assert verify(ratio_channel(low, points), space).holds
        assert not verify(ratio_channel(low + F(1, digits), points), space).holds


def test_the_channel_of_paper_5_has_scale_one():
    rows = [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]]
    verdict = verify(Channel.from_matrix(range(3), "abc", rows), mdp.Space.line(3, mdp.ln(2) * m.absolute()))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
    weaker = verify(Channel.from_matrix(range(3), "abc", rows), mdp.Space.line(3, mdp.ln(4) * m.absolute()))
    assert (weaker.holds, weaker.scale, weaker.scale_below) == (True, 0.5, 0.5)
    stronger = verify(Channel.from_matrix(range(3), "abc", rows), mdp.Space.line(3, mdp.ln(2) / 3 * m.absolute()))
    assert (stronger.holds, stronger.scale, stronger.scale_below) == (False, 3.0, 3.0)
    assert stronger.witness in {(0, 1, "a"), (1, 0, "b"), (1, 0, "c"), (2, 1, "c"), (1, 2, "a"), (1, 2, "b")}


def test_the_float_nearest_to_ln_2_is_not_ln_2():
    space = mdp.Space([0, 1], float(mdp.ln(2)) * m.absolute())
    assert F(float(mdp.ln(2))) < mdp.ln(2).enclose(200).lower  # it is below
    verdict = verify(ratio_channel(2, (0, 1)), space)
    assert not verdict.holds
    assert 1 <= verdict.scale_below <= verdict.scale < 1 + 1e-15
    assert verdict.scale > 1


@pytest.mark.parametrize("bits", [10, 53, 64, 127, 128, 129, 200, 3000, 20_000])
def test_one_unit_in_the_last_place_of_long_weights(bits):
    total = 1 << bits
    twins = mdp.Space("xy", m.matrix("xy", [[0, 0], [0, 0]]))
    near = mdp.Space([0, 1], F(1, total) * m.absolute())
    for move in (0, 1):
        rows = [[F(1, 2) + F(move, total), F(1, 2) - F(move, total)], [F(1, 2), F(1, 2)]]
        verdict = verify(Channel.from_matrix("xy", "ab", rows), twins)
        assert verdict.holds == (move == 0)
        assert verdict.scale == (INF if move else 0)
        # (1/2) / (1/2 - u) is about exp(2 u): twice the distance.
        verdict = verify(Channel.from_matrix([0, 1], "ab", rows), near)
        assert verdict.holds == (move == 0)
        assert verdict.scale == pytest.approx(2 * move, rel=2 / total + 1e-12)
        assert verdict.scale_below <= verdict.scale


def test_a_tiny_scale_is_enclosed_closely():
    total = 1 << 900
    rows = [[F(1, 2) + F(1, total), F(1, 2) - F(1, total)], [F(1, 2), F(1, 2)]]
    verdict = verify(Channel.from_matrix([0, 1], "ab", rows), mdp.Space([0, 1], m.absolute()))
    assert verdict.scale == pytest.approx(2.0**-899, rel=1e-12)
    assert verdict.scale_below == pytest.approx(2.0**-899, rel=1e-12)


def test_columns_that_tie_to_the_128th_bit():
    """The largest ratio is found among outputs whose ratios agree in their first bits, wherever it stands."""
    total = 1 << 2000
    for place in range(4):
        low = [total // 8] * 4
        high = [value + (1 << 1990) for value in low]
        high[place] += 1
        rows = [[F(value, total) for value in row] for row in (high, low)]
        for row in rows:
            row.append(1 - sum(row))
        verdict = verify(Channel.from_matrix([0, 1], range(5), rows), mdp.Space.line(2, F(1, 4) * m.absolute()))
        assert verdict.witness[2] in (place, 4)
        ratios = [a / b for a, b in zip(*rows, strict=True)]
        assert verdict.witness == ((0, 1, place) if max(ratios) >= 1 / min(ratios) else (1, 0, 4))


# Zeros, twins, infinities


@pytest.mark.parametrize("points", list(itertools.permutations(range(2))))
def test_a_zero_against_a_positive(points):
    """Either way round: what only one input can give names it, and no scale serves."""
    channel = Channel.from_matrix(points, "ab", [[1, 0], ["1/2", "1/2"]])
    verdict = verify(channel, mdp.Space.line(2, 10**6 * m.absolute()))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (False, INF, INF)
    assert verdict.witness == (points[1], points[0], "b")


def test_a_zero_in_all_rows_is_no_fault():
    channel = Channel.from_matrix([0, 1], "abc", [["1/2", 0, "1/2"], ["1/4", 0, "3/4"]])
    assert verify(channel, mdp.Space.line(2)).holds


def test_zeros_between_parts_that_are_infinitely_far_apart():
    metric = m.matrix("abcd", [[0, 1, INF, INF], [1, 0, INF, INF], [INF, INF, 0, 1], [INF, INF, 1, 0]])
    space = mdp.Space("abcd", metric)
    rows = [["1/2", "1/2", 0, 0], ["1/3", "2/3", 0, 0], [0, 0, "1/2", "1/2"], [0, 0, "1/3", "2/3"]]
    verdict = verify(Channel.from_matrix("abcd", range(4), rows), space)
    assert verdict.holds
    assert verdict.scale == pytest.approx(math.log(1.5))
    rows[3] = [0, "1/100", "1/3", "197/300"]
    assert verify(Channel.from_matrix("abcd", range(4), rows), space).witness == ("d", "c", 1)
    identity = Channel.from_matrix("abcd", range(4), np.eye(4))
    free = verify(identity, mdp.Space("abcd", m.unprotected()))
    assert (free.holds, free.scale, free.witness) == (True, 0.0, None)


@pytest.mark.parametrize("delta", [0, F(1, 10)])
def test_a_distance_that_floats_cannot_hold_is_not_infinite(delta):
    for points, level in [
        ((-1.7e308, 1.7e308), F(1, 10**308)),
        ((0, 10**400), F(1, 10**400)),
        ((0, 1000), F(10**308)),
        ((0, 1), F(10**400)),
        (((-1.7e308, 0.0), (1.7e308, 0.0)), F(1, 10**308)),
    ]:
        metric = level * (m.euclidean() if isinstance(points[0], tuple) else m.absolute())
        verdict = verify(Channel.from_matrix(points, "ab", [[1, 0], ["1/2", "1/2"]]), mdp.Space(points, metric), delta)
        assert not verdict.holds
        assert verdict.scale == INF


def test_the_scale_at_distances_beyond_floats():
    for unit in (10**400, F(1, 10**400)):
        points = [0, unit, 3 * unit]
        rows = [["1/2", "1/2"], ["1/4", "3/4"], ["1/8", "7/8"]]
        channel = Channel.from_matrix(points, "ab", rows)
        verdict = verify(channel, mdp.Space(points, 1 / F(unit) * m.absolute()))
        assert verdict.witness == (0, unit, "a")
        assert verdict.scale == pytest.approx(math.log(2))
        assert not verify(channel, mdp.Space(points, F(69, 100) / unit * m.absolute())).holds
        assert verify(channel, mdp.Space(points, F(70, 100) / unit * m.absolute())).holds


def test_subnormal_distances_are_not_trusted():
    """As floats, 3.2e-323 is 3e-323 and 7.4e-324 is 5e-324 or 1e-323."""
    far, near, level = F("3.2e-323"), F("7.4e-324"), 10**323
    space = mdp.Space("abc", level * m.matrix("abc", [[0, far, far], [far, 0, near], [far, near, 0]]))
    for share in (F(3, 4), F(5, 8), F(11, 20)):
        rows = [[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)], [share, 1 - share]]
        verdict = verify(Channel.from_matrix("abc", "yz", rows), space)
        scale = math.log(F(1, 2) / (1 - share)) / 0.74
        assert verdict.scale == pytest.approx(scale, rel=1e-12)
        assert verdict.holds == (scale <= 1)
        assert verdict.witness == ("b", "c", "z")


@pytest.mark.parametrize("rows", [[["1/2", "1/2"]] * 2, [["1/2", "1/2"], ["1/3", "2/3"]]])
def test_twins(rows):
    verdict = verify(Channel.from_matrix("xy", "ab", rows), mdp.Space("xy", m.matrix("xy", [[0, 0], [0, 0]])))
    assert verdict.holds == (rows[0] == rows[1])
    assert verdict.witness[:2] in {("x", "y"), ("y", "x")}
    if not verdict.holds:
        x, other, z = ("xy".index(verdict.witness[0]), "xy".index(verdict.witness[1]), "ab".index(verdict.witness[2]))
        assert F(rows[x][z]) > F(rows[other][z])


def test_twins_that_floats_do_not_see():
    """Longitudes that differ by a whole turn, as fractions that no float is."""
    points = [(0, F(1, 3)), (0, F(1, 3) + 360)]
    space = mdp.Space(points, mdp.ln(2) * m.great_circle())
    assert verify(Channel.from_matrix(points, "ab", [["1/2", "1/2"]] * 2), space).holds
    verdict = verify(Channel.from_matrix(points, "ab", [["1/2", "1/2"], ["1/3", "2/3"]]), space)
    assert (verdict.holds, verdict.scale) == (False, INF)


def test_the_poles_are_one_place():
    points = [(90, 0), (90, 120), (0, 0)]
    space = mdp.Space(points, F(1, 10**7) * m.great_circle())
    rows = [["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"]]
    assert verify(Channel.from_matrix(points, "ab", rows), space).holds
    rows[1] = [F(1, 2) - F(1, 10**30), F(1, 2) + F(1, 10**30)]
    assert not verify(Channel.from_matrix(points, "ab", rows), space).holds


# Float views that mislead

GLOBE = m.great_circle()
MIDDLE = (F(1 / 3) + F(math.nextafter(1 / 3, 1))) / 2
MISLEADING = {
    "fractions either side of a rounding": (
        (0, MIDDLE - F(1, 10**20)),
        (0, MIDDLE + F(1, 10**20)),
        (F(1, 10**7), MIDDLE),
    ),
    "latitudes either side of a rounding": (
        (MIDDLE - F(1, 10**20), 0),
        (MIDDLE + F(1, 10**20), 0),
        (MIDDLE, F(1, 10**7)),
    ),
    "across the date line": ((0.0, 359.99999999999994), (0.0, -2e-14), (1e-7, 0.0)),
    "across the date line, nearer": ((0.0, 180 - 2.842170943040401e-14), (0.0, -180.0), (1e-7, 180.0)),
    "near the pole": ((90 - F(1, 10**16), 0), (90 - F(1, 10**16), 90), (89.9999999, 0)),
}


@pytest.mark.parametrize("name", MISLEADING)
def test_near_places_on_the_globe(name):
    """The near pair is the tightest by far, the far one is the tightest that keeps the promise."""
    points = MISLEADING[name]
    near, far = (F(GLOBE.enclose(points[0], other).lower) for other in points[1:])
    level = F(1, 10**13) / near
    space = mdp.Space(points, level * GLOBE)
    move = F(3, 10**13)
    share = min(F(1, 4), F(1, 4) * level * far)
    rows = [[F(1, 2) + move / 2, F(1, 2) - move / 2], [F(1, 2), F(1, 2)], [F(1, 2) - share / 2, F(1, 2) + share / 2]]
    verdict = verify(Channel.from_matrix(points, "ab", rows), space)
    assert not verdict.holds
    assert verdict.scale == pytest.approx(3, rel=1e-6)
    assert set(verdict.witness[:2]) == set(points[:2])


@pytest.mark.parametrize("deep", [10**10, 10**13, 10**30])
def test_near_leaves_of_a_deep_tree(deep):
    """Their distance is small against their depth, of which floats keep 16 digits; another pair is nearly as tight."""
    near = F(14, 10**17) * deep
    lengths = {"a": deep, "b": near * F(13, 14), "c": near * F(1, 14), "d": 1000 * near}
    space = mdp.Space("bcd", 1 / near * m.taxonomy({"a": "r", "b": "a", "c": "a", "d": "b"}, lengths))
    for excess, holds in ((F(11, 10), False), (F(9, 10), True)):
        move = 1 - F(1) / (1 + excess + excess**2 / 2 + excess**3 / 6 + excess**4 / 24 + excess**5 / 120)
        rows = [
            [F(1, 2), F(1, 2)],
            [F(1, 2) + move / 2, F(1, 2) - move / 2],
            [F(1, 2) / 10**400, 1 - F(1, 2) / 10**400],
        ]
        verdict = verify(Channel.from_matrix("bcd", "yz", rows), space)
        true = math.log(1 / (1 - move))
        assert true == pytest.approx(excess, rel=0.01)
        far = 400 * math.log(10) / 1000
        assert verdict.scale == pytest.approx(max(true, far), rel=1e-9)
        assert verdict.holds == holds
        assert set(verdict.witness[:2]) == ({"b", "c"} if true > far else {"b", "d"})


def test_own_metrics_of_long_weights():
    """The float logarithm of 10^5 bits is off by 1e-11: where it is rounded up, more than the distance many times."""
    total = 1 << 100_000
    half, step = total // 2, total // 10**14
    weights = np.array([[half + k * step] for k in range(1500)], dtype=object)
    logs, _ = logarithms(weights)
    jump = int(np.flatnonzero(np.diff(logs[:, 0]) > 1e-12)[0])
    low, high = weights[jump, 0], weights[jump + 1, 0]
    quarter = total // 4
    rows = np.array([[high, total - high], [low, total - low], [quarter, 3 * quarter]], dtype=object)
    metric = Channel((0, 1, 2), ("a", "b"), rows, total).guarantee.metric
    space = mdp.Space([0, 1, 2], metric)
    true = float(metric.enclose(0, 1).lower)
    assert true < 1e-13
    worse = F(3, 10**14)
    rows = [[F(1, 2) + worse, F(1, 2) - worse], [F(1, 2), F(1, 2)], [F(3, 8), F(5, 8)]]
    verdict = verify(Channel.from_matrix([0, 1, 2], "ab", rows), space)
    assert not verdict.holds
    assert verdict.scale == pytest.approx(6e-14 / true, rel=1e-6)


def test_a_level_that_is_the_logarithm_of_nearly_one():
    for digits in (10, 30, 100, 400):
        hair = F(1, 10**digits)
        space = mdp.Space([0, 1], mdp.ln(1 + hair) * m.absolute())
        verdict = verify(ratio_channel(1 + hair, (0, 1)), space)
        assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
        assert not verify(ratio_channel(1 + 2 * hair, (0, 1)), space).holds
        assert verify(ratio_channel(1 + hair / 2, (0, 1)), space).holds


# Shortcuts


def geometric(places, ratio):
    """The exact truncated geometric on a line of integers, at ln(ratio)."""
    last = max(places)
    rows = []
    for x in places:
        row = [F(ratio) ** -abs(x - z) * (F(ratio) - 1) / (F(ratio) + 1) for z in range(last + 1)]
        row[0], row[last] = (F(ratio) ** (1 - abs(x - z)) / (F(ratio) + 1) for z in (0, last))
        rows.append(row)
    return rows


@pytest.mark.parametrize("order", ["sorted", "reversed", "shuffled"])
def test_a_line_in_any_order(order):
    places = list(range(40))
    if order == "reversed":
        places.reverse()
    if order == "shuffled":
        np.random.default_rng(2).shuffle(places)
    rows = geometric(places, 2)
    space = mdp.Space.line(40, mdp.ln(2) * m.absolute())
    verdict = verify(Channel.from_matrix(places, range(40), rows), space)
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 1.0, 1.0)
    hair = F(1, 10**40)
    for victim in (0, 17, 39):
        worse = [row.copy() for row in rows]
        worse[victim][places[victim]] += hair
        worse[victim][(places[victim] + 20) % 40] -= hair
        verdict = verify(Channel.from_matrix(places, range(40), worse), space)
        assert not verdict.holds
        assert places[victim] in verdict.witness[:2]


def test_a_line_with_points_on_top_of_each_other():
    """Neighbours on the line stand for all pairs; where several points are one place, all of them count."""
    places = [0, 3, 3, 1, 1, 1, 2, 4, 4, 5, 6, 7, 8, 9, 10, 10]
    names = list(range(len(places)))
    metric = mdp.ln(2) * m.matrix(names, [[abs(x - y) for y in places] for x in places])
    rows = geometric(places, 2)
    space = mdp.Space(names, metric)
    assert verify(Channel.from_matrix(names, range(11), rows), space).holds
    for victim in names:
        worse = [row.copy() for row in rows]
        worse[victim][0] += F(1, 10**30)
        worse[victim][5] -= F(1, 10**30)
        verdict = verify(Channel.from_matrix(names, range(11), worse), space)
        assert not verdict.holds
        assert victim in verdict.witness[:2]


def test_a_line_that_is_nearly_one():
    """The far pair is a hair nearer than the chain between: it alone breaks the promise."""
    n, hair = 30, F(1, 10**20)
    apart = [[F(abs(x - y)) for y in range(n)] for x in range(n)]
    apart[0][n - 1] = apart[n - 1][0] = n - 1 - hair
    space = mdp.Space(range(n), mdp.ln(2) * m.matrix(range(n), apart))
    verdict = verify(Channel.from_matrix(range(n), range(n), geometric(range(n), 2)), space)
    assert not verdict.holds
    assert set(verdict.witness[:2]) == {0, n - 1}


@pytest.mark.parametrize("many", [10, 100, 10**9])
def test_few_stand_for_many_only_where_all_are_private(many, monkeypatch):
    """Whatever number of contenders is called many, the verdict is the same, and the scale holds for all."""
    monkeypatch.setattr(VERIFYING, "_MANY", many)
    monkeypatch.setattr(pairs, "_MANY", many)
    points = list(itertools.product(range(6), range(6)))
    rows = [[F(1, 4) / 2 ** (a + b), F(1, 4) / 2 ** (10 - a - b)] for a, b in points]
    rows = [[*row, 1 - sum(row)] for row in rows]
    for base, holds in ((2, True), (3, True), (F(199, 100), False)):
        space = mdp.Space(points, mdp.ln(base) * m.manhattan())
        verdict = verify(Channel.from_matrix(points, "abc", rows), space)
        assert verdict.holds == holds
        true = math.log(2) / math.log(base)
        assert verdict.scale_below <= true * (1 + 1e-15)
        assert true * (1 - 1e-15) <= verdict.scale <= true * (1 + 1e-9)
    worse = [row.copy() for row in rows]
    worse[20][0] += F(1, 10**30)
    worse[20][2] -= F(1, 10**30)
    verdict = verify(Channel.from_matrix(points, "abc", worse), mdp.Space(points, mdp.ln(2) * m.manhattan()))
    assert not verdict.holds
    assert points[20] in verdict.witness[:2]


@pytest.mark.parametrize("seed", range(12))
def test_pairs_that_near_ones_rule_out_change_no_verdict(seed, monkeypatch):
    """As for many inputs: columns are left out where no pair of two sets can be the tightest by them."""
    generator = np.random.default_rng(seed)
    places = generator.integers(0, 5, (30, 2))
    apart = np.abs(places[:, None] - places).sum(axis=-1).astype(float)
    if seed % 3 == 1:
        apart[:10, 10:] = apart[10:, :10] = math.inf
    if seed % 3 == 2:
        apart = apart * 2.0**-1000
    space = mdp.Space(range(30), m.matrix(range(30), apart))
    matrix = generator.random((30, 12)) * np.exp(-np.minimum(apart[:, :12], 3))
    matrix[apart[:, 0] == math.inf, :3] = 0
    if seed % 2:
        matrix[7] = 1e-9
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    for first in range(30):  # points at distance zero have one row
        rows[apart[first] == 0] = rows[first]
    channel, verdicts = Channel.from_matrix(range(30), range(12), rows), []
    for large in (0, 10**9):
        monkeypatch.setattr(VERIFYING, "_LARGE", large)
        verdicts.append(VERIFYING._verdict(channel, pairs.Pairs.of(range(30), space), F(0)))
    few, everything = verdicts
    assert few.scale > 0
    assert few.holds == everything.holds
    assert (few.scale, few.scale_below, few.witness) == (everything.scale, everything.scale_below, everything.witness)


def test_a_scale_that_stands_for_the_cases_left_out():
    space = mdp.Space.line(2, mdp.ln(4) * m.absolute())
    channel = ratio_channel(2, (0, 1))
    cases = [VERIFYING.RatioCase(0, 1, 0, 2, 1)]
    of_points = pairs.Pairs.of(channel.inputs, space)
    assert VERIFYING.decide(channel, of_points, cases).scale == 0.5
    bounded = VERIFYING.decide(channel, of_points, cases, others=0.75)
    assert (bounded.holds, bounded.scale, bounded.scale_below) == (True, 0.75, 0.5)


@dataclass(frozen=True, repr=False)
class Opaque(mdp.metrics.Metric):
    """A metric of a user's own, which is ln 2 but only ever says so as a ball."""

    kind: ClassVar[str] = "opaque"
    symbol: ClassVar[str] = "opaque"
    sound: ClassVar[bool] = True

    def _pairwise(self, points, others):
        return math.log(2) * m.discrete().pairwise(points, others)

    def _exactly(self, x, y):
        return F(0) if x == y else None

    def _irrational(self, x, y):
        return ball(2).log()


def test_what_cannot_be_decided_does_not_hold():
    space = mdp.Space([0, 1], Opaque())
    assert not verify(ratio_channel(2, (0, 1)), space).holds
    assert verify(ratio_channel(2 - F(1, 2**3000), (0, 1)), space).holds
    assert not verify(ratio_channel(2 + F(1, 2**3000), (0, 1)), space).holds


def test_implied_pairs_in_a_space_with_twins(monkeypatch):
    """A pair may follow from others only by way of points that are apart from both of its own."""
    monkeypatch.setattr(pairs, "_MANY", 1)
    places = [0, 0, 0, 1, 1, 2, 2]
    names = list("abcdefg")
    graph = m.matrix(names, [[abs(x - y) for y in places] for x in places])
    rows = [[F(2) ** -x / 2, 1 - F(2) ** -x / 2] for x in places]
    channel = Channel.from_matrix(names, "yz", rows)
    assert verify(channel, mdp.Space(names, mdp.ln(2) * graph)).holds
    verdict = verify(channel, mdp.Space(names, mdp.ln("199/100") * graph))
    assert not verdict.holds
    assert verdict.scale == pytest.approx(math.log(2) / math.log(1.99))


def test_a_graph_with_unreachable_parts():
    network = networkx.path_graph(12)
    network.remove_edge(5, 6)
    space = mdp.Space(range(12), mdp.ln(2) * m.graph(network))
    rows = [[F(2) ** -(x % 6) / 2, 1 - F(2) ** -(x % 6) / 2] for x in range(12)]
    verdict = verify(Channel.from_matrix(range(12), "yz", rows), space)
    assert (verdict.holds, verdict.scale) == (True, 1.0)


# Shapes of channels and spaces


def test_one_input():
    verdict = verify(Channel.from_matrix([3], "ab", [["1/2", "1/2"]]), mdp.Space.line(5))
    assert (verdict.holds, verdict.scale, verdict.scale_below, verdict.witness) == (True, 0.0, 0.0, None)


def test_one_output():
    verdict = verify(Channel.from_matrix(range(5), "z", [[1]] * 5), mdp.Space.line(5))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 0.0, 0.0)
    assert verdict.witness is not None


def test_equal_rows():
    verdict = verify(Channel.from_matrix(range(3), "ab", [["1/3", "2/3"]] * 3), mdp.Space.line(3))
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 0.0, 0.0)


def test_inputs_are_found_by_label_not_by_place():
    rows = {0: ["2/3", "1/3"], 1: ["1/3", "2/3"], 9: ["1/9", "8/9"]}
    space = mdp.Space([9, 5, 1, 7, 0], mdp.ln(2) * m.absolute())
    for order in itertools.permutations(rows):
        verdict = verify(Channel.from_matrix(order, "ab", [rows[x] for x in order]), space)
        assert verdict.witness in {(0, 1, "a"), (1, 0, "b")}
        assert verdict.scale == 1


def test_labels_that_are_equal_are_one_point():
    channel = Channel.from_matrix([0.0, True], "ab", [["1/2", "1/2"], ["1/3", "2/3"]])
    assert verify(channel, mdp.Space([0, 1], m.absolute())).holds


def test_the_verdict_names_metric_and_delta():
    space = mdp.Space.line(2, mdp.ln(3) * m.absolute())
    verdict = verify(two(F(1, 2)), space, "0.25")
    assert verdict.metric == space.metric
    assert verdict.delta == F(1, 4)


# Bad input


def test_a_point_that_the_space_lacks():
    channel = Channel.from_matrix([0, 7], "ab", [["1/2", "1/2"]] * 2)
    with pytest.raises(ArgumentError, match="row 1: the space has no point 7"):
        verify(channel, mdp.Space.line(3))


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, math.inf, "much", None, True])
def test_bad_deltas(delta):
    with pytest.raises(LevelError):
        verify(two(F(1, 2)), mdp.Space.line(2), delta)


def test_other_things_than_channels_and_spaces():
    with pytest.raises(ArgumentError, match=r"verify takes a Channel, not int.*from_matrix"):
        verify(3, mdp.Space.line(1))
    with pytest.raises(ArgumentError, match=r"verify takes a Space, not points alone: .* mdp.Space"):
        verify(two(F(1, 2)), [0, 1])
    with pytest.raises(ArgumentError, match="verify takes a Space, not float"):
        verify(two(F(1, 2)), 0.5)
    with pytest.raises(ArgumentError, match=r"verify takes a Channel: mdp.channels.of\(mechanism, inputs\)"):
        verify(mdp.randomized_response("ab", 1), m.discrete())


def test_what_is_clear_is_taken():
    """An array, a dict or a mechanism where a channel is meant, and a metric where a space is."""
    channel, d = two(F(2, 3)), mdp.ln(2) * m.absolute()
    expected = verify(channel, mdp.Space([0, 1], d))
    assert expected.holds
    assert expected.scale == 1
    assert verify(channel, d) == expected
    assert verify([["2/3", "1/3"], ["1/3", "2/3"]], mdp.Space([0, 1], d)).scale == 1
    assert verify({0: {"a": "2/3", "b": "1/3"}, 1: {"a": "1/3", "b": "2/3"}}, d) == expected
    assert verify(np.array([[0.75, 0.25], [0.25, 0.75]]), mdp.Space("xy", mdp.ln(3) * m.discrete())).witness[:2] == (
        "x",
        "y",
    )
    assert verify(mdp.randomized_response("ab", mdp.ln(3)), mdp.Space("ab", mdp.ln(3) * m.discrete())).scale == 1


def test_rows_that_are_all_alike_keep_every_level():
    space = mdp.Space([(x, x * x % 7) for x in range(30)], m.euclidean())
    same = Channel.from_matrix(space.points, "yz", [["1/3", "2/3"]] * 30)
    verdict = verify(same, space)
    assert (verdict.holds, verdict.scale, verdict.scale_below) == (True, 0.0, 0.0)
    x, other, z = verdict.witness
    assert x != other
    assert z in "yz"


@pytest.mark.parametrize("seed", range(4))
def test_large_channels_are_judged_as_small_ones_are(monkeypatch, seed):
    """Of many inputs only some pairs are looked at; with and without twins it finds the same scale and witness."""
    generator = np.random.default_rng(seed)
    places = generator.random((40, 2))
    if seed % 2:
        places[20:] = places[:20] + 1e-9 * generator.random((20, 2))
    space = mdp.Space([tuple(place) for place in places.tolist()], 5 * m.euclidean())
    matrix = np.exp(-space.distances * generator.uniform(0.3, 0.7))
    matrix /= matrix.sum(axis=1, keepdims=True)
    if seed % 2:
        matrix[20:] = matrix[:20]
    channel = Channel.from_matrix(space.points, space.points, matrix)
    inputs = pairs.Pairs.of(channel.inputs, space)
    plain = VERIFYING._verdict(channel, inputs, F(0))
    monkeypatch.setattr(VERIFYING, "_LARGE", 10)
    quick = VERIFYING._verdict(channel, inputs, F(0))
    assert (quick.holds, quick.scale, quick.scale_below) == (plain.holds, plain.scale, plain.scale_below)
    assert quick.witness == plain.witness
