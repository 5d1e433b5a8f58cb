"""An error bar that is wanted is that of what the question shows, not of the numbers it is computed from."""

import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ImpossibleError
from metricdp.policies import Policy

COLUMNS = "".join(
    f'{name} = {{type = "integer", bounds = [0, 100], epsilon = 1, missing = "refuse"}}\n' for name in "ab"
)
TABLE = pa.table({"a": [80] * 100, "b": [70] * 100})


def session(size="records = 100"):
    return mdp.Session(TABLE, Policy.parse(f"format = 2\n{size}\n[columns]\n{COLUMNS}"))


@pytest.mark.parametrize(
    ("shown", "within", "least"),
    [
        ("sum(a) + sum(b)", 100, 90),
        ("3 * sum(a)", 90, 80),
        ("-(sum(a) - 5) / 10", 10, 9),
        ("sum(a) / count(*)", 1, 0.9),
        ("count(*) filter (where a > 50) * 100.0 / count(*)", 10, 9),
        ("round(avg(a), 1)", 1, 0.8),
        ("abs(sum(a) - sum(b))", 100, 90),
        ("avg(a) + avg(b)", 2, 1.7),
    ],
)
def test_what_is_shown_is_within_what_is_wanted_and_no_nearer_than_that(shown, within, least):
    ((found,),) = session().ask(f"select {shown} as found from t", within=within, most=99).found
    assert least <= found.error_bar <= within


def test_averages_by_one_noisy_count_are_off_together():
    secret = session("capacity = 200\nabsent = 1")
    ((found,),) = secret.ask("select avg(a) + avg(b) as found from t", within=40, most=90, count_part=0.3).found
    assert found.error_bar <= 40


@pytest.mark.parametrize("shown", ["sum(a) / sum(b)", "sum(a) * sum(b)", "sqrt(sum(a))", "avg(a) / avg(b)"])
@pytest.mark.parametrize("size", ["records = 100", "capacity = 200\nabsent = 1"])
def test_where_that_is_secret_nothing_is_spent(shown, size):
    asked = session(size)
    with pytest.raises(ImpossibleError, match="how far found is off depends on the noisy numbers"):
        asked.ask(f"select {shown} as found from t", within=10, most=50, count_part=0.5)
    assert asked.spent is None
