"""Questions in SQL: the answers beside the truth, what they spend pair by pair, and what is refused."""

import datetime as dt
import itertools
import math
import re
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import (
    ArgumentError,
    DataError,
    MetricDPError,
    OutOfDomainError,
    PolicyError,
    UnsupportedMetricError,
)
from metricdp.exact import seeded
from metricdp.metrics import records
from metricdp.policies import Policy
from metricdp.policies.cells import ordered
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.select.percentiles import percentile_of_counts
from metricdp.queries.select.stored_answers import stored, taken_up
from metricdp.queries.single.aggregates import Percentile
from metricdp.queries.universes.universe import Universe
from tests.attacks.ranks import tally_of

COLUMNS = """
[columns]
sex = {{type = "category", values = ["F", "M", "X"], missing = "refuse", {sex}}}
age = {{type = "integer", bounds = [0, 99], outside = "clamp", missing = "refuse", count_by = 10, {age}}}
pay = {{type = "integer", bounds = [-100, 5000], {pay}}}
native = {{type = "boolean", missing = "refuse", {native}}}
day = {{type = "date", bounds = [2024-01-01, 2024-12-31], missing = "refuse", count_by = "month", {day}}}
"""
UNKNOWN = 'missing = "secret", missing_distance = {}, count_by = {{missing = "unknown"}}'
SHARP = {
    "sex": "epsilon = 100000000",
    "age": "epsilon = 100000000",
    "pay": f"epsilon = 100000000, {UNKNOWN.format(6000)}",
    "native": "epsilon = 100000000",
    "day": "epsilon = 100000000",
}
MILD = {
    "sex": "epsilon = 0.5",
    "age": "within = 5",
    "pay": f"within = 500, {UNKNOWN.format(1000)}",
    "native": "epsilon = 1",
    "day": 'within = "7 days"',
}
PUBLIC = "format = 2\nrecords = 400\n"
SECRET = "format = 2\ncapacity = 1000\nabsent = {}\n"


def policy_of(size, levels, **others):
    return Policy.parse(size + COLUMNS.format(**levels | others))


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
    policy = policy_of(size, SHARP)
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
            assert found.value == pytest.approx(float(value), abs=1e-2), (labels, name)
            assert found.error_bar < 1e-2
            assert found.tells


def test_groups_without_records_are_answered():
    answers = ask(PEOPLE, policy_of(PUBLIC, MILD), "select count(*) from t group by sex")
    assert answers.groups == (("F",), ("M",), ("X",))
    assert "X" not in set(PEOPLE["sex"])
    assert answers["count(*)"][2].error_bar > 5
    assert answers.found[2][0].value != 0


def test_groups_that_a_condition_excludes_are_not_there():
    policy = policy_of(PUBLIC, MILD).askable
    asking = Asking.of("select count(*) where sex <> 'M' group by sex", policy)
    assert asking.division.labels == (("F",), ("X",))
    with pytest.raises(ArgumentError, match="no record can satisfy"):
        Asking.of("select count(*) where age > 200", policy)


@pytest.mark.parametrize("size", [PUBLIC, SECRET.format(100_000_000)])
def test_percentiles_are_the_truth_where_nothing_is_hidden(size):
    policy = policy_of(size, SHARP)
    question = "select min(age), median(age), max(age), percentile(age, 0.9), median(pay), min(day) from t"
    for where, chosen in (("", PEOPLE), (" where sex = 'F' and native = true", None)):
        if chosen is None:
            chosen = PEOPLE[(PEOPLE["sex"] == "F") & PEOPLE["native"]]
        (row,) = ask(PEOPLE, policy, question + where).found
        ages, pay = chosen["age"].tolist(), [int(value) for value in chosen["pay"].dropna()]
        expected = [Percentile(p, (0, 99)).evaluate(ages) for p in (0, 50, 100, 90)]
        assert [found.value for found in row[:4]] == expected
        assert row[4].value == Percentile(50, (-100, 5000)).evaluate(pay)
        assert row[5].value == min(chosen["day"])
        assert all(found.error_bar == 0 for found in row[:5])


