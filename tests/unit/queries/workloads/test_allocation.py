"""Allocations: scales, proofs, bounds, releases, and what is refused."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.level import ln
from metricdp.metrics import Guarantee, Space, records
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.allocation import verdict_of
from metricdp.queries.workloads.workload import Workload

METHODS = ("equal", "shared", "proportional", "exact")
OBJECTIVES = ("mean", "geometric", "worst")


def plane(cells, seed=0, queries=4, binary=False, level=1):
    generator = np.random.default_rng(seed)
    space = Space((generator.random((cells, 2)) * 100).tolist(), level * metrics.euclidean())
    shape = (queries, cells)
    return Workload(generator.integers(0, 2, shape) if binary else generator.random(shape), space)


@pytest.mark.parametrize("method", METHODS)
def test_one_query_needs_its_steepest_slope(method):
    allocation = allocate(Workload([[0, 1, 5]], Space.line(3, 0.5 * metrics.absolute())), method)
    assert allocation.scales == (8.0,)
    assert allocation.verdict.holds
    assert allocation.verdict.scale == allocation.verdict.scale_below == 1
    assert allocation.verdict.witness == (1, 2, "beyond both answers")


def test_the_three_strategies_by_hand():
    """Two queries on a line of three: steps 1 and 0, 1 and 3 between neighbours."""
    workload = Workload([[0, 1, 2], [0, 0, 3]], Space.line(3, metrics.absolute()))
    assert allocate(workload, "equal").scales == (2.0, 6.0)
    assert allocate(workload, "shared").scales == (4.0, 4.0)
    # Round 1: c' = (1, 3), loads 1 and 2, so c = (2, 6). All of d(1, 2) is spent.
    assert allocate(workload, "proportional").scales == (2.0, 6.0)


def test_exact_by_calculus():
    """One pair with steps a and b: minimise 1/r² + 1/s² with a r + b s = 1, so r : s = a^(-1/3) : b^(-1/3)."""
    workload = Workload([[0, 1], [0, 8]], Space.line(2, metrics.absolute()))
    mean = allocate(workload)
    assert mean.scales == pytest.approx((5.0, 10.0), rel=1e-6)
    assert mean.value == pytest.approx(125, rel=1e-9)
    geometric = allocate(workload, objective="geometric")
    assert geometric.scales == pytest.approx((2.0, 16.0), rel=1e-6)
    worst = allocate(workload, objective="worst")
    assert worst.scales == (9.0, 9.0)
    assert worst.bound == worst.value == 9
    weighted = allocate(workload, objective="worst", weights=[1, 2])
    assert weighted.scales == pytest.approx((17.0, 8.5), rel=1e-12)


def test_weights_move_noise_to_what_matters_less():
    workload = Workload([[0, 1], [0, 1]], Space.line(2, metrics.absolute()), names=["a", "b"])
    allocation = allocate(workload, weights={"a": 8, "b": 1})
    assert allocation.scales == pytest.approx((1.5, 3.0), rel=1e-6)
    assert allocation.weights == (8, 1)
    # (8 * 2 * 1.5² + 2 * 3²) / 9
    assert allocation.value == pytest.approx(6, rel=1e-9)


def test_worst_goes_on_to_the_second_worst():
    """Query c meets nobody at the pair that stops a and b."""
    space = Space.line(4, metrics.matrix(range(4), _apart(4, {(0, 1): 1, (2, 3): 2}, 10)))
    workload = Workload([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], space)
    allocation = allocate(workload, objective="worst")
    assert allocation.scales == (2.0, 2.0, 0.5)
    assert allocation.value == 2


def _apart(cells, near, far):
    matrix = [[0 if i == j else far for j in range(cells)] for i in range(cells)]
    for (i, j), distance in near.items():
        matrix[i][j] = matrix[j][i] = distance
    return matrix


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("binary", [False, True])
def test_exact_is_never_worse_and_has_the_gap(objective, binary):
    workload = plane(40, seed=3, queries=6, binary=binary, level=ln(2))
    exact = allocate(workload, objective=objective)
    assert 0 <= exact.gap <= 1e-6
    assert exact.bound <= exact.value
    for method in METHODS[:3]:
        other = allocate(workload, method, objective=objective)
        assert other.value >= exact.value
        assert other.value >= exact.bound
        assert other.gap is None


def test_the_bound_is_not_only_a_copy_of_the_value():
    """A general solver, which knows nothing of multipliers, comes as low as the bound and no lower."""
    from scipy.optimize import minimize

    workload = plane(12, seed=5, queries=3)
    exact = allocate(workload)
    i, j = np.triu_indices(12, 1)
    rows = np.abs(workload.matrix[:, i] - workload.matrix[:, j]).T / workload.space.distances[i, j][:, None]
    start = 1 / np.array(allocate(workload, "equal").scales)
    found = minimize(
        lambda r: (2 / r**2).mean() / exact.value,
        start,
        method="SLSQP",
        bounds=[(1e-6, None)] * 3,
        constraints={"type": "ineq", "fun": lambda r: 1 - rows @ r},
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    assert found.fun * exact.value == pytest.approx(exact.bound, rel=1e-6)


def test_lazy_limits_give_what_all_limits_give():
    from metricdp.programs.convex import InverseSquares, best_shares

    workload = plane(60, seed=8, queries=5)
    budgets = PairBudgets(workload)
    own, _ = budgets.own_scales()
    all_pairs = [(i, j) for i in range(60) for j in range(i + 1, 60)]
    found = best_shares(InverseSquares(own**2), budgets.rows_of(all_pairs) / own)
    assert 2 * float((own**2 / found.x**2).mean()) == pytest.approx(allocate(workload).value, rel=1e-9)


def test_progress_is_told():
    told = []
    allocate(plane(30), progress=told.append)
    assert told
    assert told[-1].done == len(told)
    assert told[-1].gap <= 1e-6


# Distances 0 and infinity, and queries without noise


def test_a_constant_query_needs_no_noise():
    workload = Workload([[1, 1, 1], [0, 1, 2]], Space.line(3), names=["n", "sum"])
    allocation = allocate(workload)
    assert allocation.scales == (0.0, 1.0)
    answers = allocation.release([1, 2, 3])
    assert answers["n"] == 6
    assert answers.error_bars[0] == 0


def test_cells_at_infinite_distance_are_told_apart_freely():
    d = metrics.attributes({"town": math.inf, "ill": 1})
    space = Space([("a", 0), ("a", 1), ("b", 0), ("b", 1)], d)
    allocation = allocate(Workload([[1, 1, 0, 0], [0, 1, 0, 1]], space))
    assert allocation.scales == (0.0, 1.0)
    only = allocate(Workload([[1, 1, 0, 0]], space))
    assert only.scales == (0.0,)
    assert only.value == 0
    assert only.gap == 0
    assert only.verdict.holds
    assert only.verdict.witness is None


@pytest.mark.parametrize("method", METHODS)
def test_a_query_that_differs_by_a_hair_still_gets_noise(method):
    """As floats the coefficients are equal; as numbers they are not."""
    workload = Workload([[1, 1 + Fraction(1, 10**30), 1]], Space.line(3))
    scale = allocate(workload, method).scales[0]
    assert scale > 0
    assert Fraction(1, 10**30) <= Fraction(scale) <= Fraction(1, 10**30) * (1 + Fraction(1, 10**9))


def test_a_hair_at_a_hair_of_a_distance_is_seen():
    """The steepest slope lies between coefficients that floats cannot tell apart."""
    hair = Fraction(1, 10**25)
    space = Space([0, 1, 1 + hair], metrics.absolute())
    allocation = allocate(Workload([[0, 1, 1 + 3 * hair]], space), "exact")
    assert Fraction(3) <= Fraction(allocation.scales[0]) <= 3 + Fraction(1, 10**9)


def test_cells_at_distance_zero_must_not_be_told_apart():
    d = metrics.matrix("abc", [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    with pytest.raises(ImpossibleError, match="query 'second' tells the cells 'a' and 'b' apart"):
        allocate(Workload([[1, 1, 0], [1, 2, 0]], Space("abc", d), names=["first", "second"]))
    assert allocate(Workload([[1, 1, 0]], Space("abc", d))).scales == (1.0,)


def test_distances_beyond_floats_are_refused():
    space = Space([0, 1], metrics.absolute() * Fraction(1, 10**300))
    with pytest.raises(ArgumentError, match="scale the metric"):
        allocate(Workload([[0, 1]], space))


# Proofs


def test_a_tenth_less_noise_is_refused():
    workload = plane(20)
    budgets = PairBudgets(workload)
    scales = allocate(workload).scales
    assert verdict_of(budgets, scales).holds
    broken = verdict_of(budgets, tuple(0.9 * scale for scale in scales))
    assert not broken.holds
    assert broken.scale == pytest.approx(1 / 0.9, rel=1e-9)


def test_one_step_of_a_float_less_is_refused():
    workload = Workload([[0, 1, 5]], Space.line(3, 0.5 * metrics.absolute()))
    budgets = PairBudgets(workload)
    assert verdict_of(budgets, (8.0,)).holds
    assert not verdict_of(budgets, (math.nextafter(8.0, 0),)).holds
    assert not verdict_of(budgets, (0.0,)).holds  # no noise where some is needed


def test_one_of_each_kind_is_enough_for_the_discrete_metric():
    generator = np.random.default_rng(2)
    given = generator.integers(0, 2, (3, 200))
    workload = Workload(given, Space(range(200), Fraction(1, 3) * metrics.discrete()))
    assert len(PairBudgets(workload).places) <= 8
    spelled = metrics.matrix(range(200), (np.ones((200, 200)) - np.eye(200)).tolist())
    whole = Workload(given, Space(range(200), Fraction(1, 3) * spelled))
    assert len(PairBudgets(whole).places) == 200
    assert allocate(workload, "shared").scales == allocate(whole, "shared").scales == (9.0,) * 3


def test_many_ties_are_proved_too(monkeypatch):
    """Where there are too many ties to look at one by one, floats prove them, and scales stay as near."""
    import metricdp.queries.workloads._pairs as allocating_pairs

    monkeypatch.setattr(allocating_pairs, "_MOST_EXACT", 3)
    workload = Workload(np.eye(6, dtype=int), Space(range(6), metrics.blowfish(metrics.absolute(), 9, 1)))
    allocation = allocate(workload)
    assert allocation.verdict.holds
    assert 1 - 1e-9 <= allocation.verdict.scale <= 1
    assert allocation.scales == pytest.approx([2.0] * 6, rel=1e-6)


# Release


@pytest.mark.parametrize("seed", range(8))
def test_many_ties_are_proved_beside_queries_without_noise(seed, monkeypatch):
    """The proof in floats was of the noisy queries alone, and failed by a digit for all of them: an AssertionError."""
    monkeypatch.setattr("metricdp.queries.workloads._pairs._MOST_EXACT", 0)
    noisy = plane(12, seed, queries=7)
    rows = [list(row) for row in noisy.given.tolist()] + [[1] * len(noisy.space)] * 40
    allocation = allocate(Workload(rows, noisy.space))
    assert allocation.verdict.holds
    assert allocation.scales[7:] == (0.0,) * 40


def test_answers_are_near_the_truth_and_say_how_near():
    workload = plane(25, queries=3)
    allocation = allocate(workload)
    counts = np.arange(25) * 1000
    truth = np.array([float(value) for value in workload.truth(counts)])
    answers = allocation.release(counts, confidence=1 - 1e-9)
    assert (np.abs(answers.values - truth) <= answers.error_bars).all()
    assert (answers.values != truth).all()
    assert answers.records == counts.sum()
    bars = allocation.release(counts).error_bars
    assert bars == pytest.approx(np.array(allocation.scales) * math.log(20), rel=1e-5)


def test_answers_speak_to_people_and_programs():
    space = Space(["ill", "well"], 0.5 * metrics.discrete())
    allocation = allocate(Workload([[1, 0]], space, names=["ill"]))
    answers = allocation.release([3, 4])
    assert repr(answers).splitlines()[0] == "Answers (95% error bars; ℓ₁(0.5·[x ≠ y])-private, for 7 records)"
    read = json.loads(json.dumps(answers.to_json()))
    assert read["answers"][0]["query"] == "ill"
    assert read["answers"][0]["value"] == answers["ill"] == next(iter(answers))
    assert read["records"] == 7
    assert len(answers) == 1
    written = json.loads(json.dumps(allocation.to_json()))
    assert written["queries"] == [{"query": "ill", "scale": 2.0}]
    assert written["verdict"]["holds"]
    assert "noise of scale 2" in repr(allocation)
    assert allocation.guarantee == answers.guarantee == Guarantee(records(space.metric))


def test_how_finely_answers_are_rounded_follows_from_public_numbers():
    """Huge coefficients and counts are not refused, whatever the counts: the rounding is coarser for all alike."""
    workload = Workload([[0, 10**12, 1]], Space.line(3, 10**12 * metrics.absolute()))
    allocation = allocate(workload)
    one, other = (allocation.mechanism(0, 10**9).resolution, allocation.mechanism(0, 10).resolution)
    assert one > other
    for counts in ([10**9, 0, 0], [0, 10**9, 0], [0, 0, 10**9]):
        assert math.isfinite(allocation.release(counts).values[0])


def test_bad_requests_are_refused():
    workload = plane(5)
    for method in ("best", "biased", None):
        with pytest.raises(ArgumentError, match="method"):
            allocate(workload, method)
    with pytest.raises(ArgumentError, match="objective"):
        allocate(workload, objective="median")
    with pytest.raises(ArgumentError, match="gap"):
        allocate(workload, gap=0)
    with pytest.raises(ArgumentError, match="positive"):
        allocate(workload, weights=[1, 1, 0, 1])
    with pytest.raises(ArgumentError, match="finite"):
        allocate(workload, weights=[1, 1, float("nan"), 1])
    with pytest.raises(ArgumentError, match="weights"):
        allocate(workload, weights=[1])
    with pytest.raises(ArgumentError, match="weights"):
        allocate(workload, weights={"q0": 1})
    with pytest.raises(ArgumentError, match="takes a Workload"):
        allocate([[1, 2]])
    with pytest.raises(ArgumentError, match="confidence"):
        allocate(workload).release([1] * 5, confidence=1)


# Errors to expect


def test_errors_to_expect_without_bias():
    allocation = allocate(Workload([[0, 3, 3], [0, 0, 4]], Space.line(3)), "equal")
    assert allocation.scales == (6.0, 8.0)
    assert allocation.squared_error() == allocation.squared_error(10**6) == 200
    assert allocation.absolute_error() == 14
    assert allocation.largest_error(0.05) == pytest.approx(8 * math.log(40), rel=1e-12)
    with pytest.raises(ArgumentError, match="beta"):
        allocation.largest_error(0)


def test_the_noise_is_the_one_that_was_proved():
    """The mechanism's level is one over the scale, as an exact number."""
    allocation = allocate(plane(12, level=ln(3)))
    for query, scale in enumerate(allocation.scales):
        mechanism = allocation.mechanism(query, 1000)
        assert mechanism.guarantee == Guarantee(metrics.absolute() * (1 / Fraction(scale)))


