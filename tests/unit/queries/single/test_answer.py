import itertools
import json
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, DataError, ImpossibleError, UnsupportedMetricError
from metricdp.metrics import (
    Space,
    absolute,
    add_remove,
    capped,
    chebyshev,
    discrete,
    hamming,
    manhattan,
    nullable,
    records,
    unprotected,
)
from metricdp.queries import Average, CellCounts, Count, FiniteFunction, Percentile, Sum, answer, median
from metricdp.queries.single.plan import plan
from metricdp.queries.workloads.workload import Workload

TWO = {"bounds": (0, 2), "records": 2}
BASE = nullable(absolute(), 2)
CASES = [
    (Sum(**TWO), hamming()),
    (Sum(**TWO), manhattan()),
    (Sum(**TWO), chebyshev()),
    (Sum(**TWO, nulls=True), hamming()),
    (Sum(**TWO, nulls=True), add_remove()),
    (Sum(**TWO, nulls=True), records(BASE)),
    (Sum((1, 3), records=2, nulls=True), records(nullable(absolute(), 1))),
    (Average(**TWO), manhattan()),
    (Average(**TWO), chebyshev()),
    (Average(**TWO, rounding="floor"), manhattan()),
    (Average(**TWO, nulls=True), records(BASE)),
    (Average(**TWO, nulls=True), records(BASE, math.inf)),
    (Average(**TWO, nulls=True, rounding="floor"), hamming()),
    (Average((0, 4), records=2, nulls=True), add_remove()),
    (Percentile(50, **TWO), chebyshev()),
    (Percentile(0, **TWO, nulls=True), records(BASE, math.inf)),
    (Percentile(100, **TWO, nulls=True), add_remove()),
    (Count({2}, values=[0, 1, 2], records=2), hamming()),
    (Count({2}, values=[0, 1, 2], records=2), records(2 * absolute())),
    (Count({0, 1}, values=[0, 1, 2], records=2, nulls=True), add_remove()),
    (FiniteFunction(max, itertools.product(range(3), repeat=2)), hamming()),
    (FiniteFunction(lambda x: 3 * x[0] - x[1], itertools.product(range(3), repeat=2)), manhattan()),
]


def databases(query):
    return list(query.points if isinstance(query, FiniteFunction) else query.databases(100))


def composed(query, metric):
    """The mechanism after the query, as a channel from databases: at a level where all of it is rational."""
    grid, delta = query.grid, plan(query, metric).sensitivity.above
    level = mdp.ln(2) * (delta / grid.step)  # one step of the answer has odds of 2
    planned = plan(query, level * metric)
    points = databases(query)
    answers = [query.evaluate(x) - grid.start for x in points]
    rows = mdp.channels.of(planned.mechanism, dict.fromkeys(answers))
    weights = {y: rows.weights[place] for place, y in enumerate(rows.inputs)}
    entries = [[Fraction(int(weight), rows.total) for weight in weights[y]] for y in answers]
    return mdp.Channel.from_matrix(points, rows.outputs, entries), level * metric


@pytest.mark.parametrize(("query", "metric"), CASES, ids=repr)
def test_the_promise_is_kept_and_nothing_stronger(query, metric):
    channel, promised = composed(query, metric)
    verdict = mdp.channels.verify(channel, Space(channel.inputs, promised))
    assert verdict.holds
    assert verdict.scale_below >= 1 - 1e-12
    assert not mdp.channels.verify(channel, Space(channel.inputs, promised * Fraction(9, 10)))


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("metric", [hamming(), add_remove()], ids=repr)
def test_several_counts_keep_the_promise_together(metric, nulls):
    query = CellCounts(["a", "b"], records=2, nulls=nulls)
    level = mdp.ln(2) * plan(query, metric).sensitivity.above
    mechanism = plan(query, level * metric).mechanism
    each = mdp.channels.of(mechanism, range(3))
    points = databases(query)
    entries = [
        [Fraction(int(p) * int(q), each.total**2) for p, q in itertools.product(each.weights[one], each.weights[two])]
        for one, two in map(query.evaluate, points)
    ]
    channel = mdp.Channel.from_matrix(points, list(itertools.product(each.outputs, repeat=2)), entries)
    assert mdp.channels.verify(channel, Space(points, level * metric))
    assert not mdp.channels.verify(channel, Space(points, level * metric * Fraction(9, 10)))