def test_percentiles_by_group_and_cells_of_their_own_column():
    policy = policy_of(PUBLIC, SHARP)
    answers = ask(PEOPLE, policy, "select median(age) from t where age >= 20 group by sex, age")
    for labels, (found,) in zip(answers.groups, answers.found, strict=True):
        low = int(labels[1].split("..")[0])
        inside = PEOPLE[(PEOPLE["sex"] == labels[0]) & PEOPLE["age"].between(low, low + 9)]["age"].tolist()
        assert found.value == (Percentile(50, (0, 99)).evaluate(inside) if inside else low + 4), labels


def test_percentile_of_counts_is_that_of_the_records():
    draw = np.random.default_rng(1)
    for p, rows in itertools.product((0, 1, 33, 50, 90, 100), (0, 1, 2, 7, 50)):
        values = draw.integers(3, 12, rows).tolist()
        query = Percentile(p, (3, 11))
        place = percentile_of_counts(query, tally_of([value - 3 for value in values]))
        assert (query.middle if place is None else 3 + place) == query.evaluate(values)


# What is promised


def test_what_is_promised_is_the_metric_of_the_columns_asked():
    policy = policy_of(PUBLIC, MILD)
    answers = ask(PEOPLE, policy, "select count(*), median(age) from t where native = true group by sex")
    assert answers.columns == ("sex", "age", "native")
    assert answers.guarantee.metric == records(policy.askable.record_metric(["sex", "age", "native"]))
    assert str(answers.guarantee) == "ℓ₁(0.5·[x ≠ y] (sex) + ln 2/5·|x − y| (age) + [x ≠ y] (native))-private"
    shares = {part.answers: part.shares for part in answers.parts}
    half = Fraction(1, 2)
    assert shares[("count(*)",)] == {"sex": half, "native": half}
    assert shares[("median(age)",)] == {"sex": half, "native": half, "age": 1}


def test_the_number_of_records_is_public_or_noisy():
    public = ask(PEOPLE, policy_of(PUBLIC, MILD), "select count(*) from t")
    assert public.found[0][0].value == 400
    assert public.guarantee is None
    assert public.parts[0].mechanism == "no noise"
    secret = ask(PEOPLE, policy_of(SECRET.format(0.5), MILD), "select count(*) from t")
    assert secret.found[0][0].error_bar == 6
    assert secret.parts[0].optimal
    assert secret.guarantee is not None


def test_an_average_by_a_public_number_is_the_sum_by_it():
    policy = policy_of(PUBLIC, MILD)
    (row,) = ask(PEOPLE, policy, "select sum(age), avg(age) from t").found
    assert row[1].value == pytest.approx(row[0].value / 400, rel=1e-12)
    assert row[1].error_bar == pytest.approx(row[0].error_bar / 400, rel=1e-9)


def test_the_error_bar_of_an_average_holds():
    policy = policy_of(PUBLIC, MILD)
    mean = PEOPLE[PEOPLE["sex"] == "F"]["age"].mean()
    with seeded(7):
        found = [ask(PEOPLE, policy, "select avg(age) from t where sex = 'F'").found[0][0] for _ in range(16)]
    held = sum(abs(one.value - mean) <= one.error_bar for one in found)
    assert held >= 14
    assert all(one.error_bar < 40 for one in found)


def test_seeded_noise_says_so():
    policy = policy_of(PUBLIC, MILD)
    with seeded(1):
        answers = ask(PEOPLE, policy, "select count(*) from t group by sex")
    with seeded(1):
        again = ask(PEOPLE, policy, "select count(*) from t group by sex")
    assert answers.found == again.found
    assert not answers.private
    assert "NOT private" in repr(answers)


def test_an_answer_that_says_nothing_is_marked():
    policy = policy_of(PUBLIC, MILD, sex="epsilon = 0.0001", age="epsilon = 0.0001")
    with seeded(3):
        answers = ask(PEOPLE, policy, "select count(*), avg(age), median(age) from t where sex = 'F'")
    assert [found.tells for found in answers.found[0]] == [False, False, False]


