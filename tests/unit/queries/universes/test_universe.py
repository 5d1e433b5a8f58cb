"""Universes: cells that are declared, metrics on them that keep what they promise for values, and TOML."""

import datetime as dt
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metricdp.errors import KindError, PolicyError, UnknownCategoryError, UnsupportedMetricError
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
from metricdp.queries.universes.columns import Boolean, Category
from metricdp.queries.universes.intervals import Date, Integer, Number
from metricdp.queries.universes.universe import Universe

AGE = Integer("age", (0, 120), edges=(18, 65), missing="unknown")
SEX = Category("sex", ["F", "M"], other="other")


def test_cells_are_the_product_in_order():
    universe = Universe([SEX, AGE])
    assert universe.shape == (3, 4)
    assert universe.cells == tuple(itertools.product(("F", "M", "other"), (0, 18, 65, None)))
    assert universe.names[:2] == ("sex=F, age=0..17", "sex=F, age=18..64")
    assert universe.names[-1] == "sex=other, age=unknown"
    assert len(universe) == len(universe.cells) == len(universe.names) == 12


def test_one_column_has_bare_points():
    assert Universe([AGE]).cells == (0, 18, 65, None)


def test_cells_of_each_kind():
    assert Integer("i", (-1, 1)).labels == ("-1", "0", "1")
    assert Integer("i", (0, 10), width=4).labels == ("0..3", "4..7", "8..10")
    assert Integer("i", (0, 8), width=4).labels == ("0..3", "4..7", "8")
    assert Integer("i", (5, 5)).labels == ("5",)
    assert Number("x", (0, 1), width="0.25").labels == ("[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]")
    assert Number("x", (0, 1), width=0.3).starts == (0, Fraction(3, 10), Fraction(6, 10), Fraction(9, 10))
    assert Number("x", (-0.5, 1)).labels == ("[-0.5, 1]",)
    assert Date("d", ("2023-12-30", "2024-01-02")).labels == ("2023-12-30", "2023-12-31", "2024-01-01", "2024-01-02")
    by_year = Date("d", (dt.date(2022, 7, 1), dt.date(2024, 12, 31)), by="year")
    assert by_year.labels == ("2022-07-01..2022-12-31", "2023", "2024")
    assert Date("d", ("2024-01-01", "2024-12-31"), edges=["2024-06-15"]).labels[1] == "2024-06-15..2024-12-31"
    assert Boolean("b", missing="unknown").points == (False, True, None)
    assert Category("c", [3, 1], other="rest").points == (3, 1, "rest")


def test_other_may_be_a_declared_category():
    column = Category("sex", ["F", "M", "other"], other="other", missing="other")
    assert column.labels == ("F", "M", "other")
    assert column.other_code == column.missing_code == 2
    shared = Integer("age", (0, 1), other="unknown", missing="unknown")
    assert shared.points == (0, 1, None)
    assert shared.other_code == shared.missing_code == 2


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Category("c", []), "values"),
        (lambda: Category("c", "FM"), "values"),
        (lambda: Category("c", ["F", 1]), "all text or all integers"),
        (lambda: Category("c", [True, False]), "all text or all integers"),
        (lambda: Category("c", ["F", "F"]), "listed twice"),
        (lambda: Category("c", ["F"], other=""), "name of a cell"),
        (lambda: Category("c", ["a\0"]), "NUL"),
        (lambda: Category("c", ["a", "b"], at={"a": (0, 0)}), "a place for each"),
        (lambda: Category("c", ["a", "b"], at={"a": (0, 0), "b": (0, 0)}), "one place"),
        (lambda: Boolean("b", other="x"), "no values outside"),
        (lambda: Integer("i", (1, 0)), "in that order"),
        (lambda: Integer("i", (0.5, 1)), "integers"),
        (lambda: Integer("i", 5), "bounds = "),
        (lambda: Integer("i", (0, 2**64)), "64 bits"),
        (lambda: Integer("i", (0, 10), edges=(0, 5)), "edges lie between"),
        (lambda: Integer("i", (0, 10), edges=(5, 11)), "edges lie between"),
        (lambda: Integer("i", (0, 10), edges=(5, 5)), "edges lie between"),
        (lambda: Integer("i", (0, 10), edges=(5,), width=2), "not both"),
        (lambda: Integer("i", (0, 10), width=0), "positive"),
        (lambda: Integer("i", (0, 10**9)), "more than 1,000,000 cells"),
        (lambda: Integer("i", (0, 10), outside="clip"), "'refuse' or 'clamp'"),
        (lambda: Integer("i", (0, 10), outside="clamp", other="x"), "not both"),
        (lambda: Integer("i", (0, 10), missing="5"), "names of their own"),
        (lambda: Number("x", (0, 0)), "in that order"),
        (lambda: Number("x", (0, float("nan"))), "finite"),
        (lambda: Number("x", (0, Fraction(1, 3))), "decimals"),
        (lambda: Number("x", (0, 1), width="1e-9"), "more than 1,000,000 cells"),
        (lambda: Date("d", ("2024-01-31", "2024-02-30")), "days are dates"),
        (lambda: Date("d", (dt.datetime(2024, 1, 1), "2024-01-02")), "days are dates"),
        (lambda: Date("d", ("2024-01-01", "2024-01-02"), zone="Nowhere/Else"), "time zone"),
        (lambda: Date("d", ("2024-01-01", "2024-01-02"), zone="../../etc"), "time zone"),
        (lambda: Date("d", ("0001-01-01", "2024-01-02")), "1700-01-01"),
        (lambda: Date("d", ("2024-01-01", "2024-01-02"), by="week"), "by is"),
        (lambda: Date("d", ("2024-01-01", "2024-01-03"), by="day", edges=["2024-01-02"]), "not both"),
        (lambda: Integer("", (0, 1)), "a name"),
        (lambda: Universe([AGE, Boolean("AGE")]), "stands twice"),
        (lambda: Universe([AGE], capacity=0), "capacity"),
        (lambda: Universe([AGE], capacity=10), "not both"),
    ],
)
def test_declarations_that_cannot_be(make, rule):
    with pytest.raises(PolicyError, match=rule):
        make()


