"""Sessions: a table, a policy and a ledger together."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, BudgetError, DataError, FileError, ImpossibleError, PolicyError
from metricdp.exact.bits import seeded
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap, question_charge, table_charge
from metricdp.ledger.terms import terms_of
from metricdp.metrics import Guarantee, attributes, discrete, records
from metricdp.policies import Policy
from metricdp.sources import digest

POLICY = """
format = 2
records = 400
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 100], within = "5 years", missing = "refuse"}
"""
COUNT = "select count(*) from people where sex = 'F'"
PEOPLE = {"sex": ["F", "M"] * 200, "age": [20 + k % 60 for k in range(400)]}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(PEOPLE), path)
    return path


@pytest.fixture
def policy():
    return Policy.parse(POLICY)


@pytest.fixture
def session(table, policy, tmp_path):
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 3), privacy_unit="a person")
        yield mdp.Session(table, policy, ledger, "staff", who="ann", purpose="planning")


def test_a_question_is_charged_for_its_columns_before_it_is_answered(session):
    answers = session.ask(COUNT)
    assert abs(answers[answers.names[0]][0].value - 200) < 100
    assert session.spent == records(attributes({"sex": discrete() / 2}))
    charged, answered = list(session.ledger.history("staff"))[1:]
    assert (charged.kind, answered.kind) == ("charged", "answered")
    assert charged.body["what"]["purpose"] == "planning"
    assert answered.body["answer"]["groups"][0]["answers"][0]["value"] == answers.found[0][0].value
    assert "sex: a factor" in session.balance.words()
    assert "staff" in repr(session)
    assert "<meter" in session._repr_html_()
    assert session.ledger.check()


def test_what_was_answered_about_the_same_file_is_free(session, table):
    both = session.ask("select count(*), median(age) from people")
    again = session.ask("select count(*), median(age) from people")
    part = session.ask("select median(age) from people")
    assert again.found == both.found
    assert (both.again, again.again, part.again) == (False, True, True)
    assert part["median(age)"] == both["median(age)"]
    assert session.balance.charges == 1
    assert session.preview("select median(age) from people").free
    pq.write_table(pa.table(PEOPLE | {"age": PEOPLE["age"][::-1]}), table)  # another snapshot
    assert not session.preview("select median(age) from people").free
    session.ask("select median(age) from people")
    assert session.balance.charges == 2


def test_an_error_bar_without_end_is_stored(session, tmp_path):
    """JSON has no infinity: it came back from the ledger as none, and was shown as an answer without noise."""
    same = tmp_path / "same.parquet"
    pq.write_table(pa.table({"a": [3] * 20, "b": [5] * 20}), same)
    column = {"type": "integer", "bounds": [0, 9], "metric": "0.1 discrete", "missing": "refuse"}
    policy = Policy.of({"format": 2, "records": 20, "columns": {"a": column, "b": column}})
    session.ledger.open_account("slopes", policy_cap(policy, 3))
    slopes = mdp.Session(same, policy, session.ledger, "slopes")
    for _ in range(2):
        (one,) = slopes.ask("select regr_slope(a, b) from t").found[0]
        assert (one.error_bar, one.tells) == (float("inf"), False)
        assert one.words.endswith("± ∞")


def test_a_table_in_memory_has_no_snapshot(policy, tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("only", policy_cap(policy, 3))
        session = mdp.Session(pa.table(PEOPLE), policy, ledger)
        session.ask(COUNT)
        session.ask(COUNT)
        assert session.balance.charges == 2, "it may have changed: nobody can know"


def test_refused_before_anything_is_read(session, monkeypatch):
    for _ in range(3):
        session.ledger.charge("staff", Guarantee(records(attributes({"sex": discrete() / 2}))), "others")
    session.source = "nowhere.parquet"
    with pytest.raises(BudgetError, match=r"sex: together 2, and the cap is 1\.5"):
        session.ask(COUNT)
    preview = session.preview(COUNT)
    assert not preview
    assert "used up" in preview.reason


def test_bad_data_cost_nothing(session, table):
    pq.write_table(pa.table({"sex": ["F", "X"] * 200, "age": PEOPLE["age"]}), table)
    with pytest.raises(DataError):
        session.ask(COUNT)
    with pytest.raises(DataError):
        session.sanitize(table.parent / "out.parquet")
    assert session.balance.charges == 0
    assert not (table.parent / "out.parquet").exists()


def test_a_file_that_changes_while_it_is_read_gives_no_answer(session, table, monkeypatch):
    """The answer about the new file stood for ever as that about the old one."""
    from metricdp.sessions import session as module

    digest = module.file_digest

    def changed(path):
        found = digest(path)
        pq.write_table(pa.table({"sex": ["F"] * 400, "age": [20] * 400}), table)
        return found

    monkeypatch.setattr(module, "file_digest", changed)
    with pytest.raises(FileError, match="changed while it was read"):
        session.ask(COUNT)
    assert session.balance.charges == 0
    monkeypatch.setattr(module, "file_digest", digest)
    assert session.ask(COUNT)


def test_a_key_may_be_sent_twice(session, policy, table):
    first = session.ask("select sum(age) from people", key="q1")
    other = mdp.Session(table, policy, session.ledger, "staff")
    assert other.ask("select sum(age) from people", key="q1").found == first.found
    with pytest.raises(ArgumentError, match="another request"):
        other.ask(COUNT, key="q1")
    assert session.balance.charges == 1


def test_nobody_puts_an_answer_where_that_of_another_question_is_looked_for(session):
    """Under a key like the session's own, the answer of one question was given for another, free."""
    session.ask(COUNT)
    (own,) = (entry.key for entry in session.ledger.history("staff") if entry.key)
    with pytest.raises(ArgumentError, match="the session's own"):
        session.ask(COUNT.replace("'F'", "'M'"), key=own + "2")
    assert session.balance.charges == 1