def test_the_median_of_all_is_universally_optimal():
    policy, few = policy_of(PUBLIC, MILD), policy_of("format = 2\nrecords = 2\n", MILD, age="epsilon = 0.2")
    answers = ask(PEOPLE[:2], few, "select median(age) from t")
    assert answers.parts[0].optimal
    assert "Theorem 10" in answers.parts[0].why
    assert answers.parts[0].mechanism == "truncated geometric noise"
    many = ask(PEOPLE, policy, "select median(age) from t").parts[0]
    assert (many.mechanism, many.optimal) == ("drawn by rank (permute and flip)", False)
    assert not ask(PEOPLE, policy, "select median(age) from t where sex = 'F'").parts[0].optimal
    capped = 'missing = "refuse", metric = {{metric = "capped", base = {{metric = "absolute"}}, cap = {}}}'
    known = policy_of(PUBLIC, MILD, pay=capped.format(6000))
    part = Asking.of("select median(pay) from t", known.askable).percentiles["median(pay)"]
    assert part.of_all.optimal, "neither a missing value nor the cap is ever met"
    near = policy_of(PUBLIC, MILD, pay=capped.format(2000))
    assert Asking.of("select median(pay) from t", near.askable).percentiles["median(pay)"].of_all is None


def test_one_number_alone_gets_the_noise_of_paper_1():
    policy = policy_of(PUBLIC, MILD)
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
    policy = policy_of(PUBLIC, MILD, sex='release = "keep"')
    counts = ask(PEOPLE, policy, "select count(*) from t group by sex")
    assert [found.value for found in counts["count(*)"]] == [*PEOPLE["sex"].value_counts()[["F", "M"]], 0]
    assert dict(counts.meanings()) == {"sex": math.inf}
    assert counts.to_json()["meaning"] == [{"differ": "sex", "odds": "infinite"}]
    both = ask(PEOPLE, policy, "select count(*) from t where sex = 'F' or native = true")
    assert both.found[0][0].error_bar > 2
    assert not both.parts[0].optimal, "what is known of one column limits the answers"


def test_decimals_are_added_exactly(tmp_path):
    (tmp_path / "t.csv").write_text("sex,pay\nF,0.10\nF,0.20\nM,99.999999\n")
    policy = Policy.parse(
        "format = 2\nrecords = 3\n[columns]\n"
        'sex = {type = "category", values = ["F", "M"], epsilon = 1e9, missing = "refuse"}\n'
        'pay = {type = "number", bounds = [0, 100], epsilon = 1e9, missing = "refuse"}\n'
    ).askable
    asking = Asking.of("select sum(pay) from t group by sex", policy)
    assert asking.linear.truth(tmp_path / "t.csv", None) == [Fraction(3, 10), Fraction("99.999999")]
    alone = Asking.of("select sum(pay) from t", policy)
    assert alone.linear.truth(tmp_path / "t.csv", None) == [Fraction("100.299999")]
    (tmp_path / "t.csv").write_text("sex,pay\nF,0.10\nF,0.20\nM,9.12345678\n")
    with pytest.raises(DataError, match="column 'pay'") as caught:
        alone.linear.truth(tmp_path / "t.csv", None)
    assert "9.12" not in str(caught.value)


# What is refused


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select sum(sex)", "column 'sex' holds no numbers"),
        ("select sum(day)", "day"),
        ("select sum(sex)", "holds no numbers"),
        ("select median(sex)", "integers, numbers and dates"),
        ("select count(*) where age > 25", "cuts the cell 20..29"),
        ("select median(age) where age > 25", "cuts the cell 20..29"),
        ("select count(*) where sex > 'F'", "has no order"),
        ("select count(*) where sex = 'Z'", "none of its values"),
        ("select count(*) where native = 1", "True or False"),
        ("select count(*) where day > 'yesterday'", "days, such as"),
        ("select count(*) group by pay, age, sex, day", "kinds of records apart, and 1,000,000 is the most"),
        ("select count(*) group by note", "no column 'note'"),
    ],
)
def test_what_cannot_be_bounded(question, words):
    policy = policy_of(PUBLIC, MILD)
    with pytest.raises(MetricDPError, match=words.replace("(", r"\(")):
        Asking.of(question, policy.askable)


OTHER = 'type = "integer", metric = "1 discrete", count_by = {other = "o"}'


