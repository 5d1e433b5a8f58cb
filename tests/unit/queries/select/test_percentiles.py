"""Percentiles of groups: what a question says of their values is public, and answers keep to it."""

import datetime as dt

import pandas as pd
import pytest

from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking, ask

POLICY = """
format = 2
records = 8
[columns]
sex = {type = "category", values = ["F", "M"], missing = "refuse", epsilon = 1}
age = {type = "integer", bounds = [0, 100], missing = "refuse", within = 5}
pay = {type = "number", bounds = [0, 1000], resolution = 0.01, missing = "refuse", metric = "1 discrete"}
day = {type = "date", bounds = [2020-01-01, 2020-12-31], missing = "refuse", within = "30 days"}
"""

BANDS = "case when age < 20 then 'young' when age < 40 then 'middle' else 'old' end"


def reach(question):
    (part,) = Asking.of(question, Policy.parse(POLICY).askable).percentiles.values()
    return [(part.line.shown(first), part.line.shown(last)) for first, last in part.reach]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("select median(age) from t", [(0, 100)]),
        ("select max(age) from t where age between 30 and 50", [(30, 50)]),
        ("select max(age) from t where age > 30 and sex = 'F' group by sex", [(31, 100)]),
        ("select min(age) from t where age < 10 or age > 90", [(0, 100)]),
        ("select median(pay) from t where pay >= 12.5 and pay < 20", [(12.5, 19.99)]),
        ("select max(day) from t where day < date '2020-03-01'", [(dt.date(2020, 1, 1), dt.date(2020, 2, 29))]),
        (f"select median(age) from t group by {BANDS}", [(0, 19), (20, 39), (40, 100)]),
        (f"select median(pay) from t group by {BANDS}", [(0, 1000)] * 3),
    ],
)
def test_where_the_values_of_a_group_can_lie(question, expected):
    assert reach(question) == expected


@pytest.mark.parametrize("asked", ["median(age)", "min(age)", "max(age)", "percentile(age, 0.9)"])
def test_answers_and_bars_keep_to_what_the_question_says(asked):
    """Whatever is drawn, for groups with records and without."""
    people = pd.DataFrame(
        {
            "sex": ["F", "M"] * 4,
            "age": [1, 2, 35, 36, 41, 42, 99, 100],
            "pay": [1.0] * 8,
            "day": [dt.date(2020, 5, 1)] * 8,
        }
    )
    for _ in range(20):
        found = ask(
            people, Policy.parse(POLICY), f"select {asked} from t where age between 40 and 50 group by sex"
        ).found
        for (answer,) in found:
            assert 40 <= answer.value <= 50
            assert answer.error_bar <= max(answer.value - 40, 50 - answer.value)