def test_the_table_of_an_engine_is_not_the_file_of_its_name(policy, tmp_path, monkeypatch):
    """A file of that name lay there, and the table of the engine had changed: the old answer was given for it."""
    ibis = pytest.importorskip("ibis")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").write_text("something else")
    engine = ibis.duckdb.connect()
    people = pa.table(PEOPLE)
    engine.con.register("given", people)
    engine.con.execute("create table people as select * from given")
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("only", policy_cap(policy, 3))
        session = mdp.Session("people", policy, ledger, engine=engine)
        assert not session.ask(COUNT).again
        assert not session.ask(COUNT).again


def test_preview_reads_nothing_and_foretells_the_error(session):
    session.source = "nowhere.parquet"
    preview = session.preview("select count(*), avg(age) from people where age >= 18")
    assert preview
    assert preview.guarantee == question_charge(session.policy, ["age"])
    assert preview.error_bars["avg(age)"] is None
    assert preview.error_bars["count(*)"] > 0
    assert "depends on a secret count" in str(preview)
    assert preview.to_json()["holds"]


def test_the_error_that_was_foretold_is_the_one_that_comes(session):
    for question in ("select count(*) from people group by sex", "select median(age), sum(age) from people", COUNT):
        foretold = session.preview(question).error_bars
        answers = session.ask(question)
        for name, bar in foretold.items():
            if bar is None:
                assert name == "median(age)", "how densely values lie is secret"
                continue
            assert max(one.error_bar for one in answers[name]) == pytest.approx(bar)


def test_as_little_as_the_error_asks_for(session):
    usual = session.preview(COUNT).error_bars
    (bar,) = usual.values()
    wide = session.preview(COUNT, within=4 * bar)
    assert max(wide.error_bars.values()) <= 4 * bar
    assert wide.guarantee < session.preview(COUNT).guarantee
    session.ask(COUNT, within=4 * bar)
    assert terms_of(session.spent) == terms_of(wide.guarantee.metric)
    narrow = session.preview(COUNT, within=bar / 2, most=3)
    assert max(narrow.error_bars.values()) <= bar / 2
    with pytest.raises(ImpossibleError, match="allow more"):
        session.ask(COUNT, within=bar / 2)
    with pytest.raises(ImpossibleError, match="depends on how many"):
        session.ask("select avg(age) from people where sex = 'F'", within=5)
    with pytest.raises(ImpossibleError, match="how densely"):
        session.ask("select median(age) from people", within=5)
    with pytest.raises(ArgumentError, match="positive"):
        session.ask(COUNT, within=0)
    with pytest.raises(ArgumentError, match="go with within"):
        session.ask(COUNT, most=1)


