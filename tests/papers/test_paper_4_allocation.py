"""Paper 4, sections 2 to 4 and Appendix C: Example 1, Theorems 1, 2 and 11, Algorithm 3 and what it misses."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp.metrics as metrics
from metricdp.metrics import Space
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.statistical import attribute_averages, statistical
from metricdp.queries.workloads.workload import Workload

CELLS = list(itertools.product("MF", "YN", "AB"))  # the order of Figure 1


def budgets(form, low, high):
    """Equation 3: ε₀ for native = Y, ε₁ for every other value."""
    return metrics.value_budgets(
        {
            "gender": {"M": high, "F": high},
            "native": {"Y": low, "N": high},
            "age": {"A": high, "B": high},
        },
        form=form,
    )


def count(place, value):
    return [int(cell[place] == value) for cell in CELLS]


# Example 1


@pytest.mark.parametrize(("low", "high"), [(0.25, 1), (Fraction(1, 3), 2), (0.1, 0.7), (0.5, 3)])
def test_example_1_distances(low, high):
    space = Space(CELLS, budgets("minimum", low, high))
    exactly = space.metric.exactly
    assert exactly(CELLS[0], CELLS[0]) == 0
    assert exactly(CELLS[0], CELLS[1]) == Fraction(high)
    assert exactly(CELLS[0], CELLS[2]) == Fraction(low)
    assert exactly(CELLS[0], CELLS[7]) == Fraction(low) + 2 * Fraction(high)


@pytest.mark.parametrize(("low", "high"), [(0.25, 1), (0.5, 4), (Fraction(1, 3), 2), (0.1, 0.7)])
@pytest.mark.parametrize("method", ["exact", "proportional"])
def test_example_1_native_has_noise_1_over_eps_0_and_male_1_over_eps_1(low, high, method):
    """One by one, and both together: their budgets lie on different attributes."""
    space = Space(CELLS, budgets("minimum", low, high))
    not_native, male = count(1, "N"), count(0, "M")
    expected = [1 / Fraction(low), 1 / Fraction(high)]
    single = [allocate(Workload([query], space), method).scales[0] for query in (not_native, male)]
    joint = allocate(Workload([not_native, male], space, names=["not native", "male"]), method).scales
    for scales in (single, joint):
        for scale, exact in zip(scales, expected, strict=True):
            # The least float that keeps the promise, or the one after it where two were rounded up.
            assert exact <= Fraction(scale) <= exact * (1 + Fraction(2, 2**52))
            if exact.denominator == 1:
                assert scale == exact


def test_example_1_the_complement_needs_the_same_noise():
    """(Y) is n - (N), so answering N without noise would tell Y."""
    space = Space(CELLS, budgets("minimum", 0.25, 1))
    assert (
        allocate(Workload([count(1, "Y")], space)).scales == allocate(Workload([count(1, "N")], space)).scales == (4,)
    )


def test_example_1_with_infinite_budgets_others_are_answered_without_noise():
    space = Space(CELLS, budgets("minimum", 0.25, math.inf))
    allocation = allocate(Workload([count(1, "N"), count(0, "M")], space, names=["not native", "male"]))
    assert allocation.scales == (4.0, 0.0)
    counts = [9, 1, 2, 7, 3, 3, 0, 5]
    assert allocation.release(counts)["male"] == 19


def test_section_5_the_maximum_protects_the_wrong_way():
    """With the maximum in place of the minimum, N is answered with 1/ε₁."""
    d = metrics.attributes({"gender": 1, "native": max(0.25, 1), "age": 1})
    assert allocate(Workload([count(1, "N")], Space(CELLS, d))).scales == (1.0,)


def test_correlated_data_the_example_of_males_above_18():
    """(MA) has scale 1/ε₁, (MYA) has 1/ε₀: the paper's warning, with its numbers."""
    space = Space(CELLS, budgets("minimum", 0.25, 1))
    adult_men = [int(cell[0] == "M" and cell[2] == "A") for cell in CELLS]
    native_adult_men = [int(cell == ("M", "Y", "A")) for cell in CELLS]
    assert allocate(Workload([adult_men], space)).scales == (1.0,)
    assert allocate(Workload([native_adult_men], space)).scales == (4.0,)