def test_too_many_cells():
    with pytest.raises(PolicyError, match=r"1,002,001 cells \(a 1,001 x b 1,001\), more than 1,000,000"):
        Universe([Integer("a", (0, 1000)), Integer("b", (0, 1000))])
    assert len(Universe([Integer("a", (0, 999)), Integer("b", (0, 999))])) == 1_000_000


def test_a_universe_needs_columns():
    for columns in ([], ["age"]):
        with pytest.raises(KindError, match="a universe has columns"):
            Universe(columns)
    with pytest.raises(UnknownCategoryError, match="it has age"):
        Universe([AGE]).column("nobody")


# Metrics on cells


def test_paper_4_example_1():
    """Universe (sex, native, age) of eight cells: distances, and the scales of N and M."""
    universe = Universe([Category("sex", ["M", "F"]), Category("native", ["N", "Y"]), Category("age", ["A", "B"])])
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
    universe = Universe([Integer("age", (0, 59), width=20)])
    assert universe.space(individuals({0: 1, 20: 2, 40: 3})).distances[0].tolist() == [0, 3, 4]
    places = Category("city", ["Paris", "Rome"], at={"Paris": (48.8566, 2.3522), "Rome": (41.9, 12.5)})
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
        with pytest.raises(KindError, match="capacity"):
            bad["universe"].space(discrete(), absent=bad["absent"])


