"""Functions of columns and joins to public tables: the answers beside DuckDB's own, and what is refused."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies import Policy
from metricdp.policies.sql.public_tables import PublicTable, public_tables
from metricdp.queries import ask
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.forecast import forecast
from metricdp.sessions import Session

POLICY = """
format = 2
records = 300
[columns]
state = {{type = "category", values = ["CA", "NY", "TX", "ME"], {level}, missing = "refuse"}}
age = {{type = "integer", bounds = [0, 99], {level}, missing = "refuse"}}
visits = {{type = "integer", bounds = [0, 30], {level}, missing = "secret"}}
joined = {{type = "date", bounds = [2020-01-01, 2022-12-31], {level}, missing = "refuse"}}
well = {{type = "boolean", {level}, missing = "secret"}}
weight = {{type = "number", bounds = [0, 200], metric = "1 discrete", missing = "refuse"}}
"""
SHARP = Policy.parse(POLICY.format(level="epsilon = 10000000"))
SOFT = Policy.parse(POLICY.format(level="epsilon = 0.5"))
STATES = "state,region,people,gdp,since,coastal,zip\nCA,west,39.5,3.5,1850-09-09,true,02139\n"
STATES += "NY,east,19.6,,1788-07-26,false,10001\nTX,south,29.1,2.25,1845-12-29,true,73301\n"
STATES += "ZZ,none,1,1,2000-01-01,false,00000\n"
AGES = pa.table({"old": list(range(100)), "fare": [0.5 if k < 18 else 2.0 for k in range(100)]})


@pytest.fixture(scope="module")
def people():
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "state": draw.choice(["CA", "NY", "TX", "ME"], 300),
            "age": draw.integers(0, 100, 300),
            "visits": pa.array([None if one > 30 else int(one) for one in draw.integers(0, 33, 300)], pa.int64()),
            "joined": [dt.date(2020, 1, 1) + dt.timedelta(days=int(one)) for one in draw.integers(0, 1096, 300)],
            "well": pa.array([None if one == 2 else bool(one) for one in draw.integers(0, 3, 300)], pa.bool_()),
        }
    )


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    path = tmp_path_factory.mktemp("public") / "states.csv"
    path.write_text(STATES)
    return path


@pytest.fixture(scope="module")
def engine(people, states):
    connection = duckdb.connect()
    connection.register("people", people)
    connection.execute(f"create table states as select * from read_csv('{states}', types = {{'zip': 'varchar'}})")
    connection.register("ages", AGES)
    return connection


JOINS = [
    "select s.region, count(*) from people p join states s on p.state = s.state group by s.region",
    "select region, count(*) as n from people p left join states s using (state) group by region",
    "select count(*) from people p join states s on s.state = p.state where s.gdp > 2 and p.age >= 40",
    "select count(*) from people p join states s on p.state = s.state where s.gdp / s.people > 0.08 or region = 'east'",
    "select sum(s.people), avg(s.people), count(s.gdp), avg(s.gdp) from people p join states s on p.state = s.state",
    "select count(s.gdp), sum(s.gdp), count(*) from people p left join states s on p.state = s.state",
    "select sum(p.visits * s.people), count(*) from people p join states s on p.state = s.state",
    "select s.coastal, avg(visits * people) from people p join states s on p.state = s.state group by s.coastal",
    "select s.zip, sum(a.fare) from people p join states s using (state) join ages a on p.age = a.old group by 1",
    "select year(s.since) as y, count(*) from people p join states s on p.state = s.state group by y",
    "select count(*) from people p join states s on p.state = s.state and s.coastal",
    "select count(*) filter (where s.region like 'w%') * 1.0 / count(*) as w from people p join states s using (state)",
    "select s.region, median(p.age) from people p join states s on p.state = s.state group by s.region",
    "select sum(s.people) as n from (select * from people where age >= 18) p join states s on p.state = s.state",
]
FUNCTIONS = [
    "select sum(visits * 2), avg(visits + 1), sum(visits * 0.5 - 3), avg(-age) from people",
    "select avg(coalesce(visits, 0)), sum(coalesce(visits, 10)) from people",
    "select count_if(well), avg(case when well then 1.0 else 0 end), sum(if(age < 18, 1, 0)) from people",
    "select sum(well::int), avg(well::int) from people",
    "select sum(2 * visits) filter (where age >= 18), sum(age) from people",
    "select year(joined) as y, count(*) from people group by y",
    "select date_trunc('quarter', joined) as q, count(*) from people group by q",
    "select extract(isodow from joined) as d, count(*) from people group by d",
    "select count(*) from people where year(joined) = 2021 and month(joined) <= 6",
    "select lower(state) as s, count(*) from people group by s",
    "select count(*) from people where left(state, 1) in ('C', 'N') or state || 'x' = 'TXx'",
    "select floor(age / 10) * 10 as decade, count(*) from people group by decade",
    "select case state when 'CA' then 'west' else 'rest' end as k, count(*) from people group by k",
    "select if(age < 18, 'young', 'old') as k, avg(visits) from people group by k",
    "select count(*) from people where age % 2 = 1 and abs(age - 50) < 20",
    "select coalesce(visits, -1) as v, count(*) from people where age < 30 group by v",
    "select avg(year(joined)) from people",
    "select cast(age / 10.0 as decimal(3, 0)) as d, count(*) from people group by d",
    "select left(state, -1) as l, right(state, -1) as r, count(*) from people group by l, r",
    "select count(*) from people where state not like 'C%' and lower(state) not like 'n%'",
    "select sum(case when state not ilike 'c%' then 1 else 0 end) from people",
    "select count(*) from people where well is not true",
    "select count(*) filter (where well is not false), count(*) filter (where not (well is true)) from people",
    "select count(*) from people where (visits > 3) is not true and (visits = 5) is not false",
]


def plain(rows):
    """Rows as text and rounded numbers, in order."""

    def one(value):
        if value is None or isinstance(value, bool):
            return "(none)" if value is None else str(value).lower()
        try:
            return f"{float(value):.3f}"
        except (TypeError, ValueError):
            return str(value).lower()[:10]

    return sorted(tuple(map(one, row)) for row in rows)


@pytest.mark.parametrize("question", [*JOINS, *FUNCTIONS])
def test_the_answers_are_those_of_the_engine(question, people, states, engine):
    """Under a promise so weak that there is hardly any noise; groups without anybody are answered, and are 0."""
    asked = question.replace("well::int", "well")
    answers = ask(people, SHARP, asked, public={"states": states, "Ages": AGES})
    found = [(*labels, *(one.value for one in row)) for labels, row in zip(answers.groups, answers.found, strict=True)]
    if answers.groups[0]:
        found = [row for row in found if abs(row[-1]) > 0.1]
    width = len(found[0])
    columns = [one[0] for one in engine.execute(question).description]
    order = [*answers.select.groups, *answers.names]
    wanted = engine.execute(question).fetchall()
    if len(order) == width and set(order) == set(columns):
        wanted = [tuple(row[columns.index(name)] for name in order) for row in wanted]
    for one, two in zip(plain(found), plain(wanted), strict=True):
        for x, y in zip(one, two, strict=True):
            assert x == y or float(x) == pytest.approx(float(y), rel=2e-3, abs=0.02), question


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select count(*) from people p join visits v on p.id = v.id", "beside the question under that name"),
        ("select count(*) from people p join states s on p.state = s.region", "never are equal|no row for any value"),
        ("select count(*) from people p join states s on p.age = s.coastal", "never are equal"),
        ("select count(*) from people p join states s on p.state = s.nope", "it has state, region"),
        ("select count(*) from people p join states s on p.weight = s.people", "whose values the policy lists"),
        ("select count(*) from people p join twice t on p.state = t.state", "make one row for each state"),
        ("select count(*) from people p, states s", "write join s on"),
        ("select count(*) from people p join states s on p.age > s.people", "write join s on"),
        ("select count(*) from people p full join states s on p.state = s.state", "write join or left join"),
        ("select count(*) from people p join states p on p.state = p.state", "give one another name"),
        ("select median(s.people) from people p join states s on p.state = s.state", "group by s.people"),
        ("select sum(s.region) from people p join states s on p.state = s.state", "holds no numbers"),
        ("select sum(s.nope) from people p join states s on p.state = s.state", "has no column 'nope'"),
        ("select s.people from people p join states s on p.state = s.state", "is of a public table"),
        ("select q.x, count(*) from people p join states s on p.state = s.state group by q.x", "no table 'q'"),
        ("select zip, count(*) from p join states s using (state) join more using (state) group by zip", "of s.zip"),
        ("select sum(p.age * s.people * p.visits) from people p join states s using (state)", "its product with"),
        ("select floor(weight / 10) as w, count(*) from people group by w", "numbers of any size"),
        ("select age / 10 as d, count(*) from people group by d", "write floor"),
    ],
)  # fmt: skip
def test_what_is_refused(question, words, people, states):
    twice = {"state": ["CA", "CA"], "n": [1, 2]}
    public = {"states": states, "twice": twice, "more": {"state": ["CA"], "zip": ["1"]}}
    with pytest.raises(ArgumentError, match=words):
        ask(people, SOFT, question, public=public)


def test_the_key_is_what_is_spent(people, states):
    question = "select s.region, sum(s.people) from people p join states s on p.state = s.state group by s.region"
    answers = ask(people, SOFT, question, public={"states": states})
    assert str(answers.guarantee) == "ℓ₁(0.5·[x ≠ y] (state))-private"
    assert answers.groups == (("east",), ("south",), ("west",))
    asking = Asking.of(question, SOFT.askable, public={"states": PublicTable.of("states", states)})
    assert forecast(asking).expected[0].error_bar == pytest.approx(max(row[0].error_bar for row in answers.found))


def test_codes_keep_their_leading_zeros_and_frames_are_read(states):
    table = PublicTable.of("states", states)
    assert table.columns["zip"][0] == "02139"
    assert table.columns["gdp"][1] is None
    frame = pd.DataFrame({"k": ["a", "b"], "x": [0.1, float("nan")]})
    assert PublicTable.of("frame", frame).columns["x"] == (pytest.approx(0.1), None)
    with pytest.raises(ArgumentError, match="two columns of one name"):
        PublicTable.of("t", {"a": [1], "A": [2]})


def test_a_ledger_knows_which_public_table_it_was(people, tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(people, path)
    question = "select sum(s.n) from people p join s on p.state = s.state"
    tables = [{"state": ["CA", "NY", "TX", "ME"], "n": numbers} for numbers in ([1, 2, 3, 4], [5, 6, 7, 8])]
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("staff", policy_cap(SOFT, 3))
        answers = [Session(path, SOFT, ledger, public={"s": table}).ask(question) for table in (*tables, tables[0])]
        assert [one.again for one in answers] == [False, False, True]
        assert answers[0].found == answers[2].found


@pytest.mark.parametrize(
    "question",
    [
        "select count(*) from t join r on t.x = r.k and r.year = {year} where r.g = 'one'",
        "select r.g, sum(r.n) from t join r on t.x = r.k and r.year = {year} group by r.g",
        "select count(*) filter (where r.g = 'one') from t join r on t.{x} = r.k and r.year = 2023",
    ],
)
def test_a_ledger_knows_how_a_public_table_was_joined(question, tmp_path):
    """The same words about the joined table mean another row, where it is joined otherwise."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": ["a"] * 70 + ["b"] * 30, "y": ["b"] * 90 + ["a"] * 10}), path)
    columns = "".join(
        f'{name} = {{type = "category", values = ["a", "b"], epsilon = 1000, missing = "refuse"}}\n' for name in "xy"
    )
    policy = Policy.parse(f"format = 2\nrecords = 100\n[columns]\n{columns}")
    public = {"r": {"k": [*"abab"], "year": [2023, 2023, 2024, 2024], "g": ["one", "two"] * 2, "n": [1, 2, 5, 7]}}
    public["r"]["g"][2:] = ["two", "one"]
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.open_account("staff", policy_cap(policy, 9))
        session = Session(path, policy, ledger, public=public)
        asked = [question.format(year=year, x=x) for year, x in ((2023, "x"), (2024, "y"), (2023, "x"))]
        answers = [session.ask(one) for one in asked]
        assert [one.again for one in answers] == [False, False, True]
        assert abs(answers[0].found[0][0].value - answers[1].found[0][0].value) > 1
        with pytest.raises(ArgumentError, match="the same condition"):
            session.ask_together(asked[:2])


