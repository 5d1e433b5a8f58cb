"""Questions in SQL: what is read, and why the rest is not."""

import datetime as dt
import sys
from decimal import Decimal
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, MissingExtraError
from metricdp.policies import Policy, col, read_select
from metricdp.queries.universes.universe import Universe

POLICY = Policy.parse("""
format = 2
records = 10
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 120], within = 5, missing = "refuse"}
pay = {type = "integer", bounds = [-9, 50000], within = 1000, missing_distance = 30000, count_by.missing = "unknown"}
native = {type = "boolean", epsilon = 1, missing = "refuse"}
day = {type = "date", bounds = [2024-01-01, 2024-12-31], within = "7 days", missing = "refuse"}
"My Column" = {type = "category", values = [1, 2], epsilon = 1, missing = "refuse"}
""").askable


def test_all_that_can_be_asked():
    select = read_select(
        """SELECT sex, Count(*), count(pay) AS known, sum(pay), AVG(Pay), median(age), min(age), max(age),
        percentile(age, 0.9), quantile(age, 0.25), percentile_cont(day, 0.5)
        FROM any.people AS p WHERE sex = 'F' GROUP BY sex, "My Column";""",
        POLICY,
    )
    assert [(one.kind, one.column, one.p, one.name) for one in select.aggregates] == [
        ("count", None, None, "count(*)"),
        ("count", "pay", None, "known"),
        ("sum", "pay", None, "sum(pay)"),
        ("average", "pay", None, "avg(Pay)"),
        ("percentile", "age", 50, "median(age)"),
        ("percentile", "age", 0, "min(age)"),
        ("percentile", "age", 100, "max(age)"),
        ("percentile", "age", 90, "percentile(age, 0.9)"),
        ("percentile", "age", 25, "quantile(age, 0.25)"),
        ("percentile", "day", 50, "percentile_cont(day, 0.5)"),
    ]
    assert isinstance(select.aggregates[7].p, Fraction)
    assert select.groups == ("sex", "My Column")


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("sex = 'F'", col("sex") == "F"),
        ("sex <> 'F'", col("sex") != "F"),
        ("sex != 'F'", col("sex") != "F"),
        ("'F' = sex", col("sex") == "F"),
        ("age < 30", col("age") < 30),
        ("30 < age", col("age") > 30),
        ("30 >= age", col("age") <= 30),
        ("AGE > 29.5", col("age") > Decimal("29.5")),
        ("pay >= -3", col("pay") >= -3),
        ("age between 3 and 5", col("age").between(3, 5)),
        ("age not between 3 and 5", ~col("age").between(3, 5)),
        ("age in (1, 2, 200)", col("age").isin([1, 2, 200])),
        ("sex not in ('F')", ~col("sex").isin(["F"])),
        ("pay is null", col("pay").is_missing()),
        ("pay is not null", ~col("pay").is_missing()),
        ("native = true", col("native") == True),  # noqa: E712
        ("not native = true", ~(col("native") == True)),  # noqa: E712
        ("day >= '2024-05-01'", col("day") >= dt.date(2024, 5, 1)),
        ("day = date '2024-05-01'", col("day") == dt.date(2024, 5, 1)),
        ('"My Column" = 2', col("My Column") == 2),
        ("sex = 'F' and age < 3 or pay > 7", ((col("sex") == "F") & (col("age") < 3)) | (col("pay") > 7)),
        ("sex = 'F' and (age < 3 or pay > 7)", (col("sex") == "F") & ((col("age") < 3) | (col("pay") > 7))),
        ("not (sex = 'F' and age < 3)", ~((col("sex") == "F") & (col("age") < 3))),
    ],
)
def test_conditions(text, predicate):
    select = read_select(f"select count(*) where {text}", POLICY)
    merged = Universe(select.conditions)
    assert len(merged) <= 50, "no more cells than the condition tells apart"
    names = [column.name for column in select.conditions]
    if "pay" in names and "age" in names:
        return  # all cells of both would be too many
    universe = Universe([POLICY.column(name) for name in names])
    fine, coarse = universe.where(predicate), merged.where(select.where)
    if len(names) == 1:
        (column,), (cells,) = universe.columns, merged.columns
        starts = [cells.points.index(point) if point in cells.points else None for point in column.points]
        place = 0
        for truth, start in zip(fine.tolist(), starts, strict=True):
            place = place if start is None else start
            assert coarse[place] == truth


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select distinct sex from t", "select distinct"),
        ("select count(distinct age, sex)", "of one column"),
        ("select count(distinct sex) group by sex", "count(*) .. group by sex"),
        ("select sum(distinct age)", "count(*) .. group by age"),
        ("select sum(age) over (partition by sex)", "no windows"),
        ("select median(age) filter (where sex = 'F')", "asked with where"),
        ("select sum(case when age > 1 then 2 else 0 end)", "then 1 else 0"),
        ("select sum(case when age > 1 then pay when age > 0 then age end)", "one condition"),
        ("select avg(case when age > 1 then 1 end)", "then 1 else 0"),
        ("select corr(age, age)", "var_pop(age)"),
        ("select count(*), count(*)", "two answers are called 'count(*)'"),
        ("select count(*) as n, sum(pay) as n", "two answers are called 'n'"),
        ("with q as (select 1) select count(*) from q", "choose rows and columns"),
        ("with q as (select sex, count(*) from t group by sex) select count(*) from q", "choose rows and columns"),
        ("select count(*) from (select 1)", "choose rows and columns"),
        ("select count(*) from (select age + 1 as a from t) x", "choose rows and columns"),
        ("select count(*) from read_csv('x')", "write any name"),
        ("select count(*) group by sex having sex = 'F'", "goes to where"),
        ("select count(*) group by sex having count(*) in (1, 2)", "having compares"),
        ("select count(*) limit x", "a whole number"),
        ("select count(*) group by 3", "no such column"),
        ("select count(*) group by sex order by 4", "no such column"),
        ("select count(*) group by sex order by age", "one of count(*)"),
        ("select round(avg(age), pay)", "a whole number of places"),
        ("select count(*) group by case when age < 3 then sex end", "depends on age and sex"),
        ("select count(*) where age like '1%'", "listed text"),
        ("select count(*) where sex like 'Q%'", "none of the values"),
        ("select sum(age + pay)", "write sum(age) + sum(pay)"),
        ("select sum(age * pay)", "of one column of the policy"),
        ("select sum(age / 10)", "write sum(age) / 10"),
        ("select median(age + 1)", "not of an expression"),
        ("select max(age, pay)", "an aggregate is of one column"),
        ("select skewness(pay)", "one of count(*)"),
        ("select approx_distinct(pay)", "write count(distinct x)"),
        ("select *", "the values of records are secret"),
        ("select age", "the values of records are secret"),
        ("select sex, count(*)", "group by sex"),
        ("select sex from t group by sex", "nothing is asked of the groups"),
        ("select percentile(age)", "percentile(x, 0.9)"),
        ("select percentile(age, 90)", "between 0 and 1"),
        ("select percentile(age, '0.5')", "a share from 0 to 1"),
        ("select percentile(age, pay)", "a share from 0 to 1"),
        ("select count(*) as sex from t group by sex", "two answers are called 'sex'"),
        ("select count(*) from t, u", "a join"),
        ("select count(*) from t join u on t.a = u.a", "a join"),
        ("select count(*) from t tablesample (10)", "a name and nothing else"),
        ("select count(*) into x from t", "into: it is no part"),
        ("select count(*) group by age / 10", "write floor(age / 10)"),
        ("select count(*) group by cube(sex, age)", "write group by rollup(sex, age) for the totals"),
        ("select count(*) group by sex, rollup(age)", "write group by rollup(sex, age) for the totals"),
        ("select median(age) group by rollup(sex)", "write sum(x) / count(x) for an average"),
        ("select count(*) group by all", "nothing else"),
        ("select count(*) group by sex, sex", "'sex' twice"),
        ("select count(*) where age + 'a' > 2", "numbers go with numbers"),
        ("select count(*) where lower(sex) = 5", "numbers go with numbers"),
        ("select count(*) where md5(sex) = 'f'", "these are computed"),
        ("select count(*) where round(age, 99) = 1", "not computed with"),
        ("select count(*) where age + pay > 2", "stands alone"),
        ("select count(*) where age + 1", "a condition is made of"),
        ("select count(*) where abs(age + 1)", "this is no condition"),
        ("select count(*) where age = pay", "not with others"),
        ("select count(*) where age > random()", "not with others"),
        ("select count(*) where age > 1 / 3.0", "no end of decimals"),
        ("select count(*) where day > current_date", "write the day"),
        ("select count(*) where day > date '2024-01-31' + interval '12 hours'", "these are computed"),
        ("select count(*) where day + day > date '2024-01-31'", "days with days"),
        ("select count(*) where age > (select 1)", "not with others"),
        ("select count(*) where age in (select 1)", "a list of values"),
        ("select count(*) where exists (select 1)", "a condition is made of"),
        ("select count(*) where case when age > 1 then sex = 'F' end", "a condition is made of"),
        ("select count(*) where true", "the same for every record"),
        ("select 1", "nothing is asked of the records"),
        ("select count(*) from t join u on t.sex = u.sex", "beside the question under that name"),
        ("select count(*), sum(age) over (partition by sex)", "no windows"),
        ("select mode(sex)", "order by 2 desc limit 1"),
        ("with a as (select sex, count(*) n from t group by sex) select max(n) from a", "compute with its answers"),
        ("select count(*) form people", "from 'people' on"),
        ("select count(*) where pay = null", "write is null"),
        ("select count(*) where bogus = 1", "no column 'bogus'"),
        ("select count(*) where age > 1e999999999", "so large"),
        ("select count(*) where age > date 'soon'", "a day is written"),
        ("select count(*) union select count(*)", "one select"),
        ("select count(*); select count(*)", "one select"),
        ("drop table people", "one select"),
        ("insert into t values (1)", "one select"),
        ("", "one select"),
        ("select count(*", "cannot be read as SQL"),
        ("select count(*) where 'open", "cannot be read as SQL"),
    ],
)
def test_what_is_refused_and_why(text, words):
    with pytest.raises(ArgumentError) as caught:
        read_select(text, POLICY)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_computed_after_the_noise():
    """Each number gets noise once, however often it is used; the rest is arithmetic."""
    select = read_select(
        """select p.sex, count(1) as n, sum(pay) / count(*) as mean, round(100.0 * sum(case when age >= 18 then 1
        else 0 end) / count(*), 1) as adults, count(*) filter (where native) from people p group by 1
        having count(*) > 3 and mean between 1 and 9 order by n desc, sex limit 5 offset 1""",
        POLICY,
    )
    assert [(one.kind, one.column, repr(one.only)) for one in select.aggregates] == [
        ("count", None, "None"),
        ("sum", "pay", "None"),
        ("count", None, "age >= 18"),
        ("count", None, "native == True"),
    ]
    assert [one.name for one in select.shown] == ["n", "mean", "adults", "count(*) FILTER(WHERE native)"]
    rows = [[10.0, 50.0, 4.0, 1.0], [2.0, 4.0, 1.0, 1.0], [20.0, 60.0, 9.0, 1.0]]
    assert [[round(float(one.of(row)), 6) for one in select.shown] for row in rows[:1]] == [[10, 5, 40, 1]]
    assert select.kept.places([("F",), ("M",), ("X",)], rows) == [0]
    assert (select.kept.limit, select.kept.offset) == (5, 1)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("day >= date '2024-01-31' + interval '1 month'", "day >= '2024-02-29'"),
        ("day > date '2024-03-31' - interval 1 month", "day > '2024-02-29'"),
        (
            "day between '2024-01-01' and date '2024-01-01' + interval '2 weeks'",
            "day between '2024-01-01' and '2024-01-15'",
        ),
        ("day + interval '30 days' < date '2024-03-01'", "day < '2024-01-31'"),
        ("day - date '2024-01-01' > 30", "day > '2024-01-31'"),
        ("day + 1 = date '2024-03-01'", "day = '2024-02-29'"),
        ("day < (date '2023-12-01' + 45)", "day < '2024-01-15'"),
        ("age > 2 * 9", "age > 18"),
        ("age in (10 + 8, -(1 - 41))", "age in (18, 40)"),
    ],
)
def test_values_are_computed_before_they_are_compared(written, plain):
    every = Universe([POLICY.column("day"), POLICY.column("age")])
    one, two = (
        every.where(read_select(f"select count(*) from t where {each}", POLICY).where) for each in (written, plain)
    )
    assert one.tolist() == two.tolist()
    assert 0 < one.sum() < len(one)


