"""Universes: cells that a policy declares, and metrics on them that keep what they promise for values."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.errors import ArgumentError, PolicyError, UnsupportedMetricError
from metricdp.exact.level import ln
from metricdp.metrics import (
    Space,
    absolute,
    attributes,
    blowfish,
    dates,
    discrete,
    euclidean,
    great_circle,
    hamming,
    individuals,
    nullable,
    records,
    value_budgets,
)
from metricdp.policies import Policy
from metricdp.policies.cells.listed import BooleanCells, CategoryCells
from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
from metricdp.queries.universes.universe import Universe

AGE = IntegerCells("age", (0, 120), edges=(18, 65), missing="unknown")
SEX = CategoryCells("sex", ["F", "M"], other="other")


def test_cells_are_the_product_in_order():
    universe = Universe([SEX, AGE])
    assert universe.shape == (3, 4)
    assert universe.cells == tuple(itertools.product(("F", "M", "other"), (0, 18, 65, None)))
    assert universe.names[:2] == ("sex=F, age=0..17", "sex=F, age=18..64")
    assert universe.names[-1] == "sex=other, age=unknown"
    assert len(universe) == len(universe.cells) == len(universe.names) == 12


def test_one_column_has_bare_points():
    assert Universe([AGE]).cells == (0, 18, 65, None)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Universe([AGE, BooleanCells("AGE")]), "stands twice"),
        (lambda: Universe([AGE], capacity=0), "capacity"),
        (lambda: Universe([AGE], capacity=10), "not both"),
    ],
)
def test_declarations_that_cannot_be_followed(make, rule):
    with pytest.raises(PolicyError, match=rule):
        make()


def test_too_many_cells():
    with pytest.raises(PolicyError, match=r"1,002,001 cells \(a 1,001 x b 1,001\), more than 1,000,000"):
        Universe([IntegerCells("a", (0, 1000)), IntegerCells("b", (0, 1000))])
    assert len(Universe([IntegerCells("a", (0, 999)), IntegerCells("b", (0, 999))])) == 1_000_000


def test_a_universe_needs_columns():
    for columns in ([], ["age"]):
        with pytest.raises(ArgumentError, match="a universe has columns"):
            Universe(columns)
    with pytest.raises(ArgumentError, match="it has age"):
        Universe([AGE]).column("nobody")


# Metrics on cells


def test_paper_4_example_1():
    """Universe (sex, native, age) of eight cells: distances, and the scales of N and M."""
    universe = Universe(
        [CategoryCells("sex", ["M", "F"]), CategoryCells("native", ["N", "Y"]), CategoryCells("age", ["A", "B"])]
    )
    low, high = Fraction(1, 10), Fraction(1)
    budgets = {"sex": {"M": high, "F": high}, "native": {"N": high, "Y": low}, "age": {"A": high, "B": high}}
    space = universe.space(value_budgets(budgets, form="minimum"))
    exact = [[space.metric.exactly(x, y) for y in space.points] for x in space.points]
    assert (exact[0][0], exact[0][1], exact[0][2], exact[0][7]) == (0, high, low, low + 2 * high)
    for row, scale in (([1, 1, 0, 0, 1, 1, 0, 0], 1 / low), ([1, 1, 1, 1, 0, 0, 0, 0], 1 / high)):
        pairs = itertools.permutations(range(8), 2)
        assert max(abs(row[i] - row[j]) / exact[i][j] for i, j in pairs) == scale


def test_metrics_by_column():
    universe = Universe([SEX, AGE])
    by_name = universe.space({"age": nullable(absolute(), 200), "sex": 0.5})
    assert by_name.metric.names == ("sex", "age")
    assert by_name.distances[0].tolist()[:4] == [0, 1, 2, 200]
    assert by_name.distances[0, 4] == 0.5
    again = universe.space(2 * attributes({"sex": 0.5, "age": nullable(absolute(), 200)}))
    assert np.array_equal(again.distances, 2 * by_name.distances)
    assert universe.space(hamming()).distances[0].tolist()[:5] == [0, 1, 1, 1, 1]
    alone = Universe([AGE]).space({"age": nullable(absolute(), 200)})
    assert alone.distances[0].tolist() == [0, 1, 2, 200]
    same = universe.space({"sex": discrete(), "age": discrete()})
    assert same.distances[0, 5] == 2


def test_listed_metrics_name_cells():
    universe = Universe([IntegerCells("age", (0, 59), width=20)])
    assert universe.space(individuals({0: 1, 20: 2, 40: 3})).distances[0].tolist() == [0, 3, 4]
    places = CategoryCells("city", ["Paris", "Rome"], at={"Paris": (48.8566, 2.3522), "Rome": (41.9, 12.5)})
    assert 1_100_000 < Universe([places]).space(great_circle()).distances[0, 1] < 1_110_000
    assert Universe([places]).space({"city": great_circle()}).distances[0, 1] > 1_100_000


def test_absent_records_are_a_cell():
    universe = Universe([SEX, AGE], capacity=50)
    assert universe.cells[-1] is None
    assert universe.names[-1] == "absent"
    space = universe.space({"sex": 1, "age": 1}, absent=1)
    assert space.distances[-1].tolist() == [1] * 12 + [0]
    assert repr(universe) == "Universe(sex: 3 cells, age: 4 cells; 13 in all, with one for those absent)"
    for bad in ({"universe": universe, "absent": None}, {"universe": Universe([SEX]), "absent": 1}):
        with pytest.raises(ArgumentError, match="capacity"):
            bad["universe"].space(discrete(), absent=bad["absent"])


def test_metrics_that_do_not_fit():
    universe = Universe([SEX, AGE])
    for metric, error, rule in [
        ({"sex": 1}, ArgumentError, "the universe's columns"),
        ({"sex": 1, "age": 1, "pay": 1}, ArgumentError, "the universe's columns"),
        (3, ArgumentError, "a metric, or one for each column"),
        (records(absolute(), p=2), UnsupportedMetricError, "not a sum over columns"),
    ]:
        with pytest.raises(error, match=rule):
            universe.space(metric)
    with pytest.raises(ArgumentError, match="between"):
        universe.space({"sex": 1, "age": 1}, "cells")
    touching = Universe([NumberCells("x", (0, 1), edges=["0.5"])])
    with pytest.raises(UnsupportedMetricError, match="its cells touch"):
        touching.space(absolute())
    assert touching.space(absolute(), "points").distances[0, 1] == 0.5
    with pytest.raises(UnsupportedMetricError, match="not rational"):
        Universe([AGE]).space(nullable(ln(2) * absolute(), 200))
    assert Universe([IntegerCells("a", (0, 3), width=2)]).space(ln(2) * absolute()).distances[0, 1] == pytest.approx(
        0.693147
    )


METRICS = {
    "absolute": absolute(),
    "scaled": 3 * absolute(),
    "discrete": discrete(),
    "hops": blowfish(absolute(), 3, 1),
    "nullable": Fraction(1, 2) * nullable(absolute(), 30),
    "sum": absolute() + discrete(),
}


@settings(max_examples=60)
@given(
    st.integers(-8, 0),
    st.sets(st.integers(1, 9), max_size=4),
    st.sampled_from(["refuse", "clamp", "other", "missing"]),
    st.sampled_from(sorted(METRICS)),
)
def test_what_is_promised_for_values_holds_for_values(low, edges, outside, name):
    """The metric on cells is the greatest with D(cell of x, cell of y) <= d(x, y), by brute force in Fractions."""
    metric = METRICS[name]
    if outside == "other" and name == "discrete":
        outside = "refuse"  # it takes no values
    if outside == "missing" and name != "nullable":
        outside = "refuse"
    column = IntegerCells(
        "v",
        (low, 10),
        edges=edges_in_order(edges),
        outside="clamp" if outside == "clamp" else "refuse",
        missing="missing" if name == "nullable" else None,
        other=outside if outside in ("other", "missing") else None,
    )
    values = list(range(low, 11)) if outside == "refuse" else list(range(low - 3, 14))
    values += [None] if name == "nullable" else []
    codes = [code_of(column, value) for value in values]
    size = len(column)
    brute = [[Fraction(10**9)] * size for _ in range(size)]
    for (x, i), (y, j) in itertools.product(zip(values, codes, strict=True), repeat=2):
        brute[i][j] = min(brute[i][j], metric.exactly(x, y))
    for k, i, j in itertools.product(range(size), repeat=3):
        brute[i][j] = min(brute[i][j], brute[i][k] + brute[k][j])
    space = Universe([column]).space(metric)
    assert [[space.metric.exactly(x, y) for y in space.points] for x in space.points] == brute


def edges_in_order(edges):
    return tuple(sorted(edges)) or None


def code_of(column, value):
    if value is None:
        return column.missing_code
    low, high = column.bounds
    if not low <= value <= high:
        if column.outside == "clamp":
            return 0 if value < low else len(column.intervals) - 1
        return column.other_code
    return next(k for k, cell in enumerate(column.intervals) if cell.first <= value <= cell.last)


def test_dates_are_days():
    universe = Universe([DateCells("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert universe.space(dates(7)).distances[0].tolist() == [0, 1 / 7, 2 / 7]
    assert universe.space(dates(), "points").distances[0].tolist() == [0, 31, 60]


def test_distances_between_few_values_are_compared_one_by_one():
    universe = Universe([IntegerCells("v", (0, 5), width=2)])
    far = Space(range(6), absolute()).metric
    assert universe.space(far + discrete()).distances[0].tolist() == [0, 2, 4]
    grown = Universe([IntegerCells("v", (0, 999), width=100)]).space(absolute() + discrete())
    assert grown.distances[0, :3].tolist() == [0, 2, 4]
    with pytest.raises(UnsupportedMetricError, match="are not known"):
        Universe([IntegerCells("v", (0, 999), width=100)]).space(euclidean().normalized([(0, 0), (1, 1)]))
    with pytest.raises(UnsupportedMetricError, match="not a sum over columns"):
        Universe([IntegerCells("x", (0, 3), width=2), IntegerCells("y", (0, 3))]).space(euclidean())


# TOML

TEXT = """
format = 2
capacity = 100
absent = 1

