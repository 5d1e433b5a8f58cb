"""Averages of days: true ones against a count by hand, and what is refused."""

import datetime as dt

import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError
from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking, ask

POLICY = Policy.parse("""
format = 2
records = 4
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 100000, missing = "refuse"}
[columns.visit]
type = "date"
bounds = [2024-01-01, 2024-12-31]
metric = "100000 dates"
missing = "secret"
missing_distance = 400000
outside = "clamp"
count_by = {by = "month"}
""")
DAYS = [dt.date(2024, 3, 1), dt.date(2024, 3, 4), None, dt.date(2031, 1, 1)]


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us")])
def test_the_average_of_days(kind):
    people = pa.table({"visit": pa.array(DAYS, pa.date32()).cast(kind), "sex": ["F", "F", "F", "M"]})
    answers = ask(people, POLICY, "select avg(visit) as mean from t group by sex")
    means = [one.value for one in answers["mean"]]
    assert abs(means[0] - dt.date(2024, 3, 2)) <= dt.timedelta(days=1)
    assert abs(means[1] - dt.date(2024, 12, 31)) <= dt.timedelta(days=1)
    assert all(one.error_bar < 5 for one in answers["mean"])


def test_what_days_cannot_be():
    for question, words in (
        ("select sum(visit) from t", r"write avg\(visit\)"),
        ("select stddev(visit) from t", r"write avg\(visit\)"),
        ("select avg(visit) from t group by visit", "ask for one of the two"),
    ):
        with pytest.raises(ArgumentError, match=words):
            Asking.of(question, POLICY.askable)