def test_functions_of_noisy_answers():
    select = read_select(
        "select greatest(count(*) - 12, 0, 1) as a, least(avg(age), 3) as b, power(sum(age), 2) as c, "
        "exp(ln(count(*))) as d",
        POLICY,
    )
    values = {"count(*)": 10.0, "avg(age)": 4.0, "sum(age)": 5.0}
    found = [float(one.of([values[each.name] for each in select.aggregates])) for one in select.shown]
    assert found == pytest.approx([1, 3, 25, 10])
    with pytest.raises(ArgumentError, match="having"):
        read_select("select sex, count(*) from t group by sex having count(*) between symmetric 9 and 1", POLICY)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("pay is distinct from 3", "pay <> 3 or pay is null"),
        ("pay is not distinct from 3", "pay = 3"),
        ("pay is distinct from null", "pay is not null"),
        ("sex is distinct from 'F'", "sex <> 'F'"),
    ],
)
def test_null_like_any_other_value(written, plain):
    every = Universe([POLICY.column("pay"), POLICY.column("sex")])
    asked = [read_select(f"select count(*) from t where {each}", POLICY) for each in (written, plain)]
    one, two = (every.where(each.where) for each in asked)
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("date_diff('day', date '2024-01-01', day) > 9", "write x - date '2024-01-31', in days"),
        ("day >= timestamp '2024-01-31 00:00:00'", "compare with a day"),
        ("starts_with(sex, 'F')", "write x like 'a%'"),
        ("day < current_date", "write the day"),
        ("date_part('month', day) = 2", "write extract(month from x)"),
        ("regexp_matches(sex, '^F')", "write like"),
    ],
)
def test_refused_functions_say_what_to_write(condition, words):
    with pytest.raises(ArgumentError) as caught:
        read_select(f"select count(*) from t where {condition}", POLICY)
    assert words in str(caught.value)


