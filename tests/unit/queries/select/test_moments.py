"""Variances, covariances, correlations and slopes: their values, what they spend pair by pair, their error bars."""

import itertools
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest

from metricdp.errors import ArgumentError, ColumnError, ImpossibleError
from metricdp.policies import Policy
from metricdp.queries.select.amounts import Amount
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.select.averages import Noisy
from metricdp.queries.select.forecast import forecast
from metricdp.queries.select.moments import Moment
from metricdp.sessions import Session

POLICY = """
format = 2
{size}
[columns]
sex = {{type = "category", values = ["F", "M"], epsilon = {epsilon}, missing = "refuse"}}
x = {{type = "integer", bounds = {x}, {level}}}
y = {{type = "integer", bounds = {y}, {level}}}
"""
SHARP = 'metric = "1000000000 discrete"'
FUNCTIONS = [
    "var_pop(x)",
    "variance(x)",
    "stddev_pop(y)",
    "stddev(y)",
    "covar_pop(x, y)",
    "covar_samp(x, y)",
    "corr(x, y)",
    "regr_slope(y, x)",
    "regr_intercept(y, x)",
    "regr_r2(y, x)",
]


def policy_of(level, size="records = 500", x=(-20, 99), y=(0, 1000), epsilon=0.5):
    return Policy.parse(POLICY.format(level=level, size=size, x=[*x], y=[*y], epsilon=epsilon))


def people(missing=0.0):
    draw = np.random.default_rng(9)
    x = draw.integers(-20, 100, 500)
    y = np.clip(400 + 3 * x + draw.normal(0, 60, 500), 0, 1000).astype(int)
    table = pd.DataFrame({"sex": draw.choice(["F", "M"], 500), "x": x, "y": y}).astype({"x": "Int64", "y": "Int64"})
    for name in ("x", "y"):
        table.loc[draw.random(500) < missing, name] = pd.NA
    return table