@pytest.mark.parametrize(
    ("column", "question", "kind", "words"),
    [
        ('type = "number", bounds = [0, 9], count_by = 3, epsilon = 1', "count(*) group by pay", None, "touch"),
        (
            'type = "number", bounds = [0, 9], count_by = 3, metric = "1 discrete"',
            "sum(pay) group by pay",
            ArgumentError,
            "touch",
        ),
        ('type = "number", bounds = [0, 9], epsilon = 1', "median(pay)", ArgumentError, "resolution"),
        (f"{OTHER}, bounds = [0, 9]", "sum(pay)", ArgumentError, "clamp"),
        (f"{OTHER}, bounds = [0, 9]", "max(pay)", ArgumentError, "clamp"),
        (
            'type = "integer", bounds = [0, 900], metric = {metric = "smooth", base = {metric = "absolute"}, '
            "threshold = 3, epsilon = 1}",
            "sum(pay)",
            UnsupportedMetricError,
            "use absolute",
        ),
    ],
)
def test_columns_that_cannot_be_asked_so(column, question, kind, words):
    policy = Policy.parse(f'format = 2\nrecords = 3\n[columns]\npay = {{{column}, missing = "refuse"}}\n')
    with pytest.raises(kind or MetricDPError, match=words):
        Asking.of(f"select {question}", policy.askable)


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
    policy = policy_of(PUBLIC, MILD)
    broken = PEOPLE.astype({"native": "object"})
    (name, value) = next(iter(change.items()))
    broken.loc[41, name] = value
    function = "sum(pay)" if name == "pay" else "count(*)"
    question = f"select {function} from t" + ("" if name == "pay" else f" group by {name}")
    with pytest.raises(DataError, match=words) as caught:
        ask(broken, policy, question)
    for secret in ("QQQ", "70707", "1999"):
        assert secret not in str(caught.value)
    ask(broken, policy, "select count(*) from t where age >= 20")  # of other columns nothing is read


def test_nan_is_a_missing_value_or_refused():
    frame = PEOPLE.assign(pay=PEOPLE["pay"].astype("float64"))
    assert frame["pay"].isna().sum() > 10
    policy = policy_of(PUBLIC, SHARP)
    (row,) = ask(frame, policy, "select sum(pay), count(pay) from t").found
    assert row[0].value == pytest.approx(frame["pay"].sum(), abs=1e-3)
    assert row[1].value == pytest.approx(frame["pay"].count(), abs=1e-3)
    strict = policy_of(PUBLIC, SHARP, pay='epsilon = 100000000, missing = "refuse"')
    for question in ("select sum(pay) from t", "select count(*) from t where pay > 7", "select max(pay) from t"):
        with pytest.raises(DataError, match="column 'pay'"):
            ask(frame, strict, question)


@pytest.mark.parametrize("question", ["select count(*)", "select count(*) group by sex", "select median(age)"])
def test_another_number_of_records_is_refused_without_telling_it(question):
    policy = policy_of(PUBLIC.replace("400", "401"), MILD)
    with pytest.raises(DataError, match="number of records") as caught:
        ask(PEOPLE, policy, question)
    assert "400" not in str(caught.value)
    tight = policy_of(SECRET.format(1).replace("1000", "399"), MILD)
    with pytest.raises(DataError, match="more records") as caught:
        ask(PEOPLE, tight, question)
    assert "400" not in str(caught.value)


SEXES = 'format = 2\n%s\n[columns]\nsex = {type = "category", values = ["F"], epsilon = 1, missing = "refuse"}\n'
SEXES += 'age = {type = "integer", epsilon = 1, missing = "refuse", %s}\n'