def test_distances_on_the_globe_are_close_without_balls():
    """Floats serve for far cells and balls for near ones; all agree with balls."""
    from metricdp.channels.pairs import Pairs
    from metricdp.queries.workloads._distances import UniversePairs

    generator = np.random.default_rng(3)
    points = [tuple(p) for p in (generator.random((12, 2)) * [180, 360] - [90, 180]).tolist()]
    points += [(0, 180), (0, -179.99999999), (10, 10), (10.0000001, 10), (90, 0), (-90, 0)]
    globe = metrics.great_circle().within(1000)
    for metric, cells in (
        (globe, points),
        (
            metrics.attributes({"place": globe, "age": metrics.absolute()}),
            [(p, row % 3) for row, p in enumerate(points)],
        ),
    ):
        space, places = Space(cells, metric), tuple(range(len(cells)))
        exact, found = Pairs(space, places).distances, UniversePairs(space, places).distances
        assert np.abs(found - exact).max() <= 1e-7 * exact.max()
        assert found[exact > 0] == pytest.approx(exact[exact > 0], rel=1e-7)
        assert (found[exact == 0] == 0).all()


def test_hairs_beside_large_coefficients_are_refused():
    """The two cells at a finite distance differ by 10^-30 beside a coefficient of 1."""
    d = metrics.attributes({"town": math.inf, "age": metrics.absolute()})
    workload = Workload([[0, 1, 1 + Fraction(1, 10**30)]], Space([("a", 0), ("b", 0), ("b", 1)], d), names=["hair"])
    with pytest.raises(ArgumentError, match="'hair' tells cells apart by less than floats hold"):
        allocate(workload)


