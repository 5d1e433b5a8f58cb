"""Answers are told apart by what they are: an alias, or a name that was cut short, is shared by others."""

import pyarrow as pa
import pytest

from metricdp.policies import Policy
from metricdp.queries.select.asking import ask

POLICY = Policy.parse(
    """
format = 2
records = 100
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 1e6, missing = "refuse"}
age = {type = "integer", bounds = [0, 99], epsilon = 1e6, missing = "refuse"}
"""
)
PEOPLE = pa.table({"sex": ["F", "M"] * 50, "age": list(range(100))})
LONG = "count(*) filter (where sex = 'F' and age >= 10 and age >= 11 and age >= 12 and age < {})"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (f"{LONG.format(32)} / {LONG.format(92)} as share", [0.25]),  # was 1: the names are alike for 57 characters
        ('sum(age) as "count(*)", count(*) + 1 as more', [4950, 101]),  # was 100 and 101
        ("avg(age) as x, min(age) + max(age) as y", [49.5, 99]),
    ],
)
def test_two_answers_of_one_name(shown, wanted):
    answers = ask(PEOPLE, POLICY, f"select {shown} from people")
    assert [one.value for one in answers.found[0]] == pytest.approx(wanted, rel=0.01)