@pytest.mark.parametrize("size", ["records = 3", "capacity = 9\nabsent = 1000"])
@pytest.mark.parametrize("container", ["arrow", "pandas", "polars", "lazy", "parquet", "csv"])
def test_a_count_of_all_records_reads_no_column(size, container, tmp_path):
    """It failed on values that the policy has no cell for, though it does not depend on any."""
    polars = pytest.importorskip("polars")
    table = pa.table({"sex": ["?", None, "!"], "age": [-5, 700, None]})
    if container == "parquet":
        source = tmp_path / "people.parquet"
        pq.write_table(table, source)
    elif container == "csv":
        source = tmp_path / "people.csv"
        source.write_bytes(b"sex,age\n?,-5\n,x\n!,\n")
    else:
        frame = polars.from_arrow(table)
        source = {"arrow": table, "pandas": table.to_pandas(), "polars": frame, "lazy": frame.lazy()}[container]
    policy = Policy.parse(SEXES % (size, "bounds = [0, 9]"))
    for question in ("select count(*) from people", "select count(age) from people"):
        assert ask(source, policy, question)[question[7:-12]][0].value == 3
    with pytest.raises(DataError):
        ask(source, policy, "select count(*) from people where sex = 'F'")
    if "records" in size:
        with pytest.raises(OutOfDomainError, match="number of records"):
            ask(source, Policy.parse(SEXES % ("records = 4", "bounds = [0, 9]")), "select count(*) from people")


def test_whether_a_value_is_there_is_not_asked_where_nobody_can_tell():
    policy = Policy.parse(
        "format = 2\nrecords = 2\n[columns]\n"
        'w = {type = "category", values = ["a", "b"], epsilon = 1, count_by = {missing = "b"}}\n'
        'n = {type = "integer", bounds = [0, 9], metric = "1 discrete", '
        'count_by = {other = "both", missing = "both"}}\n'
    )
    for question in (
        "select count(w) from t group by w",
        "select count(n) from t",
        "select count(n) from t group by n",
    ):
        with pytest.raises(ArgumentError, match="nobody can tell which are there"):
            Asking.of(question, policy.askable)


def test_no_claim_is_made_for_an_answer_that_tells_nothing():
    """Universally optimal is said together with what it is optimal among, and never beside a question mark."""
    sharp, dull = (
        Policy.parse(
            "format = 2\nrecords = 3\n"
            f'columns.age = {{type = "integer", bounds = [0, 99], epsilon = {level}, missing = "refuse"}}\n'
        )
        for level in ("1", "0.0001")
    )
    people = pa.table({"age": [10, 50, 90]})
    known, unknown = (ask(people, policy, "select median(age) from t") for policy in (sharp, dull))
    assert known.found[0][0].tells
    assert known.parts[0].optimal
    assert "no other noise on the true answer that keeps this promise is better" in known.parts[0].why
    assert not unknown.found[0][0].tells
    assert not unknown.parts[0].optimal
    assert "optimal" not in unknown.parts[0].why


def test_answers_as_frames():
    answers = ask(PEOPLE, policy_of(PUBLIC, SHARP), "select count(*) as n, median(day) as day from t group by sex")
    header, rows = answers.to_rows()
    frame = answers.to_pandas()
    assert list(frame.columns) == header
    assert answers.to_arrow().to_pylist() == [dict(zip(header, row, strict=True)) for row in rows]
    assert answers.to_polars().shape == frame.shape


def test_only_the_groups_that_are_kept_are_shown():
    """By their noisy answers; what is stored are all of them, so that another question can take them up."""
    policy = policy_of(PUBLIC, SHARP)
    counts = PEOPLE["sex"].value_counts()
    text = "select sex, count(*) as n, 2 * count(*) as twice from t group by sex having n > 3 order by n desc limit 1"
    answers = ask(PEOPLE, policy, text)
    ((label,),) = answers.groups
    assert label == counts.index[0]
    assert [round(one.value) for one in answers.found[0]] == [counts.iloc[0], 2 * counts.iloc[0]]
    assert answers.found[0][1].error_bar == pytest.approx(2 * answers.found[0][0].error_bar)
    labels, rows = answers.asked
    assert (len(labels), len(rows[0])) == (len(ask(PEOPLE, policy, "select count(*) from t group by sex").groups), 1)
    stored_tree = stored(answers)
    assert len(stored_tree["groups"]) == len(labels)
    assert taken_up(Asking.of(text, policy.askable), stored_tree).found == answers.found