# Theorems


def test_theorem_1_the_privacy_loss_is_what_is_spent():
    """Log-densities at an output beyond both answers differ by the part spent; at the tightest pair by d."""
    generator = np.random.default_rng(4)
    space = Space((generator.random((9, 2)) * 10).tolist(), metrics.euclidean() / 4)
    workload = Workload(generator.random((3, 9)), space)
    allocation = allocate(workload)
    scales = np.array(allocation.scales)
    x, other, _ = allocation.verdict.witness
    i, j = space.index(x), space.index(other)
    beyond = np.where(workload.matrix[:, i] > workload.matrix[:, j], 10.0, -10.0)
    loss = (np.abs(workload.matrix[:, j] - beyond) - np.abs(workload.matrix[:, i] - beyond)) / scales
    assert loss.sum() == pytest.approx(space.distances[i, j], rel=1e-9)


def test_the_uniform_metric_gives_the_standard_laplace_mechanism():
    """Section 3.1: c = Δ₁/ε for all queries satisfies the constraints; it is the shared allocation."""
    generator = np.random.default_rng(5)
    workload = Workload(generator.integers(0, 9, (3, 20)), Space(range(20), 0.5 * metrics.discrete()))
    columns = workload.matrix.T
    sensitivity = max(float(np.abs(one - other).sum()) for one in columns for other in columns)
    assert allocate(workload, "shared").scales == (sensitivity / 0.5,) * 3


def test_theorem_2_1_is_sharpened_by_half_without_bias():
    allocation = allocate(Workload([[0, 3], [4, 0]], Space.line(2)))
    noise = sum(Fraction(scale) ** 2 for scale in allocation.scales)
    assert Fraction(allocation.squared_error()) == pytest.approx(2 * noise, rel=1e-15)  # 4 |c|² in the paper


# Algorithm 3


