"""Questions in SQL: the answers beside the truth, what they spend pair by pair, and what is refused."""

import datetime as dt
import itertools
import math
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest

from metricdp.errors import InputError, KindError, MetricDPError, ShapeError, UnsupportedMetricError
from metricdp.exact import seeded
from metricdp.metrics import records
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.select.asking_percentiles import percentile_of_counts
from metricdp.queries.select.query_policy import QueryPolicy
from metricdp.queries.single.aggregates import Percentile

UNIVERSE = """
[universe]
sex = { type = "category", values = ["F", "M", "X"] }
age = { type = "integer", bounds = [0, 99], width = 10, outside = "clamp" }
pay = { type = "integer", bounds = [-100, 5000], missing = "unknown" }
native = "boolean"
day = { type = "date", bounds = [2024-01-01, 2024-12-31], by = "month" }
"""
SHARP = """
[metric]
sex = 100000000
age = "100000000 absolute"
pay = { distance = "100000000 absolute", missing = 6000 }
native = 100000000
day = "100000000 dates"
"""
MILD = """
[metric]
sex = 0.5
age = "ln 2/5 absolute"
pay = { distance = "ln 2/500 absolute", missing = 1000 }
native = 1
day = "ln 2/7 dates"
"""
PUBLIC = "format = 1\nrecords = 400\n"
SECRET = "format = 1\ncapacity = 1000\nabsent = {}\n"


def table():
    draw = np.random.default_rng(6)
    rows = 400
    pay = pd.array(draw.integers(-100, 5001, rows), dtype="Int64")
    pay[draw.random(rows) < 0.1] = pd.NA
    return pd.DataFrame(
        {
            "sex": draw.choice(["F", "M"], rows),
            "age": draw.integers(0, 100, rows),
            "pay": pay,
            "native": draw.random(rows) < 0.7,
            "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(n)) for n in draw.integers(0, 366, rows)],
            "note": ["secret"] * rows,
        }
    )


PEOPLE = table()

QUESTIONS = [
    "select count(*) from people where sex = 'F'",
    "select count(*), count(pay), sum(pay), avg(pay) from people",
    "select count(*), sum(age), avg(age), avg(pay) from people group by sex",
    "select sum(pay), count(pay) from people where pay is not null and native = true group by sex, native",
    "select count(pay) from people group by native",
    "select count(*) from people where age >= 20 and (sex <> 'M' or not native = true) group by age",
    "select sum(age) from people where age < 50",
    "select count(*) from people where day between '2024-03-01' and date '2024-04-30'",
    "select count(*) from people where pay is null or age in (1)",
    "select count(*) from people where sex in ('F', 'M')",
]


def truth(question):
    """What DuckDB says, group by group."""
    if "in (1)" in question:
        question = question.replace("age in (1)", "false")
    groups = question.split("group by ")[1] if "group by" in question else None
    connection = duckdb.connect()
    connection.register("people", PEOPLE)
    if groups is None:
        return {(): connection.sql(question).fetchone()}
    chosen = question.replace("select ", f"select {groups}, ", 1)
    width = len(groups.split(","))
    return {row[:width]: row[width:] for row in connection.sql(chosen).fetchall()}


def key(question, labels):
    if "group by age" in question:
        return (int(labels[0].split("..")[0]),)
    return tuple({"true": True, "false": False}.get(label, label) for label in labels)