def test_conditions_of_single_answers_and_bands():
    policy = policy_of(PUBLIC, SHARP)
    text = """select case when age < 30 then 'young' else 'old' end as band, count(*) as n,
    sum(case when sex = 'F' then 1 else 0 end) as women, count(*) filter (where sex = 'M') as men from t group by 1"""
    answers = ask(PEOPLE, policy, text)
    young = PEOPLE["age"] < 30
    for (band,), row in zip(answers.groups, answers.found, strict=True):
        part = PEOPLE[young if band == "young" else ~young]
        assert [round(one.value) for one in row] == [len(part), (part["sex"] == "F").sum(), (part["sex"] == "M").sum()]


def test_numbers_of_the_same_name_are_not_mixed_up():
    """Long texts are shortened, and a name by 'as' may be the text of another number."""
    long = "sum(case when age >= 18 and age < 60 and sex = 'F' and age <> 30 and age <> {} then 1 else 0 end)"
    policy = Policy.parse(
        "format = 2\nrecords = 4\n[columns]\n"
        'sex = {type = "category", values = ["F", "M"], epsilon = 10000, missing = "refuse"}\n'
        'age = {type = "integer", bounds = [0, 99], metric = "10000 discrete", missing = "refuse"}\n'
    )
    people = pa.table({"sex": ["F", "F", "F", "M"], "age": [20, 31, 32, 33]})
    answers = ask(people, policy, f"select {long.format(31)} + 0 as a, {long.format(99)} + 0 as b from people")
    assert [round(one.value) for one in answers.found[0]] == [2, 3]
    answers = ask(people, policy, "select sum(age) as \"count(*)\", count(*) + 0 as n from people where sex = 'F'")
    assert [round(one.value) for one in answers.found[0]] == [83, 3]


@pytest.mark.parametrize(
    ("computed", "wide"),
    [
        ("avg(x) + avg(y)", True),
        ("(avg(x) + avg(y) + avg(z)) / 3", False),
        ("avg(x) - avg(z)", True),
        ("avg(x) - avg(y)", False),
        ("sum(x) / 10 + avg(x)", True),
        ("count(*) + avg(z)", True),
        ("count(*) * avg(x)", False),
    ],
)
def test_error_bars_of_what_shares_a_noisy_number(computed, wide):
    """Averages by one noisy count are off together: so far as that moves the result one way, their bars add up."""
    columns = "".join(f'{name} = {{type = "integer", bounds = [0, 100], missing = "refuse"}}\n' for name in "xyz")
    size = 'capacity = 5000\nstandard = {epsilon = 1, neighbours = "add or remove"}'
    table = pa.table({"x": [95] * 900, "y": [90] * 900, "z": [5] * 900})
    names = re.findall(r"\w+\([\w*]+\)", computed)
    asked = f"select {computed} as found, {', '.join(names)} from t"
    (found,) = ask(table, Policy.parse(f"format = 2\n{size}\n[columns]\n{columns}"), asked).found
    bars = [one.error_bar for one in found]
    if wide:
        bars[1] /= 10 if computed.startswith("sum") else 1
        assert bars[0] == pytest.approx(sum(bars[1:]))
    else:
        by = 1 / 3 if "/ 3" in computed else 1
        moved = bars[1:] if "*" not in computed[8:] else [bars[1] * found[2].value, bars[2] * found[1].value]
        assert bars[0] < 0.95 * by * sum(moved)


def test_a_count_that_is_public_is_no_noise_to_share():
    columns = "".join(
        f'{name} = {{type = "integer", bounds = [0, 100], epsilon = 1, missing = "refuse"}}\n' for name in "xy"
    )
    table = pa.table({"x": [95] * 900, "y": [90] * 900})
    policy = Policy.parse(f"format = 2\nrecords = 900\n[columns]\n{columns}")
    (found,) = ask(table, policy, "select avg(x) + avg(y) as both, avg(x), avg(y) from t").found
    assert found[0].error_bar < 0.95 * (found[1].error_bar + found[2].error_bar)


COUNTED = """
format = 2
records = 6
[columns]
word = {type = "category", values = ["a", "b"], epsilon = 1000, missing = "secret", count_by = {other = "else"}}
born = {type = "date", bounds = [2024-01-01, 2024-01-31], metric = "1000 dates", missing = "secret"}
sure = {type = "boolean", epsilon = 1000, missing = "secret"}
whole = {type = "category", values = ["a", "b"], epsilon = 1000, missing = "refuse"}
"""


