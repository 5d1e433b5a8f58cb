"""What the papers say of metrics, number by number."""

import datetime
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.errors import NotAMetricError
from metricdp.exact.level import ln
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.axioms import Distances, find_violation

VALUES = st.none() | st.integers(0, 3)
DATABASES = st.tuples(VALUES, VALUES, VALUES, VALUES)


@given(DATABASES, DATABASES)
def test_paper_1_section_3_half_d_r_below_d_h_below_d_r(x, y):
    removed, differing = metrics.add_remove().exactly(x, y), metrics.hamming().exactly(x, y)
    assert removed / 2 <= differing <= removed


def test_paper_1_section_3_both_bounds_are_attained():
    assert metrics.add_remove()((1,), (2,)) == 2 * metrics.hamming()((1,), (2,))
    assert metrics.add_remove()((1,), (None,)) == metrics.hamming()((1,), (None,))


def test_paper_1_proposition_1_only_the_reverse_doubles():
    by_change, by_removal = Guarantee(0.5 * metrics.hamming()), Guarantee(0.5 * metrics.add_remove())
    assert by_change <= by_removal
    assert not by_removal <= by_change
    assert by_removal <= Guarantee(1 * metrics.hamming())
    assert not by_removal <= Guarantee(0.99 * metrics.hamming())


@given(st.tuples(*[st.integers(0, 10)] * 3), st.tuples(*[st.integers(0, 10)] * 3))
def test_paper_1_proposition_3_normalized_d_1_below_d_h(x, y):
    assert metrics.normalized_manhattan(10).exactly(x, y) <= metrics.hamming().exactly(x, y)


@given(st.tuples(*[st.none() | st.integers(0, 10)] * 3), st.tuples(*[st.none() | st.integers(0, 10)] * 3))
def test_paper_1_section_5_with_nulls_the_diameter_stays(x, y):
    values = metrics.nullable(metrics.absolute(), 10)
    normalized = metrics.records(values) / 10
    assert normalized.exactly(x, y) <= metrics.hamming().exactly(x, y)
    assert values.diameter([None, *range(11)]) == metrics.absolute().diameter(range(11)) == 10


def test_paper_1_example_1_within_five_days():
    """ε/5 d₁ gives the intended ε to dates five days apart, and 5000 days apart a thousand times that."""
    d, start = metrics.dates(5), datetime.date(2000, 1, 1)
    assert [d(start, start + datetime.timedelta(days=n)) for n in (1, 5, 10, 5000)] == [0.2, 1, 2, 1000]


def test_paper_2_example_1_hobbies():
    space = Space(map(frozenset, [(), ("chess",), ("chess", "opera")]), metrics.symmetric_difference())
    assert space.distances.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


ATTRIBUTES = {"gender": "MF", "native": "YN", "age": "AB"}
UNIVERSE = list(itertools.product(*ATTRIBUTES.values()))  # in the order of Figure 1: MYA, MYB, MNA, ...


def example_1(epsilon_0, epsilon_1):
    budgets = {name: dict.fromkeys(values, epsilon_1) for name, values in ATTRIBUTES.items()}
    budgets["native"]["Y"] = epsilon_0
    return metrics.value_budgets(budgets, form="minimum")


@pytest.mark.parametrize(("epsilon_0", "epsilon_1"), [(Fraction(1, 10), Fraction(1)), (Fraction(1, 3), math.inf)])
def test_paper_4_example_1(epsilon_0, epsilon_1):
    d = example_1(epsilon_0, epsilon_1)

    def between(i, j):
        return d.exactly(UNIVERSE[i - 1], UNIVERSE[j - 1])

    assert between(1, 1) == 0
    assert between(1, 2) == epsilon_1
    assert between(1, 3) == epsilon_0
    assert between(1, 8) == epsilon_0 + 2 * epsilon_1
    assert find_violation(d, UNIVERSE) is None