def algorithm_3(matrix, distances):
    """The paper's listing, line by line, on whole arrays; a budget below 10^-12 of its first value is none."""
    apart = np.abs(matrix[:, :, None] - matrix[:, None, :])
    total, first = np.zeros(len(matrix)), distances
    while True:
        left = np.where(distances > 1e-12 * first, distances, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(apart > 0, apart / left, 0.0).max(axis=(1, 2))
            needs = apart / own[:, None, None]
            share = left * needs / needs.sum(axis=0)
            scales = np.where(apart > 0, apart / share, 0.0)
            scales = np.where(np.isinf(own), np.inf, np.nanmax(scales, axis=(1, 2)))
        gained = 1 / scales
        if not gained.any():
            return 1 / total
        total = total + gained
        distances = left - (apart * gained[:, None, None]).sum(axis=0)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_algorithm_3_is_the_paper_s(binary, seed):
    generator = np.random.default_rng(seed)
    space = Space((generator.random((15, 2)) * 100).tolist(), metrics.euclidean())
    given = generator.integers(0, 2, (4, 15)) if binary else generator.random((4, 15))
    workload = Workload(given, space)
    expected = algorithm_3(workload.matrix, space.distances)
    assert allocate(workload, "proportional").scales == pytest.approx(expected, rel=1e-9)


def test_algorithm_3_does_not_reach_the_optimum_of_a_convex_problem():
    """Limits r <= 1 and r + 3 s <= 1: Algorithm 3 gives c = (2, 6); calculus gives r : s = 1 : 3^(-1/3)."""
    workload = Workload([[0, 1, 2], [0, 0, 3]], Space.line(3, metrics.absolute()))
    assert allocate(workload, "proportional").scales == (2.0, 6.0)
    exact = allocate(workload)
    first = 1 + 3 ** (2 / 3)
    assert exact.scales == pytest.approx((first, 3 ** (1 / 3) * first), rel=1e-6)
    assert exact.value == pytest.approx(first**2 * (1 + 3 ** (2 / 3)), rel=1e-9)
    assert exact.value < 0.74 * allocate(workload, "proportional").value


@pytest.mark.parametrize("binary", [False, True])
def test_section_4_2_strategy_3_leads_and_the_optimum_leads_it(binary):
    """Average improvement factors, geometric means over the queries, of ten workloads of eight queries."""
    generator = np.random.default_rng(11)
    space = Space((generator.random((50, 2)) * 100).tolist(), metrics.euclidean())
    factors = {"equal": [], "shared": [], "proportional": [], "exact": []}
    for _ in range(10):
        workload = Workload(generator.integers(0, 2, (8, 50)) if binary else generator.random((8, 50)), space)
        columns = workload.matrix.T
        sensitivity = max(float(np.abs(columns - column).sum(axis=1).max()) for column in columns)
        baseline = sensitivity / space.distances[~np.eye(50, dtype=bool)].min()
        for method, found in factors.items():
            found.append(baseline / allocate(workload, method, objective="geometric").value)
    assert all(exact >= other for exact, other in zip(factors["exact"], factors["proportional"], strict=True))
    means = {method: np.mean(found) for method, found in factors.items()}
    assert means["equal"] < means["shared"] < means["proportional"] < means["exact"]
    if binary:
        assert means["equal"] < 1.5  # "only marginal gain (IF(Q) < 1.5)"


# Section 4.4


def test_section_4_4_blowfish_is_never_noisier_than_smooth():
    """The closed policy metric and the raw one, with infinity beyond T, need the same noise: paths imply the rest."""
    generator = np.random.default_rng(6)
    points = [tuple(point) for point in (generator.random((30, 2)) * 20).tolist()]
    apart = metrics.euclidean().pairwise(points)
    query = generator.random(30)
    differences = np.abs(np.subtract.outer(query, query))
    for threshold in (2, 4, 8, 16):
        policy = [[0 if i == j else 1 if apart[i, j] <= threshold else math.inf for j in range(30)] for i in range(30)]
        closed = metrics.matrix(points, policy, check=False).closure(points)
        blowfish = allocate(Workload([query], Space(points, closed))).scales[0]
        raw = float(differences[apart <= threshold].max())
        assert blowfish == pytest.approx(raw, rel=1e-12)
        smooth = allocate(Workload([query], Space(points, metrics.smooth(metrics.euclidean(), threshold, 1)))).scales[0]
        assert blowfish <= smooth * (1 + 1e-12)


# Appendix C


def test_appendix_c_sensitivity_of_the_marginal_query():
    """|u - v| / n, so the scale of one attribute's average is max |u - v| / (n d(u, v))."""
    space = Space([(-1,), (1,)], metrics.attributes({"a": 0.5}))
    assert allocate(statistical(list, space, 100)).scales == (2 / (100 * 0.5),)


def test_theorem_11_and_equation_14():
    """f = sum_i (max |c u' - u| + c) falls into one problem for each attribute; Theorem 11.2 bounds by their sum."""
    d = metrics.attributes({"a": 0.5, "b": 0.125, "c": 1 / 64})
    space = Space(itertools.product((-1, 1), repeat=3), d)
    allocation = attribute_averages(space, 20)
    # n ε = 10, 2.5, 0.3125: below 2 the middle is answered, with an error of 1 and no noise.
    assert allocation.scales == (0.2, 0.8, 0.0)
    assert allocation.absolute_error(20) == pytest.approx(0.2 + 0.8 + 1, rel=1e-12)
    assert allocation.squared_error(20) == pytest.approx(2 * (0.2**2 + 0.8**2) + 1, rel=1e-12)