@pytest.mark.parametrize("size", [PUBLIC, SECRET.format(100_000_000)])
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_truth_where_nothing_is_hidden(question, size):
    if "in (1)" in question:
        question = question.replace("in (1)", "< 0")
    policy = QueryPolicy.parse(size + UNIVERSE + SHARP)
    answers = ask(PEOPLE, policy, question)
    known = truth(question)
    if "group by age" in question:
        merged = {}
        for (age,), (count,) in known.items():
            merged[(age // 10 * 10,)] = (merged.get((age // 10 * 10,), (0,))[0] + count,)
        known = merged
    nothing = tuple(0 for _ in answers.names)
    for labels, row in zip(answers.groups, answers.found, strict=True):
        wanted = known.get(key(question, labels), nothing)
        for name, found, value in zip(answers.names, row, wanted, strict=True):
            if name.startswith("avg") and not known.get(key(question, labels)):
                continue  # of nobody there is no average
            assert found.value == pytest.approx(float(value), abs=1e-3), (labels, name)
            assert found.error_bar < 1e-2
            assert found.tells


def test_groups_without_records_are_answered():
    answers = ask(PEOPLE, QueryPolicy.parse(PUBLIC + UNIVERSE + MILD), "select count(*) from t group by sex")
    assert answers.groups == (("F",), ("M",), ("X",))
    assert "X" not in set(PEOPLE["sex"])
    assert answers["count(*)"][2].error_bar > 5
    assert answers.found[2][0].value != 0


def test_groups_that_a_condition_excludes_are_not_there():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    asking = Asking.of("select count(*) where sex <> 'M' group by sex", policy)
    assert asking.division.labels == (("F",), ("X",))
    with pytest.raises(ShapeError, match="no record can satisfy"):
        Asking.of("select count(*) where age > 200", policy)


@pytest.mark.parametrize("size", [PUBLIC, SECRET.format(100_000_000)])
def test_percentiles_are_the_truth_where_nothing_is_hidden(size):
    policy = QueryPolicy.parse(size + UNIVERSE + SHARP)
    question = "select min(age), median(age), max(age), percentile(age, 0.9), median(pay), min(day) from t"
    for where, chosen in (("", PEOPLE), (" where sex = 'F' and native = true", None)):
        if chosen is None:
            chosen = PEOPLE[(PEOPLE["sex"] == "F") & PEOPLE["native"]]
        (row,) = ask(PEOPLE, policy, question + where).found
        ages, pay = chosen["age"].tolist(), [int(value) for value in chosen["pay"].dropna()]
        expected = [Percentile(p, 0, 99).evaluate(ages) for p in (0, 50, 100, 90)]
        assert [found.value for found in row[:4]] == expected
        assert row[4].value == Percentile(50, -100, 5000).evaluate(pay)
        assert row[5].value == min(chosen["day"])
        assert all(found.error_bar == 0 for found in row[:5])


def test_percentiles_by_group_and_cells_of_their_own_column():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + SHARP)
    answers = ask(PEOPLE, policy, "select median(age) from t where age >= 20 group by sex, age")
    for labels, (found,) in zip(answers.groups, answers.found, strict=True):
        low = int(labels[1].split("..")[0])
        inside = PEOPLE[(PEOPLE["sex"] == labels[0]) & PEOPLE["age"].between(low, low + 9)]["age"].tolist()
        assert found.value == (Percentile(50, 0, 99).evaluate(inside) if inside else 49), labels


def test_percentile_of_counts_is_that_of_the_records():
    draw = np.random.default_rng(1)
    for p, rows in itertools.product((0, 1, 33, 50, 90, 100), (0, 1, 2, 7, 50)):
        values = draw.integers(3, 12, rows).tolist()
        query = Percentile(p, 3, 11)
        counts = np.bincount(np.array(values, dtype=int) - 3, minlength=9)
        assert percentile_of_counts(query, range(3, 12), counts) == query.evaluate(values)


# What is promised


def test_what_is_promised_is_the_metric_of_the_columns_asked():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    answers = ask(PEOPLE, policy, "select count(*), median(age) from t where native = true group by sex")
    assert answers.columns == ("sex", "age", "native")
    assert answers.guarantee.metric == records(policy.record_metric(["sex", "age", "native"]))
    assert str(answers.guarantee) == "ℓ₁(0.5·[x ≠ y] (sex) + ln 2/5·|x − y| (age) + [x ≠ y] (native))-private"
    shares = {part.answers: part.shares for part in answers.parts}
    half = Fraction(1, 2)
    assert shares[("count(*)",)] == {"sex": half, "native": half}
    assert shares[("median(age)",)] == {"sex": half, "native": half, "age": 1}


def test_the_number_of_records_is_public_or_noisy():
    public = ask(PEOPLE, QueryPolicy.parse(PUBLIC + UNIVERSE + MILD), "select count(*) from t")
    assert public.found[0][0].value == 400
    assert public.guarantee is None
    assert public.parts[0].mechanism == "no noise"
    secret = ask(PEOPLE, QueryPolicy.parse(SECRET.format(0.5) + UNIVERSE + MILD), "select count(*) from t")
    assert secret.found[0][0].error_bar == 6
    assert secret.parts[0].optimal
    assert secret.guarantee is not None


def test_an_average_by_a_public_number_is_the_sum_by_it():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    (row,) = ask(PEOPLE, policy, "select sum(age), avg(age) from t").found
    assert row[1].value == pytest.approx(row[0].value / 400, rel=1e-12)
    assert row[1].error_bar == pytest.approx(row[0].error_bar / 400, rel=1e-9)


def test_the_error_bar_of_an_average_holds():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    mean = PEOPLE[PEOPLE["sex"] == "F"]["age"].mean()
    with seeded(7):
        found = [ask(PEOPLE, policy, "select avg(age) from t where sex = 'F'").found[0][0] for _ in range(16)]
    held = sum(abs(one.value - mean) <= one.error_bar for one in found)
    assert held >= 14
    assert all(one.error_bar < 40 for one in found)


def test_seeded_noise_says_so():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    with seeded(1):
        answers = ask(PEOPLE, policy, "select count(*) from t group by sex")
    with seeded(1):
        again = ask(PEOPLE, policy, "select count(*) from t group by sex")
    assert answers.found == again.found
    assert not answers.private
    assert "NOT private" in repr(answers)


def test_an_answer_that_says_nothing_is_marked():
    loose = MILD.replace("sex = 0.5", "sex = 0.0001").replace('age = "ln 2/5 absolute"', 'age = "0.0001 absolute"')
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + loose)
    with seeded(3):
        answers = ask(PEOPLE, policy, "select count(*), avg(age), median(age) from t where sex = 'F'")
    assert [found.tells for found in answers.found[0]] == [False, False, False]