@pytest.mark.parametrize(("query", "metric"), CASES, ids=repr)
def test_with_hardly_any_noise_it_is_the_truth(query, metric):
    for data in databases(query)[:3]:
        released = answer(query, data, 1000 * metric)
        assert released.value == query.evaluate(data)
        assert released.error_bar == 0


def test_on_other_grids_and_without_an_end():
    loud = 10_000
    assert answer(Sum((-5, -3), step="0.5", records=2), [-3.5, -4], loud * manhattan()).value == -7.5
    assert answer(Sum((0, 10)), [3, 4, None], loud * hamming()).value == 7
    assert answer(Sum((2, 10)), [3, 4], loud * hamming()).value == 7
    assert answer(Sum((-10, 10)), [-3, 4], loud * hamming()).value == 1
    assert answer(Average((0, 10), records=3), [1, 2, 2], loud * manhattan()).value == pytest.approx(5 / 3)
    assert answer(Count({"a"}), ["a", "b", "a"], loud * hamming()).value == 2
    assert answer(CellCounts(["a", "b"]), ["a", "b", "a"], loud * hamming()).value == (2, 1)
    real = answer(Sum((0, 1), step=None, records=3), [0.25, 0.5, 0.125], 2**30 * hamming())
    assert real.value == pytest.approx(0.875, abs=1e-6)
    assert real.noise == "Laplace noise"
    labels = FiniteFunction({0: "low", 1: "low", 2: "high"}, [0, 1, 2])
    assert answer(labels, 2, loud * absolute()).value == "high"


def test_wide_ranges_without_a_grid():
    """The grid of the release is as fine as the greatest answer leaves room for, whatever the data are."""
    query = Sum((0, 10**9), step=None, records=10**6)
    planned = plan(query, 10**6 * manhattan())
    for truth in (Fraction(0), Fraction(1, 3), Fraction(10**15) - Fraction(1, 3), Fraction(10**15)):
        assert planned.draw(truth) == pytest.approx(float(truth), abs=1)
    narrow = plan(Average((0, 1), step=None, records=5), hamming() / 2**40)  # noise beyond measure, and still an answer
    assert 0 <= narrow.draw(Fraction(1, 2)) <= 1


def test_answers_stay_where_answers_can_be():
    for query, data in [
        (Sum((0, 3), records=2), [0, 3]),
        (Count({1}), [1, 0]),
        (CellCounts([0, 1]), [1, 0]),
        (Sum((0, 3)), [1]),
    ]:
        for _ in range(20):
            values = answer(query, data, 0.01 * hamming()).value
            for value in values if isinstance(values, tuple) else (values,):
                assert isinstance(value, int)
                assert value >= 0
                assert query.records is None or value <= 6
    for _ in range(20):
        assert 0 <= answer(median((0, 1), step=None), [0.5], 0.01 * hamming()).value <= 1


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_error_bars_are_the_least_whole_number_of_steps(confidence):
    """P(|noise| > j) = 2 a^(j + 1) / (1 + a) for geometric noise with ratio a."""
    planned = plan(Sum((0, 1000), step=5, records=1000), mdp.ln(2) / 5 * manhattan())
    wanted = next(j for j in itertools.count() if 2 * Fraction(1, 2) ** (j + 1) / Fraction(3, 2) <= 1 - confidence)
    assert planned.error_bar(confidence) == 5 * wanted
    assert plan(Count({1}, records=2), 0.01 * hamming()).error_bar(confidence) <= 2
    with pytest.raises(ArgumentError, match="confidence"):
        planned.error_bar(1)


def test_which_mechanism_and_why():
    cases = [
        (Sum((0, 10), records=5), manhattan(), True, "truncated geometric noise", "Theorem 10"),
        (Sum((0, 10), records=5), hamming(), False, "truncated geometric noise", "Theorem 9"),
        (Sum((0, 10), records=5), chebyshev(), False, "truncated geometric noise", "hides some answers better"),
        (Sum((0, 10)), hamming(), False, "geometric noise", "records= with nulls=True"),
        (Sum((0, 10), step=None, records=5), manhattan(), False, "Laplace noise", "no grid"),
        (Sum((1, 10), records=5, nulls=True), hamming(), False, "truncated geometric noise", "Theorem 9"),
        (Average((0, 10), records=5), manhattan(), True, "truncated geometric noise", "Theorem 10"),
        (Average((0, 10), rounding="exact"), hamming(), False, "Laplace noise", "no grid"),
        (Count({1}, records=5), hamming(), True, "truncated geometric noise", "Theorem 8"),
        (Count({1}, records=5, nulls=True), hamming(), True, "truncated geometric noise", "Theorem 8"),
        (CellCounts([0, 1], records=5), hamming(), False, "truncated geometric noise", "several counts"),
    ]
    for query, metric, optimal, noise, why in cases:
        released = answer(query, [1] * 5, 0.5 * metric)
        assert (released.optimal, released.noise) == (optimal, noise), query
        assert why in released.why
        assert released.guarantee == mdp.Guarantee(0.5 * metric)