@pytest.mark.parametrize(("function", "truth"), [("variance", 20000 / 4), ("stddev", (20000 / 4) ** 0.5)])
@pytest.mark.parametrize("size", ["records = 2", "capacity = 2\nabsent = 1000000000"])
def test_samples_of_two_lie_beyond_what_all_can(function, truth, size):
    """The variance of 0 and 100 was 2,500, as if they were all there is."""
    policy = policy_of(SHARP, size=size, x=(0, 100), epsilon=10**9)
    table = pd.DataFrame({"sex": ["F", "M"], "x": [0, 100], "y": [3, 4]})
    (found,) = ask(table, policy, f"select {function}(x) as found from t")["found"]
    assert found.value == pytest.approx(truth, rel=1e-3)
    (wide,) = ask(
        table,
        policy_of('metric = "0.1 discrete"', size="records = 2", x=(0, 100)),
        f"select {function}(x) as found from t",
    )["found"]
    assert 0 <= wide.value <= truth * (1 + 1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("where", ["", " where sex = 'F'", " group by sex"])
def test_they_are_the_truth_where_nothing_is_hidden(missing, where):
    table = people(missing)
    level = SHARP + (', missing = "refuse"' if not missing else ", missing_distance = 1")
    question = f"select {', '.join(FUNCTIONS)} from people{where}"
    answers = ask(table, policy_of(level, epsilon=10**9), question)
    connection = duckdb.connect()
    connection.register("people", table)
    order = " order by sex" if "group" in where else ""
    wanted = connection.sql(question + order).fetchall()
    for row, truth in zip(answers.found, wanted, strict=True):
        for found, value in zip(row, truth, strict=True):
            assert found.value == pytest.approx(value, rel=1e-4)
            assert found.tells
            assert found.error_bar < 1e-3 * max(1, abs(value))


def spent_by_pairs(asking, kinds, seen):
    """What is spent on each pair of records beside their distance, by going through what each adds."""
    scales = asking.linear.allocate().scales

    def added(amount, kind):
        if kind is None:
            return 0.0
        sex, values = kind[0], dict(zip("xy", kind[1:], strict=True))
        if asking.division.columns and asking.division.labels[amount.group] != (sex,):
            return 0.0
        if any(values[name] is None for name in amount.known):
            return 0.0
        if amount.kind == "count":
            return 1.0
        away = float(values[amount.column] - amount.centre)
        if amount.kind == "sum":
            return away
        return away * float(values[amount.second] - amount.second_centre) - float(amount.shift)

    metric = asking.policy.record_metric(asking.columns)
    distances = metric.pairwise([None if kind is None else tuple(kind[k] for k in seen) for kind in kinds])
    rows = np.array([[added(amount, kind) for kind in kinds] for amount in asking.amounts])
    spent = sum(np.abs(row[:, None] - row) / scale for row, scale in zip(rows, scales, strict=True) if scale)
    return spent, distances


@pytest.mark.parametrize(
    ("level", "x", "y", "least"),
    [
        ('metric = "0.4 discrete", missing = "refuse"', (-3, 4), (0, 5), 0.97),  # each value is looked at
        ('metric = "0.4 discrete", missing = "refuse"', (-60, 40), (0, 900), 0.98),  # by tangents
        ('epsilon = 0.01, missing = "refuse"', (-60, 40), (0, 900), 0.98),
        ("epsilon = 0.01, missing_distance = 60", (-60, 40), (0, 200), 0.97),
        ('metric = "0.4 discrete", missing_distance = 1', (-60, 40), (0, 90), 0.98),
    ],
)
@pytest.mark.parametrize("size", ["records = 9", "capacity = 9\nabsent = 0.5"])
@pytest.mark.parametrize(
    "question",
    [
        "select var_pop(x) from t",
        "select stddev(x), avg(x) from t group by sex",
        "select corr(x, y) from t group by sex",
    ],
)
def test_no_two_records_are_told_apart_beyond_their_distance(level, x, y, least, size, question):
    """All values of the first column, and many of the second, beside each other; 10% less noise would be seen."""
    asking = Asking.of(question, policy_of(level, size, x, y).askable)
    both = "y" in asking.columns
    steps = [*np.unique(np.linspace(*y, 8).astype(int)).tolist(), y[1] - 1] if both else [0]
    first = [*range(x[0], x[1] + 1, 1 if not both else 5), x[1], x[1] - 1]
    nothing = [None] if "distance" in level else []
    grouped = "group" in question
    kinds = [*itertools.product("FM" if grouped else "F", [*first, *nothing], [*steps, *(nothing if both else [])])]
    kinds += [None] if "absent" in size else []
    seen = [place for place, name in enumerate(("sex", "x", "y")) if name in asking.columns]
    spent, distances = spent_by_pairs(asking, kinds, seen)
    apart = distances > 0
    assert (spent <= distances * (1 + 1e-9) + 1e-12).all()
    tightest = (spent[apart] / distances[apart]).max()
    assert tightest > least, "noise that is a tenth less has to be noticed"


def test_a_column_of_two_values_needs_no_noise_for_its_squares():
    """They are all the same, counted from the middle."""
    asking = Asking.of(
        "select var_pop(x) from t", policy_of('metric = "1 discrete", missing = "refuse"', x=(0, 1)).askable
    )
    scales = dict(zip([amount.kind for amount in asking.amounts], asking.linear.allocate().scales, strict=True))
    assert scales["product"] == 0
    assert scales["sum"] > 0


def test_products_are_the_same_whichever_column_comes_first():
    asking = Asking.of("select corr(x, y), regr_r2(y, x) from t", policy_of(f'{SHARP}, missing = "refuse"').askable)
    assert [amount.kind for amount in asking.amounts].count("product") == 3
    assert len(asking.amounts) == 6


@pytest.mark.parametrize("function", ["stddev(x)", "corr(x, y)", "regr_slope(y, x)"])
def test_error_bars_hold_the_truth_in_95_of_100_cases(function):
    """With Laplace noise on each of the sums, by a seed."""
    level = 'metric = "2 discrete", missing = "refuse"'
    asking = Asking.of(f"select {function} from t", policy_of(level, "capacity = 600\nabsent = 1").askable)
    table = people()
    (aggregate,) = asking.select.aggregates
    truths = [float(value) for value in asking.linear.truth(table, None)]
    allocation = asking.linear.allocate()
    noises = [allocation.mechanism(place, 600) for place in range(len(truths))]
    exact = asking.computed(aggregate, asking.amounts, [Noisy(value, None) for value in truths]).value
    draw, hits, runs = np.random.default_rng(4), 0, 500
    bars = [0.0 if noise is None else noise.radius(0.95) for noise in noises]
    for _ in range(runs):
        noisy = [
            Noisy(value + scale * draw.laplace(), lambda _, bar=bar: bar)
            for value, scale, bar in zip(truths, allocation.scales, bars, strict=True)
        ]
        found = asking.computed(aggregate, asking.amounts, noisy)
        hits += abs(found.value - exact) <= found.error_bar
    assert 0.93 <= hits / runs <= 0.97, hits / runs


def test_noise_that_drowns_everything_is_said_to_tell_nothing():
    answers = ask(
        people(), policy_of('metric = "0.001 discrete", missing = "refuse"'), f"select {', '.join(FUNCTIONS)}"
    )
    assert not any(one.tells for one in answers.found[0])
    for name, one in zip(answers.names, answers.found[0], strict=True):
        if name.startswith(("corr", "regr_r2")):
            assert one.error_bar <= 2
        if name.startswith(("var", "std")):
            assert one.value >= 0


def test_a_moment_is_defined_by_its_sums():
    moment = Moment("regr_slope", ((0, 10), (0, 4)), (Fraction(5), Fraction(2)))
    assert moment.roles == ("xy", "yy", "x", "y", "count")
    sums = {"count": 2.0, "x": 2.0, "y": 0.0, "yy": 2.0, "xy": 4.0}
    assert float(moment.of(sums, 9)) == 2
    nothing = moment.answer([Noisy(0.0, None)] * 5, [Amount("count", None, 0)] * 5, 9)
    assert nothing.value == 0
    assert nothing.error_bar == np.inf
    assert not nothing.tells


def test_what_is_expected_is_said_before_anything_is_read():
    level = 'metric = "1 discrete", missing = "refuse"'
    asking = Asking.of("select stddev(x), corr(x, y) from t group by sex", policy_of(level).askable)
    expected = {one.name: one for one in forecast(asking).expected}
    assert 0 < expected["stddev(x)"].error_bar < 60
    assert "spread evenly" in expected["corr(x, y)"].supposed


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select stddev(sex) from t", "holds no numbers"),
        ("select corr(x, x) from t", "var_pop(x)"),
        ("select corr(x, x + 1) from t", "not of an expression"),
        ("select variance(distinct x) from t", "which values are there"),
    ],
)
def test_what_has_no_moment_is_refused(question, words):
    with pytest.raises(ArgumentError) as refused:
        Asking.of(question, policy_of(f'{SHARP}, missing = "refuse"').askable)
    assert words in str(refused.value)


def test_an_error_bar_that_depends_on_the_answer_is_not_bought():
    session = Session(people(), policy_of('metric = "1 discrete", missing = "refuse"'))
    with pytest.raises(ImpossibleError, match="depends on what it is"):
        session.ask("select stddev(x) from t", within=3)
    assert session.preview("select stddev(x) from t").error_bars == {"stddev(x)": None}


def test_products_of_too_many_digits_are_refused():
    table = pd.DataFrame({"sex": ["F"] * 500, "x": [1] * 500, "y": [10**15] * 500})
    with pytest.raises(ColumnError, match="narrower bounds"):
        ask(table, policy_of(f'{SHARP}, missing = "refuse", count_by = [9]', y=(0, 10**15)), "select var_pop(y) from t")