@pytest.mark.parametrize("keys", [20, 2000])
def test_keys_that_a_question_does_not_tell_apart_are_planned_for_once(keys):
    """However many there are, the noise is that of one key for each group."""
    policy = Policy.parse(
        f'format = 2\nrecords = 9\n[columns]\nk = {{type = "category", values = {list(range(keys))}, epsilon = 1, '
        'missing = "refuse"}\nage = {type = "integer", bounds = [0, 9], epsilon = 1, missing = "refuse"}\n'
    )
    values = list(range(keys))
    public = {"r": {"k": values, "g": [k % 5 for k in values], "n": [k % 10 for k in values]}}
    table = pa.table({"k": list(range(9)), "age": list(range(9))})
    joined = "from t join r on t.k = r.k"
    bars = []
    by_group = ["r.g, avg(t.age) @ group by r.g", "r.g, count(*) @ group by r.g"]
    for asked in ("count(*) @ where r.g = 1", "sum(r.n) @", *by_group):
        asking = Asking.of(f"select {asked.replace('@', joined)}", policy.askable, public=public_tables(public))
        assert len(asking.linear._axes["k"]) <= 10
        bars.append(ask(table, policy, asking.select.text, public=public).found[0][0].error_bar)
    assert [bars[0], bars[3]] == [3, pytest.approx(2 * np.log(20), rel=1e-3)]
    median = Asking.of(f"select r.g, median(t.age) {joined} group by r.g", policy.askable, public=public_tables(public))
    assert next(iter(median.percentiles.values())).leaving == 2
