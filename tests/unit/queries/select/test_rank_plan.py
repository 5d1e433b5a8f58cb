"""Which draw by rank is planned, from the policy alone."""

from fractions import Fraction

import numpy as np
import pytest

from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.rank_scores import ValueTally

POLICY = """
format = 2
{size}
[columns]
sex = {{type = "category", values = ["F", "M"], missing = "refuse", epsilon = 1}}
age = {{type = "integer", bounds = [0, 100], missing = "refuse", {age}}}
pay = {{type = "number", bounds = [0, 1000], resolution = 0.01, missing = "refuse", within = "10"}}
"""


def planned(question, size="records = 5000", age="within = 5"):
    asking = Asking.of(question, Policy.parse(POLICY.format(size=size, age=age)).askable)
    (part,) = asking.percentiles.values()
    return part


def test_what_epsilon_allows():
    """Replacing a record: half of epsilon for each rank; coming and going: epsilon by twice the greater share."""
    replaced = planned("select median(age) from t", age='metric = "1 discrete"').ranks
    assert replaced.choice.rate == Fraction(15, 32)
    assert replaced.width.rate == Fraction(1, 32)
    assert replaced.choice.scores.ramp == 1
    secret = "capacity = 5000\nabsent = 1"
    coming = planned("select median(age) from t", secret, 'metric = "2 discrete"').ranks
    assert coming.choice.rate == Fraction(15, 16)
    high = planned("select percentile(age, 0.9) from t", secret, 'metric = "2 discrete"').ranks
    assert high.choice.rate == Fraction(15, 16) / 2 / Fraction(9, 10)


def test_groups_and_conditions():
    """A record that changes its group moves the ranks of two; one that a condition leaves out, of one."""
    whole = planned("select median(age) from t", age='metric = "9 discrete"').ranks.choice.rate
    by_sex = planned("select median(age) from t group by sex", age='metric = "9 discrete"').ranks.choice.rate
    some = planned("select median(age) from t where sex = 'F'", age='metric = "9 discrete"').ranks.choice.rate
    assert (whole, by_sex, some) == (Fraction(9, 2) * Fraction(15, 16), Fraction(15, 32), Fraction(15, 16))


def test_near_values_are_counted_softly():
    ranks = planned("select median(age) from t").ranks
    assert ranks.choice.scores.ramp > 1
    assert "softly" in ranks.why
    assert ranks.error_to_expect < 1
    money = planned("select median(pay) from t").ranks
    assert money.choice.scores.spacing <= money.choice.scores.ramp
    assert money.error_to_expect < 20


def test_few_records_get_noise_on_the_answer():
    part = planned("select median(age) from t", "records = 2", "within = 1")
    assert part.ranks is None
    assert part.by_rank is not None
    assert part.error_bar == part.plan.error_bar()


@pytest.mark.parametrize(("name", "end"), [("min", "least"), ("max", "greatest")])
def test_the_ends_are_looked_for_inside(name, end):
    ranks = planned(f"select {name}(age) from t").ranks
    assert ranks.choice.scores.need > 0
    assert f"error bar reaches to the {end} value there can be" in ranks.why
    assert "95% of cases at least" in ranks.why


@pytest.mark.parametrize(("name", "answer", "reach"), [("min", 30, 30), ("max", 70, 30)])
def test_the_bar_of_an_end_reaches_to_its_bound_and_not_to_the_other(name, answer, reach):
    """Thousands of values lie beside the answer, so what is drawn is narrower than what lies beyond."""
    ranks = planned(f"select {name}(age) from t", age='metric = "1 discrete"').ranks
    tally = ValueTally(np.arange(30, 71), np.full(41, 100))
    widths = [ranks.draw(tally, answer)[1] for _ in range(20)]
    assert min(widths) == reach
    assert max(widths) <= 70


@pytest.mark.parametrize("name", ["min", "max"])
def test_the_bar_of_an_end_misses_in_1_case_of_20_at_most(name):
    """By the law of the draw: at answers far from a few records, widths that do not reach them are rarely drawn."""
    width = planned(f"select {name}(age) from t", age='metric = "1 discrete"').ranks.width
    for values, answer in (([50], 90), ([50], 10), ([0, 100], 50), ([20] * 9, 95), ([80] * 9, 5)):
        tally = ValueTally(*(one.astype(np.int64) for one in np.unique(values, return_counts=True)))
        pieces = width.pieces(tally, answer)
        weights = np.exp(-float(width.rate * pieces.unit) * pieces.losses) * pieces.counts
        truth = min(values) if name == "min" else max(values)
        off = truth - answer if name == "min" else answer - truth
        assert weights[pieces.starts < off].sum() <= weights.sum() / 20