def test_no_noise_where_none_is_needed():
    everybody = answer(Count(records=3), [1, 2, 3], 0.1 * hamming())
    assert (everybody.value, everybody.error_bar, everybody.mechanism) == (3, 0.0, None)
    assert answer(Sum((0, 3), records=3), [1, 2, 3], records(unprotected())).value == 6
    assert answer(FiniteFunction(lambda x: "same", [0, 1]), 1, absolute()).value == "same"


def test_refusals():
    with pytest.raises(ImpossibleError, match="no finite sensitivity"):
        answer(Sum((0, 3)), [1], records(nullable(absolute(), 3), math.inf))
    with pytest.raises(UnsupportedMetricError, match="clamped values"):
        answer(Sum((0, 3), records=1, outside="clamp"), [1], records(capped(absolute(), 1)))
    with pytest.raises(ArgumentError, match="give the metric"):
        answer(Sum((0, 3)), [1])
    with pytest.raises(ArgumentError, match="a query is wanted"):
        answer(sum, [1], hamming())
    with pytest.raises(ArgumentError, match="metric"):
        answer(Sum((0, 3)), [1], 0.5)
    with pytest.raises(DataError, match="row 1") as caught:
        answer(Sum((0, 3)), [1, 44], hamming())
    assert "44" not in str(caught.value)
    with pytest.raises(ArgumentError, match="confidence"):
        answer(Sum((0, 3)), [1], hamming(), confidence=1.5)
    with pytest.raises(ArgumentError, match="coarser step"):
        plan(Sum((0, 2**60), step="0.5", records=2), manhattan())
    assert answer(Sum((0, 3), records=1, outside="clamp"), [9], 1000 * hamming()).value == 3


def test_the_truth_is_nowhere_in_the_answer():
    """Two data sets with the same noise and the same released value give the same answer, field by field."""
    query, metric = Sum((0, 100), records=2), 0.01 * hamming()
    released = {}
    for seed in range(60):
        for data in ((1, 2), (2, 2)):
            with mdp.seeded(seed):
                found = answer(query, list(data), metric)
            text = f"{found!r}\n{found}\n{json.dumps(found.to_json())}\n{sorted(vars(found))}"
            released.setdefault(found.value, {}).setdefault(data, text)
    shared = [texts for texts in released.values() if len(texts) == 2]
    assert shared
    assert all(len(set(texts.values())) == 1 for texts in shared)


def test_words_and_json():
    with mdp.seeded(1):
        marked = answer(Count({"a"}, records=5), ["a"] * 5, 0.5 * hamming())
    assert not marked.private
    assert "NOT private" in repr(marked)
    released = answer(Count({"a"}, records=5), ["a"] * 5, 0.5 * hamming())
    assert released.private
    assert f"Answer({released.value} ± 5 (95%), 0.5·dₕ-private, truncated geometric noise" in repr(released)
    assert "Universally optimal (paper 1, Theorem 10" in str(released)
    document = released.to_json()
    assert document == json.loads(json.dumps(document))
    assert (document["value"], document["error_bar"], document["optimal"]) == (released.value, 5.0, True)
    assert document["guarantee"]["formula"] == "0.5·dₕ-private"
    cells = answer(CellCounts(["tea", "milk"], records=5), ["tea"] * 5, 0.5 * hamming())
    assert [entry["cell"] for entry in cells.to_json()["value"]] == ["tea", "milk"]
    assert "tea: " in repr(cells)


def test_workloads_are_allocated():
    space = Space(["ill", "well"], 0.5 * discrete())
    workload = Workload([[1, 0], [1, 1]], space, names=["ill", "all"])
    for metric in (None, space.metric, records(space.metric)):
        answers = answer(workload, [30, 70], metric)
        assert answers["all"] == 100
        assert answers.confidence == 0.95
    with pytest.raises(ArgumentError, match="its own metric"):
        answer(workload, [30, 70], hamming())
