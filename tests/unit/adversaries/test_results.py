"""Every result says what is inside: in one line, in words, as JSON, and in a notebook."""

import json

import pytest

import metricdp as mdp
from metricdp import adversaries as a
from metricdp.channels import Channel, refines
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.progress import Update

m = mdp.metrics
LINE = mdp.Space.line(3, mdp.ln(2) * m.absolute())
C = Channel.from_matrix([0, 1, 2], "xyz", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
UNIFORM = a.Prior.uniform([0, 1, 2])

RESULTS = {
    "prior": (UNIFORM, "0: 1/3"),
    "hyper": (a.hyper(UNIFORM, C), "7/18: Prior"),
    "remap": (a.remap(UNIFORM, C), "'x': 0"),
    "table": (a.leakages(UNIFORM, C), "'identity': 1/3 -> 5/9"),
    "capacity": (a.capacity(C), "multiplicative="),
    "shannon capacity": (a.shannon_capacity(C), "upper=0.2"),
    "informed": (a.informed_bound(LINE, [0, 1], C), "holds=True"),
    "hiding": (a.hiding_bound(LINE, {0: 1, 1: 0, 2: 2}, C), "holds=True"),
    "error": (a.error_bound(LINE), "theorem_6="),
    "regular": (a.regular(UNIFORM, LINE), "holds=True"),
    "not regular": (a.regular([1, 0, 0], LINE), "holds=False"),
    "bounds": (a.prior_bounds(LINE), "3 points"),
    "tight": (a.maximally_tight(LINE, neighbourhoods=[[0, 1], [1, 2]]), "holds=True"),
    "gain": (a.as_gain("identity", range(3)), "from 0 to 1"),
    "loss": (a.distance(LINE), "from 0 to 2"),
    "constraints": (a.constraints_matrix(LINE), "3 points"),
    "refinement": (refines(C, C), "holds=True"),
    "no refinement": (refines(C, Channel.from_matrix([0, 1, 2], "x", [[1]] * 3)), "holds=False"),
    "channel": (C, "3 inputs"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name):
    result, inside = RESULTS[name]
    assert inside in repr(result)
    assert len(repr(result)) < 1000
    assert str(result)
    assert result._repr_html_().startswith("<")
    json.dumps(result.to_json(), allow_nan=False)


VERDICTS = ("informed", "hiding", "regular", "not regular", "tight", "refinement", "no refinement")


@pytest.mark.parametrize("name", VERDICTS)
def test_an_answer_holds_has_a_reason_and_a_witness(name):
    answer, _ = RESULTS[name]
    assert bool(answer) is answer.holds
    assert answer.reason == str(answer)
    assert (answer.witness is None) is (name == "tight")


def test_large_results_are_shown_in_part():
    points = range(300)
    prior = a.Prior.proportional(points, [x + 1 for x in points])
    assert len(repr(prior)) < 300
    assert "(300 secrets)" in repr(prior)
    assert "300 secrets, 300 possible" in str(prior)
    assert "and 260 more" in prior._repr_html_()
    big = Channel.from_matrix(points, points, [[int(x == z) for z in points] for x in points])
    assert len(repr(a.hyper(prior, big))) < 1000
    assert len(repr(a.remap(prior, big))) < 300
    assert "and 260 more" in str(a.remap(prior, big))
    assert len(str(a.as_gain("identity", points))) < 3000


def test_priors_multiply_and_go_to_json_and_back():
    coin = a.Prior(["tea", ("x", 1)], (1, 3), 4)
    assert a.Prior.from_json(json.loads(json.dumps(coin.to_json()))) == coin
    both = a.Prior.product(coin, UNIFORM)
    assert both.points[0] == ("tea", 0)
    assert len(both) == 6
    for point, share in zip(both.points, both.fractions, strict=True):
        assert share == coin.probability(point[0]) * UNIFORM.probability(point[1])
    with pytest.raises(ArgumentError, match="at least one prior"):
        a.Prior.product()
    with pytest.raises(ArgumentError, match=r"of Priors, not list: Prior.uniform\(points\)"):
        a.Prior.product(coin, [0.5, 0.5])
    with pytest.raises(ArgumentError, match="'points' and 'probabilities'"):
        a.Prior.from_json({"points": []})


LONG = {
    "corner_priors": lambda **limits: a.corner_priors(LINE, **limits),
    "prior_bounds": lambda **limits: a.prior_bounds(LINE, **limits),
    "regular": lambda **limits: a.regular("uniform", mdp.Space.grid(3, 3, m.euclidean()), **limits),
    "convex_coordinates": lambda **limits: a.convex_coordinates("uniform", LINE, **limits),
    "utility_bound": lambda **limits: a.utility_bound([1] + [0] * 24, mdp.Space.grid(5, 5, m.euclidean()), **limits),
    "leakage_bound": lambda **limits: a.leakage_bound(None, mdp.Space.grid(3, 3, m.euclidean()), **limits),
    "maximally_tight": lambda **limits: a.maximally_tight(LINE, neighbourhoods=[[0, 1], [1, 2]], **limits),
    "tight": lambda **limits: a.tight(LINE, [[0, 1], [1, 2]], **limits),
    "is_monotone": lambda **limits: a.is_monotone(LINE, "distance", **limits),
}


@pytest.mark.parametrize("name", LONG)
def test_what_can_take_long_tells_how_far_it_is_and_stops_in_time(name):
    updates = []
    assert LONG[name](progress=updates.append)
    assert updates
    assert all(isinstance(update, Update) for update in updates)
    with pytest.raises(TooLargeError, match="time_limit=1e-09 seconds were not enough"):
        LONG[name](time_limit=1e-9)
    with pytest.raises(ArgumentError, match="time_limit must be a positive number"):
        LONG[name](time_limit=0)


def test_what_has_an_answer_so_far_gives_it():
    updates = []
    channel = Channel.from_matrix([0, 1], "xy", [[1, 0], ["1/2", "1/2"]])
    coarse = a.shannon_capacity(channel, time_limit=1e-9, progress=updates.append)
    fine = a.shannon_capacity(channel)
    assert updates
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert coarse.gap > fine.gap
    undecided = refines(C, Channel.from_matrix([0, 1, 2], "x", [[1]] * 3), time_limit=1e-9, progress=updates.append)
    assert undecided.holds is None
