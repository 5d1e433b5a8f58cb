"""Numbers of distinct values: the truth, what they spend on all pairs of small databases, and what is refused."""

import datetime as dt
import itertools

import pandas as pd
import pytest

from metricdp.errors import ArgumentError
from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.select.forecast import forecast

POLICY = """
format = 2
{size}
[columns]
sex = {{type = "category", values = ["F", "M"], epsilon = {sex}, missing = "refuse"}}
age = {{type = "integer", bounds = [0, 5], {age}}}
city = {{type = "category", values = ["A", "B", "C"], {city}}}
day = {{type = "date", bounds = [2024-01-01, 2024-12-31], missing = "refuse", count_by = "month", within = "1 days"}}
pay = {{type = "number", bounds = [0, 9], epsilon = 1, missing = "refuse"}}
"""
REFUSE = 'missing = "refuse"'


def policy_of(size="records = 2", sex=0.7, age=f"epsilon = 0.3, {REFUSE}", city=f"epsilon = 0.5, {REFUSE}"):
    return Policy.parse(POLICY.format(size=size, sex=sex, age=age, city=city))


TABLE = pd.DataFrame(
    {
        "sex": ["F", "F", "M", "F", "M"],
        "age": pd.array([0, 0, 3, 5, None], dtype="Int64"),
        "city": ["A", "A", "C", None, "A"],
        "day": [dt.date(2024, month, 3) for month in (1, 1, 2, 5, 12)],
        "pay": [1.0] * 5,
    }
)
SHARP = {
    "size": "records = 5",
    "sex": 10**6,
    "age": 'metric = "1000000 discrete", missing_distance = 1',
    "city": "epsilon = 1000000, missing_distance = 1",
}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("select count(distinct age) from t", [3]),
        ("select count(distinct city), count(*) from t", [2]),
        ("select count(distinct age) from t group by sex", [2, 1]),
        ("select count(distinct city) from t where age >= 1", [1]),
        ("select count(distinct age) from t where age >= 1", [2]),
        ("select count(distinct age) from t where age >= 1 group by sex", [1, 1]),
        ("select count(distinct city) from t where city <> 'C' group by sex", [1, 1]),
        ("select count(distinct city) from t where city is not null", [2]),
        ("select count(distinct day) from t where sex = 'F'", [2]),
        ("select count(distinct day) from t where day >= '2024-05-01'", [2]),
    ],
)
def test_they_are_the_truth_where_nothing_is_hidden(question, wanted):
    text = POLICY.format(**SHARP).replace('within = "1 days"', 'metric = "1000000 discrete"')
    answers = ask(TABLE, Policy.parse(text), question)
    assert [row[0].value for row in answers.found] == wanted
    assert all(isinstance(row[0].value, int) and row[0].error_bar == 0 for row in answers.found)


def true_numbers(asking, database, name):
    """By going through the records."""
    cells, division = asking.policy.column(name), asking.division
    seen = [set() for _ in division.labels]
    for record in database:
        if record is None:
            continue
        values = dict(zip(("sex", "age", "city"), record, strict=True))
        if "age >= 2" in asking.select.text and (values["age"] is None or values["age"] < 2):
            continue
        group = division.labels.index((values["sex"],)) if asking.select.groups else 0
        if values[name] is not None:
            seen[group].add(values[name])
    assert all(len(one) <= len(cells) for one in seen)
    return [len(one) for one in seen]


@pytest.mark.long
@pytest.mark.parametrize("size", ["records = 2", "capacity = 2\nabsent = 0.4", "capacity = 2\nabsent = 0.1"])
@pytest.mark.parametrize("age", [f"epsilon = 0.3, {REFUSE}", 'metric = "0.2 discrete", missing_distance = 1'])
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("select count(distinct city) from t", "city"),
        ("select count(distinct age) from t group by sex", "age"),
        ("select count(distinct city) from t where age >= 2", "city"),
        ("select count(distinct age) from t where age >= 2", "age"),
        ("select count(distinct city) from t where age >= 2 group by sex", "city"),
    ],
)
def test_no_two_databases_are_told_apart_beyond_their_distance(question, name, age, size):
    asking = Asking.of(question, policy_of(size, age=age).askable)
    (part,) = asking.distinct.values()
    ages = [0, 1, 2, 5] + ([None] if "missing_distance" in age else [])
    values = [*itertools.product("FM", ages, "ABC"), *([None] if "absent" in size else [])]
    metric = asking.policy.record_metric(asking.columns)
    places = [("sex", "age", "city").index(column) for column in asking.columns]
    tightest = 0.0
    known = {database: true_numbers(asking, database, name) for database in itertools.product(values, repeat=2)}
    for one, other in itertools.combinations(values, 2):
        apart = metric(*(None if kind is None else tuple(kind[place] for place in places) for kind in (one, other)))
        for second in values:
            moved = zip(known[one, second], known[other, second], part.scales, strict=True)
            spent = sum(abs(a - b) / float(scale) for a, b, scale in moved if a != b)
            assert spent <= apart * (1 + 1e-9)
            tightest = max(tightest, spent / apart if apart else 0)
    assert tightest == pytest.approx(1, abs=1e-9), "a tenth less noise would be too little"


def test_the_noise_is_that_of_its_scale():
    """What is drawn keeps the promise of the scales, and its error bar is that of the noise."""
    asking = Asking.of("select count(distinct age) from t group by sex", policy_of("records = 5").askable)
    (part,) = asking.distinct.values()
    level = part.noise(0).metric.level
    assert float(level) * float(part.scales[0]) == pytest.approx(1, abs=1e-12)
    assert part.bar(0) == min(part.noise(0).radius(0.95), 6)
    assert forecast(asking).expected[0].error_bar == part.error_bar
    answers = ask(TABLE.assign(age=[0, 1, 1, 2, 2]), asking.policy.policy, "select count(distinct age) group by sex")
    assert all(0 <= row[0].value <= 6 for row in answers.found)
    assert answers.parts[0].mechanism == "truncated geometric noise"
    assert not answers.parts[0].optimal


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select count(distinct pay) from t", "one only"),
        ("select count(distinct sex, age) from t", "one column"),
        ("select count(distinct sex) from t group by sex", "count(*) .. group by sex"),
        ("select count(distinct age) filter (where sex = 'F') from t", "where, or by group"),
        ("select sum(distinct age) from t", "group by age"),
    ],
)
def test_what_is_not_counted_is_refused(question, words):
    with pytest.raises(ArgumentError) as refused:
        Asking.of(question, policy_of().askable)
    assert words in str(refused.value)


def test_it_shares_a_column_with_what_else_is_asked():
    asking = Asking.of("select count(distinct city), count(*) from t where sex = 'F'", policy_of().askable)
    assert asking.shares("count(distinct city)").columns == {"sex": pytest.approx(0.5), "city": 1}


def test_a_thousand_groups_take_no_matrix():
    text = (
        'format = 2\nrecords = 9\n[columns]\ncode = {type = "integer", bounds = [1, 1000], metric = "1 discrete", %s}\n'
    )
    text += 'city = {type = "category", values = ["A", "B", "C"], epsilon = 1, %s}\n'
    asking = Asking.of(
        "select count(distinct city) from t group by code", Policy.parse(text % (REFUSE, REFUSE)).askable
    )
    (part,) = asking.distinct.values()
    assert {float(scale) for scale in part.scales} == {2.0}