@pytest.mark.parametrize(
    ("metric", "cells"),
    [
        (metrics.hamming(), [(i, j, k) for i in range(3) for j in range(3) for k in range(3)]),
        (ln(2) * metrics.hamming(), [(i, j, k) for i in range(3) for j in range(3) for k in range(3)]),
        (
            ln(3) * metrics.attributes({"a": 0.1, "b": metrics.absolute() / 7, "c": ln(2) * metrics.discrete()}),
            [(i, j, k) for i in (True, "x") for j in range(4) for k in "abc"],
        ),
        (metrics.attributes({"a": math.inf, "b": 0.3}), [(i, j) for i in range(9) for j in range(9)]),
        (metrics.records(metrics.absolute() / 3), [(i, j) for i in range(9) for j in range(9)]),
        (0.7 * metrics.discrete(), list(range(20))),
        (metrics.euclidean(), [(i, j) for i in range(5) for j in range(4)]),
    ],
)
def test_bounds_on_distances_hold_and_are_close(metric, cells):
    """Whole tables of distances, put together from those of the positions, against each distance alone."""
    from metricdp.queries.workloads._distances import UniversePairs

    space = Space(cells, metric)
    places = np.stack(np.triu_indices(len(cells), 1))
    below, above = UniversePairs(space, tuple(range(len(cells)))).bounds(places)
    for (i, j), low, high in zip(places.T.tolist(), below.tolist(), above.tolist(), strict=True):
        distance = metric.enclose(cells[i], cells[j])
        assert low <= distance.lower
        assert high >= distance.upper
        assert high == math.inf or high - low <= 1e-14 * high