def test_the_median_of_all_is_universally_optimal():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    answers = ask(PEOPLE, policy, "select median(age) from t")
    assert answers.parts[0].optimal
    assert "Theorem 10" in answers.parts[0].why
    assert answers.parts[0].mechanism == "truncated geometric noise"
    assert not ask(PEOPLE, policy, "select median(age) from t where sex = 'F'").parts[0].optimal
    known = QueryPolicy.parse(PUBLIC + UNIVERSE.replace(', missing = "unknown"', "") + MILD.replace("= 1000", "= 3000"))
    part = Asking.of("select median(pay) from t", known).percentiles["median(pay)"]
    assert part.of_all.optimal, "neither a missing value nor the cap is ever met"
    near = QueryPolicy.parse(PUBLIC + UNIVERSE.replace(', missing = "unknown"', "") + MILD)
    assert Asking.of("select median(pay) from t", near).percentiles["median(pay)"].of_all is None


def test_one_number_alone_gets_the_noise_of_paper_1():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    count = ask(PEOPLE, policy, "select count(*) from t where sex = 'F'")
    assert (count.parts[0].mechanism, count.parts[0].optimal) == ("truncated geometric noise", True)
    assert count.found[0][0].error_bar == 6
    assert float(count.found[0][0].value).is_integer()
    total = ask(PEOPLE, policy, "select avg(age) from t")
    assert (total.parts[0].mechanism, total.parts[0].optimal) == ("truncated geometric noise", True)
    assert "Theorems 11 and 12" in total.parts[0].why
    assert (total.found[0][0].value * 400) == pytest.approx(round(total.found[0][0].value * 400), abs=1e-9)
    two = ask(PEOPLE, policy, "select count(*), sum(age) from t where sex = 'F'")
    assert (two.parts[0].mechanism, two.parts[0].optimal) == ("Laplace noise", False)
    some = ask(PEOPLE, policy, "select sum(age) from t where sex = 'F'")
    assert some.parts[0].mechanism == "Laplace noise"


def test_columns_that_are_not_protected():
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD.replace("sex = 0.5", "sex = inf"))
    counts = ask(PEOPLE, policy, "select count(*) from t group by sex")
    assert [found.value for found in counts["count(*)"]] == [*PEOPLE["sex"].value_counts()[["F", "M"]], 0]
    assert dict(counts.meanings()) == {"sex": math.inf}
    assert counts.to_json()["meaning"] == [{"differ": "sex", "odds": "infinite"}]
    both = ask(PEOPLE, policy, "select count(*) from t where sex = 'F' or native = true")
    assert both.found[0][0].error_bar > 2
    assert not both.parts[0].optimal, "what is known of one column limits the answers"


def test_decimals_are_added_exactly(tmp_path):
    (tmp_path / "t.csv").write_text("sex,pay\nF,0.10\nF,0.20\nM,99.999999\n")
    policy = QueryPolicy.parse(
        'format = 1\nrecords = 3\n[universe]\nsex = { type = "category", values = ["F", "M"] }\n'
        'pay = { type = "number", bounds = [0, 100] }\n[metric]\nsex = 1e9\npay = "1e9 absolute"\n'
    )
    asking = Asking.of("select sum(pay) from t group by sex", policy)
    assert asking.linear.truth(tmp_path / "t.csv", None) == [Fraction(3, 10), Fraction("99.999999")]
    alone = Asking.of("select sum(pay) from t", policy)
    assert alone.linear.truth(tmp_path / "t.csv", None) == [Fraction("100.299999")]
    (tmp_path / "t.csv").write_text("sex,pay\nF,0.10\nF,0.20\nM,9.12345678\n")
    with pytest.raises(InputError, match="column 'pay'") as caught:
        alone.linear.truth(tmp_path / "t.csv", None)
    assert "9.12" not in str(caught.value)