def test_less_would_not_have_been_enough(session):
    (bar,) = session.preview(COUNT).error_bars.values()
    asking = session._precise(COUNT, 4 * bar, None, None, None)
    less = replace(asking, scale=asking.scale * Fraction(99, 100))
    assert max(less.error_bars().values()) > 4 * bar


def test_questions_together_cost_less(session):
    questions = ["select count(*) from people where age > 30", "select sum(age) from people where age > 30"]
    together, alone = session.saved_together(questions)
    assert together == alone / 2
    first, second = session.ask_together(questions)
    assert first.names == ("count(*)",)
    assert second.names == ("sum(age)",)
    assert session.spent == together
    with pytest.raises(ArgumentError, match="same condition"):
        session.ask_together([COUNT, "select count(*) from people"])
    with pytest.raises(ArgumentError, match="no questions"):
        session.ask_together([])


def test_sanitize_is_charged_and_its_digest_is_on_record(session, table):
    out = table.parent / "out.parquet"
    release = session.sanitize(out, key="table")
    assert release.path == out
    assert pq.read_table(out).num_rows == 400
    *_, charged, answered = session.ledger.history("staff")
    assert charged.body["what"]["description"] == "sanitized table of people.parquet"
    assert answered.body["answer"] == {"sha256": digest(out), "private": True}
    assert session.spent == table_charge(session.policy).metric
    with pytest.raises(ArgumentError, match="has its result already"):
        session.sanitize(table.parent / "again.parquet", key="table")
    session.sanitize()
    session.sanitize(table.parent / "third.parquet")
    with pytest.raises(BudgetError):
        session.sanitize(table.parent / "fourth.parquet")
    assert not (table.parent / "fourth.parquet").exists()
    assert sorted(path.name for path in table.parent.iterdir() if path.suffix == ".parquet") == [
        "out.parquet",
        "people.parquet",
        "third.parquet",
    ]
    assert session.ledger.check()


def test_a_file_does_not_appear_without_its_entry(session, table, monkeypatch):
    out = table.parent / "out.parquet"

    def dies(*_):
        assert not out.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "answer", dies)
    with pytest.raises(KeyboardInterrupt):
        session.sanitize(out, key="table")
    monkeypatch.undo()
    assert not out.exists()
    assert session.balance.charges == 1
    session.sanitize(out, key="table")
    assert out.exists()
    assert session.balance.charges == 1, "taken up under the same charge"


def test_without_a_ledger_the_session_keeps_count(table, policy):
    session = mdp.Session(table, policy)
    assert session.spent is None
    assert session.left is None
    assert session.balance is None
    session.ask(COUNT)
    session.ask(COUNT)
    assert session.spent == records(attributes({"sex": discrete() / 2})) * 2
    session.sanitize()
    assert "age" in str(session.spent)
    assert session.preview(COUNT)
    with pytest.raises(ArgumentError, match="give the ledger too"):
        mdp.Session(table, policy, account="staff")


def test_which_account(table, policy, tmp_path):
    with Ledger.create(tmp_path / "l.db") as ledger:
        with pytest.raises(ArgumentError, match="There are: none"):
            mdp.Session(table, policy, ledger)
        ledger.open_account("a", policy_cap(policy, 1))
        assert mdp.Session(table, policy, str(tmp_path / "l.db")).account == "a"
        ledger.open_account("b", policy_cap(policy, 1))
        with pytest.raises(ArgumentError, match="There are: a, b"):
            mdp.Session(table, policy, ledger)
        with pytest.raises(ArgumentError, match="no account"):
            mdp.Session(table, policy, ledger, "c")


def test_a_secret_number_of_records(table, tmp_path):
    text = POLICY.replace("records = 400", "capacity = 1000\nabsent = 0.5")
    policy = Policy.parse(text)
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("a", policy_cap(policy, 2))
        session = mdp.Session(table, policy, ledger)
        session.ask("select count(*) from people where age > 30")
        with pytest.raises(BudgetError):
            session.sanitize(tmp_path / "out.parquet")  # it would tell how many rows there are
        assert session.balance.charges == 1
        session.ask("select count(*) from people")
        with pytest.raises(BudgetError):
            session.ask("select count(*) from people where age > 31")  # who is there was told twice
        assert ledger.check()


