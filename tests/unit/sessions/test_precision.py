"""An average within an error bar: from public facts where they are enough, after a count where they are not."""

from fractions import Fraction

import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, BudgetError, DataError, ImpossibleError
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.ledger.terms import terms_of
from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.averages import Noisy, average, widest_average
from metricdp.sessions.precision import counts_needed, least

POLICY = """
format = 2
records = 4000
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 100], within = "5 years", missing = "refuse"}
"""
PEOPLE = pa.table({"sex": ["F", "M"] * 2000, "age": [20 + k % 60 for k in range(4000)]})
ALL, WOMEN = "select avg(age) from people", "select avg(age) from people where sex = 'F'"


@pytest.fixture
def policy():
    return Policy.parse(POLICY)


@pytest.fixture
def session(policy, tmp_path):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 3))
        yield mdp.Session(PEOPLE, policy, ledger, "staff")


def test_where_the_count_is_public_nothing_is_spent_on_it(session):
    preview = session.preview(ALL, within=0.5)
    assert preview.error_bars["avg(age)"] <= 0.5
    assert preview.guarantee < session.preview(ALL).guarantee
    (answer,) = session.ask(ALL, within=0.5)["avg(age)"]
    assert answer.error_bar <= 0.5
    assert terms_of(session.spent) == terms_of(preview.guarantee.metric)
    tighter = least(session._read(ALL), Fraction(1, 2), Fraction(1))
    assert max(least(tighter, Fraction(1, 2), Fraction(1)).error_bars().values()) > 0.5 * 0.99, "no less is enough"


def test_a_secret_count_is_refused_or_counted_first(session):
    assert counts_needed(session._read(ALL)) == ()
    assert [one.name for one in counts_needed(session._read(WOMEN))] == ["count(*)"]
    with pytest.raises(ImpossibleError, match=r"depends on how many.*count_part"):
        session.ask(WOMEN, within=5)
    assert session.balance.charges == 0
    preview = session.preview(WOMEN, within=5, count_part=0.25)
    assert preview.error_bars == {"avg(age)": None}
    assert preview.guarantee == session.preview(WOMEN).guarantee, "the most that it can cost"
    (answer,) = session.ask(WOMEN, within=5, count_part=0.25)["avg(age)"]
    assert answer.error_bar <= 5
    charged = [entry.body for entry in session.ledger.history("staff") if entry.kind == "charged"]
    assert [body["what"]["description"] for body in charged] == [f"count(*), before: {WOMEN}", WOMEN]
    assert session.ledger.check()


def test_never_more_than_most_and_less_where_less_is_enough(session, policy):
    whole = session._charge_of(session._read(WOMEN))
    session.ask(WOMEN, within=5, most=2, count_part=0.1)
    spent = terms_of(session.spent)
    assert all(level < terms_of(whole.metric * 2)[term] for term, level in spent.items())


def test_what_cannot_be_had_costs_the_count_and_no_more(session):
    with pytest.raises(ImpossibleError, match="the count, which was asked for first, is charged"):
        session.ask(WOMEN, within=0.01, count_part=0.25)
    assert session.balance.charges == 1
    with pytest.raises(BudgetError):
        session.ask(WOMEN, within=5, most=100, count_part=0.5)
    assert session.balance.charges == 1


def test_a_key_covers_both(session):
    first = session.ask(WOMEN, within=5, count_part=0.25, key="k")
    again = session.ask(WOMEN, within=5, count_part=0.25, key="k")
    assert first.found == again.found
    assert session.balance.charges == 2


@pytest.mark.parametrize("part", [0, 1, -1, 2, float("nan"), "x"])
def test_bad_parts(session, part):
    with pytest.raises(ArgumentError):
        session.ask(WOMEN, within=5, count_part=part)
    with pytest.raises(ArgumentError, match="go with within"):
        session.ask(WOMEN, count_part=0.5)
    assert session.balance.charges == 0


def test_without_a_ledger_the_session_keeps_count_of_both(policy):
    session = mdp.Session(PEOPLE, policy)
    session.ask(WOMEN, within=5, count_part=0.25)
    assert len(session._charged) == 2


def test_the_bound_is_nowhere_passed_where_both_bars_hold():
    """For every noise within its reach, and every count from the least on, `average` has no wider bar."""
    reach = {"total": 40.0, "count": 6.0}
    total, count = (Noisy(0.0, lambda _, name=name: reach[name]) for name in reach)
    low, high, centre, fewest, records = Fraction(0), Fraction(100), Fraction(50), Fraction(60), 500
    bound = widest_average(total, count, centre, (low, high), fewest, 1)
    seen = 0.0
    for number in (60, 61, 100, 500):
        for mean in (0, 20, 50, 99, 100):
            for off in (-40, -13, 0, 40):
                for away in (-6, 0, 6):
                    noisy = Noisy((mean - 50) * number + off, total.reach), Noisy(number + away, count.reach)
                    seen = max(seen, average(*noisy, centre, (low, high), records).error_bar)
    assert seen <= bound
    assert seen > 0.6 * bound, "and it is not much too wide"


def test_bad_data_cost_nothing_under_a_key_either(policy, tmp_path):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 3))
        bad = PEOPLE.slice(0, 10)
        with pytest.raises(DataError):
            mdp.Session(bad, policy, ledger, "staff").ask(ALL, key="k")
        assert ledger.balance("staff").charges == 0
        good = mdp.Session(PEOPLE, policy, ledger, "staff")
        good.ask(ALL, key="k")
        assert ledger.balance("staff").charges == 1


def test_a_charge_without_an_answer_is_taken_up_under_its_key(session):
    """Also where nothing is left of the account: it was charged already."""
    asking = session._read(ALL)
    charge, request = (
        session._charge_of(asking),
        session._request(asking) | {"asked": [one.identity for one in asking.select.aggregates]},
    )
    session.ledger.charge("staff", charge, session._what(ALL), key="k", request=request)
    for _ in range(2):
        session.ask(ALL)
    with pytest.raises(BudgetError):
        session.ask(ALL)
    session.ask(ALL, key="k")
    assert session.balance.charges == 3
    with pytest.raises(ArgumentError, match="another request"):
        session.ask(WOMEN, key="k")


def test_error_bars_that_are_foretold_hold_for_groups_too(policy):
    asking = Asking.of("select avg(age), count(*) from people group by sex", policy.askable)
    assert asking.error_bars()["avg(age)"] is None
    counts = {amount: Fraction(1000) for amount in asking.amounts if amount.kind == "count"}
    assert 0 < asking.error_bars(counts)["avg(age)"] < 100
    fewer = {amount: Fraction(100) for amount in counts}
    assert asking.error_bars(fewer)["avg(age)"] > asking.error_bars(counts)["avg(age)"]


@pytest.mark.parametrize(
    "question",
    [
        "select avg(age) filter (where sex = 'F') from people",
        "select avg(age) as mean from people group by sex having avg(age) > 1 order by mean limit 1",
        "select avg(age), case when age < 50 then 'from here' else 'on' end as band from people group by band",
        "select avg(age) as \"a from b\" from people where sex = 'F'",
    ],
)
def test_the_count_that_comes_first_is_of_the_same_records(session, question):
    """It was made by cutting the text at 'from', which lost filters and names and found the word inside quotes."""
    counting = counts_needed(session._read(question))
    assert [one.kind for one in counting] == ["count"]
    answers = session.ask(question, within=20, most=2, count_part=0.3)
    assert all(one.error_bar <= 20 for row in answers.found for one in row)
    with pytest.raises(ImpossibleError, match="not within"):
        session.ask(question, within=0.0001, most=0.01, count_part=0.3)
