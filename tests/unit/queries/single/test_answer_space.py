import itertools

import pytest

import metricdp as mdp
from metricdp.design import answer_space
from metricdp.errors import UnsupportedMetricError
from metricdp.metrics import Space, absolute, add_remove, chebyshev, hamming, manhattan, nullable, records
from metricdp.queries import Average, CellCounts, Count, FiniteFunction, Percentile, Sum

QUERIES = [
    (Sum((0, 2), records=2), manhattan()),
    (Sum((0, 2), records=2), hamming()),
    (Sum((1, 2), records=2, nulls=True), hamming()),
    (Average((0, 2), records=2), manhattan()),
    (Average((0, 2), records=2, nulls=True), 3 * records(nullable(absolute(), 2))),
    (Percentile(50, (0, 2), step="0.5", records=2), chebyshev() / 7),
    (Count({1}, values=[0, 1, 2], records=2, nulls=True), add_remove()),
    (CellCounts([0, 1], records=2), hamming()),
]


@pytest.mark.parametrize(("query", "metric"), QUERIES, ids=repr)
def test_as_all_databases_say(query, metric):
    scaled = mdp.ln(2) * metric
    found = answer_space(query, scaled)
    listed = answer_space(query.evaluate, Space(query.databases(100), scaled))
    assert found.points == listed.points
    for y, z in itertools.combinations(found.points, 2):
        one, two = (space.metric.exponential(y, z) for space in (found, listed))
        assert one == two


def test_functions_and_large_queries():
    parity = FiniteFunction(lambda x: sum(x) % 2, Space.bits(3))
    assert answer_space(parity, hamming()).metric.exactly(0, 1) == 1
    assert len(answer_space(Count({"a"}, records=1000), 0.5 * hamming())) == 1001
    assert len(answer_space(Percentile(50, (0, 200)), 0.5 * records(nullable(absolute(), 200)))) == 201
    for query in (
        Sum((0, 9), records=9),
        Count({"a"}),
        Sum((0, 9), step=None, records=2),
        Count({"a"}, records=10_000),
    ):
        with pytest.raises(UnsupportedMetricError, match="databases"):
            answer_space(query, hamming())


def test_it_feeds_design():
    space = answer_space(Count({1}, records=3), mdp.ln(3) * hamming())
    best = mdp.design.optimal(space, prior="uniform", loss="distance")
    noise = mdp.channels.of(mdp.truncated_geometric(mdp.ln(3) * absolute(), steps=3), space.points)
    assert best.loss == pytest.approx(mdp.adversaries.uncertainty("uniform", noise, "distance", space=space), rel=1e-4)
