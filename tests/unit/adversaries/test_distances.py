"""Distances between beliefs and hypers: as qif computes them, as brute force does, and proved."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

import metricdp as mdp
from metricdp.adversaries import (
    Hyper,
    Prior,
    hyper,
    hyper_distance,
    kantorovich,
    multiplicative_kantorovich,
    multiplicative_total_variation,
    posteriors,
    total_variation,
    vulnerability,
)
from metricdp.channels import of, random_channel
from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure

m = mdp.metrics
F = Fraction
QIF = json.loads((Path(__file__).parents[2] / "fixtures/peers/qif_measures.json").read_text())["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")


def near(enclosure, value, gap=1e-9):
    """The enclosure is narrow, and holds the value of somebody else's floats up to their rounding."""
    lower, upper = enclosure.outward
    assert upper - lower <= gap
    return lower - 1e-7 <= value <= upper + 1e-7


@pytest.mark.parametrize("case", QIF)
def test_the_numbers_of_qif(case):
    n = len(case["p"])
    space = mdp.Space.line(n, F(1, 2) * m.absolute())
    p, q = case["p"], case["q"]
    assert float(total_variation(p, q)) == pytest.approx(case["total_variation"], abs=1e-9)
    assert near(kantorovich(p, q, space), case["kantorovich"])
    assert near(multiplicative_total_variation(p, q), case["mult_total_variation"])
    assert near(multiplicative_kantorovich(p, q, space), case["mult_kantorovich"])


def drawn(points, seed, count):
    with mdp.seeded(seed):
        return [Prior.random(points) for _ in range(count)]


def test_on_a_line_it_is_the_area_between_the_distribution_functions():
    points = [0, 1, 3, 7]
    space = mdp.Space(points, m.absolute())
    for p, q in itertools.pairwise(drawn(points, 1, 12)):
        sums = [list(itertools.accumulate(prior.fractions)) for prior in (p, q)]
        area = sum(abs(a - b) * (y - x) for a, b, (x, y) in zip(*sums, itertools.pairwise(points), strict=False))
        assert kantorovich(p, q, space) == Enclosure(area, area)


def test_with_the_discrete_metric_it_is_the_total_variation():
    space = mdp.Space("abcde", m.discrete())
    for p, q in itertools.pairwise(drawn("abcde", 2, 8)):
        apart = total_variation(p, q)
        assert kantorovich(p, q, space) == Enclosure(apart, apart)
        assert apart == max(
            sum(p.probability(x) - q.probability(x) for x in some)
            for size in range(6)
            for some in itertools.combinations("abcde", size)
        )


def test_irrational_distances_are_enclosed_narrowly():
    grid = mdp.Space.grid(3, 3, m.euclidean())
    for p, q in itertools.pairwise(drawn(grid.points, 3, 5)):
        found = kantorovich(p, q, grid)
        assert 0 < found.lower <= found.upper
        assert found.width < 1e-9
        assert found.lower <= kantorovich(p, q, mdp.Space(grid.points, m.manhattan())).upper


def test_the_axioms():
    space = mdp.Space.grid(2, 2, m.manhattan())
    p, q, r = drawn(space.points, 4, 3)
    for far in (lambda a, b: kantorovich(a, b, space), lambda a, b: multiplicative_kantorovich(a, b, space)):
        assert far(p, p).upper == 0
        assert float(far(p, q)) == pytest.approx(float(far(q, p)), abs=1e-9)
        assert far(p, r).lower <= far(p, q).upper + far(q, r).upper


def test_point_beliefs_are_as_far_apart_as_their_points():
    grid = mdp.Space.grid(2, 3, mdp.ln(2) * m.euclidean())
    for x, y in itertools.combinations(grid.points, 2):
        one, two = Prior.point(grid.points, x), Prior.point(grid.points, y)
        far = grid.metric.enclose(x, y)
        for found in (kantorovich(one, two, grid), multiplicative_kantorovich(one, two, grid)):
            assert found.lower <= far.upper
            assert far.lower <= found.upper
            assert found.width < 1e-8


def test_no_output_of_a_private_channel_tells_more_than_the_multiplicative_distance():
    d = mdp.ln(2) * m.absolute()
    space = mdp.Space.line(5, d)
    channel = of(mdp.truncated_geometric(d, steps=4), range(5))
    for p, q in itertools.pairwise(drawn(range(5), 5, 6)):
        bound = multiplicative_kantorovich(p, q, space).outward[1]
        for z in channel.outputs:
            one, two = (sum(prior.probability(x) * channel.probability(x, z) for x in range(5)) for prior in (p, q))
            assert abs(math.log(one / two)) <= bound + 1e-12


def test_what_is_infinitely_far():
    apart = mdp.Space("ab", m.unprotected())
    assert multiplicative_kantorovich([1, 0], [0, 1], apart) == Enclosure(math.inf, math.inf)
    assert multiplicative_total_variation([1, 0], [0, 1]) == Enclosure(math.inf, math.inf)
    with pytest.raises(ArgumentError, match="infinite distance"):
        kantorovich([1, 0], [0, 1], apart)


def test_hypers():
    prior = Prior("abc", (1, 2, 3), 6)
    with mdp.seeded(6):
        one, two = (hyper(prior, random_channel("abc", range(3))) for _ in range(2))
    found = hyper_distance(one, two)
    assert found.width < 1e-12
    assert hyper_distance(one, one).upper == 0
    # Vulnerability is convex and 1-Lipschitz in total variation, so its means differ by no more.
    values = [vulnerability(prior, given.channel, exact=True) for given in (one, two)]
    assert abs(values[0] - values[1]) <= found.upper
    line = mdp.Space("abc", 2 * m.discrete())
    assert float(hyper_distance(one, two, line)) == pytest.approx(2 * float(found))
    with pytest.raises(ArgumentError, match="takes Hypers, not Prior"):
        hyper_distance(prior, two)


def test_posteriors_make_a_channel_again():
    prior = Prior("abc", (1, 2, 3), 6)
    with mdp.seeded(7):
        channel = random_channel("abc", range(4))
    again = hyper(prior, channel).channel
    assert again == channel
    typed = Hyper.of("abc", [("1/2", ["1/2", "1/2", 0]), ("1/4", [0, 0, 1]), ("1/4", [0, 0, 1])])
    assert typed.outers == (F(1, 2), F(1, 2))
    assert typed.prior == Prior("abc", (1, 1, 2), 4)
    assert set(posteriors(typed.prior, typed.channel).values()) == set(typed.inners)
    with pytest.raises(ArgumentError, match=r"sums to 0\.75"):
        Hyper.of("ab", [("1/2", [1, 0]), ("1/4", [0, 1])])


def test_beliefs_over_what():
    assert total_variation({"a": 1}, Prior.uniform("ab")) == F(1, 2)
    with pytest.raises(ArgumentError, match="neither belief says"):
        total_variation("uniform", "uniform")
    with pytest.raises(ArgumentError, match="takes a Space"):
        kantorovich([1, 0], [0, 1], 3)
    assert kantorovich(Prior.uniform([0, 1]), [1, 0], m.absolute()).lower == F(1, 2)