def test_paper_4_example_1_scale_of_the_sensitive_query():
    """The query (N) needs noise of scale 1/ε₀, the query (M) 1/ε₁."""
    d = example_1(Fraction(1, 10), 1)

    def scale(query):
        pairs = itertools.permutations(UNIVERSE, 2)
        return max(abs(query(x) - query(y)) / d.exactly(x, y) for x, y in pairs)

    assert scale(lambda x: x[1] == "N") == 10
    assert scale(lambda x: x[0] == "M") == 1


def test_paper_4_section_5_minimum_of_three_values_is_no_metric():
    with pytest.raises(NotAMetricError) as refusal:
        metrics.value_budgets({"native": {"yes": 1, "no": 3, "unknown": 4}}, form="minimum")
    assert refusal.value.violation.points == ("no", "yes", "unknown")
    assert refusal.value.violation.amounts == (3, 1, 1)


def test_paper_4_section_5_minimum_is_one_up_to_twice_the_smallest():
    """The paper says "only binary"; exactly, the second-largest may be up to twice the smallest."""
    metrics.value_budgets({"native": {"yes": 1, "no": 2, "unknown": math.inf}}, form="minimum")
    metrics.value_budgets({"native": {"yes": ln(2), "no": ln(4), "unknown": 4}}, form="minimum")
    with pytest.raises(NotAMetricError):
        metrics.value_budgets({"native": {"yes": 1, "no": Fraction(2000001, 1000000), "unknown": 4}}, form="minimum")
    with pytest.raises(NotAMetricError):
        metrics.value_budgets({"native": {"yes": 1, "no": math.inf, "unknown": math.inf}}, form="minimum")


def test_paper_4_section_5_sum_form_with_equal_budgets_doubles_them():
    equal = metrics.value_budgets({"native": {"yes": 0.25, "no": 0.25, "unknown": 0.25}})
    assert equal.exactly(("yes",), ("no",)) == Fraction(1, 2)
    assert find_violation(equal, [("yes",), ("no",), ("unknown",)]) is None


def test_paper_4_section_4_4_blowfish_must_be_closed():
    """ε within T and infinite beyond breaks the triangle inequality; its closure over all of R² is ε⌈d/T⌉."""
    line = list(range(10))
    as_printed = [[0 if i == j else 1 if abs(i - j) <= 2 else math.inf for j in line] for i in line]
    with pytest.raises(NotAMetricError) as refusal:
        metrics.matrix(line, as_printed)
    assert refusal.value.violation.axiom == "triangle"
    closed = metrics.matrix(line, as_printed, check=False).closure(line)
    hops = metrics.blowfish(metrics.absolute(), 2)
    assert closed.pairwise(line).tolist() == hops.pairwise(line).tolist()


def test_paper_4_section_4_4_smooth_is_epsilon_then_proportional():
    d = metrics.smooth(metrics.euclidean(), 4, 0.5)
    assert [d((0, 0), point) for point in [(0, 0), (0, 1), (0, 4), (0, 8), (6, 8)]] == [0, 0.5, 0.5, 1, 1.25]


def test_floats_break_the_triangle_inequality_416_times_on_a_grid_and_balls_never():
    grid = Space.grid(10, 10)
    d = grid.distances
    in_floats = sum(int((d > d[:, j, None] + d[None, j, :]).sum()) for j in range(len(grid)))
    assert in_floats == 416
    assert find_violation(metrics.euclidean(), grid.points) is None
    assert find_violation(ln(2) * metrics.euclidean(), grid.points) is None


def test_the_same_floats_taken_as_exact_numbers_break_it_728_times():
    """Rounded sums hide 312 of them."""
    grid = Space.grid(10, 10)
    integers = [[int(Fraction(value) * 2**52) for value in row] for row in grid.distances.tolist()]
    places = range(len(grid))
    by_hand = {
        (i, j, k) for i in places for j in places for k in places if integers[i][k] > integers[i][j] + integers[j][k]
    }
    taken_as_exact = metrics.matrix(grid.points, grid.distances, check=False)
    assert set(Distances(taken_as_exact, grid.points).broken_triangles()) == by_hand
    assert len(by_hand) == 728