[columns]
native = {type = "boolean", epsilon = 1, missing = "refuse"}
"a b" = {type = "category", values = ["F", "M"], epsilon = 1, count_by = {other = "else", missing = "unknown"}}

[columns.age]
type = "integer"
epsilon = 1
bounds = [0, 120]
outside = "clamp"
missing = "refuse"
count_by = 40

[columns.pay]
type = "number"
metric = "1 discrete"
bounds = [0, 10.5]
missing = "refuse"
count_by = [0.1, 0.3]

[columns.day]
type = "date"
epsilon = 1
bounds = [2024-01-01, 2024-12-31]
missing = "refuse"
count_by = {by = "month", zone = "Europe/Paris"}

[columns.city]
type = "category"
within = "200 m"
missing = "refuse"
at = {Paris = [48.8566, 2.3522], Rome = [41.9, 12.5]}
"""


def test_the_universe_of_a_policy():
    universe = Universe.of(Policy.parse(TEXT))
    assert universe.columns == (
        BooleanCells("native"),
        CategoryCells("a b", ["F", "M"], other="else", missing="unknown"),
        IntegerCells("age", (0, 120), width=40, outside="clamp"),
        NumberCells("pay", (0, "10.5"), edges=["0.1", "0.3"]),
        DateCells("day", ("2024-01-01", "2024-12-31"), by="month", zone="Europe/Paris"),
        CategoryCells("city", ["Paris", "Rome"], at={"Paris": (48.8566, 2.3522), "Rome": (41.9, 12.5)}),
    )
    assert universe.capacity == 100
    assert universe.column("pay").edges == (Fraction(1, 10), Fraction(3, 10))  # as written, not the nearest float
    assert Universe.of(Policy.parse(TEXT), "city", "age").shape == (2, 4)
    assert pickle.loads(pickle.dumps(universe)) == universe