# What is refused


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select sum(sex)", "column 'sex' holds no numbers"),
        ("select avg(day)", "holds no numbers"),
        ("select sum(native)", "holds no numbers"),
        ("select median(sex)", "integers and of dates"),
        ("select count(*) where age > 25", "cuts the cell 20..29"),
        ("select median(age) where age > 25", "cuts the cell 20..29"),
        ("select count(*) where sex > 'F'", "has no order"),
        ("select count(*) where sex = 'Z'", "none of its values"),
        ("select count(*) where native = 1", "True or False"),
        ("select count(*) where day > 'yesterday'", "days, such as"),
        ("select count(*) group by pay", "5,102 kinds of records"),
        ("select count(*) group by note", "no column 'note'"),
        ("select count(*), avg(age) group by age, sex, day, native", "group by fewer columns"),
    ],
)
def test_what_cannot_be_bounded(question, words):
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    with pytest.raises(MetricDPError, match=words.replace("(", r"\(")):
        Asking.of(question, policy)


@pytest.mark.parametrize(
    ("column", "metric", "question", "kind", "words"),
    [
        ('pay = { type = "number", bounds = [0, 9], width = 3 }', '"absolute"', "count(*) group by pay", None, "touch"),
        ('pay = { type = "number", bounds = [0, 9], width = 3 }', "1", "sum(pay) group by pay", KindError, "touch"),
        ('pay = { type = "number", bounds = [0, 9] }', '"absolute"', "median(pay)", KindError, "integers"),
        ('pay = { type = "integer", bounds = [0, 9], other = "o" }', "1", "sum(pay)", KindError, "clamp"),
        ('pay = { type = "integer", bounds = [0, 9], other = "o" }', "1", "max(pay)", KindError, "clamp"),
        ('pay = { type = "integer", bounds = [4, 4] }', "1", "max(pay)", KindError, "one value"),
        ('pay = { type = "category", values = ["a"], missing = "?" }', "1", "count(pay)", KindError, "is not null"),
        (
            'pay = { type = "integer", bounds = [0, 900] }',
            '{ metric = "smooth", base = { metric = "absolute" }, threshold = 3, epsilon = 1 }',
            "sum(pay)",
            UnsupportedMetricError,
            "use absolute",
        ),
    ],
)
def test_columns_that_cannot_be_asked_so(column, metric, question, kind, words):
    policy = QueryPolicy.parse(f"format = 1\nrecords = 3\n[universe]\n{column}\n[metric]\npay = {metric}\n")
    with pytest.raises(kind or MetricDPError, match=words):
        Asking.of(f"select {question}", policy)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sex": "QQQ"}, "column 'sex'"),
        ({"pay": 70707}, "column 'pay'"),
        ({"native": None}, "column 'native'"),
        ({"day": dt.date(1999, 7, 7)}, "column 'day'"),
    ],
)
def test_values_outside_are_refused_and_never_told(change, words):
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + MILD)
    broken = PEOPLE.astype({"native": "object"})
    (name, value) = next(iter(change.items()))
    broken.loc[41, name] = value
    function = "sum(pay)" if name == "pay" else "count(*)"
    question = f"select {function} from t" + ("" if name == "pay" else f" group by {name}")
    with pytest.raises(InputError, match=words) as caught:
        ask(broken, policy, question)
    for secret in ("QQQ", "70707", "1999"):
        assert secret not in str(caught.value)
    ask(broken, policy, "select count(*) from t where age >= 20")  # of other columns nothing is read


def test_nan_is_a_missing_value_or_refused():
    frame = PEOPLE.assign(pay=PEOPLE["pay"].astype("float64"))
    assert frame["pay"].isna().sum() > 10
    policy = QueryPolicy.parse(PUBLIC + UNIVERSE + SHARP)
    (row,) = ask(frame, policy, "select sum(pay), count(pay) from t").found
    assert row[0].value == pytest.approx(frame["pay"].sum(), abs=1e-3)
    assert row[1].value == pytest.approx(frame["pay"].count(), abs=1e-3)
    strict = QueryPolicy.parse(PUBLIC + UNIVERSE.replace(', missing = "unknown"', "") + SHARP)
    for question in ("select sum(pay) from t", "select count(*) from t where pay > 7", "select max(pay) from t"):
        with pytest.raises(InputError, match="column 'pay'"):
            ask(frame, strict, question)


@pytest.mark.parametrize("question", ["select count(*)", "select count(*) group by sex", "select median(age)"])
def test_another_number_of_records_is_refused_without_telling_it(question):
    policy = QueryPolicy.parse(PUBLIC.replace("400", "401") + UNIVERSE + MILD)
    with pytest.raises(InputError, match="number of records") as caught:
        ask(PEOPLE, policy, question)
    assert "400" not in str(caught.value)
    tight = QueryPolicy.parse(SECRET.format(1).replace("1000", "399") + UNIVERSE + MILD)
    with pytest.raises(InputError, match="more records") as caught:
        ask(PEOPLE, tight, question)
    assert "400" not in str(caught.value)