def test_bands():
    select = read_select(
        "select case when age < 18 then 'young' when age >= 65 then 'old' end as band, count(*) from t group by band",
        POLICY,
    )
    band = select.bands["band"]
    assert (select.groups, band.labels) == (("band",), ("young", "old", "(none)"))
    assert band.codes(select.conditions).tolist() == [0, 2, 2, 1, 1], "18 and 65 are cells of their own"


@pytest.mark.parametrize(
    "text",
    [
        "with q as (select * from t where age >= 18) select count(*) from q where sex = 'F'",
        "select count(*) from (select age, sex from t where age >= 18) as x where x.sex like 'F%'",
        "select count(*) from t where sex ilike 'f' and age >= 18",
    ],
)
def test_subqueries_that_only_choose(text):
    select = read_select(text, POLICY)
    both = (col("sex") == "F") & (col("age") >= 18)
    assert Universe(select.conditions).where(select.where).tolist() == Universe(select.conditions).where(both).tolist()


def test_percentiles_as_people_write_them():
    forms = [
        "percentile_cont(0.9) within group (order by age)",
        "percentile_cont(0.1) within group (order by age desc)",
        "percentile_disc(0.9, age)",
        "percentile_cont(age, 0.9)",
        "approx_quantile(age, 0.9)",
    ]
    for form in forms:
        (one,) = read_select(f"select {form} from t", POLICY).aggregates
        assert (one.column, one.p) == ("age", 90)


def test_long_lists_do_not_recurse():
    values = ", ".join(map(str, range(5000)))
    select = read_select(f"select count(*) from t where age in ({values})", POLICY)
    assert Universe(select.conditions).where(select.where).all()


def test_deeply_nested_conditions_end_in_an_error_or_an_answer():
    nested = "select count(*) where " + "(" * 2000 + "age = 1" + ")" * 2000
    with pytest.raises(ArgumentError):
        read_select(nested, POLICY)
    wide = "select count(*) where " + " or ".join(["age = 1"] * 150)
    assert read_select(wide, POLICY).where is not None


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metricdp\[queries\]'"):
        read_select("select count(*)", POLICY)


def test_a_question_too_deep_to_read_is_refused():
    with pytest.raises(ArgumentError):
        read_select("select " + "(" * 4000, POLICY)
    assert read_select("select count(*) from t where " + " or ".join(["age = 1"] * 4000), POLICY).where is not None
