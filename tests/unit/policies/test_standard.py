"""Standard privacy in one line: what it says of records, and the mistakes it finds."""

import pytest

from metricdp.errors import PolicyError
from metricdp.exact.level import Level
from metricdp.ledger.charging import question_charge
from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking
from metricdp.queries.synthetic_data.synthesize import plan_marginals

COLUMNS = """
[columns]
sex = {type = "category", values = ["F", "M"], missing = "refuse"}
age = {type = "integer", bounds = [0, 9]}
pay = {type = "number", bounds = [0, 9], missing = "refuse", release = "drop"}
"""
ADD = 'capacity = 50\nstandard = {epsilon = "ln 3", neighbours = "add or remove"}'
REPLACE = 'records = 50\nstandard = {epsilon = "ln 3", neighbours = "replace"}'


def policy_of(top):
    return Policy.parse(f"format = 2\n{top}\n{COLUMNS}")


@pytest.mark.parametrize(("top", "between"), [(ADD, 2), (REPLACE, 1)])
def test_any_two_records_are_equally_far_apart(top, between):
    metric = policy_of(top).askable.record_metric(["sex", "age"])
    e = float(Level.parse("ln 3"))
    for other in (("M", 0), ("F", 9), ("M", 9), ("F", None), ("M", None)):
        assert metric(("F", 0), other) == pytest.approx(between * e)
    if between == 2:
        assert metric(("F", 0), None) == pytest.approx(e)


@pytest.mark.parametrize("top", [ADD, REPLACE])
def test_epsilon_is_that_of_a_person_with_several_rows(top):
    policy = policy_of(top + '\nperson = {column = "who", rows = 4}')
    assert float(policy.standard.row) == pytest.approx(float(Level.parse("ln 3")) / 4)
    charged = question_charge(policy, ["sex", "age"]).metric
    one, other = [("F", 0)] * 4, [("M", 3)] * 4
    assert charged([one[0]], [other[0]]) == pytest.approx(float(policy.standard.between) * 4)


def test_it_is_all_that_a_record_can_cost_whatever_is_asked():
    """Two parts of a question share it, though they depend on different columns."""
    asking = Asking.of("select median(age), count(*) from t where sex = 'F'", policy_of(REPLACE).askable)
    for part in ("", "median(age)"):
        assert set(asking.shares(part).columns.values()) == {asking.shares(part).absent}


def test_synthetic_data_keep_it_too():
    """A record that is replaced changes two cells of each marginal, all at once."""
    policy = policy_of(REPLACE).askable
    noise, _ = plan_marginals(policy, ("sex", "age"), [(0,), (1,)])
    assert 2 * sum(1 / scale for scale in noise.scales) == pytest.approx(float(Level.parse("ln 3")), rel=1e-6)


def test_a_policy_says_it_for_programs():
    tree = policy_of(ADD).to_json()
    assert tree["standard"] == {"epsilon": "ln 3", "neighbours": "add or remove"}
    assert tree["absent"] == "ln 3"
    assert policy_of("records = 5\nstandard = {epsilon = 1, neighbours = 'replace'}").askable.most == 5


def test_a_sanitized_table_is_something_else():
    with pytest.raises(PolicyError, match="about answers to questions"):
        _ = policy_of(ADD).guarantee


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("records = 5\nstandard = 1", "write standard = {epsilon = 1"),
        ("records = 5\nstandard = {epsilon = 1}", "neighbours = 'add or remove', or 'replace'"),
        ("records = 5\nstandard = {epsilon = 1, neighbours = 'swap'}", "or 'replace'"),
        ("records = 5\nstandard = {epsilon = -1, neighbours = 'replace'}", "standard: epsilon"),
        ("records = 5\nstandard = {neighbours = 'replace'}", "standard: epsilon"),
        ("records = 5\nstandard = {epsilon = '?', neighbours = 'replace'}", "open question"),
        ("records = 5\nstandard = {epsilon = 1, neighbours = 'add or remove'}", "say capacity"),
        ("capacity = 5\nstandard = {epsilon = 1, neighbours = 'replace'}", "say records"),
        ("capacity = 5\nabsent = 1\nstandard = {epsilon = 1, neighbours = 'add or remove'}", "absent: standard"),
        ("records = 5\nstandard = {epsilon = 1, neighbours = 'replace', delta = 0}", "'delta' is not known"),
    ],
)
def test_mistakes_are_found(top, words):
    with pytest.raises(PolicyError) as refused:
        policy_of(top)
    assert words in str(refused.value)


@pytest.mark.parametrize("level", ["epsilon = 1", "within = 5", 'metric = "1 discrete"', "missing_distance = 1"])
def test_a_column_has_no_level_beside_it(level):
    text = f'format = 2\n{REPLACE}\n[columns]\nage = {{type = "integer", bounds = [0, 9], {level}}}'
    with pytest.raises(PolicyError, match="gives every column its level"):
        Policy.parse(text)