def test_people_with_several_rows_pay_for_all_of_them():
    text = POLICY + '[person]\ncolumn = "who"\nrows = 3\n'
    policy = Policy.parse(text)
    assert question_charge(policy, ["sex"]).metric == records(attributes({"sex": discrete() / 2})) * 3
    assert table_charge(policy).metric == records(policy.guarantee.metric * 3)


def test_a_policy_can_require_a_ledger(session, table, tmp_path):
    strict = Policy.parse(POLICY.replace("format = 2", 'format = 2\nledger = "required"'))
    for release in (
        lambda: mdp.tables.sanitize(table, strict, tmp_path / "out.parquet"),
        lambda: mdp.queries.ask(table, strict, COUNT),
        lambda: mdp.Session(table, strict),
    ):
        with pytest.raises(PolicyError, match="requires a ledger"):
            release()
    assert not (tmp_path / "out.parquet").exists()
    assert mdp.tables.sanitize(table, strict, tmp_path / "out.parquet", dry_run=True)
    mdp.Session(table, strict, session.ledger, "staff").ask(COUNT)
    mdp.tables.sanitize(table, strict, tmp_path / "out.parquet", ledger=session.ledger, account="staff")
    assert session.balance.charges == 2
    with pytest.raises(PolicyError, match="optional"):
        Policy.parse(POLICY.replace("format = 2", 'format = 2\nledger = "perhaps"'))


def test_bad_caps(policy):
    for bad in (0, -1, "x", None):
        with pytest.raises(ArgumentError):
            policy_cap(policy, bad)


def test_two_runs_under_one_key_hand_out_one_table(session, table, policy):
    out, late = table.parent / "out.parquet", table.parent / "late.parquet"

    def another_is_faster(done, _):
        if session.balance.charges == 1 and not out.exists():  # the slow one has charged, and is drawing its noise
            mdp.Session(table, policy, session.ledger, "staff").sanitize(out, key="table")

    with pytest.raises(ArgumentError, match="has its result already"):
        mdp.tables.sanitize(
            table, policy, late, ledger=session.ledger, account="staff", key="table", progress=another_is_faster
        )
    assert out.exists()
    assert not late.exists(), "one charge, one table"
    assert session.balance.charges == 1
    assert list(session.ledger.history("staff"))[-1].body["answer"]["sha256"] == digest(out)


@pytest.mark.parametrize("answered", [True, False])
def test_a_key_is_bound_to_what_is_asked(session, monkeypatch, answered):
    if not answered:
        monkeypatch.setattr(Ledger, "answer", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            session.ask("select sum(age) from people", key="q")
        monkeypatch.undo()
    session.ask("select sum(age) from people", key="q")
    for other in ("select median(age) from people", "select sum(age), median(age) from people"):
        with pytest.raises(ArgumentError, match="another request"):
            session.ask(other, key="q")
    assert session.balance.charges == 1


def test_nobody_confirms_a_guess_of_the_file_by_the_history(table, policy, tmp_path):
    told = []
    for name in ("one", "two"):
        with Ledger.create(tmp_path / f"{name}.db") as ledger:
            ledger.open_account("staff", policy_cap(policy, 3))
            mdp.Session(table, policy, ledger).ask(COUNT)
            told.append([(entry.key, entry.request) for entry in ledger.history() if entry.kind == "charged"])
            assert ledger.sealed("x") == ledger.sealed("x") != ledger.sealed("y")
        with Ledger(tmp_path / f"{name}.db") as again:
            before = again.balance("staff").charges
            mdp.Session(table, policy, again).ask(COUNT)
            assert again.balance("staff").charges == before, "the same file is known again"
    (((one, asked),), ((two, asked_too),)) = told
    assert one != two, "a digest of the file alone would be the same in both, and could be computed by anybody"
    assert asked != asked_too


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "many", [1], -1])
def test_bad_error_bars(session, bad):
    with pytest.raises(ArgumentError):
        session.ask(COUNT, within=bad)
    with pytest.raises(ArgumentError):
        session.ask(COUNT, within=5, most=bad)
    assert session.balance.charges == 0