def test_metrics_that_do_not_fit():
    universe = Universe([SEX, AGE])
    for metric, error, rule in [
        ({"sex": 1}, KindError, "the universe's columns"),
        ({"sex": 1, "age": 1, "pay": 1}, KindError, "the universe's columns"),
        (3, KindError, "a metric, or one for each column"),
        (records(absolute(), p=2), UnsupportedMetricError, "not a sum over columns"),
    ]:
        with pytest.raises(error, match=rule):
            universe.space(metric)
    with pytest.raises(KindError, match="between"):
        universe.space({"sex": 1, "age": 1}, "cells")
    touching = Universe([Number("x", (0, 1), edges=["0.5"])])
    with pytest.raises(UnsupportedMetricError, match="its cells touch"):
        touching.space(absolute())
    assert touching.space(absolute(), "points").distances[0, 1] == 0.5
    with pytest.raises(UnsupportedMetricError, match="not rational"):
        Universe([AGE]).space(nullable(ln(2) * absolute(), 200))
    assert Universe([Integer("a", (0, 3), width=2)]).space(ln(2) * absolute()).distances[0, 1] == pytest.approx(
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
    if outside == "other" and name in ("discrete", "sum"):
        outside = "refuse"  # the one takes no values, and the other is not known beyond the bounds
    if outside == "missing" and name != "nullable":
        outside = "refuse"
    column = Integer(
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
    universe = Universe([Date("d", ("2024-01-01", "2024-03-31"), by="month")])
    assert universe.space(dates(7)).distances[0].tolist() == [0, 1 / 7, 2 / 7]
    assert universe.space(dates(), "points").distances[0].tolist() == [0, 31, 60]


def test_distances_between_few_values_are_compared_one_by_one():
    universe = Universe([Integer("v", (0, 5), width=2)])
    far = Space(range(6), absolute()).metric
    assert universe.space(far + discrete()).distances[0].tolist() == [0, 2, 4]
    with pytest.raises(UnsupportedMetricError, match="are not known"):
        Universe([Integer("v", (0, 999), width=100)]).space(absolute() + discrete())
    with pytest.raises(UnsupportedMetricError, match="not a sum over columns"):
        Universe([Integer("x", (0, 3), width=2), Integer("y", (0, 3))]).space(euclidean())


# TOML

TEXT = """
capacity = 100

[universe]
native = "boolean"
"a b" = { type = "category", values = ["F", "M"], other = "else", missing = "unknown" }

[universe.age]
type = "integer"
bounds = [0, 120]
width = 40
outside = "clamp"

[universe.pay]
type = "number"
bounds = [0, 10.5]
edges = [0.1, 0.3]

[universe.day]
type = "date"
bounds = [2024-01-01, 2024-12-31]
by = "month"
zone = "Europe/Paris"

[universe.city]
type = "category"
at = { Paris = [48.8566, 2.3522], Rome = [41.9, 12.5] }
"""


def test_toml_round_trip():
    universe = Universe.from_toml(TEXT)
    assert [column.kind for column in universe.columns] == [
        "boolean",
        "category",
        "integer",
        "number",
        "date",
        "category",
    ]
    assert universe.column("pay").edges == (Fraction(1, 10), Fraction(3, 10))  # as written, not the nearest float
    assert universe.column("city").points == ((48.8566, 2.3522), (41.9, 12.5))
    assert Universe.from_toml(universe.to_toml()) == universe
    odd = Universe(
        [
            Category('q"uote\\', ["a\n", "é😀", "'"], missing="\x7f"),
            Category("codes", [1, 2], at={1: (0.5, 1), 2: (2, 3)}),
            Number("tiny", ("0.0000001", "1e20")),
            Date("day", ("2024-01-01", "2024-01-05"), edges=["2024-01-03"], outside="clamp"),
            Integer("year", (-5, 5), edges=(0,), other="n/a"),
        ]
    )
    assert Universe.from_toml(odd.to_toml()) == odd
    assert hash(Universe.from_toml(odd.to_toml())) == hash(odd)
    assert pickle.loads(pickle.dumps(odd)) == odd


def test_loads_from_a_file(tmp_path):
    (tmp_path / "universe.toml").write_text(TEXT, encoding="utf-8")
    assert Universe.load(tmp_path / "universe.toml") == Universe.from_toml(TEXT)


def test_every_mistake_is_told():
    with pytest.raises(PolicyError) as caught:
        Universe.from_toml(
            """
            [universe]
            a = "colour"
            b = { type = "integer", bounds = [3, 1] }
            c = { type = "category", values = ["x"], valeus = ["y"] }
            d = { type = "integer" }
            e = 5
            f = { type = "category", at = 3 }
            g = { type = "category", values = 3 }
            h = { type = "date", bounds = [1, 2] }
            """
        )
    assert caught.value.problems == (
        "column 'a': a type is wanted, one of category, boolean, integer, number, date",
        "column 'b': bounds = [least, greatest], in that order",
        "column 'c': 'valeus' is not known here; one of values, missing, other, at",
        "column 'd': bounds = [..] is wanted",
        "column 'e': a type is wanted, one of category, boolean, integer, number, date",
        "column 'f': at = {value = place, ..} is a table",
        "column 'g': an entry is not of the form that it needs",
        "column 'h': days are dates, such as 2024-01-31",
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "no universe"),
        ("[universe]", "no universe"),
        ("x = 1\n[universe]\na = 'boolean'", "'x' is not known"),
        ("[", "not TOML"),
    ],
)
def test_documents_that_are_none(text, rule):
    with pytest.raises(PolicyError, match=rule):
        Universe.from_toml(text)