@pytest.mark.parametrize("rest", ["", " where whole = 'a'", " group by whole"])
def test_values_that_are_there_are_counted_whatever_they_are(rest):
    """count(x) of words, days and truth values was refused; a value outside of those declared is there."""
    day = dt.date(2024, 1, 2)
    table = pa.table(
        {
            "word": ["a", "z", None, "b", None, "a"],
            "born": [day, None, day, None, None, day],
            "sure": [True, False, None, None, None, False],
            "whole": ["a", "a", "a", "b", "b", "b"],
        }
    )
    question = f"select count(word) as n, count(born) as m, count(sure) as k, count(whole) as w from t{rest}"
    found = ask(table, Policy.parse(COUNTED), question)
    wanted = {"": [(4, 3, 3, 6)], " where whole = 'a'": [(2, 2, 2, 3)]}.get(rest, [(2, 2, 2, 3), (2, 1, 1, 3)])
    assert [tuple(round(one.value) for one in row) for row in found.found] == wanted
    assert "word" in found.columns


def test_of_nobody_there_is_no_average():
    """450 ± 0 was the average of nobody."""
    table = pa.table({"word": ["a"] * 6, "n": [7] * 6})
    policy = Policy.parse(
        """
format = 2
records = 6
columns.word = {type = "category", values = ["a", "b"], epsilon = 1000, missing = "refuse"}
columns.n = {type = "integer", bounds = [0, 10], metric = "1000 discrete", missing = "refuse"}
"""
    )
    some, none = ask(table, policy, "select avg(n), var_pop(n) from t group by word").found
    assert [one.tells for one in some] == [True, True]
    assert [one.tells for one in none] == [False, False]


@pytest.mark.parametrize(("offset", "zone"), [("", None), ("Z", "Asia/Tokyo")])
def test_moments_in_text_are_of_their_days(tmp_path, offset, zone):
    (tmp_path / "t.csv").write_text(f"at\n2024-03-01T12:00:00{offset}\n2024-03-02 23:30:00{offset}\n")
    cut = "" if zone is None else f', count_by = {{zone = "{zone}"}}'
    policy = Policy.parse(f"""
format = 2
records = 2
columns.at = {{type = "time", bounds = [2024-03-01, 2024-03-04], metric = "1 discrete", missing = "refuse"{cut}}}
csv.zoned = {"false" if zone is None else "true"}
""")
    asking = Asking.of("select count(*) from t where at >= date '2024-03-03'", policy.askable)
    assert asking.linear.truth(tmp_path / "t.csv", None) == [0 if zone is None else 1]
    (median,) = Asking.of("select median(at) from t", policy.askable).percentiles.values()
    assert [tally.values.tolist() for tally in median.tallies(tmp_path / "t.csv", None)] == [
        [0, 1 if zone is None else 2]
    ]


@pytest.mark.parametrize("metric", ['metric = "1 discrete"', "within = 3"])
@pytest.mark.parametrize(
    "question",
    [
        "select count(*), sum(x) from t",
        "select count(*) from t where x > 2 and x <> 5",
        "select count(*) from t where x between 1.5 and 4 or x is null",
        "select sum(x), count(x) from t where x in (0, 3, 9)",
        "select case when x < 3 then 'low' when x < 7 then 'mid' else 'high' end b, count(*) from t group by b",
        "select avg(case when x >= 4 then x end) from t",
        "select median(x) from t where x < 6",
    ],
)
def test_integers_too_many_to_list_are_cut_where_they_are_compared(monkeypatch, question, metric):
    """With the same noise and the same truth as where each is a cell; cents could not be asked."""
    text = f"""
format = 2
records = 12
columns.x = {{type = "integer", bounds = [0, 9], {metric}, missing = "secret", missing_distance = 4}}
"""
    table = pa.table({"x": [0, 1, 1, 2, 3, 5, 5, 7, 8, 9, None, 9]})
    found = []
    for most in (ordered.MOST_CELLS, 5):
        monkeypatch.setattr(ordered, "MOST_CELLS", most)
        asking = Asking.of(question, Policy.parse(text).askable)
        linear = [] if asking.linear is None else [asking.linear.allocate().scales, asking.linear.truth(table, None)]
        percentiles = [(one.truth(table, None), one.leaving, one.reach) for one in asking.percentiles.values()]
        found.append((asking.division.labels, linear, percentiles))
    assert found[0] == found[1]