@pytest.mark.filterwarnings("ignore::metricdp.errors.NotPrivateWarning")
def test_what_a_seed_has_touched_is_charged_to_nobody(session, table):
    for release in (
        lambda: session.ask(COUNT),
        lambda: session.ask(COUNT, key="q"),
        session.sanitize,
        lambda: session.sanitize(table.parent / "out.parquet"),
    ):
        with seeded(1), pytest.raises(ArgumentError, match="seed"):
            release()
    assert len(list(session.ledger.history("staff"))) == 1
    assert not (table.parent / "out.parquet").exists()


def test_no_way_around_a_ledger_that_is_required(table):
    rules = Policy.parse(POLICY.replace("records = 400", 'records = 400\nledger = "required"'))
    with pytest.raises(PolicyError, match="requires a ledger"):
        mdp.queries.Asking.of(COUNT, rules.askable).answer(table)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("select avg(age) as x from people", "select sum(age) as x from people"),
        ("select percentile(age, 0.5) as x from people", "select percentile(age, 0.9) as x from people"),
        (
            "select count(*) filter (where age > 30) as x from people",
            "select count(*) filter (where age > 70) as x from people",
        ),
        (
            "select count(*), case when age < 30 then 'young' else 'old' end as band from people group by band",
            "select count(*), case when age < 70 then 'young' else 'old' end as band from people group by band",
        ),
    ],
)
def test_another_question_under_the_same_name_is_another_question(session, first, second):
    """Answers in the ledger are found by what was asked: an alias, or a band's name, is no question."""
    session.ask(first)
    assert not session.preview(second).free
    answers = session.ask(second)
    assert not answers.again
    assert answers.found != session.ask(first).found
    renamed = first.replace(" as x ", " as y ")
    assert session.ask(renamed).again, "the same under another name"
    assert session.balance.charges == 2


def test_another_question_under_the_same_key_and_name_is_refused(session):
    session.ask("select avg(age) as x from people", key="k")
    with pytest.raises(ArgumentError, match="another request"):
        session.ask("select sum(age) as x from people", key="k")
    session.ask("select sum(age) from people")
    with pytest.raises(ArgumentError, match="another request"):
        session.ask("select sum(age) from people", key="k")  # though it would be free without that key


def test_questions_together_whatever_they_are_called(session):
    counts, sums = session.ask_together(
        [
            "select count(*) as n from people where sex = 'F' having count(*) > 1",
            "select sum(age) as n, avg(age) + 1 as \"a from b\" from people where sex = 'F'",
        ]
    )
    assert (counts.names, sums.names) == (("n",), ("n", "a from b"))
    assert abs(counts["n"][0].value - 200) < 100
    assert abs(sums["n"][0].value - 200 * 49) < 200 * 49
    banded = "select {}, case when age < 50 then 'from here' else 'on' end as band from people group by band"
    first, second = session.ask_together([banded.format("count(*)") + " limit 1", banded.format("sum(age)")])
    assert (len(first.groups), len(second.groups)) == (1, 2)
    with pytest.raises(ArgumentError, match="same condition"):
        session.ask_together([banded.format("count(*)"), banded.format("count(*)").replace("50", "60")])
    with pytest.raises(ArgumentError, match="a list of texts"):
        session.ask_together(COUNT)


def test_what_cannot_be_added_up_is_not_released(table, tmp_path):
    """The charge of a table with a delta, of nobody knows how many records, was refused after the file was there."""
    column = {"type": "category", "values": ["F", "M"], "epsilon": 0.5, "delta": 1e-9, "missing": "refuse"}
    session = mdp.Session(table, {"format": 2, "columns": {"sex": column, "age": {"type": "drop"}}})
    with pytest.raises(ArgumentError, match="records = "):
        session.sanitize(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_a_name_says_nothing_of_what_was_asked(table, policy, tmp_path):
    """Questions whose answers or groups have the same names are not the same questions."""
    with Ledger.create(tmp_path / "names.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 4))
        session = mdp.Session(table, policy, ledger)
        assert not session.ask("select count(*) filter (where sex = 'F') as n from people").again
        assert not session.ask("select count(*) filter (where sex = 'M') as n from people").again
        assert session.ask("select count(*) filter (where sex = 'M') as men from people").again
        bands = "select case when sex = '{}' then 'one' else 'two' end b, count(*) from people group by b"
        assert not session.ask(bands.format("F")).again
        assert not session.ask(bands.format("M")).again
        assert session.balance.charges == 4
