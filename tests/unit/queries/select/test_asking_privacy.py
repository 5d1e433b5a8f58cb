"""What the answers to a question spend: all pairs of records and of small databases, one by one."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.single_number import single
from tests.attacks.ranks import draw_by_rank, tally_of, told

SMALL = """
[columns]
sex = {type = "category", values = ["F", "M"], missing = "refuse", epsilon = %s}
age = {type = "integer", bounds = [-2, 2], count_by = [0], %s}
"""
REFUSE = 'missing = "refuse"'
METRICS = [
    ("", 0.5, f"epsilon = 0.25, {REFUSE}"),
    ("", 2, f'epsilon = "ln 2", {REFUSE}'),
    ("", 0.7, f'metric = "0.4 discrete", {REFUSE}'),
    ("missing", 0.5, "epsilon = 0.25, missing_distance = 3"),
    ("missing", 0.5, 'epsilon = "ln 2", missing_distance = 1'),
    ("missing", 1, 'metric = "0.3 discrete"'),
]
ASKED = [
    "select count(*), sum(age) from t group by sex",
    "select avg(age), count(*), median(age) from t where sex = 'F'",
    "select median(age) from t group by sex",
    "select min(age), max(age), sum(age) from t where age >= 0 group by sex",
    "select count(*), median(age) from t group by age",
    "select median(age), sum(age), count(age) from t",
    "select sum(age) from t",
    "select avg(age), count(*) from t",
    "select count(*) from t where age >= 0",
]


def exact_answers(asking, database):
    """The true linear answers and percentiles, by going through the records."""
    division, policy = asking.division, asking.policy
    inside = [[] for _ in division.labels]
    for record in database:
        if record is None:
            continue
        cells = []
        for column in division.columns:
            value = record[policy.names.index(column.name)]
            if column.name == "sex":
                cells.append(column.values.index(value))
            else:
                cells.append(column.missing_code if value is None else 0 if value < 0 else 1)
        group = division.group[np.ravel_multi_index(cells, division.shape)] if cells else 0
        if group >= 0:
            inside[group].append(record)
    amounts = []
    for amount in asking.amounts:
        ages = [age for _, age in inside[amount.group] if age is not None]
        whole = len(inside[amount.group]) if amount.column is None else len(ages)
        amounts.append(sum(ages) - len(ages) * amount.centre if amount.kind == "sum" else whole)
    tallies = [tally_of([age + 2 for _, age in group if age is not None]) for group in inside]
    return amounts, tallies


RANKED = [(question, metrics, True) for question in ASKED[2:5] for metrics in (METRICS[0], METRICS[2], METRICS[3])]


@pytest.mark.parametrize(
    ("question", "metrics", "by_rank"), [*((*case, False) for case in itertools.product(ASKED, METRICS)), *RANKED]
)
@pytest.mark.parametrize("size", ["records = 2\n", "capacity = 2\nabsent = 0.8\n"])
def test_no_two_databases_are_told_apart_beyond_their_distance(question, metrics, size, by_rank):
    """All databases of two records, and all that differ from them in one: what each answer tells, added up."""
    missing, sex, age = metrics
    policy = Policy.parse("format = 2\n" + size + SMALL % (sex, age)).askable
    asking = Asking.of(question, policy)
    if by_rank:
        draw_by_rank(asking)
    linear = asking.linear
    rates = []
    if linear is not None:
        allocation = linear.allocate()
        rates = [1 / scale if scale else math.inf for scale in allocation.scales]
        alone = single(linear, allocation)
        if alone is not None:
            rates[alone.place] = float(alone.plan.mechanism.metric.level)
    values = list(itertools.product(["F", "M"], [-2, -1, 0, 1, 2] + ([None] if missing else [])))
    values += [None] if policy.absent is not None else []
    metric = policy.record_metric(asking.columns)
    places = [["sex", "age"].index(name) for name in asking.columns]

    def seen(record):
        return None if record is None else tuple(record[place] for place in places)

    found = {database: exact_answers(asking, database) for database in itertools.product(values, repeat=2)}
    answers = {database: np.array(amounts, dtype=float) for database, (amounts, _) in found.items()}
    parts = list(asking.percentiles.values())
    distances = {(x, y): metric(seen(x), seen(y)) for x in values for y in values}
    tightest = 0.0
    for first, other in itertools.combinations(values, 2):  # what is told is the same either way
        for second in values:
            apart = distances[first, other]
            change = np.abs(answers[first, second] - answers[other, second])
            spent = sum(rate * moved for rate, moved in zip(rates, change, strict=True) if moved)
            spent += sum(float(told(part, found[first, second][1], found[other, second][1])) for part in parts)
            assert spent <= apart * (1 + 1e-9), (first, other)
            tightest = max(tightest, spent / apart if apart else 0.0)
    assert tightest > 0.25, "noise that hides everything would pass too"
    if not asking.percentiles:
        assert tightest == pytest.approx(1, abs=1e-9)


STANDARD = """
[columns]
sex = {type = "category", values = ["F", "M"], missing = "refuse"}
age = {type = "integer", bounds = [-2, 2], count_by = [0]}
"""


@pytest.mark.parametrize("question", [*ASKED[:4], ASKED[8], "select count(age), sum(age) from t group by sex, age"])
@pytest.mark.parametrize("size", ["records = 2", "capacity = 2"])
@pytest.mark.parametrize("matrix", [True, False])
def test_standard_privacy_is_one_epsilon_for_a_person(question, size, matrix, monkeypatch):
    """All databases of two records, and all that differ from them in one, by both ways to find the noise."""
    if not matrix:
        monkeypatch.setattr("metricdp.queries.select.totals._MOST_ANSWERS_IN_MATRIX", 0)
    neighbours = "replace" if "records" in size else "add or remove"
    text = f'format = 2\n{size}\nstandard = {{epsilon = 0.7, neighbours = "{neighbours}"}}\n'
    asking = Asking.of(question, Policy.parse(text + STANDARD).askable)
    draw_by_rank(asking)
    rates = []
    if asking.linear is not None:
        allocation = asking.linear.allocate()
        rates = [1 / scale if scale else math.inf for scale in allocation.scales]
        alone = single(asking.linear, allocation)
        if alone is not None:
            rates[alone.place] = float(alone.plan.mechanism.metric.level)
    values = list(itertools.product(["F", "M"], [-2, -1, 0, 1, 2, None]))
    known = {}
    for database in itertools.product([*values, None], repeat=2):
        amounts, tallies = exact_answers(asking, database)
        known[database] = np.array(amounts, dtype=float), tallies
    pairs = [(one, None) for one in values] if "capacity" in size else itertools.combinations(values, 2)
    tightest = 0.0
    for first, other in pairs:
        for second in values:
            here, there = known[first, second], known[other, second]
            moved = zip(rates, np.abs(here[0] - there[0]), strict=True)
            spent = sum(rate * by for rate, by in moved if by)
            spent += sum(float(told(part, here[1], there[1])) for part in asking.percentiles.values())
            assert spent <= 0.7 * (1 + 1e-9), (first, other)
            tightest = max(tightest, spent)
    assert tightest > 0.25 * 0.7
    if not asking.percentiles:
        assert tightest == pytest.approx(0.7, abs=1e-9), "a tenth less noise would be too little"


@pytest.mark.parametrize(
    "metric",
    [
        'metric = "0.3 discrete"',
        "epsilon = 0.01, missing_distance = 1000",
        "epsilon = 0.01, missing_distance = 20",
        "within = 30, missing_distance = 100",
    ],
)
@pytest.mark.parametrize("size", ["records = 9\n", "capacity = 9\nabsent = 0.5\n"])
@pytest.mark.parametrize("bounds", [(-60, 40), (10, 99), (-99, -5)])
def test_the_ends_of_cells_stand_for_all_their_values(metric, size, bounds):
    """The noise follows from few values; here all pairs of records are looked at."""
    column = f'bounds = {[*bounds]}, count_by = {{edges = [{bounds[0] + 30}], missing = "none"}}'
    policy = Policy.parse(
        f'format = 2\n{size}[columns]\nsex = {{type = "category", values = ["F", "M"], epsilon = 0.2, {REFUSE}}}\n'
        f'pay = {{type = "integer", {column}, {metric}}}\n'
    ).askable
    for question, grouped in (
        ("select sum(pay), count(*) group by sex", False),
        ("select sum(pay) group by pay", True),
    ):
        asking = Asking.of(question, policy)
        assert len(asking.linear.workload.space) < 20
        scales = asking.linear.allocate().scales
        kinds = [*itertools.product("FM", [*range(bounds[0], bounds[1] + 1), None])]
        kinds += [None] if policy.absent is not None else []
        space = asking.policy.record_metric(asking.columns)
        seen = [kind if kind is None or not grouped else kind[1:] for kind in kinds]
        distances = space.pairwise(seen)
        rows = np.array([[added(amount, kind, asking, grouped) for kind in kinds] for amount in asking.amounts])
        spent = sum(np.abs(row[:, None] - row) / scale for row, scale in zip(rows, scales, strict=True) if scale)
        assert (spent <= distances * (1 + 1e-9) + 1e-12).all()
        assert (spent[distances > 0] / distances[distances > 0]).max() == pytest.approx(1, abs=1e-9)


def added(amount, kind, asking, grouped):
    if kind is None:
        return 0
    sex, pay = kind
    if grouped:
        column = asking.policy.column("pay")
        cell = (
            "none"
            if pay is None
            else next(
                label
                for label, part in zip(column.declared_labels, column.intervals, strict=True)
                if part.first <= pay <= part.last
            )
        )
        here = asking.division.labels[amount.group] == (cell,)
    else:
        here = asking.division.labels[amount.group] == (sex,)
    if pay is None and amount.column is not None:
        return 0
    return here * (1 if amount.kind == "count" else float(pay - amount.centre))


@pytest.mark.parametrize("question", ASKED)
def test_the_shares_of_each_column_add_up_to_all_of_its_metric(question):
    policy = Policy.parse("format = 2\nrecords = 400\n" + SMALL % (0.5, f"epsilon = 0.25, {REFUSE}")).askable
    asking = Asking.of(question, policy)
    parts = [asking.shares(part) for part in ([""] if asking.amounts else []) + list(asking.percentiles)]
    for name in asking.columns:
        assert sum(part.columns.get(name, Fraction(0)) for part in parts) == 1
    assert sum(part.absent for part in parts) == 1