def test_integers_too_many_to_list_are_no_groups():
    policy = Policy.parse("""
format = 2
records = 9
columns.pay = {type = "integer", bounds = [0, 5000000], metric = "1 discrete", missing = "refuse"}
""")
    for question in ("select pay, count(*) from t group by pay", "select count(distinct pay) from t"):
        with pytest.raises(ArgumentError, match="count_by"):
            Asking.of(question, policy.askable)
    with pytest.raises(PolicyError, match="count_by = 1000"):
        Universe([policy.askable.column("pay")])
    with pytest.raises(ArgumentError, match="compared with numbers"):
        Asking.of("select count(*) from t where pay > 'much'", policy.askable)


def test_totals_over_groups_cost_nothing():
    policy = Policy.parse("""
format = 2
records = 10
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 9000, missing = "refuse"}
age = {type = "integer", bounds = [0, 3], metric = "9000 discrete", missing = "refuse"}
""")
    table = pa.table({"sex": ["F"] * 6 + ["M"] * 4, "age": [0, 0, 1, 1, 1, 3, 0, 2, 2, 2]})
    question = "select sex, age, count(*) / sum(count(*)) over ({}) as part from t group by sex, age {}"
    for over, more, parts in [
        ("", "", [0.2, 0.3, 0, 0.1, 0.1, 0, 0.3, 0]),
        ("partition by sex", "", [2 / 6, 3 / 6, 0, 1 / 6, 1 / 4, 0, 3 / 4, 0]),
        ("", "having count(*) > 1.5 order by part desc limit 2", [3 / 8, 3 / 8]),
    ]:
        asking = Asking.of(question.format(over, more), policy.askable)
        plain = Asking.of("select sex, age, count(*) from t group by sex, age", policy.askable)
        assert asking.guarantee == plain.guarantee
        answers = asking.answer(table)
        assert [one.value for one in answers["part"]] == pytest.approx(parts, abs=0.01)
        assert taken_up(asking, stored(answers)).found == answers.found
    whole = Asking.of("select sum(count(*)) over () as n from t group by sex", policy.askable).answer(table)
    assert [(one.value, one.error_bar) for one in whole["n"]] == [(10, 0)] * 2, "the number of all records is public"


@pytest.mark.parametrize(
    "asked",
    [
        "count(*) over (partition by sex)",
        "rank() over (order by count(*))",
        "sum(count(*)) over (order by age)",
        "sum(count(*)) over (partition by pay)",
        "sum(avg(age)) over ()",
    ],
)
def test_other_windows_are_refused(asked):
    column = {"type": "integer", "bounds": [0, 3], "epsilon": 1, "missing": "refuse"}
    policy = Policy.of({"format": 2, "records": 9, "columns": {"sex": column, "age": column, "pay": column}})
    with pytest.raises(ArgumentError, match=r"sum\(count\(\*\)\) over \(\)"):
        Asking.of(f"select sex, {asked} as n from t group by sex, age", policy.askable)


def test_days_between_two_are_a_number():
    column = {"type": "date", "bounds": [dt.date(2024, 1, 1), dt.date(2024, 1, 31)], "missing": "refuse"}
    policy = Policy.of({"format": 2, "records": 5, "columns": {"day": column | {"metric": "9000 discrete"}}})
    table = pa.table({"day": [dt.date(2024, 1, k) for k in (3, 3, 5, 20, 31)]})
    (one,) = ask(table, policy, "select percentile(day, 0.7) - percentile(day, 0.3) as n from t").found[0]
    assert one.value == 17
    for asked in ("max(day) + 1", "round(avg(day))", "avg(day) / 2", "max(day) + min(day)"):
        with pytest.raises(ArgumentError, match="days are not computed with"):
            Asking.of(f"select {asked} as n from t", policy.askable)