def test_pairs_that_follow_from_others_are_left_out_only_where_they_follow():
    """In a product with distances added up, cells that differ at two positions have one between them."""
    from metricdp.queries.workloads._distances import UniversePairs

    d = metrics.attributes({"a": 1, "b": metrics.absolute()})
    whole = [(i, j) for i in range(3) for j in range(3)]
    for cells, metric, product in ((whole, d, True), (whole[:-1], d, False), (whole, metrics.euclidean(), False)):
        pairs = UniversePairs(Space(cells, metric), tuple(range(len(cells))))
        assert pairs.limited.sum() == (36 if product else len(cells) * (len(cells) - 1))
        if product:
            differing = [sum(np.not_equal(cells[i], cells[j])) for i, j in np.argwhere(pairs.limited)]
            assert set(differing) == {1}


def test_marginals_of_a_product_have_round_scales():
    space = Space.bits(6, 0.5 * metrics.hamming())
    workload = Workload(np.array(space.points).T, space)
    for method in METHODS[1:]:
        assert allocate(workload, method).scales == (2.0,) * 6
    assert allocate(workload, "equal").scales == (12.0,) * 6


def test_the_best_so_far_when_the_time_is_over():
    """A limit that is over at once ends after a round: private all the same, with the gap that it has."""
    short = allocate(plane(30), time_limit=1e-9)
    assert short.verdict.holds
    assert short.gap >= allocate(plane(30)).gap
    with pytest.raises(ArgumentError, match="time_limit"):
        allocate(plane(3), time_limit=0)


@pytest.mark.parametrize("metric", [metrics.absolute() / 5, metrics.discrete()])
@pytest.mark.parametrize("objective", ["mean", "geometric"])
def test_many_ranges_by_steps_are_as_good_as_by_all_pairs(metric, objective, monkeypatch):
    cells = 12
    rows = [[int(i <= place <= j) for place in range(cells)] for i in range(cells) for j in range(i, cells)][1:-1]
    workload = Workload([row for row in rows if min(row) == 0], Space(range(cells), metric))
    quick = allocate(workload, objective=objective)
    monkeypatch.setattr("metricdp.queries.workloads.allocate._MANY", 1000)
    slow = allocate(workload, objective=objective)
    assert quick.verdict.holds
    assert quick.gap < 2e-6
    assert quick.value == pytest.approx(slow.value, rel=5e-6)
    less = tuple(scale / 1.1 for scale in quick.scales)
    assert not verdict_of(PairBudgets(workload), less).holds  # 10% stronger is refused
